"""Play unseen teams through the package and choose when a later answer takes an earlier one's place.

    python -m training.recall_played           print the figures for every bound that is tried
    python -m training.recall_played --write   and replace ``overtaken`` in memctl/weights/recall.json

The chats of the fold that question encoder and reader have not seen are ingested session by session, with the shipped
weights; then every question is asked as the evaluation asks it. So stale memories, merged ones and wrong types are in
the way as they are in use, which the lists that ``recall_fit`` learns from do not have.
"""

import argparse
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memctl.memory import OpenMemory
from memctl.model import Hit
from memctl.operations import recall as recalling
from memctl.operations.ingest import ingest
from memctl.rules.overtaken import without_overtaken
from memctl.rules.relation import Pair, Relation
from memctl.rules.relevance import fitted
from training.folds import HELD_OUT, fold_of
from training.judge_weigh import NEVER
from training.recall_data import HERE, instant, says
from training.recall_fit import WEIGHTS

BOUNDS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, NEVER)
LIMIT = 5
_MET = 8  # more than are shown: what moves up must be there


@dataclass(frozen=True)
class Answered:
    """A question's hits before anything is left out, their vectors, and the relations of every two of them."""

    hits: list[Hit]
    vectors: Mapping[str, Any]
    relations: Mapping[tuple[str, str], Relation]
    wanted: Sequence[Mapping[str, Any]]
    barred: Sequence[Mapping[str, Any]]

    def shown(self, bound: float) -> list[str]:
        """Give the texts that would be shown with a bound."""

        def relate(pairs: Sequence[Pair]) -> list[Relation]:
            return [self.relations[pair.old, pair.new] for pair in pairs]

        return [hit.fact.text for hit in without_overtaken(self.hits, self.vectors, relate, bound)][:LIMIT]


def played(folder: Path) -> Iterator[Answered]:
    """Ingest a team's sessions and ask its questions."""
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    facts = {fact["id"]: fact for fact in gold["facts"]}
    with tempfile.TemporaryDirectory() as home:
        memory = OpenMemory.at_home(home=home)
        for session in gold["sessions"]:
            os.environ["MEMCTL_NOW"] = session["date"]
            ingest(memory, [str(folder / session["file"])], agent="team", at=instant(session["date"]))
        for query in gold["queries"]:
            os.environ["MEMCTL_NOW"] = query["as_of"]
            yield _answered(memory, query, facts)


def _answered(memory: OpenMemory, query: Mapping[str, Any], facts: Mapping[str, Any]) -> Answered:
    asked = recalling.Asked(limit=_MET, as_of=instant(query["as_of"]), count=False)
    hits = list(recalling.recall(memory, query["q"], agent="team", asked=asked).data.hits)
    texts = [hit.fact.text for hit in hits]
    vectors = {hit.fact.id: row for hit, row in zip(hits, memory.embed(texts), strict=True)} if hits else {}
    relations: dict[tuple[str, str], Relation] = {}

    def relate(pairs: Sequence[Pair]) -> list[Relation]:
        found = memory.compare(pairs)
        relations.update(((pair.old, pair.new), relation) for pair, relation in zip(pairs, found, strict=True))
        return found

    without_overtaken(hits, vectors, relate, NEVER)
    expected, forbidden = query["expect"], query.get("forbid") or ()
    return Answered(hits, vectors, relations, [facts[x] for x in expected], [facts[x] for x in forbidden])


def measure(answers: Sequence[Answered], bound: float) -> dict[str, float]:
    """Count as the evaluation does."""
    n: Counter[str] = Counter()
    for answer in answers:
        shown = answer.shown(bound)
        right = [any(says(text, fact) for fact in answer.wanted) for text in shown]
        leaks = [
            any(says(text, fact) for fact in answer.barred) and not ok for text, ok in zip(shown, right, strict=True)
        ]
        n["leaky"] += bool(answer.barred)
        n["leaks"] += any(leaks)
        if not answer.wanted:
            n["unknown"] += 1
            n["silent"] += not shown
            continue
        n.update(asked=1, first=bool(right[:1] == [True]), five=any(right), shown=len(shown), wanted=sum(right))
    return {
        "hit1": n["first"] / n["asked"],
        "hit5": n["five"] / n["asked"],
        "precision": n["wanted"] / max(1, n["shown"]),
        "silent": n["silent"] / max(1, n["unknown"]),
        "stale_shown": n["leaks"] / max(1, n["leaky"]),
    }


def worth(row: Mapping[str, float]) -> float:
    """Weigh what is found first, how much is right and how seldom it is stale; and twice what is found at all."""
    return row["hit1"] + 2 * row["hit5"] + row["precision"] - row["stale_shown"]


def main() -> None:
    """Play, choose, and write where that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    never = {name: replace(fitted(name), overtaken=NEVER) for name in ("tuned", "plain")}
    recalling.fitted = never.__getitem__  # what is left out is left out here, bound by bound
    folders = [path.parent for path in sorted((HERE / "teams").glob("*/gold.json"))]
    answers = [one for folder in folders if fold_of(folder.name) == HELD_OUT for one in played(folder)]
    rows = {bound: measure(answers, bound) for bound in BOUNDS}
    for bound, row in rows.items():
        print(bound, {name: round(value, 3) for name, value in row.items()}, flush=True)
    best = max(rows, key=lambda bound: (round(worth(rows[bound]), 3), bound))
    print(f"{len(answers)} questions, best bound {best}")
    if options.write:
        known = json.loads(WEIGHTS.read_text(encoding="utf-8"))
        for weights in known.values():
            weights["overtaken"] = best
        WEIGHTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
