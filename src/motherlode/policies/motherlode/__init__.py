"""Our own policy: it believes that links that look alike lead to pages that are alike, and that lists lead to items.

*Arms.* The links of a host fall into arms by where they lead and how they were found: path pattern, extension, source,
place in the page (`naming`). The name of an arm says all that the policy wants to know about its links, so links that
wait cost it nothing.

*Chances.* Two questions are asked of every arm: will it give a page at all, and will that be a find? A small online
learner answers from features that hold on every host and features of the one host (`chances`, `features`); the records
of the host, of the arm and of the list on which a link stands overrule it as they grow (`beliefs`, `evidence`). So a
new host starts from what its kind did, one good template does not sell a whole host, and one dead list does not condemn
a good template. Links that lead nowhere are learned as fast as links that lead to finds.

*Worth.* A page is worth more than what it holds: what it leads to counts, as finds per request over the best plan that
begins with it; and an arm of which little is known is worth a try in proportion to what a find there would open up
(`worth`). There is no other exploration and no chance in it: the same crawl picks the same pages.

Everything learned is a sum, so crawls and shards can add theirs up.
"""

from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.motherlode_policy import Motherlode

__all__ = ["Motherlode", "PolicyConfig"]
