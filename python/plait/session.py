# SPDX-License-Identifier: Apache-2.0
"""How Plait's jar gets into a Spark session.

Once it is on the class path, Spark finds the extension by itself, so `spark.jars` is the only
setting that is touched, and what it already holds is kept.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait import _jvm
from plait.errors import PlaitError
from plait.extras import how_to_get, version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_MINOR = "4.3"

# The masters that Spark knows.
MASTER = re.compile(
    r"local(\[(\d+|\*)(\s*,\s*\d+)?\])?|local-cluster\[.*\]|spark://.+|yarn|k8s://.+"
)

# What session() takes beside Spark's own keys, and the key that each stands for.
SHORT_KEYS = {"master": "spark.master", "app_name": "spark.app.name"}


def jar_path() -> Path:
    """Return the jar that this package carries.

    >>> jar_path().suffix
    '.jar'
    """
    jar = Path(__file__).parent / "jars" / f"plait-{version()}.jar"
    if not jar.is_file():
        raise PlaitError(
            f"{jar} is missing: in a checkout run ./sbt jar, "
            "elsewhere install the wheel again, by pip install --force-reinstall."
        )
    return jar


def register(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add Plait's jar to the session that ``builder`` will make, and return the builder.

    Appends to ``spark.jars``, wherever that is set, and sets nothing else. Comes before the first
    session of the process: the class path of a running JVM does not change any more, and if one
    runs without the jar (also after ``spark.stop()``, or of ``spark-submit``), a warning says so.

    >>> from pyspark.sql import SparkSession
    >>> spark = register(SparkSession.builder.master("local[2]")).getOrCreate()
    """
    _refuse_other_spark()
    if (given := _no_builder(builder)) is not None:
        raise PlaitError(given)
    registered = _registered(builder)
    _warn_of_running_jvm()
    return registered


def _no_builder(given: object) -> str | None:
    if isinstance(getattr(given, "_options", None), dict):
        return None
    kind = type(given).__name__
    instead = (
        "a session that runs cannot be changed any more: give SparkSession.builder before the "
        "first session starts, or call plait.session()"
        if kind == "SparkSession"
        else "give SparkSession.builder, or call plait.session()"
    )
    return f"plait.register takes a builder of sessions, not {kind}: {instead}."


def _warn_of_running_jvm() -> None:
    from pyspark import SparkContext

    jvm = SparkContext._jvm
    if jvm is None or _jvm.has_jar(jvm):
        return
    if SparkContext._active_spark_context is not None:
        why = (
            "A Spark session runs in this process already, without Plait's jar, and getOrCreate "
            "returns it as it is: register before the first session, in a new Python process."
        )
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        why = (
            "spark-submit has started Spark without Plait's jar, which no builder can change: "
            f"give it --jars {jar_path()}."
        )
    else:
        why = (
            "Spark's JVM runs in this process already, without Plait's jar, and goes on after "
            "spark.stop(): register before the first session, in a new Python process."
        )
    warnings.warn(why, stacklevel=3)


def _registered(builder: SparkSession.Builder) -> SparkSession.Builder:
    jar = jar_path()
    jars = [path for path in _configured_jars(builder, jar).split(",") if path]
    if not any(path.endswith(f"/{jar.name}") for path in jars):
        jars.append(str(jar))
    return builder.config("spark.jars", ",".join(jars))


def session(**conf: object) -> SparkSession:
    """Start a Spark session with Plait, or return the running one if it has Plait.

    Takes Spark's configuration keys, and ``master`` and ``app_name`` for the two usual ones.
    Raises ``PlaitNotLoaded`` if a session is already running without Plait's jar.

    >>> spark = session(master="local[2]", **{"spark.sql.shuffle.partitions": 4})
    >>> spark.conf.get("spark.sql.shuffle.partitions")
    '4'
    """
    unknown = [key for key in conf if "." not in key and key not in SHORT_KEYS]
    if unknown:
        raise PlaitError(
            f"plait.session() does not know {', '.join(unknown)}: it takes "
            f"{', '.join(SHORT_KEYS)} and Spark's keys, as in "
            '**{"spark.sql.shuffle.partitions": 4}.'
        )
    _refuse_other_spark()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(SHORT_KEYS.get(key, key), value)
    _check_master(conf)
    _registered(builder)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        if (why := _why_not_started(error)) is None:
            raise
        raise PlaitError(why) from error
    if not _jvm.is_connect(spark):
        _jvm.report(spark)  # raises if a running session came back without the jar
    return spark


def _check_master(conf: Mapping[str, object]) -> None:
    master = str(conf.get("spark.master", conf.get("master", "local")))
    if not MASTER.fullmatch(master):
        raise PlaitError(
            f"{master!r} is no master of Spark's: it is local[*], local[4], spark://HOST:PORT, "
            "yarn or k8s://HOST:PORT."
        )


def _why_not_started(error: Exception) -> str | None:
    """Tell why there is no JVM, or no Spark in it; None where it is another error."""
    if (thrown := getattr(error, "java_exception", None)) is not None:
        told = str(thrown.toString()).splitlines()[0]
        return f"Spark did not start ({told}): see its settings, and what it has said above."
    home = os.environ.get("SPARK_HOME")
    if isinstance(error, FileNotFoundError) and home:
        return (
            f"SPARK_HOME is {home}, where no bin/spark-submit is: unset it to have the Spark that "
            "pyspark brings, or set it to the home of one."
        )
    if "JAVA_GATEWAY_EXITED" not in str(error):
        return None
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").is_file():
        return f"JAVA_HOME is {home}, where no bin/java is: set it to the home of a JDK 17 or 21."
    if not home and shutil.which("java") is None:
        return "There is no java: install a JDK 17 or 21, or set JAVA_HOME to the home of one."
    return (
        "Spark's JVM ended before Spark could start; what it has said above tells why. Spark needs "
        "a JDK 17 or 21 (JAVA_HOME), and settings that such a JVM takes."
    )


def _refuse_other_spark() -> None:
    try:
        import pyspark
    except ModuleNotFoundError as error:
        raise PlaitError(f"Spark is missing: {how_to_get('spark')}.") from error
    found: str = pyspark.__version__
    if found.split(".")[:2] != SPARK_MINOR.split("."):
        raise PlaitError(
            f"Plait {version()} is built for Spark {SPARK_MINOR} and this is Spark {found}: "
            f"pip install 'pyspark=={SPARK_MINOR}.*' brings the one that fits."
        )


def _configured_jars(builder: SparkSession.Builder, jar: Path) -> str:
    """Return what ``spark.jars`` is or would be; the builder's word would hide all the others."""
    options: dict[str, Any] = builder._options
    if "spark.jars" in options:
        return str(options["spark.jars"])
    from pyspark import SparkConf, SparkContext

    if SparkContext._gateway or "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return SparkConf().get("spark.jars", "") or ""
    submitted = _submitted_jars(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    if submitted is None:
        return default("spark.jars")
    if jar.name not in submitted:
        raise PlaitError(
            "PYSPARK_SUBMIT_ARGS sets --jars or spark.jars, which a builder cannot change: "
            f"add {jar} there."
        )
    return submitted


def _submitted_jars(words: list[str]) -> str | None:
    """Return the jars of a command line of spark-submit, which Spark prefers to a builder's.

    >>> _submitted_jars(["--conf", "spark.jars=a.jar", "pyspark-shell"])
    'a.jar'
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--jars")
    parser.add_argument("--conf", "-c", action="append", default=[])
    given, _ = parser.parse_known_args(words)
    conf = dict(pair.split("=", 1) for pair in given.conf if "=" in pair)
    return given.jars or conf.get("spark.jars")


def default(key: str) -> str:
    """Return what spark-defaults.conf says of a setting, "" if nothing."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf"
    defaults = Path(folder) / "spark-defaults.conf"
    text = defaults.read_text() if defaults.is_file() else ""
    found = re.findall(rf"^\s*{re.escape(key)}[\s=:]+(\S+)", text, re.MULTILINE)
    return str(found[-1]) if found else ""
