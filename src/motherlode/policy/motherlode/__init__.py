"""Our own policy."""

from motherlode.policy.motherlode.policy import Motherlode
from motherlode.policy.motherlode.settings import Settings

__all__ = ["Motherlode", "Settings"]
