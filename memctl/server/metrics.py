"""Counters for Prometheus, in its text format; a small part of that format is all that is needed."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What the server has done since it started."""

    def __init__(self) -> None:
        """Start at zero."""
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._buckets: dict[str, list[int]] = {}

    def record(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request. ``route`` is a template, never a path as it was asked for."""
        with self._lock:
            self._requests[route, method, status] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]  # a Counter adds floats as well
            counts = self._buckets.setdefault(route, [0] * (len(BUCKETS) + 1))
            for place, bound in enumerate((*BUCKETS, float("inf"))):
                counts[place] += seconds <= bound

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Write everything, with the gauges of the moment: name to (help, value)."""
        with self._lock:
            lines = [*self._counted(), *self._timed()]
        for name, (about, value) in gauges.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _counted(self) -> Iterable[str]:
        yield "# HELP memctl_requests_total Requests by route, method and status."
        yield "# TYPE memctl_requests_total counter"
        for (route, method, status), number in sorted(self._requests.items()):
            yield f'memctl_requests_total{{route="{route}",method="{method}",status="{status}"}} {number}'

    def _timed(self) -> Iterable[str]:
        yield "# HELP memctl_request_seconds Time to answer, by route."
        yield "# TYPE memctl_request_seconds histogram"
        for route, counts in sorted(self._buckets.items()):
            for bound, number in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                yield f'memctl_request_seconds_bucket{{route="{route}",le="{bound}"}} {number}'
            yield f'memctl_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'memctl_request_seconds_count{{route="{route}"}} {counts[-1]}'
