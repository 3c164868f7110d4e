"""The cache of answers: asked once, for good, and never mistaken for another question's."""

import multiprocessing

import numpy as np
import pytest

from itersel.base.errors import InputError
from itersel.response.cache import AnswerCache, CachedResponse


class Counting:
    def __init__(self, checksum="one"):
        self.checksum, self.asked = checksum, []

    def __call__(self, sentence_id, hypotheses):
        self.asked += [(sentence_id, text) for text in hypotheses]
        return ["yes" in text for text in hypotheses]


def test_nothing_is_asked_twice(tmp_path):
    place = tmp_path / "answers.sqlite"
    first = Counting()
    cached = CachedResponse(first, place)
    assert cached("1", ["yes", "no", "yes"]) == [True, False, True]
    assert cached("1", ["no", "yes"]) == [False, True]
    assert first.asked == [("1", "yes"), ("1", "no")]
    again = Counting()
    assert CachedResponse(again, place)("1", ["no", "yes"]) == [False, True]
    assert again.asked == []


def test_other_sentences_texts_and_responses_are_other_questions(tmp_path):
    place = tmp_path / "answers.sqlite"
    CachedResponse(Counting(), place)("1", ["2 yes"])
    for checksum, sentence, text in [
        ("one", "12", " yes"),
        ("two", "1", "2 yes"),
        ("one", "1", "2 yes "),
        ("on", "e1", "2 yes"),
    ]:
        response = Counting(checksum)
        CachedResponse(response, place)(sentence, [text])
        assert response.asked == [(sentence, text)]
    assert len(AnswerCache(place)) == 5


def test_without_a_file_answers_are_kept_in_memory(tmp_path):
    for place in (None, tmp_path / "nowhere" / "answers.sqlite"):
        response = Counting()
        cached = CachedResponse(response, place)
        assert cached("1", ["yes"]) == cached("1", ["yes"]) == [True]
        assert len(response.asked) == 1


def _fill(place, number):
    cached = CachedResponse(Counting(), place)
    for k in range(50):
        cached(str(number), [f"{k} yes"])


def test_processes_share_the_file(tmp_path):
    place = tmp_path / "answers.sqlite"
    AnswerCache(place).put({b"before": True})
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_fill, args=(place, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(AnswerCache(place)) == 151


def test_a_file_that_is_none_is_an_error(tmp_path):
    (tmp_path / "answers.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match="cache of answers"):
        CachedResponse(Counting(), tmp_path / "answers.sqlite")("1", ["x"])


@pytest.mark.parametrize("given", [None, True, [], [True], [True, None], ["yes", "no"], [1.0, 0.0]], ids=str)
def test_an_object_that_answers_nonsense_is_no_no(tmp_path, given):
    def response(sentence_id, hypotheses):
        return given

    response.checksum = "x"
    with pytest.raises(InputError, match=r"on sentence 7, hypotheses \['a', 'b'\]"):
        CachedResponse(response, tmp_path / "answers.sqlite")("7", ["a", "b"])
    assert len(AnswerCache(tmp_path / "answers.sqlite")) == 0


def test_an_array_of_answers():
    def response(sentence_id, hypotheses):
        return np.array([len(text) > 1 for text in hypotheses])

    response.checksum = "x"
    assert CachedResponse(response)("7", ["a", "bb"]) == [False, True]


def test_a_bare_answer_is_refused_for_one_hypothesis_too():
    def response(sentence_id, hypotheses):
        return True

    response.checksum = "x"
    with pytest.raises(InputError, match="the response answered True on sentence 7"):
        CachedResponse(response)("7", ["a"])
