"""Draw the picture of the README from the two crawls of a demo.

python tools/picture.py DEMO_FOLDER docs/harvest.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

from motherlode.crawler import CrawlFolder, read_stats
from motherlode.crawler.report.crawl_report import build_harvest_curve
from motherlode.crawler.report.plot import write_svg

NAMES = {"motherlode": "motherlode", "bfs": "breadth-first"}


def main(demo: Path, picture: Path) -> None:
    curves = [
        build_harvest_curve(name, read_stats(CrawlFolder(demo / folder)).totals) for folder, name in NAMES.items()
    ]
    write_svg(picture, curves, "Pages with structured data, over requests")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
