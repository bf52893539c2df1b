"""Fit the ranking of recall and its silence on the training teams: ``python -m training.recall_fit``.

    --questions FILE.npz   vectors of the questions by encoders that have not seen the team (recall_questions)
    --check FOLDER         other annotated teams that only measure
    --write                replace memctl/weights/recall.json

Relevance is a logistic regression over the features of ``memctl.rules.relevance``, answerability another one over its
outlook. Both are cross-validated by team; the figures printed are those of held-out teams. Weights that say how words
match cannot become negative, and questions made of a memory's rarest words, with the likeness of vectors taken away,
teach what paraphrases cannot: that names, figures and identifiers are enough to be found by.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from memctl.rules.relevance import Candidate, Features, Question, features, outlook
from memctl.rules.terms import query_terms
from training.recall_data import HERE, Ask, Item, Team, alive, embedded, teams

WEIGHTS = Path(__file__).parents[1] / "memctl" / "weights" / "recall.json"
FOLDS = 6
GOALS = {"hit1": 0.5, "hit5": 0.78, "precision": 0.36, "silent": 0.5}
FLOOR = 0.02
AROUND = (0.6, 0.3, 0.1)  # the message, the one before, the one after
GROWING = ("covered", "met", "figures", "cosine", "cosine_lift", "around", "around_lift")  # more is never worse
LITERAL_WEIGHT = 0.1


@dataclass
class Case:
    """A question over a memory: features of each memory, which of them answer, what else is known."""

    team: str
    ask: Ask
    items: list[Item]
    question: Question
    rows: list[Features]
    right: np.ndarray
    weight: float = 1.0
    own_words: bool = True


@dataclass
class Model:
    """A fitted line in the shape that memctl reads."""

    names: list[str]
    weights: np.ndarray
    bias: float

    def __call__(self, rows: Sequence[Features]) -> np.ndarray:
        values = np.array([[row[name] for name in self.names] for row in rows])
        return 1 / (1 + np.exp(-np.clip(values @ self.weights + self.bias, -60, 60)))

    def shape(self) -> dict[str, Any]:
        kept = zip(self.names, self.weights, strict=True)
        return {
            "bias": round(self.bias, 4),
            "features": {name: round(float(w), 4) for name, w in kept if abs(w) > 1e-3},
        }


def cases_of(team: Team, vectors: dict[str, np.ndarray], *, in_chat_words: bool, literal: bool = True) -> list[Case]:
    """Put every question of a team to its memory."""
    items = team.memory(in_chat_words=in_chat_words)
    made = [_case(team, ask, items, vectors[ask.text]) for ask in team.questions()]
    if literal:
        chance = random.Random(team.name)
        made += [_literal(team, item, items, chance) for item in chance.sample(items, 8)]
    return [case for case in made if case.items]


def fit(rows: np.ndarray, right: np.ndarray, weight: np.ndarray, names: list[str], *, ridge: float = 1.0) -> Model:
    """Fit a logistic regression; weights of GROWING features stay at 0 or above."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = (rows - mean) / spread
    signs = np.where(right, 1.0, -1.0)

    def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
        margin = signs * (scaled @ free[:-1] + free[-1])
        slope = -signs * weight / (1 + np.exp(np.clip(margin, -500, 500)))
        total = (weight * np.logaddexp(0, -margin)).sum() + ridge * (free[:-1] ** 2).sum() / 2
        return total, np.append(scaled.T @ slope + ridge * free[:-1], slope.sum())

    bounds = [(0, None) if name in GROWING else (None, None) for name in names] + [(None, None)]
    found = minimize(loss, np.zeros(len(names) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return Model(names, weights, float(found[-1] - weights @ mean))


def fit_relevance(cases: Sequence[Case]) -> Model:
    names = [name for name in cases[0].rows[0] if name != "known"]
    rows = np.array([[row[name] for name in names] for case in cases for row in case.rows])
    weight = np.concatenate([np.full(len(case.rows), case.weight) for case in cases])
    return fit(rows, np.concatenate([case.right for case in cases]), weight, names)


def fit_answerable(cases: Sequence[Case], relevance: dict[str, Model]) -> Model:
    rows = [outlook(case.question, case.rows, list(relevance[case.team](case.rows))) for case in cases]
    answerable = np.array([bool(case.ask.expect) for case in cases])
    balance = np.where(answerable, 0.5 / answerable.mean(), 0.5 / (1 - answerable.mean()))
    weight = balance * np.array([case.weight for case in cases])
    return fit(np.array([list(row.values()) for row in rows]), answerable, weight, list(rows[0]), ridge=10.0)


def measure(
    cases: Sequence[Case], relevance: dict[str, Model], answerable: dict[str, Model], cut: dict[str, float]
) -> dict[str, float]:
    """Give the figures of ``score.py`` for what would be shown."""
    n = dict.fromkeys(("asked", "first", "five", "shown", "wanted", "unknown", "silent"), 0)
    for case in cases:
        chances = relevance[case.team](case.rows)
        order = np.argsort(-chances, kind="stable")
        sure = answerable[case.team]([outlook(case.question, case.rows, list(chances))])[0]
        least = max(cut["floor"], cut["share"] * chances.max())
        shown = [k for k in order if chances[k] >= least][:5] if sure >= cut["least"] else []
        if not case.ask.expect:
            n["unknown"] += 1
            n["silent"] += not shown
            continue
        hits = [rank for rank, k in enumerate(shown) if case.right[k]]
        n["asked"] += 1
        n["first"] += bool(hits) and hits[0] == 0
        n["five"] += bool(hits)
        n["shown"] += len(shown)
        n["wanted"] += len(hits)
    return {
        "hit1": n["first"] / n["asked"],
        "hit5": n["five"] / n["asked"],
        "precision": n["wanted"] / max(1, n["shown"]),
        "silent": n["silent"] / max(1, n["unknown"]),
        "shown": n["shown"] / n["asked"],
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--cache", type=Path, default=HERE / ".work" / "recall_vectors.npz")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    name = "tuned" if asked.questions else "plain"
    training, other = teams(), teams(asked.check) if asked.check else []
    vectors = _vectors([*training, *other], asked.cache, asked.questions)
    made = {team.name: _both(team, vectors) for team in training}
    held = _held_out(training, made)
    cut = _calibrate(training, made, *held)
    everything = [case for cases in made.values() for case in cases]
    relevance = fit_relevance(everything)
    by_team = dict.fromkeys([*made, *(team.name for team in other)], relevance)
    answerable = fit_answerable([case for case in everything if case.own_words], held[0])
    print(f"{name}: held-out teams, in chat words", _rounded(measure(_plain(made, training), *held, cut)))
    for team in other:
        made[team.name] = _both(team, vectors)
    if other:
        figures = measure(_plain(made, other), by_team, dict.fromkeys(by_team, answerable), cut)
        print(f"{name}: other teams, in chat words", _rounded(figures))
    if asked.write:
        _write(name, relevance, answerable, cut)


def _both(team: Team, vectors: dict[str, np.ndarray]) -> list[Case]:
    own = cases_of(team, vectors, in_chat_words=True)
    gold = cases_of(team, vectors, in_chat_words=False)
    for case in gold:
        case.own_words = False
    return [*own, *gold]


def _held_out(training: Sequence[Team], made: dict[str, list[Case]]) -> tuple[dict[str, Model], dict[str, Model]]:
    names = [team.name for team in training]
    relevance: dict[str, Model] = {}
    answerable: dict[str, Model] = {}
    for fold in range(FOLDS):
        seen = [case for place, name in enumerate(names) if place % FOLDS != fold for case in made[name]]
        model = fit_relevance(seen)
        relevance |= {name: model for place, name in enumerate(names) if place % FOLDS == fold}
    for fold in range(FOLDS):
        seen = [
            case for place, name in enumerate(names) if place % FOLDS != fold for case in made[name] if case.own_words
        ]
        model = fit_answerable(seen, relevance)
        answerable |= {name: model for place, name in enumerate(names) if place % FOLDS == fold}
    return relevance, answerable


def _calibrate(
    training: Sequence[Team], made: dict[str, list[Case]], relevance: dict[str, Model], answerable: dict[str, Model]
) -> dict[str, float]:
    """Choose where to cut: the cut that misses the wanted figures least, and then shows most answers."""
    cases = _plain(made, training)
    best: dict[str, float] = {}
    for least in _quantiles(cases, relevance, answerable):
        for share in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            cut = {"least": least, "share": share, "floor": FLOOR}
            found = measure(cases, relevance, answerable, cut)
            missed = sum(max(0.0, goal - found[name]) for name, goal in GOALS.items())
            value = found["hit5"] / 10 - missed
            if not best or value > best["value"]:
                best = {**cut, "value": value}
                print("  ", cut, _rounded(found))
    best.pop("value")
    return best


def _quantiles(cases: Sequence[Case], relevance: dict[str, Model], answerable: dict[str, Model]) -> list[float]:
    """Give cuts that keep silent on a third to two thirds of the questions nothing answers."""
    unknown = [
        float(answerable[case.team]([outlook(case.question, case.rows, list(relevance[case.team](case.rows)))])[0])
        for case in cases
        if not case.ask.expect
    ]
    return [round(float(np.quantile(unknown, share)), 3) for share in (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)]


def _plain(made: dict[str, list[Case]], chosen: Sequence[Team]) -> list[Case]:
    """Leave out what only teaches: our own questions, literal ones, memories in the annotator's words."""
    return [
        case
        for team in chosen
        for case in made[team.name]
        if case.own_words and case.weight == 1.0 and not case.ask.ours
    ]


def _case(team: Team, ask: Ask, items: Sequence[Item], vector: np.ndarray) -> Case:
    """Describe a question over a memory and what was said around it."""
    present, question = alive(items, ask.at), Question.of(ask.text)
    cosines = [float(team.vectors[item.text] @ vector) for item in present]
    messages = np.array([team.vectors[text[:1500]] for _, _, text in team.messages]) @ vector
    near = [_around(messages, item.place) for item in present]
    candidates = [Candidate(item.fact, c, n) for item, c, n in zip(present, cosines, near, strict=True) if item.fact]
    right = np.array([team.answers(item, ask) for item in present], dtype=bool)
    return Case(team.name, ask, present, question, features(question, candidates) if present else [], right)


def _literal(team: Team, item: Item, items: Sequence[Item], chance: random.Random) -> Case:
    """Ask with a memory's own rarest words, as if vectors knew nothing."""
    present = alive(items, item.said)
    words = [word for word in dict.fromkeys(item.text.split()) if query_terms(word)]
    frequency = {word: sum(word in other.text for other in items) for word in words}
    asked = " ".join(sorted(words, key=lambda word: (frequency[word], word))[: chance.choice((1, 2, 3))])
    question = Question.of(asked)
    low = [chance.uniform(0.0, 0.25) for _ in present]
    candidates = [Candidate(other.fact, cosine) for other, cosine in zip(present, low, strict=True) if other.fact]
    right = np.array([other is item for other in present], dtype=bool)
    ask = Ask(asked, (team.gold["facts"][0]["id"],), item.said)
    return Case(team.name, ask, present, question, features(question, candidates), right, LITERAL_WEIGHT)


def _around(messages: np.ndarray, place: int | None) -> float | None:
    if place is None:
        return None
    steps = (place, max(0, place - 1), min(len(messages) - 1, place + 1))
    return float(sum(share * messages[step] for share, step in zip(AROUND, steps, strict=True)))


def _vectors(chosen: Sequence[Team], cache: Path, questions: Path | None) -> dict[str, np.ndarray]:
    """Embed everything once; questions get the given vectors where there are some."""
    embedded(chosen, cache)
    found = {ask.text: team.vectors[ask.text] for team in chosen for ask in team.questions()}
    if questions:
        given = np.load(questions)
        found |= dict(zip(given["texts"].tolist(), given["vectors"], strict=True))
    return found


def _write(name: str, relevance: Model, answerable: Model, cut: dict[str, float]) -> None:
    known = json.loads(WEIGHTS.read_text(encoding="utf-8")) if WEIGHTS.exists() else {}
    known[name] = {"relevance": relevance.shape(), "answerable": answerable.shape(), **cut}
    WEIGHTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures.items()}


if __name__ == "__main__":
    main()
