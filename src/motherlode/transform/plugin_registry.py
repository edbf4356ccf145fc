"""The installed transformers and the media types they accept. This module does not load the transformers."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from motherlode.transform.options import TransformOptions

GROUP = "motherlode.transformers"


@lru_cache(maxsize=1)
def installed_transformers() -> tuple[EntryPoint, ...]:
    """Return the transformers of all installed packages, exact media types before wildcards."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda point: (point.name.count("*"), point.name)))


def allowed_transformers(options: TransformOptions) -> list[EntryPoint]:
    """Return the installed transformers that the options allow."""
    names = options.transformers
    return [point for point in installed_transformers() if names is None or point.name in names]


def transformable_types(options: TransformOptions) -> tuple[str, ...]:
    """Return the media types that only services and transformers can process."""
    return (
        *(service.media_type for service in options.services),
        *(point.name for point in allowed_transformers(options)),
    )
