"""The network of the box: a namespace, routes that lead through the delay layer, lost packets, dead addresses.

The namespace has loopback only. Packets to 127.1.0.0 and above leave through the device `far` and come back through it
(TUN) or through its other end (netem): policy routing delivers a packet locally only when it has come back.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.box.plan import CLIENT_ADDRESS, BoxPlan

DEVICE, OTHER_END = "far", "near"
_WEB_TABLE, _LOCAL_TABLE = "101", "100"
_SYSCTLS = ("route_localnet=1", "accept_local=1", "rp_filter=0")


class Namespace:
    """A network and mount namespace that lives as long as its first process."""

    def __init__(self, resolv_conf: Path) -> None:
        self._user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
        setup = 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)" && ip link set lo up && echo ready && exec cat'
        command = ["unshare", "--net", "--mount", *self._user, "sh", "-c", setup, str(resolv_conf)]
        self._first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._first.stdout is not None
        if self._first.stdout.readline() != "ready\n":
            raise OSError("no network namespace could be made; see the message of unshare above")

    def command(self, arguments: Sequence[str | Path], *, cwd: Path | None = None) -> list[str]:
        """Return the command that runs another one in the namespace."""
        user = ["--user", "--preserve-credentials"] if self._user else []
        inside = ["nsenter", "--target", str(self._first.pid), "--net", "--mount", *user]
        return [*inside, f"--wdns={cwd or Path.cwd()}", "--", *map(str, arguments)]

    def run(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run a command in the namespace and return its output. Raise CalledProcessError if it fails."""
        done = subprocess.run(self.command(arguments), input=stdin, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def close(self) -> None:
        assert self._first.stdin is not None and self._first.stdout is not None
        self._first.stdin.close()
        self._first.stdout.close()
        self._first.wait(timeout=10)


def has_netem(namespace: Namespace) -> bool:
    """Return whether the kernel has netem, tried at loopback and removed again."""
    try:
        namespace.run("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms")
        namespace.run("tc", "qdisc", "del", "dev", "lo", "root")
    except OSError:
        return False
    return True


def add_netem(namespace: Namespace, plan: BoxPlan) -> None:
    """Make `far` a pair of devices whose first end delays packets, with one class per range of addresses."""
    namespace.run("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", OTHER_END)
    for device in (DEVICE, OTHER_END):  # without ARP the sender uses its own address, so both ends have the same
        namespace.run("ip", "link", "set", device, "address", "02:00:00:00:00:01", "arp", "off", "up")
    ranges = plan.round_trips()
    priomap = ["0"] * 16
    tc = ("tc", "qdisc", "add", "dev", DEVICE)
    namespace.run(*tc, "root", "handle", "1:", "prio", "bands", str(1 + len(ranges)), "priomap", *priomap)
    for band, seconds in enumerate([plan.round_trip, *ranges.values()], start=1):
        delay = ["delay", f"{1e6 * seconds / 2:.0f}us", f"{1e6 * plan.jitter / 2:.0f}us", "limit", "100000"]
        namespace.run(*tc, "parent", f"1:{band}", "handle", f"{band}0:", "netem", *delay)
    for band, number in enumerate(ranges, start=2):
        for end in ("src", "dst"):
            match = ["u32", "match", "ip", end, f"127.{number}.0.0/16", "flowid", f"1:{band}"]
            namespace.run("tc", "filter", "add", "dev", DEVICE, "parent", "1:", "protocol", "ip", *match)


def add_routes(namespace: Namespace, *, back: str) -> None:
    """Route packets to 127.1.0.0 and above through `far`, and deliver those that come in through the device `back`."""
    namespace.run("ip", "link", "set", DEVICE, "mtu", "1500", "txqueuelen", "20000", "up")
    for device in {DEVICE, back, "all", "lo"}:
        for setting in _SYSCTLS:
            namespace.run("sysctl", "-qw", f"net.ipv4.conf.{device}.{setting}")
    namespace.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=10000 65000")
    add = ("ip", "route", "add")
    namespace.run(*add, "127.0.0.0/8", "dev", DEVICE, "src", CLIENT_ADDRESS, "table", _WEB_TABLE)
    namespace.run(*add, "local", "127.0.0.0/8", "dev", "lo", "table", _LOCAL_TABLE)
    rules = (
        ("10", "iif", back, "lookup", _LOCAL_TABLE),
        ("20", "iif", "lo", "to", "127.0.0.0/16", "lookup", "local"),
        ("30", "iif", "lo", "to", "127.0.0.0/8", "lookup", _WEB_TABLE),
        ("40", "lookup", "local"),
    )
    for rule in rules:
        namespace.run("ip", "rule", "add", "pref", *rule)
    namespace.run("ip", "rule", "del", "pref", "0")


def add_losses(namespace: Namespace, plan: BoxPlan, dead: Sequence[str], resets: Sequence[str]) -> None:
    """Drop a share of the packets, and all that go to dead addresses; reset some connections."""
    lose = f"numgen random mod 100000 < {round(100_000 * plan.loss)} drop" if plan.loss else ""
    rules = f"""table inet box {{
        set dead {{ type ipv4_addr; }}
        set resets {{ type ipv4_addr; }}
        chain lose {{
            type filter hook prerouting priority -300
            ip daddr @dead drop
            {lose if not plan.has_delay() else f'iifname {{ "{DEVICE}", "{OTHER_END}" }} {lose}' if lose else ""}
        }}
        chain break {{
            type filter hook input priority 0
            ip daddr @resets tcp flags & syn == 0 numgen random mod 100 < 20 reject with tcp reset
        }}
    }}
    """
    namespace.run("nft", "-f", "-", stdin=rules)
    for name, addresses in (("dead", dead), ("resets", resets)):
        change_set(namespace, "add", name, addresses)


def change_set(namespace: Namespace, how: str, name: str, addresses: Sequence[str]) -> None:
    """Add addresses to the set `dead` or `resets`, or delete them from it."""
    if addresses:
        namespace.run("nft", how, "element", "inet", "box", name, "{", ", ".join(addresses), "}")
