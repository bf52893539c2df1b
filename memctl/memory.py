"""An open memory: a store, an embedder, the trained models, settings and a clock, each loaded when first used."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memctl import times
from memctl.errors import NoStore, OtherModel
from memctl.languages import in_english
from memctl.model import MemoryType
from memctl.settings import DEFAULT_MODEL, Settings, home_location
from memctl.settings import load as load_settings
from memctl.shapes import writable

if TYPE_CHECKING:
    import numpy as np

    from memctl.embedding.models import Embedder
    from memctl.embedding.onnx import OnnxEncoder
    from memctl.extraction.clean import CleaningRules
    from memctl.extraction.llm import LlmExtractor
    from memctl.extraction.local import LocalExtractor
    from memctl.extraction.types import Extractor
    from memctl.rules.relation import Pair, Relate, Relation
    from memctl.store import Store


def silent(_: str) -> None:
    """Take a note and say nothing."""


class OpenMemory:
    """Everything an operation needs. Opening is cheap: parts load on first use."""

    def __init__(self, location: str, settings: Settings, on_note: Callable[[str], None] = silent) -> None:
        """Name the place; nothing is read or created yet."""
        self.location = location
        self.settings = settings
        self.note = on_note
        self._store: Store | None = None
        self._writable = False

    @classmethod
    def at_home(cls, *, on_note: Callable[[str], None] = silent, home: str | None = None, **flags: Any) -> "OpenMemory":
        """Open the memory that ``home`` or the environment names, with flags above the settings."""
        location = home or home_location()
        return cls(location, load_settings(location).override(**flags), on_note)

    def now(self) -> datetime:
        """Tell the time."""
        return times.now()

    def scope(self, agent: str | None) -> str:
        """Name the scope in force: the one given, else the setting."""
        return writable(agent or str(self.settings["agent"]))

    @property
    def store(self) -> "Store":
        """The store that exists; raises NoStore where nothing was ever remembered."""
        if self._store is None:
            from memctl.store import Store

            self._store = Store.open(self.location)
        return self._store

    @property
    def existing(self) -> "Store | None":
        """The store, or None where nothing was ever remembered."""
        try:
            return self.store
        except NoStore:
            return None

    @property
    def created(self) -> "Store":
        """The store for writing, made first where there is none, with the model that the settings name."""
        from memctl.store import Model, Store

        if self._store is None or not self._writable:
            model = Model(self.embedder.name, dimension=self.embedder.dimension)
            self._store = Store.create(self.location, model, wait=self.wait)
            self._writable = True
        return self._store

    @property
    def wait(self) -> float:
        """How long a writer waits for another one, in seconds."""
        return float(self.settings["store.wait_seconds"])

    @contextmanager
    def writing(self, command: str, *, dry_run: bool = False) -> "Iterator[Store | None]":
        """Be the one writer for a block that decides by what it reads; a dry run needs no lock and no store."""
        if dry_run:
            yield self.existing
            return
        store = self.created
        with store.writing(command, wait=self.wait):
            yield store

    @property
    def model_name(self) -> str:
        """The embedding model that the settings name; a store that was built with another one is refused."""
        name = str(self.settings["embedding.model"] or DEFAULT_MODEL)
        store = self.existing
        if store is not None and store.meta.model.name != name:
            raise OtherModel(path=self.location, stored=store.meta.model.name, wanted=name)
        return name

    @cached_property
    def embedder(self) -> "Embedder":
        """The embedding model."""
        from memctl.embedding.models import open_embedder

        return open_embedder(self.model_name)

    def embed(self, texts: Sequence[str]) -> "np.ndarray":
        """Give one unit vector a text."""
        return self.embedder.embed(texts)

    @property
    def asks_in_its_own_way(self) -> bool:
        """Whether questions have an encoder of their own: it was trained to meet the bundled model's vectors."""
        return self.model_name == DEFAULT_MODEL

    @cached_property
    def asker(self) -> "OnnxEncoder":
        """The encoder of questions for the bundled model."""
        from memctl.embedding.models import open_classifier

        return open_classifier("question")[0]

    def ask(self, questions: Sequence[str]) -> "np.ndarray":
        """Give one unit vector a question, near the memories that answer it."""
        if not self.asks_in_its_own_way:
            return self.embed(questions)
        return self.asker.run([in_english(question) for question in questions])[0]

    @cached_property
    def reader(self) -> "OnnxEncoder":
        """The model that reads a question and a memory together."""
        from memctl.embedding.models import open_classifier

        return open_classifier("reader")[0]

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Tell for pairs of a question and a memory how surely the one answers the other."""
        return [float(logit) for logit in self.reader.run(pairs)[0][:, 0]] if pairs else []

    @cached_property
    def count_tokens(self) -> "Callable[[str], int]":
        """The count of a recall block's tokens, by the bundled tokenizer, which asking has loaded already."""
        from memctl.embedding.models import open_rarities
        from memctl.rules.tokens import TokenCount

        return TokenCount(self.asker.rarities if self.asks_in_its_own_way else open_rarities())

    @cached_property
    def extractor(self) -> "Extractor":
        """The extractor that the settings name; the LLM one falls back to the local one."""
        return self.llm_extractor if self.settings["extraction.extractor"] == "llm" else self.local_extractor

    @cached_property
    def llm_extractor(self) -> "LlmExtractor":
        """The extractor that asks a language model and falls back to the local one."""
        from memctl.extraction.llm import LlmExtractor

        return LlmExtractor.from_settings(self.settings, fallback=self.local_extractor, on_note=self.note)

    @cached_property
    def local_extractor(self) -> "LocalExtractor":
        """The extractor that needs no LLM, with its trained model."""
        from memctl.embedding.models import open_classifier
        from memctl.extraction.local import Card, LocalExtractor

        encoder, about = open_classifier("keep")
        return LocalExtractor(encoder.run, Card.of(about), self.lifetimes())

    @cached_property
    def relate(self) -> "Relate":
        """The judge's view of pairs of sentences: the trained model, and with ``llm`` a second opinion."""
        if self.settings["extraction.judge"] != "llm":
            return self.compare
        from memctl.extraction.llm_judge import LlmJudge

        return _SecondOpinion(self.compare, LlmJudge.from_settings(self.settings, on_note=self.note).ask)

    @cached_property
    def compare(self) -> "Relate":
        """The trained model's view of pairs of sentences alone: a recall asks nobody else."""
        from memctl.embedding.models import open_classifier
        from memctl.rules.relation import Relater

        encoder, about = open_classifier("judge")
        return Relater(encoder.run, about)

    def types_of(self, texts: Sequence[str]) -> list[MemoryType]:
        """Tell what kind of memory each sentence is."""
        return self.local_extractor.types_of(texts) if texts else []

    def cleaning_rules(self) -> "CleaningRules":
        """What is taken out of a text before it is embedded or stored."""
        from memctl.extraction.clean import CleaningRules
        from memctl.extraction.redact import RedactionRules, own_patterns

        return CleaningRules(
            RedactionRules(
                emails=bool(self.settings["redact.emails"]),
                phones=bool(self.settings["redact.phones"]),
                patterns=own_patterns(self.settings["redact.patterns"]),
            )
        )

    def lifetimes(self) -> dict[MemoryType, timedelta]:
        """How long a memory of each type lasts when nothing was said about it."""
        return {
            MemoryType.TEMPORARY: times.parse_duration(str(self.settings["ttl.temporary"])),
            MemoryType.CONTEXT: times.parse_duration(str(self.settings["ttl.context"])),
        }

    def close(self) -> None:
        """Pass on what the store had to say; safe to call twice."""
        if self._store is not None:
            for text in self._store.notes:
                self.note(text)
            self._store.notes.clear()


class _SecondOpinion:
    """Pairs that the trained judge is unsure of are asked of a language model, which sees their texts only."""

    def __init__(self, first: "Relate", ask: "Callable[[Sequence[tuple[str, str]]], list[str]]") -> None:
        self._first = first
        self._ask = ask

    def __call__(self, pairs: "Sequence[Pair]") -> "list[Relation]":
        from memctl.rules.relation import Label, Relation

        relations = self._first(pairs)
        unsure = [place for place, relation in enumerate(relations) if relation.label is Label.UNSURE]
        answers = self._ask([(pairs[place].old, pairs[place].new) for place in unsure])
        for place, answer in zip(unsure, answers, strict=True):
            relations[place] = Relation(Label(answer), relations[place].score, "llm", relations[place].chances)
        return relations
