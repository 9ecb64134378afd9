#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs Plait's wheel, and the extras that are named, into a virtual environment that it makes:
#
#   docker/install.sh WHEEL-FOLDER ENVIRONMENT EXTRA...
#
# All else has the versions of python/constraints.txt. There is no pip in the environment: that of
# .venv fills it. Into one that is there already it adds what is missing.

set -eu
[ $# -ge 3 ] || { echo "usage: docker/install.sh WHEEL-FOLDER ENVIRONMENT EXTRA..." >&2 && exit 2; }
wheel=$(cd "$1" && pwd)/$(cd "$1" && ls plait-*.whl)
mkdir -p "$2"
environment=$(cd "$2" && pwd)
shift 2
extras=$(IFS=, && echo "$*")
cd "$(dirname "$0")/.."
. scripts/toolchain.sh

make_venv
[ -x "$environment/bin/python" ] || .venv/bin/python -m venv --without-pip "$environment"
.venv/bin/python -m pip --python "$environment/bin/python" install \
  --disable-pip-version-check --use-pep517 -c python/constraints.txt \
  "plait[$extras] @ file://$wheel" >&2
