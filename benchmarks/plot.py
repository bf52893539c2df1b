"""The picture for the README: ratios against their targets, recall and nights as the memory grows, peers."""

import re
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, figure_of
from benchmarks.report import Results

_MET, _MISSED, _LINE = "#2a7f62", "#c0392b", "#345995"


def draw(results: Results, path: Path) -> None:
    """Draw what there is into one small picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figures = {name: list(map(figure_of, result["figures"])) for name, result in results.items()}
    picture, axes = pyplot.subplots(1, 3, figsize=(13, 4), width_ratios=(1.25, 1, 1))
    _targets(
        axes[0], [figure for name in ("ingest", "recall", "growth", "extraction") for figure in figures.get(name, ())]
    )
    _growth(axes[1], figures.get("recall", []) + figures.get("growth", []))
    _peers(axes[2], figures.get("peers", []))
    picture.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=80)
    pyplot.close(picture)


def _targets(axis: Any, figures: list[Figure]) -> None:
    """Draw each figure as its share of the room that the target leaves: left of the line is within."""
    kept = [figure for figure in figures if figure.met is not None][::-1]
    shares = [used(figure) for figure in kept]
    colours = [_MET if figure.met else _MISSED for figure in kept]
    axis.barh([figure.name for figure in kept], [min(share, 2) for share in shares], color=colours)
    for place, (figure, share) in enumerate(zip(kept, shares, strict=True)):
        axis.text(min(share, 2) + 0.02, place, f"{figure.value:.3g} {figure.unit}", va="center", fontsize=7)
    axis.axvline(1, color="black", linewidth=1)
    axis.set_xlim(0, 2.3)
    axis.tick_params(axis="y", labelsize=7)
    axis.set_title("how much of each limit is used (1 = the target)", fontsize=9)


def used(figure: Figure) -> float:
    """Give the share of its limit that a figure uses; more than 1 misses the target."""
    assert figure.target is not None
    value, bound = float(figure.value or 0), figure.target.bound
    if figure.target.kind == "at most":
        return value / bound if bound else float(value > 0) * 2
    return bound / value if value else 2.0


def _growth(axis: Any, figures: list[Figure]) -> None:
    """Draw milliseconds of a warm recall and seconds of a night over the number of facts."""
    for begin, label, scale in (
        ("warm recall p50, ", "warm recall p50", 1),
        ("warm recall p95, ", "warm recall p95", 1),
        ("nightly of ", "nightly run of 100 messages", 1000),
    ):
        points = [(int(found[1]), float(figure.value or 0) * scale) for figure in figures
                  if figure.name.startswith(begin) and (found := re.search(r"(\d+) facts$", figure.name))
                  and ":" not in figure.name]  # fmt: skip
        if points:
            axis.plot(*zip(*sorted(points), strict=True), marker="o", label=label)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("facts in the memory", fontsize=8)
    axis.set_ylabel("milliseconds", fontsize=8)
    axis.set_title("as the memory grows", fontsize=9)
    if axis.lines:
        axis.legend(fontsize=7)


def _peers(axis: Any, figures: list[Figure]) -> None:
    """Draw the cold recall of all."""
    cold = [figure for figure in figures if figure.name.endswith(": cold recall")][::-1]
    names = [figure.name.removesuffix(": cold recall") for figure in cold]
    colours = [_MET if name == "memctl" else _LINE for name in names]
    axis.barh(names, [float(figure.value or 0) for figure in cold], color=colours)
    axis.tick_params(axis="y", labelsize=7)
    axis.set_xlabel("seconds", fontsize=8)
    axis.set_title("a recall from a cold process", fontsize=9)
