"""Credentials go, everything else stays."""

import string
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.errors import UsageProblem
from memctl.extraction.redact import RedactionRules, own_patterns, redact, repeated

CASES = tomllib.loads(Path(__file__).with_name("redact_cases.toml").read_text(encoding="utf-8").replace("§", ""))


@pytest.mark.parametrize(("text", "secret", "kind"), CASES["secret"])
def test_a_credential_is_replaced_by_its_kind(text: str, secret: str, kind: str) -> None:
    result = redact(text)
    assert secret not in result.text
    assert f"[redacted: {kind}]" in result.text
    assert result.found[kind] >= 1


@pytest.mark.parametrize("text", CASES["plain"])
def test_a_text_without_credentials_stays_as_it_is(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("text", [row[0] for row in CASES["secret"]] + CASES["plain"])
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


def test_what_surrounds_a_credential_is_kept() -> None:
    text = "DATABASE_URL=postgresql://auth:Wh0use-Rabbit-91x@db.example:5432/auth"
    assert redact(text).text == "DATABASE_URL=postgresql://auth:[redacted: password]@db.example:5432/auth"


def test_addresses_and_phone_numbers_stay_unless_asked_for() -> None:
    text = "Write to anna@example.com or call +49 30 1234567."
    assert redact(text).text == text
    hidden = redact(text, RedactionRules(emails=True, phones=True))
    assert hidden.text == "Write to [redacted: email] or call [redacted: phone]."
    assert dict(hidden.found) == {"email": 1, "phone": 1}


@pytest.mark.parametrize(
    "text",
    ["+1 415 555 2671", "(030) 123 4567", "415-555-2671", "+34 91 123 45 67", "0171 2345678", "+86 138 0013 8000"],
)
def test_common_ways_to_write_a_phone_number_are_known(text: str) -> None:
    assert redact(f"call {text} now", RedactionRules(phones=True)).text == "call [redacted: phone] now"


@pytest.mark.parametrize(
    "text", ["2026-05-04", "10.41.0.7", "1,480 ms", "17:30 to 18:15", "version 1.2.3", "row 8000 of 120000"]
)
def test_other_numbers_are_no_phone_numbers(text: str) -> None:
    assert redact(text, RedactionRules(phones=True)).text == text


def test_own_patterns_name_their_kind() -> None:
    rules = RedactionRules(patterns=own_patterns(["badge=B-\\d{4}", "Projekt \\w+"]))
    assert redact("B-1234 works on Projekt Falke", rules).text == "[redacted: badge] works on [redacted: own-pattern]"


def test_a_pattern_that_is_no_expression_is_refused() -> None:
    with pytest.raises(UsageProblem, match="no regular expression"):
        own_patterns(["badge=("])


def test_a_secret_is_found_again_where_it_stands_bare_but_a_common_word_is_not() -> None:
    found = redact("postgres://app:postgres@db/x and redis://:Otter22lake@cache").values
    again = repeated(found)
    assert again is not None
    assert again.search("log in with Otter22lake")
    assert not again.search("we run postgres 16")


@given(st.text(alphabet=string.ascii_letters + string.digits + " :=@/._-+\n\"'[]{}", max_size=120))
def test_redaction_is_idempotent_on_any_text(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(
    st.sampled_from(["password: ", "DB_PASS=", "token=", "the password is ", "Bearer ", "://u:"]),
    st.text(alphabet=string.ascii_letters + string.digits + "!@-_ \"'", max_size=30),
)
def test_redaction_is_idempotent_behind_a_telling_word(lead: str, rest: str) -> None:
    once = redact(lead + rest + "@host").text
    assert redact(once).text == once


def test_the_detector_library_is_not_loaded_for_texts_that_do_not_need_it() -> None:
    code = (
        "import sys; from memctl.extraction.redact import redact; redact('We chose Postgres.');"
        "print('detect_secrets' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert answer.strip() == "False"
