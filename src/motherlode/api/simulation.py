"""`simulate`: compare policies on a recorded or synthetic web from a program."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from os import PathLike, fspath
from pathlib import Path

from motherlode.api.rows import Rows
from motherlode.policies import DEFAULT_POLICY
from motherlode.sim.experiment import Experiment, ExperimentSetup, run_experiment
from motherlode.sim.report import write_outputs
from motherlode.sim.runner import default_cache, prepared
from motherlode.sim.simulator import Timing

_COLUMNS = (
    *("policy", "target", "seed", "fetched", "relevant", "harvest_rate", "recall", "focus", "area_focus"),
    *("relevant_hosts", "host_recall", "heads", "known_urls", "virtual_seconds", "select_us_mean", "wall_seconds"),
)


class SimulationResult(Rows):
    """A row for each policy and repetition, with the keys of `simulate --json`."""

    def __init__(self, experiment: Experiment) -> None:
        found = [row.as_json() for row in experiment.rows]
        super().__init__(_COLUMNS, ([row[name] for name in _COLUMNS] for row in found))
        self.curves: list[list[tuple[int, int]]] = [row["curve"] for row in found]
        """The harvest curve of each row: pairs of the number of requests and the relevant pages found by then."""
        self.notes = experiment.notes
        """Notices, for example that no page of the web matches the target."""
        self._experiment = experiment

    def write_report(self, folder: str | PathLike[str]) -> Path:
        """Write report, plots and CSV into a folder, and return the path of the report."""
        return write_outputs(Path(folder), self._experiment)


def simulate(
    web: str | PathLike[str],
    *,
    policies: Iterable[str] = ("bfs", DEFAULT_POLICY),
    target: str = "any",
    reward: str = "target",
    seeds: Iterable[str] = (),
    pages: int | None = None,
    share: float | None = None,
    repeat: int = 1,
    seed: int = 0,
    missing: bool = True,
    model: str | PathLike[str] = "",
    in_flight: int = 1,
    delay: float = 0.0,
    latency: float = 0.0,
    failures: float = 0.0,
    processes: int | None = None,
) -> SimulationResult:
    """Run policies on a web without sending a request, and return a row for each policy and repetition.

    `web` is a WARC file, a trace that `motherlode record` made, or `synthetic:PAGES`. The budget is `pages` requests
    or a `share` of the web's pages (0.12 by default). `missing=False` leaves out links to pages that the web lacks. The
    other options are those of `motherlode simulate`. Policies of a script or a notebook run in this process; all others
    run in one process per core, or in as many as `processes` says.

    ```python
    ml.simulate("sites.warc.gz", policies=["bfs", "motherlode"], share=0.12).to_pandas()
    ```
    """
    if isinstance(policies, str):
        raise ValueError(f"policies must be a list of names, as in [{policies!r}]")
    setup = ExperimentSetup(
        web=fspath(web),
        policies=tuple(dict.fromkeys(policies)),
        seeds=tuple(seeds),
        target=target,
        pages=pages,
        share=share,
        repeat=repeat,
        seed=seed,
        timing=Timing(in_flight=in_flight, delay=delay, latency=latency, failure_rate=failures),
        dead=float(missing),
        model=fspath(Path(model).resolve()) if model else "",
        reward=reward,
    )
    with ThreadPoolExecutor(1) as thread:  # recording needs an event loop, and a notebook has one already
        ready = thread.submit(prepared, setup.web, default_cache(), lambda done, total: None).result()
    return SimulationResult(run_experiment(setup.on(ready), processes=processes))
