"""Train the judge: ``python -m training.judge`` writes memctl/weights/judge.onnx, judge.json and the report.

1. Models are trained without each of two folds of the written pairs and the given teams, and predict it. On those
   predictions the linear model for notes written by hand is fitted, and its bounds chosen.
2. The weights that are shipped are the mean of the folds' models: all started alike, and the mean errs less than each.
3. For chats, the linear model, its bounds and the gate are fitted to what the shipped weights say about our own teams,
   none of which they have seen.

``--stage train --fold N`` does one fold, ``--stage finish`` the second step, ``--stage weigh`` the third; without
``--stage`` all is done. Labelled pairs for measuring only may be given with ``--measure FILE``: nothing is chosen by
them.
"""

import argparse
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from memctl.embedding.models import open_classifier, open_embedder
from memctl.rules.features import FEATURES
from memctl.rules.hints import hinted
from memctl.rules.judge import JudgeSettings
from memctl.rules.relation import CONTEXT, Pair, Relater, combine, described
from memctl.settings import DEFAULT_MODEL
from training.folds import FOLDS
from training.judge_augment import augmented
from training.judge_claims import Told, claim_pairs, gold, is_own, told
from training.judge_data import (
    HERE,
    LabelledPair,
    by_fold,
    crossed_pairs,
    group_pairs,
    team_pairs,
    unrelated_pairs,
    written_pairs,
)
from training.judge_model import LABELS, MAX_TOKENS, Example, PairModel, Recipe, export, mean_of, predict, train
from training.judge_replay import Chats, chats
from training.judge_weigh import Heard, bounds_by_hand, decide, fit, gate, gate_by_hand, inputs, score, targets

RECIPE = Recipe()
SMOOTHING = 0.04
WEIGHT = {"given": 1.5, "extra": 1.0, "made": 0.5, "crossed": 0.5, "team": 1.0, "group": 1.0, "claim": 1.0}
ALIKE = {"team": 500, "group": 3000, "claim": 2500}  # compatible pairs to learn from: those that look most alike
CROSSED_EVERY = 4
CROWD = 0.7
UNRELATED = 3000  # pairs of notes about different things that teach what need not be read
TRAINED = (0, 1)  # two of the four folds are left out in turn: the mean of both models has seen every pair
PARTS = 4  # of the pairs left out, when the last step is fitted to some and measured on others
WEIGHTS = HERE.parent / "memctl" / "weights"
WORK = HERE / ".work"
ABOUT = WEIGHTS / "judge.json"
REPORT = HERE / "reports" / "judge.md"
_CHATS = "## Chats"


class Data:
    """All pairs, and the cosines of their sentences."""

    def __init__(self) -> None:
        self.embed = open_embedder(DEFAULT_MODEL).embed
        self.written = written_pairs()
        self.groups = group_pairs(self.embed)
        self._vectors: dict[str, np.ndarray] = {}

    @cached_property
    def lessons(self) -> list[LabelledPair]:
        """What the model learns from."""
        teams = [pair for pair in team_pairs(HERE / "teams", self.embed) if pair.group not in self.own]
        return [
            *self.written,
            *augmented(self.written),
            *crossed_pairs(self.written, self.embed)[::CROSSED_EVERY],
            *self._telling(teams, ALIKE["team"]),
            *self._telling(self.groups, ALIKE["group"]),
            *self._telling(self.claims, ALIKE["claim"]),
        ]

    @cached_property
    def own(self) -> set[str]:
        """The teams that were written here."""
        return {name for name in self.told if is_own(HERE / "teams" / name)}

    @cached_property
    def claims(self) -> list[LabelledPair]:
        """Every pair of extracted memories that the judge would compare in the given teams."""
        return self._claims({name: said for name, said in self.told.items() if name not in self.own})

    @cached_property
    def own_claims(self) -> list[LabelledPair]:
        """The same of our own teams, which no model learns from."""
        return self._claims({name: said for name, said in self.told.items() if name in self.own})

    def _claims(self, told: dict[str, list[Told]]) -> list[LabelledPair]:
        return claim_pairs(HERE / "teams", told, self.embed, JudgeSettings().floor)

    @cached_property
    def told(self) -> dict[str, list[Told]]:
        """What the extractor makes of the training teams."""
        return told(HERE / "teams", WORK / "told.jsonl", WEIGHTS / "keep.onnx")

    def own_chats(self) -> list[tuple[str, Chats]]:
        """Every second one of our own teams, ready to be played: all of them would take a quarter of an hour."""
        chosen = sorted(self.own)[::2]
        return [(team, chats(gold(HERE / "teams", team), self.told[team], self.embed)) for team in chosen]

    def gate_by_hand(self) -> dict[str, Any]:
        """What tells notes that have nothing to do with each other."""
        unrelated = unrelated_pairs(self.written, self.embed, JudgeSettings().floor, UNRELATED)
        return gate_by_hand(self.written, unrelated, self.cosines)

    def cosines(self, pairs: Sequence[LabelledPair]) -> list[float]:
        """Give the cosine of each pair, embedding each sentence once."""
        missing = sorted({text for pair in pairs for text in (pair.old, pair.new)} - self._vectors.keys())
        if missing:
            self._vectors.update(zip(missing, self.embed(missing), strict=True))
        return [float(self._vectors[pair.old] @ self._vectors[pair.new]) for pair in pairs]

    def _telling(self, pairs: Sequence[LabelledPair], alike: int) -> list[LabelledPair]:
        """Take all changes and restatements, and the compatible pairs that look most alike."""
        compatible = [pair for pair in pairs if pair.label == "compatible"]
        order = np.argsort(-np.array(self.cosines(compatible)), kind="stable")[:alike]
        return [pair for pair in pairs if pair.label != "compatible"] + [compatible[place] for place in order]


def train_fold(data: Data, fold: int) -> None:
    """Train without a fold; keep the weights and what the model says about the fold."""
    held = {text for pair in data.written if pair.fold == fold for text in (pair.old, pair.new)}
    learn, _ = by_fold(data.lessons, fold)
    learn = [pair for pair in learn if pair.origin != "crossed" or not {pair.old, pair.new} & held]
    model = train([_example(pair) for pair in learn], RECIPE, seed=fold)
    torch.save(model.state_dict(), WORK / f"judge-{fold}.pt")
    _, out = by_fold(data.written, fold)
    np.save(WORK / f"judge-written-{fold}.npy", predict(model, [(pair.old, pair.new, pair.by_hand) for pair in out]))


def _example(pair: LabelledPair) -> Example:
    """Soften the label a little; what is the same or unrelated is so in both orders."""
    spread = [1 - SMOOTHING if name == pair.label else SMOOTHING / 2 for name in LABELS]
    target = (spread[0], spread[1], spread[2])
    return Example(
        pair.old,
        pair.new,
        target,
        WEIGHT[pair.origin],
        symmetric=pair.label != "supersedes",
        by_hand=pair.by_hand,
        often=pair.origin in ("given", "extra") or (pair.origin == "claim" and pair.label != "compatible"),
    )


class HeldOut:
    """Predictions for pairs by models that had not seen them."""

    def __init__(self, pairs: Sequence[LabelledPair], rows: np.ndarray) -> None:
        self.pairs = pairs
        self.rows = rows
        self.wanted = targets(pairs)
        names = {name: place for place, name in enumerate(sorted({pair.group for pair in pairs}))}
        self.parts = np.array([names[pair.group] % PARTS for pair in pairs])

    @classmethod
    def written(cls, data: Data) -> "HeldOut":
        """The written pairs, each by the model that was trained without its fold."""
        pairs = [pair for fold in TRAINED for pair in by_fold(data.written, fold)[1]]
        logits = np.vstack([np.load(WORK / f"judge-written-{fold}.npy") for fold in TRAINED])
        return cls(pairs, inputs(logits, pairs, data.cosines(pairs)))

    @classmethod
    def said(cls, data: Data) -> "HeldOut":
        """The memories of our own teams, by the shipped weights."""
        pairs = data.own_claims
        encoder, _ = open_classifier("judge")
        logits = encoder.run([hinted(pair.old, pair.new, by_hand=False) for pair in pairs])[0]
        return cls(pairs, inputs(logits, pairs, data.cosines(pairs)))

    def chances(self) -> np.ndarray:
        """Give chances by linear models that have not seen the pair's team or group either."""
        chances = np.zeros((len(self.pairs), len(LABELS)))
        for part in range(PARTS):
            out = self.parts == part
            chances[out] = combine(self.rows[out], fit(self.rows[~out], self.wanted[~out]))
        return chances


def finish(data: Data, measured: Path | None) -> None:
    """Export the mean of the folds' models, fit the linear model for notes, choose its bounds, report."""
    written = HeldOut.written(data)
    by_hand = written.chances()
    known = json.loads(ABOUT.read_text(encoding="utf-8")) if ABOUT.exists() else {}
    about = {
        **known,
        "labels": list(LABELS),
        "features": [*FEATURES, *CONTEXT],
        "hand": {
            **fit(written.rows, written.wanted),
            "bounds": bounds_by_hand(by_hand, written.wanted),
            "crowd": CROWD,
            "gate": data.gate_by_hand(),
        },
        "max_tokens": MAX_TOKENS,
    }
    models = []
    for fold in TRAINED:
        models.append(PairModel())
        models[-1].load_state_dict(torch.load(WORK / f"judge-{fold}.pt"))
    export(mean_of(models), WEIGHTS / "judge.onnx")
    ABOUT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(_report(data, about, written, by_hand, measured)) + "\n", encoding="utf-8")


def weigh(data: Data) -> None:
    """Fit what is made of the model's answers in chats, and add it to the description and the report."""
    said = HeldOut.said(data)
    heard = Heard(data.own_chats(), said.pairs, said.chances())
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    about["gate"] = gate(said.rows[:, len(LABELS) :], said.wanted)
    about["chat"] = {**fit(said.rows, said.wanted), "bounds": heard.best_bounds()}
    ABOUT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    before = REPORT.read_text(encoding="utf-8").split(_CHATS)[0]
    lines = [
        _CHATS,
        f"What the extractor makes of {len(heard.teams)} teams that the model has not seen, played through the judge "
        f"session by session. Bounds: `{json.dumps(about['chat']['bounds'])}`.",
        "",
        *_table({f"{len(heard.teams)} teams": heard.figures(about["chat"]["bounds"])}),
    ]
    REPORT.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")


def _report(
    data: Data,
    about: dict[str, Any],
    written: HeldOut,
    by_hand: np.ndarray,
    measured: Path | None,
) -> list[str]:
    """Write down what was measured, and how."""
    origins = np.array([pair.origin for pair in written.pairs])
    decided = decide(by_hand, about["hand"]["bounds"])
    figures = {name: score(decided[origins == name], written.wanted[origins == name]) for name in ("given", "extra")}
    plain = {
        name: score(written.rows[origins == name, : len(LABELS)].argmax(1), written.wanted[origins == name])
        for name in figures
    }
    lines = [
        "# The judge: how a newer statement stands to an older one",
        "",
        "MiniLM reads both statements, after hints on values, names and places; it learnt from "
        f"{len(data.lessons)} pairs, {len(data.written)} of them written by hand. A linear model weighs its logits with "
        f"{len(FEATURES)} features. Figures are of pairs that a model has not seen: {len(TRAINED)} of {FOLDS} folds were left out in turn; sentences of one group or team never part. `{RECIPE}`.",
        "",
        "## Notes written by hand",
        f"Bounds: `{json.dumps(about['hand']['bounds'])}`, raised with the number of statements compared.",
        "",
        *_table({"given pairs": figures["given"], "own pairs": figures["extra"]}),
        "",
        "The model alone, its likeliest answer:",
        "",
        *_table({"given pairs": plain["given"], "own pairs": plain["extra"]}),
    ]
    if measured is not None:
        lines += [
            "",
            "## Pairs that nothing was chosen by, with the shipped weights",
            "",
            *_table(_measure(data, measured, about)),
        ]
    return [*lines, ""]


def _measure(data: Data, path: Path, about: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Measure the exported model, as the package runs it, on labelled pairs."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [LabelledPair(row["old"], row["new"], row["verdict"], "measured", "") for row in rows]
    encoder, _ = open_classifier("judge")
    asked = [Pair(p.old, p.new, cosine, by_hand=True) for p, cosine in zip(pairs, data.cosines(pairs), strict=True)]
    chances = combine(Relater(encoder.run, about).inputs(asked, described(asked)), about["hand"])
    return {path.stem: score(decide(chances, about["hand"]["bounds"]), targets(pairs))}


def _table(figures: dict[str, dict[str, float]]) -> list[str]:
    names = list(next(iter(figures.values())))
    return [
        "| | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
        *(f"| {title} | " + " | ".join(str(row[name]) for name in names) + " |" for title, row in figures.items()),
    ]


def main() -> None:
    """Do the stages that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=("train", "finish", "weigh"))
    parser.add_argument("--fold", type=int, choices=TRAINED, action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--measure", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    WORK.mkdir(exist_ok=True)
    data = Data()
    if options.stage in (None, "train"):
        for fold in options.fold or TRAINED:
            train_fold(data, fold)
    if options.stage in (None, "finish"):
        finish(data, options.measure)
    if options.stage in (None, "weigh"):
        weigh(data)


if __name__ == "__main__":
    main()
