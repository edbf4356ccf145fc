"""Traces: pages, links and labels of a recorded web, made from WARC files and used as a web for simulations."""
