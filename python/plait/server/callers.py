# SPDX-License-Identifier: Apache-2.0
"""Who calls: the token of a call, looked up among those that the server knows.

A token is 256 random bits, so that its SHA-256 gives nothing away; the server keeps only that. All
hashes are compared, each in constant time, so that an answer's delay tells nothing either.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plait.server.failure import Failure

if TYPE_CHECKING:
    from plait.server.config import Token


@dataclass(frozen=True)
class Caller:
    """Someone whose sessions and operations are seen by nobody else, and what they may do.

    ``key`` tells callers apart, ``name`` is for logs. ``counts_on`` is the incarnation of the
    session that a call of theirs was told of, and is to run in; "" for any.
    """

    key: str
    name: str
    scopes: tuple[str, ...]
    counts_on: str = ""


def digest(token: str) -> str:
    """Hash a token as the settings hold it.

    >>> digest("plait_x")[:8]
    'cc98c0ad'
    """
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """Make a token of 256 random bits."""
    return f"plait_{secrets.token_urlsafe(32)}"


def identify(header: str | None, tokens: Iterable[Token], nobody: Caller) -> Caller:
    """Tell who sent the header `authorization`; ``nobody`` where the server has no tokens."""
    known = tuple(tokens)
    if not known:
        return nobody
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unknown("The call has no token: send `authorization: Bearer TOKEN`.")
    sent = digest(token.strip())
    found = [entry for entry in known if hmac.compare_digest(entry.sha256, sent)]
    if not found:
        raise _unknown("The server does not know this token: ask its operator for one.")
    return Caller(found[0].sha256, found[0].name, found[0].scopes)


def _unknown(message: str) -> Failure:
    return Failure("unauthenticated", "UNAUTHENTICATED", message)
