# Plain pip on Linux and macOS. `make demo` and `make test` need nothing but Python 3.11+ and a package index.
#   PYTHON=python3.12 make test      another interpreter
#   TORCH=torch make test            whatever torch build pip prefers (the default is one that exists as a CPU build)

PYTHON ?= python3
TORCH  ?= torch==2.13.0
VENV   ?= .venv
BIN    := $(VENV)/bin
CODE   := whileai_hf tests recipes trainers environments/generate.py environments/specs conftest.py

export HF_HUB_DISABLE_TELEMETRY := 1

.DEFAULT_GOAL := help
.PHONY: help demo test quality style slow ray bench bench-hack test-verifiers test-verifiers-v0 test-openenv clean

help:
	@echo "make demo     the main job, offline, on the sample agent (seconds, no torch)"
	@echo "make test     install the dev extra, lint, type-check, run the tests"
	@echo "make quality  lint, format check, types"
	@echo "make style    format and fix what ruff can fix"
	@echo "make slow     the tests marked slow, but those that need Ray"
	@echo "make ray      those that need Ray (installs the ray extra)"
	@echo "make bench    the benchmark programs, one JSON line each"
	@echo "make bench-hack  ten runs that hack their reward and ten honest twins, watched (minutes)"
	@echo "make test-verifiers     exported environments on verifiers 0.4, in a venv of its own"
	@echo "make test-verifiers-v0  the same packages on verifiers 0.3"
	@echo "make test-openenv       the same environments as an OpenEnv server"
	@echo "make clean    remove the virtual environment and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; run: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Stamps: an install is repeated only when pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# torch by itself first: asked for within the extra, pip may pick gigabytes of CUDA.
$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/whileai-hf demo

# Files, not tests, are shared out: what a file sets up once is set up once. They go in the order they come in, and end
# with small ones: by number of tests, a long file with one test would come last and run alone.
test: quality
	$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

quality: $(VENV)/.installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

style: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -m slow --timeout 1800 --ignore tests/engine/test_ray.py

ray: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable ".[ray]"
	$(BIN)/python -m pytest -q -m slow --timeout 1800 tests/engine/test_ray.py

bench: $(VENV)/.installed-dev
	@for program in import_time simulate latency pinned pass_at; do $(BIN)/python tests/benchmarks/$$program.py || exit 1; done

# verifiers pins what others do not, so it lives in a venv of its own; pytest stays in ours and is told where.
$(VENV)-verifiers/.installed $(VENV)-verifiers-v0/.installed: $(VENV)-%/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-$*
	$(VENV)-$*/bin/python -m pip install --quiet "verifiers$(if $(findstring v0,$*),==0.3.1,>=0.4,<0.5)" aiohttp --editable .
	@touch $@

test-verifiers: $(VENV)/.installed-dev $(VENV)-verifiers/.installed
	WHILEAI_VERIFIERS_PYTHON=$(abspath $(VENV)-verifiers/bin/python) $(BIN)/python -m pytest -q --timeout 1800 \
	  tests/export/verifiers/test_v1.py tests/environments/test_played.py

test-verifiers-v0: $(VENV)/.installed-dev $(VENV)-verifiers-v0/.installed
	WHILEAI_VERIFIERS_V0_PYTHON=$(abspath $(VENV)-verifiers-v0/bin/python) $(BIN)/python -m pytest -q --timeout 1800 \
	  tests/export/verifiers/test_v0.py

test-openenv: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable ".[openenv]"
	$(BIN)/python -m pytest -q tests/export/openenv

bench-hack: $(VENV)/.installed-dev
	$(BIN)/python tests/benchmarks/hack.py

clean:
	rm -rf $(VENV) $(VENV)-verifiers $(VENV)-verifiers-v0 .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-out
