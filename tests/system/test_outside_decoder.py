"""The script of docs/tuning.md tunes a toy decoder that knows nothing of itersel."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

ROOT = Path(__file__).resolve().parents[2]
SENTENCES, CANDIDATES = 12, 60

# Candidates are lines `sentence TAB text TAB values`; the decoder writes the three best of each.
DECODER = """\
#!{python}
import sys
weights = dict((name, float(value)) for name, value in map(str.split, open(sys.argv[1])))
lists = {{}}
for line in open("candidates"):
    number, text, values = line.rstrip("\\n").split("\\t")
    features = dict(zip(("a", "b", "c"), map(float, values.split())))
    lists.setdefault(number, []).append((sum(weights.get(k, 0) * v for k, v in features.items()), text, features))
for number, found in lists.items():
    for score, text, features in sorted(found, key=lambda one: (-one[0], one[1]))[:3]:
        print(number + "|||", text, "|||", " ".join(f"{{k}}= {{v}}" for k, v in features.items()), "|||", score)
"""


def write_candidates(folder):
    """Feature a says how many words are right, b nearly that, c something else."""
    draw = random.Random(4)
    references = [[draw.choice("defghijklm") for _ in range(8)] for _ in range(SENTENCES)]
    with open(folder / "candidates", "w") as stream:
        for number, reference in enumerate(references):
            for _ in range(CANDIDATES):
                text = [word if draw.random() < 0.7 else draw.choice("xyz") for word in reference]
                right = sum(map(str.__eq__, text, reference))
                values = right + draw.gauss(0, 1), right + draw.gauss(0, 3), draw.gauss(0, 2)
                stream.write(f"{number}\t{' '.join(text)}\t{' '.join(f'{value:.3f}' for value in values)}\n")
    (folder / "dev.en").write_text("".join(" ".join(reference) + "\n" for reference in references))
    (folder / "dev.de").write_text("not needed\n")


def bleu(folder, weights):
    lists = subprocess.check_output(["./decoder", weights, "dev.de"], cwd=folder, text=True).splitlines()
    best = {}
    for line in lists:
        number, text, *_ = line.split("|||")
        best.setdefault(int(number), text.strip())
    references = (folder / "dev.en").read_text().splitlines()
    return BLEU(tokenize="none").corpus_score([best[k] for k in range(SENTENCES)], [references]).score


def test_the_script_of_the_docs_tunes_an_outside_decoder(tmp_path):
    write_candidates(tmp_path)
    (tmp_path / "decoder").write_text(DECODER.format(python=sys.executable))
    (tmp_path / "decoder").chmod(0o755)
    (tmp_path / "start.weights").write_text("c 1\nb 0.1\n")
    page = (ROOT / "docs" / "tuning.md").read_text()
    (script,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    assert len(script.splitlines()) <= 10
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, after = bleu(tmp_path, "start.weights"), bleu(tmp_path, "weights.txt")
    assert after > before + 5
    # The last run learned from all that was found: more than any single iteration's lists have.
    lists = [set((tmp_path / f"lists.{k}").read_text().splitlines()) for k in (1, 2, 3)]
    hypotheses = {line.rpartition("|||")[0] for found in lists for line in found}
    assert len(hypotheses) > max(map(len, lists))
    from itersel.lists.table import ListTable

    (table,) = (tmp_path / "tuned.3" / ".tables").glob("*.table")
    merged = ListTable(table)
    assert sum(len(merged.texts(number)) for number in range(len(merged))) == len(hypotheses)
