/* NVPTX keep places: what is computed in front of a branch is not moved behind it for nothing.
 *
 * LLVM's code generator sinks an operation towards its first use, block by block, and also to a
 * place that is reached in any case. Nothing is saved there:
 *
 *   x = load(p)                  # in front of seven loads, each behind a condition
 *   if a: y = load(q)            # LLVM loads x here, and ptxas, which moves no load over a branch,
 *   if b: z = load(r)            # or here: fewer loads in flight
 *   return x + y + z
 *
 * Of a selection or a sum whose operands are not used any more, the operands stay in registers
 * until there: the double-precision sine gives one of two numbers, by a third.
 *
 * What is made of one number that nothing else uses takes as many registers as that number. Where
 * LLVM has put it in a later block, it goes back to the number:
 *
 *   s = math.sin(x); t = math.sin(y)
 *   h = s * s + t                # s * s would stand among the operations of the second sine
 *
 * And of a store behind a condition that waits for a load, in a loop, the address is computed in
 * front of it:
 *
 *   for …:
 *     u = neighbours[e]
 *     if levels[u] < 0:          # while this load is under way
 *       fresh[u] = 1             # the address of this
 *
 * ptxas would write the operations under the condition, which takes as many instructions whether it
 * holds or not, and read the array's address and extent in each iteration.
 *
 * So do the addresses of a load or two behind a condition, where an index is wrapped, multiplied,
 * or one in a row: as ptxas makes predicates of them, each load would read its array's address and
 * extent for itself.
 *
 * Where the block in front of a condition waits for what it has loaded, addresses of loads in a
 * longer block behind it are computed meanwhile, if an index is wrapped there: each array then has
 * an index of its own, and so its address is read anew before the load can begin.
 *
 *   m = mass[node]               # while this load is under way
 *   if m != 0: x = cx[node]      # the address of this
 *
 * A comparison under which something is loaded, and by which something is chosen later, as in
 * masked iterations, is one predicate: the generator would compare once more in each block that
 * asks, and ptxas does not see that both are the same.
 *
 * So is one in front of a loop that asks it beside a comparison of the same kind, `r > guard or c >
 * guard`: the generator would make one of both, of the larger number, in each iteration.
 *
 * Of an argument beside a constant (are rows as short as the step between a warp's lanes?) it is
 * the other way round: a predicate, of which there are seven, would be held from one loop to the
 * next, and masked iterations in between would wait for it. Each branch compares for itself.
 *
 * And the size of a block, which decides behind a guard whether there is more than one iteration
 * (strided_unroll.c), is read in front of the guard: ptxas reads it where it is used first, and
 * nothing else would be under way then.
 *
 * An operand of empty inline assembly at the block's end, which the generator does not move, is
 * used in its block, and so stays in it.
 *
 * In: a module that only the code generator is still to see. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_OPERANDS = 16,
  MOST_LOADS = 2,  /* behind a condition, whose addresses are in front of it */
  MOST_AHEAD = 2,  /* … of any block, while the one in front of it waits */
  MOST_BEHIND = 8, /* operations behind a condition, of which ptxas makes no branch */
  MOST_ASKED = 16, /* comparisons of arguments that are looked at */
  MOST_SHARED = 7, /* predicate registers of a thread */
  SOME_SHARED = 4, /* where conditions around the block may be in predicates, too */
  FEW_SHARED = 3,  /* where the selections' block has comparisons of its own */
  MOST_IN_FRONT = 2
};

static unsigned bits_of(Cg *cg, LLVMValueRef v) {
  return (unsigned)LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(v));
}

/* Where the use is: of a phi's operand the end of the block that it comes from. */
static LLVMBasicBlockRef place_of(LLVMValueRef v, LLVMUseRef u) {
  LLVMValueRef user = LLVMGetUser(u);
  if (!LLVMIsAPHINode(user))
    return LLVMGetInstructionParent(user);
  LLVMBasicBlockRef at = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
    if (LLVMGetIncomingValue(user, k) == v) {
      if (at && at != LLVMGetIncomingBlock(user, k))
        return LLVMGetInstructionParent(v); /* several: it is not moved over them */
      at = LLVMGetIncomingBlock(user, k);
    }
  return at;
}

/* The block to which the generator may move it: the one that dominates all uses, or GRAPH_NONE. */
static uint32_t block_of_uses(const FnGraph *g, LLVMValueRef v, uint32_t own) {
  uint32_t at = GRAPH_NONE;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    uint32_t n = graph_number(g, place_of(v, u));
    if (n == GRAPH_NONE || n == own)
      return GRAPH_NONE;
    at = at == GRAPH_NONE ? n : at;
    while (!graph_dominates(g, at, n))
      at = g->nodes[at].idom;
  }
  return at == own ? GRAPH_NONE : at;
}

static bool post_dominates(const FnGraph *g, uint32_t a, uint32_t b) {
  while (b != GRAPH_NONE && b != a)
    b = g->nodes[b].ipdom;
  return b == a;
}

/* Is the operand of the operation, an instruction, used in no other block? */
static bool ends_here(LLVMValueRef v, LLVMValueRef i) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (place_of(v, u) != LLVMGetInstructionParent(i))
      return false;
  return true;
}

/* Would its operands take more registers than itself, further down? */
static bool shrinks(Cg *cg, LLVMValueRef i) {
  unsigned bits = 0;
  if (!cg_only_computes(i) || LLVMIsAGetElementPtrInst(i))
    return false;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    if (LLVMIsAInstruction(v) && ends_here(v, i) && (k == 0 || v != LLVMGetOperand(i, k - 1)))
      bits += bits_of(cg, v);
  }
  return bits > bits_of(cg, i);
}

/* The one float64 that the operation makes another of, beside constants, if nothing else uses it;
 * NULL: there is none. */
static LLVMValueRef sole_operand(Cg *cg, LLVMValueRef i) {
  LLVMValueRef of = NULL;
  if (LLVMTypeOf(i) != cg->t.f64 || !cg_only_computes(i) || LLVMIsAPHINode(i) || LLVMIsACallInst(i))
    return NULL;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    if (LLVMIsAConstant(v) || v == of)
      continue;
    if (of || !LLVMIsAInstruction(v) || LLVMTypeOf(v) != cg->t.f64)
      return NULL;
    of = v;
  }
  for (LLVMUseRef u = of ? LLVMGetFirstUse(of) : NULL; u; u = LLVMGetNextUse(u))
    if (LLVMGetUser(u) != i)
      return NULL;
  return of;
}

/* Moves what is made of one value that ends there to that value, which would wait for it in as many
 * registers. */
static void move_to_operands(Cg *cg, FnGraph *g, uint32_t own) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[own].block), next;
       i && i != g->nodes[own].last; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef v = sole_operand(cg, i);
    uint32_t at = v ? graph_number(g, LLVMGetInstructionParent(v)) : own;
    if (at == own || at == GRAPH_NONE || g->nodes[at].loop != g->nodes[own].loop ||
        !post_dominates(g, own, at))
      continue;
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(cg->builder, LLVMIsAPHINode(v) ? graph_behind_phis(g->nodes[at].block)
                                                             : LLVMGetNextInstruction(v));
    l_insert(cg->builder, i);
  }
}

static bool is_kept(Cg *cg, const FnGraph *g, uint32_t own, LLVMValueRef i) {
  if (!cg_nvptx_letter_of(cg, i) || LLVMIsAPHINode(i) ||
      !(LLVMIsALoadInst(i) ? cg_is_plain_access(i) : shrinks(cg, i) || sole_operand(cg, i)))
    return false;
  uint32_t at = block_of_uses(g, i, own);
  return at != GRAPH_NONE && g->nodes[at].loop == g->nodes[own].loop && post_dominates(g, at, own);
}

static void keep(Cg *cg, LLVMValueRef end, LLVMValueRef *values, unsigned n) {
  char constraints[2 * MOST_OPERANDS] = "";
  LLVMTypeRef types[MOST_OPERANDS];
  for (unsigned k = 0; k < n; k++) {
    types[k] = LLVMTypeOf(values[k]);
    constraints[2 * k] = cg_nvptx_letter_of(cg, values[k]);
    constraints[2 * k + 1] = k + 1 < n ? ',' : 0;
  }
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, types, n, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, "", 0, constraints, 2 * n - 1, true, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMPositionBuilderBefore(cg->builder, end);
  l_call_type(cg->builder, type, text, values, n);
}

/* --- stores behind a condition --- */

static bool is_elsewhere(void *block, LLVMValueRef i) {
  return LLVMGetInstructionParent(i) != (LLVMBasicBlockRef)block;
}

/* Is v known in front of the block, or can be? */
static bool is_ready(LLVMValueRef v, LLVMBasicBlockRef block) {
  return cg_is_ready(&(Spot){.has = is_elsewhere, .user = block}, v);
}

static void move_before(Cg *cg, LLVMValueRef v, LLVMBasicBlockRef block, LLVMValueRef end) {
  if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != block)
    return;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    move_before(cg, LLVMGetOperand(v, k), block, end);
  LLVMInstructionRemoveFromParent(v);
  LLVMPositionBuilderBefore(cg->builder, end);
  l_insert(cg->builder, v);
}

/* Is it a few operations of the same loop behind a condition alone, which waits for a load? */
static bool is_behind(const FnGraph *g, uint32_t k, uint32_t own) {
  const GraphNode *node = &g->nodes[k], *before = &g->nodes[own];
  Fork fork;
  if (before->loop == GRAPH_NONE || node->loop != before->loop || node->nsucc != 1 ||
      node->npred != 1 || !graph_fork(before->last, &fork) || fork.yes == fork.no ||
      !cg_is_of_load(fork.condition, before->block))
    return false;
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i != node->last && n <= MOST_BEHIND;
       i = LLVMGetNextInstruction(i))
    n++;
  return n <= MOST_BEHIND;
}

/* Moves the addresses of its stores in front of the condition; how many there are. */
static unsigned take_addresses(Cg *cg, const FnGraph *g, uint32_t k, uint32_t own,
                               LLVMValueRef *values, unsigned n) {
  const GraphNode *node = &g->nodes[k];
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i != node->last && n < MOST_OPERANDS;
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef p = LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1) : NULL;
    if (!p || !LLVMIsAInstruction(p) || LLVMGetInstructionParent(p) != node->block ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(p)) != NVPTX_GLOBAL || !is_ready(p, node->block))
      continue;
    move_before(cg, p, node->block, g->nodes[own].last);
    values[n++] = p;
  }
  return n;
}

/* --- loads behind a condition --- */

/* Is it the sum of a place and a product, as of a row and its length? ptxas multiplies where the
 * sum is, wherever the product was computed. */
static bool is_in_row(LLVMValueRef i) {
  return cg_is_op(i, LLVMAdd) &&
         (cg_is_op(LLVMGetOperand(i, 0), LLVMMul) || cg_is_op(LLVMGetOperand(i, 1), LLVMMul));
}

/* The loads of a few operations of the same loop behind a condition alone, one or two, if an index
 * is wrapped or multiplied there, or is one in a row; how many. */
static unsigned loads_behind(const FnGraph *g, uint32_t k, uint32_t own, LLVMValueRef *loads) {
  const GraphNode *node = &g->nodes[k], *before = &g->nodes[own];
  unsigned n = 0, found = 0;
  bool wraps = false;
  if (before->loop == GRAPH_NONE || node->loop != before->loop || node->nsucc != 1 ||
      node->npred != 1)
    return 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i != node->last;
       i = LLVMGetNextInstruction(i), n++) {
    if (LLVMIsALoadInst(i) && found == MOST_LOADS)
      return 0;
    if (LLVMIsALoadInst(i))
      loads[found++] = i;
    wraps |= is_in_row(i) || cg_is_op(i, LLVMMul) || cg_is_call_of_any(i, "llvm.umin.");
  }
  return n <= (found > 1 ? 2 * MOST_BEHIND : MOST_BEHIND) && wraps ? found : 0;
}

/* Is it a constant away from an address that is known in front of the block? */
static bool is_near_address(LLVMValueRef p) {
  return LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
         LLVMIsAConstantInt(LLVMGetOperand(p, 1)) && LLVMIsAInstruction(LLVMGetOperand(p, 0)) &&
         LLVMGetInstructionParent(LLVMGetOperand(p, 0)) != LLVMGetInstructionParent(p);
}

static unsigned take_addresses_of_loads(Cg *cg, const FnGraph *g, uint32_t k, uint32_t own,
                                        LLVMValueRef *values, unsigned n) {
  LLVMValueRef loads[MOST_LOADS];
  LLVMBasicBlockRef block = g->nodes[k].block;
  unsigned found = loads_behind(g, k, own, loads);
  for (unsigned l = 0; l < found && n < MOST_OPERANDS; l++) {
    LLVMValueRef p = LLVMGetOperand(loads[l], 0);
    if (!LLVMIsAInstruction(p) || LLVMGetInstructionParent(p) != block ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(p)) != NVPTX_GLOBAL || is_near_address(p) ||
        !is_ready(p, block))
      continue;
    move_before(cg, p, block, g->nodes[own].last);
    values[n++] = p;
  }
  return n;
}

/* --- loads behind a condition whose block waits --- */

static bool is_global_load(LLVMValueRef i) {
  return LLVMIsALoadInst(i) &&
         LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == NVPTX_GLOBAL;
}

/* The first operation of the block that uses what the block has loaded; NULL: none does. */
static LLVMValueRef first_wait(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    for (unsigned k = 0; !LLVMIsAPHINode(i) && k < (unsigned)LLVMGetNumOperands(i); k++) {
      LLVMValueRef v = LLVMGetOperand(i, k);
      if (is_global_load(v) && LLVMGetInstructionParent(v) == block)
        return i;
    }
  return NULL;
}

/* Is v, of the block, made of what is known where `wait` begins, and is an index wrapped for it? */
static bool is_wrapped(LLVMValueRef v, LLVMBasicBlockRef block, LLVMValueRef wait, bool *wraps) {
  if (!LLVMIsAInstruction(v))
    return true;
  if (LLVMGetInstructionParent(v) != block) {
    LLVMBasicBlockRef before = LLVMGetInstructionParent(wait);
    LLVMValueRef i = v;
    while (i && i != wait && LLVMGetInstructionParent(v) == before)
      i = LLVMGetNextInstruction(i);
    return LLVMGetInstructionParent(v) != before || (i == wait && v != wait && !is_global_load(v));
  }
  *wraps |= cg_is_call_of_any(v, "llvm.umin.");
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    if (!is_wrapped(LLVMGetOperand(v, k), block, wait, wraps))
      return false;
  return true;
}

static unsigned take_addresses_ahead(Cg *cg, const FnGraph *g, uint32_t k, uint32_t own,
                                     LLVMValueRef *values, unsigned n) {
  const GraphNode *node = &g->nodes[k], *before = &g->nodes[own];
  unsigned most = n + MOST_AHEAD < MOST_OPERANDS ? n + MOST_AHEAD : MOST_OPERANDS;
  if (before->loop == GRAPH_NONE || node->loop != before->loop || node->npred != 1)
    return n;
  LLVMValueRef wait = first_wait(before->block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); wait && i && n < most;
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef p = is_global_load(i) ? LLVMGetOperand(i, 0) : NULL;
    bool wraps = false;
    if (!p || !LLVMIsAInstruction(p) || LLVMGetInstructionParent(p) != node->block ||
        !is_ready(p, node->block) || !is_wrapped(p, node->block, wait, &wraps) || !wraps)
      continue;
    move_before(cg, p, node->block, wait);
    values[n++] = p;
  }
  return n;
}

/* --- sizes behind a guard --- */

/* The register, the same in all threads of a launch, that the block's branch compares at once;
 * else NULL. */
static LLVMValueRef size_asked(const GraphNode *node) {
  Fork fork;
  if (!graph_fork(node->last, &fork) || !cg_is_op(fork.condition, LLVMICmp))
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef v = LLVMGetOperand(fork.condition, k);
    SpecialReg r = LLVMIsAIntrinsicInst(v) ? cg_nvptx_register_of(v) : SREG_NONE;
    if (r != SREG_NONE && ir_registers[r].of == SCOPE_LAUNCH)
      return v;
  }
  return NULL;
}

/* That of a block behind a guard outside of loops, if it is known in front of it. */
static bool keeps_size(const FnGraph *g, uint32_t k, uint32_t own, LLVMValueRef *size) {
  const GraphNode *node = &g->nodes[k];
  if (node->npred != 1 || g->nodes[own].loop != GRAPH_NONE || node->loop != GRAPH_NONE)
    return false;
  *size = size_asked(node);
  uint32_t at = *size ? graph_number(g, LLVMGetInstructionParent(*size)) : GRAPH_NONE;
  return at != GRAPH_NONE && at != k && graph_dominates(g, at, own);
}

/* --- comparisons that several blocks ask --- */

/* Is it a branch over a block that loads? */
static bool is_over_load(const FnGraph *g, LLVMValueRef branch) {
  Fork fork;
  if (!graph_fork(branch, &fork))
    return false;
  LLVMBasicBlockRef to[] = {fork.yes, fork.no};
  for (unsigned k = 0; k < 2; k++) {
    uint32_t at = graph_number(g, to[k]);
    if (at == GRAPH_NONE || g->nodes[at].npred != 1 || g->nodes[at].nsucc != 1)
      continue;
    for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[at].block); i != g->nodes[at].last;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsALoadInst(i))
        return true;
  }
  return false;
}

/* Is it asked by a branch over a load, and by a selection in another block of the same loop? */
static bool is_asked_twice(const FnGraph *g, LLVMValueRef compare, uint32_t own) {
  bool branch = false, selection = false;
  for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    uint32_t at = graph_number(g, LLVMGetInstructionParent(by));
    bool selects = cg_is_op(by, LLVMSelect) || LLVMIsACallInst(by); /* or predicated.c's assembly */
    if (at == GRAPH_NONE || g->nodes[at].loop != g->nodes[own].loop ||
        (!selects && !is_over_load(g, by)))
      return false;
    branch |= !selects;
    selection |= selects && at != own;
  }
  return branch && selection;
}

/* A comparison by whose predicate something is chosen? */
static bool is_choice(LLVMValueRef i) {
  bool chooses = false;
  if (cg_is_op(i, LLVMFCmp) || cg_is_op(i, LLVMICmp))
    for (LLVMUseRef u = LLVMGetFirstUse(i); u && !chooses; u = LLVMGetNextUse(u))
      chooses = cg_is_op(LLVMGetUser(u), LLVMSelect);
  return chooses;
}

/* How many comparisons may be kept, if they are asked as this one is: behind them others need
 * predicates, of float64 two each, and loads would wait for these. */
static unsigned most_shared(Cg *cg, LLVMValueRef compare) {
  unsigned most = MOST_SHARED;
  for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u)) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(LLVMGetUser(u));
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
      if (block == LLVMGetInstructionParent(compare) || !is_choice(i))
        continue;
      if (LLVMTypeOf(LLVMGetOperand(i, 0)) == cg->t.f64)
        return 0;
      most = FEW_SHARED;
    }
  }
  return most;
}

/* The generator sees a predicate, and not what was compared. */
static void hide(Cg *cg, LLVMValueRef compare) {
  LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(compare));
  LLVMValueRef same = cg_nvptx_hidden(cg, LLVMGetUndef(cg->t.i1));
  LLVMReplaceAllUsesWith(compare, same);
  LLVMSetOperand(same, 0, compare);
}

static void share_comparisons(Cg *cg, const FnGraph *g, uint32_t k) {
  LLVMValueRef shared[MOST_SHARED];
  uint32_t loop = g->nodes[k].loop;
  bool alone = g->nodes[k].depth == 1 && g->loops.data[loop].header == k;
  unsigned n = 0, most = alone ? MOST_SHARED : SOME_SHARED;
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[k].block); i && n < most;
       i = LLVMGetNextInstruction(i))
    if (cg_is_op(i, LLVMICmp) && is_asked_twice(g, i, k)) {
      unsigned now = most_shared(cg, i);
      most = now < most ? now : most;
      shared[n++] = i;
    }
  for (unsigned j = 0; j < n && j < most; j++)
    hide(cg, shared[j]);
}

/* --- comparisons in front of a loop --- */

/* Does a loop behind it ask it beside a comparison of the same kind? */
static bool is_asked_in_loop(const FnGraph *g, LLVMValueRef compare) {
  for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    uint32_t at = graph_number(g, LLVMGetInstructionParent(by));
    uint32_t loop = at == GRAPH_NONE ? GRAPH_NONE : g->nodes[at].loop;
    if (loop == GRAPH_NONE || graph_in_loop(g, loop, compare) ||
        (!cg_is_both(by) && !cg_is_either(by)))
      continue;
    LLVMValueRef second = cg_second_condition(by);
    LLVMValueRef other = second == compare ? LLVMGetOperand(by, 0) : second;
    if (cg_is_op(other, LLVMICmp) && graph_in_loop(g, loop, other) &&
        LLVMGetICmpPredicate(other) == LLVMGetICmpPredicate(compare))
      return true;
  }
  return false;
}

/* The generator would compare the larger of the two numbers in each iteration. */
static void keep_in_front(Cg *cg, const FnGraph *g, uint32_t k) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[k].block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    bool is = cg_is_op(i, LLVMICmp) && LLVMTypeOf(i) == cg->t.i1;
    if (n < MOST_IN_FRONT && is && is_asked_in_loop(g, i)) {
      hide(cg, i);
      n++;
    }
  }
}

/* --- comparisons that are asked far apart --- */

/* Does the block's branch compare an argument with a constant? */
static LLVMValueRef argument_asked(const GraphNode *node) {
  Fork fork;
  if (!graph_fork(node->last, &fork) || !cg_is_op(fork.condition, LLVMICmp))
    return NULL;
  LLVMValueRef x = LLVMGetOperand(fork.condition, 0), n = LLVMGetOperand(fork.condition, 1);
  bool asked = cg_is_kernel_argument(x) && cg_int_width(x) == 32 && LLVMIsAConstantInt(n);
  return asked ? fork.condition : NULL;
}

static bool is_same(LLVMValueRef a, LLVMValueRef b) {
  return LLVMGetICmpPredicate(a) == LLVMGetICmpPredicate(b) &&
         LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0) &&
         LLVMGetOperand(a, 1) == LLVMGetOperand(b, 1);
}

/* A comparison that a block has asked before: once more. */
static void ask_anew(Cg *cg, const FnGraph *g) {
  LLVMValueRef asked[MOST_ASKED];
  unsigned n = 0;
  for (uint32_t k = 0; k < g->len; k++) {
    LLVMValueRef compare = argument_asked(&g->nodes[k]);
    unsigned before = 0;
    while (compare && before < n && !is_same(asked[before], compare))
      before++;
    if (!compare || before == MOST_ASKED)
      continue;
    if (before == n) {
      asked[n++] = compare;
      continue;
    }
    LLVMPositionBuilderBefore(cg->builder, g->nodes[k].last);
    LLVMValueRef of[] = {cg_nvptx_hidden(cg, LLVMGetOperand(compare, 0)),
                         LLVMGetOperand(compare, 1)};
    LLVMSetCondition(g->nodes[k].last, copy_ins(cg->builder, compare, of));
  }
}

static void visit_node(Cg *cg, const FnGraph *g, uint32_t k) {
  const GraphNode *node = &g->nodes[k];
  LLVMValueRef values[MOST_OPERANDS];
  unsigned n = 0;
  share_comparisons(cg, g, k);
  keep_in_front(cg, g, k);
  if (node->nsucc < 2)
    return;
  for (unsigned s = 0; s < node->nsucc; s++)
    if (is_behind(g, node->succ[s], k))
      n = take_addresses(cg, g, node->succ[s], k, values, n);
  for (unsigned s = 0; s < node->nsucc && n < MOST_OPERANDS; s++)
    n = take_addresses_of_loads(cg, g, node->succ[s], k, values, n);
  for (unsigned s = 0; s < node->nsucc && n < MOST_OPERANDS; s++)
    n = take_addresses_ahead(cg, g, node->succ[s], k, values, n);
  for (unsigned s = 0; s < node->nsucc && n < MOST_OPERANDS; s++)
    n += keeps_size(g, node->succ[s], k, &values[n]);
  for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i != node->last && n < MOST_OPERANDS;
       i = LLVMGetNextInstruction(i))
    if (is_kept(cg, g, k, i))
      values[n++] = i;
  if (n)
    keep(cg, node->last, values, n);
}

/* The code generator would sink loads behind stores to other arrays, too (apart.c). */
static void forget_apart(LLVMValueRef f) {
  unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
  for (unsigned k = 0; k < LLVMCountParams(f); k++)
    LLVMRemoveEnumAttributeAtIndex(f, k + 1, noalias);
}

void cg_nvptx_keep_places(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    forget_apart(f);
    if (LLVMIsDeclaration(f) || LLVMCountBasicBlocks(f) < 3)
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    graph_post_dominators(&g);
    for (uint32_t k = 0; k < g.len; k++)
      move_to_operands(cg, &g, k);
    for (uint32_t k = 0; k < g.len; k++)
      visit_node(cg, &g, k);
    ask_anew(cg, &g);
  }
}
