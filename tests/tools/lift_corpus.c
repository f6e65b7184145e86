/* lift_corpus: prints the SSA of recorded functions.
 *
 * usage: lift_corpus [-l] VERSION [NAME…]    -l adds source places; without names, all functions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

static int lift_one(const FrozenFunc *func, const char *name, bool places) {
  Cx *cx = cx_new();
  int bad = 0;
  if (!cx)
    return 1;
  if (CX_TRY(cx)) {
    Fn *fn = bc_lift(cx, func);
    ir_verify(cx, fn, "lift");
    Buf out;
    buf_init(&out, &cx->arena);
    ir_print_fn(cx, &out, fn, places);
    fputs(out.text, stdout);
  } else {
    char *text = diag_render(&cx->diag, NULL, NULL);
    printf("%s: %s\n", name, text ? text : "?");
    free(text);
    bad = 1;
  }
  cx_free(cx);
  return bad;
}

int main(int argc, char **argv) {
  bool places = argc > 1 && !strcmp(argv[1], "-l");
  argv += places;
  argc -= places;
  if (argc < 2) {
    fprintf(stderr, "usage: lift_corpus [-l] VERSION [NAME...]\n");
    return 2;
  }
  Corpus *c = corpus_open(argv[1]);
  if (!c) {
    fprintf(stderr, "lift_corpus: no recorded bytecode of %s\n", argv[1]);
    return 1;
  }
  int bad = 0;
  for (int k = 2; k < argc; k++) {
    const FrozenFunc *f = corpus_func(c, argv[k]);
    bad |= f ? lift_one(f, argv[k], places)
             : fprintf(stderr, "lift_corpus: no function %s\n", argv[k]) > 0;
  }
  for (uint32_t k = 0; argc == 2 && k < corpus_count(c); k++)
    bad |= lift_one(corpus_func(c, corpus_name(c, k)), corpus_name(c, k), places);
  corpus_close(c);
  return bad;
}
