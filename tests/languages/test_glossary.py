"""Languages are told apart, and their conversational words put into English."""

import pytest

from memctl.embedding.models import open_embedder
from memctl.languages import gloss, language


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


@pytest.mark.parametrize("text", ["Do no harm.", "No, do it as before.", "Moving to Los Angeles", "PDF, CSV, que"])
def test_short_english_texts_with_foreign_looking_words_stay_english(text):
    assert language(text) == "en"


def test_a_word_that_begins_like_a_listed_one_is_read_like_it():
    assert gloss("Die Lieferungen kommen später.", "de") == "the delivery come later."


def test_the_whole_word_goes_before_a_beginning_and_the_longer_beginning_before_the_shorter():
    assert gloss("fecha", "es") == "date"
    assert gloss("servidores servicios", "es") == "server service"


def test_the_bundled_model_reads_other_languages_near_their_english():
    embed = open_embedder().embed
    spanish, english, other = embed(
        [
            "Una reserva se puede cancelar gratis hasta 24 horas antes.",
            "A booking can be cancelled free of charge up to 24 hours before.",
            "The newsletter goes out on Thursdays.",
        ]
    )
    assert spanish @ english > 0.6 > spanish @ other
