"""The last step of the judge: weigh the model's logits and the pair's features, and choose the bounds.

Everything here is fitted to predictions for pairs that the model had not seen.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from memctl.rules.relation import Pair, combine, described
from training.judge_data import LabelledPair
from training.judge_model import LABELS

COMPATIBLE, DUPLICATE, SUPERSEDES = range(3)
NEVER = 1.1  # a bound that no chance reaches
_DECAY = 0.01
_UNREAD = 0.02  # the share of changes and restatements that the gate may keep from the model
_HAND = {"compatible_retired": 0.03, "compatible_merged": 0.06}
_CHAT = {"wrongly_retired": 0.04, "wrongly_merged": 0.01}


def inputs(logits: np.ndarray, pairs: Sequence[LabelledPair], cosines: Sequence[float]) -> np.ndarray:
    """Put logits, features and context side by side, a row a pair, as the package does."""
    asked = [
        Pair(pair.old, pair.new, cosine, other_type=pair.other_type, same_chat=pair.same_chat)
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]
    return np.hstack([logits, described(asked)])


def gate(seen: np.ndarray, wanted: np.ndarray) -> dict[str, Any]:
    """Fit what tells pairs that the model need not read, so that hardly a change or restatement is among them."""
    fitted = fit(seen, wanted)
    tied = 1 - combine(seen, fitted)[:, COMPATIBLE]
    return {**fitted, "least": round(float(np.quantile(tied[wanted != COMPATIBLE], _UNREAD)), 5)}


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


def bounds_in_chats(chances: np.ndarray, pairs: Sequence[LabelledPair]) -> dict[str, float]:
    """Take the bounds that leave the fewest replaced facts standing among those that seldom harm a standing one."""
    best, value = None, 9.0
    for bounds in _grid((0.10, 0.90), (0.10, 0.90)):
        figures = replay(decide(chances, bounds), pairs)
        lost = figures["stale_active"] + 0.5 * figures["restated_twice"]
        if all(figures[name] <= most for name, most in _CHAT.items()) and lost < value:
            best, value = bounds, lost
    if best is None:
        raise SystemExit("no bounds keep standing facts safe: the model is not good enough")
    return best


def replay(decided: np.ndarray, pairs: Sequence[LabelledPair]) -> dict[str, float]:
    """Count what would become of the facts of teams, as the evaluation of whole projects does."""
    facts, gone, replaced, merged = set(), set(), set(), set()
    restated, joined = 0, 0
    for pair, decision in zip(pairs, decided, strict=True):
        old, new = (pair.group, pair.old), (pair.group, pair.new)
        facts |= {old, new}
        if pair.label == "supersedes":
            replaced.add(old)
        if decision == SUPERSEDES:
            gone.add(old)
        if pair.label == "duplicate":
            restated, joined = restated + 1, joined + (decision == DUPLICATE)
        elif decision == DUPLICATE:
            merged.add(new)
    standing = facts - replaced
    return {
        "facts": len(facts),
        "stale_active": round(len(replaced - gone) / max(1, len(replaced)), 4),
        "wrongly_retired": round(len(gone & standing) / max(1, len(standing)), 4),
        "restated_twice": round(1 - joined / max(1, restated), 4),
        "wrongly_merged": round(len(merged) / max(1, len(facts)), 4),
    }


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
