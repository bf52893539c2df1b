"""One request through every door: the same facts in the same order."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from memctl import Memory
from memctl.adapters.ag2 import make_tools
from memctl.adapters.agentchat import MemctlMemory
from tests.conftest import NOW
from tests.server.conftest import Served
from tests.server.test_mcp import asked

QUESTIONS = ("when are the ovens switched on", "what do customers want", "bread", "quantum chromodynamics")


def facts(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(fact["id"], fact["score"]) for fact in answer["facts"]]


@pytest.fixture(scope="module")
def over_mcp(own_home: Path) -> dict[str, Any]:
    async def questions(client: Client) -> dict[str, Any]:
        answers = {query: await client.call_tool("recall", {"query": query}) for query in QUESTIONS}
        return {query: answer.structured_content["data"] for query, answer in answers.items()}

    answered: dict[str, Any] = asked(own_home, questions)
    return answered


@pytest.mark.parametrize("query", QUESTIONS)
def test_recall_is_the_same_through_every_door(
    query: str, served: Served, http: httpx.Client, over_mcp: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTL_NOW", NOW)
    command_line = served.command_line("recall", query, "--agent", "bakery-team", "--format", "json").json
    rest = http.post("/v1/recall", json={"query": query, "agent": "bakery-team"}).json()
    hosted = http.post("/api/v1/agents/bakery-team/recall", json={"query": query}).json()
    python = Memory("bakery-team", home=str(served.home)).recall(query)
    agentchat = asyncio.run(MemctlMemory("bakery-team", home=str(served.home)).query(query)).results
    _, tool = make_tools("bakery-team", home=str(served.home))
    assert facts(rest["data"]) == facts(command_line) == facts(over_mcp[query])
    assert rest["context_block"] == command_line["text"] == over_mcp[query]["text"] == python.text
    assert [(memory["id"], memory["score"]) for memory in hosted["memories"]] == facts(command_line)
    assert [(one.metadata["id"], one.metadata["score"]) for one in agentchat] == facts(command_line)
    assert tool(query) == (command_line["text"] or "Nothing is remembered about that.")


def test_listing_is_the_same_through_every_door(served: Served, http: httpx.Client, own_home: Path) -> None:
    async def questions(client: Client) -> Any:
        return (await client.call_tool("list", {})).structured_content

    command_line = served.command_line("list", "--agent", "bakery-team", "--json").json
    assert http.get("/v1/list", params={"agent": "bakery-team"}).json() == command_line == asked(own_home, questions)
