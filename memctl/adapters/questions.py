"""What to ask the memory, given the last turns of a chat."""

from collections.abc import Iterable

from memctl.extraction.echoes import cut_echoes

# A turn like "yes, do that" says nothing by itself: turns are added until there is enough to go by.
ENOUGH = 240
MOST_TURNS = 4
_LONGEST_TURN = 700


def question(turns: Iterable[str]) -> str:
    """Make one query of the last turns, given latest first: as few of them as say enough, the latest in front.

    Recall blocks in them are cut out, so that memory does not ask for what it just said.
    """
    parts: list[str] = []
    for turn in turns:
        text = " ".join(cut_echoes(turn).text.split())
        if text and text not in parts:
            parts.append(_shortened(text))
        if len(parts) == MOST_TURNS or sum(map(len, parts)) >= ENOUGH:
            break
    return "\n".join(parts)


def _shortened(text: str) -> str:
    """Keep the ends of a long turn: what it is about stands first, what is asked stands last."""
    if len(text) <= _LONGEST_TURN:
        return text
    half = _LONGEST_TURN // 2
    return f"{text[:half]} … {text[-half:]}"
