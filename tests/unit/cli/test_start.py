"""What a verb imports before it works: its own needs, and nothing else."""

import subprocess
import sys

import pytest

from itersel.cli import VERBS, main

HEAVY = ("numpy", "scipy", "sacrebleu", "msgpack", "mrjob")
ROOMS = ("align", "metrics", "shards", "evaluation", "learn", "tune", "mapreduce", "algorithms", "engines", "run")


def modules_after(arguments: list[str]) -> set[str]:
    code = f"import sys\nfrom itersel.cli import main\ntry: main({arguments!r})\nfinally: print('\\n', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1200)
    return set(done.stdout.rpartition("\n ")[2].split())


def test_translate_imports_no_more_than_it_needs():
    found = modules_after(["translate", "--help"])
    assert "itersel.decode.translator" in found
    assert not {name for name in found if name.split(".")[0] in HEAVY}
    assert not {name for name in found for room in ROOMS if f"{name}.".startswith(f"itersel.{room}.")}
    assert {verb for verb in VERBS if f"itersel.cli.{verb}" in found} == {"translate"}


def test_scipy_waits_until_it_is_needed():
    """It takes longer to load than all the rest; experiments train, test, compare and draw."""
    found = modules_after(["experiment", "--help"])
    assert {"numpy", "itersel.evaluation.significance"} <= found and "scipy" not in found


def test_workers_of_a_job_read_no_yaml():
    code = "import sys, itersel.algorithms.registry, itersel.mapreduce.execution; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "itersel.base.config" in done.stdout.split() and "yaml" not in done.stdout.split()


@pytest.mark.parametrize("arguments", [["--help"], ["sing"]])
def test_all_verbs_are_listed(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    shown = "".join(capsys.readouterr())
    assert all(verb in shown for verb in VERBS)


def test_options_before_the_verb(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--log-json", "lm", "--help"])
    assert ended.value.code == 0 and "--discount-fallback" in capsys.readouterr().out
