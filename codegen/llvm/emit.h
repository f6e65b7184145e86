/* Emit: thin wrappers of LLVM's builder, so that code which writes IR reads like IR (after
 * PostgreSQL's llvmjit_emit.h).
 *
 * One function for each instruction, with the builder first and the operands in the order of the
 * text form. Values get no names; code that wants names (parameters, blocks, allocas of the entry
 * block) calls LLVM directly. */
#ifndef PYPTX_CODEGEN_LLVM_EMIT_H
#define PYPTX_CODEGEN_LLVM_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Indices of attributes: of a function's result, and of the function itself. LLVM declares them as
 * int and takes unsigned. */
enum { L_RETURN = 0 };
#define L_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

static inline LLVMValueRef l_int(LLVMTypeRef type, uint64_t n) { return LLVMConstInt(type, n, 0); }

/* A call of a function, with that function's own type. */
static inline LLVMValueRef l_call(LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef *args,
                                  unsigned n) {
  return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* Goes on at the end of a block, with the line of `of`; of none if that is NULL. LLVM's builder
 * would go on with the line that it was given last, perhaps in another function. */
static inline void l_at_end(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef of) {
  LLVMPositionBuilderAtEnd(b, block);
  LLVMSetCurrentDebugLocation2(b, of ? LLVMInstructionGetDebugLoc(of) : NULL);
}

/* Puts an instruction there that was elsewhere, or is a copy. It keeps its own line. */
static inline void l_insert(LLVMBuilderRef b, LLVMValueRef v) {
  LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(b);
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMInsertIntoBuilder(b, v);
  LLVMSetCurrentDebugLocation2(b, line);
}

/* By the number and the kind of their operands. */
#define L_TWO(name, Name)                                                                          \
  static inline LLVMValueRef l_##name(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {          \
    return LLVMBuild##Name(b, x, y, "");                                                           \
  }
L_TWO(add, Add)
L_TWO(sub, Sub)
L_TWO(mul, Mul)
L_TWO(and, And)
L_TWO(or, Or)
L_TWO(xor, Xor)
L_TWO(shl, Shl)
L_TWO(lshr, LShr)
L_TWO(ashr, AShr)
L_TWO(udiv, UDiv)
L_TWO(urem, URem)
L_TWO(fadd, FAdd)
L_TWO(fsub, FSub)
L_TWO(fmul, FMul)
L_TWO(fdiv, FDiv)
L_TWO(add_nuw, NUWAdd)
L_TWO(sub_nuw, NUWSub)
L_TWO(mul_nuw, NUWMul)
L_TWO(add_nsw, NSWAdd)
L_TWO(mul_nsw, NSWMul)
#undef L_TWO

#define L_ONE(name, Name)                                                                          \
  static inline LLVMValueRef l_##name(LLVMBuilderRef b, LLVMValueRef x) {                          \
    return LLVMBuild##Name(b, x, "");                                                              \
  }
L_ONE(not, Not)
L_ONE(neg, Neg)
L_ONE(fneg, FNeg)
L_ONE(freeze, Freeze)
#undef L_ONE

#define L_CAST(name, Name)                                                                         \
  static inline LLVMValueRef l_##name(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {          \
    return LLVMBuild##Name(b, x, to, "");                                                          \
  }
L_CAST(bitcast, BitCast)
L_CAST(zext, ZExt)
L_CAST(sext, SExt)
L_CAST(trunc, Trunc)
L_CAST(sitofp, SIToFP)
L_CAST(uitofp, UIToFP)
L_CAST(fpext, FPExt)
L_CAST(fptrunc, FPTrunc)
L_CAST(fpcast, FPCast)
L_CAST(ptrtoint, PtrToInt)
L_CAST(addrspacecast, AddrSpaceCast)
L_CAST(zext_or_same, ZExtOrBitCast)
L_CAST(trunc_or_same, TruncOrBitCast)
#undef L_CAST

static inline LLVMValueRef l_icmp(LLVMBuilderRef b, LLVMIntPredicate how, LLVMValueRef x,
                                  LLVMValueRef y) {
  return LLVMBuildICmp(b, how, x, y, "");
}
static inline LLVMValueRef l_fcmp(LLVMBuilderRef b, LLVMRealPredicate how, LLVMValueRef x,
                                  LLVMValueRef y) {
  return LLVMBuildFCmp(b, how, x, y, "");
}
static inline LLVMValueRef l_select(LLVMBuilderRef b, LLVMValueRef condition, LLVMValueRef x,
                                    LLVMValueRef y) {
  return LLVMBuildSelect(b, condition, x, y, "");
}
static inline LLVMValueRef l_phi(LLVMBuilderRef b, LLVMTypeRef type) {
  return LLVMBuildPhi(b, type, "");
}
static inline LLVMValueRef l_load(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef from) {
  return LLVMBuildLoad2(b, type, from, "");
}
static inline LLVMValueRef l_alloca(LLVMBuilderRef b, LLVMTypeRef type) {
  return LLVMBuildAlloca(b, type, "");
}
static inline LLVMValueRef l_gep_inbounds(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef base,
                                          LLVMValueRef *indices, unsigned n) {
  return LLVMBuildInBoundsGEP2(b, type, base, indices, n, "");
}
static inline LLVMValueRef l_gep(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef base,
                                 LLVMValueRef *indices, unsigned n) {
  return LLVMBuildGEP2(b, type, base, indices, n, "");
}
static inline LLVMValueRef l_extract_value(LLVMBuilderRef b, LLVMValueRef from, unsigned index) {
  return LLVMBuildExtractValue(b, from, index, "");
}
static inline LLVMValueRef l_insert_value(LLVMBuilderRef b, LLVMValueRef into, LLVMValueRef x,
                                          unsigned index) {
  return LLVMBuildInsertValue(b, into, x, index, "");
}
static inline LLVMValueRef l_extract_element(LLVMBuilderRef b, LLVMValueRef from,
                                             LLVMValueRef index) {
  return LLVMBuildExtractElement(b, from, index, "");
}
static inline LLVMValueRef l_insert_element(LLVMBuilderRef b, LLVMValueRef into, LLVMValueRef x,
                                            LLVMValueRef index) {
  return LLVMBuildInsertElement(b, into, x, index, "");
}
static inline LLVMValueRef l_shuffle(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y,
                                     LLVMValueRef mask) {
  return LLVMBuildShuffleVector(b, x, y, mask, "");
}
static inline LLVMValueRef l_int_cast(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to,
                                      bool is_signed) {
  return LLVMBuildIntCast2(b, x, to, is_signed, "");
}
static inline LLVMValueRef l_binop(LLVMBuilderRef b, LLVMOpcode op, LLVMValueRef x,
                                   LLVMValueRef y) {
  return LLVMBuildBinOp(b, op, x, y, "");
}
static inline LLVMValueRef l_cast(LLVMBuilderRef b, LLVMOpcode op, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildCast(b, op, x, to, "");
}
static inline LLVMValueRef l_call_type(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef f,
                                       LLVMValueRef *args, unsigned n) {
  return LLVMBuildCall2(b, type, f, args, n, "");
}
static inline LLVMValueRef l_store(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef to) {
  return LLVMBuildStore(b, x, to);
}
static inline LLVMValueRef l_br(LLVMBuilderRef b, LLVMBasicBlockRef to) {
  return LLVMBuildBr(b, to);
}
static inline LLVMValueRef l_condbr(LLVMBuilderRef b, LLVMValueRef condition,
                                    LLVMBasicBlockRef then, LLVMBasicBlockRef otherwise) {
  return LLVMBuildCondBr(b, condition, then, otherwise);
}
static inline LLVMValueRef l_ret_void(LLVMBuilderRef b) { return LLVMBuildRetVoid(b); }
static inline LLVMValueRef l_ret(LLVMBuilderRef b, LLVMValueRef x) { return LLVMBuildRet(b, x); }
static inline LLVMValueRef l_unreachable(LLVMBuilderRef b) { return LLVMBuildUnreachable(b); }
static inline LLVMValueRef l_switch(LLVMBuilderRef b, LLVMValueRef x, LLVMBasicBlockRef otherwise,
                                    unsigned n) {
  return LLVMBuildSwitch(b, x, otherwise, n);
}
static inline LLVMValueRef l_fence(LLVMBuilderRef b, LLVMAtomicOrdering order, bool one_thread) {
  return LLVMBuildFence(b, order, one_thread, "");
}

#endif
