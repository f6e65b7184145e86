/* NVPTX sine pairs: the sine and the cosine of one number by one call.
 *
 * Both of libdevice's functions bring the number between -pi/4 and pi/4 first, which takes most of
 * their code, and a loop for large numbers; sincos does it once, and computes the same bits.
 * Rotations, random normal numbers and complex exponentials are such pairs.
 *
 * In: a module before libdevice is linked. Out: the second of two calls in one block is gone; the
 * first is __nv_sincos or __nv_sincosf. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

typedef struct Pair {
  const char *sine, *cosine, *both;
} Pair;

static const Pair pairs[] = {{"__nv_sinf", "__nv_cosf", "__nv_sincosf"},
                             {"__nv_sin", "__nv_cos", "__nv_sincos"}};

static bool is_call(LLVMValueRef i, const char *name) {
  return LLVMIsACallInst(i) && cg_is_call_of(i, name);
}

/* The call of the function of the same number behind i in its block; else NULL. */
static LLVMValueRef partner(LLVMValueRef i, const char *name) {
  LLVMValueRef x = LLVMGetOperand(i, 0);
  while ((i = LLVMGetNextInstruction(i)))
    if (is_call(i, name) && LLVMGetOperand(i, 0) == x)
      return i;
  return NULL;
}

static LLVMValueRef function_of_both(Cg *cg, const char *name, LLVMTypeRef t) {
  LLVMTypeRef p = LLVMPointerTypeInContext(cg->context, 0);
  LLVMValueRef f = LLVMGetNamedFunction(cg->module, name);
  return f ? f
           : LLVMAddFunction(cg->module, name,
                             LLVMFunctionType(cg->t.none, (LLVMTypeRef[]){t, p, p}, 3, 0));
}

static void join(Cg *cg, const Pair *p, LLVMValueRef first, LLVMValueRef second) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef t = LLVMTypeOf(first);
  LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(first));
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMValueRef to[] = {l_alloca(b, t), l_alloca(b, t)};
  LLVMPositionBuilderBefore(b, first);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(first));
  l_call(b, function_of_both(cg, p->both, t),
         (LLVMValueRef[]){LLVMGetOperand(first, 0), to[0], to[1]}, 3);
  LLVMValueRef sine = l_load(b, t, to[0]), cosine = l_load(b, t, to[1]);
  bool sine_first = is_call(first, p->sine);
  LLVMReplaceAllUsesWith(first, sine_first ? sine : cosine);
  LLVMReplaceAllUsesWith(second, sine_first ? cosine : sine);
  LLVMInstructionEraseFromParent(first);
  LLVMInstructionEraseFromParent(second);
}

/* Joins i with its partner, if it has one; what comes behind i then. */
static LLVMValueRef visit(Cg *cg, LLVMValueRef i) {
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    const Pair *p = &pairs[k];
    bool sine = is_call(i, p->sine);
    if (!sine && !is_call(i, p->cosine))
      continue;
    LLVMValueRef other = partner(i, sine ? p->cosine : p->sine), next = LLVMGetNextInstruction(i);
    if (!other)
      return next;
    next = next == other ? LLVMGetNextInstruction(other) : next;
    join(cg, p, i, other);
    return next;
  }
  return LLVMGetNextInstruction(i);
}

void cg_nvptx_sine_pairs(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;)
        i = visit(cg, i);
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
}
