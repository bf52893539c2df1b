"""The same few sentences for memctl and its peers: facts, how each changes, and the question that is asked after."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changed:
    """A fact, what it becomes, and a question about it; ``now`` and ``then`` tell the two apart in an answer."""

    old: str
    new: str
    question: str
    then: str
    now: str


CHANGED = (
    Changed(
        "The limit for uploads is 20 MB.",
        "The limit for uploads is now 50 MB instead of 20 MB.",
        "what is the limit for uploads",
        "is 20 MB",
        "50 MB",
    ),
    Changed(
        "We deploy the tide model with Nomad.",
        "We no longer deploy the tide model with Nomad, we moved to Kubernetes.",
        "how do we deploy the tide model",
        "model with Nomad.",
        "Kubernetes",
    ),
    Changed(
        "The release of the ferry timetable is on 15 March.",
        "The release of the ferry timetable was moved to 2 April.",
        "when is the release of the ferry timetable",
        "15 March",
        "2 April",
    ),
    Changed(
        "Linnea prefers tables in reports.",
        "Linnea now prefers prose instead of tables in reports.",
        "which form of reports does Linnea prefer",
        "prefers tables",
        "prefers prose",
    ),
    Changed(
        "The invoice matcher stores its data in SQLite.",
        "The invoice matcher stores its data in Postgres now, not in SQLite any more.",
        "where does the invoice matcher store its data",
        "data in SQLite",
        "Postgres",
    ),
    Changed(
        "Kwame is responsible for the backup.",
        "Bea is responsible for the backup now, she took over from Kwame.",
        "who is responsible for the backup",
        "Kwame is responsible",
        "Bea is responsible",
    ),
)
SAID_AGAIN = tuple(changed.old for changed in CHANGED)


def verdict(answers: list[list[str]]) -> dict[str, int]:
    """Count over the answers to every question: where the present fact comes first, and where the old one shows."""
    pairs = list(zip(CHANGED, answers, strict=True))
    return {
        "current first": sum(bool(shown) and changed.now in shown[0] for changed, shown in pairs),
        "stale shown": sum(any(changed.then in text for text in shown) for changed, shown in pairs),
    }
