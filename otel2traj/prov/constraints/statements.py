"""The statements of PROV-DM as plain tuples of names, and the table that says what each kind may leave out.

Names are full IRIs. `None` in a position means that the position was left out or held the marker `-`.
https://www.w3.org/TR/2013/REC-prov-dm-20130430/
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

PROV: Final = "http://www.w3.org/ns/prov#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
EMPTY_COLLECTION: Final = PROV + "EmptyCollection"
COLLECTION: Final = PROV + "Collection"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statement. `args` are PROV-JSON's names in PROV-N's order; a `time` argument ends with "ime"."""

    name: str
    args: tuple[str, ...]
    mandatory: int
    """So many leading arguments may not be left out."""
    identified: bool = True
    """Whether the abstract syntax gives it an identifier of its own."""


ELEMENTS: Final = {
    "entity": Kind("entity", (), 0),
    "activity": Kind("activity", ("prov:startTime", "prov:endTime"), 0),
    "agent": Kind("agent", (), 0),
}

RELATIONS: Final = {
    kind.name: kind
    for kind in (
        Kind("used", ("prov:activity", "prov:entity", "prov:time"), 1),
        Kind("wasGeneratedBy", ("prov:entity", "prov:activity", "prov:time"), 1),
        Kind("wasInvalidatedBy", ("prov:entity", "prov:activity", "prov:time"), 1),
        Kind("wasStartedBy", ("prov:activity", "prov:trigger", "prov:starter", "prov:time"), 1),
        Kind("wasEndedBy", ("prov:activity", "prov:trigger", "prov:ender", "prov:time"), 1),
        Kind("wasInformedBy", ("prov:informed", "prov:informant"), 2),
        Kind(
            "wasDerivedFrom",
            ("prov:generatedEntity", "prov:usedEntity", "prov:activity", "prov:generation", "prov:usage"),
            2,
        ),
        Kind("wasAttributedTo", ("prov:entity", "prov:agent"), 2),
        Kind("wasAssociatedWith", ("prov:activity", "prov:agent", "prov:plan"), 1),
        # The grammar wants a responsible agent too; the working group's own cases delegation-success3 and -success4
        # leave it out and are labelled valid. They decide here.
        Kind("actedOnBehalfOf", ("prov:delegate", "prov:responsible", "prov:activity"), 1),
        Kind("wasInfluencedBy", ("prov:influencee", "prov:influencer"), 2),
        Kind("alternateOf", ("prov:alternate1", "prov:alternate2"), 2, identified=False),
        Kind("specializationOf", ("prov:specificEntity", "prov:generalEntity"), 2, identified=False),
        Kind("hadMember", ("prov:collection", "prov:entity"), 2, identified=False),
        Kind("mentionOf", ("prov:specificEntity", "prov:generalEntity", "prov:bundle"), 3, identified=False),
    )
}

KINDS: Final = {**ELEMENTS, **RELATIONS}


@dataclass(slots=True)
class Statement:
    """One statement. `id` is the element's name, or a relation's own identifier where it has one."""

    kind: str
    id: str | None
    args: tuple[str | None, ...]
    types: tuple[str, ...] = ()
    """Values of prov:type that are names."""
    place: str = ""
    """Where it stands, for people: a JSON pointer or `line N`."""


@dataclass(slots=True)
class Document:
    """The top-level instance and the named bundles, each to be checked alone."""

    statements: list[Statement] = field(default_factory=list)
    bundles: dict[str, list[Statement]] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    """Bundle names that were given twice."""


_TIME: Final = re.compile(
    r"(-?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?\Z",
    re.ASCII,
)


def time_value(text: str) -> str | None:
    """An xsd:dateTime in one spelling per instant (UTC where it has a zone), or None where it is none."""
    match = _TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    end_of_day = hour == "24" and minute == "00" and second == "00" and not (fraction or "").strip("0")
    try:
        moment = datetime(
            int(year), int(month), int(day), 0 if end_of_day else int(hour), int(minute), int(second), tzinfo=UTC
        )
        if end_of_day:
            moment += timedelta(days=1)
        if zone is not None and zone != "Z":
            shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
            moment = moment - shift if zone[0] == "+" else moment + shift
    except (ValueError, OverflowError):
        return None
    digits = (fraction or "").rstrip("0")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{'.' + digits if digits else ''}{'' if zone is None else 'Z'}"
