"""Looking things up in the record by meaning and by words. Reads only, through ``lance``, without a lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memctl.errors import DamagedStore
from memctl.store.filters import both, fact_condition, literal, one_of
from memctl.store.record import Record
from memctl.store.rescue import open_newest, readable
from memctl.store.rows import FACT_COLUMNS, MESSAGE_COLUMNS, Row, fact_of, from_table, matrix_of, message_of
from memctl.store.types import Filter, Found, FoundMessage, Near


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: a vector or None, analysed words or none, and the condition that rows must meet."""

    table: str
    columns: Sequence[str]
    vector: Any
    terms: str
    where: str
    limit: int


def search_facts(record: Record, vector: Any, terms: str, wanted: Filter, limit: int) -> list[Found]:
    """Give the facts nearest in meaning and those that share words; see ``Store.search_facts``."""
    asked = Question("facts", FACT_COLUMNS, vector, terms, fact_condition(wanted), limit)
    return [Found(fact_of(row), near_by, words, row["vector"]) for row, near_by, words in _hybrid(record, asked)]


def search_messages(
    record: Record, vector: Any, terms: str, agents: Sequence[str], limit: int, where: str = ""
) -> list[FoundMessage]:
    """Give the messages nearest in meaning and those that share words; see ``Store.search_messages``."""
    scope = both(one_of("agent", agents) if agents else "", where)
    asked = Question("messages", MESSAGE_COLUMNS, vector, terms, scope, limit)
    return [FoundMessage(message_of(row), near_by, words) for row, near_by, words in _hybrid(record, asked)]


def _hybrid(record: Record, asked: Question) -> list[tuple[Row, float | None, float | None]]:
    """Rows with their exact cosines and their BM25 scores, best first."""
    try:
        rows, scores = record.read(asked.table, lambda data: _of_the_whole(data, asked))
    except DamagedStore:
        record.note("Part of the record cannot be read; the rest was searched. Run memctl check.")
        rows, scores = _of_the_rest(record, asked)
    found = [(row, _cosine_or_none(asked.vector, row["vector"]), scores.get(row["id"])) for row in rows]
    return sorted(found, key=lambda one: (-(-1.0 if one[1] is None else one[1]), -(one[2] or 0.0), one[0]["id"]))


def _of_the_whole(data: Any, asked: Question) -> tuple[list[Row], dict[str, float]]:
    """Find the ids both ways, then read the rows once: several times as quick as reading them with each search."""
    scores: dict[str, float] = {}
    names: set[str] = set()
    if asked.terms.strip():
        from lance.query import MatchQuery

        words = MatchQuery(asked.terms.encode("utf-8", "replace").decode(), "terms")
        hits = _scan(data, ["id", "_score"], asked, full_text_query=words)
        scores = dict(zip(hits.column("id").to_pylist(), hits.column("_score").to_pylist(), strict=True))
    if asked.vector is not None:
        import numpy as np

        vector = np.asarray(asked.vector, dtype=np.float32)
        nearest = {"column": "vector", "q": vector, "k": asked.limit, "metric": "cosine"}
        names = set(_scan(data, ["id", "_distance"], asked, nearest=nearest).column("id").to_pylist())
    names |= scores.keys()
    columns = [*asked.columns, "vector"]
    rows = data.to_table(columns=columns, filter=one_of("id", sorted(names))) if names else None
    return ([] if rows is None else from_table(rows)), scores


def _scan(data: Any, columns: list[str], asked: Question, **search: Any) -> Any:
    scanner = data.scanner(columns=columns, filter=asked.where or None, prefilter=True, limit=asked.limit, **search)
    return scanner.to_table()


def _of_the_rest(record: Record, asked: Question) -> tuple[list[Row], dict[str, float]]:
    """Search a damaged table: row by row through all that can be read, counting shared words instead of BM25."""
    data, _ = open_newest(record.home, asked.table)
    rows: list[Row] = []
    columns = [*asked.columns, "vector", "terms"]
    for piece, _name in readable(data, columns, asked.where) if data is not None else ():
        rows += from_table(piece) if piece is not None else []
    wanted = set(asked.terms.split())
    scores = {row["id"]: float(len(wanted & set((row["terms"] or "").split()))) for row in rows}
    cosines = {row["id"]: _cosine_or_none(asked.vector, row["vector"]) for row in rows}
    near_by = sorted((name for name in cosines if cosines[name] is not None), key=lambda name: -(cosines[name] or 0))
    by_words = sorted((name for name in scores if scores[name]), key=lambda name: (-scores[name], name))
    kept = {*near_by[: asked.limit], *by_words[: asked.limit]}
    return [row for row in rows if row["id"] in kept], {name: scores[name] for name in by_words[: asked.limit]}


def _cosine_or_none(asked: Any, stored: Any) -> float | None:
    return None if asked is None or stored is None else cosine(asked, stored)


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
    condition = both(where, "vector IS NOT NULL")
    # small batches: a good many of them are read ahead
    for batch in record.batches("facts", columns=["id", "vector"], where=condition, size=1024):
        if not batch.num_rows:
            continue
        names, matrix = batch.column("id").to_pylist(), matrix_of(batch.column("vector"))
        scores = queries @ matrix.T
        count = min(limit, len(names))
        for query, row in enumerate(scores):
            places = np.argpartition(-row, count - 1)[:count] if count < len(names) else range(count)
            # a copy: a view would keep the whole batch in memory
            least = max(floor, best[query][-1][1]) if len(best[query]) == limit else floor
            found = [(names[i], float(row[i]), matrix[i].copy()) for i in places if row[i] >= least]
            best[query] = sorted(best[query] + found, key=_rank)[:limit] if found else best[query]
    return best


def _rank(found: tuple[str, float, Any]) -> tuple[float, str]:
    return -found[1], found[0]


def as_table(batch: Any) -> Any:
    """Give an Arrow batch as a table."""
    import pyarrow as pa

    return pa.Table.from_batches([batch])
