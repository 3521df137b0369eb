"""The second lock around untrusted text: what the server refuses, and what it forbids the browser.

Traces hold text of strangers. The first lock is that no page hands it to anything that renders Markdown or HTML;
should one ever do so, the headers of this module keep the browser from fetching, running or embedding anything.
The checks of `Host` and `Origin` keep other web pages, open in the same browser, away from a tool that listens on
this machine (DNS rebinding, cross-site requests).

Everything here is plain ASGI: it imports neither Streamlit nor Starlette.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

__all__ = [
    "LOOPBACK_NAMES",
    "SecurityMiddleware",
    "allowed_hosts",
    "content_security_policy",
    "is_active",
    "is_loopback",
    "refusal",
    "script_hashes",
    "security_headers",
]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL | re.IGNORECASE)


_active = False


def is_active() -> bool:
    """Whether this process serves its app behind `SecurityMiddleware`."""
    return _active


def is_loopback(address: str) -> bool:
    """Whether a server bound to `address` can be reached from this machine only.

    An empty address means "all interfaces" to the server, so it is not one.
    """
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(address: str) -> frozenset[str] | None:
    """The names under which a server bound to `address` may be addressed, or None for any.

    On a loopback address a foreign name means DNS rebinding. A server that was opened to a network cannot know
    the names that lead to it. Without an address nobody asked to open it: this machine only is served.
    """
    if address and not is_loopback(address):
        return None
    return LOOPBACK_NAMES | ({address.strip("[]").lower()} if address else set())


def script_hashes(html: str) -> list[str]:
    """The CSP sources (`'sha256-…'`) of the inline scripts in a page, in their order.

    Scripts that are loaded by address (`src=`) need none. The hash covers the text between the tags exactly.
    """
    hashes = []
    for found in _SCRIPT.finditer(html):
        if re.search(r"\ssrc\s*=", found["attributes"], re.IGNORECASE):
            continue
        digest = base64.b64encode(hashlib.sha256(found["body"].encode()).digest()).decode()
        hashes.append(f"'sha256-{digest}'")
    return hashes


def content_security_policy(index_html: str) -> str:
    """The Content-Security-Policy for the server whose start page is `index_html`.

    Nothing is loaded from another host, no inline script runs but those of the start page itself, and text never
    becomes script (`eval`). Three allowances remain, all needed by Streamlit: inline styles (its CSS-in-JS), scripts
    from `blob:` (it loads components of the second generation so; only scripts that already run can make a blob), and
    WebAssembly (its numbers of 64 bits; no other script text is run by it).
    """
    rules = {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "style-src": ["'self'", "'unsafe-inline'"],
        "script-src": ["'self'", "blob:", "'wasm-unsafe-eval'", *script_hashes(index_html)],
        "worker-src": ["'self'", "blob:"],
        "connect-src": ["'self'"],
        "frame-src": ["'none'"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())


def security_headers(index_html: str) -> list[tuple[bytes, bytes]]:
    """The headers that every answer carries, as ASGI wants them (lower-case names, bytes)."""
    headers = {
        "content-security-policy": content_security_policy(index_html),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        # For browsers that do not know frame-ancestors.
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def refusal(host: str, origin: str, *, allowed: Collection[str]) -> str:
    """Why a request is refused, or an empty text when it is not.

    `host` and `origin` are the headers as they came ("" when missing), `allowed` the names under which the server
    may be addressed, without port. An `Origin` must be the very page that the server serves (same name and port):
    another program's page on this machine is as foreign as one on the internet. Clients that are no browser send
    no `Origin`.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
        source = urlsplit(origin)
    except ValueError:
        return "This address is not served here."
    if name.rstrip(".") not in allowed:
        return "This host name is not served here."
    if origin and (source.scheme not in {"http", "https"} or source.netloc.lower() != host.lower()):
        return "Requests of other pages are refused."
    return ""


class SecurityMiddleware:
    """ASGI middleware: refuses foreign machines, hosts and origins, and adds the security headers to every answer.

    `index_html` is the text of the start page, `allowed_hosts` gives the names under which the server may be
    addressed, or None where any name may (a server that was deliberately opened to a network cannot know its
    names). It is called at the first request because the server's settings are complete only then.
    """

    def __init__(self, app: AsgiApp, *, index_html: str, allowed_hosts: Callable[[], Collection[str] | None]) -> None:
        global _active
        _active = True
        self._app = app
        self._headers = security_headers(index_html)
        self._own_names = {name for name, _ in self._headers}
        self._allowed_hosts = allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; web socket handshakes are checked like pages."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        reason = self._refusal(scope)
        if scope["type"] == "websocket":
            if reason:
                await receive()
                await self._refuse_handshake(scope, send, reason)
            else:
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() not in self._own_names]
                message["headers"] = [*kept, *self._headers]
            await send(message)

        if reason:
            await _refuse(send_with_headers, reason, "http")
        else:
            await self._app(scope, receive, send_with_headers)

    async def _refuse_handshake(self, scope: Scope, send: Send, reason: str) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "websocket.http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        if "websocket.http.response" in (scope.get("extensions") or {}):
            await _refuse(send_with_headers, reason, "websocket.http")
        else:
            # Closing before the handshake is accepted makes the server answer 403.
            await send({"type": "websocket.close", "code": 1008, "reason": reason})

    def _refusal(self, scope: Scope) -> str:
        allowed = self._allowed_hosts()
        if allowed is None:
            return ""
        # A server that was started with other means may listen on more than it was told.
        client = scope.get("client")
        if client and not is_loopback(client[0].removeprefix("::ffff:")):
            return "Only this machine is served here."
        # Of a header that came twice, every value has to pass: a proxy and we might read different ones.
        hosts = _header_values(scope, b"host") or [""]
        origins = _header_values(scope, b"origin") or [""]
        reasons = (refusal(host, origin, allowed=allowed) for host in hosts for origin in origins)
        return next(filter(None, reasons), "")


def _header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope.get("headers", []) if key.lower() == name]


async def _refuse(send: Send, reason: str, kind: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.response.start", "status": 403, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": body})
