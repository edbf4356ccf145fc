"""Frontier storage: the protocol, and its implementations in memory and on disk (LMDB)."""
