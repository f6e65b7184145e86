/* Lanes: indices that may count from the end (`a[-1]`). See lanes.h; memory.c calls it.
 *
 * Such an index is x, or x + n where x is negative. If x is linear, its wrap-around is all that is
 * not, and a run-time test chooses between a contiguous access and a gather: x is the least in lane
 * 0 where it rises, in the last one that runs where it falls (`a[d - i - 1]`). */
#include <assert.h>

#include "codegen/lanes/private.h"

/* The x of `x >> k & n`, which is n if x is negative, else 0; NULL if v has not that form. */
static LLVMValueRef sign_of(LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMAnd ||
      !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
    return NULL;
  LLVMValueRef shift = LLVMGetOperand(v, 0);
  if (!LLVMIsAInstruction(shift) || LLVMGetNumOperands(shift) != 2 ||
      !LLVMIsAConstantInt(LLVMGetOperand(shift, 1)))
    return NULL;
  LLVMOpcode op = LLVMGetInstructionOpcode(shift);
  uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(shift, 1)),
           n = LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
  bool is = op == LLVMAShr ? by == 63 : op == LLVMLShr && by < 64 && n == (uint64_t)1 << (63 - by);
  return is ? LLVMGetOperand(shift, 0) : NULL;
}

/* The x of `n if x < 0 else 0`, NULL if v has not that form. */
static LLVMValueRef chosen_by_sign(LLVMValueRef v) {
  if (!LLVMIsASelectInst(v) || !LLVMIsAICmpInst(LLVMGetOperand(v, 0)))
    return NULL;
  LLVMValueRef test = LLVMGetOperand(v, 0), other = LLVMGetOperand(v, 2),
               zero = LLVMGetOperand(test, 1);
  return LLVMGetICmpPredicate(test) == LLVMIntSLT && LLVMIsAConstantInt(zero) && LLVMIsNull(zero) &&
                 LLVMIsAConstantInt(other) && LLVMIsNull(other)
             ? LLVMGetOperand(test, 0)
             : NULL;
}

/* x + n if x < 0 else x: n and the result x, NULL if v has none of its forms. */
static LLVMValueRef parts_of(LLVMValueRef v, LLVMValueRef *n) {
  if (!LLVMIsAInstruction(v))
    return NULL;
  for (unsigned k = 0; LLVMGetInstructionOpcode(v) == LLVMAdd && k < 2; k++) {
    LLVMValueRef added = LLVMGetOperand(v, k), x = LLVMGetOperand(v, 1 - k);
    if (sign_of(added) != x && chosen_by_sign(added) != x)
      continue;
    *n = LLVMGetOperand(added, 1);
    return x;
  }
  if (!LLVMIsASelectInst(v) || !LLVMIsAICmpInst(LLVMGetOperand(v, 0)))
    return NULL;
  LLVMValueRef test = LLVMGetOperand(v, 0), x = LLVMGetOperand(v, 2), other = LLVMGetOperand(v, 1);
  bool negative = LLVMGetICmpPredicate(test) == LLVMIntSLT && LLVMGetOperand(test, 0) == x &&
                  LLVMIsAConstantInt(LLVMGetOperand(test, 1)) &&
                  LLVMIsNull(LLVMGetOperand(test, 1));
  if (!negative || !LLVMIsAInstruction(other) || LLVMGetInstructionOpcode(other) != LLVMAdd ||
      (LLVMGetOperand(other, 0) != x && LLVMGetOperand(other, 1) != x))
    return NULL;
  *n = LLVMGetOperand(other, LLVMGetOperand(other, 0) == x);
  return x;
}

LLVMValueRef ln_unwrapped(LLVMValueRef v) {
  LLVMValueRef n;
  return parts_of(v, &n);
}

/* The same in all lanes, and computed here or in a block before? */
static bool is_known(Lanes *l, LLVMValueRef n) {
  return ln_is_uniform(ln_shape(l, n)) && ln_is_here(l, n);
}

/* What ln_find_run will read at an access is kept for it, where its own block ends before. */
void ln_keep_for_runs(Lanes *l) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    LLVMValueRef pointer = l->values.data[k].old;
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2 ||
        l->values.data[k].shape.kind != SHAPE_VECTOR)
      continue;
    LLVMValueRef index = LLVMGetOperand(pointer, 1), whole = ln_unwrapped(index),
                 x = whole ? whole : sign_of(index);
    LLVMValueRef inside = ln_index_inside(l, pointer), place = ln_index_of_table(l, pointer);
    LaneValue *of_x = x ? ln_value(l, x) : NULL, *base = ln_value(l, LLVMGetOperand(pointer, 0));
    if (of_x && of_x->shape.kind == SHAPE_STEP)
      of_x->outside = true;
    if (inside && ln_value(l, inside))
      ln_value(l, inside)->outside = true;
    if (place && ln_value(l, place))
      ln_value(l, place)->outside = true;
    if ((x || inside || place) && base)
      base->outside = true;
  }
}

Run ln_find_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  Run none = {0};
  if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2)
    return none;
  LLVMValueRef base = LLVMGetOperand(pointer, 0), index = LLVMGetOperand(pointer, 1);
  LLVMTypeRef unit = LLVMGetGEPSourceElementType(pointer);
  LLVMValueRef whole = ln_unwrapped(index), added = sign_of(index), x = whole ? whole : added;
  if (!x || LLVMTypeOf(x) != l->cg->t.i64 || !ln_is_here(l, x) || !ln_is_here(l, base))
    return none;
  Shape s = ln_shape(l, x), b = ln_shape(l, base);
  int64_t size = (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  if (s.kind != SHAPE_STEP || !s.step || b.kind != SHAPE_STEP ||
      LLVMSizeOfTypeInBits(l->cg->layout, t) != 8 * (uint64_t)size)
    return none;
  int64_t by = b.step + (whole ? s.step * (int64_t)LLVMABISizeOfType(l->cg->layout, unit) : 0);
  if (by != size && by != -size)
    return none;
  Run r = {ln_scalar(l, x), ln_scalar(l, base), NULL, s.step, by};
  if (whole)
    r.first = l_gep(l->b, unit, r.first, &r.x, 1);
  LLVMValueRef n = NULL;
  if (whole && parts_of(index, &n) && is_known(l, n))
    r.added = l_mul(l->b, ln_scalar(l, n),
                    l_int(l->cg->t.i64, LLVMABISizeOfType(l->cg->layout, unit)));
  return r;
}

static LLVMValueRef is_negative(Lanes *l, LLVMValueRef x) {
  return l_icmp(l->b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)));
}

/* Where the run is not, so that no vector of addresses waits in registers where it is. */
LLVMValueRef ln_wrapped_addresses(Lanes *l, const Run *r) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef x = l_add(l->b, ln_splat(l, r->x), ln_steps_vector(l, i64, r->step)),
               added = l_select(l->b, is_negative(l, x), ln_splat(l, r->added),
                                LLVMConstNull(LLVMTypeOf(x))),
               offsets = l_add(l->b, added, ln_steps_vector(l, i64, r->by));
  return l_gep(l->b, l->cg->t.i8, r->first, &offsets, 1);
}

static LLVMValueRef wrap(Lanes *l, LLVMValueRef x, LLVMValueRef n) {
  return l_select(l->b, is_negative(l, x), l_add(l->b, x, n), x);
}

LLVMValueRef ln_wrap_again(Lanes *l, LLVMValueRef v, LLVMValueRef lane) {
  LLVMValueRef n = NULL, x = parts_of(v, &n);
  if (!x || ln_shape(l, x).kind != SHAPE_STEP || !ln_is_here(l, x) || !is_known(l, n))
    return NULL;
  return lane ? wrap(l, ln_in_lane(l, x, lane), ln_scalar(l, n))
              : wrap(l, ln_vector(l, x), ln_vector(l, n));
}

/* x >= 0 in a lane, and so far from overflow that it is not negative in those where it is more. */
static LLVMValueRef is_ahead(Lanes *l, const Run *r, LLVMValueRef lane) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef by = l_mul(l->b, lane, l_int(i64, (uint64_t)r->step));
  return l_icmp(l->b, LLVMIntULT, l_add(l->b, r->x, by), l_int(i64, UINT64_C(1) << 62));
}

RunBlocks ln_branch_on_sign(Lanes *l, const Run *r) {
  assert(r->x && r->first && r->step);
  bool rises = r->step > 0;
  RunBlocks w = {ln_new_block(l, "run"), ln_new_block(l, "wrapped"), ln_new_block(l, "")};
  LLVMBasicBlockRef other = l->mask_now ? ln_new_block(l, "first") : w.wrapped;
  LLVMValueRef least = l_int(l->cg->t.i64, rises ? 0 : l->width - 1);
  l_condbr(l->b, is_ahead(l, r, least), w.run, other);
  if (l->mask_now) {
    LLVMPositionBuilderAtEnd(l->b, other);
    LLVMValueRef bits = ln_bits(l, l->mask_now);
    least = rises ? ln_first(l, l->mask_now) : ln_highest_bit(l, bits);
    l_condbr(l->b, is_ahead(l, r, least), w.run, w.wrapped);
  }
  LLVMPositionBuilderAtEnd(l->b, w.run);
  return w;
}
