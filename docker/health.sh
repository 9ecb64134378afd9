#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Whether the server of this container takes calls: 0 or 1, the two answers that Docker knows.
#
#   PLAIT_SERVER_PORT   its port, where it is not 15110
#   PLAIT_CA            the authority of its certificate, which names localhost; empty: no TLS

set -eu
plait health "localhost:${PLAIT_SERVER_PORT:-15110}" --timeout 5 ${PLAIT_CA:+--ca "$PLAIT_CA"} ||
  exit 1
