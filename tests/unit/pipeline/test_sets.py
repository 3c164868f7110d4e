"""Sets of a build: several parts with domains, some sentences of each domain, and whole groups that are held out."""

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError
from itersel.cli import main
from itersel.pipeline.build import build, shards_path
from itersel.pipeline.build_config import load_config
from itersel.pipeline.set_choice import hold_out, some_of_each
from itersel.pipeline.set_config import HeldOutConfig
from itersel.shards.shard import Shard

CONFIG = """\
work: work
seed: 5
train:
  parts:
    news: {source: news.de, target: news.en, groups: news.days.gz}
    law: {source: law.de, target: law.en, groups: law.days.gz}
    more: {source: more.de, target: more.en, domains: more.label}
  unique: true
  held_out:
    devtest: {each: 2, groups: true, layout: domains}
sets:
  dev:
    parts:
      news: {source: d1.de, references: [d1.en]}
      law: {source: d2.de, references: [d2.en]}
    layout: domains
  pooled: {of: dev, each: 2}
  pooled_devtest: {of: devtest, each: 1}
align: {given: links}
lm: {order: 2, folds: 0}
shards: {features: dense, size: 100}
"""


def write(path: Path, lines: list[str]) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two parts of twelve pairs from four days each, a third with labels but without days, which repeats three pairs
    of the first; two parts of a development set."""
    links = []
    for name in ("news", "law", "more"):
        lines = [f"{name} {i} wort{i % 3}" for i in range(12)]
        if name == "more":
            lines[:3] = [f"news {i} wort{i % 3}" for i in (1, 5, 11)]
        links += ["0-0 1-1 2-2"] * len(lines)
        write(tmp_path / f"{name}.de", lines)
        write(tmp_path / f"{name}.en", [line.upper() for line in lines])
    for name, first in (("news", 1), ("law", 3)):  # the third and the fourth day of news are the first two of law
        write(tmp_path / f"{name}.days.gz", [f"day{first + i // 3}\tid{i}\tanything" for i in range(12)])
    write(tmp_path / "more.label", ["law"] * 6 + ["news"] * 6)
    write(tmp_path / "links", links)
    for name, size in (("d1", 3), ("d2", 4)):
        write(tmp_path / f"{name}.de", [f"{name} {i}" for i in range(size)])
        write(tmp_path / f"{name}.en", [f"{name.upper()} {i}" for i in range(size)])
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def text(folder: Path, name: str) -> list[str]:
    return (folder / "work" / "text" / name).read_text().splitlines()


def test_parts_are_joined_with_their_domains(folder):
    config = load_config(folder / "c.yaml")
    results = {one.name: one for one in build(config)}
    assert text(folder, "dev.source") == [f"d1 {i}" for i in range(3)] + [f"d2 {i}" for i in range(4)]
    assert text(folder, "dev.reference.0") == [line.upper() for line in text(folder, "dev.source")]
    assert text(folder, "dev.tasks") == ["news"] * 3 + ["law"] * 4
    shards = [Shard(path) for path in sorted(shards_path(config, "dev").glob("*.itsh"))]
    assert [[shard.domain(i) for i in range(len(shard))] for shard in shards] == [["law"] * 4, ["news"] * 3]
    assert len(list(shards_path(config, "pooled").glob("*.itsh"))) == 1
    assert "3 repeated" in results["prepare.train"].what
    again = {one.name: one.skipped for one in build(config)}
    assert all(again.values())


def test_some_of_the_training_text_in_shards_of_a_size(folder):
    """What grammar and language model know, as a set; its domains stay. Without labels, it has none."""
    for labelled, training in ((True, None), (False, "train={source: news.de, target: news.en}")):
        chosen = "sets={seen: {of: train, pairs: 7, size: 3}}"
        overrides = [chosen, f"work={folder / str(labelled)}", *([training] if training else [])]
        overrides += [] if labelled else [f"align.given={folder / 'links.news'}"]
        write(folder / "links.news", ["0-0 1-1 2-2"] * 12)
        config = load_config(folder / "c.yaml", [one.replace("news.", f"{folder}/news.") for one in overrides])
        list(build(config))
        texts = config.work / "text"
        train, seen = ((texts / f"{name}.source").read_text().splitlines() for name in ("train", "seen"))
        lines = [int(line) for line in (texts / "seen.lines").read_text().splitlines()]
        assert seen == [train[line - 1] for line in lines] and lines == sorted(set(lines)) and len(lines) == 7
        shards = [Shard(path) for path in sorted(shards_path(config, "seen").glob("*.itsh"))]
        assert [len(shard) for shard in shards] == [3, 2, 2]
        assert [shard.source(i) for shard in shards for i in range(len(shard))] == seen
        assert (texts / "seen.tasks").exists() == labelled
        assert bool(shards[0].domain(0)) == labelled


def test_a_pooled_set_has_some_sentences_of_each_domain(folder):
    list(build(load_config(folder / "c.yaml")))
    dev = list(zip(text(folder, "dev.source"), text(folder, "dev.reference.0"), text(folder, "dev.tasks"), strict=True))
    names = ("source", "reference.0", "tasks")
    pooled = list(zip(*(text(folder, f"pooled.{name}") for name in names), strict=True))
    lines = [int(line) for line in text(folder, "pooled.lines")]
    assert pooled == [dev[line - 1] for line in lines] and lines == sorted(lines)
    assert Counter(text(folder, "pooled.tasks")) == {"news": 2, "law": 2}
    assert set(text(folder, "pooled_devtest.source")) < set(text(folder, "devtest.source"))
    chosen = {tuple(lines)}
    for seed in range(6, 12):
        list(build(load_config(folder / "c.yaml", [f"seed={seed}"])))
        chosen.add(tuple(int(line) for line in text(folder, "pooled.lines")))
    assert len(chosen) > 1


def test_whole_days_are_held_out_and_no_pair_is_there_twice(folder):
    list(build(load_config(folder / "c.yaml")))
    days = {}
    for name in ("news", "law"):
        with gzip.open(folder / f"{name}.days.gz", "rt") as stream:
            labels = [line.split("\t")[0] for line in stream]
        days |= dict(zip((folder / f"{name}.de").read_text().splitlines(), labels, strict=True))
    train, devtest = text(folder, "train.source"), text(folder, "devtest.source")
    held_out = {days[line] for line in devtest}
    assert held_out and not held_out & {days[line] for line in train if line in days}
    assert Counter(text(folder, "devtest.tasks")) == {"news": 2, "law": 2}
    assert len(set(train)) == len(train) and not set(train) & set(devtest)
    joined = [line for name in ("news", "law", "more") for line in (folder / f"{name}.de").read_text().splitlines()]
    for name, lines in (("train", train), ("devtest", devtest)):
        assert [joined[int(number) - 1] for number in text(folder, f"{name}.lines")] == lines
    assert {line for line in text(folder, "train.source") if line.startswith("more")} == set(joined[27:])


DIVIDED = """\
  dev:
    parts:
      news: {source: news.de, references: [news.en, law.en], groups: news.days.gz}
      law: {source: law.de, references: [law.en, news.en], groups: law.days.gz}
    held_out:
      tune: {pairs: 7, groups: true}
      rest: 2
  pooled: {of: tune, each: 1}
"""


def test_a_set_is_divided_by_days(folder):
    """No day is on both sides; sentences, references, labels and line numbers stay together."""
    plain = "train: {source: more.de, target: more.en}\nsets:\n" + DIVIDED
    rest = CONFIG.partition("align: {given: links}\n")[2]
    (folder / "c.yaml").write_text(f"work: work\nseed: 5\n{plain}align: {{effort: 0.1}}\n{rest}")
    config = load_config(folder / "c.yaml")
    results = {one.name: one.what for one in build(config)}
    assert config.set_names == ["train", "dev", "tune", "rest", "pooled"]
    assert "tune" in results["prepare.dev"] and "2 references" in results["prepare.dev"]
    with gzip.open(folder / "news.days.gz", "rt") as news, gzip.open(folder / "law.days.gz", "rt") as law:
        days = [line.split("\t")[0] for stream in (news, law) for line in stream]
    sides = [
        [line for name in order for line in (folder / name).read_text().splitlines()]
        for order in (("news.de", "law.de"), ("news.en", "law.en"), ("law.en", "news.en"))
    ]
    labels = ["news"] * 12 + ["law"] * 12
    lines = {name: [int(line) - 1 for line in text(folder, f"{name}.lines")] for name in ("dev", "tune", "rest")}
    assert sorted(number for numbers in lines.values() for number in numbers) == list(range(24))
    assert len(lines["rest"]) == 2 and len(lines["tune"]) >= 7
    for name, numbers in lines.items():
        for kind, side in zip(("source", "reference.0", "reference.1", "tasks"), (*sides, labels), strict=True):
            assert text(folder, f"{name}.{kind}") == [side[number] for number in numbers]
    held_out = {days[number] for number in lines["tune"]}
    assert not held_out & {days[number] for name in ("dev", "rest") for number in lines[name]}
    smaller = len(lines["tune"]) - max(Counter(days[number] for number in lines["tune"]).values())
    assert smaller < 7, "a day more than needed"
    assert set(text(folder, "pooled.source")) <= set(text(folder, "tune.source"))
    assert [len(Shard(next(shards_path(config, name).glob("*.itsh")))) for name in ("dev", "tune")] == [
        len(lines["dev"]),
        len(lines["tune"]),
    ]
    assert all(one.skipped for one in build(config))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "1", "2", "3", "4", "5"])), min_size=5),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_holding_out_divides_the_text(labels, each, seed):
    domains, groups = [label for label, _ in labels], [group for _, group in labels]
    wanted = {"a": HeldOutConfig(each=each, groups=True), "b": HeldOutConfig(pairs=1)}
    try:
        train, first, second = hold_out(domains, groups, wanted, seed)
    except ConfigError:
        grouped = Counter(domain for domain, group in labels if group)
        few = any(grouped[domain] < each for domain in set(domains))
        assert few or sum(1 for _ in labels) - sum(grouped.values()) <= 1 or len(labels) < 3 + each
        return
    assert first == sorted(first) and train == sorted(train) and len(second) == 1
    assert not set(train) & set(first) and not set(train) & set(second) and not set(first) & set(second)
    assert Counter(domains[number] for number in first) == dict.fromkeys(set(domains), each)
    taken = {groups[number] for number in first}
    assert "" not in taken and not taken & {groups[number] for number in train + second}
    assert hold_out(domains, groups, wanted, seed) == [train, first, second]


def test_some_of_each_is_a_choice_by_the_seed():
    domains = ["x", "y"] * 20
    first, second = (some_of_each(domains, 5, seed, "k") for seed in (1, 2))
    assert first != second and first == some_of_each(domains, 5, 1, "k")
    assert [Counter(domains[number] for number in numbers) for numbers in (first, second)] == [{"x": 5, "y": 5}] * 2
    with pytest.raises(ConfigError, match="k wants 21 sentences of each domain, but there are 20 of x"):
        some_of_each(domains, 21, 1, "k")


POOLED = "{of: dev, each: 2}"
BAD = [
    ("dev:\n    parts:", "dev:\n    source: x\n    parts:", "c.yaml:13: sets.dev.source and `parts` exclude each"),
    (POOLED, "{of: nothing, each: 2}", "c.yaml:17: sets.pooled.of is 'nothing'; give a set that is not itself chosen"),
    (POOLED, "{of: dev}", "c.yaml:17: sets.pooled.each is missing: how many sentences of each domain"),
    (POOLED, "{of: dev, each: 2, pairs: 2}", "c.yaml:17: give either `pairs`, a total, or `each`"),
    (POOLED, "{of: dev, pairs: 99}", "sets.pooled.pairs wants 99 sentences, but there are 7"),
    (POOLED, "{of: dev, each: 2, size: 2, layout: domains}", "size and layout: domains exclude each other"),
    (POOLED, "{of: dev, each: 2, source: x}", "c.yaml:17: sets.pooled.of excludes source, references"),
    (POOLED, "{of: dev, each: 9}", "sets.pooled.each wants 9 sentences of each domain, but there are 4 of law"),
    ("{each: 2, groups: true, layout", "{groups: true, layout", "c.yaml:10: give either `pairs`, a total, or `each`"),
    ("{each: 2, groups", "{each: 0, groups", "c.yaml:10: train.held_out.devtest.each is 0; give a whole number of at"),
    ("{each: 2, groups", "{each: 20, groups", "train.held_out.devtest wants 20 sentences of each domain, but there"),
    ("groups: news.days.gz", "groups: links", "links:13: has 36 labels, but the text has 12 lines"),
    ("references: [d2.en]", "references: [d1.en]", "d1.en:4: has 3 lines, but"),
    ("references: [d2.en]", "references: [d2.en, d2.en]", "c.yaml:15: sets.dev.parts.law.references: 2 files, but"),
    ("references: [d2.en]", "references: []", "references is []; give at least one"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_and_where(folder, capsys, old, new, message):
    assert old in CONFIG
    (folder / "c.yaml").write_text(CONFIG.replace(old, new, 1))
    assert main(["build", str(folder / "c.yaml")]) == 2
    error = capsys.readouterr().err
    assert message in error.replace(f"{folder}/", "") and "Traceback" not in error


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sets.plain={source: d1.de, references: [d1.en], each: 2}", "sets.plain.each needs labels"),
        ("sets.plain={source: d1.de, references: [d1.en], layout: domains}", "sets.plain.layout needs labels"),
        ("sets.plain={of: plain_dev, each: 2}", "whose sentences have no domains"),
        ("train={source: d1.de, target: d1.en, held_out: {x: {each: 1}}}", "train.held_out.x.each needs labels"),
        ("train={source: d1.de, target: d1.en, held_out: {x: {pairs: 1, groups: true}}}", "x.groups needs labels of"),
        ("sets.a={source: d1.de, references: [d1.en], held_out: {x: {pairs: 1, groups: true}}}", "x.groups needs lab"),
        ("sets.a={source: d1.de, references: [d1.en], held_out: {pooled: 1}}", "pooled: another set has the same name"),
        ("sets.a={of: dev, each: 1, held_out: {x: 1}}", "sets.a.of excludes source, references"),
    ],
)
def test_what_needs_labels(folder, override, message, monkeypatch):
    monkeypatch.chdir(folder)
    plain = "sets.plain_dev={source: d1.de, references: [d1.en]}"
    with pytest.raises(ConfigError, match=message):
        load_config(folder / "c.yaml", [plain, override])
