"""The similarity metric against its definition, with all pairs compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from motherlode.policies.linkanalysis.link_properties import SimilarUrls, url_properties

URL = st.builds(
    lambda host, parts, name: f"http://{host}/{''.join(part + '/' for part in parts)}{name}",
    st.sampled_from(["a.example", "b.example"]),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
    st.sampled_from(["", "1.html", "2.html", "w"]),
)


def similar(one: str, other: str) -> bool:
    """The two cases of the definition (III.C.3), as they are written there."""
    _, host_i, path_i, name_i, _ = url_properties(one)
    _, host_j, path_j, name_j, _ = url_properties(other)
    n = len(path_i)
    in_last_directory = (
        host_i == host_j
        and len(path_j) == n
        and n > 0
        and all(path_i[k] == path_j[k] for k in range(n - 1))
        and path_i[n - 1] != path_j[n - 1]
    )
    return in_last_directory or (host_i == host_j and path_i == path_j and name_i != name_j)


@given(st.lists(URL, max_size=8), URL)
def test_it_answers_as_a_comparison_with_every_member_would(members: list[str], url: str) -> None:
    s_hr = SimilarUrls()
    for member in members:
        s_hr.add(member)
    assert s_hr.similar_to(url) == any(similar(url, member) for member in members)


def test_the_paper_s_example() -> None:
    s_hr = SimilarUrls()
    assert not s_hr.similar_to("http://example.com/staffs/staff2"), "S_HR is empty at the beginning"
    s_hr.add("http://example.com/staffs/staff1")
    assert s_hr.similar_to("http://example.com/staffs/staff2")
    assert not s_hr.similar_to("http://example.com/goals/one")
    assert not s_hr.similar_to("http://example.com/staffs/staff2/papers")
    assert not s_hr.similar_to("http://example.org/staffs/staff2")


def test_a_site_of_any_size_takes_two_members_for_each_family() -> None:
    s_hr = SimilarUrls()
    for number in range(2_000):
        s_hr.add(f"http://a.example/staff/{number}.html")
    assert len(s_hr) == 2, "the files of /staff/, and the directories beside it"
    assert all(len(family) <= 2 for family in s_hr._families.values())
    assert s_hr.similar_to("http://a.example/staff/new.html")


def test_families_are_bounded() -> None:
    s_hr = SimilarUrls(max_families=10)
    for number in range(100):
        s_hr.add(f"http://a.example/{number}/x.html")
    assert len(s_hr) <= 10
    assert s_hr.similar_to("http://a.example/0/y.html"), "those that are known go on to answer"


def test_it_survives_a_dump_and_a_load() -> None:
    s_hr, again = SimilarUrls(), SimilarUrls()
    s_hr.add("http://a.example/staff/1.html")
    again.load(s_hr.dump())
    assert again.similar_to("http://a.example/staff/2.html")
    assert again.dump() == s_hr.dump()
