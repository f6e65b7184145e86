/* Fuzz: code objects from bytes. The front end must lift or report an error; an internal error or a broken function aborts.
 *
 * Input: byte 0 the version, 1 flags, 2-6 counts, 7 and 8 how the rest is cut into bytecode, line table and exception table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/build.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

enum { HEAD = 9, VERSIONS = 5 };

static Corpus *corpora[VERSIONS]; /* for their opcode tables */

static const Corpus *corpus_for(unsigned k) {
  if (!corpora[k])
    corpora[k] = corpus_open(corpus_versions[k]);
  if (!corpora[k])
    abort();
  return corpora[k];
}

static const FrozenFunc *function_of(Cx *cx, const uint8_t *data, size_t size) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const FrozenFunc *model = corpus_func(corpus_for(data[0] % VERSIONS), "inner_closure");
  const Frozen **consts = CX_ARRAY(cx, const Frozen *, 5);
  consts[0] = fz_none(cx);
  consts[1] = fz_int(cx, 1);
  consts[2] = fz_tuple(
      cx,
      (const Frozen *const *)memcpy(CX_ARRAY(cx, const Frozen *, 2), consts, 2 * sizeof *consts),
      2);
  consts[3] = fz_str(cx, "x");
  for (uint32_t k = 0; k < model->code->nconsts; k++)
    if (model->code->consts[k]->kind == FZ_CODE)
      consts[4] = model->code->consts[k];
  Code *code = CX_NEW(cx, Code);
  *code = *model->code;
  code->flags = data[1] & (CODE_VARARGS | CODE_VARKEYWORDS | CODE_GENERATOR);
  code->localsplus = code->names = names;
  code->nlocalsplus = data[2] & 7;
  code->nfrees = data[3] & 3;
  code->argcount = data[4] & 3;
  code->kwonlyargcount = data[5] & 1;
  code->nnames = 8;
  code->stacksize = data[6] & 15;
  code->consts = consts;
  code->nconsts = 5;
  size_t rest = size - HEAD, lines = rest * data[7] / 512, handlers = rest * data[8] / 1024;
  code->bytes = data + HEAD;
  code->nbytes = (uint32_t)(rest - lines - handlers) & ~1u;
  code->linetable = code->bytes + code->nbytes;
  code->nlinetable = (uint32_t)lines;
  code->exceptiontable = code->linetable + lines;
  code->nexceptiontable = (uint32_t)handlers;
  FrozenFunc *func = CX_NEW(cx, FrozenFunc);
  *func = *model;
  func->code = code;
  return func;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEAD || size > 1 << 16)
    return 0;
  Cx *cx = cx_new();
  if (!cx)
    return 0;
  if (CX_TRY(cx)) {
    Fn *fn = bc_lift(cx, function_of(cx, data, size));
    ir_verify(cx, fn, "lift");
    Buf out;
    buf_init(&out, &cx->arena);
    ir_print_fn(cx, &out, fn, true);
  } else if (cx->diag.id == ERR_INTERNAL) {
    fprintf(stderr, "%s\n", cx->diag.message);
    abort();
  } else {
    free(diag_render(&cx->diag, NULL, NULL));
  }
  cx_free(cx);
  return 0;
}
