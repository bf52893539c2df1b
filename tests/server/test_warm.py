"""A memory that stays warm: what takes long to load is loaded once for all requests."""

import pytest

from memctl.server.warm import Warm


@pytest.mark.parametrize("name", ["embedder", "asker", "reader", "local_extractor", "compare"])
def test_all_requests_of_a_process_share_a_model(tmp_path, name):
    warm = Warm(str(tmp_path))
    assert getattr(warm.open(), name) is getattr(warm.open(), name)
