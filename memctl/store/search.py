"""Looking things up in the record by meaning and by words. Reads only, through ``lance``, without a lock."""

from collections.abc import Mapping, Sequence
from typing import Any

from memctl.errors import DamagedStore
from memctl.store.filters import both, fact_condition, literal, one_of
from memctl.store.record import Record
from memctl.store.rescue import open_newest, readable
from memctl.store.rows import FACT_COLUMNS, MESSAGE_COLUMNS, Row, fact_of, from_table, message_of, vectors_of
from memctl.store.types import Filter, Found, FoundMessage, Near


def search_facts(record: Record, vector: Any, terms: str, wanted: Filter, limit: int) -> list[Found]:
    """Give the facts nearest in meaning and those that share words; see ``Store.search_facts``."""
    where = fact_condition(wanted)
    rows, cosines, scores = _hybrid(record, "facts", FACT_COLUMNS, vector, terms, where, limit)
    return [Found(fact_of(row), cosines.get(name), scores.get(name)) for name, row in rows.items()]


def search_messages(
    record: Record, vector: Any, terms: str, agents: Sequence[str], limit: int, where: str = ""
) -> list[FoundMessage]:
    """Give the messages nearest in meaning and those that share words; see ``Store.search_messages``."""
    scope = both(one_of("agent", agents) if agents else "", where)
    rows, cosines, scores = _hybrid(record, "messages", MESSAGE_COLUMNS, vector, terms, scope, limit)
    return [FoundMessage(message_of(row), cosines.get(name), scores.get(name)) for name, row in rows.items()]


def _hybrid(
    record: Record, table: str, columns: Sequence[str], vector: Any, terms: str, where: str, limit: int
) -> tuple[dict[str, Row], dict[str, float], dict[str, float]]:
    """Rows by id, their cosines and their BM25 scores. A row met by words only gets its exact cosine too."""
    try:
        by_words = _by_words(record, table, columns, terms, where, limit)
        by_meaning = _by_meaning(record, table, columns, vector, where, limit)
    except DamagedStore:
        by_words, by_meaning = _of_the_rest(record, table, columns, vector, terms, where, limit)
    rows = {row["id"]: row for row in sorted([*by_meaning, *by_words], key=lambda row: row["id"])}
    scores = {row["id"]: float(row["_score"]) for row in by_words}
    cosines = {row["id"]: 1.0 - float(row["_distance"]) for row in by_meaning if row["_distance"] is not None}
    if vector is not None:
        cosines |= {row["id"]: cosine(vector, row["vector"]) for row in by_words if row["vector"] is not None}
    order = sorted(rows, key=lambda name: (-cosines.get(name, -1.0), -scores.get(name, 0.0), name))
    return {name: rows[name] for name in order}, cosines, scores


def _by_meaning(record: Record, table: str, columns: Sequence[str], vector: Any, where: str, limit: int) -> list[Row]:
    if vector is None:
        return []
    import numpy as np

    query = {"column": "vector", "q": np.asarray(vector, dtype=np.float32), "k": limit, "metric": "cosine"}
    return _scan(record, table, [*columns, "_distance"], where, limit, nearest=query)


def _by_words(record: Record, table: str, columns: Sequence[str], terms: str, where: str, limit: int) -> list[Row]:
    if not terms.strip():
        return []
    from lance.query import MatchQuery

    words = MatchQuery(terms.encode("utf-8", "replace").decode(), "terms")
    return _scan(record, table, [*columns, "vector", "_score"], where, limit, full_text_query=words)


def _scan(record: Record, table: str, columns: list[str], where: str, limit: int, **search: Any) -> list[Row]:
    def look(data: Any) -> Any:
        return data.scanner(columns=columns, filter=where or None, prefilter=True, limit=limit, **search).to_table()

    return from_table(record.read(table, look))


def _of_the_rest(
    record: Record, table: str, columns: Sequence[str], vector: Any, terms: str, where: str, limit: int
) -> tuple[list[Row], list[Row]]:
    """Search a damaged table: row by row through all that can be read, counting shared words instead of BM25."""
    record.note("Part of the record cannot be read; the rest was searched. Run memctl check.")
    data, _ = open_newest(record.home, table)
    rows: list[Row] = []
    for piece, _name in readable(data, [*columns, "vector", "terms"], where) if data is not None else ():
        rows += from_table(piece) if piece is not None else []
    wanted = set(terms.split())
    for row in rows:
        row["_score"] = float(len(wanted & set((row["terms"] or "").split())))
        known = vector is not None and row["vector"] is not None
        row["_distance"] = 1.0 - cosine(vector, row["vector"]) if known else None
    by_words = sorted((row for row in rows if row["_score"]), key=lambda row: (-row["_score"], row["id"]))
    by_meaning = sorted((row for row in rows if row["_distance"] is not None), key=lambda row: row["_distance"])
    return by_words[:limit], by_meaning[:limit]


def cosine(left: Any, right: Any) -> float:
    """Give the cosine of two vectors of any length; 0 where one of them is zero."""
    import numpy as np

    size = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(np.dot(left, right)) / size if size else 0.0


def near(record: Record, vectors: Sequence[Any], agent: str, limit: int, floor: float) -> list[list[Near]]:
    """For each vector the most similar facts of exactly this scope, whatever their state."""
    import numpy as np

    if not len(vectors):
        return []
    queries = np.asarray(np.stack([np.asarray(vector) for vector in vectors]), dtype=np.float32)
    best = _top(record, queries, f"agent = {literal(agent)}", limit, floor)
    names = sorted({name for found in best for name, _, _ in found})
    facts = {name: fact_of(row) for name, row in record.by_ids("facts", names, FACT_COLUMNS).items()}
    return [[Near(facts[name], score, vector) for name, score, vector in found if name in facts] for found in best]


def _top(record: Record, queries: Any, where: str, limit: int, floor: float) -> list[list[tuple[str, float, Any]]]:
    """Stream the scope's vectors and keep the best for each query: one pass, and exact."""
    import numpy as np

    best: list[list[tuple[str, float, Any]]] = [[] for _ in queries]
    for batch in record.batches("facts", columns=["id", "vector"], where=where):
        table = as_table(batch)
        names, vectors = table.column("id").to_pylist(), vectors_of(table)
        kept = [number for number, vector in enumerate(vectors) if vector is not None]
        if not kept:
            continue
        matrix = np.stack([vectors[number] for number in kept])
        scores = queries @ matrix.T
        count = min(limit, len(kept))
        for query, row in enumerate(scores):
            places = np.argpartition(-row, count - 1)[:count]
            found = [(names[kept[i]], float(row[i]), matrix[i]) for i in places if row[i] >= floor]
            best[query] = sorted(best[query] + found, key=_rank)[:limit]
    return best


def _rank(found: tuple[str, float, Any]) -> tuple[float, str]:
    return -found[1], found[0]


def as_table(batch: Any) -> Any:
    """Give an Arrow batch as a table."""
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def neighbours(record: Record, stored: Mapping[str, Any], before: int, after: int) -> list[Row]:
    """Give the rows of a transcript around a message, in order."""
    low, high = stored["index"] - before, stored["index"] + after
    where = both(
        f"transcript_id = {literal(stored['transcript_id'])}", f"`index` >= {int(low)}", f"`index` <= {int(high)}"
    )
    rows = record.rows("messages", columns=MESSAGE_COLUMNS, where=where)
    return sorted(rows, key=lambda row: row["index"])
