"""The table of tracking and session parameters."""

from __future__ import annotations

import pytest

from motherlode.www.urls import AMBIGUOUS_NAMES, TRACKING_NAMES, TRACKING_PREFIXES, is_tracking, remove_sessions

DIGEST = "0123456789abcdef" * 2
TICKET = "lit3py55t21z5v55vlm25s55"


@pytest.mark.parametrize(
    "parameter",
    [
        *("utm_source=a", "utm_anything", "UTM_Source=", "gclid=1", "fbclid", "PHPSESSID=x", "jsessionid=1", "_ga=2.1"),
        *(f"sid={DIGEST}", f"s={DIGEST}", f"SESSION_ID={DIGEST.upper()}", "sessid=k3vj2q0c5m8d7n1b6p4r9t2s8x"),
    ],
)
def test_is_tracking_of_tracking_parameters(parameter: str) -> None:
    assert is_tracking(parameter)


@pytest.mark.parametrize(
    "parameter",
    [
        *("", "=", "a", "id=3", "page=2", "q=utm_source", "ref=home", "source=rss", "utm=1", "xutm_a=1", "from=2020"),
        *("sid=12", "s=search words", "session=12", "session_id=keynote", "s=", "sid=" + "9" * 31, f"id={DIGEST}"),
        *("session=abcdefghijklmnopqrstuvwxyz", "sess=2026", "gclid2=1"),
    ],
)
def test_is_tracking_is_false_for_other_parameters(parameter: str) -> None:
    assert not is_tracking(parameter)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/a;jsessionid=1", "/a"),
        ("/a;jsessionid=1;b=2/c", "/a;b=2/c"),
        ("/a;x=jsessionid", "/a;x=jsessionid"),
        ("/a;jsessionid", "/a;jsessionid"),
        ("/a;PHPSESSID=x;JSessionID=y!1.z", "/a"),
        (f"/a;sid={DIGEST};b=2/c;SessionID={DIGEST}", "/a;b=2/c"),
        ("/item;sid=1", "/item;sid=1"),
        ("/a;SessionID=meeting-3/b;sid=", "/a;SessionID=meeting-3/b;sid="),
        (f"/a;sid={DIGEST}0", f"/a;sid={DIGEST}0"),
    ],
)
def test_remove_sessions_from_path_parameters(path: str, plain: str) -> None:
    assert remove_sessions(path) == plain


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        (f"/(S({TICKET}))/page.aspx", "/page.aspx"),
        (f"/app/(S({TICKET}))/", "/app/"),
        (f"/(X(1)S({TICKET}))/a/b", "/a/b"),
        (f"/(A({DIGEST}_-{DIGEST})F({DIGEST})S({TICKET}))/a.aspx", "/a.aspx"),
        (f"/({TICKET})/a.aspx", "/a.aspx"),
        (f"/(S({TICKET}));jsessionid=1/a", "/a"),
        ("/(a)/b", "/(a)/b"),
        ("/(S(short))/b", "/(S(short))/b"),
        ("/(X(1))/b", "/(X(1))/b"),
        (f"/a(S({TICKET}))/b", f"/a(S({TICKET}))/b"),
        (f"/(S({TICKET}))", f"/(S({TICKET}))"),
        ("/(internationalisations)/b", "/(internationalisations)/b"),
        ("/(abcdefghijklmnopqrstuvwx)/b", "/(abcdefghijklmnopqrstuvwx)/b"),
    ],
)
def test_remove_sessions_of_asp_net(path: str, plain: str) -> None:
    assert remove_sessions(path) == plain


def test_tracking_table_is_lower_case_without_duplicates() -> None:
    assert TRACKING_NAMES and TRACKING_PREFIXES and AMBIGUOUS_NAMES
    for name in (*TRACKING_NAMES, *TRACKING_PREFIXES, *AMBIGUOUS_NAMES):
        assert name == name.lower()
        assert not set(name) & set(" =&?*#")
    assert not TRACKING_NAMES & AMBIGUOUS_NAMES
    assert not [name for name in TRACKING_NAMES if name.startswith(TRACKING_PREFIXES)]
