"""The memory for models: the SDK's own client over a real pipe."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.conftest import CommandLine
from tests.server.conftest import FACTS, id_of

OVENS = id_of(FACTS[0][1])
BOOKS = id_of("Overdue books cost twenty cents a day", "library-team")


def asked(home: Path, questions: Callable[[Client], Awaitable[Any]], *arguments: str) -> Any:
    """Start ``memctl mcp`` on a home, ask, and give what was answered."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memctl", "mcp", *(arguments or ("--agent", "bakery-team"))],
        env=CommandLine(home).env(),
    )

    async def run() -> Any:
        async with Client(server) as client:
            return await questions(client)

    return asyncio.run(run())


def test_a_model_recalls_lists_and_asks_why_within_its_scope(own_home: Path) -> None:
    async def questions(client: Client) -> Any:
        return [
            await client.call_tool("recall", {"query": "when are the ovens switched on"}),
            await client.call_tool("list", {}),
            await client.call_tool("why", {"id": OVENS[:8]}),
            await client.call_tool("recall", {"query": "overdue books"}),
        ]

    recalled, listed, why, other = asked(own_home, questions)
    assert FACTS[0][1] in recalled.content[0].text
    assert recalled.structured_content["data"]["facts"][0]["id"] == OVENS
    assert {fact["agent"] for fact in listed.structured_content["data"]["facts"]} == {"bakery-team"}
    assert why.structured_content["data"]["fact"]["id"] == OVENS
    assert "twenty cents" not in str(other)


def test_the_tools_are_those_of_the_catalog_and_name_no_scope(own_home: Path) -> None:
    async def questions(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = asked(own_home, questions)
    assert {"recall", "remember", "forget", "list", "why"} <= {tool.name for tool in tools}
    assert not any("agent" in tool.input_schema.get("properties", {}) for tool in tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)


def test_a_read_only_server_offers_nothing_that_writes(own_home: Path) -> None:
    async def questions(client: Client) -> Any:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert asked(own_home, questions, "--agent", "bakery-team", "--read-only") == {"recall", "list", "why", "state_get"}


def test_the_recall_block_is_a_resource(own_home: Path) -> None:
    async def questions(client: Client) -> Any:
        templates = await client.list_resource_templates()
        block = await client.read_resource("memctl://recall/bakery-team%2Fplanner/freezing%20croissant%20dough")
        return templates.resource_templates[0].uri_template, block.contents[0].text

    template, text = asked(own_home, questions)
    assert template == "memctl://recall/{agent}/{query}"
    assert "Freezing croissant dough" in text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list", {"agent": "library-team"}),
        ("list", {"colour": "red"}),
        ("recall", {}),
        ("why", {"id": BOOKS}),
        ("forget", {"ids": [BOOKS]}),
        ("forget", {"ids": []}),
    ],
)
def test_what_a_model_may_not_do_is_told_to_it(own_home: Path, tool: str, arguments: dict[str, Any]) -> None:
    async def questions(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    answer = asked(own_home, questions)
    assert answer.is_error
    error = answer.structured_content["error"]
    assert error["code"] in ("invalid", "not_found")
    assert "/docs" not in error["remedy"]
    if not arguments:
        assert error["message"] == "query: Field required."
    assert "Overdue" not in str(answer)


@pytest.mark.parametrize(
    "uri", ["memctl://recall/library-team/books", "memctl://recall/bakery-team", "file:///etc/passwd"]
)
def test_a_resource_out_of_scope_is_refused(own_home: Path, uri: str) -> None:
    async def questions(client: Client) -> Any:
        with pytest.raises(MCPError):
            await client.read_resource(uri)

    asked(own_home, questions)


def test_nothing_but_the_protocol_is_printed(own_home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memctl", "mcp", "--agent", "bakery-team"],
        input=b"this is no protocol\n",
        env=CommandLine(own_home).env(),
        capture_output=True,
        timeout=60,
    )
    assert all(line.startswith(b"{") for line in done.stdout.splitlines())
    assert b"Traceback" not in done.stdout
