# Everything runs in .venv, made from the exact versions in constraints.txt.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Headless drawing for simulators, a browser for the tests of the report page.
DEBIAN := chromium chromium-driver libosmesa6 libegl1 libgl1-mesa-dri

.PHONY: help setup demo demo-humanoid test test-slow lint bench reproduce-quick reproduce docs clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 17

setup: $(VENV)/.ready debian ## Make .venv and install what is missing

$(VENV)/.ready: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed (Debian: apt-get install python3 python3-venv); or say which: make PYTHON=python3.12 setup"; exit 1; }
	@$(PYTHON) -c "import ensurepip" 2>/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null; \
		else echo "Python's venv is missing; install it with: sudo apt-get install python3-venv"; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,video,hub,train,data]'
	@# They ask for an older gymnasium and torch, and only a loss and a reader of tables are looked at.
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps imitation lerobot
	@# It asks for an older numpy, and its client needs none of what is different.
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --no-deps openpi-client
	$(BIN)/orcalign weights get i3d
	$(BIN)/orcalign warmup
	@touch $@

.PHONY: debian
debian:
	@missing=""; for package in $(DEBIAN); do dpkg -s $$package >/dev/null 2>&1 || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing$$missing"; apt-get update -qq && apt-get install -qq -y $$missing >/dev/null; \
	else echo "some tests need Debian packages; install them with: sudo apt-get install$$missing"; fi

demo: $(VENV)/.ready debian ## From one video to a policy, ending in a page to open
	$(BIN)/orcalign demo-videos runs/demo
	$(BIN)/orcalign score runs/demo/demo.mp4 runs/demo/good.mp4 runs/demo/stalls.mp4 runs/demo/skips.mp4 \
		--json runs/demo/scores.json --report runs/demo/report.html --overlay runs/demo/best.mp4
	@if [ -f runs/demo/door-close/config.yaml ]; then $(BIN)/orcalign train --resume runs/demo/door-close; \
	else $(BIN)/orcalign train --task door-close --recipe orca_progress --steps 6000 --eval-every 3000 --out runs/demo/door-close; fi
	@if [ -f runs/demo/push/config.yaml ]; then $(BIN)/orcalign train --resume runs/demo/push; \
	else $(BIN)/orcalign train --task push --steps 15000 --eval-every 5000 --out runs/demo/push; fi

demo-humanoid: $(VENV)/.ready debian ## A humanoid raises its left arm: rollouts, joint predictor, training, page
	$(BIN)/orcalign predictor data humanoid-arm-up-left --out runs/demo-humanoid/rollouts --frames 9038
	@if [ ! -f runs/demo-humanoid/rollouts/joints.safetensors ]; then $(BIN)/orcalign predictor train runs/demo-humanoid/rollouts; fi
	@if [ -f runs/demo-humanoid/run/config.yaml ]; then $(BIN)/orcalign train --resume runs/demo-humanoid/run; \
	else $(BIN)/orcalign train --task humanoid-arm-up-left --steps 20000 --out runs/demo-humanoid/run \
		--predictor runs/demo-humanoid/rollouts/joints.safetensors; fi
	$(BIN)/orcalign report runs/demo-humanoid/run

lint: $(VENV)/.ready ## ruff and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: setup lint ## Lint, doctests and tests, in at most 12 minutes on two cores
	$(BIN)/pytest -m "not slow" -n 2

test-slow: setup ## Fuzz, fault and soak tests
	$(BIN)/pytest -m slow -n 2 tests

bench: $(VENV)/.ready ## Measure, and store what was measured in benchmarks/results
	$(BIN)/python -m benchmarks.matching
	$(BIN)/python -m benchmarks.score
	$(BIN)/python -m benchmarks.score_quality
	$(BIN)/python -m benchmarks.labelling
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.sweep --ray
	$(BIN)/python -m benchmarks.latency
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.joints
	$(BIN)/python -m benchmarks.vector
	$(BIN)/python -m benchmarks.rendering --sheet docs/images/render-comparison.png

reproduce-quick: $(VENV)/.ready ## Three tasks and four recipes of Table 1, ending in a page to open; goes on where it was stopped
	$(BIN)/orcalign sweep quick
	@for run in runs/quick/cells/*/run; do $(BIN)/orcalign report $$run >/dev/null || exit 1; done
	$(BIN)/orcalign table quick --results runs/quick/results.json
	$(BIN)/orcalign report quick

reproduce: $(VENV)/.ready ## Table 1 of the paper at the laptop budget, for many hours, ending in a page to open; goes on where it was stopped
	$(BIN)/orcalign sweep misaligned
	@for run in runs/misaligned/cells/*/run; do $(BIN)/orcalign report $$run >/dev/null || exit 1; done
	$(BIN)/orcalign table misaligned --results runs/misaligned/results.json
	$(BIN)/orcalign report misaligned

docs: $(VENV)/.ready ## Build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

clean: ## Remove what was built, but not runs
	rm -rf $(VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
