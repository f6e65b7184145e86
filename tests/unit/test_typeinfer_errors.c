/* Errors of typing: each is raised by lifted SSA written here, and by nothing that a path cannot
 * reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "tests/unit/support/parse.h"
#include "typeinfer/infer.h"

static int failures;

/* --- functions that cases may call: global '@NAME' --- */

typedef struct Helper {
  const char *name, *params[3], *text;
  uint32_t nparams, flags;
} Helper;

static const Helper helpers[] = {
    {"twice",
     {"x"},
     "func twice(x) {\nb0:\n %0 = param 0 'x'\n %1 = add %0, %0\n ret %1\n}\n",
     1,
     0},
    {"endless",
     {"x"},
     "func endless(x) {\nb0:\n %0 = param 0 'x'\n %1 = global '@endless'\n %2 = call %1, %0\n ret %2\n}\n",
     1,
     0},
    {"deeper",
     {"x"},
     "func deeper(x) {\nb0:\n %0 = param 0 'x'\n %1 = global '@deeper'\n %2 = tuple %0\n %3 = call %1, %2\n ret %3\n}\n",
     1,
     0},
    {"mixed",
     {"x"},
     "func mixed(x) {\nb0:\n %0 = param 0 'x'\n condbr %0, b1, b2\nb1:\n ret %0\nb2:\n %1 = tuple %0\n ret %1\n}\n",
     1,
     0},
    {"wrong",
     {"x"},
     "func wrong(x) {\nb0:\n %0 = param 0 'x'\n %1 = const None\n %2 = add %0, %1\n ret %2\n}\n",
     1,
     0},
    {"keywords",
     {"k"},
     "func keywords(k) {\nb0:\n %0 = param 0 'k'\n ret %0\n}\n",
     0,
     CODE_VARKEYWORDS},
};

enum { HELPERS = sizeof helpers / sizeof *helpers };
static Code codes[HELPERS];
static FrozenFunc funcs[HELPERS];
static Frozen frozen[HELPERS];
static const char *case_text;

static void make_helpers(void) {
  for (int k = 0; k < HELPERS; k++) {
    const Helper *h = &helpers[k];
    codes[k] = (Code){.name = h->name,
                      .qualname = h->name,
                      .filename = "helpers.py",
                      .firstlineno = 1,
                      .argcount = h->nparams,
                      .flags = h->flags,
                      .localsplus = h->params,
                      .nlocalsplus = h->nparams,
                      .nlocals = h->nparams};
    funcs[k] = (FrozenFunc){.code = &codes[k]};
    frozen[k] = (Frozen){.kind = FZ_FUNC, .func = &funcs[k]};
  }
}

static const Frozen *special(Cx *cx, const char *name) {
  for (int k = 0; k < HELPERS; k++)
    if (!strcmp(helpers[k].name, name))
      return &frozen[k];
  Frozen *f = CX_NEW(cx, Frozen);
  f->kind = !strcmp(name, "missing")    ? FZ_UNSET
            : !strcmp(name, "ellipsis") ? FZ_ELLIPSIS
                                        : FZ_OPAQUE;
  f->text = name;
  return f;
}

static Fn *lift(Cx *cx, const FrozenFunc *func) {
  const char *text = case_text;
  for (int k = 0; k < HELPERS; k++)
    if (func->code == &codes[k])
      text = helpers[k].text;
  Fn *fn = ir_parse_fn(cx, text);
  fn->symbol = NULL;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      const Frozen *f = i->op == OP_GLOBAL ? i->aux.frozen : NULL;
      if (f && f->kind == FZ_STR && *f->text == '@')
        i->aux.frozen = special(cx, f->text + 1);
      if (i->op == OP_UNSET) {
        i->aux.name = i->name;
        i->name = NULL;
      }
    }
  return fn;
}

/* --- cases --- */

typedef struct Case {
  ErrorId want;                 /* ERR_OK: it types */
  const char *signature, *body; /* of k(a, b): %0 and %1 */
} Case;

#define NONE "  %99 = const None\n  ret %99\n"
#define A    "float32[::1], pyint"

static const Case cases[] = {
    {ERR_OK, A, NONE},
    {ERR_UNDEFINED, A, "  %2 = global '@missing'\n  %3 = add %2, %1\n" NONE},
    {ERR_UNSET_VAR, A,
     "  %2 = unset 'x'\n  %6 = const False\n  condbr %6, b1, b2\nb1:\n  %3 = const 1\n  br b2\nb2:\n"
     "  %4 = phi %2 b0, %3 b1 'x'\n  %7 = read %4 'x'\n  %5 = add %7, %1\n" NONE},
    {ERR_OK, A,
     "  %2 = unset 'x'\n  condbr %1, b1, b2\nb1:\n  %3 = const 1\n  br b2\nb2:\n  %4 = phi %2 b0, %3 b1 'x'\n"
     "  %7 = read %4 'x'\n  %5 = add %7, %1\n" NONE},
    {ERR_NO_ATTRIBUTE, A, "  %2 = getattr %0 'shap'\n" NONE},
    {ERR_NO_ATTRIBUTE, A, "  %2 = global <module pyptx.cuda>\n  %3 = getattr %2 'gird'\n" NONE},
    {ERR_NO_ATTRIBUTE, A, "  %2 = global <module math>\n  %3 = getattr %2 'sine'\n" NONE},
    {ERR_NO_COMMON_TYPE, A,
     "  condbr %1, b1, b2\nb1:\n  %3 = const 1\n  br b3\nb2:\n  %4 = tuple %1\n  br b3\nb3:\n"
     "  %5 = phi %3 b1, %4 b2 'x'\n  %6 = add %5, %1\n" NONE},
    {ERR_OK, A,
     "  condbr %1, b1, b2\nb1:\n  %3 = const 1\n  br b3\nb2:\n  %4 = tuple %1\n  br b3\n"
     "b3:\n" /* not used: no error */
     "  %5 = phi %3 b1, %4 b2 'x'\n" NONE},
    {ERR_NO_COMMON_TYPE, "float32[::1], int32[::1]",
     "  %2 = const 0\n  %5 = getitem %0, %2\n  condbr %5, b1, b2\nb1:\n  br b2\nb2:\n"
     "  %3 = phi %0 b0, %1 b1 'x'\n  %4 = getitem %3, %2\n" NONE},
    {ERR_WHOLE_ARRAY, A, "  %2 = add %0, %1\n" NONE},
    {ERR_BAD_OPERANDS, "bool, bool", "  %2 = sub %0, %1\n" NONE},
    {ERR_BAD_OPERANDS, "float32, pyint", "  %2 = and %0, %1\n" NONE},
    {ERR_BAD_OPERAND, "bool, bool", "  %2 = neg %0\n" NONE},
    {ERR_WHOLE_ARRAY, A, "  condbr %0, b1, b1\nb1:\n" NONE},
    {ERR_BAD_OPERAND, A, "  %2 = getitem %1, %1\n" NONE},
    {ERR_LITERAL_RANGE, "uint8, pyint", "  %2 = const 300\n  %3 = add %0, %2\n" NONE},
    {ERR_LITERAL_RANGE, "uint8, pyint", "  %2 = const -1\n  %3 = mul %2, %0\n" NONE},
    {ERR_OK, "uint8, pyint", "  %2 = const 300\n  %3 = lt %0, %2\n" NONE},
    {ERR_LITERAL_RANGE, A,
     "  %2 = global <type uint8>\n  %3 = const 256\n  %4 = call %2, %3\n" NONE},
    {ERR_NOT_CALLABLE, A, "  %2 = call %1, %1\n" NONE},
    {ERR_NOT_CALLABLE, A, "  %2 = global '@dict'\n  %3 = call %2\n" NONE},
    {ERR_ARGUMENTS, A, "  %2 = global cuda.grid\n  %3 = call %2\n" NONE},
    {ERR_ARGUMENTS, A, "  %2 = global cuda.grid\n  %3 = const 4\n  %4 = call %2, %3\n" NONE},
    {ERR_ARGUMENTS, A, "  %2 = global cuda.grid\n  %3 = call names=('axes',) %2, %1\n" NONE},
    {ERR_ARGUMENTS, A, "  %2 = global '@twice'\n  %3 = call %2, %1, %1\n" NONE},
    {ERR_ARGUMENTS, A, "  %2 = global '@twice'\n  %3 = call names=('y',) %2, %1\n" NONE},
    {ERR_ARGUMENT_TYPE, A, "  %2 = global builtins.max\n  %3 = call %2, %1\n" NONE},
    {ERR_ARGUMENTS, A,
     "  %2 = global builtins.range\n  %3 = const 0\n  %4 = call %2, %1, %1, %3\n" NONE},
    {ERR_ARGUMENT_TYPE, A, "  %2 = global math.sin\n  %3 = call %2, %0\n" NONE},
    {ERR_ARGUMENT_TYPE, A,
     "  %2 = global builtins.range\n  %3 = const 1.5\n  %4 = call %2, %3\n" NONE},
    {ERR_NOT_CONSTANT, A, "  %2 = global cuda.grid\n  %3 = call %2, %1\n" NONE},
    {ERR_NOT_CONSTANT, A,
     "  %2 = global cuda.shared.array\n  %3 = global <type float32>\n  %4 = call %2, %1, %3\n" NONE},
    {ERR_NOT_CONSTANT, A,
     "  %2 = const None\n  %3 = slice %1, %2, %2\n  %4 = tuple %1, %1\n  %5 = getitem %4, %3\n" NONE},
    {ERR_RETURN_VALUE, A, "  ret %1\n"},
    {ERR_RETURN_TYPES, A, "  %2 = global '@mixed'\n  %3 = call %2, %1\n" NONE},
    {ERR_RECURSION, A, "  %2 = global '@endless'\n  %3 = call %2, %1\n" NONE},
    {ERR_TOO_DEEP, A, "  %2 = global '@deeper'\n  %3 = call %2, %1\n" NONE},
    {ERR_BAD_OPERANDS, A, "  %2 = global '@wrong'\n  %3 = call %2, %1\n" NONE},
    {ERR_VARARGS_KERNEL, A, "  %2 = global '@keywords'\n  %3 = call %2\n" NONE},
    {ERR_UNPACK_COUNT, A, "  %2 = tuple %1, %1\n  %3 = unpack 0/3 %2\n" NONE},
    {ERR_UNPACK_COUNT, A, "  %2 = getattr %0 'shape'\n  %3 = unpack 0/2 %2\n" NONE},
    {ERR_BAD_OPERAND, A, "  %2 = unpack 0/2 %1\n" NONE},
    {ERR_NOT_ITERABLE, A, "  %2 = iter %1\n" NONE},
    {ERR_OBJECT_VALUE, A, "  %2 = global builtins.print\n  %3 = call %2, %0\n" NONE},
    {ERR_TUPLE_INDEX, A, "  %2 = tuple %1, %1\n  %3 = const 2\n  %4 = getitem %2, %3\n" NONE},
    {ERR_TUPLE_MIXED, A, "  %2 = tuple %1, %0\n  %3 = getitem %2, %1\n" NONE},
    {ERR_SIGNATURE, "float32[", NONE},
    {ERR_SIGNATURE, "float33, pyint", NONE},
    {ERR_SIGNATURE, "float32 pyint", NONE},
    {ERR_ARGUMENTS, "float32", NONE},
    {ERR_ARGUMENTS, "float32, float32, float32", NONE},
    {ERR_FUNCTION_PHI, A,
     "  %2 = global math.sin\n  %3 = global math.cos\n  condbr %1, b1, b2\nb1:\n  br b2\nb2:\n"
     "  %4 = phi %2 b0, %3 b1 'f'\n  %5 = call %4, %1\n" NONE},
    {ERR_INDEX_COUNT, A, "  %2 = tuple %1, %1\n  %3 = getitem %0, %2\n" NONE},
    {ERR_INDEX_TYPE, A, "  %2 = const 1.5\n  %3 = getitem %0, %2\n" NONE},
    {ERR_INDEX_TYPE, A, "  %2 = const 'x'\n  %3 = getitem %0, %2\n" NONE},
    {ERR_READ_ONLY, "readonly float32[::1], pyint", "  setitem %0, %1, %1\n" NONE},
    {ERR_STORE_TYPE, A, "  %2 = tuple %1\n  setitem %0, %1, %2\n" NONE},
    {ERR_STORE_VIEW, A, "  %2 = const None\n  %3 = slice %2, %2, %2\n  setitem %0, %3, %2\n" NONE},
    {ERR_SHAPE, A,
     "  %2 = global cuda.local.array\n  %3 = global <type float32>\n  %4 = const 0\n  %5 = call %2, %4, %3\n" NONE},
    {ERR_SHAPE, A,
     "  %2 = global cuda.shared.array\n  %3 = global <type float32>\n  %4 = const (4, -1)\n  %5 = call %2, %4, %3\n" NONE},
    {ERR_SHAPE, A,
     "  %2 = global cuda.shared.array\n  %3 = global <type float32>\n  %4 = const 1.5\n  %5 = call %2, %4, %3\n" NONE},
    {ERR_DTYPE, A, "  %2 = global cuda.local.array\n  %4 = const 8\n  %5 = call %2, %4, %4\n" NONE},
    {ERR_ATOMIC_TYPE, "bool[::1], pyint",
     "  %2 = global cuda.atomic.add\n  %3 = call %2, %0, %1, %1\n" NONE},
    {ERR_ATOMIC_TYPE, A, "  %2 = global cuda.atomic.and_\n  %3 = call %2, %0, %1, %1\n" NONE},
    {ERR_CONST_ARRAY, A, "  %2 = global cuda.const.array_like\n  %3 = call %2, %0\n" NONE},
    {ERR_LAYOUT, "float32[:,:], pyint", "  %2 = getattr %0 'reshape'\n  %3 = call %2, %1\n" NONE},
    {ERR_ARGUMENT_TYPE, "float32[:,::1], float32",
     "  %2 = getattr %0 'reshape'\n  %3 = call %2, %1\n" NONE},
    {ERR_SETATTR, A, "  setattr %0, %1 'size'\n" NONE},
    {ERR_STRING_BUILD, A, "  %2 = const 'x'\n  %3 = add %2, %2\n" NONE},
    {ERR_LIST, A, "  %2 = list %1, %1\n  setitem %2, %1, %1\n" NONE},
    {ERR_STAR_CALL, A, "  %2 = global '@twice'\n  %3 = call_star %2, %0\n" NONE},
    {ERR_DELETE, A, "  delitem %0, %1\n" NONE},
    {ERR_OK, A,
     "  %2 = const None\n  %3 = is %1, %2\n  condbr %3, b1, b2\nb1:\n  %4 = add %0, %0\n  br b2\nb2:\n" NONE},
    {ERR_OK, "none, pyint",
     "  %2 = const None\n  %3 = is_not %0, %2\n  condbr %3, b1, b2\nb1:\n  %4 = add %0, %0\n  br b2\nb2:\n" NONE},
};

static void run_case(size_t n) {
  const Case *c = &cases[n];
  static const char *const params[] = {"a", "b"};
  Code code = {.name = "k",
               .qualname = "k",
               .filename = "k.py",
               .firstlineno = 1,
               .argcount = 2,
               .localsplus = params,
               .nlocalsplus = 2};
  FrozenFunc func = {.code = &code};
  Cx *cx = cx_new();
  char text[2048];
  snprintf(text, sizeof text,
           "func k(a, b) {\nb0:\n  %%0 = param 0 'a'\n  %%1 = param 1 'b'\n%s}\n", c->body);
  case_text = text;
  cx->lift = lift;
  if (CX_TRY(cx)) {
    Signature sig = ty_signature(cx, c->signature);
    (void)ty_infer(cx, &func, &sig, true);
  }
  if (cx->diag.id != c->want) {
    fprintf(stderr, "case %zu: want %s, got %s %s\n%s\n", n,
            c->want ? ir_errors[c->want].code : "no error",
            cx->diag.id ? ir_errors[cx->diag.id].code : "no error",
            cx->diag.id ? cx->diag.message : "", text);
    failures++;
  }
  if (getenv("PYPTX_SHOW") && cx->diag.id) {
    char *shown = diag_render(&cx->diag, NULL, NULL);
    printf("%s\n\n", shown);
    free(shown);
  }
  cx_free(cx);
}

/* PYPTX_SHOW=1 prints the messages. */
int main(void) {
  make_helpers();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    run_case(k);
  if (failures)
    fprintf(stderr, "%d failed\n", failures);
  return failures != 0;
}
