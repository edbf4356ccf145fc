"""Compare all policies; the same as `python -m tools.focus`, which describes the options."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.focus.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
