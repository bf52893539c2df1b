"""Turns are found by words, by meaning, by who speaks and by what stands around them."""

import numpy as np

from memctl.rules.deep import Turn, score_turns
from memctl.rules.terms import analyse, query_terms


def turn(text, speaker="Ana", chat="a", vector=None):
    return Turn(chat, speaker, text, analyse(text), None if vector is None else np.array(vector, dtype=np.float32))


FILLER = [turn(f"We talked about the weather, take {n}", chat="z") for n in range(8)]


def best(turns, query, vector=None):
    scores = score_turns(turns, query_terms(query), None if vector is None else np.array(vector, dtype=np.float32))
    return turns[int(np.argmax(scores))].text


def test_no_turns_have_no_scores():
    assert len(score_turns([], ["x"], None)) == 0


def test_words_find_a_turn_without_vectors():
    wanted = turn("The pottery class starts on Monday")
    assert best([*FILLER, wanted], "when does pottery start") == wanted.text


def test_meaning_finds_a_turn_without_common_words():
    wanted = turn("I adopted a beagle", vector=[1, 0])
    others = [turn("Rain again tomorrow", vector=[0, 1]) for _ in range(5)]
    assert best([*others, wanted], "which pet", [1, 0]) == wanted.text


def test_who_is_named_by_the_question_is_preferred():
    mine, yours = turn("I started painting last year", "Ben", "a"), turn("I started painting last year too", "Ana", "b")
    assert best([*FILLER, mine, yours], "when did Ana start painting") == yours.text


def test_the_answer_to_a_matching_question_beats_the_question():
    asked, answer = (
        turn("How was the marathon in Oslo?", "Ben"),
        turn("Wet and windy, but I finished in four hours", "Ana"),
    )
    scores = score_turns([*FILLER, asked, answer], query_terms("marathon Oslo"), None)
    assert scores[-1] > max(scores[: len(FILLER)])


def test_neighbours_in_another_chat_do_not_help():
    match = turn("The marathon in Oslo was wet", chat="a")
    same, other = turn("Indeed it really was", chat="a"), turn("Indeed it really was", chat="b")
    scores = score_turns([match, same, other], query_terms("marathon Oslo"), None)
    assert scores[1] > scores[2]


def test_the_same_turns_have_the_same_scores():
    turns = [*FILLER, turn("Oslo marathon", vector=None)]
    first, again = (score_turns(turns, query_terms("Oslo"), None) for _ in range(2))
    assert first.tolist() == again.tolist()
