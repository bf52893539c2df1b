"""One store for all tests of the adapters: scopes keep them apart, and the models are loaded once."""

import re

import pytest

from memctl import Memory


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory):
    return str(tmp_path_factory.mktemp("adapters") / "home")


@pytest.fixture(scope="session")
def warm(shared_home):
    """Keep the store and its models open between tests."""
    return Memory("warm", home=shared_home)


@pytest.fixture(autouse=True)
def home(shared_home, warm, monkeypatch):
    monkeypatch.setenv("MEMCTL_HOME", shared_home)
    return shared_home


@pytest.fixture
def scope(request):
    return re.sub(r"\W+", "-", request.node.name)


@pytest.fixture
def mem(scope):
    return Memory(scope)


@pytest.fixture
def broken_home(tmp_path, monkeypatch):
    """A place where no memory can be: a file stands where the folder should be."""
    place = tmp_path / "not-a-folder"
    place.write_text("in the way")
    monkeypatch.setenv("MEMCTL_HOME", str(place))
    return str(place)
