#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_device_suite.sh PROGRAMS. Checks without a GPU what runs the suites on one: late_start,
# and run_device_suite.sh --sanitize on a sanitizer that only pretends, with the suites on the host.
set -u

programs=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # NAME COMMAND...: the command must succeed
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' "$work/said"
    fi
}

# ---- late_start -----------------------------------------------------------------------------------

late() {
    "$programs/late_start" "$@"
}

exits_with() { # STATUS PATTERN COMMAND...
    want=$1
    pattern=$2
    shift 2
    "$@" >"$work/output" 2>&1
    got=$?
    [ "$got" -eq "$want" ] && grep -q -e "$pattern" "$work/output" && return 0
    echo "exit status $got instead of $want, or no \"$pattern\":"
    cat "$work/output"
    return 1
}

# The dynamic linker tells when control goes to the program and when it initialises a library.
starts_before_the_runtime() {
    LD_DEBUG=files "$programs/late_start" "$programs/test_logdet.so" --only an_empty* 2>&1 |
        awk '/transferring control: .*late_start/ { started = 1 }
             /calling init: .*libomptarget/ { early = !started; found = 1 }
             END { exit early || !found }'
}

check 'a suite runs' exits_with 0 'PASSED.* 1 test' \
    late "$programs/test_logdet.so" --device host --only 'an_empty*'
check 'arguments and exit status go through' exits_with 1 'usage: .*test_logdet.so' \
    late "$programs/test_logdet.so" --nonsense
check 'a missing suite is told' exits_with 1 'late_start: .*nothing.so' late ./nothing.so
check "OpenMP's runtime comes after the start" starts_before_the_runtime

# ---- run_device_suite.sh --sanitize ---------------------------------------------------------------

# Runs the program on the host and reports what the file says.
mkdir "$work/bin"
cat >"$work/bin/compute-sanitizer" <<'END'
#!/bin/sh
for argument; do
    shift
    case $argument in
    gpu) argument=host ;;
    */report) log=$argument ;;
    esac
    set -- "$@" "$argument"
done
cp "$REPORT" "$log"
while [ "${1##*/}" != late_start ]; do shift; done
exec "$@"
END
chmod +x "$work/bin/compute-sanitizer"

sanitized() { # REPORT ARGUMENT...
    printf '%s\n' "$1" >"$work/told"
    shift
    REPORT=$work/told PATH=$work/bin:$PATH sh "$work/tests/run_device_suite.sh" --sanitize "$@"
}

mkdir "$work/tests"
cp "$here/run_device_suite.sh" "$here/vendor_kernels.txt" "$work/tests"
printf '%s\n' '# a comment' 'logdet an_empty* both' 'logdet one_* simulation' \
    'logdet the_det* sanitizer' >"$work/tests/short_cases.txt"

check 'no report is no error' exits_with 0 '^logdet  *ok  *2  *0 .* 0 errors' \
    sanitized '========= ERROR SUMMARY: 0 errors' memcheck "$programs"
check 'reports are errors' exits_with 1 '^logdet  *FAILED  *2  *0 .* 4 errors' \
    sanitized '========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)' \
    racecheck "$programs"
check 'a tool that broke off is an error' exits_with 1 'FAILED .* 2 errors' \
    sanitized '========= COMPUTE-SANITIZER' synccheck "$programs"
check 'reports are shown' exits_with 1 '2 at factor(arguments)+0x1d0' \
    sanitized '=========     at factor(arguments)+0x1d0' initcheck "$programs"
check 'a suite without short cases runs whole' exits_with 0 '^arguments  *ok  *[2-9]' \
    sanitized '========= ERROR SUMMARY: 0 errors' memcheck "$programs" arguments
check 'one test runs' exits_with 0 '^logdet:one_\*  *ok  *1 ' \
    sanitized '========= ERROR SUMMARY: 0 errors' memcheck "$programs" 'logdet:one_*'
echo potrf_cta_cu >>"$work/tests/vendor_kernels.txt"
check "no kernel of the library's is hidden" exits_with 1 'would hide .*potrf_cta_cu' \
    sanitized '========= ERROR SUMMARY: 0 errors' memcheck "$programs"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
