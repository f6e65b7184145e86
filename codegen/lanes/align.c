/* Lanes: shapes that follow from the known low bits of lane 0's value. See lanes.h.
 *
 * A value that steps by one and is a multiple of W in lane 0 (a thread's number in a row of whole
 * vectors) does not cross a multiple of W within the vector. So compared with such a multiple it is
 * uniform, divided by one its quotient is uniform, and its low bits are the lane's number. The
 * analysis is the usual one of trailing zeros, over the lattice of shapes; it knows operations with
 * a constant and nothing about ranges. */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/lanes/private.h"

enum { MOST_ZEROS = 63 };

static unsigned log2_of(unsigned n) {
  assert(n && (n & (n - 1)) == 0);
  return (unsigned)__builtin_ctz(n);
}
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

bool ln_is_aligned(const Lanes *l, Shape s) {
  return s.kind == SHAPE_STEP && s.step == 1 && s.zeros >= log2_of(l->width);
}

static bool is_whole(const Lanes *l, Shape s) {
  return ln_is_uniform(s) && s.zeros >= log2_of(l->width);
}

/* Are the bits in which lanes differ known to be 1: is it `y | 15`, with a constant? */
static bool keeps_lanes(const Lanes *l, LLVMValueRef v) {
  if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMOr)
    return false;
  LLVMValueRef y = LLVMGetOperand(v, 1);
  return LLVMIsAConstantInt(y) && LLVMGetIntTypeWidth(LLVMTypeOf(y)) <= 64 &&
         (~LLVMConstIntGetZExtValue(y) & (l->width - 1)) == 0;
}

static unsigned zeros_of(Lanes *l, LLVMValueRef i, unsigned k) {
  return ln_shape(l, LLVMGetOperand(i, k)).zeros;
}

static bool is_constant(LLVMValueRef v) {
  return LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
}
/* The second operand, unsigned; 0 if it is no constant. */
static uint64_t constant(LLVMValueRef i) {
  bool has = LLVMGetNumOperands(i) == 2 && is_constant(LLVMGetOperand(i, 1));
  return has ? LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) : 0;
}

static unsigned phi_zeros(Lanes *l, LLVMValueRef phi) {
  unsigned zeros = MOST_ZEROS;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    Shape s = ln_shape(l, LLVMGetIncomingValue(phi, k));
    if (s.kind != SHAPE_NONE)
      zeros = least(zeros, s.zeros);
  }
  return zeros;
}

/* Whole vectors run in blocks whose rows are multiples of W alone, so blockDim.x is one, and with
 * it where a block's row begins in the grid; but for rows that are guarded, whose threads' numbers
 * are not aligned. */
static unsigned width_zeros(Lanes *l, LLVMValueRef load) {
  bool rows = l->how.whole && l->how.zeros && l->how.zeros[HOST_THREAD];
  bool is = rows && cg_host_is_size(LLVMGetParam(l->f, HOST_LAUNCH), load, SREG_NTID_X);
  return is ? log2_of(l->width) : 0;
}

unsigned ln_zeros(Lanes *l, LLVMValueRef i) {
  if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind)
    return 0;
  uint64_t by = constant(i);
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMOr:
  case LLVMXor: return least(zeros_of(l, i, 0), zeros_of(l, i, 1));
  case LLVMAnd: {
    unsigned a = zeros_of(l, i, 0), b = zeros_of(l, i, 1);
    return a > b ? a : b;
  }
  case LLVMMul: return least(zeros_of(l, i, 0) + zeros_of(l, i, 1), MOST_ZEROS);
  case LLVMShl: return by < 64 ? least(zeros_of(l, i, 0) + (unsigned)by, MOST_ZEROS) : 0;
  case LLVMLShr:
  case LLVMAShr: return by && by < zeros_of(l, i, 0) ? zeros_of(l, i, 0) - (unsigned)by : 0;
  case LLVMURem: return by ? least(zeros_of(l, i, 0), (unsigned)__builtin_ctzll(by)) : 0;
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc:
  case LLVMFreeze: return zeros_of(l, i, 0);
  case LLVMSelect: return least(zeros_of(l, i, 1), zeros_of(l, i, 2));
  case LLVMPHI: return phi_zeros(l, i);
  case LLVMLoad: return width_zeros(l, i);
  default: return 0;
  }
}

/* x < y and x >= y are uniform if y is a multiple of W; x <= y and x > y if y + 1 is one. */
static bool compares_alike(Lanes *l, LLVMValueRef icmp) {
  LLVMValueRef x = LLVMGetOperand(icmp, 0), y = LLVMGetOperand(icmp, 1);
  LLVMIntPredicate p = LLVMGetICmpPredicate(icmp);
  bool strict = p == LLVMIntULT || p == LLVMIntSLT || p == LLVMIntUGE || p == LLVMIntSGE;
  if (p == LLVMIntEQ || p == LLVMIntNE)
    return false;
  if (!ln_is_aligned(l, ln_shape(l, x))) { /* y > x, y <= x are what x < y, x >= y are */
    LLVMValueRef t = x;
    x = y, y = t;
    strict = !strict;
  }
  if (!ln_is_aligned(l, ln_shape(l, x)))
    return false;
  if (strict)
    return is_whole(l, ln_shape(l, y));
  return is_constant(y) && ((LLVMConstIntGetZExtValue(y) + 1) & (l->width - 1)) == 0;
}

Shape ln_aligned_shape(Lanes *l, LLVMValueRef i) {
  static const Shape none = {0}, alike = {SHAPE_STEP, 0, 0}, by_one = {SHAPE_STEP, 1, 0};
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op == LLVMICmp)
    return compares_alike(l, i) ? alike : none;
  if (op == LLVMAnd && keeps_lanes(l, LLVMGetOperand(i, 0)) &&
      ln_is_uniform(ln_shape(l, LLVMGetOperand(i, 0))) &&
      ln_is_aligned(l, ln_shape(l, LLVMGetOperand(i, 1))))
    return by_one;
  if (LLVMGetNumOperands(i) != 2 || !ln_is_aligned(l, ln_shape(l, LLVMGetOperand(i, 0))))
    return none;
  uint64_t by = constant(i), low = by & (l->width - 1);
  LLVMValueRef y = LLVMGetOperand(i, 1);
  if (op == LLVMAnd && !by && ln_is_uniform(ln_shape(l, y)) && keeps_lanes(l, y))
    return by_one;
  switch (op) {
  case LLVMAnd: return !by || (low && low != l->width - 1) ? none : low ? by_one : alike;
  case LLVMLShr:
  case LLVMAShr: return by >= log2_of(l->width) && by < 64 ? alike : none;
  case LLVMUDiv: return by && !low ? alike : none;
  case LLVMURem: return by && !low ? by_one : none;
  case LLVMOr:
  case LLVMXor: return is_whole(l, ln_shape(l, LLVMGetOperand(i, 1))) ? by_one : none;
  default: return none;
  }
}
