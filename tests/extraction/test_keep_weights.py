"""The committed classifier, run as the product runs it."""

import numpy as np
import pytest

from memctl.embedding.models import WEIGHTS, open_classifier
from memctl.extraction.local import Card, LocalExtractor
from memctl.extraction.windows import SLOTS, alone
from memctl.model import MemoryType


@pytest.fixture(scope="module")
def model():
    return open_classifier("keep")


def test_all_weights_together_are_small():
    assert sum(file.stat().st_size for file in WEIGHTS.iterdir()) < 50_000_000


def test_an_answer_does_not_depend_on_the_rest_of_the_batch(model):
    encoder, _ = model
    inputs = [
        alone("We decided to use Kafka."),
        alone("Thanks!"),
        alone("The import failed as the disk was full. " * 5),
    ]
    together = encoder.run(inputs)[0]
    apart = np.concatenate([encoder.run([one])[0] for one in inputs])
    assert together.shape == (3, SLOTS, 7)
    assert np.abs(together[:, 0] - apart[:, 0]).max() < 1e-4


def test_clear_cases_have_their_types(model):
    encoder, about = model
    extractor = LocalExtractor(encoder.run, Card.of(about))
    assert extractor.types_of(
        ["The import failed because the disk was full.", "The lift is out of order until Friday."]
    ) == [
        MemoryType.FAILURE,
        MemoryType.TEMPORARY,
    ]
