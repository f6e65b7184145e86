/* Builders: the pieces of LLVM IR that every file of this folder needs, emitted at the position of
 * the Lower's builder: constants, blocks, allocas, calls of intrinsics and of external functions,
 * the fast-math flags of a float operation, the weights of a branch. */
#include <assert.h>
#include <string.h>

#include "codegen/lower/lower.h"

LLVMValueRef lw_int(Lower *lw, LLVMTypeRef t, int64_t v) {
  (void)lw;
  return LLVMConstInt(t, (unsigned long long)v, 1);
}

LLVMValueRef lw_i64(Lower *lw, int64_t v) { return lw_int(lw, lw->t->i64, v); }
LLVMValueRef lw_i32(Lower *lw, int64_t v) { return lw_int(lw, lw->t->i32, v); }

LLVMBasicBlockRef lw_block(Lower *lw, const char *name) {
  return LLVMAppendBasicBlockInContext(lw->cg->context, lw->function, name);
}

void lw_at(Lower *lw, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(lw->b, block); }

LLVMValueRef lw_alloca(Lower *lw, LLVMTypeRef t, unsigned align, const char *name) {
  assert(lw->entry); /* allocas elsewhere would grow the frame each time they are passed */
  LLVMBasicBlockRef here = LLVMGetInsertBlock(lw->b);
  LLVMValueRef first = LLVMGetFirstInstruction(lw->entry);
  if (first)
    LLVMPositionBuilderBefore(lw->b, first);
  else
    lw_at(lw, lw->entry);
  LLVMValueRef a = LLVMBuildAlloca(lw->b, t, name);
  if (align)
    LLVMSetAlignment(a, align);
  lw_at(lw, here);
  return a;
}

LLVMValueRef lw_intrinsic(Lower *lw, const char *name, const LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef const *args, unsigned nargs) {
  LLVMValueRef fn = cg_intrinsic_fn(lw->cg, name, overloads, noverloads);
  LLVMValueRef copy[8] = {0};
  CX_ASSERT(lw->cx, nargs <= 8);
  for (unsigned k = 0; k < nargs; k++)
    copy[k] = args[k];
  return l_call(lw->b, fn, copy, nargs);
}

LLVMValueRef lw_call_extern(Lower *lw, const char *name, LLVMTypeRef result,
                            LLVMValueRef const *args, unsigned n) {
  LLVMTypeRef types[8] = {0};
  LLVMValueRef copy[8] = {0};
  CX_ASSERT(lw->cx, n <= 8);
  for (unsigned k = 0; k < n; k++) {
    copy[k] = args[k];
    types[k] = LLVMTypeOf(args[k]);
  }
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, name);
  if (!fn) {
    fn = LLVMAddFunction(lw->cg->module, name, LLVMFunctionType(result, types, n, 0));
    cg_attribute(lw->cg, fn, L_FUNCTION, "nounwind", 0);
  }
  return l_call(lw->b, fn, copy, n);
}

LLVMValueRef lw_text(Lower *lw, const char *s) {
  LLVMValueRef init = LLVMConstStringInContext2(lw->cg->context, s, strlen(s), 0);
  LLVMValueRef g = LLVMAddGlobal(lw->cg->module, LLVMTypeOf(init),
                                 arena_printf(&lw->cx->arena, "text$%u", lw->cg->ntexts++));
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
  return g;
}

void lw_fast(Lower *lw, LLVMValueRef v) {
  static const struct {
    int option;
    LLVMFastMathFlags flag;
  } rows[] = {
      {CG_FAST_NNAN, LLVMFastMathNoNaNs},          {CG_FAST_NINF, LLVMFastMathNoInfs},
      {CG_FAST_NSZ, LLVMFastMathNoSignedZeros},    {CG_FAST_REASSOC, LLVMFastMathAllowReassoc},
      {CG_FAST_ARCP, LLVMFastMathAllowReciprocal},
  };
  if (!LLVMIsAInstruction(v) || !LLVMCanValueUseFastMathFlags(v))
    return;
  const CgOptions *o = &lw->cg->options;
  LLVMFastMathFlags flags = o->fma && !lw->fn->exact ? LLVMFastMathAllowContract : 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (o->fastmath & rows[k].option)
      flags |= rows[k].flag;
  if (lw->fn->exact)
    flags &= ~(LLVMFastMathFlags)LLVMFastMathAllowReassoc;
  LLVMSetFastMathFlags(v, flags);
}

LLVMValueRef lw_branch_weights(Lower *lw, LLVMValueRef br, uint32_t yes, uint32_t no) {
  return cg_branch_weights(lw->cg, br, yes, no);
}
