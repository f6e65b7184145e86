/* Host wrapped indices: bounds checks of indices that may count from the end, in code that runs
 * thread by thread.
 *
 * Lowering checks such an index by `(x < 0 ? x + n : x) < n`, without a branch, which suits lanes
 * and GPUs. For a single thread that can be more work than the rest of a loop, and hardly any index
 * is negative. Here x is compared with n first (unsigned), and only if that fails it is wrapped and
 * compared again. n is an extent, so it is not negative.
 *
 * Where one index goes into several arrays (`x[j]`, `y[j]`, `z[j]`), it is compared with the least
 * of their extents, which is the same in all of a loop. Only if that fails each is asked.
 *
 * In: a function in which checks branch to blocks that end in traps. Out: the same, with those
 * checks in two steps. Checks of another form, and those whose index the same block uses otherwise,
 * stay. */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/llvm/graph.h"

typedef HostCheck Wrap;

/* Of an index that was read from memory as a narrow one, LLVM asks the narrow one: its sign is that
 * of its extension. */
static bool is_negative_of(LLVMValueRef v, LLVMValueRef x) {
  if (!LLVMIsAICmpInst(v) || LLVMGetICmpPredicate(v) != LLVMIntSLT ||
      !LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || !LLVMIsNull(LLVMGetOperand(v, 1)))
    return false;
  LLVMValueRef asked = LLVMGetOperand(v, 0);
  return asked == x || (LLVMIsASExtInst(x) && LLVMGetOperand(x, 0) == asked);
}

static bool is_constant(LLVMValueRef v, int64_t *n) {
  if (!LLVMIsAConstantInt(v))
    return false;
  *n = LLVMConstIntGetSExtValue(v);
  return true;
}

/* v = *of + *by, by a constant; 0 if it is no such sum */
static void as_sum(LLVMValueRef v, LLVMValueRef *of, int64_t *by) {
  *of = v, *by = 0;
  if (LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMAdd &&
      is_constant(LLVMGetOperand(v, 1), by))
    *of = LLVMGetOperand(v, 0);
}

/* x + n, of which LLVM makes y + (c + n) where x is y + c */
static bool is_sum_of(LLVMValueRef v, LLVMValueRef x, LLVMValueRef n) {
  LLVMValueRef of_v, of_x;
  int64_t by_v, by_x, by;
  as_sum(v, &of_v, &by_v);
  as_sum(x, &of_x, &by_x);
  return is_constant(n, &by) && ((of_v == x && by_v == by) ||
                                 (of_v == of_x && (uint64_t)by_v == (uint64_t)by_x + (uint64_t)by));
}

/* x < 0 ? n : 0, for which LLVM takes the sign's bit where n is a power of two */
static bool is_n_if_negative(LLVMValueRef v, LLVMValueRef x, LLVMValueRef n) {
  int64_t by, mask, zero;
  if (LLVMIsASelectInst(v))
    return is_negative_of(LLVMGetOperand(v, 0), x) && LLVMGetOperand(v, 1) == n &&
           is_constant(LLVMGetOperand(v, 2), &zero) && !zero;
  if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAnd ||
      LLVMGetOperand(v, 1) != n || !is_constant(n, &mask) || mask <= 0 || (mask & (mask - 1)))
    return false;
  LLVMValueRef shift = LLVMGetOperand(v, 0);
  int64_t sign = LLVMGetIntTypeWidth(LLVMTypeOf(x)) - 1;
  return LLVMIsABinaryOperator(shift) && LLVMGetInstructionOpcode(shift) == LLVMLShr &&
         LLVMGetOperand(shift, 0) == x && is_constant(LLVMGetOperand(shift, 1), &by) &&
         by == sign - __builtin_ctzll((uint64_t)mask);
}

/* index = x + (x < 0 ? n : 0), or x < 0 ? x + n : x */
static bool is_wrapped(Wrap *w) {
  if (LLVMIsASelectInst(w->index)) {
    w->x = LLVMGetOperand(w->index, 2);
    return is_negative_of(LLVMGetOperand(w->index, 0), w->x) &&
           is_sum_of(LLVMGetOperand(w->index, 1), w->x, w->n);
  }
  if (!LLVMIsABinaryOperator(w->index) || LLVMGetInstructionOpcode(w->index) != LLVMAdd)
    return false;
  for (unsigned k = 0; k < 2; k++) {
    w->x = LLVMGetOperand(w->index, k);
    if (is_n_if_negative(LLVMGetOperand(w->index, 1 - k), w->x, w->n))
      return true;
  }
  return false;
}

/* Never negative: the zero extension of an extent, or the extent of a local or shared array. */
static bool is_extent(LLVMValueRef n) {
  return LLVMIsAZExtInst(n) || (LLVMIsAConstantInt(n) && LLVMConstIntGetSExtValue(n) >= 0);
}

/* Is the index used only by its test, and after the block? */
static bool is_used_after(const Wrap *w) {
  for (LLVMUseRef u = LLVMGetFirstUse(w->index); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (user != w->test && LLVMGetInstructionParent(user) == w->block && !LLVMIsAPHINode(user))
      return false;
    if (LLVMIsAPHINode(user) && LLVMGetInstructionParent(user) != w->stop)
      return false;
  }
  return true;
}

bool cg_host_find_check(LLVMBasicBlockRef block, HostCheck *w) {
  Fork fork;
  if (!graph_fork(LLVMGetBasicBlockTerminator(block), &fork))
    return false;
  *w = (HostCheck){.block = block, .ok = fork.yes, .stop = fork.no, .test = fork.condition};
  if (!LLVMIsAICmpInst(w->test) || LLVMGetICmpPredicate(w->test) != LLVMIntULT ||
      LLVMGetInstructionParent(w->test) != block ||
      !LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(w->stop)))
    return false;
  w->index = LLVMGetOperand(w->test, 0), w->n = LLVMGetOperand(w->test, 1);
  if (!is_wrapped(w))
    w->x = w->index;
  return is_extent(w->n);
}

static bool find_wrap(LLVMBasicBlockRef block, Wrap *w) {
  return cg_host_find_check(block, w) && w->index != w->x &&
         LLVMGetInstructionParent(w->index) == block && graph_before(w->ok) &&
         graph_before(w->stop) && !LLVMIsAPHINode(LLVMGetFirstInstruction(w->ok)) &&
         is_used_after(w);
}

/* Gives the phis of the trap's block another predecessor, and the index computed there. */
static void move_phis(Cg *cg, const Wrap *w, LLVMBasicBlockRef from, LLVMValueRef index) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(w->stop), next; LLVMIsAPHINode(phi); phi = next) {
    next = LLVMGetNextInstruction(phi);
    LLVMValueRef v = LLVMGetIncomingValue(phi, 0);
    if (v == w->index)
      v = index;
    LLVMPositionBuilderBefore(cg->builder, phi);
    LLVMValueRef now = l_phi(cg->builder, LLVMTypeOf(phi));
    LLVMAddIncoming(now, &v, &from, 1);
    LLVMReplaceAllUsesWith(phi, now);
    LLVMInstructionEraseFromParent(phi);
  }
}

/* A user of the index other than its test; NULL if there is none. */
static LLVMValueRef other_user(const Wrap *w) {
  for (LLVMUseRef u = LLVMGetFirstUse(w->index); u; u = LLVMGetNextUse(u))
    if (LLVMGetUser(u) != w->test)
      return LLVMGetUser(u);
  return NULL;
}

static void replace_uses(const Wrap *w, LLVMValueRef index, LLVMValueRef in_stop) {
  for (LLVMValueRef user; (user = other_user(w));) {
    bool stops = LLVMGetInstructionParent(user) == w->stop;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
      if (LLVMGetOperand(user, k) == w->index)
        LLVMSetOperand(user, k, stops ? in_stop : index);
  }
}

/* A check in two steps. */
typedef struct Split {
  Wrap w;
  LLVMBasicBlockRef wrap, fine; /* where the index is wrapped; where it is in range */
  bool follows;                 /* it is right behind another one, of the same index */
} Split;

static Split split(Cg *cg, LLVMValueRef f, const Wrap *w) {
  LLVMBuilderRef b = cg->builder;
  assert(w->x && w->n && LLVMTypeOf(w->x) == LLVMTypeOf(w->n));
  LLVMBasicBlockRef wrap = LLVMAppendBasicBlockInContext(cg->context, f, "wraps"),
                    fine = LLVMAppendBasicBlockInContext(cg->context, f, "ok");
  LLVMValueRef end = LLVMGetBasicBlockTerminator(w->block), zero = LLVMConstNull(LLVMTypeOf(w->x));
  LLVMPositionBuilderAtEnd(b, wrap);
  LLVMValueRef below = l_icmp(b, LLVMIntSLT, w->x, zero);
  LLVMValueRef index = l_add(b, w->x, l_select(b, below, w->n, zero));
  l_condbr(b, l_icmp(b, LLVMIntULT, index, w->n), fine, w->stop);
  move_phis(cg, w, wrap, index);
  LLVMPositionBuilderAtEnd(b, fine);
  LLVMValueRef phi = l_phi(b, LLVMTypeOf(w->x)), values[] = {w->x, index};
  LLVMAddIncoming(phi, values, (LLVMBasicBlockRef[]){w->block, wrap}, 2);
  l_br(b, w->ok);
  replace_uses(w, phi, index);
  LLVMPositionBuilderBefore(b, end);
  LLVMSetCondition(end, l_icmp(b, LLVMIntULT, w->x, w->n));
  LLVMSetSuccessor(end, 0, fine);
  LLVMSetSuccessor(end, 1, wrap);
  return (Split){.w = *w, .wrap = wrap, .fine = fine};
}

/* Is it known wherever the function has a branch behind it? */
static bool is_known_first(LLVMValueRef f, LLVMValueRef n) {
  return LLVMIsAConstant(n) ||
         (LLVMIsAInstruction(n) && LLVMGetInstructionParent(n) == LLVMGetEntryBasicBlock(f));
}

/* The first check asks for both: of an index that is in range without wrapping the second one is
 * known to hold, of another it is computed. */
static void join(Cg *cg, const Split *first, const Split *second) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = first->w.x, end = LLVMGetBasicBlockTerminator(first->w.block),
               asked = LLVMGetCondition(end), n[] = {LLVMGetOperand(asked, 1), second->w.n};
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMPositionBuilderBefore(b, end);
  LLVMValueRef least = l_call(b, cg_intrinsic_fn(cg, "llvm.umin", &t, 1), n, 2);
  LLVMSetCondition(end, l_icmp(b, LLVMIntULT, x, least));
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(first->wrap));
  LLVMValueRef holds[] = {l_int(cg->t.i1, 1), l_icmp(b, LLVMIntULT, x, second->w.n)};
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(first->fine));
  LLVMValueRef phi = l_phi(b, cg->t.i1);
  LLVMAddIncoming(phi, holds, (LLVMBasicBlockRef[]){first->w.block, first->wrap}, 2);
  LLVMSetCondition(LLVMGetBasicBlockTerminator(second->w.block), phi);
}

/* The check of the same index right behind this one; NULL if there is none. */
static Split *next_of(Split *all, uint32_t n, const Split *of) {
  for (uint32_t k = 0; k < n; k++)
    if (all[k].w.block == of->w.ok && all[k].w.x == of->w.x)
      return &all[k];
  return NULL;
}

/* From each check with none in front of it: the first of a run asks for those that follow. */
static void join_runs(Cg *cg, LLVMValueRef f, Split *all, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    Split *next = next_of(all, n, &all[k]);
    if (next)
      next->follows = true;
  }
  for (uint32_t k = 0; k < n; k++) {
    const Split *first = &all[k];
    for (Split *now = all[k].follows ? NULL : next_of(all, n, first); now;
         now = next_of(all, n, now))
      if (first->w.block != LLVMGetEntryBasicBlock(f) && is_known_first(f, now->w.n))
        join(cg, first, now);
      else
        first = now;
  }
}

void cg_host_split_wraps(Cg *cg, LLVMValueRef f) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  VEC(Split) all = {0};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f), last = LLVMGetLastBasicBlock(f); b;
       b = b == last ? NULL : LLVMGetNextBasicBlock(b)) {
    Wrap w;
    if (find_wrap(b, &w))
      VEC_PUSH(&cg->cx->arena, &all, split(cg, f, &w));
  }
  join_runs(cg, f, all.data, all.len);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
