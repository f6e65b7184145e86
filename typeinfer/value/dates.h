/* Dates: what the other files ask of datetime64 and timedelta64. Values are of TY_DATETIME and
 * TY_TIMEDELTA; none may be bottom unless said. */
#ifndef PYPTX_TYPEINFER_VALUE_DATES_H
#define PYPTX_TYPEINFER_VALUE_DATES_H

#include "typeinfer/ty.h"

Val ty_date_raw(Ty *ty, Val v);                     /* the int64 that it counts; of bottom bottom */
Val ty_date_of(Ty *ty, const Type *t, Val raw);     /* the date of an int64; of bottom bottom */
Val ty_date_of_float(Ty *ty, const Type *t, Val x); /* of a float64, without its fraction */
/* a date of that kind, or an integer: a count of units */
Val ty_date_cast(Ty *ty, Val v, const Type *to);
/* would that go: what elements of type `to` take */
bool ty_date_fits(const Type *from, const Type *to);
bool ty_is_date_op(Val a, Val b); /* two values, of which one is a date */
Val ty_date_binary(Ty *ty, Op op, Val a, Val b);
Val ty_date_unary(Ty *ty, Op op, Val a);
Val ty_date_truth(Ty *ty, Val v);
Val ty_date_abs(Ty *ty, Val v);
Val ty_date_sign(Ty *ty, Val v);
Val ty_is_nat(Ty *ty, Val v); /* pybool */
/* The lower (or higher) of two, NaT if one is; skips: the other one then. `name` is for errors. */
Val ty_date_extreme(Ty *ty, const char *name, bool low, bool skips, Val a, Val b);
/* of np.dtype('m8[s]'), 'timedelta64[s]'; NULL: no date's */
const Type *ty_date_type(Ty *ty, Val dtype);

#endif
