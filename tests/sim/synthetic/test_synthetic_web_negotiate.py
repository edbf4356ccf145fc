from __future__ import annotations

import pytest

from motherlode.sim.synthetic.synthetic_web import choose
from motherlode.www.media_types import ACCEPT


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (ACCEPT, 1),
        ("*/*", 0),
        ("", 0),
        ("text/html,application/xhtml+xml,*/*;q=0.8", 0),
        ("text/turtle;q=0.5, text/html;q=0.4", 1),
        ("text/turtle;q=0.3, text/*;q=0.6", 0),
        ("TEXT/TURTLE ; Q=0.9 , text/html ; q = 0.1", 1),
        ("text/turtle;q=nonsense, text/html;q=0.1", 0),
        ("image/png", None),
        ("text/html;q=0, text/turtle;q=0", None),
    ],
)
def test_negotiation_returns_preferred_type(accept: str, expected: int | None) -> None:
    assert choose(("text/html", "text/turtle"), accept) == expected
