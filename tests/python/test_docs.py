# SPDX-License-Identifier: Apache-2.0
"""Examples: every SQL block of the guide runs, its joins on the node where the page says so, and
the sessions of the README.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import joins_planned, settings

import plait
from plait.explain import METRICS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("docs/*.md"))
FLAGS = re.MULTILINE | re.DOTALL
KEYS = re.compile(r"^\| `(spark\.plait\.[a-z.-]+)` \| `(\w+)` \|", re.MULTILINE)
CODES = re.compile(r"^\| `([A-Z_]+)` \| ", re.MULTILINE)


def statements(page: Path) -> list[str]:
    blocks = re.findall(r"^```sql\n(.*?)^```", page.read_text(), FLAGS)
    return [one.strip() for block in blocks for one in block.split(";\n") if one.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_sql_block_runs(spark: SparkSession, page: Path) -> None:
    session = spark.newSession()
    with settings(session, {"spark.sql.shuffle.partitions": 2}):
        for sql in statements(page):
            df = session.sql(sql)
            assert df.collect() or sql.startswith(("CREATE", "DROP")), sql
            if "JOIN" in sql or "WHERE o." in sql:
                # A window join is one by equality: Plait's only where a hint asks for it.
                is_of_spark = page.stem == "window-join" and "SYMMETRIC_HASH" not in sql
                is_of_spark |= sql.startswith("EXPLAIN") or "NO_SYMMETRIC" in sql
                expected = 0 if is_of_spark else 1
                assert joins_planned(df) == expected, sql


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_rows_shown_behind_a_query_are_those_that_come(spark: SparkSession, page: Path) -> None:
    session = spark.newSession()
    shown = re.compile(r"^```sql\n(.*?)^```\n\n```text\n(.*?)^```", FLAGS)
    with settings(session, {"spark.sql.shuffle.partitions": 2}):
        for sql in (s for s in statements(page) if s.startswith("CREATE TEMP")):
            session.sql(sql)
        for block, rows in shown.findall(page.read_text()):
            df = session.sql(block.split(";\n")[-1])
            assert df._jdf.showString(20, 0, False).strip() == rows.strip(), block


@pytest.mark.parametrize("name", ["interval-join", "asof-join"])
def test_the_explain_of_the_guide_is_what_the_plan_says(spark: SparkSession, name: str) -> None:
    page = ROOT / "docs" / f"{name}.md"
    session = spark.newSession()
    *tables, explain = [s for s in statements(page) if s.startswith(("CREATE TEMP", "EXPLAIN"))]
    for sql in tables:
        session.sql(sql)
    plan = without_numbers(session.sql(explain).collect()[0][0])
    shown = re.findall(r"^    (?:Left|Right): +(.*)$", page.read_text(), re.MULTILINE)
    assert len(shown) == 2
    for line in shown:
        first, last = line.split("...") if "..." in line else (line, "")
        assert first in plan, line
        assert last in plan, line


def test_the_rows_of_an_explanation_in_the_guide_are_those_that_come(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    page = ROOT / "docs" / "interval-join.md"
    ((block, shown),) = re.findall(
        r"^```python\n(.*?)^```\n\n((?: {4}[^\n]*\n)+)", page.read_text(), FLAGS
    )
    session = spark.newSession()
    *tables, explain = [s for s in statements(page) if s.startswith(("CREATE TEMP", "EXPLAIN"))]
    for sql in tables:
        session.sql(sql)
    join = explain.removeprefix("EXPLAIN FORMATTED ")
    df = session.sql(f"{join} JOIN orders o2 ON o2.customer = o.customer")
    exec(block, {"plait": plait, "df": df})
    printed = without_numbers(capsys.readouterr().out).splitlines()
    lines = [line.strip() for line in without_numbers(shown).splitlines()]
    assert lines == [line for line in printed if line in lines], printed


@pytest.mark.parametrize("page", ["python", "range-join"])
def test_the_python_of_the_guide_runs(spark: SparkSession, page: str) -> None:
    path = ROOT / "docs" / f"{page}.md"
    session = spark.newSession()
    names: dict[str, object] = {"plait": plait, "spark": session}
    with settings(spark, {"spark.sql.shuffle.partitions": 1}):
        for sql in statements(path):
            session.sql(sql)
        for block in re.findall(r"^```python\n(.*?)^```", path.read_text(), FLAGS):
            exec(block.replace('plait.session(master="local[2]")', "plait.session()"), names)


class Unnumbered(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(without_numbers(want), without_numbers(got), optionflags)


@pytest.mark.usefixtures("spark")
def test_the_sessions_of_the_readme_print_what_they_show() -> None:
    blocks = re.findall(r"^```python\n(>>> .*?)^```", (ROOT / "README.md").read_text(), FLAGS)
    assert len(blocks) == 2
    for block in blocks:
        here = block.replace('plait.session(master="local[2]")', "plait.session().newSession()")
        test = doctest.DocTestParser().get_doctest(here, {}, "README", None, 0)
        said: list[str] = []
        failed = doctest.DocTestRunner(Unnumbered()).run(test, out=said.append).failed
        assert not failed, "".join(said)


@pytest.mark.parametrize("page", ["asof-join", "temporal-join"])
def test_the_streams_of_the_guide_give_the_rows_that_are_shown(
    spark: SparkSession, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    ((block, shown),) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, FLAGS)
    session = spark.newSession()
    try:
        with settings(session, {"spark.sql.shuffle.partitions": 1}):
            exec(block, {"spark": session})
    finally:
        for table in re.findall(r"CREATE TABLE (\w+)", block):
            session.sql(f"DROP TABLE IF EXISTS {table}")
    assert capsys.readouterr().out.strip() == shown.strip()


@pytest.mark.parametrize(("page", "partitions"), [("streaming", 1), ("bounds", 4)])
def test_the_blocks_of_a_page_print_what_is_shown(
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    page: str,
    partitions: int,
) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, FLAGS)
    assert len(blocks) == text.count("```python")
    session = spark.newSession()
    folders = {"folder": str(tmp_path), "checkpoint": str(tmp_path / "checkpoint")}
    names = {"spark": session, "plait": plait} | folders
    try:
        with settings(session, {"spark.sql.shuffle.partitions": partitions}):
            for block, shown in blocks:
                exec(block, names)
                assert capsys.readouterr().out.strip() == shown.strip(), block
    finally:
        for query in session.streams.active:
            query.stop()
        for table in re.findall(r"CREATE TABLE (\w+)", text):
            session.sql(f"DROP TABLE IF EXISTS {table}")


def test_the_page_on_streams_names_every_metric() -> None:
    text = (ROOT / "docs/streaming.md").read_text()
    source = ROOT / "jvm/spark/src/main/scala/plait/spark/stream/StreamMetrics.scala"
    named = re.findall(r'^  (?:private )?val \w+(?:: String)? = "(\w+)"', source.read_text(), FLAGS)
    of_sides = re.findall(r"^  \* (left\w+|pairs\w+) ", source.read_text(), re.MULTILINE)
    assert len(named) >= 4
    assert len(of_sides) >= 7
    assert [name for name in named + of_sides if f"`{name}`" not in text] == []


def without_numbers(text: str) -> str:
    return re.sub(r"#\d+L?", "", text)


def test_the_guide_and_the_readme_name_every_setting_with_its_default() -> None:
    source = (ROOT / "jvm/spark/src/main/scala/plait/spark/PlaitConf.scala").read_text()
    there_are = set(re.findall(r'= "(spark\.plait\.[a-z.-]+)"', source))
    guide = dict(KEYS.findall((ROOT / "docs/tuning.md").read_text()))
    assert set(guide) == there_are
    assert dict(KEYS.findall((ROOT / "README.md").read_text())) == guide
    known = re.search(r"val Keys.*?\)", source, FLAGS)
    constants = re.findall(r'val (\w+) = "spark\.plait\.', source)
    assert known
    assert re.findall(r"[A-Z]\w+(?=[,)\n])", known[0]) == constants, "each is known to be one"
    for key, default in guide.items():
        assert re.search(rf"^ +\* {re.escape(key)} +{default} ", source, re.MULTILINE), key


def test_the_guide_names_every_counter() -> None:
    text = (ROOT / "docs/tuning.md").read_text()
    assert [name for name in METRICS if f"`{name}`" not in text] == []


def test_the_guide_tells_every_code_of_why_not_once_and_no_other() -> None:
    source = (ROOT / "jvm/core/src/main/scala/plait/order/WhyNot.scala").read_text()
    there_are = re.findall(r'\bextends WhyNot\(\s*"(\w+)"', source)
    assert len(there_are) == source.count("extends WhyNot(") >= 30
    pages = [(ROOT / "docs" / name).read_text() for name in ("tuning.md", "streaming.md")]
    assert sorted(CODES.findall("\n".join(pages))) == sorted(there_are)
