#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the environment of an image: the wheel, unless it is there already, what it needs for the
# extras that are named, and the programs that a container is started and asked by.
#
#   docker/build.sh WHEEL-FOLDER ENVIRONMENT EXTRA...

set -eu
[ $# -ge 3 ] || { echo "usage: docker/build.sh WHEEL-FOLDER ENVIRONMENT EXTRA..." >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
[ -n "$(find "$1" -name 'plait-*.whl' 2>/dev/null)" ] || "$here/wheel.sh" "$1"
"$here/install.sh" "$@"
cp "$here/start.sh" "$here/health.sh" "$2/bin/"
