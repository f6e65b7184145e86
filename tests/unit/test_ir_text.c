/* IR text: what is printed parses back to the same text; the verifier sees broken links; clean-ups
 * do what they say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "ir/cfg.h"
#include "ir/verify.h"
#include "tests/unit/support/parse.h"

static int failures;
#define CHECK(c)                                                                                   \
  ((c) ? (void)0 : (failures++, (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #c)))

static const char *const typed_loop = "func total(a: float32[::1], n: pyint) -> float32 {\n"
                                      "b0:\n"
                                      "  %0: float32[::1] = param 0 'a'\n"
                                      "  %1: pyint = param 1 'n'\n"
                                      "  %2: float32 = const 0.0\n"
                                      "  %3: pyint = const 0\n"
                                      "  %4: pyint = const 1\n"
                                      "  br b1\n"
                                      "b1:  ; from b0, b2\n"
                                      "  %5: pyint = phi %3 b0, %9 b2 'i' nonneg\n"
                                      "  %6: float32 = phi %2 b0, %8 b2 's'\n"
                                      "  %7: pybool = lt %5, %1\n"
                                      "  condbr %7, b2, b3\n"
                                      "b2:  ; from b1\n"
                                      "  %10: float32 = load ldcg %0, %5\n"
                                      "  %8: float32 = add %6, %10\n"
                                      "  %9: pyint = add %5, %4 nonneg nowrap\n"
                                      "  br b1\n"
                                      "b3:  ; from b1\n"
                                      "  ret %6\n"
                                      "}\n";

static const char *const record_fields =
    "func first(a: record(x: int8 @0, 'a\\x20b': record(v: float64[2,3] @1, t: void[3] @49; 52) @1; 53)[::1], n: pyint) -> float64 {\n"
    "b0:\n"
    "  %0: record(x: int8 @0, 'a\\x20b': record(v: float64[2,3] @1, t: void[3] @49; 52) @1; 53)[::1] = param 0 'a'\n"
    "  %1: pyint = param 1 'n'\n"
    "  %2: record(x: int8 @0, 'a\\x20b': record(v: float64[2,3] @1, t: void[3] @49; 52) @1; 53)[] = view [index] %0, %1\n"
    "  %3: align1 record(v: float64[2,3] @1, t: void[3] @49; 52)[] = view [field:1] %2\n"
    "  %4: align1 float64[:,::1] = view [field:1:2:3] %3\n"
    "  %5: float64 = load %4, %1, %1\n"
    "  ret %5\n"
    "}\n";

static const char *const site =
    "func call(n: int32) -> none {\n"
    "b0:\n"
    "  %0: int32 = param 0 'n'\n"
    "  raise UnboundLocalError('cannot access local variable \\'it\\\\s\\' here,\\nset in \"f\"')\n"
    "}\n";

static const char *const declared =
    "func call(a: float32[::1], n: int32) -> float32 {\n"
    "b0:\n"
    "  %0: float32[::1] = param 0 'a'\n"
    "  %1: int32 = param 1 'n'\n"
    "  call_c <declared c f_2: none(int32)> %1\n"
    "  %2: float32 = call_c <declared numba g: float32(float32[::1], int32)> %0, %1\n"
    "  ret %2\n"
    "}\n";

static void test_round_trip(const char *text) {
  Cx *cx = cx_new();
  if (CX_TRY(cx)) {
    Fn *fn = ir_parse_fn(cx, text);
    ir_verify(cx, fn, "parse");
    Buf out;
    buf_init(&out, &cx->arena);
    ir_print_fn(cx, &out, fn, false);
    CHECK(!strcmp(out.text, text));
    if (strcmp(out.text, text))
      fputs(out.text, stderr);
  } else {
    fprintf(stderr, "%s\n", cx->diag.message);
    failures++;
  }
  cx_free(cx);
}

static void test_verifier(void) {
  Cx *cx = cx_new();
  if (CX_TRY(cx)) {
    Fn *fn = ir_parse_fn(cx, typed_loop);
    fn->entry->next->first->nargs = 1;
    ir_verify(cx, fn, "sabotage");
    CHECK(!"the verifier let a short phi pass");
  } else {
    CHECK(cx->diag.id == ERR_INTERNAL && strstr(cx->diag.message, "phi"));
  }
  cx_free(cx);
}

static void test_types(void) {
  static const char *const texts[] = {"float32",
                                      "pyint",
                                      "none",
                                      "float32[:,:]",
                                      "float32[:,::1]",
                                      "float64[::1,:]",
                                      "int8[::1]!",
                                      "(pyint, float32[::1])",
                                      "(float32,)",
                                      "()",
                                      "readonly int32[:]",
                                      "shared float32[:,::1]"};
  Cx *cx = cx_new();
  if (CX_TRY(cx)) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      const char *s = texts[i], *error = NULL;
      const Type *t = ty_parse(cx, &s, &error);
      CHECK(t && !*s && !strcmp(ty_name(cx, t), texts[i]));
      const char *again = texts[i];
      CHECK(t == ty_parse(cx, &again, &error));
    }
    static const char *const wrong[] = {"",
                                        "floot32",
                                        "float32[",
                                        "float32[x]",
                                        "pyint[:]",
                                        "(float32",
                                        "float32[::1,::1]",
                                        "float32[:,::1,:]",
                                        "((((((((((((((((((((((((((((((((((((((((((((((((((("};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      const char *s = wrong[i], *error = NULL;
      CHECK(!ty_parse(cx, &s, &error) && error);
    }
  }
  cx_free(cx);
}

static void test_render(void) {
  Diag d = {
      .id = ERR_UNSET_VAR,
      .at = {.file = "k.py", .function = "k", .line = 3, .end_line = 3, .col = 11, .end_col = 12},
      .message = (char *)"variable 'x' may be unset here",
      .remedy = (char *)"give it a value"};
  char *text = diag_render(&d, NULL, NULL);
  CHECK(
      text &&
      strstr(text,
             "PT201: variable 'x' may be unset here\n  k.py:3:12, in k\n  help: give it a value"));
  free(text);
  Diag *copy = diag_copy(&d);
  CHECK(copy && !strcmp(copy->message, d.message) && copy->message != d.message);
  diag_free(copy);
}

static const char *source_line(void *user, const char *file, int32_t line) {
  (void)user, (void)file;
  if (!line)
    return "Cell In[3]";
  return "\tälter = x[höhe + 1]\n";
}

static void test_caret(void) {
  Diag d = {
      .id = ERR_UNSET_VAR,
      .at = {.file = "k.py", .function = "k", .line = 1, .end_line = 1, .col = 12, .end_col = 17},
      .message = (char *)"m",
      .remedy = (char *)"r"};
  char *text = diag_render(&d, source_line, NULL);
  CHECK(text && strstr(text, "    älter = x[höhe + 1]\n              ^^^^\n") &&
        strstr(text, "\n  Cell In[3]:1:13, in k\n") && !strstr(text, "k.py"));
  if (text && !strstr(text, "^^^^\n"))
    fputs(text, stderr);
  free(text);
}

int main(void) {
  test_round_trip(typed_loop);
  test_round_trip(record_fields);
  test_round_trip(declared);
  test_round_trip(site);
  test_verifier();
  test_types();
  test_render();
  test_caret();
  if (failures)
    fprintf(stderr, "%d failed\n", failures);
  return failures != 0;
}
