/* NVPTX word phis: words of several narrow elements that a loop carries.
 *
 * The elements of a fragment of a matrix (two of 16 bits, or four of 8) lie in one register when
 * ldmatrix gives it and when mma_sync takes it. To SSA they are values of their own. A loop that
 * carries them has a phi for each element, the word is made from them in each iteration, and ptxas
 * keeps halves of registers: a permutation for each word. Where the elements that come from each
 * block are those of one word, or constants, a phi of the word takes their place.
 *
 * In: functions after LLVM's passes. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { WORD = 32, MOST = 4 }; /* bits of a word, and its most elements */

static LLVMValueRef without_bitcasts(LLVMValueRef v) {
  while (LLVMIsABitCastInst(v))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* The word that v is element k of, each element having so many bits; NULL if there is none. */
static LLVMValueRef word_of(LLVMValueRef v, unsigned k, unsigned bits) {
  v = without_bitcasts(v);
  if (LLVMIsAExtractElementInst(v) && cg_is_number(LLVMGetOperand(v, 1), k)) {
    LLVMTypeRef vector = LLVMTypeOf(LLVMGetOperand(v, 0));
    return LLVMGetVectorSize(vector) * bits == WORD ? without_bitcasts(LLVMGetOperand(v, 0)) : NULL;
  }
  if (!LLVMIsATruncInst(v))
    return NULL;
  LLVMValueRef x = LLVMGetOperand(v, 0);
  if (k && cg_is_op(x, LLVMLShr) && cg_is_number(LLVMGetOperand(x, 1), k * bits))
    x = LLVMGetOperand(x, 0);
  else if (k)
    return NULL;
  x = without_bitcasts(x);
  LLVMTypeRef type = LLVMTypeOf(x);
  bool is_word = LLVMGetTypeKind(type) == LLVMVectorTypeKind ||
                 (LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
                  LLVMGetIntTypeWidth(type) == WORD);
  return is_word ? x : NULL;
}

/* The elements of the word that ends in this insertion, if all are phis of one block and used
 * here only; returns how many, else 0. */
static unsigned elements_of(LLVMValueRef last, LLVMValueRef *phis) {
  unsigned n = LLVMGetVectorSize(LLVMTypeOf(last)), k = n;
  LLVMValueRef v = last;
  while (k-- > 0) {
    if (!LLVMIsAInsertElementInst(v) || !cg_is_number(LLVMGetOperand(v, 2), k) ||
        (v != last && !cg_has_one_use(v)))
      return 0;
    phis[k] = LLVMGetOperand(v, 1);
    if (LLVMIsABitCastInst(phis[k]) && cg_has_one_use(phis[k]))
      phis[k] = LLVMGetOperand(phis[k], 0);
    if (!LLVMIsAPHINode(phis[k]) || !cg_has_one_use(phis[k]) ||
        LLVMGetInstructionParent(phis[k]) != LLVMGetInstructionParent(phis[n - 1]))
      return 0;
    v = LLVMGetOperand(v, 0);
  }
  return LLVMIsUndef(v) ? n : 0; /* poison is undef, too */
}

/* What the word is that comes from a block, as i32; NULL if it is not one. */
static LLVMValueRef incoming_word(Cg *cg, const LLVMValueRef *phis, unsigned n,
                                  LLVMBasicBlockRef from) {
  LLVMValueRef word = NULL;
  uint64_t number = 0;
  bool constant = true;
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef v = graph_incoming(phis[k], from);
    constant = constant && LLVMIsAConstantInt(v);
    if (constant)
      number |= LLVMConstIntGetZExtValue(v) << (k * (WORD / n));
    LLVMValueRef of = constant ? NULL : word_of(v, k, WORD / n);
    if (!constant && (!of || (k && of != word)))
      return NULL;
    word = of;
  }
  if (constant)
    return l_int(cg->t.i32, number);
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(from));
  return l_bitcast(cg->builder, word, cg->t.i32);
}

static bool rewrite(Cg *cg, LLVMValueRef last) {
  LLVMValueRef phis[MOST], words[2];
  LLVMTypeRef type = LLVMTypeOf(last);
  unsigned n = elements_of(last, phis);
  if (!n || LLVMCountIncoming(phis[0]) != 2)
    return false;
  for (unsigned k = 0; k < 2; k++) {
    words[k] = incoming_word(cg, phis, n, LLVMGetIncomingBlock(phis[0], k));
    if (!words[k])
      return false;
  }
  LLVMPositionBuilderBefore(cg->builder, phis[0]);
  LLVMValueRef phi = l_phi(cg->builder, cg->t.i32);
  for (unsigned k = 0; k < 2; k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phis[0], k);
    LLVMAddIncoming(phi, &words[k], &from, 1);
  }
  LLVMPositionBuilderBefore(cg->builder, last);
  LLVMReplaceAllUsesWith(last, l_bitcast(cg->builder, phi, type));
  return true;
}

static bool is_word(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return false;
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(type));
  unsigned bits = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(LLVMGetElementType(type))
                  : kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ? 16
                                                                           : 0;
  return (bits == 8 || bits == 16) && bits * LLVMGetVectorSize(type) == WORD;
}

void cg_nvptx_words(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    bool changed = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAInsertElementInst(i) && is_word(LLVMTypeOf(i)))
          changed |= rewrite(cg, i);
    if (changed)
      cg_run_function_passes(cg, f, "instsimplify,adce");
  }
}
