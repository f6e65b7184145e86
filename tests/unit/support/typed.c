#include "tests/unit/support/typed.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "typeinfer/infer.h"

static char *print_program(Cx *cx, const Program *p) {
  Buf out;
  buf_init(&out, &cx->arena);
  for (uint32_t k = 0; k < p->fns.len; k++) {
    ir_print_fn(cx, &out, p->fns.data[k], false);
    ir_verify(cx, p->fns.data[k], "infer");
    ty_verify(cx, p->fns.data[k]);
  }
  return strdup(out.text);
}

char *typed_text(const FrozenFunc *func, const char *signature, unsigned flags) {
  Cx *cx = cx_new();
  char *text = NULL;
  if (!cx)
    return NULL;
  cx->lift = bc_lift;
  cx->checked = flags & (TYPED_CHECKED | TYPED_DEBUG);
  cx->debug = flags & TYPED_DEBUG;
  cx->typing = flags & TYPED_NUMBA ? TYPING_NUMBA : TYPING_NUMPY;
  if (CX_TRY(cx)) {
    Signature sig = ty_signature(cx, signature);
    text = print_program(cx, ty_infer(cx, func, &sig, !(flags & TYPED_DEVICE)));
  } else {
    text = diag_render(&cx->diag, NULL, NULL);
  }
  cx_free(cx);
  return text;
}
