PYTHON ?= python3
BIN := .venv/bin
# One thread per process: tests and sweeps use one worker per core, and numbers repeat exactly.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: setup demo test test-slow bench clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev,vision]'
	touch $@

demo: setup
	$(BIN)/onward demo

test: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -n 2

test-slow: setup
	$(BIN)/pytest -n 2 -m slow

bench: setup
	$(BIN)/python benchmarks/linear_probe.py
	$(BIN)/python benchmarks/your_data.py
	$(BIN)/python benchmarks/clear_linear.py
	$(BIN)/python benchmarks/clear_table1_size.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache
