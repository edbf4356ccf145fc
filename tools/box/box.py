"""Runs the box: starts its processes in the namespace, and measures round trip, loss and CPU time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tools.box import network, probe
from tools.box.delay import READY
from tools.box.names import STARTED, write_name_server, write_resolver
from tools.box.plan import ECHO_ADDRESS, RESOLVERS, BoxHost, BoxPlan, Fault, dead_addresses, plan_hosts
from tools.box.web import Authority, LoggedRequest, read_log, write_nginx, write_pages

ROOT = Path(__file__).resolve().parents[2]
_COMMANDS = ("unshare", "nsenter", "ip", "nft", "unbound", "nginx", "mount")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_DELAY, _PROBE = (Path(__file__).with_name(name) for name in ("delay.py", "probe.py"))
_START_SECONDS = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


def missing_part() -> str:
    """Return why no box can run on this machine, or ""."""
    absent = [name for name in _COMMANDS if shutil.which(name, path=_PATH) is None]
    if absent:
        return f"the box needs {', '.join(absent)}: apt-get install iproute2 nftables nginx unbound util-linux"
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", "--net", "--mount", *user, "nft", "list", "tables"]
    done = subprocess.run(command, env={**os.environ, "PATH": _PATH}, capture_output=True, text=True, check=False)
    return f"the box needs a network namespace with nftables: {done.stderr.strip()}" if done.returncode else ""


class Conditions(NamedTuple):
    """Delay layer, round trip and loss of a box, as measured."""

    delay_layer: str
    round_trip: float
    """Median in seconds."""
    loss: float
    """Share of packets that were lost, per direction."""


class Box:
    """A running box. Use it as a context manager."""

    def __init__(self, plan: BoxPlan, folder: Path, *, buffered_log: bool = False) -> None:
        self.plan = plan
        self.folder = folder
        self.hosts: list[BoxHost] = plan_hosts(plan)
        self.processes: dict[str, subprocess.Popen[str]] = {}
        """The processes of the box by name: `nginx`, `delay`, `resolver-N`, `zone-NAME`."""
        self.delay_layer = "none"
        """What delays packets: `netem`, `TUN` or `none`."""
        self._buffered_log = buffered_log

    def __enter__(self) -> Box:
        self.folder.mkdir(parents=True, exist_ok=True)
        count = self.plan.resolvers
        servers = "".join(f"nameserver {address}\n" for address in RESOLVERS[:count])
        resolv_conf = self.folder / "resolv.conf"
        resolv_conf.write_text(f"{servers}options timeout:5 attempts:3\n")
        self._authority = Authority()
        self.authority_file = self._authority.write(self.folder)
        write_pages(self.folder / "pages", self.plan, self.hosts)
        self._namespace = network.Namespace(resolv_conf)
        try:
            self._start_network()
            self._start_servers()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            process.wait(timeout=20)
        self._namespace.close()

    # ── for crawlers and tests ───────────────────────────────────────────────────────────────────────────

    @property
    def seeds(self) -> list[str]:
        """The home pages of all hosts, dead ones included."""
        return [f"https://{host.name}/" for host in self.hosts]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a crawler in the box: it trusts the authority of the box."""
        own = {"PATH": _PATH, "SSL_CERT_FILE": str(self.authority_file)}
        proxies = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
        return {name: value for name, value in os.environ.items() if name.lower() not in proxies} | own

    def start(self, arguments: Sequence[str | Path], *, cwd: Path = ROOT, **options: object) -> subprocess.Popen[str]:
        """Start a command in the box. `options` are those of Popen."""
        command = self._namespace.command(arguments, cwd=cwd)
        return subprocess.Popen(command, env=self.environment, text=True, **options)  # type: ignore[call-overload,no-any-return]

    def requests(self) -> list[LoggedRequest]:
        """Return the requests that the web servers have logged so far."""
        return read_log(self.folder / "access.log")

    def pause(self, name: str) -> None:
        """Stop a process of the box, as if its machine hung."""
        self.processes[name].send_signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGCONT)

    def restart_resolvers(self) -> None:
        """Start the resolvers anew, with empty caches."""
        for number in range(self.plan.resolvers):
            process = self.processes.pop(f"resolver-{number}")
            process.terminate()
            process.wait(timeout=20)
            self._start_resolver(number)

    def flush_log(self) -> None:
        """Let nginx write all lines of a buffered log. Without this it writes them at least once per second."""
        self.processes["nginx"].send_signal(signal.SIGUSR1)
        time.sleep(1.5)

    def kill_addresses(self, addresses: Sequence[str]) -> None:
        """Let addresses answer nothing from now on."""
        network.change_set(self._namespace, "add", "dead", addresses)

    def revive_addresses(self, addresses: Sequence[str]) -> None:
        network.change_set(self._namespace, "delete", "dead", addresses)

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time of each process of the box so far, its children included."""
        found = {}
        for name, process in self.processes.items():
            pids = [process.pid, *children_of(process.pid)]
            found[name] = sum(cpu_seconds_of(pid) for pid in pids)
        return found

    def measure(self, *, packets: int = 2000) -> Conditions:
        """Measure round trip and loss with datagrams."""
        echo = self.start([sys.executable, _PROBE, "echo", ECHO_ADDRESS], stdout=subprocess.PIPE)
        try:
            assert echo.stdout is not None
            echo.stdout.readline()
            out = self._namespace.run(sys.executable, _PROBE, "send", ECHO_ADDRESS, str(packets))
        finally:
            echo.terminate()
            echo.communicate()
        found = probe.Measured(*map(float, out.split()))
        return Conditions(self.delay_layer, found.round_trip, found.loss)

    # ── start ────────────────────────────────────────────────────────────────────────────────────────────

    def _start_network(self) -> None:
        if self.plan.has_delay():
            self._start_delay()
        resets = [address for host in self.hosts if host.fault is Fault.RESETS for address in host.addresses]
        network.add_losses(self._namespace, self.plan, dead_addresses(self.hosts), resets)

    def _start_delay(self) -> None:
        if network.has_netem(self._namespace):
            self.delay_layer = "netem"
            network.add_netem(self._namespace, self.plan)
            network.add_routes(self._namespace, back=network.OTHER_END)
            return
        self.delay_layer = "TUN"
        ranges = [f"{number}={seconds}" for number, seconds in self.plan.round_trips().items()]
        command = [sys.executable, _DELAY, network.DEVICE, self.plan.round_trip, self.plan.jitter]
        self._launch("delay", [*map(str, command), *ranges], READY)
        network.add_routes(self._namespace, back=network.DEVICE)

    def _start_servers(self) -> None:
        for address, zones in self.plan.zones_by_server().items():
            config = write_name_server(self.folder, address, zones, self.hosts)
            self._launch(config.stem, ["unbound", "-dd", "-c", config], STARTED)
        for number in range(self.plan.resolvers):
            self._start_resolver(number)
        config = write_nginx(self.folder, self.plan, self.hosts, self._authority, buffered=self._buffered_log)
        self._launch("nginx", ["nginx", "-p", self.folder, "-c", config], "")
        self._wait_for((self.folder / "nginx.pid").exists, "nginx")

    def _start_resolver(self, number: int) -> None:
        config = write_resolver(self.folder, number, self.plan)
        self._launch(config.stem, ["unbound", "-dd", "-c", config], STARTED)

    def _launch(self, name: str, arguments: Sequence[str | Path], sign: str) -> None:
        """Start a process of the box, and wait until it has written `sign` to its log."""
        log = self.folder / f"{name}.log"
        with log.open("w") as file:
            self.processes[name] = self.start(arguments, stdout=file, stderr=subprocess.STDOUT)
        self._wait_for(lambda: sign in log.read_text(), name)

    def _wait_for(self, is_ready: object, name: str) -> None:
        until = time.monotonic() + _START_SECONDS
        while not is_ready():  # type: ignore[operator]
            if self.processes[name].poll() is not None or time.monotonic() > until:
                said = (self.folder / f"{name}.log").read_text()[-2000:]
                raise OSError(f"{name} of the box did not start: {said}")
            time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """Return the process ids of the children of a process, of all its threads."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found.extend(map(int, path.read_text().split()))
    return found


def cpu_seconds_of(pid: int) -> float:
    """Return user and system time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
