"""The parts of the metadata that contain the project's address, which src/motherlode/project.py defines."""

import re
import runpy
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
ADDRESS = runpy.run_path(str(ROOT / "src" / "motherlode" / "project.py"))["ADDRESS"]
RELATIVE_LINK = re.compile(r"(\]\()(?!\w+:|#|/)(?:\./)?([^)\s]+\))")
"""The target of a Markdown link to a file of the repository."""

setup(
    long_description=RELATIVE_LINK.sub(rf"\g<1>{ADDRESS}/\g<2>", (ROOT / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
    project_urls={
        "Homepage": ADDRESS,
        "Documentation": f"{ADDRESS}/docs/index.md",
        "Changelog": f"{ADDRESS}/CHANGELOG.md",
        "Source": ADDRESS,
    },
)
