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
        table.add_row(figure.name, f"{written(figure.value)} {figure.unit}".strip(), target, figure.note)
    console.print(table)


def write_readme(path: Path, results: Results) -> None:
    """Put the results between the marks in a README, one table a measurement."""
    text = path.read_text(encoding="utf-8")
    for name, result in results.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin in text and end in text:
            head, _, rest = text.partition(begin)
            text = head + begin + "\n" + markdown(result) + end + rest.partition(end)[2]
    path.write_text(text, encoding="utf-8")


def markdown(result: dict[str, Any]) -> str:
    """Write one measurement as a markdown table."""
    lines = ["| figure | value | target | how |", "|---|---:|---:|---|"]
    for figure in map(figure_of, result["figures"]):
        missed = " **missed**" if figure.met is False else ""
        value = f"{written(figure.value)} {figure.unit}".strip()
        lines.append(f"| {figure.name} | {value} | {figure.target or ''}{missed} | {figure.note} |")
    return "\n".join(lines) + "\n"
