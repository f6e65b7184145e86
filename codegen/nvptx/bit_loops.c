/* NVPTX bit loops: loops that count bits become one instruction.
 *
 *   while x: x &= x - 1; n += 1      n += popcount(x)
 *   while x: x >>= 1; n += 1         n += the bit length of x
 *   while x: n += x & 1; x >>= 1     n += popcount(x)
 *
 * In: functions after LLVM's passes, which have rotated such a loop into one block that runs at
 * least once and has no other effect. Each of its variables must be x itself, or a sum of the same
 * term in each iteration, or of x's lowest bit, or change by an exclusive or with the same term.
 * LLVM has a pass for the first form, which it does not run for this target. */
#include <assert.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

typedef struct BitLoop {
  Cg *cg;
  LLVMBasicBlockRef block, exit, from; /* from: the block before it */
  LLVMValueRef x, next;                /* the phi, and its value for the next iteration */
  LLVMValueRef start;                  /* x's first value */
  bool shifts;                         /* x >> 1, else x & (x - 1) */
  bool arithmetic;     /* that shift is; the loop ends at numbers that are not positive */
  LLVMValueRef rounds; /* how often it runs: once there is code for it */
} BitLoop;

/* The other operand of a commutative operation that has `one` as an operand; else NULL. */
static LLVMValueRef other_operand(LLVMValueRef v, LLVMOpcode op, LLVMValueRef one) {
  if (!cg_is_op(v, op))
    return NULL;
  LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
  return a == one ? b : b == one ? a : NULL;
}

static bool is_inside(const BitLoop *l, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == l->block;
}

/* --- the loop --- */

static bool is_step(BitLoop *l) {
  LLVMValueRef less = other_operand(l->next, LLVMAnd, l->x);
  if (less)
    return cg_is_op(less, LLVMAdd) && LLVMGetOperand(less, 0) == l->x &&
           cg_is_number(LLVMGetOperand(less, 1), UINT64_MAX);
  l->arithmetic = cg_is_op(l->next, LLVMAShr);
  l->shifts = l->arithmetic || cg_is_op(l->next, LLVMLShr);
  return l->shifts && LLVMGetOperand(l->next, 0) == l->x &&
         cg_is_number(LLVMGetOperand(l->next, 1), 1);
}

/* Does it go on while the next x is not 0, or positive where the shift is arithmetic? */
static bool is_condition(const BitLoop *l, const Fork *end) {
  LLVMValueRef c = end->condition;
  if (!LLVMIsAICmpInst(c) || (end->yes == l->block) == (end->no == l->block))
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  bool stays = end->yes == l->block, of_next = LLVMGetOperand(c, 0) == l->next;
  if (!of_next && (!l->shifts || LLVMGetOperand(c, 0) != l->x))
    return false;
  LLVMValueRef limit = LLVMGetOperand(c, 1);
  if (l->arithmetic) /* next > 0 is x > 1 */
    return stays ? p == LLVMIntSGT && cg_is_number(limit, !of_next)
                 : p == LLVMIntSLT && cg_is_number(limit, of_next ? 1 : 2);
  if (of_next && cg_is_number(limit, 0))
    return p == (stays ? LLVMIntNE : LLVMIntEQ);
  return !of_next && (stays ? p == LLVMIntUGT && cg_is_number(limit, 1)
                            : p == LLVMIntULT && cg_is_number(limit, 2));
}

static bool find_x(BitLoop *l, const Fork *end) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    l->x = i, l->next = graph_incoming(i, l->block), l->start = graph_incoming(i, l->from);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind && is_step(l) && is_condition(l, end))
      return true;
  }
  return false;
}

static LLVMValueRef without_casts(LLVMValueRef v) {
  while (cg_is_extension(v) || cg_is_op(v, LLVMTrunc))
    v = LLVMGetOperand(v, 0);
  return v;
}

/* x & 1, of any width? */
static bool is_lowest_bit(const BitLoop *l, LLVMValueRef v) {
  v = without_casts(v);
  return l->shifts && cg_is_op(v, LLVMAnd) && without_casts(LLVMGetOperand(v, 0)) == l->x &&
         cg_is_number(LLVMGetOperand(v, 1), 1);
}

/* What a variable changes by in each iteration: the same term, or the lowest bit; else NULL. */
static LLVMValueRef term_of(const BitLoop *l, LLVMValueRef phi) {
  LLVMValueRef next = graph_incoming(phi, l->block);
  LLVMValueRef sum = other_operand(next, LLVMAdd, phi), flip = other_operand(next, LLVMXor, phi);
  if (sum && (!is_inside(l, sum) || is_lowest_bit(l, sum)))
    return sum;
  return flip && !is_inside(l, flip) ? flip : NULL;
}

/* Is the value, after the loop, one that is known: a variable's last? */
static bool is_result(const BitLoop *l, LLVMValueRef v) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    if (graph_incoming(i, l->block) == v)
      return true;
  return false;
}

static bool is_used_outside(const BitLoop *l, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (LLVMGetInstructionParent(LLVMGetUser(u)) != l->block)
      return true;
  return false;
}

static bool only_counts(const BitLoop *l) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); i; i = LLVMGetNextInstruction(i)) {
    bool phi = LLVMIsAPHINode(i);
    if (phi &&
        (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind || (i != l->x && !term_of(l, i))))
      return false;
    if (!phi && i != LLVMGetBasicBlockTerminator(l->block) && !cg_only_computes(i))
      return false;
    if (is_used_outside(l, i) && !is_result(l, i))
      return false;
  }
  return true;
}

/* --- its results --- */

static LLVMValueRef call(BitLoop *l, const char *name, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef t = LLVMTypeOf(args[0]);
  return l_call(l->cg->builder, cg_intrinsic_fn(l->cg, name, &t, 1), args, n);
}

static LLVMValueRef count_of_ones(BitLoop *l) { return call(l, "llvm.ctpop", &l->start, 1); }

/* Is x positive at the beginning? */
static LLVMValueRef is_positive(BitLoop *l) {
  return l_icmp(l->cg->builder, LLVMIntSGT, l->start, LLVMConstNull(LLVMTypeOf(l->start)));
}

/* At least 1, also for an x that is 0, and for one that is negative where that ends the loop. */
static LLVMValueRef count_rounds(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef t = LLVMTypeOf(l->start);
  LLVMValueRef one = l_int(t, 1), n = NULL;
  if (l->shifts) {
    LLVMValueRef zeros = call(l, "llvm.ctlz",
                              (LLVMValueRef[]){l->start, LLVMConstNull(l->cg->t.i1)}, 2);
    n = l_sub(b, l_int(t, LLVMGetIntTypeWidth(t)), zeros);
  } else {
    n = count_of_ones(l);
  }
  if (l->arithmetic)
    return l_select(b, is_positive(l), n, one);
  return call(l, "llvm.umax", (LLVMValueRef[]){n, one}, 2);
}

static LLVMValueRef last_x(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef t = LLVMTypeOf(l->start);
  if (!l->arithmetic)
    return LLVMConstNull(t);
  return l_select(b, is_positive(l), LLVMConstNull(t), l_ashr(b, l->start, l_int(t, 1)));
}

/* The sum of the lowest bits of all x. */
static LLVMValueRef sum_of_bits(BitLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef first = l_and(b, l->start, l_int(LLVMTypeOf(l->start), 1));
  return l->arithmetic ? l_select(b, is_positive(l), count_of_ones(l), first) : count_of_ones(l);
}

static LLVMValueRef result_of(BitLoop *l, LLVMValueRef phi) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef start = graph_incoming(phi, l->from), term = term_of(l, phi);
  LLVMTypeRef t = LLVMTypeOf(phi);
  if (is_inside(l, term))
    return l_add(b, start, l_int_cast(b, sum_of_bits(l), t, false));
  if (cg_is_op(graph_incoming(phi, l->block), LLVMAdd))
    return l_add(b, start, l_mul(b, l_int_cast(b, l->rounds, t, false), term));
  LLVMValueRef odd = l_trunc(b, l->rounds, l->cg->t.i1);
  return l_xor(b, start, l_select(b, odd, term, LLVMConstNull(t)));
}

/* The block runs once and computes the results from what its variables begin with. */
static void rewrite(BitLoop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->block), phi, following;
  LLVMPositionBuilderBefore(l->cg->builder, end);
  LLVMSetCurrentDebugLocation2(l->cg->builder, LLVMInstructionGetDebugLoc(end));
  l->rounds = count_rounds(l);
  for (phi = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef result = phi == l->x ? last_x(l) : result_of(l, phi);
    LLVMValueRef next = graph_incoming(phi, l->block);
    for (LLVMUseRef u = LLVMGetFirstUse(next), more; u; u = more) {
      more = LLVMGetNextUse(u);
      LLVMValueRef by = LLVMGetUser(u);
      for (unsigned k = 0; !is_inside(l, by) && k < (unsigned)LLVMGetNumOperands(by); k++)
        if (LLVMGetOperand(by, k) == next)
          LLVMSetOperand(by, k, result);
    }
  }
  l_br(l->cg->builder, l->exit);
  LLVMInstructionEraseFromParent(end);
  for (phi = LLVMGetFirstInstruction(l->block); LLVMIsAPHINode(phi); phi = following) {
    following = LLVMGetNextInstruction(phi);
    LLVMReplaceAllUsesWith(phi, graph_incoming(phi, l->from));
    LLVMInstructionEraseFromParent(phi);
  }
}

static bool rewrite_in(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  bool found = false;
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    const GraphNode *n = &g.nodes[g.loops.data[k].header];
    Fork end;
    if (g.loops.data[k].nnodes != 1 || n->npred != 2 || !graph_fork(n->last, &end))
      continue;
    uint32_t before = n->pred[n->pred[0] == g.loops.data[k].header];
    BitLoop l = {.cg = cg, .block = n->block, .from = g.nodes[before].block};
    l.exit = end.yes == l.block ? end.no : end.yes;
    if (!find_x(&l, &end) || !only_counts(&l))
      continue;
    rewrite(&l);
    found = true;
  }
  return found;
}

void cg_nvptx_bits(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && rewrite_in(cg, f))
      cg_run_function_passes(cg, f,
                             "instcombine<no-verify-fixpoint>,simplifycfg,"
                             "instcombine<no-verify-fixpoint>");
}
