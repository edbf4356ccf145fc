from __future__ import annotations

from ipaddress import ip_address

import pytest

from motherlode.sim.synthetic import SyntheticWeb
from motherlode.sim.synthetic.server_process import ADDRESSES, hosts_table


def test_hosts_table_uses_shared_loopback_addresses(web: SyntheticWeb) -> None:
    table = hosts_table(web, 8123)
    assert list(table) == list(web.hosts())
    used = {address for address, _ in table.values()}
    assert used == set(ADDRESSES)
    assert all(ip_address(address).is_loopback and address != "127.0.0.1" for address in used)
    assert {port for _, port in table.values()} == {8123}
    with pytest.raises(KeyError):
        table["nobody.example"]
