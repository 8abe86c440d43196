"""The closed list of reason codes that stand in the register, in the list of members and in `WITHHELD.json`."""

from __future__ import annotations

from typing import Final

REASONS: Final = {
    "build_failed": "The attempt could not be built; its execution is kept and says why.",
    "not_a_trace": "The file lies outside every attempt and has no name of a trace file.",
    "no_evidence": "No model call and no tool execution was recorded in it.",
    "derived_output": "A trajectory that was derived from evidence is no evidence.",
    "archive": "An archive: its members are listed in raw/members.jsonl and are candidates of their own.",
    "symbolic_link": "A link; links are not followed.",
    "special_file": "Neither a file nor a directory: a device, a pipe, a socket or a sparse file.",
    "unsafe_name": "The name is absolute, leaves its directory, or holds what no portable name holds.",
    "duplicate_name": "A member of that name came before; the first one counts.",
    "name_conflict": "The name is a file here and a directory elsewhere in the archive.",
    "too_large": "The member inflates beyond the limit for one member.",
    "archive_too_large": "The archive inflates beyond the limit for one archive; what came later is not read.",
    "too_many_members": "The archive has more members than the limit; what came later is not read.",
    "encrypted": "The member is encrypted.",
    "unsupported_compression": "The member is compressed in a way that is not read here.",
    "damaged_member": "The member's bytes do not match its own checksum, or end early.",
    "unreadable_archive": "The archive is damaged; the members before the damage count.",
    "nested_archive": "An archive in an archive is not opened.",
    "unreadable": "The file could not be read.",
    "purged": "The raw object was purged.",
    "withheld_by_profile": "A rule of the source profile withholds it.",
    "raw_policy": "The snapshot was imported with its raw objects to be withheld.",
}
