/* Host flat indices: `a[k // n, k % n]` of an array with n columns is its element k.
 *
 * A loop over all elements of an array, or of a tile, counts in k and divides it for the indices.
 * Lanes would scatter to rows and columns of which they know nothing, and divide one by one.
 *
 * In: the function of a thread, in regular form. Out: the same; the address is that of element k,
 * which is linear where k is. `k // n < rows` is k < rows * n, and `k % n < n` is n != 0. What only
 * the message of a failed check needs is computed there. Nothing is known of signed quotients;
 * extents are below 2**31, so products of two do not overflow. */
#include "codegen/host/entry.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

typedef struct Division { /* of k by n, of which zeros count as ones; k and n without extensions */
  LLVMValueRef k, n;
} Division;

static bool is_zero_test(LLVMValueRef c, LLVMValueRef n) {
  return LLVMIsAICmpInst(c) && LLVMGetICmpPredicate(c) == LLVMIntEQ &&
         cg_peel(LLVMGetOperand(c, 0)) == cg_peel(n) && cg_is_number(LLVMGetOperand(c, 1), 0);
}

/* n of `1 if n == 0 else n`, or of a constant. */
static LLVMValueRef divisor_of(LLVMValueRef d) {
  if (LLVMIsAConstantInt(d))
    return cg_is_number(d, 0) ? NULL : d;
  bool guarded = LLVMIsASelectInst(d) && cg_is_number(LLVMGetOperand(d, 1), 1) &&
                 is_zero_test(LLVMGetOperand(d, 0), LLVMGetOperand(d, 2));
  return guarded ? LLVMGetOperand(d, 2) : NULL;
}

static bool divides(LLVMValueRef v, LLVMOpcode op, Division *found) {
  bool is = cg_is_op(v, op) && cg_int_width(v) <= 64;
  LLVMValueRef n = is ? divisor_of(LLVMGetOperand(v, 1)) : NULL;
  if (n)
    *found = (Division){LLVMGetOperand(v, 0), n};
  return n != NULL;
}

/* `k // n`, or 0 where n is 0, as NumPy has it. */
static bool is_quotient(LLVMValueRef v, Division *found) {
  v = cg_peel(v);
  if (LLVMIsASelectInst(v) && cg_is_number(LLVMGetOperand(v, 1), 0) &&
      divides(LLVMGetOperand(v, 2), LLVMUDiv, found))
    return is_zero_test(LLVMGetOperand(v, 0), found->n);
  return divides(v, LLVMUDiv, found);
}

static bool is_remainder(LLVMValueRef v, Division *found) {
  return divides(cg_peel(v), LLVMURem, found);
}

static bool is_same(LLVMValueRef x, LLVMValueRef y) {
  x = cg_peel(x), y = cg_peel(y);
  return x == y ||
         (LLVMIsAConstantInt(x) && LLVMIsAConstantInt(y) && cg_int_width(x) <= 64 &&
          cg_int_width(y) <= 64 && LLVMConstIntGetZExtValue(x) == LLVMConstIntGetZExtValue(y));
}

/* Is v `k // n * n`, of that k and n? */
static bool begins_row(LLVMValueRef v, Division of) {
  Division d;
  for (unsigned k = 0; k < 2 && cg_is_op(v, LLVMMul); k++)
    if (is_quotient(LLVMGetOperand(v, k), &d) && d.k == of.k && is_same(d.n, of.n) &&
        is_same(LLVMGetOperand(v, 1 - k), of.n))
      return true;
  return false;
}

static LLVMValueRef flat(Cg *cg, LLVMValueRef k) {
  return l_zext_or_same(cg->builder, k, cg->t.i64);
}

static bool is_plain_gep(LLVMValueRef p) {
  return LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
         cg_int_width(LLVMGetOperand(p, 1)) == 64;
}

/* Of element k % n in row k // n. NULL: it is another address. */
static LLVMValueRef flat_address(Cg *cg, LLVMValueRef p) {
  Division d;
  if (!is_plain_gep(p) || !is_remainder(LLVMGetOperand(p, 1), &d))
    return NULL;
  LLVMValueRef row = LLVMGetOperand(p, 0);
  LLVMTypeRef t = LLVMGetGEPSourceElementType(p);
  if (!is_plain_gep(row) || LLVMGetGEPSourceElementType(row) != t ||
      !begins_row(LLVMGetOperand(row, 1), d))
    return NULL;
  LLVMValueRef index = flat(cg, d.k);
  return LLVMBuildGEPWithNoWrapFlags(cg->builder, t, LLVMGetOperand(row, 0), &index, 1, "",
                                     LLVMGEPGetNoWrapFlags(p) & LLVMGEPGetNoWrapFlags(row));
}

/* Is v below 2**31: an extent? */
static bool is_extent(LLVMValueRef v) {
  if (LLVMIsAConstantInt(v))
    return cg_int_width(v) <= 64 && LLVMConstIntGetZExtValue(v) <= INT32_MAX;
  return LLVMIsAZExtInst(v) && LLVMGetNNeg(v) && cg_int_width(LLVMGetOperand(v, 0)) <= 32;
}

/* Of a check of a quotient or a remainder. NULL: it is something else. An array without columns has
 * its quotient 0 in range, if it has rows: the check of the column fails. */
static LLVMValueRef flat_check(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  if (!LLVMIsAICmpInst(i) || LLVMGetICmpPredicate(i) != LLVMIntULT ||
      cg_int_width(LLVMGetOperand(i, 0)) != 64)
    return NULL;
  LLVMValueRef x = LLVMGetOperand(i, 0), bound = LLVMGetOperand(i, 1), zero = l_int(cg->t.i64, 0);
  Division d;
  if (is_remainder(x, &d) && is_same(d.n, bound) && is_extent(bound))
    return l_icmp(b, LLVMIntNE, bound, zero);
  if (!is_quotient(x, &d) || !is_extent(bound) || !is_extent(d.n))
    return NULL;
  LLVMValueRef n = flat(cg, d.n), none = l_icmp(b, LLVMIntEQ, bound, zero),
               any = l_select(b, none, zero, l_int(cg->t.i64, UINT64_MAX)),
               all = l_select(b, l_icmp(b, LLVMIntEQ, n, zero), any, l_mul(b, n, bound));
  return l_icmp(b, LLVMIntULT, flat(cg, d.k), all);
}

/* --- what only messages need --- */

static bool is_of_message(LLVMValueRef v, LLVMValueRef user) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(user);
  return block != LLVMGetInstructionParent(v) &&
         LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) &&
         (!LLVMIsAPHINode(user) || LLVMCountIncoming(user) == 1);
}

static bool is_late(LLVMValueRef v) {
  Division d;
  if (LLVMIsAZExtInst(v) || (!is_quotient(v, &d) && !is_remainder(v, &d)))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (!is_of_message(v, LLVMGetUser(u)))
      return false;
  return true;
}

/* To each message that has it. That ends the closed form of loops. */
static void compute_late(Cg *cg, LLVMValueRef v) {
  for (LLVMUseRef u; (u = LLVMGetFirstUse(v));) {
    LLVMValueRef user = LLVMGetUser(u);
    bool phi = LLVMIsAPHINode(user);
    LLVMPositionBuilderBefore(cg->builder,
                              phi ? graph_behind_phis(LLVMGetInstructionParent(user)) : user);
    LLVMValueRef late = copy_ins(cg->builder, v, (LLVMValueRef[3]){0}); /* or a selection */
    for (unsigned k = 0; !phi && k < (unsigned)LLVMGetNumOperands(user); k++)
      if (LLVMGetOperand(user, k) == v)
        LLVMSetOperand(user, k, late);
    if (phi) {
      LLVMReplaceAllUsesWith(user, late);
      LLVMInstructionEraseFromParent(user);
    }
  }
  LLVMInstructionEraseFromParent(v);
}

/* --- entry point --- */

static bool flatten(Cg *cg, LLVMValueRef i) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMValueRef now = LLVMIsAICmpInst(i) ? flat_check(cg, i) : flat_address(cg, i);
  if (now) {
    LLVMReplaceAllUsesWith(i, now);
    LLVMInstructionEraseFromParent(i);
  }
  return now != NULL;
}

static bool flatten_in(Cg *cg, LLVMValueRef f) {
  bool found = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      found |= flatten(cg, i);
    }
  if (!found)
    return false;
  cg_run_function_passes(cg, f, "dce");
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetLastInstruction(b), before; i; i = before) {
      before = LLVMGetPreviousInstruction(i);
      if (is_late(i))
        compute_late(cg, i);
    }
  return true;
}

void hl_pass_flat(Cg *cg) {
  const Loops *l = hl_loops(cg);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  bool found = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); l && l->width && f;
       f = LLVMGetNextFunction(f))
    found |= !LLVMIsDeclaration(f) && flatten_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  if (found)
    cg_lanes_regulate(cg);
}
