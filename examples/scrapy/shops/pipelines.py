"""Keep the products and drop the other things that pages describe."""

from scrapy.exceptions import DropItem

from motherlode.integrations.scrapy import Thing

SCHEMA = ("http://schema.org/", "https://schema.org/")


class OnlyProducts:
    """Converts each product to a row with its page, name and price."""

    def process_item(self, item: Thing) -> dict[str, str]:
        if not any(f"{schema}Product" in item.types for schema in SCHEMA):
            raise DropItem(f"no product: {item.types}")
        return {"url": item.url, "name": first(item, "name"), "brand": first(item, "brand")}


def first(item: Thing, name: str) -> str:
    """Return the first value of a property, or an empty text."""
    values = [value for schema in SCHEMA for value in item.properties.get(schema + name, ())]
    return values[0] if values else ""
