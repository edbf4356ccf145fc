"""The command `keys`: make keys for signed requests, and the directory in which sites look them up."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated

from motherlode.cli.options import OUTPUT, argument, option
from motherlode.cli.terminal import say, stop
from motherlode.fetch.http.signatures import (
    DIRECTORY_PATH,
    DIRECTORY_TYPE,
    SigningKey,
    check_agent,
    directory_headers,
    key_directory,
    new_key,
)

_DAY_SECONDS = 86_400


def keys(
    files: Annotated[list[Path], argument("KEY...", "Files of private keys. A file that is missing gets a new key.")],
    *,
    agent: Annotated[
        str | None, option("URL", "Where the directory is published: print response headers that prove its origin.")
    ] = None,
    days: Annotated[int, option("N", "Days for which these headers are valid.", min=1)] = 90,
    output: Annotated[Path | None, option("FILE", "File for the directory. [default: stdout]", *OUTPUT)] = None,
) -> None:
    """Make keys for signed requests (Web Bot Auth).

    Sites look the public keys up in a directory, which this command writes as well.

    A site can verify a signed request: it takes the public key from the directory at the URL that the request names.
    Other senders cannot pretend to be you, whatever their User-Agent says.

    \b
    1. Make a key and its directory:
         motherlode keys crawler.pem -o http-message-signatures-directory
    2. Publish the directory on a host of yours, as
         https://crawler.example.org/.well-known/http-message-signatures-directory
       with the Content-Type application/http-message-signatures-directory+json
    3. Crawl with these keys in the job file:
         signing_key = "crawler.pem"
         signature_agent = "https://crawler.example.org"

    \b
    To change the key, publish both for some days, then crawl with the new one:
      motherlode keys crawler.pem new.pem -o http-message-signatures-directory

    The private key is written with mode 0600 and never printed. Needs the extra `signing`: pip install
    'motherlode[signing]'. More in docs/trust.md.
    """
    if agent is not None and (problem := check_agent(agent)):
        stop(f"--agent: {problem}")
    try:
        found = [_read_or_make(path) for path in files]
    except ValueError as error:
        stop(str(error))
    directory = key_directory(found)
    if output is None:
        sys.stdout.write(directory.decode() + "\n" * sys.stdout.isatty())  # the headers sign the bytes without it
    else:
        output.write_bytes(directory)
        say(f"{output}: the directory of {len(found)} {'key' if len(found) == 1 else 'keys'}")
    say(f"publish it at {agent or 'https://YOUR-HOST'}{DIRECTORY_PATH} as {DIRECTORY_TYPE}")
    if agent is not None:
        now = int(time.time())
        headers = directory_headers(found, directory, agent=agent, created=now, expires=now + days * _DAY_SECONDS)
        say("\n".join([f"response headers for {days} days:", *(f"{name}: {text}" for name, text in headers.items())]))


def _read_or_make(path: Path) -> SigningKey:
    """Return the key in a file. Make a new one if there is no such file; an existing file is never changed."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        text = new_key()
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
        say(f"{path}: a new private key; keep it secret")
    try:
        key = SigningKey.from_pem(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    say(f"{path}: key id {key.identifier}")
    return key
