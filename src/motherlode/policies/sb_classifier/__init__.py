"""SB-CLASSIFIER (Gauquier, Manolescu, Senellart 2026): a sleeping bandit over clusters of tag paths.

- `tag_paths` clusters the tag paths of links online.
- `url_types` predicts what a URL leads to, and tells when the curve of targets is flat.
- `sb_classifier_policy` is the policy.
"""

from motherlode.policies.sb_classifier.sb_classifier_policy import SbClassifier

__all__ = ["SbClassifier"]
