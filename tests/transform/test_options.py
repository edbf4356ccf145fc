"""Options of the transform phase."""

from __future__ import annotations

import dataclasses
import inspect
import pickle

import pytest

from motherlode.transform import options
from motherlode.transform.options import Service, Stylesheet, TransformOptions


def test_transform_options_can_be_pickled() -> None:
    given = TransformOptions(
        stylesheets=(Stylesheet(name="a", xslt=b"x", root="r"),), services=(Service(media_type="a/b", url="http://s/"),)
    )
    assert pickle.loads(pickle.dumps(given)) == given


def test_service_without_http_url_is_rejected() -> None:
    with pytest.raises(ValueError, match="http or https"):
        Service(media_type="a/b", url="file:///etc/passwd")


def test_transform_options_are_all_documented() -> None:
    lines = inspect.getsource(options).splitlines()
    for field in dataclasses.fields(TransformOptions):
        number = next(n for n, line in enumerate(lines) if line.startswith(f"    {field.name}:"))
        assert lines[number + 1].strip().startswith('"""')
