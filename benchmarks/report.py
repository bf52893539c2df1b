"""Results for people and for machines: a table on the terminal, JSON, and tables in the benchmarks' own README."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, figure_of, written

Results = dict[str, dict[str, Any]]
_LIBRARIES = ("memctl", "lancedb", "pylance", "duckdb", "onnxruntime", "tokenizers")


def machine() -> dict[str, Any]:
    """Describe where the figures come from, as far as it matters for them."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        **{name: version(name) for name in _LIBRARIES},
    }


def load(path: Path) -> Results:
    """Read earlier results by measurement; none where there is no file."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["measurements"])
    except FileNotFoundError:
        return {}


def result_of(size: str, figures: list[Figure]) -> dict[str, Any]:
    """Give one measurement's results as JSON carries them."""
    at = datetime.now(UTC).replace(microsecond=0).isoformat()
    return {"size": size, "at": at, "figures": [figure.shape() for figure in figures]}


def save(path: Path, results: Results) -> None:
    """Write all results; a measurement that was not run again keeps its earlier ones."""
    shape = {"machine": machine(), "measurements": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(shape, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def show(console: Console, name: str, figures: list[Figure]) -> None:
    """Print one measurement as a table."""
    table = Table(title=name, title_justify="left", title_style="bold", expand=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("target", justify="right")
    table.add_column("how", style="dim", overflow="fold")
    for figure in figures:
        mark = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[figure.met]
        target = f"{figure.target} {mark}" if figure.target else ""
        table.add_row(figure.name, _value(figure), target, figure.note)
    console.print(table)


def write_readmes(results: Results) -> None:
    """Put the results into the READMEs: every figure into the benchmarks' own, those with a target into the first."""
    for path, written_anew in readmes(results).items():
        path.write_text(written_anew, encoding="utf-8")


def readmes(results: Results) -> dict[Path, str]:
    """Give both READMEs as they are with these results between their marks."""
    own, first = _OWN.read_text(encoding="utf-8"), _FIRST.read_text(encoding="utf-8")
    for name, result in results.items():
        own = _between(own, f"<!-- {name} -->", f"<!-- /{name} -->", markdown(result))
    return {_OWN: own, _FIRST: _between(first, *_SUMMARY, summary(results))}


_OWN = Path(__file__).with_name("README.md")
_FIRST = Path(__file__).parents[1] / "README.md"
_SUMMARY = ("<!-- figures: begin -->", "<!-- figures: end -->")
MEASURED = ("ingest", "memory", "extraction", "recall", "growth")


def _between(text: str, begin: str, end: str, put: str) -> str:
    """Replace what is between two marks; a text without them stays as it is."""
    head, found, rest = text.partition(begin)
    if not found or end not in rest:
        return text
    return f"{head}{begin}\n{put}{end}{rest.partition(end)[2]}"


def summary(results: Results) -> str:
    """Write the figures that have a target as one short table."""
    figures = [figure_of(shape) for name in MEASURED if name in results for shape in results[name]["figures"]]
    lines = ["", "| figure of `make bench` | measured | target |", "|---|---:|---:|"]
    lines += [f"| {figure.name} | {_value(figure)} | {_target(figure)} |" for figure in figures if figure.target]
    return "\n".join(lines) + "\n\n"


def markdown(result: dict[str, Any]) -> str:
    """Write one measurement as a markdown table."""
    lines = ["| figure | value | target | how |", "|---|---:|---:|---|"]
    for figure in map(figure_of, result["figures"]):
        lines.append(f"| {figure.name} | {_value(figure)} | {_target(figure)} | {figure.note} |")
    return "\n".join(lines) + "\n"


def _value(figure: Figure) -> str:
    return f"{written(figure.value)} {figure.unit}".strip()


def _target(figure: Figure) -> str:
    return f"{figure.target or ''}{' **missed**' if figure.met is False else ''}"
