"""Version and address of the project. The metadata of the package and all links to the documentation use them."""

import re

VERSION = "0.1.0"
PRODUCT_TOKEN = "motherlode"
"""The name by which robots.txt files and robots meta elements address this crawler (RFC 9309, section 2.2.1)."""
ADDRESS = "https://motherlode.example"
"""Where the files of the repository are on the web: ADDRESS/docs/crawl.md is a page of the documentation. The project
has no public address yet. Only this line names one."""
_PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md\b")


def docs_url(page: str) -> str:
    """Return the address of a page of the documentation.

    >>> docs_url("crawl.md").removeprefix(ADDRESS)
    '/docs/crawl.md'
    """
    return f"{ADDRESS}/docs/{page}"


def make_links_absolute(text: str) -> str:
    """Return a text with the address of each page of the documentation that it names, because a wheel has no pages.

    >>> make_links_absolute("More in docs/crawl.md.") == f"More in {ADDRESS}/docs/crawl.md."
    True
    """
    return _PAGE.sub(lambda match: f"{ADDRESS}/{match[0]}", text)
