"""The report in a real browser: what is drawn where, what can be clicked, and that no text does any harm."""

import json
import os
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from itersel.evaluation.scoring import EvaluationOptions, System, score_systems
from itersel.evaluation.table import comparison_rows
from itersel.learn.domain_rows import DomainRows
from itersel.learn.mixing import Columns
from itersel.model.vectors import Vector
from itersel.report import write_report
from report_runs import HOSTILE, captioned_scores, captioned_sentences, large_experiment, make_runs

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = (1280, 900), (375, 812)
STATES = {
    "all": ("sgd", "mix", "select", "silent", "single", "unfinished", "begun"),
    "one run": ("select",),
    "no devtest": ("silent",),
    "one epoch": ("single",),
    "no epoch": ("begun",),
    "one shard": ("sgd",),
    "other figures": ("toy", "toy2"),
    "other criteria": ("toy", "select", "silent"),
    "tuned": ("mert",),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if absent:
        reason = f"{' and '.join(absent)} not installed: tools/browser/install.sh"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(600)  # no test is about how long it takes
    driver.set_script_timeout(600)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = make_runs(tmp_path_factory.mktemp("runs"))
    # Norms in another order than the weights, so that the two rankings differ.
    for place in made["select"].glob("epoch-*/weights.vec"):
        vector = Vector.read(place)
        keys = 1 / (1 + np.arange(len(vector)))
        place.with_name("norms.vec").write_bytes(Columns(vector.ids, keys, vector.values).to_bytes())
    return made


@pytest.fixture(scope="module")
def evaluation():
    references = [["a b c d e"], ["f g h i j"], ["k l m n o"], ["p q r s t"]] * 3
    good = ["a b c d e", "f g h i j", "k l m n p", "p q r s t"] * 3
    bad = ["a b c x e", "f g y i j", "k z m n p", "p q r s t"] * 3
    systems = [System("sgd", [bad]), System("select", [good]), System(HOSTILE[1], [bad])]
    made = score_systems(systems, references, EvaluationOptions(trials=200))
    first, *others = made.comparisons
    # The least that 10,000 shuffles can give, which is below 0.0001 and is written so on no terminal.
    least = replace(first, randomization=replace(first.randomization, p=1 / 10_001))
    return replace(made, comparisons=(least, *others))


@pytest.fixture(scope="module")
def pages(runs, evaluation, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {
        name: write_report([runs[one] for one in members], folder / f"{k}.html", title=f"{name} {HOSTILE[1]}")
        for k, (name, members) in enumerate(STATES.items())
    }
    compared = [runs[name] for name in ("sgd", "mix", "select")]
    made["compared"] = write_report(compared, folder / "compared.html", evaluation=evaluation)
    far = Path(shutil.copytree(runs["select"], folder / "far"))
    manifest = json.loads((far / "manifest.json").read_text())
    for k, entry in enumerate((manifest["start"], *manifest["epochs"])):
        entry["devtest_bleu"] = 30 + k if k else 0.01
    (far / "manifest.json").write_text(json.dumps(manifest))
    made["far start"] = write_report([far], folder / "far.html", sentences=7)
    table = large_experiment()
    made["experiment"] = write_report(compared, folder / "experiment.html", evaluation=evaluation, experiment=[table])
    made["domains"] = write_report([with_domains(runs["select"], folder / "domains")], folder / "domains.html")
    several = [captioned_scores(), captioned_sentences()]
    made["tables"] = write_report([runs["silent"]], folder / "tables.html", experiment=several)
    return made


def with_domains(run, copy):
    """The run as if its shards were three domains: the second disagrees with the others, the third lacks the half."""
    shutil.copytree(run, copy)
    for place in copy.glob("epoch-*/weights.vec"):
        vector = Vector.read(place)
        half = len(vector) // 2
        rows = (vector, Vector(vector.ids, -vector.values), Vector(vector.ids[:half], vector.values[:half]))
        for name, content in DomainRows(("a", HOSTILE[1], "c"), rows).files().items():
            place.with_name(name).write_bytes(content)
    return copy


@pytest.fixture
def show(browser, pages):
    """Opens a page at a size and gives the browser; afterwards nothing may have been complained about."""

    def visit(name="compared", size=DESKTOP, dark=False):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        browser.get(Path(pages[name]).as_uri())
        browser.execute_script("localStorage.clear()")
        browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        return browser

    yield visit
    assert browser.get_log("browser") == []


def data_of(browser):
    return json.loads(browser.execute_script("return document.getElementById('data').textContent"))


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim())", selector
    )


def find(browser, selector):
    return browser.find_element("css selector", selector)


def press(browser, selector, text=None):
    """Click the element, or that with the text, where a person would."""
    for one in browser.find_elements("css selector", selector):
        if text is None or one.text == text:
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", one)
            one.click()
            return one
    raise AssertionError(f"no {selector} with the text {text!r}")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", [*STATES, "compared", "experiment"])
def test_every_state(show, name, size):
    """Nothing is loaded, nothing runs that is not ours, and nothing is wider than the screen."""
    browser = show(name, size)
    assert browser.execute_script("return document.hacked") is None
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert overflow(browser) == 0 and browser.execute_script("return innerWidth") == size[0]
    sections = browser.execute_script(
        "return [...document.querySelectorAll('main section')].map((one) => [one.id, one.innerText.length])"
    )
    expected = ["overview", "curves", "shards", "time", "weights", "features", "translations", "configuration"]
    if name == "no epoch":
        expected.remove("weights")
    if name in ("compared", "experiment"):
        expected.insert(1, "evaluation")
    if name == "experiment":
        expected.insert(0, "experiment")
    assert [one for one, _ in sections] == expected == [link[1:] for link in links(browser)]
    assert all(length > 30 for _, length in sections)
    assert ("</script>" in find(browser, "body").text) == (name != "no epoch")


def overflow(browser):
    """By how much the page is wider than the window without its scroll bar."""
    return browser.execute_script("const root = document.documentElement; return root.scrollWidth - root.clientWidth")


def links(browser):
    return browser.execute_script("return [...document.querySelectorAll('#links a')].map((one) => one.hash)")


@pytest.mark.parametrize(
    ("name", "where", "text"),
    [
        ("no epoch", "overview", "No epoch of begun is finished yet"),
        ("no epoch", "curves", "No epoch is finished yet"),
        ("no epoch", "features", "there are no weights"),
        ("no devtest", "translations", "no devtest translations"),
        ("no devtest", "curves", "No epoch has a value of devtest BLEU, so the last epoch is chosen"),
        ("no devtest", "overview", "no devtest BLEU"),
        ("other criteria", "overview", "different criteria: gap, devtest BLEU"),
        ("other figures", "curves", "Lower is better. A ring marks the chosen epoch."),
        ("other figures", "time", "take median"),
        ("one shard", "shards", "single shard"),
        ("all", "overview", "unfinished: 2 of 4"),
        ("all", "overview", "no epoch finished"),
    ],
)
def test_what_is_missing_is_said(show, name, where, text):
    assert text in find(show(name), f"#{where}").text


def points(browser, chart):
    """The dots of a line chart: (x, y) in pixels, by colour."""
    found = browser.execute_script(
        """return [...document.querySelectorAll(`[data-chart=${arguments[0]}] .dot`)].map((dot) => {
             const box = dot.getBoundingClientRect();
             return [dot.style.fill, box.x + box.width / 2, box.y + box.height / 2];
           })""",
        chart,
    )
    series = {}
    for color, x, y in found:
        series.setdefault(color, []).append((x, y))
    return list(series.values())


@pytest.mark.parametrize("chart", ["devtest_bleu", "pair_error", "metric", "features"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_curves_are_the_data(show, chart, size):
    """One scale for all lines: pixels are a linear function of epochs and values."""
    browser = show(size=size)
    runs = data_of(browser)["runs"]
    expected = [[epoch["values"][chart] for epoch in run["epochs"]] for run in runs]
    drawn = points(browser, chart)
    if chart == "devtest_bleu":  # the start weights are not far off
        expected = [[run["start"][chart], *scores] for run, scores in zip(runs, expected, strict=True)]
    assert [len(one) for one in drawn] == [len(one) for one in expected]
    values, heights = (
        np.array([y for one in series for y in one]) for series in (expected, [[y for _, y in s] for s in drawn])
    )
    slope, offset = np.polyfit(values, heights, 1)
    assert slope < 0  # higher values stand higher
    # Marks of different shapes have their middle up to a pixel beside their place.
    assert np.abs(slope * values + offset - heights).max() < 1.5
    assert np.ptp(heights) > 60
    for one in drawn:
        steps = [b[0] - a[0] for a, b in pairwise(one)]
        assert min(steps) > 30 and max(steps) - min(steps) < 1
    lines = browser.execute_script(
        f"return [...document.querySelectorAll('[data-chart={chart}] .line')].map((one) => one.getTotalLength())"
    )
    assert len(lines) == 3 and min(lines) > 100


def test_chosen_epochs_are_ringed(show):
    browser = show()
    rings = browser.execute_script(
        """return [...document.querySelectorAll('[data-chart=devtest_bleu] .ring')].map((ring) => {
             const box = ring.getBoundingClientRect();
             return [box.x + box.width / 2, box.y + box.height / 2];
           })"""
    )
    series = points(browser, "devtest_bleu")
    for run, ring, dots in zip(data_of(browser)["runs"], rings, series, strict=True):
        assert dots[run["best"]] == pytest.approx(ring, abs=1.5)


def test_a_single_epoch_is_a_dot(show):
    browser = show("one epoch")
    assert [len(one) for one in points(browser, "pair_error")] == [1]
    assert browser.find_elements("css selector", "[data-chart=pair_error] .line") == []


def test_reading_a_curve_by_keys_and_by_pointer(show):
    from selenium.webdriver import ActionChains, Keys

    browser = show()
    scores = [run["epochs"][1]["values"]["devtest_bleu"] for run in data_of(browser)["runs"]]
    chart = find(browser, "[data-chart=devtest_bleu] svg")
    browser.execute_script("arguments[0].focus({preventScroll: true})", chart)
    ActionChains(browser).send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    read = find(browser, "#tip").text
    assert read.startswith("Epoch 2") and all(f"{score:.2f}" in read for score in scores)
    assert "Epoch 2" in browser.execute_script("return document.getElementById('live').textContent")
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert not find(browser, "#tip").is_displayed()
    ActionChains(browser).move_to_element(chart).perform()
    assert find(browser, "#tip").text.startswith("Epoch ")


def test_runs_can_be_hidden(show):
    browser = show()
    press(browser, ".legend .chip")
    assert len(points(browser, "devtest_bleu")) == 2
    press(browser, ".legend .chip")
    assert len(points(browser, "devtest_bleu")) == 3


def test_boxes_of_shards(show):
    browser = show()
    runs = [run for run in data_of(browser)["runs"] if run["shards"] > 1]
    for button, figure in (("Pair errors", "pair_error"), ("CPU time", None), ("1-best metric", "metric")):
        press(browser, "#shards .segments button", button)
        boxes = browser.execute_script(
            """return [...document.querySelectorAll('[data-chart="over shards"]')].map((chart) =>
               [...chart.querySelectorAll('.box')].map((box) => [box.y, box.height].map((one) => one.baseVal.value)))"""
        )
        shown = [[epoch["spread"][figure] if figure else epoch["cpu"] for epoch in run["epochs"]] for run in runs]
        spreads = [[one["box"] for one in epochs] for epochs in shown]
        assert [len(one) for one in boxes] == [len(one) for one in spreads] == [4, 4]
        quartiles = np.array([box[3] for one in spreads for box in one])
        tops = np.array([y for one in boxes for y, _ in one])
        slope, offset = np.polyfit(quartiles, tops, 1)
        assert np.abs(slope * quartiles + offset - tops).max() < 0.5
        heights = np.array([height for one in boxes for _, height in one])
        expected = np.array([max(-slope * (box[3] - box[1]), 1) for one in spreads for box in one])
        assert np.abs(expected - heights).max() < 0.5


def test_bars_of_time(show):
    browser = show()
    parts = browser.execute_script(
        """return [...document.querySelectorAll('[data-chart=time] .bar-part')].map((one) => {
             const box = one.getBoundingClientRect();
             return [box.y, box.width];
           })"""
    )
    widths = {}
    for top, width in parts:
        widths.setdefault(top, []).append(width)
    totals = [sum(sum(epoch["seconds"].values()) for epoch in run["epochs"]) for run in data_of(browser)["runs"]]
    drawn = [sum(one) for _, one in sorted(widths.items())]
    # Parts have a pixel between them.
    assert np.array(drawn) / max(drawn) == pytest.approx(np.array(totals) / max(totals), abs=0.03)
    assert max(drawn) > 600


def column(browser, place, number):
    return texts(browser, f"#{place} tbody tr.row > *:nth-child({number})")


def decisive(run):
    return run["epochs"][run["best"] - 1]["values"][run["choice"]["figure"]]


def test_sorting_by_pointer_and_keys(show):
    from selenium.webdriver import Keys

    browser = show()
    runs = data_of(browser)["runs"]
    by_score = [run["name"] for run in sorted(runs, key=lambda run: -decisive(run))]
    assert column(browser, "overview", 1) == by_score
    press(browser, "#overview thead button", "Run")
    assert column(browser, "overview", 1) == sorted(by_score)
    header = find(browser, "#overview thead th")
    assert header.get_attribute("aria-sort") == "ascending"
    header.find_element("css selector", "button").send_keys(Keys.ENTER)
    assert column(browser, "overview", 1) == sorted(by_score, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"
    press(browser, "#overview thead button", "Features")
    counts = [
        int(text.replace(",", ""))
        for text in column(browser, "overview", 6 if "Before" not in find(browser, "#overview thead").text else 7)
    ]
    assert counts == sorted(counts, reverse=True) and len(counts) == 3


def test_the_runs_fit_a_desktop(show):
    """All columns of the overview are seen without moving the table."""
    box = "const one = document.querySelector('#overview .scroll'); return one.scrollWidth - one.clientWidth"
    assert show().execute_script(box) == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_figures_of_another_algorithm(show, size):
    """What an algorithm declares is drawn without a word about it in the scripts; the smallest gap is the best."""
    browser = show("other figures", size)
    runs = data_of(browser)["runs"]
    by_gap = [run["name"] for run in sorted(runs, key=decisive)]
    assert column(browser, "overview", 1) == by_gap == ["toy2", "toy"]
    heads = texts(browser, "#overview thead th")
    assert heads == ["Run", "Algorithm", "Gap", "To best", "Epoch", "Spread", "Shards", "CPU time"]
    assert column(browser, "overview", 4) == ["best", "+0.25"] and set(column(browser, "overview", 2)) == {"Median"}
    assert "by gap is toy2 (Median on 4 shards): 1 after epoch 3 of 4" in find(browser, "#lead").text
    assert texts(browser, "#curves h3") == ["Gap", "Spread"]
    for chart in ("gap", "spread"):
        drawn = np.array([y for one in points(browser, chart) for _, y in one])
        values = np.array([epoch["values"][chart] for run in runs for epoch in run["epochs"]])
        slope, offset = np.polyfit(values, drawn, 1)
        assert slope < 0 and np.abs(slope * values + offset - drawn).max() < 1.5
    assert len(browser.find_elements("css selector", "[data-chart=gap] .ring")) == 2
    assert texts(browser, "#shards .segments button") == ["Spread", "CPU time"]
    assert texts(browser, "#time .stages span") == ["sort", "take median"]


def test_the_experiment_is_its_table(show):
    """Text, marks and order are those of the table; Markdown says the same in its own signs."""
    browser = show("experiment")
    expected = large_experiment()
    shown = browser.execute_script(
        """const sign = { SUP: (text) => `<sup>${text}</sup>`, B: (text) => `**${text}**` };
           const read = (node) => node.nodeType === Node.TEXT_NODE ? node.textContent
             : (sign[node.nodeName] || ((text) => text))([...node.childNodes].map(read).join(''));
           return [...document.querySelectorAll('#experiment tbody tr')].map((row) =>
             [...row.querySelectorAll('td')].map(read))"""
    )
    lines = [line.strip("| ").split(" | ")[1:] for line in expected.markdown().splitlines()[2:]]
    assert [[text.replace("@", " @") for text in row] for row in shown] == [
        [text.strip() for text in line] for line in lines
    ]
    assert texts(browser, "#experiment tbody th .who") == [row.entries[0].text for row in expected.rows]
    assert texts(browser, "#experiment thead .group") == ["test_2016_flickr", "test_2017_mscoco", HOSTILE[1]]
    assert texts(browser, "#experiment .note") == list(expected.legend)
    keys = browser.execute_script(
        "return [...document.querySelectorAll('#experiment tbody th .key')].map((one) => one.children.length)"
    )
    assert keys == [1, 1, 1] + [0] * 27  # only those that are runs have a run's mark


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_several_tables_with_captions(show, size):
    """Marks say what they mean; sentences stay on a phone; of many rows, the rest comes when asked for."""
    browser = show("tables", size)
    assert browser.execute_script("return document.hacked") is None
    assert overflow(browser) == 0
    scores, sentences = captioned_scores(), captioned_sentences()
    assert texts(browser, "#experiment caption") == [scores.caption, sentences.caption]
    assert texts(browser, "#experiment .note") == [*scores.legend, *sentences.legend]
    assert find(browser, "#experiment sup").get_attribute("title") == "better than 1, 2"
    assert len(texts(browser, "#experiment .prose")) == 2 * (1 + sentences.first)
    press(browser, "#experiment .more", "Show 2 more of 12")
    shown = texts(browser, "#experiment td.prose")
    assert shown == [entry.text for row in sentences.rows for entry in row.entries[1:]]
    assert all(one.is_displayed() for one in browser.find_elements("css selector", "#experiment .prose"))


def test_the_experiment_is_sorted(show):
    browser = show("experiment")
    rows = large_experiment().rows
    for number, label in ((5, "#features"), (7, "BLEU"), (16, "CPU s")):
        press(browser, "#experiment thead button", label)  # the first of this label, so of the first test set
        values = sorted((row.entries[number - 1] for row in rows), key=lambda one: -one.value)
        texts_shown = [text.split("\n")[0] for text in column(browser, "experiment", number)]
        assert all(text.startswith(one.text) for text, one in zip(texts_shown, values, strict=True))


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_experiments_columns_line_up(show, size):
    """Names of test sets stand over their columns, numbers below each other whatever their marks are."""
    browser = show("experiment", size)
    boxes = browser.execute_script(
        """const box = (one) => { const { left, right } = one.getBoundingClientRect(); return [left, right]; };
           const all = (selector) => [...document.querySelectorAll(`#experiment ${selector}`)].map(box);
           return [all('thead .group'), all('thead tr + tr th'),
             [...document.querySelectorAll('#experiment tbody tr')].map((row) =>
               [...row.querySelectorAll('td.right')].slice(2, 11).map(box)),
             [...document.querySelectorAll('#experiment tbody tr')].map((row) =>
               [...row.querySelectorAll('.after')].map(box))]"""
    )
    groups, heads, cells, marks = boxes
    assert len(groups) == 3 and len(heads) == 9
    for k, (left, right) in enumerate(groups):
        assert [heads[3 * k][0], heads[3 * k + 2][1]] == pytest.approx([left, right], abs=1)
    for row in cells:
        assert np.array(row) == pytest.approx(np.array(heads), abs=1)
    assert np.ptp(np.array(marks)[:, :, 0], axis=0).max() < 1


def test_rows_of_the_experiment_are_told_apart_on_a_phone(show):
    """However far the table is moved, what a row is about stays."""
    browser = show("experiment", PHONE)
    browser.execute_script("document.querySelector('#experiment .scroll').scrollLeft = 500")
    left = browser.execute_script(
        "return document.querySelector('#experiment tbody th').getBoundingClientRect().left - "
        "document.querySelector('#experiment .scroll').getBoundingClientRect().left"
    )
    assert 0 <= left <= 2
    first, last = texts(browser, "#experiment tbody th")[::29]
    assert "given · id+ng+shape · top 1e+00" in first and "train:29 · id+ng+shape" in last


def choose(browser, place, label, text):
    from selenium.webdriver.support.select import Select

    for one in browser.find_elements("css selector", f"#{place} .controls label"):
        if one.text.startswith(label):
            Select(one.find_element("css selector", "select")).select_by_visible_text(text)
            return
    raise AssertionError(f"no choice {label!r}")


def test_features_sorted_searched_opened(show):
    browser = show()
    choose(browser, "features", "Run", "select")
    features = next(run["features"] for run in data_of(browser)["runs"] if run["name"] == "select")
    rows = features["rows"]

    def shown():
        return texts(browser, "#features .feature .raw")

    by_weight = [row["name"] for row in sorted(rows, key=lambda row: -abs(row["weight"]))]
    assert shown() == by_weight[:25]
    press(browser, "#features .segments button", "column norm")
    by_norm = [row["name"] for row in sorted(rows, key=lambda row: -row["norm"])]
    assert shown() == by_norm[:25] != by_weight[:25]
    press(browser, "#features .more")
    assert shown() == by_norm[:50]
    find(browser, "#features .search").send_keys("haus")
    found = [name for name in by_norm if "haus" in name]
    assert shown() == found and 0 < len(found) < len(rows)
    assert f"{len(found)} of the {len(rows)} largest" in find(browser, "#features").text
    choose(browser, "features", "Kind", "source bigram")
    assert shown() == [name for name in found if name.startswith("RBS:")]
    find(browser, "#features .search").send_keys("no such feature")
    assert shown() == []


def test_examples_are_marked(show):
    browser = show()
    find(browser, "#features .search").send_keys("hund")
    press(browser, "#features .feature")
    opened = find(browser, "#features tr.detail")
    marks = [one.text for one in opened.find_elements("css selector", "mark")]
    assert any("hund" in mark for mark in marks) or "do not occur" in opened.text
    assert find(browser, "#features .feature").get_attribute("aria-expanded") == "true"


def common(left, right):
    """Length of a longest common subsequence, by the textbook."""
    table = np.zeros((len(left) + 1, len(right) + 1), int)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def sides(browser):
    """For each sentence and side: all words, and those without a mark."""
    return browser.execute_script(
        """const words = (nodes) => nodes.map((node) => node.textContent).join(' ').split(' ').filter(Boolean);
           const plain = (line) => [...line.childNodes].filter((node) => node.nodeName !== 'MARK');
           return [...document.querySelectorAll('#translations .sentence')].map((one) =>
             [...one.querySelectorAll('.side > div:last-child')].map((line) => [words([line]), words(plain(line))]))"""
    )


def test_differences_are_marked(show):
    browser = show()
    found = sides(browser)
    assert found
    for (left, kept_left), (right, kept_right) in found:
        assert left != right  # only differing ones are shown at first
        assert kept_left == kept_right and len(kept_left) == common(left, right)
    assert any("<img/src" in word or "</script>" in word for pair in found for word in pair[0][0] + pair[1][0])
    press(browser, "#translations .segments button", "against the reference")
    references = texts(browser, "#translations dd:nth-of-type(2)")
    for reference, pair in zip(references, sides(browser), strict=True):
        for words, kept in pair:
            assert len(kept) == common(words, reference.split())


def test_translations_begin_with_the_largest_differences(show):
    shown = [text[1:] for text in texts(show(), "#translations .sentence > .head span:first-child")]
    changes = texts(show(), "#translations .sentence > .head")
    gains = [abs(float(text.split("B ")[1].replace("−", "-"))) if "B " in text else 0.0 for text in changes]
    assert len(shown) > 3 and gains == sorted(gains, reverse=True) and gains[0] > gains[-1]


def test_translations_chosen_ordered_searched(show):
    browser = show("one run")
    data = data_of(browser)
    choose(browser, "translations", "Order", "as in the data")
    everything = [source[0] for source in data["sets"][0]["sources"]]
    run = data["runs"][0]
    choose(browser, "translations", "A", f"select, epoch 1{' ★' if run['best'] == 1 else ''}")
    choose(browser, "translations", "B", f"select, epoch 4{' ★' if run['best'] == 4 else ''}")
    if find(browser, "#translations .check input").is_selected():
        press(browser, "#translations .check input")
    press(browser, "#translations .more")
    assert [text.split("\n")[0] for text in texts(browser, "#translations .sentence > .head span:first-child")] == [
        f"#{one}" for one in everything
    ]
    choose(browser, "translations", "Order", "B gains most first")
    first, last = run["translated"].index(1), run["translated"].index(4)
    gains = {
        source[0]: scores[epochs[last]] - scores[epochs[first]]
        for source, (_, scores, epochs) in zip(data["sets"][0]["sources"], data["sets"][0]["outputs"]["0"], strict=True)
    }
    shown = [text[1:] for text in texts(browser, "#translations .sentence > .head span:first-child")]
    assert [gains[one] for one in shown] == sorted(gains.values(), reverse=True)[: len(shown)]
    find(browser, "#translations .search").send_keys("hund")
    with_word = [source[0] for source in data["sets"][0]["sources"] if "hund" in " ".join([source[2], *source[3]])]
    shown = [text[1:] for text in texts(browser, "#translations .sentence > .head span:first-child")]
    assert 0 < len(shown) < len(everything) and set(with_word) >= set(shown) - {"hound"}


def test_configuration_differences(show):
    browser = show()
    rows = data_of(browser)["configuration"]
    assert column(browser, "configuration", 1) == [row["key"] for row in rows if not row["same"]]
    press(browser, "#configuration .check input")
    assert column(browser, "configuration", 1) == [row["key"] for row in rows][:60]
    find(browser, "#configuration .search").send_keys("learn.eta")
    assert column(browser, "configuration", 1) == ["epoch.learn.eta"]


def test_significance(show, evaluation):
    browser = show()
    press(browser, "#evaluation .segments button", "BLEU")
    for one in (row for row in evaluation.comparisons if row.metric == "bleu"):
        line = next(
            text
            for text in texts(browser, "#evaluation .tests tbody tr")
            if one.first in text.split("\n")[0] + text and one.second in text
        )
        assert f"{abs(one.difference):.2f}" in line and f"{one.randomization.p:.4f}" in line


def test_p_is_that_of_the_terminal(show, evaluation):
    """As text, to the last digit: of a row on the page and of the same row of `itersel evaluate`."""
    browser = show()
    terminal = {row[0]: row[4:6] for row in comparison_rows(evaluation)[1:] if row[1] == "BLEU"}
    for first, second, *found in browser.execute_script(
        """return [...document.querySelectorAll('#evaluation .tests tbody tr')].map((row) => [
             ...[...row.querySelectorAll('.pair .who')].map((one) => one.textContent),
             row.cells[3].textContent, row.cells[4].textContent])"""
    ):
        assert found == terminal[f"{first} − {second}"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_intervals_have_an_axis(show, evaluation, size):
    """Numbers above the intervals stand where the intervals' ends are drawn, by any metric."""
    browser = show(size=size)
    for label, metric in (("BLEU", "bleu"), ("TER", "ter")):
        press(browser, "#evaluation .segments button", label)
        ticks, reaches = browser.execute_script(
            """const middle = (one) => { const { x, width } = one.getBoundingClientRect(); return x + width / 2; };
               const ends = (one) => { const { left, right } = one.getBoundingClientRect(); return [left, right]; };
               const find = (selector) => [...document.querySelectorAll(`#evaluation .interval ${selector}`)];
               return [find('.tick').map((one) => [Number(one.textContent.replace('−', '-')), middle(one)]),
                       find('.reach').map(ends)]"""
        )
        assert len(ticks) >= 2 and 0 in [value for value, _ in ticks]
        slope, offset = np.polyfit(*np.array(ticks).T, 1)
        intervals = [one.bootstrap.interval for one in evaluation.comparisons if one.metric == metric]
        expected = np.sort(np.array(intervals) * slope + offset, axis=0)
        assert np.sort(np.array(reaches), axis=0) == pytest.approx(expected, abs=2.5)


def test_the_evaluation_has_brevity_penalties(show, evaluation):
    browser = show()
    heads = texts(browser, "#evaluation .scroll:first-child thead th")
    place = heads.index("Brevity penalty")
    rows = {row[0]: row[place] for row in rows_of(browser, "#evaluation")}
    for name in ("sgd", "select"):
        assert rows[name] == f"{evaluation.brevity_penalties[name]:.3f}"


def rows_of(browser, place):
    """The cells of a section's first table."""
    return browser.execute_script(
        """return [...document.querySelector(arguments[0] + ' table').tBodies[0].rows].map((row) =>
             [...row.cells].map((cell) => cell.innerText.trim()))""",
        place,
    )


def test_a_start_that_is_left_out_is_named(show):
    browser = show("far start")
    note = "Epoch 0, before training, is left out: 0.01."
    cards = texts(browser, "#curves .card")
    assert [note in text for text in cards if text.startswith("Devtest BLEU")] == [True]
    assert len(points(browser, "devtest_bleu")[0]) == len(data_of(browser)["runs"][0]["epochs"])
    assert note not in find(show("one run"), "#curves").text


def test_what_is_promised_stands_beside_what_is_reached(show):
    """The line search's score is a second line of the decoder's chart, and has no chart of its own."""
    browser = show("tuned")
    (run,) = data_of(browser)["runs"]
    assert "Score on lists" not in texts(browser, "#curves h3")
    card = next(text for text in texts(browser, "#curves .card") if text.startswith("Tuning score"))
    assert "Dashed: score on lists." in card
    found = browser.execute_script(
        """const middle = (one) => { const { y, height } = one.getBoundingClientRect(); return y + height / 2; };
           const chart = document.querySelector('[data-chart=tune_score]');
           return [...chart.querySelectorAll('.dot'), ...[...chart.querySelectorAll('.ghost')].reverse()].map(middle)"""
    )
    values = [epoch["values"][key] for key in ("tune_score", "list_score") for epoch in run["epochs"]]
    slope, offset = np.polyfit(values, found, 1)
    assert slope < 0 and np.abs(slope * np.array(values) + offset - found).max() < 1.5


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_weights_over_the_epochs(show, size):
    browser = show("tuned", size)
    weights = data_of(browser)["runs"][0]["weights"]
    assert weights["names"] and weights["start"][weights["names"].index("p")] == -0.5
    lines = browser.execute_script(
        """return Object.fromEntries([...document.querySelectorAll('#weights .weight-line')].map((one) =>
             [one.dataset.feature, one.querySelector('.line').getAttribute('d').match(/[-0-9.]+/g).map(Number)]))"""
    )
    assert sorted(lines) == sorted(weights["names"])
    drawn = np.array([y for name in weights["names"] for y in lines[name][1::2]])
    values = np.array(
        [v for start, rest in zip(weights["start"], weights["epochs"], strict=True) for v in (start, *rest)]
    )
    slope, offset = np.polyfit(values, drawn, 1)
    assert slope < 0 and np.abs(slope * values + offset - drawn).max() < 0.2


def test_the_score_as_a_function_of_each_weight(show):
    """A small chart per feature: the curve's pixels are the data, a line stands at the model's weight."""
    browser = show("tuned")
    features = data_of(browser)["runs"][0]["sections"]["features"]
    found = browser.execute_script(
        """return [...document.querySelectorAll('#weights .sections figure')].map((one) => [one.dataset.feature,
             one.querySelector('.line').getAttribute('d').match(/[-0-9.]+/g).map(Number),
             Number(one.querySelector('.cross').getAttribute('x1'))])"""
    )
    assert [name for name, *_ in found] == [one["name"] for one in features][:12]
    for one, (_, path, at) in zip(features, found, strict=False):
        slope, offset = np.polyfit(one["weights"], path[::2], 1)
        assert slope > 0 and slope * one["at"] + offset == pytest.approx(at, abs=0.2)
        assert np.abs(slope * np.array(one["weights"]) + offset - path[::2]).max() < 0.2
        tops = np.array(path[1::2])[np.array(one["values"]) == max(one["values"])]
        assert tops == pytest.approx(min(path[1::2]), abs=0.2)


def test_boxes_over_repeats(show):
    browser = show("experiment")
    expected = large_experiment().repeats
    for repeats in expected[:2]:
        choose(browser, "experiment", "Test set", repeats.test)
        found = browser.execute_script(
            """const value = (one, key) => Number(one.getAttribute(key));
               return [...document.querySelectorAll('#experiment .repeat')].map((one) => {
                 const box = one.querySelector('.box');
                 const left = box && value(box, 'x'), median = one.querySelector('.median');
                 return [one.dataset.system, [...one.querySelectorAll('.dot')].map((dot) => value(dot, 'cx')),
                   box && [left, value(median, 'x1'), left + value(box, 'width')]];
               })"""
        )
        assert [name for name, *_ in found] == [name for name, _ in repeats.systems]
        dots = np.array([x for _, several, _ in found for x in several])
        values = np.array([value for _, several in repeats.systems for value in several])
        slope, offset = np.polyfit(values, dots, 1)
        assert slope > 0 and np.abs(slope * values + offset - dots).max() < 0.1
        for (_, several), (_, _, box) in zip(repeats.systems, found, strict=True):
            if box is None:
                assert len(several) == 1
            else:
                quartiles = slope * np.percentile(several, (25, 50, 75)) + offset
                assert np.abs(quartiles - box).max() < 1.1


def test_a_learning_curve_has_intervals(show):
    """Every interval reaches from its lower to its upper bound, on the scale of the points; sizes do not differ."""
    browser = show("experiment")
    assert not texts(browser, "#experiment [data-chart=setting-sizes]")
    (plot,) = large_experiment().plots
    found = browser.execute_script(
        """const chart = document.querySelector('#experiment [data-chart=setting-scores]');
           const spread = (one) => { const box = one.getBBox(); return [box.y + box.height, box.y]; };
           return [...chart.querySelectorAll('.interval')].map(spread)"""
    )
    lines = browser.execute_script(
        """const chart = document.querySelector('#experiment [data-chart=setting-scores]');
           return [...chart.querySelectorAll('.line')].map((one) =>
             one.getAttribute('d').match(/[\\d.]+ [\\d.]+/g).map((point) => Number(point.split(' ')[1])))"""
    )
    values = np.array([value for _, several in plot.scores for value in several])
    heights = np.array([y for line in lines for y in line])
    slope, offset = np.polyfit(values, heights, 1)
    assert slope < 0 and np.abs(slope * values + offset - heights).max() < 0.1
    bounds = np.array([pair for several in plot.intervals for pair in several])
    assert np.abs(slope * bounds + offset - np.array(found)).max() < 0.5
    spoken = browser.execute_script(
        "return document.querySelector('#experiment [data-chart=setting-scores] svg').getAttribute('aria-label')"
    )
    assert "100,000: 30.50 (30.00 to 31.50)" in spoken


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_scores_and_sizes_by_a_setting(show, size):
    """Scores on one scale, sizes on a logarithmic one, values of the setting spaced evenly; nothing for the unknown."""
    browser = show("tables", size)
    (plot,) = captioned_scores().plots
    assert overflow(browser) == 0 and browser.execute_script("return document.hacked") is None
    assert texts(browser, "#experiment .card h3") == [f"By {HOSTILE[1]}"]
    assert len(texts(browser, "#experiment [data-chart=setting-sizes]")) == 1
    sizes = (("Features", plot.sizes),)
    for name, series, form in (("setting-scores", plot.scores, float), ("setting-sizes", sizes, np.log10)):
        lines = browser.execute_script(
            f"return [...document.querySelectorAll('[data-chart={name}] .line')].map((one) => one.getAttribute('d'))"
        )
        drawn = [[[float(x) for x in point.split()] for point in re.findall("[ML]([^ML]+)", line)] for line in lines]
        known = [[(k, form(value)) for k, value in enumerate(values) if value is not None] for _, values in series]
        assert [len(one) for one in drawn] == [len(one) for one in known]
        (places, heights), (numbers, values) = (
            zip(*(point for one in several for point in one), strict=True) for several in (drawn, known)
        )
        for expected, pixels, sign in ((numbers, places, 1), (values, heights, -1)):
            slope, offset = np.polyfit(expected, pixels, 1)
            assert slope * sign > 0 and np.abs(slope * np.array(expected) + offset - pixels).max() < 0.2
        labels, marked = (
            browser.execute_script(
                f"return [...document.querySelectorAll('[data-chart={name}] {tag}')].map((one) => one.textContent)"
            )
            for tag in ("text", "title")
        )
        assert {*plot.values, plot.setting} <= set(labels)
        assert len(marked) == sum(map(len, known)) and marked[0].startswith(f"{series[0][0]}, selection.top 10: ")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_domains_share(show, size):
    """In how many of three domains features have a weight, and those with both signs; with examples."""
    browser = show("domains", size)
    assert overflow(browser) == 0 and browser.execute_script("return document.hacked") is None
    counts, largest, apart = data_of(browser)["sharing"]
    assert len(texts(browser, "#sharing caption")) == 3
    total = sum(row["entries"][1]["value"] for row in counts["rows"])
    shown = browser.execute_script(
        """return [...document.querySelector('#sharing table').tBodies[0].rows].map((row) =>
             [...row.cells].slice(0, 3).map((cell) => cell.innerText.trim()))"""
    )
    assert shown == [["0", "0", "0"], ["1", "0", "0"]] + [
        [str(number), f"{count:,}", f"{count:,}"] for number, count in ((2, total - total // 2), (3, total // 2))
    ]
    for table in (largest, apart):
        signs = [[entry["value"] for entry in row["entries"][2:5]] for row in table["rows"]]
        assert all(domains == up + down and min(up, down) == 1 for domains, up, down in signs)
        assert any(row["entries"][-1]["text"] for row in table["rows"])
    assert HOSTILE[1] in find(browser, "#sharing").text


def test_how_many_of_the_sentences_are_here(show):
    assert "7 of 15 sentences are here, taken evenly." in find(show("far start"), "#translations").text


def test_raw_names_of_features(show):
    browser = show()
    rows = next(run["features"] for run in data_of(browser)["runs"] if run["name"] == "select")["rows"]
    choose(browser, "features", "Run", "select")
    names = [row["name"] for row in sorted(rows, key=lambda row: -abs(row["weight"]))][:25]
    assert texts(browser, "#features .feature .raw") == names
    assert any(text != name for text, name in zip(texts(browser, "#features .feature"), names, strict=True))


def test_tables_say_that_they_are_wider_than_a_phone(show):
    """A hint in words and a shade at the edge, as long as there is more on that side."""
    browser = show(size=PHONE)
    wide = browser.execute_script(
        """return [...document.querySelectorAll('.scroller')].map((one) => {
             const scroll = one.querySelector('.scroll'), hint = one.querySelector('.hint');
             const shade = getComputedStyle(one.querySelector('.edges'), '::after').opacity;
             return [scroll.scrollWidth > scroll.clientWidth + 2, hint.innerText, Number(shade)];
           })"""
    )
    assert any(more for more, *_ in wide)
    for more, hint, shade in wide:
        assert (hint, shade) == (("Scroll sideways for more columns →", 1) if more else ("", 0))
    browser.execute_script("document.querySelector('#overview .scroll').scrollLeft = 9999")
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert texts(browser, "#overview .hint") == ["← Scroll back"]
    assert texts(show(), "#overview .hint") == [""]


def test_the_navigation_of_a_phone(show):
    """Every link can be seen and pressed; the bar names the section that is on the screen."""
    browser = show("experiment", PHONE)
    assert not find(browser, "#links").is_displayed()
    for name in ("Features", "Configuration", "Overview"):
        press(browser, "#sections")
        boxes = browser.execute_script(
            """return [...document.querySelectorAll('#links a')].map((one) => {
                 const { left, right, top, bottom } = one.getBoundingClientRect();
                 return [left, right, top, bottom, one.scrollWidth - one.clientWidth];
               })"""
        )
        assert len(boxes) == 10
        for left, right, top, bottom, hidden in boxes:
            assert 0 <= left < right <= PHONE[0] and 0 <= top < bottom <= PHONE[1] and hidden == 0
        browser.execute_script("arguments[0].click()", next(a for a in links_of(browser) if a.text == name))
        browser.execute_async_script("setTimeout(arguments[0], 60)")
        assert not find(browser, "#links").is_displayed() and find(browser, "#sections").text == name


def links_of(browser):
    return browser.find_elements("css selector", "#links a")


def test_day_and_night(show):
    def background(browser):
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    browser = show(dark=False)
    day = background(browser)
    dot = "return getComputedStyle(document.querySelector('[data-chart=devtest_bleu] .dot')).fill"
    ink = browser.execute_script(dot)
    press(browser, "#theme")
    night = background(browser)
    assert night != day and browser.execute_script(dot) != ink
    browser.refresh()
    assert background(browser) == night  # the choice is kept
    press(browser, "#theme")
    assert background(browser) == day
    browser.execute_script("localStorage.clear()")
    assert background(show(dark=True)) == night  # as the system has it


def test_redrawn_when_the_screen_turns(show):
    browser = show(size=PHONE)
    width = browser.execute_script(
        "return document.querySelector('[data-chart=devtest_bleu] svg').viewBox.baseVal.width"
    )
    metrics = {"width": 812, "height": 375, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    box = "return document.querySelector('[data-chart=devtest_bleu] svg').viewBox.baseVal.width"
    assert browser.execute_script(box) != width
    assert overflow(browser) == 0
