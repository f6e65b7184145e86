/* Atomics: read-modify-write of one element, relaxed, at the target's device scope. The result is
 * the old element.
 *
 * An operation that the hardware has is one instruction. Local memory belongs to one thread, and no
 * GPU has atomics there: plain loads and stores do. Maximum and minimum of floats use those of
 * integers on the bits: for a non-negative operand the order of numbers is the order of their bits
 * as signed integers, for a negative operand the reverse order of the bits as unsigned integers. A
 * sum that the hardware does not have is a loop with compare-and-swap. */
#include <assert.h>
#include <string.h>

#include "codegen/lower/private.h"

static LLVMValueRef chosen(LLVMBuilderRef b, LLVMIntPredicate p, LLVMValueRef x, LLVMValueRef y) {
  return l_select(b, l_icmp(b, p, x, y), x, y);
}

/* CUDA's atomicInc and atomicDec: counts up to v and on from 0, or down to 0 and on from v; an old
 * value above v restarts too. */
static LLVMValueRef wrapped(LLVMBuilderRef b, bool up, LLVMValueRef old, LLVMValueRef v) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v)), one = l_int(LLVMTypeOf(v), 1);
  LLVMValueRef over = l_icmp(b, up ? LLVMIntUGE : LLVMIntUGT, old, v);
  if (up)
    return l_select(b, over, zero, l_add(b, old, one));
  LLVMValueRef restart = l_or(b, over, l_icmp(b, LLVMIntEQ, old, zero));
  return l_select(b, restart, v, l_sub(b, old, one));
}

LLVMValueRef cg_atomic_result(LLVMBuilderRef b, LLVMAtomicRMWBinOp op, LLVMValueRef old,
                              LLVMValueRef v) {
  switch (op) {
  case LLVMAtomicRMWBinOpXchg: return v;
  case LLVMAtomicRMWBinOpAdd: return l_add(b, old, v);
  case LLVMAtomicRMWBinOpSub: return l_sub(b, old, v);
  case LLVMAtomicRMWBinOpAnd: return l_and(b, old, v);
  case LLVMAtomicRMWBinOpOr: return l_or(b, old, v);
  case LLVMAtomicRMWBinOpXor: return l_xor(b, old, v);
  case LLVMAtomicRMWBinOpFAdd: return l_fadd(b, old, v);
  case LLVMAtomicRMWBinOpMax: return chosen(b, LLVMIntSGT, old, v);
  case LLVMAtomicRMWBinOpMin: return chosen(b, LLVMIntSLT, old, v);
  case LLVMAtomicRMWBinOpUMax: return chosen(b, LLVMIntUGT, old, v);
  case LLVMAtomicRMWBinOpUMin: return chosen(b, LLVMIntULT, old, v);
  case LLVMAtomicRMWBinOpUIncWrap: return wrapped(b, true, old, v);
  case LLVMAtomicRMWBinOpUDecWrap: return wrapped(b, false, old, v);
  default: return NULL;
  }
}

/* --- one operation --- */

static bool is_local(const Lower *lw) { return lw->ins->args[0]->type->space == SPACE_LOCAL; }

static LLVMValueRef plain_load(Lower *lw, LLVMValueRef p, LLVMTypeRef type) {
  LLVMValueRef v = l_load(lw->b, type, p);
  LLVMSetAlignment(v, (unsigned)ty_size(lw->ins->args[0]->type->elem));
  return v;
}

static void plain_store(Lower *lw, LLVMValueRef p, LLVMValueRef v) {
  LLVMSetAlignment(l_store(lw->b, v, p), (unsigned)ty_size(lw->ins->args[0]->type->elem));
}

static unsigned scope_named(Lower *lw, const char *name) {
  return LLVMGetSyncScopeID(lw->cg->context, name, strlen(name));
}

static unsigned scope_of(Lower *lw) {
  bool shared = lw->ins->args[0]->type->space == SPACE_SHARED;
  return scope_named(lw, shared ? lw->target->shared_atomic_scope : lw->target->atomic_scope);
}

static LLVMValueRef cmpxchg(Lower *lw, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef value) {
  if (is_local(lw)) {
    LLVMValueRef old = plain_load(lw, p, LLVMTypeOf(value));
    LLVMValueRef same = l_icmp(lw->b, LLVMIntEQ, old, expected);
    plain_store(lw, p, l_select(lw->b, same, value, old));
    return old;
  }
  unsigned scope = scope_of(lw);
  LLVMValueRef both = LLVMBuildAtomicCmpXchgSyncScope(
      lw->b, p, expected, value, LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, scope);
  return l_extract_value(lw->b, both, 0);
}

static LLVMValueRef rmw_in(Lower *lw, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v,
                           unsigned scope) {
  LLVMValueRef old = LLVMBuildAtomicRMWSyncScope(lw->b, op, p, v, LLVMAtomicOrderingMonotonic,
                                                 scope);
  lw_mark_ahead(lw, lw->ins, old);
  return old;
}

/* A sum whose memory may be one OS thread's own; nobody takes the result. */
static LLVMValueRef sum_somewhere(Lower *lw, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v,
                                  LLVMValueRef own) {
  LLVMBasicBlockRef here = lw_block(lw, "sum.own"), there = lw_block(lw, "sum.shared"),
                    end = lw_block(lw, "sum.end");
  l_condbr(lw->b, own, here, there);
  lw_at(lw, here);
  rmw_in(lw, op, p, v, scope_named(lw, lw->target->shared_atomic_scope));
  l_br(lw->b, end);
  lw_at(lw, there);
  rmw_in(lw, op, p, v, scope_of(lw));
  l_br(lw->b, end);
  lw_at(lw, end);
  return LLVMGetPoison(LLVMTypeOf(v));
}

static LLVMValueRef rmw(Lower *lw, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v) {
  if (is_local(lw)) {
    LLVMValueRef old = plain_load(lw, p, LLVMTypeOf(v));
    LLVMValueRef now = cg_atomic_result(lw->b, op, old, v);
    CX_ASSERT(lw->cx, now);
    plain_store(lw, p, now);
    return old;
  }
  LLVMValueRef own = lw->target->own_sum ? lw->target->own_sum(lw) : NULL;
  return own ? sum_somewhere(lw, op, p, v, own) : rmw_in(lw, op, p, v, scope_of(lw));
}

/* --- float maximum and minimum --- */

/* One attempt, by the integer instruction for the operand's sign. The result is the old bits. */
static LLVMValueRef extreme_by_bits(Lower *lw, bool max, LLVMValueRef p, LLVMValueRef bits) {
  LLVMBuilderRef b = lw->b;
  LLVMBasicBlockRef plus = lw_block(lw, "atomic.plus"), minus = lw_block(lw, "atomic.minus"),
                    done = lw_block(lw, "atomic.done");
  l_condbr(b, l_icmp(b, LLVMIntSLT, bits, LLVMConstNull(LLVMTypeOf(bits))), minus, plus);
  lw_at(lw, plus);
  LLVMValueRef old1 = rmw(lw, max ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpMin, p, bits);
  l_br(b, done);
  lw_at(lw, minus);
  LLVMValueRef old2 = rmw(lw, max ? LLVMAtomicRMWBinOpUMin : LLVMAtomicRMWBinOpUMax, p, bits);
  l_br(b, done);
  lw_at(lw, done);
  LLVMValueRef old = l_phi(b, LLVMTypeOf(bits));
  LLVMAddIncoming(old, (LLVMValueRef[]){old1, old2}, (LLVMBasicBlockRef[]){plus, minus}, 2);
  return old;
}

static LLVMValueRef read_bits(Lower *lw, LLVMValueRef p, LLVMTypeRef bits_t) {
  LLVMValueRef v = plain_load(lw, p, bits_t);
  LLVMSetVolatile(v, !is_local(lw));
  return v;
}

static LLVMTypeRef bits_type(Lower *lw, LLVMTypeRef t) {
  return lw_is_narrow(lw, t) ? lw->t->i16 : t == lw->t->f32 ? lw->t->i32 : lw->t->i64;
}

/* If the element or the operand is nan, the element stays as it is. A nan that another thread
 * writes between the test and the instruction may be replaced, as if this operation had come last.
 * -0.0 counts as less than 0.0. */
static LLVMValueRef extreme(Lower *lw, bool max, LLVMValueRef p, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), bits_t = bits_type(lw, t);
  LLVMBasicBlockRef go = lw_block(lw, "atomic.try"), end = lw_block(lw, "atomic.end");
  LLVMValueRef seen = read_bits(lw, p, bits_t);
  LLVMValueRef nan = l_fcmp(b, LLVMRealUNO, lw_ready(lw, l_bitcast(b, seen, t)), lw_ready(lw, v));
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b);
  lw_branch_weights(lw, l_condbr(b, nan, end, go), 1, 1000);
  lw_at(lw, go);
  LLVMValueRef old = extreme_by_bits(lw, max, p, l_bitcast(b, v, bits_t));
  LLVMBasicBlockRef tried = LLVMGetInsertBlock(b);
  l_br(b, end);
  lw_at(lw, end);
  LLVMValueRef result = l_phi(b, bits_t);
  LLVMAddIncoming(result, (LLVMValueRef[]){seen, old}, (LLVMBasicBlockRef[]){from, tried}, 2);
  return l_bitcast(b, result, t);
}

/* A nan operand leaves the element as it is; a nan element is replaced by the operand, with a
 * compare-and-swap that is retried if another thread has written in between. */
static LLVMValueRef extreme_number(Lower *lw, bool max, LLVMValueRef p, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), bits_t = bits_type(lw, t);
  LLVMValueRef bits = l_bitcast(b, v, bits_t);
  LLVMBasicBlockRef skip = lw_block(lw, "atomic.nan"), loop = lw_block(lw, "atomic.try"),
                    fix = lw_block(lw, "atomic.fix"), end = lw_block(lw, "atomic.end");
  lw_branch_weights(lw, l_condbr(b, lw_is_nan(lw, v), skip, loop), 1, 1000);
  lw_at(lw, skip);
  LLVMValueRef kept = read_bits(lw, p, bits_t);
  l_br(b, end);
  lw_at(lw, loop);
  LLVMValueRef old = extreme_by_bits(lw, max, p, bits);
  LLVMValueRef was_nan = lw_is_nan(lw, l_bitcast(b, old, t));
  LLVMBasicBlockRef tried = LLVMGetInsertBlock(b);
  lw_branch_weights(lw, l_condbr(b, was_nan, fix, end), 1, 1000);
  lw_at(lw, fix);
  LLVMValueRef seen = cmpxchg(lw, p, old, bits);
  LLVMValueRef settled = l_or(b, l_icmp(b, LLVMIntEQ, seen, old), l_icmp(b, LLVMIntEQ, seen, bits));
  l_condbr(b, settled, end, loop);
  lw_at(lw, end);
  LLVMValueRef result = l_phi(b, bits_t);
  LLVMAddIncoming(result, (LLVMValueRef[]){kept, old, old}, (LLVMBasicBlockRef[]){skip, tried, fix},
                  3);
  return l_bitcast(b, result, t);
}

/* --- dispatch --- */

static const struct {
  LLVMAtomicRMWBinOp of_signed, of_unsigned;
} integer_ops[] = {
#define A(ID, text, elements, of_signed, of_unsigned)                                              \
  [ATOMIC_##ID] = {LLVMAtomicRMWBinOp##of_signed, LLVMAtomicRMWBinOp##of_unsigned},
#include "ir/atomics.def"
#undef A
};

/* A sum that LLVM cannot compute in the element's type (lw_ready): a compare-and-swap, retried
 * until no other thread has written in between. */
static LLVMValueRef add_by_swapping(Lower *lw, LLVMValueRef p, LLVMValueRef v) {
  LLVMBuilderRef b = lw->b;
  LLVMTypeRef t = LLVMTypeOf(v), bits_t = bits_type(lw, t);
  LLVMValueRef term = lw_ready(lw, v), first = read_bits(lw, p, bits_t);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), loop = lw_block(lw, "atomic.try"),
                    end = lw_block(lw, "atomic.end");
  l_br(b, loop);
  lw_at(lw, loop);
  LLVMValueRef old = l_phi(b, bits_t);
  LLVMValueRef sum = l_fadd(b, lw_ready(lw, l_bitcast(b, old, t)), term);
  LLVMValueRef seen = cmpxchg(lw, p, old, l_bitcast(b, lw_fit(lw, sum, t), bits_t));
  LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, loop}, 2);
  l_condbr(b, l_icmp(b, LLVMIntEQ, seen, old), end, loop);
  lw_at(lw, end);
  return l_bitcast(b, old, t);
}

static LLVMValueRef float_add(Lower *lw, LLVMValueRef p, LLVMValueRef v) {
  bool plain = LLVMTypeOf(lw_ready(lw, v)) == LLVMTypeOf(v);
  return plain ? rmw(lw, LLVMAtomicRMWBinOpFAdd, p, v) : add_by_swapping(lw, p, v);
}

static LLVMValueRef negated(Lower *lw, LLVMValueRef v) {
  return lw_fit(lw, l_fneg(lw->b, lw_ready(lw, v)), LLVMTypeOf(v));
}

/* Exchanges the bits, since there is no exchange of 16-bit floats. */
static LLVMValueRef exchange(Lower *lw, LLVMValueRef p, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  LLVMValueRef bits = l_bitcast(lw->b, v, bits_type(lw, t));
  return l_bitcast(lw->b, rmw(lw, LLVMAtomicRMWBinOpXchg, p, bits), t);
}

static LLVMValueRef float_atomic(Lower *lw, AtomicOp op, LLVMValueRef p, LLVMValueRef v) {
  switch (op) {
  case ATOMIC_ADD: return float_add(lw, p, v);
  case ATOMIC_SUB: return float_add(lw, p, negated(lw, v));
  case ATOMIC_MAX: return extreme(lw, true, p, v);
  case ATOMIC_MIN: return extreme(lw, false, p, v);
  case ATOMIC_NANMAX: return extreme_number(lw, true, p, v);
  case ATOMIC_NANMIN: return extreme_number(lw, false, p, v);
  case ATOMIC_EXCH: return exchange(lw, p, v);
  default: cx_bug(lw->cx, "atomic %d of a float", (int)op);
  }
}

/* Floats are compared by their bits, so 0.0 and -0.0 differ. */
static LLVMValueRef cas(Lower *lw, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef value,
                        bool is_float) {
  if (!is_float)
    return cmpxchg(lw, p, expected, value);
  LLVMTypeRef t = LLVMTypeOf(value), bits = bits_type(lw, t);
  LLVMValueRef old = cmpxchg(lw, p, l_bitcast(lw->b, expected, bits),
                             l_bitcast(lw->b, value, bits));
  return l_bitcast(lw->b, old, t);
}

void lw_atomic(Lower *lw, Ins *i) {
  const Type *elem = i->args[0]->type->elem;
  LLVMValueRef p = lw_address(lw, i->args[0], i->args + 1);
  LLVMValueRef v = lw_value(lw, i->args[i->nargs - 1]);
  bool is_float = ty_is_float(elem);
  AtomicOp op = (AtomicOp)i->aux.i;
  assert(op < ATOMIC_COUNT && i->nargs >= 2u + i->args[0]->type->ndim);
  if (op == ATOMIC_CAS)
    lw_set(lw, i, cas(lw, p, lw_value(lw, i->args[i->nargs - 2]), v, is_float));
  else if (is_float)
    lw_set(lw, i, float_atomic(lw, op, p, v));
  else
    lw_set(lw, i,
           rmw(lw, ty_is_signed(elem) ? integer_ops[op].of_signed : integer_ops[op].of_unsigned, p,
               v));
}
