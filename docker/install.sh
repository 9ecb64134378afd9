#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs Plait's wheel, and the extras that are named, into a virtual environment that it makes:
#
#   docker/install.sh WHEEL-FOLDER ENVIRONMENT EXTRA...
#
# All else has the versions of python/constraints.txt. Into an environment that is there already, it
# adds what is missing.

set -eu
[ $# -ge 3 ] || { echo "usage: docker/install.sh WHEEL-FOLDER ENVIRONMENT EXTRA..." >&2 && exit 2; }
wheel=$(cd "$1" && pwd)/$(cd "$1" && ls plait-*.whl)
environment=$2
shift 2
extras=$(IFS=, && echo "$*")
constraints=$(cd "$(dirname "$0")/.." && pwd)/python/constraints.txt

[ -x "$environment/bin/pip" ] || "${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --disable-pip-version-check --use-pep517 \
  -c "$constraints" "plait[$extras] @ file://$wheel" >&2
