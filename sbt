#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Starts the build: ./sbt test, ./sbt jar, or ./sbt alone for its prompt. Needs a JDK 17 or 21 and
# Python 3.11 or later, and gets the rest by itself: Spark from the pinned pyspark wheel, and sbt's
# launcher through the Ivy inside that wheel.
#
#   PLAIT_SPARK_HOME   a pyspark folder of the pinned version to use instead of .venv
#   SBT_OPTS           more options for the JVM, after ours

set -eu
cd "$(dirname "$0")"
. scripts/toolchain.sh

spark_version=$(pinned pyspark)
sbt_version=$(sed -n 's/^sbt\.version=//p' project/build.properties)
sha256=$(sed -n 's/^launcher\.sha256=//p' project/build.properties)
launcher=.sbt-launcher/sbt-launch-$sbt_version.jar

has_pinned_spark() { [ -f "$1/jars/spark-sql_2.13-$spark_version.jar" ]; }

find_spark() {
  for spark in .venv/lib/python3.*/site-packages/pyspark; do
    has_pinned_spark "$spark" && return 0
  done
  return 1
}

has_known_sha256() {
  python=$(find_python) || die "Python 3.11 or later is missing: install it, or name it in PYTHON."
  "$python" -c 'import hashlib, pathlib, sys
found = hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest()
sys.exit(found != sys.argv[2])' "$1" "$sha256"
}

# Only a jar with the known digest gets the launcher's name.
fetch_launcher() {
  say "fetching sbt $sbt_version"
  fetched=.sbt-launcher/fetched.$$
  mkdir -p "$fetched"
  trap 'rm -rf "$fetched"' EXIT
  java -jar "$spark"/jars/ivy-*.jar -dependency org.scala-sbt sbt-launch "$sbt_version" \
    -confs default -notransitive -retrieve "$fetched/[artifact]-[revision].[ext]" \
    >"$fetched/log" 2>&1 || {
    cat "$fetched/log" >&2
    die "sbt $sbt_version could not be fetched; Ivy's message is above."
  }
  has_known_sha256 "$fetched/sbt-launch-$sbt_version.jar" ||
    die "the sbt $sbt_version launcher that came does not have the SHA-256 in project/build.properties."
  mv "$fetched/sbt-launch-$sbt_version.jar" "$launcher"
  rm -rf "$fetched"
  trap - EXIT
}

use_jdk
if [ -n "${PLAIT_SPARK_HOME:-}" ]; then
  spark=$PLAIT_SPARK_HOME
  has_pinned_spark "$spark" || die "PLAIT_SPARK_HOME ($spark) does not hold pyspark $spark_version."
elif ! find_spark; then
  install pyspark
  find_spark || die "pyspark $spark_version did not arrive in .venv: delete .venv and try again."
fi
[ -f "$launcher" ] || fetch_launcher
spark_jars=$(cd "$spark/jars" && pwd)

# A build is short: without the optimizing compiler it takes little more than half the time. Tests
# run in JVMs of their own.
# shellcheck disable=SC2086 # SBT_OPTS holds several words
exec java -Xmx2g -Xss4m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  -XX:ReservedCodeCacheSize=256m ${SBT_OPTS:-} \
  -Dplait.spark.jars="$spark_jars" -jar "$launcher" "$@"
