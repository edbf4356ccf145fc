"""References of HTML in the charset of their page."""

from __future__ import annotations

import pytest

from motherlode.links.html import encode_query


@pytest.mark.parametrize(
    ("codec", "reference", "expected"),
    [
        ("cp1251", "/s?q=привет", "/s?q=%EF%F0%E8%E2%E5%F2"),
        ("cp1251", "/путь?q=а б&в=%D0#г?д", "/путь?q=%E0 %E1&%E2=%D0#г?д"),
        ("cp1251", "/путь#а?б", "/путь#а?б"),
        ("cp1251", "путь", "путь"),
        ("cp1252", "?q=€я", "?q=%80%26%231103%3B"),
        ("cp1252", "?q=\U0001f600", "?q=%26%23128512%3B"),
        ("cp932", "?q=ソ", "?q=%83\\"),
        ("gb18030", "?q=你好", "?q=%C4%E3%BA%C3"),
        ("iso2022_jp", "?q=日я本é", "?q=%1B$BF|%27qK\\%1B(B%26%23233%3B"),
        ("cp949", "?q=한국", "?q=%C7%D1%B1%B9"),
    ],
)
def test_encode_query_uses_page_charset(codec: str, reference: str, expected: str) -> None:
    assert encode_query(codec, reference) == expected
