"""What Motherlode is compared with, besides the four papers: simple or older ways to choose.

- `static`, `offline`: classifiers that are trained once, on the first K pages, and then frozen; Anthelion (section 4.3)
  and LDCOC (section 4) are compared with them in their papers.
- `domains`: queues by pay-level domain. SWSE prefers domains that gave much; LDSpider takes turns.
- `bounded`: HTML crawling to a depth that grows on a find and shrinks otherwise, as Swoogle and BioCrawler do it.

SWSE, Swoogle and BioCrawler are described here as Emamdadi et al. describe them in their section on related work.
"""
