"""Programs written for hosted memory services work when only their base URL is changed."""

import httpx
import pytest
from pydantic import ValidationError

from memctl.server.hosted import ExtractRequest, RememberRequest, own_type
from tests.server.conftest import CHAT


def test_kronvex_remembers_recalls_and_injects(http: httpx.Client) -> None:
    agent = "/api/v1/agents/support-bot"
    sent = {
        "content": "The customer Amara prefers answers by phone",
        "memory_type": "preference",
        "session_id": "s-17",
        "ttl_days": 30,
        "pinned": True,
        "metadata": {"source": "crm"},
    }
    stored = http.post(f"{agent}/remember", json=sent).json()
    assert (stored["memory_type"], stored["pinned"], stored["agent_id"]) == ("preference", True, "support-bot")
    assert stored["expires_at"] == "2026-06-03T09:00:00Z"
    assert stored["tags"] == ["session:s-17", "source:crm"]
    recalled = http.post(f"{agent}/recall", json={"query": "how does Amara like to be answered", "top_k": 3}).json()
    assert recalled["memories"][0]["content"] == sent["content"]
    assert 0 < recalled["memories"][0]["score"] <= 1
    other = http.post(f"{agent}/recall", json={"query": "how does Amara like answers", "session_id": "s-99"}).json()
    assert other["memories"] == []
    context = http.post(f"{agent}/inject-context", json={"message": "write to Amara, by phone or mail?"}).json()
    assert sent["content"] in context["context"]


def test_zero_latency_extracts_and_recalls(http: httpx.Client) -> None:
    done = http.post("/v1/extract", json={"agent_id": "boat-yard", "content": CHAT, "wait": True})
    assert done.status_code == 200
    assert done.json()["status"] == "done"
    assert done.json()["memories_stored"] == len(done.json()["memory_ids"]) > 0
    asked = {"agent_id": "boat-yard", "query": "how long are invoices archived", "max_tokens": 500}
    answer = http.post("/v1/recall", json=asked).json()
    assert "ten years" in answer["context_block"]
    assert answer["memories_used"] == len(answer["memories"])
    assert 0 < answer["tokens_used"] <= 500
    old_words = {"agent_id": "boat-yard", "conversation_context": "archiving invoices", "budget_tokens": 500}
    assert http.post("/v1/recall", json=old_words).status_code == 200


def test_memstore_remembers_and_recalls(http: httpx.Client) -> None:
    sent = {"content": "The greenhouse is watered every second day", "tags": ["garden"], "agent": "gardeners"}
    assert http.post("/v1/memory/remember", json=sent).json()["tags"] == ["garden"]
    found = http.get("/v1/memory/recall", params={"q": "watering the greenhouse", "limit": 3, "agent": "gardeners"})
    assert found.json()["memories"][0]["content"] == sent["content"]
    params = {"q": "watering the greenhouse", "tags": "kitchen, cellar", "agent": "gardeners"}
    assert http.get("/v1/memory/recall", params=params).json()["memories"] == []


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("Preference", "preference"), ("semantic", "fact"), ("episodic", None), ("unheard-of", None), (None, None)],
)
def test_other_kinds_of_memory_are_translated(theirs: str | None, ours: str | None) -> None:
    assert own_type(theirs) == ours


def test_an_extraction_is_sent_in_exactly_one_way() -> None:
    with pytest.raises(ValidationError):
        ExtractRequest()
    with pytest.raises(ValidationError):
        ExtractRequest(content="a", text="b")
    turn = ExtractRequest(human_message="Where?", agent_message="In Bergen.").request()
    assert [message["role"] for message in turn["messages"]] == ["user", "assistant"]


def test_metadata_that_is_no_tag_is_left_out() -> None:
    sent = RememberRequest(content="x", metadata={"deep": {"a": 1}, "a\nb": "c", "n": 3}, tags=["t", "t"])
    assert sent.to_arguments("team").tags == ["t", "a b:c", "n:3"]
