# SPDX-License-Identifier: Apache-2.0
"""Examples: the client where nothing is installed but what its extra in pyproject.toml names.

No environment is made for it: a finder hides the modules of all other distributions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.python.endpoint import Endpoint

ROOT = Path(__file__).parents[2]

# Arguments: an address, and a distribution that is taken from the extra, or "".
ALONE = """
import importlib.metadata as metadata
import re, sys, tomllib

def bare(requirement):
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-").replace(".", "-")

def needed(names):
    found = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for requirement in metadata.requires(name) or ():
            if "extra ==" not in requirement:
                try:
                    metadata.distribution(bare(requirement))
                except metadata.PackageNotFoundError:
                    continue  # for another system
                left.append(bare(requirement))
    return found

address, missing = sys.argv[1:]
extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
known = needed(bare(each) for each in extras["client"] if bare(each) != missing)
modules = metadata.packages_distributions()
hidden = {
    name for name, owners in modules.items()
    if name != "plait" and not known & {bare(owner) for owner in owners}
}
assert {"pyspark", "pandas", "prometheus_client"} <= hidden, "installed for these tests"

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hiding())

import importlib, pkgutil
import plait.client
for module in pkgutil.iter_modules(plait.client.__path__):
    importlib.import_module(f"plait.client.{module.name}")
import plait.commands
from plait.cli import main
with plait.client.Client(address) as client:
    print(client.sql("rows 2").arrow().num_rows)
main(["sql", "--server", address, "--format", "csv", "rows 1"])
main(["health", address])
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start()
    yield endpoint
    endpoint.stop()


def run(endpoint: Endpoint, missing: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ALONE, f"localhost:{endpoint.port}", missing],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
    )


def test_the_extra_of_the_client_is_all_that_it_needs(endpoint: Endpoint) -> None:
    done = run(endpoint)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "6"
    assert done.stdout.splitlines()[-1] == "SERVING"


@pytest.mark.parametrize("missing", ["grpcio-status", "pyarrow", "grpcio-health-checking"])
def test_a_dependency_that_the_extra_lacks_is_missed(endpoint: Endpoint, missing: str) -> None:
    done = run(endpoint, missing)
    assert "SERVING" not in done.stdout
    assert "missing" in done.stderr or "needs" in done.stderr or "No module" in done.stderr
