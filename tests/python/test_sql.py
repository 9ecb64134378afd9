# SPDX-License-Identifier: Apache-2.0
"""Examples and laws: SQL as text, without Spark."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plait import PlaitError, sql
from plait.extras import how_to_get

ODD = [
    "a.b",
    "select",
    "ö",
    "名前",
    "a`b",
    "``",
    " ",
    "a;b",
    "--",
    "/*",
    "'",
    '"',
    "\\",
    "{l}",
    ":p",
]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("a", "`a`"), ("a.b", "`a.b`"), ("a`b", "`a``b`"), ("order", "`order`"), ("名前", "`名前`")],
)
def test_a_quoted_identifier_is_one_name(name: str, quoted: str) -> None:
    assert sql.quote(name) == quoted


def test_an_identifier_is_not_empty() -> None:
    with pytest.raises(PlaitError, match="cannot be empty"):
        sql.quote("")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (np.bool_(False), "FALSE"),
        (-5, "-5"),
        (np.int64(7), "7"),
        (0.1, "0.1D"),
        (1e300, "1e+300D"),
        (np.float32(0.5), "0.5D"),
        (nan, "double('NaN')"),
        (-inf, "double('-Infinity')"),
        (Decimal("1E+3"), "1000BD"),
        (Decimal("-0.10"), "-0.10BD"),
        ("it's", r"'it\'s'"),
        ("a\\b\n", "'a\\\\b\n'"),
        (b"\x00\xff", "X'00ff'"),
        (date(1, 2, 3), "DATE'0001-02-03'"),
        (datetime(2026, 1, 2, 3), "TIMESTAMP_NTZ'2026-01-02 03:00:00.000000'"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "TIMESTAMP'2026-01-02 03:00:00.000000+00:00'"),
        (
            pd.Timestamp("2026-01-02 03:04:05", tz=timezone(timedelta(hours=2))),
            "TIMESTAMP'2026-01-02 03:04:05.000000+02:00'",
        ),
        (timedelta(days=1, microseconds=1), "INTERVAL '86400.000001' SECOND"),
        (timedelta(microseconds=-1), "INTERVAL '-0.000001' SECOND"),
        (pd.Timedelta("90s"), "INTERVAL '90.000000' SECOND"),
        (np.timedelta64(2, "D"), "INTERVAL '172800.000000' SECOND"),
        (np.timedelta64(1_500_000, "ns"), "INTERVAL '0.001500' SECOND"),
        (np.timedelta64(-3, "1000000ps"), "INTERVAL '-0.000003' SECOND"),
        (np.datetime64("2026-01-02"), "DATE'2026-01-02'"),
        (np.datetime64("2026-01-02T03", "ns"), "TIMESTAMP_NTZ'2026-01-02 03:00:00.000000'"),
        ([1, None], "array(1, NULL)"),
        ({"a": [1]}, "map('a', array(1))"),
    ],
)
def test_a_value_is_written_as_sparks_literal(value: Any, text: str) -> None:
    assert sql.literal(value) == text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (pd.Timestamp(1), "nanoseconds"),
        (pd.Timedelta(1), "nanoseconds"),
        (pd.NaT, "no literal"),
        (np.timedelta64(1_000_001, "ns"), "times end at microseconds"),
        (np.datetime64(1, "ps"), "times end at microseconds"),
        (np.timedelta64("NaT", "ns"), "no literal"),
        (np.timedelta64("NaT"), "no literal"),
        (np.datetime64("NaT", "D"), "no literal"),
        (np.timedelta64(1, "M"), "of type timedelta64\\[M\\] is no length of time that Python has"),
        (np.timedelta64(5), "of type timedelta64 is no length of time that Python has"),
        (np.timedelta64(10**10, "D"), "no length of time that Python has"),
        (np.datetime64(2**40, "s"), "no time that Python has"),
        (Decimal("NaN"), "decimals are finite"),
        (object(), "of type object has no literal in Spark's SQL: it takes None, bool, int"),
    ],
)
def test_what_has_no_literal_is_an_error(value: Any, said: str) -> None:
    with pytest.raises(PlaitError, match=said):
        sql.literal(value)


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ; ;-- nothing;\n;/* ; */", []),
        ("SELECT 1;SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 -- a; b\n + 1; x", ["SELECT 1 -- a; b\n + 1", "x"]),
        ("a /* ; /* ; */ ; */ b; c", ["a /* ; /* ; */ ; */ b", "c"]),
        (r"SELECT 'it\'s; x'; y", [r"SELECT 'it\'s; x'", "y"]),
        ("SELECT 'a'';b', \"c\"\";d\"; y", ["SELECT 'a'';b', \"c\"\";d\"", "y"]),
        (r"SELECT r'a\'; y", [r"SELECT r'a\'", "y"]),
        ("SELECT `a;``b`; y", ["SELECT `a;``b`", "y"]),
        ("SELECT 'not closed; y", ["SELECT 'not closed; y"]),
        ("SELECT /* not closed; y", ["SELECT /* not closed; y"]),
        ("BEGIN SELECT 1; SELECT 2; END; y", ["BEGIN SELECT 1; SELECT 2; END", "y"]),
        ("lbl: BEGIN a; BEGIN b; END; END lbl; y", ["lbl: BEGIN a; BEGIN b; END; END lbl", "y"]),
        (
            "BEGIN IF a THEN b; END IF; WHILE c DO d; END WHILE; REPEAT e; UNTIL f END REPEAT; "
            "LOOP g; END LOOP; FOR h DO i; END FOR; CASE j WHEN 1 THEN k; END CASE; "
            "SELECT CASE WHEN l THEN m END; END; y",
            [
                "BEGIN IF a THEN b; END IF; WHILE c DO d; END WHILE; "
                "REPEAT e; UNTIL f END REPEAT; LOOP g; END LOOP; FOR h DO i; END FOR; "
                "CASE j WHEN 1 THEN k; END CASE; SELECT CASE WHEN l THEN m END; END",
                "y",
            ],
        ),
        ("SELECT begin, t.end FROM `begin` t; y", ["SELECT begin, t.end FROM `begin` t", "y"]),
        ("SELECT CASE WHEN a THEN b END; y", ["SELECT CASE WHEN a THEN b END", "y"]),
        ("BEGIN a; b", ["BEGIN a; b"]),
    ],
)
def test_a_script_is_split_between_its_statements(script: str, statements: list[str]) -> None:
    assert sql.split(script) == statements


@pytest.mark.parametrize("name", ODD)
def test_what_is_quoted_splits_nothing(name: str) -> None:
    for one in (sql.quote(name), sql.literal(name), sql.literal(f"{name}\\")):
        assert sql.split(f"SELECT {one}; y") == [f"SELECT {one}", "y"]


PIECES = [
    *("SELECT a, b", "FROM t l", "LEFT ASOF JOIN u r", "MATCH_CONDITION (l.ts >= r.ts)"),
    *("ON l.k = r.k AND l.v < 'it\\'s  ;'", "WHERE a > 1 -- why;\n", "/* b; /* c */ */"),
    *("CASE WHEN a THEN b END", "/*+ ORDERED(l, 'a  b') */", "`a``;b`", "(", ")", "{l}", "r'\\'"),
    *("BEGIN", "END", "INTERVAL 5 SECONDS", '"x  y"', "order by a, b desc", ":p", "#", "é"),
]


@pytest.mark.parametrize("seed", range(200))
def test_laid_out_text_says_what_it_said(seed: int) -> None:
    rng = Random(seed)
    text = " ".join(rng.choices(PIECES, k=rng.randint(1, 12)))
    laid_out = sql.format(text)
    assert without_space(laid_out) == without_space(text), (seed, text)
    assert without_space(sql.format(laid_out)) == without_space(text), (seed, text)
    assert len(sql.split(laid_out)) == len(sql.split(text)), (seed, text)


def without_space(text: str) -> str:
    return "".join(text.split())


def test_clauses_stand_on_lines_of_their_own() -> None:
    text = "SELECT l.k FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.a >= r.a) WHERE l.k = 'a  b'; x"
    assert sql.format(text).splitlines() == [
        "SELECT l.k",
        "FROM l",
        "LEFT ASOF JOIN r MATCH_CONDITION (l.a >= r.a)",
        "WHERE l.k = 'a  b';",
        "",
        "x;",
    ]


def test_comments_stay_between_their_statements() -> None:
    text = "-- first\nSELECT 1 -- one\n; /* second */ SELECT 2; -- the end"
    lines = [line for line in sql.format(text).splitlines() if line]
    assert lines[:3] == ["-- first", "SELECT 1 -- one", ";"]
    assert "/* second */" in lines[3]
    assert lines[-1] == "-- the end"


NAMES = ["orders", "order id", "ordered", "price", "group", "naïve"]


@pytest.mark.parametrize(
    ("before", "candidates"),
    [
        ("SELECT ORD", ["`order id`", "ordered", "orders", "ORDER", "ORDERED"]),
        ("SELECT l.", ["`group`", "`naïve`", "`order id`", "ordered", "orders", "price"]),
        ("SELECT l . pr", ["price"]),
        ("SELECT l.`", ["`group`", "`naïve`", "`order id`", "`ordered`", "`orders`", "`price`"]),
        ("SELECT `order ", ["`order id`"]),
        ("SELECT l.naï", ["`naïve`"]),
        ("select * from l match_c", ["match_condition"]),
        ("SELECT 'pr", []),
        ("SELECT 1 -- pr", []),
        ("SELECT /* pr", []),
        ("SELECT price, 'a' pri", ["price"]),
        ("SELECT xyzzy", []),
    ],
)
def test_a_word_is_completed_by_names_and_by_words_of_sql(
    before: str, candidates: list[str]
) -> None:
    found = sql.complete(before + " FROM t", len(before), NAMES)
    assert found[: len(candidates)] == candidates
    if not candidates:
        assert found == []


def test_without_a_word_all_names_are_offered_and_no_words_of_sql() -> None:
    assert len(sql.complete("SELECT ", 7, NAMES)) == len(NAMES)


def test_what_is_completed_is_what_partial_returns() -> None:
    text = "SELECT `order i FROM"
    assert sql.partial(text, 15) == "`order i"
    assert sql.partial(text, 6) == "SELECT"
    assert sql.partial(text, 7) == ""


def test_without_sqlparse_the_message_says_how_to_get_it() -> None:
    program = """
import sys
sys.modules["sqlparse"] = None
from plait import sql
print(sql.quote("a"), sql.literal(1))
sql.split("a")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == "`a` 1\n"
    assert done.stderr.endswith(f"PlaitError: sqlparse is missing: {how_to_get('spark')}.\n")
