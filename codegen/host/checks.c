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

uint32_t cg_host_check_site(Lower *lw, const char *what) {
  uint32_t site = site_at(lw, what, lw->ins->loc);
  (void)lw_trap_site(lw, site); /* so that the site knows its function, and with it its callers */
  return site;
}

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

enum { ROW_BYTES = 16 }; /* of a matrix */

static uint32_t element_bytes(const Ins *array) { return (uint32_t)ty_size(array->type->elem); }

/* Neighbouring elements that a load or a store moves at once; of matrices, those of a row. */
static uint32_t elements(const Ins *i) {
  if (i->op == OP_INTRINSIC)
    return ROW_BYTES / element_bytes(i->args[0]);
  const Type *t = i->op == OP_STORE ? i->args[i->nargs - 1]->type : i->type;
  return t->id == TY_TUPLE ? (uint32_t)t->n : 1;
}

static uint32_t access_bytes(const Ins *i) { return elements(i) * element_bytes(i->args[0]); }

static void trap_at_element(Lower *lw, const Ins *i, uint32_t site) {
  LLVMValueRef values[RT_TRAP_VALUES];
  unsigned n = cg_host_element_values(lw, i, values);
  lw->target->trap(lw, site, values, n);
}

/* The arguments of a trap, for a function that may return. */
static void call_with_element(Lower *lw, const char *name, const Ins *i, uint32_t site) {
  LLVMValueRef args[4 + RT_TRAP_VALUES] = {launch_of(lw), lw_i32(lw, (int64_t)site),
                                           cg_host_arg(lw, HOST_BLOCK),
                                           cg_host_arg(lw, HOST_THREAD)};
  for (unsigned k = cg_host_element_values(lw, i, args + 4); k < RT_TRAP_VALUES; k++)
    args[4 + k] = lw_i64(lw, 0);
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

/* Is in memory what the store is about to write? NULL: it is no store. */
static LLVMValueRef is_stored(Lower *lw, const Ins *i, LLVMValueRef p) {
  const Type *elem = i->args[0]->type->elem;
  if (i->op != OP_STORE)
    return NULL;
  uint32_t parts = ty_is_complex(elem) ? 2 : 1; /* leaves of an element */
  LLVMTypeRef bits = cg_int_type(lw->cg, 8 * element_bytes(i->args[0]) / parts);
  LLVMValueRef *leaves = lw_leaves(lw, i->args[i->nargs - 1]), same = NULL;
  for (uint32_t k = 0; k < parts * elements(i); k++) {
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

static bool is_update(Lower *lw, const Ins *store);

/* A call that lanes write as one for all threads (rt_check_row). Two plain writes of the same value
 * are no race. */
static void check_race(Lower *lw, const Ins *i, LLVMValueRef p, uint32_t site, uint32_t kind) {
  uint32_t shown = site < RT_ACCESS_SITES ? site : RT_ACCESS_SITES - 1, bytes = access_bytes(i);
  LLVMValueRef args[] = {launch_of(lw), p, cg_host_arg(lw, HOST_THREAD),
                         lw_i32(lw, (int64_t)(kind | shown << RT_ACCESS_SITE)),
                         lw_i32(lw, (int64_t)bytes)};
  LLVMValueRef found = call(lw, "rt_check_access", lw->t->i8, args, 5), ok = is_zero(lw, found),
               stored = is_update(lw, i) ? NULL : is_stored(lw, i, p);
  if (stored)
    ok = l_or(lw->b, ok,
              l_and(lw->b, l_icmp(lw->b, LLVMIntEQ, found, l_int(lw->t->i8, 2)), stored));
  LLVMBasicBlockRef go = go_on_if(lw, ok);
  LLVMValueRef race[] = {launch_of(lw), lw_i32(lw, RT_FOUND_RACE)};
  call(lw, "rt_check_found", lw->t->none, race, 2);
  trap_at_element(lw, i, site);
  lw_at(lw, go);
}

/* A field that the copy of a record takes, unless a conversion uses it. */
static Ins *copied(const Ins *store) {
  Ins *value = store->op == OP_STORE ? store->args[store->nargs - 1] : NULL;
  return value && value->op == OP_LOAD && value->flags & INS_COPIED ? value : NULL;
}

/* The next instruction that has a use for it is its store. */
static bool is_stored_only(const Ins *load) {
  for (const Ins *i = load->next; i; i = i->next)
    for (uint32_t k = 0; k < i->nargs; k++)
      if (i->args[k] == load)
        return copied(i) == load && k == i->nargs - 1;
  return false;
}

/* What a record's copy takes from memory that was not written is not written in the copy: the use
 * says so. */
static void check_unset(Lower *lw, const Ins *i, LLVMValueRef p, uint32_t site, uint32_t kind) {
  LLVMValueRef args[] = {launch_of(lw), p, lw_i32(lw, (int64_t)access_bytes(i)), NULL};
  const Ins *from = copied(i);
  if (i->op == OP_LOAD && i->flags & INS_COPIED && is_stored_only(i))
    return;
  if (from && is_stored_only(from)) {
    args[3] = lw_address(lw, from->args[0], from->args + 1);
    call(lw, "rt_check_copy", lw->t->none, args, 4);
  } else if (kind != RT_ACCESS_WRITE) {
    LLVMValueRef unset = call(lw, "rt_check_unset", lw->t->i32, args, 3);
    LLVMBasicBlockRef go = go_on_if(lw, is_zero(lw, unset));
    call_with_element(lw, "rt_check_unset_at", i, site);
    l_br(lw->b, go);
    lw_at(lw, go);
  } else {
    call(lw, "rt_check_set", lw->t->none, args, 3);
  }
}

/* --- x[i] += v: the note of the store stands for that of the load --- */

/* Does the store write what the load has read, in one statement? */
static bool is_update_of(const Ins *store, const Ins *load) {
  return load->op == OP_LOAD && !(load->flags & INS_COPIED) && store->loc.line == load->loc.line &&
         elements(store) == elements(load) && cg_host_is_same_element(store, load);
}

/* May the thread meet others, or be ordered with them, in the instruction? */
static bool may_order(const Ins *i) {
  switch ((Op)i->op) {
  case OP_ATOMIC:
  case OP_CALL_FN:
  case OP_CALL_C: return true;
  case OP_INTRINSIC: return ir_intrinsics[i->aux.intrinsic].effect != EFFECT_PURE;
  default: return false;
  }
}

/* Nothing between the two lets other threads go before the store. */
static bool is_updated_behind(const Ins *load) {
  for (const Ins *i = load->next; i && !may_order(i); i = i->next)
    if (i->op == OP_STORE && is_update_of(i, load))
      return true;
  return false;
}

/* Then its value is no excuse for a race: it depends on what was there. */
static bool is_update(Lower *lw, const Ins *store) {
  for (const Ins *i = store->prev; i && store->op == OP_STORE && !may_order(i); i = i->prev)
    if (is_update_of(store, i) && !cg_host_is_relaxed(lw, i))
      return true;
  return false;
}

static void check_access(Lower *lw, Ins *i, uint32_t kind) {
  Space space = i->args[0]->type->space;
  bool unset = looks_for(lw, RT_CHECK_INIT) && space != SPACE_CONST,
       race = looks_for(lw, RT_CHECK_RACE) && (space == SPACE_GLOBAL || space == SPACE_SHARED);
  if (!unset && !race)
    return;
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1);
  uint32_t site = cg_host_check_site(lw, cg_host_element_text(lw, i));
  if (unset)
    check_unset(lw, i, p, site, kind);
  if (race && i->op == OP_LOAD && cg_host_is_relaxed(lw, i))
    kind = RT_ACCESS_RELAXED;
  if (!race || (kind == RT_ACCESS_READ && i->op == OP_LOAD && is_updated_behind(i)))
    return;
  LLVMValueRef input = kind == RT_ACCESS_READ ? cg_host_is_input(lw, i) : NULL;
  LLVMBasicBlockRef note = input ? lw_block(lw, "noted") : NULL,
                    go = input ? lw_block(lw, "read") : NULL;
  if (input) {
    lw_branch_weights(lw, l_condbr(lw->b, input, go, note), 1u << 20, 1);
    lw_at(lw, note);
  }
  check_race(lw, i, p, site, kind);
  if (input) {
    l_br(lw->b, go);
    lw_at(lw, go);
  }
}

/* --- shared memory of threads that meet at more than plain barriers (runtime/host/orders.h) --- */

static const char *const order_messages[RT_ORDER_ERRORS] = {
    [RT_ORDER_COMING] = "%s: a copy to what is read here is under way, and this thread has not "
                        "waited for it",
    [RT_ORDER_NOT_WAITED] = "%s: what is read here came with a copy that this thread has not "
                            "waited for: it waits at the copy's barrier, or meets a thread behind "
                            "its wait",
    [RT_ORDER_COPIED] = "%s: what is read here came with cuda.cp_async of thread {0}, which this "
                        "thread has not met since: that one waits for its copies, then both meet",
    [RT_ORDER_WRITTEN] = "%s: what is read here was written in line {1} by thread {0}, which this "
                         "thread has not met since",
    [RT_ORDER_READ] = "%s: what is written here was read in line {1} by thread {0}, which this "
                      "thread has not met since"};

typedef struct OrderSites {
  struct OrderSites *next;
  const char *name;
  Loc loc;
  uint32_t function, first;
} OrderSites;

static bool is_at(const OrderSites *s, const Lower *lw, const char *name) {
  Loc a = s->loc, b = lw->ins->loc;
  return s->function == lw->number && s->name == name && a.code == b.code && a.line == b.line &&
         a.col == b.col && a.end_line == b.end_line && a.end_col == b.end_col;
}

/* The first of the sites of all errors, of one place in the program once. */
static uint32_t order_sites(Lower *lw, const Ins *array) {
  HostState *state = lw->cg->target_state;
  const char *name = cg_host_array_name(lw, array);
  for (OrderSites *s = state->order_sites; s; s = s->next)
    if (is_at(s, lw, name))
      return s->first;
  OrderSites *s = CX_NEW(lw->cx, OrderSites);
  *s = (OrderSites){state->order_sites, name, lw->ins->loc, lw->number, 0};
  for (unsigned k = 0; k < RT_ORDER_ERRORS; k++) {
    uint32_t site = cg_host_check_site(
        lw, arena_printf(&lw->cx->arena, order_messages[k], name ? name : "shared memory"));
    s->first = k ? s->first : site;
  }
  state->order_sites = s;
  return s->first;
}

static bool is_followed(const Lower *lw, const Ins *i) {
  Space space = i->args[0]->type->space;
  return lw->cg->meets_apart && (space == SPACE_SHARED || space == SPACE_CLUSTER);
}

static void note_order(Lower *lw, Ins *i, uint32_t kind) {
  if (!is_followed(lw, i))
    return;
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1), same = NULL;
  LLVMValueRef args[] = {launch_of(lw),
                         p,
                         cg_host_arg(lw, HOST_THREAD),
                         lw_i32(lw, i->loc.line),
                         lw_i32(lw, (int64_t)access_bytes(i)),
                         lw_i32(lw, order_sites(lw, i->args[0])),
                         lw_i32(lw, kind == RT_ACCESS_ATOMIC ? RT_STORE_ATOMIC : RT_STORE_OTHER)};
  if (kind == RT_ACCESS_READ) {
    call(lw, "rt_host_reads", lw->t->none, args, 6);
    return;
  }
  same = is_stored(lw, i, p);
  args[6] = same ? l_zext(lw->b, same, lw->t->i32) : args[6];
  call(lw, "rt_host_wrote", lw->t->none, args, 7);
}

static bool is_used(const Fn *fn, const Ins *what) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++)
        if (i->args[k] == what)
          return true;
  return false;
}

/* Locks, counters and polls order threads, too. */
static void note_acquired(Lower *lw, const Ins *i) {
  bool acquires = i->op == OP_ATOMIC ? is_used(lw->fn, i) : cg_host_is_relaxed(lw, i);
  LLVMValueRef args[] = {launch_of(lw), cg_host_arg(lw, HOST_THREAD)};
  if (lw->cg->meets_apart && acquires)
    call(lw, "rt_host_acquires", lw->t->none, args, 2);
}

static void note_read(Lower *lw, Ins *i) {
  if (lw->cg->meets_apart && !cg_host_is_relaxed(lw, i))
    note_order(lw, i, RT_ACCESS_READ);
  else
    note_acquired(lw, i);
}

static void note_access(Lower *lw, Ins *i, uint32_t kind) {
  if (i->op == OP_LOAD)
    note_read(lw, i);
  else
    note_order(lw, i, kind == RT_ACCESS_RELAXED ? RT_ACCESS_ATOMIC : kind);
  check_access(lw, i, kind);
}

/* ldmatrix and stmatrix: lane 8 j + k has the address of row k of matrix j. */
static void check_matrices(Lower *lw, Ins *i, const Type *moved, uint32_t kind) {
  if (!lw->cg->meets_apart && !looks_for(lw, RT_CHECK_INIT | RT_CHECK_RACE))
    return;
  uint64_t rows = 8 * moved->n * ty_size(moved->elems[0]) / 4;
  LLVMBasicBlockRef row = lw_block(lw, "row"), go = lw_block(lw, "rows");
  LLVMValueRef lane = l_and(lw->b, cg_host_arg(lw, HOST_THREAD), lw_i32(lw, 31));
  l_condbr(lw->b, l_icmp(lw->b, LLVMIntULT, lane, lw_i32(lw, (int64_t)rows)), row, go);
  lw_at(lw, row);
  note_access(lw, i, kind);
  l_br(lw->b, go);
  lw_at(lw, go);
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
  if (lw->function != s->thread || !looks_for(lw, RT_CHECK_SYNC) || !synchronises(lw))
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

static void check_intrinsic(Lower *lw, Ins *i) {
  switch (i->aux.intrinsic) {
  case INTR_THREADFENCE:
  case INTR_THREADFENCE_SYSTEM: check_fence(lw, true); break;
  case INTR_THREADFENCE_BLOCK: check_fence(lw, false); break;
  case INTR_LDMATRIX: check_matrices(lw, i, i->type, RT_ACCESS_READ); break;
  case INTR_STMATRIX: check_matrices(lw, i, i->args[i->nargs - 2]->type, RT_ACCESS_WRITE); break;
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

static LLVMValueRef is_finite_of(Lower *lw, LLVMValueRef number, const Type *type) {
  LLVMValueRef v = lw_convert(lw, number, type, ty_scalar(lw->cx, TY_F64));
  LLVMTypeRef t = lw->t->f64;
  LLVMValueRef positive = lw_intrinsic(lw, "llvm.fabs", &t, 1, &v, 1);
  return l_fcmp(lw->b, LLVMRealOLT, positive, LLVMConstReal(t, HUGE_VAL));
}

static LLVMValueRef is_finite(Lower *lw, Ins *i) {
  return is_finite_of(lw, lw_value(lw, i), i->type);
}

/* Of one operand, or of two; {0:f} and {1:f} are floats. */
static const char *finite_text(Lower *lw, const char *first, const char *second) {
  const char *what = "a nan or an infinity of finite numbers: the operand";
  return second ? arena_printf(&lw->cx->arena, "%ss are {0%s} and {1%s}", what, first, second)
                : arena_printf(&lw->cx->arena, "%s is {0%s}", what, first);
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

/* A nan or an infinity of operands that are all finite. */
static void check_finite(Lower *lw, Ins *i) {
  if (!looks_for(lw, RT_CHECK_NAN) || !is_real(i->type) || !computes(i) || !i->nargs)
    return;
  LLVMValueRef ok = is_finite(lw, i);
  const char *forms[2] = {NULL, NULL};
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Type *t = i->args[k]->type;
    if (!t || !ty_is_scalar(t) || ty_is_complex(t))
      return;
    if (k < 2)
      forms[k] = is_real(t) ? ":f" : "";
    if (is_real(t))
      ok = l_or(lw->b, ok, l_not(lw->b, is_finite(lw, i->args[k])));
  }
  trap_found(lw, ok, RT_FOUND_NAN, finite_text(lw, forms[0], forms[1]), i->args,
             i->nargs < 2 ? 1 : 2);
}

/* A Python int is one of 64 bits. */
static const char *integer_name(Lower *lw, const Type *t) {
  return ty_is_weak(t) ? "64 bits" : ty_name(lw->cx, t);
}

static bool is_signed_integer(const Type *t) {
  return t && ty_is_scalar(t) && !ty_is_float(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL &&
         ty_is_signed(t);
}

/* Does x op y overflow? */
static LLVMValueRef overflows(Lower *lw, const char *name, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef args[] = {x, y};
  LLVMTypeRef t = LLVMTypeOf(x);
  return l_extract_value(lw->b, lw_intrinsic(lw, name, &t, 1, args, 2), 1);
}

static const char sums[] = "llvm.sadd.with.overflow", differences[] = "llvm.ssub.with.overflow",
                  products[] = "llvm.smul.with.overflow";

/* The lowest number over -1, the one quotient that does not fit. */
static LLVMValueRef quotient_overflows(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x)), ones = LLVMConstAllOnes(LLVMTypeOf(x));
  return l_and(lw->b, l_icmp(lw->b, LLVMIntEQ, y, ones), overflows(lw, differences, zero, x));
}

/* x ** y by squaring, as lw_power does it: is a product that counts too large? (A square that is,
 * is none that the lowest number needs: its exponent is odd.) */
static LLVMValueRef power_overflows(Lower *lw, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef zero = LLVMConstNull(t), one = l_int(t, 1), no = LLVMConstNull(lw->t->i1);
  LLVMValueRef count = l_select(b, l_icmp(b, LLVMIntSLT, y, zero), zero, y);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = lw_block(lw, "pow.fits"),
                    body = lw_block(lw, "pow.fits.step"), done = lw_block(lw, "pow.fits.done");
  l_br(b, head);
  lw_at(lw, head);
  LLVMValueRef base = l_phi(b, t), n = l_phi(b, t), acc = l_phi(b, t), large = l_phi(b, lw->t->i1),
               found = l_phi(b, lw->t->i1);
  l_condbr(b, l_icmp(b, LLVMIntNE, n, zero), body, done);
  lw_at(lw, body);
  LLVMValueRef odd = l_trunc(b, n, lw->t->i1);
  LLVMValueRef more = l_and(b, odd, l_or(b, large, overflows(lw, products, acc, base)));
  LLVMValueRef next[] = {l_mul(b, base, base), l_lshr(b, n, one),
                         l_select(b, odd, l_mul(b, acc, base), acc),
                         l_or(b, large, overflows(lw, products, base, base)), l_or(b, found, more)};
  l_br(b, head);
  LLVMValueRef phis[] = {base, n, acc, large, found}, first[] = {x, count, one, no, no};
  for (int k = 0; k < 5; k++)
    LLVMAddIncoming(phis[k], (LLVMValueRef[]){first[k], next[k]}, (LLVMBasicBlockRef[]){from, body},
                    2);
  lw_at(lw, done);
  return found;
}

/* x + y, x - y, x * y, x // y, x ** y, -x, abs(x): does the result not fit? *text says which. */
static LLVMValueRef wraps(Lower *lw, const Ins *i, const char **text) {
  LLVMValueRef x = lw_value(lw, i->args[0]), y = i->nargs > 1 ? lw_value(lw, i->args[1]) : NULL,
               zero = LLVMConstNull(LLVMTypeOf(x));
  switch ((Op)i->op) {
  case OP_ADD: *text = "{0} + {1}"; return overflows(lw, sums, x, y);
  case OP_SUB: *text = "{0} - {1}"; return overflows(lw, differences, x, y);
  case OP_MUL: *text = "{0} * {1}"; return overflows(lw, products, x, y);
  case OP_FLOORDIV: *text = "{0} // {1}"; return quotient_overflows(lw, x, y);
  case OP_POW: *text = "{0} ** {1}"; return power_overflows(lw, x, y);
  case OP_NEG: *text = "-({0})"; return overflows(lw, differences, zero, x);
  default: *text = "abs({0})"; return overflows(lw, differences, zero, x);
  }
}

static bool may_wrap(const Ins *i) {
  switch ((Op)i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_FLOORDIV:
  case OP_POW:
  case OP_NEG: break;
  case OP_INTRINSIC:
    if (i->aux.intrinsic == INTR_PY_ABS)
      break;
    return false;
  default: return false;
  }
  return is_signed_integer(i->type) && !(i->flags & (INS_NO_WRAP | INS_WRAPS));
}

/* Of signed integers; of unsigned ones wrapping is the meaning. */
static void check_wrap(Lower *lw, Ins *i) {
  const char *text;
  if (!looks_for(lw, RT_CHECK_OVERFLOW) || !may_wrap(i))
    return;
  LLVMValueRef fits = l_not(lw->b, wraps(lw, i, &text));
  text = arena_printf(&lw->cx->arena, "%s does not fit %s", text, integer_name(lw, i->type));
  trap_found(lw, fits, RT_FOUND_OVERFLOW, text, i->args, i->nargs);
}

/* The element that an atomic sum or difference leaves: that of the old one and the operand. */
static void check_atomic(Lower *lw, Ins *i) {
  Ins *value = i->args[i->nargs - 1], *both[] = {i, value};
  bool sum = i->aux.i == ATOMIC_ADD;
  if (!sum && i->aux.i != ATOMIC_SUB)
    return;
  LLVMValueRef x = lw_value(lw, i), y = lw_value(lw, value), ok;
  const char *what = sum ? "+" : "-", *name;
  if (looks_for(lw, RT_CHECK_OVERFLOW) && is_signed_integer(i->type)) {
    ok = l_not(lw->b, overflows(lw, sum ? sums : differences, x, y));
    name = arena_printf(&lw->cx->arena, "{0} %s {1} does not fit %s", what,
                        integer_name(lw, i->type));
    trap_found(lw, ok, RT_FOUND_OVERFLOW, name, both, 2);
  }
  if (looks_for(lw, RT_CHECK_NAN) && is_real(i->type)) {
    const Type *f64 = ty_scalar(lw->cx, TY_F64);
    LLVMValueRef wide_x = lw_convert(lw, x, i->type, f64), wide_y = lw_convert(lw, y, i->type, f64),
                 wide = sum ? l_fadd(lw->b, wide_x, wide_y) : l_fsub(lw->b, wide_x, wide_y),
                 now = lw_convert(lw, wide, f64, i->type);
    ok = l_or(lw->b, is_finite_of(lw, now, i->type),
              l_not(lw->b, l_and(lw->b, is_finite(lw, i), is_finite(lw, value))));
    trap_found(lw, ok, RT_FOUND_NAN, finite_text(lw, ":f", ":f"), both, 2);
  }
}

static bool is_integer(const Type *t) {
  return t && ty_is_scalar(t) && !ty_is_float(t) && !ty_is_complex(t) && ty_kind(t) != KIND_BOOL;
}

/* The value of a store that typing has converted, which is not what the program converted itself:
 * the place of the conversion is the statement's then. */
static void check_narrowing(Lower *lw, const Ins *i, Ins *cast) {
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
  const char *name = cg_host_array_name(lw, i->args[0]);
  const char *text = arena_printf(&lw->cx->arena, "{0%s} does not fit %s, the type of %s",
                                  ty_is_signed(from) ? "" : ":U=", ty_name(lw->cx, to),
                                  name ? name : "the array");
  trap_found(lw, ok, RT_FOUND_OVERFLOW, text, cast->args, 1);
}

/* The value of a store, the operands of an atomic operation; neighbouring elements are a tuple. */
static void check_stored(Lower *lw, const Ins *i) {
  for (uint32_t k = 1 + i->args[0]->type->ndim; k < i->nargs; k++) {
    Ins *v = i->args[k];
    check_narrowing(lw, i, v);
    for (uint32_t j = 0; v->op == OP_MAKE_TUPLE && j < v->nargs; j++)
      check_narrowing(lw, i, v->args[j]);
  }
}

/* The idiom of an atomic read: `cuda.atomic.add(flag, 0, 0)`. */
static bool reads_only(const Ins *atomic) {
  const Ins *operand = atomic->args[atomic->nargs - 1];
  int64_t v;
  while (operand->op == OP_CAST)
    operand = operand->args[0];
  if (operand->op != OP_CONST || !fz_get_int(operand->aux.frozen, &v))
    return false;
  switch ((AtomicOp)atomic->aux.i) {
  case ATOMIC_ADD:
  case ATOMIC_SUB:
  case ATOMIC_OR:
  case ATOMIC_XOR: return v == 0;
  case ATOMIC_AND: return v == -1;
  default: return false;
  }
}

void cg_host_check_before(Lower *lw, Ins *i) {
  switch ((Op)i->op) {
  case OP_LOAD: note_access(lw, i, RT_ACCESS_READ); break;
  case OP_STORE:
    check_stored(lw, i);
    note_access(lw, i, RT_ACCESS_WRITE);
    break;
  case OP_ATOMIC:
    check_stored(lw, i);
    note_access(lw, i, reads_only(i) ? RT_ACCESS_RELAXED : RT_ACCESS_ATOMIC);
    break;
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
  if (i->op == OP_ATOMIC) {
    check_atomic(lw, i);
    note_acquired(lw, i);
  }
  check_finite(lw, i);
  check_wrap(lw, i);
}
