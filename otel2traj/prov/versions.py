"""The version axes: each moves on its own, and all of them stand in what is written."""

from __future__ import annotations

from typing import Final

AER: Final = "aer/0.2"
SEM: Final = "sem/0.1"
SPECIFICATION: Final = "agentprov-prov/0.1"
VOCABULARY: Final = "0.2.0"
ADAPTER: Final = "otel2traj-attempt"
ADAPTER_VERSION: Final = "1.2.0"

APV: Final = "https://w3id.org/agentprov/ns#"
EXEC: Final = "https://w3id.org/agentprov/exec/"
RAW: Final = "https://w3id.org/agentprov/raw/"
SOFTWARE: Final = "https://w3id.org/agentprov/software/"
RULES: Final = "https://w3id.org/agentprov/rules/"
