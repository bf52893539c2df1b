"""Small facts with random unit vectors for the tests of the store."""

import dataclasses
import hashlib
from datetime import UTC, datetime, timedelta

import numpy as np

from memctl.model import Fact, Interval, MemoryType, Message, Role, Source, State, Wording
from memctl.store import FactWrite, Model

DIMENSION = 8
MODEL = Model("toy", "digest", DIMENSION)
START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def unit(seed):
    vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def make_fact(text, *, agent="team", at=START, speaker="ana", **fields):
    source = Source("chat.json", 3, speaker, text, at, "agent")
    plain = Fact(
        id=hashlib.sha256(f"{agent}\0{text}".encode("utf-8", "replace")).hexdigest()[:16],
        agent=agent,
        text=text,
        type=MemoryType.FACT,
        state=State.ACTIVE,
        said_at=at,
        last_said_at=at,
        recorded_at=at,
        wordings=(Wording(text, at, source),),
        held=(Interval(at),),
    )
    return dataclasses.replace(plain, **fields)


def write(fact, seed=None):
    return FactWrite(fact, unit(seed if seed is not None else abs(hash(fact.id)) % 10**6), fact.text.lower())


def message(index, text, *, speaker="ana", at=None):
    return Message(index, speaker, Role.AGENT, text, at or START + timedelta(minutes=index))


def export(store):
    """Everything that people can see of the facts, in a fixed order."""
    return sorted((repr(fact) for fact in store.all_facts()), key=str)
