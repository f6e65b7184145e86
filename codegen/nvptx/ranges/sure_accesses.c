/* NVPTX sure accesses: see sure_accesses.h. */
#include "codegen/nvptx/ranges/sure_accesses.h"

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { DEPTH = 6, MORE = 12 }; /* operations, one behind the other */

/* Phis of which it is being asked. */
typedef struct Phis {
  LLVMValueRef phi;
  const struct Phis *around;
} Phis;

static bool is_among(LLVMValueRef v, const Phis *phis) {
  for (; phis; phis = phis->around)
    if (phis->phi == v)
      return true;
  return false;
}

/* Is it a number of 32 bits, not the low half of one that has more? */
static bool is_short(LLVMValueRef v, const Phis *phis, unsigned depth) {
  if (cg_int_width(v) == 64)
    return cg_nvptx_fits(v, 32);
  if (!LLVMIsAInstruction(v) || is_among(v, phis))
    return true;
  if (!depth)
    return false;
  if (LLVMIsAPHINode(v)) {
    for (unsigned e = 0; e < LLVMCountIncoming(v); e++)
      if (!is_short(LLVMGetIncomingValue(v, e), &(Phis){v, phis}, depth - 1))
        return false;
    return true;
  }
  if (cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMSub) || cg_is_op(v, LLVMMul))
    return LLVMGetNSW(v) && is_short(LLVMGetOperand(v, 0), phis, depth - 1) &&
           is_short(LLVMGetOperand(v, 1), phis, depth - 1);
  if (LLVMIsATruncInst(v))
    return cg_nvptx_fits(LLVMGetOperand(v, 0), 32);
  return cg_is_extension(v) || cg_is_op(v, LLVMLoad) || cg_is_disjoint_or(v) || LLVMIsACallInst(v);
}

/* Is it i, or the sum of i and a number of 32 bits? */
static bool is_of(LLVMValueRef v, LLVMValueRef i, unsigned depth) {
  if (v == i)
    return true;
  if (!depth || !LLVMIsAInstruction(v))
    return false;
  if (cg_is_extension(v) || LLVMIsATruncInst(v))
    return is_of(LLVMGetOperand(v, 0), i, depth - 1);
  for (unsigned k = 0; k < 2 && cg_is_op(v, LLVMAdd); k++)
    if (is_of(LLVMGetOperand(v, k), i, depth - 1))
      return is_short(LLVMGetOperand(v, !k), NULL, MORE);
  return false;
}

/* n, if i is negative, else 0, as is added to the number of an element? */
static bool is_wrap(LLVMValueRef v, LLVMValueRef i) {
  LLVMValueRef c = LLVMIsASelectInst(v) ? LLVMGetOperand(v, 0) : NULL;
  return c && LLVMIsAICmpInst(c) && LLVMGetICmpPredicate(c) == LLVMIntSLT &&
         LLVMGetOperand(c, 0) == i && LLVMIsNull(LLVMGetOperand(c, 1)) &&
         LLVMIsNull(LLVMGetOperand(v, 2));
}

/* The same of the low half: the lesser one of it and its sum with n, without signs. */
static bool is_low_wrap(LLVMValueRef v, LLVMValueRef i) {
  if (!LLVMIsACallInst(v) || !cg_is_call_of(v, "llvm.umin.i32"))
    return false;
  LLVMValueRef low = LLVMGetOperand(v, 0), sum = LLVMGetOperand(v, 1);
  return LLVMIsATruncInst(low) && LLVMGetOperand(low, 0) == i && cg_is_op(sum, LLVMAdd) &&
         (LLVMGetOperand(sum, 0) == low || LLVMGetOperand(sum, 1) == low);
}

/* Is it made of i, the number of a row or an element, wrapped by itself, in an array whose
 * numbers have 32 bits? Not of a sum that was wrapped: of such, i may have more. */
static bool is_of_wrapped(LLVMValueRef v, LLVMValueRef i, bool low, unsigned depth) {
  if (!depth || !LLVMIsAInstruction(v))
    return false;
  low |= LLVMIsATruncInst(v) && cg_int_width(v) == 32;
  if (is_low_wrap(v, i))
    return true;
  if (cg_is_extension(v) || LLVMIsATruncInst(v))
    return is_of_wrapped(LLVMGetOperand(v, 0), i, low, depth - 1);
  bool sum = cg_is_op(v, LLVMAdd), row = cg_is_op(v, LLVMMul);
  for (unsigned k = 0; k < 2 && (sum || row); k++)
    if ((sum && low && LLVMGetOperand(v, k) == i && is_wrap(LLVMGetOperand(v, !k), i)) ||
        is_of_wrapped(LLVMGetOperand(v, k), i, low, depth - 1))
      return true;
  return false;
}

/* LLVM writes the low half of v, with its sign and times 4, as v << 32 >> 30. v, where it is times
 * the size of an element; else by. */
static LLVMValueRef without_size(LLVMValueRef by, uint64_t size) {
  LLVMValueRef left = cg_is_op(by, LLVMAShr) ? LLVMGetOperand(by, 0) : NULL;
  for (unsigned k = 0; left && k <= 32; k++)
    if (size == (uint64_t)1 << k && cg_is_number(LLVMGetOperand(by, 1), 32 - k) &&
        cg_is_op(left, LLVMShl) && cg_is_number(LLVMGetOperand(left, 1), 32))
      return LLVMGetOperand(left, 0);
  return by;
}

/* Is it the address of such an element, which has so many bytes? */
static bool is_address_by(LLVMValueRef address, LLVMValueRef i, bool wrapped, uint64_t size) {
  for (unsigned depth = DEPTH; depth && LLVMIsAGetElementPtrInst(address); depth--) {
    LLVMTypeRef element = LLVMGetGEPSourceElementType(address);
    LLVMValueRef by = LLVMGetOperand(address, 1);
    bool bytes = LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
                 LLVMGetIntTypeWidth(element) == 8;
    by = bytes ? without_size(by, size) : by;
    if (LLVMGetNumOperands(address) == 2 &&
        (wrapped ? is_of_wrapped(by, i, false, DEPTH) : is_of(by, i, DEPTH)))
      return true;
    address = LLVMGetOperand(address, 0);
  }
  return false;
}

/* Does the block access the element, in front of all that may not come back? */
static bool accesses(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef i, bool wrapped) {
  for (LLVMValueRef at = graph_behind_phis(block); at; at = LLVMGetNextInstruction(at)) {
    bool loads = cg_is_op(at, LLVMLoad), stores = cg_is_op(at, LLVMStore);
    bool plain = (loads || stores) && cg_is_plain_access(at);
    if (plain) {
      LLVMTypeRef t = LLVMTypeOf(loads ? at : LLVMGetOperand(at, 0));
      if (is_address_by(LLVMGetOperand(at, loads ? 0 : 1), i, wrapped,
                        LLVMABISizeOfType(cg->layout, t)))
        return true;
    }
    if (!plain && !cg_only_computes(at) && !cg_is_speculatable(at))
      return false;
  }
  return false;
}

bool cg_nvptx_leads_to_element(Cg *cg, LLVMValueRef condition, LLVMValueRef i) {
  LLVMValueRef user = condition;
  do {
    condition = user;
    user = cg_has_one_use(condition) ? LLVMGetUser(LLVMGetFirstUse(condition)) : NULL;
  } while (user && LLVMTypeOf(user) == cg->t.i1 && cg_is_both(user));
  Fork fork;
  return user && graph_fork(user, &fork) && fork.condition == condition && fork.yes != fork.no &&
         graph_before(fork.yes) &&
         (accesses(cg, fork.yes, i, false) || accesses(cg, fork.yes, i, true));
}

bool cg_nvptx_is_element(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef i) {
  return accesses(cg, block, i, true);
}
