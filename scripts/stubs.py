# SPDX-License-Identifier: Apache-2.0
"""Makes python/plait/_proto from proto/plait/v1/plait.proto; `make stubs` after a change there.

The compiler comes in an environment of its own, since it wants an older protobuf than we run with:
its code (protobuf 6) runs with protobuf 6 and 7, what a newer compiler makes runs with 7 alone.
"""

from __future__ import annotations

import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROTO = ROOT / "proto"
OUT = ROOT / "python" / "plait" / "_proto"
COMPILER = "grpcio-tools==1.76.0"

# The generated module would look for itself in plait.v1.
IMPORTED = "from plait.v1 import plait_pb2"
OURS = "from plait._proto import plait_pb2"


def main() -> None:
    """Compile, and put the modules in their place."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        compile_in(made)
        OUT.mkdir(exist_ok=True)
        for module in (made / "plait" / "v1").iterdir():
            text = module.read_text().replace(IMPORTED, OURS)
            (OUT / module.name).write_text("# SPDX-License-Identifier: Apache-2.0\n" + text)
    (OUT / "__init__.py").write_text(
        '# SPDX-License-Identifier: Apache-2.0\n"""Made by scripts/stubs.py; see proto/."""\n'
    )


def compile_in(folder: Path) -> None:
    """Run the pinned compiler, its modules going to ``folder``."""
    environment = folder / "compiler"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", COMPILER], check=True)
    outputs = [f"--{kind}={folder}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    source = PROTO / "plait" / "v1" / "plait.proto"
    command = [str(python), "-m", "grpc_tools.protoc", f"-I{PROTO}", *outputs, str(source)]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
