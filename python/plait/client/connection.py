# SPDX-License-Identifier: Apache-2.0
"""What a client knows of its server, whether it waits or awaits."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from plait.client.call import PATIENCE, check, metadata
from plait.client.dialogue import Met
from plait.client.failure import from_rpc
from plait.client.reading import Told
from plait.errors import PlaitError

if TYPE_CHECKING:
    import grpc

    from plait.client.progress import Show
    from plait.client.tls import Tls
    from plait.errors import RemoteError


class Connection:
    """The address, the session and the settings of a client; a subclass brings ``_stub``."""

    _stub: Any

    def __init__(  # noqa: PLR0913 - a client's settings, by name
        self,
        address: str,
        *,
        token: str | None,
        tls: bool | Tls,
        session: str | None,
        timeout: float | None,
        progress: Show,
    ) -> None:
        """Keep them, unless the token would go in clear over a network."""
        check(address, token, tls)
        self.address = address
        self.session = session or str(uuid.uuid4())
        self.timeout = timeout
        self.progress = progress
        self._metadata = metadata(token)
        self._met = Met()
        self._owes_farewell = False  # the session is its own, and may be open
        self._made_session = session is None
        self._closed = False

    @property
    def _patience(self) -> float:
        """The seconds for the answer to a question."""
        return self.timeout or PATIENCE

    def _check_open(self) -> None:
        if self._closed:
            raise PlaitError("The client is closed: make another one for further calls.")

    def _calls(self) -> None:
        """Keep in mind that a call goes to the server, which may open the session."""
        self._check_open()
        self._owes_farewell = self._made_session

    def _failed(self, error: grpc.RpcError) -> RemoteError:
        """Make the error of a question that failed."""
        made = from_rpc(error, self.address)
        self._met.fail(made)
        return made

    def _told(self, timeout: float | None) -> Told:
        """Give what a cursor is told beside its request."""
        self._calls()
        return Told(
            metadata=self._metadata,
            address=self.address,
            timeout=self.timeout if timeout is None else timeout,
            progress=self.progress,
            met=self._met,
        )
