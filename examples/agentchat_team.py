"""An AgentChat team that remembers: recall by MemctlMemory, learning by record.

    pip install "memctl[llm]"
    python examples/agentchat_team.py "How are the reports delivered?"

With OPENAI_API_KEY (and OPENAI_MODEL) set the agents think for themselves; otherwise they speak from a script.
"""

import asyncio
import os
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import BaseChatMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.models import ChatCompletionClient

from memctl.adapters.agentchat import MemctlMemory, record

SCOPE = "report-team"
SCRIPT = {
    "Analyst": "Decision: the reports are delivered as spreadsheets on the first of the month at 09:00.",
    "Editor": "Agreed, spreadsheets on the first of the month.",
}


def model(name: str) -> ChatCompletionClient:
    """Open the model of the environment, or one that says the line of the script."""
    if os.environ.get("OPENAI_API_KEY"):
        from autogen_ext.models.openai import OpenAIChatCompletionClient

        return OpenAIChatCompletionClient(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    from autogen_ext.models.replay import ReplayChatCompletionClient

    return ReplayChatCompletionClient([SCRIPT[name]])


async def main(task: str) -> None:
    """Run the team and learn from the run when it ends."""
    agents = [AssistantAgent(name, model_client=model(name), memory=[MemctlMemory(SCOPE)]) for name in SCRIPT]
    team = RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(3))
    async for item in record(team.run_stream(task=task), agent=SCOPE):
        if isinstance(item, BaseChatMessage):
            print(f"{item.source}: {item.to_text()}")
    found = await MemctlMemory(SCOPE).query(task)
    print("Known now:", *(memory.content for memory in found.results), sep="\n- ")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "How are the reports delivered?"))
