"""One door to a chat model: any OpenAI-compatible endpoint, through AutoGen's own client.

The client (and openai below it) retries what may pass: refused connections, timeouts, 408, 409, 429 and 5xx, with
growing pauses. What it cannot mend becomes ``EndpointUnavailable``.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctl.errors import EndpointUnavailable, ModelUnavailable
from memctl.settings import Settings

if TYPE_CHECKING:
    from autogen_ext.models.openai import OpenAIChatCompletionClient

_FENCED = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is and how it is asked. ``api_key`` is read from the environment and never shown."""

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    parallel: int = 4
    timeout: float = 120.0
    retries: int = 3

    @classmethod
    def from_settings(cls, settings: Settings) -> "Endpoint":
        """Read ``llm.*``; a missing model name is an error, a missing key is not (local servers need none)."""
        model = str(settings["llm.model"])
        if not model:
            raise ModelUnavailable(
                name="llm",
                reason="no model is named",
                remedy="Run memctl config set llm.model NAME (and llm.base_url).",
            )
        key = os.environ.get(str(settings["llm.api_key_env"]), "")
        return cls(model, str(settings["llm.base_url"]), key, parallel=max(1, int(settings["llm.parallel"])))

    @property
    def name(self) -> str:
        """How the endpoint is called in messages to people."""
        return f"{self.model} at {self.base_url or 'api.openai.com'}"


class ChatModel:
    """A model behind an endpoint, for the length of one run of an event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.calls = 0
        self._client = _open(endpoint)
        self._plainness = 0

    async def ask(self, system: str, user: str, name: str, schema: Mapping[str, Any]) -> Any:
        """Ask for JSON after a schema and return it parsed.

        Raises EndpointUnavailable if the endpoint does not answer or what it answers is no JSON.
        """
        text = await self._complete(system, user, name, schema)
        try:
            found = _FENCED.search(text)
            return json.loads(found[0] if found else text)
        except ValueError as error:
            raise EndpointUnavailable(name=self.endpoint.name, reason="its answer is no JSON") from error

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def _complete(self, system: str, user: str, name: str, schema: Mapping[str, Any]) -> str:
        import openai
        from autogen_core.models import LLMMessage, SystemMessage, UserMessage

        messages: list[LLMMessage] = [SystemMessage(content=system), UserMessage(content=user, source="user")]
        try:
            self.calls += 1
            options = _options(self._plainness, name, schema)
            result = await self._client.create(messages, extra_create_args=options)
        except openai.BadRequestError as error:
            # Some endpoints know no schema, some models no temperature: ask more plainly, and remember it.
            if self._plainness >= _PLAINEST:
                raise EndpointUnavailable(name=self.endpoint.name, reason=_brief(error)) from error
            self._plainness += 1
            return await self._complete(system, user, name, schema)
        except (openai.OpenAIError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise EndpointUnavailable(name=self.endpoint.name, reason=_brief(error)) from error
        if not isinstance(result.content, str):
            raise EndpointUnavailable(name=self.endpoint.name, reason="it called a tool instead of answering")
        return result.content


_PLAINEST = 2


def _options(plainness: int, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    described = {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}
    options: dict[str, Any] = {"response_format": described} if plainness < _PLAINEST else {}
    return {**options, "temperature": 0.0} if plainness == 0 else options


def _open(endpoint: Endpoint) -> "OpenAIChatCompletionClient":
    try:
        from autogen_core.models import ModelInfo
        from autogen_ext.models.openai import OpenAIChatCompletionClient
    except ImportError as error:
        raise ModelUnavailable(
            name=endpoint.model, reason="autogen-ext[openai] is not installed", remedy="Run pip install 'memctl[llm]'."
        ) from error
    about = ModelInfo(vision=False, function_calling=False, json_output=True, family="unknown", structured_output=True)
    where: dict[str, Any] = {"base_url": endpoint.base_url} if endpoint.base_url else {}
    return OpenAIChatCompletionClient(
        model=endpoint.model,
        api_key=endpoint.api_key or "none",
        model_info=about,
        timeout=endpoint.timeout,
        max_retries=endpoint.retries,
        include_name_in_message=False,
        **where,
    )


def _brief(error: BaseException) -> str:
    """The error's own words, on one line and not too long."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 200 else f"{words[:200]}…"
