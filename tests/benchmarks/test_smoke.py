"""The benchmarks run from beginning to end at the smallest size, so that they never rot. No figure is judged here."""

import json

import pytest

from benchmarks import report
from benchmarks.__main__ import HERE, NAMES, main
from benchmarks.chats import Writer, lengths, write_folder
from benchmarks.clock import percentile, steady
from benchmarks.examples import CHANGED, verdict
from benchmarks.figures import Figure, at_least, at_most, figure_of
from benchmarks.plot import used
from benchmarks.sampler import OTHER, sampled

RESULTS = HERE / "results" / "latest.json"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_every_measurement_runs_and_leaves_table_json_and_picture(name, tmp_path, capsys):
    result, picture = tmp_path / "result.json", tmp_path / "picture.png"

    code = main([name, "--size", "tiny", "--json", str(result), "--plot", str(picture), "--cache", str(tmp_path)])

    figures = json.loads(result.read_text())["measurements"][name]["figures"]
    assert code == 0
    assert figures
    assert all({"name", "value"} <= figure.keys() for figure in figures)
    assert figures[0]["name"] in " ".join(capsys.readouterr().out.split())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_results_of_other_measurements_stay(tmp_path):
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"measurements": {"peers": {"size": "full", "at": "", "figures": []}}}))

    main(["extraction", "--size", "tiny", "--json", str(result), "--plot", str(tmp_path / "p.png")])

    assert json.loads(result.read_text())["measurements"].keys() == {"peers", "extraction"}


def test_the_readmes_say_what_was_measured():
    results = report.load(RESULTS)

    assert results
    for path, wanted in report.readmes(results).items():
        assert path.read_text() == wanted, f"python -m benchmarks --readme writes {path.name}"


def test_a_first_readme_names_the_figures_that_have_a_target():
    figures = [Figure("quick", 0.5, "×", at_most(0.75)), Figure("slow", 3, "s", at_most(2)), Figure("aside", 7)]

    table = report.summary({"recall": report.result_of("tiny", figures), "quality": report.result_of("tiny", figures)})

    assert table.splitlines()[3:] == ["| quick | 0.5 × | ≤ 0.75 |", "| slow | 3 s | ≤ 2 **missed** |", ""]


def test_the_same_seed_gives_the_same_chats(tmp_path):
    write_folder(tmp_path / "one", 30, 6, seed=4)
    write_folder(tmp_path / "two", 30, 6, seed=4)

    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))

    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert sum(len(json.loads(path.read_text())) for path in one) == 30
    assert Writer(1).statement() == Writer(1).statement() != Writer(2).statement()
    assert sum(lengths(100, 7)) == 100


def test_a_figure_knows_whether_it_meets_its_target_and_survives_json():
    figures = [Figure("a", 0.5, "×", at_most(0.75), "so"), Figure("b", 0.5, target=at_least(0.7)), Figure("c", "no")]

    assert [figure.met for figure in figures] == [True, False, None]
    assert [figure_of(json.loads(json.dumps(figure.shape()))) for figure in figures] == figures
    assert used(figures[0]) < 1 < used(figures[1])


def test_a_percentile_is_one_of_the_values():
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([5], 0.95) == 5


def test_a_ratio_that_noise_drowns_is_not_trusted():
    assert steady([1.0, 1.1, 1.0], [2.0, 2.1, 2.0])
    assert not steady([12.0, 1.0, 13.0], [4.0, 5.0, 20.0])


def test_answers_with_the_old_fact_first_count_against_a_memory():
    good = verdict([[changed.new] for changed in CHANGED])
    bad = verdict([[changed.old, changed.new] for changed in CHANGED])

    assert good == {"current first": len(CHANGED), "stale shown": 0}
    assert bad == {"current first": 0, "stale shown": len(CHANGED)}


def test_the_profiler_tells_stages_apart():
    with sampled({"here": [("test_smoke.py", "busy")]}, seconds=0.001) as spent:
        busy()

    assert spent["here"] > spent[OTHER]


def busy():
    return sum(number * number for number in range(2_000_000))
