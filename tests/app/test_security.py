"""The headers and refusals of the server, without a server: the middleware is called as one would call it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from inspector_app.security import (
    LOOPBACK_NAMES,
    Message,
    Receive,
    Scope,
    SecurityMiddleware,
    Send,
    allowed_hosts,
    content_security_policy,
    is_loopback,
    refusal,
    script_hashes,
)

INDEX = "<html><script>one()</script><script src='a.js'></script><SCRIPT type='module'>two()\n</SCRIPT></html>"


async def _inner_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands for Streamlit: answers pages, accepts web sockets."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = [(b"content-type", b"text/html"), (b"Referrer-Policy", b"unsafe-url")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"page"})


def _call(
    kind: str = "http",
    *,
    headers: Sequence[tuple[str, str]] = (("host", "127.0.0.1:8501"),),
    allowed: Collection[str] | None = LOOPBACK_NAMES,
    **scope: Any,
) -> list[Message]:
    sent: list[Message] = []
    scope |= {"type": kind, "headers": [(name.encode(), value.encode()) for name, value in headers]}

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    middleware = SecurityMiddleware(_inner_app, index_html=INDEX, allowed_hosts=lambda: allowed)
    asyncio.run(middleware(scope, receive, send))
    return sent


def test_only_inline_scripts_are_hashed() -> None:
    """The hash covers exactly the text between the tags; scripts with an address need none."""
    expected = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in (b"one()", b"two()\n")
    ]

    assert expected == script_hashes(INDEX)


def test_the_policy_allows_no_other_host_and_no_eval() -> None:
    """No source of the policy is another host, a wildcard, `eval` or an unhashed inline script."""
    policy = dict(rule.split(" ", 1) for rule in content_security_policy(INDEX).split("; "))

    assert policy["default-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == policy["frame-src"] == "'none'"
    assert {"'unsafe-inline'", "'unsafe-eval'"}.isdisjoint(policy["script-src"].split())
    assert not any("*" in sources or "http" in sources for sources in policy.values())


def test_every_answer_carries_the_headers_once() -> None:
    """Our headers are added to what the app sends, and replace the app's own of the same name."""
    start, _ = _call()
    headers = [(name.lower(), value) for name, value in start["headers"]]
    named = dict(headers)

    assert 200 == start["status"]
    assert len(headers) == len(named)
    assert b"nosniff" == named[b"x-content-type-options"]
    assert b"no-referrer" == named[b"referrer-policy"]
    assert b"frame-ancestors 'none'" in named[b"content-security-policy"]
    assert b"text/html" == named[b"content-type"]


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8501", ""),
        ("localhost:8501", "http://localhost:8501"),
        ("LOCALHOST:8501", "http://localhost:8501"),
        ("[::1]:8501", "http://[::1]:8501"),
        ("localhost.", ""),
        ("127.0.0.1", "https://127.0.0.1"),
    ],
)
def test_the_own_page_is_served(host: str, origin: str) -> None:
    """A loopback name without an origin, or with that very page as origin, passes."""
    assert "" == refusal(host, origin, allowed=LOOPBACK_NAMES)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.test:8501", ""),
        ("evil.test:8501", "http://evil.test:8501"),
        ("", ""),
        ("127.0.0.1.evil.test", ""),
        ("evil.test#@127.0.0.1", ""),
        ("[::1", ""),
        ("127.0.0.1:8501", "http://evil.test"),
        ("127.0.0.1:8501", "http://127.0.0.1:3000"),
        ("127.0.0.1:8501", "http://localhost:8501"),
        ("127.0.0.1:8501", "null"),
        ("127.0.0.1:8501", "file://127.0.0.1:8501"),
    ],
)
def test_foreign_hosts_and_origins_are_refused(host: str, origin: str) -> None:
    """A foreign name is DNS rebinding; a foreign origin is another page, be it of this machine."""
    assert refusal(host, origin, allowed=LOOPBACK_NAMES)


def test_a_refused_page_says_so_and_reaches_no_app() -> None:
    """The answer is 403 with one sentence, and it carries the headers too."""
    start, body = _call(headers=[("host", "evil.test")])

    assert 403 == start["status"]
    assert b"content-security-policy" in dict(start["headers"])
    assert b"This host name is not served here." == body["body"]


def test_a_refused_web_socket_is_closed_before_it_opens() -> None:
    """A handshake of another page is never accepted; one of our own is."""
    foreign = _call("websocket", headers=[("host", "127.0.0.1:8501"), ("origin", "http://evil.test")])
    own = _call("websocket", headers=[("host", "127.0.0.1:8501"), ("origin", "http://127.0.0.1:8501")])

    assert ["websocket.close"] == [message["type"] for message in foreign]
    assert ["websocket.accept"] == [message["type"] for message in own]


def test_a_refused_web_socket_says_why_where_the_server_can() -> None:
    """Where the server lets us answer the handshake, the answer carries the headers, too."""
    start, body = _call("websocket", headers=[("host", "evil.test")], extensions={"websocket.http.response": {}})

    assert ("websocket.http.response.start", 403) == (start["type"], start["status"])
    assert b"content-security-policy" in dict(start["headers"])
    assert b"This host name is not served here." == body["body"]


@pytest.mark.parametrize(
    ("machine", "allowed", "status"),
    [
        ("127.0.0.1", LOOPBACK_NAMES, 200),
        ("::ffff:127.0.0.1", LOOPBACK_NAMES, 200),
        ("192.0.2.7", LOOPBACK_NAMES, 403),
        ("2001:db8::7", LOOPBACK_NAMES, 403),
        ("192.0.2.7", None, 200),
    ],
)
def test_other_machines_are_refused_by_a_server_for_this_one(
    machine: str, allowed: Collection[str] | None, status: int
) -> None:
    """A server that listens on more than it was told to still serves this machine only."""
    start, _ = _call(allowed=allowed, client=(machine, 50_000))

    assert status == start["status"]


def test_of_a_header_sent_twice_every_value_counts() -> None:
    """A second host header does not smuggle the first one past."""
    start, _ = _call(headers=[("host", "evil.test"), ("host", "127.0.0.1:8501")])

    assert 403 == start["status"]


def test_a_server_opened_to_a_network_takes_any_name() -> None:
    """Without a list of names the host is not checked; the headers stay."""
    start, _ = _call(headers=[("host", "inspector.example")], allowed=None)

    assert 200 == start["status"]
    assert b"content-security-policy" in dict(start["headers"])


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("example.com", False),
    ],
)
def test_only_loopback_addresses_are_this_machine(address: str, own: bool) -> None:
    """An empty address means all interfaces, but nobody asked for that: names are limited as for a loopback one."""
    assert own is is_loopback(address)
    assert (own or not address) is (allowed_hosts(address) is not None)
