"""What `augur ui` lets through to Dagster's server: requests of its own pages and of programs.

Dagster has no users and trusts whoever reaches it. A page of another site, opened in the browser of
somebody who can reach it, would reach it too: by forms, by plain-text POST (Dagster executes the
`?query=` of any POST that is no JSON, and of any GET), by websocket, or under a host name of its
own that it points here. Trusted hosts (starlette's `TrustedHostMiddleware`) stop the last.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class CrossSiteGuard:
    """ASGI middleware: refuses requests of other origins, and what is sent without a preflight."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with the reason of its refusal."""
        if scope["type"] in ("http", "websocket"):
            refusal = refusal_of(scope)
            if refusal is not None:
                status, reason = refusal
                # a websocket that is not accepted is refused with this status too
                await PlainTextResponse(reason, status_code=status)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def refusal_of(scope: Scope) -> tuple[int, str] | None:
    """Status and reason where a request is refused, else None."""
    headers = Headers(scope=scope)
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if origins and not (len(origins) == len(hosts) == 1 and _is_of(origins[0], hosts[0])):
        return 403, "refused: a request of another origin"
    if scope["type"] == "websocket":
        return None
    if scope["method"] in SAFE_METHODS:
        is_page = "text/html" in headers.get("accept", "")
        if scope["path"].rstrip("/").endswith("/graphql") and not is_page:
            return 405, "refused: ask GraphQL by POST, as application/json"
        return None
    kinds = headers.getlist("content-type")
    if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != "application/json":
        return 415, "refused: send application/json"
    return None


def _is_of(origin: str, host: str) -> bool:
    """Whether an origin is the host asked (a proxy may have taken TLS off, so either scheme)."""
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
