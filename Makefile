# The few commands of the house. Each one does all the set-up that it needs.

PYTHON ?= python3
READY := .venv/.ready
BIN := .venv/bin

# Tests that start no process and no server: what the gate has time for.
PURE := tests/domain tests/models tests/house tests/workflow tests/engine tests/flows tests/cli tests/test_prompts.py \
	tests/test_settings.py tests/test_listings.py

# Hashes of every platform, no address of any registry; right for each Python that pyproject.toml allows.
COMPILE := .tools/uv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

export PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup demo test faults peers check up bench fmt lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv from requirements.lock (done by every command that needs it)

demo: $(READY) ## watch the main job on a board: BOARD=folder CARDS=8 SABOTAGE=fence
	@exec $(BIN)/orchestrator demo $(if $(BOARD),--board '$(BOARD)') $(if $(CARDS),--cards '$(CARDS)') $(if $(SABOTAGE),--sabotage '$(SABOTAGE)')

up: $(READY) ## start everything in the foreground: WORKFLOW=path
	@exec $(BIN)/orchestrator up $(if $(WORKFLOW),--workflow '$(WORKFLOW)')

test: $(READY) ## every test, with real servers and processes; those of `peers` apart
	@sh ops/test.sh $(BIN)/python

peers: $(READY) ## the tests with real Roundup, Backlog.md, Codex, Claude Code: installs them, skips by name
	@sh ops/peers.sh
	@$(BIN)/python -m pytest tests -m peer

faults: $(READY) ## kill real workers at every seam of a flow: EVERY=5 for each fifth point
	@$(BIN)/python -m tests.flows $(EVERY)

check: $(READY) ## the gate without servers: format, lint, types, layers, pure tests
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy orchestrator tasks beat_schedule.py docs/generate.py ops/health.py
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest $(PURE) -q -m "not services and not e2e and not long"

bench: $(READY) ## the benchmarks, side by side with what you would use instead
	@$(BIN)/python -m bench

fmt: $(READY) ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: $(READY) ## take the newest versions that pyproject.toml allows into the locks
	@$(COMPILE) --upgrade pyproject.toml --all-extras --group dev -o requirements.lock
	@$(COMPILE) --upgrade --group peers -o bench/peers.lock
	@$(COMPILE) pyproject.toml --constraints requirements.lock --no-emit-index-url -o ops/server.lock

clean: ## remove what was made here: .venv, .tools, caches (not .stationkeeper: it holds data)
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml requirements.lock requirements-uv.lock ops/bootstrap.sh
	@sh ops/bootstrap.sh
	@touch $@
