"""The semantic parser, the response that compares its answers, and `itersel geoquery ask`."""

import pytest

from itersel.base.errors import InputError
from itersel.cli import main
from itersel.grammar.extraction import open_index
from itersel.grammar.grammar import Grammar
from itersel.pipeline.geoquery_parser import build_parser
from itersel.response.geoquery.data import GOLD_FILE, read_questions
from itersel.response.geoquery.database import FACTS_FILE, read_database
from itersel.response.geoquery.parser import LONGEST, WEIGHTS
from itersel.response.geoquery.response import GeoQueryResponse
from itersel.response.protocol import outcomes


@pytest.fixture(scope="module")
def files(geoquery, tmp_path_factory):
    return build_parser(geoquery, tmp_path_factory.mktemp("parser"), range(0, 880, 4))


def test_it_knows_questions_of_its_kind(files, geoquery):
    parser = files.open(read_database(geoquery / FACTS_FILE))
    parse = parser.parse("what is the capital of ohio ?")
    assert str(parse.tree) == "answer(capital(loc_2(stateid('ohio'))))"
    assert parse.tokens == "answer@1 capital@1 loc_2@1 stateid@1 ohio@s"
    assert parser.parse("") is None
    assert parser.parse("mann mit hut") is None


def test_every_weight_has_a_feature(files, geoquery):
    parser, question = files.open(read_database(geoquery / FACTS_FILE)), "what is the xyzzy of ohio"
    grammar = Grammar(parser.extractor.extract(question, where="the question"))
    found = {name for one in parser.decoder.kbest(question, grammar, 100) for name in one.features}
    assert set(WEIGHTS) <= found | {"LanguageModel_OOV"}


def test_a_huge_question_has_no_parse(files, geoquery, monkeypatch):
    """It is not even translated, which takes very long."""
    parser = files.open(read_database(geoquery / FACTS_FILE))
    words = ["texas"] * (LONGEST + 1)
    assert max(len(one.text.split()) for one in read_questions(geoquery)) < LONGEST / 2
    monkeypatch.setattr(parser, "decoder", None)
    assert parser.parse(" ".join(words)) is None
    with pytest.raises(AttributeError):
        parser.parse(" ".join(words[1:]))


def test_the_response_compares_answers(files, geoquery, tmp_path):
    (tmp_path / "gold").write_text("[cityid(columbus,oh)]\n[]\n")
    response = GeoQueryResponse(files.index, files.language_model, geoquery / FACTS_FILE, tmp_path / "gold")
    assert response("0", ["what is the capital of ohio", "what is the capital of utah"]) == [True, False]
    found = outcomes(response, "0", ["what is the capital of utah", "mann mit hut"])
    assert [(one.success, one.attempted, one.detail) for one in found] == [
        (False, True, "[cityid('salt lake city',ut)]"),
        (False, False, "no parse"),
    ]
    for id in ("2", "-1", "x"):
        with pytest.raises(InputError, match="no gold answer"):
            response(id, ["what is the capital of ohio"])


def test_an_empty_gold_answer_can_be_no_success(files, geoquery, tmp_path):
    """A failing query has no answer, either, so success would mean little."""
    (tmp_path / "gold").write_text("[cityid(columbus,oh)]\n[]\n")
    made = [files.index, files.language_model, geoquery / FACTS_FILE, tmp_path / "gold"]
    strict, usual = GeoQueryResponse(*made, accept_empty=False), GeoQueryResponse(*made)
    empty = "which states border hawaii"
    assert usual.answer(empty) == "[]"
    assert (usual("1", [empty]), strict("1", [empty])) == ([True], [False])
    assert strict("0", ["what is the capital of ohio"]) == [True]
    assert strict.checksum != usual.checksum


def test_the_checksum_is_of_all_that_matters(files, geoquery, tmp_path):
    made = set()
    for gold in ("[]\n", "[]\n", "[1.0]\n"):
        (tmp_path / "gold").write_text(gold)
        made.add(GeoQueryResponse(files.index, files.language_model, geoquery / FACTS_FILE, tmp_path / "gold").checksum)
    assert len(made) == 2
    assert (geoquery / GOLD_FILE).exists()


def test_ask(files, geoquery, tmp_path, capsys):
    del files
    model = ["--data", str(geoquery), "--model", str(tmp_path)]
    assert main(["geoquery", "ask", "Which states border Texas?", *model]) == 0
    out = capsys.readouterr().out
    assert "parse   answer(state(next_to_2(stateid('texas'))))\n" in out
    assert out.endswith("answer  [stateid(arkansas),stateid(louisiana),stateid('new mexico'),stateid(oklahoma)]\n")
    built = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("*.bin")}
    assert built
    assert main(["geoquery", "ask", "what is the capital of ohio", *model]) == 0
    out = capsys.readouterr().out
    assert out == "parse   answer(capital(loc_2(stateid('ohio'))))\nanswer  [cityid(columbus,oh)]\n"
    assert {path: path.stat().st_mtime_ns for path in built} == built, "the parser is kept"
    assert main(["geoquery", "ask", "?", *model]) == 2
    assert "the question is empty" in capsys.readouterr().err


def test_a_parser_of_other_questions_is_not_replaced(files, geoquery, capsys):
    folder = files.index.parents[2]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(["geoquery", "ask", "which states border texas", "--data", str(geoquery), "--model", str(folder)]) == 2
    assert f"{folder}: the parser here was made of other questions" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    build_parser(geoquery, folder, range(0, 880, 4))


def test_rules_are_counted_in_several_alignments(geoquery, tmp_path):
    """The text is there once per alignment, each of its own seed; other seeds of the parser have none in common."""
    made = {}
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        build_parser(geoquery, folder, range(0, 880, 20), seed=seed, alignments=2)
        for name in ("questions", "forms"):
            assert (folder / f"copies.{name}").read_text() == 2 * (folder / name).read_text()
        links = (folder / "copies.links").read_text().splitlines()
        half = len((folder / "questions").read_text().splitlines())
        assert len(links) == 2 * half
        made |= {(seed, 1): links[:half], (seed, 2): links[half:]}
    assert len(set(map(tuple, made.values()))) == 4
    folder = tmp_path / "1"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in (".links", ".bin")}
    build_parser(geoquery, folder, range(0, 880, 20), seed=1, alignments=2)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    files = build_parser(geoquery, folder, range(0, 880, 20), seed=1, alignments=1)
    assert (folder / "copies.questions").read_text() == (folder / "questions").read_text()
    assert open_index(files.index).sentences == half


def test_the_data_is_looked_for_beside_the_checkout(geoquery, tmp_path, capsys, monkeypatch):
    checkout = tmp_path / "itersel"
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "shared" / "data" / "geoquery").symlink_to(geoquery.resolve())
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    assert main(["geoquery", "ask", "what is the capital of ohio"]) == 0
    assert capsys.readouterr().out.endswith("answer  [cityid(columbus,oh)]\n")
    assert (checkout / "work" / "geoquery").is_dir()


def test_data_that_is_not_there(tmp_path, capsys):
    assert main(["geoquery", "ask", "x", "--data", str(tmp_path), "--model", str(tmp_path / "model")]) == 2
    assert "there is no GeoQuery data set here" in capsys.readouterr().err
