"""What the codes that records bear mean: HTTP statuses, providers' error codes, exception classes, errnos, signals.

Only names are looked up. What a sentence says is left to those who judge it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Sign(StrEnum):
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMIT = "rate limit"
    QUOTA = "quota"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    CONTEXT_LENGTH = "context length"
    LIMIT = "limit of steps or turns"
    OVERLOADED = "overloaded"
    SERVER = "server error"
    BAD_REQUEST = "bad request"
    EGRESS_DENIED = "egress denied"
    NOT_FOUND = "not found"
    DISK = "no space left"
    MEMORY = "out of memory"
    CPU = "CPU limit"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content filter"
    VALIDATION = "validation"
    CANCELLED = "cancelled"


_HTTP: Final = {
    400: Sign.BAD_REQUEST, 401: Sign.AUTHENTICATION, 402: Sign.QUOTA, 403: Sign.PERMISSION, 404: Sign.NOT_FOUND,
    408: Sign.TIMEOUT, 413: Sign.BAD_REQUEST, 422: Sign.BAD_REQUEST, 429: Sign.RATE_LIMIT, 503: Sign.OVERLOADED,
    504: Sign.TIMEOUT, 529: Sign.OVERLOADED,
}  # fmt: skip

_CODES: Final = {
    # OpenAI, Anthropic, Gemini (google.rpc.Code), Bedrock
    "rate_limit_error": Sign.RATE_LIMIT, "rate_limit_exceeded": Sign.RATE_LIMIT, "resource_exhausted": Sign.RATE_LIMIT,
    "throttlingexception": Sign.RATE_LIMIT, "too_many_requests": Sign.RATE_LIMIT, "requests": Sign.RATE_LIMIT,
    "insufficient_quota": Sign.QUOTA, "billing_error": Sign.QUOTA, "billing_hard_limit_reached": Sign.QUOTA,
    "servicequotaexceededexception": Sign.QUOTA,
    "invalid_api_key": Sign.AUTHENTICATION, "authentication_error": Sign.AUTHENTICATION,
    "unauthenticated": Sign.AUTHENTICATION, "authentication_failed": Sign.AUTHENTICATION,
    "unrecognizedclientexception": Sign.AUTHENTICATION, "expiredtokenexception": Sign.AUTHENTICATION,
    "permission_error": Sign.PERMISSION, "permission_denied": Sign.PERMISSION,
    "accessdeniedexception": Sign.PERMISSION, "insufficient_permissions": Sign.PERMISSION,
    "context_length_exceeded": Sign.CONTEXT_LENGTH, "model_context_window_exceeded": Sign.CONTEXT_LENGTH,
    "string_above_max_length": Sign.CONTEXT_LENGTH, "request_too_large": Sign.CONTEXT_LENGTH,
    "overloaded_error": Sign.OVERLOADED, "unavailable": Sign.OVERLOADED,
    "modelnotreadyexception": Sign.OVERLOADED, "serviceunavailableexception": Sign.OVERLOADED,
    "server_error": Sign.SERVER, "api_error": Sign.SERVER, "internal": Sign.SERVER, "internal_error": Sign.SERVER,
    "internalserverexception": Sign.SERVER, "modelerrorexception": Sign.SERVER,
    "timeout": Sign.TIMEOUT, "timeout_error": Sign.TIMEOUT, "deadline_exceeded": Sign.TIMEOUT,
    "modeltimeoutexception": Sign.TIMEOUT, "timed_out": Sign.TIMEOUT,
    "not_found_error": Sign.NOT_FOUND, "not_found": Sign.NOT_FOUND, "model_not_found": Sign.NOT_FOUND,
    "resourcenotfoundexception": Sign.NOT_FOUND,
    "invalid_request_error": Sign.BAD_REQUEST, "invalid_argument": Sign.BAD_REQUEST,
    "validationexception": Sign.BAD_REQUEST, "failed_precondition": Sign.BAD_REQUEST,
    "content_filter": Sign.CONTENT_FILTER, "content_policy_violation": Sign.CONTENT_FILTER,
    "responsibleaipolicyviolation": Sign.CONTENT_FILTER,
    # the interceptor
    "egress_denied": Sign.EGRESS_DENIED, "transport_error": Sign.CONNECTION,
    # ACP stop reasons
    "max_turn_requests": Sign.LIMIT, "cancelled": Sign.CANCELLED,
}  # fmt: skip

_CLASSES: Final = {
    "timeout": Sign.TIMEOUT, "timeouterror": Sign.TIMEOUT, "readtimeout": Sign.TIMEOUT,
    "readtimeouterror": Sign.TIMEOUT,
    "connecttimeout": Sign.TIMEOUT, "connecttimeouterror": Sign.TIMEOUT, "writetimeout": Sign.TIMEOUT,
    "pooltimeout": Sign.TIMEOUT, "apitimeouterror": Sign.TIMEOUT, "timeoutexpired": Sign.TIMEOUT,
    "timeoutexception": Sign.TIMEOUT, "servertimeouterror": Sign.TIMEOUT, "deadlineexceeded": Sign.TIMEOUT,
    "gatewaytimeout": Sign.TIMEOUT, "sockettimeout": Sign.TIMEOUT, "toolcalltimeouterror": Sign.TIMEOUT,
    "connectionerror": Sign.CONNECTION, "apiconnectionerror": Sign.CONNECTION,
    "connectionreseterror": Sign.CONNECTION, "connectionrefusederror": Sign.CONNECTION,
    "connectionabortederror": Sign.CONNECTION,
    "connecterror": Sign.CONNECTION,
    "brokenpipeerror": Sign.CONNECTION, "readerror": Sign.CONNECTION, "writeerror": Sign.CONNECTION,
    "remoteprotocolerror": Sign.CONNECTION, "clientconnectorerror": Sign.CONNECTION, "gaierror": Sign.CONNECTION,
    "serverdisconnectederror": Sign.CONNECTION, "incompleteread": Sign.CONNECTION,
    "newconnectionerror": Sign.CONNECTION,
    "sslerror": Sign.CONNECTION, "networkerror": Sign.CONNECTION, "fetcherror": Sign.CONNECTION,
    "ratelimiterror": Sign.RATE_LIMIT, "toomanyrequests": Sign.RATE_LIMIT, "resourceexhausted": Sign.RATE_LIMIT,
    "modelthrottledexception": Sign.RATE_LIMIT,
    "authenticationerror": Sign.AUTHENTICATION, "unauthenticated": Sign.AUTHENTICATION,
    "permissiondeniederror": Sign.PERMISSION, "permissionerror": Sign.PERMISSION, "permissiondenied": Sign.PERMISSION,
    "contextwindowoverflowexception": Sign.CONTEXT_LENGTH, "contextwindowexceedederror": Sign.CONTEXT_LENGTH,
    "contextlengthexceedederror": Sign.CONTEXT_LENGTH,
    "graphrecursionerror": Sign.LIMIT, "recursionerror": Sign.LIMIT, "maxturnsexceeded": Sign.LIMIT,
    "usagelimitexceeded": Sign.LIMIT, "maxtokensreachedexception": Sign.LIMIT, "maxstepsexceeded": Sign.LIMIT,
    "agentmaxstepserror": Sign.LIMIT, "maxiterationsexceeded": Sign.LIMIT, "stepslimitexceeded": Sign.LIMIT,
    "llmcallslimitexceedederror": Sign.LIMIT,
    "internalservererror": Sign.SERVER, "servererror": Sign.SERVER, "serviceunavailableerror": Sign.OVERLOADED,
    "serviceunavailable": Sign.OVERLOADED, "overloadederror": Sign.OVERLOADED,
    "badrequesterror": Sign.BAD_REQUEST, "unprocessableentityerror": Sign.BAD_REQUEST,
    "notfounderror": Sign.NOT_FOUND, "filenotfounderror": Sign.NOT_FOUND,
    "memoryerror": Sign.MEMORY, "outofmemoryerror": Sign.MEMORY,
    "modelrefusalerror": Sign.REFUSAL, "contentfiltererror": Sign.CONTENT_FILTER,
    "contentpolicyviolationerror": Sign.CONTENT_FILTER, "outputguardrailtripwiretriggered": Sign.CONTENT_FILTER,
    "inputguardrailtripwiretriggered": Sign.CONTENT_FILTER,
    "validationerror": Sign.VALIDATION, "toolvalidationerror": Sign.VALIDATION, "jsondecodeerror": Sign.VALIDATION,
    "invalidtoolarguments": Sign.VALIDATION, "invalidtoolinputerror": Sign.VALIDATION,
    "cancellederror": Sign.CANCELLED, "keyboardinterrupt": Sign.CANCELLED, "aborterror": Sign.CANCELLED,
}  # fmt: skip

_ERRNO: Final = {
    2: Sign.NOT_FOUND, 12: Sign.MEMORY, 13: Sign.PERMISSION, 1: Sign.PERMISSION, 28: Sign.DISK, 122: Sign.DISK,
    104: Sign.CONNECTION, 110: Sign.TIMEOUT, 111: Sign.CONNECTION, 113: Sign.CONNECTION,
}  # fmt: skip
_NAMES: Final = {
    "ENOENT": 2, "ENOMEM": 12, "EACCES": 13, "EPERM": 1, "ENOSPC": 28, "EDQUOT": 122, "ECONNRESET": 104,
    "ETIMEDOUT": 110, "ECONNREFUSED": 111, "EHOSTUNREACH": 113,
}  # fmt: skip
_TEXTS: Final = {
    "No such file or directory": 2, "Cannot allocate memory": 12, "Permission denied": 13,
    "Operation not permitted": 1, "No space left on device": 28, "Disk quota exceeded": 122,
    "Connection reset by peer": 104, "Connection timed out": 110, "Connection refused": 111,
}  # fmt: skip
"""What the C library prints for an errno, at the end of a line or before the name of a file."""

_ERRNO_TEXT: Final = re.compile(r"\[Errno (\d+)\]|\b(E[A-Z]{4,12})(?=[:,\s]|\Z)", re.ASCII)
_STRERROR: Final = re.compile(rf"(?:^|: )({'|'.join(map(re.escape, _TEXTS))})(?=\s*$|: ['\"/])", re.MULTILINE)

_SIGNALS: Final = {"SIGXCPU": Sign.CPU, "SIGXFSZ": Sign.DISK, "SIGALRM": Sign.TIMEOUT, "SIGINT": Sign.CANCELLED}


def of_http(status: int | None) -> Sign | None:
    if status is None or status < 400:
        return None
    return _HTTP.get(status, Sign.SERVER if status >= 500 else Sign.BAD_REQUEST)


def of_name(name: str | None) -> Sign | None:
    """The sign of a provider's code, or of an exception class with or without its module."""
    if name is None:
        return None
    low = name.strip().lower()
    if low in _CODES:
        return _CODES[low]
    if low.isdigit() and len(low) == 3:
        return of_http(int(low))
    last = re.split(r"[.:#]", low)[-1]
    return _CLASSES.get(last, _CLASSES.get(last.removeprefix("ai_")))


def of_errno(text: str | None) -> Sign | None:
    """The sign of the errno that a text bears as a number, a name, or in the C library's own words."""
    if text is None:
        return None
    for match in _ERRNO_TEXT.finditer(text):
        number = int(match[1][:6]) if match[1] is not None else _NAMES.get(match[2], -1)
        if number in _ERRNO:
            return _ERRNO[number]
    printed = _STRERROR.search(text)
    return None if printed is None else _ERRNO[_TEXTS[printed[1]]]


def of_signal(name: str | None) -> Sign | None:
    return None if name is None else _SIGNALS.get(name.upper())
