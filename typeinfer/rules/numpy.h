/* What the rules of numpy.* share. */
#ifndef PYPTX_TYPEINFER_RULES_NUMPY_H
#define PYPTX_TYPEINFER_RULES_NUMPY_H

#include "typeinfer/rules/rules.h"
#include "typeinfer/value/dates.h"

/* The arguments as the operators take them: weak numbers stay weak beside a strong one. False after
 * an error. */
bool np_operands(Ty *ty, const TyCall *c, Val *out);
/* The arguments in the float type that a function of floats computes in; NULL after an error. */
const Type *np_float_arguments(Ty *ty, const TyCall *c, Val *out);

/* --- calls with complex numbers (complex_functions.c) --- */
/* The operands of such a call in their common type, and strong. */
void np_complex_operands(Ty *ty, const TyCall *c, Val *out);
/* Is that said of one of the parts; MATH_ISFINITE: of both. A pybool. */
Val np_complex_pred(Ty *ty, IntrinsicId of_part, Val z);
/* x1 where it is the smaller (larger) one in NumPy's order of complex numbers, or is a nan (skips:
 * x2 is one); else x2 */
Val np_complex_extreme(Ty *ty, const TyCall *c, bool low, bool skips);
Val np_complex_phase(Ty *ty, Val z);
Val np_complex_rint(Ty *ty, Val z);

#endif
