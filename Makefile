# Every target makes the environment it needs; `make demo` is the place to start.
PYTHON ?= python3
JOBS ?= 2
DEMO ?= build/demo
PYTHONS ?= $(PYTHON)
UNDER ?=
BIN := .venv/bin
WRITERS := */runtime/files.py,*/runtime/outputs.py,*/runtime/checkpoint.py,*/cli/run.py,*/io/write.py,*/mheal/selection.py
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
EXTRAS := .venv-extras/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test coverage boundscheck lowest test-extras test-reproduction reproduce lint release bench docs clean

demo: .venv/.base ## digits: curves.png, picks.png and runs.csv in build/demo; DEMO=demo ARGS=--force replaces the committed ones
	$(BIN)/mheal demo --out $(DEMO) $(ARGS)

test: .venv/.dev ## everything that takes seconds; `make test UNDER="coverage run -m"` also records which lines run
	$(BIN)/python -m $(UNDER) pytest -n $(JOBS) -m "not slow" --ignore tests/golden
	OPENBLAS_CORETYPE=Haswell $(BIN)/python -m $(UNDER) pytest -n $(JOBS) tests/golden

coverage: .venv/.dev ## of what has been recorded: all of mheal, then the files that write
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --fail-under=94
	$(BIN)/coverage report --include='$(WRITERS)' --fail-under=95

boundscheck: .venv/.dev ## the tests of kernels, with every index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n $(JOBS) -m "not slow" tests/backends tests/algorithms tests/cluster

lowest: .venv-lowest/.done ## tests with the lowest versions that pyproject.toml allows, without torch and Dask
	.venv-lowest/bin/pytest -n $(JOBS) -m "not slow" --ignore tests/io/test_label_studio.py tests/cluster tests/io tests/tables tests/test_api.py \
		tests/test_selection.py tests/cli/test_cli.py tests/cli/test_select.py tests/cli/test_messy_tables.py

test-extras: .venv-extras/.done ## adapters of packages that are too heavy for .venv, scikit-activeml's own tests, pretrained networks
	.venv-extras/bin/pytest -n $(JOBS) tests/adapters tests/test_docs.py -k "adapters or other_libraries"
	.venv-extras/bin/pytest tests/embed/test_pretrained.py

test-reproduction: .venv/.dev .venv/.reproduction
	$(BIN)/pytest -n $(JOBS) -m "not slow" reproduction/tests

reproduce: .venv/.reproduction ## make reproduce NAME=table3 [ARGS="--quick"]; reproduction/README.md lists the names
	$(BIN)/python -m mheal_reproduction $(NAME) $(ARGS)

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	cd reproduction && ../$(BIN)/mypy

release: .venv/.dev ## dist/: wheel and sdist, each used in a new environment; PYTHONS="python3.11 python3.12 python3.13" names several
	$(BIN)/python tests/release.py $(PYTHONS)

bench: .venv/.bench ## every peer beside us; rewrites benchmarks/speed/results
	$(BIN)/python benchmarks/speed/run_all.py

docs: .venv/.docs ## docs/_build/html/index.html; runs the scripts of examples/
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

clean:
	rm -rf .venv .venv-extras .venv-lowest build dist docs/_build docs/auto_examples docs/results .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks reproduction -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.base: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e .
	@touch $@

.venv/.dev: .venv/.base
	$(INSTALL) -e '.[dev]'
	@touch $@

.venv/.reproduction: .venv/.base reproduction/pyproject.toml
	$(INSTALL) -e '.[deep]' -e reproduction
	@touch $@

.venv-lowest/.done: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
		-e '.[images]' pytest pytest-xdist hypothesis pandas openpyxl pyarrow
	@touch $@

# Baal asks for Jupyter, which its heuristics do not use. The wheels of scikit-activeml have its tests up to 0.6.1.
.venv-extras/.done: pyproject.toml constraints.txt tests/adapters/requirements.txt
	$(PYTHON) -m venv .venv-extras
	$(EXTRAS) -e '.[dev,vision,text]' -r tests/adapters/requirements.txt
	$(EXTRAS) --no-deps baal torchmetrics structlog lightning-utilities
	.venv-extras/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target .venv-extras/template scikit-activeml==0.6.1
	cp -r .venv-extras/template/skactiveml/tests .venv-extras/lib/python3*/site-packages/skactiveml/
	@touch $@

.venv/.docs: .venv/.base
	$(INSTALL) -e '.[docs]'
	@touch $@

.venv/.bench: .venv/.dev benchmarks/speed/requirements.txt
	$(INSTALL) -r benchmarks/speed/requirements.txt
	@touch $@
