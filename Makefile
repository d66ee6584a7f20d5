# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench clean

.venv/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -e . -c constraints.txt
	touch $@

.venv/.dev: .venv/.core
	$(BIN)/python -m pip install --quiet -e ".[test,lint]" -c constraints.txt
	touch $@

.venv/.bench: .venv/.core
	$(BIN)/python -m pip install --quiet -e ".[bench]" -c constraints.txt
	touch $@

demo: .venv/.core
	$(BIN)/tdamp demo

test: .venv/.dev
	$(BIN)/python -m pytest -n 2

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.bench
	$(BIN)/tdamp bench accuracy
	$(BIN)/tdamp bench speed

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache
