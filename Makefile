# Everything the project can be asked to do, and the only place where it is written down: the README and both CI
# files call these targets. `make help` lists them.

PYTHON ?= python3
VENV ?= .venv
CARGO ?= cargo

# Passed on by the targets that name them.
DEMO_OUTPUT ?= demo-output
PYTEST_ARGS ?=
BENCH_ARGS ?=
MUTANTS_ARGS ?= --jobs $(shell nproc 2>/dev/null || echo 2)
# How many programs each property is held against by `make fuzz`, and where their choice starts.
FUZZ_EXAMPLES ?= 2000
FUZZ_SEED ?= $(shell date +%s)
FUZZ_SEED := $(FUZZ_SEED)
# A site-packages folder that holds torch, for `make bench`.
TORCH ?=
# In CI a Cargo.lock that is out of date is an error.
LOCKED ?= $(if $(CI),--locked)

PY := $(VENV)/bin/python
# Touched when the pinned tools, and when the wheel, are in the virtual environment.
TOOLS := $(VENV)/.tools-installed
WHEEL := $(VENV)/.wheel-installed

# What the wheel is made of. Folders are listed too: their time changes when a file in them is added or removed.
SOURCES := $(wildcard Cargo.toml Cargo.lock rust-toolchain.toml .cargo/config.toml) pyproject.toml \
	$(shell find rust python \( -name tests -o -name benches -o -name __pycache__ \) -prune -o -print 2>/dev/null)

# The extension crate leaves Python's symbols to the interpreter that loads it, so it makes no test binary.
RUST_CRATES := --workspace --exclude retrograd-python
RUFF_PATHS := python tests benches examples tools

# No target calls make, and cargo counts the cores itself: it would only complain of a jobserver it cannot reach.
unexport MAKEFLAGS MFLAGS

# What a build that checks the duties of unsafe code says to tests: in the target folder $(1), with the flags $(2), the
# tests $(3), or all. Frames are large without optimisation.
define debug-tests
$(CARGO) build $(LOCKED) -p retrograd-python --target-dir $(1) $(2)
rm -rf $(1)/debug-site && mkdir -p $(1)/debug-site && cp -r python/retrograd $(1)/debug-site
cp $$(ls $(1)/debug/lib_core.so $(1)/debug/lib_core.dylib 2>/dev/null) $(1)/debug-site/retrograd/_core.abi3.so
ulimit -s $$(ulimit -H -s) && PYTHONPATH=$(CURDIR)/$(1)/debug-site $(PY) -m pytest -n auto $(3) $(PYTEST_ARGS)
endef
comma := ,

# Those that compare with NumPy, or with another way to the same result.
SMALL_BLOCKS_TESTS := tests/records tests/test_beyond_thresholds.py tests/test_threads.py tests/test_indexing.py \
	tests/test_convolution.py tests/test_running_moments.py tests/test_overlapping_operands.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: help demo test lint rust-test python-test debug-test small-blocks-test fuzz mutants doctest stubs bench docs wheel format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(WHEEL) ## Train a digit classifier and draw its results into demo-output/
	$(PY) examples/digits/train.py --output $(DEMO_OUTPUT)

test: lint rust-test python-test ## Run all that CI runs: lint, Rust tests, Python tests

lint: $(TOOLS) ## Check format, lints and types, in Rust and in Python
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(LOCKED) --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --no-deps --quiet
	$(PY) -m ruff check $(wildcard $(RUFF_PATHS))
	$(PY) -m ruff format --check $(wildcard $(RUFF_PATHS))
	$(PY) -m mypy

rust-test: ## Test the Rust crates, documentation examples included
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run $(LOCKED) $(RUST_CRATES); \
	else \
		$(CARGO) test $(LOCKED) $(RUST_CRATES) --lib --bins --tests; \
	fi
	$(CARGO) test $(LOCKED) $(RUST_CRATES) --doc

python-test: $(WHEEL) ## Test the built wheel (PYTEST_ARGS="-k mul" chooses tests)
	$(PY) -m pytest -n auto $(PYTEST_ARGS)

debug-test: $(TOOLS) ## Run the Python tests on a build that checks the duties of unsafe code
	$(call debug-tests,target,)

small-blocks-test: $(TOOLS) ## Run tests on a build whose kernels change their way at small sizes already
	$(call debug-tests,target/small-blocks,--config 'build.rustflags=["--cfg"$(comma)"small_blocks"]',$(SMALL_BLOCKS_TESTS))

fuzz: $(WHEEL) ## Hold random programs against what must be true of all (FUZZ_SEED, FUZZ_EXAMPLES)
	@echo "FUZZ_SEED=$(FUZZ_SEED) FUZZ_EXAMPLES=$(FUZZ_EXAMPLES)"
	FUZZ_SEED=$(FUZZ_SEED) FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(PY) -m pytest -n auto tests/fuzz $(PYTEST_ARGS)

mutants: $(TOOLS) ## Change the meaning of the source in small ways, which tests must see (MUTANTS_ARGS="views" chooses)
	$(PY) tools/mutants $(MUTANTS_ARGS)

doctest: $(WHEEL) ## Run the examples in the docstrings of the built module
	$(PY) -m pytest tests/test_docstrings.py $(PYTEST_ARGS)

stubs: $(WHEEL) ## Write the type stubs of the built module
	$(PY) tools/stubs.py

bench: $(WHEEL) ## Time the engine; with TORCH=<site-packages>, side by side with torch
	$(CARGO) bench $(LOCKED) -p retrograd
	$(PY) benches/compare.py $(if $(TORCH),--torch-site "$(TORCH)") $(BENCH_ARGS)

docs: $(WHEEL) ## Build the Rust documentation and the table of ops
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --no-deps
	$(PY) tools/ops_page.py

wheel: $(WHEEL) ## Build the release wheel into target/wheels and install it into .venv

format: $(TOOLS) ## Format the sources, and fix what lints can fix by themselves
	$(CARGO) fmt --all
	$(PY) -m ruff check --fix $(wildcard $(RUFF_PATHS))
	$(PY) -m ruff format $(wildcard $(RUFF_PATHS))

lock: ## Pin the development tools anew in requirements/dev.txt (needs uv)
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --group dev --output-file requirements/dev.txt

clean: ## Remove all that was built
	rm -rf $(VENV) target $(DEMO_OUTPUT) .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(TOOLS): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(WHEEL): $(TOOLS) $(SOURCES)
	rm -f target/wheels/retrograd-*.whl
	$(PY) -m maturin build --release $(LOCKED) --interpreter $(PY) --out target/wheels
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/retrograd-*.whl
	@touch $@
