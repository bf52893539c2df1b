"""The picture for the README: targets, recall and nights as the memory grows, and the peers."""

import re
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, figure_of, written
from benchmarks.report import MEASURED, Results

_MET, _MISSED, _OTHER, _GREY = "#2a7f62", "#c0392b", "#8da9c4", "#6b7280"
_LINES = (
    ("warm recall p50, ", "warm recall, p50", "#345995", 1),
    ("warm recall p95, ", "warm recall, p95", "#03a9a4", 1),
    ("recall through the server p50, ", "recall through the server, p50", "#7a5195", 1),
    ("cold recall p50, ", "recall from a cold process, p50", "#c94f7c", 1),
    ("nightly of ", "a nightly run", "#e08e45", 1000),
)
_WIDEST = 1.6  # a bar that uses more of its limit than this is cut off
_COLD = ": cold recall"
_SHOWN = (
    (": copies of a fact added three times", "copies of a fact added three times", "#e08e45"),
    (": changed fact, current first", "changed facts: the present one comes first", _MET),
    (": changed fact, stale shown", "changed facts: the old one is shown", _MISSED),
)
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GREY,
    "xtick.color": _GREY,
    "ytick.labelcolor": "black",
    "ytick.color": _GREY,
}


def draw(results: Results, path: Path) -> None:
    """Draw what there is into one picture; a panel without figures says so."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figures = {name: list(map(figure_of, result["figures"])) for name, result in results.items()}
    peers = figures.get("peers", [])
    with pyplot.rc_context(_STYLE):
        picture, axes = pyplot.subplots(2, 2, figsize=(13, 8.5), width_ratios=(1.1, 1))
        _targets(axes[0][0], [figure for name in MEASURED for figure in figures.get(name, ())])
        _growth(axes[0][1], figures.get("recall", []) + figures.get("growth", []))
        _cold(axes[1][0], peers)
        _changed(axes[1][1], peers)
        picture.tight_layout(h_pad=3, w_pad=3)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.savefig(path, dpi=100)
        pyplot.close(picture)


def _targets(axis: Any, figures: list[Figure]) -> None:
    """Draw each figure as its share of the room that the target leaves: left of the line is within."""
    axis.set_title("Share of each limit that is used")
    kept = [figure for figure in figures if figure.met is not None][::-1]
    if not kept:
        _nothing(axis)
        return
    shares = [min(used(figure), _WIDEST) for figure in kept]
    colours = [_MET if figure.met else _MISSED for figure in kept]
    axis.barh([figure.name for figure in kept], shares, color=colours, height=0.65)
    for place, (figure, share) in enumerate(zip(kept, shares, strict=True)):
        told = f"{written(figure.value)} {figure.unit}".strip()
        axis.text(
            max(share, 1) + 0.04, place, f"{told}  (target {figure.target})", va="center", fontsize=8, color=_GREY
        )
    axis.axvline(1, color="black", linewidth=1)
    axis.set_xlim(0, _WIDEST + 0.75)
    axis.set_xticks([0, 0.5, 1], ["0", "half", "limit"])
    axis.tick_params(axis="y", length=0, labelsize=8)


def used(figure: Figure) -> float:
    """Give the share of its limit that a figure uses; more than 1 misses the target."""
    assert figure.target is not None
    value, bound = float(figure.value or 0), figure.target.bound
    if figure.target.kind == "at most":
        return value / bound if bound else float(value > 0) * 2
    return bound / value if value else 2.0


def _growth(axis: Any, figures: list[Figure]) -> None:
    """Draw milliseconds of a warm recall and of a night over the number of facts."""
    axis.set_title("As the memory grows")
    for begin, label, colour, scale in _LINES:
        points = [
            (int(found[1]), float(figure.value or 0) * scale)
            for figure in figures
            if figure.name.startswith(begin) and (found := re.search(r", (\d+) facts$", figure.name))
        ]
        if points:
            facts, times = zip(*sorted(points), strict=True)
            axis.plot(facts, times, marker="o", color=colour, label=label, linewidth=2)
            axis.annotate(_time(times[-1]), (facts[-1], times[-1]), (6, 0), textcoords="offset points", va="center")
    if not axis.lines:
        _nothing(axis)
        return
    axis.set(xscale="log", yscale="log", xlabel="facts in the memory", ylabel="milliseconds")
    axis.margins(x=0.12, y=0.25)
    axis.grid(axis="y", color="#e5e7eb")
    axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _cold(axis: Any, figures: list[Figure]) -> None:
    """Draw the cold recall of all."""
    axis.set_title("One recall from a cold process")
    cold = {figure.name.removesuffix(_COLD): figure for figure in figures if figure.name.endswith(_COLD)}
    if not cold:
        _nothing(axis)
        return
    names = list(cold)[::-1]
    seconds = [float(cold[name].value or 0) for name in names]
    axis.barh(names, seconds, color=[_MET if name == "memctl" else _OTHER for name in names], height=0.65)
    for place, value in enumerate(seconds):
        axis.text(value + max(seconds) * 0.01, place, f"{value:.2f} s", va="center", fontsize=8, color=_GREY)
    axis.set_xlabel("seconds")
    axis.set_xlim(0, max(seconds) * 1.12)
    axis.tick_params(axis="y", length=0)


def _changed(axis: Any, figures: list[Figure]) -> None:
    """Draw what becomes of repeated and of changed facts."""
    axis.set_title("Facts said again, and facts that changed")
    values = [
        {
            figure.name.removesuffix(ending): float(figure.value or 0)
            for figure in figures
            if figure.name.endswith(ending)
        }
        for ending, _, _ in _SHOWN
    ]
    if not any(values):
        _nothing(axis)
        return
    names = list(values[0])[::-1]
    for row, ((_, label, colour), found) in enumerate(zip(_SHOWN, values, strict=True)):
        places = [place + 0.27 * (1 - row) for place in range(len(names))]
        lengths = [found.get(name, 0.0) for name in names]
        axis.barh(places, lengths, height=0.24, color=colour, label=label)
        for place, length in zip(places, lengths, strict=True):
            axis.text(length + 0.06, place, f"{length:g}", va="center", fontsize=8, color=_GREY)
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("number, of six changed facts")
    axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=1)


def _nothing(axis: Any) -> None:
    axis.text(0.5, 0.5, "not measured yet", ha="center", va="center", color=_GREY, transform=axis.transAxes)
    axis.set_axis_off()
