"""The command `record`: convert WARC files to a trace for simulation."""

from pathlib import Path
from typing import Annotated

from motherlode.cli.options import OUTPUT, argument, option
from motherlode.cli.progress import Meter
from motherlode.cli.terminal import say, stop, stop_interrupted
from motherlode.crawler import CrawlFolder
from motherlode.sim.trace.recorder import record as record_trace


def record(
    files: Annotated[list[Path], argument("FILE.warc.gz...", "WARC files of any crawler.")],
    *,
    output: Annotated[Path, option("TRACE", "A folder for the trace.", *OUTPUT)],
) -> None:
    """Convert recorded sites to a trace for simulation.

    \b
    Examples:
      motherlode record sites.warc.gz -o sites.trace
      motherlode record crawl/warc/*.warc.gz -o crawl.trace

    A trace has the pages, their links with all properties, and their statements. A file that is in the trace already
    and has not changed is not read again, so the command continues a recording that was stopped. More in
    docs/simulate.md.
    """
    if CrawlFolder(output).has_crawl:
        stop(f"{output} has a crawl: a trace needs a folder of its own, choose another with -o")
    names = ", ".join(file.name for file in files)
    try:
        with Meter() as meter:
            parts = record_trace(files, output, progress=meter.for_bytes(f"reading {names}"))
    except KeyboardInterrupt:
        stop_interrupted("stopped; the same command continues with the first file that is not in the trace yet")
    except ValueError as error:
        stop(str(error))
    except OSError as error:
        stop(f"the trace {output} cannot be written: {error.strerror or error}")
    pages, links, broken = (sum(getattr(part, name) for part in parts) for name in ("pages", "links", "broken"))
    say(f"{pages:,} responses with {links:,} links in {output}; {broken:,} broken records skipped")
