# SPDX-License-Identifier: Apache-2.0
"""``df.plait``: Plait's joins as methods of a DataFrame, classic or of Spark Connect.

    plait.asof_join(trades, quotes, on="ts")   is   trades.plait.asof_join(quotes, on="ts")

A column that is called plait is ``df["plait"]``. Type checkers know the functions only.

Plait does not import pyspark, and as a rule is imported before it. So if pyspark is not there yet,
``install`` waits for it: a finder at the head of ``sys.meta_path`` that knows one module, lets the
others find and run it, adds the accessor, and is gone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from plait import join

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# It defines the class that those of both kinds of session are made from.
MODULE = "pyspark.sql.dataframe"


class Joins:
    """The joins of one DataFrame, which is their left side; the functions say what they take."""

    def __init__(self, left: DataFrame) -> None:
        """Of this DataFrame."""
        self._left = left

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *join.__all__]


def _method(function: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    @wraps(function)  # the first parameter is called left, and is self
    def method(self: Joins, right: DataFrame, *arguments: Any, **options: Any) -> DataFrame:
        return function(self._left, right, *arguments, **options)

    return method


for _name in join.__all__:
    setattr(Joins, _name, _method(getattr(join, _name)))


def install() -> None:
    """Give all DataFrames the property ``plait``, now or when pyspark is imported."""
    if MODULE in sys.modules:
        _install_in(sys.modules[MODULE])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _install_in(module: ModuleType) -> None:
    module.DataFrame.plait = property(Joins, doc=Joins.__doc__)


class _Finder(MetaPathFinder):
    """Finds pyspark's DataFrame as the others do, once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _install_in(module)

    def __getattr__(self, name: str) -> Any:  # get_source and the like, for tracebacks
        return getattr(self._loader, name)
