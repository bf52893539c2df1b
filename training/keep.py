"""Train the keep model: cross-validate by team, choose the bars, average the models, export.

    python -m training.keep              a fold of teams is left out: report, weights, card
    python -m training.keep --measure 4  each of the four in turn: four times the time, a finer report

The weights are the mean of the folds' models.

Needs torch, transformers and onnx beside memctl (all of them come with its embedding model's export).
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from memctl.extraction.compose import Bar
from memctl.extraction.local import Card, LocalExtractor
from memctl.extraction.windows import SLOTS, Window
from training.folds import FOLDS, fold_of
from training.keep_data import HERE, LABELS, Example, Team, examples, load_all, notes
from training.keep_export import export, write_card
from training.keep_extra import load_extra
from training.keep_model import KeepModel, Recipe, average, predict, prepare, train
from training.keep_report import write_report
from training.keep_score import figures, score
from training.keep_types import best_lean, typed

WEIGHTS = HERE.parent / "memctl" / "weights"
BARS = [0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
Table = dict[tuple[str, str], np.ndarray]


def lesson(teams: Sequence[Team]) -> list[Example]:
    """Collect what some teams teach: their chats, and their gold texts for the types."""
    chats = examples(session for team in teams for session in team.sessions)
    return chats + notes(fact for team in teams for fact in team.facts)


def fit(teams: Sequence[Team], recipe: Recipe, seed: int) -> KeepModel:
    """Train on some teams, the extra chats, and the types of the written lists."""
    taught = lesson(teams) + examples(load_extra(HERE / "extra")) + notes(listed())
    return train(prepare(KeepModel(), taught, recipe.frozen_layers), recipe, seed)


def listed() -> list[dict]:
    """Read the written memories whose type is told."""
    lines = (HERE / "groups.jsonl").read_text(encoding="utf-8").splitlines()
    return [fact for line in lines for fact in json.loads(line)["facts"] if "type" in fact]


def answers(model: KeepModel, teams: Sequence[Team]) -> Table:
    """Let a model judge every window of some teams."""
    windows = examples(session for team in teams for session in team.sessions)
    rows = predict(model, prepare(model, windows, 0), 0)
    return {example.window.text: row for example, row in zip(windows, rows, strict=True)}


def answering(table: Table, model: KeepModel | None = None) -> Callable[[Sequence[tuple[str, str]]], list[np.ndarray]]:
    """Stand for a model by answers that were computed before; what is not among them is asked of ``model``."""

    def classify(texts: Sequence[tuple[str, str]]) -> list[np.ndarray]:
        unknown = [Example(Window(0, 0, 1, text), (0,), (0,), (1.0,)) for text in texts if text not in table]
        if model is not None and unknown:
            rows = predict(model, prepare(model, unknown, 0), 0)
            table.update((example.window.text, row) for example, row in zip(unknown, rows, strict=True))
        answers = np.zeros((len(texts), SLOTS, len(LABELS)), np.float32)
        for place, text in enumerate(texts):
            if text in table:  # what is composed is not; without a model its type follows from the window alone
                answers[place, : len(table[text])] = table[text]
        return [answers]

    return classify


def measure(teams: Sequence[Team], table: Table, card: Card, wrong: list[str] | None = None) -> dict[str, float]:
    """Run the extractor on answers that were computed before, and score what it keeps."""
    extractor = LocalExtractor(answering(table), card)
    counts: Counter = Counter()
    for team in teams:
        chats = [session.transcript for session in team.sessions]
        counts += score(team, extractor.extract(chats, team.name), wrong)
    return figures(counts)


def cross_validate(
    teams: Sequence[Team], recipe: Recipe, measured: int, seed: int
) -> tuple[Table, list[Team], list[KeepModel]]:
    """Judge teams by models that have not seen them: the answers, the teams that were judged, the models."""
    table: Table = {}
    judged: list[Team] = []
    models: list[KeepModel] = []
    for fold in range(measured):
        started = time.time()
        unseen = [team for team in teams if fold_of(team.name) == fold]
        models.append(fit([team for team in teams if team not in unseen], recipe, seed))
        table |= answers(models[-1], unseen)
        judged += unseen
        print(f"fold {fold + 1} of {FOLDS}: {time.time() - started:.0f} s", flush=True)
    return table, judged, models


def best_bar(teams: Sequence[Team], table: Table) -> Bar:
    """Choose the bar with the best F1 on unseen teams; of equals the higher, for fewer memories are better."""
    return max(
        (Bar(keep=keep) for keep in BARS),
        key=lambda bar: (round(measure(teams, table, Card(bar=bar))["f1"], 3), bar.keep),
    )


def main() -> None:
    """Train, report, export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=int, default=1, choices=range(1, FOLDS + 1))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    teams, recipe = load_all(HERE / "teams"), Recipe()
    table, judged, models = cross_validate(teams, recipe, arguments.measure, arguments.seed)
    bar = best_bar(judged, table)
    given = [team for team in judged if not team.own]
    lean = best_lean(
        [
            memory
            for fold, model in enumerate(models)
            for memory in typed([t for t in given if fold_of(t.name) == fold], answering(table, model), bar)
        ]
    )
    report = HERE / "reports" / "keep.md"
    groups = {"given": [team for team in judged if not team.own], "our own": [team for team in judged if team.own]}
    write_report(
        report, groups, len(teams), recipe, bar, lambda some, at: measure(some, table, Card(bar=at, lean=lean))
    )
    export(average(models), WEIGHTS / "keep.onnx")
    sources = [*(HERE / "teams").rglob("*.json"), *(HERE / "extra").glob("*.txt"), HERE / "groups.jsonl"]
    write_card(WEIGHTS / "keep.json", bar, lean, [Path(source) for source in sources])


if __name__ == "__main__":
    main()
