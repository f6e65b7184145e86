/* NVPTX next addresses: what the next iteration loads, addressed in front of the loop's branch.
 *
 * A search along indices that were read waits for each of them twice: its branch does, and then the
 * next load's address, which is computed behind the branch.
 *
 *   while parent[x] != x:         # v = load(p); if v != x: again, with
 *     x = parent[x]               #   p = address(v), of a wrap and a product
 *
 * Here the loop carries the address. It is computed for v while the comparison and the branch are
 * under way, as nothing of it can fail, and is unused behind the last iteration:
 *
 *   p = address(x)
 *   do v = load(p), p' = address(v), … while v != x
 *
 * The first address is computed in a block of its own in front of the loop. Without it two loops
 * may begin in one block, as where the search is the first statement of another loop's body: ptxas
 * then reads the array's address and extent, which are parameters, in each step of the search.
 *
 * A loop of one block that goes from place to place waits for a load, too, though nothing of the
 * next address does: while x < edges[b]: b -= 1.
 *
 * In: a module that only the code generator and passes for it are still to see. Loops take part
 * whose branch back waits for a load, with loads from global or shared memory at addresses that are
 * made in the loop's first block, by a few operations, of what the iteration before has loaded, or,
 * in a loop of one block, of a number that moves by a constant. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_ADDRESSES = 2,  /* of a loop, since each takes two registers */
  MOST_OPERATIONS = 6, /* of an address */
  MOST_OPERANDS = 8
};

/* Where a loop begins, and the block from which it goes on. */
typedef struct Search {
  LLVMBasicBlockRef header, latch;
} Search;

static bool is_in(LLVMValueRef v, LLVMBasicBlockRef block) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == block;
}

/* --- addresses --- */

/* The operations of the header that v is made of. */
typedef struct Chain {
  LLVMValueRef operations[MOST_OPERATIONS]; /* operands first */
  unsigned n;
  bool follows; /* from what the iteration before has loaded */
} Chain;

static unsigned place_in(const Chain *c, LLVMValueRef v) {
  unsigned k = 0;
  while (k < c->n && c->operations[k] != v)
    k++;
  return k;
}

/* Does the loop, of one block, go from one place to a neighbour: while edges[k] > x: k -= 1? */
static bool is_walk(const Search *s, LLVMValueRef phi, LLVMValueRef next) {
  return s->header == s->latch && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == phi &&
         LLVMIsAConstantInt(LLVMGetOperand(next, 1));
}

static bool read_chain(const Search *s, Chain *c, LLVMValueRef v, unsigned depth) {
  if (!is_in(v, s->header) || place_in(c, v) < c->n)
    return true;
  if (LLVMIsAPHINode(v)) {
    LLVMValueRef next = graph_incoming(v, s->latch);
    c->follows |= cg_is_of_load(next, NULL) || is_walk(s, v, next);
    return true;
  }
  unsigned operands = (unsigned)LLVMGetNumOperands(v);
  if (depth == MOST_OPERATIONS || operands > MOST_OPERANDS || !cg_is_speculatable(v))
    return false;
  for (unsigned k = 0; k < operands; k++)
    if (!read_chain(s, c, LLVMGetOperand(v, k), depth + 1))
      return false;
  if (c->n == MOST_OPERATIONS)
    return false;
  c->operations[c->n++] = v;
  return true;
}

static bool is_address(const Search *s, LLVMValueRef i, Chain *c) {
  LLVMValueRef p = LLVMIsALoadInst(i) && cg_is_plain_access(i) ? LLVMGetOperand(i, 0) : NULL;
  *c = (Chain){0};
  unsigned space = p ? LLVMGetPointerAddressSpace(LLVMTypeOf(p)) : 0;
  return (space == NVPTX_GLOBAL || space == NVPTX_SHARED) && is_in(p, s->header) &&
         !LLVMIsAPHINode(p) && read_chain(s, c, p, 0) && c->follows;
}

/* v, by another name: extended anew in front of the loop, where the generator would take the halves
 * of an extension that it finds there, and copy one of them in each step. */
static LLVMValueRef named(Cg *cg, LLVMValueRef v, bool anew) {
  return anew && LLVMIsAInstruction(v) ? l_freeze(cg->builder, v) : v;
}

/* What the chain's operations are at the end of a block from which the header is reached. */
static void copy_to(Cg *cg, const Search *s, const Chain *c, LLVMBasicBlockRef from,
                    LLVMValueRef *copies) {
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(from));
  for (unsigned k = 0; k < c->n; k++) {
    LLVMValueRef i = c->operations[k], operands[MOST_OPERANDS] = {0};
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(i); o++) {
      LLVMValueRef v = LLVMGetOperand(i, o);
      unsigned place = place_in(c, v);
      if (place < c->n)
        operands[o] = copies[place];
      else if (is_in(v, s->header) && LLVMIsAPHINode(v))
        operands[o] = named(cg, graph_incoming(v, from), from != s->latch);
    }
    copies[k] = copy_ins(cg->builder, i, operands);
  }
}

/* Is it a user in the loop, and no operation of the chain? Behind a loop of one block these are as
 * they were: the generator moves them there, where what the loop would keep takes copies in each
 * step. */
static bool reads(const Search *s, const Chain *c, LLVMValueRef user) {
  return place_in(c, user) == c->n && (s->header != s->latch || is_in(user, s->header));
}

static void replace(const Search *s, const Chain *c, LLVMValueRef was, LLVMValueRef now) {
  for (LLVMUseRef u = LLVMGetFirstUse(was); u;) {
    LLVMValueRef user = LLVMGetUser(u);
    if (!reads(s, c, user)) {
      u = LLVMGetNextUse(u);
      continue;
    }
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
      if (LLVMGetOperand(user, k) == was)
        LLVMSetOperand(user, k, now);
    u = LLVMGetFirstUse(was); /* a user of two operands had more than this use */
  }
}

/* The loop carries the address, and what else it reads of its operations. */
static void carry(Cg *cg, const Search *s, Chain *c, LLVMBasicBlockRef front) {
  LLVMValueRef first[MOST_OPERATIONS], next[MOST_OPERATIONS];
  LLVMBasicBlockRef from[] = {front, s->latch};
  copy_to(cg, s, c, front, first);
  copy_to(cg, s, c, s->latch, next);
  for (unsigned k = c->n; k-- > 0;) {
    LLVMValueRef was = c->operations[k];
    LLVMPositionBuilderBefore(cg->builder, LLVMGetFirstInstruction(s->header));
    LLVMValueRef now = l_phi(cg->builder, LLVMTypeOf(was));
    replace(s, c, was, now);
    if (LLVMGetFirstUse(now))
      LLVMAddIncoming(now, (LLVMValueRef[]){first[k], next[k]}, from, 2);
    else
      LLVMInstructionEraseFromParent(now);
    if (!LLVMGetFirstUse(was)) {
      LLVMInstructionEraseFromParent(was);
      c->operations[k] = NULL;
    }
  }
}

/* --- the block in front --- */

/* phi: of its operands but the latch's one is made in `front`. */
static void split_phi(Cg *cg, const Search *s, LLVMValueRef phi, LLVMBasicBlockRef front) {
  LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(front));
  LLVMValueRef outer = l_phi(cg->builder, LLVMTypeOf(phi));
  LLVMPositionBuilderBefore(cg->builder, phi);
  LLVMValueRef inner = l_phi(cg->builder, LLVMTypeOf(phi));
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef v = LLVMGetIncomingValue(phi, k);
    LLVMAddIncoming(from == s->latch ? inner : outer, &v, &from, 1);
  }
  LLVMAddIncoming(inner, &outer, &front, 1);
  LLVMReplaceAllUsesWith(phi, inner);
  LLVMInstructionEraseFromParent(phi);
}

/* The block from which alone the header is reached but for the latch: the one that is there, if it
 * leads nowhere else, or a new one. */
static LLVMBasicBlockRef front_of(Cg *cg, const Search *s) {
  LLVMValueRef phi = LLVMGetFirstInstruction(s->header);
  if (LLVMCountIncoming(phi) == 2) {
    LLVMBasicBlockRef first = LLVMGetIncomingBlock(phi, 0);
    LLVMBasicBlockRef other = first == s->latch ? LLVMGetIncomingBlock(phi, 1) : first;
    if (graph_next(other))
      return other;
  }
  LLVMBasicBlockRef front = LLVMInsertBasicBlockInContext(cg->context, s->header, "");
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (LLVMGetIncomingBlock(phi, k) != s->latch)
      graph_redirect(LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k)), s->header, front);
  l_at_end(cg->builder, front, NULL);
  l_br(cg->builder, s->header);
  for (LLVMValueRef i = phi, next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    split_phi(cg, s, i, front);
  }
  return front;
}

/* --- the block behind --- */

/* Does the block have nothing but phis, and lead to the header alone? */
static bool only_joins(LLVMBasicBlockRef block, LLVMBasicBlockRef header) {
  return graph_behind_phis(block) == LLVMGetBasicBlockTerminator(block) &&
         graph_next(block) == header;
}

/* Of a header whose edge back is joined with others in the latch: it leads to itself. */
static void part(Cg *cg, LLVMBasicBlockRef header, LLVMBasicBlockRef latch) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(header); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    LLVMValueRef v = graph_incoming(i, latch);
    v = is_in(v, latch) ? graph_incoming(v, header) : v;
    LLVMAddIncoming(i, &v, &header, 1);
  }
  for (LLVMValueRef i = LLVMGetFirstInstruction(latch), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMValueRef phi = l_phi(cg->builder, LLVMTypeOf(i));
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);
      LLVMValueRef v = LLVMGetIncomingValue(i, k);
      if (from != header)
        LLVMAddIncoming(phi, &v, &from, 1);
    }
    LLVMReplaceAllUsesWith(i, phi);
    LLVMInstructionEraseFromParent(i);
  }
  graph_redirect(LLVMGetBasicBlockTerminator(header), latch, header);
}

/* Is an edge of the loop's first block back to it joined with others, in its only latch? */
static bool is_joined(const FnGraph *g, const GraphLoop *loop) {
  const GraphNode *header = &g->nodes[loop->header], *latch = &g->nodes[loop->latches[0]];
  Fork fork;
  if (loop->nlatches != 1 || latch == header || latch->npred < 2 ||
      !only_joins(latch->block, header->block) || !graph_fork(header->last, &fork) ||
      (fork.yes == latch->block) == (fork.no == latch->block) ||
      !cg_is_of_load(fork.condition, header->block))
    return false;
  for (LLVMValueRef i = latch->first; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
    if (cg_is_of_load(graph_incoming(i, header->block), NULL))
      return true;
  return false;
}

/* --- the pass --- */

/* Does the loop go on from one block, by a branch that waits for a load of this block? One that is
 * its own latch may be the first of another loop, too. */
static bool read_search(Cg *cg, const FnGraph *g, const GraphLoop *loop, Search *s) {
  s->header = s->latch = g->nodes[loop->header].block;
  if (is_joined(g, loop)) {
    part(cg, s->header, g->nodes[loop->latches[0]].block);
    return true;
  }
  s->latch = NULL;
  for (uint32_t k = 0; k < loop->nlatches; k++)
    if (loop->nlatches == 1 || loop->latches[k] == loop->header)
      s->latch = g->nodes[loop->latches[k]].block;
  Fork fork;
  return s->latch && LLVMIsAPHINode(LLVMGetFirstInstruction(s->header)) &&
         graph_fork(LLVMGetBasicBlockTerminator(s->latch), &fork) && fork.yes != fork.no &&
         cg_is_of_load(fork.condition, s->latch);
}

static LLVMValueRef next_address(const Search *s, Chain *c) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(s->header); i; i = LLVMGetNextInstruction(i))
    if (is_address(s, i, c))
      return i;
  return NULL;
}

/* The block behind a loop of one block, if nothing else leads there; else NULL. */
static LLVMBasicBlockRef behind(const Search *s) {
  Fork fork;
  if (s->header != s->latch || !graph_fork(LLVMGetBasicBlockTerminator(s->latch), &fork))
    return NULL;
  LLVMBasicBlockRef exit = fork.yes == s->header ? fork.no : fork.yes;
  return graph_before(exit) == s->latch ? exit : NULL;
}

/* Is `alone` all that reads it in the loop? */
static bool is_read_by(const Search *s, LLVMValueRef v, LLVMValueRef alone) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (is_in(LLVMGetUser(u), s->header) && LLVMGetUser(u) != alone)
      return false;
  return true;
}

/* A walk that steps before it looks, `k = phi - 1`, has k as its phi, and steps behind that. */
static void look_first(Cg *cg, const Search *s, LLVMBasicBlockRef front) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(s->header), after; LLVMIsAPHINode(phi);
       phi = after) {
    after = LLVMGetNextInstruction(phi);
    LLVMValueRef next = graph_incoming(phi, s->latch);
    if (!is_walk(s, phi, next) || !cg_has_one_use(phi))
      continue;
    LLVMValueRef by = LLVMGetOperand(next, 1);
    LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(front));
    LLVMValueRef first = l_add(cg->builder, graph_incoming(phi, front), by);
    LLVMPositionBuilderBefore(cg->builder, phi);
    LLVMValueRef place = l_phi(cg->builder, LLVMTypeOf(phi));
    LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(s->latch));
    LLVMReplaceAllUsesWith(next, place);
    LLVMValueRef step = l_add(cg->builder, place, by);
    LLVMAddIncoming(place, (LLVMValueRef[]){first, step}, (LLVMBasicBlockRef[]){front, s->latch},
                    2);
    LLVMReplaceAllUsesWith(phi, LLVMGetPoison(LLVMTypeOf(phi)));
    LLVMInstructionEraseFromParent(phi);
    LLVMInstructionEraseFromParent(next);
  }
}

/* All that reads v, but for the one that gives the new name and phis behind the loop, reads now. */
static void rename_uses(Cg *cg, const Search *s, LLVMValueRef v, LLVMValueRef now, bool inside) {
  VEC(LLVMValueRef) users = {0};
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (user != now && is_in(user, s->header) == inside && (inside || !LLVMIsAPHINode(user)))
      VEC_PUSH(&cg->cx->arena, &users, user);
  }
  for (uint32_t n = 0; n < users.len; n++)
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(users.data[n]); k++)
      if (LLVMGetOperand(users.data[n], k) == v)
        LLVMSetOperand(users.data[n], k, now);
}

/* Where a walk has ended is a step back from its next place there: the loop need not keep both. The
 * generator would make the next address of the place before the step. */
static void step_back(Cg *cg, const Search *s) {
  LLVMBasicBlockRef exit = behind(s);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(s->header); exit && LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef next = graph_incoming(phi, s->latch);
    if (!is_walk(s, phi, next) || !is_read_by(s, phi, next) || !cg_nvptx_letter_of(cg, next))
      continue;
    LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(next));
    LLVMValueRef hidden = cg_nvptx_hidden(cg, next);
    rename_uses(cg, s, next, hidden, true);
    LLVMPositionBuilderBefore(cg->builder, graph_behind_phis(exit));
    LLVMValueRef back = l_sub(cg->builder, hidden, LLVMGetOperand(next, 1));
    rename_uses(cg, s, phi, back, false);
    for (LLVMValueRef i = LLVMGetFirstInstruction(exit); LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i))
      if (graph_incoming(i, s->latch) == phi) /* the only edge */
        LLVMReplaceAllUsesWith(i, back);
  }
}

static void carry_all(Cg *cg, const Search *s) {
  Chain c;
  if (!next_address(s, &c))
    return;
  LLVMBasicBlockRef front = front_of(cg, s);
  look_first(cg, s, front);
  for (unsigned n = 0; n < MOST_ADDRESSES && next_address(s, &c); n++)
    carry(cg, s, &c, front);
  step_back(cg, s);
}

static void look_at(Cg *cg, const FnGraph *g, uint32_t loop) {
  Search s;
  if (read_search(cg, g, &g->loops.data[loop], &s))
    carry_all(cg, &s);
}

void cg_nvptx_next_addresses(Cg *cg) { graph_each_loop(cg, look_at); }
