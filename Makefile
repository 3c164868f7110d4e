# The two commands: `make demo` sets up and runs the whole chain on the corpus that ships here, `make test` sets up and
# runs every check. Both work from a clean checkout; the environment is made once, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PROCESSES ?= 2
# The tests start some thousand processes: with bytecode each takes a fifth of a second less.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo sample test lint check sanitize tools benchmark clean

demo: $(VENV)/ready
	$(BIN)/itersel demo

# The same chain on a few hundred sentences, in seconds.
sample: $(VENV)/ready
	$(BIN)/itersel build conf/sample.yaml
	$(BIN)/itersel train conf/sample-train.yaml --output work/sample/run

# What mostly waits runs beside what computes: downloads and tools beside the compiler, the sanitizers, with what the
# others leave of the processor, beside the tests of engines.
test:
	$(MAKE) --jobs 3 --output-sync lint $(VENV)/ready-to-test tools
	$(MAKE) --jobs 2 check sanitize

lint: $(VENV)/packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror itersel/kernel/*/*.cc itersel/kernel/*/*.hh
	$(BIN)/mypy itersel

# What the tests of engines and of the report use and pip has not. Where it cannot be installed, they are skipped with a
# reason, unless CI=true.
tools:
	-bash tools/slurm/single-node.sh install
	-bash tools/sge/single-node.sh install
	-bash tools/browser/install.sh
	-which zsh fish > /dev/null || apt-get install -y -q --no-install-recommends zsh fish
	-$(PYTHON) tools/hadoop/cluster.py install

# A file's tests stay in one process, so that each engine is started once. In the order of the folders, the engines, which
# take longest, come first.
check:
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# Runs all benchmarks that need no other system's program (hours, and up to 14 GB in TMPDIR), then writes the README's
# table. The data is expected in ../shared/data. `python benchmarks/figures.py run NAME` runs one.
benchmark: $(VENV)/ready-to-test
	$(BIN)/python benchmarks/figures.py run
	$(BIN)/python benchmarks/figures.py table

# The output comes in one piece, as other tests may run at the same time.
sanitize:
	@mkdir -p build; PATH="$(abspath $(BIN)):$$PATH" nice -n 5 bash tests/sanitize.sh > build/sanitized.log 2>&1; \
	status=$$?; echo "tests/sanitize.sh:"; cat build/sanitized.log; exit $$status

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23.2" "setuptools>=68,<81" wheel packaging "pybind11>=3.0,<4"

SOURCES := setup.py setup.cfg pyproject.toml $(wildcard itersel/kernel/*/*.cc itersel/kernel/*/*.hh)

$(VENV)/ready: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

# pip installs packages one after the other, while the kernel is compiled. Bytecode is made for what is imported.
$(VENV)/packages: $(VENV)/bin/python setup.cfg
	$(BIN)/python tools/requirements.py test > $(VENV)/requirements.txt
	DIST_EXTRA_CONFIG=$(abspath tools/wheels.cfg) $(BIN)/python -m pip install --quiet --no-compile \
	  -r $(VENV)/requirements.txt
	touch $@

$(VENV)/kernel: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python setup.py --quiet build_ext
	touch $@

$(VENV)/ready-to-test: $(VENV)/packages $(VENV)/kernel
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	touch $@ $(VENV)/ready

clean:
	rm -rf build $(VENV) itersel/*.so
