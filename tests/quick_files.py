# SPDX-License-Identifier: Apache-2.0
"""Makes ``build/quick-files.jar``: local files for a Spark of tests, without a process for each.

    $ python -m tests.quick_files
    build/quick-files.jar

Tests of streams make some ten thousand files; with the jar they take four fifths of the time. Where
it is not there, Spark has Hadoop's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests" / "QuickFiles.java"
JAR = ROOT / "build" / "quick-files.jar"
# What Spark's launcher puts behind its own jars. (A class archive holds for those that come first.)
ON_CLASS_PATH = "SPARK_DIST_CLASSPATH"


def settings() -> dict[str, str]:
    """Return what lets a Spark use the jar, if it is there."""
    return {"spark.hadoop.fs.file.impl": "plait.tests.QuickFiles"} if JAR.exists() else {}


def main() -> None:
    """Compile the one class against Spark's jars."""
    tools = Path(os.environ["JAVA_HOME"]) / "bin"
    spark = find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    jars = Path(spark.origin).parent / "jars"
    JAR.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as classes:
        compiled = [tools / "javac", "-nowarn", "-cp", f"{jars}/*", "-d", classes, SOURCE]
        subprocess.run(compiled, check=True)
        subprocess.run([tools / "jar", "cf", JAR, "-C", classes, "."], check=True)
    sys.stdout.write(f"{JAR.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
