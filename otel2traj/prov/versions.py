"""The version axes: each moves on its own, and all of them stand in what is written."""

from __future__ import annotations

from typing import Final

AER: Final = "aer/0.2"
AER_OF_OTHERS: Final = ("aer/0.2", "aer/0.1")
"""Schemas of AERs that other adapters wrote and that are read here."""
SEM: Final = "sem/0.1"
SPECIFICATION: Final = "agentprov-prov/0.1"
VOCABULARY: Final = "0.2.0"
ADAPTER: Final = "otel2traj-attempt"
ADAPTER_VERSION: Final = "1.2.0"
SEALS_ITSELF: Final = (1, 1, 0)
"""From this version of the adapter on a seal has a digest of its own, which aer/0.2 does not ask for."""

APV: Final = "https://w3id.org/agentprov/ns#"
EXEC: Final = "https://w3id.org/agentprov/exec/"
RAW: Final = "https://w3id.org/agentprov/raw/"
SOFTWARE: Final = "https://w3id.org/agentprov/software/"
RULES: Final = "https://w3id.org/agentprov/rules/"
