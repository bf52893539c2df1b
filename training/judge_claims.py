"""Memories as the extractor writes them: what the judge meets in chats, with leads, names and asides left in.

The annotated teams are read with the shipped extractor; a memory stands for the gold facts that it says, as the
evaluation counts it, and two memories relate as those facts do. A memory that says no gold fact is taken for something
else: nothing that it could replace is known.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from memctl.embedding.models import open_classifier
from memctl.extraction.local import Card, LocalExtractor
from training.judge_data import Embed, LabelledPair, closure, links
from training.keep_data import Team, fits, load_all, says

Ties = dict[tuple[int, int], str]


@dataclass(frozen=True)
class Told:
    """A memory made of a team's chat: where it was said, and the places of the gold facts that it says."""

    team: str
    text: str
    type: str
    session: int
    message: int
    speaker: str
    role: str
    said: tuple[int, ...]


def told(teams: Path, kept: Path, made_by: Path) -> dict[str, list[Told]]:
    """Give the memories of each team; ``kept`` holds them as long as the weights ``made_by`` are not newer."""
    if not kept.exists() or kept.stat().st_mtime < made_by.stat().st_mtime:  # reading all teams takes minutes
        rows = [row for team in load_all(teams) for row in _extracted(team)]
        kept.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    found: dict[str, list[Told]] = {}
    for line in kept.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["team"], []).append(Told(**{**row, "said": tuple(row["said"])}))
    return found


def gold(teams: Path, team: str) -> list[dict]:
    """Read the annotated facts of a team."""
    return list(json.loads((teams / team / "gold.json").read_text(encoding="utf-8"))["facts"])


def is_own(folder: Path) -> bool:
    """Tell whether a team was written here."""
    return json.loads((folder / "gold.json").read_text(encoding="utf-8")).get("origin") == "own"


def claim_pairs(teams: Path, memories: dict[str, list[Told]], embed: Embed, floor: float) -> list[LabelledPair]:
    """Give every pair of extracted memories of a team that the judge would compare."""
    return [pair for team, said in memories.items() for pair in _of_team(gold(teams, team), said, embed, floor)]


def _extracted(team: Team) -> Iterator[Told]:
    encoder, about = open_classifier("keep")
    extractor = LocalExtractor(encoder.run, Card.of(about))
    made = extractor.extract([session.transcript for session in team.sessions], team.name)
    for session, extraction in zip(team.sessions, made, strict=True):
        for claim in extraction.claims:
            said = tuple(n for n, fact in enumerate(team.facts) if fits(claim.text, fact) and says(claim.text, fact))
            source = claim.source
            yield Told(
                team.name,
                claim.text,
                claim.type.value,
                session.number,
                source.message or 0,
                source.speaker,
                source.role,
                said,
            )


def _of_team(facts: list[dict], said: Sequence[Told], embed: Embed, floor: float) -> Iterator[LabelledPair]:
    ties = links(facts)
    linked = closure(set(ties), len(facts))
    vectors = embed([memory.text for memory in said])
    cosines = vectors @ vectors.T
    for newer in range(len(said)):
        for older in range(newer):
            old, new = said[older], said[newer]
            label = _label(set(old.said), set(new.said), ties, linked)
            if label == "compatible" and _part_of_a_change(facts, old, new, ties):
                continue
            if label and cosines[older, newer] >= floor and old.text != new.text:
                seen = (old.type != new.type, old.session == new.session, old.speaker == new.speaker)
                yield LabelledPair(old.text, new.text, label, "claim", old.team, *seen)


def _part_of_a_change(facts: list[dict], old: Told, new: Told, ties: Ties) -> bool:
    """Whether a memory was said in the very message that changes or restates the older one, if not in full."""
    return any(
        one in old.said and facts[other]["session"] == new.session and new.message in facts[other]["messages"]
        for one, other in ties
    )


def _label(old: set[int], new: set[int], ties: Ties, linked: np.ndarray) -> str:
    """Relate two memories by the facts they say; nothing where that does not follow."""
    if old & new:
        return "duplicate"
    found = {ties.get((one, other)) for one in old for other in new} - {None}
    if found:
        return str(found.pop()) if len(found) == 1 else ""
    return "" if any(linked[one, other] for one in old for other in new) else "compatible"
