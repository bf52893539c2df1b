"""Believable group chats from a seed: people and agents who ask, propose, decide, fail and thank.

Everything is drawn from lists of words that have nothing to do with the data memctl was trained or is judged on,
so that speed is measured on text of the right shape and length, and nothing else is read into it.
"""

import json
import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
_PEOPLE = ("Ines", "Tomasz", "Oyelaran", "Bea", "Kwame", "Linnea", "Rafael", "Sunniva")
_AGENTS = ("planner", "engineer", "reviewer", "researcher", "critic")
_WORDS = {
    "part": (
        "the queue", "the import job", "the nightly export", "the login page", "the search box", "the cache", "the API",
        "the mobile view", "the scheduler", "the mail gateway", "the image resizer", "the audit log", "the backup",
    ),
    "tool": (
        "Redis", "SQLite", "RabbitMQ", "Postgres", "MinIO", "Caddy", "Nomad", "Grafana", "Terraform", "Kotlin", "Rust",
        "Elixir", "Svelte", "Django", "Celery", "OpenSearch", "NATS", "Ansible", "Parquet", "MapLibre",
    ),
    "place": ("staging", "production", "the Porto office", "the test bench", "the pilot site", "the warehouse in Graz"),
    "day": ("Monday", "Tuesday", "Thursday evening", "the end of the sprint", "15 March", "next Wednesday", "May"),
    "style": (
        "short answers", "metric units", "tables instead of prose", "dark mode in every screenshot",
        "release notes in Spanish", "one commit per change", "tests before code", "meetings before ten",
    ),
    "reason": (
        "it is what the operators know", "the licence allows it", "the old one drops messages under load",
        "it halves the bill", "nobody can debug the other one at night", "the auditors asked for it",
        "the disks there are slow", "it works without a network",
    ),
    "failure": (
        "a timeout after {n} seconds", "error {n} from the gateway", "an out-of-memory kill at {n} MB",
        "a checksum mismatch in row {n}", "a lock that was held for {n} seconds", "a missing column in table {n}",
    ),
    "fix": (
        "pinning the driver", "raising the limit", "batching the writes", "turning retries off", "a smaller page size",
        "rebuilding the index", "an explicit time zone", "reading the file in chunks",
    ),
}  # fmt: skip
_FIELDS = (
    "greenhouse", "parcel", "museum", "tide", "bicycle", "seed", "wind farm", "lecture", "recipe", "choir", "invoice",
    "bird", "ferry", "quarry", "theatre", "bakery", "harbour", "orchard", "tram", "glacier", "library", "vineyard",
    "kindergarten", "observatory", "sawmill", "pharmacy", "campsite", "aquarium", "canal", "printing",
)  # fmt: skip
_KINDS = (
    "controller", "tracker", "guide", "model", "map", "catalogue", "report", "archive", "importer", "planner",
    "matcher", "counter", "timetable", "renderer", "quiz", "portal", "simulator", "register", "dashboard", "forecast",
    "booking form", "newsletter", "inventory", "price list", "survey", "translator", "calendar", "scanner",
)  # fmt: skip
_SAID = {
    "fact": (
        "{Thing} handles about {n} requests an hour in {place}.",
        "The limit for {part} of {thing} in {place} is {n} MB.",
        "{Thing} keeps its data in {tool}, and {part} reads it every {m} minutes.",
        "There are {n} devices for {thing} in {place}, all of them behind one gateway.",
        "The contract for {thing} ends in {day} and covers {n} users.",
        "{part} of {thing} is owned by {person}.",
    ),
    "decision": (
        "Decision: we use {tool} for {part} of {thing}, because {reason}.",
        "We agreed to move {part} of {thing} to {tool} by {day}.",
        "OK, {tool} it is for {thing}; {reason}.",
        "For {thing} we drop {tool} and write {part} ourselves, since {reason}.",
    ),
    "change": (
        "Correction: the limit for {part} of {thing} in {place} is {n} MB now, not what I said before.",
        "{Thing} no longer uses {tool}; it was replaced last week.",
        "We moved the release of {thing} to {day}.",
    ),
    "preference": (
        "I'd rather have {style} in everything about {thing}.",
        "Please always give me {style} when we talk about {part} of {thing}.",
        "I prefer {tool} over anything else for {part} of {thing}.",
    ),
    "failure": (
        "I tried {tool} for {part} of {thing} and it ended with {failure}; {fix} helped.",
        "That did not work: {thing} showed {failure} in {place}.",
        "{fix} made no difference, {part} of {thing} still ends with {failure}.",
    ),
    "temporary": (
        "Until {day} {thing} is read-only in {place}, so please do not deploy there.",
        "I am at row {n} of the import of {thing} and go on tomorrow.",
        "{person} is away until {day}, ask me about {thing}.",
    ),
    "proposal": (
        "Should we try {tool} for {part}, or is {tool} enough?",
        "We could put {part} of {thing} behind {tool}, but I am not sure.",
        "What if {part} ran only once a day? It might save us {n} euros.",
    ),
    "noise": (
        "Thanks, that helps.", "Sounds good to me!", "Let me look into that.", "Good morning everybody.",
        "One moment, I am reading the log.", "Does anybody object?", "Great work so far.", "I see what you mean.",
    ),
}  # fmt: skip
_MIX = ("fact",) * 4 + ("decision",) * 2 + ("noise",) * 4 + ("proposal",) * 3 + (
    "preference", "failure", "failure", "temporary", "change",
)  # fmt: skip
_CODE = "```python\nfor row in rows[{n}:]:\n    if row.kind == {m}:\n        store(row, retries={m})\n```"
_TRACE = 'Traceback (most recent call last):\n  File "job.py", line {n}, in run\nTimeoutError: no answer in {m} s'


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a made-up chat."""

    speaker: str
    role: str
    text: str


class Writer:
    """Draws sentences and chats; the same seed gives the same ones."""

    def __init__(self, seed: int = 1) -> None:
        """Begin anew with a seed."""
        self._random = random.Random(seed)
        self._projects = [self._project()]

    def sentence(self, kind: str) -> str:
        """Draw a sentence of one kind."""
        return self._fill(self._random.choice(_SAID[kind]))

    def statement(self) -> str:
        """Draw a sentence that is worth remembering, about any project."""
        self._projects = [self._project()]
        return self.sentence(self._random.choice(("fact", "fact", "decision", "preference", "failure", "temporary")))

    def chat(self, length: int) -> list[Said]:
        """Draw a chat of so many messages among one person and some agents, about two projects."""
        self._projects = [self._project(), self._project()]
        person = self._random.choice(_PEOPLE)
        agents = self._random.sample(_AGENTS, 3)
        return [self._message(person, agents, place) for place in range(length)]

    def _message(self, person: str, agents: list[str], place: int) -> Said:
        if place % 4 == 0:
            return Said(person, "user", self._prose(1, 3))
        if self._random.random() < 0.06:
            return Said("executor", "tool", f"exitcode: 1 (execution failed)\nCode output: {self._fill(_TRACE)}")
        text = self._prose(1, 4)
        if self._random.random() < 0.15:
            text += "\n\n" + "\n".join(f"- {self.sentence('fact')}" for _ in range(self._random.randint(2, 4)))
        if self._random.random() < 0.08:
            text += "\n\n" + self._fill(_CODE)
        return Said(self._random.choice(agents), "assistant", text)

    def _prose(self, least: int, most: int) -> str:
        return " ".join(self.sentence(self._random.choice(_MIX)) for _ in range(self._random.randint(least, most)))

    def _project(self) -> str:
        return f"the {self._random.choice(_FIELDS)} {self._random.choice(_KINDS)}"

    def _fill(self, template: str) -> str:
        words = {name: self._random.choice(words) for name, words in _WORDS.items()}
        words |= {
            "n": str(self._random.randint(12, 9_800)),
            "m": str(self._random.randint(2, 59)),
            "person": self._random.choice(_PEOPLE),
            "thing": self._random.choice(self._projects),
        }
        words["failure"] = words["failure"].format(**words)
        words["Thing"] = words["thing"][0].upper() + words["thing"][1:]
        filled = template.format(**words)
        return filled[0].upper() + filled[1:]


def lengths(messages: int, files: int, seed: int = 1) -> list[int]:
    """Part messages into so many chats of uneven length."""
    drawn = random.Random(seed)
    parts = [1] * files
    for _ in range(messages - files):
        parts[drawn.randrange(files)] += 1
    return parts


def write_folder(folder: Path, messages: int, files: int, seed: int = 1) -> None:
    """Write chats of ``messages`` messages in all into ``files`` files of AutoGen's classic form, three hours apart."""
    writer = Writer(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for number, length in enumerate(lengths(messages, files, seed)):
        path = folder / f"chat-{number:06d}.json"
        chat = [{"name": said.speaker, "role": said.role, "content": said.text} for said in writer.chat(length)]
        path.write_text(json.dumps(chat, indent=1), encoding="utf-8")
        saved = (START + timedelta(hours=3 * number)).timestamp()
        os.utime(path, (saved, saved))
