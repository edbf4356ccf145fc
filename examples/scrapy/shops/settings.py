"""Settings of the project. The add-on is all that Motherlode needs."""

BOT_NAME = "shops"
SPIDER_MODULES = ["shops.spiders"]
USER_AGENT = "shops (+https://example.org/crawler)"
ROBOTSTXT_OBEY = True

ADDONS = {"motherlode.integrations.scrapy.MotherlodeAddon": 500}
MOTHERLODE_TARGET = "type:schema:Product"
MOTHERLODE_ITEMS = True

ITEM_PIPELINES = {"shops.pipelines.OnlyProducts": 300}
