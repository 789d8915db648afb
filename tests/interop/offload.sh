#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same as tun_echo.sh and lossy.sh with trains of segments and checksums left to the kernel.
here=$(dirname "$0")
export SCPS_ECHO_OPTIONS=--offload SCPS_LOSSY_QUICK=1
for test in tun_echo lossy; do
    "$here/$test.sh" "$@"
    status=$?
    [ $status -eq 0 ] || exit $status
done
