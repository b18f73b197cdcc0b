#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_kriging.sh PROGRAM. Checks the numbers of examples/vecchia_kriging against a dense
# Gaussian process written in awk, on data small enough that every point conditions on all earlier
# ones, where Vecchia's approximation is exact. Also its sums, its independence of the threads, its
# pictures, and what it says about input that it cannot use.
set -u

program=$1
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

kriging() { # OPTION...: a run whose output is $work/table, $work/errors and $work/map.png
    "$program" --device host --grid 36x18 --output "$work/map.png" "$@" \
        >"$work/table" 2>"$work/errors"
}

says() { # STATUS SENTENCE OPTION...: exit status and the one line on stderr, given as a pattern
    want=$1
    sentence=$2
    shift 2
    kriging "$@"
    got=$?
    [ "$got" -eq "$want" ] && [ "$(wc -l <"$work/errors")" -eq 1 ] &&
        grep -q -- "^vecchia_kriging: $sentence" "$work/errors" && return 0
    echo "$program $*: exit status $got instead of $want, or another sentence:"
    cat "$work/errors"
    return 1
}

# Hills around 800 m over the Alps and beyond, with a little noise.
make_airports() { # COUNT
    awk -v count="$1" 'BEGIN {
        print "icao,latitude_deg,longitude_deg,elevation_m"
        state = 12345
        for (i = 0; i < count; i++) {
            for (k = 0; k < 3; k++) {
                state = (state * 69069 + 1) % 4294967296
                u[k] = state / 4294967296
            }
            latitude = 43 + 6 * u[0]
            longitude = 5 + 10 * u[1]
            printf "T%03d,%.6f,%.6f,%.2f\n", i, latitude, longitude, \
                800 + 300 * sin(1.3 * latitude) * cos(0.9 * longitude) + 80 * u[2]
        }
    }'
}

# Everything that the program printed or wrote about small data, again, the dense way.
cat >"$work/reference.awk" <<'EOF_AWK'
function abs(x) { return x < 0 ? -x : x }
function score(e) { return (e < 0 ? -1 : 1) * (sqrt(abs(e) + 10) - sqrt(10)) }
function metres(z) { return (z < 0 ? -1 : 1) * ((abs(z) + sqrt(10)) ^ 2 - 10) }
function place(key, latitude, longitude,  degree) {
    degree = atan2(0, -1) / 180
    x[key] = 6371.0088 * cos(latitude * degree) * cos(longitude * degree)
    y[key] = 6371.0088 * cos(latitude * degree) * sin(longitude * degree)
    z[key] = 6371.0088 * sin(latitude * degree)
}
function distance(a, b) {
    return sqrt((x[a] - x[b]) ^ 2 + (y[a] - y[b]) ^ 2 + (z[a] - z[b]) ^ 2)
}
function matern(d, range,  t) {
    t = sqrt(nu2) * d / range
    return exp(-t) * (nu2 == 1 ? 1 : nu2 == 3 ? 1 + t : 1 + t + t * t / 3)
}
# L of the data's covariance over the field's variance, then L^-1 of values and of ones.
function factor(range, ratio,  i, j, k, sum) {
    for (j = 1; j <= n; j++)
        for (i = j; i <= n; i++) {
            sum = i == j ? 1 + ratio : matern(distance(i, j), range)
            for (k = 1; k < j; k++)
                sum -= L[i, k] * L[j, k]
            L[i, j] = i == j ? sqrt(sum) : sum / L[j, j]
        }
    for (i = 1; i <= n; i++) {
        v[i] = value[i]
        one[i] = 1
        for (k = 1; k < i; k++) {
            v[i] -= L[i, k] * v[k]
            one[i] -= L[i, k] * one[k]
        }
        v[i] /= L[i, i]
        one[i] /= L[i, i]
    }
}
# Maximised over mean and variance, which it leaves in dense_mean and dense_variance.
function log_likelihood(range, ratio,  i, a, b, c, log_det) {
    factor(range, ratio)
    a = b = c = log_det = 0
    for (i = 1; i <= n; i++) {
        a += v[i] * one[i]
        b += one[i] ^ 2
        log_det += 2 * log(L[i, i])
    }
    dense_mean = a / b
    for (i = 1; i <= n; i++)
        c += (v[i] - dense_mean * one[i]) ^ 2
    dense_variance = c / n
    return -0.5 * (n * (log(8 * atan2(1, 1) * dense_variance) + 1) + log_det)
}
function near(what, got, want, tolerance) {
    if (abs(got - want) <= tolerance)
        return
    printf "%s: %.9g instead of %.9g within %g\n", what, got, want, tolerance
    wrong = 1
}
FILENAME ~ /table$/ && /^[135]\/2 / {
    nu2 = substr($1, 1, 1)
    range = $2
    ratio = ($4 / $3) ^ 2
    sd = $3
    mean = $5
    likelihood = $6
}
FILENAME ~ /table$/ && /^kriging|^inverse|^nearest|^mean of/ {
    rmse[substr($0, 1, 4)] = $(NF - 1)
    mae[substr($0, 1, 4)] = $NF
}
FILENAME ~ /table$/ && /^90 %/ { coverage = $5; width = $(NF - 4) }
FILENAME ~ /predictions/ {
    split($0, f, ",")
    if (f[1] != "icao") {
        held[f[1]] = ++sites
        place("held" sites, f[2], f[3])
        for (k = 4; k <= 9; k++)
            given[sites, k] = f[k]
    }
}
FILENAME ~ /airports/ {
    split($0, f, ",")
    if (f[1] != "icao" && !(f[1] in held)) {
        n++
        place(n, f[2], f[3])
        value[n] = score(f[4])
        elevation[n] = f[4]
        average += f[4]
    }
}
END {
    best = log_likelihood(range, ratio)
    near("log-likelihood", likelihood, best, 0.002)
    near("mean", mean, dense_mean, 2e-3 * abs(dense_mean))
    near("sd of field", sd, sqrt(dense_variance), 1e-3 * sd)
    for (k = -1; k <= 1; k += 2) {
        if (log_likelihood(range * exp(0.2 * k), ratio) > best + 1e-3)
            near("a maximum in range", k, 0, 0)
        if (log_likelihood(range, ratio * exp(0.2 * k)) > best + 1e-3)
            near("a maximum in the nugget", k, 0, 0)
    }
    factor(range, ratio)
    for (s = 1; s <= sites; s++) {
        estimate = mean
        spread = 1 + ratio
        closest = weights = weighted = 0
        for (i = 1; i <= n; i++) {
            d = distance("held" s, i)
            u[i] = matern(d, range)
            for (k = 1; k < i; k++)
                u[i] -= L[i, k] * u[k]
            u[i] /= L[i, i]
            spread -= u[i] ^ 2
            estimate += u[i] * (v[i] - mean * one[i])
            if (closest == 0 || d < closest_distance) {
                closest = i
                closest_distance = d
            }
            weights += 1 / d ^ 2
            weighted += elevation[i] / d ^ 2
        }
        deviation = sd * sqrt(spread)
        expected = 0
        for (k = -400; k <= 400; k++)
            expected += 0.02 * exp(-0.5 * (0.02 * k) ^ 2) / sqrt(8 * atan2(1, 1)) \
                * metres(estimate + deviation * 0.02 * k)
        lower = metres(estimate - 1.6448536 * deviation)
        upper = metres(estimate + 1.6448536 * deviation)
        near("kriging", given[s, 5], expected, 0.2)
        near("lower end", given[s, 6], lower, 0.2)
        near("upper end", given[s, 7], upper, 0.2)
        near("inverse distance", given[s, 8], weighted / weights, 0.01)
        near("nearest", given[s, 9], elevation[closest], 0.01)
        guess["krig"] = expected
        guess["inve"] = weighted / weights
        guess["near"] = elevation[closest]
        guess["mean"] = average / n
        for (method in guess) {
            squared[method] += (guess[method] - given[s, 4]) ^ 2 / sites
            absolute[method] += abs(guess[method] - given[s, 4]) / sites
        }
        inside += (given[s, 4] >= lower && given[s, 4] <= upper) * 100 / sites
        wide += (upper - lower) / sites
    }
    for (method in squared) {
        near("RMSE of " method, rmse[method], sqrt(squared[method]), 0.2)
        near("MAE of " method, mae[method], absolute[method], 0.2)
    }
    if (sites > 0) {
        near("coverage", coverage, inside, 0.01)
        near("width", width, wide, 0.3)
    }
    if (n == 0)
        near("airports", n, 1, 0)
    exit wrong
}
EOF_AWK

dense() { # SMOOTHNESS COUNT HELD: fit and predictions are those of the dense process
    make_airports "$2" >"$work/airports.csv"
    rm -f "$work/predictions.csv"
    kriging --data "$work/airports.csv" --predictions "$work/predictions.csv" --neighbours 64 \
        --smoothness "$1" --holdout "$3" || { cat "$work/errors"; return 1; }
    [ ! -s "$work/errors" ] || { cat "$work/errors"; return 1; }
    awk -f "$work/reference.awk" "$work/table" "$work/predictions.csv" "$work/airports.csv"
}

likelihood() { # OPTION...: log-likelihood of a run
    kriging "$@" && awk '/^[135]\/2 / { print $6 }' "$work/table"
}

# Fewer neighbours change the likelihood, by less the more there are; an approximation of a Gaussian
# process by fewer conditions is another process, not a bound, so only the distance is checked.
approximates() {
    set -- "$(likelihood --data "$work/airports.csv" --smoothness 1/2 --holdout 0 --neighbours 2)" \
        "$(likelihood --data "$work/airports.csv" --smoothness 1/2 --holdout 0 --neighbours 20)" \
        "$(likelihood --data "$work/airports.csv" --smoothness 1/2 --holdout 0 --neighbours 64)"
    echo "2, 20 and 64 neighbours: $1, $2, $3"
    awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { a -= c; b -= c
        exit !(a * a > b * b && b * b < 0.25 && a * a < 100 && a != 0) }'
}

# The five nearest of many airports, by inverse distance and by sorting all distances in awk.
finds_neighbours() {
    make_airports 400 >"$work/many.csv"
    kriging --data "$work/many.csv" --neighbours 5 --smoothness 0.5 --evaluations 20 \
        --predictions "$work/five.csv" || { cat "$work/errors"; return 1; }
    awk -F , 'FNR == 1 { file++; next }
        { degree = atan2(0, -1) / 180
          x = cos($2 * degree) * cos($3 * degree)
          y = cos($2 * degree) * sin($3 * degree)
          z = sin($2 * degree) }
        file == 1 { held[$1]; sites++; X[sites] = x; Y[sites] = y; Z[sites] = z
                    guess[sites] = $8; nearest[sites] = $9 }
        file == 2 && !($1 in held) { n++; x1[n] = x; y1[n] = y; z1[n] = z; e[n] = $4 }
        END { for (s = 1; s <= sites; s++) {
                split("", used)
                weights = sum = 0
                for (k = 1; k <= 5; k++) {
                    best = 9
                    for (i = 1; i <= n; i++) {
                        d = (x1[i] - X[s]) ^ 2 + (y1[i] - Y[s]) ^ 2 + (z1[i] - Z[s]) ^ 2
                        if (d < best && !(i in used)) { best = d; at = i }
                    }
                    used[at]
                    weights += 1 / best
                    sum += e[at] / best
                    if (k == 1 && (nearest[s] - e[at]) ^ 2 > 1e-4) wrong++
                }
                if ((guess[s] - sum / weights) ^ 2 > 1e-4) wrong++
              }
              print wrong + 0 " of " sites " predictions differ"
              exit sites != 40 || wrong > 0 }' "$work/five.csv" "$work/many.csv"
}

same_for_any_threads() {
    OMP_NUM_THREADS=1 kriging --data "$work/airports.csv" --neighbours 10 || return 1
    sed '/^device/d; /^time/,$d' "$work/table" >"$work/table1"
    mv "$work/map.png" "$work/map1.png"
    OMP_NUM_THREADS=3 kriging --data "$work/airports.csv" --neighbours 10 || return 1
    sed '/^device/d; /^time/,$d' "$work/table" >"$work/table3"
    diff "$work/table1" "$work/table3" && cmp "$work/map1.png" "$work/map.png"
}

picture() { # an RGB image of eight bits, closed by its last chunk
    [ "$(head -c 8 "$work/map.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] &&
        [ "$(tail -c 8 "$work/map.png" | head -c 4)" = IEND ] &&
        [ "$(head -c 26 "$work/map.png" | tail -c 2 | od -An -tu1 | tr -d ' ')" = 82 ]
}

counts_rows() { # 40 sound rows, 6 unusable, 2 repeated, 1 placeholder
    {
        make_airports 40
        printf '%s\n' 'BAD1,95,0,100' 'BAD2,10,200,100' 'BAD3,10,20,' 'BAD4,10,20,high' \
            'BAD5,10,20,99999' 'BAD6,10' '' 'ZERO,46.01,9.01,0'
        make_airports 40 | tail -n 2
    } >"$work/mixed.csv"
    kriging --data "$work/mixed.csv" --holdout 0.25 || { cat "$work/errors"; return 1; }
    cat "$work/table"
    grep -q ': 49 rows$' "$work/table" && grep -q ' 6 without .*, 2 at ' "$work/table" &&
        grep -q '^ *1 with elevation 0 ' "$work/table" && grep -q ' 30 to fit, 10 held' "$work/table"
}

feet_and_order_of_columns() { # the same airports in feet and with other columns
    make_airports 40 | awk -F , 'NR == 1 { print "elevation_ft,name,longitude_deg,icao,latitude_deg" }
        NR > 1 { printf "%.8f,\"a, b\",%s,\"%s\",%s\r\n", $4 / 0.3048, $3, $1, $2 }' >"$work/feet.csv"
    make_airports 40 >"$work/metres.csv"
    a=$(likelihood --data "$work/feet.csv" --smoothness 1/2)
    b=$(likelihood --data "$work/metres.csv" --smoothness 1/2)
    echo "$a in feet, $b in metres"
    [ -n "$a" ] && [ "$a" = "$b" ]
}

reports_failed_blocks() { # airports a millimetre apart without a nugget: singular in double
    awk 'BEGIN { print "icao,latitude_deg,longitude_deg,elevation_m"
        for (i = 0; i < 60; i++)
            printf "T%d,%.9f,%.9f,%d\n", i, 10 + i % 10 * 1e-9, 20 + i * 1e-8, 500 + i * i % 37 }' \
        >"$work/twins.csv"
    kriging --data "$work/twins.csv" --nugget 0 --smoothness 2.5 || return 1
    cat "$work/errors"
    grep -q 'met [1-9][0-9]* blocks that were not positive definite' "$work/errors"
}

reports_no_convergence() {
    kriging --data "$work/airports.csv" --evaluations 5 --smoothness 0.5 || return 1
    grep -q 'smoothness 1/2 had not converged after 5 evaluations' "$work/errors"
}

helps() {
    "$program" --help >"$work/help" && grep -q -- --neighbours "$work/help"
}

make_airports 60 >"$work/airports.csv"
: >"$work/empty.csv"
echo 'icao,latitude_deg,elevation_ft' >"$work/column.csv"
echo 'icao,latitude_deg,longitude_deg,height' >"$work/height.csv"
make_airports 10 >"$work/few.csv"
make_airports 30 | sed 's/[^,]*$/500/; 1s/500/elevation_m/' >"$work/flat.csv"

check "dense process, smoothness 1/2" dense 1/2 60 0.2
check "dense process, smoothness 3/2" dense 1.5 60 0.2
check "dense process, smoothness 5/2" dense 5/2 60 0.2
check "dense process, as many neighbours as predecessors" dense 0.5 65 0
check "more neighbours come closer" approximates
check "neighbours" finds_neighbours
check "same table and picture for any threads" same_for_any_threads
check "picture" picture
check "rows are counted" counts_rows
check "feet, quotes, other columns" feet_and_order_of_columns
check "blocks that are not positive definite" reports_failed_blocks
check "no convergence" reports_no_convergence
check "help" helps
check "missing file" says 2 "cannot open '.*none.csv'" --data "$work/none.csv"
check "folder" says 2 "'.*' cannot be read" --data "$work"
check "empty file" says 2 "'.*' is empty" --data "$work/empty.csv"
check "missing column" says 2 "'.*' has no column 'longitude_deg'" --data "$work/column.csv"
check "no elevation" says 2 "'.*' has neither a column" --data "$work/height.csv"
check "few airports" says 2 "'.*' has 10 usable airports" --data "$work/few.csv"
check "flat" says 2 "'.*' has the same elevation everywhere" --data "$work/flat.csv"
check "no place for the picture" says 2 "cannot write" --data "$work/airports.csv" \
    --output "$work/none/map.png"
check "unknown option" says 2 "unknown option '--bogus'" --bogus 1
check "option without value" says 2 "--seed needs a value" --seed
for bad in neighbours=0 neighbours=65 neighbours=x device=gpu grid=7x3 grid=72 smoothness=1 \
    holdout=0.6 nugget=-1 nugget=nan seed=-1 evaluations=0 output=; do
    check "--$bad" says 2 "--${bad%%=*} was '.*', expected " --"$bad"
done
check "no such device" says 2 "." --data "$work/airports.csv" --device 99

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
