/* Lines: our reading of the location table is CPython's own co_positions(), for every code unit of
 * every recorded function. */
#include <stdio.h>

#include "frontend/bc.h"
#include "tests/unit/support/corpus.h"

static int check_code(Cx *cx, const Corpus *c, const Code *code, const char *version) {
  uint32_t n;
  const CorpusPlace *want = corpus_places(c, code, &n);
  if (n != code->nbytes / 2) {
    fprintf(stderr, "%s %s: %u places for %u code units\n", version, code->qualname, n,
            code->nbytes / 2);
    return 1;
  }
  const Loc *got = bc_lines(cx, code, n);
  for (uint32_t k = 0; k < n; k++) {
    CorpusPlace p = {got[k].line ? got[k].line : -1, got[k].line ? got[k].end_line : -1, got[k].col,
                     got[k].end_col};
    if (p.line != want[k].line || p.end_line != want[k].end_line || p.col != want[k].col ||
        p.end_col != want[k].end_col) {
      fprintf(stderr, "%s %s unit %u: %d-%d:%d-%d, not %d-%d:%d-%d\n", version, code->qualname, k,
              p.line, p.end_line, p.col, p.end_col, want[k].line, want[k].end_line, want[k].col,
              want[k].end_col);
      return 1;
    }
  }
  return 0;
}

static int check_file(const char *version) {
  Corpus *c = corpus_open(version);
  Cx *cx = cx_new();
  volatile int failures = 0;
  if (!c || !cx)
    return 1;
  if (CX_TRY(cx)) {
    uint32_t n;
    const Code *const *codes = corpus_codes(c, &n);
    for (uint32_t k = 0; k < n; k++)
      failures += check_code(cx, c, codes[k], version);
    printf("%s: %u code objects\n", version, n);
  } else {
    fprintf(stderr, "%s: %s\n", version, cx->diag.message);
    failures++;
  }
  cx_free(cx);
  corpus_close(c);
  return failures;
}

int main(void) {
  static const char *const files[] = {"3.11",       "3.12",       "3.13",       "3.14",
                                      "3.15",       "extra-3.11", "extra-3.12", "extra-3.13",
                                      "extra-3.14", "extra-3.15"};
  int failures = 0;
  for (size_t k = 0; k < sizeof files / sizeof *files; k++)
    failures += check_file(files[k]);
  return failures != 0;
}
