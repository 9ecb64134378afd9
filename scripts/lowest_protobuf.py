# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of client and server with the lowest protobuf that we say we run with.

    .venv/bin/python scripts/lowest_protobuf.py          protobuf 6.33, the lowest of pyproject.toml

It makes an environment in build/, without pyspark and with the lowest grpcio too, in which a client
and a server over an engine without Spark call each other. What is in .venv is the highest.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "env-lowest-protobuf"

# What the tests need beside plait[client]: the server's side, and what makes certificates.
BESIDE = (
    "buf-bin",
    "grpcio-reflection",
    "prometheus-client",
    "pandas",
    "pytest",
    "pytest-timeout",
    "trustme",
)

# Those of the endpoint that need no Spark.
TESTS = (
    "test_async_client",
    "test_client_closing",
    "test_client_dialogue",
    "test_client_progress",
    "test_dbapi",
    "test_endpoint_callers",
    "test_endpoint_contract",
    "test_endpoint_desks",
    "test_endpoint_forgotten",
    "test_endpoint_gate",
    "test_endpoint_held",
    "test_endpoint_limits",
    "test_endpoint_metrics",
    "test_endpoint_questions",
    "test_endpoint_restarts",
    "test_endpoint_results",
    "test_endpoint_sessions",
    "test_endpoint_streams",
    "test_endpoint_submitted",
)


def lowest(requirements: list[str], names: tuple[str, ...]) -> list[str]:
    """Return what pip is told to take the lowest version of each of ``names``.

    >>> lowest(["grpcio>=1.76,<2", "protobuf>=6.33,<8", "pyarrow>=18"], ("grpcio", "protobuf"))
    ['grpcio==1.76.*', 'protobuf==6.33.*']
    """
    found = [re.match(r"([\w-]+)>=([\d.]+)", requirement) for requirement in requirements]
    bounds = {match[1]: match[2] for match in found if match}
    return [f"{name}=={bounds[name]}.*" for name in names]


def main() -> int:
    """Make the environment, and run the tests in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    client = project["optional-dependencies"]["client"]
    pins = lowest(client, ("protobuf", "grpcio", "grpcio-status", "grpcio-health-checking"))
    reflection = pins[1].replace("grpcio", "grpcio-reflection")
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    python = FOLDER / "bin" / "python"
    wanted = [*client, *BESIDE, *pins, reflection]
    subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    shown = "import google.protobuf as p, grpc; print(p.__version__, grpc.__version__)"
    subprocess.run([python, "-c", shown], check=True)
    tests = [str(ROOT / "tests" / "python" / f"{name}.py") for name in TESTS]
    return subprocess.call([python, "-m", "pytest", "-q", *tests], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
