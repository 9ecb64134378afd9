# SPDX-License-Identifier: Apache-2.0
"""Example: Spark's history server, without Plait's jar, shows the joins of a query that has run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.e2e.daemons import daemon, exit_on_terminate, wait_for

# Without adaptive execution, three tasks run each join.
PROGRAM = """
import json, sys
import plait

spark = plait.session(master="local[2]", **{
    "spark.ui.enabled": False,
    "spark.eventLog.enabled": True,
    "spark.eventLog.dir": sys.argv[1],
    "spark.eventLog.compress": False,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.autoBroadcastJoinThreshold": -1,
    "spark.sql.shuffle.partitions": 3,
})
near = "l.id % 7 = r.id % 7 AND r.id BETWEEN l.id AND l.id + 7"
pairs = f"SELECT l.id FROM range(2000) l JOIN range(2000) r ON {near}"
df = spark.sql(
    f"SELECT /*+ BROADCAST(c) */ count(*) FROM ({pairs}) p "
    "JOIN range(50) c ON p.id BETWEEN c.id * 7 AND c.id * 7 + 5 "
    "ASOF JOIN range(40) v MATCH_CONDITION (p.id >= v.id) ON p.id % 7 = v.id % 7"
)
df.collect()
joins = {join.join.split()[0]: dict(join.metrics) for join in plait.counters(df)}
print(spark.sparkContext.applicationId, json.dumps(joins))
spark.stop()
"""

LABELS = {
    "SymmetricHashJoin": {
        "left rows in": "leftRowsIn",
        "right rows in": "rightRowsIn",
        "left rows pruned": "leftRowsPruned",
        "right rows pruned": "rightRowsPruned",
        "pairs found by probing left": "pairsByProbingLeft",
        "pairs found by probing right": "pairsByProbingRight",
        "number of output rows": "numOutputRows",
        "left rows buffered at peak": "leftPeakBuffered",
        "right rows buffered at peak": "rightPeakBuffered",
        "rows buffered at peak": "peakBuffered",
    },
    "CollectedJoin": {
        "number of output rows": "numOutputRows",
        "rows collected": "collectedRows",
        "rows looked up for": "probes",
        "rows looked at": "candidates",
    },
    "AsOfJoin": {
        "left rows in": "leftRowsIn",
        "right rows in": "rightRowsIn",
        "rows kept at peak": "peakBuffered",
        "number of output rows": "numOutputRows",
    },
}


@pytest.fixture
def history(tmp_path: Path) -> Iterator[str]:
    """Start a history server on a free port, and give the address of what it answers."""
    events, log = tmp_path / "events", tmp_path / "server.log"
    events.mkdir()
    settings = tmp_path / "history.conf"
    settings.write_text(
        f"spark.history.fs.logDirectory {events.as_uri()}\n"
        "spark.history.fs.update.interval 1s\nspark.history.ui.port 0\n"
    )
    arguments = ("--properties-file", str(settings))
    with exit_on_terminate(), daemon("history.HistoryServer", log, *arguments):
        port = wait_for(
            lambda: re.search(r"HistoryServerUI' on port (\d+)", log.read_text()),
            "the history server has not started",
        )[1]
        yield f"http://127.0.0.1:{port}/api/v1/applications"


def fetched(address: str) -> Any:
    with urlopen(address, timeout=120) as answer:
        return json.load(answer)


def largest(shown: str) -> str:
    """Return the number of a metric: of one with a value a task, the greatest of them."""
    # "(min, med, max (stageId: taskId)):\n(3, 4, 1,005 (stage 2.0: task 7))"
    of_tasks = re.search(r"\n\(.*, .*, (\S+) \(stage", shown)
    return (of_tasks[1] if of_tasks else shown).replace(",", "")


@pytest.mark.spark
def test_the_history_server_without_our_jar_shows_our_nodes_and_their_metrics(
    history: str, tmp_path: Path
) -> None:
    program = [sys.executable, "-c", PROGRAM, (tmp_path / "events").as_uri()]
    ran = subprocess.run(program, capture_output=True, text=True, check=True, timeout=300)
    application, counted = ran.stdout.split(maxsplit=1)
    wait_for(lambda: fetched(history) or None, "the history server knows no application")
    (query,) = fetched(f"{history}/{application}/sql?details=true")
    nodes = {node["nodeName"]: node["metrics"] for node in query["nodes"]}
    joins = json.loads(counted)
    assert set(joins) == set(LABELS)
    for name, metrics in joins.items():
        shown = {metric["name"]: metric["value"] for metric in nodes[name]}
        values = {label: largest(shown[label]) for label in LABELS[name]}
        assert values == {label: str(metrics[key]) for label, key in LABELS[name].items()}
    assert "pruned by" in query["planDescription"]
    assert not re.search(r"Exception|^\s+at ", (tmp_path / "server.log").read_text(), re.MULTILINE)
