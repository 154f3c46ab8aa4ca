# Every command runs in the project's own environment, .venv, which make creates when it is missing or out of date.
#   make PYTHON=python3.13 ...   uses another Python for it (3.11 or newer)
PYTHON ?= python3
SWEEP  ?= default
DIR    ?= reports/$(SWEEP)
ARGS   ?=

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/ready

# The stamp names the folder and the Python that the environment was made for. An environment that was moved, made by
# another Python, left half finished, or whose Python is gone is made anew.
FRESH := $(shell [ "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd) $(PYTHON)" ] \
           && $(BIN)/python -c 'import importlib.util as u; exit(not u.find_spec("numba"))' 2>/dev/null && echo yes)

.DEFAULT_GOAL := help
.PHONY: help sweep report bench test test-all players golden lint format clean new

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

sweep: $(STAMP) ## play and report a sweep: SWEEP=name (default: default), ARGS="--games 1000 ..."
	$(BIN)/fairdeal sweep $(if $(filter %.yaml,$(SWEEP)),$(SWEEP),configs/sweeps/$(SWEEP).yaml) $(ARGS)

report: $(STAMP) ## write the report of played results again: DIR=reports/name
	$(BIN)/fairdeal report $(DIR) $(ARGS)

bench: $(STAMP) ## measure how fast games are played
	$(BIN)/fairdeal bench $(ARGS)

test: $(STAMP) ## the quick tests
	$(BIN)/python -m pytest -m "not slow" $(ARGS)

test-all: $(STAMP) ## all tests
	$(BIN)/python -m pytest $(ARGS)

players: $(STAMP) ## train the weights of all presets anew, after a change of rules, features or training (half an hour)
	rm -rf configs/players/adapted
	$(BIN)/fairdeal train $(patsubst configs/games/%.yaml,%,$(wildcard configs/games/*/*.yaml)) --out configs/players/adapted

golden: $(STAMP) ## write the golden game logs anew, after a deliberate change
	$(BIN)/python -m tests.golden

lint: $(STAMP) ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove the environment and all caches, but no results
	rm -rf $(VENV) .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt $(if $(FRESH),,new)
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON). Install Python 3.11 or newer, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is $$($(PYTHON) -V 2>&1); 3.11 or newer is needed: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments; on Debian and Ubuntu install python3-venv, or name another: make PYTHON=..." >&2; exit 1; }
	@echo "Installing into $(VENV), which takes a few minutes the first time ..." >&2
	$(if $(FRESH),,rm -rf $(VENV) && $(PYTHON) -m venv $(VENV))
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@echo "$$(pwd) $(PYTHON)" > $@
