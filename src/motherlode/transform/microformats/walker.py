"""What is open while the tree is walked: elements, and the items that they belong to or begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from motherlode.transform.microformats.class_names import (
    NOTHING,
    PLAIN_TYPES,
    Classic,
    ClassNames,
    class_names,
    classic_of,
    classic_types,
)
from motherlode.transform.microformats.dates import date_in, time_in
from motherlode.transform.microformats.items import Item, Value, plain_value
from motherlode.transform.microformats.value_parsing import (
    Image,
    Images,
    Piece,
    PropertyElement,
    ValuePart,
    imply,
    markup_value,
    moment_value,
    part_of,
    resolve,
    tag_of,
    text_value,
    url_value,
)
from motherlode.www.html_ancestors import own_language


class PropertySlot(msgspec.Struct, kw_only=True):
    """The place of a value that its open element will fill."""

    item: Item
    prefix: str
    name: str
    position: int
    rel_tag: bool = False


class OpenElement(msgspec.Struct, kw_only=True):
    """An element between its start and its end."""

    key: int
    element: PropertyElement
    start: int
    """Where its text begins among the pieces."""
    language: str
    slots: list[PropertySlot] = msgspec.field(default_factory=list)
    """Values of the item around it."""
    item: Item | None = None
    own: list[PropertySlot] = msgspec.field(default_factory=list)
    """Values of the item that it opens itself: `class="item fn"` in a classic review."""
    part: ValuePart | None = None
    """What it contributes to the value of the property around it."""
    is_title: bool = False
    includes: tuple[str, ...] = ()
    around: OpenElement | None = None
    """The innermost open element, from this one outwards, that is a property, a root or a part."""


class ItemContext(msgspec.Struct, kw_only=True):
    """What holds inside the item that is being read."""

    item: Item
    classic: Classic | None
    depth: int
    dates: list[tuple[PropertySlot, Value]] = msgspec.field(default_factory=list)
    """The dt-* values in document order of their ends."""


def take_slot(item: Item, prefix: str, name: str, *, rel_tag: bool) -> PropertySlot:
    values = item.properties.setdefault(name, [])
    values.append(None)
    item.prefixes.add(prefix)
    return PropertySlot(item=item, prefix=prefix, name=name, position=len(values) - 1, rel_tag=rel_tag)


def read_url(element: PropertyElement, language: str, item: Item | None) -> Value:
    """Return the value of a u-* property; an item on the same element is worth its own u-url, or else this address.

    Running text is no address if the item names its url by another prefix, so it stays as it is written.
    """
    written, machine = url_value(element)
    address = resolve(element.base, written)
    alt = element.attribute("alt") if element.tag == "img" and "src" in element.attributes else None
    found = item.first("url", "u") if item is not None else None
    is_text = item is not None and "url" in item.properties and not machine
    fallback = written if is_text else address
    return Value(
        prefix="u",
        text=address,
        written=written,
        from_attribute=machine,
        alt=alt,
        language=language,
        item=item,
        item_value=plain_value(found) if found is not None else fallback,
    )


def include_of(element: PropertyElement) -> tuple[str, ...]:
    reference = element.attribute("href") or element.attribute("data") or ""
    return (reference[1:],) if reference.startswith("#") else ()


def lend_dates(context: ItemContext) -> None:
    """A time without a date takes that of the nearest date before it, or else of the next (value-class-pattern)."""
    last = ""
    early: list[tuple[PropertySlot, Value]] = []
    for slot, value in context.dates:
        day = date_in(value.text)
        if day:
            last = day
            for waiting in early:
                _lend(*waiting, day)
            early = []
        elif time_in(value.text):
            if last:
                _lend(slot, value, last)
            else:
                early.append((slot, value))


def _lend(slot: PropertySlot, value: Value, day: str) -> None:
    text = f"{day} {time_in(value.text)}"
    slot.item.properties[slot.name][slot.position] = msgspec.structs.replace(value, text=text, item_value=text)


# ── One walk over each root element: every node is seen once, entered and left, with no recursion.


def _tag_ids() -> dict[str, int]:
    """The numbers by which lexbor knows tags, asked of it rather than written down: they change with its versions."""
    sample = LexborHTMLParser("<p>text<!--comment--><img><script></script><style></style><template></template>")
    return {node.tag or "": node.tag_id for node in sample.css("body")[0].traverse(include_text=True)}


_TAGS = _tag_ids()
_TEXT, _IMG = _TAGS["-text"], _TAGS["img"]
_SILENT = frozenset(_TAGS[tag] for tag in ("-comment", "script", "style", "template"))
"""Nodes that have neither text nor items for us."""

MOST_NESTED = 64
"""Items inside items; deeper roots are read as plain elements."""
MOST_TEXT = 16_000_000
"""Characters in all values together: nested properties repeat the text inside them, so it could grow as the square."""
MOST_INCLUDED = 20_000
"""Nodes that may be read a second time for the sake of the include pattern."""


def _is_bare(item: Item) -> bool:
    """Whether a classic place or address is written without any markup inside, as "51.5;-0.1" is."""
    return item.is_classic and not item.properties and not item.has_nested and PLAIN_TYPES.issuperset(item.types)


class Walk:
    """Reads root elements into items. One walk serves one page."""

    def __init__(
        self,
        *,
        base: str,
        ignored: frozenset[str],
        by_id: Callable[[str], LexborNode | None],
        is_xml: bool = False,
    ) -> None:
        self.items: list[Item] = []
        self.seen: set[int] = set()
        """Keys of the roots that stand inside others and have been read with them."""
        self.limits: set[str] = set()
        """Limits that were met, in words."""
        self._base = base
        self._ignored = ignored
        self._by_id = by_id
        self._is_xml = is_xml
        """Whether the page is XHTML, where `xml:lang` names a language."""
        self._language = ""
        self._pieces: list[Piece] = []
        self._open: list[OpenElement] = []
        self._open_keys: set[int] = set()
        self._contexts: list[ItemContext] = []
        self._text_left = MOST_TEXT
        self._included_left = MOST_INCLUDED
        self._including: list[str] = []

    def read(self, root: LexborNode, language: str) -> None:
        """Reads a root that stands in no other."""
        self._language = language
        self._pieces.clear()
        self._run(root)

    def _run(self, start: LexborNode) -> None:
        keep, opened = self._pieces.append, self._open
        depth = 0
        node = start
        while True:
            tag_id = node.tag_id
            if tag_id == _TEXT:
                keep(node.text_content or "")
            elif tag_id not in _SILENT and (not self._including or self._may_enter()):
                attributes = node.attributes
                if attributes:
                    self._element(node, attributes, is_image=tag_id == _IMG)
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
        """Whether another element may be read for the sake of an include."""
        self._included_left -= 1
        if self._included_left < 0:
            self.limits.add("included elements beyond the limit were left out")
            return False
        return True

    def _element(self, node: LexborNode, attributes: dict[str, str | None], *, is_image: bool) -> None:
        """Takes note of an element's start."""
        if is_image:
            src = attributes["src"] or "" if "src" in attributes else None
            alt = attributes["alt"] or "" if "alt" in attributes else None
            self._pieces.append(Image(alt, None if src is None else resolve(self._base, src)))
        written = attributes.get("class")
        names = class_names(written) if written else NOTHING
        matters = names is not NOTHING and self._matters(names)
        language = own_language(attributes, is_xml=self._is_xml)
        if not matters and "rel" not in attributes and language is None:
            return
        opened = OpenElement(
            key=node.mem_id,
            element=PropertyElement(node=node, tag=node.tag or "", attributes=attributes, base=self._base),
            start=len(self._pieces),
            language=self._inherited_language() if language is None else language,
        )
        self._understand(opened, names)
        if opened.slots or opened.item is not None or opened.part is not None:
            opened.around = opened
        elif opened.includes or language is not None:
            opened.around = self._around()
        else:
            return
        self._open.append(opened)
        self._open_keys.add(opened.key)

    def _inherited_language(self) -> str:
        return self._open[-1].language if self._open else self._language

    def _matters(self, names: ClassNames) -> bool:
        """A quick look, for the many elements that are nothing to us."""
        if names.is_cut:
            self.limits.add("class names beyond the limit were left out")
        if names.roots or names.classic_roots or names.is_value or names.is_value_title:
            return True
        if self._contexts and self._contexts[-1].classic is not None:
            return bool(names.classic) or names.is_include
        return bool(names.properties)

    def _around(self) -> OpenElement | None:
        return self._open[-1].around if self._open else None

    def _understand(self, opened: OpenElement, names: ClassNames) -> None:
        """Finds out what an element is to the item around it, and whether it opens one itself."""
        context = self._contexts[-1] if self._contexts else None
        if context is not None and (names.is_value or names.is_value_title):
            self._take_part(opened, is_title=names.is_value_title and not names.is_value)
        properties = self._properties(context, opened, names) if context is not None else []
        if context is not None:
            for prefix, name, rel_tag in properties:
                opened.slots.append(take_slot(context.item, prefix, name, rel_tag=rel_tag))
            if context.classic is not None and names.is_include:
                opened.includes = include_of(opened.element)
        roots = tuple(root for root in names.roots if root not in self._ignored)
        if roots or names.classic_roots:
            self._open_item(opened, roots, () if roots else names.classic_roots)
        elif context is not None and context.classic is not None and context.classic.implied_roots:
            implied = context.classic.implied_roots
            self._open_implied(opened, names, tuple(implied[name] for name in names.classic if name in implied))

    def _open_implied(self, opened: OpenElement, names: ClassNames, roots: tuple[str, ...]) -> None:
        """Opens the item that a property class implies; the other classes of the element are properties of it."""
        if not roots:
            return
        self._open_item(opened, (), roots)
        if opened.item is not None:
            for prefix, name, rel_tag in self._properties(self._contexts[-1], opened, names):
                opened.own.append(take_slot(opened.item, prefix, name, rel_tag=rel_tag))

    def _properties(self, context: ItemContext, opened: OpenElement, names: ClassNames) -> list[tuple[str, str, bool]]:
        """Prefix, name, and whether the value is the tag of a rel=tag link."""
        if context.classic is None:
            return [(prefix, name, False) for prefix, name in names.properties]
        known = context.classic.properties
        found = {known[name][1]: (known[name][0], False) for name in names.classic if name in known}
        rel = opened.element.attributes.get("rel")
        if rel and context.classic.rels:
            for value in rel.lower().split():
                if value in context.classic.rels and "href" in opened.element.attributes:
                    prefix, name = context.classic.rels[value]
                    found.setdefault(name, (prefix, value == "tag"))
        return [(prefix, name, rel_tag) for name, (prefix, rel_tag) in found.items()]

    def _take_part(self, opened: OpenElement, *, is_title: bool) -> None:
        """A value element belongs to the property right around it, not to one beyond another property or root."""
        if is_title and "title" not in opened.element.attributes:
            return
        around = self._around()
        if around is not None and around.slots and around.item is None:
            opened.part, opened.is_title = ValuePart(), is_title
            around.element.parts.append(opened.part)

    def _open_item(self, opened: OpenElement, roots: tuple[str, ...], classic_roots: tuple[str, ...]) -> None:
        depth = self._contexts[-1].depth + 1 if self._contexts else 0
        if not self._including:
            self.seen.add(opened.key)
        if depth >= MOST_NESTED:
            self.limits.add(f"items nested more than {MOST_NESTED} deep were left out")
            return
        attributes = opened.element.attributes
        item = Item(
            key=opened.key,
            types=roots or classic_types(classic_roots),
            is_classic=not roots,
            id=attributes.get("id") or "",
        )
        if self._contexts:
            self._contexts[-1].item.has_nested = True
        opened.item = item
        classic = None
        if not roots:
            classic = classic_of(classic_roots)
            references = attributes.get("itemref") or (attributes.get("headers") or "")
            opened.includes = tuple(references.split())
        self._contexts.append(ItemContext(item=item, classic=classic, depth=depth))

    # The end of an element -------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        """Takes note of the end of the innermost open element."""
        opened = self._open[-1]
        if opened.includes:
            self._include(opened)
        self._open.pop()
        self._open_keys.discard(opened.key)
        element = opened.element
        element.pieces = self._text_of(opened)
        if opened.part is not None:
            found = part_of(element, is_title=opened.is_title)
            opened.part.text, opened.part.moment = found.text, found.moment
        if opened.item is not None:
            for slot in opened.own:
                self._fill(slot, opened, None)
            lend_dates(self._contexts.pop())
            imply(opened.item, element, opened.language)
        for slot in opened.slots:
            self._fill(slot, opened, opened.item)
        if opened.item is not None and not opened.slots:
            opened.item.plain = self._plain(opened, opened.item)
            siblings = self._contexts[-1].item.children if self._contexts else self.items
            siblings.append(opened.item)

    def _plain(self, opened: OpenElement, item: Item) -> Value | None:
        if not _is_bare(item):
            return None
        text, machine = text_value(opened.element)
        return Value(prefix="p", text=text, from_attribute=machine, language=opened.language)

    def _text_of(self, opened: OpenElement) -> Sequence[Piece]:
        """The text of an element, if it is going to be asked for."""
        wanted = len(opened.slots) + len(opened.own) + (opened.part is not None)
        if opened.item is not None:
            wanted += _is_bare(opened.item) or not (opened.item.has_nested or opened.item.is_classic)
        if not wanted or self._text_left < 0:
            return ()
        pieces = self._pieces[opened.start :]
        self._text_left -= (sum(map(len, pieces)) + len(pieces)) * wanted
        if self._text_left < 0:
            self.limits.add("text beyond the limit was left out")
            return ()
        return pieces

    def _include(self, opened: OpenElement) -> None:
        """Reads referenced elements as if they stood here (microformats.org/wiki/include-pattern)."""
        for name in opened.includes:
            node = self._by_id(name) if len(self._including) < 4 and name not in self._including else None
            if node is None or node.mem_id in self._open_keys:
                continue
            end = len(self._pieces)
            self._including.append(name)
            self._run(node)
            self._including.pop()
            del self._pieces[end:]  # what is read here is not part of the text here

    def _fill(self, slot: PropertySlot, opened: OpenElement, item: Item | None) -> None:
        value = self._value(slot, opened, item)
        slot.item.properties[slot.name][slot.position] = value
        if slot.prefix == "dt":
            self._contexts[-1].dates.append((slot, value))

    def _value(self, slot: PropertySlot, opened: OpenElement, item: Item | None) -> Value:
        element, language = opened.element, opened.language
        if slot.prefix == "p":
            if slot.rel_tag:
                text, machine = tag_of(resolve(self._base, element.attribute("href") or "")), True
            else:
                text, machine = text_value(element)
            named = item.first("name", "p") if item is not None else None
            item_value = plain_value(named) if named is not None else text
            return Value(
                prefix="p", text=text, from_attribute=machine, language=language, item=item, item_value=item_value
            )
        if slot.prefix == "u":
            return read_url(element, language, item)
        if slot.prefix == "e":
            text = element.text(Images.ALT_OR_SRC)
            html = self._markup(element)
            return Value(prefix="e", text=text, html=html, language=language, item=item, item_value=text)
        text = moment_value(element)
        return Value(prefix="dt", text=text, language=language, item=item, item_value=text)

    def _markup(self, element: PropertyElement) -> str:
        if self._text_left < 0:
            return ""
        html, cost = markup_value(element)
        self._text_left -= cost
        if self._text_left < 0:
            self.limits.add("text beyond the limit was left out")
            return ""
        return html
