# Two commands do everything on a machine with Python and make: `make serve` and `make test`.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
WORKERS ?= 1
BIN := .venv/bin
# A process per core, each with a Postgres of its own.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist worksteal
COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

.PHONY: serve test test-adapters test-deep test-docker check format lock openapi clients client-typescript golden settings-docs sbom eval eval-asof eval-replay eval-search eval-sweep bench bench-scale judge measure-judge

serve: .venv/.serve
	$(BIN)/palimpsest serve --host $(HOST) --port $(PORT) --workers $(WORKERS)

test: .venv/.dev
	$(BIN)/pytest $(SIDE_BY_SIDE)

# The tests of the adapters with the frameworks that they are for, which `make test` does without.
test-adapters: .venv-adapters/.ready
	.venv-adapters/bin/pytest $(SIDE_BY_SIDE) tests/clients

test-deep: .venv/.dev
	PALIMPSEST_DEEP=1 $(BIN)/pytest -s tests/api/test_oracle.py tests/api/test_openapi_fuzz.py tests/classification tests/domain tests/planning tests/store tests/jobs

# The Docker client leaves its socket open where no engine answers; pytest would call that a failure.
test-docker: .venv/.dev
	PALIMPSEST_TEST_DOCKER=1 $(BIN)/pytest $(SIDE_BY_SIDE) -rs -W ignore::pytest.PytestUnraisableExceptionWarning

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The service on an empty database of its own, measured by the cases beside the checkout.
eval: .venv/.dev
	$(BIN)/python scripts/evaluate.py relations ../shared/eval/relations_*.jsonl.gz

eval-asof: .venv/.dev
	$(BIN)/python scripts/evaluate.py asof ../shared/eval/asof_endoflife_dev.jsonl.gz

eval-replay: .venv/.dev
	$(BIN)/python scripts/evaluate.py replay ../shared/eval/asof_endoflife_dev.jsonl.gz

eval-sweep: .venv/.dev
	$(BIN)/python scripts/evaluate.py sweep ../shared/eval/relations_*.jsonl.gz

eval-search: .venv/.dev
	$(BIN)/python scripts/evaluate.py search ../shared/eval/search_letta.jsonl.gz

# The local judge, trained anew on corpus/ and exported (about an hour on two quiet cores), then measured on writers that were held out.
judge: .venv-training/.ready
	.venv-training/bin/python training/train_judge.py build
	.venv-training/bin/python training/export_network.py build/judge.pt judge

# The network that drops from messages what is hardly about the user's life (six minutes).
relevance: .venv-training/.ready
	.venv-training/bin/python training/train_relevance.py
	.venv-training/bin/python training/export_network.py build/relevance.pt relevance

measure-judge: .venv/.dev
	$(BIN)/python training/measure.py --curve

bench: .venv/.dev
	$(BIN)/python -m bench

# A large agent, bulk writes, then many agents; about two hours on a quiet machine. It prints, and writes nothing.
bench-scale: .venv/.dev
	$(BIN)/python -m bench.scale --sizes 1000 10000 100000 1000000
	$(BIN)/python -m bench.bulk
	$(BIN)/python -m bench.agents --agents 1000
	$(BIN)/python -m bench.agents --agents 10000 --minutes 30

openapi: .venv/.dev
	$(BIN)/python scripts/export_openapi.py
	$(BIN)/python scripts/generate_client.py

# The Python client from the OpenAPI document.
clients: .venv/.dev
	$(BIN)/python scripts/generate_client.py

# The types of the TypeScript client, and whether they fit; needs npm.
client-typescript:
	cd clients/typescript && npm ci --no-audit --no-fund && npm run generate && npm run check

# The SQL of every route, for people to read.
golden: .venv/.dev
	PALIMPSEST_WRITE_GOLDEN=1 $(BIN)/pytest tests/store/test_statements.py

settings-docs: .venv/.dev
	$(BIN)/python scripts/export_settings.py

lock: .venv/.dev
	$(COMPILE) pyproject.toml -o requirements.lock
	echo "hatchling editables" | tr " " "\n" | $(COMPILE) - -o requirements-build.lock
	$(COMPILE) --extra dev pyproject.toml -o requirements-dev.lock
	$(COMPILE) --extra dev --extra adapters pyproject.toml -o requirements-adapters.lock
	echo cyclonedx-bom | $(COMPILE) - -o requirements-sbom.lock

# What the service is made of, as CycloneDX. The image holds its own: docs/container.md.
sbom: .venv-sbom/.ready
	mkdir -p build
	.venv-sbom/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible --output-file build/palimpsest.cdx.json
	$(PYTHON) scripts/add_networks_to_sbom.py build/palimpsest.cdx.json

# Stamps: an install runs again only when its lock changes.
.venv/.serve: requirements.lock requirements-build.lock pyproject.toml
	@echo "Installing into .venv; this takes about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements.lock -r requirements-build.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/.dev: requirements-dev.lock pyproject.toml
	@echo "Installing into .venv; this takes about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@ .venv/.serve

.venv-sbom/.ready: requirements-sbom.lock
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-sbom.lock
	touch $@

.venv-adapters/.ready: requirements-adapters.lock pyproject.toml
	$(PYTHON) -m venv .venv-adapters
	.venv-adapters/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-adapters.lock
	.venv-adapters/bin/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv-training/.ready: training/requirements.txt
	$(PYTHON) -m venv .venv-training
	.venv-training/bin/pip install -q --disable-pip-version-check -r training/requirements.txt
	touch $@
