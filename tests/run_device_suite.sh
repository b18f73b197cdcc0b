#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the device cases of every suite on this machine's GPUs, without CMake:
#
#   tests/run_device_suite.sh BUILD_DIR [SUITE...]
#
# BUILD_DIR is a build folder of the library, wherever it was built; SUITE is as in test_SUITE, all
# of them by default. Prints a line for each and what failed, and exits with 1 if anything did, with
# 77 if there was no GPU.
set -u

build=${1:?usage: run_device_suite.sh BUILD_DIR [SUITE...]}
shift
programs=$build/tests
[ -d "$programs" ] || programs=$build

if [ $# -gt 0 ]; then
    suites=$*
else
    suites=$(find "$programs" -maxdepth 1 -type f -name 'test_*' -perm -u+x |
        sed 's|.*/test_||' | sort)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
ran=0
failed=''
began=$(date +%s)
printf '%-20s %-8s %6s %6s %8s\n' suite result passed failed seconds
for suite in $suites; do
    program=$programs/test_$suite
    # Programs without device cases have none of the options.
    grep -q -e '--device host|gpu' "$program" 2>/dev/null || continue
    start=$(date +%s)
    "$program" --device gpu >"$log" 2>&1
    status=$?
    seconds=$(($(date +%s) - start))
    passed=$(grep -c '^\[       OK \]' "$log")
    wrong=$(grep '^\[  FAILED  \] [a-z0-9_]*$' "$log" | sort -u | grep -c .)
    case $status in
    0) result=ok ran=$((ran + 1)) ;;
    77) continue ;;
    *) result=FAILED ran=$((ran + 1)) failed="$failed $suite" ;;
    esac
    printf '%-20s %-8s %6d %6d %8d\n' "$suite" "$result" "$passed" "$wrong" "$seconds"
    grep '^worst ratio' "$log" | sed 's/^/    /'
    # cmocka says what failed where it does and once more at the end.
    [ "$status" -eq 0 ] || grep -v -e '^\[ RUN' -e '^\[       OK' -e '^worst ratio' "$log" |
        awk '!seen[$0]++ { print "    " $0 }'
done
printf '%d suites in %d s' "$ran" $(($(date +%s) - began))
if [ "$ran" -eq 0 ]; then
    printf ': no GPU, or no suites in %s\n' "$programs"
    exit 77
fi
printf ', failed:%s\n' "${failed:- none}"
[ -z "$failed" ]
