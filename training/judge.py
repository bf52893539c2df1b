"""Train the judge: ``python -m training.judge`` writes memctl/weights/judge.onnx, judge.json and the report.

1. Cross-validation: models that have not seen a fold predict it; on those predictions the linear model that weighs
   logits and features is fitted and the bounds are chosen.
2. The final model is the mean of the weights of models trained on everything with different orders of the examples.

``--report-only`` repeats the fitting and the report from the predictions of an earlier run. Sentences for measuring
only may be given with ``--measure FILE``: nothing is chosen by them.
"""

import argparse
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from memctl.embedding.models import open_embedder
from memctl.embedding.onnx import OnnxEncoder
from memctl.rules.relation import Pair, Relater
from memctl.settings import DEFAULT_MODEL
from training.judge_augment import augmented
from training.judge_data import FOLDS, HERE, LabelledPair, by_fold, crossed_pairs, team_pairs, written_pairs
from training.judge_export import export
from training.judge_model import LABELS, Example, PairModel, Recipe, mean_of, predict, train
from training.judge_weigh import choose_bounds, decide, evaluate, fit, inputs, score, targets

RECIPE = Recipe()
SEEDS = (0, 1, 2)
ALIKE, APART = 900, 200  # compatible pairs of teams to learn from: the most alike ones, and some others
CROSSED_EVERY = 2
SMOOTHING = 0.04
WEIGHTS = HERE.parent / "memctl" / "weights"
WORK = HERE / ".work"
REPORT = HERE / "reports" / "judge.md"


def main() -> None:
    """Train, choose, export, report."""
    options = _options()
    torch.set_num_threads(options.threads)
    WORK.mkdir(exist_ok=True)
    data = Data()
    if not options.report_only:
        for fold in range(FOLDS):
            cross_validate(data, fold)
    rows, pairs = held_out(data)
    about = fit(rows, pairs)
    about["bounds"] = choose_bounds(_own_chances(rows, pairs), pairs)
    if not options.report_only:
        model = mean_of([train(data.examples(data.everything), RECIPE, seed) for seed in SEEDS])
        WEIGHTS.mkdir(exist_ok=True)
        export(model, WEIGHTS / "judge.onnx")
    (WEIGHTS / "judge.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(report(data, rows, pairs, about, options.measure), encoding="utf-8")


class Data:
    """All pairs with the cosines of their sentences."""

    def __init__(self) -> None:
        self.embed = open_embedder(DEFAULT_MODEL).embed
        self.written = written_pairs()
        self.team = team_pairs(HERE / "teams", self.embed)
        self._vectors: dict[str, np.ndarray] = {}

    @cached_property
    def everything(self) -> list[LabelledPair]:
        """What the model learns from."""
        crossed = crossed_pairs(self.written, self.embed)[::CROSSED_EVERY]
        return [*self.written, *augmented(self.written), *crossed, *self.chosen_of_teams()]

    def chosen_of_teams(self) -> list[LabelledPair]:
        """Take all changes and restatements of the teams, and of their compatible pairs mostly the most alike."""
        compatible = [pair for pair in self.team if pair.label == "compatible"]
        order = np.argsort(-np.array(self.cosines(compatible)), kind="stable")
        apart = np.random.default_rng(0).choice(order[ALIKE:], APART, replace=False)
        telling = [pair for pair in self.team if pair.label != "compatible"]
        return telling + [compatible[place] for place in (*order[:ALIKE], *apart)]

    def cosines(self, pairs: Sequence[LabelledPair]) -> list[float]:
        """Give the cosine of each pair, embedding each sentence once."""
        missing = sorted({text for pair in pairs for text in (pair.old, pair.new)} - self._vectors.keys())
        self._vectors.update(zip(missing, self.embed(missing), strict=True))
        return [float(self._vectors[pair.old] @ self._vectors[pair.new]) for pair in pairs]

    @staticmethod
    def examples(pairs: Sequence[LabelledPair]) -> list[Example]:
        """Soften the labels a little; what is the same or unrelated is so in both orders."""
        return [Example(p.old, p.new, _softened(p.label), symmetric=p.label != "supersedes") for p in pairs]


def _softened(label: str) -> tuple[float, float, float]:
    rest = SMOOTHING / 2
    spread = [1 - SMOOTHING if name == label else rest for name in LABELS]
    return spread[0], spread[1], spread[2]


def cross_validate(data: Data, fold: int) -> None:
    """Train without a fold and keep what the model says about it."""
    learn, _ = by_fold(data.everything, fold)
    _, held = by_fold([*data.written, *data.team], fold)
    model = train(data.examples(learn), RECIPE, seed=fold)
    np.save(WORK / f"judge-fold-{fold}.npy", predict(model, [(pair.old, pair.new) for pair in held]))


def held_out(data: Data) -> tuple[np.ndarray, list[LabelledPair]]:
    """Collect the predictions of all folds with the features of their pairs."""
    rows, pairs = [], []
    for fold in range(FOLDS):
        _, held = by_fold([*data.written, *data.team], fold)
        rows.append(inputs(np.load(WORK / f"judge-fold-{fold}.npy"), held, data.cosines(held)))
        pairs += held
    return np.vstack(rows), pairs


def _own_chances(rows: np.ndarray, pairs: Sequence[LabelledPair]) -> np.ndarray:
    """Give chances by linear models that have not seen the pair's fold either."""
    from memctl.rules.relation import combine

    folds = np.array([pair.fold for pair in pairs])
    chances = np.zeros((len(pairs), len(LABELS)))
    for fold in range(FOLDS):
        about = fit(rows[folds != fold], [pair for pair in pairs if pair.fold != fold])
        chances[folds == fold] = combine(rows[folds == fold], about)
    return chances


def report(data: Data, rows: np.ndarray, pairs: Sequence[LabelledPair], about: dict[str, Any], extra: Path | None) -> str:
    """Write down what was measured, and how."""
    chances = _own_chances(rows, pairs)
    wanted = targets(pairs)
    origins = np.array([pair.origin for pair in pairs])
    lines = [
        "# The judge: how a newer statement stands to an older one",
        "",
        f"MiniLM fine-tuned on pairs ({len(data.everything)} pairs: {len(data.written)} written, the rest from the "
        f"training teams), its logits weighed with {len(about['features'])} features. Recipe: `{RECIPE}`, the mean of "
        f"{len(SEEDS)} models. {FOLDS}-fold cross-validation; sentences of one group or team never part.",
        "",
        f"Bounds, chosen on the held-out predictions: `{json.dumps(about['bounds'])}`.",
        "",
        *_table({f"{name}, held out": score(decide(chances[chosen], about["bounds"]), wanted[chosen]) for name, chosen in (
            ("given pairs", origins == "given"),
            ("own pairs", origins == "extra"),
            ("team pairs", origins == "team"),
        )}),
        "",
        "Without the features (the model's own choice):",
        "",
        *_table({"written pairs, held out": score(rows[origins != "team", :3].argmax(1), wanted[origins != "team"])}),
    ]  # fmt: skip
    if extra is not None:
        lines += ["", "Pairs that nothing was chosen by, with the exported weights:", "", *_table(measure(data, extra, about))]
    return "\n".join(lines) + "\n"


def measure(data: Data, path: Path, about: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Measure the exported model, as the package runs it, on labelled pairs."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [LabelledPair(row["old"], row["new"], row["verdict"], "measured", "") for row in rows]
    from memctl.embedding.models import exported

    encoder = OnnxEncoder(WEIGHTS / "judge.onnx", exported(DEFAULT_MODEL).tokenizer, 128)
    asked = [Pair(p.old, p.new, cosine) for p, cosine in zip(pairs, data.cosines(pairs), strict=True)]
    chances = Relater(encoder.run, about).chances(asked)
    return {path.stem: score(decide(chances, about["bounds"]), targets(pairs))}


def _table(figures: dict[str, dict[str, float]]) -> list[str]:
    names = list(next(iter(figures.values())))
    return [
        "| | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
        *(f"| {title} | " + " | ".join(str(row[name]) for name in names) + " |" for title, row in figures.items()),
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--measure", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
