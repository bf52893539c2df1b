"""What each command says to people."""

from collections.abc import Callable

from memctl.render import curating, ingesting, looking, recalling, upkeep

PEOPLE: dict[str, Callable[..., None]] = {
    **ingesting.RENDERERS,
    **recalling.RENDERERS,
    **looking.RENDERERS,
    **curating.RENDERERS,
    **upkeep.RENDERERS,
}
