/* Emit: thin wrappers of LLVM's builder, so that code which writes IR reads like IR (after
 * PostgreSQL's llvmjit_emit.h).
 *
 * One function for each instruction, with the builder first and the operands in the order of the
 * text form. Values get no names; code that wants names (parameters, blocks, allocas of the entry
 * block) calls LLVM directly. */
#ifndef PYPTX_CODEGEN_LLVM_EMIT_H
#define PYPTX_CODEGEN_LLVM_EMIT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
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

static inline LLVMValueRef l_add(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildAdd(b, x, y, "");
}
static inline LLVMValueRef l_sub(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSub(b, x, y, "");
}
static inline LLVMValueRef l_mul(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildMul(b, x, y, "");
}
static inline LLVMValueRef l_and(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildAnd(b, x, y, "");
}
static inline LLVMValueRef l_or(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildOr(b, x, y, "");
}
static inline LLVMValueRef l_xor(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildXor(b, x, y, "");
}
static inline LLVMValueRef l_shl(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildShl(b, x, y, "");
}
static inline LLVMValueRef l_lshr(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildLShr(b, x, y, "");
}
static inline LLVMValueRef l_ashr(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildAShr(b, x, y, "");
}
static inline LLVMValueRef l_udiv(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildUDiv(b, x, y, "");
}
static inline LLVMValueRef l_urem(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildURem(b, x, y, "");
}
static inline LLVMValueRef l_fadd(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFAdd(b, x, y, "");
}
static inline LLVMValueRef l_fsub(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFSub(b, x, y, "");
}
static inline LLVMValueRef l_fmul(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFMul(b, x, y, "");
}
static inline LLVMValueRef l_fdiv(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFDiv(b, x, y, "");
}
static inline LLVMValueRef l_add_nuw(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildNUWAdd(b, x, y, "");
}
static inline LLVMValueRef l_sub_nuw(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildNUWSub(b, x, y, "");
}
static inline LLVMValueRef l_mul_nuw(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildNUWMul(b, x, y, "");
}
static inline LLVMValueRef l_add_nsw(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildNSWAdd(b, x, y, "");
}
static inline LLVMValueRef l_mul_nsw(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildNSWMul(b, x, y, "");
}
static inline LLVMValueRef l_not(LLVMBuilderRef b, LLVMValueRef x) {
  return LLVMBuildNot(b, x, "");
}
static inline LLVMValueRef l_neg(LLVMBuilderRef b, LLVMValueRef x) {
  return LLVMBuildNeg(b, x, "");
}
static inline LLVMValueRef l_fneg(LLVMBuilderRef b, LLVMValueRef x) {
  return LLVMBuildFNeg(b, x, "");
}
static inline LLVMValueRef l_freeze(LLVMBuilderRef b, LLVMValueRef x) {
  return LLVMBuildFreeze(b, x, "");
}
static inline LLVMValueRef l_bitcast(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildBitCast(b, x, to, "");
}
static inline LLVMValueRef l_zext(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildZExt(b, x, to, "");
}
static inline LLVMValueRef l_sext(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildSExt(b, x, to, "");
}
static inline LLVMValueRef l_trunc(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildTrunc(b, x, to, "");
}
static inline LLVMValueRef l_sitofp(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildSIToFP(b, x, to, "");
}
static inline LLVMValueRef l_uitofp(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildUIToFP(b, x, to, "");
}
static inline LLVMValueRef l_fpext(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildFPExt(b, x, to, "");
}
static inline LLVMValueRef l_fptrunc(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildFPTrunc(b, x, to, "");
}
static inline LLVMValueRef l_fpcast(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildFPCast(b, x, to, "");
}
static inline LLVMValueRef l_ptrtoint(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildPtrToInt(b, x, to, "");
}
static inline LLVMValueRef l_addrspacecast(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildAddrSpaceCast(b, x, to, "");
}
static inline LLVMValueRef l_zext_or_same(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildZExtOrBitCast(b, x, to, "");
}
static inline LLVMValueRef l_trunc_or_same(LLVMBuilderRef b, LLVMValueRef x, LLVMTypeRef to) {
  return LLVMBuildTruncOrBitCast(b, x, to, "");
}
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
