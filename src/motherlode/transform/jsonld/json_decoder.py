"""Decode the JSON of a block: strictly if possible, else in one pass and linear time with recorded repairs."""

import html
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from motherlode.transform.jsonld.processor_options import Json
from motherlode.transform.jsonld.to_rdf import LongInteger

_MAX_DEPTH = 500
_MAX_UNREADABLE = 20
"""After more unreadable tokens than this, the text is not considered JSON."""
_MAX_REPAIRS = 20

_SPACE = re.compile(r"[\s\ufeff\u200b-\u200d\u2060\x00]*")
_WRAPPER = re.compile(r"(?://|/\*)?\s*(?:<!\[CDATA\[|\]\]>)(?:\s*\*/)?")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML_MARK = re.compile("<!--|-->")
# Possessive quantifiers, because an unterminated string must not cause backtracking.
_STRINGS = {
    '"': re.compile(r'(?:[^"\\]++|\\.)*+"', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]++|\\.)*+'", re.DOTALL),
    "“": re.compile(r"(?:[^“”\"\\]++|\\.)*+[“”\"]", re.DOTALL),
    "”": re.compile(r"(?:[^“”\"\\]++|\\.)*+[“”\"]", re.DOTALL),
}
_ENTRY_ENDS = re.compile(r"""\s*,\s*(?:[^\w\s]|\Z|[\w$-]{1,64}+\s*:)""")
"""A comma after an entry: punctuation, a key with its colon or the end of the text follows. After a comma in running
text, a word without a colon follows."""
_WORD = re.compile(r"[^\s,:;{}\[\]\"'“”]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_ODD_NUMBER = re.compile(r"[+-]?[\d.]+")
_WORDS = {"true": True, "false": False, "null": None}
_FOREIGN_WORDS = {"True": True, "False": False, "None": None, "undefined": None, "NaN": None, "Infinity": None}
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_OPENING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class JsonRepair:
    """One position where the text was not JSON."""

    offset: int
    message: str


@dataclass(slots=True)
class DecodedJson:
    """The result of decoding a text."""

    values: list[Json] = field(default_factory=list)
    """Objects and arrays in order. Valid blocks have exactly one."""
    repairs: list[JsonRepair] = field(default_factory=list)
    failure: JsonRepair | None = None
    """Why decoding stopped. `values` contains what was decoded before."""


class _OpenContainer(msgspec.Struct):
    """An object or array that is not yet closed."""

    container: Json
    key: str | None = None
    """In objects: the key whose value is expected next."""
    has_colon: bool = False
    needs_comma: bool = False

    @property
    def awaits_key(self) -> bool:
        return isinstance(self.container, dict) and self.key is None


class TolerantDecoder:
    """Decodes a text that is not valid JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._stack: list[_OpenContainer] = []
        self._unreadable_count = 0
        self._decoded = DecodedJson()

    def decode(self) -> DecodedJson:
        text = self._text
        while self._decoded.failure is None:
            self._skip_space()
            if self._position >= len(text):
                break
            if not self._skip_wrapping():
                self._read_token(text[self._position])
        if self._stack and self._decoded.failure is None:
            self._record_repair(f"the text ends inside {len(self._stack)} open brackets")
        return self._decoded

    def _record_repair(self, message: str) -> None:
        if len(self._decoded.repairs) < _MAX_REPAIRS:
            self._decoded.repairs.append(JsonRepair(min(self._position, len(self._text)), message))

    def _record_unreadable(self, message: str) -> None:
        self._record_repair(message)
        self._unreadable_count += 1
        if self._unreadable_count > _MAX_UNREADABLE:
            self._fail("not JSON")

    def _fail(self, message: str) -> None:
        self._decoded.failure = JsonRepair(self._position, message)

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._position)
        assert found is not None
        if found.end() != self._position and ("\ufeff" in found[0] or "\x00" in found[0]):
            self._record_repair("byte-order mark or NUL between values")
        self._position = found.end()

    def _skip_wrapping(self) -> bool:
        """Skip a comment or a wrapper for old browsers. Return False if there is none."""
        text, at = self._text, self._position
        if text[at] not in "<-]/":
            return False
        html_pattern = _HTML_COMMENT if self._stack and text[at] == "<" else _HTML_MARK
        found = _WRAPPER.match(text, at) or html_pattern.match(text, at) or _COMMENT.match(text, at)
        if found is None:
            return False
        self._record_repair("comment or CDATA wrapper")
        self._position = found.end()
        return True

    def _read_token(self, character: str) -> None:
        if not self._stack and character not in "{[}],;":
            self._skip_outside()
        elif character in "{[":
            self._open(character)
        elif character in "}]":
            self._close(character)
        elif character in ",:;":
            self._read_punctuation(character)
        elif character in _STRINGS:
            self._read_string(character)
        else:
            self._read_word()

    def _skip_outside(self) -> None:
        self._record_unreadable("text outside the JSON was skipped")
        found = _OPENING.search(self._text, self._position)
        self._position = found.start() if found else len(self._text)

    def _open(self, character: str) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            self._fail("nested too deep")
            return
        container: Json = {} if character == "{" else []
        if self._stack:
            self._add_value(container)
        elif self._decoded.values:
            self._record_repair("one more JSON value in the same block")
        if not self._stack:
            self._decoded.values.append(container)
        self._stack.append(_OpenContainer(container))
        self._position += 1

    def _close(self, character: str) -> None:
        kind = dict if character == "}" else list
        if not self._stack or not isinstance(self._stack[-1].container, kind):
            self._record_repair(f"stray {character}")
            if not any(isinstance(frame.container, kind) for frame in self._stack):
                self._position += 1
                return
            while not isinstance(self._stack[-1].container, kind):
                self._stack.pop()
        frame = self._stack.pop()
        if frame.key is not None:
            self._record_repair("key without a value")
        elif not frame.needs_comma and frame.container:
            self._record_repair("trailing comma")
        self._position += 1

    def _read_punctuation(self, character: str) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and character == ":" and frame.key is not None and not frame.has_colon:
            frame.has_colon = True
        elif frame is not None and character == "," and frame.key is not None:
            self._record_repair("key without a value")
            frame.key = None
        elif frame is not None and character == "," and frame.needs_comma:
            frame.needs_comma = False
        else:
            self._record_repair(f"stray {character}")
        self._position += 1

    def _add_value(self, value: Json) -> None:
        """Add a value to the innermost container. If an object expects a key, the value becomes the key."""
        frame = self._stack[-1]
        if frame.needs_comma:
            self._record_repair("missing comma")
            frame.needs_comma = False
        if isinstance(frame.container, list):
            frame.container.append(value)
            frame.needs_comma = True
        elif frame.key is not None:
            if not frame.has_colon:
                self._record_repair("missing colon")
            frame.container[frame.key] = value
            frame.key, frame.needs_comma = None, True
        elif isinstance(value, str):
            frame.key, frame.has_colon = value, False
        else:
            self._record_unreadable("value without a key")

    def _read_string(self, quote: str) -> None:
        if quote != '"':
            self._record_repair("wrong quotation marks")
        start, end = self._position + 1, self._position + 1
        while True:
            found = _STRINGS[quote].match(self._text, end)
            if found is None:
                self._record_repair("the text ends inside a string")
                self._position = len(self._text)
                return
            end = found.end()
            if quote != '"' or not self._quote_is_inside(end):
                break
            self._record_repair("unescaped quotation mark")
        self._add_value(self._unescape(self._text[start : end - 1]))
        self._position = end

    def _quote_is_inside(self, end: int) -> bool:
        """Return whether a quotation mark is part of the text, because words and not punctuation follow it."""
        frame = self._stack[-1]
        if frame.awaits_key:
            return False
        found = _SPACE.match(self._text, end)
        follower = self._text[found.end() : found.end() + 1] if found else ""
        if follower == "," and isinstance(frame.container, dict):
            return _ENTRY_ENDS.match(self._text, end) is None
        return bool(follower) and follower not in ',}]:;"/<'

    def _unescape(self, body: str) -> str:
        if _CONTROL.search(body):
            self._record_repair("raw control character in a string")
        if "\\" not in body and '"' not in body:
            return body
        body = body.replace('\\"', '"').replace('"', '\\"')
        repaired = _ESCAPE.sub(lambda found: found[0] if found[1] else "", body)
        if repaired != body:
            self._record_repair("bad escape in a string")
        try:
            return str(json.loads(f'"{repaired}"', strict=False))
        except ValueError:
            return body

    def _read_word(self) -> None:
        found = _WORD.match(self._text, self._position)
        if found is None:
            self._record_unreadable("unreadable character")
            self._position += 1
            return
        word, frame = found[0], self._stack[-1]
        if frame.awaits_key:
            self._record_repair("key without quotation marks")
            self._add_value(word)
        elif word in _WORDS:
            self._add_value(_WORDS[word])
        elif _NUMBER.fullmatch(word):
            self._add_value(_parse_number(word))
        elif _ODD_NUMBER.fullmatch(word):
            self._record_repair("number that is not valid JSON, read as text")
            self._add_value(word)
        elif word in _FOREIGN_WORDS:
            self._record_repair(f"{word} is not JSON")
            self._add_value(_FOREIGN_WORDS[word])
        else:
            self._record_unreadable("unreadable value")
            if not frame.needs_comma:
                self._add_value(None)
        self._position = found.end()


def _parse_number(word: str) -> int | float:
    if any(mark in word for mark in ".eE"):
        return float(word)
    try:
        return int(word)
    except ValueError:  # more digits than Python converts
        return LongInteger(word)


# Strict decoding with repair as the fallback

MAX_CHARACTERS = 20_000_000
"""Maximum length of a block. JSON-LD cannot be read as a stream, so this bounds the memory."""
MAX_REPAIRED_CHARACTERS = 2_000_000
"""Maximum length of a block that is repaired, because repair is slow."""

_TYPOGRAPHIC_QUOTE = r"&(?:[lrb]dquo|#0*82(?:2[0-2]|43)|#[xX]0*20(?:1[c-eC-E]|33));"
_QUOTE_ENTITY = re.compile(
    r"[{\[,:]\s*(?:&quot;|&#0*34;|&#[xX]0*22;)"
    rf"|[{{,]\s*(?:<[^<>]*>\s*)?(?P<typographic>{_TYPOGRAPHIC_QUOTE})[^&\"]{{1,64}}{_TYPOGRAPHIC_QUOTE}\s*:"
)
"""An entity at the place of a quotation mark. A typographic one must enclose a key, because texts have them too."""
_TYPOGRAPHY = re.compile(rf"{_TYPOGRAPHIC_QUOTE}|</?(?:p|br)\b[^<>]*>", re.IGNORECASE)
"""Quotation marks and tags that editors put into scripts as if they were text."""
_ESCAPED_START = re.compile(r'\s*(?:\[\s*)?\{\s*\\"')


def decode(text: str) -> DecodedJson:
    """Decode the JSON values of a text."""
    if len(text) > MAX_CHARACTERS:
        return DecodedJson(failure=JsonRepair(0, f"longer than {MAX_CHARACTERS} characters"))
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        return DecodedJson(failure=JsonRepair(0, "nested too deep"))
    except ValueError:  # raised by msgspec for invalid JSON, and for lone surrogates
        return _decode_with_repairs(text)
    if isinstance(value, str) and _OPENING.match(value.lstrip()):
        return _decode_string(value)
    return DecodedJson(values=[value])


def _decode_string(value: str) -> DecodedJson:
    """Decode the JSON in a JSON string. Its offsets do not refer to the page."""
    decoded = decode(value)
    decoded.repairs = [JsonRepair(0, repair.message) for repair in decoded.repairs]
    decoded.repairs.insert(0, JsonRepair(0, "JSON inside a JSON string"))
    if decoded.failure is not None:
        decoded.failure = JsonRepair(0, decoded.failure.message)
    return decoded


def _decode_with_repairs(text: str) -> DecodedJson:
    if not text.strip("\ufeff\x00 \t\r\n"):
        return DecodedJson(repairs=[JsonRepair(0, "empty block")])
    if len(text) > MAX_REPAIRED_CHARACTERS:
        message = f"not JSON, and too long to repair (limit: {MAX_REPAIRED_CHARACTERS} characters)"
        return DecodedJson(failure=JsonRepair(0, message))
    if _ESCAPED_START.match(text):
        with suppress(ValueError):
            return _decode_string(json.loads(f'"{text.strip()}"', strict=False))
    entity = _QUOTE_ENTITY.search(text)
    if entity is None:
        return _require_value(TolerantDecoder(text).decode())
    if entity["typographic"]:
        text = _TYPOGRAPHY.sub(lambda found: '"' if found[0][0] == "&" else " ", text)
    decoded = _require_value(decode(html.unescape(text)))
    # Offsets no longer refer to the page, so all repairs are reported at the first entity.
    decoded.repairs = [JsonRepair(entity.start() + 1, repair.message) for repair in decoded.repairs]
    decoded.repairs.insert(0, JsonRepair(entity.start() + 1, "HTML entities instead of quotation marks"))
    if decoded.failure is not None:
        decoded.failure = JsonRepair(entity.start() + 1, decoded.failure.message)
    return decoded


def _require_value(decoded: DecodedJson) -> DecodedJson:
    if not decoded.values and decoded.failure is None:
        decoded.failure = JsonRepair(decoded.repairs[0].offset if decoded.repairs else 0, "no JSON in the block")
        decoded.repairs = []
    return decoded
