/* Roots: float32 square roots of what is not negative, and their reciprocals where the range allows
 * it, without ptxas's slow path.
 *
 * ptxas writes sqrt.rn as a test, MUFU.RSQ with two fused steps, and a call where the argument is
 * below 2**-101, not finite or negative; rcp.rn alike, for exponents outside of -126 … 125. Those
 * branches cost five instructions, and nothing is moved across them, so a loop's loads wait for
 * each other's roots. The steps here are ptxas's own (the same for sm_75 to sm_120), so results are
 * the same to the bit; what stays possible is 0 and infinity, for which the steps give nan, and a
 * maximum puts the right number in its place:
 *
 *   sqrt(x)    max(steps, x * 2**-64): below the root of every finite x, and x's own zero or
 *              infinity
 *   1 / x      max(steps, MUFU.RCP(x) / 2), for the root of a number of at least 2**-101
 *
 * In: optimised functions, IEEE arithmetic. A number may always be nan: it stays nan. */
#include <math.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/nvptx/nvptx.h"

enum { MAX_DEPTH = 8 };
static const double unknown = -1, smallest = 0x1p-101; /* of the arguments that take the steps */

/* --- ranges --- */

static bool is_call_of(LLVMValueRef v, const char *name) {
  if (!LLVMIsACallInst(v) || !LLVMIsAFunction(LLVMGetCalledValue(v)))
    return false;
  size_t n;
  const char *is = LLVMGetValueName2(LLVMGetCalledValue(v), &n);
  return n == strlen(name) && memcmp(is, name, n) == 0;
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* A number that v is no less than, if it is not nan: 0 or more, or unknown. Rounding keeps order,
 * so sums hold however they are contracted. */
static double least(LLVMValueRef v, int depth);

static double least_of_call(LLVMValueRef v, int depth) {
  if (is_call_of(v, "llvm.fabs.f32"))
    return 0;
  if (is_call_of(v, "llvm.sqrt.f32")) {
    double x = least(LLVMGetOperand(v, 0), depth);
    return x > 0 ? sqrt(x) * (1 - 0x1p-20) : 0;
  }
  if (is_call_of(v, "llvm.fma.f32")) {
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    bool positive = a == b || (least(a, depth) >= 0 && least(b, depth) >= 0);
    return positive ? least(LLVMGetOperand(v, 2), depth) : unknown;
  }
  return unknown;
}

/* a > c ? a : c and so on, for a constant c: no less than c, whatever a is. */
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
  if (takes_larger(v)) /* and the constant where the other is nan */
    return LLVMIsAConstantFP(LLVMGetOperand(v, 1)) ? yes : no;
  return smaller(yes, no);
}

/* Can v, which is no less than 0, be -0.0? A quotient by that is less than 0. */
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
    if (is_call_of(v, "llvm.sqrt.f32"))
      return least(a, depth) < 0 || may_be_minus_zero(a, depth);
    return !is_call_of(v, "llvm.fabs.f32") && (a != b || !is_call_of(v, "llvm.fma.f32"));
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

/* the larger; of nan and a number the number */
static LLVMValueRef either(Cg *cg, LLVMValueRef a, LLVMValueRef b) {
  return call(cg, "llvm.maxnum", true, (LLVMValueRef[]){a, b}, 2);
}

static LLVMValueRef root_steps(Cg *cg, LLVMValueRef x) {
  LLVMValueRef y = call(cg, "llvm.nvvm.rsqrt.approx.ftz.f", false, &x, 1);
  LLVMValueRef s = l_fmul(cg->builder, x, y), h = times(cg, y, 0.5);
  return fused(cg, fused(cg, l_fneg(cg->builder, s), s, x), h, s);
}

static LLVMValueRef root(Cg *cg, LLVMValueRef x) {
  return either(cg, root_steps(cg, x), times(cg, x, 0x1p-64));
}

/* Smaller arguments take the steps 2**100 times as large. x itself is not read behind that, so that
 * ptxas multiplies in place. */
static LLVMValueRef root_of_any(Cg *cg, LLVMValueRef x) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef tiny = l_fcmp(b, LLVMRealOLT, x, number(cg, smallest));
  LLVMValueRef s = root(cg, l_select(b, tiny, times(cg, x, 0x1p100), x));
  return l_select(b, tiny, times(cg, s, 0x1p-50), s);
}

static LLVMValueRef reciprocal(Cg *cg, LLVMValueRef x) {
  LLVMValueRef y = call(cg, "llvm.nvvm.rcp.approx.ftz.f", false, &x, 1);
  LLVMValueRef e = fused(cg, l_fneg(cg->builder, x), y, number(cg, 1));
  return either(cg, fused(cg, y, e, y), times(cg, y, 0.5));
}

/* --- the pass --- */

static bool is_exact(LLVMValueRef v) {
  return !(LLVMGetFastMathFlags(v) & (LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal));
}

static bool is_root(LLVMValueRef v) { return is_call_of(v, "llvm.sqrt.f32") && is_exact(v); }

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
  bool large; /* its argument: at least `smallest` */
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

/* Reciprocals first, while their roots can still be seen; and ranges read roots too, so all are
 * looked at before one is written. */
void cg_nvptx_roots(Cg *cg) {
  Roots roots = {0};
  each(cg, &roots, visit_reciprocal);
  each(cg, &roots, visit_root);
  for (uint32_t k = 0; k < roots.len; k++)
    write_root(cg, &roots.data[k]);
}
