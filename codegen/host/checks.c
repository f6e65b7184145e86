/* Checks: what @cuda.jit(check=) adds to the code of one thread on the host.
 *
 * In: each operation, before and after it is lowered, and options.check. Out: calls of
 * runtime/host/check.h around accesses to memory, fences and the ends of threads, and tests of
 * arithmetic; what is found traps at a site whose message is the array with its index. */
#include "codegen/host/checks.h"

#include <math.h>
#include <string.h>

#include "codegen/lower/private.h"

static bool looks_for(const Lower *lw, int what) { return (lw->cg->options.check & what) != 0; }

static uint32_t site_at(Lower *lw, const char *what, Loc loc) {
  return ir_site(lw->cx, lw->cg->program, "RuntimeError", what, loc)->number;
}

uint32_t cg_host_check_site(Lower *lw, const char *what) { return site_at(lw, what, lw->ins->loc); }

/* --- calls --- */

/* A call that neither reads nor writes what the program sees, and never unwinds. */
static LLVMValueRef call(Lower *lw, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned n) {
  enum { ITS_OWN_MEMORY = 12 }; /* memory(inaccessiblemem: readwrite) */
  LLVMValueRef v = lw_call_extern(lw, name, result, args, n);
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, name);
  cg_attribute(lw->cg, fn, L_FUNCTION, "nounwind", 0);
  cg_attribute(lw->cg, fn, L_FUNCTION, "memory", ITS_OWN_MEMORY);
  return v;
}

static LLVMValueRef launch_of(Lower *lw) { return cg_host_arg(lw, HOST_LAUNCH); }

/* --- an access --- */

/* The variable that an array is in, as far as it has a name. */
static const char *name_of(const Ins *array) {
  for (;;) {
    if (array->op == OP_ALLOC && array->aux.alloc->name)
      return array->aux.alloc->name;
    if (array->name && *array->name)
      return array->name;
    if (array->op != OP_VIEW)
      return NULL;
    array = array->args[0];
  }
}

/* "x[{0}, {1}]", for trap_text of pyext/raise.c. */
static const char *element_text(Lower *lw, const Ins *array) {
  const char *name = name_of(array), *text = name ? name : "an array";
  for (unsigned k = 0; k < array->type->ndim && k < RT_TRAP_VALUES; k++)
    text = arena_printf(&lw->cx->arena, "%s%s{%u}", text, k ? ", " : "[", k);
  return array->type->ndim ? arena_printf(&lw->cx->arena, "%s]", text) : text;
}

static uint32_t element_bytes(const Ins *array) { return (uint32_t)ty_size(array->type->elem); }

/* Neighbouring elements that a load or a store moves at once. */
static uint32_t elements(const Ins *i) {
  const Type *t = i->op == OP_STORE ? i->args[i->nargs - 1]->type : i->type;
  return t->id == TY_TUPLE ? (uint32_t)t->n : 1;
}

static uint32_t access_bytes(const Ins *i) { return elements(i) * element_bytes(i->args[0]); }

static void trap_at_element(Lower *lw, const Ins *i, uint32_t site) {
  LLVMValueRef values[RT_TRAP_VALUES];
  unsigned n = 0;
  for (unsigned k = 0; k < i->args[0]->type->ndim && k < RT_TRAP_VALUES; k++)
    values[n++] = lw_value(lw, i->args[1 + k]);
  lw->target->trap(lw, site, values, n);
}

/* The arguments of a trap, for a function that may return. */
static void call_with_element(Lower *lw, const char *name, const Ins *i, uint32_t site) {
  LLVMValueRef args[4 + RT_TRAP_VALUES] = {launch_of(lw), lw_i32(lw, (int64_t)site),
                                           cg_host_arg(lw, HOST_BLOCK),
                                           cg_host_arg(lw, HOST_THREAD)};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    args[4 + k] = k < i->args[0]->type->ndim ? lw_value(lw, i->args[1 + k]) : lw_i64(lw, 0);
  lw_call_extern(lw, name, lw->t->none, args, 4 + RT_TRAP_VALUES);
}

/* Goes on where `ok` holds, and leaves the builder where it does not. */
static LLVMBasicBlockRef go_on_if(Lower *lw, LLVMValueRef ok) {
  LLVMBasicBlockRef go = lw_block(lw, "ok"), stop = lw_block(lw, "found");
  lw_branch_weights(lw, l_condbr(lw->b, ok, go, stop), 1u << 20, 1);
  lw_at(lw, stop);
  return go;
}

static LLVMValueRef is_zero(Lower *lw, LLVMValueRef v) {
  return l_icmp(lw->b, LLVMIntEQ, v, LLVMConstNull(LLVMTypeOf(v)));
}

/* Is in memory what the store is about to write? NULL of complex numbers. */
static LLVMValueRef is_stored(Lower *lw, const Ins *i, LLVMValueRef p) {
  const Type *elem = i->args[0]->type->elem;
  if (i->op != OP_STORE || ty_is_complex(elem))
    return NULL;
  LLVMTypeRef bits = cg_int_type(lw->cg, 8 * element_bytes(i->args[0]));
  LLVMValueRef *leaves = lw_leaves(lw, i->args[i->nargs - 1]), same = NULL;
  for (uint32_t k = 0; k < elements(i); k++) {
    LLVMValueRef by = lw_i64(lw, k), at = k ? l_gep_inbounds(lw->b, bits, p, &by, 1) : p,
                 old = l_load(lw->b, bits, at),
                 v = ty_kind(elem) == KIND_BOOL ? l_zext(lw->b, leaves[k], bits)
                                                : l_bitcast(lw->b, leaves[k], bits);
    LLVMSetAlignment(old, 1);
    LLVMValueRef one = l_icmp(lw->b, LLVMIntEQ, old, v);
    same = same ? l_and(lw->b, same, one) : one;
  }
  return same;
}

/* Two plain writes of the same value are no race: another one comes to the same. */
static void allow_same_value(Lower *lw, const Ins *i, LLVMValueRef found, LLVMValueRef p,
                             LLVMBasicBlockRef go) {
  LLVMValueRef stored = is_stored(lw, i, p);
  if (!stored)
    return;
  LLVMBasicBlockRef same = lw_block(lw, "same"), race = lw_block(lw, "race");
  LLVMValueRef both = l_and(lw->b, stored, l_icmp(lw->b, LLVMIntEQ, found, lw_i32(lw, 2)));
  l_condbr(lw->b, both, same, race);
  lw_at(lw, same);
  LLVMValueRef nothing[] = {launch_of(lw), lw_i32(lw, RT_FOUND_NONE)};
  call(lw, "rt_check_found", lw->t->none, nothing, 2);
  l_br(lw->b, go);
  lw_at(lw, race);
}

static LLVMValueRef field_of(Lower *lw, LLVMValueRef p, size_t offset) {
  LLVMValueRef at = lw_i64(lw, (int64_t)offset);
  return l_gep_inbounds(lw->b, lw->t->i8, p, &at, 1);
}

/* What the runtime changes behind the program's back. */
static LLVMValueRef load_noted(Lower *lw, LLVMTypeRef type, LLVMValueRef p) {
  LLVMValueRef v = l_load(lw->b, type, p);
  LLVMSetVolatile(v, 1);
  return v;
}

/* Is the thread the next one of the site's run? Then it counts on, in a block of its own; the
 * builder is left where it is not. Returns the block behind both. */
static LLVMBasicBlockRef follow_run(Lower *lw, LLVMValueRef p, uint32_t shown, uint32_t bytes) {
  LLVMValueRef check = cg_host_launch_field(lw->cg, launch_of(lw), lw->t->ptr,
                                            offsetof(RtHostLaunch, check)),
               runs = cg_host_launch_field(lw->cg, check, lw->t->ptr, 0),
               run = field_of(lw, runs, shown * sizeof(RtRun)),
               thread = cg_host_arg(lw, HOST_THREAD),
               next = field_of(lw, run, offsetof(RtRun, next));
  LLVMValueRef before = l_mul(lw->b, l_zext(lw->b, thread, lw->t->i64), lw_i64(lw, bytes)),
               key = l_sub(lw->b, l_ptrtoint(lw->b, p, lw->t->i64), before);
  LLVMValueRef same = l_icmp(lw->b, LLVMIntEQ, key, load_noted(lw, lw->t->i64, run)),
               its_turn = l_icmp(lw->b, LLVMIntEQ, thread, load_noted(lw, lw->t->i32, next)),
               lane = l_and(lw->b, thread, lw_i32(lw, 31)),
               within = l_icmp(lw->b, LLVMIntNE, lane, lw_i32(lw, 0));
  LLVMBasicBlockRef go = lw_block(lw, "go"), follows = lw_block(lw, "follows"),
                    not = lw_block(lw, "access");
  lw_branch_weights(
      lw, l_condbr(lw->b, l_and(lw->b, l_and(lw->b, same, its_turn), within), follows, not ), 30,
      1);
  lw_at(lw, follows);
  LLVMSetVolatile(l_store(lw->b, l_add(lw->b, thread, lw_i32(lw, 1)), next), 1);
  l_br(lw->b, go);
  lw_at(lw, not );
  return go;
}

static void check_race(Lower *lw, const Ins *i, LLVMValueRef p, uint32_t site, uint32_t kind) {
  uint32_t shown = site < RT_ACCESS_SITES ? site : RT_ACCESS_SITES - 1, bytes = access_bytes(i);
  bool runs = kind != RT_ACCESS_ATOMIC && site == shown && bytes <= 8 &&
              i->args[0]->type->ndim == 1;
  LLVMBasicBlockRef done = runs ? follow_run(lw, p, shown, bytes) : NULL;
  LLVMValueRef args[] = {launch_of(lw), p, cg_host_arg(lw, HOST_THREAD),
                         lw_i32(lw, (int64_t)(kind | shown << RT_ACCESS_SITE)),
                         lw_i32(lw, (int64_t)bytes)};
  LLVMValueRef found = call(lw, runs ? "rt_check_run" : "rt_check_access", lw->t->i32, args, 5);
  LLVMBasicBlockRef go = go_on_if(lw, is_zero(lw, found));
  allow_same_value(lw, i, found, p, go);
  trap_at_element(lw, i, site);
  lw_at(lw, go);
  if (done) {
    l_br(lw->b, done);
    lw_at(lw, done);
  }
}

static void check_unset(Lower *lw, const Ins *i, LLVMValueRef p, uint32_t site, uint32_t kind) {
  LLVMValueRef args[] = {launch_of(lw), p, lw_i32(lw, (int64_t)access_bytes(i))};
  if (kind != RT_ACCESS_WRITE) {
    LLVMValueRef unset = call(lw, "rt_check_unset", lw->t->i32, args, 3);
    LLVMBasicBlockRef go = go_on_if(lw, is_zero(lw, unset));
    call_with_element(lw, "rt_check_unset_at", i, site);
    l_br(lw->b, go);
    lw_at(lw, go);
  } else {
    call(lw, "rt_check_set", lw->t->none, args, 3);
  }
}

static void check_access(Lower *lw, Ins *i, uint32_t kind) {
  Space space = i->args[0]->type->space;
  bool unset = looks_for(lw, RT_CHECK_INIT) && space != SPACE_CONST,
       race = looks_for(lw, RT_CHECK_RACE) && (space == SPACE_GLOBAL || space == SPACE_SHARED);
  if (!unset && !race)
    return;
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1);
  uint32_t site = cg_host_check_site(lw, element_text(lw, i->args[0]));
  if (unset)
    check_unset(lw, i, p, site, kind);
  if (race)
    check_race(lw, i, p, site, kind);
}

/* --- fences, ends of threads, local arrays --- */

static void check_fence(Lower *lw, bool device) {
  LLVMValueRef args[] = {launch_of(lw), cg_host_arg(lw, HOST_THREAD), lw_i32(lw, device)};
  if (looks_for(lw, RT_CHECK_RACE))
    call(lw, "rt_check_fence", lw->t->none, args, 3);
}

static bool synchronises(const Lower *lw) {
  for (uint32_t k = 0; k < lw->cg->program->fns.len; k++)
    FOR_BLOCKS (lw->cg->program->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_INTRINSIC && ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC)
          return true;
  return false;
}

/* Nothing but a return: all returns of a function meet in such a block. */
static bool is_return(const Block *b) {
  const Ins *i = b->first;
  while (i && (i->op == OP_CONST || i->op == OP_PHI))
    i = i->next;
  return i && i->op == OP_RET;
}

/* The thread ends here if `ends` (NULL: it does). */
static void leave(Lower *lw, LLVMValueRef ends, Loc loc) {
  const HostState *s = lw->cg->target_state;
  if (lw->function != s->thread || !looks_for(lw, RT_CHECK_BLOCKS) || !synchronises(lw))
    return;
  LLVMValueRef site = lw_i32(lw, 1 + (int64_t)site_at(lw, "", loc));
  LLVMValueRef args[] = {launch_of(lw), cg_host_arg(lw, HOST_THREAD),
                         ends ? l_select(lw->b, ends, site, lw_i32(lw, 0)) : site};
  call(lw, "rt_check_leave", lw->t->none, args, 3);
}

static void check_branch(Lower *lw, const Ins *i) {
  Block *const *to = i->block->succ;
  bool yes = is_return(to[0]), no = i->op == OP_CONDBR && is_return(to[1]);
  if (yes && (no || i->op == OP_BR))
    leave(lw, NULL, i->loc);
  else if (yes || no)
    leave(lw, yes ? lw_value(lw, i->args[0]) : l_not(lw->b, lw_value(lw, i->args[0])), i->loc);
}

static void check_return(Lower *lw, const Ins *i) {
  if (!is_return(i->block) || !i->block->preds.len)
    leave(lw, NULL, i->loc);
}

static void check_intrinsic(Lower *lw, const Ins *i) {
  switch (i->aux.intrinsic) {
  case INTR_THREADFENCE:
  case INTR_THREADFENCE_SYSTEM: check_fence(lw, true); break;
  case INTR_THREADFENCE_BLOCK: check_fence(lw, false); break;
  default: break;
  }
}

static void check_local(Lower *lw, Ins *i) {
  const IrAlloc *a = i->aux.alloc;
  if (i->type->space != SPACE_LOCAL || !looks_for(lw, RT_CHECK_INIT))
    return;
  uint64_t bytes = ty_size(i->type->elem);
  for (unsigned k = 0; k < i->type->ndim; k++)
    bytes *= (uint64_t)a->extents[k];
  LLVMValueRef args[] = {launch_of(lw), lw_leaves(lw, i)[LEAF_POINTER], lw_i32(lw, (int64_t)bytes)};
  call(lw, "rt_check_local", lw->t->none, args, 3);
}

/* --- arithmetic --- */

static void trap_found(Lower *lw, LLVMValueRef ok, RtFinding finding, const char *text,
                       Ins *const *values, uint32_t n) {
  const IrSite *site = ir_site(lw->cx, lw->cg->program, "ArithmeticError", text, lw->ins->loc);
  LLVMBasicBlockRef go = go_on_if(lw, ok);
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, finding)};
  call(lw, "rt_check_found", lw->t->none, args, 2);
  lw_stop_unless(lw, LLVMConstNull(lw->t->i1), site, values, n);
  l_br(lw->b, go);
  lw_at(lw, go);
}

static bool is_real(const Type *t) { return t && ty_is_scalar(t) && ty_is_float(t); }

static LLVMValueRef as_double(Lower *lw, LLVMValueRef v, const Type *type) {
  return lw_convert(lw, v, type, ty_scalar(lw->cx, TY_F64));
}

static LLVMValueRef is_finite_double(Lower *lw, LLVMValueRef v) {
  LLVMTypeRef t = lw->t->f64;
  LLVMValueRef positive = lw_intrinsic(lw, "llvm.fabs", &t, 1, &v, 1);
  return l_fcmp(lw->b, LLVMRealOLT, positive, LLVMConstReal(t, HUGE_VAL));
}

static LLVMValueRef is_finite(Lower *lw, Ins *i) {
  return is_finite_double(lw, as_double(lw, lw_value(lw, i), i->type));
}

static bool computes(const Ins *i) {
  switch ((Op)i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_TRUEDIV:
  case OP_FLOORDIV:
  case OP_MOD:
  case OP_POW:
  case OP_CAST: return true;
  case OP_INTRINSIC: return ir_intrinsics[i->aux.intrinsic].effect == EFFECT_PURE;
  default: return false;
  }
}

/* A nan or an infinity of operands that are all finite; {0:f} and {1:f} are the first two. */
static void check_finite(Lower *lw, Ins *i) {
  static const char *const texts[] = {
      "a nan or an infinity of finite numbers: the operand is {0%s}",
      "a nan or an infinity of finite numbers: the operands are {0%s} and {1%s}"};
  if (!looks_for(lw, RT_CHECK_NAN) || !is_real(i->type) || !computes(i) || !i->nargs)
    return;
  LLVMValueRef ok = is_finite(lw, i);
  const char *forms[2] = {"", ""};
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Type *t = i->args[k]->type;
    if (!t || !ty_is_scalar(t) || ty_is_complex(t))
      return;
    if (k < 2)
      forms[k] = is_real(t) ? ":f" : "";
    if (is_real(t))
      ok = l_or(lw->b, ok, l_not(lw->b, is_finite(lw, i->args[k])));
  }
  uint32_t n = i->nargs < 2 ? 1 : 2;
  const char *text = arena_printf(&lw->cx->arena, texts[n - 1], forms[0], forms[1]);
  trap_found(lw, ok, RT_FOUND_NAN, text, i->args, n);
}

/* What the element becomes, of the old one and the number. A sum in float64 that is rounded again
 * is finite where the sum in the type is. */
static void check_atomic_sum(Lower *lw, Ins *i) {
  if (!looks_for(lw, RT_CHECK_NAN) || !is_real(i->type) ||
      (i->aux.i != ATOMIC_ADD && i->aux.i != ATOMIC_SUB))
    return;
  const Type *f64 = ty_scalar(lw->cx, TY_F64);
  Ins *const values[] = {i, i->args[i->nargs - 1]};
  LLVMValueRef x = as_double(lw, lw_value(lw, values[0]), i->type),
               y = as_double(lw, lw_value(lw, values[1]), values[1]->type),
               sum = i->aux.i == ATOMIC_ADD ? l_fadd(lw->b, x, y) : l_fsub(lw->b, x, y),
               rounded = as_double(lw, lw_convert(lw, sum, f64, i->type), i->type);
  LLVMValueRef operands = l_and(lw->b, is_finite_double(lw, x), is_finite_double(lw, y)),
               ok = l_or(lw->b, is_finite_double(lw, rounded), l_not(lw->b, operands));
  trap_found(lw, ok, RT_FOUND_NAN,
             "a nan or an infinity of finite numbers: the operands are {0:f} and {1:f}", values, 2);
}

static bool is_signed_integer(const Type *t) {
  return t && ty_is_scalar(t) && !ty_is_float(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL &&
         ty_is_signed(t);
}

static void trap_wrapped(Lower *lw, LLVMValueRef ok, const char *form, Ins *const *args, uint32_t n,
                         const Type *type) {
  const char *text = arena_printf(&lw->cx->arena, "%s does not fit %s", form,
                                  ty_name(lw->cx, type));
  trap_found(lw, ok, RT_FOUND_OVERFLOW, text, args, n);
}

static void check_pair(Lower *lw, Op op, Ins *x, Ins *y) {
  const char *name = op == OP_ADD   ? "llvm.sadd.with.overflow"
                     : op == OP_SUB ? "llvm.ssub.with.overflow"
                                    : "llvm.smul.with.overflow",
             *form = op == OP_ADD   ? "{0} + {1}"
                     : op == OP_SUB ? "{0} - {1}"
                                    : "{0} * {1}";
  LLVMValueRef args[] = {lw_value(lw, x), lw_value(lw, y)};
  LLVMTypeRef t = LLVMTypeOf(args[0]);
  LLVMValueRef both = lw_intrinsic(lw, name, &t, 1, args, 2);
  trap_wrapped(lw, l_not(lw->b, l_extract_value(lw->b, both, 1)), form, (Ins *[]){x, y}, 2,
               x->type);
}

/* -x, abs(x), x // y: the least number has no positive one. */
static void check_least(Lower *lw, const Ins *i, const char *form) {
  LLVMValueRef x = lw_value(lw, i->args[0]);
  LLVMTypeRef t = LLVMTypeOf(x);
  unsigned bits = LLVMGetIntTypeWidth(t);
  LLVMValueRef least = LLVMConstInt(t, UINT64_C(1) << (bits - 1), 0),
               ok = l_icmp(lw->b, LLVMIntNE, x, least);
  if (i->op == OP_FLOORDIV)
    ok = l_or(lw->b, ok, l_icmp(lw->b, LLVMIntNE, lw_value(lw, i->args[1]), LLVMConstAllOnes(t)));
  trap_wrapped(lw, ok, form, i->args, i->nargs, i->type);
}

/* Of signed integers; where unsigned ones wrap, that is the meaning. */
static void check_wrap(Lower *lw, Ins *i) {
  if (!looks_for(lw, RT_CHECK_OVERFLOW) || !is_signed_integer(i->type) || (i->flags & INS_NO_WRAP))
    return;
  switch ((Op)i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL: check_pair(lw, i->op, i->args[0], i->args[1]); break;
  case OP_NEG: check_least(lw, i, "-({0})"); break;
  case OP_FLOORDIV: check_least(lw, i, "{0} // {1}"); break;
  case OP_INTRINSIC:
    if (i->aux.intrinsic == INTR_PY_ABS)
      check_least(lw, i, "abs({0})");
    break;
  case OP_ATOMIC: /* the old element, and what is added to it */
    if (i->aux.i == ATOMIC_ADD || i->aux.i == ATOMIC_SUB)
      check_pair(lw, i->aux.i == ATOMIC_ADD ? OP_ADD : OP_SUB, i, i->args[i->nargs - 1]);
    break;
  default: break;
  }
}

static bool is_integer(const Type *t) {
  return t && ty_is_scalar(t) && !ty_is_float(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL;
}

/* The value of a store that typing has converted, which is not what the program converted itself:
 * the place of the conversion is the statement's then. */
static void check_narrowing(Lower *lw, const Ins *i) {
  Ins *cast = i->args[i->nargs - 1];
  if (!looks_for(lw, RT_CHECK_OVERFLOW) || cast->op != OP_CAST || !is_integer(cast->type) ||
      !is_integer(cast->args[0]->type) || cast->loc.line != i->loc.line ||
      cast->loc.col != i->loc.col || cast->loc.end_col != i->loc.end_col)
    return;
  const Type *from = cast->args[0]->type, *to = cast->type;
  LLVMValueRef wide = lw_value(lw, cast->args[0]), narrow = lw_value(lw, cast);
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(wide)),
           kept = LLVMGetIntTypeWidth(LLVMTypeOf(narrow));
  if (kept > bits || (kept == bits && ty_is_signed(from) == ty_is_signed(to)))
    return;
  LLVMValueRef again = l_int_cast(lw->b, narrow, LLVMTypeOf(wide), ty_is_signed(to)),
               ok = l_icmp(lw->b, LLVMIntEQ, again, wide);
  if (kept == bits)
    ok = l_icmp(lw->b, LLVMIntSGE, wide, LLVMConstNull(LLVMTypeOf(wide)));
  const char *text = arena_printf(&lw->cx->arena, "{0%s} does not fit %s, the type of %s",
                                  ty_is_signed(from) ? "" : ":U=", ty_name(lw->cx, to),
                                  name_of(i->args[0]) ? name_of(i->args[0]) : "the array");
  trap_found(lw, ok, RT_FOUND_OVERFLOW, text, cast->args, 1);
}

void cg_host_check_before(Lower *lw, Ins *i) {
  switch ((Op)i->op) {
  case OP_LOAD: check_access(lw, i, RT_ACCESS_READ); break;
  case OP_STORE:
    check_narrowing(lw, i);
    check_access(lw, i, RT_ACCESS_WRITE);
    break;
  case OP_ATOMIC: check_access(lw, i, RT_ACCESS_ATOMIC); break;
  case OP_BR:
  case OP_CONDBR: check_branch(lw, i); break;
  case OP_RET: check_return(lw, i); break;
  case OP_INTRINSIC: check_intrinsic(lw, i); break;
  default: break;
  }
}

void cg_host_check_after(Lower *lw, Ins *i) {
  if (i->op == OP_ALLOC)
    check_local(lw, i);
  if (i->op == OP_ATOMIC)
    check_atomic_sum(lw, i);
  check_finite(lw, i);
  check_wrap(lw, i);
}
