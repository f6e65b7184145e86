/* Fuzz: functions of the corpus, for argument types that they were not made for. Typing gives strict functions or an error
 * that is not an internal one.
 *
 * Input: byte 0 the version, 1 the function, 2 the flags, then the signature. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"
#include "typeinfer/infer.h"

enum { HEAD = 3, VERSIONS = 5, CHECKED = 1, DEBUG = 2, NUMBA = 4, DEVICE = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FrozenFunc *function_of(const uint8_t *data) {
  static Corpus *corpora[VERSIONS];
  unsigned version = data[0] % VERSIONS;
  Corpus **c = &corpora[version];
  if (!*c)
    *c = corpus_open(corpus_versions[version]);
  if (!*c)
    abort();
  return corpus_func(*c, corpus_name(*c, data[1] % corpus_count(*c)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const FrozenFunc *func = size >= HEAD && size < 1 << 12 ? function_of(data) : NULL;
  Cx *cx = func ? cx_new() : NULL;
  if (!cx)
    return 0;
  cx->lift = bc_lift;
  cx->checked = data[2] & (CHECKED | DEBUG);
  cx->debug = data[2] & DEBUG;
  cx->typing = data[2] & NUMBA ? TYPING_NUMBA : TYPING_NUMPY;
  if (CX_TRY(cx)) {
    Signature sig = ty_signature(
        cx, arena_printf(&cx->arena, "%.*s", (int)(size - HEAD), (const char *)data + HEAD));
    const Program *p = ty_infer(cx, func, &sig, !(data[2] & DEVICE));
    for (uint32_t k = 0; k < p->fns.len; k++) {
      ir_verify(cx, p->fns.data[k], "infer");
      ty_verify(cx, p->fns.data[k]);
    }
  } else if (cx->diag.id == ERR_INTERNAL) {
    fprintf(stderr, "%s\n", cx->diag.message);
    abort();
  } else {
    free(diag_render(&cx->diag, NULL, NULL));
  }
  cx_free(cx);
  return 0;
}
