"""The internet in a box: its plan, its delay layer, and the conditions that the probe measures in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.live_box import running_box
from tools.box import BoxPlan, Fault
from tools.box.delay import DelayLine
from tools.box.names import write_name_server
from tools.box.plan import plan_hosts
from tools.box.web import read_log

from motherlode.www.urls import registrable_domain


def test_plan_of_thousand_hosts_has_thousand_domains_and_addresses_in_many_networks() -> None:
    hosts = plan_hosts(BoxPlan(hosts=1000))
    assert len({registrable_domain(host.name) for host in hosts}) == 1000
    addresses = [host.addresses for host in hosts]
    assert len(set(addresses)) == 1000
    assert len({address.rsplit(".", 2)[0] for (address,) in addresses}) == 240


def test_plan_of_many_hosts_keeps_two_names_per_domain() -> None:
    domains = Counter(registrable_domain(host.name) for host in plan_hosts(BoxPlan(hosts=5000)))
    assert (len(domains), set(domains.values())) == (2500, {2})


def test_plan_gives_faults_to_their_share_of_hosts() -> None:
    shares = {Fault.DEAD_NAME: 0.03, Fault.DEAD_ADDRESS: 0.05, Fault.HALF_DEAD: 0.02, Fault.SHARED: 0.04}
    hosts = plan_hosts(BoxPlan(hosts=200, faults=shares))
    assert Counter(host.fault for host in hosts) == {
        Fault.DEAD_NAME: 6,
        Fault.DEAD_ADDRESS: 10,
        Fault.HALF_DEAD: 4,
        Fault.SHARED: 8,
        Fault.NONE: 172,
    }
    assert len({host.addresses for host in hosts if host.fault is Fault.SHARED}) == 4
    assert {len(host.addresses) for host in hosts if host.fault is Fault.HALF_DEAD} == {2}


def packet(source: int, target: int, content: bytes = b"") -> bytes:
    """Return an IPv4 packet between 127.SOURCE.0.1 and 127.TARGET.0.1, without a meaningful header otherwise."""
    return b"\x45" + bytes(11) + bytes((127, source, 0, 1, 127, target, 0, 1)) + content


def test_delay_line_returns_packets_after_half_a_round_trip() -> None:
    line = DelayLine(0.03, 0.0, {254: 0.2})
    line.add(packet(255, 254), now=1.0)
    line.add(packet(255, 7), now=1.0)
    assert line.take(1.014) == []
    assert line.take(1.016) == [packet(255, 7)]
    assert line.take(1.101) == [packet(255, 254)]


def test_delay_line_with_jitter_keeps_the_order_between_two_addresses() -> None:
    line = DelayLine(0.03, 0.03, {})
    sent = [packet(255, 7, bytes([number])) for number in range(100)]
    for number, one in enumerate(sent):
        line.add(one, now=number / 1000)
    assert line.take(10.0) == sent


def test_name_server_has_only_names_of_its_zones(tmp_path: Path) -> None:
    hosts = plan_hosts(BoxPlan(hosts=20))
    text = write_name_server(tmp_path, "127.254.1.1", ["de"], hosts).read_text()
    assert text.count(" IN A ") == 2
    assert "www.water3.de. 3600 IN A 127.4.0.1" in text


def test_log_with_incomplete_last_line_gives_the_complete_ones(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text("10.500 0.250 127.1.0.1 www.a.com / 200 7 r\n11.0 0.0 127.1")
    (found,) = read_log(path)
    assert (found.began, found.ended, found.host, found.status, found.is_resumed) == (
        10.25,
        10.5,
        "www.a.com",
        200,
        True,
    )


def test_box_has_the_round_trip_and_the_loss_of_its_plan(tmp_path: Path) -> None:
    plan = BoxPlan(hosts=2, pages=1, round_trip=0.05, loss=0.05)
    with running_box(plan, tmp_path / "box") as box:
        found = box.measure(packets=2000)
    assert found.delay_layer in ("TUN", "netem")
    assert found.round_trip >= 0.05
    assert 0.03 < found.loss < 0.07, "a fair draw of 2,000 packets is outside once in ten thousand"
