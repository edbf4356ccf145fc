"""Start policy_cost.py, the benchmark of picking and rating.

    python bench/select.py [--policy NAME]... [--hosts N]...

This file has the same name as a module of the standard library and would hide it for all scripts in this folder. So if
it is imported and not run, it loads that module instead.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from policy_cost import main

    main()
else:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = __file__.rpartition("/")[0]
    spec = PathFinder.find_spec("select", [path for path in sys.path if path.rstrip("/") not in (here, "", "bench")])
    if spec is None or spec.loader is None:
        raise ImportError("the standard library has no module select")
    sys.modules[__name__] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[__name__])
