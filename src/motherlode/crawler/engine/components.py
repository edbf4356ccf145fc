"""The components of a crawl. The factory makes the components; the engine uses and closes them.

Optional parts are objects that do nothing (`NoProber`, `NoArchive`), never None.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from motherlode.crawler.engine.limits import ControlFile, NoCeiling, cancel
from motherlode.crawler.engine.outage import OutageMonitor
from motherlode.crawler.engine.pipeline import (
    NoArchive,
    NoIndexQuery,
    NoNotices,
    NoProber,
    NoScorers,
    Subrequests,
    UrlDescriber,
)
from motherlode.crawler.engine.robots_and_dns import ForgetResponse, Names, Resolve
from motherlode.crawler.engine.usage import NoTdmFiles, TdmFiles
from motherlode.crawler.notices import Notices
from motherlode.crawler.parsing.parser_pool import Parsers
from motherlode.crawler.recrawl.revisits import Revisits
from motherlode.crawler.url_rules import Filters, TrapWatch
from motherlode.fetch import Prober, WarcArchive
from motherlode.frontier import STORAGE_ERRORS, Frontier, FrontierStorage
from motherlode.index.crawl_store import BatchWriter
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.sinks.sink_store import SinkStore
from motherlode.model import Fetcher, Link, Outcome, Policy
from motherlode.policies import Reward

if TYPE_CHECKING:
    from motherlode.crawler.engine.index_query import IndexQuery
    from motherlode.crawler.engine.memory_limit import MemoryCeiling
    from motherlode.crawler.scoring import Scorers

SaveEntry = Callable[[str, bytes], None]
"""Takes the key and the bytes of a state entry that is written with the next commit."""


class CommitParticipant(Protocol):
    """A part with state of its own that must agree with the commits of the frontier."""

    def prepare_commit(self, save: SaveEntry) -> None:
        """Save the state of this part that must be in the following commit."""
        ...

    def committed(self) -> None:
        """Take note of a commit: the state before this call is on disk."""
        ...

    def close(self) -> None:
        """Stop using the storage, which is about to be closed."""
        ...


class Peers(CommitParticipant, Protocol):
    """The other shards, which own the hosts that are not ours."""

    def keep_own(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Link]:
        """Return the links of our own hosts. The others are sent, at the latest after the next commit."""
        ...


Join = Callable[[FrontierStorage, Callable[[str], str]], Peers]
"""Makes a crawl a shard and returns its peers. Its arguments are the storage, and a function that returns why any shard
would refuse a URL, or ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The parts of one crawl."""

    storage: FrontierStorage
    frontier: Frontier
    policy: Policy
    fetcher: Fetcher
    readers: Parsers
    subrequests: Subrequests
    tdm_files: TdmFiles | NoTdmFiles
    writer: BatchWriter
    log: NQuadsLog
    """The log that the writer fills. It is closed last, which waits for its indexer."""
    describer: UrlDescriber
    traps: TrapWatch
    filters: Filters
    """Expressions that URLs must match. The user may change them while the crawl runs."""
    control: ControlFile
    """Wishes of the user: pause, stop, another budget."""
    sinks: SinkStore
    """Where quads go beside the store. They are closed after the writer."""
    participants: tuple[CommitParticipant, ...]
    """Journal, files of quads, and other shards, as far as there are any."""
    prober: Prober | NoProber
    index_query: IndexQuery | NoIndexQuery
    revisits: Revisits
    stop_conditions: tuple[Callable[[], bool], ...]
    """Rules of optional parts: the crawl stops if one of them returns True."""
    archive: WarcArchive | NoArchive
    outage_monitor: OutageMonitor
    sitemaps: bool
    """Whether to add the sitemaps that robots.txt files name."""
    usual_sitemaps: bool
    """Whether to add /sitemap.xml if a robots.txt names no sitemap."""
    respell: Callable[[str], str]
    """Returns the form of a URL that a recorded web uses, for example with http instead of https."""
    simplify: Callable[[str], str]
    """Returns the same URL for all URLs that the job treats as equal (`Job.simplify`)."""
    forget_response: ForgetResponse
    """Tells the journal that a response is not needed any more."""
    value_of: Callable[[str], float | None]
    """Returns the policy's value of an arm; None if the policy gives none."""
    problems: tuple[str, ...]
    """Problems that were found when the crawl was assembled."""
    resolve: Resolve
    names: Names
    """Looks up the IP addresses of hosts before their first lease."""
    ends_when_idle: bool
    """Whether the crawl ends if no URL is left. False for a shard, because other shards may still send links to it."""
    notices: Notices | NoNotices
    """Tells the operator about events."""
    reward: Reward
    """The reward that the policy learns from."""
    memory: MemoryCeiling | NoCeiling
    """Keeps the memory below the limit of the job."""
    scorers: Scorers | NoScorers
    """Programs of the user that score pages, for target and reward."""


@contextlib.asynccontextmanager
async def closing(
    parts: Components, take_tasks: Callable[[], list[asyncio.Task[None]]], save_final: Callable[[], None]
) -> AsyncIterator[None]:
    """At the end, cancel the tasks in flight and close the components."""
    is_broken = False
    try:
        yield
    except STORAGE_ERRORS as error:
        is_broken = True
        raise OSError(f"the frontier could not be read or written: {error}") from error
    except OSError:
        is_broken = True
        raise
    finally:
        await cancel(take_tasks())
        await close_components(parts, save_final, is_broken=is_broken)


async def close_components(parts: Components, save_final: Callable[[], None], *, is_broken: bool) -> None:
    """Close everything. The last commit is made unless something on disk has failed (`is_broken`).

    The order is a guarantee: quads are stored before the frontier is committed.
    """
    await parts.index_query.close()
    await parts.outage_monitor.close()
    await parts.subrequests.close()
    await parts.tdm_files.close()
    await parts.scorers.close()
    await parts.readers.close()
    await parts.fetcher.close()
    parts.archive.close()
    try:
        with contextlib.suppress(*((OSError,) if is_broken else ())):  # the first error is the one to report
            await parts.writer.close()  # raises if quads could not be stored: then nothing is committed
        if not is_broken:
            save_final()
    except STORAGE_ERRORS as error:
        is_broken = True
        raise OSError(f"the frontier could not be written: {error}") from error
    except OSError:
        is_broken = True
        raise
    finally:
        await parts.notices.end_run(is_broken=is_broken)  # before the log is closed
        for participant in parts.participants:
            participant.close()
        parts.storage.close()
        await asyncio.to_thread(parts.sinks.close)  # may wait for an endpoint
        with contextlib.suppress(*((OSError,) if is_broken else ())):
            await asyncio.to_thread(parts.log.close)
