# SPDX-License-Identifier: Apache-2.0
"""What the tests of joins of two streams share: orders and shipments in folders of JSON files.

By the watermarks, ten minutes a side, the frontier of both sides after the second batch is the
least of 10:20 - 0:10 (orders) and 10:30 - 0:10 (shipments): 10:10.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

COLUMNS = "id INT, k STRING, ts TIMESTAMP"
WITHIN = "ON o.k = s.k AND s.ts BETWEEN o.ts AND o.ts + INTERVAL 1 HOUR"
MATCH = "MATCH_CONDITION (o.ts >= s.ts) ON o.k = s.k"

Row = tuple[int, str, str]
ORDERS: list[list[Row]] = [
    [(1, "a", "10:00"), (2, "b", "10:05"), (3, "c", "10:06")],
    [(4, "d", "10:20")],
]
SHIPMENTS: list[list[Row]] = [
    [(11, "a", "10:10"), (12, "d", "10:12")],
    [(13, "b", "10:30"), (14, "d", "10:14")],
]


class Streams:
    """Two folders that queries read as streams."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        for name in ("orders", "shipments"):
            (folder / name).mkdir(parents=True)

    def add(self, batch: int) -> None:
        for name, rows in (("orders", ORDERS), ("shipments", SHIPMENTS)):
            lines = [
                json.dumps({"id": id_, "k": k, "ts": f"2026-03-01 {time}:00"})
                for id_, k, time in rows[batch]
            ]
            path = self.folder / name / f"{batch}.json"
            path.with_name(f".{batch}").write_text("\n".join(lines))
            path.with_name(f".{batch}").rename(path)

    def read(self, name: str) -> DataFrame:
        return self.session.readStream.schema(COLUMNS).json(str(self.folder / name))

    def join(self, how: str, select: str = "*", on: str = WITHIN) -> DataFrame:
        watermark = "WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS"
        sql = f"SELECT {select} FROM {{o}} {watermark} o {how} {{s}} {watermark} s {on}"
        return self.session.sql(sql, o=self.read("orders"), s=self.read("shipments"))

    def start(self, df: DataFrame, name: str) -> StreamingQuery:
        writer = df.writeStream.format("memory").queryName(name)
        return writer.option("checkpointLocation", self.checkpoint(name)).start()

    def checkpoint(self, name: str) -> str:
        return str(self.folder / f"checkpoint_{name}")
