"""The last step of the judge: weigh the model's logits and the pair's features, and choose the bounds.

Everything here is fitted to predictions for pairs that the model had not seen.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from memctl.rules.features import FEATURES, features
from memctl.rules.relation import combine
from training.judge_data import LabelledPair
from training.judge_model import LABELS

COMPATIBLE, DUPLICATE, SUPERSEDES = range(3)
_DECAY = 0.02
# How much a compatible pair of a team weighs. In a chat nearly all pairs are compatible, in the written pairs a third;
# the weight stands between, and the bounds do the rest.
_TEAM_WEIGHT = 0.25
_MOST_RETIRED = 0.025  # of compatible written pairs
_MOST_RETIRED_IN_TEAMS = 0.004


def inputs(logits: np.ndarray, pairs: Sequence[LabelledPair], cosines: Sequence[float]) -> np.ndarray:
    """Put logits and features side by side, a row a pair."""
    seen = [features(pair.old, pair.new, cosine) for pair, cosine in zip(pairs, cosines, strict=True)]
    return np.hstack([logits, np.array(seen)])


def targets(pairs: Sequence[LabelledPair]) -> np.ndarray:
    """Number the labels of pairs."""
    return np.array([LABELS.index(pair.label) for pair in pairs])


def fit(rows: np.ndarray, pairs: Sequence[LabelledPair]) -> dict[str, Any]:
    """Fit the linear model that weighs logits and features."""
    mean, scale = rows.mean(0), rows.std(0) + 1e-6
    wanted = torch.tensor(targets(pairs))
    heavy = torch.tensor([_TEAM_WEIGHT if p.origin == "team" and p.label == "compatible" else 1.0 for p in pairs])
    scaled = torch.tensor((rows - mean) / scale)
    weights = torch.zeros(len(LABELS), rows.shape[1], dtype=torch.float64, requires_grad=True)
    intercept = torch.zeros(len(LABELS), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, intercept], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        chances = torch.log_softmax(scaled @ weights.T + intercept, dim=-1)
        missed = -(chances[range(len(wanted)), wanted] * heavy).sum() / heavy.sum()
        total = missed + _DECAY * (weights**2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    return {
        "labels": list(LABELS),
        "features": list(FEATURES),
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


def choose_bounds(chances: np.ndarray, pairs: Sequence[LabelledPair]) -> dict[str, float]:
    """Take the bounds that are right most often among those that hardly ever retire a compatible fact."""
    wanted = targets(pairs)
    written = np.array([pair.origin != "team" for pair in pairs])
    best: tuple[float, dict[str, float]] | None = None
    for supersedes in np.arange(0.40, 0.96, 0.02):
        for duplicate in np.arange(0.30, 0.80, 0.02):
            bounds = {"supersedes": round(float(supersedes), 2), "duplicate": round(float(duplicate), 2), "unsure": 1.1}
            figures = score(decide(chances[written], bounds), wanted[written])
            team = score(decide(chances[~written], bounds), wanted[~written])
            if figures["compatible_retired"] > _MOST_RETIRED or team["compatible_retired"] > _MOST_RETIRED_IN_TEAMS:
                continue
            value = figures["accuracy"] + 0.1 * (team["supersedes_right"] + team["duplicate_right"])
            if best is None or value > best[0]:
                best = (value, bounds)
    if best is None:
        raise SystemExit("no bounds keep compatible facts safe: the model is not good enough")
    return best[1]


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


def evaluate(rows: np.ndarray, pairs: Sequence[LabelledPair], about: dict[str, Any]) -> dict[str, float]:
    """Measure the whole decision on pairs."""
    return score(decide(combine(rows, about), about["bounds"]), targets(pairs))
