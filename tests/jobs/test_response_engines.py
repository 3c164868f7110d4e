"""An external response on the engines of one machine; test_engine_spark.py has it on Spark."""

import pytest
from response_cases import SCRIPT, check_response

from engine_cases import small_data
from itersel.engines import RunConfig


def test_the_program_is_small():
    assert len(SCRIPT.read_text().splitlines()) <= 22


@pytest.mark.parametrize("run", [RunConfig("local", jobs=2), RunConfig("mrjob-local", reducers=3)], ids=str)
def test_same_bytes(tmp_path, run):
    check_response(small_data(tmp_path), run, tmp_path)
