"""Fuzz: whatever a file became, reading and cleaning it gives messages or one foreseen error."""

import json
from contextlib import suppress
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from memctl.errors import MemctlError
from memctl.extraction.clean import CleaningRules, clean
from memctl.transcripts import FORMATS, companions_of, read
from tests.hard.fuzzkit import broken_bytes, broken_values, corpus, dumped, fuzz, guarded

RULES = CleaningRules()


@cache
def values() -> tuple[tuple[str, object], ...]:
    """Give the files of the corpus that are JSON, or lines of it, as values."""
    found: list[tuple[str, object]] = []
    for path, data in corpus():
        with suppress(ValueError):
            found.append((path, json.loads(data)))
            continue
        with suppress(ValueError):
            found.append((path, [json.loads(line) for line in data.splitlines() if line.startswith(b"{")]))
    return tuple((path, value) for path, value in found if value)


def digest(path: str, data: bytes, name: str | None = None) -> None:
    """Read and clean a file as ingest does; what comes out must be fit to be stored."""
    try:
        transcripts = read(path, data, format=name, companions=companions_of(path))
    except MemctlError as error:
        transcripts, refusal = [], str(error)
    else:
        refusal = ""
    assert "\n" not in refusal
    refusal.encode()
    for transcript in transcripts:
        for message in clean(transcript, RULES).transcript.messages:
            f"{message.speaker} {message.text} {message.tool_calls} {message.tool_results}".encode()


@fuzz(0.35)
@given(broken_bytes())
def test_a_broken_file_is_read_or_refused(file):
    with guarded():
        digest(*file)


@fuzz(0.2)
@given(st.data())
def test_a_file_with_odd_values_is_read_or_refused(data):
    path, value = data.draw(st.sampled_from(values()))
    changed = data.draw(broken_values(value))
    if data.draw(st.booleans()):
        changed = data.draw(broken_values(changed))
    written = dumped(changed)
    if isinstance(changed, list) and data.draw(st.booleans()):
        written = "\n".join(map(dumped, changed))
    with guarded():
        digest(path, written.encode("utf-8", "surrogateescape"))


@fuzz(0.05)
@given(broken_bytes(), st.sampled_from(FORMATS))
def test_a_file_read_as_a_format_that_it_is_not_is_read_or_refused(file, name):
    with guarded():
        digest(*file, name)
