"""A process that forks to run the command line with faults: `offspring` with frequent checkpoints.

A small crawl takes about a second, in which the usual interval would allow a single checkpoint. SIGUSR1 prints the
stacks of all threads to stderr.
"""

import faulthandler
import signal

from motherlode.crawler.engine import checkpoint
from tests.crawler.offspring import serve

if __name__ == "__main__":
    checkpoint.MIN_SECONDS = 0.05
    faulthandler.register(signal.SIGUSR1)
    serve()
