#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the user that a container runs as, 10001, and the folders that are its own, as root:
#
#   docker/user.sh                 /data, for tables, and /var/lib/plait, where its processes work
#
# ROOT names another folder than / for them (tests); useradd and install are those on the PATH.

set -eu
[ $# -eq 0 ] || { echo "usage: docker/user.sh" >&2 && exit 2; }
useradd --uid 10001 --user-group --create-home plait
install -d -o plait -g plait "${ROOT:-}/data" "${ROOT:-}/var/lib/plait"
