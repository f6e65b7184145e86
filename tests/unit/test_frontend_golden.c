/* Golden: every recorded function, lifted from every version, has the text of its golden file.
 *
 * tests/cases/bytecode/NAME.ssa holds for all versions, NAME.3.11.ssa for one that differs
 * (README.md says why it does); a function that must not lift has NAME.err. Functions of extra.py
 * are in bytecode/extra. `--update` rewrites the files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lift.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

#define CASES PYPTX_SOURCE_DIR "/tests/cases/bytecode/"
enum { VERSIONS = 5 };
static const char *const order[VERSIONS] = {"3.12", "3.13", "3.14", "3.15",
                                            "3.11"}; /* the first is the common text */

static int failures;

/* malloc'd: the function's text, or the error's. */
static char *lifted(const FrozenFunc *func, bool *failed) {
  Cx *cx = cx_new();
  char *text = NULL;
  if (!cx)
    exit(1);
  *failed = false;
  if (CX_TRY(cx)) {
    Fn *fn = bc_lift(cx, func);
    ir_verify(cx, fn, "lift");
    Buf out;
    buf_init(&out, &cx->arena);
    ir_print_fn(cx, &out, fn, false);
    text = strdup(out.text);
  } else {
    char *all = diag_render(&cx->diag, NULL, NULL);
    char *end = strstr(all, "\n  help:");
    if (end)
      end[1] = 0;
    text = all;
    *failed = true;
  }
  cx_free(cx);
  return text;
}

static char *read_text(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in)
    return NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = text ? fread(text, 1, (1 << 20) - 1, in) : 0;
  fclose(in);
  if (text)
    text[n] = 0;
  return text;
}

static void write_text(const char *path, const char *text) {
  FILE *out = fopen(path, "wb");
  if (!out || fputs(text, out) < 0) {
    perror(path);
    failures++;
  }
  if (out)
    fclose(out);
}

static void show_difference(const char *path, const char *version, const char *want,
                            const char *got) {
  int line = 1;
  for (; *want && *want == *got; want++, got++)
    line += *want == '\n';
  while (line > 1 && want[-1] != '\n')
    want--, got--;
  fprintf(stderr, "%s differs for %s at line %d:\n  want: %.*s\n  got:  %.*s\n", path, version,
          line, (int)strcspn(want, "\n"), want, (int)strcspn(got, "\n"), got);
  failures++;
}

typedef struct Case {
  const char *dir, *name;
  char common[512];
} Case;

static void golden_path(char *path, const Case *c, const char *version, bool failed) {
  const char *dot = version ? "." : "";
  snprintf(path, 512, CASES "%s%s%s%s.%s", c->dir, c->name, dot, version ? version : "",
           failed ? "err" : "ssa");
}

static void compare(const Case *c, const char *version, const char *text, bool failed) {
  char path[512];
  golden_path(path, c, version, failed);
  char *want = read_text(path);
  if (!want) {
    golden_path(path, c, NULL, failed);
    want = read_text(path);
  }
  if (!want) {
    fprintf(stderr, "%s: no golden file; the text for %s is\n%s", path, version, text);
    failures++;
  } else if (strcmp(want, text) != 0) {
    show_difference(path, version, want, text);
  }
  free(want);
}

static void update(Case *c, const char *version, const char *text, bool failed, bool first) {
  char path[512], other[512];
  golden_path(path, c, version, failed);
  unlink(path);
  golden_path(other, c, version, !failed);
  unlink(other);
  if (first) {
    golden_path(other, c, NULL, !failed);
    unlink(other);
    golden_path(c->common, c, NULL, failed);
    write_text(c->common, text);
    return;
  }
  char *common = read_text(c->common);
  if (!common || strcmp(common, text) != 0)
    write_text(path, text);
  free(common);
}

static void run_function(Corpus **corpora, const char *dir, const char *name, bool rewrite) {
  Case c = {.dir = dir, .name = name};
  bool first = true;
  for (int v = 0; v < VERSIONS; v++) {
    const FrozenFunc *func = corpora[v] ? corpus_func(corpora[v], name) : NULL;
    if (!func)
      continue;
    bool failed;
    char *text = lifted(func, &failed);
    if (rewrite)
      update(&c, order[v], text, failed, first);
    else
      compare(&c, order[v], text, failed);
    free(text);
    first = false;
  }
}

/* Returns the number of functions. */
static uint32_t run_corpus(const char *prefix, const char *dir, bool rewrite) {
  Corpus *corpora[VERSIONS];
  for (int v = 0; v < VERSIONS; v++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, order[v]);
    corpora[v] = corpus_open(name);
  }
  uint32_t n = corpora[0] ? corpus_count(corpora[0]) : 0;
  for (uint32_t k = 0; k < n; k++)
    run_function(corpora, dir, corpus_name(corpora[0], k), rewrite);
  for (int v = 0; v < VERSIONS; v++)
    corpus_close(corpora[v]);
  return n;
}

int main(int argc, char **argv) {
  bool rewrite = argc > 1 && !strcmp(argv[1], "--update");
  uint32_t n = run_corpus("", "", rewrite), extra = run_corpus("extra-", "extra/", rewrite);
  if (!n || !extra) {
    fprintf(stderr, "tests/data/bytecode is missing\n");
    return 1;
  }
  printf("%u functions, %d failures\n", n + extra, failures);
  return failures != 0;
}
