# The two commands: `make sample` sets up and runs the whole chain on the data that ships here, `make test` sets up and
# runs every check. Both work from a clean checkout; the environment is made once, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: sample test lint check sanitize clean

sample: $(VENV)/ready
	$(BIN)/itersel build conf/sample.yaml
	$(BIN)/itersel train conf/sample-train.yaml --output work/sample/run

test: $(VENV)/ready-to-test lint check sanitize

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror itersel/kernel/*.cc itersel/kernel/*.hh
	$(BIN)/mypy itersel

check:
	$(BIN)/python -m pytest

sanitize:
	PATH="$(abspath $(BIN)):$$PATH" bash tests/sanitize.sh

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23.2" "setuptools>=68,<81" wheel

SOURCES := setup.py setup.cfg pyproject.toml $(wildcard itersel/kernel/*.cc itersel/kernel/*.hh)

$(VENV)/ready: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/ready-to-test: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet -e ".[test]"
	touch $@ $(VENV)/ready

clean:
	rm -rf build $(VENV) itersel/*.so
