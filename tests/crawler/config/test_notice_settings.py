"""The table `[notices]` of a job."""

from __future__ import annotations

from typing import Any

import pytest

from motherlode.crawler.config.notice_settings import EVENTS, NoticeSettings


def test_from_table_has_all_events_by_default() -> None:
    settings = NoticeSettings.from_table({"webhook": "https://hooks.example/x"})
    assert settings.events == EVENTS
    assert (settings.command, settings.drop_below, settings.drop_requests) == ((), 0.5, 500)


def test_from_table_keeps_words_of_command_and_chosen_events() -> None:
    settings = NoticeSettings.from_table({"command": ["mail", "me"], "events": ["end", "disk"], "drop_requests": 50})
    assert settings.command == ("mail", "me")
    assert settings.events == ("end", "disk")
    assert settings.drop_requests == 50


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "name a webhook, a command, or both"),
        ({"webhok": "https://hooks.example/"}, "unknown key 'webhok'"),
        ({"webhook": "ftp://hooks.example/"}, "must be an http or https URL"),
        ({"webhook": 5}, "name a webhook"),
        ({"command": "mail me"}, "must be a list of words"),
        ({"command": ["mail", 5]}, "must be a list of words"),
        ({"command": ["mail"], "events": "end"}, "got 'end'"),
        ({"command": ["mail"], "events": ["end", "party"]}, "got 'party'"),
        ({"command": ["mail"], "drop_below": 0}, "drop_below must be a share"),
        ({"command": ["mail"], "drop_requests": 0}, "drop_requests a number above 0"),
    ],
)
def test_from_table_with_wrong_value_names_it(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NoticeSettings.from_table(table)
