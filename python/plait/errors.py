# SPDX-License-Identifier: Apache-2.0
"""The errors that Plait raises; each message is a sentence that names the way out."""


class PlaitError(Exception):
    """Anything that Plait cannot do as asked."""


class PlaitNotLoaded(PlaitError):
    """The Spark session at hand runs without Plait's jar."""


class RemoteError(PlaitError):
    """A server could not do what a client asked; the message is the server's.

    ``status`` is gRPC's (``INVALID_ARGUMENT``), ``condition`` the error's name
    (``TABLE_OR_VIEW_NOT_FOUND``), ``sql_state`` its five characters, ``parameters`` what the
    message speaks of, ``position`` its place in the statement (line, column, start, stop,
    fragment), ``operation`` the operation's id, ``stack`` the JVM's if it was asked for. What is
    not known is empty.
    """

    def __init__(  # noqa: PLR0913 - the fields of the contract, by name
        self,
        message: str,
        *,
        status: str,
        condition: str = "",
        sql_state: str = "",
        parameters: dict[str, str] | None = None,
        position: dict[str, int | str] | None = None,
        operation: str = "",
        stack: str = "",
    ) -> None:
        """Keep what the server told."""
        super().__init__(message)
        self.status = status
        self.condition = condition
        self.sql_state = sql_state
        self.parameters = parameters or {}
        self.position = position
        self.operation = operation
        self.stack = stack
