/* Control: phis, branches, returns, and the checks that stop a thread.
 *
 * A block of SSA may become several LLVM blocks (a check branches), so BlockNote keeps the first
 * and the last. Phis are created in place, one for each leaf, and get their operands when all
 * blocks have been lowered. Two kinds of edges have a block of their own: the second edge to the
 * same successor, since an LLVM phi cannot tell the two apart, and the conditional back edge of a
 * loop that yields (ssa/waits.c), where the yield goes. A check that fails leaves through the
 * target's trap, and its block is marked unlikely. */
#include <assert.h>

#include "codegen/lower/private.h"

/* --- phis --- */

/* Before the instructions that extend 32-bit phis to 64 bits. */
static LLVMValueRef add_phi(Lower *lw, LLVMTypeRef type) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(lw->b);
  LLVMValueRef first = LLVMGetFirstInstruction(block);
  while (first && LLVMIsAPHINode(first))
    first = LLVMGetNextInstruction(first);
  if (first)
    LLVMPositionBuilderBefore(lw->b, first);
  LLVMValueRef phi = l_phi(lw->b, type);
  lw_at(lw, block);
  return phi;
}

static bool is_narrow_phi(const Ins *i) { return i->flags & (INS_I32 | INS_U32 | INS_LOW); }

void lw_phi(Lower *lw, Ins *i) {
  if (is_narrow_phi(i)) {
    lw_set(lw, i, lw_extended(lw, i, add_phi(lw, lw->t->i32)));
    return;
  }
  uint32_t n = cg_leaf_count(i->type);
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, n + 1);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  lw_leaf_types(lw->cg, i->type, types);
  for (uint32_t k = 0; k < n; k++)
    leaves[k] = add_phi(lw, types[k]);
  lw_set_leaves(lw, i, leaves);
}

static bool is_back_edge(const Block *b, int successor) {
  return b->succ[successor] && b->succ[successor]->rpo <= b->rpo;
}

/* The LLVM block from which control comes, for entry k of b's predecessors. A block that branches
 * to b on both sides is listed twice, the second time for its edge block; the edge block is also
 * the predecessor where a conditional back edge yields. */
static LLVMBasicBlockRef incoming_block(const Block *b, uint32_t k) {
  const BlockNote *n = b->preds.data[k]->note;
  const Ins *end = b->preds.data[k]->last;
  if (end->op == OP_CONDBR && end->flags & INS_YIELDS && n->edge && b->rpo <= end->block->rpo)
    return n->edge;
  for (uint32_t j = 0; j < k; j++)
    if (b->preds.data[j] == b->preds.data[k])
      return n->edge;
  return n->end;
}

static void finish_narrow_phi(Lower *lw, Ins *i) {
  LLVMValueRef phi = LLVMGetOperand(lw_value(lw, i), 0);
  assert(LLVMIsAPHINode(phi) && LLVMTypeOf(phi) == lw->t->i32);
  for (uint32_t k = 0; k < i->nargs; k++) {
    LLVMBasicBlockRef from = incoming_block(i->block, k);
    assert(from && LLVMGetBasicBlockTerminator(from));
    LLVMPositionBuilderBefore(lw->b, LLVMGetBasicBlockTerminator(from));
    LLVMValueRef v = lw_low(lw, lw_value(lw, i->args[k]));
    LLVMAddIncoming(phi, &v, &from, 1);
  }
}

static void finish_phi(Lower *lw, Ins *i) {
  const Block *b = i->block;
  LLVMValueRef *leaves = lw_leaves(lw, i);
  uint32_t n = cg_leaf_count(i->type);
  CX_ASSERT(lw->cx, i->nargs == b->preds.len);
  if (is_narrow_phi(i)) {
    finish_narrow_phi(lw, i);
    return;
  }
  for (uint32_t k = 0; k < i->nargs; k++) {
    LLVMBasicBlockRef from = incoming_block(b, k);
    LLVMValueRef *values = lw_leaves(lw, i->args[k]);
    for (uint32_t j = 0; j < n; j++)
      LLVMAddIncoming(leaves[j], &values[j], &from, 1);
  }
}

void lw_finish_phis(Lower *lw) {
  FOR_BLOCKS (lw->fn, b)
    for (Ins *i = b->first; i && i->op == OP_PHI; i = i->next)
      finish_phi(lw, i);
}

/* --- branches --- */

static LLVMBasicBlockRef begin_of(const Block *b) { return ((const BlockNote *)b->note)->begin; }

/* Called at a terminator: the current LLVM block is the last one of its SSA block. */
static void note_end(Lower *lw, Ins *i) {
  ((BlockNote *)i->block->note)->end = LLVMGetInsertBlock(lw->b);
}

/* Are other threads let run here? A GPU runs them anyway. */
static bool yields(const Lower *lw, const Ins *i) {
  return i->flags & INS_YIELDS && lw->target->yield;
}

void lw_branch(Lower *lw, Ins *i) {
  if (yields(lw, i))
    lw_yield(lw, i);
  note_end(lw, i);
  l_br(lw->b, begin_of(i->block->succ[0]));
}

void lw_condbranch(Lower *lw, Ins *i) {
  BlockNote *n = i->block->note;
  LLVMBasicBlockRef yes = begin_of(i->block->succ[0]), no = begin_of(i->block->succ[1]);
  LLVMValueRef c = lw_value(lw, i->args[0]);
  bool waits = yields(lw, i), back_if_true = waits && is_back_edge(i->block, 0);
  assert(!waits || is_back_edge(i->block, 0) != is_back_edge(i->block, 1));
  note_end(lw, i);
  if (yes != no && !waits) {
    LLVMValueRef branch = l_condbr(lw->b, c, yes, no);
    if (i->flags & INS_OFTEN)
      lw_branch_weights(lw, branch, CG_OFTEN, 1);
    return;
  }
  n->edge = lw_block(lw, "edge");
  l_condbr(lw->b, c, back_if_true ? n->edge : yes, back_if_true ? no : n->edge);
  lw_at(lw, n->edge);
  if (waits)
    lw_yield(lw, i);
  l_br(lw->b, back_if_true ? yes : no);
}

/* A device function returns nothing, the leaf, or a struct of the leaves of its result. */
void lw_return(Lower *lw, Ins *i) {
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(lw->function));
  bool is_kernel = lw->fn == lw->cg->program->fns.data[0] && !lw->cg->options.device_function;
  uint32_t n = cg_leaf_count(i->args[0]->type);
  LLVMValueRef *leaves = lw_leaves(lw, i->args[0]);
  note_end(lw, i);
  if (is_kernel) {
    lw->target->kernel_return(lw);
  } else if (n == 0) {
    l_ret_void(lw->b);
  } else if (n == 1) {
    l_ret(lw->b, leaves[0]);
  } else {
    LLVMValueRef v = LLVMGetPoison(result);
    for (uint32_t k = 0; k < n; k++)
      v = l_insert_value(lw->b, v, leaves[k], k);
    l_ret(lw->b, v);
  }
}

/* The low 32 bits of a 64-bit value. Sums and products are rebuilt from the low bits of their
 * terms: a truncation of the 64-bit result would make LLVM keep the computation in 64 bits. Sums
 * that were computed in 32 bits are taken as they are: of `min(x + 1, n - 1)` LLVM sees a minimum
 * only where the comparison and the selection have the same operands. Of a product it must not: the
 * step of a grid-stride loop that is known to be at least 1 is one (ssa/narrow.c). */
static LLVMValueRef low_tree(Lower *lw, Ins *i, int depth) {
  bool sum = i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL;
  bool computed = i->op != OP_MUL && i->flags & (INS_OF_I32 | INS_OF_U32);
  if (!sum || depth > 3 || computed)
    return lw_low(lw, lw_value(lw, i));
  LLVMOpcode op = i->op == OP_ADD ? LLVMAdd : i->op == OP_SUB ? LLVMSub : LLVMMul;
  return l_binop(lw->b, op, low_tree(lw, i->args[0], depth + 1),
                 low_tree(lw, i->args[1], depth + 1));
}

/* The selection of ssa/narrow.c by which a step is at most INT32_MAX stays in 64 bits: there LLVM
 * sees that the step is positive, and so finds the trip count of the loop. */
static bool is_most(const Ins *i) {
  return i->op == OP_CONST && i->aux.frozen->kind == FZ_INT && i->aux.frozen->i == INT32_MAX;
}

static bool is_narrow_select(const Ins *i) {
  return i->flags & (INS_I32 | INS_U32) && !is_most(i->args[2]);
}

void lw_select(Lower *lw, Ins *i) {
  if (is_narrow_select(i)) {
    LLVMValueRef v = l_select(lw->b, lw_value(lw, i->args[0]), low_tree(lw, i->args[1], 0),
                              low_tree(lw, i->args[2], 0));
    lw_set(lw, i, lw_extended(lw, i, v));
    return;
  }
  uint32_t n = cg_leaf_count(i->type);
  LLVMValueRef c = lw_value(lw, i->args[0]);
  LLVMValueRef *yes = lw_leaves(lw, i->args[1]), *no = lw_leaves(lw, i->args[2]);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  for (uint32_t k = 0; k < n; k++)
    leaves[k] = l_select(lw->b, c, yes[k], no[k]);
  lw_set_leaves(lw, i, leaves);
}

/* --- stopping --- */

bool lw_traps_on_raise(const Cg *cg) {
  return cg->options.debug || cg->options.exceptions || cg->target->traps_always;
}

/* A number as a trap carries it: 64 bits, a float as the bits of a double. */
static LLVMValueRef trap_value(Lower *lw, Ins *i) {
  if (!ty_is_scalar(i->type) || ty_is_complex(i->type)) /* complex values come as their parts */
    return lw_i64(lw, 0);
  LLVMValueRef v = lw_value(lw, i);
  if (ty_is_float(i->type))
    return l_bitcast(lw->b, lw_convert(lw, v, i->type, ty_scalar(lw->cx, TY_F64)), lw->t->i64);
  return l_int_cast(lw->b, v, lw->t->i64, ty_is_signed(i->type));
}

static void trap(Lower *lw, const IrSite *site, Ins *const *values, uint32_t n) {
  LLVMValueRef all[RT_TRAP_VALUES];
  if (n > RT_TRAP_VALUES)
    n = RT_TRAP_VALUES;
  for (uint32_t k = 0; k < n; k++)
    all[k] = trap_value(lw, values[k]);
  lw->target->trap(lw, site ? site->number : 0, all, n);
}

/* The branch weights keep the failing side off the hot path. */
void lw_stop_unless(Lower *lw, LLVMValueRef ok, const IrSite *site, Ins *const *values,
                    uint32_t n) {
  LLVMBasicBlockRef go = lw_block(lw, "ok"), stop = lw_block(lw, "stop");
  lw_branch_weights(lw, l_condbr(lw->b, ok, go, stop), 1u << 20, 1);
  lw_at(lw, stop);
  trap(lw, site, values, n);
  lw_at(lw, go);
}

void lw_check(Lower *lw, Ins *i) {
  if (lw_traps_on_raise(lw->cg))
    lw_stop_unless(lw, lw_value(lw, i->args[0]), i->aux.site, i->args + 1, i->nargs - 1);
}

/* The message names the index as the program wrote it: one that is still negative after wrapping
 * had the extent added to it. */
void lw_check_index(Lower *lw, Ins *i) {
  LLVMValueRef index = lw_value(lw, i->args[0]), extent = lw_value(lw, i->args[1]);
  LLVMBasicBlockRef go = lw_block(lw, "ok"), stop = lw_block(lw, "stop");
  /* as unsigned: a negative index is beyond every extent */
  LLVMValueRef ok = l_icmp(lw->b, LLVMIntULT, index, extent);
  lw_branch_weights(lw, l_condbr(lw->b, ok, go, stop), 1u << 20, 1);
  lw_at(lw, stop);
  LLVMValueRef given = index;
  Op op = i->args[0]->op;
  if (op == OP_WRAP_INDEX || op == OP_ADD) {
    LLVMValueRef negative = l_icmp(lw->b, LLVMIntSLT, index, lw_i64(lw, 0));
    given = l_select(lw->b, negative, l_sub(lw->b, index, extent), index);
  }
  LLVMValueRef values[] = {given, extent};
  lw->target->trap(lw, i->aux.site ? i->aux.site->number : 0, values, 2);
  lw_at(lw, go);
  lw_set(lw, i, index);
}

void lw_raise(Lower *lw, Ins *i) {
  note_end(lw, i);
  if (lw_traps_on_raise(lw->cg))
    trap(lw, i->aux.site, i->args, i->nargs);
  else
    lw->target->stop(lw);
}
