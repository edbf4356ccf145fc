"""What choosing costs: see selecting.py, which this starts.

    python bench/select.py [--policy NAME]... [--hosts N]...

The file has the name of a module of the standard library, which every script in this folder would find here in its
place. So where it is imported and not run, it hands out that module.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from selecting import main

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
