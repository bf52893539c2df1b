"""The one shape of everything that goes wrong over HTTP, and what callers are told of it.

``{"error": {"code", "message", "remedy"}}``. Messages name neither files nor texts nor machines: an error that would
is given a sentence of its own here.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from memctl.errors import ExitCode, MemctlError

_PLAIN = {
    "no_store": "There is no memory here yet.",
    "store_newer": "The memory was written by a newer release of memctl than this server's.",
    "model_differs": "The memory was built with another embedding model than this server's.",
    "store_busy": "The memory is being written by another process.",
    "store_read_only": "The memory cannot be written now.",
    "store_closed": "The server may not read the memory.",
    "store_damaged": "The memory is damaged.",
    "keys_unreadable": "The server's keys cannot be read.",
    "model_unavailable": "A model that this needs is not available on the server.",
    "endpoint_unavailable": "An endpoint that this needs did not answer the server.",
    "input_unreadable": "The text cannot be read as a conversation.",
    "format_unknown": "The text is in no format that memctl knows.",
    "transcript_hollow": "The conversation holds no message text.",
}
_REMEDIES = {
    "no_store": "Remember or ingest something first.",
    "input_unreadable": "Send the conversation as messages.",
    "format_unknown": "Send the conversation as messages.",
    "transcript_hollow": "Send messages with content.",
    "store_busy": "Try again in a moment.",
}
_ASK = "Ask whoever runs the server to run memctl doctor."
_STATUS = {
    "not_found": HTTPStatus.NOT_FOUND,
    "no_store": HTTPStatus.NOT_FOUND,
    "forbidden": HTTPStatus.FORBIDDEN,
    "unauthorized": HTTPStatus.UNAUTHORIZED,
    "undo_blocked": HTTPStatus.CONFLICT,
    "undo_gone": HTTPStatus.CONFLICT,
    "run_locally": HTTPStatus.CONFLICT,
    "store_busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "store_read_only": HTTPStatus.SERVICE_UNAVAILABLE,
    "store_closed": HTTPStatus.SERVICE_UNAVAILABLE,
    "overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
    "timeout": HTTPStatus.GATEWAY_TIMEOUT,
    "too_slow": HTTPStatus.REQUEST_TIMEOUT,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "media_type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "bad_request": HTTPStatus.BAD_REQUEST,
    "misdirected": HTTPStatus.FORBIDDEN,
}
_BY_EXIT_CODE = {
    ExitCode.USAGE: HTTPStatus.UNPROCESSABLE_ENTITY,
    ExitCode.INPUT: HTTPStatus.UNPROCESSABLE_ENTITY,
    ExitCode.UNAVAILABLE: HTTPStatus.BAD_GATEWAY,
}
_SEE_DOCS = "See /docs for the fields of this request."
_NO_JSON = ("json_invalid", "json_type")
RETRY_AFTER = {"store_busy": "2", "store_read_only": "30", "store_closed": "30", "overloaded": "1"}


class RequestRefused(MemctlError):
    """{reason}."""

    exit_code = ExitCode.USAGE

    def __init__(self, code: str, reason: str, remedy: str = "") -> None:
        """Refuse a request with one of the codes above."""
        super().__init__(reason=reason, remedy=remedy)
        self.code = code


def status_of(error: MemctlError) -> int:
    """Choose the HTTP status of a foreseen error."""
    fallback = _BY_EXIT_CODE.get(error.exit_code, HTTPStatus.INTERNAL_SERVER_ERROR)
    return int(_STATUS.get(error.code, fallback))


def shape_of(error: MemctlError) -> dict[str, Any]:
    """Write a foreseen error for a caller."""
    message = _PLAIN.get(error.code, str(error))
    remedy = _REMEDIES.get(error.code, _ASK if error.code in _PLAIN else error.remedy)
    return shape(error.code, message[:1].upper() + message[1:], remedy)


def shape(code: str, message: str, remedy: str = "") -> dict[str, Any]:
    """Write an error."""
    return {"error": {"code": code, "message": message, "remedy": remedy}}


def shape_of_status(status: int) -> dict[str, Any]:
    """Write an error that has nothing but a status, such as an unknown path or method."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Error"
    remedy = "See /docs for what there is." if status in (404, 405) else ""
    return shape(phrase.lower().replace(" ", "_"), f"{phrase}.", remedy)


def shape_of_validation(errors: Sequence[Mapping[str, Any]], remedy: str = _SEE_DOCS) -> dict[str, Any]:
    """Say which fields are wrong and why, without repeating what was sent in them."""
    said = [f"{_place(error)}: {_reason(error)}" for error in errors[:5]]
    more = f" (and {len(errors) - 5} more)" if len(errors) > 5 else ""
    return shape("invalid", "; ".join(said) + more + ".", remedy)


def encoded(body: Any) -> bytes:
    """Write JSON as bytes; what cannot be said in UTF-8 is replaced."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _place(error: Mapping[str, Any]) -> str:
    if error.get("type") in _NO_JSON:
        return "body"
    place = tuple(map(str, error.get("loc", ())))
    # Over HTTP the place begins with the part of the request; a field may have the name of one.
    named = place[1:] if place[:1] and place[0] in ("body", "query", "path") and len(place) > 1 else place
    # An unknown field's name is the caller's own text and may be anything: say so without repeating it at length.
    return ".".join(part if part.isprintable() and len(part) <= 40 else "(a field)" for part in named) or "body"


def _reason(error: Mapping[str, Any]) -> str:
    if error.get("type") == "extra_forbidden":
        return "unknown field"
    if error.get("type") in _NO_JSON:
        return "not JSON"
    return str(error.get("msg", "invalid")).removeprefix("Value error, ").rstrip(".")
