#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the wheel that carries the jar: docker/wheel.sh FOLDER. The tools come to .venv, at the
# versions of python/constraints.txt; a JDK 17 or 21 is there, or comes as ./sbt says.

set -eu
case ${1:-} in
  '') echo "usage: docker/wheel.sh FOLDER" >&2 && exit 2 ;;
  /*) folder=$1 ;;
  *) folder=$PWD/$1 ;;
esac
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

use_jdk
install build hatchling pyspark
.venv/bin/python -m build --wheel --no-isolation --outdir "$folder" >&2
