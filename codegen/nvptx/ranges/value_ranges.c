/* NVPTX value ranges: see value_ranges.h. Each rule holds whenever the operands are in their
 * ranges; what leaves the type's room wraps around, and so is any number, unless a flag rules that
 * out. */
#include <string.h>

#include "codegen/nvptx/ranges/value_ranges.h"

#include "codegen/llvm/match.h"
#include "codegen/nvptx/ranges/float_bounds.h"
#include "codegen/nvptx/nvptx.h"
#include "ir/type.h"

/* operations one behind the other; in all, since phis of phis have many; places of a hash table of
 * those whose range is known, for what several operations read. It has room for all, or what is
 * found would depend on their addresses. */
enum { MOST_OPERATIONS = 32, MOST_VISITS = 200, PLACES = 256 };

typedef struct Walk {
  unsigned deep, visits;
  LLVMValueRef known[PLACES];
  Interval ranges[PLACES];
} Walk;

static unsigned place_of(const Walk *w, LLVMValueRef v) {
  unsigned at = (uintptr_t)v / 16 % PLACES;
  while (w->known[at] && w->known[at] != v)
    at = (at + 1) % PLACES;
  return at;
}

static Interval range_of(LLVMValueRef v, Walk *w);

static Interval of_operand(LLVMValueRef v, unsigned k, Walk *w) {
  return range_of(LLVMGetOperand(v, k), w);
}

/* Of v, whose number would be in r if it had the room; exact: it has. */
static Interval kept(LLVMValueRef v, Interval r, bool exact) {
  Interval room = cg_nvptx_numbers(cg_int_width(v)), in = ir_interval_common(r, room);
  return ir_interval_lies_within(r, room) || (exact && !ir_interval_is_empty(in)) ? in : room;
}

static Interval of_zero_extension(LLVMValueRef v, Walk *w) {
  Interval r = of_operand(v, 0, w);
  unsigned bits = cg_int_width(LLVMGetOperand(v, 0));
  if (r.lo >= 0)
    return r;
  return (Interval){0, LLVMGetNNeg(v) && r.hi >= 0 ? r.hi : ((IrWide)1 << bits) - 1};
}

static Interval of_truncation(LLVMValueRef v, Walk *w) {
  Interval r = of_operand(v, 0, w);
  if (LLVMGetNUW(v) && r.hi >= 0)
    r.lo = ir_interval_larger(r.lo, 0);
  return kept(v, r, LLVMGetNSW(v));
}

/* Is v the phi plus what is not negative? */
static bool counts_up(LLVMValueRef v, LLVMValueRef phi, Walk *w) {
  return cg_is_op(v, LLVMAdd) && LLVMGetNSW(v) && LLVMGetOperand(v, 0) == phi &&
         of_operand(v, 1, w).lo >= 0;
}

static Interval of_phi(LLVMValueRef v, Walk *w) {
  Interval r = ir_nothing, room = cg_nvptx_numbers(cg_int_width(v));
  for (unsigned k = 0; k < LLVMCountIncoming(v) && !ir_interval_lies_within(room, r); k++) {
    LLVMValueRef in = LLVMGetIncomingValue(v, k);
    r = ir_interval_both(r, counts_up(in, v, w) ? (Interval){room.hi, room.hi} : range_of(in, w));
  }
  return r;
}

static Interval smaller(Interval a, Interval b) {
  return (Interval){ir_interval_smaller(a.lo, b.lo), ir_interval_smaller(a.hi, b.hi)};
}
static Interval larger(Interval a, Interval b) {
  return (Interval){ir_interval_larger(a.lo, b.lo), ir_interval_larger(a.hi, b.hi)};
}

static Interval of_magnitude(Interval a) { return (Interval){0, ir_interval_larger(-a.lo, a.hi)}; }

/* A float saturated to int32, 0 for nan. */
static Interval of_conversion(LLVMValueRef v) {
  FloatBounds b = cg_nvptx_float_bounds(LLVMGetOperand(v, 0));
  Interval r = {b.lo > INT32_MIN ? (IrWide)b.lo : INT32_MIN,
                b.hi < INT32_MAX ? (IrWide)b.hi : INT32_MAX};
  return b.number ? r : ir_interval_both(r, (Interval){0, 0});
}

static Interval of_intrinsic(LLVMValueRef v, Walk *w) {
  Interval room = cg_nvptx_numbers(cg_int_width(v));
  SpecialReg r = cg_nvptx_register_of(v);
  if (r != SREG_NONE)
    return kept(v, (Interval){ir_registers[r].least, ir_registers[r].most}, false);
  if (cg_is_call_of(v, "llvm.nvvm.f2i.rz"))
    return of_conversion(v);
  if (cg_is_call_of_any(v, "llvm.ctlz.") || cg_is_call_of_any(v, "llvm.cttz.") ||
      cg_is_call_of_any(v, "llvm.ctpop."))
    return kept(v, (Interval){0, cg_int_width(v)}, true);
  bool sad = cg_is_call_of(v, "llvm.nvvm.sad.i");
  if (LLVMGetNumArgOperands(v) != (sad ? 3 : 2))
    return room;
  Interval a = of_operand(v, 0, w), b = of_operand(v, 1, w);
  if (sad) {
    a = of_magnitude(ir_interval_sum(a, ir_interval_negated(b)));
    return kept(v, ir_interval_sum(a, of_operand(v, 2, w)), false);
  }
  if (cg_is_call_of_any(v, "llvm.abs."))
    return kept(v, of_magnitude(a), b.lo < 0); /* the least number has none, or none is given */
  if (cg_is_call_of_any(v, "llvm.smin."))
    return smaller(a, b);
  if (cg_is_call_of_any(v, "llvm.smax."))
    return larger(a, b);
  if (cg_is_call_of_any(v, "llvm.umin."))
    return a.lo >= 0 && b.lo >= 0 ? smaller(a, b) : ir_interval_masked(a, b);
  return cg_is_call_of_any(v, "llvm.umax.") && a.lo >= 0 && b.lo >= 0 ? larger(a, b) : room;
}

static Interval of_operation(LLVMValueRef v, Walk *w) {
  Interval a = of_operand(v, 0, w), b = of_operand(v, 1, w);
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd: return kept(v, ir_interval_sum(a, b), LLVMGetNSW(v));
  case LLVMSub: return kept(v, ir_interval_sum(a, ir_interval_negated(b)), LLVMGetNSW(v));
  case LLVMMul: return kept(v, ir_interval_product(a, b), LLVMGetNSW(v));
  default: return ir_interval_masked(a, b);
  }
}

static Interval of_right_shift(LLVMValueRef v, Walk *w) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  unsigned bits = cg_int_width(v);
  uint64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : 0;
  if (!n || n >= bits)
    return cg_nvptx_numbers(bits);
  Interval r = of_operand(v, 0, w);
  return r.lo >= 0 ? (Interval){r.lo >> n, r.hi >> n}
                   : (Interval){0, (((IrWide)1 << bits) - 1) >> n};
}

/* By a constant from 1 on, as it is or (without signs) of numbers from 0 on. */
static Interval of_division(LLVMValueRef v, Walk *w) {
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  LLVMValueRef by = LLVMGetOperand(v, 1);
  Interval room = cg_nvptx_numbers(cg_int_width(v));
  int64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetSExtValue(by) : 0;
  Interval r = n > 0 ? of_operand(v, 0, w) : room;
  if (n <= 0 || (r.lo < 0 && (op == LLVMUDiv || op == LLVMURem)))
    return room;
  if (op == LLVMUDiv || op == LLVMSDiv)
    return (Interval){r.lo / n, r.hi / n};
  return (Interval){r.lo < 0 ? ir_interval_larger(r.lo, 1 - n) : 0,
                    r.hi > 0 ? ir_interval_smaller(r.hi, n - 1) : 0};
}

/* Is it x, or ~x of one less than 0? LLVM divides numbers of either sign so. */
static bool is_without_sign(LLVMValueRef v) {
  bool is = false;
  for (unsigned k = 0; k < 2 && cg_is_op(v, LLVMXor); k++) {
    LLVMValueRef sign = LLVMGetOperand(v, k);
    is |= cg_is_op(sign, LLVMAShr) && LLVMGetOperand(sign, 0) == LLVMGetOperand(v, !k) &&
          cg_is_number(LLVMGetOperand(sign, 1), cg_int_width(v) - 1);
  }
  return is;
}

/* Of bits of numbers that fit n bits with a sign: such a number. */
static Interval of_bits(LLVMValueRef v, Walk *w) {
  Interval both = ir_interval_both(of_operand(v, 0, w), of_operand(v, 1, w));
  for (unsigned n = 1; n < cg_int_width(v); n++)
    if (ir_interval_lies_within(both, cg_nvptx_numbers(n)))
      return both.lo >= 0 || is_without_sign(v) ? (Interval){0, cg_nvptx_numbers(n).hi}
                                                : cg_nvptx_numbers(n);
  return (Interval){is_without_sign(v) ? 0 : cg_nvptx_numbers(cg_int_width(v)).lo,
                    cg_nvptx_numbers(cg_int_width(v)).hi};
}

static Interval of_signed_shift(LLVMValueRef v, Walk *w) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  Interval r = of_operand(v, 0, w);
  if (!LLVMIsAConstantInt(by)) /* between no shift and all of the bits */
    return (Interval){ir_interval_smaller(r.lo, 0), ir_interval_larger(r.hi, -1)};
  uint64_t n = LLVMConstIntGetZExtValue(by);
  return n < cg_int_width(v) ? (Interval){r.lo >> n, r.hi >> n} : cg_nvptx_numbers(cg_int_width(v));
}

static Interval of_instruction(LLVMValueRef v, Walk *w) {
  if (LLVMIsAIntrinsicInst(v))
    return of_intrinsic(v, w);
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMZExt: return of_zero_extension(v, w);
  case LLVMTrunc: return of_truncation(v, w);
  case LLVMLShr: return of_right_shift(v, w);
  case LLVMAShr: return of_signed_shift(v, w);
  case LLVMXor:
  case LLVMOr: return of_bits(v, w);
  case LLVMUDiv:
  case LLVMURem:
  case LLVMSDiv:
  case LLVMSRem: return of_division(v, w);
  case LLVMSExt: return of_operand(v, 0, w);
  case LLVMSelect: return ir_interval_both(of_operand(v, 1, w), of_operand(v, 2, w));
  case LLVMPHI: return of_phi(v, w);
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMAnd: return of_operation(v, w);
  default: return cg_nvptx_numbers(cg_int_width(v));
  }
}

static Interval range_of(LLVMValueRef v, Walk *w) {
  unsigned bits = cg_int_width(v);
  if (!bits || bits > 64)
    return ir_everything;
  if (LLVMIsAConstantInt(v))
    return (Interval){LLVMConstIntGetSExtValue(v), LLVMConstIntGetSExtValue(v)};
  if (cg_nvptx_is_extent(v))
    return (Interval){0, TY_NARROW};
  if (!LLVMIsAInstruction(v) || w->deep == MOST_OPERATIONS || w->visits == MOST_VISITS)
    return cg_nvptx_numbers(bits);
  unsigned at = place_of(w, v);
  if (w->known[at])
    return w->ranges[at];
  w->deep++;
  w->visits++;
  Interval r = of_instruction(v, w);
  w->deep--;
  at = place_of(w, v);
  w->known[at] = v;
  w->ranges[at] = r;
  return r;
}

Interval cg_nvptx_numbers(unsigned bits) {
  IrWide end = (IrWide)1 << (bits - 1);
  return (Interval){-end, end - 1};
}

Interval cg_nvptx_range(LLVMValueRef v) {
  Walk w; /* the ranges are not read where no value is */
  w.deep = w.visits = 0;
  memset(w.known, 0, sizeof w.known);
  return range_of(v, &w);
}

bool cg_nvptx_fits(LLVMValueRef v, unsigned bits) {
  return ir_interval_lies_within(cg_nvptx_range(v), cg_nvptx_numbers(bits));
}
