"""Tables in memory: the rows of a query or the list of pages, with conversions to data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, overload

import pyoxigraph as ox

from motherlode.index.page_record import Term, serialize_term
from motherlode.model.terms import XSD
from motherlode.runtime import import_extra

Value = str | int | float | bool | datetime | date | list[Any] | dict[str, Any] | None
"""A value of a row: the text of an IRI or a literal, or the number, truth value or time that a literal stands for."""
_MAX_SHOWN = 20
_MAX_CELL_CHARACTERS = 100
"""Longer values are cut where rows are shown."""
_MAX_INTEGER = 1 << 63
_INTEGERS = frozenset(
    XSD + name
    for name in (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    )
)


def _parse_boolean(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text]


_PARSERS: dict[str, Callable[[str], Value]] = {
    **dict.fromkeys(_INTEGERS, int),
    **dict.fromkeys((XSD + "decimal", XSD + "double", XSD + "float"), float),
    XSD + "boolean": _parse_boolean,
    XSD + "dateTime": datetime.fromisoformat,
    XSD + "date": date.fromisoformat,
}
"""Python's parsers of the datatypes that data frames have."""


def to_value(term: Term | None) -> Value:
    """Return the Python value of a term: a number, truth value or time if its datatype says so, else its text.

    >>> to_value(ox.Literal(3)), to_value(ox.NamedNode("http://a.example/")), to_value(ox.BlankNode("b"))
    (3, 'http://a.example/', '_:b')
    """
    if term is None:
        return None
    if isinstance(term, ox.NamedNode):
        return term.value
    if not isinstance(term, ox.Literal):
        return serialize_term(term)
    parse = _PARSERS.get(term.datatype.value)
    try:
        value = term.value if parse is None else parse(term.value)
    except (ValueError, KeyError):  # the literal does not fit its datatype, or Python does not know the form
        return term.value
    return term.value if isinstance(value, int) and abs(value) >= _MAX_INTEGER else value


class Rows(Sequence[dict[str, Value]]):
    """Rows with named columns. Each row is a dict from the name of a column to a Python value, or None.

    A Jupyter notebook shows the rows as a table.
    """

    def __init__(
        self, columns: Sequence[str], values: Iterable[Sequence[Value]], *, terms: Sequence[Sequence[Term | None]] = ()
    ) -> None:
        self.columns = tuple(columns)
        """The names of the columns, in the order of the query."""
        self.terms = terms
        """The rows with RDF terms of pyoxigraph instead of Python values, if they come from a query."""
        self._values = [tuple(row) for row in values]

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> dict[str, Value]: ...

    @overload
    def __getitem__(self, index: slice) -> Rows: ...

    def __getitem__(self, index: int | slice) -> dict[str, Value] | Rows:
        if isinstance(index, slice):
            return Rows(self.columns, self._values[index], terms=self.terms[index])
        return dict(zip(self.columns, self._values[index], strict=True))

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self._values)

    def __repr__(self) -> str:
        lines = [" | ".join(self.columns), *(" | ".join(map(_shorten, row)) for row in self._values[:_MAX_SHOWN])]
        more = len(self) - _MAX_SHOWN
        return "\n".join([*lines, f"… {more:,} more rows"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        from html import escape

        def line(tag: str, cells: Iterable[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

        rows = "".join(line("td", map(_shorten, row)) for row in self._values[:_MAX_SHOWN])
        return f"<table>{line('th', self.columns)}{rows}</table><p>{len(self):,} rows</p>"

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`. Needs the extra `parquet`."""
        arrow = import_extra("pyarrow", extra="parquet", purpose="to_arrow()")
        return arrow.table(self.to_dict())

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`. Needs the extra `pandas`."""
        pandas = import_extra("pandas", extra="pandas", purpose="to_pandas()")
        return pandas.DataFrame(self.to_dict(), columns=list(self.columns))

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`. Needs the extra `pandas`."""
        polars = import_extra("polars", extra="pandas", purpose="to_polars()")
        return polars.DataFrame(self.to_dict(), schema=list(self.columns))

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the columns as lists. A column whose values have several types is given as texts."""
        columns = zip(*self._values, strict=True) if self._values else ((),) * len(self.columns)
        return {name: _unify(column) for name, column in zip(self.columns, columns, strict=True)}


def _show(value: Value) -> str:
    if value is None:
        return ""
    return ", ".join(value) if isinstance(value, list) else str(value)


def _shorten(value: Value) -> str:
    """Return a value as one short line for `repr` and notebooks."""
    text = " ".join(_show(value).split())
    return text if len(text) <= _MAX_CELL_CHARACTERS else f"{text[:_MAX_CELL_CHARACTERS]}…"


def _unify(column: Iterable[Value]) -> list[Value]:
    """Return a column with values of one type: as they are, as floats, or as texts."""
    values = list(column)
    kinds = {type(value) for value in values if value is not None}
    if kinds == {datetime}:
        is_aware = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
        kinds = kinds if len(is_aware) == 1 else {datetime, str}
    if len(kinds) <= 1:
        return values
    if kinds == {int, float}:
        return [float(value) if isinstance(value, int) else value for value in values]
    return [None if value is None else _show(value) for value in values]
