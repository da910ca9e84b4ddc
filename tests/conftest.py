"""Every test runs without a network, and none fails for being slow."""

import socket
from typing import Any, NoReturn

import pytest
from hypothesis import settings

# A deadline measures the machine and whatever else runs on it.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("a test tried to open a network connection")

    def refuse_network(name: str) -> None:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            # Data workers hand tensors over by sockets of the machine itself.
            return original(self, *args) if self.family == socket.AF_UNIX else refuse()

        monkeypatch.setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "bind"):
        refuse_network(name)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
