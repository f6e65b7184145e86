/* Lanes: how far each lane's value is from lane 0's, where that is known. See lanes.h; strides.c
 * calls it.
 *
 * What steps from a number whose low bits are known to be 0 leaves the higher bits alone in all
 * lanes (align.c). So `t & 3`, `t >> 1` and `t ^ 5` differ from lane to lane by constants, and so
 * does `2 * t - (t & 3)`, an address of a butterfly. As for groups (groups.c), this holds in all
 * lanes, whether they run or not, and modulo the type; what is widened must not wrap. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { DEEPEST = 8 };

static bool pattern(Lanes *l, LLVMValueRef v, int64_t *all, int depth);

/* Does it step, of so many bits, and only through bits below the sign that are 0 in lane 0? */
static bool steps_in_zeros(const Lanes *l, Shape s, unsigned bits) {
  return s.kind == SHAPE_STEP && s.step > 0 && s.step < INT32_MAX && s.zeros < bits - 1 &&
         ((uint64_t)s.step * (l->width - 1)) >> s.zeros == 0;
}

/* Of an operation on bits whose second operand is a constant: what it makes of the bits in which
 * the lanes differ. A shift must not carry lane 0's bits among them. */
static bool of_bits(Lanes *l, LLVMValueRef i, int64_t *all) {
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  Shape s = ln_shape(l, x);
  if (!LLVMIsAConstantInt(y) || cg_int_width(y) > 64 || !steps_in_zeros(l, s, cg_int_width(x)))
    return false;
  uint64_t c = LLVMConstIntGetZExtValue(y), low = ((uint64_t)1 << s.zeros) - 1;
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  for (unsigned k = 0; k < l->width; k++) {
    uint64_t bits = k * (uint64_t)s.step;
    switch (op) {
    case LLVMAnd: all[k] = (int64_t)(bits & c); break;
    case LLVMOr: all[k] = (int64_t)((bits | (c & low)) - (c & low)); break;
    case LLVMXor: all[k] = (int64_t)((bits ^ (c & low)) - (c & low)); break;
    case LLVMLShr:
    case LLVMAShr:
      if (c >= s.zeros)
        return false;
      all[k] = (int64_t)(bits >> c);
      break;
    default: return false;
    }
  }
  return true;
}

static bool sum(Lanes *l, LLVMValueRef i, int64_t by, int64_t *all, int depth) {
  int64_t *other = ARENA_ARRAY(l->arena, int64_t, l->width);
  if (!pattern(l, LLVMGetOperand(i, 0), all, depth) ||
      !pattern(l, LLVMGetOperand(i, 1), other, depth))
    return false;
  for (unsigned k = 0; k < l->width; k++)
    if (__builtin_mul_overflow(other[k], by, &other[k]) ||
        __builtin_add_overflow(all[k], other[k], &all[k]))
      return false;
  return true;
}

static bool scale(const Lanes *l, int64_t *all, int64_t by) {
  for (unsigned k = 0; k < l->width; k++)
    if (__builtin_mul_overflow(all[k], by, &all[k]))
      return false;
  return true;
}

static bool product(Lanes *l, LLVMValueRef i, int64_t *all, int depth) {
  LLVMValueRef y = LLVMGetOperand(i, 1);
  if (!LLVMIsAConstantInt(y) || cg_int_width(y) > 64 ||
      !pattern(l, LLVMGetOperand(i, 0), all, depth))
    return false;
  int64_t by = LLVMConstIntGetSExtValue(y);
  bool shift = LLVMGetInstructionOpcode(i) == LLVMShl;
  if (shift && (by < 0 || by >= 32))
    return false;
  return scale(l, all, shift ? (int64_t)1 << by : by);
}

static bool address(Lanes *l, LLVMValueRef i, int64_t *all, int depth) {
  int64_t *index = ARENA_ARRAY(l->arena, int64_t, l->width);
  if (LLVMGetNumOperands(i) != 2 || ln_value(l, i)->element ||
      cg_int_width(LLVMGetOperand(i, 1)) != 64 || !pattern(l, LLVMGetOperand(i, 0), all, depth) ||
      !pattern(l, LLVMGetOperand(i, 1), index, depth) ||
      !scale(l, index, (int64_t)LLVMABISizeOfType(l->cg->layout, ln_gep_unit(l, i))))
    return false;
  for (unsigned k = 0; k < l->width; k++)
    if (__builtin_add_overflow(all[k], index[k], &all[k]))
      return false;
  return true;
}

static bool pattern(Lanes *l, LLVMValueRef v, int64_t *all, int depth) {
  Shape s = ln_shape(l, v);
  if (s.kind == SHAPE_STEP) {
    for (unsigned k = 0; k < l->width; k++)
      all[k] = (int64_t)k * s.step; /* of steps below 2**40 */
    return true;
  }
  if (!LLVMIsAInstruction(v) || depth++ == DEEPEST)
    return false;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd: return sum(l, v, 1, all, depth);
  case LLVMSub: return sum(l, v, -1, all, depth);
  case LLVMOr:
    return of_bits(l, v, all) || (LLVMGetIsDisjoint(v) && !ln_may_rest(l, ln_value(l, v)->block) &&
                                  sum(l, v, 1, all, depth));
  case LLVMMul:
  case LLVMShl: return product(l, v, all, depth);
  case LLVMAnd:
  case LLVMXor:
  case LLVMLShr:
  case LLVMAShr: return of_bits(l, v, all);
  case LLVMZExt: /* of the low bits of a number: they are in order */
    return cg_is_op(LLVMGetOperand(v, 0), LLVMAnd) && pattern(l, LLVMGetOperand(v, 0), all, depth);
  case LLVMGetElementPtr: return address(l, v, all, depth);
  default: return false;
  }
}

bool ln_pattern(Lanes *l, LLVMValueRef v, int64_t *all) { return pattern(l, v, all, 0); }
