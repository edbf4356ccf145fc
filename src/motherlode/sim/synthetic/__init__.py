"""A generated web of data: a thousand to ten million pages, the same for the same seed.

Every property of a page is drawn from a hash of its URL and the seed. `page_model` returns the model of a page for the
simulator, `answer` the bytes of the same page for a server.
"""

from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, Family, HostProfile, ItemShape, Trap
from motherlode.sim.synthetic.page_model import PageModel, Role, ServedResponse
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb

__all__ = [
    "HOST_PROFILES",
    "Family",
    "HostProfile",
    "ItemShape",
    "PageModel",
    "Role",
    "ServedResponse",
    "SyntheticWeb",
    "Trap",
]
