"""Recall: a question in, the block for a prompt out. Reads the record only, never waits, never commits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memctl.errors import UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, Hit, MemoryType, MessageHit, Problem, RecallBlock, Result, State
from memctl.operations.lines import take_lines
from memctl.rules.deep import Turn, score_turns
from memctl.rules.history import holds_at
from memctl.rules.layout import Layout
from memctl.rules.overtaken import without_overtaken
from memctl.rules.pack import pack
from memctl.rules.rank import Balance, rank
from memctl.rules.relevance import Candidate, Question, fitted
from memctl.shapes import writable
from memctl.store.corpus import Surroundings, read_corpus, surroundings
from memctl.store.types import Filter
from memctl.times import parse_instant

if TYPE_CHECKING:
    import numpy as np

    from memctl.store import Store
    from memctl.store.types import StoredMessage

GLOBAL_SCOPE = "global"
_LINE_REMEDY = 'Write lines like {"query": "how we deploy"}.'
_NOWHERE = ("", -1)
_CANDIDATES = 60  # memories that each way of searching may propose
_CANDIDATES_PAST = 200  # in the past there are also those that no longer hold


@dataclass(frozen=True, slots=True)
class Asked:
    """How to answer; None stands for the setting.

    ``types``, ``tags``, ``speaker``, ``since`` and ``until`` narrow what may be shown, ``as_of`` asks the past,
    ``deep`` adds messages. ``count`` False keeps the recall out of the frequency of the memories shown.
    """

    limit: int | None = None
    max_tokens: int | None = None
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    deep: bool = False
    cite: bool = False
    explain: bool = False
    format: str = "markdown"
    heading: str | None = None
    count: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """One question of many."""

    query: str
    agent: str | None = None
    as_of: datetime | None = None


def recall(
    memory: OpenMemory, query: str, *, agent: str | None = None, asked: Asked | None = None, **options: Any
) -> Result[RecallBlock]:
    """Tell what a scope, the scopes above it and ``global`` know about a question.

    ``options`` are fields of ``Asked`` and go above those of ``asked``. Nothing remembered, or no store at
    all, is an empty block.
    """
    wanted = replace(asked or Asked(), **options)
    blocks = _answers(memory, [Line(query, agent, wanted.as_of)], wanted)
    return Result("recall", blocks[0])


def recall_many(
    memory: OpenMemory, questions: Sequence[Line], *, asked: Asked | None = None, problems: Sequence[Problem] = ()
) -> Result[tuple[RecallBlock, ...]]:
    """Answer many questions in order, with one load of the model."""
    return Result("recall", tuple(_answers(memory, questions, asked or Asked())), tuple(problems))


def read_questions(lines: Iterable[str], source: str, agent: str | None = None) -> tuple[list[Line], list[Problem]]:
    """Read JSON lines ``{"query", "agent"?, "as_of"?}``; a line that is none is a Problem and answers to nothing."""
    questions: list[Line] = []
    problems = take_lines(lines, source, lambda read, _: questions.append(_line(read, agent)), remedy=_LINE_REMEDY)
    return questions, problems


def empty(query: str | None, questions: Sequence[Line], agent: str | None, problems: Sequence[Problem]) -> Result[Any]:
    """Give the answer of a memory that cannot be asked: empty blocks."""
    if query is not None:
        return Result("recall", _nothing(query, agent or ""), tuple(problems))
    return Result("recall", tuple(_nothing(one.query, one.agent or agent or "") for one in questions), tuple(problems))


def scope_chain(agent: str) -> list[str]:
    """Name the scopes that a scope sees: itself, those above it, and ``global``."""
    parts = agent.split("/")
    above = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return list(dict.fromkeys([*above, GLOBAL_SCOPE]))


def _line(read: Any, agent: str | None) -> Line:
    if not isinstance(read, dict) or not isinstance(read.get("query"), str):
        raise UsageProblem(reason='not an object with a "query"')
    as_of = read.get("as_of")
    scope = read.get("agent")
    return Line(
        read["query"],
        str(scope) if scope else agent,
        parse_instant(str(as_of), what="as_of") if as_of else None,
    )


def _nothing(query: str, agent: str) -> RecallBlock:
    return RecallBlock(query, agent, "", 0)


def _answers(memory: OpenMemory, questions: Sequence[Line], asked: Asked) -> list[RecallBlock]:
    layout = _layout(memory, asked)
    _check(asked)
    questions = [replace(one, query=writable(one.query)) for one in questions]
    store = memory.existing
    if store is None or not questions:
        return [_nothing(one.query, memory.scope(one.agent)) for one in questions]
    queries = [one.query for one in questions]
    # Messages are found by the plain vector: the encoder of questions was trained on memories, which are short.
    vectors, plain = memory.ask(queries), memory.embed(queries) if asked.deep else [None] * len(queries)
    blocks = [
        _answer(memory, store, one, vector, said, replace(asked, as_of=one.as_of or asked.as_of), layout)
        for one, vector, said in zip(questions, vectors, plain, strict=True)
    ]
    present = [block for block, one in zip(blocks, questions, strict=True) if not (one.as_of or asked.as_of)]
    if asked.count:
        _count_uses(memory, store, present)
    return blocks


def _answer(
    memory: OpenMemory,
    store: "Store",
    line: Line,
    vector: "np.ndarray",
    plain: "np.ndarray | None",
    asked: Asked,
    layout: Layout,
) -> RecallBlock:
    scope, question = memory.scope(line.agent), Question.of(line.query)
    scopes, now = scope_chain(scope), asked.as_of or memory.now()
    candidates = _candidates(store, question, vector, scopes, now, asked)
    weights = fitted("tuned" if memory.asks_in_its_own_way else "plain")
    ranked = rank(
        question,
        [candidate for candidate, _ in candidates],
        now=now,
        weights=weights,
        balance=Balance.of(memory.settings),
        floor=float(memory.settings["recall.floor"]),
        read=memory.read if memory.asks_in_its_own_way else None,
    )
    vectors = {candidate.fact.id: stored for candidate, stored in candidates if stored is not None}
    # called late: where there is nothing to compare, the model is not loaded
    hits = without_overtaken(ranked, vectors, lambda pairs: memory.compare(pairs), weights.overtaken)
    limit = int(memory.settings["recall.limit"]) if asked.limit is None else asked.limit
    messages = [] if plain is None else _messages(store, question, plain, scopes, now, asked, limit)
    return pack(
        hits if asked.explain else [Hit(hit.fact, hit.score) for hit in hits],
        messages,
        query=line.query,
        agent=scope,
        limit=limit,
        max_tokens=int(memory.settings["recall.max_tokens"]) if asked.max_tokens is None else asked.max_tokens,
        layout=layout,
        count=memory.count_tokens,
    )


def _candidates(
    store: "Store", question: Question, vector: "np.ndarray", scopes: Sequence[str], now: datetime, asked: Asked
) -> "list[tuple[Candidate, np.ndarray | None]]":
    """Search the memories that held at the instant and are of the kind asked for; give them with their vectors."""
    past = asked.as_of is not None
    wanted = Filter(
        types=asked.types,
        tags=asked.tags,
        speakers=(asked.speaker,) if asked.speaker else (),
        states=(State.ACTIVE, State.CONTESTED, *((State.SUPERSEDED, State.EXPIRED) if past else ())),
        since=asked.since,
        until=min(filter(None, [asked.until, now if past else None]), default=None),
        alive_at=now,
    )
    found = store.search_facts(
        vector, " ".join(question.terms), scopes, where=wanted, limit=_CANDIDATES_PAST if past else _CANDIDATES
    )
    held = [one for one in found if not past or holds_at(one.fact, now)]
    around = surroundings(store, scopes, (place for one in held if (place := _place(one.fact))), vector)
    return [(_candidate(one.fact, one.cosine, around.get(_place(one.fact) or _NOWHERE)), one.vector) for one in held]


def _candidate(fact: Fact, cosine: float | None, around: Surroundings | None) -> Candidate:
    return Candidate(fact, cosine, around.likeness, around.before) if around else Candidate(fact, cosine)


def _place(fact: Fact) -> tuple[str, int] | None:
    """Name the message that a memory was last made of; one written by hand has none."""
    source = fact.wordings[-1].source if fact.wordings else None
    return (source.transcript, source.message) if source and source.message is not None else None


def _messages(
    store: "Store",
    question: Question,
    vector: "np.ndarray",
    scopes: Sequence[str],
    now: datetime,
    asked: Asked,
    limit: int,
) -> list[MessageHit]:
    """Search the chats themselves."""
    import numpy as np

    until = min(filter(None, [asked.until, now if asked.as_of else None]), default=None)
    corpus = read_corpus(
        store, scopes, vector=vector, terms=" ".join(question.terms), where=Filter(since=asked.since, until=until)
    )
    scores = score_turns([_turn(stored) for stored in corpus], question.terms, vector)
    order = [int(place) for place in np.argsort(-scores, kind="stable")]
    shown = [place for place in order if _may_show(corpus[place], asked)][:limit]
    return [_message_hit(corpus, place, float(scores[place])) for place in shown]


def _turn(stored: "StoredMessage") -> Turn:
    message = stored.message
    return Turn(stored.transcript_id, message.speaker, message.text, stored.terms, stored.vector)


def _may_show(stored: "StoredMessage", asked: Asked) -> bool:
    message = stored.message
    return bool(message.text.strip()) and (not asked.speaker or message.speaker.casefold() == asked.speaker.casefold())


def _message_hit(corpus: "Sequence[StoredMessage]", place: int, score: float) -> MessageHit:
    stored = corpus[place]
    message = stored.message
    before, after = (_neighbour(corpus, place, step) for step in (-1, 1))
    return MessageHit(stored.path, message.index, message.speaker, message.text, score, message.at, before, after)


def _neighbour(corpus: "Sequence[StoredMessage]", place: int, step: int) -> str:
    other = place + step
    if not 0 <= other < len(corpus) or corpus[other].transcript_id != corpus[place].transcript_id:
        return ""
    message = corpus[other].message
    return f"{message.speaker}: {message.text}" if message.text.strip() else ""


def _layout(memory: OpenMemory, asked: Asked) -> Layout:
    heading = str(memory.settings["recall.heading"]) if asked.heading is None else asked.heading
    return Layout(asked.format, heading, asked.cite)


def _check(asked: Asked) -> None:
    unknown = [name for name in asked.types if name not in set(MemoryType)]
    if unknown:
        known = ", ".join(MemoryType)
        raise UsageProblem(reason=f"{unknown[0]!r} is not a type of memory", remedy=f"Use one of: {known}.")


def _count_uses(memory: OpenMemory, store: "Store", blocks: Sequence[RecallBlock]) -> None:
    """Note what was shown, for the frequency part of the score; looking at the past does not count."""
    shown = [hit.fact.id for block in blocks for hit in block.hits]
    if shown:
        store.record_use(shown, memory.now())
