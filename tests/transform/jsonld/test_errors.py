from __future__ import annotations

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded, describe_value


def test_errors_say_code_and_detail() -> None:
    assert str(JsonLdError(ErrorCode.INVALID_ID_VALUE, "7")) == "invalid @id value: 7"
    assert str(LimitExceeded(ErrorCode.CONTEXT_OVERFLOW)) == "context overflow"


def test_containers_are_not_spelled_out() -> None:
    values: list[object] = [[1] * 10**6, {}, 10**5000, 1.5, True]
    assert [describe_value(value) for value in values] == ["an array", "an object", "a number", "1.5", "true"]
