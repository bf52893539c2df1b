"""Things that are told apart by a number are different things, however alike the sentences are."""

import pytest

from memctl.rules.relation import Label, Pair, Relation, corrected

SURE = Relation(Label.SUPERSEDES, 0.9, "model", (0.05, 0.05, 0.9))


@pytest.mark.parametrize("label", [Label.SUPERSEDES, Label.DUPLICATE, Label.LIKELY, Label.ALIKE])
def test_two_tickets_are_two_things(label):
    pair = Pair("Ticket 118 waits for legal", "Ticket 119 waits for legal", 0.9)
    assert corrected(pair, Relation(label, 0.9, "model", SURE.chances)).label is Label.COMPATIBLE


def test_the_same_ticket_may_change():
    pair = Pair("Ticket 118 waits for legal", "Ticket 118 is closed now", 0.9)
    assert corrected(pair, SURE).label is Label.SUPERSEDES


def test_a_value_that_changes_is_no_other_thing():
    pair = Pair("The limit is 30 seconds", "The limit is 45 seconds now", 0.9)
    assert corrected(pair, SURE).label is Label.SUPERSEDES
