"""The names of Dublin Core: the fifteen elements (DCMES 1.1), and the properties and classes of DCMI Metadata Terms."""

ELEMENTS = "http://purl.org/dc/elements/1.1/"
TERMS = "http://purl.org/dc/terms/"

_ELEMENT_NAMES = """
contributor coverage creator date description format identifier language publisher relation rights source subject title
type
"""
_TERM_NAMES = """
abstract accessRights accrualMethod accrualPeriodicity accrualPolicy alternative audience available
bibliographicCitation conformsTo created dateAccepted dateCopyrighted dateSubmitted educationLevel extent hasFormat
hasPart hasVersion instructionalMethod isFormatOf isPartOf isReferencedBy isReplacedBy isRequiredBy issued isVersionOf
license mediator medium modified provenance references replaces requires rightsHolder spatial tableOfContents temporal
valid
Agent AgentClass BibliographicResource Collection Frequency LicenseDocument LinguisticSystem Location
LocationPeriodOrJurisdiction MediaTypeOrExtent MethodOfAccrual MethodOfInstruction PeriodOfTime PhysicalMedium
PhysicalResource Policy ProvenanceStatement RightsStatement SizeOrDuration Standard
"""
_PROPERTIES = {
    **{name.lower(): ("terms", TERMS + name) for name in _TERM_NAMES.split()},
    **{name: ("elements", ELEMENTS + name) for name in _ELEMENT_NAMES.split()},
}


def find_dublin_core(name: str) -> tuple[str, str] | None:
    """Return the group (`elements` or `terms`) and the IRI of a name in lower case, or None.

    >>> find_dublin_core("accessrights"), find_dublin_core("robots")
    (('terms', 'http://purl.org/dc/terms/accessRights'), None)
    """
    return _PROPERTIES.get(name)
