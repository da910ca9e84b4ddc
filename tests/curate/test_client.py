import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler

import pytest
from loopback import Server, loopback, send, server

from onward import __version__
from onward.curate import addresses, client
from onward.curate.addresses import is_public
from onward.curate.client import Client, FetchError, Manners

__all__ = ["loopback", "server"]

QUICK = Manners(per_second=1000, timeout=2.0, retries=0)


def reason(url: str | None, manners: Manners = QUICK, *, most_bytes: int = 1000) -> str:
    with pytest.raises(FetchError) as found:
        Client(manners, most_bytes=most_bytes, allow_private=True).fetch(url)
    return str(found.value)


def test_an_answer_arrives_as_it_was_sent(server: Server) -> None:
    url = server.says("/a.jpg", b"\x00\xffabc", Content_Encoding="gzip")
    manners = Manners(per_second=1000, contact="mailto:me@example.org")
    assert Client(manners, most_bytes=1000, allow_private=True).fetch(url) == b"\x00\xffabc"
    agent = server.headers[0]["User-Agent"]
    assert agent == f"onward/{__version__} (onward curate fetch; mailto:me@example.org)"


@pytest.mark.parametrize("url", [None, ""])
def test_no_url(url: str | None) -> None:
    assert reason(url) == client.NO_URL


@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/a", "file:///etc/passwd", "/etc/passwd", "http://", "http://[", "data:,a"],
)
def test_only_http(url: str) -> None:
    assert reason(url) == client.SCHEME


def test_statuses_are_reasons(server: Server) -> None:
    assert reason(server.url("/nothing")) == "HTTP 404"
    assert reason(server.says("/gone", b"", 410)) == "HTTP 410"
    assert reason("http://127.0.0.1:1/a") == client.UNREACHABLE


def test_an_answer_that_is_too_large_is_not_read_on(server: Server) -> None:
    assert reason(server.says("/said", b"x" * 2000)) == client.TOO_LARGE

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"x" * 100)
        except OSError:
            pass

    server.answers["/endless"] = endless
    assert reason(server.url("/endless")) == client.TOO_LARGE


def test_a_host_that_drips_is_left(server: Server) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            pass

    server.answers["/drip"] = drip
    assert reason(server.url("/drip"), Manners(timeout=0.3, retries=0)) == client.TIMEOUT


def test_a_host_that_is_silent_is_left(server: Server) -> None:
    server.answers["/silent"] = lambda handler: time.sleep(0.5)
    assert reason(server.url("/silent"), Manners(timeout=0.1, retries=0)) == client.TIMEOUT


def test_redirections(server: Server) -> None:
    server.says("/b.jpg", b"found")
    server.says("/a", b"", 302, Location="/b.jpg")
    assert Client(QUICK, most_bytes=9, allow_private=True).fetch(server.url("/a")) == b"found"
    assert reason(server.says("/file", b"", 302, Location="file:///etc/passwd")) == client.SCHEME
    assert reason(server.says("/round", b"", 301, Location="/round")) == client.REDIRECTS
    gone = server.says("/x.jpg", b"", 302, Location="/images/photo_unavailable.png")
    assert reason(gone) == client.PLACEHOLDER


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:4700::1111", True), ("127.0.0.1", False),
        ("0.0.0.0", False), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("224.0.0.1", False), ("::1", False),
        ("fe80::1%eth0", False), ("fc00::1", False), ("::ffff:10.0.0.1", False),
        ("64:ff9b::a9fe:a9fe", False), ("2002:7f00:1::", False), ("ff02::1", False),
    ],
)  # fmt: skip
def test_addresses_inside_a_network(address: str, public: bool) -> None:
    assert is_public(address) == public


def test_nothing_inside_a_network_is_asked(server: Server) -> None:
    url = server.says("/a.jpg", b"secret")
    with pytest.raises(FetchError, match=client.PRIVATE):
        Client(QUICK, most_bytes=1000).fetch(url)
    assert server.asked == []


def test_a_redirection_does_not_lead_inside(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "is_public", lambda address: address == "127.0.0.1")
    server.says("/secret", b"secret")
    inside = server.url("/secret", "127.0.0.2")
    url = server.says("/a.jpg", b"", 302, Location=inside)
    with pytest.raises(FetchError, match=client.PRIVATE):
        Client(QUICK, most_bytes=1000).fetch(url)
    assert server.asked == ["/a.jpg"]


@pytest.mark.parametrize("said", ["1", "date"])
def test_a_host_is_left_alone_for_as_long_as_it_asks(
    server: Server, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(client.time, "sleep", slept.append)

    def first_busy(handler: BaseHTTPRequestHandler) -> None:
        if len(server.asked) == 1:
            after = said if said == "1" else formatdate(time.time() + 2, usegmt=True)
            send(handler, b"", 429, Retry_After=after)
        else:
            send(handler, b"now")

    server.answers["/a"] = first_busy
    patient = Manners(per_second=1000, retries=1)
    found = Client(patient, most_bytes=9, allow_private=True).fetch(server.url("/a"))
    assert found == b"now"
    assert max(slept) > 0.8


def test_what_may_pass_is_asked_again_and_the_rest_is_not(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client.time, "sleep", lambda seconds: None)
    patient = Manners(per_second=1000, retries=2)
    assert reason(server.says("/busy", b"", 503), patient) == "HTTP 503"
    assert reason(server.says("/no", b"", 403), patient) == "HTTP 403"
    assert server.asked == ["/busy"] * 3 + ["/no"]


def test_a_host_is_asked_so_often_a_second(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(client.time, "sleep", slept.append)
    url = server.says("/a", b"x")
    asking = Client(Manners(per_second=0.01), most_bytes=9, allow_private=True)
    for _ in range(3):
        asking.fetch(url)
    # Turns are a hundred seconds apart, whether or not anybody really slept.
    assert slept[0] == 0
    assert [round(seconds, -1) for seconds in slept[1:]] == [100, 200]
