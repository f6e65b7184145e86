/* Overlap: see overlap.h. */
#include "pyext/launch/overlap.h"

#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/launch/typeof.h"

static bool overlap(const PxArgs *a) {
  PxSpans s;
  s.n = 0;
  s.overlap = false;
  for (uint32_t i = 0; i < a->nleaves && !s.overlap; i++) {
    const PxLeaf *l = &a->leaves[i];
    if (px_token_is_pointer(l->token))
      s.overlap = true; /* an address that is given as a number may be anywhere */
    else if (px_token_is_array(l->token))
      px_add_span(&s, l->u.array.address, px_token_ndim(l->token),
                  px_elem_size(a->st, px_token_elem(l->token)), l->u.array.shape,
                  l->u.array.strides);
  }
  return s.overlap;
}

PxOverload *px_dispatch_apart(PxDispatcher *d, PxArgs *a) {
  PxOverload *o = px_dispatch(d, a);
  if (!o || !o->code->needs_apart || !px_is_narrow(a->tokens, a->ntokens) || !overlap(a))
    return o;
  Py_DECREF(o);
  a->overlap = true;
  *a->tokens &= ~PX_NARROW_TOKEN;
  return px_dispatch(d, a);
}
