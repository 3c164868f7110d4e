"""Small real training runs in every state a report may meet, with words that do harm where they are taken for HTML."""

import json
import random
import shutil
from pathlib import Path

from itersel.algorithms.mert import MertConfig
from itersel.base.figures import Choice, Declaration, Figure, Statistic
from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Plot, Repeats, Row
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig
from itersel.model.features import Weights
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.shards.shard import ShardWriter

HOSTILE = ("</script><script>document.hacked=1</script>", "<img/src=x/onerror=document.hacked=2>")
WORDS = {
    "das": ["the", "that"],
    "haus": ["house", "home"],
    "ist": ["is", "was"],
    "böse": list(HOSTILE),
    "ein": ["a", "one"],
    "hund": ["dog", "hound"],
    "&amp;": ["&lt;b&gt;", "and"],
}
GRAMMAR = "".join(
    [f"[X] ||| {one} ||| {target} ||| p={k}\n" for one, targets in WORDS.items() for k, target in enumerate(targets)]
    + [f"[X] ||| [X,1] {one} ||| {targets[0]} [X,1] ||| q=1\n" for one, targets in WORDS.items()]
    + ["[X] ||| das [X,1] ist [X,2] ||| [X,2] is the [X,1] ||| r=1\n"]
).encode()


def write_shard(path: Path, count: int, draw: random.Random) -> str:
    writer = ShardWriter(groups=("id", "ng", "shape"))
    for number in range(count):
        words = draw.choices(list(WORDS), k=draw.randint(3, 8))
        target = " ".join(draw.choice(WORDS[word]) for word in words)
        writer.add(" ".join(words), [target], GRAMMAR, id=f"s{number}", domain="<i>label</i>")
    writer.write(path)
    return str(path)


def make_runs(folder: Path) -> dict[str, Path]:
    """Directories by name; silent has no devtest, single has one epoch, begun has none yet, toy has other figures."""
    draw = random.Random(5)
    paths = [write_shard(folder / f"{k}.itsh", count, draw) for k, count in enumerate((7, 30, 12, 21))]
    devtest = (write_shard(folder / "devtest.itsh", 15, draw),)

    start = folder / "start.txt"
    Weights({"p": -0.5, "Glue": -0.1}).write(start)

    def run(name: str, **options: object) -> Path:
        values = {"shards": tuple(paths), "devtest": devtest, "epochs": 4, "selection": SelectionConfig(top=40)}
        values["epoch"] = EpochConfig(k=20, learn=LearnConfig(eta=0.01))
        train(TrainConfig(**(values | options)), folder / name, warn=lambda text: None)
        return folder / name

    made = {
        "sgd": run("sgd", algorithm="sgd", shards=(paths[1],), epochs=3),
        "mix": run("mix", algorithm="iter_mix_sgd"),
        "select": run("select"),
        "silent": run("silent", devtest=()),
        "single": run("single", epochs=1),
        "mert": run("mert", algorithm="mert", own=MertConfig(k=10, starts=2, steps=3), epochs=2, start=str(start)),
    }
    for name, epochs in {"unfinished": 2, "begun": 0}.items():
        shutil.copytree(made["select"], folder / name)
        manifest = json.loads((folder / name / "manifest.json").read_text())
        manifest |= {"epochs": manifest["epochs"][:epochs], "chosen": None}
        (folder / name / "manifest.json").write_text(json.dumps(manifest))
        made[name] = folder / name
    (folder / "begun" / "statistics.jsonl").unlink()
    made["toy"] = make_toy_run(made["silent"], folder / "toy")
    made["toy2"] = make_toy_run(made["silent"], folder / "toy2", (2.5, 2.25, 1.0, 1.75))
    return made


TOY = Declaration(
    name="toy:Median",
    label="Median",
    statistics=(Statistic("lists"), Statistic("median_gap")),
    figures=(
        Figure(
            "spread",
            "spread",
            of="median_gap",
            per="lists",
            form="number",
            about="Distance of the shards from their median.",
            shown=("table", "curve", "spread"),
        ),
    ),
    choice=Choice("gap", "gap", largest=False),
)
"""An algorithm of somebody else's: one figure, no devtest, and the smallest value of its own fact decides."""


def make_toy_run(source: Path, folder: Path, gaps: tuple[float, ...] = (3.0, 1.5, 1.25, 2.0)) -> Path:
    """The run as if `TOY` had made it, with one gap for each epoch."""
    shutil.copytree(source, folder)
    described, manifest = (json.loads((folder / name).read_text()) for name in ("run.json", "manifest.json"))
    described["configuration"] |= {"algorithm": TOY.name, "epochs": len(gaps)}
    described["declaration"] = TOY.to_json()
    entries = manifest["epochs"][: len(gaps)]
    kept = [{"epoch": one["epoch"], "files": one["files"], "warnings": []} for one in entries]
    chosen = gaps.index(min(gaps)) + 1
    manifest |= {"epochs": [one | {"gap": gap} for one, gap in zip(kept, gaps, strict=True)], "chosen": chosen}
    lines = []
    for line in map(json.loads, (folder / "statistics.jsonl").read_text().splitlines()):
        facts = {"epoch": line["epoch"], "shard": line["shard"], "lists": line["lists"]}
        seconds = {"sort": line["seconds"]["decode"], "take_median": line["seconds"]["kbest"]}
        lines.append(facts | {"median_gap": line["best_metric"] * 4, "seconds": seconds})
    (folder / "run.json").write_text(json.dumps(described))
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "statistics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def large_experiment() -> PaperTable:
    """Three test sets, thirty cells with long settings; the first three are runs, one is called by harmful words."""
    draw, tests = random.Random(7), ("test_2016_flickr", "test_2017_mscoco", HOSTILE[1])
    words = [Column(label, left=True) for label in ("tuning set", "features", "settings")]
    columns = [Column("alg."), *words, Column("#features"), Column("devtest BLEU")]
    columns += [Column(label, test) for test in tests for label in ("BLEU", "chrF", "length")] + [Column("CPU s")]
    rows = []
    for k in range(30):
        number, settings = k % 5, "" if k % 3 else f"top {10**k:.0e}, pairs multipartite, eta 0.0001"
        entries = [Entry(str(number), number)]
        entries += [Entry(text, text) for text in (f"train:{k}" if k else "given", "id+ng+shape", settings)]
        entries.append(Entry(f"{7**k % 10**6:,}", 7**k % 10**6))
        entries.append(Entry(f"{30 + k / 10:.2f}", 30 + k / 10, f"@{k}" if k else ""))
        for _ in tests:
            raised = tuple(sorted(draw.sample((1, 2, 3, 4, 12), draw.randrange(5))))
            marks = Marks(raised, best=k % 7 == 1, dagger=k % 7 == 2)
            bleu, chrf, length = (draw.uniform(20, 60) for _ in range(3))
            entries += [Entry(f"{bleu:.2f}", bleu, marks=marks), Entry(f"{chrf:.2f}", chrf), Entry("0.993", length)]
        entries.append(Entry(f"{k * 1000:,}", k * 1000))
        name = ("sgd", "mix", "select", HOSTILE[0])[k] if k < 4 else f"iter_sel_sgd-train.{k}-id+ng+shape-{settings}"
        rows.append(Row(name, tuple(entries)))
    legend = (f"What {HOSTILE[0]} means.", "Build 21.3 min, cells 95.0 min.")
    sizes = {"sgd": 30, HOSTILE[0]: 5, "given": 1}
    repeats = [
        Repeats(test, "BLEU", tuple((name, tuple(draw.gauss(40, 0.2) for _ in range(n))) for name, n in sizes.items()))
        for test in tests
    ]
    curve = Plot(
        "test BLEU by the number of sentences",
        "sentences",
        ("10,000", "30,000", "100,000"),
        (("IterSelSGD", (28.5, 29.0, 30.5)), (HOSTILE[0], (29.0, 29.0, 29.0))),
        (100_000.0,) * 3,
        (((28.0, 28.9), (28.25, 29.5), (30.0, 31.5)), ((28.5, 29.75),) * 3),
    )
    return PaperTable(tuple(columns), tuple(rows), legend, tuple(repeats), plots=(curve,))


def captioned_scores() -> PaperTable:
    """One score with marks that have a meaning of their own, and a plot by a setting."""
    entries = (Entry("3 C", 3), Entry("52.61", 52.61, marks=Marks((1, 2))))
    columns = (Column("method", left=True), Column("F1"))
    scores = (("devtest BLEU", (24.0, 27.5, None, 26.25)), (HOSTILE[0], (23.0, 26.0, 25.75, 22.5)))
    plot = Plot(f"by {HOSTILE[1]}", "selection.top", ("10", "1,000", "100,000", "none"), scores, (10, 1000, 1e5, 1e6))
    caption = f"Table 1 {HOSTILE[1]}"
    return PaperTable(columns, (Row("c", entries),), ("Scores.",), caption=caption, mark="better than", plots=(plot,))


def captioned_sentences() -> PaperTable:
    """Twelve pairs of sentences, of which ten are shown at first; all are harmful."""
    columns = (Column("question"), Column("reference", left=True, prose=True), Column("ours", left=True, prose=True))
    rows = [
        Row(f"question {k}", (Entry(str(k), k), *(Entry(f"{text} {k}", text) for text in HOSTILE))) for k in range(12)
    ]
    return PaperTable(columns, tuple(rows), ("12 questions in total.",), caption="Table 2: sentences", first=10)
