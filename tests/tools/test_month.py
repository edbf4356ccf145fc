"""bench/month.py on a small web: the endless refresh against a uniform schedule."""

from bench.month import compare


def test_forever_with_equal_requests_finds_more_new_pages_and_is_fresher_than_uniform() -> None:
    pairs = compare(2, per_day=40, hosts=12, days=15)
    assert all(ours.requests == uniform.requests for ours, uniform in pairs)
    assert all(0 < ours.new_relevant <= ours.appeared for ours, _ in pairs)
    ours_new, uniform_new = (sum(pair[side].new_relevant for pair in pairs) for side in (0, 1))
    assert ours_new >= 1.3 * uniform_new
    assert sum(ours.freshness for ours, _ in pairs) >= sum(uniform.freshness for _, uniform in pairs)
