/* SPDX-License-Identifier: BSD-3-Clause */
/* Cholesky of LANES matrices at once, one in each lane of a vector, for one type and one
 * instruction set. They are laid out in S, row after row of the lower triangle, and factored as
 * S = L L^H. Lanes never meet, so that an item's bits do not depend on its neighbours.
 * An upper triangle needs no conjugation: with S(i, c) = A(c, i) the factor of S, which is the
 * conjugate of A, is the transpose of U. */

#define PARTS (IS_COMPLEX + 1)
#define LANES (LANE_BYTES / NAME(REAL_BYTES))
/* Register tiles: TILE^2 elements fill half of the registers or all of them. */
#if IS_COMPLEX
#define TILE 2
#else
#define TILE 4
#endif
/* Transposition works on BLOCK reals of BLOCK items, which are STEP elements of each. */
#if LANES >= 4
#define BLOCK 4
#else
#define BLOCK 2
#endif
#define STEP (BLOCK / PARTS)
/* Row i of S keeps its i + 1 elements from here on. */
#define PACKED(i) ((i) * ((i) + 1) / 2)

typedef R IN(lanes) __attribute__((vector_size(LANE_BYTES), may_alias));
typedef R IN(block) __attribute__((vector_size(BLOCK * sizeof(R)), may_alias));
typedef __typeof__((IN(lanes)){0} > (IN(lanes)){0}) IN(mask);

/* One element of every lane's matrix. */
typedef struct {
    IN(lanes) re;
#if IS_COMPLEX
    IN(lanes) im;
#endif
} IN(element);

/* acc -= l conj(m) */
static ALWAYS_INLINE TARGET void IN(fold)(IN(element) * acc, const IN(element) * l,
                                          const IN(element) * m) {
    acc->re -= l->re * m->re;
#if IS_COMPLEX
    acc->im -= l->im * m->re;
    acc->re -= l->im * m->im;
    acc->im += l->re * m->im;
#endif
}

static ALWAYS_INLINE TARGET void IN(scale)(IN(element) * a, const IN(lanes) * r) {
    a->re *= *r;
#if IS_COMPLEX
    a->im *= *r;
#endif
}

/* The lanes that have seen only positive pivots, and the order of the others' first failure. */
typedef struct {
    IN(mask) good;
    IN(mask) info;
} IN(verdict);

/* d := sqrt(d), r := 1 / sqrt(d), as in LAPACK's potf2: the root of any positive number, denormals
 * and +Inf included, has a reciprocal that is normal or 0. A lane that has failed goes on with
 * r = 0 and so raises no further floating-point exception. */
static ALWAYS_INLINE TARGET void IN(pivot)(IN(element) * d, IN(lanes) * r, IN(verdict) * verdict,
                                           int order) {
    const IN(lanes) zero = {0};
    const IN(lanes) one = zero + 1;
    const IN(mask) good = verdict->good & (d->re > zero); /* NaN is not */
    verdict->info |= (verdict->good & ~good) & order;
    verdict->good = good;
    R root[LANES] ALIGNED;
    *(IN(lanes) *)root = (IN(lanes))(((IN(mask))d->re & good) | ((IN(mask))one & ~good));
#pragma omp simd
    for (int w = 0; w < LANES; ++w)
        root[w] = SQRT(root[w]);
    *d = (IN(element)){.re = *(IN(lanes) *)root};
    *r = (IN(lanes))((IN(mask))(one / d->re) & good);
}

/* D, the diagonal tile at j, less what the columns before it contribute, is factored. */
static ALWAYS_INLINE TARGET void IN(factor_tile)(int n, int j, IN(element) * S,
                                                 IN(element) D[TILE][TILE], IN(lanes) r[TILE],
                                                 IN(verdict) * verdict) {
    UNROLL
    for (int i = 0; i < TILE; ++i) {
        UNROLL
        for (int c = 0; c <= i; ++c)
            D[i][c] = S[PACKED(j + i) + j + c];
    }
    for (int k = 0; k < j; ++k) {
        IN(element) l[TILE];
        UNROLL
        for (int i = 0; i < TILE; ++i) {
            l[i] = S[PACKED(j + i) + k];
            UNROLL
            for (int c = 0; c <= i; ++c)
                IN(fold)(&D[i][c], &l[i], &l[c]);
        }
    }
    UNROLL
    for (int c = 0; c < TILE; ++c) {
        if (j + c == n)
            break;
        IN(pivot)(&D[c][c], &r[c], verdict, j + c + 1);
        UNROLL
        for (int i = c + 1; i < TILE; ++i) {
            IN(scale)(&D[i][c], &r[c]);
            UNROLL
            for (int e = c + 1; e <= i; ++e)
                IN(fold)(&D[i][e], &D[i][c], &D[e][c]);
        }
    }
    UNROLL
    for (int i = 0; i < TILE; ++i) {
        UNROLL
        for (int c = 0; c <= i; ++c)
            S[PACKED(j + i) + j + c] = D[i][c];
    }
}

/* The tile at (p, j), less what the columns before it contribute, is solved against D. */
static ALWAYS_INLINE TARGET void IN(solve_tile)(int p, int j, IN(element) * S,
                                                IN(element) D[TILE][TILE], IN(lanes) r[TILE]) {
    IN(element) X[TILE][TILE];
    UNROLL
    for (int i = 0; i < TILE; ++i) {
        UNROLL
        for (int c = 0; c < TILE; ++c)
            X[i][c] = S[PACKED(p + i) + j + c];
    }
    for (int k = 0; k < j; ++k) {
        IN(element) m[TILE];
        UNROLL
        for (int c = 0; c < TILE; ++c)
            m[c] = S[PACKED(j + c) + k];
        UNROLL
        for (int i = 0; i < TILE; ++i) {
            const IN(element) l = S[PACKED(p + i) + k];
            UNROLL
            for (int c = 0; c < TILE; ++c)
                IN(fold)(&X[i][c], &l, &m[c]);
        }
    }
    UNROLL
    for (int i = 0; i < TILE; ++i) {
        UNROLL
        for (int c = 0; c < TILE; ++c) {
            UNROLL
            for (int e = 0; e < c; ++e)
                IN(fold)(&X[i][c], &X[i][e], &D[c][e]);
            IN(scale)(&X[i][c], &r[c]);
            S[PACKED(p + i) + j + c] = X[i][c];
        }
    }
}

/* Left-looking. Rows beyond n, which fill the last tiles, only have to be finite: they lead
 * nowhere, and no pivot is taken there. */
static TARGET void IN(factor)(int n, IN(element) * S, int info[LANES]) {
    IN(verdict) verdict = {.info = {0}};
    verdict.good = ~verdict.info;
    for (int j = 0; j < n; j += TILE) {
        IN(element) D[TILE][TILE];
        IN(lanes) r[TILE] = {{0}};
        IN(factor_tile)(n, j, S, D, r, &verdict);
        for (int p = j + TILE; p < n; p += TILE)
            IN(solve_tile)(p, j, S, D, r);
    }
    for (int w = 0; w < LANES; ++w)
        info[w] = (int)verdict.info[w];
}

/* A triangle is n runs of contiguous elements, the columns of A: run q is S(q .. n - 1, q) of a
 * lower one, S(q, 0 .. q) of an upper one. */
typedef struct {
    ptrdiff_t start; /* in A */
    int length;
    int row, column; /* of its first element in S */
    bool down;       /* it goes on down a column of S, or else along a row */
} IN(run);

static ALWAYS_INLINE IN(run) IN(run_of)(const problem_t *p, int q) {
    const ptrdiff_t ld = p->A.ld;
    return p->uplo == BATCHLAS_LOWER ? (IN(run)){q * ld + q, p->n - q, q, q, true}
                                     : (IN(run)){q * ld, q + 1, q, 0, false};
}

/* Where S keeps real e of the run's elements from t on, of lane w. */
static ALWAYS_INLINE R *IN(place)(IN(element) * S, IN(run) run, int t, int e, int w) {
    const int i = run.row + (run.down ? t + e / PARTS : 0);
    const int c = run.column + (run.down ? 0 : t + e / PARTS);
    return (R *)&S[PACKED(i) + c] + e % PARTS * LANES + w;
}

/* x := x^T */
static ALWAYS_INLINE TARGET void IN(transpose)(IN(block) x[BLOCK]) {
#if BLOCK == 4
    const IN(block) a = {x[0][0], x[1][0], x[0][2], x[1][2]};
    const IN(block) b = {x[0][1], x[1][1], x[0][3], x[1][3]};
    const IN(block) c = {x[2][0], x[3][0], x[2][2], x[3][2]};
    const IN(block) d = {x[2][1], x[3][1], x[2][3], x[3][3]};
    x[0] = (IN(block)){a[0], a[1], c[0], c[1]};
    x[1] = (IN(block)){b[0], b[1], d[0], d[1]};
    x[2] = (IN(block)){a[2], a[3], c[2], c[3]};
    x[3] = (IN(block)){b[2], b[3], d[2], d[3]};
#else
    const IN(block) a = {x[0][0], x[1][0]};
    x[1] = (IN(block)){x[0][1], x[1][1]};
    x[0] = a;
#endif
}

static ALWAYS_INLINE TARGET void IN(load_block)(IN(element) * S, IN(run) run, int t, int w,
                                                const T *const item[LANES]) {
    IN(block) x[BLOCK];
    UNROLL
    for (int l = 0; l < BLOCK; ++l)
        memcpy(&x[l], item[w + l] + run.start + t, sizeof x[l]);
    IN(transpose)(x);
    UNROLL
    for (int e = 0; e < BLOCK; ++e)
        memcpy(IN(place)(S, run, t, e, w), &x[e], sizeof x[e]);
}

static ALWAYS_INLINE TARGET void IN(store_block)(IN(element) * S, IN(run) run, int t, int w,
                                                 T *const item[LANES]) {
    IN(block) x[BLOCK];
    UNROLL
    for (int e = 0; e < BLOCK; ++e)
        memcpy(&x[e], IN(place)(S, run, t, e, w), sizeof x[e]);
    IN(transpose)(x);
    UNROLL
    for (int l = 0; l < BLOCK; ++l)
        if (item[w + l])
            memcpy(item[w + l] + run.start + t, &x[l], sizeof x[l]);
}

/* S := the items. Where a run does not divide into blocks, the last overlaps the one before it; a
 * run shorter than a block goes by elements. BLOCK items are read at a time, because those of all
 * lanes at a power-of-two stride would evict one another from the cache. */
static TARGET void IN(load)(const problem_t *p, IN(element) * S, const T *const item[LANES]) {
    for (int w = 0; w < LANES; w += BLOCK) {
        for (int q = 0; q < p->n; ++q) {
            const IN(run) run = IN(run_of)(p, q);
            if (run.length >= STEP) {
                for (int t = 0; t < run.length - STEP; t += STEP)
                    IN(load_block)(S, run, t, w, item);
                IN(load_block)(S, run, run.length - STEP, w, item);
            } else {
                for (int e = 0; e < run.length * PARTS; ++e)
                    for (int l = w; l < w + BLOCK; ++l)
                        *IN(place)(S, run, 0, e, l) = ((const R *)(item[l] + run.start))[e];
            }
        }
    }
}

/* The items := S, but for those that are NULL. */
static TARGET void IN(store)(const problem_t *p, IN(element) * S, T *const item[LANES]) {
    for (int w = 0; w < LANES; w += BLOCK) {
        for (int q = 0; q < p->n; ++q) {
            const IN(run) run = IN(run_of)(p, q);
            if (run.length >= STEP) {
                for (int t = 0; t < run.length - STEP; t += STEP)
                    IN(store_block)(S, run, t, w, item);
                IN(store_block)(S, run, run.length - STEP, w, item);
            } else {
                for (int e = 0; e < run.length * PARTS; ++e)
                    for (int l = w; l < w + BLOCK; ++l)
                        if (item[l])
                            ((R *)(item[l] + run.start))[e] = *IN(place)(S, run, 0, e, l);
            }
        }
    }
}

/* The LANES items from `first` on. A lane without one, beyond the batch or passed over, reads its
 * neighbour's. A failing item is not written. */
static TARGET void IN(group)(const problem_t *p, int64_t first) {
    IN(element) S[PACKED(POTRF_TINY_MAX_N)];
    const T *read[LANES];
    T *written[LANES];
    const T *any = NULL;
    for (int w = 0; w < LANES; ++w) {
        const int64_t i = first + w;
        const bool live = i < p->batch && !(p->info_base > 0 && p->info[i]);
        written[w] = live ? ITEM(p->A, i) : NULL;
        any = live ? written[w] : any;
    }
    if (!any)
        return;
    for (int w = 0; w < LANES; ++w)
        read[w] = written[w] ? written[w] : any;

    IN(load)(p, S, read);
    for (int i = p->n; i % TILE; ++i)
        for (int c = 0; c <= i; ++c)
            S[PACKED(i) + c] = (IN(element)){.re = {0}};
    int info[LANES];
    IN(factor)(p->n, S, info);
    for (int w = 0; w < LANES; ++w) {
        if (!written[w])
            continue;
        if (p->info && (p->info_base == 0 || info[w]))
            p->info[first + w] = info[w] ? p->info_base + info[w] : 0;
        if (info[w])
            written[w] = NULL;
    }
    IN(store)(p, S, written);
}

static void IN(potrf)(const problem_t *p) {
    const int64_t groups = (p->batch + LANES - 1) / LANES;
#pragma omp parallel for schedule(static) if (host_may_fork(p->batch * p->n * p->n))
    for (int64_t g = 0; g < groups; ++g)
        IN(group)(p, g * LANES);
}

#undef PARTS
#undef LANES
#undef TILE
#undef BLOCK
#undef STEP
#undef PACKED
