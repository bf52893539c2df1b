"""The README tells the truth: its commands run, and print what it shows; the reference is what ``--help`` prints."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import readme
from tests.conftest import REPOSITORY, SAMPLES, CommandLine

README = readme.README.read_text(encoding="utf-8")
TOUR = README[README.index("<!-- tour: begin -->") : README.index("<!-- tour: end -->")]
DOCUMENTS = [
    str(path.relative_to(REPOSITORY))
    for folder in ("docs", "benchmarks", "training", "sample_transcripts")
    for path in sorted((REPOSITORY / folder).glob("*.md"))
]
SHELL = README[README.index("<!-- shell: begin -->") : README.index("<!-- shell: end -->")]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tour")
    shutil.copytree(SAMPLES, folder / "sample_transcripts")
    return folder


def test_every_command_of_the_tour_works(workplace):
    memctl = CommandLine(workplace / "home", MEMCTL_NOW="2026-03-24T09:00:00Z")
    commands = re.findall(r"^\$ memctl (.+)$", TOUR, re.MULTILINE)
    assert len(commands) > 10

    said = {}
    for command in commands:
        done = memctl(*shlex.split(command), cwd=workplace)
        assert done.code == 0, f"{command}: {done.err}"
        assert "Traceback" not in done.err
        said[command] = done.out

    for command, shown in re.findall(r"^\$ memctl (.+)\n((?:[^$`\n].*\n)+)", TOUR, re.MULTILINE):
        for line in shown.splitlines():
            assert line == "..." or line in said[command].splitlines(), command

    told = dict(said.items())
    recalled = told['recall "where do the finished files go" --agent quillmark --max-tokens 400']
    assert "NAS" in recalled
    assert told['recall "parental leave in Portugal" --agent quillmark'] == ""
    assert "quillmark-books" in told["list --agent quillmark --state superseded"]
    assert "~ " in told["diff 2026-03-05 2026-03-10 --agent quillmark"]
    then = told['recall "where do the finished files go" --agent quillmark --as-of 2026-03-05']
    assert "quillmark-books" in then
    assert "118" in told["state get last-title --agent quillmark"]
    assert not [
        path
        for path in (workplace / "home").rglob("*")
        if path.is_file() and b"AKIAIOSFODNN7EXAMPLE" in path.read_bytes()
    ]


def test_the_shell_example_works(workplace):
    script = "\n".join(re.findall(r"```bash\n(.*?)```", SHELL, re.DOTALL))
    memctl = CommandLine(workplace / "shell-home", MEMCTL_NOW="2026-03-24T09:00:00Z")
    environment = memctl.env()
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=workplace, env=environment, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().count("\n") >= 1


def test_the_reference_is_what_help_prints():
    assert readme.outdated() == {}, "run make format"


@pytest.mark.parametrize("command", readme.commands())
def test_every_command_has_an_example_in_its_help(command):
    told = readme.help_of(command)
    assert "Example: memctl" in told
    for inner in readme.subcommands(told):
        assert "Example: memctl" in readme.help_of(command, inner)


@pytest.mark.parametrize("command", readme.commands())
def test_help_fits_eighty_columns_and_names_no_type_of_python(command):
    for told in readme.helps(command):
        assert max(map(len, told.splitlines())) <= 80
        assert not re.search(r"<(?:str|int|float|bool|list)\b", told)
        assert "..." not in told.partition("\nCommands:\n")[2]


def test_the_list_of_commands_says_whole_sentences():
    told = readme.help_of()

    assert "Example: memctl" in told
    assert "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "SECURITY.md", *DOCUMENTS])
def test_links_between_documents_lead_somewhere(page):
    path = REPOSITORY / page
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", path.read_text(encoding="utf-8")):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        headings = re.findall(r"^#+ (.+)$", linked.read_text("utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor[1:] in {heading.lower().replace(" ", "-") for heading in headings}


def test_no_file_names_this_machine_or_a_registry():
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    hosts = [name + dot + end for name, dot, end in (("pypi", r"\.", "org"), ("python", "", "hosted"))]
    forbidden = re.compile("|".join([re.escape(str(REPOSITORY)), re.escape(str(Path.home()) + "/"), *hosts]))
    for name in listed.stdout.splitlines():
        path = REPOSITORY / name
        if path.suffix in (".onnx", ".db", ".gz", ".png", ".lance") or not path.is_file() or path == Path(__file__):
            continue
        found = forbidden.search(path.read_text(encoding="utf-8", errors="ignore"))
        assert found is None, f"{name}: {found and found.group()}"
