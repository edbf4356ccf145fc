"""Simulation: the frontier and policy of a live crawl on recorded or synthetic webs, in virtual time."""
