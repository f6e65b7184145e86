/* NVPTX prepare: last changes to the optimised module before LLVM's code generator.
 *
 * A bug of the code generator (shifts.c) is worked around, forms that ptxas (counts) and the
 * generator (indices) compile badly are rewritten, and the generator is kept from code that never
 * runs (long divisions). LLVM's passes would undo all of these, so they come after those. This file
 * also decides which modules are too long for the generator's own optimisations. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/prepare.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* --- counts ---
 *
 * LLVM turns `if condition: n += 1` into n + zext(condition), which ptxas compiles to a selection
 * between 0 and 1 and an addition. From select(condition, n + 1, n) it makes one predicated
 * addition. */
static bool is_count(Cg *cg, LLVMValueRef i) {
  if (LLVMGetInstructionOpcode(i) != LLVMAdd || LLVMTypeOf(i) != cg->t.i32)
    return false;
  for (unsigned k = 0; k < 2; k++)
    if (LLVMIsAZExtInst(LLVMGetOperand(i, k)) &&
        LLVMTypeOf(LLVMGetOperand(LLVMGetOperand(i, k), 0)) == cg->t.i1)
      return true;
  return false;
}

static void choose_count(Cg *cg, LLVMValueRef sum) {
  assert(is_count(cg, sum));
  bool second = LLVMIsAZExtInst(LLVMGetOperand(sum, 1)) &&
                LLVMTypeOf(LLVMGetOperand(LLVMGetOperand(sum, 1), 0)) == cg->t.i1;
  LLVMValueRef c = LLVMGetOperand(LLVMGetOperand(sum, second), 0), n = LLVMGetOperand(sum, !second);
  LLVMPositionBuilderBefore(cg->builder, sum);
  LLVMValueRef one = l_add(cg->builder, n, l_int(cg->t.i32, 1));
  LLVMReplaceAllUsesWith(sum, l_select(cg->builder, c, one, n));
}

/* --- indices ---
 *
 * The generator makes a[k + step] an addition to the address of a[k] where the sum is extended with
 * its sign; extended with zeros it must know itself that k is not negative. Of numbers that are not
 * negative both are the same. */
static bool is_index(Cg *cg, LLVMValueRef i) {
  bool used = false;
  if (!LLVMIsAZExtInst(i) || !LLVMGetNNeg(i) || LLVMTypeOf(i) != cg->t.i64 ||
      LLVMTypeOf(LLVMGetOperand(i, 0)) != cg->t.i32)
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(i); u && !used; u = LLVMGetNextUse(u))
    used = cg_is_op(LLVMGetUser(u), LLVMGetElementPtr);
  return used;
}

/* A sum that does not wrap around; where *c is asked for, with a constant of 0 or more. */
static bool is_exact_sum(LLVMValueRef v, int64_t *c) {
  if (!cg_is_op(v, LLVMAdd) || !LLVMGetNUW(v) || !LLVMGetNSW(v))
    return false;
  LLVMValueRef last = LLVMGetOperand(v, 1);
  if (c && LLVMIsAConstantInt(last))
    *c = LLVMConstIntGetSExtValue(last);
  return !c || (LLVMIsAConstantInt(last) && *c >= 0);
}

/* Of row + (k + 3), LLVM hoists row + 3 out of the loop over k, a number for each constant. As
 * (row + k) + 3 all share an address, and the constant is a part of the access. Of numbers that are
 * not negative no sum is larger than that of all. */
static LLVMValueRef constant_last(Cg *cg, LLVMValueRef sum) {
  for (unsigned k = 0; k < 2 && is_exact_sum(sum, NULL); k++) {
    LLVMValueRef out = LLVMGetOperand(sum, k), in = LLVMGetOperand(sum, !k);
    int64_t c, more;
    if (!is_exact_sum(out, &c) || LLVMGetInstructionParent(out) == LLVMGetInstructionParent(sum))
      continue;
    if (is_exact_sum(in, &more)) {
      in = LLVMGetOperand(in, 0);
      c += more;
    }
    LLVMValueRef both = l_add_nsw(cg->builder, in, LLVMGetOperand(out, 0));
    return l_add_nsw(cg->builder, both, l_int(cg->t.i32, (uint64_t)c));
  }
  return sum;
}

static void extend_sign(Cg *cg, LLVMValueRef i) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef index = constant_last(cg, LLVMGetOperand(i, 0));
  LLVMReplaceAllUsesWith(i, l_sext(cg->builder, index, cg->t.i64));
  LLVMInstructionEraseFromParent(i);
}

/* --- conditions that are constants ---
 *
 * Where many ways meet that say yes or no to several questions (of what kind is this byte, and how
 * many follow), ptxas has a predicate for each and sets them all on each way, by instructions that
 * only one of its pipes has. As bits of one number they are set at once. */
enum { MOST_FLAGS = 16, LEAST_WAYS = 3 };

static bool is_flag(const Cg *cg, LLVMValueRef i) {
  bool all = LLVMIsAPHINode(i) && LLVMTypeOf(i) == cg->t.i1 && LLVMCountIncoming(i) >= LEAST_WAYS;
  for (unsigned k = 0; all && k < LLVMCountIncoming(i); k++)
    all = LLVMIsAConstantInt(LLVMGetIncomingValue(i, k)) != NULL;
  return all;
}

/* Is operand o the same use as operand k: that itself, or in a phi one on an edge from the same
 * block? */
static bool is_same_use(LLVMValueRef user, unsigned k, unsigned o) {
  return o == k ||
         (LLVMIsAPHINode(user) && LLVMGetIncomingBlock(user, o) == LLVMGetIncomingBlock(user, k));
}

/* Each use of a flag asks its bit. */
static void ask_bit(Cg *cg, LLVMValueRef flag, LLVMValueRef bits, unsigned bit) {
  LLVMBuilderRef b = cg->builder;
  for (LLVMUseRef u; (u = LLVMGetFirstUse(flag));) {
    LLVMValueRef user = LLVMGetUser(u);
    unsigned k = 0;
    while (LLVMGetOperand(user, k) != flag)
      k++;
    LLVMValueRef at =
        LLVMIsAPHINode(user) ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, k)) : user;
    LLVMPositionBuilderBefore(b, at);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(at));
    LLVMValueRef one = l_and(b, bits, l_int(cg->t.i32, 1u << bit)),
                 yes = l_icmp(b, LLVMIntNE, one, LLVMConstNull(cg->t.i32));
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(user); o++)
      if (LLVMGetOperand(user, o) == flag && is_same_use(user, k, o))
        LLVMSetOperand(user, o, yes);
  }
  LLVMInstructionEraseFromParent(flag);
}

static void join_flags(Cg *cg, LLVMBasicBlockRef block) {
  LLVMValueRef flags[MOST_FLAGS];
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); LLVMIsAPHINode(i) && n < MOST_FLAGS;
       i = LLVMGetNextInstruction(i))
    if (is_flag(cg, i))
      flags[n++] = i;
  if (n < 2)
    return;
  LLVMPositionBuilderBefore(cg->builder, flags[0]);
  LLVMValueRef bits = l_phi(cg->builder, cg->t.i32);
  for (unsigned k = 0; k < LLVMCountIncoming(flags[0]); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(flags[0], k);
    uint64_t set = 0;
    for (unsigned f = 0; f < n; f++)
      set |= LLVMConstIntGetZExtValue(graph_incoming(flags[f], from)) << f;
    LLVMValueRef in = l_int(cg->t.i32, set);
    LLVMAddIncoming(bits, &in, &from, 1);
  }
  for (unsigned f = 0; f < n; f++)
    ask_bit(cg, flags[f], bits, f);
}

/* --- clamps ---
 *
 * LLVM writes max(x - 1, 0), of an x that is not negative, as max(x, 1) - 1. The generator makes
 * the constant a part of the access, and the rest a sum of 64 bits for each element; ptxas would
 * have computed the first form by one instruction. Of an x above 0 it is x - 1, whose address the
 * copies of a coarsened block share. */

/* max(x, 1) - 1? */
static bool is_late_clamp(const Cg *cg, LLVMValueRef i) {
  if (!cg_is_op(i, LLVMAdd) || LLVMTypeOf(i) != cg->t.i32 ||
      !cg_is_number(LLVMGetOperand(i, 1), UINT64_MAX))
    return false;
  LLVMValueRef max = LLVMGetOperand(i, 0);
  return cg_is_call_of(max, "llvm.smax.i32") && cg_is_number(LLVMGetOperand(max, 1), 1) &&
         cg_nvptx_range(LLVMGetOperand(max, 0)).lo >= 0;
}

static void clamp_early(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(LLVMGetOperand(i, 0), 0);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef both[] = {l_add(b, x, LLVMGetOperand(i, 1)), LLVMConstNull(cg->t.i32)};
  LLVMReplaceAllUsesWith(i,
                         cg_nvptx_range(x).lo > 0
                             ? both[0]
                             : l_call(b, cg_intrinsic_fn(cg, "llvm.smax", &cg->t.i32, 1), both, 2));
  LLVMInstructionEraseFromParent(i);
}

/* --- clamped columns ---
 *
 * Of m[y, min(max(x, 0), n - 1)] the generator sees the element's number as a whole: a
 * multiplication and an addition for each. In a loop over x the row gets an address of its own. */
static bool is_clamped(LLVMValueRef v) {
  static const char *const names[] = {"llvm.smin.i32", "llvm.smax.i32", "llvm.umin.i32"};
  for (size_t k = 0; LLVMIsACallInst(v) && k < sizeof names / sizeof *names; k++)
    if (cg_is_call_of(v, names[k]))
      return true;
  return false;
}

/* Which operand of the sum is a row, a product, where the other is a clamped column; -1: none. */
static int row_in(LLVMValueRef sum) {
  for (unsigned k = 0; k < 2 && cg_is_op(sum, LLVMAdd) && LLVMGetNSW(sum); k++)
    if (cg_is_op(LLVMGetOperand(sum, k), LLVMMul) && is_clamped(LLVMGetOperand(sum, !k)))
      return (int)k;
  return -1;
}

static bool is_in_a_loop(LLVMValueRef sum, LLVMValueRef row) {
  LLVMBasicBlockRef b = LLVMGetInstructionParent(sum);
  Fork fork;
  return b != LLVMGetInstructionParent(row) && graph_fork(LLVMGetBasicBlockTerminator(b), &fork) &&
         (fork.yes == b || fork.no == b);
}

/* Is it an element of a parameter, in a row of which some loop reads elements? */
static bool is_in_row(Cg *cg, LLVMValueRef gep) {
  if (!cg_is_op(gep, LLVMGetElementPtr) || LLVMGetNumIndices(gep) != 1 ||
      !LLVMIsAArgument(LLVMGetOperand(gep, 0)))
    return false;
  LLVMValueRef i = LLVMGetOperand(gep, 1), sum = LLVMIsASExtInst(i) ? LLVMGetOperand(i, 0) : NULL;
  int k = sum && LLVMTypeOf(sum) == cg->t.i32 && LLVMTypeOf(i) == cg->t.i64 ? row_in(sum) : -1;
  LLVMValueRef row = k < 0 ? NULL : LLVMGetOperand(sum, (unsigned)k);
  for (LLVMUseRef u = row ? LLVMGetFirstUse(row) : NULL; u; u = LLVMGetNextUse(u))
    if (row_in(LLVMGetUser(u)) >= 0 && is_in_a_loop(LLVMGetUser(u), row))
      return true;
  return false;
}

static LLVMValueRef element(Cg *cg, LLVMTypeRef t, LLVMValueRef from, LLVMValueRef index) {
  LLVMValueRef wide = l_sext(cg->builder, index, cg->t.i64);
  return l_gep(cg->builder, t, from, &wide, 1);
}

static void split_row(Cg *cg, LLVMValueRef gep) {
  LLVMValueRef sum = LLVMGetOperand(LLVMGetOperand(gep, 1), 0);
  unsigned k = (unsigned)row_in(sum);
  LLVMValueRef row = LLVMGetOperand(sum, k), column = LLVMGetOperand(sum, !k);
  LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(gep));
  LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(row));
  LLVMValueRef address = element(cg, t, LLVMGetOperand(gep, 0), row);
  LLVMPositionBuilderBefore(cg->builder, gep);
  LLVMReplaceAllUsesWith(gep, element(cg, t, address, column));
  LLVMInstructionEraseFromParent(gep);
}

/* --- selected arrays ---
 *
 * `left[node] if sample <= threshold else right[node]` is for LLVM one load from a selected array.
 * The condition waits for loads; the pointer, the extent, the wrapped index and the address would
 * come after it, one by one. Both addresses are known before, so one of them is selected. */
enum { MOST_CHOSEN = 6 }; /* instructions from the selections to the address */

/* Does v, an operand of an instruction of this block, depend on a selection by c? */
static bool depends_on(LLVMValueRef v, LLVMValueRef c, LLVMBasicBlockRef block, unsigned depth) {
  if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != block || LLVMIsAPHINode(v))
    return false;
  if (LLVMIsASelectInst(v) && LLVMGetOperand(v, 0) == c)
    return true;
  bool free = cg_is_speculatable(v);
  for (int o = 0; depth < MOST_CHOSEN && free && o < LLVMGetNumOperands(v); o++)
    if (depends_on(LLVMGetOperand(v, (unsigned)o), c, block, depth + 1))
      return true;
  return false;
}

/* What v is where c is true, or false; written in front of the address. */
static LLVMValueRef chosen(Cg *cg, LLVMValueRef v, LLVMValueRef c, bool is, LLVMValueRef address) {
  if (!depends_on(v, c, LLVMGetInstructionParent(address), 0))
    return v;
  if (LLVMIsASelectInst(v) && LLVMGetOperand(v, 0) == c)
    return LLVMGetOperand(v, is ? 1 : 2);
  unsigned n = (unsigned)LLVMGetNumOperands(v);
  LLVMValueRef *operands = CX_ARRAY(cg->cx, LLVMValueRef, n);
  for (unsigned o = 0; o < n; o++)
    operands[o] = chosen(cg, LLVMGetOperand(v, o), c, is, address);
  LLVMPositionBuilderBefore(cg->builder, address);
  return copy_ins(cg->builder, v, operands);
}

/* Is it an address in one of two arrays, which a condition that was loaded here selects? */
static bool is_selected(LLVMValueRef gep) {
  LLVMValueRef from = cg_is_op(gep, LLVMGetElementPtr) ? LLVMGetOperand(gep, 0) : NULL;
  if (!from || !LLVMIsASelectInst(from) || !LLVMIsAArgument(LLVMGetOperand(from, 1)) ||
      !LLVMIsAArgument(LLVMGetOperand(from, 2)))
    return false;
  LLVMBasicBlockRef b = LLVMGetInstructionParent(gep);
  LLVMValueRef c = LLVMGetOperand(from, 0);
  bool compares = (LLVMIsAICmpInst(c) || LLVMIsAFCmpInst(c)) && LLVMGetInstructionParent(c) == b;
  for (unsigned o = 0; o < 2 && compares; o++) {
    LLVMValueRef x = LLVMGetOperand(c, o);
    if (LLVMIsALoadInst(x) && LLVMGetInstructionParent(x) == b)
      return true;
  }
  return false;
}

static void select_address(Cg *cg, LLVMValueRef gep) {
  LLVMValueRef c = LLVMGetOperand(LLVMGetOperand(gep, 0), 0);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(gep));
  LLVMValueRef yes = chosen(cg, gep, c, true, gep), no = chosen(cg, gep, c, false, gep);
  LLVMPositionBuilderBefore(cg->builder, gep);
  LLVMReplaceAllUsesWith(gep, l_select(cg->builder, c, yes, no));
  LLVMInstructionEraseFromParent(gep);
}

/* --- long divisions ---
 *
 * LLVM's code generator puts a test before each 64-bit division, whether its operands fit 32 bits.
 * Where lowering has made that test already (lower/divide.c) this would be code that never runs.
 * Vectors get no test, also not those of one element, and are scalars again later on. */
static bool is_long_division(const Cg *cg, unsigned mark, LLVMValueRef i) {
  return cg_is_division(i) && LLVMTypeOf(i) == cg->t.i64 && LLVMGetMetadata(i, mark);
}

static void hide_division(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef parts[2], first = l_int(cg->t.i32, 0);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  for (unsigned k = 0; k < 2; k++)
    parts[k] = l_insert_element(b, LLVMGetPoison(LLVMVectorType(cg->t.i64, 1)),
                                LLVMGetOperand(i, k), first);
  LLVMValueRef v = l_binop(b, LLVMGetInstructionOpcode(i), parts[0], parts[1]);
  LLVMReplaceAllUsesWith(i, l_extract_element(b, v, first));
  LLVMInstructionEraseFromParent(i);
}

/* --- high halves ---
 *
 * A bfloat16 is the high half of a float32. LLVM's code generator takes the second of two out of
 * their word, and ptxas shifts it back up: two instructions, where a mask of the word is one. */
static bool has_16_bits(LLVMTypeRef t) {
  LLVMTypeKind kind = LLVMGetTypeKind(t);
  return kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) == 16
                                     : kind == LLVMBFloatTypeKind || kind == LLVMHalfTypeKind;
}

/* The extraction of an element at an odd place whose bits are shifted up, else NULL. */
static LLVMValueRef high_half(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef count = LLVMGetNumOperands(i) == 2 ? LLVMGetOperand(i, 1) : NULL;
  if (!cg_is_op(i, LLVMShl) || LLVMTypeOf(i) != cg->t.i32 || !LLVMIsAConstantInt(count) ||
      LLVMConstIntGetZExtValue(count) != 16 || !cg_is_extension(LLVMGetOperand(i, 0)))
    return NULL;
  LLVMValueRef e = LLVMGetOperand(LLVMGetOperand(i, 0), 0);
  if (LLVMIsABitCastInst(e))
    e = LLVMGetOperand(e, 0);
  if (!LLVMIsAExtractElementInst(e) || !LLVMIsAConstantInt(LLVMGetOperand(e, 1)))
    return NULL;
  LLVMTypeRef vector = LLVMTypeOf(LLVMGetOperand(e, 0));
  return has_16_bits(LLVMGetElementType(vector)) && LLVMGetVectorSize(vector) % 2 == 0 &&
                 LLVMConstIntGetZExtValue(LLVMGetOperand(e, 1)) % 2
             ? e
             : NULL;
}

static void mask_high_half(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef e = high_half(cg, i), vector = LLVMGetOperand(e, 0);
  uint64_t k = LLVMConstIntGetZExtValue(LLVMGetOperand(e, 1));
  LLVMTypeRef words = LLVMVectorType(cg->t.i32, LLVMGetVectorSize(LLVMTypeOf(vector)) / 2);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef word = l_extract_element(b, l_bitcast(b, vector, words),
                                        l_int(cg->t.i32, (long long)(k / 2)));
  LLVMReplaceAllUsesWith(i, l_and(b, word, l_int(cg->t.i32, 0xffff0000)));
  LLVMInstructionEraseFromParent(i);
}

/* --- infinities ---
 *
 * libdevice asks whether a float64 is infinite by its halves, (hi & 0x7fffffff) == 0x7ff00000 and
 * lo == 0: three operations of the integer pipe. fabs(x) == inf is one comparison. */

/* The float64 of which v compares that half with n; `how`: the comparison. NULL: it does not. */
static LLVMValueRef compared_half(LLVMValueRef v, bool high, LLVMIntPredicate *how) {
  LLVMValueRef half = LLVMIsAICmpInst(v) ? LLVMGetOperand(v, 0) : NULL;
  LLVMValueRef with = half ? LLVMGetOperand(v, 1) : NULL;
  if (!with || !LLVMIsAConstantInt(with) ||
      LLVMConstIntGetZExtValue(with) != (high ? 0x7ff00000 : 0))
    return NULL;
  if (high && (!cg_is_op(half, LLVMAnd) || !LLVMIsAConstantInt(LLVMGetOperand(half, 1)) ||
               LLVMConstIntGetZExtValue(LLVMGetOperand(half, 1)) != 0x7fffffff))
    return NULL;
  half = high ? LLVMGetOperand(half, 0) : half;
  *how = LLVMGetICmpPredicate(v);
  bool is_half = LLVMIsACallInst(half) &&
                 cg_is_call_of(half, high ? "llvm.nvvm.d2i.hi" : "llvm.nvvm.d2i.lo");
  return is_half ? LLVMGetOperand(half, 0) : NULL;
}

/* The comparison of |x| with infinity that `a and b`, or `a or b`, is; 0: it is none. */
static LLVMRealPredicate infinity_test(LLVMValueRef i, LLVMValueRef *x) {
  bool both = cg_is_op(i, LLVMAnd), either = cg_is_op(i, LLVMOr);
  LLVMValueRef a, b;
  if (LLVMIsASelectInst(i)) {
    LLVMValueRef yes = LLVMGetOperand(i, 1), no = LLVMGetOperand(i, 2);
    both = LLVMIsAConstantInt(no) && !LLVMConstIntGetZExtValue(no);
    either = !both && LLVMIsAConstantInt(yes) && LLVMConstIntGetZExtValue(yes);
    a = LLVMGetOperand(i, 0), b = both ? yes : no;
  } else if (both || either) {
    a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
  }
  if (!both && !either)
    return LLVMRealPredicateFalse;
  for (unsigned k = 0; k < 2; k++) {
    LLVMIntPredicate high, low, wanted = both ? LLVMIntEQ : LLVMIntNE;
    *x = compared_half(k ? b : a, true, &high);
    if (*x && compared_half(k ? a : b, false, &low) == *x && high == wanted && low == wanted)
      return both ? LLVMRealOEQ : LLVMRealUNE;
  }
  return LLVMRealPredicateFalse;
}

static void compare_with_infinity(Cg *cg, LLVMValueRef i) {
  LLVMValueRef x;
  LLVMRealPredicate how = infinity_test(i, &x);
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  LLVMTypeRef f64 = cg->t.f64;
  LLVMValueRef size = l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.fabs", &f64, 1), &x, 1);
  LLVMReplaceAllUsesWith(i, l_fcmp(cg->builder, how, size, LLVMConstReal(f64, INFINITY)));
  LLVMInstructionEraseFromParent(i);
}

/* And `x * 0 if fabs(x) == inf`, with which its sines and cosines begin, is nan. ptxas makes a
 * predicate of that branch, and a product would take the pipe of float64 of all threads. */
static bool is_infinite_product(LLVMValueRef i) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i), before = graph_before(block);
  Fork fork;
  if (!cg_is_call_of_any(i, "llvm.nvvm.mul.rn.d") || !LLVMIsAConstantFP(LLVMGetOperand(i, 1)) ||
      !LLVMIsNull(LLVMGetOperand(i, 1)) || !before ||
      !graph_fork(LLVMGetBasicBlockTerminator(before), &fork) || !LLVMIsAFCmpInst(fork.condition))
    return false;
  LLVMValueRef size = LLVMGetOperand(fork.condition, 0), with = LLVMGetOperand(fork.condition, 1);
  LLVMBool inexact;
  return LLVMGetFCmpPredicate(fork.condition) == (fork.yes == block ? LLVMRealOEQ : LLVMRealUNE) &&
         (cg_is_call_of_any(size, "llvm.fabs.") || cg_is_call_of_any(size, "llvm.nvvm.fabs.")) &&
         LLVMGetOperand(size, 0) == LLVMGetOperand(i, 0) && LLVMIsAConstantFP(with) &&
         isinf(LLVMConstRealGetDouble(with, &inexact));
}

static void make_nan(Cg *cg, LLVMValueRef i) {
  LLVMTypeRef type = LLVMFunctionType(cg->t.f64, NULL, 0, 0);
  const char *mov = "mov.b64 $0, 0d7FF8000000000000;"; /* here, not in front of the branch */
  LLVMValueRef text = LLVMGetInlineAsm(type, mov, strlen(mov), "=d", 2, false, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMReplaceAllUsesWith(i, l_call_type(cg->builder, type, text, NULL, 0));
  LLVMInstructionEraseFromParent(i);
}

/* --- negations of floats that were integers ---
 *
 * ptxas folds a negation into the conversion before it, wrongly, so it is written as an operation
 * on bits (ptx_fixup.c). That of the other factor is a part of the multiplication. */
static bool was_integer(LLVMValueRef v) {
  return cg_is_op(v, LLVMSIToFP) || cg_is_op(v, LLVMUIToFP);
}

static bool is_factor_negated(LLVMValueRef i, unsigned k) {
  LLVMValueRef v = LLVMGetOperand(i, k), other = LLVMGetOperand(i, !k);
  return cg_is_op(v, LLVMFNeg) && was_integer(LLVMGetOperand(v, 0)) && v != other &&
         !was_integer(other) && !LLVMIsAConstant(other);
}

static bool is_product_negated(LLVMValueRef i) {
  return cg_is_op(i, LLVMFMul) && (is_factor_negated(i, 0) || is_factor_negated(i, 1));
}

static void negate_other(Cg *cg, LLVMValueRef product) {
  unsigned k = !is_factor_negated(product, 0);
  LLVMValueRef other = LLVMGetOperand(product, !k);
  LLVMPositionBuilderBefore(cg->builder, product);
  LLVMSetOperand(product, k, LLVMGetOperand(LLVMGetOperand(product, k), 0));
  LLVMSetOperand(product, !k,
                 cg_is_op(other, LLVMFNeg) ? LLVMGetOperand(other, 0) : l_fneg(cg->builder, other));
}

/* --- squares of neighbouring distances ---
 *
 * The generator makes (k - x) + 1 of (k + 1) - x, beside k - x, and y * z + z of (y + 1) * z, one
 * operation. Of the square that makes a product and three sums, y * y + y + y + 1, in place of a
 * sum and a product, which the next sum joins. It does not see a sum behind inline assembly. */
static bool is_square_of_next(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef y = cg_is_op(i, LLVMMul) && LLVMTypeOf(i) == cg->t.i32 ? LLVMGetOperand(i, 0) : NULL;
  if (!y || y != LLVMGetOperand(i, 1) || !cg_is_op(y, LLVMSub))
    return false;
  LLVMValueRef next = LLVMGetOperand(y, 0);
  return cg_is_op(next, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
         LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == 1;
}

static void hide_next(Cg *cg, LLVMValueRef square) {
  LLVMPositionBuilderBefore(cg->builder, square);
  LLVMValueRef same = cg_nvptx_hidden(cg, LLVMGetOperand(square, 0));
  LLVMSetOperand(square, 0, same);
  LLVMSetOperand(square, 1, same);
}

/* --- trips of unrolled loops ---
 *
 * LLVM counts the trips of a loop that it has unrolled four times as n & ~3, and what is left over
 * as n & 3. By n - (n & 3), as nvcc has it, ptxas gives what a loop that only computes carries
 * other registers, and fewer operands of an instruction are in one bank. */
/* Does the block go to a loop of one block that carries float32, and neither loads nor stores? */
static bool is_before_computing(const Cg *cg, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef loop = graph_next(block);
  Fork fork;
  bool floats = false;
  if (!loop || !graph_fork(LLVMGetBasicBlockTerminator(loop), &fork) ||
      (fork.yes != loop && fork.no != loop))
    return false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(loop); i; i = LLVMGetNextInstruction(i))
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
      return false;
    else
      floats |= LLVMIsAPHINode(i) && LLVMTypeOf(i) == cg->t.f32;
  return floats;
}

/* Is n 0 or more where the block begins? */
static bool is_counted(LLVMValueRef n, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef before = graph_before(block);
  Fork fork;
  return cg_nvptx_range(n).lo >= 0 ||
         (before && graph_fork(LLVMGetBasicBlockTerminator(before), &fork) && fork.yes == block &&
          cg_is_op(fork.condition, LLVMICmp) &&
          LLVMGetICmpPredicate(fork.condition) == LLVMIntSGT &&
          LLVMGetOperand(fork.condition, 0) == n &&
          LLVMIsAConstantInt(LLVMGetOperand(fork.condition, 1)) &&
          LLVMConstIntGetSExtValue(LLVMGetOperand(fork.condition, 1)) >= 0);
}

/* Of n & ~3, in front of such a loop, n & 3 of the block before; else NULL. */
static LLVMValueRef left_of(const Cg *cg, LLVMValueRef i) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
  if (!cg_is_op(i, LLVMAnd) || LLVMTypeOf(i) != cg->t.i32 ||
      !LLVMIsAConstantInt(LLVMGetOperand(i, 1)) || !is_before_computing(cg, block))
    return NULL;
  LLVMValueRef n = LLVMGetOperand(i, 0);
  uint32_t mask = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)), low = ~mask & INT32_MAX;
  LLVMBasicBlockRef before = low == 3 || low == 7 ? graph_before(block) : NULL;
  if (!before || (mask <= INT32_MAX && !is_counted(n, before)))
    return NULL;
  for (LLVMUseRef u = LLVMGetFirstUse(n); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef left = LLVMGetUser(u);
    if (cg_is_op(left, LLVMAnd) && LLVMGetInstructionParent(left) == before &&
        LLVMGetOperand(left, 0) == n && cg_is_number(LLVMGetOperand(left, 1), low))
      return left;
  }
  return NULL;
}

static void subtract_left(Cg *cg, LLVMValueRef i, LLVMValueRef left) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMReplaceAllUsesWith(i, l_sub(cg->builder, LLVMGetOperand(i, 0), left));
  LLVMInstructionEraseFromParent(i);
}

/* --- is something left over? ---
 *
 * Of n + 1 trips, eight of which are a round, (n & 7) == 7 asks in LLVM's form whether nothing is
 * left over, beside (n + 1) & 7: how much. ptxas makes one instruction of a mask and its comparison
 * with 0, so that is what is asked. The same with n >> 5 for n, and n & 224 for n & 7. */

/* v in that operation with a constant, if it stands in front of `user` in its block; else NULL. */
static LLVMValueRef used_before(LLVMValueRef user, LLVMValueRef v, LLVMOpcode op, uint64_t n) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (!cg_is_op(by, op) || LLVMGetOperand(by, 0) != v || !cg_is_number(LLVMGetOperand(by, 1), n))
      continue;
    for (LLVMValueRef i = user; (i = LLVMGetPreviousInstruction(i));)
      if (i == by)
        return by;
  }
  return NULL;
}

/* What is left over, if the comparison asks whether anything is; else NULL. */
static LLVMValueRef asked_for(LLVMValueRef compare) {
  LLVMIntPredicate p = cg_is_op(compare, LLVMICmp) ? LLVMGetICmpPredicate(compare) : LLVMIntSGT;
  LLVMValueRef masked = p == LLVMIntEQ || p == LLVMIntNE ? LLVMGetOperand(compare, 0) : NULL;
  if (!masked || !cg_is_op(masked, LLVMAnd) || cg_int_width(masked) > 64 ||
      !LLVMIsAConstantInt(LLVMGetOperand(masked, 1)) ||
      LLVMGetOperand(masked, 1) != LLVMGetOperand(compare, 1))
    return NULL;
  uint64_t low = LLVMConstIntGetZExtValue(LLVMGetOperand(masked, 1));
  unsigned shift = 0;
  for (; low && !(low & 1); low >>= 1)
    shift++;
  if (!low || low & (low + 1))
    return NULL;
  LLVMValueRef n = LLVMGetOperand(masked, 0),
               whole = shift ? used_before(compare, n, LLVMLShr, shift) : n,
               trips = whole ? used_before(compare, whole, LLVMAdd, 1) : NULL;
  return trips ? used_before(compare, trips, LLVMAnd, low) : NULL;
}

static void ask_left(Cg *cg, LLVMValueRef compare, LLVMValueRef left) {
  LLVMPositionBuilderBefore(cg->builder, compare);
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(left)),
               asked = l_icmp(cg->builder, LLVMGetICmpPredicate(compare), left, none);
  LLVMReplaceAllUsesWith(compare, asked);
  LLVMInstructionEraseFromParent(compare);
}

void cg_nvptx_prepare(Cg *cg) {
  unsigned mark = LLVMGetMDKindIDInContext(cg->context, CG_LONG_DIVISION,
                                           sizeof CG_LONG_DIVISION - 1);
  bool optimizes = !cg_nvptx_is_long(cg); /* does the generator? */
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      join_flags(cg, b);
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next, x; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (cg_nvptx_prepare_shift(cg, i))
          continue;
        if (is_count(cg, i))
          choose_count(cg, i);
        else if (is_late_clamp(cg, i))
          clamp_early(cg, i);
        else if (optimizes && is_in_row(cg, i))
          split_row(cg, i);
        else if (is_selected(i))
          select_address(cg, i);
        else if (optimizes && is_index(cg, i))
          extend_sign(cg, i);
        else if (is_long_division(cg, mark, i))
          hide_division(cg, i);
        else if (high_half(cg, i))
          mask_high_half(cg, i);
        else if (infinity_test(i, &x))
          compare_with_infinity(cg, i);
        else if (is_infinite_product(i))
          make_nan(cg, i);
        else if (is_product_negated(i))
          negate_other(cg, i);
        else if (is_square_of_next(cg, i))
          hide_next(cg, i);
        else if ((x = left_of(cg, i)))
          subtract_left(cg, i, x);
        else if ((x = asked_for(i)))
          ask_left(cg, i, x);
      }
    }
}

/* --- long functions --- */

/* Straight-line strength reduction, a part of LLVM's code generator, compares every integer
 * addition, multiplication and address of a function with those before it: 2,000 lines can take
 * half a minute. It cannot be switched off alone, so a module with a function of more of them than
 * this is compiled without the generator's optimisations. LLVM's passes have run by then, and ptxas
 * has its own (the straight-line kernels of bench/scaling.py get 20 % more PTX and the same number
 * of registers). Matrix operations of warpgroups need them: accumulators that the generator copies
 * between two operations make ptxas wait for the first. */
enum { MAX_STRAIGHT_LINE = 700, MAX_WITH_WARPGROUPS = 4000 };

static bool is_strength_candidate(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMMul:
  case LLVMGetElementPtr: return true;
  default: return false;
  }
}

bool cg_nvptx_would_be_long(const Cg *cg, unsigned times) {
  unsigned most = ((const NvptxState *)cg->target_state)->warpgroups ? MAX_WITH_WARPGROUPS
                                                                     : MAX_STRAIGHT_LINE;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        n += is_strength_candidate(i);
    if (n * times > most)
      return true;
  }
  return false;
}

bool cg_nvptx_is_long(const Cg *cg) { return cg_nvptx_would_be_long(cg, 1); }
