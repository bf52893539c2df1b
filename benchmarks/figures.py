"""What a measurement yields: figures, some with a target that they meet or miss."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that a figure should keep: ``at most`` or ``at least``."""

    kind: str
    bound: float

    def met(self, value: float) -> bool:
        """Tell whether a value keeps the bound."""
        return value <= self.bound if self.kind == "at most" else value >= self.bound

    def __str__(self) -> str:
        return f"{'≤' if self.kind == 'at most' else '≥'} {self.bound:g}"


def at_most(bound: float) -> Target:
    """Name an upper bound."""
    return Target("at most", bound)


def at_least(bound: float) -> Target:
    """Name a lower bound."""
    return Target("at least", bound)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number: what it is, in which unit, the target if it has one, and how it came about."""

    name: str
    value: float | str | None
    unit: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, or nothing could be measured."""
        if self.target is None or not isinstance(self.value, int | float):
            return None
        return self.target.met(self.value)

    def shape(self) -> dict[str, Any]:
        """Give the figure as JSON carries it."""
        shape = asdict(self) | {"target": str(self.target) if self.target else None, "met": self.met}
        return {name: value for name, value in shape.items() if value not in (None, "")}


def figure_of(shape: dict[str, Any]) -> Figure:
    """Read a figure back from JSON."""
    target = None
    if "target" in shape:
        sign, bound = shape["target"].split()
        target = Target("at most" if sign == "≤" else "at least", float(bound))
    return Figure(shape["name"], shape.get("value"), shape.get("unit", ""), target, shape.get("note", ""))


def written(value: float | str | None) -> str:
    """Write a value for people: three significant figures, thousands parted."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
