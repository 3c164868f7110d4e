"""The decoder against the enumeration of all derivations, and its edge cases."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import kenlm
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from examples import examples
from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import MAX_WORDS, Decoder, DecoderConfig, Hypothesis
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import GROUPS, Weights
from oracles import derivations as oracle
from oracles.random_arpa import write_random_arpa

SOURCE_WORDS = ("a", "b", "c")
TARGET_WORDS = ("x", "y", "z", "a")  # a copied word may be known to the model
LABELS = ("X", "S", "A", "B")
ALL = 100_000  # more than any sentence here has derivations
EXACT, SINGLE = 1e-9, 1e-5  # the language model's figures are in single precision
BORDERS = {"LanguageModel", "WordPenalty"}  # follow from the string; not exact sums


@dataclass(frozen=True)
class Models:
    kernel: LanguageModel
    oracle: oracle.LanguageModel


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Models]:
    """Random models of orders 2 to 4 over the target words; `z` is unknown to every other one."""
    made = []
    for seed in range(9):
        path = tmp_path_factory.mktemp("lm") / "random.arpa"
        words = TARGET_WORDS if seed % 2 else [word for word in TARGET_WORDS if word != "z"]
        write_random_arpa(path, 2 + seed % 3, words, seed)
        made.append(Models(LanguageModel(path), oracle.LanguageModel(kenlm.Model(str(path)))))
    return made


@st.composite
def rules(draw: st.DrawFn) -> str:
    """A rule with up to two non-terminals, in any order on the target side, which may have no words at all."""
    arity = draw(st.sampled_from((0, 0, 0, 1, 1, 2)))
    words = draw(st.lists(st.sampled_from(SOURCE_WORDS), min_size=0 if arity else 1, max_size=2))
    gaps = [f"[{draw(st.sampled_from(LABELS))},{index}]" for index in range(1, arity + 1)]
    source = draw(st.permutations([*words, *gaps]))
    short = st.booleans() if arity else st.just(False)
    partners = [f"[{gap[1:-1].split(',')[1]}]" if draw(short) else gap for gap in gaps]
    target = draw(st.permutations([*draw(st.lists(st.sampled_from(TARGET_WORDS), max_size=2)), *partners]))
    values = draw(st.dictionaries(st.sampled_from(("f", "g", "h")), st.integers(-8, 8), max_size=2))
    features = " ".join(f"{name}={value / 4}" for name, value in values.items())
    label = draw(st.sampled_from(("X", "X", "X", "S", "A", "B")))
    return f"[{label}] ||| {' '.join(source)} ||| {' '.join(target)} ||| {features}"


@st.composite
def unary_rules(draw: st.DrawFn) -> str:
    labels = st.sampled_from(LABELS)
    word = draw(st.sampled_from(("", "y")))
    return f"[{draw(labels)}] ||| [{draw(labels)},1] ||| {word} [1] ||| u={draw(st.integers(-4, 4)) / 4}"


grammars = st.builds(
    lambda first, second, repeated: first + second + first[:repeated],
    st.lists(rules(), min_size=1, max_size=9),
    st.lists(unary_rules(), max_size=3),
    st.integers(0, 1),
)
sentences = st.lists(st.sampled_from((*SOURCE_WORDS, "unseen")), min_size=1, max_size=5).map(" ".join)


def matching_rules(source: random.Random, words: list[str]) -> list[str]:
    """One to three rules over one source side, which is a piece of the sentence with up to two gaps in it."""
    begin = source.randrange(len(words))
    end = min(len(words), begin + source.choice((1, 1, 1, 2, 2, 3, 4)))
    symbols, gaps, at = [], 0, begin
    while at < end:
        width = source.randint(1, end - at)
        if gaps < 2 and width < end - begin and source.random() < 0.5:
            gaps += 1
            symbols.append(f"[{source.choice('XXXXSAB')},{gaps}]")
            at += width
        else:
            symbols.append(words[at])
            at += 1
    made = []
    for _ in range(source.randint(1, 3)):
        target = source.choices(TARGET_WORDS, k=source.choice((0, 1, 1, 1, 2)))
        target += [symbol for symbol in symbols if symbol.startswith("[")]
        source.shuffle(target)
        label, values = source.choice("XXXXSAB"), f"f={source.randint(-8, 8) / 4} g={source.randint(-8, 8) / 4}"
        made.append(f"[{label}] ||| {' '.join(symbols)} ||| {' '.join(target)} ||| {values}")
    return made


@st.composite
def ambiguous(draw: st.DrawFn) -> tuple[list[str], str]:
    """A grammar and a sentence with many derivations: every rule matches somewhere, unary rules come on top."""
    source = random.Random(draw(st.integers(0, 1 << 30)))
    words = source.choices(SOURCE_WORDS, k=draw(st.integers(1, 5)))
    lines = [line for _ in range(draw(st.integers(1, 5))) for line in matching_rules(source, words)]
    return lines + draw(st.lists(unary_rules(), max_size=2)), " ".join(words)


problems = st.one_of(ambiguous(), ambiguous(), ambiguous(), st.tuples(grammars, sentences))
group_sets = st.sampled_from([frozenset[str](), frozenset(GROUPS), frozenset({"id"}), frozenset({"ng", "shape"})])


def random_weights(found: list[oracle.Derivation], seed: int) -> dict[str, float]:
    """Weights for most of the features at hand, as eighths so that sums of scores are exact without a model."""
    source = random.Random(seed)
    names = sorted({name for derivation in found for name in derivation.features})
    return {name: source.randint(-16, 16) / 8 for name in names if source.random() < 0.8}


def key(text: str, features: Mapping[str, float]) -> tuple[str, frozenset[tuple[str, float]]]:
    return text, frozenset(item for item in features.items() if item[0] not in BORDERS)


def check_hypothesis(
    found: Hypothesis, expected: Mapping[str, float], weights: Mapping[str, float], near: float
) -> None:
    assert found.features == pytest.approx(dict(expected), abs=near)
    product = sum(weights.get(name, 0.0) * value for name, value in found.features.items())
    assert found.score == pytest.approx(product, abs=near)


@settings(max_examples=examples(600), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_oracle_finds_the_same(models: list[Models], data: st.DataObject) -> None:
    lines, sentence = data.draw(problems, label="grammar and sentence")
    groups = data.draw(group_sets, label="groups")
    options = DecoderConfig(
        span_limit=data.draw(st.sampled_from((0, 1, 2, 3, 15)), label="span_limit"),
        pop_limit=0,
        pass_through=data.draw(st.sampled_from(("unknown", "all")), label="pass_through"),
    )
    model = data.draw(st.sampled_from([None, *models]), label="model")
    goal, nonterminal = data.draw(st.sampled_from((("S", "X"), ("S", "X"), ("X", "S"), ("A", "X"))), label="goal")
    enumerator = oracle.Enumerator(
        lines, sentence, options.span_limit, options.pass_through, groups, goal, nonterminal, limit=1_500
    )
    try:
        expected = oracle.derivations(enumerator, model and model.oracle)
    except oracle.TooManyError:
        assume(False)
    weights = random_weights(expected, data.draw(st.integers(0, 1 << 30), label="weights"))
    expected.sort(key=lambda derivation: -derivation.score(weights))
    scores = [derivation.score(weights) for derivation in expected]
    near = SINGLE if model else EXACT

    grammar = Grammar("\n".join(lines).encode(), groups=groups, goal=goal, nonterminal=nonterminal)
    decoder = Decoder(Weights(weights), model and model.kernel, options)

    # All derivations, each as often as it can be built.
    found = decoder.kbest(sentence, grammar, ALL, unique=False)
    assert [one.score for one in found] == pytest.approx(scores, abs=near)
    by_key = {key(one.text, one.features): one.features for one in expected}
    counted = Counter(key(one.text, one.features) for one in expected)
    assert Counter(key(one.text, one.features) for one in found) == counted
    for one in found:
        check_hypothesis(one, by_key[key(one.text, one.features)], weights, near)

    # Fewer of them: the same scores, and derivations that exist.
    k = data.draw(st.integers(1, len(expected)), label="k")
    few = decoder.kbest(sentence, grammar, k, unique=False)
    assert [one.score for one in few] == pytest.approx(scores[:k], abs=near)
    assert Counter(key(one.text, one.features) for one in few) <= counted

    # One for each string, its best.
    best: dict[str, float] = {}
    for one, score in zip(expected, scores, strict=True):
        best.setdefault(one.text, score)
    for count in (k, ALL):
        unique = decoder.kbest(sentence, grammar, count, unique=True)
        assert [one.score for one in unique] == pytest.approx(list(best.values())[:count], abs=near)
        assert len({one.text for one in unique}) == len(unique)
        for one in unique:
            assert one.score == pytest.approx(best[one.text], abs=near)
            check_hypothesis(one, by_key[key(one.text, one.features)], weights, near)

    # The best alone.
    ties = {one.text for one, score in zip(expected, scores, strict=True) if score >= scores[0] - near}
    assert decoder.translate(sentence, grammar) in ties


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems, pop_limit=st.integers(1, 4), seed=st.integers(0, 1000))
def test_pruning_keeps_to_the_derivations(
    models: list[Models], problem: tuple[list[str], str], pop_limit: int, seed: int
) -> None:
    """Whatever the pop limit drops, what is left is a derivation with its true score, and something is left."""
    model = models[seed % len(models)]
    lines, sentence = problem
    try:
        expected = oracle.derivations(oracle.Enumerator(lines, sentence), model.oracle)
    except oracle.TooManyError:
        assume(False)
    weights = random_weights(expected, seed)
    counted = Counter(key(one.text, one.features) for one in expected)
    decoder = Decoder(Weights(weights), model.kernel, DecoderConfig(pop_limit=pop_limit))
    found = decoder.kbest(sentence, Grammar("\n".join(lines).encode()), ALL, unique=False)
    assert found
    assert Counter(key(one.text, one.features) for one in found) <= counted
    by_key = {key(one.text, one.features): one.features for one in expected}
    for one in found:
        check_hypothesis(one, by_key[key(one.text, one.features)], weights, SINGLE)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_narrow_search_finds_the_tail_that_suits(tmp_path: Path) -> None:
    """Two combinations per span: the best tail of `b` is t1, but after w only t2 beats the phrases of `a b`."""
    unigrams = "".join(f"-1\t{word}\t0\n" for word in ("<unk>", "<s>", "w", "t1", "t2", "p1", "p2"))
    counts = "ngram 1=8\nngram 2=1\n"
    text = f"\\data\\\n{counts}\n\\1-grams:\n{unigrams}-1\t</s>\n\n\\2-grams:\n-0.01\tw t2\n\n\\end\\\n"
    (tmp_path / "lm.arpa").write_text(text)
    grammar = Grammar(
        b"[X] ||| a [X,1] ||| w [X,1] ||| f=0\n[X] ||| b ||| t1 ||| f=0\n[X] ||| b ||| t2 ||| f=-0.3\n"
        b"[X] ||| a b ||| p1 ||| f=-0.5\n[X] ||| a b ||| p2 ||| f=-0.6\n"
    )
    weights = Weights({"f": 1.0, "LanguageModel": 1.0, "PassThrough": -10.0, "Glue": -10.0})
    (best,) = Decoder(weights, LanguageModel(tmp_path / "lm.arpa"), DecoderConfig(pop_limit=2)).kbest("a b", grammar, 1)
    assert best.text == "w t2"
    # f, then log10 p(w | <s>), p(t2 | w) and p(</s> | t2). Nothing is joined, so Glue is 0.
    assert best.score == pytest.approx(-0.3 - 1 - 0.01 - 1, abs=1e-5)


def test_all_derivations_of_a_string_have_its_model_score(models: list[Models]) -> None:
    """Twenty-one words with many splits each: scores follow from the string, however often it was put together."""
    pairs = {"a": "x", "b": "y", "c": "z"}
    rules = [f"{word} ||| {target}" for word, target in pairs.items()] + ["a b ||| x y", "b c ||| y z", "c a ||| x z"]
    rules += [f"{word} [X,1] ||| {target} [X,1]" for word, target in pairs.items()]
    rules += [f"[X,1] {word} [X,2] ||| [X,1] {target} [X,2]" for word, target in pairs.items()]
    grammar = Grammar("".join(f"[X] ||| {rule} ||| f=0.1\n" for rule in rules).encode())
    weights = Weights({"f": -1.0, "LanguageModel": 0.3, "PassThrough": -9.0})
    for model in models:
        decoder = Decoder(weights, model.kernel, DecoderConfig(pop_limit=30))
        found = decoder.kbest("a b c " * 7, grammar, 300, unique=False)
        assert len({one.text for one in found}) < len(found) == 300
        for one in found:
            assert one.features["LanguageModel"] == pytest.approx(model.kernel.score(one.text), abs=SINGLE)


def test_several_threads_at_once(models: list[Models]) -> None:
    """One decoder and two grammars shared by many threads: every answer is what one thread alone gets."""
    source = random.Random(1)
    lines = [f"[X] ||| {word} ||| {target} ||| f={source.random()}" for word in "abc" for target in TARGET_WORDS]
    lines += [
        "[X] ||| [X,1] b [X,2] ||| [2] y [1] ||| f=0.3",
        "[A] ||| a [X,1] ||| [1] x ||| f=1",
        "[X] ||| [A,1] ||| [1]",
    ]
    both = [Grammar("\n".join(lines).encode(), groups=GROUPS), Grammar("\n".join(lines[3:]).encode())]
    decoder = Decoder(Weights({"f": 0.5, "LanguageModel": 1, "WordPenalty": -1, "Glue": 0.1}), models[3].kernel)
    work = [(" ".join(source.choices("abcd", k=source.randint(1, 12))), both[at % 2]) for at in range(120)]

    def decode(item: tuple[str, Grammar]) -> tuple[str, list[Hypothesis]]:
        return decoder.translate(*item), decoder.kbest(*item, k=20)

    alone = [decode(item) for item in work]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(decode, work)) == alone


def kbest(grammar: str, sentence: str, k: int = ALL, **options: object) -> list[Hypothesis]:
    decoder = Decoder(Weights({"f": 1.0}), None, DecoderConfig(**{"pop_limit": 0, **options}))  # type: ignore[arg-type]
    return decoder.kbest(sentence, Grammar(grammar.encode()), k, unique=False)


@pytest.mark.parametrize("line", ["", "   ", "\t \r\n"])
def test_an_empty_line(models: list[Models], line: str) -> None:
    decoder = Decoder(Weights(), models[0].kernel)
    grammar = Grammar(b"[X] ||| a ||| b")
    assert decoder.translate(line, grammar) == ""
    assert decoder.kbest(line, grammar) == [Hypothesis("", 0.0, {})]


@pytest.mark.parametrize("text", [b"", b"\n\n", b"[NP] ||| a ||| b", b"[X] ||| z ||| z"])
def test_only_unknown_words(text: bytes) -> None:
    decoder = Decoder(Weights({"PassThrough": -1}))
    [found] = decoder.kbest("ein ὁδός 一\n", Grammar(text))
    assert found.text == "ein ὁδός 一"
    assert found.score == -3
    assert found.features == pytest.approx({"PassThrough": 3, "Glue": 2, "WordPenalty": 3 * oracle.WORD_PENALTY})


def test_no_break_space_is_part_of_a_word() -> None:
    assert Decoder(Weights()).translate("a\u00a0b  c", Grammar(b"")) == "a\u00a0b c"


def test_a_grammar_without_the_default_label() -> None:
    grammar = "[S] ||| a [NP,1] ||| [1] x ||| f=1\n[NP] ||| b ||| y"
    # b has a translation, as NP, so it is not copied
    assert [(one.text, one.features.get("Glue", 0)) for one in kbest(grammar, "a b")] == [("y x", 0)]
    # … except where nothing else leads to a translation, or copies are wanted.
    assert [one.text for one in kbest(grammar, "b a")] == ["b a"]
    decoder = Decoder(Weights({"f": 1.0}), options=DecoderConfig(pass_through="all"))
    assert [one.text for one in decoder.kbest("a b", Grammar(grammar))] == ["y x", "a b"]


def test_goal_rules_of_a_grammar_span_long_sentences() -> None:
    """As glue rules do, whatever the span limit; other labels keep to it."""
    grammar = "[S] ||| [S,1] [N,2] ||| [2] [1]\n[S] ||| [N,1] ||| [1]\n[N] ||| a ||| x\n[N] ||| b ||| y"
    for decoder in (Decoder(Weights(), options=DecoderConfig(span_limit=3)), Decoder(Weights())):
        assert decoder.translate("a b a a b b a b", Grammar(grammar)) == "y x y y x x y x"


def test_labels_nobody_uses() -> None:
    found = kbest("[X] ||| a ||| x ||| f=1\n[Q] ||| [R,1] a ||| [1]\n[T] ||| [U,1] ||| [1] t", "a")
    assert [one.text for one in found] == ["x"]


def test_a_rule_given_twice_counts_twice() -> None:
    assert [one.score for one in kbest("[X] ||| a ||| x ||| f=1\n[X] ||| a ||| x ||| f=1", "a")] == [1, 1]


def test_span_limit() -> None:
    """A rule spans at most so many words; glue is exempt."""
    grammar = "[X] ||| a [X,1] c ||| x [1] z ||| f=1"
    assert {one.text for one in kbest(grammar, "a b c", span_limit=2)} == {"a b c"}
    assert {one.text for one in kbest(grammar, "a b c", span_limit=3)} == {"x b z", "a b c"}
    assert {one.text for one in kbest(grammar, "b a b c", span_limit=3)} == {"b x b z", "b a b c"}
    assert {one.text for one in kbest("[X] ||| a a a ||| x", "a a a", span_limit=0)} == {"x", "a a a"}


def test_the_goal_needs_no_rule_against_a_cycle() -> None:
    """A → X, X → S and the glue rule S → X: the glue rule is the one that must apply."""
    found = kbest("[A] ||| [X,1] ||| [1]\n[X] ||| [S,1] ||| [1]", "a b")
    assert {one.text for one in found} == {"a b"}
    grammar = Grammar(b"[X] ||| [Z,1] ||| [1]", goal="Z")
    assert Decoder(Weights()).translate("a b", grammar) == "a b"


def test_goal_and_non_terminal_may_be_one() -> None:
    grammar = Grammar(b"[X] ||| a ||| x", goal="X")
    assert Decoder(Weights()).translate("a b a", grammar) == "x b x"


@pytest.mark.parametrize("weight", [1e308, -1e308])
def test_scores_that_overflow_do_no_harm(models: list[Models], weight: float) -> None:
    """Such scores are infinite or not numbers; the words still come from the grammar."""
    lines = [
        f"[X] ||| {word} ||| {target} ||| f={value}" for word in "ab" for target in "xyz" for value in (9, -9, 1e30)
    ]
    weights = Weights({"f": weight, "WordPenalty": -weight, "LanguageModel": weight})
    decoder = Decoder(weights, models[0].kernel, DecoderConfig(pop_limit=50))
    for one in decoder.kbest("a b a b a b", Grammar("\n".join(lines).encode()), 500, unique=False):
        assert set(one.text.split()) <= set("xyz")


def test_a_long_sentence(models: list[Models]) -> None:
    line = " ".join(random.Random(0).choices("abcd", k=3_000))
    grammar = Grammar(b"[X] ||| a ||| x ||| f=1\n[X] ||| a ||| y\n[X] ||| b [X,1] ||| [1] z ||| f=0.5")
    decoder = Decoder(Weights({"f": 1, "LanguageModel": 0.1}), models[0].kernel, DecoderConfig(pop_limit=20))
    found = decoder.kbest(line, grammar, 10)
    assert len(found) == 10
    assert found[0].text == decoder.translate(line, grammar)
    assert len(found[0].text.split()) == 3_000


@pytest.mark.parametrize("span_limit", [1, 3])
def test_the_longest_sentence(span_limit: int) -> None:
    """The derivation is 32,000 glue rules deep: nothing here may recurse."""
    grammar = Grammar(b"[X] ||| a ||| x ||| f=1\n[X] ||| a ||| y ||| f=0.5\n[X] ||| a [X,1] ||| [1] z", groups=["id"])
    decoder = Decoder(Weights({"f": 1}), None, DecoderConfig(span_limit=span_limit))
    found = decoder.kbest("a " * MAX_WORDS, grammar, 10)
    assert [one.score for one in found] == [MAX_WORDS] + [MAX_WORDS - 0.5] * 9
    assert found[0].features["R:X:a:x"] == MAX_WORDS
    assert found[0].features["Glue"] == MAX_WORDS - 1


def test_one_word_too_many() -> None:
    decoder = Decoder(Weights())
    for decode in (decoder.translate, decoder.kbest):
        with pytest.raises(InputError, match="32001 words; at most 32,000"):
            decode("a " * (MAX_WORDS + 1), Grammar(b""))


def test_impossible_options() -> None:
    for options in ({"span_limit": -1}, {"pop_limit": -1}, {"pass_through": "some"}):
        with pytest.raises(ConfigError, match=next(iter(options))):
            DecoderConfig(**options)  # type: ignore[arg-type]
    for k in (0, -1):
        with pytest.raises(ConfigError, match=f"k is {k}"):
            Decoder(Weights()).kbest("a", Grammar(b""), k)


def test_memory_does_not_grow(models: list[Models]) -> None:
    """Grammars, decoders and k-best lists give back what they took; the first rounds warm the pools up."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("no /proc on this system")
    lines = [f"[X] ||| {word} ||| {a} {b} ||| f=1" for word in "abc" for a in TARGET_WORDS for b in TARGET_WORDS]
    text = "\n".join([*lines * 20, "[X] ||| [X,1] b [X,2] ||| [2] y [1]"]).encode()

    def resident() -> int:
        return int(statm.read_text().split()[1]) * 4096

    def work() -> None:
        decoder = Decoder(Weights({"f": 1, "LanguageModel": 1}), models[1].kernel, DecoderConfig(pop_limit=30))
        decoder.kbest("a b c a b c d", Grammar(text, groups=GROUPS), 50)
        with pytest.raises(InputError):
            Grammar(text + b"\nbad")

    for _ in range(10):
        work()
    before = resident()
    for _ in range(40):
        work()
    assert resident() - before < 8 << 20
