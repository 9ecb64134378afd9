# SPDX-License-Identifier: Apache-2.0
"""Oracle: a join of streams whose state is larger than the heap of its process, on RocksDB.

``python test_stream_large.py FOLDER`` is that process. The oracle is arithmetic: each of the sales
has one customer, whose number follows from its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.python.cases import SOAKING
from tests.python.stream_process import ROOT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark

MIB = 1 << 20
HEAP = 1024 * MIB
CUSTOMERS, SALES, FILES = 100_000, 2_880_000, 24
# Half a kilobyte a row.
DIGESTS = [f"md5(concat(id, '{i}'))" for i in range(16)]


@pytest.mark.skipif(not SOAKING, reason="takes minutes: make soak")
def test_a_state_larger_than_the_heap_passes(tmp_path: Path) -> None:
    try:
        process = run_in(tmp_path)
    finally:
        # Gigabytes, which pytest would keep.
        shutil.rmtree(tmp_path)
    assert process.returncode == 0, process.stderr[-2000:]


def run_in(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, __file__, str(folder)],
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'python'}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def main(folder: Path) -> None:
    from tests.python.streams import ROCKS, custom, run

    import plait

    keys = ROCKS | {
        "spark.ui.enabled": False,
        "spark.driver.memory": f"{HEAP // MIB}m",
        "spark.sql.shuffle.partitions": 2,
    }
    spark = plait.session(master="local[2]", **keys)
    assert spark._jvm.java.lang.Runtime.getRuntime().maxMemory() <= HEAP

    def stream(name: str, rows: DataFrame, files: int) -> DataFrame:
        place = str(folder / name)
        rows.repartition(files).write.parquet(place)
        reader = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(place)

    sales = spark.range(SALES).selectExpr(
        "id", f"id % {CUSTOMERS} AS k", f"concat({', '.join(DIGESTS)}) AS t"
    )
    df = spark.sql(
        "SELECT c.c, s.id, s.t FROM {c} c JOIN {s} s ON c.k = s.k",
        c=stream("c", spark.range(CUSTOMERS).selectExpr("id AS k", "id AS c"), 1),
        s=stream("s", sales, FILES),
    )
    last = run(df, folder)[-1:]
    assert custom(last, "rightRowsStored") == SALES
    assert custom(last, "rightBytesStored") > 1.2 * HEAP
    out = spark.read.parquet(str(folder / "out"))
    sums = out.selectExpr("count(*)", "sum(id)", f"sum(abs(c - id % {CUSTOMERS}))").first()
    assert sums is not None
    assert tuple(sums) == (SALES, SALES * (SALES - 1) // 2, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
