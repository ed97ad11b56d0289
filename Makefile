# Everything the project can be asked to do, and the only place where it is written down: the README and both CI
# files call these targets. `make help` lists them.

PYTHON ?= python3
VENV ?= .venv
CARGO ?= cargo

# How processes are started, and how many.
MPIEXEC ?= $(dir $(call python_of,$(VENV)))mpiexec
RANKS ?= 2

# Passed on by the targets that name them.
DEMO_OUTPUT ?= demo-output
PYTEST_ARGS ?=
BENCH_ARGS ?=
# What `make edit-test` tests.
OP ?= softmax
MUTANTS_ARGS ?= --jobs $(shell nproc 2>/dev/null || echo 2)
# How many programs each property is held against by `make fuzz`, and where their choice starts.
FUZZ_EXAMPLES ?= 2000
FUZZ_SEED ?= $(shell date +%s)
FUZZ_SEED := $(FUZZ_SEED)
# Site-packages folders that hold torch and JAX, for `make bench`.
TORCH ?=
JAX ?=
# A checkout of microsoft/ADBench, for `make bench-adbench`.
ADBENCH ?=
# With MANYLINUX=2_17 the wheel is linked by zig and runs on every Linux whose glibc is that old; so are released
# wheels.
MANYLINUX ?=
# What the source distribution is compiled with by `make sdist-test`.
SDIST_PROFILE ?= release
# A free-threaded Python, for `make free-threaded-test`.
PYTHON_FREE ?= python3.14t
# In CI a Cargo.lock that is out of date is an error.
LOCKED ?= $(if $(CI),--locked)

# The interpreter of a virtual environment.
python_of = $(1)/$(if $(filter Windows_NT,$(OS)),Scripts/python.exe,bin/python)
PY := $(call python_of,$(VENV))
# Touched when the pinned tools, zig, MPI and the wheel are in the virtual environment.
TOOLS := $(VENV)/.tools-installed
ZIG := $(VENV)/.zig-installed
MPI := $(VENV)/.mpi-installed
WHEEL := $(VENV)/.wheel-installed

# What the wheel is made of, which has no face for Rust. Folders are listed too: their time changes when a file in them
# is added or removed.
SOURCES := Cargo.toml Cargo.lock .cargo/config.toml pyproject.toml \
	$(shell find rust python \( -path rust/retrograd -o -path rust/retrograd-generator -o -name tests -o -name benches -o -name __pycache__ \) -prune \
	-o -print 2>/dev/null)

# The crates that are published, those that others depend on first.
PUBLISHED_NAMES := retrograd-macros retrograd-derive retrograd-kernels retrograd-fft retrograd-linalg retrograd-engine \
	retrograd
PUBLISHED := $(addprefix -p ,$(PUBLISHED_NAMES))
# The extension crate leaves Python's symbols to the interpreter that loads it, so it makes no test binary.
RUST_CRATES := --workspace --exclude retrograd-python
# Crates that are not in the workspace.
APART := benches/peers-rust tests/outside
# Families of ops, dtypes, threads and arrays: the features of the crate retrograd, which are those of its engine.
FEATURES := complex conv fft half linalg nn random rnn special threads ndarray
RUFF_PATHS := python tests benches examples tools
# Where tools/width.py looks: Python is left to ruff, and the table of ops is generated.
WIDTH_PATHS := $(filter-out docs/ops.md,$(wildcard *.md *.toml Makefile .github docs/*.md examples rust))
# The oldest Rust that the crates promise to compile with.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# No target calls make, and cargo counts the cores itself: it would only complain of a jobserver it cannot reach.
unexport MAKEFLAGS MFLAGS

comma := ,
# Of a build whose kernels change their way at small sizes already.
SMALL_BLOCKS := --config 'build.rustflags=["--cfg"$(comma)"small_blocks"]'

# What a build that checks the duties of unsafe code says to tests: in the target folder $(1), with the flags $(2), the
# tests $(3), or all. Frames are large without optimisation.
define debug-tests
$(CARGO) build $(LOCKED) -p retrograd-python --target-dir $(1) $(2)
rm -rf $(1)/debug-site && mkdir -p $(1)/debug-site && cp -r python/retrograd $(1)/debug-site
cp $$(ls $(1)/debug/lib_core.so $(1)/debug/lib_core.dylib 2>/dev/null) $(1)/debug-site/retrograd/_core.abi3.so
ulimit -s $$(ulimit -H -s) && PYTHONPATH=$(CURDIR)/$(1)/debug-site $(PY) -m pytest -n auto $(3) $(PYTEST_ARGS)
endef

# Those that compare with NumPy, or with another way to the same result. There no op is too small to be divided.
SMALL_BLOCKS_TESTS := tests/records tests/test_beyond_thresholds.py tests/test_decompositions_of_all_sizes.py \
	tests/test_threads.py tests/test_indexing.py tests/test_convolution.py tests/test_running_moments.py tests/test_overlapping_operands.py \
	--deselect tests/test_threads.py::test_no_thread_before_the_first_large_op

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: help demo demo-mpi test lint rust-test features python-test test-mpi debug-test edit-test small-blocks-test
.PHONY: free-threaded-test fuzz miri loom valgrind msrv deny mutants doctest stubs face bench bench-sweep bench-adbench
.PHONY: bench-rust bench-peers-rust counts
.PHONY: counts-check docs pictures wheel sdist-test package package-test platforms semver format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(WHEEL) ## Train a digit classifier and draw its results into demo-output/
	$(PY) examples/digits/train.py --output $(DEMO_OUTPUT)

demo-mpi: $(WHEEL) $(MPI) ## Train on several processes (RANKS=2) and draw how that scales into demo-output/ddp/
	$(MPIEXEC) -n $(RANKS) $(PY) examples/ddp/train.py --output $(DEMO_OUTPUT)/ddp

test: lint rust-test python-test ## Run all that CI runs: lint, Rust tests, Python tests

lint: $(TOOLS) ## Check format, lints and types, in Rust and in Python
	$(CARGO) fmt --all --check
	for crate in $(APART); do $(CARGO) fmt --manifest-path $$crate/Cargo.toml --check; done
	$(CARGO) clippy $(LOCKED) --workspace --all-features --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --all-features --no-deps --quiet
	$(PY) -m ruff check $(wildcard $(RUFF_PATHS))
	$(PY) -m ruff format --check $(wildcard $(RUFF_PATHS))
	$(PY) -m mypy
	$(PY) tools/width.py $(WIDTH_PATHS)
	if $(CARGO) deny --version >/dev/null 2>&1; then \
		$(CARGO) deny --log-level error check licenses bans sources; \
	else \
		echo "Not checked: licences and sources of dependencies, which needs cargo-deny (cargo install --locked cargo-deny)"; \
	fi

rust-test: ## Test the Rust crates, documentation examples included
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run $(LOCKED) $(RUST_CRATES) --all-features; \
	else \
		$(CARGO) test $(LOCKED) $(RUST_CRATES) --all-features --lib --bins --tests; \
	fi
	$(CARGO) test $(LOCKED) $(RUST_CRATES) --all-features --doc

features: ## Check the Rust crates without features, with each alone, with the default ones and with all
	for features in "" $(FEATURES); do \
		echo "features: $$features"; \
		$(CARGO) clippy $(LOCKED) -p retrograd --all-targets --no-default-features --features "$$features" -- -D warnings; \
		$(CARGO) clippy $(LOCKED) -p retrograd-engine --test features --no-default-features --features "$$features" \
			-- -D warnings; \
	done
	$(CARGO) clippy $(LOCKED) -p retrograd --all-targets -- -D warnings
	$(CARGO) clippy $(LOCKED) -p retrograd --all-targets --all-features -- -D warnings

python-test: $(WHEEL) ## Test the built wheel (PYTEST_ARGS="-k mul" chooses tests)
	$(PY) -m pytest -n auto $(PYTEST_ARGS)

# One after the other: each starts as many processes as cores, or more.
test-mpi: $(WHEEL) $(MPI) ## Test programs of 1, 2 and 4 processes, and how they end, on MPI
	RETROGRAD_TEST_MPI=1 $(PY) -m pytest tests/mpi $(PYTEST_ARGS)

debug-test: $(TOOLS) ## Run the Python tests on a build that checks the duties of unsafe code
	$(call debug-tests,target,)

edit-test: $(TOOLS) ## Build what was edited, without optimisation, and run the records of an op (OP=softmax)
	$(call debug-tests,target,,tests/records -k "$(OP)")

small-blocks-test: $(TOOLS) ## Run tests on a build whose kernels change their way at small sizes already
	$(call debug-tests,target/small-blocks,$(SMALL_BLOCKS),$(SMALL_BLOCKS_TESTS))

free-threaded-test: ## Run the Python tests without the interpreter's lock (PYTHON_FREE=python3.14t)
	$(PYTHON_FREE) -m venv target/free-threaded
	target/free-threaded/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--only-binary :all: -c requirements/dev.txt hypothesis numpy pytest pytest-xdist
	PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON=$(CURDIR)/target/free-threaded/bin/python \
		$(CARGO) build $(LOCKED) -p retrograd-python --target-dir target/free-threaded
	rm -rf target/free-threaded/site && mkdir target/free-threaded/site && cp -r python/retrograd target/free-threaded/site
	cp $(firstword $(wildcard target/free-threaded/debug/lib_core.dylib) target/free-threaded/debug/lib_core.so) \
		target/free-threaded/site/retrograd/_core.so
	ulimit -s $$(ulimit -H -s) && PYTHONPATH=$(CURDIR)/target/free-threaded/site \
		target/free-threaded/bin/python -m pytest -n auto $(PYTEST_ARGS)

fuzz: $(WHEEL) ## Hold random programs against what must be true of all (FUZZ_SEED, FUZZ_EXAMPLES)
	@echo "FUZZ_SEED=$(FUZZ_SEED) FUZZ_EXAMPLES=$(FUZZ_EXAMPLES)"
	FUZZ_SEED=$(FUZZ_SEED) FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(PY) -m pytest -n auto tests/fuzz $(PYTEST_ARGS)

miri: ## Run the Rust tests of memory and graphs in Miri (installs it with rustup)
	$(CARGO) +nightly miri --version >/dev/null 2>&1 || \
		rustup toolchain install nightly --profile minimal --component miri,rust-src
	$(CARGO) +nightly miri test $(LOCKED) $(SMALL_BLOCKS) -p retrograd-kernels --lib -- memory:: sort::
	$(CARGO) +nightly miri test $(LOCKED) $(SMALL_BLOCKS) -p retrograd-engine --lib -- storage:: tensor:: autograd::

loom: ## Run the pools under every order of their threads that loom finds
	RUSTFLAGS="--cfg loom" $(CARGO) test $(LOCKED) -p retrograd-kernels --release --test loom

valgrind: ## Run the Rust tests of the engine under valgrind, which sees the machine's memory
	$(CARGO) test $(LOCKED) -p retrograd-engine --lib \
		--config 'target."cfg(all())".runner = "valgrind --quiet --error-exitcode=9 --num-callers=25"' -- --test-threads 1

msrv: ## Check that the crates compile with the Rust that they promise (installs it with rustup)
	$(CARGO) +$(MSRV) --version >/dev/null 2>&1 || rustup toolchain install $(MSRV) --profile minimal
	$(CARGO) +$(MSRV) check $(LOCKED) --workspace --all-features --all-targets

deny: ## Check licences, sources and known vulnerabilities of dependencies (needs cargo-deny)
	$(CARGO) deny check
mutants: $(TOOLS) ## Change the meaning of the source in small ways, which tests must see (MUTANTS_ARGS="views" chooses)
	$(PY) tools/mutants $(MUTANTS_ARGS)

doctest: $(WHEEL) ## Run the examples in the docstrings of the built module
	$(PY) -m pytest tests/test_docstrings.py $(PYTEST_ARGS)

stubs: $(WHEEL) ## Write the type stubs of the built module
	$(PY) tools/stubs.py

face: ## Write the Rust form of every op, the files in rust/retrograd/src/ops/generated
	RETROGRAD_WRITE_FACE=1 $(CARGO) test $(LOCKED) $(RUST_CRATES) --all-features --test generated

# What is timed here, with torch and JAX where TORCH and JAX name their folders, and what is made of it.
BESIDE = $(if $(TORCH),--torch-site "$(TORCH)")
bench: $(WHEEL) ## Time the engine; with TORCH=<site-packages>, side by side with torch, for docs/figures.md
	mkdir -p target/figures
	$(CARGO) bench $(LOCKED) -p retrograd-engine
	$(PY) benches/compare.py $(BESIDE) --json target/figures/one.json $(BENCH_ARGS)
	$(PY) benches/compare.py $(BESIDE) --threads 2 --json target/figures/two.json $(BENCH_ARGS)
	$(PY) benches/compiled.py $(BESIDE) $(if $(JAX),--jax-site "$(JAX)") --json target/figures/compiled.json
	$(PY) benches/figures.py target/figures/one.json target/figures/two.json target/figures/compiled.json

bench-sweep: $(WHEEL) ## List the ops on whole tensors that are slower than torch's (TORCH=<site-packages>)
	$(PY) benches/sweep.py $(BESIDE) $(BENCH_ARGS)

bench-adbench: $(WHEEL) ## Time the objectives of ADBench; with ADBENCH=<checkout>, beside Tapenade's, for docs/adbench.md
	mkdir -p target/figures
	$(PY) benches/adbench.py $(if $(ADBENCH),--adbench "$(ADBENCH)") --json target/figures/adbench.json $(BENCH_ARGS)
	$(if $(ADBENCH),$(PY) benches/figures.py --adbench target/figures/adbench.json)

bench-rust: ## Time small statements of the face for Rust (BENCH_ARGS="hook" chooses)
	$(CARGO) bench $(LOCKED) -p retrograd --bench face -- $(BENCH_ARGS)

# Statements of both languages are timed in the same minutes.
bench-peers-rust: $(WHEEL) ## Time programs beside other crates, and statements beside Python's, for docs/peers-rust.md
	$(CARGO) build --locked --release --manifest-path benches/peers-rust/Cargo.toml --target-dir target/peers-rust
	mkdir -p target/figures
	$(PY) benches/compare.py --only "^statement: |^MLP step, batch 32|per node of a chain|^jacobian of tanh" \
		--json target/figures/statements.json
	target/peers-rust/release/peers-rust --date $$(date +%F) --python target/figures/statements.json \
		--write docs/peers-rust.md $(BENCH_ARGS)

counts: $(WHEEL) ## Store the instruction counts of small statements of the wheel (needs valgrind)
	$(PY) benches/instructions.py --renew

counts-check: $(WHEEL) ## Compare the instruction counts of small statements with the stored ones (needs valgrind)
	$(PY) benches/instructions.py --check

docs: $(WHEEL) ## Build the Rust documentation and the table of ops
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --all-features --no-deps
	$(PY) tools/ops_page.py

pictures: $(WHEEL) ## Profile a training step of the digits example, and draw it for docs/profiler.md
	$(PY) tools/pictures.py

wheel: $(WHEEL) ## Build the release wheel into target/wheels and install it into .venv

sdist-test: $(TOOLS) ## Build the source distribution, install it into an empty environment and try it
	rm -rf target/sdist
	$(PY) -m maturin sdist --out target/sdist
	$(PYTHON) -m venv target/sdist/venv
	CARGO_TARGET_DIR=$(CURDIR)/target/sdist/build MATURIN_PEP517_ARGS="--profile $(SDIST_PROFILE) --locked" \
		$(call python_of,target/sdist/venv) -m pip install --quiet --disable-pip-version-check \
		target/sdist/retrograd-*.tar.gz
	cd target/sdist && $(call python_of,venv) -c "import retrograd as rg; x = rg.tensor([3.0], requires_grad=True); \
		(x * x).backward(); assert x.grad.tolist() == [6.0]"

package: ## Pack the Rust crates as they are published, into target/package
	rm -f target/package/*.crate
	$(CARGO) package $(LOCKED) $(PUBLISHED) --no-verify $(if $(CI),,--allow-dirty)

# Packed files are older than what was built of them: cargo sees by their time what is new.
package-test: package ## Test the packed crates by a crate outside of the workspace, tests/outside
	rm -rf target/package/unpacked
	for packed in target/package/*.crate; do \
		name=$$(basename $$packed) && folder=target/package/unpacked/$${name%-*} && mkdir -p $$folder && \
		tar --extract --touch --gzip --strip-components 1 --file $$packed --directory $$folder; \
	done
	rm -f tests/outside/Cargo.lock
	RETROGRAD_ALL_LEVELS=0 $(CARGO) test --manifest-path tests/outside/Cargo.toml --target-dir target/outside

platforms: ## Check the Rust crates for platforms that no tests run on (installs their libraries with rustup)
	rustup target add wasm32-unknown-unknown aarch64-unknown-linux-gnu
	$(CARGO) check $(LOCKED) -p retrograd --no-default-features --features ndarray,nn --target wasm32-unknown-unknown
	$(CARGO) check $(LOCKED) $(PUBLISHED) --target aarch64-unknown-linux-gnu

semver: ## Compare the interface of the crates with that of their last version (needs cargo-semver-checks)
	if found=$$($(CARGO) info --registry crates-io retrograd 2>&1); then \
		$(CARGO) semver-checks $(addprefix -p ,$(filter-out %-macros %-derive,$(PUBLISHED_NAMES))); \
	elif grep --quiet "could not find" <<< "$$found"; then \
		echo "Not compared: no version is published yet"; \
	else \
		echo "$$found"; exit 1; \
	fi

format: $(TOOLS) ## Format the sources, and fix what lints can fix by themselves
	$(CARGO) fmt --all
	for crate in $(APART); do $(CARGO) fmt --manifest-path $$crate/Cargo.toml; done
	$(PY) -m ruff check --fix $(wildcard $(RUFF_PATHS))
	$(PY) -m ruff format $(wildcard $(RUFF_PATHS))
	$(PY) tools/width.py --fix $(WIDTH_PATHS)

lock: ## Pin the tools anew in requirements/ (needs uv)
	for group in dev mpi zig; do \
		uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
			--no-header --group $$group --output-file requirements/$$group.txt; \
	done

clean: ## Remove all that was built
	rm -rf tests/outside/Cargo.lock $(VENV) target $(DEMO_OUTPUT) .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(TOOLS): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(ZIG): requirements/zig.txt $(TOOLS)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(MPI): requirements/mpi.txt $(TOOLS)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(WHEEL): $(TOOLS) $(if $(MANYLINUX),$(ZIG)) $(SOURCES)
	rm -f target/wheels/retrograd-*.whl
	$(PY) -m maturin build --release $(LOCKED) --interpreter $(PY) --out target/wheels \
		$(if $(MANYLINUX),--zig --compatibility manylinux_$(MANYLINUX))
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/retrograd-*.whl
	@touch $@
