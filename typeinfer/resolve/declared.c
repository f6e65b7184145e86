/* Declared: calls of functions whose signatures are given, as those of other modules and those of
 * @cuda.jit("int32(int32)", device=True).
 * In: values as the call has them. Out: values of the declared types; a number is converted as by a
 * store, an array must be one. */
#include <string.h>

#include "typeinfer/infer.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static Val arguments_error(Ty *ty, const char *name, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, name, what);
}

/* --- functions of other modules --- */

static bool takes_array(const Type *want, const Type *given) {
  if (want->pointer) /* any array of them in one piece */
    return given->id == TY_ARRAY && given->elem == want->elem && given->layout != LAYOUT_A;
  return given->id == TY_ARRAY && given->elem == want->elem && given->ndim == want->ndim &&
         (want->layout == LAYOUT_A || given->layout == want->layout);
}

/* Where the signature does not say readonly, it may write. */
static void check_readonly(Ty *ty, const char *name, uint32_t k, const Type *want, Val given) {
  if (given.type->id == TY_ARRAY && given.type->readonly && !want->readonly)
    (void)TY_FAIL_ADVISED(
        ty,
        "write readonly before the array's type in the signature, if the function only reads it",
        ERR_ARGUMENTS, name,
        arena_printf(&ty->cx->arena,
                     "argument %u is %s, which is read-only, and the function may write to it",
                     k + 1, TY_PRETTY(ty, given)));
}

/* x.ctypes stands for x. */
static Val pointed_to(Ty *ty, Val v) {
  bool ctypes = v.type->id == TY_TUPLE && v.type->title && !strcmp(v.type->title, "ctypes");
  return ctypes ? ty_item(ty, v, 1) : v;
}

/* Numbers are converted as by a store; of an array the function gets the address. */
Val ty_call_declared(Ty *ty, const Frozen *f, const Val *args, uint32_t n, const Frozen *names) {
  Signature sig = ty_signature(ty->cx, f->names[0]);
  const char *name = arena_printf(&ty->cx->arena, "%s()", f->text);
  Val *passed = CX_ARRAY(ty->cx, Val, n + 1);
  if (names)
    return arguments_error(ty, name, "a declared function has no keywords");
  if (n != sig.nargs)
    return arguments_error(ty, name,
                           arena_printf(&ty->cx->arena, "it takes %u argument%s, but %u are given",
                                        sig.nargs, sig.nargs == 1 ? "" : "s", n));
  for (uint32_t k = 0; k < n; k++) {
    const Type *want = sig.args[k];
    if (ty_is_bottom(args[k]))
      return BOTTOM;
    Val given = want->pointer ? pointed_to(ty, args[k]) : args[k];
    bool fits = want->id == TY_ARRAY ? takes_array(want, given.type)
                                     : ty_can_store(given.type, want);
    if (!fits)
      return TY_FAIL(ty, ERR_ARGUMENT_TYPE, name, arena_printf(&ty->cx->arena, "%u", k + 1),
                     TY_PRETTY(ty, (Val){.type = want}), TY_PRETTY(ty, given));
    check_readonly(ty, name, k, want, given);
    passed[k] = want->id == TY_ARRAY ? given : ty_cast(ty, given, want);
  }
  bool returns = sig.result && sig.result->id != TY_NONE;
  Val v = ty_op(ty, OP_CALL_C, returns ? sig.result : ty_id(ty, TY_VOID), passed, n);
  if (v.ins)
    v.ins->aux.frozen = f;
  return returns || ty_is_bottom(v) ? v : ty_none(ty);
}

/* --- @cuda.jit("int32(int32)", device=True) --- */

enum { NO = -1, KEPT = 1, WEAK = 2, LOSSY = 1000 }; /* prices of passing a value as another type */

static int price(Ty *ty, const Type *given, const Type *want) {
  if (given == want)
    return 0;
  if (want->id == TY_ARRAY)
    return takes_array(want, given) ? 0 : NO;
  if (want->id == TY_RECORD)
    return given->id == TY_ARRAY && !given->ndim && given->elem == want ? 0 : NO;
  if (want->id == TY_TUPLE) {
    if (given->id != TY_TUPLE || given->n != want->n)
      return NO;
    int sum = KEPT;
    for (uint32_t k = 0; k < want->n; k++) {
      int one = price(ty, given->elems[k], want->elems[k]);
      if (one < 0)
        return NO;
      sum += one;
    }
    return sum;
  }
  if (!ty_is_value(want) || !ty_can_store(given, want))
    return NO;
  if (!ty_is_number(given) || !ty_is_number(want))
    return LOSSY;
  bool kept = ty_promote(ty->cx->typing, ty_strengthen(given->id), want->id) == want->id;
  bool literal = ty_is_weak(given) && ty_kind(given) <= ty_kind(want);
  return literal ? WEAK : kept ? KEPT : LOSSY;
}

static int price_of_all(Ty *ty, const Signature *sig, const Val *given, uint32_t n) {
  if (sig->nargs != n)
    return NO;
  int sum = 0;
  for (uint32_t k = 0; k < n; k++) {
    int one = price(ty, given[k].type, sig->args[k]);
    if (one < 0)
      return NO;
    sum += one;
  }
  return sum;
}

static bool fits_none(Ty *ty, const FrozenFunc *func, const Val *given, uint32_t n) {
  Arena *arena = &ty->cx->arena;
  const char *types = "", *declared = "";
  for (uint32_t k = 0; k < n; k++)
    types = arena_printf(arena, "%s%s%s", types, k ? ", " : "", ty_name(ty->cx, given[k].type));
  for (uint32_t k = 0; k < func->options->nsignatures; k++)
    declared = arena_printf(arena, "%s%s%s", declared, k ? ", " : "", func->options->signatures[k]);
  (void)TY_FAIL_ADVISED(
      ty, "convert the arguments, or declare the function for these types too", ERR_ARGUMENTS,
      arena_printf(arena, "%s()", func->code->qualname),
      arena_printf(arena, "it is declared for %s and cannot take (%s)", declared, types));
  return false;
}

bool ty_as_declared(Ty *ty, const FrozenFunc *func, Val *args, uint32_t n, const Type **result) {
  Signature best = {0};
  int least = NO;
  for (uint32_t k = 0; k < func->options->nsignatures; k++) {
    Signature sig = ty_signature(ty->cx, func->options->signatures[k]);
    int sum = price_of_all(ty, &sig, args, n);
    if (sum >= 0 && (least < 0 || sum < least)) {
      least = sum;
      best = sig;
    }
  }
  if (least < 0)
    return fits_none(ty, func, args, n);
  for (uint32_t k = 0; k < n; k++) {
    bool passed = best.args[k]->id == TY_ARRAY || best.args[k]->id == TY_RECORD;
    if (!passed && ty_is_bottom(args[k] = ty_cast(ty, args[k], best.args[k])))
      return false;
  }
  *result = best.result;
  return true;
}

Val ty_result_as_declared(Ty *ty, const FrozenFunc *func, Val v, const Type *result) {
  if (ty_is_bottom(v) || result->id == TY_NONE)
    return v;
  if (price(ty, v.type, result) < 0)
    return TY_FAIL_ADVISED(
        ty, "declare what it returns, or leave out the result: (int32, int32)", ERR_ARGUMENTS,
        arena_printf(&ty->cx->arena, "%s()", func->code->qualname),
        arena_printf(&ty->cx->arena, "it is declared to return %s and returns %s",
                     ty_name(ty->cx, result), TY_PRETTY(ty, v)));
  bool passed = result->id == TY_ARRAY || result->id == TY_RECORD;
  return passed ? v : ty_cast(ty, v, result);
}
