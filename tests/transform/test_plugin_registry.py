"""Installed transformers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from motherlode.transform import plugin_registry
from motherlode.transform.options import Service, TransformOptions
from motherlode.transform.plugin_registry import transformable_types


@pytest.fixture(autouse=True)
def with_transformers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = [
        EntryPoint(name=name, value="some:thing", group=plugin_registry.GROUP)
        for name in ("image/*", "application/pdf")
    ]
    monkeypatch.setattr(
        plugin_registry, "entry_points", lambda *, group: points if group == plugin_registry.GROUP else []
    )
    plugin_registry.installed_transformers.cache_clear()
    yield
    plugin_registry.installed_transformers.cache_clear()


def test_installed_transformers_exact_media_types_come_first() -> None:
    assert [point.name for point in plugin_registry.installed_transformers()] == ["application/pdf", "image/*"]


def test_transformable_types_include_services_and_allowed_transformers() -> None:
    sound = Service(media_type="audio/*", url="http://127.0.0.1:1/")
    assert transformable_types(TransformOptions(services=(sound,))) == ("audio/*", "application/pdf", "image/*")
    assert transformable_types(TransformOptions(transformers=frozenset({"image/*"}))) == ("image/*",)
    assert transformable_types(TransformOptions(transformers=frozenset())) == ()
