/* 8-bit floats by instructions: pairs, of which one element is used. GPUs from sm_90 on have them
 * in every version of PTX that knows these GPUs; for others lower/float8.c computes. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

static bool has_instructions(Lower *lw) { return cg_nvptx_arch_number(lw->cg) >= 90; }

static LLVMValueRef convert(Lower *lw, LLVMTypeRef result, const char *code,
                            const char *constraints, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef types[] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[n - 1])};
  LLVMTypeRef type = LLVMFunctionType(result, types, n, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       false, 0, LLVMInlineAsmDialectATT, 0);
  return l_call_type(lw->b, type, text, args, n);
}

LLVMValueRef cg_nvptx_float8_to_float(Lower *lw, LLVMValueRef v, TypeId id) {
  if (!has_instructions(lw))
    return NULL;
  LLVMValueRef bits = l_zext(lw->b, v, lw->t->i16);
  LLVMValueRef pair = convert(
      lw, lw->t->i32, id == TY_E4M3 ? "cvt.rn.f16x2.e4m3x2 $0, $1;" : "cvt.rn.f16x2.e5m2x2 $0, $1;",
      "=r,h", &bits, 1);
  LLVMValueRef half = l_bitcast(lw->b, l_trunc(lw->b, pair, lw->t->i16), lw->t->f16);
  return l_fpext(lw->b, half, lw->t->f32);
}

LLVMValueRef cg_nvptx_float_to_float8(Lower *lw, LLVMValueRef v, TypeId id) {
  if (!has_instructions(lw))
    return NULL;
  LLVMValueRef pair[] = {LLVMConstNull(lw->t->f32), v};
  LLVMValueRef bits = convert(lw, lw->t->i16,
                              id == TY_E4M3 ? "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;"
                                            : "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;",
                              "=h,f,f", pair, 2);
  return l_trunc(lw->b, bits, lw->t->i8);
}
