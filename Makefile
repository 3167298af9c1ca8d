# `make` prints the targets. Everything runs in .venv, which `make install` makes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help install main test lint bench bench-sizes browser clean fuzz conformance wheel test-python test-rust loom stress bench-task phases functions jax-programs iree-runs accuracy odd-shapes far-offsets big fuzz-bytecode onnx-conformance

# How much `make fuzz` does: programs, damaged archives, seconds of each target, targets at a time, and every how many
# programs IREE is asked too.
FUZZ_PROGRAMS ?= 20000
FUZZ_ARCHIVES ?= 1000000
FUZZ_SECONDS ?= 600
FUZZ_JOBS ?= 2
FUZZ_IREE ?= 1

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml Cargo.toml requirements-dev.txt $(shell find rust -name '*.rs' -o -name Cargo.toml)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet
	touch $@

install: $(VENV)/.installed ## Make .venv with Tiree (built in release mode) and all development tools

main: install ## Build, install and run the main job: train, compile and run the example models
	$(BIN)/python examples/digits.py

test: install lint test-rust test-python ## Run every check: lints, types, Rust tests, Python tests

test-rust: install ## Rust: format, clippy, unit tests, doctests, documentation
	cargo fmt --all --check
	PYO3_PYTHON=$(abspath $(BIN)/python) cargo clippy --workspace --all-targets --quiet -- -D warnings
	PYO3_PYTHON=$(abspath $(BIN)/python) cargo test --workspace --exclude tiree-python --quiet
	$(MAKE) loom
	RUSTDOCFLAGS="-D warnings" PYO3_PYTHON=$(abspath $(BIN)/python) cargo doc --workspace --no-deps --quiet

test-python: install ## Python tests
	$(BIN)/python -m pytest -q -n 2

lint: install ## ruff, pyright, import-linter, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python isa/generate.py --check

LOOM := RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$(or $(CARGO_TARGET_DIR),target)/loom cargo test --release --lib --quiet

loom: ## Model-check the task system's protocols: all interleavings of a few threads
	$(LOOM) -p tiree-task models

stress: loom ## loom models of fences too, and the task system under load (minutes)
	$(LOOM) -p tiree-hal models
	TIREE_STRESS_DIVISOR=1 cargo test --release -p tiree-task --test stress

bench-task: install ## The task system against rayon and IREE's local-task, as ratios with verdicts
	$(BIN)/python benches/python/task_bench.py

bench: install ## Compare with IREE in one run, as ratios
	$(BIN)/python benches/python/compare_iree.py

bench-sizes: install ## Kernels of dynamic sizes with and without assumptions on them, as ratios
	$(BIN)/python benches/python/assumed_sizes.py

fuzz: install ## Fuzz the VM: programs, damaged archives, and four targets for ten minutes each
	$(BIN)/python rust/vm/fuzz/fuzz.py --programs=$(FUZZ_PROGRAMS) --archives=$(FUZZ_ARCHIVES) \
		--seconds=$(FUZZ_SECONDS) --jobs=$(FUZZ_JOBS) --iree=$(FUZZ_IREE)

conformance: install ## Judge all of StableHLO and write its page (an hour; STABLEHLO=DIR names a clone, CONFORMANCE="..." adds flags)
	$(BIN)/python -m tiree.testing.conformance --page=docs/reference/conformance.md \
		$(if $(STABLEHLO),--stablehlo=$(STABLEHLO)) $(CONFORMANCE)

onnx-conformance: install ## Import, compile and run every node test of the onnx package (an hour)
	$(BIN)/python -m tests.onnx.node_tests --list

strategies: install ## Look for scalar fallbacks: every op and type on more than 4,096 elements (an hour)
	$(BIN)/python -m tiree.testing.conformance.strategies

fuzz-bytecode: install ## Read 100,000 damaged files of MLIR bytecode (minutes)
	TIREE_FUZZ_BYTECODE=20000 $(BIN)/python -m pytest -q tests/dialects/bytecode/test_damaged.py

phases: install ## Carry on 100 programs from every phase, iree-compile's text by Tiree and the reverse (minutes)
	TIREE_PHASE_PROGRAMS=100 $(BIN)/python -m pytest -q -n 2 tests/phases

functions: install ## Functions of jax.numpy, lax, nn, scipy.special: each in all of its types (minutes)
	TIREE_ALL_TYPES=1 $(BIN)/python -m pytest -q tests/proofs/test_jax_functions.py

jax-programs: install ## All random distributions, transformations, Flax networks, optimisers and trainings of JAX (minutes)
	TIREE_ALL_PROGRAMS=1 $(BIN)/python -m pytest -q tests/proofs/test_jax_programs.py

iree-runs: install ## Some 430 modules under iree-run-module, and the CPU time of compilation beside iree-compile's (minutes)
	$(BIN)/python -m tests.proofs.iree_runs

accuracy: install ## Measure every entry of the accuracy table on a million arguments (all 65,536 of 16-bit types), each CPU
	TIREE_ACCURACY=16 $(BIN)/python -m pytest -q tests/proofs/test_accuracy_table.py

odd-shapes: install ## Every kind of op on shapes that are not round, in six types, as machine code and bytecode (an hour)
	TIREE_ODD_SHAPES=1 $(BIN)/python -m pytest -q tests/e2e/test_odd_shapes.py

far-offsets: install ## Slices, gathers, scatters and reductions beyond 4 GiB in one tensor (minutes, 16 GB of memory)
	TIREE_FAR_OFFSETS=1 $(BIN)/python -m pytest -q tests/e2e/test_far_offsets.py

big: install ## Compile a constant of 1 GB in every form, and measure the memory (minutes, 2 GB of disk)
	TIREE_BIG_CONSTANT=1024 $(BIN)/python -m pytest -q tests/compiler/test_big_constants.py

wheel: install ## Build the abi3 wheel
	$(BIN)/maturin build --release --strip

browser: ## Install a headless Chromium (apt, as root), which tests of the report's page use; without one they are skipped
	command -v chromium-headless-shell || command -v chromium || (apt-get update -q && \
		apt-get install -qy --no-install-recommends chromium-headless-shell fonts-dejavu-core)

clean: ## Remove build outputs
	rm -rf $(VENV) target dist python/tiree/*.so
