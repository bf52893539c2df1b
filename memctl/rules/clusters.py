"""A fact as the sum of its wordings.

Everything here is a function of the set of wordings and of the rivals' wordings, never of the order in which they
were learnt. That is what makes any order of ingesting the same transcripts end in the same memory.

- The **text** (and so the id) of a fact is its earliest wording: in the order of speaking the id never changes, and a
  late find of an earlier wording moves it the same way whenever it is found. A pinned or edited text stays.
- A fact **holds** from each time it was said until a rival was said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memctl.model import Claim, Fact, Interval, Source, State, Wording
from memctl.rules.cues import corrects
from memctl.rules.identity import fact_id, normalised
from memctl.rules.reasons import first_said

Moment = tuple[datetime, str, int, bool]


def moment(wording: Wording) -> Moment:
    """Place a wording in time: by the clock, then by its place in the transcript, then corrections last."""
    source = wording.source
    message = source.message if source.message is not None else -1
    return (wording.said_at, source.transcript, message, corrects(wording.text))


def ordered(wordings: Iterable[Wording]) -> tuple[Wording, ...]:
    """Sort wordings by the time of speaking."""
    return tuple(sorted(wordings, key=moment))


def wording_of(claim: Claim) -> Wording:
    """Turn a claim into evidence."""
    return Wording(claim.text, claim.said_at, claim.source, claim.confirmed)


def evidence(fact: Fact) -> tuple[Wording, ...]:
    """Give the wordings of a fact; one that carries none (an old import) speaks for itself."""
    return fact.wordings or (Wording(fact.text, fact.said_at, Source("", None, "", fact.text, fact.said_at)),)


def latest(fact: Fact) -> Wording:
    """Give the wording in which the fact was said last."""
    return ordered(evidence(fact))[-1]


def texts(fact: Fact, most: int) -> tuple[Wording, ...]:
    """Give the wordings to compare with: of each different text the first and the last time it was said.

    Both, because a claim from between them is newer than the one and older than the other.
    """
    first: dict[str, Wording] = {}
    last: dict[str, Wording] = {}
    for wording in speaking(fact):
        first.setdefault(wording.text, wording)
        last[wording.text] = wording
    chosen = list(first) if len(first) <= most else [*list(first)[:1], *list(first)[-(most - 1) :]]
    return tuple(dict.fromkeys(wording for text in chosen for wording in (first[text], last[text])))


def new_fact(claim: Claim, now: datetime) -> Fact:
    """Make the fact that a claim states, held since it was said."""
    wording = wording_of(claim)
    return Fact(
        id=fact_id(claim.agent, claim.text),
        agent=claim.agent,
        text=claim.text,
        type=claim.type,
        state=State.ACTIVE,
        said_at=claim.said_at,
        last_said_at=claim.said_at,
        recorded_at=now,
        expires_at=claim.expires_at,
        tags=claim.tags,
        wordings=(wording,),
        held=(Interval(claim.said_at),),
        because=first_said(wording),
        rule="new",
        confidence=claim.confidence,
        confirmed=claim.confirmed,
    )


def joined(parts: Sequence[Fact]) -> Fact:
    """Make one fact of several that say the same; the earliest wording gives text, id and type."""
    lead = min(parts, key=lambda fact: (not fixed(fact), moment(ordered(evidence(fact))[0])))
    wordings = ordered(_distinct(wording for part in parts for wording in evidence(part)))
    speakers = {wording.source.speaker for wording in wordings if wording.source.speaker}
    return replace(
        lead,
        wordings=wordings,
        said_at=wordings[0].said_at,
        last_said_at=wordings[-1].said_at,
        recorded_at=min(part.recorded_at for part in parts),
        expires_at=_longest([part.expires_at for part in parts]),
        tags=tuple(sorted({tag for part in parts for tag in part.tags})),
        confidence=max(part.confidence for part in parts),
        confirmed=any(part.confirmed for part in parts) or len(speakers) > 1,
        pinned=any(part.pinned for part in parts),
        uses=sum(part.uses for part in parts),
        last_used_at=max((part.last_used_at for part in parts if part.last_used_at), default=None),
    )


def fixed(fact: Fact) -> bool:
    """Tell whether a person settled the text: it is pinned, or edited away from the words that were said first."""
    return fact.pinned or edited(fact)


def edited(fact: Fact) -> bool:
    """Tell whether the text is not that of the earliest wording."""
    return normalised(fact.text) != normalised(ordered(evidence(fact))[0].text)


def speaking(fact: Fact) -> tuple[Wording, ...]:
    """Give the wordings that speak for a fact: all of them, or of an edited one only its present text."""
    wordings = ordered(evidence(fact))
    if not edited(fact):
        return wordings
    own = tuple(wording for wording in wordings if normalised(wording.text) == normalised(fact.text))
    return own or (replace(wordings[-1], text=fact.text),)


def intervals(own: Sequence[Wording], rivals: Sequence[Wording]) -> tuple[Interval, ...]:
    """Tell when a fact held: from each assertion until a rival's next one."""
    events = sorted([(moment(w), True) for w in own] + [(moment(w), False) for w in rivals])
    held: list[Interval] = []
    for (at, *_), assertion in events:
        is_open = bool(held) and held[-1].until is None
        if assertion and not is_open:
            held.append(Interval(at))
        elif not assertion and is_open:
            held[-1] = Interval(held[-1].since, at)
    return tuple(held)


def _longest(ends: Sequence[datetime | None]) -> datetime | None:
    """Take the latest end; what was once said without an end has none."""
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def _distinct(wordings: Iterable[Wording]) -> list[Wording]:
    return list(dict.fromkeys(wordings))
