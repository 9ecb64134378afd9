# SPDX-License-Identifier: Apache-2.0
"""Oracle: as-of joins against their definition in Python, pandas.merge_asof, and DuckDB."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.python.asof_definition import (
    OPERATORS,
    TYPES,
    arrow,
    random_join,
    random_join_without_key,
    with_distinct_values,
)
from tests.python.cases import SOAKING, cases
from tests.python.queries import settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEEDS = range(cases(100, soak=5_000))
FRAMES = 200
PAIRS_WITHOUT_KEY = cases(1, soak=2)
IN_A_FORM = cases(1, soak=100)


@pytest.mark.parametrize("seed", SEEDS)
def test_spark_with_plait_gives_the_rows_of_the_definition(spark: SparkSession, seed: int) -> None:
    join = random_join(seed)
    for name, table in (("ls", join.left), ("rs", join.right)):
        spark.createDataFrame(arrow(join.kind, table)).createOrReplaceTempView(name)
    keys = {
        "spark.sql.shuffle.partitions": (1, 3)[seed % 2],
        "spark.sql.adaptive.enabled": seed % 5 == 0,
        # To compile the code for whole stages takes longer than to run them.
        "spark.sql.codegen.wholeStage": seed % 10 == 3,
        "spark.sql.codegen.factoryMode": "FALLBACK" if seed % 4 == 3 else "NO_CODEGEN",
    }
    with settings(spark, keys):
        found = Counter(map(tuple, spark.sql(join.sql).collect()))
    expected = join.rows()
    assert found == expected, f"seed {seed}, m is {join.kind}: {join.sql}"


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_without_a_key_ranges_give_the_rows_of_the_definition(
    spark: SparkSession, seed: int
) -> None:
    # Small tables are cut only if that is asked for.
    keys = {
        "spark.plait.join.strategy": "always",
        "spark.sql.shuffle.partitions": (3, 7)[seed // 2 % 2],
        "spark.sql.adaptive.enabled": seed % 5 == 0,
        "spark.sql.codegen.wholeStage": seed % 20 == 4,
        "spark.sql.codegen.factoryMode": "FALLBACK" if seed % 8 == 4 else "NO_CODEGEN",
    }
    for pair in range(PAIRS_WITHOUT_KEY):
        join = random_join_without_key(seed, pair)
        for name, table in (("ls", join.left), ("rs", join.right)):
            spark.createDataFrame(arrow(join.kind, table)).createOrReplaceTempView(name)
        with settings(spark, keys):
            df = spark.sql(join.sql)
            found = Counter(map(tuple, df.collect()))
        clue = f"seed {seed}, pair {pair}, m is {join.kind}: {join.sql}"
        assert found == join.rows(), clue
        is_cut = join.kind != "struct" and join.condition in (None, "r.v <> 2", "l.v > 1")
        assert ("in 3 ranges" in df_plan(df) or "in 7 ranges" in df_plan(df)) == is_cut, clue


def df_plan(df: DataFrame) -> str:
    return str(plait.explain(df))


# DuckDB compares structs with a NULL in them in another way.
IN_DUCKDB = [kind for kind in TYPES if kind != "struct"]


@pytest.mark.parametrize(("kind", "sign"), list(product(IN_DUCKDB, OPERATORS)))
def test_duckdb_gives_the_rows_of_the_definition(kind: str, sign: str) -> None:
    words = {"kind": kind, "operator": sign, "tolerance": None, "ties": None, "condition": None}
    for seed, how in enumerate(("INNER", "LEFT")):
        start = list(TYPES).index(kind) + len(TYPES) * seed * IN_A_FORM
        for number in range(start, start + len(TYPES) * IN_A_FORM, len(TYPES)):
            join = random_join(number)
            join = with_distinct_values(
                type(join)(**vars(join) | words | {"how": how, "key": "l.k = r.k AND l.v = r.v"})
            )
            with duckdb.connect() as database:
                database.register("ls", arrow(kind, join.left))
                database.register("rs", arrow(kind, join.right))
                found = database.execute(
                    f"SELECT l.id, r.id FROM ls l ASOF {how} JOIN rs r "
                    f"ON l.pair = r.pair AND l.k = r.k AND l.v = r.v AND l.m {sign} r.m"
                ).fetchall()
            assert Counter(found) == join.rows(), f"seed {number}: {join.sql}"


def frames(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make both sides of all frames; the column ``frame`` says which frame a row is of."""
    rng = np.random.default_rng(seed)

    def side(name: str) -> pd.DataFrame:
        sizes = rng.integers(0, 20, FRAMES)
        frame = np.repeat(np.arange(FRAMES), sizes)
        number = rng.integers(-15, 15, len(frame))
        return pd.DataFrame(
            {
                "frame": frame,
                "k": rng.choice(["a", "b"], len(frame)),
                "int": number,
                "time": pd.Timestamp("2026-03-01") + pd.to_timedelta(number * 40, unit="min"),
                "double": number / 4,
                name: np.arange(len(frame)),
            }
        ).astype({"time": "datetime64[us]"})

    return side("id"), side("rid")


TOLERANCES = {"int": 3, "time": pd.Timedelta("100min"), "double": 0.75}


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("is_near", [False, True])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_pandas_gives_the_same_rows(
    spark: SparkSession, direction: str, is_near: bool, is_exact: bool
) -> None:
    # NULLs are left out: pandas refuses them in `on`, and lets them match in `by`. Of equal values
    # pandas takes the last or the first row, and rows have no order in Spark: so there are none.
    for seed, (on, by) in enumerate(product(TOLERANCES, (["frame"], ["frame", "k"]))):
        if (seed + is_near) % 2 and not SOAKING:
            continue  # each kind of value without a tolerance by one key, with it by the other
        left, right = frames(seed)
        right = right.drop_duplicates([*by, on])
        left, right = (df[[*by, on, name]] for df, name in ((left, "id"), (right, "rid")))
        options: dict[str, Any] = {
            "on": on,
            "by": by,
            "direction": direction,
            "allow_exact_matches": is_exact,
            "tolerance": TOLERANCES[on] if is_near else None,
        }
        expected = pd.merge_asof(left.sort_values(on), right.sort_values(on), **options)
        with settings(spark, {"spark.sql.shuffle.partitions": 2}):
            tables = [
                spark.createDataFrame(pa.Table.from_pandas(df, preserve_index=False))
                for df in (left, right)
            ]
            found = plait.asof_join(*tables, **options).toPandas()
        assert list(found.columns) == list(expected.columns)
        same = found.sort_values("id").merge(expected, on=[*by, on, "id"])
        assert len(same) == len(left) == len(found)
        differ = same[same.rid_x.fillna(-1) != same.rid_y.fillna(-1)]
        assert differ.empty, f"seed {seed}, {options}: {differ.head()}"
