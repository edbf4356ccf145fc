"""Parser lanes: small pages need not wait for large ones."""

from __future__ import annotations

from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.parser_pool import ParserLanes


def page(name: str, body: bytes) -> PageBody:
    return PageBody(url=f"http://a.example/{name}", content_type="text/html", body=body)


async def test_large_page_is_parsed_in_its_own_pool() -> None:
    lanes = ParserLanes(ParseOptions(target="any"), workers=1, seconds=30.0, large=1000)
    try:
        small = await lanes.read(page("small", b'<a href="/x">x</a>'))
        assert len(lanes.process_ids()) == 1, "the second pool is started when it is needed"
        large = await lanes.read(page("large", b'<a href="/x">x</a>' * 100))
        assert len(set(lanes.process_ids())) == 2
        assert [link.url for link in small.links] == [link.url for link in large.links] == ["http://a.example/x"]
        assert lanes.replaced == 0
    finally:
        await lanes.close()
    assert lanes.process_ids() == []
