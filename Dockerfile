# Build: docker build -t motherlode .
# Run:   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" motherlode crawl https://example.org/ -o out --pages 100
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE CHANGELOG.md requirements.lock ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl && rm -r /wheels && useradd --create-home --uid 1000 motherlode
USER motherlode
WORKDIR /work
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["motherlode"]
CMD ["--help"]
