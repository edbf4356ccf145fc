from __future__ import annotations

import pytest

from motherlode.transform.microformats import gate
from motherlode.transform.microformats.classic import CLASSIC_ROOTS
from motherlode.transform.microformats.names import LAYOUT_NAMES


@pytest.mark.parametrize("root", [*CLASSIC_ROOTS, "h-card", "h-x-app", "h-as-note"])
@pytest.mark.parametrize(
    "attribute", ['class="{}"', "class='{}'", "class={}", 'CLASS="{}"', 'Class = "a {} b"', 'class="a\n{}\n"']
)
def test_lets_every_root_through_however_it_is_written(root: str, attribute: str) -> None:
    assert gate(f"<html><p {attribute.format(root)}>x</p>".encode().lower())


@pytest.mark.parametrize("name", sorted(LAYOUT_NAMES))
def test_holds_back_what_is_only_layout(name: str) -> None:
    assert not gate(f'<p class="{name} w-full p-4"><b class="p-name">'.encode().lower())


@pytest.mark.parametrize(
    "body",
    [
        b'<p class="geography">x</p>',
        b'<p class="vcards post-vcard">x</p>',
        b"<p>geo adr vcard h-card</p>",
        b'<script>var x = {"geo": "h-card"}</script>',
        b'<p id="vcard" title="h-card">',
        b'<p class="search- h- h-4 h-1/2">',
        b"",
    ],
)
def test_holds_back_what_is_no_root_class(body: bytes) -> None:
    assert not gate(body)


def test_cannot_tell_in_utf_16() -> None:
    assert gate('<p class="h-card">'.encode("utf-16"))


def test_is_linear_in_unclosed_attributes() -> None:
    assert not gate(b"<p class='x" * 200_000 + b'<p class="x' * 200_000)
