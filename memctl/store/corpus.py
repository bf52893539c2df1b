"""The chats as a whole, for the deep search: every message of some scopes in order, with terms and vectors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memctl.store.filters import both, instant, literal, one_of
from memctl.store.reader import Reader
from memctl.store.rows import MESSAGE_COLUMNS, Row, from_table, message_of
from memctl.store.types import Filter, StoredMessage

MOST_MESSAGES = 20_000
AROUND = (0.6, 0.3, 0.1)  # shares of a message, of the one before and of the one after it
_CHATS_TRIED = 200
_COLUMNS = [*MESSAGE_COLUMNS, "terms", "vector"]


def read_corpus(
    store: Reader, scopes: Sequence[str], *, vector: Any, terms: str, where: Filter, most: int = MOST_MESSAGES
) -> list[StoredMessage]:
    """Give all messages of the scopes, by chat and number; of more than ``most``, the chats that search points to.

    ``where`` restricts by the time of speaking only: neighbours of a message have to be there whoever said them.
    """
    condition = both(one_of("agent", scopes), "role != 'system'", _said(where))
    if store.record.count("messages", condition) > most:
        condition = both(condition, one_of("transcript_id", _chats(store, scopes, vector, terms, most)))
    rows = from_table(store.record.arrow("messages", columns=_COLUMNS, where=condition))
    return [message_of(row) for row in sorted(rows, key=_place)[: 2 * most]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How like a vector a message and its neighbours are, and the text of the message before it."""

    likeness: float
    before: str = ""


def surroundings(
    store: Reader, scopes: Sequence[str], places: Iterable[tuple[str, int]], vector: Any
) -> dict[tuple[str, int], Surroundings]:
    """Tell of messages (path and number) what is around them, as far as they are embedded."""
    wanted = set(places)
    if not wanted:
        return {}
    numbers = sorted({number + step for _, number in wanted for step in (-1, 0, 1)})
    condition = both(
        one_of("agent", scopes),
        one_of("path", sorted({path for path, _ in wanted})),
        f"`index` IN ({', '.join(map(str, numbers))})",
    )
    columns = ["id", "path", "index", "vector", "text"]
    rows = sorted(
        from_table(store.record.arrow("messages", columns=columns, where=condition)), key=lambda row: row["id"]
    )
    found = {(row["path"], row["index"]): float(row["vector"] @ vector) for row in rows if row["vector"] is not None}
    texts = {(row["path"], row["index"]): row["text"] or "" for row in rows}
    return {
        (path, number): Surroundings(_around((path, number), found), texts.get((path, number - 1), ""))
        for path, number in wanted
        if (path, number) in found
    }


def _around(place: tuple[str, int], found: Mapping[tuple[str, int], float]) -> float:
    """Mix a message's likeness with its neighbours'; one that is missing counts as the message itself."""
    path, number = place
    own = found[place]
    shares = zip(AROUND, (number, number - 1, number + 1), strict=True)
    return sum(share * found.get((path, other), own) for share, other in shares)


def _chats(store: Reader, scopes: Sequence[str], vector: Any, terms: str, most: int) -> list[str]:
    """Name the chats where search finds most, best first, as many as hold ``most`` messages."""
    found = store.search_messages(vector, terms, scopes, limit=_CHATS_TRIED)
    chosen: list[str] = []
    room = most
    for name in dict.fromkeys(message.stored.transcript_id for message in found):
        room -= store.record.count("messages", f"transcript_id = {literal(name)}")
        chosen.append(name)
        if room <= 0:
            break
    return chosen


def _said(where: Filter) -> str:
    return both(
        f"at IS NULL OR at >= {instant(where.since)}" if where.since else "",
        f"at IS NULL OR at <= {instant(where.until)}" if where.until else "",
    )


def _place(row: Row) -> tuple[str, str, int]:
    return row["path"], row["transcript_id"], row["index"]
