"""The REST face: routes generated from the catalog, the hosted services' requests, jobs, health and metrics."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import HTMLResponse, Response

from memctl import __version__, times
from memctl.errors import UsageProblem
from memctl.model import Result
from memctl.render import envelope
from memctl.server import replies
from memctl.server.access import Access
from memctl.server.arguments import Facts, Scope
from memctl.server.catalog import BY_NAME, CATALOG, Operation
from memctl.server.failures import encoded, shape_of_status
from memctl.server.guard import Guard
from memctl.server.handlers import add_failures, reply
from memctl.server.hosted import (
    AgentRecallRequest,
    ExtractRequest,
    MemstoreRecallQuery,
    MemstoreRememberRequest,
    RecallRequest,
    RememberRequest,
    at_least,
)
from memctl.server.page import documentation
from memctl.server.service import Service
from memctl.shapes import fact_shape

_ABOUT = "Memory for AutoGen and AG2 group chats. Every operation that needs no files of this machine, under /v1/."
_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": replies.Failure, "description": about}
    for status, about in {
        400: "Not HTTP as it should be",
        401: "No valid key",
        403: "Out of the key's scope",
        404: "Not found",
        408: "The request did not arrive in time",
        409: "In conflict with what happened since",
        413: "Too large",
        415: "Not application/json",
        422: "Invalid arguments",
        500: "The server failed",
        502: "A model or endpoint of the server is not available",
        503: "Busy: see Retry-After",
        504: "It took too long",
    }.items()
}
_LINES = "application/x-ndjson"
Handler = Callable[..., Awaitable[Response]]


def create_app(service: Service) -> Guard:
    """Build the application around a service."""
    app = FastAPI(
        title="memctl",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        responses=_FAILURES,
    )
    add_failures(app)
    for operation in CATALOG:
        if operation.name != "recall":
            _add_operation(app, service, operation)
    _add_recall(app, service)
    app.include_router(_agents(service))
    app.include_router(_memstore(service))
    _add_extract(app, service)
    _add_upkeep(app, service)
    return Guard(app, service)


def _access(request: Request) -> Access:
    access: Access = request.state.access
    return access


def _add_operation(app: FastAPI, service: Service, operation: Operation) -> None:
    """Make a route of a row: GET with a query where nothing is written, else POST with a body."""
    model: Any = operation.arguments if operation.method == "POST" else Annotated[operation.arguments, Query()]

    async def endpoint(request: Request, given: model) -> Response:
        if operation.name == "export":
            lines = await service.perform(operation, given, _access(request), _lines)
            return Response(lines, media_type=_LINES)
        return reply(await service.perform(operation, given, _access(request), envelope))

    described = (
        {200: {"content": {_LINES: {"schema": {"type": "string"}}}, "description": "One fact a line"}}
        if operation.name == "export"
        else {200: {"model": replies.Envelope}}
    )
    app.add_api_route(
        f"/v1/{operation.name}",
        endpoint,
        methods=[operation.method],
        summary=operation.about,
        operation_id=operation.name.replace("/", "_"),
        response_class=Response,
        responses=described,  # type: ignore[arg-type]
        tags=["memory"],
    )


def _lines(result: Result[Any]) -> bytes:
    return b"".join(encoded(fact_shape(fact)) + b"\n" for fact in result.data)


def _add_recall(app: FastAPI, service: Service) -> None:
    """Answer questions in memctl's words and in those of 0Latency, and give the block alone."""

    async def recall(request: Request, given: RecallRequest) -> Response:
        answer = await service.perform(BY_NAME["recall"], given.to_arguments(), _access(request), replies.recall_reply)
        return reply(answer)

    for path, name in (("/v1/recall", "recall"), ("/v1/inject-context", "inject_context")):
        app.add_api_route(
            path,
            recall,
            methods=["POST"],
            summary=BY_NAME["recall"].about,
            operation_id=name,
            response_class=Response,
            responses={200: {"model": replies.RecallReply}},
            tags=["memory"],
        )


def _agents(service: Service) -> APIRouter:
    """Kronvex's requests: the scope is in the path."""
    router = APIRouter(prefix="/api/v1/agents", tags=["as Kronvex"], default_response_class=Response)

    async def remember(request: Request, agent_id: Scope, given: RememberRequest) -> Response:
        access = _access(request)
        arguments = given.to_arguments(agent_id)

        def work() -> dict[str, Any]:
            stored = replies.stored_reply(service.now(BY_NAME["remember"], arguments, access))
            if given.pinned and not stored["pinned"]:
                service.now(BY_NAME["pin"], Facts(ids=[stored["id"]]), access)
            return {**stored, "pinned": stored["pinned"] or given.pinned}

        return reply(await service.in_thread(work))

    async def recall(request: Request, agent_id: Scope, given: AgentRecallRequest) -> Response:
        arguments = given.to_arguments(agent_id)
        answer = await service.perform(BY_NAME["recall"], arguments, _access(request), replies.recall_reply)
        return reply(at_least(answer, given.threshold))

    ways: tuple[tuple[str, Handler, Any], ...] = (
        ("remember", remember, replies.StoredReply),
        ("recall", recall, replies.RecallReply),
        ("inject-context", recall, replies.RecallReply),
    )
    for path, handler, model in ways:
        router.add_api_route(
            f"/{{agent_id:path}}/{path}",
            handler,
            methods=["POST"],
            operation_id=f"agent_{path.replace('-', '_')}",
            responses={200: {"model": model}},
        )
    return router


def _memstore(service: Service) -> APIRouter:
    """Memstore's requests: the scope is the key's."""
    router = APIRouter(prefix="/v1/memory", tags=["as Memstore"], default_response_class=Response)

    async def remember(request: Request, given: MemstoreRememberRequest) -> Response:
        answer = await service.perform(
            BY_NAME["remember"], given.to_arguments(), _access(request), replies.stored_reply
        )
        return reply(answer)

    async def recall(request: Request, given: Annotated[MemstoreRecallQuery, Query()]) -> Response:
        answer = await service.perform(BY_NAME["recall"], given.to_arguments(), _access(request), replies.recall_reply)
        return reply(at_least(answer, given.threshold))

    router.add_api_route(
        "/remember",
        remember,
        methods=["POST"],
        operation_id="memstore_remember",
        responses={200: {"model": replies.StoredReply}},
    )
    router.add_api_route(
        "/recall",
        recall,
        methods=["GET"],
        operation_id="memstore_recall",
        responses={200: {"model": replies.RecallReply}},
    )
    return router


def _add_extract(app: FastAPI, service: Service) -> None:
    """Learn from conversations in the background."""

    async def extract(request: Request, given: ExtractRequest) -> Response:
        scope = _access(request).to_write(given.scope())
        # Said when it was sent: a server that comes to it later must not take it for newer than what came between.
        sent = {"at": times.iso(times.now()), **given.request()}

        def accept() -> Any:
            return service.jobs.accept(service.warm.open().scope(scope), sent)

        job, future = await service.in_thread(accept)
        if given.wait:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=service.limits.seconds)
            job = service.jobs.get(job.id)
        body = {"job_id": job.id, "status": job.status, **(job.result or {}), "error": job.error}
        body["status"] = job.status
        headers = {"Location": f"/v1/jobs/{job.id}"}
        return reply(body, 202 if job.status == "accepted" else 200, headers)

    async def get_job(request: Request, job_id: str) -> Response:
        job = service.jobs.get(job_id)
        if not _access(request).sees(job.agent):
            return reply(shape_of_status(404), 404)
        return reply(job.shape())

    app.add_api_route(
        "/v1/extract",
        extract,
        methods=["POST"],
        status_code=202,
        summary="Learn from a conversation in the background; accepted jobs survive a crash.",
        operation_id="extract",
        response_class=Response,
        responses={202: {"model": replies.ExtractReply}, 200: {"model": replies.ExtractReply}},
        tags=["memory"],
    )
    app.add_api_route(
        "/v1/jobs/{job_id}",
        get_job,
        methods=["GET"],
        summary="How an extraction job stands.",
        operation_id="job",
        response_class=Response,
        responses={200: {"model": replies.JobReply}},
        tags=["memory"],
    )


def _add_upkeep(app: FastAPI, service: Service) -> None:
    """Health, metrics, documentation, and whole command lines for the thin client."""

    async def health() -> Response:
        return reply({"status": "ok"})

    async def metrics(request: Request) -> Response:
        _access(request).require_everything()  # how much others remember and ask is not for a key to one scope
        # Not among the requests with a limit: it is wanted most when there are too many of them.
        text = await asyncio.to_thread(lambda: service.metrics.text(gauges(service)))
        return Response(text, media_type="text/plain; version=0.0.4")

    async def docs() -> Response:
        return HTMLResponse(documentation(app.openapi()))

    async def command(request: Request) -> Response:
        access = _access(request)
        access.require_everything()
        access.require_write()
        if service.run_command is None:
            return reply(shape_of_status(404), 404)
        run, body = service.run_command, await request.body()
        return reply(await service.in_thread(lambda: run(_command(body))))

    hidden: dict[str, Any] = {"include_in_schema": False, "response_class": Response}
    told: dict[str, Any] = {"response_class": Response, "tags": ["server"]}
    app.add_api_route("/healthz", health, methods=["GET"], responses={200: {"model": replies.Health}}, **told)
    plain = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text"}}
    app.add_api_route("/metrics", metrics, methods=["GET"], responses=plain, **told)  # type: ignore[arg-type]
    app.add_api_route("/docs", docs, methods=["GET"], **hidden)
    app.add_api_route("/v1/command", command, methods=["POST"], **hidden)


def gauges(service: Service) -> dict[str, tuple[str, float]]:
    """Measure what stands now."""
    store = service.warm.open().existing
    return {
        "memctl_facts": ("Facts in the memory, all states.", store.count_facts() if store else 0),
        "memctl_jobs_waiting": ("Extraction jobs that are not finished.", service.jobs.waiting),
        "memctl_requests_busy": ("Requests being worked on.", service.busy),
    }


def _command(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageProblem(reason="a command is a JSON object") from error
    if not isinstance(asked, dict):
        raise UsageProblem(reason="a command is a JSON object")
    return asked
