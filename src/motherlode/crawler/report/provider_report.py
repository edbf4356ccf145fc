"""The HTML report of a host's structured data, for the owner of the site. One file without other files."""

import hashlib
import re
from collections import Counter
from pathlib import Path

from motherlode.crawler.report import open_templates
from motherlode.crawler.validation_summary import SEVERITIES, HostSummary, ValidationSummary
from motherlode.project import VERSION

_MAX_KINDS_PER_SEVERITY = 200
_MAX_NAME_CHARACTERS = 100
_UNSAFE_IN_NAME = re.compile(r"[^a-z0-9.\-]")


def write_reports(summary: ValidationSummary, folder: Path, *, profile: str) -> int:
    """Write one report per provider into a folder: a source of the job, or a host. Return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    providers = summary.providers()
    for host in providers:
        (folder / f"{file_name(host.host)}.html").write_text(render_report(host, profile=profile), encoding="utf-8")
    return len(providers)


def file_name(host: str) -> str:
    """Return the name of a host's report without its extension.

    >>> file_name("example.org"), file_name(""), file_name("[::1]")
    ('example.org', 'file', '---1--6d16')
    """
    if not host:
        return "file"
    safe = _UNSAFE_IN_NAME.sub("-", host.lower())
    if safe == host and len(host) <= _MAX_NAME_CHARACTERS and not host.startswith("."):
        return host
    return f"{safe[:_MAX_NAME_CHARACTERS].lstrip('.')}-{hashlib.sha256(host.encode()).hexdigest()[:4]}"


def render_report(host: HostSummary, *, profile: str) -> str:
    """Return the report of a host as HTML."""
    kinds = host.sorted_kinds()
    groups = {severity: [kind for kind in kinds if kind.severity == severity] for severity in SEVERITIES}
    template = open_templates("motherlode.crawler.report").get_template("provider.html")
    return template.render(
        host=host,
        profile=profile,
        severities=SEVERITIES,
        groups={severity: found[:_MAX_KINDS_PER_SEVERITY] for severity, found in groups.items()},
        omitted={severity: max(0, len(found) - _MAX_KINDS_PER_SEVERITY) for severity, found in groups.items()},
        kind_counts=Counter(kind.severity for kind in kinds),
        version=VERSION,
    )
