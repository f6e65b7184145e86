/* Match: see match.h. Patterns are matched as LLVM's own passes leave them: commutative operands in
 * either order, terms with or without extensions. */
#include "codegen/llvm/match.h"

#include <string.h>

#include "codegen/llvm/compat.h"
#include "ir/registers.h"

bool cg_is_call_of(LLVMValueRef i, const char *name) {
  if (!LLVMIsACallInst(i))
    return false;
  LLVMValueRef callee = LLVMGetCalledValue(i);
  size_t n;
  const char *called = LLVMGetValueName2(callee, &n);
  return LLVMIsAFunction(callee) && n == strlen(name) && memcmp(called, name, n) == 0;
}

bool cg_is_call_of_any(LLVMValueRef i, const char *prefix) {
  LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  size_t n;
  return callee && LLVMIsAFunction(callee) &&
         strncmp(LLVMGetValueName2(callee, &n), prefix, strlen(prefix)) == 0;
}

bool cg_only_computes(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMPHI:
  case LLVMSelect:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMGetElementPtr:
  case LLVMExtractElement:
  case LLVMInsertElement:
  case LLVMShuffleVector:
  case LLVMExtractValue:
  case LLVMInsertValue:
  case LLVMFreeze:
  case LLVMFNeg: return true;
  default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

static bool is_speculatable_call(LLVMValueRef i) {
  LLVMValueRef f = LLVMGetCalledValue(i);
  unsigned kind = LLVMGetEnumAttributeKindForName("speculatable", 12);
  return LLVMIsAFunction(f) && LLVMGetIntrinsicID(f) &&
         LLVMGetEnumAttributeAtIndex(f, L_FUNCTION, kind);
}

bool cg_is_speculatable(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMFNeg:
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMFPTrunc:
  case LLVMFPExt:
  case LLVMSIToFP:
  case LLVMUIToFP:
  case LLVMBitCast:
  case LLVMGetElementPtr:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMSelect:
  case LLVMFreeze: return true;
  case LLVMCall: return is_speculatable_call(i);
  default: return false;
  }
}

/* operations in a row: to what is known, as many as an index takes; to a load, for which a thread
 * waits longer than for them */
enum { TO_KNOWN = 12, TO_LOAD = 5 };

static bool is_ready(const Spot *s, LLVMValueRef v, unsigned depth) {
  if (!LLVMIsAInstruction(v) || s->has(s->user, v))
    return true;
  bool ready = depth < TO_KNOWN && !LLVMIsAPHINode(v) &&
               (s->takes ? s->takes(s->user, v) : cg_is_speculatable(v));
  for (unsigned k = 0; ready && k < (unsigned)LLVMGetNumOperands(v); k++)
    ready = is_ready(s, LLVMGetOperand(v, k), depth + 1);
  return ready;
}

bool cg_is_ready(const Spot *s, LLVMValueRef v) { return is_ready(s, v, 0); }

static bool is_of_load(LLVMValueRef v, LLVMBasicBlockRef block, unsigned depth) {
  if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) ||
      (block && LLVMGetInstructionParent(v) != block))
    return false;
  if (LLVMIsALoadInst(v))
    return true;
  for (unsigned k = 0; depth < TO_LOAD && k < (unsigned)LLVMGetNumOperands(v); k++)
    if (is_of_load(LLVMGetOperand(v, k), block, depth + 1))
      return true;
  return false;
}

bool cg_is_kernel_argument(LLVMValueRef v) {
  return LLVMIsAArgument(v) && LLVMGetFunctionCallConv(LLVMGetParamParent(v)) == CG_LLVM_PTX_KERNEL;
}

bool cg_is_of_load(LLVMValueRef v, LLVMBasicBlockRef block) { return is_of_load(v, block, 0); }

bool cg_is_division(LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
}

static uint64_t attribute_value(LLVMValueRef f, const char *name, uint64_t otherwise) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeRef found = LLVMGetEnumAttributeAtIndex(f, L_FUNCTION, kind);
  return found ? LLVMGetEnumAttributeValue(found) : otherwise;
}

bool cg_is_function_of_operands(LLVMValueRef i) {
  enum { NO_MEMORY = 0, UNKNOWN = 1 };
  if (!LLVMIsAIntrinsicInst(i))
    return false;
  LLVMValueRef f = LLVMGetCalledValue(i);
  unsigned convergent = LLVMGetEnumAttributeKindForName("convergent", 10);
  return attribute_value(f, "memory", UNKNOWN) == NO_MEMORY &&
         !LLVMGetEnumAttributeAtIndex(f, L_FUNCTION, convergent);
}

bool cg_goes_ahead(const Cg *cg, LLVMValueRef access) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, CG_AHEAD, sizeof CG_AHEAD - 1);
  return (cg_is_op(access, LLVMAtomicRMW) || cg_is_plain_access(access)) &&
         LLVMGetMetadata(access, kind);
}

bool cg_is_plain_access(LLVMValueRef i) {
  return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}

/* --- the global index --- */

static int register_of(const Registers *r, LLVMValueRef v) { return r->of(r->user, cg_peel(v)); }

/* 1 + axis if v is blockIdx * blockDim of an axis, else 0. */
static unsigned match_block_start(const Registers *r, LLVMValueRef v) {
  v = cg_peel(v);
  for (unsigned k = 0; cg_is_op(v, LLVMMul) && k < 2; k++) {
    int a = register_of(r, LLVMGetOperand(v, k)), b = register_of(r, LLVMGetOperand(v, 1 - k));
    if (a >= SREG_CTAID && a <= SREG_CTAID_Z && b == a - SREG_CTAID + SREG_NTID)
      return (unsigned)(a - SREG_CTAID) + 1;
  }
  return 0;
}

unsigned match_global_index(const Registers *r, LLVMValueRef v) {
  if (!cg_is_op(v, LLVMAdd) || (r->exact && !(LLVMGetNUW(v) && LLVMGetNSW(v))))
    return 0;
  for (unsigned k = 0; k < 2; k++) {
    unsigned axis = match_block_start(r, LLVMGetOperand(v, k));
    if (axis && register_of(r, LLVMGetOperand(v, 1 - k)) == (int)axis - 1 + SREG_TID)
      return axis;
  }
  return 0;
}

bool match_only_in_sums(const Registers *r, LLVMValueRef v, unsigned axis) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (match_global_index(r, by) == axis + 1)
      continue;
    bool passes = cg_is_extension(by) || match_block_start(r, by) == axis + 1;
    if (!passes || !match_only_in_sums(r, by, axis))
      return false;
  }
  return true;
}

void cg_mark_long_division(Cg *cg, LLVMValueRef division) {
  if (!division || !LLVMIsAInstruction(division) || !cg_is_division(division))
    return;
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, CG_LONG_DIVISION,
                                           sizeof CG_LONG_DIVISION - 1);
  LLVMValueRef mark = LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, NULL, 0));
  LLVMSetMetadata(division, kind, mark);
}

LLVMValueRef cg_base_of(const Cg *cg, LLVMValueRef p, int64_t *bytes) {
  *bytes = 0;
  while (cg_is_op(p, LLVMGetElementPtr) && LLVMGetNumIndices(p) == 1 &&
         LLVMIsAConstantInt(LLVMGetOperand(p, 1))) {
    *bytes += LLVMConstIntGetSExtValue(LLVMGetOperand(p, 1)) *
              (int64_t)LLVMABISizeOfType(cg->layout, LLVMGetGEPSourceElementType(p));
    p = LLVMGetOperand(p, 0);
  }
  return p;
}

bool cg_compares(LLVMIntPredicate how, int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (how) {
  case LLVMIntEQ: return a == b;
  case LLVMIntNE: return a != b;
  case LLVMIntUGT: return x > y;
  case LLVMIntUGE: return x >= y;
  case LLVMIntULT: return x < y;
  case LLVMIntULE: return x <= y;
  case LLVMIntSGT: return a > b;
  case LLVMIntSGE: return a >= b;
  case LLVMIntSLT: return a < b;
  case LLVMIntSLE: return a <= b;
  }
  return false;
}

static unsigned low_zeros(LLVMValueRef v, unsigned depth) {
  enum { HALF = 32, MAX_DEPTH = 4 };
  if (LLVMIsAConstantInt(v) && cg_int_width(v) <= 64)
    return LLVMIsNull(v) ? HALF : (unsigned)__builtin_ctzll(LLVMConstIntGetZExtValue(v));
  if (!LLVMIsAInstruction(v) || depth == MAX_DEPTH)
    return 0;
  if (cg_is_extension(v))
    return low_zeros(LLVMGetOperand(v, 0), depth);
  LLVMValueRef by = LLVMGetNumOperands(v) == 2 ? LLVMGetOperand(v, 1) : NULL;
  if (cg_is_op(v, LLVMShl) && LLVMIsAConstantInt(by))
    return low_zeros(LLVMGetOperand(v, 0), depth + 1) + (unsigned)LLVMConstIntGetZExtValue(by);
  unsigned least = HALF;
  for (unsigned k = 0; LLVMIsAPHINode(v) && k < LLVMCountIncoming(v); k++) {
    LLVMValueRef from = LLVMGetIncomingValue(v, k);
    bool steps = cg_is_op(from, LLVMAdd) && LLVMGetOperand(from, 0) == v;
    unsigned n = low_zeros(steps ? LLVMGetOperand(from, 1) : from, depth + 1);
    least = n < least ? n : least;
  }
  return LLVMIsAPHINode(v) ? least : 0;
}

unsigned cg_low_zeros(LLVMValueRef v) { return low_zeros(v, 0); }
