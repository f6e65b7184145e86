/* Errors: each construct that a kernel cannot have gives its own error, at its place, from every
 * version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/bc.h"
#include "frontend/lift.h"
#include "tests/unit/support/corpus.h"

static int failures;

#define CHECK(c, ...)                                                                              \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fputc('\n', stderr);                                                                         \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

typedef struct Bad {
  const char *name;
  ErrorId error;
  int line, col; /* as Loc has them; -1: no column */
} Bad;

static const Bad corpus_bad[] = {
    {"bad_try", ERR_TRY, 558, 4},
    {"bad_finally", ERR_TRY, 565, 4},
    {"bad_with", ERR_WITH, 572, 9},
    {"bad_generator", ERR_GENERATOR, 578, 8},
    {"bad_async", ERR_ASYNC, 581, -1},
    {"bad_comprehension", ERR_COMPREHENSION, 586, 8},
    {"bad_set", ERR_SET, 596, 8},
    {"bad_import", ERR_IMPORT, 601, 4},
    {"bad_class", ERR_CLASS, 606, 4},
    {"bad_global_store", ERR_GLOBAL_STORE, 618, 4},
    {"bad_nonlocal", ERR_NONLOCAL_STORE, 636, 8},
};

static const Bad extra_bad[] = {
    {"bad_capture", ERR_CAPTURE, 0, 0},
    {"bad_capture_self", ERR_CAPTURE, 0, 0},
    {"bad_capture_loop", ERR_CAPTURE, 0, 0},
    {"bad_kwargs", ERR_VARARGS_KERNEL, 0, 0},
    {"bad_star_star", ERR_STAR_CALL, 0, 0},
    {"bad_star_star_items", ERR_STAR_CALL, 0, 0},
    {"bad_setcomp", ERR_COMPREHENSION, 0, 0},
    {"bad_dictcomp", ERR_COMPREHENSION, 0, 0},
    {"bad_nested_comprehension", ERR_COMPREHENSION, 0, 0},
    {"bad_set_update", ERR_SET, 0, 0},
    {"bad_import_from", ERR_IMPORT, 0, 0},
    {"bad_delete_global", ERR_DELETE, 0, 0},
    {"bad_delete_attribute", ERR_DELETE, 0, 0},
    {"bad_delete_cell", ERR_DELETE, 0, 0},
    {"bad_nested_try", ERR_TRY, 0, 0},
    {"bad_with_two", ERR_WITH, 0, 0},
    {"bad_yield_from", ERR_GENERATOR, 0, 0},
    {"bad_await", ERR_ASYNC, 0, 0},
    {"bad_async_generator", ERR_ASYNC, 0, 0},
    {"bad_async_for", ERR_ASYNC, 0, 0},
    {"bad_match_class", ERR_MATCH_PATTERN, 0, 0},
    {"bad_match_mapping", ERR_MATCH_PATTERN, 0, 0},
};

/* The error of lifting, ERR_OK if it lifts; *at is its place. */
static ErrorId lift_error(const FrozenFunc *func, DiagPlace *at, char *message, size_t size) {
  Cx *cx = cx_new();
  ErrorId id = ERR_MEMORY;
  if (!cx)
    return id;
  if (CX_TRY(cx)) {
    (void)bc_lift(cx, func);
    id = ERR_OK;
  } else {
    id = cx->diag.id;
    *at = cx->diag.at;
    at->file = at->function = NULL;
    snprintf(message, size, "%s", cx->diag.message);
  }
  cx_free(cx);
  return id;
}

static void check_bad(Corpus *c, const char *version, const Bad *bad) {
  const FrozenFunc *f = corpus_func(c, bad->name);
  DiagPlace at = {0};
  char message[256] = "";
  CHECK(f, "%s: no %s", version, bad->name);
  if (!f)
    return;
  ErrorId id = lift_error(f, &at, message, sizeof message);
  CHECK(id == bad->error, "%s of %s: %s, not %s: %s", bad->name, version, ir_errors[id].id,
        ir_errors[bad->error].id, message);
  CHECK(at.line > 0, "%s of %s has no line", bad->name, version);
  if (bad->line)
    CHECK(at.line == bad->line && at.col == bad->col, "%s of %s at %d:%d", bad->name, version,
          at.line, at.col);
}

static void test_bad_functions(void) {
  for (const char *const *v = corpus_versions; *v; v++) {
    char extra[32];
    snprintf(extra, sizeof extra, "extra-%s", *v);
    Corpus *c = corpus_open(*v), *x = corpus_open(extra);
    CHECK(c, "%s is missing", *v);
    for (size_t k = 0; c && k < sizeof corpus_bad / sizeof *corpus_bad; k++)
      check_bad(c, *v, &corpus_bad[k]);
    for (size_t k = 0; x && k < sizeof extra_bad / sizeof *extra_bad; k++)
      check_bad(x, extra, &extra_bad[k]);
    corpus_close(c);
    corpus_close(x);
  }
}

/* An opcode that the table knows by no name, or by one that has no meaning here, is an error only
 * where it is reached. */
static void test_unknown_opcode(void) {
  Corpus *c = corpus_open("3.12");
  const FrozenFunc *f = corpus_func(c, "add");
  Cx *cx = cx_new();
  Code *code = corpus_copy(cx, f->code);
  FrozenFunc func = *f;
  func.code = code;
  DiagPlace at;
  char message[256];
  uint8_t *bytes = (uint8_t *)(uintptr_t)code->bytes;

  bytes[0] = 254; /* INSTRUMENTED_LINE */
  CHECK(lift_error(&func, &at, message, sizeof message) == ERR_BYTECODE,
        "an instrumented opcode lifts");
  CHECK(strstr(message, "INSTRUMENTED_LINE") && strstr(message, "3.12"), "%s", message);
  bytes[0] = 200; /* no opcode at all */
  CHECK(lift_error(&func, &at, message, sizeof message) == ERR_BYTECODE, "opcode 200 lifts");
  CHECK(strstr(message, "number 200"), "%s", message);
  bytes[0] = f->code->bytes[0];

  uint8_t *longer = arena_alloc(&cx->arena,
                                code->nbytes + 2); /* behind the last return: never reached */
  memcpy(longer, code->bytes, code->nbytes);
  longer[code->nbytes] = 254;
  code->bytes = longer;
  code->nbytes += 2;
  CHECK(lift_error(&func, &at, message, sizeof message) == ERR_OK, "an unreached opcode fails: %s",
        message);
  cx_free(cx);
  corpus_close(c);
}

static void test_global_names(void) {
  Corpus *c = corpus_open("3.13");
  Cx *cx = cx_new();
  if (CX_TRY(cx)) {
    const char *const *names = bc_global_names(cx, corpus_func(c, "calls_helper")->code);
    CHECK(!strcmp(names[0], "cuda") && !strcmp(names[1], "helper") &&
              !strcmp(names[2], "many_returns") && !names[3],
          "the globals of calls_helper");
    names = bc_global_names(cx, corpus_func(c, "make_closure")->code);
    CHECK(!strcmp(names[0], "cuda") && !names[1], "the globals of a nested function");
  } else {
    CHECK(false, "%s", cx->diag.message);
  }
  cx_free(cx);
  corpus_close(c);
}

/* Our own spellings in opcodes.def are not names that a version could have. */
static void test_table(void) {
  const char *names[256] = {"branch", "NOP", "NOT_AN_OPCODE", "LOAD_FAST"};
  OpTable *t = bc_optable_new(&(OpTableInput){.version = 313, .op_names = names});
  CHECK(t && t->op[0] == BC_unknown && t->op[1] == BC_NOP && t->op[2] == BC_unknown &&
            t->op[3] == BC_LOAD_FAST && t->op[4] == BC_unknown,
        "opcode table");
  CHECK(bc_optable_version(t) == 313, "version");
  bc_optable_free(t);
}

int main(void) {
  test_bad_functions();
  test_unknown_opcode();
  test_global_names();
  test_table();
  return failures != 0;
}
