"""Anthelion, after Meusel, Mika and Blanco, "Focused Crawling for Structured Data" (CIKM 2014).

When a link is found, it becomes a row of binary features: the hashed tokens of its URL, the label of its parent page,
and optionally the labels of its siblings (`url_classifier`; section 3.1). An online classifier, Naive Bayes or a
Hoeffding tree (`classifiers`), predicts the probability that the link leads to a relevant page. This is the score of
the link within its host. Hosts are the arms of a bandit with one of seven value functions (`bandit`; section 3.2 and
algorithm 1). The bandit picks the best host, or with probability λ a random host, and in it the best page. The outcome
updates the record of the host and the classifier.

Classification without records of hosts is the bandit with the value function *best score* and λ = 0.
"""
