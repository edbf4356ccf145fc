"""Reads JSON as people write it into pages: whatever can be understood is, and every repair is on record.

One pass from left to right with a stack of its own: no input makes it slow, and no nesting makes it fall.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field

import msgspec

from motherlode.transform.jsonld import json_decoder as tolerant
from motherlode.transform.jsonld.processor_options import Json
from motherlode.transform.jsonld.to_rdf import LongInteger

_DEEPEST = 500
_MOST_GARBAGE = 20
"""Unreadable places after which the text is taken for something else than JSON."""
_MOST_REPAIRS = 20
"""Repairs that are told one by one."""

_SPACE = re.compile(r"[\s\ufeff\u200b-\u200d\u2060\x00]*")
_WRAPPER = re.compile(r"(?://|/\*)?\s*(?:<!\[CDATA\[|\]\]>)(?:\s*\*/)?")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML_MARK = re.compile("<!--|-->")
# Possessive, because a string without an end must not be tried in all its divisions.
_STRINGS = {
    '"': re.compile(r'(?:[^"\\]++|\\.)*+"', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]++|\\.)*+'", re.DOTALL),
    "“": re.compile(r"(?:[^“”\"\\]++|\\.)*+[“”\"]", re.DOTALL),
    "”": re.compile(r"(?:[^“”\"\\]++|\\.)*+[“”\"]", re.DOTALL),
}
_ENTRY_ENDS = re.compile(r"""\s*,\s*(?:[^\w\s]|\Z|[\w$-]{1,64}+\s*:)""")
"""A comma between two entries: what follows is no running text, for that would be words without a colon."""
_WORD = re.compile(r"[^\s,:;{}\[\]\"'“”]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_ODD_NUMBER = re.compile(r"[+-]?[\d.]+")
_WORDS = {"true": True, "false": False, "null": None}
_FOREIGN_WORDS = {"True": True, "False": False, "None": None, "undefined": None, "NaN": None, "Infinity": None}
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_OPENING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class Repair:
    """One place where the text was not JSON."""

    offset: int
    message: str


@dataclass(slots=True)
class DecodedJson:
    """What could be read of a text."""

    values: list[Json] = field(default_factory=list)
    """Objects and arrays in order; there should be one."""
    repairs: list[Repair] = field(default_factory=list)
    failure: Repair | None = None
    """Why reading stopped; what came before stays in `values`."""


def read(text: str) -> DecodedJson:
    """Reads a text that is not JSON, or not quite.

    >>> read('<!-- {"a": [1, 2,], "b": "x"}; -->').values
    [{'a': [1, 2], 'b': 'x'}]
    """
    return _Reader(text).run()


class _Frame:
    """An object or array that is still open."""

    __slots__ = ("colon", "container", "key", "needs_comma")

    def __init__(self, container: Json) -> None:
        self.container = container
        self.key: str | None = None
        """In objects: the key whose value comes next."""
        self.colon = False
        self.needs_comma = False


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._stack: list[_Frame] = []
        self._garbage = 0
        self._reading = DecodedJson()

    def run(self) -> DecodedJson:
        text = self._text
        while self._reading.failure is None:
            self._skip_space()
            if self._at >= len(text):
                break
            if not self._skip_wrapping():
                self._token(text[self._at])
        if self._stack and self._reading.failure is None:
            self._repair(f"the text ends inside {len(self._stack)} open brackets")
        return self._reading

    # Notes ------------------------------------------------------------------------------------------------------------

    def _repair(self, message: str) -> None:
        if len(self._reading.repairs) < _MOST_REPAIRS:
            self._reading.repairs.append(Repair(min(self._at, len(self._text)), message))

    def _unreadable(self, message: str) -> None:
        self._repair(message)
        self._garbage += 1
        if self._garbage > _MOST_GARBAGE:
            self._fail("not JSON")

    def _fail(self, message: str) -> None:
        self._reading.failure = Repair(self._at, message)

    # Between tokens ---------------------------------------------------------------------------------------------------

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        if found.end() != self._at and ("\ufeff" in found[0] or "\x00" in found[0]):
            self._repair("byte-order mark or NUL between values")
        self._at = found.end()

    def _skip_wrapping(self) -> bool:
        """Comments and the wrappers of old browsers."""
        text, at = self._text, self._at
        if text[at] not in "<-]/":
            return False
        found = _WRAPPER.match(text, at)
        if found is None and text.startswith(("<!--", "-->"), at):
            whole = text.startswith("<!--", at) and bool(self._stack)
            found = (_HTML_COMMENT if whole else _HTML_MARK).match(text, at)
        if found is None:
            found = _COMMENT.match(text, at)
        if found is None:
            return False
        self._repair("comment or CDATA wrapper")
        self._at = found.end()
        return True

    # Tokens -----------------------------------------------------------------------------------------------------------

    def _token(self, character: str) -> None:
        if not self._stack and character not in "{[}],;":
            self._skip_outside()
        elif character in "{[":
            self._open(character)
        elif character in "}]":
            self._close(character)
        elif character in ",:;":
            self._punctuation(character)
        elif character in _STRINGS:
            self._string(character)
        else:
            self._word()

    def _skip_outside(self) -> None:
        """Outside of brackets only brackets matter."""
        self._unreadable("text outside the JSON was skipped")
        found = _OPENING.search(self._text, self._at)
        self._at = found.start() if found else len(self._text)

    def _open(self, character: str) -> None:
        if len(self._stack) >= _DEEPEST:
            self._fail("nested too deep")
            return
        container: Json = {} if character == "{" else []
        if self._stack:
            self._put(container)
        else:
            if self._reading.values:
                self._repair("one more JSON value in the same block")
            self._reading.values.append(container)
        self._stack.append(_Frame(container))
        self._at += 1

    def _close(self, character: str) -> None:
        kind = dict if character == "}" else list
        if not self._stack or not isinstance(self._stack[-1].container, kind):
            self._repair(f"stray {character}")
            if not any(isinstance(frame.container, kind) for frame in self._stack):
                self._at += 1
                return
            while not isinstance(self._stack[-1].container, kind):
                self._stack.pop()
        frame = self._stack.pop()
        if frame.key is not None:
            self._repair("key without a value")
        elif not frame.needs_comma and frame.container:
            self._repair("trailing comma")
        self._at += 1

    def _punctuation(self, character: str) -> None:
        frame = self._stack[-1] if self._stack else None
        if character == ":" and frame is not None and frame.key is not None and not frame.colon:
            frame.colon = True
        elif character == "," and frame is not None and frame.key is None and frame.needs_comma:
            frame.needs_comma = False
        elif character == "," and frame is not None and frame.key is not None:
            self._repair("key without a value")
            frame.key = None
        else:
            self._repair(f"stray {character}")
        self._at += 1

    def _put(self, value: Json) -> None:
        """A value, or the key of one, inside the innermost bracket."""
        frame = self._stack[-1]
        if frame.needs_comma:
            self._repair("missing comma")
            frame.needs_comma = False
        if isinstance(frame.container, list):
            frame.container.append(value)
            frame.needs_comma = True
        elif frame.key is not None:
            if not frame.colon:
                self._repair("missing colon")
            frame.container[frame.key] = value
            frame.key, frame.needs_comma = None, True
        elif isinstance(value, str):
            frame.key, frame.colon = value, False
        else:
            self._unreadable("value without a key")

    def _string(self, quote: str) -> None:
        if quote != '"':
            self._repair("wrong quotation marks")
        start, end = self._at + 1, self._at + 1
        while True:
            found = _STRINGS[quote].match(self._text, end)
            if found is None:
                self._repair("the text ends inside a string")
                self._at = len(self._text)
                return
            end = found.end()
            if quote != '"' or not self._quote_is_inside(end):
                break
            self._repair("unescaped quotation mark")
        self._put(self._unescaped(self._text[start : end - 1]))
        self._at = end

    def _quote_is_inside(self, end: int) -> bool:
        """A value must be followed by punctuation: where words follow, the quotation mark was part of the text."""
        frame = self._stack[-1]
        if isinstance(frame.container, dict) and frame.key is None:
            return False
        found = _SPACE.match(self._text, end)
        follower = self._text[found.end() : found.end() + 1] if found else ""
        if follower == "," and isinstance(frame.container, dict):
            return _ENTRY_ENDS.match(self._text, end) is None
        return bool(follower) and follower not in ',}]:;"/<'

    def _unescaped(self, body: str) -> str:
        if _CONTROL.search(body):
            self._repair("raw control character in a string")
        if "\\" not in body and '"' not in body:
            return body
        body = body.replace('\\"', '"').replace('"', '\\"')
        repaired = _ESCAPE.sub(lambda found: found[0] if found[1] else "", body)
        if repaired != body:
            self._repair("bad escape in a string")
        try:
            found: str = json.loads(f'"{repaired}"', strict=False)
        except ValueError:
            return body
        return found

    def _word(self) -> None:
        found = _WORD.match(self._text, self._at)
        if found is None:
            self._unreadable("unreadable character")
            self._at += 1
            return
        word, frame = found[0], self._stack[-1]
        if isinstance(frame.container, dict) and frame.key is None:
            self._repair("key without quotation marks")
            self._put(word)
        elif word in _WORDS:
            self._put(_WORDS[word])
        elif _NUMBER.fullmatch(word):
            self._put(_number(word))
        elif _ODD_NUMBER.fullmatch(word):
            self._repair("number that JSON does not know, read as text")
            self._put(word)
        elif word in _FOREIGN_WORDS:
            self._repair(f"{word} is no JSON")
            self._put(_FOREIGN_WORDS[word])
        else:
            self._unreadable("unreadable value")
            if not frame.needs_comma:
                self._put(None)
        self._at = found.end()


def _number(word: str) -> int | float:
    if any(mark in word for mark in ".eE"):
        return float(word)
    try:
        return int(word)
    except ValueError:  # more digits than Python converts
        return LongInteger(word)


# ── From the text of a block to JSON values: strictly where possible, with repairs where not.

LONGEST = 20_000_000
"""Characters of a block. JSON-LD cannot be read piece by piece, so this bounds memory."""
LONGEST_MENDED = 2_000_000
"""Characters of a block that is worth repairing: the repair is slow."""

_QUOTE_ENTITY = re.compile(r"[{\[,:]\s*(?:&quot;|&#0*34;|&#[xX]0*22;)")


def decode(text: str) -> DecodedJson:
    """The JSON values of a text.

    >>> decode('{"a": 1}').values, decode("{&quot;a&quot;: 1}").values
    ([{'a': 1}], [{'a': 1}])
    """
    if len(text) > LONGEST:
        return DecodedJson(failure=Repair(0, f"longer than {LONGEST} characters"))
    try:
        return DecodedJson(values=[msgspec.json.decode(text)])
    except RecursionError:
        return DecodedJson(failure=Repair(0, "nested too deep"))
    except ValueError:  # also what msgspec raises, and what lone surrogates raise on their way to it
        return _mend(text)


def _mend(text: str) -> DecodedJson:
    if not text.strip("\ufeff\x00 \t\r\n"):
        return DecodedJson(repairs=[Repair(0, "empty block")])
    if len(text) > LONGEST_MENDED:
        return DecodedJson(
            failure=Repair(0, f"not JSON, and longer than the {LONGEST_MENDED} characters that are mended")
        )
    entity = _QUOTE_ENTITY.search(text)
    if entity is None:
        return _settled(tolerant.read(text))
    reading = _settled(decode(html.unescape(text)))
    # Offsets no longer point into the page, so all repairs are told at the first entity.
    reading.repairs = [Repair(entity.start() + 1, repair.message) for repair in reading.repairs]
    reading.repairs.insert(0, Repair(entity.start() + 1, "HTML entities in the place of quotation marks"))
    if reading.failure is not None:
        reading.failure = Repair(entity.start() + 1, reading.failure.message)
    return reading


def _settled(reading: DecodedJson) -> DecodedJson:
    """Without any value, what was repaired is the failure."""
    if not reading.values and reading.failure is None:
        reading.failure = Repair(reading.repairs[0].offset if reading.repairs else 0, "no JSON in the block")
        reading.repairs = []
    return reading
