#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What a container of Plait runs:
#
#   start.sh master ...      Spark's standalone master    } with the options of Spark's own
#   start.sh worker ... URL  a worker of it               }
#   start.sh COMMAND ...     plait COMMAND: serve, demo, sql, health, ...
#
# PLAIT_TOKEN_FILE names a file that holds a client's token, as Docker's secrets come as files.
# Each is the process itself in the end, so that signals reach it.

set -eu
if [ -n "${PLAIT_TOKEN_FILE:-}" ]; then
  PLAIT_TOKEN=$(cat "$PLAIT_TOKEN_FILE")
  export PLAIT_TOKEN
fi
case ${1:-} in
  master) shift && exec spark-class org.apache.spark.deploy.master.Master "$@" ;;
  worker) shift && exec spark-class org.apache.spark.deploy.worker.Worker "$@" ;;
  *) exec plait "$@" ;;
esac
