# Everything runs from here: `make demo` and `make test` need only git, make and Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: dist help setup demo test test-busy lint types imports docs unit browser box pywb gcc faults conformance fuzz fuzz-examples simulate-shards bench focus papers lock clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Motherlode needs Python 3.11 or later: make PYTHON=python3.12 …'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 15))' || echo 'Some pinned packages have no wheels for this Python yet. Should they not build: make PYTHON=python3.14 …'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $@

setup: $(STAMP)  ## create .venv with the motherlode command in it

demo: setup  ## crawl a small web of data on this machine, before your eyes
	$(BIN)/motherlode demo

test: setup lint types imports docs unit  ## lint, types, import rules, documentation and every test

lint: setup  ## ruff: rules and format
	$(BIN)/ruff check src tests bench tools conftest.py
	$(BIN)/ruff format --check src tests bench tools conftest.py

types: setup  ## mypy, strict
	$(BIN)/mypy

imports: setup  ## import-linter: the layers of docs/architecture.md
	$(BIN)/lint-imports

docs: setup  ## the documentation site, into site/; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

dist: setup  ## wheel and source distribution, into dist/
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist .

unit: setup browser box pywb gcc
	$(BIN)/python -m pytest -q -n 2 --dist worksteal || { echo 'Tests that failed are run once more, alone:'; \
	  $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none; }

test-busy: setup browser box pywb gcc  ## every test in four processes, three times in a row, beside two busy loops
	$(BIN)/python -m tools.busy --loops 2 --times 3 -- $(BIN)/python -m pytest -q -n 4 --dist worksteal

browser:  ## Chromium for the tests of the pages, where it is missing and can be installed; without it they are skipped
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null 2>&1; } || \
	  echo 'Chromium is not here and could not be installed: the tests in a browser are skipped'

box:  ## name server, web server and network tools for the tests of look-ups and of the internet in a box (tools/box)
	@PATH="$$PATH:/usr/sbin:/sbin"; command -v unbound >/dev/null && command -v nginx >/dev/null && \
	  command -v nft >/dev/null && command -v ip >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq unbound nginx nftables iproute2; } \
	  >/dev/null 2>&1; } || \
	  echo 'unbound, nginx, nftables or iproute2 is not here and could not be installed: their tests are skipped'

pywb:  ## pywb in an environment of its own for its test, where it can be installed; without it the test is skipped
	@test -x .pywb/bin/wayback || { python3 -m venv .pywb && .pywb/bin/pip install -q pywb==2.10.0 webtest==3.0.7; } >/dev/null 2>&1 || \
	  echo 'pywb could not be installed: its test is skipped'

gcc:  ## gcc for the library that lets calls fail in the tests of faults; without it they are skipped
	@command -v gcc >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev; } >/dev/null 2>&1; } || \
	  echo 'gcc is not here and could not be installed: the tests of faults are skipped'

conformance: setup  ## the public test suites: cases, passes, failures by name
	$(BIN)/python -m tests.conformance

MINUTES ?= 10

fuzz: setup  ## every parser under atheris, guided by coverage, for MINUTES=10 in all; failing inputs go to fuzz-findings/
	$(BIN)/python -m tests.fuzz.fuzzer --minutes $(MINUTES)

fuzz-examples: setup  ## the fuzz tests with random examples, twenty times as long as in `make test`
	FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest -q -n 2 $(shell grep -rl FUZZ_EXAMPLES tests --include='test_*.py')

faults: setup gcc  ## a small crawl, again and again: each call that writes, syncs, renames … fails once, or the power is lost; ARGS="--done FILE --minutes 60"
	$(BIN)/python -m tests.crawler.fault_runs $(ARGS)

simulate-shards: setup  ## 10,000 simulated sharded crawls with crashes, lost messages and partitions
	PYTHONHASHSEED=0 $(BIN)/python -m tests.cluster.shard_simulation --seeds 10000

bench: setup  ## every benchmark, into bench/RESULTS.md
	$(BIN)/python bench/run.py

papers: setup  ## the papers' tables and figures, measured anew, into docs/papers.md (under an hour on two cores)
	$(BIN)/python -m tools.papers --fresh

focus: setup  ## our policy against every other, by target and budget, into bench/results/focus.md; ARGS="--repeat 20"
	$(BIN)/python -m tools.focus $(ARGS)

lock:  ## write requirements.lock anew from what is installed
	$(BIN)/python -m pip freeze --exclude-editable | \
	  sed -e 's/^backports.zstd==.*/& ; python_version < "3.14"/' -e 's/^atheris==.*/& ; python_version < "3.14" and platform_machine == "x86_64"/' > requirements.lock  # later ones have it, and refuse this

clean:  ## remove what the other targets made
	rm -rf $(VENV) demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
