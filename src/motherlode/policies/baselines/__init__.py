"""Simple and older policies that Motherlode is compared with, besides those of the four papers.

- `static_classifier`: classifiers that are trained once, on the first K pages, and do not learn afterwards. The papers
  compare Anthelion (section 4.3) and LDCOC (section 4) with them.
- `pay_level_domains`: queues by pay-level domain. SWSE prefers domains with a high share of RDF documents; LDSpider
  goes round robin.
- `orders`: breadth-first, depth-first and random order, and breadth-first to a depth that grows at relevant pages and
  shrinks at others, as in Swoogle and BioCrawler.

SWSE, Swoogle and BioCrawler are implemented as Emamdadi et al. describe them in their section on related work.
"""
