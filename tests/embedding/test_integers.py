"""Graphs that multiply in whole numbers, made of the shipped weights as training makes them."""

import numpy as np
import onnx
import pytest

from memctl.embedding.models import WEIGHTS, bundled_folder, word_vectors
from memctl.embedding.onnx import OnnxEncoder
from training.integers import feeds_of, measured, products, sentences, with_integers

TEXTS = [
    "When do the backups run?",
    "Who keeps the keys of the archive? " * 20,
    "Why?",
    "What was the limit before 45?",
]


def encoder(graph):
    bundled = bundled_folder()
    return OnnxEncoder(graph, bundled / "tokenizer.json", 256, word_vectors(bundled / "model.safetensors"))


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    model = onnx.load(str(WEIGHTS / "question.onnx"))
    if not products(model.graph):
        return WEIGHTS / "question.onnx"  # these weights were rewritten when they were made
    target = tmp_path_factory.mktemp("graphs") / "question.onnx"
    onnx.save(with_integers(model, measured(model, feeds_of(sentences()[:48]))), str(target))
    return target


def test_a_rewritten_graph_answers_as_the_shipped_one_does(rewritten):
    there, here = encoder(WEIGHTS / "question.onnx").run(TEXTS)[0], encoder(rewritten).run(TEXTS)[0]
    assert (there * here).sum(axis=1).min() > 0.9999


def test_an_answer_of_a_rewritten_graph_does_not_depend_on_its_batch(rewritten):
    model = encoder(rewritten)
    apart = np.concatenate([model.run([text])[0] for text in TEXTS])
    assert np.abs(model.run(TEXTS)[0] - apart).max() < 1e-5


def test_a_rewritten_graph_has_nothing_more_to_rewrite_and_is_no_larger(rewritten):
    assert not products(onnx.load(str(rewritten)).graph)
    assert rewritten.stat().st_size < 1.05 * (WEIGHTS / "question.onnx").stat().st_size
