"""Bundled contexts have the same meaning as the published ones, and are loaded without the network."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from motherlode.transform.jsonld import context_tables
from motherlode.transform.jsonld.context_tables import BundledContext, ContextTable
from motherlode.transform.jsonld.jsonld_errors import JsonLdError

from ...conformance.runner import isomorphic, load_cases, shared
from .helpers import objects, process, statements

CONTEXTS = Path(context_tables.__file__).parent / "contexts"
TOOL = Path(__file__).resolve().parents[3] / "tools" / "make_contexts.py"
FILES = sorted(path.name for path in CONTEXTS.glob("*.json") if path.name != "index.json")
BLOCK = re.compile(r"<script[^>]*ld\+json[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_contexts", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def published() -> dict[str, Any]:
    path = shared("schemaorg-examples", "schemaorgcontext.jsonld")
    context: dict[str, Any] = json.loads(path.read_bytes())["@context"]
    return context


def examples() -> list[tuple[str, Any]]:
    found = []
    for case in load_cases("schemaorg-examples"):
        if case["jsonld"] and case["jsonld_valid"]:
            for block in BLOCK.findall(shared("schemaorg-examples", case["jsonld"]).read_text()):
                found.append((case["base"], json.loads(block)))
    return found


def test_schema_org_table_equals_published_context() -> None:
    table = msgspec.json.decode((CONTEXTS / "schemaorg.json").read_bytes(), type=ContextTable)
    assert BundledContext(table).context == published()
    assert tool().make_table(published(), title=table.title, urls=list(table.urls)) == table


def test_schema_org_terms_are_defined_alike_lazily_and_eagerly() -> None:
    # After an empty context the lazy table is used, after a protected term the full algorithm.
    terms = [name for name in published() if not name.startswith("@")]
    document = {name: "http://v/x" for name in terms if name not in ("id", "type")}
    lazy = statements({"@context": "https://schema.org", "@id": "x", **document})
    whole = statements(
        {
            "@context": [{"urn:p": {"@id": "urn:p", "@protected": True}}, "https://schema.org"],
            "@id": "x",
            **document,
        }
    )
    assert len(lazy) > 3000
    assert set(lazy) == set(whole)


def test_schema_org_examples_give_same_statements_as_published_context() -> None:
    content = json.dumps({"@context": published()}).encode()
    addresses = ["http://schema.org", "http://schema.org/", "https://schema.org", "https://schema.org/"]
    whole = dict.fromkeys([*addresses, "http://www.schema.org", "https://www.schema.org/"], content)
    documents = examples()
    bundled = [process(document, base=base, strict=False) for base, document in documents]
    full = [process(document, base=base, strict=False, contexts=whole) for base, document in documents]
    assert [one.wanted for one in bundled] == [one.wanted for one in full]
    for one, other in zip(bundled, full, strict=True):
        assert isomorphic(one.statements, other.statements)
    assert sum(bool(one.statements) for one in bundled) > 300


@pytest.mark.parametrize("file", FILES)
def test_bundled_table_is_valid(file: str) -> None:
    table = msgspec.json.decode((CONTEXTS / file).read_bytes(), type=ContextTable)
    index = json.loads((CONTEXTS / "index.json").read_bytes())
    assert {url for url, name in index.items() if name == file} == {
        context_tables.normalize_url(url) for url in table.urls
    }
    context = BundledContext(table).context
    assert not process({"@context": context, "@id": "x"}).notes  # valid in strict mode


@pytest.mark.parametrize("address", ["http://schema.org", "HTTPS://WWW.Schema.org/", "https://schema.org/#x"])
def test_find_bundled_context_accepts_variants_of_url(address: str) -> None:
    assert objects({"@context": address, "name": "Ann"}) == ['"Ann"']


@pytest.mark.parametrize(
    "address", ["https://schema.org/Person", "https://example.org/", "ftp://schema.org", "schema.org"]
)
def test_find_bundled_context_rejects_other_urls(address: str) -> None:
    assert context_tables.find_bundled_context(address) is None


def test_lazy_context_overrides_and_is_overridden() -> None:
    own = {"name": "http://own/name", "other": "http://own/other"}
    document = {"@id": "x", "name": "1", "other": "2", "url": "3"}
    after = {s[1] for s in statements({"@context": ["https://schema.org", own], **document})}
    before = {s[1] for s in statements({"@context": [own, "https://schema.org"], **document})}
    assert after == {"<http://own/name>", "<http://own/other>", "<http://schema.org/url>"}
    assert before == {"<http://schema.org/name>", "<http://own/other>", "<http://schema.org/url>"}


def test_lazy_context_removed_term_stays_removed() -> None:
    gone = {"name": None}
    assert objects({"@context": ["https://schema.org", gone], "name": "1", "url": "http://u/"}) == ["<http://u/>"]


def test_lazy_context_terms_ignore_later_vocabulary() -> None:
    context = ["https://schema.org", {"@vocab": "http://own/"}]
    found = {s[1] for s in statements({"@context": context, "@id": "x", "name": "1", "noSuchTerm": "2"})}
    assert found == {"<http://schema.org/name>", "<http://own/noSuchTerm>"}


def test_loader_provided_context_overrides_bundled_one() -> None:
    contexts = {"https://schema.org": b'{"@context": {"name": "http://own/name"}}'}
    document = {"@context": "https://schema.org", "@id": "x", "name": "1"}
    assert statements(document, contexts=contexts)[0][1] == "<http://own/name>"
    assert statements(document)[0][1] == "<http://schema.org/name>"


def test_bundled_activitystreams_context_gives_expected_statements() -> None:
    document = {
        "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
        "id": "https://social.example/ann",
        "type": "Person",
        "inbox": "https://social.example/ann/inbox",
        "preferredUsername": "ann",
        "publicKey": {"id": "https://social.example/ann#key", "owner": "https://social.example/ann"},
        "published": "2026-01-01T00:00:00Z",
        "unknownExtension": "dropped",
    }
    found = {(s[1], s[2]) for s in statements(document)}
    assert ("<http://www.w3.org/ns/ldp#inbox>", "<https://social.example/ann/inbox>") in found
    assert ("<https://w3id.org/security#publicKey>", "<https://social.example/ann#key>") in found
    assert ("<https://w3id.org/security#owner>", "<https://social.example/ann>") in found
    date = '"2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    assert ("<https://www.w3.org/ns/activitystreams#published>", date) in found
    assert len(found) == 6


def test_bundled_credentials_context_gives_expected_statements() -> None:
    document = {
        "@context": "https://www.w3.org/2018/credentials/v1",
        "type": "VerifiableCredential",
        "issuer": "https://issuer.example/",
        "proof": {"type": "Ed25519Signature2018", "jws": "x", "proofPurpose": "assertionMethod"},
    }
    found = statements(document)
    assert ("<https://w3id.org/security#proofPurpose>", "<https://w3id.org/security#assertionMethod>") in {
        s[1:3] for s in found
    }
    assert any(s[3].startswith("_:") for s in found)  # proofs have their own graphs


def test_bundled_annotation_context_gives_expected_statements() -> None:
    document = {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": "http://a/1",
        "type": "Annotation",
        "motivation": "commenting",
        "body": {"type": "TextualBody", "value": "good"},
    }
    assert ("<http://www.w3.org/ns/oa#motivatedBy>", "<http://www.w3.org/ns/oa#commenting>") in {
        s[1:3] for s in statements(document)
    }


# Loading: only from the caller or the bundled tables


EX = "http://example.com/"


def remote(**documents: Any) -> dict[str, bytes]:
    return {f"{EX}{name}": json.dumps(document).encode() for name, document in documents.items()}


def test_loader_uses_provided_contexts() -> None:
    contexts = remote(ctx={"@context": {"a": EX + "a"}})
    assert objects({"@context": EX + "ctx", "a": "x"}, contexts=contexts) == ['"x"']
    assert objects({"@context": "../ctx", "a": "x"}, base=EX + "dir/page", contexts=contexts) == ['"x"']


def test_remote_context_relative_references_use_its_url() -> None:
    contexts = {
        EX + "dir/one": b'{"@context": ["two", {"@base": "http://ignored/"}]}',
        EX + "dir/two": json.dumps({"@context": {"a": {"@id": EX + "a", "@type": "@id"}}}).encode(),
    }
    assert objects({"@context": EX + "dir/one", "a": "x"}, contexts=contexts) == ["<http://example.org/dir/x>"]


@pytest.mark.parametrize("content", [b"[]", b"{}", b'"x"'])
def test_remote_document_without_context_is_rejected(content: bytes) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": EX + "ctx"}, contexts={EX + "ctx": content})
    assert caught.value.code == "invalid remote context"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b" " * 3_000_000])
def test_remote_document_that_cannot_be_parsed_is_rejected(content: bytes) -> None:
    with pytest.raises(JsonLdError) as caught:
        process({"@context": EX + "ctx"}, contexts={EX + "ctx": content})
    assert caught.value.code == "loading remote context failed"


@pytest.mark.parametrize(
    "written", ["schema.org", "//schema.org", "http:/schema.org", "https:schema.org", "https//schema.org"]
)
def test_context_url_without_complete_scheme_is_repaired_if_bundled(written: str) -> None:
    found = process({"@context": written, "@id": "x", "name": "Ann"}, strict=False)
    assert [statement[1] for statement in found.statements] == ["<http://schema.org/name>"]
    assert found.notes[0].message == "context URL without a complete scheme, read as https://schema.org"


@pytest.mark.parametrize("written", ["https:/example.org", "https:example.org/schema.org", "http:"])
def test_context_url_without_complete_scheme_of_other_sites_is_not_repaired(written: str) -> None:
    found = process({"@context": written, "@id": "x", "name": "Ann"}, strict=False)
    assert not found.statements and "not loaded" in found.notes[0].message
