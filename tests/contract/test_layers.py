"""Imports run downhill: a module may import what is below it, never what is beside or above it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "memctl"

LAYERS = [  # top first; a name stands for the module or package and all that is in it
    ("__main__",),
    ("cli", "quick"),
    ("server", "adapters"),
    ("render",),
    ("operations",),
    ("memory",),
    ("store", "embedding", "extraction", "rules", "transcripts"),
    ("shapes",),
    ("settings", "languages"),
    ("times",),
    ("client",),
    ("model",),
    ("errors",),
]
DEPTH = {name: depth for depth, names in enumerate(LAYERS) for name in names}


def parts_imported(path: Path) -> set[str]:
    """Name the parts of memctl that a file imports, at its top or inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("memctl.")} & DEPTH.keys()


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=name_of)
def test_imports_run_downhill(path):
    part = path.relative_to(PACKAGE).with_suffix("").parts[0]
    depth = 0 if part == "__init__" else DEPTH[part]
    for other in parts_imported(path) - {part}:
        assert DEPTH[other] > depth, f"{part} must not import {other}"


HOMES = {  # each heavy library has one home
    "lancedb": {"store"},
    "lance": {"store"},
    "pyarrow": {"store"},
    "duckdb": {"store"},
    "onnxruntime": {"embedding"},
    "tokenizers": {"embedding"},
    "sentence_transformers": {"embedding"},
    "torch": {"embedding"},
    "autogen_core": {"adapters", "extraction"},
    "autogen_agentchat": {"adapters"},
    "autogen_ext": {"extraction"},
    "autogen": {"adapters"},
    "typer": {"cli"},
    "rich": {"render", "cli"},
    "fastapi": {"server"},
    "uvicorn": {"server"},
    "mcp": {"server"},
    "pickle": set(),
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=name_of)
def test_heavy_libraries_stay_in_their_homes(path):
    part = path.relative_to(PACKAGE).with_suffix("").parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        for name in names:
            library = name.split(".")[0]
            assert part in HOMES.get(library, {part}), f"{library} does not belong into {part}"
