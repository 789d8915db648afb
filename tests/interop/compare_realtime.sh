#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs one cell of tools/compare-realtime without bit errors and one with them: both transfers end, and a transfer
# that only its rate limits is no faster in real time than in virtual time. How much slower it is depends on the
# machine and is printed as a figure; the whole grid with its bounds is run by tools/compare-realtime BUILD, whose
# figures are in docs/VIRTUAL-VS-REAL-TIME.md.
set -u
[ "${SCPS_WITH_CLEANUP-}" = $PPID ] || exec "$(dirname "$0")/../../tools/with-cleanup" bash "$0" "$@"
BIN=$(cd "${1:?folder of the programs}" && pwd) || exit 1
COMPARE=$(cd "$(dirname "$0")/../.." && pwd)/tools/compare-realtime
CSV=$(mktemp)
trap 'trap "" INT TERM HUP; rm -f "$CSV"' EXIT
"$COMPARE" "${BIN%/bin}" --seeds 1 --csv "$CSV" --cells '^(rate-250ms-0|vegas-corruption-250ms-1e-6)$'
rc=$?
[ $rc -le 1 ] || exit $rc
awk -F, 'NR == 1 { next }
    { printf "figure  %s: %s Mbit/s in virtual time, %s in real time\n", $1, $3, $4; n++ }
    /^rate/ && $4 > 1.01 * $3 { print "FAILED  faster than the rate allows"; bad = 1 }
    END { exit bad || n != 2 }' "$CSV"
