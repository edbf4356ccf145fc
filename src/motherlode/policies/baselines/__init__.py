"""Simple and older policies that Motherlode is compared with, besides those of the four papers.

SWSE, Swoogle and BioCrawler are implemented as Emamdadi et al. describe them in their section on related work.
"""
