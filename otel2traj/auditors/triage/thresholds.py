"""Every number and every pattern of the diagnosis, in one place: change it here and nowhere else."""

from __future__ import annotations

import re
from typing import Final

from ...model.forensic import FailureCategory as Category

CONFIDENCE: Final = {
    "certain": 1.0,
    "high": 0.95,
    "medium-high": 0.85,
    "medium": 0.7,
    "low": 0.5,
    "weak": 0.3,
    "inconclusive": 0.1,
}
RANK_EXPLICIT, RANK_POLICY, RANK_CONNECTION, RANK_ENVIRONMENT, RANK_RESOURCES = 10, 5, 3, 2, 2
RANK_PROTOCOL: Final = 2
RANK_LOOP: Final = 0
RANK_METRIC: Final = -1

SIMILARITY: Final = 0.9
"""Two consecutive messages are one message again above this ratio."""
COMPARED: Final = 4096
"""Characters of a message that are compared; the comparison takes the square of them."""
REPEAT_WITHIN: Final = 3
"""A message said again within so many of the agent's own messages."""
SAME_ACTION: Final = 3
"""Turns running with one and the same base action."""
STALL_MESSAGES: Final = 10
UNCHANGED: Final = 3
"""Snapshots running that did not change: one more of them are equal."""
CPU_PERCENT: Final = 90.0
MEMORY_PERCENT: Final = 90.0

SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "sudo", "env", "timeout", "nohup"})
COMMAND_KEYS: Final = ("command", "cmd", "script")

QUOTED: Final = re.compile(r"'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"|`[^`\n]{0,400}`|(?:[A-Za-z]:)?[\w.~-]*/[\w./~-]+")
"""What an error quotes, and paths: names of files and hosts are no reason of a failure."""

ERROR_WORDS: Final = (
    (Category.INFRA_OOM, re.compile(r"out of memory|\boom\b|oom[- ]?kill|cannot allocate memory|memoryerror")),
    (Category.INFRA_DISK_QUOTA, re.compile(r"disk quota|no space left|\benospc\b|\bedquot\b|disk (?:is )?full")),
    (Category.INFRA_SANDBOX_FAILURE, re.compile(r"\bdocker\b|\bcontainerd?\b|\bsandbox\b|\bpodman\b")),
    (Category.INFRA_TIMEOUT, re.compile(r"time[d]?[- ]?out|timeouterror|deadline ?exceeded|\betimedout\b")),
    (
        Category.INFRA_CONNECTION_FAILED,
        re.compile(r"connection|connect error|\brefused\b|unreachable|\beconn\w*|broken pipe|name resolution|\bdns\b"),
    ),
    (Category.PARITY_STATE_DIVERGENCE, re.compile(r"\bparity\b|\bmismatch")),
    (Category.PARITY_PROTOCOL_VIOLATION, re.compile(r"\bprotocol\b")),
    (
        Category.SECURITY_UNAUTHORIZED_ACCESS,
        re.compile(r"\b40[13]\b|\bforbidden\b|\bdenied\b|\bunauthori[sz]ed\b|not permitted|\beacces\b|\beperm\b"),
    ),
)
"""In the order of the diagnosis: the first that is met names an error of the environment."""

STATUSES: Final = {
    "safety_block": Category.SECURITY_PII_LEAK,
    "unauthorized": Category.SECURITY_UNAUTHORIZED_ACCESS,
    "access_denied": Category.SECURITY_UNAUTHORIZED_ACCESS,
    "dacon_leak": Category.POLICY_DACON_LEAK,
    "timeout": Category.INFRA_TIMEOUT,
    "timed_out": Category.INFRA_TIMEOUT,
}
ERROR_CODES: Final = {
    "egress_denied": Category.POLICY_VIOLATION,
    "authentication_failed": Category.SECURITY_UNAUTHORIZED_ACCESS,
    "transport_error": Category.INFRA_CONNECTION_FAILED,
    "upstream_error": Category.INFRA_SIMULATOR_EXCEPTION,
    "request_preparation_failed": Category.INFRA_SIMULATOR_EXCEPTION,
    "response_conversion_failed": Category.INFRA_SIMULATOR_EXCEPTION,
    "stream_processing_failed": Category.INFRA_SIMULATOR_EXCEPTION,
    "capture_failed": Category.INFRA_SIMULATOR_EXCEPTION,
}
HTTP_STATUSES: Final = {
    401: Category.SECURITY_UNAUTHORIZED_ACCESS,
    403: Category.SECURITY_UNAUTHORIZED_ACCESS,
    408: Category.INFRA_TIMEOUT,
    429: Category.INFRA_RESOURCE_EXHAUSTED,
    504: Category.INFRA_TIMEOUT,
    507: Category.INFRA_DISK_QUOTA,
}

METRIC_NAMES: Final = (
    ("state_verification", Category.LOGIC_STATE_MISMATCH),
    ("parity", Category.PARITY_STATE_DIVERGENCE),
    ("output_matches", Category.LOGIC_PLANNING_ERROR),
)

UNKNOWN_TOOL: Final = re.compile(
    r"(?:unknown|invalid|unrecogni[sz]ed|undefined|no such|unavailable|unregistered) (?:tool|function|parameter)"
    r"|\btool\b.{0,80}?(?:not found|does not exist|doesn't exist|is not (?:a )?(?:valid|available|defined)"
    r"|not registered)|unexpected keyword argument|is not a valid tool"
)
"""An error in which the environment says that what the agent called, or gave it, does not exist."""
UNKNOWN_AGENT: Final = re.compile(
    r"(?:unknown|invalid|unrecogni[sz]ed|no such) (?:agent|recipient|assistant|participant|hand-?off|speaker)"
    r"|\b(?:agent|recipient|assistant|participant|hand-?off|speaker)\b.{0,80}?(?:not found|does not exist|doesn't exist"
    r"|is not (?:an? )?(?:valid|available|known|registered)|not registered)"
)
"""An error that says that whom the agent handed over to does not exist."""
TOO_LONG: Final = re.compile(
    r"(?:prompt|input|request|context|messages?)\b.{0,60}\b(?:is |are )?(?:too long|too large)"
    r"|context (?:length|window)|maximum (?:context|number of (?:input )?tokens)"
    r"|(?:input )?token (?:count|limit).{0,40}exceed|exceed.{0,60}\btokens?\b"
)
"""What providers say without a code of its own for a prompt that does not fit."""
MEMORY_WORDS: Final = re.compile(r"\boom\b|oom-?kill|out of memory|memory (?:limit|cgroup)|cannot allocate memory")
INVENTED: Final = re.compile(r"\b(?:tool|function) (?:\S+ )?(?:was |is )?(?:not found|does not exist|doesn't exist)")
PERMISSION: Final = re.compile(r"permission (?:was )?rejected|user (?:has )?rejected|rejected by (?:the )?user")
"""Somebody was asked and said no: the guard did its work, and nothing broke."""

REFUSAL: Final = re.compile(
    r"^\W*(?:i(?:'m| am) (?:very |truly )?sorry,? (?:but )?|sorry,? (?:but )?|unfortunately,? |as an ai[^.]{0,60}, )?"
    r"i (?:can(?:'|no)t|can not|won't|will not|must decline to|decline to|refuse to|am (?:unable|not able) to"
    r"|'m (?:unable|not able) to) (?:help|assist|comply|fulfil|fulfill|do that|provide|support|engage|participate"
    r"|continue with (?:that|this))"
)
ESCAPE_CALL: Final = re.compile(
    r"/etc/shadow|/var/run/docker\.sock|/run/docker\.sock|\bnsenter\b|/proc/1/root|--privileged\b|\brelease_agent\b"
    r"|/proc/sys/kernel/core_pattern|\bunshare\b\s+-|\bchroot\b\s+/host|\bptrace\b|/dev/mem\b|(?:\.\./){4,}"
)
ESCAPE_WORDS: Final = re.compile(
    r"(?:escap\w+|break(?:ing)? out) (?:of |from )?(?:the |this |my )?(?:sandbox|container|jail)|sandbox escape"
)

PRIVATE_KEY: Final = re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH |DSA |ENCRYPTED )?PRIVATE KEY-----")
SECRET: Final = re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}")
SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
CARD: Final = re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")
IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
EMAIL: Final = re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
