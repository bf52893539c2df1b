"""A group chat of AutoGen 0.2 / AG2 that remembers: run it twice and compare what the agents are shown.

    pip install "memctl[ag2]"
    python examples/ag2_groupchat.py "Where does the parcel service publish its events?"

With OPENAI_API_KEY (and OPENAI_MODEL) set the agents think for themselves; otherwise they speak from a script.
"""

import os
import sys

from autogen import ConversableAgent, GroupChat, GroupChatManager

from memctl import Memory
from memctl.adapters.ag2 import attach

SCOPE = "parcel-team"
SCRIPT = {
    "Planner": "Final decision: the parcel service publishes its events to RabbitMQ, not to Kafka.",
    "Critic": "I agree with RabbitMQ for the parcel service.",
}


def model() -> dict[str, object] | bool:
    """Name the model of the environment, or none."""
    key = os.environ.get("OPENAI_API_KEY")
    name = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
    return {"config_list": [{"model": name, "api_key": key}]} if key else False


def agent(name: str) -> ConversableAgent:
    """Make an agent with the model, or with its line of the script."""
    return ConversableAgent(
        name, llm_config=model(), human_input_mode="NEVER", default_auto_reply=SCRIPT.get(name, "Thank you.")
    )


def main(task: str) -> None:
    """Say what is known, run the team, say what was learned."""
    print("Known before:", Memory(SCOPE).recall(task).text or "nothing", sep="\n")
    user, planner, critic = agent("User"), agent("Planner"), agent("Critic")
    chat = GroupChat([user, planner, critic], messages=[], max_round=3, speaker_selection_method="round_robin")
    manager = GroupChatManager(chat, llm_config=model())
    with attach(manager, SCOPE):
        user.initiate_chat(manager, message=task)
    print("Known now:", Memory(SCOPE).recall(task).text, sep="\n")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "Where does the parcel service publish its events?")
