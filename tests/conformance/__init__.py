"""Conformance suites. The docstring of `runner` describes how to add one."""
