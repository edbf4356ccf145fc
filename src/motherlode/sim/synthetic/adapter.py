"""The synthetic web as a web for simulations. Pages are computed when they are requested, never all at once."""

from collections.abc import Iterator

from motherlode.model import FailureKind
from motherlode.policies import Target
from motherlode.sim.synthetic.page_model import PageModel
from motherlode.sim.synthetic.synthetic_web import SyntheticWeb
from motherlode.sim.web_protocol import SimPage

_FAILURES = {0: FailureKind.DNS, 404: FailureKind.NOT_FOUND, 503: FailureKind.UNAVAILABLE}
"""Failures by the status of a page model, which is 0 if the host does not exist."""


class SyntheticSimWeb:
    """Labels the page models of a `SyntheticWeb` by the target, without rendering pages."""

    def __init__(self, *, pages: int, seed: int, target: Target) -> None:
        self._web = SyntheticWeb(pages, seed)
        self._target = target

    @property
    def page_count(self) -> int:
        return self._web.pages

    def page(self, url: str) -> SimPage:
        return self._sim_page(self._web.page_model(url, attempt=1))

    def _sim_page(self, model: PageModel) -> SimPage:
        if model.status == 200:
            counts = model.counts
            return SimPage(
                url=model.url,
                # no target matches a page without statements, and most pages have none
                relevant=bool(counts) and self._target.judge(counts, model.kind, lambda: _ntriples(model)),
                kind=model.kind.value,
                counts=counts,
                links=model.links,
                size=model.size,
                latency=model.latency,
            )
        kind = FailureKind.REDIRECT if model.location else _FAILURES.get(model.status, FailureKind.CLIENT_ERROR)
        status = model.status if model.location else 0
        return SimPage(url=model.url, failure=kind, status=status, location=model.location, latency=model.latency)

    def home_pages(self) -> list[str]:
        return [self._web.home(host) for host in self._web.hosts()]

    def seeds(self) -> list[str]:
        """Return a few hub pages from which every page can be reached."""
        return self._web.seeds()

    def spelling(self, url: str) -> str:
        return url

    def everything(self) -> Iterator[SimPage]:
        for host in self._web.hosts():
            for url in self._web.urls(host):
                yield self.page(url)

    def labels(self) -> Iterator[tuple[str, bool]]:
        return ((page.url, page.relevant) for page in self.everything() if page.failure is None)


def _ntriples(model: PageModel) -> bytes:
    """Return, as N-Triples, the statements that the page model knows: the types of the things on the page."""
    lines = [
        f"_:b{n} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{iri}> .\n" for n, iri in enumerate(model.types)
    ]
    return "".join(lines).encode()
