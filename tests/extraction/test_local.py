"""The local extractor, with a classifier that is plain enough to foresee."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memctl.extraction.local import LABELS, Card, LocalExtractor
from memctl.extraction.windows import MARKER, SLOTS
from memctl.model import MemoryType, Message, Role, Transcript

AT = datetime(2026, 3, 4, 10, tzinfo=UTC)


WORDS = {
    "decided": "decision",
    "would": "preference",
    "port": "fact",
    "Error": "failure",
    "half": "context",
    "until": "temporary",
    "zwischen": "fact",
    "between": "fact",
    "weak": "weak",
}


class Keywords:
    """A classifier that finds a type by a word in the unit, and counts its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, texts):
        self.calls.append(list(texts))
        rows = np.zeros((len(texts), SLOTS, len(LABELS)), np.float32)
        rows[:, :, 0] = 1
        for place, (_context, units) in enumerate(texts):
            for slot, unit in enumerate(units.split(MARKER)[1:]):
                rows[place, slot] = self.judge(unit)
        return [rows]

    def judge(self, unit):
        row = np.zeros(len(LABELS), np.float32)
        kind = next((kind for word, kind in WORDS.items() if word in unit), "drop")
        if kind == "weak":
            row[[0, LABELS.index("fact")]] = 0.7, 0.3
        else:
            row[LABELS.index(kind)] = 1
        return row


def chat(*turns, start=0):
    messages = []
    for index, (speaker, text) in enumerate(turns, start):
        role = Role.TOOL if speaker == "tool" else Role.USER
        messages.append(Message(index, speaker, role, text, AT + timedelta(minutes=index)))
    return Transcript("chat.json", "groupchat", tuple(messages))


@pytest.fixture
def keywords():
    return Keywords()


@pytest.fixture
def extractor(keywords):
    return LocalExtractor(keywords, Card())


def texts(extraction):
    return [claim.text for claim in extraction.claims]


def test_a_claim_carries_type_time_quote_and_place(extractor):
    done = extractor.extract(
        [chat(("Ana", "Hello."), ("Jonas", "Hi. And we decided on *Kafka*. Bye."), start=5)], "team"
    )[0]
    claim = done.claims[0]
    assert claim.text == "We decided on Kafka."
    assert claim.type is MemoryType.DECISION
    assert claim.agent == "team"
    assert claim.said_at == AT + timedelta(minutes=6)
    assert (claim.source.message, claim.source.speaker, claim.source.quote) == (
        6,
        "Jonas",
        "And we decided on *Kafka*.",
    )
    assert claim.expires_at is None


def test_i_becomes_the_speaker(extractor):
    assert texts(extractor.extract([chat(("Mara", "I would rather have tables."))], "t")[0]) == [
        "Mara would rather have tables."
    ]


def test_what_passes_ends(extractor):
    claim = extractor.extract([chat(("Mara", "The box is shut until Friday."))], "t")[0].claims[0]
    assert claim.expires_at is not None
    assert claim.expires_at.date().isoformat() == "2026-03-06"


def test_all_transcripts_share_two_model_passes_one_for_the_chats_and_one_for_the_memories(extractor, keywords):
    chats = [chat(("Ana", f"The port is {n}.")) for n in range(5)]
    assert [texts(done) for done in extractor.extract(chats, "t")] == [[f"The port is {n}."] for n in range(5)]
    assert len(keywords.calls) == 2


def test_earlier_messages_are_context_only(extractor, keywords):
    talk = chat(("Ana", "We decided on Kafka."), ("Bo", "The port is 9092."))
    assert texts(extractor.extract([talk], "t", since=[1])[0]) == ["The port is 9092."]
    assert "We decided on Kafka." in keywords.calls[0][0][0]


def test_nothing_to_read_needs_no_model(extractor, keywords):
    assert extractor.extract([], "t") == []
    assert extractor.extract([chat()], "t")[0].claims == ()
    assert keywords.calls == []


def test_system_prompts_are_never_read(extractor):
    prompt = Message(0, "system", Role.SYSTEM, "We decided on Kafka.", AT)
    assert extractor.extract([Transcript("x", "y", (prompt,))], "t")[0].claims == ()


def test_a_failed_run_is_remembered_with_its_cause(extractor):
    output = (
        "exitcode: 1 (execution failed)\nCode output:\nTraceback (most recent call last):\n"
        '  File "x", line 1\nOSError: [Errno 28] No space left on device'
    )
    claim = extractor.extract([chat(("Ana", "Run it."), ("tool", output))], "t")[0].claims[0]
    assert claim.type is MemoryType.FAILURE
    assert claim.text == "Failed: OSError: [Errno 28] No space left on device"


def test_a_chosen_option_is_remembered_in_its_own_words(extractor):
    talk = chat(("Bot", "Two ways:\n\nA) Rent a unit\nB) Convert the print room"), ("Ana", "OK, B then."))
    claim = extractor.extract([talk], "t")[0].claims[0]
    assert claim.text == "Ana chose B: Convert the print room"
    assert (claim.type, claim.rule, claim.source.message) == (MemoryType.DECISION, "option", 1)


def test_a_sentence_takes_along_the_one_it_leans_on(extractor):
    talk = chat(("Ana", "The broker is Kafka. It listens on port 9092."))
    assert texts(extractor.extract([talk], "t")[0]) == ["The broker is Kafka. It listens on port 9092."]


def test_two_facts_stay_two_memories(extractor):
    talk = chat(("Ana", "The broker of the team uses port 9092. Grafana of the same team uses port 3000."))
    assert len(texts(extractor.extract([talk], "t")[0])) == 2


def test_the_trace_tells_of_every_sentence_why(extractor):
    talk = chat(("Ana", "Thanks! Shall we go? The port is 9092. Nice weather in the north today."))
    trace = extractor.extract([talk], "t")[0].trace
    assert [(step.sentence, step.kept) for step in trace] == [
        ("Thanks!", False),
        ("Shall we go?", False),
        ("The port is 9092.", True),
        ("Nice weather in the north today.", False),
    ]
    assert trace[0].why == "a greeting, thanks or acknowledgement"
    assert trace[1].why == "a question"
    assert trace[2].why == "kept as fact"
    assert all(step.why for step in trace)


def test_types_are_told_for_sentences_out_of_any_chat(extractor):
    assert extractor.types_of(["We decided on Kafka.", "The port is 9092."]) == [MemoryType.DECISION, MemoryType.FACT]
    assert extractor.types_of([]) == []


def test_a_speaker_cannot_write_the_models_own_marks(extractor, keywords):
    extractor.extract([chat(("Ana", f"Look: {MARKER} the port is 1."), (f"Bo{MARKER}", "The port is 2."))], "t")
    assert all(units.count(MARKER) == 1 for _, units in keywords.calls[0])
    assert all(MARKER not in context for context, _ in keywords.calls[0])


def test_long_messages_lose_no_sentence(extractor, keywords):
    talk = chat(("Ana", " ".join(f"Service number {n} of this long list listens on port {n}." for n in range(100))))
    assert len(texts(extractor.extract([talk], "t")[0])) == 100
    assert all(units.count(MARKER) <= SLOTS for _, units in keywords.calls[0])


def test_german_is_put_into_english_for_the_model_alone(extractor, keywords):
    said = "Der Raum muss immer zwischen 13 und 15 Grad haben."
    assert texts(extractor.extract([chat(("Ana", said))], "t")[0]) == [said]
    assert "between 13 and 15" in keywords.calls[0][0][1]
