/* Marks of lines for coverage: every recorded function of every version lifts with them as it does
 * without, to the same operations; and each line that an operation stands on has its mark. */
#include <stdio.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

typedef struct Found {
  bool lifted;
  unsigned ops[OP_COUNT];
  unsigned marks, bare; /* operations on a line that has no mark */
} Found;

static bool is_marked(const Fn *fn, Loc loc) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      if (i->op == OP_LINE && i->loc.line == loc.line)
        return true;
  return false;
}

static void count(Fn *fn, Found *found) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      found->ops[i->op]++;
      bool own = (ir_op_info[i->op].effect == EFFECT_WRITE || i->op == OP_ADD) && i->op != OP_LINE;
      found->bare += own && i->loc.line > 0 && !is_marked(fn, i->loc);
    }
  found->marks = found->ops[OP_LINE];
  found->ops[OP_LINE] = found->ops[OP_BR] = found->ops[OP_PHI] = 0;
  /* a branch whose sides do nothing is none without marks */
  found->ops[OP_TRUTH] = found->ops[OP_CONDBR] = 0;
}

static Found lifted(const FrozenFunc *func, bool marks) {
  static Found found;
  Cx *cx = cx_new();
  memset(&found, 0, sizeof found);
  if (!cx)
    return found;
  cx->marks_lines = marks;
  if (CX_TRY(cx)) {
    Fn *fn = bc_lift(cx, func);
    ir_verify(cx, fn, "lift");
    count(fn, &found);
    found.lifted = true;
  }
  cx_free(cx);
  return found;
}

static int check(const FrozenFunc *func, const char *version, unsigned *all) {
  Found plain = lifted(func, false), marked = lifted(func, true);
  int failures = 0;
  for (unsigned op = 0; op < OP_COUNT; op++)
    if (plain.lifted && plain.ops[op] != marked.ops[op]) {
      fprintf(stderr, "%s %s: %u %s, with marks %u\n", version, func->code->qualname, plain.ops[op],
              ir_op_info[op].text, marked.ops[op]);
      failures++;
    }
  if (plain.lifted != marked.lifted || plain.marks || (marked.lifted && !marked.marks) ||
      (marked.lifted && marked.bare)) {
    fprintf(stderr,
            "%s %s: lifted %d, with marks %d, which are %u; %u operations on a line without\n",
            version, func->code->qualname, plain.lifted, marked.lifted, marked.marks, marked.bare);
    failures++;
  }
  *all += marked.marks;
  return failures;
}

int main(void) {
  static const char *const files[] = {"3.11",       "3.12",       "3.13",       "3.14",
                                      "3.15",       "extra-3.11", "extra-3.12", "extra-3.13",
                                      "extra-3.14", "extra-3.15"};
  int failures = 0;
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    Corpus *c = corpus_open(files[k]);
    unsigned marks = 0;
    if (!c)
      return 1;
    for (uint32_t n = 0; n < corpus_count(c); n++)
      failures += check(corpus_func(c, corpus_name(c, n)), files[k], &marks);
    printf("%s: %u functions, %u marks\n", files[k], (unsigned)corpus_count(c), marks);
    corpus_close(c);
  }
  return failures != 0;
}
