"""The wheel and the sdist work alone: metadata, data files, the examples of the API, and the commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from motherlode.project import ADDRESS, VERSION
from tests.api.webs import loopback_shop, write_shop
from tests.packaging.environments import (
    ROOT,
    build_sdist,
    build_wheel,
    find_interpreter,
    index_settings,
    install_with_uv,
    make_environment,
)
from tests.packaging.snippets import OPTIONAL

EXTRAS = {"ray", "offline", "parquet", "pandas", "signing", "scrapy", "docs", "all"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel and its core dependencies."""
    return make_environment(tmp_path_factory.mktemp("bare"), wheel)


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(cwd), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [str(python), *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_wheel_has_every_data_file_of_the_package(wheel: Path) -> None:
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "motherlode").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        assert wanted <= set(archive.namelist())


def test_sdist_has_licence_documentation_and_no_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "setup.py", "docs/crawl.md"} <= names
    assert not any(name.startswith("tests") for name in names)


def test_metadata_has_version_extras_and_the_projects_address(wheel: Path) -> None:
    about = metadata(wheel)
    assert about["Version"] == VERSION
    assert set(about.get_all("Provides-Extra", [])) >= EXTRAS
    urls = [line.partition(", ")[2] for line in about.get_all("Project-URL", [])]
    assert urls
    assert all(url.startswith(ADDRESS) for url in urls)
    assert len(about.get_all("Classifier", [])) > 10
    assert about["Keywords"]


def test_description_has_only_absolute_links(wheel: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)", str(metadata(wheel).get_payload()))
    assert any(target.startswith(f"{ADDRESS}/docs/") for target in targets)
    assert all(target.startswith(("https://", "http://", "#")) for target in targets)


def test_core_does_not_require_pyarrow(wheel: Path) -> None:
    required = [line for line in metadata(wheel).get_all("Requires-Dist", []) if "extra ==" not in line]
    assert required
    assert not any(re.match(r"pyarrow|pandas|ray|scrapy|scikit-learn|polars", line) for line in required)


def test_bare_wheel_runs_the_core_examples_and_names_extras(bare: Path, tmp_path: Path) -> None:
    warc = write_shop(tmp_path / "shop.warc.gz", pages=20)
    shutil.copy(Path(__file__).with_name("snippets.py"), tmp_path)
    with loopback_shop() as site:
        done = run(bare, "snippets.py", "bare", site, str(warc), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["core", *(f"{name} names {extra}" for name, (extra, _) in OPTIONAL.items())]


def test_wheel_with_all_extras_runs_every_example(wheel: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "all", wheel, frozenset({"all"}))
    warc = write_shop(tmp_path / "shop.warc.gz", pages=20)
    shutil.copy(Path(__file__).with_name("snippets.py"), tmp_path)
    with loopback_shop() as site:
        done = run(python, "snippets.py", "all", site, str(warc), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["core", *(f"{name} runs" for name in OPTIONAL)]


def test_bare_wheel_runs_record_simulate_and_names_the_extra_of_parquet(bare: Path, tmp_path: Path) -> None:
    write_shop(tmp_path / "shop.warc.gz", pages=20)

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return run(bare, "-m", "motherlode", *words, cwd=tmp_path)

    assert command("--version").stdout.split() == ["motherlode", VERSION]
    recorded = command("record", "shop.warc.gz", "-o", "shop.trace")
    assert "20 responses" in recorded.stderr, recorded.stderr
    simulated = command("simulate", "shop.trace", "--pages", "10", "--json")
    assert simulated.stdout.count('"policy"') == 2, simulated.stderr
    crawled = command("crawl", "http://shop.example/", "--web", "shop.warc.gz", "-o", "out", "--quiet")
    assert crawled.returncode == 0, crawled.stderr
    for words in (
        ["export", "out", "--format", "parquet", "-o", "tables"],
        ["pages", "out", "--format", "parquet", "-o", "pages.parquet"],
    ):
        refused = command(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert re.fullmatch(r'error: .* pip install "motherlode\[parquet\]"\n', refused.stderr), refused.stderr


def test_help_of_every_command_has_absolute_links(bare: Path, tmp_path: Path) -> None:
    listed = run(bare, "-m", "motherlode", "--help", cwd=tmp_path).stdout
    commands = re.findall(r"^  ([a-z]+)  ", listed, flags=re.MULTILINE)
    assert {"crawl", "extract", "simulate"} <= set(commands)
    program = (
        "import sys\nfrom typer.testing import CliRunner\nfrom motherlode.cli import application\n"
        "app = application(sys.argv[1:])\n"
        "for name in sys.argv[1:]:\n    print(CliRunner().invoke(app, [name, '--help']).stdout)\n"
    )
    shown = run(bare, "-c", program, *commands, cwd=tmp_path).stdout
    pages = re.findall(r"\S*docs/[\w/-]+\.md", shown)
    assert pages
    assert all(page.startswith(f"{ADDRESS}/docs/") for page in pages)


def test_uvx_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    uv = pytest.importorskip("uv").find_uv_bin()
    environment = {**os.environ, **index_settings(), "UV_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    environment |= {"UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    command = [uv, "tool", "run", "--from", str(wheel), "motherlode", "demo"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    if "motherlode" not in done.stdout and re.search("No solution found|Failed to (fetch|download)|index", done.stderr):
        pytest.skip(f"uv cannot install the dependencies here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_wheel_runs_the_core_examples_on_other_versions_of_python(wheel: Path, tmp_path: Path, version: str) -> None:
    interpreter = find_interpreter(version)
    if interpreter is None:
        pytest.skip(f"Python {version} is not installed here")
    python = install_with_uv(tmp_path, interpreter, str(wheel))
    warc = write_shop(tmp_path / "shop.warc.gz", pages=20)
    shutil.copy(Path(__file__).with_name("snippets.py"), tmp_path)
    with loopback_shop() as site:
        done = run(python, "snippets.py", "bare", site, str(warc), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "core"
