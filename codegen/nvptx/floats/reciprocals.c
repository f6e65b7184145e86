/* NVPTX reciprocals: divisions in a loop by what the loop does not change.
 *
 * ptxas divides 64-bit numbers by a call of 70 instructions, most of which compute the divisor's
 * reciprocal. With v = (2**64 - 1) / y, rounded down, it is a product:
 *
 *   q = high(x * v);  r = x - q * y;  if r >= y: q += 1, r -= y
 *
 * v is less than 2**64 / y by at most 1, so x * v / 2**64 is less than x / y by less than 1, and
 * one correction is enough. v is computed at the first such division and then kept: where all
 * operands fit 32 bits, none comes here (lower/divide.c), and v costs nothing.
 *
 * A division of 32 bits is 17 instructions in place, three of them slow, and the reciprocal takes
 * no more. So that is computed in front of the outermost loop that does not change y: of 1 where y
 * is 0, by which nothing is divided. A loop whose step is known at run time has a few iterations in
 * a thread, and keeps its divisions.
 *
 * In: a module after LLVM's passes. v is in a variable, 0 until it is known, which then becomes a
 * phi. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

typedef struct Kept { /* the reciprocal of y */
  LLVMValueRef y, variable;
} Kept;

typedef struct Short {          /* a division of 32 bits */
  LLVMValueRef division, front; /* front: the end of the block in front of the loop */
} Short;

typedef struct Inverse { /* the reciprocal of y, computed in front of a loop */
  LLVMValueRef y, front, v;
} Inverse;

typedef struct Reciprocals {
  Cg *cg;
  LLVMValueRef function;
  VEC(LLVMValueRef) divisions;
  VEC(Kept) kept;
  VEC(Short) shorts;
  VEC(Inverse) inverses;
} Reciprocals;

/* Is it one of a loop by a number that the loop does not change? */
static bool is_wanted(const FnGraph *g, uint32_t loop, LLVMValueRef i) {
  if (!cg_is_op(i, LLVMUDiv) && !cg_is_op(i, LLVMURem))
    return false;
  LLVMValueRef y = LLVMGetOperand(i, 1);
  return !LLVMIsAConstant(y) && !graph_in_loop(g, loop, y);
}

/* --- 32 bits --- */

/* Is v the phi and a few times the same, which is not known before run time? */
static bool is_stepped(const FnGraph *g, uint32_t loop, LLVMValueRef phi, LLVMValueRef v) {
  enum { UNROLLED = 8 };
  for (unsigned k = 0; k < UNROLLED && cg_is_op(v, LLVMAdd); k++) {
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    bool first = !graph_in_loop(g, loop, a);
    if (LLVMIsAConstant(first ? a : b) || graph_in_loop(g, loop, first ? a : b))
      return false;
    v = first ? b : a;
    if (v == phi)
      return true;
  }
  return false;
}

static bool has_run_time_step(const FnGraph *g, uint32_t loop) {
  LLVMBasicBlockRef header = g->nodes[g->loops.data[loop].header].block;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(header); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi))
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
      if (is_stepped(g, loop, phi, LLVMGetIncomingValue(phi, k)))
        return true;
  return false;
}

/* The end of the block in front of the outermost loop that does not change y; NULL: there is no
 * such block, or the loop has few iterations. */
static LLVMValueRef front_of(const FnGraph *g, uint32_t loop, LLVMValueRef y) {
  for (uint32_t parent = g->loops.data[loop].parent;
       parent != GRAPH_NONE && !graph_in_loop(g, parent, y) && graph_front(g, parent) &&
       !has_run_time_step(g, parent);
       parent = g->loops.data[loop].parent)
    loop = parent;
  return has_run_time_step(g, loop) ? NULL : graph_front(g, loop);
}

static LLVMValueRef inverse_of(Reciprocals *r, LLVMValueRef y, LLVMValueRef front) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  for (uint32_t k = 0; k < r->inverses.len; k++)
    if (r->inverses.data[k].y == y && r->inverses.data[k].front == front)
      return r->inverses.data[k].v;
  LLVMPositionBuilderBefore(b, front);
  LLVMValueRef least = l_call(b, cg_intrinsic_fn(cg, "llvm.umax", &cg->t.i32, 1),
                              (LLVMValueRef[]){y, l_int(cg->t.i32, 1)}, 2),
               v = l_udiv(b, LLVMConstAllOnes(cg->t.i32), least);
  VEC_PUSH(&cg->cx->arena, &r->inverses, ((Inverse){y, front, v}));
  return v;
}

static void rewrite_short(Reciprocals *r, const Short *s) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef i = s->division, x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1),
               v = inverse_of(r, y, s->front), now;
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMValueRef high = cg_intrinsic_fn(cg, "llvm.nvvm.mulhi.ui", NULL, 0),
               q = l_call(b, high, (LLVMValueRef[]){x, v}, 2), rest = l_sub(b, x, l_mul(b, q, y));
  if (cg_is_op(i, LLVMURem)) /* a rest that is less than y wraps around */
    now = l_call(b, cg_intrinsic_fn(cg, "llvm.umin", &cg->t.i32, 1),
                 (LLVMValueRef[]){rest, l_sub(b, rest, y)}, 2);
  else
    now = l_add(b, q, l_zext(b, l_icmp(b, LLVMIntUGE, rest, y), cg->t.i32));
  LLVMReplaceAllUsesWith(i, now);
  LLVMInstructionEraseFromParent(i);
}

/* --- 64 bits --- */

static LLVMValueRef after(LLVMValueRef v) {
  do
    v = LLVMGetNextInstruction(v);
  while (LLVMIsAPHINode(v));
  return v;
}

static LLVMValueRef variable_of(Reciprocals *r, LLVMValueRef y) {
  LLVMBuilderRef b = r->cg->builder;
  for (uint32_t k = 0; k < r->kept.len; k++)
    if (r->kept.data[k].y == y)
      return r->kept.data[k].variable;
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->function));
  LLVMPositionBuilderBefore(b, first);
  Kept k = {y, l_alloca(b, r->cg->t.i64)};
  LLVMPositionBuilderBefore(b, LLVMIsAInstruction(y) ? after(y) : first);
  l_store(b, l_int(r->cg->t.i64, 0), k.variable);
  VEC_PUSH(&r->cg->cx->arena, &r->kept, k);
  return k.variable;
}

/* If the variable is 0, what v is comes between the two blocks. */
static void keep_reciprocal(Reciprocals *r, LLVMBasicBlockRef front, LLVMBasicBlockRef block,
                            LLVMValueRef y, LLVMValueRef variable) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef first = LLVMInsertBasicBlockInContext(cg->context, block, "");
  l_at_end(b, front, NULL);
  LLVMValueRef v = l_load(b, cg->t.i64, variable);
  l_condbr(b, l_icmp(b, LLVMIntEQ, v, l_int(cg->t.i64, 0)), first, block);
  l_at_end(b, first, NULL);
  v = l_udiv(b, LLVMConstAllOnes(cg->t.i64), y);
  cg_mark_long_division(cg, v);
  l_store(b, v, variable);
  l_br(b, block);
}

static LLVMValueRef by_reciprocal(Cg *cg, LLVMValueRef i, LLVMValueRef v) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  LLVMValueRef high = cg_intrinsic_fn(cg, "llvm.nvvm.mulhi.ull", NULL, 0);
  LLVMValueRef q = l_call(b, high, (LLVMValueRef[]){x, v}, 2);
  LLVMValueRef rest = l_sub(b, x, l_mul(b, q, y)), more = l_icmp(b, LLVMIntUGE, rest, y);
  if (cg_is_op(i, LLVMURem))
    return l_select(b, more, l_sub(b, rest, y), rest);
  return l_add(b, q, l_zext(b, more, cg->t.i64));
}

static void rewrite(Reciprocals *r, LLVMValueRef i) {
  LLVMBuilderRef b = r->cg->builder;
  LLVMValueRef y = LLVMGetOperand(i, 1), variable = variable_of(r, y);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
  keep_reciprocal(r, graph_cut_before(r->cg, i), block, y, variable);
  LLVMPositionBuilderBefore(b, i);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  LLVMReplaceAllUsesWith(i, by_reciprocal(r->cg, i, l_load(b, r->cg->t.i64, variable)));
  LLVMInstructionEraseFromParent(i);
}

void cg_nvptx_reciprocals(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    Reciprocals r = {.cg = cg, .function = f};
    for (uint32_t k = 0; k < g.len; k++)
      for (LLVMValueRef i = g.nodes[k].first; i && g.nodes[k].loop != GRAPH_NONE;
           i = LLVMGetNextInstruction(i)) {
        if (!is_wanted(&g, g.nodes[k].loop, i))
          continue;
        Short s = {i, front_of(&g, g.nodes[k].loop, LLVMGetOperand(i, 1))};
        if (LLVMTypeOf(i) == cg->t.i64)
          VEC_PUSH(&cg->cx->arena, &r.divisions, i);
        else if (LLVMTypeOf(i) == cg->t.i32 && s.front)
          VEC_PUSH(&cg->cx->arena, &r.shorts, s);
      }
    for (uint32_t k = 0; k < r.shorts.len; k++)
      rewrite_short(&r, &r.shorts.data[k]);
    for (uint32_t k = 0; k < r.divisions.len; k++)
      rewrite(&r, r.divisions.data[k]);
    if (r.divisions.len)
      cg_run_function_passes(cg, f, "sroa");
  }
}
