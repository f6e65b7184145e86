/* NVPTX predicated: of float64, an operation under a condition in place of a selection; of float32
 * and int32, a selection by two conditions that ptxas makes that of.
 *
 *   t = c ? a + b : t
 *
 * ptxas makes one predicated addition of that if t is an integer or a float32, and an addition with
 * two selections, one for each half, if it is a float64. The sine's last steps, sums under masks
 * and maxima with a place are such. Here the operation is inline assembly with the predicate, and
 * its result is in the register of the other value.
 *
 * The generator takes what inline assembly gives for an integer of 64 bits, and negates that by an
 * operation on its bits, which ptxas does not make a part of the operation that reads it. So a
 * negation, or the difference of a product and such a value, is written as inline assembly too.
 *
 * In: a module that only the code generator is still to see, for which an addition of a product is
 * a fused one already here, as it would make it. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST_OPERANDS = 3 };

typedef struct Operation {
  const char *name; /* in PTX; NULL: it is none */
  LLVMValueRef operands[MOST_OPERANDS];
  unsigned n;
  bool negates; /* the first operand, which is no operation of its own */
} Operation;

static Operation of_two(const char *name, LLVMValueRef i) {
  return (Operation){
      .name = name, .operands = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)}, .n = 2};
}

/* A sum; with fma of a product and a number a fused one. Two products are left to the generator. */
static Operation sum(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1), product = NULL;
  bool first = cg_is_op(x, LLVMFMul), second = cg_is_op(y, LLVMFMul);
  if (!cg->options.fma || (!first && !second))
    return of_two("add.rn.f64", i);
  if (first && second)
    return (Operation){0};
  product = first ? x : y;
  return (Operation){
      .name = "fma.rn.f64",
      .operands = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1), first ? y : x},
      .n = 3};
}

/* A difference; with fma, of a number and a product, a fused sum with the product's negation, which
 * is no operation of its own. Of a product and a number it is left to the generator: what is
 * selected instead is another value than what is subtracted from. */
static Operation difference(const Cg *cg, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  bool first = cg_is_op(x, LLVMFMul), second = cg_is_op(y, LLVMFMul);
  if (!cg->options.fma || (!first && !second))
    return of_two("sub.rn.f64", i);
  bool fused = cg_is_contractible(i, LLVMFSub) && cg_is_contractible(y, LLVMFMul);
  if (first || !fused)
    return (Operation){0};
  return (Operation){.name = "fma.rn.f64",
                     .operands = {LLVMGetOperand(y, 0), LLVMGetOperand(y, 1), x},
                     .n = 3,
                     .negates = true};
}

/* What v is, if it is computed in this block for one use. */
static Operation operation(const Cg *cg, LLVMValueRef v, LLVMBasicBlockRef block) {
  LLVMUseRef use = LLVMIsAInstruction(v) ? LLVMGetFirstUse(v) : NULL;
  if (!use || LLVMGetNextUse(use) || LLVMGetInstructionParent(v) != block)
    return (Operation){0};
  if (cg_is_op(v, LLVMFAdd))
    return sum(cg, v);
  if (cg_is_op(v, LLVMFSub))
    return difference(cg, v);
  if (cg_is_op(v, LLVMFMul))
    return of_two("mul.rn.f64", v);
  if (cg_is_call_of(v, "llvm.fma.f64"))
    return (Operation){
        .name = "fma.rn.f64",
        .operands = {LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), LLVMGetOperand(v, 2)},
        .n = 3};
  return (Operation){0};
}

/* @!$1 bra over; fma.rn.f64 $0, $2, $3, $4; over: ptxas makes a predicate of the short branch, and
 * two selections of a predicate that is there already. */
static LLVMValueRef predicated(Cg *cg, const Operation *o, bool unless, LLVMValueRef condition,
                               LLVMValueRef other) {
  LLVMTypeRef f64 = cg->t.f64, types[MOST_OPERANDS + 2] = {cg->t.i1, f64, f64, f64, f64};
  LLVMValueRef args[MOST_OPERANDS + 2] = {condition, o->operands[0], o->operands[1]};
  bool three = o->n == 3;
  if (three)
    args[3] = o->operands[2];
  args[1 + o->n] = other;
  char text[160];
  int length =
      snprintf(text, sizeof text,
               "@%s$1 bra over${:uid};\n\t%s%s $0, %s, $3%s;%s\nover${:uid}:", unless ? "" : "!",
               o->negates ? "{ .reg .f64 %t;\n\tneg.f64 %t, $2;\n\t" : "", o->name,
               o->negates ? "%t" : "$2", three ? ", $4" : "", o->negates ? " }" : "");
  const char *constraints = three ? "=d,b,d,d,d,0" : "=d,b,d,d,0";
  LLVMTypeRef type = LLVMFunctionType(f64, types, o->n + 2, 0);
  LLVMValueRef assembly = LLVMGetInlineAsm(type, text, (size_t)length, constraints,
                                           strlen(constraints), false, 0, LLVMInlineAsmDialectATT,
                                           0);
  return l_call_type(cg->builder, type, assembly, args, o->n + 2);
}

/* --- negations of what inline assembly gives --- */

static LLVMValueRef negated(Cg *cg, LLVMValueRef v) {
  static const char text[] = "neg.f64 $0, $1;", constraints[] = "=d,d";
  LLVMTypeRef f64 = cg->t.f64, type = LLVMFunctionType(f64, &f64, 1, 0);
  LLVMValueRef assembly = LLVMGetInlineAsm(type, text, sizeof text - 1, constraints,
                                           sizeof constraints - 1, false, 0,
                                           LLVMInlineAsmDialectATT, 0);
  return l_call_type(cg->builder, type, assembly, &v, 1);
}

/* -v, or a * b - v, which is a fused operation: what reads v instead; else NULL. */
static LLVMValueRef without_bits(Cg *cg, LLVMValueRef by, LLVMValueRef v) {
  if (cg_is_op(by, LLVMFNeg))
    return negated(cg, v);
  if (!cg->options.fma || !cg_is_contractible(by, LLVMFSub) || LLVMGetOperand(by, 1) != v ||
      !cg_is_contractible(LLVMGetOperand(by, 0), LLVMFMul))
    return NULL;
  LLVMValueRef product = LLVMGetOperand(by, 0);
  LLVMValueRef args[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1), negated(cg, v)};
  return l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.fma", &cg->t.f64, 1), args, 3);
}

static void replace_negations(Cg *cg, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v), next; u; u = next) {
    LLVMValueRef by = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    LLVMPositionBuilderBefore(cg->builder, by);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(by));
    LLVMValueRef instead = without_bits(cg, by, v);
    if (!instead)
      continue;
    LLVMReplaceAllUsesWith(by, instead);
    LLVMInstructionEraseFromParent(by);
  }
}

/* --- two conditions ---
 *
 *   if w == warp and f == 0: v += before
 *   if lane >= d:
 *     if f == 0: v += other
 *     f |= other_flag
 *
 * Of a selection by two conditions the generator makes two selections, if nothing else reads that
 * both hold; of the second kind if-conversion has made two. Of float32 and int32 ptxas makes one
 * predicated addition of one selection, not of two. */

/* c ? v op w : v, of which the operation is computed for that alone; the operand that is updated,
 * 0: it is no such. */
static unsigned updated(LLVMValueRef i) {
  for (unsigned k = 1; k <= 2 && LLVMIsASelectInst(i); k++) {
    LLVMValueRef v = LLVMGetOperand(i, k), other = LLVMGetOperand(i, 3 - k);
    bool operation = cg_is_op(v, LLVMFAdd) || cg_is_op(v, LLVMFSub) || cg_is_op(v, LLVMFMul) ||
                     cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMSub);
    if (operation && cg_has_one_use(v) &&
        (LLVMGetOperand(v, 0) == other || LLVMGetOperand(v, 1) == other))
      return k;
  }
  return 0;
}

/* That operand k of the selection is taken. */
static LLVMValueRef taken(Cg *cg, LLVMValueRef select, unsigned k) {
  LLVMValueRef condition = LLVMGetOperand(select, 0);
  return k == 1 ? condition : l_not(cg->builder, condition);
}

/* a ? (b ? v op w : v) : v, as a selection by a and b, where b may be read only where a holds. */
static void join(Cg *cg, LLVMValueRef i) {
  for (unsigned k = 1; k <= 2; k++) {
    LLVMValueRef inner = LLVMGetOperand(i, k), v = LLVMGetOperand(i, 3 - k);
    unsigned by = cg_has_one_use(inner) ? updated(inner) : 0;
    if (!by || LLVMGetOperand(inner, 3 - by) != v ||
        LLVMTypeOf(LLVMGetOperand(inner, 0)) != cg->t.i1)
      continue;
    LLVMValueRef both = l_select(cg->builder, taken(cg, i, k), taken(cg, inner, by),
                                 l_int(cg->t.i1, 0));
    LLVMSetOperand(i, 0, both);
    LLVMSetOperand(i, 1, LLVMGetOperand(inner, by));
    LLVMSetOperand(i, 2, v);
    LLVMInstructionEraseFromParent(inner);
    return;
  }
}

/* Does one of several comparisons hold? The generator makes a selection of each: a ? x : b ? x : y,
 * where ptxas makes one condition of them as it compares. */
static bool is_any(LLVMValueRef v, unsigned depth) {
  bool any = depth && cg_is_op(v, LLVMOr);
  for (unsigned k = 0; any && k < 2; k++) {
    LLVMValueRef part = LLVMGetOperand(v, k);
    any = cg_has_one_use(part) && (cg_is_op(part, LLVMICmp) || is_any(part, depth - 1));
  }
  return any;
}

static void keep_together(Cg *cg, LLVMValueRef i) {
  enum { DEPTH = 8 };
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
  if (LLVMTypeOf(i) != cg->t.i64)
    join(cg, i);
  LLVMValueRef both = LLVMGetOperand(i, 0);
  if (cg_has_one_use(both) &&
      (is_any(both, DEPTH) || (LLVMTypeOf(i) != cg->t.i64 && cg_is_both(both) && updated(i))))
    LLVMSetOperand(i, 0, cg_nvptx_hidden(cg, both));
}

/* --- the pass --- */

/* What a selection was replaced by; itself if it stays. */
static LLVMValueRef visit(Cg *cg, LLVMValueRef i) {
  LLVMValueRef condition = LLVMGetOperand(i, 0);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
  for (unsigned k = 1; k <= 2; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    Operation o = operation(cg, v, block);
    if (!o.name)
      continue;
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef now = predicated(cg, &o, k == 2, condition, LLVMGetOperand(i, 3 - k));
    LLVMReplaceAllUsesWith(i, now);
    LLVMInstructionEraseFromParent(i);
    LLVMInstructionEraseFromParent(v);
    replace_negations(cg, now);
    return now;
  }
  return i;
}

void cg_nvptx_predicated(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsASelectInst(i) && LLVMTypeOf(LLVMGetOperand(i, 0)) == cg->t.i1) {
          if (LLVMTypeOf(i) == cg->t.f64)
            i = visit(cg, i);
          else if (cg_nvptx_letter_of(cg, i))
            keep_together(cg, i);
        }
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
}
