"""Counters of a crawl, the estimate of what is left to find, and their reader."""
