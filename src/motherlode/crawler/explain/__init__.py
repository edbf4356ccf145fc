"""Explanation of what a crawl did with one URL: its history, the checks that it passes, and its rank."""
