"""A web of data that does not exist: a thousand to ten million pages, the same for the same seed.

An address is enough to say everything about a page: its host's number is in the host's name, its own number is in its
path, and every property is drawn from a hash of the two and the seed. `facts` gives the model of a page for the
simulator, `answer` the bytes of the same page for a server. The two agree, and tests hold them to it.
"""

from motherlode.sim.synthetic.host_profiles import HABITS, Family, Habit, Shape, Trap
from motherlode.sim.synthetic.page_model import PageModel, Role, ServedResponse
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb

__all__ = ["HABITS", "Family", "Habit", "PageModel", "Role", "ServedResponse", "Shape", "SyntheticWeb", "Trap"]
