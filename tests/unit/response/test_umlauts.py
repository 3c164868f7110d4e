"""Umlauts restored by word counts: two ways of leaving them out, and words that must stay."""

from itersel.response.geoquery.umlauts import Spelling, restore_umlauts, word_counts

COUNTS = word_counts(
    f"{word} " * count
    for word, count in {
        "städte": 50,
        "höchsten": 20,
        "flüsse": 5,
        "größte": 9,
        "grosste": 1,
        "staaten": 40,
        "neue": 30,
        "könnte": 9,
        "konnte": 3,
        "dass": 5,
        "daß": 1,
        "über": 30,
    }.items()
)


def test_both_ways_of_leaving_them_out():
    assert restore_umlauts("die stadte und hoechsten fluesse", COUNTS) == "die städte und höchsten flüsse"
    assert restore_umlauts("groesste uber", COUNTS) == "größte über"


def test_words_that_stay():
    """Names and words that are not in the text, frequent words, and those of which both forms are German."""
    assert restore_umlauts("mississippi staaten neue dass konnte", COUNTS) == "mississippi staaten neue dass konnte"


def test_a_very_long_word_ends_in_bounded_time():
    assert restore_umlauts("ue" * 5000, {}) == "ue" * 5000


def test_unknown_words_by_their_letters():
    """`hoechst` is unknown, `höch` is not; `oe` stays where no word has an umlaut, and so does a name."""
    spelling = Spelling(["die höchsten höchste neue größte"])
    assert spelling.restored("hoechstgelegene") == "höchstgelegene"
    assert spelling.restored("hoechsten") == "höchsten"
    assert spelling.restored("phoenix") == "phoenix"
    assert spelling.restored("neue") == "neue"
