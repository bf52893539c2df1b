"""``python -m benchmarks [NAME…] [--size tiny|small|full] [--peers] [--data PATH]``: measure, show, keep."""

import argparse
import importlib
import shutil
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.context import SIZES, Context
from benchmarks.figures import figure_of

NAMES = ("extraction", "ingest", "memory", "recall", "growth", "quality", "profiles")
PEERS = "peers"
HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> int:
    """Run the measurements that were asked for; 0 also where a target is missed: the table says so."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - {*NAMES, PEERS}:
        parser.error(f"there is no measurement {sorted(unknown)[0]!r}")
    names = _names(asked)
    console = Console(width=150 if not Console().is_terminal else None)
    if asked.prepare:
        return _prepare(asked, console)
    results = report.load(asked.json)
    for name in names:
        console.rule(f"{name} ({asked.size})")
        results[name] = _measured(name, asked, console)
        report.show(console, name, [figure_of(shape) for shape in results[name]["figures"]])
        report.save(asked.json, results)
    if asked.plot:
        from benchmarks.plot import draw

        draw(results, asked.plot)
    if asked.readme or asked.report:
        report.write_readmes(results)
    return 0


def _names(asked: argparse.Namespace) -> list[str]:
    """Name what is to be measured."""
    if asked.report:
        return []
    return list(asked.names or NAMES) + ([PEERS] if asked.peers and PEERS not in asked.names else [])


def _prepare(asked: argparse.Namespace, console: Console) -> int:
    """Make the stores, and with ``--peers`` the environments, that the measurements will ask for."""
    from benchmarks.peers.environments import PEERS as ALL
    from benchmarks.peers.environments import NotInstalled, python_of
    from benchmarks.stores import built, checked

    size = SIZES[asked.size]
    for facts, scope in dict.fromkeys([(size.facts[1], size.facts[1]), *((facts, size.scope) for facts in size.facts)]):
        console.print(f"a store of {facts} facts, {scope} a scope", style="dim")
        checked(built(asked.cache, facts, scope))
    for peer in ALL if asked.peers else ():
        try:
            console.print(f"{peer.name}: {python_of(peer, asked.cache)}", style="dim")
        except NotInstalled as reason:
            console.print(f"{peer.name}: left out, {reason}", style="dim")
    return 0


def _measured(name: str, asked: argparse.Namespace, console: Console) -> dict[str, object]:
    """Run one measurement in a folder of its own, which is gone afterwards."""
    work = Path(tempfile.mkdtemp(prefix=f"memctl-bench-{name}-"))
    context = Context(SIZES[asked.size], work, asked.cache, asked.data, lambda text: console.print(text, style="dim"))
    context.cache.mkdir(parents=True, exist_ok=True)
    try:
        figures = list(importlib.import_module(f"benchmarks.{name}").measure(context))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return report.result_of(asked.size, figures)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join((*NAMES, PEERS))}; default: all but peers"
    )
    parser.add_argument("--size", choices=SIZES, default="small", help="how much is measured (default: small)")
    parser.add_argument("--peers", action="store_true", help="other memories too, each in its own environment")
    parser.add_argument(
        "--prepare", action="store_true", help="only make what is kept in the cache; goes on where it was interrupted"
    )
    parser.add_argument("--data", type=Path, help="folder with score.py, dev/ and locomo/ for the quality figures")
    parser.add_argument("--json", type=Path, default=HERE / "results" / "latest.json", help="where results are kept")
    parser.add_argument("--plot", type=Path, default=HERE / "results" / "overview.png", help="the picture")
    parser.add_argument("--readme", action="store_true", help="write the figures into both READMEs")
    parser.add_argument(
        "--report", action="store_true", help="measure nothing; picture and READMEs from earlier results"
    )
    parser.add_argument(
        "--cache", type=Path, default=_cache(), help="where large stores and peers' environments are kept"
    )
    return parser


def _cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("memctl-benchmarks", appauthor=False)


if __name__ == "__main__":
    raise SystemExit(main())
