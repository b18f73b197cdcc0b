#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the device cases of every suite on this machine's GPUs, without CMake:
#
#   tests/run_device_suite.sh [--sanitize TOOL] BUILD_DIR [SUITE...]
#
# BUILD_DIR is a build folder of the library, wherever it was built, or a folder of its programs;
# SUITE is as in test_SUITE, all of them by default, or SUITE:TEST for tests of that name, * and ?
# being wildcards. Prints a line for each and what failed, and exits with 1 if anything did, with 77
# if there was no GPU.
#
# With --sanitize they run under compute-sanitizer, TOOL being memcheck, racecheck, synccheck or
# initcheck: the tests in short_cases.txt, or all of a SUITE that has none there, and no kernel in
# vendor_kernels.txt. Of BUILD_DIR that takes late_start and the test_SUITE.so.
set -u

usage='usage: run_device_suite.sh [--sanitize TOOL] BUILD_DIR [SUITE...]'
tool=''
if [ "${1:-}" = --sanitize ]; then
    tool=${2:?$usage}
    shift 2
fi
build=${1:?$usage}
shift
here=$(dirname "$0")
programs=$build/tests
[ -d "$programs" ] || programs=$build

# Threads that wait would spin on the cores that other processes need.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
# Blocks in glibc's caches would count as allocated in test_soak.
export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.tcache_count=0}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
reports=$work/reports

fail() {
    printf 'run_device_suite.sh: %s\n' "$*" >&2
    exit 1
}

# ---- under compute-sanitizer ----------------------------------------------------------------------

# The lines of a list beside this script.
entries() {
    grep -v -e '^#' -e '^$' "$here/$1"
}

short_cases() { # the suite and test of each
    entries short_cases.txt | awk '$3 != "simulation" { print $1, $2 }'
}

# No vendor's name may hide a kernel of ours.
check_vendor_kernels() {
    for module in "$programs"/test_*.so; do
        printf '%s\n' "$module"
        ldd "$module" | awk '$1 ~ /^libbatchlas/ && $3 ~ /^\// { print $3 }'
    done | sort -u | xargs grep -aohE '(_Z|__omp_offloading_)[A-Za-z0-9_]+' >"$work/kernels"
    entries vendor_kernels.txt >"$work/names"
    hidden=$(grep -F -f "$work/names" "$work/kernels" | head -n 1)
    [ -z "$hidden" ] || fail "vendor_kernels.txt would hide this library's $hidden"
}

prepare_sanitizer() {
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    [ -x "$sanitizer" ] || fail 'there is no compute-sanitizer'
    [ -x "$programs/late_start" ] || fail "there is no $programs/late_start: not a GPU build?"
    check_vendor_kernels
    vendor_kernels=$(entries vendor_kernels.txt | sed 's/^/kns=/' | paste -sd , -)
}

# Operands have nothing around them, and memory of their own in the place of a pool's, so that the
# tool sees the first byte beyond. What CUDA refuses is told by the library, and judged by the suite.
# Connections are for all that run at once on this machine.
run_sanitized() { # PROGRAM TEST
    BATCHLAS_TEST_EXACT=1 LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD=0 \
        "$sanitizer" --tool "$tool" --error-exitcode 1 --report-api-errors no --print-limit 20 \
        --max-connections 100 --kernel-name-exclude "$vendor_kernels" --log-file "$work/report" \
        "$programs/late_start" "$1" --device gpu --only "$2" </dev/null >>"$log" 2>&1
    outcome=$?
    grep -q 'SUMMARY:' "$work/report" || echo "========= no summary of $2" >>"$work/report"
    cat "$work/report" >>"$reports"
    return $outcome
}

# "========= ERROR SUMMARY: 2 errors", "========= RACECHECK SUMMARY: 2 hazards displayed (...)"
count_errors() {
    awk '/SUMMARY: / { sub(/.*SUMMARY: /, ""); n += $1 }
         /no summary/ { ++n }
         END { print n + 0 }' "$reports"
}

# How often each place in a kernel was told, and the first reports.
print_reports() {
    grep -v 'Host Frame' "$reports" | grep -oE '(at|in) [^ ].*\+0x[0-9a-f]+' | sort | uniq -c |
        sort -rn | head -n 10
    grep -vE '=$|COMPUTE-SANITIZER|SUMMARY: 0' "$reports" | head -n 40
}

# ---- the suites -----------------------------------------------------------------------------------

if [ -n "$tool" ]; then
    prepare_sanitizer
    all_suites() { short_cases | awk '{ print $1 }' | uniq; }
    program_of() { printf '%s/test_%s.so' "$programs" "$1"; }
    short_tests() { short_cases | awk -v suite="$1" '$1 == suite { print $2 }'; }
    run() { run_sanitized "$@"; }
else
    all_suites() {
        find "$programs" -maxdepth 1 -type f -name 'test_*' ! -name '*.so' -perm -u+x |
            sed 's|.*/test_||' | sort
    }
    program_of() { printf '%s/test_%s' "$programs" "$1"; }
    short_tests() { :; }
    run() { "$1" --device gpu --only "$2" </dev/null >>"$log" 2>&1; }
fi

tests_of() { # SUITE or SUITE:TEST
    case $1 in
    *:*) tests=${1#*:} ;;
    *) tests=$(short_tests "$1") ;;
    esac
    printf '%s\n' "${tests:-*}"
}

if [ $# -eq 0 ]; then
    all_suites >"$work/suites"
    while read -r suite; do set -- "$@" "$suite"; done <"$work/suites"
fi

ran=0
failed=''
began=$(date +%s)
printf '%-20s %-8s %6s %6s %8s%s\n' suite result passed failed seconds "${tool:+    $tool}"
for suite; do
    program=$(program_of "${suite%%:*}")
    # Programs without device cases have none of the options.
    grep -q -e '--device host|gpu' "$program" 2>/dev/null || continue
    start=$(date +%s)
    status=0
    errors=0
    : >"$log"
    : >"$reports"
    tests_of "$suite" >"$work/tests"
    while read -r test; do
        run "$program" "$test" || status=$?
    done <"$work/tests"
    seconds=$(($(date +%s) - start))
    passed=$(grep -c '^\[       OK \]' "$log")
    wrong=$(grep '^\[  FAILED  \] [a-z0-9_]*$' "$log" | sort -u | grep -c .)
    [ -z "$tool" ] || errors=$(count_errors)
    [ "$status" -ne 77 ] || continue
    ran=$((ran + 1))
    result=ok
    [ "$status" -eq 0 ] && [ "$errors" -eq 0 ] || result=FAILED failed="$failed $suite"
    printf '%-20s %-8s %6d %6d %8d%s\n' "$suite" "$result" "$passed" "$wrong" "$seconds" \
        "${tool:+    $errors errors}"
    grep '^worst ratio' "$log" | sed 's/^/    /'
    [ "$result" = FAILED ] || continue
    # cmocka says what failed where it does and once more at the end.
    grep -v -e '^\[ RUN' -e '^\[       OK' -e '^worst ratio' "$log" |
        awk '!seen[$0]++ { print "    " $0 }'
    [ "$errors" -eq 0 ] || print_reports | sed 's/^/    /'
done
printf '%d suites in %d s' "$ran" $(($(date +%s) - began))
if [ "$ran" -eq 0 ]; then
    printf ': no GPU, or no suites in %s\n' "$programs"
    exit 77
fi
printf ', failed:%s\n' "${failed:- none}"
[ -z "$failed" ]
