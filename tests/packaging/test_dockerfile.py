"""The Dockerfile: rules that a linter would check, and a build if Docker runs here."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LINES = [line for line in TEXT.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
INSTRUCTIONS = [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in LINES]
LAST_STAGE = INSTRUCTIONS[max(number for number, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM") :]


def values(name: str) -> list[str]:
    return [value for instruction, value in INSTRUCTIONS if instruction == name]


def test_base_images_are_slim_and_have_a_version() -> None:
    assert values("FROM")
    assert all(re.match(r"python:3\.\d+-slim( AS \w+)?$", image) for image in values("FROM"))


def test_instructions_are_known_and_upper_case() -> None:
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in INSTRUCTIONS} <= known


def test_container_does_not_run_as_root() -> None:
    (user,) = (value for name, value in LAST_STAGE if name == "USER")
    assert user not in ("root", "0")
    assert any(name == "RUN" and f"useradd --create-home --uid 1000 {user}" in value for name, value in LAST_STAGE)
    names = [name for name, _ in LAST_STAGE]
    assert "RUN" not in names[names.index("USER") :]


def test_pip_keeps_no_cache() -> None:
    commands = [part for value in values("RUN") for part in value.split("&&") if "pip" in part]
    assert commands
    assert all("--no-cache-dir" in shlex.split(command) for command in commands)


def test_entry_point_is_the_command_in_exec_form() -> None:
    assert [json.loads(value) for value in values("ENTRYPOINT")] == [["motherlode"]]
    assert [json.loads(value) for value in values("CMD")] == [["--help"]]


def test_copied_files_exist_and_are_in_the_build_context() -> None:
    context = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [name for value in values("COPY") if "--from" not in value for name in value.split()[:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert set(copied) == context


def test_two_commands_are_at_the_top() -> None:
    head = TEXT.splitlines()[:2]
    assert head[0] == "# Build: docker build -t motherlode ."
    assert head[1].startswith("# Run:   docker run --rm ")


def test_image_runs_the_command() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker daemon runs here")
    subprocess.run([docker, "build", "-q", "-t", "motherlode-test", str(ROOT)], check=True)
    command = [docker, "run", "--rm", "motherlode-test", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("motherlode ")
