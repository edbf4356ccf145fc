"""`crawl`: run a crawl from a program, as a context manager that yields its visits."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from motherlode.api.crawl_thread import CrawlThread
from motherlode.api.progress import UPDATE_SECONDS, make_progress
from motherlode.api.results import CrawlResult
from motherlode.cluster.ray_runtime import check_shards
from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import JobError
from motherlode.crawler.engine.factory import check
from motherlode.crawler.engine.recovery import check_model
from motherlode.crawler.folder import CrawlFolder, HasCrawlError
from motherlode.crawler.stats.counters import Counters
from motherlode.model import Visit
from motherlode.policies import nearest

if TYPE_CHECKING:
    from motherlode.api.job_options import JobOptions


class Crawl:
    """A crawl of a program. Use it in a `with` or `async with` statement, and iterate over its visits.

    The crawl runs in a thread with its own event loop, so it also works in a notebook. Leaving the `with` block stops
    it, saves everything and unlocks the folder; requests that have not ended after five seconds are cancelled, and
    `resume=True` repeats them. One page of the web is one `Visit`, in the order in which the requests ended.
    """

    def __init__(self, job: Job, output: Path | None, *, resume: bool, progress: bool | None) -> None:
        self.job = job
        """The job of this crawl."""
        self._output = output
        self._resume = resume
        self._wants_progress = progress
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._thread: CrawlThread | None = None
        self._folder: CrawlFolder | None = None

    def __enter__(self) -> Self:
        if self._thread is not None:
            raise RuntimeError("a crawl can be entered only once: call motherlode.crawl() again")
        if self._output is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="motherlode-")
        folder = CrawlFolder(Path(self._temporary.name) if self._temporary else self._output or Path())
        try:
            self._prepare(folder)
            self._progress = make_progress(self.job, wanted=self._wants_progress)
            self._thread = CrawlThread(self.job, folder)
            self._thread.start()
        except BaseException:
            folder.unlock()
            self._remove_temporary()
            raise
        self._folder = folder
        return self

    def _prepare(self, folder: CrawlFolder) -> None:
        """Check the job, and create or lock the folder. Nothing is created if the job is wrong."""
        check(self.job)
        check_model(self.job)
        check_shards(self.job)
        if not self._resume:
            try:
                folder.create(self.job)
            except HasCrawlError as error:
                raise JobError(
                    f"{folder.path} has a crawl already: resume=True continues it, and motherlode.open(...) reads it; "
                    "a new crawl needs another output"
                ) from error
            return
        saved = folder.read_job()
        folder.lock()
        if saved != self.job:
            folder.save_job(self.job)
        folder.move_secrets()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._close()
        finally:
            self._remove_temporary()
        if error is None:
            self._raise_failure()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    def __iter__(self) -> Iterator[Visit]:
        """Yield the visits as they end. An error that ends the crawl is raised here."""
        thread = self._entered()
        while not thread.visits.is_over:
            visit = thread.visits.get(UPDATE_SECONDS)
            self._progress.show(thread.totals)
            if visit is not None:
                yield visit
        self._raise_failure()

    async def __aiter__(self) -> AsyncIterator[Visit]:
        """Yield the visits as they end, without blocking the event loop."""
        thread = self._entered()
        while not thread.visits.is_over:
            visit = await thread.visits.get_async(UPDATE_SECONDS)
            self._progress.show(thread.totals)
            if visit is not None:
                yield visit
        self._raise_failure()

    def run(self) -> CrawlResult:
        """Run the crawl to its end and return its result. The `output` folder must be given."""
        if self._output is None:
            raise ValueError("run() returns the folder of the crawl: give one, as in crawl(..., output='out').run()")
        with self:
            for _ in self:
                pass
        return CrawlResult(self._output)

    def stop(self) -> None:
        """Start no further request. The iteration ends when the requests in flight have ended."""
        self._entered().stop()

    @property
    def totals(self) -> Counters:
        """The counters of the crawl so far: fetched, relevant, quads, failures and others."""
        return self._entered().totals

    @property
    def result(self) -> CrawlResult:
        """The data of the crawl up to its last checkpoint, as `motherlode.open` returns it.

        Without `output`, it is only available inside the `with` block, because the folder is removed after it.
        """
        self._entered()
        assert self._folder is not None
        return CrawlResult(self._folder.path)

    def _entered(self) -> CrawlThread:
        if self._thread is None:
            raise RuntimeError("the crawl has not started: write `with motherlode.crawl(...) as crawl:`")
        return self._thread

    def _close(self) -> None:
        thread = self._entered()
        thread.close()
        self._progress.show(thread.totals, is_last=True)

    def _raise_failure(self) -> None:
        thread = self._entered()
        if thread.visits.is_over and thread.error is not None:
            raise thread.error

    def _remove_temporary(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()


def crawl(
    seeds: Iterable[str] = (),
    *,
    output: str | PathLike[str] | None = None,
    job: Job | None = None,
    resume: bool = False,
    progress: bool | None = None,
    **options: Unpack[JobOptions],
) -> Crawl:
    """Return a crawl, to be used in a `with` or `async with` statement.

    `output` is a new folder, which `motherlode.open` and the commands read afterwards. Without it, a temporary folder
    is used and removed at the end of the `with` block. With `resume=True` the crawl in `output` continues; options
    replace those of its job. The other options are the keys of a job file, as in `Job`; they override those of `job`.
    `progress` shows the counters: by default in a notebook and on a terminal, True always, False never.

    ```python
    with ml.crawl(["https://example.org/"], output="out", pages=1000, target="type:schema:Product") as crawl:
        for visit in crawl:
            print(visit.url, visit.status or visit.failure, visit.quads, visit.relevant)
    ```
    """
    folder = None if output is None else Path(output)
    if isinstance(seeds, str):
        raise JobError(f"seeds must be a list of URLs, as in [{seeds!r}]")
    given: dict[str, Any] = {**options, **({"seeds": tuple(seeds)} if seeds else {})}
    _check_names(given)
    if resume:
        if folder is None:
            raise JobError("resume=True continues the crawl in a folder: give it as output")
        job = job or CrawlFolder(folder).read_job()
    return Crawl(
        Job(**given) if job is None else dataclasses.replace(job, **given), folder, resume=resume, progress=progress
    )


def _check_names(options: Mapping[str, object]) -> None:
    known = [field.name for field in dataclasses.fields(Job)]
    for name in options:
        if name not in known:
            raise TypeError(f"crawl() has no option {name!r}{nearest(name, known)}")
