"""Name servers of the box: unbound as resolver, and unbound as name server of each zone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.box.plan import RESOLVERS, BoxHost, BoxPlan

_TTL_SECONDS = 3600
_NEGATIVE_TTL_SECONDS = 60
_COMMON = """server:
 chroot: ""
 username: ""
 pidfile: ""
 use-syslog: no
 do-daemonize: no
 module-config: "iterator"
 do-not-query-localhost: no
 access-control: 127.0.0.0/8 allow
 so-reuseport: no
 num-threads: 1
"""
_RESOLVER = """ outgoing-range: 4096
 num-queries-per-thread: 4096
 so-rcvbuf: 1m
 qname-minimisation: no
 infra-host-ttl: 5
 infra-keep-probing: yes
 unwanted-reply-threshold: 0
"""
_NO_CONTROL = "remote-control:\n control-enable: no\n"
STARTED = "start of service"
"""Text in the log of unbound from which on it answers."""


def write_resolver(folder: Path, number: int, plan: BoxPlan) -> Path:
    """Write the configuration of a resolver, which asks the name servers of the zones. Other names do not exist."""
    path = folder / f"resolver-{number}.conf"
    servers = {zone: address for address, zones in plan.zones_by_server().items() for zone in zones}
    known = "".join(f' local-zone: "{zone}." transparent\n' for zone in servers)
    zones = "".join(f'stub-zone:\n name: "{zone}."\n stub-addr: {address}\n' for zone, address in servers.items())
    own = f' directory: "{folder}"\n interface: {RESOLVERS[number]}\n local-zone: "." static\n'
    path.write_text(f"{_COMMON}{_RESOLVER}{own}{known}{zones}{_NO_CONTROL}")
    return path


def write_name_server(folder: Path, address: str, zones: Sequence[str], hosts: Sequence[BoxHost]) -> Path:
    """Write the configuration of a name server. Its name contains its first zone."""
    path = folder / f"zone-{zones[0]}.conf"
    lines = [f' directory: "{folder}"\n interface: {address}\n']
    for zone in zones:
        soa = f"ns.{zone}. admin.{zone}. 1 7200 3600 86400 {_NEGATIVE_TTL_SECONDS}"
        lines.append(f' local-zone: "{zone}." static\n local-data: "{zone}. {_NEGATIVE_TTL_SECONDS} IN SOA {soa}"\n')
    for host in hosts:
        if host.name.rpartition(".")[2] in zones:
            lines.extend(f' local-data: "{host.name}. {_TTL_SECONDS} IN A {found}"\n' for found in host.addresses)
    path.write_text(f"{_COMMON}{''.join(lines)}{_NO_CONTROL}")
    return path
