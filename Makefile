# Everything here works in a virtual environment of its own, .venv, made with the first command.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PEERS = .venv-peers
# pip, or uv where it is installed: the same packages, sooner. Bytecode is made here, not by several test processes at a time.
INSTALL = $(if $(shell command -v uv),uv pip install --quiet --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)
# Processes that run unit tests, one for every core; system tests have one more, and both kinds together two, because many wait for a browser,
# a server or a worker.
JOBS ?= $(shell $(PYTHON) -c "import os; print(min(8, os.cpu_count() or 1))")
# Of system tests, those that `make test` runs; KIND=thorough for the long ones.
KIND = not thorough
TESTS = -m pytest --dist=worksteal --numprocesses=

# Bytecode is kept, whatever the environment says: tests start many processes, and each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo explore settings examples plots pictures check test unit system thorough mutants lint types bench peers docs dist clean help

help:
	@echo "make demo    install, and learn the graph of the exam marks"
	@echo "make explore install, and open the workbench in the browser, on the exam marks"
	@echo "make check   install with the test tools, and run the quick unit tests (40 s)"
	@echo "make test    all unit and system tests but the long ones (4 minutes on two cores)"
	@echo "make unit    tests in one process: no browser, server, cluster, child process or notebook; CI runs them with every Python"
	@echo "make system  pages, workbench, Dask, command lines as processes, documentation; CI runs them once, and with KIND=thorough the long ones: notebooks, more pages"
	@echo "make thorough   calibration by simulation, the paper at length, benchmarks, and properties with many more random cases"
	@echo "make mutants change the source in 300 places, one at a time, and count the changes that the tests notice (VENV=.venv-3.13 PYTHON=python3.13)"
	@echo "make lint    style and format: ruff, and oxfmt for the scripts of the report"
	@echo "make types   mypy --strict on the source"
	@echo "make settings   write docs/settings.md, docs/commands.md and the keywords of learn from the source"
	@echo "make examples   run the notebooks in examples/ and keep what they show"
	@echo "make pictures   take the pictures of the report and of the workbench for the guides (needs Chromium)"
	@echo "make plots   draw the pictures of the README and of docs/pictures.md"
	@echo "make bench   measure, and write docs/benchmarks.md; beside other packages after make peers"
	@echo "make peers   install other packages to compare with into .venv-peers (large: they bring PyTorch)"
	@echo "make docs    build the site of the documentation into site/, and check it"
	@echo "make dist    build the wheel and the source distribution into dist/, and check them"
	@echo "make clean   remove the environments and what was built"

demo: $(VENV)/.installed
	@$(BIN)/ordag learn marks --units commensurable

explore: $(VENV)/.installed-explore
	@$(BIN)/ordag explore marks

check: $(VENV)/.installed-dev
	HYPOTHESIS_PROFILE=quick $(BIN)/python $(TESTS)$(JOBS) -m "not system and not slow and not thorough"

test: $(VENV)/.installed-dev
	$(BIN)/python $(TESTS)$(shell expr $(JOBS) + 2) -m "not thorough"

unit: $(VENV)/.installed-dev
	$(BIN)/python $(TESTS)$(JOBS) -m "not system and not thorough"

system: $(VENV)/.installed-dev
	$(BIN)/python $(TESTS)$(shell expr $(JOBS) + 1) -m "system and $(KIND)"

thorough: $(VENV)/.installed-dev
	HYPOTHESIS_PROFILE=thorough $(BIN)/python $(TESTS)$(JOBS) --timeout=1800 -m "not system or thorough"

mutants: $(VENV)/.installed-dev
	$(BIN)/python -m tools.mutants $(MUTANTS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxfmt --check "src/ordag/*/browser/*.js"

types: $(VENV)/.installed-dev
	$(BIN)/mypy

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

settings: $(VENV)/.installed-dev
	$(BIN)/python -m tools.settings
	$(BIN)/python -m tools.commands

examples: $(VENV)/.installed-dev
	$(BIN)/python -m tools.notebooks

plots: $(VENV)/.installed-dev
	$(BIN)/python -m tools.plots

pictures: $(VENV)/.installed-dev
	$(BIN)/python -m tools.screenshot
	$(BIN)/python -m tools.workbench_pictures

peers: $(PEERS)/.installed

docs: $(VENV)/.installed-docs
	$(BIN)/python -m tools.site

dist: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Ordag needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Name another with: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(INSTALL) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml
	$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-explore: $(VENV)/.created pyproject.toml
	$(INSTALL) -e ".[explore]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/.created pyproject.toml
	$(INSTALL) -e ".[docs]"
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.created pyproject.toml
	$(INSTALL) -e ".[bench]"
	@touch $@

$(PEERS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[peers]"
	@touch $@

clean:
	rm -rf $(VENV) .venv-* .mutants dist build site
