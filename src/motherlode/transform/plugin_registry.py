"""Which transformers are installed, and what is fetched for their sake. Nothing that reads content is loaded here."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from motherlode.transform.options import TransformOptions

GROUP = "motherlode.transformers"


@lru_cache(maxsize=1)
def installed_transformers() -> tuple[EntryPoint, ...]:
    """The transformers of the installed packages; the most exact media types first."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name.count("*"), point.name)))


def allowed_transformers(options: TransformOptions) -> list[EntryPoint]:
    """The installed transformers that may be used."""
    names = options.transformers
    return [point for point in installed_transformers() if names is None or point.name in names]


def transformable_types(options: TransformOptions) -> tuple[str, ...]:
    """The types of content that services and transformers are there for: nobody else may have a use for them."""
    return (
        *(service.media_type for service in options.services),
        *(point.name for point in allowed_transformers(options)),
    )
