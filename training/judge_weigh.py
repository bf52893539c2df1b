"""The last step of the judge: weigh the model's logits and the pair's features, and choose the bounds.

Everything here is fitted to predictions for pairs that the model had not seen.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from memctl.rules.relation import CONTEXT, Pair, Relation, combine, corrected, described
from memctl.rules.relation import decide as relation_of
from training.judge_data import LabelledPair
from training.judge_model import LABELS
from training.judge_replay import Chats, figures, play

COMPATIBLE, DUPLICATE, SUPERSEDES = range(3)
NEVER = 1.1  # a bound that no chance reaches
_DECAY = 0.01
_UNREAD = 0.02  # the share of changes and restatements that the gate may keep from the model
_UNREAD_BY_HAND = 0.01  # the same of a note that is compared with one other
_HAND = {"compatible_retired": 0.03, "compatible_merged": 0.06}
_HARM = 6.0  # how much worse a share of standing facts that are retired is than one of replaced facts that are not
_LOST = 0.01  # the share of facts that may be merged away
_FIRST = {"supersedes": 0.6, "duplicate": 0.8, "likely": NEVER, "alike": NEVER, "unsure": NEVER}
_TRIED = {
    "likely": [*np.arange(0.06, 0.5, 0.03), NEVER],
    "supersedes": np.arange(0.3, 0.9, 0.06),
    "alike": [*np.arange(0.2, 0.7, 0.05), NEVER],
    "duplicate": np.arange(0.4, 0.95, 0.06),
}


def inputs(logits: np.ndarray, pairs: Sequence[LabelledPair], cosines: Sequence[float]) -> np.ndarray:
    """Put logits, features and context side by side, a row a pair, as the package does."""
    asked = [
        Pair(pair.old, pair.new, cosine, **{name: getattr(pair, name) for name in CONTEXT})
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]
    return np.hstack([logits, described(asked)])


def gate(seen: np.ndarray, wanted: np.ndarray, unread: float = _UNREAD) -> dict[str, Any]:
    """Fit what tells pairs that the model need not read, so that hardly a change or restatement is among them."""
    fitted = fit(seen, wanted)
    tied = 1 - combine(seen, fitted)[:, COMPATIBLE]
    return {**fitted, "least": round(float(np.quantile(tied[wanted != COMPATIBLE], unread)), 5)}


def gate_by_hand(
    written: Sequence[LabelledPair], unrelated: Sequence[LabelledPair], cosines: Callable[..., list[float]]
) -> dict[str, Any]:
    """Fit the gate for notes: what tells the written changes and restatements from sentences about other things."""
    pairs = [*(pair for pair in written if pair.label != "compatible"), *unrelated]
    seen = inputs(np.zeros((len(pairs), len(LABELS))), pairs, cosines(pairs))[:, len(LABELS) :]
    return gate(seen, targets(pairs), _UNREAD_BY_HAND)


def targets(pairs: Sequence[LabelledPair]) -> np.ndarray:
    """Number the labels of pairs."""
    return np.array([LABELS.index(pair.label) for pair in pairs])


def fit(rows: np.ndarray, wanted: np.ndarray) -> dict[str, Any]:
    """Fit the linear model that weighs logits, features and context."""
    mean, scale = rows.mean(0), rows.std(0)
    scale[scale < 1e-6] = 1.0
    labels = torch.tensor(wanted)
    scaled = torch.tensor((rows - mean) / scale)
    weights = torch.zeros(len(LABELS), rows.shape[1], dtype=torch.float64, requires_grad=True)
    intercept = torch.zeros(len(LABELS), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, intercept], max_iter=300, line_search_fn="strong_wolfe")
    decay = _DECAY * min(1.0, 1000 / len(rows))

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        chances = torch.log_softmax(scaled @ weights.T + intercept, dim=-1)
        total = -chances[range(len(labels)), labels].mean() + decay * (weights**2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    return {
        "mean": mean.tolist(),
        "scale": scale.tolist(),
        "weights": weights.detach().numpy().tolist(),
        "intercept": intercept.detach().numpy().tolist(),
    }


def decide(chances: np.ndarray, bounds: dict[str, float]) -> np.ndarray:
    """Decide as the package does, for many pairs at once; 3 stands for unsure."""
    _, same, changed = chances.T
    decided = np.zeros(len(chances), int)
    decided[(changed >= bounds["unsure"]) & (changed > same)] = 3
    decided[(same >= bounds["duplicate"]) & (same > changed)] = DUPLICATE
    decided[(changed >= bounds["supersedes"]) & (changed >= same)] = SUPERSEDES
    return decided


def _grid(supersedes: tuple[float, float], duplicate: tuple[float, float]) -> Iterator[dict[str, float]]:
    for change in np.arange(*supersedes, 0.02):
        for same in np.arange(*duplicate, 0.02):
            yield {"supersedes": round(float(change), 2), "duplicate": round(float(same), 2), "unsure": NEVER}


def bounds_by_hand(chances: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Take the bounds that are right most often among those that seldom retire or merge a compatible fact."""
    best, value = None, -1.0
    for bounds in _grid((0.30, 0.90), (0.26, 0.70)):
        figures = score(decide(chances, bounds), wanted)
        if all(figures[name] <= most for name, most in _HAND.items()) and figures["accuracy"] > value:
            best, value = bounds, figures["accuracy"]
    if best is None:
        raise SystemExit("no bounds keep compatible facts safe: the model is not good enough")
    return best


class Heard:
    """Held-out teams and how their memories relate, as far as a model can tell that has not seen them."""

    def __init__(self, teams: Sequence[tuple[str, Chats]], pairs: Sequence[LabelledPair], chances: np.ndarray) -> None:
        self.teams = teams
        self.chances = {(p.group, p.old, p.new): row for p, row in zip(pairs, chances, strict=True)}

    def figures(self, bounds: dict[str, float]) -> dict[str, float]:
        """Play all teams with some bounds."""
        return figures((team, play(team, self._relate(name, bounds))) for name, team in self.teams)

    def best_bounds(self) -> dict[str, float]:
        """Search one bound after the other for those that leave the least stale and twice, and harm little."""
        bounds = dict(_FIRST)
        least_found = self.figures(bounds)["found"] - _LOST
        for name in ("likely", "supersedes", "alike", "duplicate", "likely"):
            tried = [{**bounds, name: round(float(value), 2)} for value in _TRIED[name]]
            bounds = min(tried, key=lambda each: self._cost(each, least_found))
        return bounds

    def _cost(self, bounds: dict[str, float], least_found: float) -> float:
        seen = self.figures(bounds)
        lost = max(0.0, least_found - seen["found"])
        return seen["stale_active"] + 0.5 * seen["restated_twice"] + _HARM * seen["wrongly_retired"] + 100 * lost

    def _relate(self, team: str, bounds: dict[str, float]) -> Callable[[list[Pair]], list[Relation]]:
        unseen = np.array([1.0, 0.0, 0.0])

        def relate(pairs: list[Pair]) -> list[Relation]:
            rows = (self.chances.get((team, pair.old, pair.new), unseen) for pair in pairs)
            return [corrected(pair, relation_of(row, bounds)) for pair, row in zip(pairs, rows, strict=True)]

        return relate


def score(decided: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Count as the evaluation does."""

    def share(part: np.ndarray, whole: np.ndarray) -> float:
        return round(float((part & whole).sum() / max(1, whole.sum())), 4)

    return {
        "pairs": len(wanted),
        "accuracy": round(float((decided == wanted).mean()), 4),
        "duplicate_right": share(decided == DUPLICATE, wanted == DUPLICATE),
        "supersedes_right": share(decided == SUPERSEDES, wanted == SUPERSEDES),
        "compatible_right": share(decided == COMPATIBLE, wanted == COMPATIBLE),
        "retired_right": share(wanted == SUPERSEDES, decided == SUPERSEDES),
        "compatible_retired": share(decided == SUPERSEDES, wanted == COMPATIBLE),
        "compatible_merged": share(decided == DUPLICATE, wanted == COMPATIBLE),
    }
