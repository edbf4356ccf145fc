"""The table of policies: built-in lines, and policies of installed packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode.policies import policy_from
from motherlode.policies.policy_table import GROUP, POLICY_TABLE, PolicyLine, find_line, installed_policies
from tests.policies.fakes import links

pytestmark = pytest.mark.usefixtures("restored_policies")


@pytest.mark.parametrize(
    ("usage", "word"), [("plain", "plain"), ("counted:N", "counted"), ("optional[:N]", "optional")]
)
def test_policy_line_registers_a_factory_under_the_first_word_of_its_usage(usage: str, word: str) -> None:
    def make() -> None:
        return None

    line = PolicyLine(usage, "Does nothing.")
    assert line(make) is make
    assert find_line(word) is line is POLICY_TABLE[word]
    assert line.examples == (word,)


def test_policy_line_keeps_its_own_examples() -> None:
    line = PolicyLine("counted:N", "Counts.", examples=("counted:3",))
    line(lambda: None)
    assert line.examples == ("counted:3",)


def test_find_line_of_an_unknown_word_is_none() -> None:
    assert find_line("no-such-policy") is None


def install_policy(folder: Path, monkeypatch: pytest.MonkeyPatch, *, name: str, code: str) -> None:
    """Install a package with a policy, for this process and for those that it starts."""
    about = folder / "added_policy-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: added-policy\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = added_policy_{name}:Added\n")
    (folder / f"added_policy_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    installed_policies.cache_clear()


def test_entry_point_policy_is_imported_at_its_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Added:\n    def score(self, link, parent):\n        return 5.0\n"
    install_policy(tmp_path, monkeypatch, name="five", code=code)
    policy_from("bfs")
    assert "added_policy_five" not in sys.modules
    assert policy_from("five").rate(links("http://a.example/"), None)[0].score == 5.0


def test_entry_point_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_policy(tmp_path, monkeypatch, name="broken", code="import no_such_module\n")
    with pytest.raises(ValueError, match="policy 'broken' cannot be imported: No module named 'no_such_module'"):
        policy_from("broken")


def test_entry_point_policy_is_known_to_commands_and_their_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "class Added:\n    def score(self, link, parent):\n        return -len(link.url)\n"
    install_policy(tmp_path, monkeypatch, name="short", code=code)
    words = ["simulate", "synthetic:300", "--policy", "bfs", "--policy", "short", "--pages", "20", "--json"]
    done = subprocess.run([sys.executable, "-m", "motherlode", *words], capture_output=True, text=True, check=False)
    assert [json.loads(line)["policy"] for line in done.stdout.splitlines()] == ["bfs", "short"], done.stderr
