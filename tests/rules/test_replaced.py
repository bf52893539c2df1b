"""A statement that says what it replaces is taken at its word."""

import pytest

from memctl.rules.replaced import names_what_it_replaces

CHANGES = [
    ("The session timeout is 30 seconds.", "The session timeout is 45 seconds, not 30."),
    ("We deploy the invoicing service on Railway.", "We moved the invoicing service from Railway to Fly."),
    ("Builds run on Jenkins.", "Wir bauen jetzt mit GitLab statt Jenkins."),
    ("Los pagos van con Redsys.", "Usamos Stripe en lugar de Redsys."),
    ("The cache is Redis 7.", "From now on Valkey instead of Redis 7."),
    ("日志存放在 Loki。", "日志从 Loki 改到 Elastic。"),
]
OTHERS = [
    ("We chose FastAPI instead of Flask.", "We went with FastAPI instead of Flask."),
    (
        "Karim prefers pair programming over comments.",
        "Rather than leaving comments, Karim sits down with people.",
    ),
    ("The staging database is Postgres 15.", "The production database is Postgres 16."),
    ("The team moved from Berlin to Hamburg.", "The office in Hamburg has 40 desks."),
    ("Deploys go out on Tuesdays.", "Deploys are not allowed without a review."),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_named_replacement_is_seen(old, new):
    assert names_what_it_replaces(old, new)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_other_statements_are_left_to_the_model(old, new):
    assert not names_what_it_replaces(old, new)
