# SPDX-License-Identifier: Apache-2.0
"""A row of a result: a tuple whose values have names too."""

from __future__ import annotations

from typing import Any

from plait.errors import PlaitError


class NoSuchColumn(PlaitError, AttributeError):
    """A row has no column of that name."""


class Row(tuple[Any, ...]):
    """The values of a row, in order; by name where one column alone has that name.

    >>> row = Row.of(("k", "v", "v"), ("a", 1, 2))
    >>> row.k, row[2], row["k"], row
    ('a', 2, 'a', Row(k='a', v=1, v=2))
    >>> row["v"]
    Traceback (most recent call last):
        ...
    plait.errors.PlaitError: 2 columns are named 'v': take them by number.
    >>> row.x
    Traceback (most recent call last):
        ...
    plait.client.row.NoSuchColumn: There is no column 'x'; there are k, v, v.
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], values: tuple[Any, ...]) -> Row:
        """Make a row."""
        row = cls(values)
        row.names = names
        return row

    def __getitem__(self, key: Any) -> Any:
        """Give a value by its number or name, values by a slice."""
        return super().__getitem__(self._place(key) if isinstance(key, str) else key)

    def __getattr__(self, name: str) -> Any:
        """Give a value by its name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def as_dict(self) -> dict[str, Any]:
        """Give the values by name; of columns of one name the last."""
        return dict(zip(self.names, self, strict=True))

    def __repr__(self) -> str:
        """Show names and values."""
        return f"Row({', '.join(f'{n}={v!r}' for n, v in zip(self.names, self, strict=True))})"

    def _place(self, name: str) -> int:
        if (count := self.names.count(name)) == 1:
            return self.names.index(name)
        if count:
            raise PlaitError(f"{count} columns are named {name!r}: take them by number.")
        raise NoSuchColumn(f"There is no column {name!r}; there are {', '.join(self.names)}.")
