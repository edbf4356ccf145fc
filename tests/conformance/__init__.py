"""Conformance suites, run on our own code. How a suite is added: see `runner`."""
