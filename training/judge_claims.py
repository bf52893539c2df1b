"""Pairs of memories as the extractor writes them: what the judge meets in chats, with leads, names and asides left in.

The annotated teams are read with the shipped extractor; a memory stands for the gold facts that it says, as the
evaluation counts it, and two memories relate as those facts do. A memory that says no gold fact is taken for something
else: nothing that it could replace is known.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memctl.embedding.models import open_classifier
from memctl.extraction.local import Card, LocalExtractor
from memctl.model import Claim
from training.judge_data import Embed, LabelledPair, closure, links
from training.keep_data import Team, fits, load_all, says

Said = tuple[Claim, int, frozenset[int]]


def claim_pairs(teams: Path, embed: Embed, floor: float) -> list[LabelledPair]:
    """Give every pair of extracted memories of a team that the judge would compare."""
    encoder, about = open_classifier("keep")
    extractor = LocalExtractor(encoder.run, Card.of(about))
    return [pair for team in load_all(teams) for pair in _of_team(team, _said(team, extractor), embed, floor)]


def _said(team: Team, extractor: LocalExtractor) -> list[Said]:
    """Extract a team's memories: each with its session and the places of the gold facts that it says."""
    made = extractor.extract([session.transcript for session in team.sessions], team.name)
    return [
        (
            claim,
            session.number,
            frozenset(n for n, fact in enumerate(team.facts) if fits(claim.text, fact) and says(claim.text, fact)),
        )
        for session, extraction in zip(team.sessions, made, strict=True)
        for claim in extraction.claims
    ]


def _of_team(team: Team, said: Sequence[Said], embed: Embed, floor: float) -> Iterator[LabelledPair]:
    ties = links(team.facts)
    linked = closure(set(ties), len(team.facts))
    vectors = embed([claim.text for claim, _, _ in said])
    cosines = vectors @ vectors.T
    for newer in range(len(said)):
        for older in range(newer):
            label = _label(said[older][2], said[newer][2], ties, linked)
            if label and cosines[older, newer] >= floor and said[older][0].text != said[newer][0].text:
                yield _pair(said[older], said[newer], label, team.name)


def _label(old: frozenset[int], new: frozenset[int], ties: dict[tuple[int, int], str], linked: np.ndarray) -> str:
    """Relate two memories by the facts they say; nothing where that does not follow."""
    if old & new:
        return "duplicate"
    found = {ties.get((one, other)) for one in old for other in new} - {None}
    if found:
        return str(found.pop()) if len(found) == 1 else ""
    return "" if any(linked[one, other] for one in old for other in new) else "compatible"


def _pair(old: Said, new: Said, label: str, group: str) -> LabelledPair:
    parts: dict[str, Any] = {"other_type": old[0].type is not new[0].type, "same_chat": old[1] == new[1]}
    return LabelledPair(old[0].text, new[0].text, label, "claim", group, **parts)
