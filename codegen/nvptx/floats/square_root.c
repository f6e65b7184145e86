/* NVPTX square roots: float32 square roots of non-negative numbers, and their reciprocals, without
 * ptxas's slow path.
 *
 * ptxas expands sqrt.rn to a test, MUFU.RSQ with two fused steps, and a call if the argument is
 * below 2**-101, negative or not finite; rcp.rn likewise, for exponents outside of -126 … 125. The
 * branch costs five instructions, and nothing is scheduled across it, so a loop's loads wait for
 * the root before them. The steps written here are ptxas's own (the same for sm_75 to sm_120), so
 * results are the same to the bit. A range analysis over the expression shows that the argument is
 * not negative; 0 and infinity remain possible, for which the steps give nan, and maxnum puts the
 * right number in its place:
 *
 *   sqrt(x)    max(steps, x * 2**-64): less than the root of every finite x, and 0 or infinity for
 *              x = 0 or infinity
 *   1 / x      max(steps, MUFU.RCP(x) / 2), where x is the root of a number of at least 2**-101
 *
 * In: functions after LLVM's passes, with IEEE arithmetic. A nan stays nan, so ranges are those of
 * numbers that are not nan. Roots whose argument may be negative stay as they are. */
#include <assert.h>
#include <math.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MAX_DEPTH = 8 };
/* smallest: the least argument for which the steps are exact */
static const double unknown = -1, smallest = 0x1p-101;

/* --- ranges --- */

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* A lower bound of v, if it is not nan: 0 or more, or unknown. Rounding is monotone, so bounds of
 * sums hold whether or not they are contracted. */
static double least(LLVMValueRef v, int depth);

static double least_of_call(LLVMValueRef v, int depth) {
  if (cg_is_call_of(v, "llvm.fabs.f32"))
    return 0;
  if (cg_is_call_of(v, "llvm.sqrt.f32")) {
    double x = least(LLVMGetOperand(v, 0), depth);
    return x > 0 ? sqrt(x) * (1 - 0x1p-20) : 0;
  }
  if (cg_is_call_of(v, "llvm.fma.f32")) {
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    bool positive = a == b || (least(a, depth) >= 0 && least(b, depth) >= 0);
    return positive ? least(LLVMGetOperand(v, 2), depth) : unknown;
  }
  return unknown;
}

/* `a > c ? a : c` in any form, for a constant c: at least c, whatever a is. */
static bool takes_larger(LLVMValueRef select) {
  LLVMValueRef test = LLVMGetOperand(select, 0), yes = LLVMGetOperand(select, 1),
               no = LLVMGetOperand(select, 2);
  if (!LLVMIsAFCmpInst(test) || !(LLVMIsAConstantFP(yes) || LLVMIsAConstantFP(no)))
    return false;
  LLVMValueRef a = LLVMGetOperand(test, 0), b = LLVMGetOperand(test, 1);
  switch (LLVMGetFCmpPredicate(test)) {
  case LLVMRealOGT:
  case LLVMRealOGE:
  case LLVMRealUGT:
  case LLVMRealUGE: return a == yes && b == no;
  case LLVMRealOLT:
  case LLVMRealOLE:
  case LLVMRealULT:
  case LLVMRealULE: return a == no && b == yes;
  default: return false;
  }
}

static double least_of_select(LLVMValueRef v, int depth) {
  double yes = least(LLVMGetOperand(v, 1), depth), no = least(LLVMGetOperand(v, 2), depth);
  if (takes_larger(v))
    return LLVMIsAConstantFP(LLVMGetOperand(v, 1)) ? yes : no;
  return smaller(yes, no);
}

/* Can v, whose lower bound is 0, be -0.0? A quotient by that is negative. */
static bool may_be_minus_zero(LLVMValueRef v, int depth) {
  LLVMBool lost;
  if (LLVMIsAConstantFP(v))
    return signbit(LLVMConstRealGetDouble(v, &lost));
  if (!LLVMIsAInstruction(v) || depth == MAX_DEPTH)
    return true;
  LLVMValueRef a = LLVMGetOperand(v, 0),
               b = LLVMGetNumOperands(v) > 1 ? LLVMGetOperand(v, 1) : NULL;
  depth++;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMUIToFP: return false;
  case LLVMFMul: return a != b;
  case LLVMFAdd: return may_be_minus_zero(a, depth) && may_be_minus_zero(b, depth);
  case LLVMSelect:
    return may_be_minus_zero(b, depth) || may_be_minus_zero(LLVMGetOperand(v, 2), depth);
  case LLVMCall:
    if (cg_is_call_of(v, "llvm.sqrt.f32"))
      return least(a, depth) < 0 || may_be_minus_zero(a, depth);
    return !cg_is_call_of(v, "llvm.fabs.f32") && (a != b || !cg_is_call_of(v, "llvm.fma.f32"));
  default: return true;
  }
}

static double least_of_quotient(LLVMValueRef a, LLVMValueRef b, int depth) {
  double divisor = least(a, depth) >= 0 ? least(b, depth) : unknown;
  return divisor > 0 || (divisor == 0 && !may_be_minus_zero(b, depth)) ? 0 : unknown;
}

static double least(LLVMValueRef v, int depth) {
  if (LLVMIsAConstantFP(v)) {
    LLVMBool lost;
    double c = LLVMConstRealGetDouble(v, &lost);
    return c >= 0 ? c : unknown;
  }
  if (!LLVMIsAInstruction(v) || depth == MAX_DEPTH)
    return unknown;
  LLVMValueRef a = LLVMGetNumOperands(v) ? LLVMGetOperand(v, 0) : NULL,
               b = LLVMGetNumOperands(v) > 1 ? LLVMGetOperand(v, 1) : NULL;
  depth++;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMUIToFP: return 0;
  case LLVMFMul: return a == b || (least(a, depth) >= 0 && least(b, depth) >= 0) ? 0 : unknown;
  case LLVMFAdd: {
    double x = least(a, depth), y = x < 0 ? unknown : least(b, depth);
    return y < 0 ? unknown : larger(x, y);
  }
  case LLVMFDiv: return least_of_quotient(a, b, depth);
  case LLVMSelect: return least_of_select(v, depth);
  case LLVMCall: return least_of_call(v, depth);
  default: return unknown;
  }
}

/* --- steps --- */

static LLVMValueRef number(const Cg *cg, double v) { return LLVMConstReal(cg->t.f32, v); }

static LLVMValueRef call(Cg *cg, const char *name, bool overloaded, LLVMValueRef *args,
                         unsigned n) {
  LLVMValueRef fn = cg_intrinsic_fn(cg, name, overloaded ? &cg->t.f32 : NULL, overloaded);
  return l_call(cg->builder, fn, args, n);
}

static LLVMValueRef fused(Cg *cg, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return call(cg, "llvm.fma", true, (LLVMValueRef[]){a, b, c}, 3);
}

static LLVMValueRef times(Cg *cg, LLVMValueRef x, double factor) {
  return l_fmul(cg->builder, x, number(cg, factor));
}

/* The larger; of a nan and a number, the number. */
static LLVMValueRef maximum(Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  return call(cg, "llvm.maxnum", true, (LLVMValueRef[]){a, b}, 2);
}

static LLVMValueRef root_steps(Cg *cg, LLVMValueRef x) {
  LLVMValueRef y = call(cg, "llvm.nvvm.rsqrt.approx.ftz.f", false, &x, 1);
  LLVMValueRef s = l_fmul(cg->builder, x, y), h = times(cg, y, 0.5);
  return fused(cg, fused(cg, l_fneg(cg->builder, s), s, x), h, s);
}

static LLVMValueRef root(Cg *cg, LLVMValueRef x) {
  return maximum(cg, root_steps(cg, x), times(cg, x, 0x1p-64));
}

/* Arguments below `smallest` are scaled by 2**100 first. x has no later use, so that ptxas can
 * multiply in place. */
static LLVMValueRef root_of_any(Cg *cg, LLVMValueRef x) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef tiny = l_fcmp(b, LLVMRealOLT, x, number(cg, smallest));
  LLVMValueRef s = root(cg, l_select(b, tiny, times(cg, x, 0x1p100), x));
  return l_select(b, tiny, times(cg, s, 0x1p-50), s);
}

static LLVMValueRef reciprocal(Cg *cg, LLVMValueRef x) {
  LLVMValueRef y = call(cg, "llvm.nvvm.rcp.approx.ftz.f", false, &x, 1);
  LLVMValueRef e = fused(cg, l_fneg(cg->builder, x), y, number(cg, 1));
  return maximum(cg, fused(cg, y, e, y), times(cg, y, 0.5));
}

/* --- the pass --- */

static bool is_exact(LLVMValueRef v) {
  return !(LLVMGetFastMathFlags(v) & (LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal));
}

static bool is_root(LLVMValueRef v) { return cg_is_call_of(v, "llvm.sqrt.f32") && is_exact(v); }

static bool is_reciprocal_of_root(const Cg *cg, LLVMValueRef v) {
  if (LLVMGetInstructionOpcode(v) != LLVMFDiv || LLVMTypeOf(v) != cg->t.f32 || !is_exact(v))
    return false;
  LLVMBool lost;
  LLVMValueRef one = LLVMGetOperand(v, 0), x = LLVMGetOperand(v, 1);
  return LLVMIsAConstantFP(one) && LLVMConstRealGetDouble(one, &lost) == 1 && is_root(x) &&
         least(LLVMGetOperand(x, 0), 0) >= smallest;
}

static void replace(LLVMValueRef old, LLVMValueRef by) {
  LLVMReplaceAllUsesWith(old, by);
  LLVMInstructionEraseFromParent(old);
}

static void place(Cg *cg, LLVMValueRef i) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
}

typedef struct Root {
  LLVMValueRef call;
  bool large; /* its argument is at least `smallest` */
} Root;

typedef VEC(Root) Roots;

static void visit_reciprocal(Cg *cg, Roots *roots, LLVMValueRef i) {
  (void)roots;
  if (!is_reciprocal_of_root(cg, i))
    return;
  place(cg, i);
  replace(i, reciprocal(cg, LLVMGetOperand(i, 1)));
}

static void visit_root(Cg *cg, Roots *roots, LLVMValueRef i) {
  double from = is_root(i) ? least(LLVMGetOperand(i, 0), 0) : unknown;
  if (from >= 0)
    VEC_PUSH(&cg->cx->arena, roots, ((Root){i, from >= smallest}));
}

static void write_root(Cg *cg, const Root *r) {
  assert(is_root(r->call));
  LLVMValueRef x = LLVMGetOperand(r->call, 0);
  place(cg, r->call);
  replace(r->call, r->large ? root(cg, x) : root_of_any(cg, x));
}

static void each(Cg *cg, Roots *roots, void (*visit)(Cg *cg, Roots *roots, LLVMValueRef i)) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(cg, roots, i);
      }
}

/* Reciprocals come first, while their roots are still recognisable; and since ranges depend on
 * roots too, all roots are analysed before the first is rewritten. */
void cg_nvptx_roots(Cg *cg) {
  Roots roots = {0};
  each(cg, &roots, visit_reciprocal);
  each(cg, &roots, visit_root);
  for (uint32_t k = 0; k < roots.len; k++)
    write_root(cg, &roots.data[k]);
}
