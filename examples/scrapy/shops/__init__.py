"""A Scrapy project whose requests are picked by the policy of Motherlode."""
