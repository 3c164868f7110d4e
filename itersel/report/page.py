"""The page: template, style, scripts and data in one HTML file that needs no network.

Text from data is never HTML: it travels as JSON without `<`, `>` and `&`, and the scripts only ever set it as text. The
page's own security policy names the one script and the one style by their hashes, so nothing else could run in it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.paper_table import PaperTable
from itersel.base.version import __version__
from itersel.evaluation.scoring import Evaluation
from itersel.report.gather import gather
from itersel.report.payload import payload

SCRIPTS = (
    "dom",
    "table",
    "chart",
    "experiment",
    "overview",
    "evaluation",
    "curves",
    "shards",
    "time",
    "weights",
    "listing",
    "features",
    "translations",
    "configuration",
    "main",
)
"""Files of page/, in the order they are put together."""
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
TITLE = "Training report"
FEATURES, SENTENCES = 200, 200
LIMIT = 100_000


def write_report(
    runs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    title: str | None = None,
    names: Sequence[str] | None = None,
    features: int = FEATURES,
    sentences: int = SENTENCES,
    evaluation: Evaluation | None = None,
    experiment: Sequence[PaperTable] = (),
) -> Path:
    """Write the page about the runs (directories of itersel train) to `output`; the same runs give the same bytes.

    `names` are what the runs are called, by default as their folders; a system of the evaluation that has a run's name
    is shown in the run's colour. `features` and `sentences` limit the page's size. `evaluation` adds scores and tests
    of any systems, `experiment` the tables of the experiment that the runs belong to.
    """
    for key, value in (("features", features), ("sentences", sentences)):
        if not 1 <= value <= LIMIT:
            raise ConfigError(f"{key} is {value}", hint=f"Give a number from 1 to {LIMIT:,}.")
    found = gather(runs, names)
    data = payload(
        found,
        title=title or TITLE,
        features=features,
        sentences=sentences,
        evaluation=evaluation,
        experiment=experiment,
    )
    with atomic_write(output) as stream:
        stream.write(render(data).encode("utf-8", "replace"))
    return Path(output)


def render(data: dict[str, Any]) -> str:
    """The page with this data."""
    style = _part("report.css")
    script = '(() => {\n"use strict";\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; script-src '{_source_hash(script)}'; style-src '{_source_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": html.escape(data["title"]),
        "version": html.escape(__version__),
        "policy": policy,
        "style": style,
        "script": script,
        "data": to_json(data),
    }
    page = []
    for piece in _part("report.html").split("{{"):  # not replaced one after the other: data may look like a place
        name, ends, rest = piece.partition("}}")
        page.append(parts[name] + rest if ends else piece)
    return "".join(page)


def to_json(values: Any) -> str:
    """JSON that stays text inside a script element, whatever it holds."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSAFE)


def _part(name: str) -> str:
    return (resources.files("itersel.report") / "page" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
