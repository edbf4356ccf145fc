from scrapy.http import HtmlResponse

from motherlode.integrations.scrapy import StructuredDataMiddleware, Thing

SCHEMA = "http://schema.org/"
PAGE = f"""<html><head><title>Cups</title></head><body>
<div itemscope itemtype="{SCHEMA}Product"><b itemprop="name">Blue cup</b>
<p itemprop="offers" itemscope itemtype="{SCHEMA}Offer"><i itemprop="price">4.50</i></p></div>
<p itemscope><i itemprop="{SCHEMA}name">no type</i></p></body></html>"""


def response(body: str) -> HtmlResponse:
    return HtmlResponse("http://shop.example/cups", body=body.encode(), headers={"Content-Type": "text/html"})


def test_middleware_yields_things_after_what_the_spider_yields() -> None:
    found = list(StructuredDataMiddleware().process_spider_output(response(PAGE), [{"own": "item"}]))
    assert found[0] == {"own": "item"}
    by_type = {thing.types[0]: thing for thing in found[1:]}
    assert by_type.keys() == {f"{SCHEMA}Product", f"{SCHEMA}Offer"}
    product, offer = by_type[f"{SCHEMA}Product"], by_type[f"{SCHEMA}Offer"]
    assert product.properties == {f"{SCHEMA}name": ["Blue cup"], f"{SCHEMA}offers": [offer.id]}
    assert offer.properties == {f"{SCHEMA}price": ["4.50"]}
    assert offer.id.startswith("_:")


async def test_middleware_yields_things_of_asynchronous_callback() -> None:
    async def output():
        yield {"own": "item"}

    data = f'<a id="x"></a><script type="application/ld+json">{{"@id": "#x", "@type": "{SCHEMA}Cup"}}</script>'
    found = [item async for item in StructuredDataMiddleware().process_spider_output_async(response(data), output())]
    assert found == [
        {"own": "item"},
        Thing(url="http://shop.example/cups", id="http://shop.example/cups#x", types=[f"{SCHEMA}Cup"]),
    ]


def test_middleware_yields_nothing_for_a_page_without_types() -> None:
    assert list(StructuredDataMiddleware().process_spider_output(response("<p>nothing</p>"), [])) == []
