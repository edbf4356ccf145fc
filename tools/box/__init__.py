"""An internet in a box: a network namespace with name servers, TLS, web servers, latency and loss.

`BoxPlan` says what is in it, and `Box` runs it. Only loopback addresses are used, and nothing can leave the namespace.
Tests and bench/live.py share this package. docs/network.md describes it.
"""

from tools.box.box import Box, missing_part
from tools.box.plan import BoxHost, BoxPlan, Fault

__all__ = ["Box", "BoxHost", "BoxPlan", "Fault", "missing_part"]
