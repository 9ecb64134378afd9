# SPDX-License-Identifier: Apache-2.0
"""Examples of others: joins of other systems' public tests, with Plait's node wherever it can run.

The cases are not part of this repository. They are looked for in the folder `../shared/conformance`
beside it, or in the one that PLAIT_CONFORMANCE names: `run_cases.py`, and files of cases, each with
tables, a query and its rows.

`make test` runs all cases with Plait's node wherever it can run, and at its end says how many joins
it ran, and why the others were Spark's; `make soak` runs them once more, with the strategy of its
own choice. A case is run as Spark writes it, and in the syntax that Plait adds, where it has both.

Cases of streams are run by `run_stream_cases.py`, step by step.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.python.cases import SOAKING
from tests.python.queries import NODES, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PLAIT_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
FILES = sorted(FOLDER.glob("cases/*.json"))

# Small tables: a plan of a few tasks, without code to be compiled, is the fastest.
QUICK = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": -1,
}
STRATEGIES: Mapping[str, Mapping[str, str | int | bool]] = {
    "always": QUICK | {"spark.plait.join.strategy": "always"},
    "auto": {"spark.plait.join.strategy": "auto"},
}

# What of the syntax that Plait adds there is.
FAMILIES = ("asof", "temporal", "window", "window_tvf", "window_tvf_session")

STREAM_FAMILIES = ("interval", "interval_stream", "window_stream", "asof_stream", "temporal_stream")

# A node, and why the join is Spark's.
Join = tuple[str, str | None]

# What stays with Spark though Plait is to take every join that it can.
WITHOUT_EQUALITY = ("BroadcastNestedLoopJoin", "CartesianProduct")
LEFT_TO_SPARK: set[Join] = {
    (node, reason)
    for node in WITHOUT_EQUALITY
    for reason in ("NO_COMPARISON", "NOTHING_PRUNED", "KEPT_IN_ONE_TASK")
}

pytestmark = pytest.mark.skipif(
    not FILES, reason=f"there are no cases of other systems in {FOLDER.name}/cases"
)


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    return module_of("run_cases")


@pytest.fixture(scope="module", params=list(STRATEGIES) if SOAKING else ["always"])
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def session(strategy: str, spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", "UTC")
    for key, value in STRATEGIES[strategy].items():
        own.conf.set(key, value)
    return own


@pytest.fixture(scope="module")
def joins(strategy: str) -> Counter[Join]:
    """Count the joins of all cases: by Plait's node, or by the reason why they are Spark's."""
    return Counter()


def cases(runner: ModuleType, file: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Give the cases of a file, each with the field that has its query."""
    found = [case for _, case in runner.load(str(file.parent), [file.name], None)]
    for case in found:
        if case.get("query_spark") and not case.get("streaming_only"):
            yield case, "query_spark"
    for case in found:
        if case.get("query_ext") and case.get("family") in FAMILIES:
            yield case, "query_ext"


class TablesAsArrow:
    """A session as `run_cases.py` uses one to make tables, without a Python process for each."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def sql(self, text: str) -> DataFrame:
        return self.session.sql(text)

    def createDataFrame(self, rows: list[tuple[str | None, ...]], schema: str) -> DataFrame:
        names = re.findall(r"`((?:[^`]|``)*)` string", schema)
        columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))]
        return self.session.createDataFrame(pa.table(columns, names))


def shown(runner: ModuleType, df: DataFrame) -> DataFrame:
    """Return ``df`` with values as `run_cases.py` compares them, so that its plan can be asked."""
    types = [field.dataType.simpleString() for field in df.schema.fields]
    columns = []
    for i, of_type in enumerate(types):
        shown_as = "double" if of_type == "float" else "string"
        columns.append(f"c{i}" if of_type in runner.SIMPLE else f"CAST(c{i} AS {shown_as}) AS c{i}")
    return df.toDF(*(f"c{i}" for i in range(len(types)))).selectExpr(*columns)


def wrong(
    runner: ModuleType,
    session: SparkSession,
    case: Mapping[str, Any],
    field: str,
    joins: Counter[Join],
) -> str | None:
    """Run a case, and say what is wrong with its rows or its error, if anything is."""
    error = case.get("expect_error")
    for name, table in case.get("tables", {}).items():
        runner.make_view(TablesAsArrow(session), name, table)
    try:
        for statement in case.get("setup_spark", []):
            session.sql(statement)
        df = shown(runner, session.sql(case[field]))
        rows = runner.bag(map(tuple, df.collect()))
    except Exception as raised:
        return None if error and re.search(error, str(raised)) else f"{raised}"
    if error:
        return f"{len(rows)} rows instead of the error {error}"
    for side in plait.explain(df):
        if side.side == "left":
            joins[side.node, None if side.node in NODES else side.why_not] += 1
    expected = runner.bag(case["expected"])
    return None if rows == expected else f"{rows} instead of {expected}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_cases_of_other_systems_give_their_rows(
    runner: ModuleType, session: SparkSession, joins: Counter[Join], file: Path
) -> None:
    wrongs = {}
    for case, field in cases(runner, file):
        if (what := wrong(runner, session, case, field, joins)) is not None:
            wrongs[case["name"], field] = what
    assert not wrongs


def test_every_join_by_equality_runs_on_our_node_and_the_rest_has_its_reason(
    strategy: str, joins: Counter[Join], say: Callable[[str], None]
) -> None:
    ours = sum(joins[node, None] for node in NODES)
    rest = [f"{n} {node}, {why}" for (node, why), n in joins.most_common() if node not in NODES]
    say(
        f"joins of other systems' cases, strategy {strategy}: {ours} of {joins.total()} on our "
        f"nodes; Spark's: {'; '.join(rest)}"
    )
    assert all(why or node in NODES for node, why in joins), joins
    if strategy != "always" or not joins:
        pytest.skip("the count is of a pass over all cases with strategy=always")
    assert {join for join in joins if join[0] not in NODES} <= LEFT_TO_SPARK, joins
    assert joins[NODES[0], None] > 150, joins
    assert joins["AsOfJoin", None] > 20, joins


@pytest.mark.skipif(not FOLDER.joinpath("stream").is_dir(), reason="there are no cases of streams")
def test_the_streams_of_other_systems_give_their_rows_and_keep_no_more_of_them(
    runner: ModuleType, spark: SparkSession, tmp_path: Path
) -> None:
    steps = module_of("run_stream_cases")
    session = spark.newSession()
    wrongs, states = {}, []
    found = list(runner.load(str(FOLDER / "stream"), None, STREAM_FAMILIES))
    with settings(session, QUICK | {"spark.sql.session.timeZone": "UTC"}):
        for _, case in found:
            query = case.get("query_ext") or case["query_spark"]
            why, notes = steps.run(session, case, query, True, str(tmp_path))
            state = [[int(n) for n in re.findall(r"\d+", note)[1:]] for note in notes]
            if why or any(ours > theirs for ours, theirs in state):
                wrongs[case["name"]] = why or notes
            states += state
    assert not wrongs
    assert len(found) >= 32
    assert len(states) >= 16
