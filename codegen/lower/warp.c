/* Warp: warp operations and the grid's barrier.
 *
 * The target exchanges integers of 32 or 64 bits (Target.warp); here numbers of any type become
 * their bits, widened with zeros to 32, and the result becomes a number again. A complex number is
 * shuffled leaf by leaf. Masks and lanes are i32 already, and which lanes take part is the target's
 * concern. */
#include <assert.h>

#include "codegen/lower/private.h"

typedef RtMeetKind WarpOp;

static LLVMValueRef as_int(Lower *lw, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind
             ? v
             : l_bitcast(lw->b, v,
                         cg_int_type(lw->cg, (unsigned)(LLVMSizeOfTypeInBits(lw->cg->layout, t))));
}

/* A number's bits as i32 or i64; narrower ones are zero-extended. */
static LLVMValueRef to_bits(Lower *lw, LLVMValueRef v) {
  v = as_int(lw, v);
  return LLVMGetIntTypeWidth(LLVMTypeOf(v)) < 32 ? l_zext(lw->b, v, lw->t->i32) : v;
}

static LLVMValueRef from_bits(Lower *lw, LLVMValueRef bits, LLVMTypeRef t) {
  unsigned n = (unsigned)LLVMSizeOfTypeInBits(lw->cg->layout, t);
  assert(n <= LLVMGetIntTypeWidth(LLVMTypeOf(bits)));
  if (n < LLVMGetIntTypeWidth(LLVMTypeOf(bits)))
    bits = l_trunc(lw->b, bits, LLVMIntTypeInContext(lw->cg->context, n));
  return l_bitcast(lw->b, bits, t);
}

/* Of an int64 that fits 32 bits one exchange; so does what arrives, which has been in a lane. (What
 * a lane gives that does not take part is any number: no more is said of it.) */
static bool shuffle_low(Lower *lw, Ins *i, WarpOp op) {
  const Ins *from = i->args[1];
  if (!(from->flags & (INS_I32 | INS_U32)))
    return false;
  LLVMValueRef v = lw->target->warp(lw, op, lw_value(lw, i->args[0]),
                                    lw_low(lw, lw_value(lw, i->args[1])), lw_value(lw, i->args[2]));
  lw_set(lw, i, l_int_cast(lw->b, v, lw->t->i64, !(from->flags & INS_U32)));
  return true;
}

/* Operands: mask, value, lane. Each leaf of the value is shuffled by itself. */
static void shuffle(Lower *lw, Ins *i, WarpOp op) {
  if (shuffle_low(lw, i, op))
    return;
  uint32_t n = cg_leaf_count(i->type);
  LLVMValueRef *from = lw_leaves(lw, i->args[1]), *to = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  for (uint32_t k = 0; k < n; k++)
    to[k] = from_bits(lw,
                      lw->target->warp(lw, op, lw_value(lw, i->args[0]), to_bits(lw, from[k]),
                                       lw_value(lw, i->args[2])),
                      LLVMTypeOf(from[k]));
  lw_set_leaves(lw, i, to);
}
void cg_intrinsic_SHFL_SYNC(Lower *lw, Ins *i) { shuffle(lw, i, RT_MEET_SHFL_IDX); }
void cg_intrinsic_SHFL_UP(Lower *lw, Ins *i) { shuffle(lw, i, RT_MEET_SHFL_UP); }
void cg_intrinsic_SHFL_DOWN(Lower *lw, Ins *i) { shuffle(lw, i, RT_MEET_SHFL_DOWN); }
void cg_intrinsic_SHFL_XOR(Lower *lw, Ins *i) { shuffle(lw, i, RT_MEET_SHFL_XOR); }

/* The target's i32, as a bool if that is the instruction's type. */
static LLVMValueRef as_result(Lower *lw, LLVMValueRef v, const Type *t) {
  return ty_kind(t) == KIND_BOOL ? l_icmp(lw->b, LLVMIntNE, v, LLVMConstNull(lw->t->i32)) : v;
}

static void vote(Lower *lw, Ins *i, WarpOp op) {
  LLVMValueRef v = lw->target->warp(lw, op, lw_value(lw, i->args[0]), lw_value(lw, i->args[1]),
                                    NULL);
  lw_set(lw, i, as_result(lw, v, i->type));
}
void cg_intrinsic_ALL_SYNC(Lower *lw, Ins *i) { vote(lw, i, RT_MEET_ALL); }
void cg_intrinsic_ANY_SYNC(Lower *lw, Ins *i) { vote(lw, i, RT_MEET_ANY); }
void cg_intrinsic_EQ_SYNC(Lower *lw, Ins *i) { vote(lw, i, RT_MEET_EQ); }
void cg_intrinsic_BALLOT_SYNC(Lower *lw, Ins *i) { vote(lw, i, RT_MEET_BALLOT); }

static LLVMValueRef match(Lower *lw, Ins *i, WarpOp op) {
  return lw->target->warp(lw, op, lw_value(lw, i->args[0]), to_bits(lw, lw_value(lw, i->args[1])),
                          NULL);
}
void cg_intrinsic_MATCH_ANY(Lower *lw, Ins *i) { lw_set(lw, i, match(lw, i, RT_MEET_MATCH_ANY)); }

/* The result is (mask, predicate). The mask is 0 if and only if the values differ, since otherwise
 * it contains the thread's own lane. */
void cg_intrinsic_MATCH_ALL(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 2);
  leaves[0] = match(lw, i, RT_MEET_MATCH_ALL);
  leaves[1] = l_icmp(lw->b, LLVMIntNE, leaves[0], LLVMConstNull(lw->t->i32));
  lw_set_leaves(lw, i, leaves);
}

void cg_intrinsic_SYNCWARP(Lower *lw, Ins *i) {
  lw->target->warp(lw, RT_MEET_SYNC, lw_value(lw, i->args[0]), NULL, NULL);
}

void cg_intrinsic_ACTIVEMASK(Lower *lw, Ins *i) {
  lw_set(lw, i, lw->target->warp(lw, RT_MEET_ACTIVE, NULL, NULL, NULL));
}

void cg_intrinsic_CG_GRID_SYNC(Lower *lw, Ins *i) {
  (void)i;
  lw->target->grid_barrier(lw);
}
