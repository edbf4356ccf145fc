"""Links of a page: every URL that a crawl may fetch next, with what the page says about it.

Links come from HTML (anchors, link elements, frames, refreshes), from the entries of feeds and sitemaps, from HTTP
headers, and from the IRIs in the statements of any syntax. The result contains each URL once, with its most informative
mention, in the order of the page. Images, style sheets, scripts, fonts and the page itself are left out. The number of
links per page and the length of texts are bounded, and the time is linear in the size of the page.
"""
