/* Keep guards: operations that are slow stay behind the branch that guards them.
 *
 * LLVM takes a root or a quotient of floats for a cheap operation without side effects. So
 * simplifycfg makes `if d > 0: t = b - sqrt(d)` a selection, speculative-execution and licm move
 * the root above its branch, and `d > 0 and sqrt(d) < r` becomes one condition. On a GPU the root
 * of a negative number, or a quotient by zero, then takes ptxas's slow path in each thread whose
 * guard was there to prevent that.
 *
 * While LLVM's passes run, an operand of each such operation is passed through a function that is
 * only declared: it reads and writes no memory and always returns, so equal calls merge, calls
 * without users go and licm hoists what is executed in each iteration; but LLVM may not call it
 * where the program does not. No other pass of ours sees these calls.
 *
 * Two kinds are left to LLVM. What is the same in all iterations of the loop around it may leave
 * the loop, guard or not: it is computed once instead of many times. And divisions of integers by
 * what is known at run time only stay where they are by themselves, since the divisor could be
 * 0. */
#include "codegen/llvm/keep_guards.h"

#include <math.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

/* --- what is slow --- */

static bool is_power_of_two(LLVMValueRef v) {
  LLVMBool lost;
  int exponent;
  return LLVMIsAConstantFP(v) && fabs(frexp(LLVMConstRealGetDouble(v, &lost), &exponent)) == 0.5;
}

static bool is_slow_call(LLVMValueRef i) {
  static const char *const names[] = {"llvm.sqrt.", "llvm.nvvm.sqrt.r", "llvm.nvvm.div.r",
                                      "llvm.nvvm.rcp.r"};
  LLVMValueRef fn = LLVMGetCalledValue(i);
  size_t n;
  const char *name = LLVMIsAFunction(fn) ? LLVMGetValueName2(fn, &n) : "";
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strncmp(name, names[k], strlen(names[k])) == 0)
      return true;
  return false;
}

/* A 64-bit division by a constant is a dozen instructions, unless the constant is a power of two or
 * the other operand fits 32 bits. */
static bool is_long_division(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  if (LLVMTypeOf(i) != cg->t.i64 || !LLVMIsAConstantInt(y) || cg_is_extension(x))
    return false;
  uint64_t by = (uint64_t)LLVMConstIntGetSExtValue(y);
  return (by & (by - 1)) != 0;
}

bool cg_is_slow(const Cg *cg, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  bool slow = op == LLVMCall   ? is_slow_call(i)
              : op == LLVMFDiv ? !is_power_of_two(LLVMGetOperand(i, 1))
                               : op == LLVMFRem;
  if (!slow)
    return cg_is_division(i) && is_long_division(cg, i);
  return !LLVMCanValueUseFastMathFlags(i) ||
         !(LLVMGetFastMathFlags(i) & (LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal));
}

/* --- what is the same in all iterations --- */

typedef struct Outside {
  const FnGraph *g;
  uint32_t loop;
} Outside;

static bool is_outside(void *loop, LLVMValueRef i) {
  const Outside *o = loop;
  return !graph_in_loop(o->g, o->loop, i);
}

static bool may_leave(void *loop, LLVMValueRef i) {
  (void)loop;
  return LLVMIsACallInst(i) ? is_slow_call(i) : cg_only_computes(i);
}

static bool is_invariant(const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  return cg_is_ready(&(Spot){is_outside, may_leave, &(Outside){g, loop}}, i);
}

/* --- holding --- */

#define HOLD "pyptx.hold" /* an attribute of the functions that hold */

static bool is_hold(LLVMValueRef f) {
  return LLVMGetStringAttributeAtIndex(f, L_FUNCTION, HOLD, sizeof HOLD - 1) != NULL;
}

/* The name is one of those that LLVM takes for a single instruction: it does not unroll loops with
 * other calls. NVPTX has no such library functions, so none is assumed to be behind it. */
static LLVMValueRef hold_function(Cg *cg, LLVMTypeRef t) {
  const char *name = t == cg->t.f32 ? "fabsl" : t == cg->t.f64 ? "sqrtl" : "llabs";
  LLVMTypeRef type = LLVMFunctionType(t, &t, 1, 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (is_hold(f) && LLVMGlobalGetValueType(f) == type)
      return f;
  LLVMValueRef f = LLVMAddFunction(cg->module, name, type);
  cg_attribute(cg, f, L_FUNCTION, "memory", 0);
  cg_attribute(cg, f, L_FUNCTION, "nounwind", 0);
  cg_attribute(cg, f, L_FUNCTION, "willreturn", 0);
  cg_attribute_text(cg, f, HOLD, "");
  return f;
}

static void hold(Cg *cg, LLVMValueRef i) {
  unsigned at = LLVMIsAConstant(LLVMGetOperand(i, 0)) ? 1 : 0;
  LLVMValueRef x = LLVMGetOperand(i, at);
  LLVMTypeRef t = LLVMTypeOf(x);
  bool known = t == cg->t.f32 || t == cg->t.f64 || t == cg->t.i64;
  if (!known || LLVMIsAConstant(x))
    return;
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMSetOperand(i, at, l_call(cg->builder, hold_function(cg, t), &x, 1));
}

bool cg_has_slow(const Cg *cg, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_slow(cg, i))
        return true;
  return false;
}

static void hold_in(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; k < g.len; k++) {
    if (k == 0 && f == cg->kernel) /* there is no guard before it */
      continue;
    uint32_t loop = g.nodes[k].loop;
    for (LLVMValueRef i = LLVMGetFirstInstruction(g.nodes[k].block); i;
         i = LLVMGetNextInstruction(i))
      if (cg_is_slow(cg, i) && !(loop != GRAPH_NONE && is_invariant(&g, loop, i)))
        hold(cg, i);
  }
}

void cg_hold_guarded(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && cg_has_slow(cg, f))
      hold_in(cg, f);
}

void cg_release_guarded(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    if (!is_hold(f))
      continue;
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetFirstUse(f)) {
      LLVMValueRef call = LLVMGetUser(u);
      LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
      LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(f);
  }
}
