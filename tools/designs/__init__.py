"""Other principled designs of the default policy, and their comparison with it in paired crawls.

`policies` has the designs as policies of their own, `__main__` fits and compares them.
"""
