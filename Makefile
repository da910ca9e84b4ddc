PYTHON ?= python3
BIN := .venv/bin
# One thread per process: tests and sweeps use one worker per core, and numbers repeat exactly.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: setup demo docs test test-packages test-slow bench clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev,vision,clip,curate,words]'
	touch $@

# What builds the documentation, apart from what the tests need.
.venv/.docs: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[docs]'
	touch $@

demo: setup
	$(BIN)/onward demo

# Into site/, without a network, with warnings as errors.
docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -n 2

# Debian packages that slow tests need and the system lacks (tests/support/system.py), installed where this is
# allowed without asking: as root, with apt-get. Elsewhere the tests that need them are skipped.
test-packages: | .venv/.ready
	-@if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		packages="$$($(BIN)/python tests/support/system.py)"; \
		test -z "$$packages" || apt-get update -qq < /dev/null; \
		for package in $$packages; do \
			DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$$package" < /dev/null; \
		done; \
	fi

# TensorFlow, Ray, Spark, Playwright, wandb and MLflow are large and not everywhere: where one cannot be installed, its
# tests are skipped. Playwright drives the Chromium of the system, and brings none of its own.
test-slow: .venv/.docs test-packages
	-$(BIN)/python -c "import tensorflow" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt tensorflow
	-$(BIN)/python -c "import ray" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt ray
	-$(BIN)/python -c "import pyspark" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pyspark
	-$(BIN)/python -c "import crowdkit" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt crowd-kit
	-$(BIN)/python -c "import playwright" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright
	-$(BIN)/python -c "import wandb" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt wandb
	-$(BIN)/python -c "import mlflow" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt mlflow-skinny
	$(BIN)/pytest -n 2 -m slow

bench: setup
	$(BIN)/python benchmarks/linear_probe.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/your_data.py
	$(BIN)/python benchmarks/clear_linear.py
	$(BIN)/python benchmarks/clear_table1_size.py
	$(BIN)/python benchmarks/iirc.py
	$(BIN)/python benchmarks/clad.py
	$(BIN)/python benchmarks/tic_shards.py
	$(BIN)/python benchmarks/tic.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/curate.py
	$(BIN)/python benchmarks/pools.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache site
