"""The error type of user configuration, in a module of its own because importing `Job` is slow."""

from __future__ import annotations


class JobError(ValueError):
    """The user's configuration is wrong. The message says what to do."""
