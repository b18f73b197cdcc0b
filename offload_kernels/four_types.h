/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes the file that BODY names once for each type. In it T is the scalar, R its real type,
 * NAME(f) is f_s, f_d, f_c, f_z, and IS_COMPLEX is 0 or 1: one body, four types. No include guard.
 */
#include "scalars.h"

#define NAME_OF(f, x)   f##_##x
#define NAME_WITH(f, x) NAME_OF(f, x)
#define NAME(f)         NAME_WITH(f, LETTER)
#define REAL            NAME(real)
#define FROM_REAL       NAME(from_real)
#define CONJ            NAME(conj)
#define MUL             NAME(mul)
#define ADD_PRODUCT     NAME(add_product)
#define SCALE           NAME(scale)
#define TIMES           NAME(times)
#define DIVIDE          NAME(divide)
#define HAS_RECIPROCAL  NAME(has_reciprocal)
#define SCALAR          NAME(scalar)
/* Item `i` of an operand. */
#define ITEM(operand, i)                                                                           \
    (((operand).items ? (T *)(operand).items[i] : (T *)(operand).base + (i) * (operand).stride) +  \
     (operand).offset)

#define T          float
#define R          float
#define LETTER     s
#define IS_COMPLEX 0
#include BODY
#undef T
#undef R
#undef LETTER
#undef IS_COMPLEX

#define T          double
#define R          double
#define LETTER     d
#define IS_COMPLEX 0
#include BODY
#undef T
#undef R
#undef LETTER
#undef IS_COMPLEX

#define T          float _Complex
#define R          float
#define LETTER     c
#define IS_COMPLEX 1
#include BODY
#undef T
#undef R
#undef LETTER
#undef IS_COMPLEX

#define T          double _Complex
#define R          double
#define LETTER     z
#define IS_COMPLEX 1
#include BODY
#undef T
#undef R
#undef LETTER
#undef IS_COMPLEX

#undef NAME_OF
#undef NAME_WITH
#undef NAME
#undef REAL
#undef FROM_REAL
#undef CONJ
#undef MUL
#undef ADD_PRODUCT
#undef SCALE
#undef TIMES
#undef DIVIDE
#undef HAS_RECIPROCAL
#undef SCALAR
#undef ITEM
#undef BODY
