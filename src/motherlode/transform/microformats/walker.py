"""The traversal (walker) that reads items from root elements. It visits each node once, without recursion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from motherlode.model import ContentKind
from motherlode.transform.microformats import class_names, value_parsing
from motherlode.transform.microformats.class_names import NO_NAMES, ClassicFormat, ClassNames, parse_class
from motherlode.transform.microformats.dates import find_date, read_time
from motherlode.transform.microformats.value_parsing import Image, Item, Piece, PropertyElement, Value
from motherlode.www.document import Document
from motherlode.www.html_ancestors import languages, own_language


class PropertySlot(msgspec.Struct, kw_only=True):
    """The position of a value in an item, which is filled when the value's element ends."""

    item: Item
    prefix: str
    name: str
    position: int
    rel_tag: bool = False


class OpenElement(PropertyElement, kw_only=True):
    """An element that the walker has entered and not yet left."""

    key: int
    start: int
    """The index of its first text piece."""
    slots: list[PropertySlot] = msgspec.field(default_factory=list)
    """Positions for the values that this element gives to properties of the enclosing item."""
    item: Item | None = None
    """The item that this element starts, if any."""
    own: list[PropertySlot] = msgspec.field(default_factory=list)
    """Positions for values that it gives to the item that it starts itself: `class="item fn"` in a classic review."""
    part_of: PropertyElement | None = None
    """The property of whose value it is a part (value class pattern)."""
    is_title: bool = False
    """True if the value part is the title attribute (class value-title)."""
    includes: tuple[str, ...] = ()
    """Ids of elements to include (include pattern)."""
    enclosing: OpenElement | None = None
    """This element or the nearest ancestor that is a property, a root or a value part."""


class ItemContext(msgspec.Struct, kw_only=True):
    """An item whose element is open."""

    item: Item
    classic: ClassicFormat | None
    """The classic format of the item; None if it is an item of microformats2."""
    depth: int
    dates: list[tuple[PropertySlot, Value]] = msgspec.field(default_factory=list)
    """The dt-* values in the order of their end tags."""


def add_slots(context: ItemContext, element: PropertyElement, names: ClassNames) -> list[PropertySlot]:
    """Reserve a position among the values of each property that an element has as a class."""
    item, slots = context.item, []
    for prefix, name, rel_tag in _find_properties(context.classic, element, names):
        values = item.properties.setdefault(name, [])
        slots.append(PropertySlot(item=item, prefix=prefix, name=name, position=len(values), rel_tag=rel_tag))
        values.append(None)
        item.prefixes.add(prefix)
    return slots


def _find_properties(
    classic: ClassicFormat | None, element: PropertyElement, names: ClassNames
) -> list[tuple[str, str, bool]]:
    """Return the properties of an element: prefix, name, and whether the value is the tag of a rel=tag link."""
    if classic is None:
        return [(prefix, name, False) for prefix, name in names.properties]
    known = classic.properties
    found = {known[name][1]: (known[name][0], False) for name in names.classic if name in known}
    if classic.rels and "href" in element.attributes:
        for value in (element.attributes.get("rel") or "").lower().split():
            if value in classic.rels:
                prefix, name = classic.rels[value]
                found.setdefault(name, (prefix, value == "tag"))
    return [(prefix, name, rel_tag) for name, (prefix, rel_tag) in found.items()]


def read_include(element: PropertyElement) -> tuple[str, ...]:
    """Return the id to which an element of class include refers, if any."""
    reference = element.attribute("href") or element.attribute("data") or ""
    return (reference[1:],) if reference.startswith("#") else ()


def complete_times(context: ItemContext) -> None:
    """Give each time without a date the nearest date before it, otherwise the next one (value-class-pattern)."""
    days = [find_date(value.text) for _, value in context.dates]
    last = next(filter(None, days), "")
    for (slot, value), day in zip(context.dates, days, strict=True):
        last = day or last
        if last and not day and (time := read_time(value.text)):
            text = f"{last} {time}"
            completed = msgspec.structs.replace(value, text=text, item_value=text)
            slot.item.properties[slot.name][slot.position] = completed


def _read_tag_ids() -> dict[str, int]:
    """Return lexbor's numbers of tags. They are read from a parsed sample because they differ between versions."""
    sample = LexborHTMLParser("<p>text<!--comment--><img><script></script><style></style><template></template>")
    return {node.tag or "": node.tag_id for node in sample.css("body")[0].traverse(include_text=True)}


_TAGS = _read_tag_ids()
_TEXT, _IMG = _TAGS["-text"], _TAGS["img"]
_SKIPPED = frozenset(_TAGS[tag] for tag in ("-comment", "script", "style", "template"))
"""Tags whose nodes are skipped, because they contain neither visible text nor items."""

MAX_DEPTH = 64
"""Maximum number of levels of nested items. Deeper roots are read as plain elements."""
MAX_TEXT_CHARS = 16_000_000
"""Maximum number of characters in all values of a page. Nested properties repeat text, so it could grow with the square
of the page."""
MAX_INCLUDED_NODES = 20_000
"""Maximum number of nodes of one page that the include pattern may read again."""
MAX_INCLUDE_DEPTH = 4


def _is_bare(item: Item) -> bool:
    """Whether a classic geo or adr has text only, such as "51.5;-0.1"."""
    return (
        item.is_classic
        and not item.properties
        and not item.has_nested
        and class_names.PLAIN_TYPES.issuperset(item.types)
    )


class ItemWalker:
    """Reads the items of the root elements of one page."""

    def __init__(self, document: Document, *, ignored: frozenset[str]) -> None:
        self.items: list[Item] = []
        self.seen: set[int] = set()
        """Keys of the roots that have been read, including nested ones."""
        self.limits: set[str] = set()
        self._document = document
        self._base = document.iri_base
        self._ignored = ignored
        self._is_xml = document.kind is ContentKind.XHTML
        """Whether `xml:lang` sets the language."""
        self._language_of = languages(document, default="")
        self._language = ""
        self._pieces: list[Piece] = []
        self._open: list[OpenElement] = []
        self._open_keys: set[int] = set()
        self._contexts: list[ItemContext] = []
        self._chars_left = MAX_TEXT_CHARS
        self._includes_left = MAX_INCLUDED_NODES
        self._including: list[str] = []

    def read(self, root: LexborNode) -> None:
        """Read a root element that is not inside another one."""
        self._language = self._language_of(root)
        self._pieces.clear()
        self._walk(root)

    def _walk(self, start: LexborNode) -> None:
        keep, opened = self._pieces.append, self._open
        depth = 0
        node = start
        while True:
            tag_id = node.tag_id
            if tag_id == _TEXT:
                keep(node.text_content or "")
            elif tag_id not in _SKIPPED and (not self._including or self._may_enter()):
                attributes = node.attributes
                if attributes:
                    self._enter(node, attributes, is_image=tag_id == _IMG)
                child = node.child
                if child is not None:
                    node = child
                    depth += 1
                    continue
                if opened and opened[-1].key == node.mem_id:
                    self._leave()
            following = node.next if depth else None
            while following is None:
                parent = node.parent if depth else None
                if parent is None:
                    return
                node = parent
                depth -= 1
                if opened and opened[-1].key == node.mem_id:
                    self._leave()
                following = node.next if depth else None
            node = following

    def _may_enter(self) -> bool:
        self._includes_left -= 1
        if self._includes_left < 0:
            self.limits.add("included elements beyond the limit were left out")
            return False
        return True

    def _enter(self, node: LexborNode, attributes: dict[str, str | None], *, is_image: bool) -> None:
        if is_image:
            src = attributes["src"] or "" if "src" in attributes else None
            alt = attributes["alt"] or "" if "alt" in attributes else None
            self._pieces.append(Image(alt, None if src is None else value_parsing.resolve(self._base, src)))
        written = attributes.get("class")
        names = parse_class(written) if written else NO_NAMES
        matters = names is not NO_NAMES and self._matters(names)
        language = own_language(attributes, is_xml=self._is_xml)
        if not matters and "rel" not in attributes and language is None:
            return
        inherited = self._open[-1].language if self._open else self._language
        opened = OpenElement(
            key=node.mem_id,
            node=node,
            tag=node.tag or "",
            attributes=attributes,
            base=self._base,
            start=len(self._pieces),
            language=inherited if language is None else language,
        )
        self._classify(opened, names)
        if opened.slots or opened.item is not None or opened.part_of is not None:
            opened.enclosing = opened
        elif opened.includes or language is not None:
            opened.enclosing = self._enclosing()
        else:
            return
        self._open.append(opened)
        self._open_keys.add(opened.key)

    def _matters(self, names: ClassNames) -> bool:
        """Return whether an element may be a root, a property or a value part. Most are not, so it is fast."""
        if names.is_truncated:
            self.limits.add("class names beyond the limit were left out")
        if names.roots or names.classic_roots or names.is_value or names.is_value_title:
            return True
        if self._contexts and self._contexts[-1].classic is not None:
            return bool(names.classic) or names.is_include
        return bool(names.properties)

    def _enclosing(self) -> OpenElement | None:
        return self._open[-1].enclosing if self._open else None

    def _classify(self, opened: OpenElement, names: ClassNames) -> None:
        """Find the properties of the enclosing item that an element is a value of, and start its own item, if any."""
        context = self._contexts[-1] if self._contexts else None
        classic = context.classic if context is not None else None
        if context is not None:
            if names.is_value or names.is_value_title:
                self._add_value_part(opened, is_title=names.is_value_title and not names.is_value)
            opened.slots = add_slots(context, opened, names)
            if classic is not None and names.is_include:
                opened.includes = read_include(opened)
        roots = tuple(root for root in names.roots if root not in self._ignored)
        implied = classic.implied_roots if classic is not None else {}
        if roots or names.classic_roots:
            self._start_item(opened, roots, () if roots else names.classic_roots)
        elif implied_roots := tuple(implied[name] for name in names.classic if name in implied):
            self._start_item(opened, (), implied_roots)
            if opened.item is not None:  # the other classes of the element are properties of the implied item
                opened.own = add_slots(self._contexts[-1], opened, names)

    def _add_value_part(self, opened: OpenElement, *, is_title: bool) -> None:
        """Add a value element to the property that directly encloses it, if one does."""
        if is_title and "title" not in opened.attributes:
            return
        enclosing = self._enclosing()
        if enclosing is not None and enclosing.slots and enclosing.item is None:
            opened.part_of, opened.is_title = enclosing, is_title

    def _start_item(self, opened: OpenElement, roots: tuple[str, ...], classic_roots: tuple[str, ...]) -> None:
        depth = self._contexts[-1].depth + 1 if self._contexts else 0
        if not self._including:
            self.seen.add(opened.key)
        if depth >= MAX_DEPTH:
            self.limits.add(f"items nested more than {MAX_DEPTH} deep were left out")
            return
        attributes = opened.attributes
        types = roots or class_names.classic_types(classic_roots)
        item = Item(
            key=opened.key,
            types=types,
            is_classic=not roots,
            id=attributes.get("id") or "",
            language=opened.language,
        )
        if self._contexts:
            self._contexts[-1].item.has_nested = True
        opened.item = item
        classic = None
        if not roots:
            classic = class_names.combine_formats(classic_roots)
            references = attributes.get("itemref") or (attributes.get("headers") or "")
            opened.includes = tuple(references.split())
        self._contexts.append(ItemContext(item=item, classic=classic, depth=depth))

    def _leave(self) -> None:
        opened = self._open[-1]
        if opened.includes:
            self._include(opened)
        self._open.pop()
        self._open_keys.discard(opened.key)
        opened.pieces = self._take_pieces(opened)
        if opened.part_of is not None:
            opened.part_of.parts.append(value_parsing.read_part(opened, is_title=opened.is_title))
        if opened.item is not None:
            for slot in opened.own:
                self._fill(slot, opened, None)
            complete_times(self._contexts.pop())
            value_parsing.add_implied_properties(opened.item, opened)
        for slot in opened.slots:
            self._fill(slot, opened, opened.item)
        if opened.item is not None and not opened.slots:
            if _is_bare(opened.item):
                opened.item.plain = value_parsing.read_plain(opened, None, rel_tag=False)
            siblings = self._contexts[-1].item.children if self._contexts else self.items
            siblings.append(opened.item)

    def _take_pieces(self, opened: OpenElement) -> Sequence[Piece]:
        """Return the text pieces of an element if a value needs them and the limit of text allows it."""
        uses = len(opened.slots) + len(opened.own) + (opened.part_of is not None)
        if opened.item is not None:
            uses += _is_bare(opened.item) or not (opened.item.has_nested or opened.item.is_classic)
        if not uses or self._chars_left < 0:
            return ()
        pieces = self._pieces[opened.start :]
        self._chars_left -= (sum(map(len, pieces)) + len(pieces)) * uses
        if self._chars_left < 0:
            self.limits.add("text beyond the limit was left out")
            return ()
        return pieces

    @cached_property
    def _ids(self) -> dict[str, LexborNode]:
        """The elements by id. The first element with an id counts."""
        return {node.attributes["id"] or "": node for node in reversed(self._document.html.css("[id]"))}

    def _include(self, opened: OpenElement) -> None:
        """Read the included elements as descendants of this one (microformats.org/wiki/include-pattern)."""
        for name in opened.includes:
            may_include = len(self._including) < MAX_INCLUDE_DEPTH and name not in self._including
            node = self._ids.get(name) if may_include else None
            if node is None or node.mem_id in self._open_keys:
                continue
            end = len(self._pieces)
            self._including.append(name)
            self._walk(node)
            self._including.pop()
            del self._pieces[end:]  # included text does not become text of this element

    def _fill(self, slot: PropertySlot, opened: OpenElement, item: Item | None) -> None:
        """Set the value of a slot. `item` is the item that the element starts, if any."""
        value = self._read_value(slot, opened, item)
        slot.item.properties[slot.name][slot.position] = value
        if slot.prefix == "dt":
            self._contexts[-1].dates.append((slot, value))

    def _read_value(self, slot: PropertySlot, opened: OpenElement, item: Item | None) -> Value:
        if slot.prefix == "p":
            return value_parsing.read_plain(opened, item, rel_tag=slot.rel_tag)
        if slot.prefix == "u":
            return value_parsing.read_url(opened, item)
        is_markup = slot.prefix == "e"
        text = opened.text(value_parsing.ImageText.ALT_OR_SRC) if is_markup else value_parsing.read_moment(opened)
        html = self._read_markup(opened) if is_markup else None
        return Value(prefix=slot.prefix, text=text, html=html, language=opened.language, item=item, item_value=text)

    def _read_markup(self, element: PropertyElement) -> str:
        """Return the markup of an e-* element, or "" beyond the limit of text."""
        if self._chars_left < 0:
            return ""
        html, cost = value_parsing.read_markup(element)
        self._chars_left -= cost
        if self._chars_left < 0:
            self.limits.add("text beyond the limit was left out")
            return ""
        return html
