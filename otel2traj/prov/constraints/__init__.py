"""PROV statements into findings: the W3C recommendation PROV-CONSTRAINTS, decided in full.

https://www.w3.org/TR/2013/REC-prov-constraints-20130430/
"""

from __future__ import annotations

from .check import check_document, check_instance
from .provjson import document_from_json
from .provn import read_provn
from .statements import Document, Statement

__all__ = ["Document", "Statement", "check_document", "check_instance", "document_from_json", "read_provn"]
