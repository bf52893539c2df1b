"""The LLM extractor against a real HTTP server: wire, retries, cache, limits, guards and fallback."""

import asyncio
import json
import re
import threading
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("autogen_ext.models.openai", reason="the extra llm is not installed")

from memctl import settings as settings_module
from memctl.errors import ModelUnavailable
from memctl.extraction.llm import LlmExtractor
from memctl.extraction.llm_cache import LlmCache, key_of
from memctl.extraction.llm_chunks import chunks, estimate_tokens
from memctl.extraction.llm_endpoint import Endpoint
from memctl.extraction.llm_judge import LlmJudge
from memctl.extraction.types import Extraction, Trace
from memctl.model import Claim, MemoryType, Message, Role, Source, ToolResult, Transcript
from tests.extraction.chat_server import ChatServer

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)
SAID = "OK, we take Postgres 16 for the API."
FACT = {
    "message": 1,
    "quote": "we take Postgres 16 for the API",
    "text": "The API uses Postgres 16.",
    "type": "decision",
}


class LocalStandIn:
    """A fallback that keeps one claim a transcript, so that a test can tell who read it."""

    def __init__(self) -> None:
        self.read: list[tuple[str, list[int]]] = []

    def extract(self, transcripts, agent, since=None) -> list[Extraction]:
        self.read += [(t.path, list(since or [])) for t in transcripts]
        return [
            Extraction(
                (Claim("local", MemoryType.FACT, agent, AT, Source(t.path, 0, "A", "local")),),
                (Trace(0, "s", True, "local"),),
            )
            for t in transcripts
        ]


def chat(*texts: str, path: str = "chat.json") -> Transcript:
    messages = tuple(Message(i, "Anna" if i % 2 else "Ben", Role.USER, text, AT) for i, text in enumerate(texts))
    return Transcript(path, "test", messages)


def always(*facts: dict):
    return lambda body: (200, {"facts": list(facts)})


@pytest.fixture
def serve(tmp_path: Path):
    """Start servers and extractors on them; everything is stopped at the end."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(answer, **options):
            server = stack.enter_context(ChatServer(answer).running())
            local = LocalStandIn()
            extractor = LlmExtractor(
                Endpoint("tiny", server.url, retries=2, timeout=10),
                local,
                cache=LlmCache(tmp_path / "cache"),
                **options,
            )
            return server, extractor, local

        yield start


def test_a_fact_becomes_a_claim_with_its_source(serve) -> None:
    _, extractor, local = serve(always(FACT))
    [extraction] = extractor.extract([chat(SAID)], "team")
    [claim] = extraction.claims
    assert (claim.text, claim.type, claim.agent, claim.said_at) == (
        "The API uses Postgres 16.",
        MemoryType.DECISION,
        "team",
        AT,
    )
    assert claim.source == Source("chat.json", 0, "Ben", "we take Postgres 16 for the API", AT, "user")
    assert claim.rule == "llm"
    assert [(trace.message, trace.kept) for trace in extraction.trace] == [(0, True)]
    assert local.read == []


def test_the_model_sees_numbered_messages_a_schema_with_bounds_and_no_ids(serve) -> None:
    server, extractor, _ = serve(always())
    extractor.extract([chat("Hello.", SAID)], "secret-scope-name")
    [request] = server.requests
    asked = request["messages"][-1]["content"]
    assert asked == "[1] Ben (user): Hello.\n\n[2] Anna (user): OK, we take Postgres 16 for the API."
    assert "secret-scope-name" not in json.dumps(request)
    assert not re.search(r"\b[0-9a-f]{8,}\b", json.dumps(request))
    facts = request["response_format"]["json_schema"]["schema"]["properties"]["facts"]
    assert facts["minItems"] == 0
    assert facts["maxItems"] <= 40
    assert all("maxLength" in facts["items"]["properties"][name] for name in ("quote", "text"))
    assert request["temperature"] == 0


def test_a_second_run_costs_no_call(serve) -> None:
    server, extractor, _ = serve(always(FACT))
    first = extractor.extract([chat(SAID)], "team")
    assert extractor.extract([chat(SAID)], "team") == first
    assert len(server.requests) == 1
    assert extractor.plan([chat(SAID)]).calls == 0
    assert extractor.plan([chat(SAID)]).cached == 1


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({**FACT, "message": 2, "quote": "we take Postgres 16"}, "quote not in the message"),
        ({**FACT, "message": 9}, "no such message"),
        ({**FACT, "message": 0}, "no such message"),
        ({**FACT, "quote": "we take MySQL"}, "quote not in the message"),
        ({**FACT, "text": "The API uses Postgres 17."}, "not said"),
        ({**FACT, "text": "The API uses Postgres 16 on Kubernetes."}, "not said"),
        ({**FACT, "text": "Sailors enjoy warm harbours during winter storms."}, "mostly not said"),
    ],
)
def test_ungrounded_facts_are_dropped_and_counted(serve, fact: dict, reason: str) -> None:
    _, extractor, local = serve(always(FACT, fact))
    [extraction] = extractor.extract([chat(SAID, "Fine.")], "team")
    assert [claim.text for claim in extraction.claims] == ["The API uses Postgres 16."]
    assert extraction.notes == (f"1 facts of the model were refused: 1 {reason}",)
    assert local.read == []


def test_a_fact_that_comes_twice_is_kept_once(serve) -> None:
    _, extractor, _ = serve(always(FACT, FACT))
    [extraction] = extractor.extract([chat(SAID)], "team")
    assert len(extraction.claims) == 1
    assert "said before" in extraction.notes[0]


def test_rows_of_another_form_are_left_out(serve) -> None:
    _, extractor, _ = serve(always(FACT, {"message": "1"}, "text", {**FACT, "type": "opinion"}))
    [extraction] = extractor.extract([chat(SAID)], "team")
    assert len(extraction.claims) == 1


def test_a_server_that_stumbles_is_asked_again(serve) -> None:
    answers = iter([(500, "overloaded"), (429, "slow down"), (200, {"facts": [FACT]})])
    server, extractor, local = serve(lambda body: next(answers))
    [extraction] = extractor.extract([chat(SAID)], "team")
    assert [claim.text for claim in extraction.claims] == ["The API uses Postgres 16."]
    assert len(server.requests) == 3
    assert local.read == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((500, "out of memory"), "out of memory"),
        ((401, "wrong key"), "wrong key"),
        ((200, "I cannot do that."), "no JSON"),
        ((200, '{"facts": ['), "no JSON"),
        ((200, '{"notes": []}'), "another form"),
        ((200, "[1, 2]"), "another form"),
    ],
)
def test_a_failing_endpoint_falls_back_to_the_local_extractor_and_says_so(serve, answer, reason: str) -> None:
    notes: list[str] = []
    _, extractor, local = serve(lambda body: answer, on_note=notes.append)
    [extraction] = extractor.extract([chat(SAID, "More.")], "team", [1])
    assert [claim.text for claim in extraction.claims] == ["local"]
    assert local.read == [("chat.json", [1])]
    assert reason in extraction.notes[0]
    assert notes == [extraction.notes[0]]


def test_an_endpoint_that_is_not_there_falls_back(tmp_path: Path) -> None:
    local = LocalStandIn()
    endpoint = Endpoint("tiny", "http://127.0.0.1:9/v1", retries=0, timeout=5)
    extractor = LlmExtractor(endpoint, local, cache=LlmCache(tmp_path))
    [extraction] = extractor.extract([chat(SAID)], "team")
    assert extraction.claims[0].text == "local"
    assert "did not answer" in extraction.notes[0]


def test_only_the_transcript_that_failed_falls_back(serve) -> None:
    def answer(body):
        return (200, {"facts": [FACT]}) if "Postgres" in body["messages"][-1]["content"] else (400, "refused")

    _, extractor, local = serve(answer)
    good, bad = extractor.extract([chat(SAID, path="good.json"), chat("Hi there.", path="bad.json")], "team")
    assert good.claims[0].rule == "llm"
    assert bad.claims[0].text == "local"
    assert [path for path, _ in local.read] == ["bad.json"]


def test_a_dead_endpoint_is_not_asked_for_every_transcript(serve) -> None:
    server, extractor, local = serve(lambda body: (401, "wrong key"))
    many = [chat(f"Message number {i}.", path=f"{i}.json") for i in range(12)]
    assert [e.claims[0].text for e in extractor.extract(many, "team")] == ["local"] * 12
    assert len(server.requests) < 12
    assert len(local.read) == 12


def test_no_more_calls_than_allowed(serve) -> None:
    server, extractor, local = serve(always(), max_calls=2)
    many = [chat(f"Message number {i}.", path=f"{i}.json") for i in range(4)]
    extractions = extractor.extract(many, "team")
    assert len(server.requests) == 2
    assert [path for path, _ in local.read] == ["2.json", "3.json"]
    assert "--max-calls" in extractions[3].notes[0]


def test_a_few_requests_are_in_flight_at_once_but_not_more(tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def answer(body):
        together.wait(timeout=10)
        return 200, {"facts": []}

    with ChatServer(answer).running() as server:
        endpoint = Endpoint("tiny", server.url, parallel=3, retries=0, timeout=20)
        extractor = LlmExtractor(endpoint, LocalStandIn(), cache=LlmCache(tmp_path))
        extractor.extract([chat(f"Message number {i}.", path=f"{i}.json") for i in range(6)], "team")
        assert server.most_at_once == 3


def test_an_endpoint_without_schemas_is_asked_more_plainly(serve) -> None:
    def answer(body):
        if "response_format" in body or "temperature" in body:
            return 400, "unsupported parameter"
        return 200, f"Sure:\n```json\n{json.dumps({'facts': [FACT]})}\n```"

    server, extractor, _ = serve(answer)
    [first] = extractor.extract([chat(SAID)], "team")
    assert first.claims[0].text == "The API uses Postgres 16."
    assert [sorted(set(r) & {"response_format", "temperature"}) for r in server.requests] == [
        ["response_format", "temperature"],
        ["response_format"],
        [],
    ]


def test_time_bound_facts_expire(serve) -> None:
    fact = {
        "message": 1,
        "quote": "staging is down until Thursday",
        "text": "Staging is down until Thursday.",
        "type": "temporary",
    }
    _, extractor, _ = serve(always(fact))
    [extraction] = extractor.extract([chat("FYI staging is down until Thursday")], "team")
    assert AT < extraction.claims[0].expires_at <= AT + timedelta(days=7)


def test_it_can_be_called_from_inside_an_event_loop(serve) -> None:
    _, extractor, _ = serve(always(FACT))

    async def inside():
        return extractor.extract([chat(SAID)], "team")

    assert asyncio.run(inside())[0].claims[0].rule == "llm"


def test_no_warning_reaches_the_user(serve) -> None:
    _, extractor, _ = serve(always(FACT))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert extractor.extract([chat(SAID)], "team")[0].claims


def test_plan_counts_calls_and_tokens_without_asking(serve) -> None:
    server, extractor, _ = serve(always(), context_tokens=1600)
    long = chat(*[f"Message {i}: " + "the quick brown fox jumps over the lazy dog " * 8 for i in range(40)])
    plan = extractor.plan([long])
    assert plan.calls == len(chunks(long, 1600)) > 3
    assert plan.tokens > estimate_tokens("".join(m.text for m in long.messages))
    assert server.requests == []
    extractor.extract([long], "team")
    assert len(server.requests) == plan.calls


def test_chunks_cover_every_message_once_and_fit() -> None:
    texts = ["short", "x " * 9000, "中文" * 3000, *[f"sentence number {i} of the chat" for i in range(200)]]
    pieces = chunks(chat(*texts), 2000)
    assert [place for piece in pieces for place in piece.positions] == list(range(len(texts)))
    assert all(estimate_tokens(piece.text) < 2000 for piece in pieces)


def test_messages_read_before_are_context_only() -> None:
    [piece] = chunks(chat("First thing.", "Second thing.", "Third thing."), 8000, since=2)
    assert piece.positions == (2,)
    assert "(context) Anna (user): Second thing." in piece.text
    assert "[1] Ben (user): Third thing." in piece.text


def test_system_prompts_are_not_shown_and_tool_output_is_shortened() -> None:
    messages = (
        Message(0, "system", Role.SYSTEM, "You are a helper.", AT),
        Message(1, "Shell", Role.TOOL, "", AT, tool_results=(ToolResult("line\n" * 2000 + "ERROR disk full"),)),
    )
    [piece] = chunks(Transcript("c", "test", messages), 8000)
    assert "You are a helper" not in piece.text
    assert "ERROR disk full" in piece.text
    assert len(piece.text) < 1500


def test_settings_name_the_endpoint_and_a_missing_model_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TEST_KEY", "k-123")
    environ = {
        "MEMCTL_LLM_MODEL": "tiny",
        "MEMCTL_LLM_BASE_URL": "http://localhost:1/v1",
        "MEMCTL_LLM_API_KEY_ENV": "TEST_KEY",
    }
    chosen = settings_module.load(str(tmp_path), environ)
    extractor = LlmExtractor.from_settings(chosen, fallback=LocalStandIn(), cache=tmp_path)
    assert (extractor.endpoint.model, extractor.endpoint.base_url, extractor.endpoint.api_key) == (
        "tiny",
        "http://localhost:1/v1",
        "k-123",
    )
    assert "k-123" not in repr(extractor.endpoint)
    with pytest.raises(ModelUnavailable, match="no model is named"):
        LlmExtractor.from_settings(settings_module.load(str(tmp_path), {}), fallback=LocalStandIn())


def test_a_damaged_cache_file_is_a_miss_and_the_cache_can_be_cleared(tmp_path: Path) -> None:
    cache = LlmCache(tmp_path)
    cache.put(key_of("a", "b"), {"facts": []})
    assert cache.get(key_of("a", "b")) == {"facts": []}
    assert cache.get(key_of("ab", "")) is None
    next(tmp_path.glob("*/*.json")).write_text("{", encoding="utf-8")
    assert cache.get(key_of("a", "b")) is None
    assert cache.clear() == 1
    assert list(tmp_path.glob("*/*")) == []


def verdicts(*words: str):
    return 200, {"verdicts": [{"pair": i, "verdict": word} for i, word in enumerate(words, 1)]}


def judge_on(server: ChatServer, folder: Path, **options) -> LlmJudge:
    return LlmJudge(Endpoint("tiny", server.url, retries=0, timeout=10), cache=LlmCache(folder), **options)


def test_the_judge_returns_a_word_a_pair_and_remembers_it(tmp_path: Path) -> None:
    pairs = [("Deploys are on Tuesday.", "Deploys are on Friday."), ("Tea is liked.", "Tea is liked a lot.")]
    with ChatServer(lambda body: verdicts("supersedes", "duplicate")).running() as server:
        judge = judge_on(server, tmp_path)
        assert judge.ask(pairs) == ["supersedes", "duplicate"]
        assert judge.ask([pairs[1], pairs[0], pairs[1]]) == ["duplicate", "supersedes", "duplicate"]
        assert len(server.requests) == 1
        asked = server.requests[0]["messages"][-1]["content"]
        assert asked.startswith('Pair 1\nolder: "Deploys are on Tuesday."\nnewer: "Deploys are on Friday."')


@pytest.mark.parametrize(
    "answer",
    [
        (500, "broken"),
        (200, "maybe"),
        (200, {"verdicts": "supersedes"}),
        (200, {"verdicts": [{"pair": 7, "verdict": "supersedes"}]}),
        (200, {"verdicts": [{"pair": 1, "verdict": "delete"}]}),
        (200, {"verdicts": [{"pair": 1, "verdict": "supersedes"}, {"pair": 1, "verdict": "compatible"}]}),
        (200, {"verdicts": []}),
    ],
)
def test_whatever_goes_wrong_is_unsure(tmp_path: Path, answer) -> None:
    with ChatServer(lambda body: answer).running() as server:
        assert judge_on(server, tmp_path).ask([("a b c", "d e f")]) == ["unsure"]


def test_the_judge_keeps_to_its_calls_and_batches_pairs(tmp_path: Path) -> None:
    with ChatServer(lambda body: verdicts(*["compatible"] * 8)).running() as server:
        judge = judge_on(server, tmp_path, max_calls=1)
        words = judge.ask([(f"old {i}", f"new {i}") for i in range(12)])
        assert len(server.requests) == 1
        assert words == ["compatible"] * 8 + ["unsure"] * 4
