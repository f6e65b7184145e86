/* NVPTX hidden values: what LLVM's code generator should not see through.
 *
 * Empty inline assembly takes a value and gives it by another name, without an instruction: the
 * generator moves and copies a comparison, or a sum, but not what inline assembly gives, and sees
 * two of it as two. */
#include "codegen/nvptx/nvptx.h"

char cg_nvptx_letter_of(const Cg *cg, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (t == cg->t.i32)
    return 'r';
  if (t == cg->t.i64 || LLVMGetTypeKind(t) == LLVMPointerTypeKind)
    return 'l';
  return t == cg->t.f32 ? 'f' : t == cg->t.f64 ? 'd' : 0;
}

LLVMValueRef cg_nvptx_hidden(Cg *cg, LLVMValueRef v) {
  char constraints[] = "=b,0";
  LLVMTypeRef t = LLVMTypeOf(v), type = LLVMFunctionType(t, &t, 1, 0);
  if (t != cg->t.i1)
    constraints[1] = cg_nvptx_letter_of(cg, v);
  LLVMValueRef text = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, false, 0,
                                       LLVMInlineAsmDialectATT, 0);
  return l_call_type(cg->builder, type, text, &v, 1);
}
