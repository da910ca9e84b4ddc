"""The server: on this machine alone unless somebody says otherwise."""

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from onward.curate.review.people import new_token
from onward.errors import OnwardError
from onward.extras import need


def need_server() -> None:
    """Say what to install if the server's packages are missing."""
    for name in ("fastapi", "uvicorn"):
        need(name, "which serves the review page", "curate")


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise OnwardError(
            f"expected to listen on {host}, port {port}, found: {error.strerror or error}. If the "
            "campaign is being served already, add --no-serve; else choose another --port"
        ) from error


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a host.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0"), is_local("10.0.0.7")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(host: str, port: int, given: str | None) -> str:
    """Return where people open the page.

    Examples
    --------
    >>> address_of("127.0.0.1", 8000, None)
    'http://127.0.0.1:8000'
    >>> address_of("0.0.0.0", 8000, "https://review.example.org/")
    'https://review.example.org'
    >>> address_of("10.0.0.7", 80, None)
    'http://10.0.0.7'
    """
    if given is not None:
        parts = urlsplit(given)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
            raise OnwardError(
                f"expected an --address such as https://review.example.org, found {given!r}"
            )
        return _origin(parts.scheme, parts.netloc.lower())
    if host in ("0.0.0.0", "::", ""):
        raise OnwardError(
            f"expected --address with the name that people open, such as http://mymachine:{port}, "
            f"found none beside --host {host}: links need it, and so does the check that a request "
            "is meant for this server"
        )
    return _origin("http", f"{f'[{host}]' if ':' in host else host}:{port}")


def _origin(scheme: str, place: str) -> str:
    """Return an address as browsers write it: without the port that goes without saying."""
    return f"{scheme}://{place.removesuffix(':443' if scheme == 'https' else ':80')}"


def serve(
    folder: Path,
    sock: socket.socket,
    address: str,
    on_ready: Callable[[str], None] = lambda owner: None,
) -> None:
    """Serve a campaign until the process is told to end.

    Parameters
    ----------
    folder
        The campaign.
    sock
        Where to listen.
    address
        Where people open it.
    on_ready
        Called when it answers, with the owner's link, which is new at each start.
    """
    import uvicorn

    from onward.curate.review.app import make_app

    token = new_token()
    port = sock.getsockname()[1]
    here = (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"http://[::1]:{port}")
    app = make_app(folder, address, token, *here)
    config = uvicorn.Config(
        app,
        log_level="warning",
        # Links are secrets, and an access log would have them.
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready(f"{address}/owner/join/{token}")

    Server(config).run(sockets=[sock])
