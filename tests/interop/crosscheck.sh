#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Virtual and real time agree in a cell without and one with bit errors. A machine that is busy elsewhere may be late for
# once, so each has three tries; the whole grid is tools/crosscheck BUILD, its figures in docs/REALTIME.md.
set -u
BIN=$(cd "${1:?folder of the programs}" && pwd) || exit 1
CROSSCHECK=$(cd "$(dirname "$0")/../.." && pwd)/tools/crosscheck
for cell in rate-250ms-0 vegas-corruption-250ms-1e-6; do
    for try in 1 2 3; do
        "$CROSSCHECK" "${BIN%/bin}" --seeds 1 --cells "^$cell$"
        rc=$?
        [ $rc -eq 1 ] || break
    done
    [ $rc -eq 0 ] || exit $rc
done
