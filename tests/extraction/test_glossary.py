"""Languages are told apart, and their conversational words put into English."""

import pytest

from memctl.extraction.glossary import gloss, language


@pytest.mark.parametrize(
    ("text", "tongue"),
    [
        ("We keep the old one and that is it.", "en"),
        ("Wir haben das nicht für den Kunden gemacht.", "de"),
        ("Usamos Redis para las sesiones hasta el viernes.", "es"),
        ("On ne garde pas les fichiers dans le dossier.", "fr"),
        ("Não vamos usar o sistema com a equipe.", "pt"),
        ("我们决定用PostgreSQL。", "zh"),
        ("PostgreSQL 16", "en"),
        ("", "en"),
    ],
)
def test_a_language_is_known_by_its_commonest_words(text, tongue):
    assert language(text) == tongue


def test_words_are_put_into_english_and_names_stay():
    assert gloss("Wir haben uns für Kafka entschieden.", "de") == "we have us for Kafka decided."
    assert "decided" in gloss("我们决定用Kafka", "zh")
    assert gloss("We use Kafka.", "en") == "We use Kafka."


def test_chinese_in_an_english_message_is_read_as_well():
    assert "failed" in gloss("The note says 失败 again", "en")
