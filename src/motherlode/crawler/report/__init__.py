"""The HTML report of a crawl: contents and page (`crawl_report`) and charts (`plot`).

`open_templates` opens the templates of this and other packages. They escape every value, so that text of a web page can
never become markup.
"""

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_UNSAFE_CHARACTERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"  # not allowed in XML or in UTF-8
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # change the direction of the text around them
)


def replace_unsafe(value: Any) -> Any:
    """Return text with unsafe characters replaced. Markup and other values are returned unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _UNSAFE_CHARACTERS.sub("\ufffd", value)
    return value


def _share(part: float, whole: float) -> float:
    """Return a share in percent for the length of a bar."""
    return max(0.0, min(100.0, 100 * part / whole)) if whole else 0.0


def open_templates(package: str, folder: str = "templates") -> Environment:
    """Return the templates of a package. All values are escaped, and an undefined name is an error."""
    templates = Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=replace_unsafe,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["thousands"] = "{:,}".format
    templates.globals["share"] = _share
    return templates
