/* NVPTX guarded quotients: quotients and roots behind a branch that an earlier branch by the same
 * condition has in front of it are computed once.
 *
 *   ul = nl / hl if hl > 0 else 0        # of a face's left side; its right side is the next one's
 *
 * A function that is called twice with the same numbers leaves two such branches, and LLVM merges
 * no values that are computed behind different ones:
 *
 *   if c: a = x / y                      if c: a = x / y
 *   p = phi(a, 0)                        p = phi(a, 0)
 *   …                                    …
 *   if c: b = x / y
 *   q = phi(b, 0)                        q = p
 *
 * Where c, x and y are the same values and the first join dominates the second branch, all three
 * are still what they were when p was made: none of them is computed anew without the first join
 * being passed again. So b, which is there where c holds, is p; and so is q, if what the phis have
 * elsewhere is the same.
 *
 * In: functions after LLVM's passes. Out: such quotients, and branches around nothing, gone. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_ARMS = 64, /* that are compared with each other */
  MOST_CODE = 16, /* instructions of an arm */
  DEEP = 8        /* operations of a value */
};

/* The one side of a branch that has code: it comes from `from`, and goes where the other side goes
 * at once. */
typedef struct Arm {
  LLVMBasicBlockRef block, from, join;
  LLVMValueRef condition;
  bool holds; /* the condition does, on this side */
} Arm;

static bool has_slow(const Cg *cg, LLVMBasicBlockRef b) {
  unsigned n = 0;
  bool slow = false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && n <= MOST_CODE;
       i = LLVMGetNextInstruction(i), n++)
    slow |= cg_is_slow(cg, i);
  return slow && n <= MOST_CODE;
}

static bool read_arm(const Cg *cg, LLVMBasicBlockRef b, Arm *a) {
  Fork f;
  *a = (Arm){.block = b, .from = graph_before(b), .join = graph_next(b)};
  if (!a->from || !a->join || !has_slow(cg, b) ||
      !graph_fork(LLVMGetBasicBlockTerminator(a->from), &f))
    return false;
  a->condition = f.condition;
  a->holds = f.yes == b;
  return f.yes != f.no && (a->holds ? f.no : f.yes) == a->join;
}

/* An operation that is the same for the same operands, whose flags can be compared. */
static bool is_pure(LLVMValueRef i) {
  switch (LLVMIsAInstruction(i) ? LLVMGetInstructionOpcode(i) : LLVMUnreachable) {
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMFNeg: return true;
  case LLVMCall: return cg_is_function_of_operands(i);
  default: return false;
  }
}

static bool is_equal(const Arm *a, LLVMValueRef v, const Arm *b, LLVMValueRef w, unsigned depth) {
  if (v == w)
    return true;
  if (!depth || !is_pure(v) || !is_pure(w) || LLVMGetInstructionParent(v) != a->block ||
      LLVMGetInstructionParent(w) != b->block || LLVMTypeOf(v) != LLVMTypeOf(w) ||
      LLVMGetInstructionOpcode(v) != LLVMGetInstructionOpcode(w) ||
      LLVMGetNumOperands(v) != LLVMGetNumOperands(w) ||
      (LLVMCanValueUseFastMathFlags(v) && LLVMGetFastMathFlags(v) != LLVMGetFastMathFlags(w)))
    return false;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    if (!is_equal(a, LLVMGetOperand(v, k), b, LLVMGetOperand(w, k), depth - 1))
      return false;
  return true;
}

/* Is it a join of these two sides alone? */
static bool joins(const Arm *a) {
  LLVMValueRef phi = LLVMGetFirstInstruction(a->join);
  return LLVMIsAPHINode(phi) && LLVMCountIncoming(phi) == 2;
}

/* The phi of the first join that has what v is there; NULL: there is none. */
static LLVMValueRef known_as(const Arm *first, const Arm *again, LLVMValueRef v) {
  for (LLVMValueRef p = LLVMGetFirstInstruction(first->join); LLVMIsAPHINode(p);
       p = LLVMGetNextInstruction(p))
    if (is_equal(first, graph_incoming(p, first->block), again, v, DEEP))
      return p;
  return NULL;
}

/* A call is nothing that copy_erase_unused would erase. */
static void erase(LLVMValueRef v) {
  LLVMValueRef of = LLVMIsACallInst(v) ? LLVMGetOperand(v, 0) : NULL;
  if (of)
    LLVMInstructionEraseFromParent(v);
  copy_erase_unused(of ? of : v);
}

/* Takes what the first arm has computed, too, from its phis. */
static bool merge(const Arm *first, const Arm *again) {
  bool changed = false;
  for (LLVMValueRef p = LLVMGetFirstInstruction(again->join), next; LLVMIsAPHINode(p); p = next) {
    next = LLVMGetNextInstruction(p);
    LLVMValueRef v = graph_incoming(p, again->block), other = graph_incoming(p, again->from);
    bool own = LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == again->block;
    LLVMValueRef known = own && is_pure(v) ? known_as(first, again, v) : NULL;
    if (!known)
      continue;
    LLVMReplaceAllUsesWith(v, known);
    erase(v);
    if (graph_incoming(known, first->from) == other) {
      LLVMReplaceAllUsesWith(p, known);
      LLVMInstructionEraseFromParent(p);
    }
    changed = true;
  }
  return changed;
}

static bool merge_in(Cg *cg, LLVMValueRef f) {
  Arm arms[MOST_ARMS];
  unsigned n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && n < MOST_ARMS;
       b = LLVMGetNextBasicBlock(b))
    n += read_arm(cg, b, &arms[n]) && joins(&arms[n]);
  if (n < 2)
    return false;
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  bool merged[MOST_ARMS] = {false}, some = false;
  for (unsigned k = 0; k < n; k++)
    for (unsigned j = 0; j < n && !merged[k]; j++) {
      uint32_t join = graph_number(&g, arms[j].join), from = graph_number(&g, arms[k].from);
      if (j != k && !merged[j] && arms[j].condition == arms[k].condition &&
          arms[j].holds == arms[k].holds && join != GRAPH_NONE && from != GRAPH_NONE &&
          graph_dominates(&g, join, from))
        some |= merged[k] = merge(&arms[j], &arms[k]);
    }
  return some;
}

void cg_nvptx_guarded_quotients(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && merge_in(cg, f))
      cg_run_function_passes(cg, f, "simplifycfg"); /* branches around nothing */
}
