"""Connections to addresses of the public network, and to no others unless somebody says so."""

import ipaddress
import socket
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError


class PrivateError(HTTPError):
    """A name leads into a network that is not the public one."""


def is_public(address: str) -> bool:
    """Whether an address is one of the public network.

    Examples
    --------
    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "10.0.0.1", "::ffff:192.168.0.1")]
    [True, False, False, False]
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        # An address of the old kind inside one of the new kind is judged by itself.
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if inner is None and found in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    return found.is_global and not found.is_multicast


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def _connect(host: str, port: int, timeout: Any, *, allow_private: bool) -> socket.socket:
    """Connect to an address that was looked at, not to a name that may change meanwhile."""
    places = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    known = [place for place in places if allow_private or is_public(str(place[4][0]))]
    if not known:
        raise PrivateError(host)
    problem: OSError | None = None
    for family, kind, protocol, _, address in known:
        made = socket.socket(family, kind, protocol)
        try:
            if isinstance(timeout, int | float):
                made.settimeout(timeout)
            made.connect(address)
        except OSError as error:
            made.close()
            problem = error
        else:
            return made
    raise problem or OSError(f"no address of {host}")


def manager_class(*, allow_private: bool) -> type[urllib3.PoolManager]:
    """Return pools of connections that look at an address before they use it."""

    def new_conn(self: HTTPConnection) -> socket.socket:
        try:
            return _connect(self.host, self.port, self.timeout, allow_private=allow_private)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, str(error)) from error
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error

    plain = type("Plain", (HTTPConnection,), {"_new_conn": new_conn})
    secure = type("Secure", (HTTPSConnection,), {"_new_conn": new_conn})
    pools = {
        "http": type("Pool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("SecurePool", (HTTPSConnectionPool,), {"ConnectionCls": secure}),
    }

    class Manager(urllib3.PoolManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.pool_classes_by_scheme = pools

    return Manager
