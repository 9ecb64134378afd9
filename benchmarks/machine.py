# SPDX-License-Identifier: Apache-2.0
"""What a result must say about where it was measured; never a host, a user or a path."""

import datetime
import os
import platform
from pathlib import Path


def described(jvm_version: str) -> str:
    """Return CPU model, cores, memory, JDK and date in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_cpu()}, {os.cpu_count()} cores, {memory:.0f} GiB, JDK {jvm_version}, "
        f"{datetime.datetime.now(datetime.UTC).date()}"
    )


def head(title: str, jvm_version: str, command: str) -> list[str]:
    """Return the first lines of a result."""
    load = f"on a shared machine, load {os.getloadavg()[2]:.0f}"
    return [title, f"{described(jvm_version)}, {load}", command, ""]


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or platform.machine()
