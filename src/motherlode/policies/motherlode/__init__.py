"""Motherlode's own policy: links that look alike lead to pages that are alike, and hub pages lead to items.

- *Arms* (`arm_key`). The links of a host are grouped by path pattern, extension, source and position in the page. The
  key of an arm contains everything that the policy uses, so waiting links cost the policy no memory.
- *Probability* (`posterior`). For each arm: P(a request returns a page) · P(the page is relevant), predicted from
  features of links and hosts, and corrected by the results of the host, the arm and the hub as they grow.
- *Value* (`motherlode_policy`). The value of an arm is the best rate of relevant pages per request of a plan that
  begins with one of its links. There is no randomness: the same crawl picks the same pages.
- `config` has the parameters and the log-odds for links that announce the target, `explanation` the explanations for
  people.
- `redirect_rules` predicts redirects, `model_merge` merges what crawls have learned.
"""

from motherlode.policies.motherlode.config import PolicyConfig
from motherlode.policies.motherlode.motherlode_policy import Motherlode

__all__ = ["Motherlode", "PolicyConfig"]
