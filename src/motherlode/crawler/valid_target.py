"""The target `valid:PROFILE`: pages with data of a profile that violates none of its rules."""

import re
from collections.abc import Iterator

from motherlode.model.target_kinds import JudgeStatements
from motherlode.quality.page_graph import Triple
from motherlode.quality.shape_profiles import PROFILES, load_validator

_LINE = re.compile(r"(<<\(.*?\)>>|\S+) (\S+) (.*) \.")
"""A line of N-Triples as `policies.targets.ntriples` writes it."""


def make_judge(names: str) -> JudgeStatements:
    """Return the judge for profiles and files of shapes, separated by commas. Raise ValueError if one is unknown."""
    sources = [name.strip() for name in names.split(",") if name.strip()]
    if not sources:
        raise ValueError(f"target valid: needs a profile, as in valid:google; known: {', '.join(PROFILES)}")
    validator = load_validator(*sources)

    def judge(statements: bytes) -> bool:
        return validator.validate(_read(statements)).is_valid

    return judge


def _read(statements: bytes) -> Iterator[Triple]:
    for line in statements.decode("utf-8", "replace").split("\n"):
        if match := _LINE.fullmatch(line):
            yield match[1], match[2], match[3]
