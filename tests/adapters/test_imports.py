"""memctl works without AutoGen: only the AgentChat adapter imports it, and only when it is asked for."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parents[2] / "memctl" / "adapters"
LOADED = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps([name for name in sys.modules if name.split(".")[0].startswith(("autogen", "pyautogen", "ag2"))]))
"""


def frameworks_after(*modules):
    done = subprocess.run([sys.executable, "-c", LOADED, *modules], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_neither_memctl_nor_the_ag2_adapter_imports_autogen():
    assert frameworks_after("memctl", "memctl.adapters.python", "memctl.adapters.ag2") == []


def test_the_agentchat_adapter_does():
    assert "autogen_core" in frameworks_after("memctl.adapters.agentchat")


@pytest.mark.parametrize("path", sorted(ADAPTERS.glob("*.py")), ids=lambda path: path.stem)
def test_only_the_agentchat_adapter_names_a_framework(path):
    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        named |= {name.split(".")[0] for name in names if name.startswith(("autogen", "ag2"))}
    assert named == ({"autogen_core"} if path.stem == "agentchat" else set())


def test_no_other_module_imports_the_agentchat_adapter():
    package = ADAPTERS.parent
    users = [path for path in package.rglob("*.py") if "adapters.agentchat" in path.read_text(encoding="utf-8")]
    assert users == [ADAPTERS / "agentchat.py"]
