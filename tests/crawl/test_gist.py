"""What a page says, in one number."""

from __future__ import annotations

from motherlode.crawl.gist import gist
from motherlode.model import Extraction, Facts, Syntax

NAME = "<http://schema.org/name>"


def facts(*objects: str, syntax: Syntax = Syntax.JSON_LD) -> Facts:
    statements = tuple((f"_:b{number}", NAME, one, "") for number, one in enumerate(objects))
    return Facts(extractions=(Extraction(syntax=syntax, statements=statements),))


def test_pages_that_say_the_same_but_for_their_own_address() -> None:
    one = facts('"Us"', "<http://e.org/1#us>", '"http://e.org/1"', "_:b1")
    other = facts("_:b9", "<http://e.org/2#us>", '"http://e.org/2"', '"Us"')
    assert gist(one, "http://e.org/1") == gist(other, "http://e.org/2") != 0


def test_pages_that_say_something_else() -> None:
    assert gist(facts('"A"'), "http://e.org/1") != gist(facts('"B"'), "http://e.org/1")


def test_plain_facts_of_pages_say_nothing() -> None:
    assert gist(facts('"A"', syntax=Syntax.PAGE), "http://e.org/1") == gist(Facts(), "http://e.org/1") == 0
