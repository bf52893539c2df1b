"""Fit the ranking of recall and its silence: ``python -m training.recall_fit``.

    --plain           for embedding models other than the bundled one: their own vectors, and no reader
    --check FOLDER    other annotated teams that only measure
    --write           replace memctl/weights/recall.json

Fitted to the teams that the question encoder and the reader were trained without, with the package's own models.
Relevance is a logistic regression over the features of ``memctl.rules.relevance``; another one weighs what the reader
says of the likeliest memories; answerability is a third one over the outlook. All are cross-validated by team; the
figures printed are those of held-out teams. Weights that say how words match cannot become negative, and questions made
of a memory's rarest words, with the likeness of vectors taken away, teach what paraphrases cannot: that names, figures
and identifiers are enough to be found by.
"""

import argparse
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from memctl.embedding.models import open_classifier
from memctl.languages import in_english
from memctl.rules.passages import asked as asked_text
from memctl.rules.rank import chosen
from memctl.rules.relevance import Candidate, Features, Question, features, outlook, read_features
from memctl.rules.terms import query_terms
from training.folds import HELD_OUT, fold_of
from training.judge_weigh import NEVER
from training.recall_data import HERE, Ask, Item, Team, alive, embedded, teams
from training.recall_reader import passage_of

WEIGHTS = Path(__file__).parents[1] / "memctl" / "weights" / "recall.json"
REPORT = HERE / "reports" / "recall.md"
_HEAD = """# Recall: what is shown for a question

Questions of annotated teams, put to what the extractor makes of their chats; every linear model was fitted without the
team that it ranks. The first five memories are shown, fewer where less bears on the question, none where nothing does.

"""
FOLDS = 6
GOALS = {"hit1": 0.5, "hit5": 0.78, "precision": 0.36, "silent": 0.5}
WORTH = {"precision": 1.5}  # what is beside the point costs every turn that it is shown in
FLOOR = 0.02
AROUND = (0.6, 0.3, 0.1)  # the message, the one before, the one after
GROWING = (
    "covered",
    "met",
    "figures",
    "cosine",
    "cosine_lift",
    "around",
    "around_lift",
    "odds",
    "read",
)  # more is never worse
LITERAL_WEIGHT = 0.1


@dataclass
class Case:
    """A question over a memory: features of each memory, which of them answer, what else is known."""

    team: str
    ask: Ask
    items: list[Item]
    question: Question
    candidates: list[Candidate]
    rows: list[Features]
    right: np.ndarray
    passages: list[str]
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


@dataclass
class Ranking:
    """What was fitted for a team: relevance, what the reader adds to it (where there is one), and answerability."""

    relevance: Model
    read: Model | None = None
    answerable: Model | None = None


class Reading:
    """The reader's answers, each asked for once."""

    def __init__(self) -> None:
        self._encoder, _ = open_classifier("reader")
        self._known: dict[tuple[str, str], float] = {}

    def __call__(self, case: Case, places: Sequence[int]) -> list[float]:
        pairs = [(asked_text(case.question.text), case.passages[place]) for place in places]
        missing = sorted(set(pairs) - self._known.keys())
        if missing:
            self._known.update(zip(missing, map(float, self._encoder.run(missing)[0][:, 0]), strict=True))
        return [self._known[pair] for pair in pairs]


def weighed(case: Case, ranking: Ranking, reading: Reading | None) -> tuple[list[Features], np.ndarray]:
    """Give rows and chances as the package works them out."""
    chances = ranking.relevance(case.rows)
    if reading is None:
        return case.rows, chances
    places = chosen(case.candidates, list(chances))
    seen = read_features([case.rows[k] for k in places], list(chances[places]), reading(case, places))
    if ranking.read is None:
        return seen, chances[places]
    again = ranking.read(seen)
    rows, final = list(case.rows), np.minimum(chances, again.min())
    for place, row, chance in zip(places, seen, again, strict=True):
        rows[place], final[place] = row, chance
    return rows, final


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


def fit_read(cases: Sequence[Case], ranking: dict[str, Ranking], reading: Reading) -> Model:
    """Fit the second line to the memories that would be read."""
    rows, right, weight = [], [], []
    for case in cases:
        before = Ranking(ranking[case.team].relevance)
        places = chosen(case.candidates, list(before.relevance(case.rows)))
        seen, _ = weighed(case, before, reading)
        rows += seen
        right += list(case.right[places])
        weight += [case.weight] * len(places)
    names = [name for name in rows[0] if name != "known"]
    values = np.array([[row[name] for name in names] for row in rows])
    return fit(values, np.array(right, dtype=bool), np.array(weight), names)


def fit_answerable(cases: Sequence[Case], ranking: dict[str, Ranking], reading: Reading | None) -> Model:
    rows = [_outlook(case, ranking[case.team], reading) for case in cases]
    answerable = np.array([bool(case.ask.expect) for case in cases])
    balance = np.where(answerable, 0.5 / answerable.mean(), 0.5 / (1 - answerable.mean()))
    weight = balance * np.array([case.weight for case in cases])
    return fit(np.array([list(row.values()) for row in rows]), answerable, weight, list(rows[0]), ridge=10.0)


def _outlook(case: Case, ranking: Ranking, reading: Reading | None) -> Features:
    rows, chances = weighed(case, ranking, reading)
    return outlook(case.question, rows, list(chances))


@dataclass
class Shown:
    """What a question would get: chances of all memories, and how surely it can be answered at all."""

    case: Case
    chances: np.ndarray
    sure: float


def shown_of(cases: Sequence[Case], ranking: dict[str, Ranking], reading: Reading | None) -> list[Shown]:
    """Answer every question with the models of its team."""
    made = []
    for case in cases:
        rows, chances = weighed(case, ranking[case.team], reading)
        model = ranking[case.team].answerable
        sure = float(model([outlook(case.question, rows, list(chances))])[0]) if model else 1.0
        made.append(Shown(case, chances, sure))
    return made


def measure(answers: Sequence[Shown], cut: dict[str, float]) -> dict[str, float]:
    """Give the figures of ``score.py`` for what would be shown."""
    n = dict.fromkeys(("asked", "first", "five", "shown", "wanted", "unknown", "silent"), 0)
    for answer in answers:
        case, chances = answer.case, answer.chances
        order = np.argsort(-chances, kind="stable")
        least = max(cut["floor"], cut["share"] * chances.max())
        shown = [k for k in order if chances[k] >= least][:5] if answer.sure >= cut["least"] else []
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
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--cache", type=Path, default=HERE / ".work" / "recall_vectors.npz")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    name, reading = ("plain", None) if options.plain else ("tuned", Reading())
    training = [team for team in teams() if fold_of(team.name) == HELD_OUT]
    other = teams(options.check) if options.check else []
    vectors = _vectors([*training, *other], options.cache, plain=options.plain)
    made = {team.name: _both(team, vectors) for team in training}
    held = _held_out(training, made, reading)
    answers = shown_of(_plain(made, training), held, reading)
    cut = _calibrate(answers)
    everything = [case for cases in made.values() for case in cases]
    final = Ranking(fit_relevance(everything))
    final.read = fit_read(everything, held, reading) if reading else None
    final.answerable = fit_answerable([case for case in everything if case.own_words], held, reading)
    figures = {f"{len(training)} teams of the fold left out": measure(answers, cut)}
    if other:
        cases = [case for team in other for case in cases_of(team, vectors, in_chat_words=True, literal=False)]
        shown = shown_of(cases, dict.fromkeys((team.name for team in other), final), reading)
        figures[f"{len(other)} teams that nothing was chosen by"] = measure(shown, cut)
    for title, row in figures.items():
        print(f"{name}: {title}", _rounded(row))
    if options.write:
        _write(name, final, cut)
        _report(name, figures)


def _both(team: Team, vectors: dict[str, np.ndarray]) -> list[Case]:
    own = cases_of(team, vectors, in_chat_words=True)
    gold = cases_of(team, vectors, in_chat_words=False)
    for case in gold:
        case.own_words = False
    return [*own, *gold]


def _held_out(training: Sequence[Team], made: dict[str, list[Case]], reading: Reading | None) -> dict[str, Ranking]:
    """Fit each step without the team that it is then used for."""
    names = [team.name for team in training]
    ranking: dict[str, Ranking] = {}
    for fold in range(FOLDS):
        model = fit_relevance(_without(fold, names, made))
        ranking |= {name: Ranking(model) for name in names[fold::FOLDS]}
    if reading is not None:
        read = {fold: fit_read(_without(fold, names, made), ranking, reading) for fold in range(FOLDS)}
        for fold, model in read.items():
            for name in names[fold::FOLDS]:
                ranking[name].read = model
    for fold in range(FOLDS):
        seen = [case for case in _without(fold, names, made) if case.own_words]
        model = fit_answerable(seen, ranking, reading)
        for name in names[fold::FOLDS]:
            ranking[name].answerable = model
    return ranking


def _without(fold: int, names: Sequence[str], made: dict[str, list[Case]]) -> list[Case]:
    return [case for place, name in enumerate(names) if place % FOLDS != fold for case in made[name]]


def _calibrate(answers: Sequence[Shown]) -> dict[str, float]:
    """Choose where to cut: the cut that misses the wanted figures least, and then shows most answers."""
    best: dict[str, float] = {}
    unknown = [answer.sure for answer in answers if not answer.case.ask.expect]
    for quantile in (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65):
        for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            cut = {"least": round(float(np.quantile(unknown, quantile)), 3), "share": share, "floor": FLOOR}
            found = measure(answers, cut)
            missed = sum(WORTH.get(name, 1.0) * max(0.0, goal - found[name]) for name, goal in GOALS.items())
            value = found["hit5"] / 10 - missed
            if not best or value > best["value"]:
                best = {**cut, "value": value}
                print("  ", cut, _rounded(found))
    best.pop("value")
    return best


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
    told = [passage_of(team, item) for item in present]
    rows = features(question, candidates) if present else []
    return Case(team.name, ask, present, question, candidates, rows, right, told)


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
    told = [passage_of(team, other) for other in present]
    rows = features(question, candidates)
    return Case(team.name, ask, present, question, candidates, rows, right, told, LITERAL_WEIGHT)


def _around(messages: np.ndarray, place: int | None) -> float | None:
    if place is None:
        return None
    steps = (place, max(0, place - 1), min(len(messages) - 1, place + 1))
    return float(sum(share * messages[step] for share, step in zip(AROUND, steps, strict=True)))


def _vectors(chosen_teams: Sequence[Team], cache: Path, *, plain: bool) -> dict[str, np.ndarray]:
    """Embed everything once; questions by their own encoder, unless the plain vectors are wanted."""
    embedded(chosen_teams, cache)
    texts = sorted({ask.text for team in chosen_teams for ask in team.questions()})
    if plain:
        return {text: chosen_teams[0].vectors[text] for text in texts}
    encoder, _ = open_classifier("question")
    return dict(zip(texts, encoder.run([in_english(text) for text in texts])[0], strict=True))


def _write(name: str, ranking: Ranking, cut: dict[str, float]) -> None:
    known = json.loads(WEIGHTS.read_text(encoding="utf-8")) if WEIGHTS.exists() else {}
    parts = {"relevance": ranking.relevance, "read": ranking.read, "answerable": ranking.answerable}
    # how surely a memory must be overtaken to be left out is chosen afterwards: training.recall_overtaken
    overtaken = {"overtaken": known.get(name, {}).get("overtaken", NEVER)}
    known[name] = {part: model.shape() for part, model in parts.items() if model is not None} | cut | overtaken
    WEIGHTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _report(name: str, figures: dict[str, dict[str, float]]) -> None:
    """Write down how the ranking does, beside what another run wrote for the other kind of vectors."""
    title = {
        "tuned": "## The bundled model, its question encoder and the reader",
        "plain": "## Plain vectors, no reader",
    }
    columns = list(next(iter(figures.values())))
    table = [
        title[name],
        "",
        f"| | {' | '.join(columns)} |",
        "|---" * (len(columns) + 1) + "|",
        *(f"| {who} | {' | '.join(f'{row[column]:.3f}' for column in columns)} |" for who, row in figures.items()),
    ]
    known = REPORT.read_text(encoding="utf-8") if REPORT.exists() else _HEAD
    parts = {part.splitlines()[0]: part for part in re.split(r"^(?=## )", known, flags=re.MULTILINE)[1:]}
    parts[title[name]] = "\n".join(table) + "\n"
    text = _HEAD + "\n".join(parts[key].rstrip() + "\n" for key in title.values() if key in parts)
    REPORT.write_text(text, encoding="utf-8")


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures.items()}


if __name__ == "__main__":
    main()
