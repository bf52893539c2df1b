"""Where memctl keeps what can be made again: exported models, prepared graphs, indexes of remote stores."""

import os
from pathlib import Path

CACHE_VARIABLE = "MEMCTL_CACHE"


def cache_folder() -> Path:
    """Name the folder for what can be made again; it need not exist."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("memctl", appauthor=False))
