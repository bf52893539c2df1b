"""What the doctor says of a store that is not in order: a line that is true, on one screen, and what to do."""

import shutil
from pathlib import Path

import pytest

from memctl.memory import OpenMemory
from memctl.operations.doctor import doctor
from memctl.store import Model, Store


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("doctor") / "home"
    Store.create(home, Model("toy", "digest", 8))
    return home


@pytest.fixture
def store_at(filled, tmp_path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "home"))


def told(home: Path) -> dict[str, list[tuple[bool, str]]]:
    lines: dict[str, list[tuple[bool, str]]] = {}
    for finding in doctor(OpenMemory.at_home(home=str(home))).data.findings:
        lines.setdefault(finding.subject, []).append((finding.well, finding.seen))
    return lines


def test_a_file_where_the_folder_should_be_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    assert told(tmp_path / "file")["store"] == [(False, f"{tmp_path / 'file'} is a file")]


def test_much_damage_fits_on_one_screen(store_at):
    shutil.rmtree(store_at / "record" / "facts.lance")
    lines = told(store_at)["check"]
    assert len(lines) == 6
    assert lines[-1][1].endswith("more")


def test_disk_and_nightly_run_are_looked_at_also_where_the_store_cannot_be_opened(store_at):
    (store_at / "memctl.json").write_text("{")
    lines = told(store_at)
    assert not lines["store"][0][0]
    assert "GB free" in lines["disk"][0][1]
    assert lines["nightly"][0][0]


@pytest.mark.parametrize("report", ["{}", '{"started_at": "nonsense"}', '{"started_at": null}'])
def test_a_report_of_the_night_that_cannot_be_read_is_said(store_at, report):
    (store_at / "nightly.json").write_text(report)
    assert told(store_at)["nightly"] == [(False, "the last run's report cannot be read")]
