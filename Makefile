# Two commands matter: `make run` opens the app, `make test` checks everything. Both set up .venv by themselves and
# need nothing but Python 3.11 or later with venv and pip.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

# Dozens of processes start in the tests, and the app in each `make run`: where the environment forbids to keep bytecode,
# each would compile Streamlit and pandas anew, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check bench fuzz browser postgres lock clean

run: .venv/.app
	$(BIN)/python -m inspector_app $(ARGS)

# A module is one piece of work, for its server and its browser; `tests/conftest.py` puts the long ones first.
test: check browser postgres
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder --durations=10

# Style, types, and who may import whom.
check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -q tests/test_architecture.py

# Speed, one at a time: other work on the machine would spoil the figures.
bench: .venv/.dev
	$(PYTEST) tests/benchmarks -o python_files='bench_*.py' -p no:xdist -s

# Random cases for everything that takes what others wrote: a round of 15 minutes on two processors. Stopped (Ctrl+C),
# the next one goes on with it; then come new numbers. .fuzz.json keeps where it is. FUZZ='readers --minutes 3' chooses.
fuzz: .venv/.dev postgres
	$(BIN)/python -m tests.fuzz $(FUZZ)

# --- what has to be there

# pip checks every file against the lock, which is complete: nothing to resolve. Bytecode is written when a module is
# first imported, which is a fraction of them. The project itself is built with the locked build backend.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
FROM_LOCK := $(PIP) install --no-compile --no-deps --require-hashes --requirement
THE_PROJECT := $(PIP) install --no-deps --no-build-isolation --editable .

.venv/.app: .ci/requirements-run.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(FROM_LOCK) .ci/requirements-run.lock
	$(THE_PROJECT)
	touch $@

.venv/.dev: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(FROM_LOCK) requirements.lock
	$(THE_PROJECT)
	touch $@ .venv/.app

browser: .venv/.dev
	sh .ci/need-chromium $(BIN)/python

postgres: .venv/.dev
	sh .ci/need-postgres $(BIN)/python

# --- upkeep

# Pins everything anew. Registry addresses do not belong into a repository. The second file is what `make run`
# needs: the same pins, a fraction of the download.
COMPILE := $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header pyproject.toml
lock:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install uv
	$(COMPILE) --all-extras --output-file requirements.lock $(UPGRADE)
	$(COMPILE) --extra app --extra tokens --extra build --constraints requirements.lock --output-file .ci/requirements-run.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
