# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv, but for a browser.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all browser faults soak mutants lint api docs bench wheel sbom audit clean

.venv/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -e . -c constraints.txt
	touch $@

.venv/.demo: .venv/.core
	$(BIN)/python -m pip install --quiet -e ".[export,report]" -c constraints.txt
	touch $@

# Here and with the benchmarks, the peers: laplace-torch asks for torchvision but does not use it, and one built for another
# PyTorch does not import, nor does laplace-torch beside it.
WITHOUT_FOREIGN_TORCHVISION = $(BIN)/python -c "import torchvision" 2>/dev/null || \
	$(BIN)/python -m pip uninstall --quiet --yes torchvision

.venv/.dev: .venv/.core benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[test,lint,supply]" -e "benchmarks[peers]" -c constraints.txt
	$(WITHOUT_FOREIGN_TORCHVISION)
	touch $@

.venv/.bench: .venv/.core benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet -e . -e "benchmarks[peers]" -c constraints.txt
	$(WITHOUT_FOREIGN_TORCHVISION)
	touch $@

demo: .venv/.demo
	$(BIN)/tdamp demo

# Three workers for two cores: some tests wait for processes of their own.
PYTEST = $(BIN)/python -m pytest -n 3 --dist loadscope --no-loadscope-reorder

# The core suite, about four minutes on two cores (tests/helpers/suites.py).
test: .venv/.dev
	$(PYTEST) -m "not extended and not faults and not soak" tests

# Everything but `faults`, `soak` and `mutants`, the benchmarks' own tests and their peers included.
test-all: .venv/.dev
	$(PYTEST)

# The report's pages are tried in a browser where there is one: Debian's Chromium, if apt-get may install it.
browser:
	for name in chromium chromium-browser google-chrome; do command -v $$name && exit 0; done; \
	(apt-get update -qq && apt-get install -y -qq chromium) || echo "No browser could be installed."

faults: .venv/.dev
	$(BIN)/python -m pytest -m faults tests

# The long campaigns of docs/reliability.md.
soak: .venv/.dev
	$(BIN)/python -m pytest -m soak

# Faults in the mathematics that the tests must see (results/mutants.md); it goes on where it was stopped.
# `make mutants MODULES="engine/pasp"` for one module.
mutants: .venv/.dev
	$(BIN)/python tests/mutants/campaign.py $(MODULES)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Accepts the public names and signatures as they are now; a change of them belongs in CHANGELOG.md.
api: .venv/.dev
	$(BIN)/python tests/supply/public_api.py

docs: .venv/.dev
	$(BIN)/mkdocs build --strict

bench: .venv/.bench
	$(BIN)/tdamp bench accuracy
	$(BIN)/tdamp bench speed
	$(BIN)/tdamp bench uci
	$(BIN)/tdamp bench classes
	$(BIN)/tdamp bench compression
	$(BIN)/tdamp bench pruning
	$(BIN)/tdamp bench simulated
	$(BIN)/tdamp bench stream
	$(BIN)/tdamp bench growth
	$(BIN)/tdamp bench soak

# An environment without even pip: what is in it, the package has asked for.
ENVIRONMENT = rm -rf $(1) && $(PYTHON) -m venv --without-pip $(1) && \
	$(BIN)/python -m pip --python $(1)/bin/python install --quiet $(2) -c constraints.txt

# Source packages and wheels of tdamp and of tdamp-bench. That of tdamp is then used by itself, without extras.
wheel: .venv/.dev
	rm -rf build/dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir build/dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build --outdir build/dist benchmarks
	$(call ENVIRONMENT,build/clean,build/dist/tdamp-*.whl)
	build/clean/bin/tdamp --help > build/clean/help.txt
	cd build/clean && TDAMP_CACHE=cache bin/python -I $(CURDIR)/tests/supply/smoke.py

# The bill of materials (CycloneDX) of an installation; `make sbom EXTRAS=report,export` for one with extras.
sbom: .venv/.dev
	$(call ENVIRONMENT,build/sbom,".$(if $(EXTRAS),[$(EXTRAS)])")
	$(BIN)/python -m cyclonedx_py environment --pyproject pyproject.toml --mc-type library --short-PURLs \
		--output-reproducible --output-file build/sbom.json build/sbom

# Known vulnerabilities of every pinned version. It asks an advisory database over the network, so CI does not run it.
audit: .venv/.dev
	$(BIN)/python -m pip_audit --strict --disable-pip --no-deps --requirement constraints.txt

clean:
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache
