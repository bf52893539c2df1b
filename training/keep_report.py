"""The cross-validation of the keep model as a page: made by ``python -m training.keep``, never by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from memctl.extraction.compose import Bar
from training.keep_data import Team
from training.keep_model import Recipe

Measure = Callable[[Sequence[Team], Bar], dict[str, float]]
COLUMNS = ("precision", "recall", "f1", "type_accuracy", "expiry_right", "lasting_lost")


def write_report(
    path: Path, groups: Mapping[str, Sequence[Team]], of: int, recipe: Recipe, bar: Bar, measure: Measure
) -> None:
    """Write how the extractor does on teams that its model has not seen."""
    teams = [team for group in groups.values() for team in group]
    lines = [
        "# Keep model: cross-validation",
        "",
        "Every team is judged by a model that was trained without it. A memory counts when it says all parts of a gold",
        "fact, is no longer than a sentence or two and names the right message; optional facts are no junk.",
        "",
        f"Recipe: {', '.join(f'{name} {value}' for name, value in asdict(recipe).items())}.",
        f"Teams judged: {len(teams)} of {of}. Bar: {bar.keep}.",
        "",
        *_table("bar", [(f"{keep:.2f}", measure(teams, replace(bar, keep=keep))) for keep in _around(bar.keep)]),
        "",
        *_table("teams", [(f"{name}, {len(some)} teams", measure(some, bar)) for name, some in groups.items() if some]),
        "",
        *_table("team", [(team.name, measure([team], bar)) for team in teams]),
        "",
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines))


def _around(keep: float) -> list[float]:
    return [round(keep + step, 2) for step in (-0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15) if 0 < keep + step < 1]


def _table(first: str, rows: Sequence[tuple[str, dict[str, float]]]) -> list[str]:
    head = f"| {first} | {' | '.join(COLUMNS)} | stored |"
    rule = "|---" * (len(COLUMNS) + 2) + "|"
    body = [f"| {name} | {' | '.join(f'{row[c]:.3f}' for c in COLUMNS)} | {row['stored']:.0f} |" for name, row in rows]
    return [head, rule, *body]
