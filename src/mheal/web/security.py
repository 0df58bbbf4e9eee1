"""Who may talk to the page: checks of every request before it reaches the application, and headers of every answer.

- Host: only names of this machine, so that a foreign name that resolves to it (DNS rebinding) gets nothing
- Origin and Sec-Fetch-Site: only the page itself
- token: needed where the server can be reached from other machines; compared in constant time
- CSRF token: needed by every request that changes something
- content security policy: scripts, styles, images and connections of this server only, nothing inline
"""

import socket
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE, CSRF_HEADER = "mheal_token", "x-mheal-csrf"
LOCAL = {"127.0.0.1", "localhost", "::1"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Guard:
    """What is checked.

    host : where the server listens
    token : must be given once, as /?token=…, and is a cookie from then on; None: not needed
    csrf : must be in a header of every request that changes something; the page reads it from /api/state
    """

    host: str = "127.0.0.1"
    token: str | None = None
    csrf: str = field(default_factory=lambda: token_urlsafe(32))

    def knows(self, host: str | None) -> bool:
        """Whether a Host header names this machine: by name, or by a number where it listens for others."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in LOCAL or name == self.host.lower():
            return True
        return self.host not in LOCAL and (is_number(name) or name == socket.gethostname().lower())

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request is refused, or the redirection that sets the cookie; None where it may pass."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host")
        if not self.knows(host) or len(headers.getlist("host")) != 1:
            return _refused(421, "this host name is not one of the page: open the address that mheal printed")
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _refused(403, "a request from another page is refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["path"] != "/":
            return _refused(403, "a request from another page is refused")
        if self.token is not None and not _same(_cookie(headers), self.token):
            query = parse_qs(scope["query_string"].decode("latin-1"))
            if scope["path"] != "/" or not _same(query.get("token", [""])[0], self.token):
                return _refused(401, "the token is missing or wrong: open the address that mheal printed")
            response = RedirectResponse("/", 303)
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", path="/")
            return response
        if method not in ("GET", "HEAD") and not _same(headers.get(CSRF_HEADER, ""), self.csrf):
            return _refused(403, "the page is from an earlier run: load it again", "csrf")
        return None


class Guarded:
    """An application behind a guard."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        answer: Any = self.guard.refusal(scope) or self.app
        await answer(scope, receive, with_headers)


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    return host in LOCAL or (is_number(host) and ip_address(host).is_loopback)


def is_number(host: str) -> bool:
    """Whether this is an IP address, which no name server decides about."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refused(status: int, why: str, code: str = "refused") -> Response:
    return JSONResponse({"error": why, "code": code}, status)


def _same(given: str, wanted: str) -> bool:
    return compare_digest(given.encode(), wanted.encode())


def _cookie(headers: Headers) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""
