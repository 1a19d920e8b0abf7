"""Who may come in: the token, and no web page of somebody else's that a browser here has open."""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request

SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Access:
    """The rules of one server.

    >>> Access("0.0.0.0", None)
    Traceback (most recent call last):
    ...
    ValueError: host 0.0.0.0 can be reached from other machines; give a token of 16 letters or more, by --token or ...
    """

    host: str
    token: str | None

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise ValueError(f"the token has {len(self.token)} letters; give at least {SHORTEST_TOKEN}.")
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"host {self.host} can be reached from other machines; give a token of {SHORTEST_TOKEN} letters or "
                "more, by --token or in the variable ORCALIGN_TOKEN."
            )

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused, or None.

        A client says its token as openpi's does, in the header Authorization: Api-Key TOKEN; a browser, which cannot,
        in the address, as ?token=TOKEN.
        """
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        name = urlsplit(f"//{host}").hostname or ""
        # A name that somebody has made point here would let their page read what is said.
        if is_loopback(self.host) and not is_loopback(name):
            return f"this server is called localhost, and not {name[:80]!r}."
        if origin is not None and urlsplit(origin).netloc != host:
            return f"a page of {origin[:80]!r} may not talk to this server; open the server's own page."
        if self.token is None:
            return None
        said = request.headers.get("Authorization", "").removeprefix("Api-Key ")
        said = said or parse_qs(urlsplit(request.path).query).get("token", [""])[0]
        if hmac.compare_digest(said.encode(), self.token.encode()):
            return None
        return "the token is missing or wrong; send the header 'Authorization: Api-Key TOKEN', or ?token=TOKEN."


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
