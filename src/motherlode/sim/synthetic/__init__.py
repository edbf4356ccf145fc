"""A generated web of data: a thousand to ten million pages, the same for the same seed.

The URL determines everything about a page: the host name contains the host's number, the path contains the page's
number, and every property is drawn from a hash of both and the seed. `facts` returns the model of a page for the
simulator, `answer` the bytes of the same page for a server. Tests check that the two agree.
"""

from motherlode.sim.synthetic.host_profiles import HABITS, Family, Habit, Shape, Trap
from motherlode.sim.synthetic.page_model import PageModel, Role, ServedResponse
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb

__all__ = ["HABITS", "Family", "Habit", "PageModel", "Role", "ServedResponse", "Shape", "SyntheticWeb", "Trap"]
