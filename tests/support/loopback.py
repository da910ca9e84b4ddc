"""A server of this machine for tests: no other address can be reached."""

import _socket
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

_NAMES = socket.getaddrinfo


@pytest.fixture
def loopback(_no_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sockets reach 127.0.0.0/8, and nothing else."""

    def guarded(name: str) -> Callable[..., Any]:
        real = getattr(_socket.socket, name)

        def call(self: socket.socket, address: Any) -> Any:
            assert str(address[0]).startswith(("127.", "0.0.0.0")), f"{name} {address}"
            return real(self, address)

        return call

    def names(host: str, *args: Any, **kwargs: Any) -> Any:
        assert str(host).startswith("127."), f"a test asked for {host}"
        return _NAMES(host, *args, **kwargs)

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, guarded(name))
    monkeypatch.setattr(socket, "getaddrinfo", names)


class Server:
    """Answers as it is told: by path, a function of the request's number and headers."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                server.headers.append(dict(self.headers))
                answer = server.answers.get(self.path)
                if answer is None:
                    send(self, b"", status=404)
                else:
                    answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self._server.server_port}{path}"

    def says(self, path: str, content: bytes, status: int = 200, **headers: str) -> str:
        """Let a path have an answer; return its URL."""
        self.answers[path] = lambda handler: send(handler, content, status, **headers)
        return self.url(path)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def send(
    handler: BaseHTTPRequestHandler, content: bytes, status: int = 200, **headers: str
) -> None:
    """Send an answer; underscores in the names of headers are dashes."""
    handler.send_response(status)
    for name, value in {"Content_Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


@pytest.fixture
def server(loopback: None) -> Iterator[Server]:
    running = Server()
    yield running
    running.close()
