"""How the REST face says things: JSON answers, and every error in the one shape."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from memctl.errors import MemctlError
from memctl.server.failures import (
    RETRY_AFTER,
    encoded,
    shape,
    shape_of,
    shape_of_status,
    shape_of_validation,
    status_of,
)


def reply(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(encoded(body), status, headers, "application/json")


def add_failures(app: FastAPI) -> None:
    """Give every error of an application the one shape."""
    app.add_exception_handler(MemctlError, _foreseen)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _by_status)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unforeseen)


async def _foreseen(_: Request, error: MemctlError) -> Response:
    headers = {"Retry-After": RETRY_AFTER[error.code]} if error.code in RETRY_AFTER else None
    return reply(shape_of(error), status_of(error), headers)


async def _by_status(_: Request, error: HTTPException) -> Response:
    return reply(shape_of_status(error.status_code), error.status_code, dict(error.headers or {}))


async def _invalid(_: Request, error: RequestValidationError) -> Response:
    return reply(shape_of_validation(error.errors()), 422)


async def _unforeseen(_: Request, __: Exception) -> Response:
    return reply(shape("internal", "The server failed on this request.", "Look at the server's log."), 500)
