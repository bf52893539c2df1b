"""The runner of all models, with the models that are shipped."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from memctl.embedding.models import WEIGHTS, bundled_folder, open_classifier, open_embedder, word_vectors
from memctl.embedding.onnx import OnnxEncoder
from memctl.embedding.sessions import prepared_path
from memctl.errors import ModelUnavailable

SENTENCES = ["Backups run at two.", "Ann keeps the keys of the archive. " * 30, "No.", "We moved to Postgres. " * 8]
MANY = [f"Number {number} is kept {'in the long row of boxes ' * (number % 9)}by Bo." for number in range(60)]


def question_encoder(graph):
    bundled = bundled_folder()
    return OnnxEncoder(graph, bundled / "tokenizer.json", 256, word_vectors(bundled / "model.safetensors"))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMCTL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ["keep", "judge", "question", "reader"])
def test_an_answer_does_not_depend_on_what_else_is_run(name):
    encoder, _ = open_classifier(name)
    pairs = [("Bo (person): hi / end", f"Ann (person): [MASK] {text}") for text in SENTENCES + MANY[:9]]
    together = encoder.run(pairs)[0]
    apart = np.concatenate([encoder.run([one])[0] for one in pairs])
    used = together[:, 0] if together.ndim == 3 else together
    assert np.abs(used - (apart[:, 0] if apart.ndim == 3 else apart)).max() < 1e-5


def test_a_vector_does_not_depend_on_what_else_is_embedded():
    embedder = open_embedder()
    together = embedder.embed(SENTENCES + MANY)
    apart = np.concatenate([embedder.embed([text]) for text in SENTENCES])
    assert np.abs(together[: len(SENTENCES)] - apart).max() < 1e-5


def test_answers_come_in_the_order_of_the_inputs_also_where_inputs_are_repeated(monkeypatch):
    encoder, _ = open_classifier("question")
    mixed = [*MANY, *SENTENCES, *MANY[::-1]]
    monkeypatch.setenv("MEMCTL_THREADS", "3")
    spread = encoder.run(mixed)[0]
    monkeypatch.setenv("MEMCTL_THREADS", "1")
    assert np.abs(spread - encoder.run(mixed)[0]).max() < 1e-6
    assert np.array_equal(spread[: len(MANY)], spread[len(MANY) + len(SENTENCES) :][::-1])
    assert np.abs(spread[5] - encoder.run([MANY[5]])[0][0]).max() < 1e-5


def test_nothing_in_gives_nothing_out():
    encoder, _ = open_classifier("question")
    assert encoder.run([])[0].shape == (0, 384)


def test_a_prepared_graph_answers_as_the_shipped_one_does(cache):
    first, _ = open_classifier("question")
    made = list((cache / "graphs").iterdir())
    second, _ = open_classifier("question")
    assert [path.name for path in made] == [prepared_path(WEIGHTS / "question.onnx").name]
    assert list((cache / "graphs").iterdir()) == made
    assert np.array_equal(first.run(SENTENCES)[0], second.run(SENTENCES)[0])


def test_other_weights_at_the_same_place_are_prepared_anew_and_the_old_form_goes(cache, tmp_path):
    graph = tmp_path / "model.onnx"
    shutil.copy(WEIGHTS / "question.onnx", graph)
    question_encoder(graph)
    old = prepared_path(graph)
    shutil.copy(WEIGHTS / "keep.onnx", graph)
    assert question_encoder(graph).run([("a", "[MASK] b")])[0].ndim == 3
    assert list((cache / "graphs").iterdir()) == [prepared_path(graph)] != [old]


def test_a_damaged_prepared_graph_is_made_again(cache):
    open_classifier("question")
    prepared = prepared_path(WEIGHTS / "question.onnx")
    whole = prepared.stat().st_size
    prepared.write_bytes(prepared.read_bytes()[:1000])
    assert open_classifier("question")[0].run(SENTENCES)[0].shape == (4, 384)
    assert prepared.stat().st_size == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MEMCTL_CACHE", str(tmp_path / "file"))
    assert open_classifier("question")[0].run(SENTENCES)[0].shape == (4, 384)


def test_a_broken_graph_is_a_foreseen_error_and_leaves_nothing_behind(cache, tmp_path):
    graph = tmp_path / "model.onnx"
    graph.write_bytes(b"no graph")
    with pytest.raises(ModelUnavailable):
        question_encoder(graph)
    with pytest.raises(ModelUnavailable):
        question_encoder(tmp_path / "missing.onnx")
    assert not list((cache / "graphs").iterdir())


def test_a_program_that_is_ending_can_still_run_many_batches():
    program = (
        "import atexit, threading\n"
        "from memctl.embedding.models import open_classifier\n"
        "encoder, _ = open_classifier('question')\n"
        "texts = [f'{number} ' * 200 for number in range(9)]\n"
        "atexit.register(lambda: print(len(encoder.run(texts)[0])))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "9", done.stderr
