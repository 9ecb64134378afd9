#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs what an image has of Debian's, and nothing that is only recommended with it, as root:
#
#   docker/system.sh PACKAGE...
#
# ROOT names another folder than / to leave clean (tests); apt-get is the one on the PATH.

set -eu
[ $# -ge 1 ] || { echo "usage: docker/system.sh PACKAGE..." >&2 && exit 2; }
apt-get update
apt-get install -y --no-install-recommends "$@"
rm -rf "${ROOT:-}"/var/lib/apt/lists/*
