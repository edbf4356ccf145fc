"""Files of seed URLs."""

from __future__ import annotations

from pathlib import Path

from motherlode.crawler.config.seed_file import read_seeds


def test_seed_file_with_comments_and_byte_order_mark_gives_urls(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    lines = ("http://a/ ", "# all", "  #", "http://b/#part", "http://c/ # why", "http://d/\t#", "", "http://e/ é")
    file.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    assert read_seeds(file) == ("http://a/", "http://b/#part", "http://c/", "http://d/", "http://e/ é")
