/* What the rules of numpy.* share. */
#ifndef PYPTX_TYPEINFER_RULES_NUMPY_H
#define PYPTX_TYPEINFER_RULES_NUMPY_H

#include "typeinfer/ty.h"

/* The arguments as the operators take them: weak numbers stay weak beside a strong one. False after an error. */
bool np_operands(Ty *ty, const TyCall *c, Val *out);
/* The arguments in the float type that a function of floats computes in; NULL after an error. */
const Type *np_float_arguments(Ty *ty, const TyCall *c, Val *out);

#endif
