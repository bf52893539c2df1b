import pytest
from storekit import MODEL

from memctl.store import Store


@pytest.fixture
def home(tmp_path):
    return tmp_path / "memory"


@pytest.fixture
def store(home):
    return Store.create(home, MODEL)
