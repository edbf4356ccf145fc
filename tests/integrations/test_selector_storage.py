from pathlib import Path

import pytest

from motherlode.frontier import Entry
from motherlode.integrations.selector_storage import SelectorFolder, SelectorMemory, SelectorStorage, WaitingLink


@pytest.fixture(params=["memory", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> SelectorStorage:
    return SelectorMemory() if request.param == "memory" else SelectorFolder(tmp_path)


def test_storage_returns_what_was_put_and_not_what_was_removed(storage: SelectorStorage) -> None:
    kept, removed = (
        WaitingLink(entry=Entry(url=f"http://a.example/{n}", arm="a", score=1.0, sequence=n), queue="a", payload=b"x")
        for n in (1, 2)
    )
    storage.put(kept)
    storage.put(removed)
    storage.remove(2)
    assert storage.get(1) == kept
    assert list(storage.links()) == [kept]
    with pytest.raises(KeyError):
        storage.get(2)
    assert storage.add_key(b"k") and not storage.add_key(b"k")
    assert storage.state("s") is None
    storage.put_state("s", b"v")
    storage.save()
    assert storage.state("s") == b"v"
    storage.close()


def test_folder_in_use_is_refused_with_a_sentence(tmp_path: Path) -> None:
    first = SelectorFolder(tmp_path)
    with pytest.raises(ValueError, match="in use by another process"):
        SelectorFolder(tmp_path)
    first.close()
