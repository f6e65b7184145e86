/* Graph: see graph.h.
 *
 * Blocks are numbered by one depth-first search. Dominators are Cooper, Harvey and Kennedy's
 * iteration over reverse post-order, post-dominators the same over the reversed edges with a
 * virtual exit above all ends. Loops are natural loops, found from their headers; an edge back to a
 * node that does not dominate its source marks the graph as irreducible. Liveness is the usual
 * backward data-flow problem on bit sets. */
#include "codegen/llvm/graph.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/emit.h"

enum { MOST_SUMS = 16 }; /* that a counter is moved on by */

/* --- nodes --- */

typedef VEC(LLVMBasicBlockRef) Blocks;

/* The reachable blocks in post-order. The stack is explicit, since code may be nested deeply. */
static Blocks post_order(Arena *arena, LLVMValueRef f, bool near_first) {
  typedef struct Visit {
    LLVMBasicBlockRef block;
    LLVMValueRef end;
    unsigned done, all;
  } Visit;
  VEC(Visit) stack = {0};
  ValueMap seen = {.arena = arena};
  Blocks post = {0};
  LLVMBasicBlockRef next = LLVMGetEntryBasicBlock(f);
  do {
    if (next && valuemap_get(&seen, next) == VALUEMAP_NONE) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(next);
      assert(end); /* the function is complete */
      valuemap_set(&seen, next, 1);
      VEC_PUSH(arena, &stack, ((Visit){next, end, 0, LLVMGetNumSuccessors(end)}));
    }
    Visit *top = &stack.data[stack.len - 1];
    next = NULL;
    if (top->done < top->all) {
      unsigned k = top->done++;
      next = LLVMGetSuccessor(top->end, near_first ? top->all - 1 - k : k);
    } else {
      VEC_PUSH(arena, &post, top->block);
      stack.len--;
    }
  } while (stack.len);
  return post;
}

typedef VEC(GraphNode) Nodes;

static void add_nodes(FnGraph *g, Nodes *nodes, LLVMBasicBlockRef block, const GraphHow *how) {
  GraphNode n = {.block = block,
                 .first = LLVMGetFirstInstruction(block),
                 .last = LLVMGetBasicBlockTerminator(block),
                 .idom = GRAPH_NONE,
                 .ipdom = GRAPH_NONE,
                 .loop = GRAPH_NONE};
  valuemap_set(&g->number, block, nodes->len);
  for (LLVMValueRef i = n.first; how->cuts && i; i = LLVMGetNextInstruction(i))
    if (how->cuts(how->user, i)) {
      GraphNode cut = n;
      cut.last = i;
      VEC_PUSH(g->arena, nodes, cut);
      n.first = LLVMGetNextInstruction(i);
    }
  VEC_PUSH(g->arena, nodes, n);
}

/* The blocks that can only end in a trap, on a path without branches. post: in post-order. */
static void find_traps(ValueMap *traps, const Blocks *post) {
  for (uint32_t k = 0; k < post->len; k++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(post->data[k]);
    if (LLVMIsAUnreachableInst(end) ||
        (LLVMGetNumSuccessors(end) == 1 &&
         valuemap_get(traps, LLVMGetSuccessor(end, 0)) != VALUEMAP_NONE))
      valuemap_set(traps, post->data[k], 1);
  }
}

static bool has_edge(const GraphNode *n, uint32_t to) {
  for (uint32_t s = 0; s < n->nsucc; s++)
    if (n->succ[s] == to)
      return true;
  return false;
}

static void add_edge(FnGraph *g, GraphNode *n, uint32_t to) {
  n->succ[n->nsucc++] = to;
  g->nodes[to].npred++;
}

static void find_successors(FnGraph *g, uint32_t k, bool checks) {
  GraphNode *n = &g->nodes[k];
  bool cut = !LLVMIsATerminatorInst(n->last);
  uint32_t all = cut ? 0 : LLVMGetNumSuccessors(n->last);
  n->succ = ARENA_ARRAY(g->arena, uint32_t, all + 1);
  if (cut)
    add_edge(g, n, k + 1);
  for (uint32_t s = 0; s < all; s++) {
    LLVMBasicBlockRef block = LLVMGetSuccessor(n->last, s);
    uint32_t to = graph_number(g, block);
    if (to == GRAPH_NONE)
      n->trap = block;
    else if (!checks || !has_edge(n, to))
      add_edge(g, n, to);
  }
}

static void find_predecessors(FnGraph *g) {
  for (uint32_t k = 0; k < g->len; k++) {
    g->nodes[k].pred = ARENA_ARRAY(g->arena, uint32_t, g->nodes[k].npred + 1);
    g->nodes[k].npred = 0;
  }
  for (uint32_t k = 0; k < g->len; k++)
    for (uint32_t s = 0; s < g->nodes[k].nsucc; s++) {
      GraphNode *to = &g->nodes[g->nodes[k].succ[s]];
      to->pred[to->npred++] = k;
    }
}

FnGraph graph_of(Arena *arena, LLVMValueRef f, const GraphHow *how) {
  static const GraphHow plain;
  FnGraph g = {.arena = arena, .number.arena = arena};
  how = how ? how : &plain;
  Blocks post = post_order(arena, f, how->near_first);
  ValueMap traps = {.arena = arena};
  Nodes nodes = {0};
  if (how->checks)
    find_traps(&traps, &post);
  for (uint32_t k = post.len; k-- > 0;)
    if (valuemap_get(&traps, post.data[k]) == VALUEMAP_NONE)
      add_nodes(&g, &nodes, post.data[k], how);
  g.nodes = nodes.data, g.len = nodes.len;
  for (uint32_t k = 0; k < g.len; k++)
    find_successors(&g, k, how->checks);
  find_predecessors(&g);
  return g;
}

uint32_t graph_number(const FnGraph *g, LLVMBasicBlockRef block) {
  return valuemap_get(&g->number, block);
}

uint32_t graph_end(const FnGraph *g, LLVMBasicBlockRef block) {
  uint32_t k = graph_number(g, block);
  while (k != GRAPH_NONE && !LLVMIsATerminatorInst(g->nodes[k].last))
    k++;
  return k;
}

/* --- dominators --- */

/* Cooper, Harvey and Kennedy: "A simple, fast dominance algorithm". place: position in an order in
 * which dominators come first; up: the immediate dominators so far, GRAPH_NONE where unknown. */
static uint32_t intersect(const uint32_t *up, const uint32_t *place, uint32_t a, uint32_t b) {
  while (a != b)
    if (place[a] > place[b])
      a = up[a];
    else
      b = up[b];
  return a;
}

/* Immediate dominators (or post-dominators) of the n nodes of `order`. The roots' is the virtual
 * node g->len; nodes outside `order` have GRAPH_NONE. */
static uint32_t *find_dominators(const FnGraph *g, const uint32_t *order, uint32_t n,
                                 const bool *root, bool post) {
  uint32_t *up = ARENA_ARRAY(g->arena, uint32_t, g->len + 1),
           *place = ARENA_ARRAY(g->arena, uint32_t, g->len + 1);
  for (uint32_t k = 0; k < g->len; k++)
    up[k] = GRAPH_NONE;
  up[g->len] = g->len;
  for (uint32_t k = 0; k < n; k++)
    place[order[k]] = k + 1; /* the virtual node has 0 */
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < n; k++) {
      const GraphNode *node = &g->nodes[order[k]];
      const uint32_t *from = post ? node->succ : node->pred;
      uint32_t all = post ? node->nsucc : node->npred, now = root[order[k]] ? g->len : GRAPH_NONE;
      for (uint32_t e = 0; e < all; e++)
        if (up[from[e]] != GRAPH_NONE)
          now = now == GRAPH_NONE ? from[e] : intersect(up, place, now, from[e]);
      changed |= now != up[order[k]];
      up[order[k]] = now;
    }
  }
  return up;
}

static void set_dominators(FnGraph *g) {
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, g->len);
  bool *root = ARENA_ARRAY(g->arena, bool, g->len);
  for (uint32_t k = 0; k < g->len; k++)
    order[k] = k;
  root[0] = true;
  const uint32_t *up = find_dominators(g, order, g->len, root, false);
  for (uint32_t k = 0; k < g->len; k++)
    g->nodes[k].idom = up[k] == g->len ? GRAPH_NONE : up[k];
}

/* The nodes from which an end is reachable, in reverse post-order of the reversed edges; returns
 * their number. */
static uint32_t order_back(const FnGraph *g, uint32_t *order, bool *root) {
  bool *seen = ARENA_ARRAY(g->arena, bool, g->len);
  uint32_t *stack = ARENA_ARRAY(g->arena, uint32_t, g->len + 1),
           *done = ARENA_ARRAY(g->arena, uint32_t, g->len), n = g->len;
  for (uint32_t end = 0; end < g->len; end++) {
    uint32_t depth = 0;
    if (g->nodes[end].nsucc)
      continue;
    root[end] = seen[end] = true;
    for (stack[depth++] = end; depth;) {
      uint32_t k = stack[depth - 1];
      if (done[k] == g->nodes[k].npred) {
        order[--n] = k;
        depth--;
        continue;
      }
      uint32_t p = g->nodes[k].pred[done[k]++];
      if (!seen[p])
        seen[p] = true, stack[depth++] = p;
    }
  }
  memmove(order, order + n, (g->len - n) * sizeof *order);
  return g->len - n;
}

void graph_post_dominators(FnGraph *g) {
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, g->len);
  bool *root = ARENA_ARRAY(g->arena, bool, g->len);
  uint32_t n = order_back(g, order, root);
  const uint32_t *up = find_dominators(g, order, n, root, true);
  for (uint32_t k = 0; k < g->len; k++) {
    g->nodes[k].ends = up[k] != GRAPH_NONE;
    g->nodes[k].ipdom = up[k] == g->len ? GRAPH_NONE : up[k];
  }
}

bool graph_dominates(const FnGraph *g, uint32_t a, uint32_t b) {
  assert(a < g->len && b < g->len && g->nodes[0].idom == GRAPH_NONE);
  while (b != GRAPH_NONE && b > a)
    b = g->nodes[b].idom;
  return a == b;
}

uint32_t graph_common(const FnGraph *g, uint32_t a, uint32_t b) {
  while (!graph_dominates(g, a, b))
    a = g->nodes[a].idom;
  return a;
}

/* --- loops --- */

/* Fills in the loop's nodes, header and latches first. mark: by node, 1 + the header of the loop in
 * which it was found last; found: scratch. */
static void fill_loop(const FnGraph *g, GraphLoop *l, uint32_t *mark, uint32_t *found) {
  uint32_t n = 0, seen = l->header + 1;
  mark[found[n++] = l->header] = seen;
  for (uint32_t k = 0; k < l->nlatches; k++)
    if (l->latches[k] != l->header)
      found[n++] = l->latches[k];
  for (uint32_t k = 1; k < n; k++)
    for (uint32_t p = 0; p < g->nodes[found[k]].npred; p++) {
      uint32_t from = g->nodes[found[k]].pred[p];
      l->innermost &= from < found[k];
      if (mark[from] != seen)
        mark[found[n++] = from] = seen;
    }
  l->nodes = ARENA_ARRAY(g->arena, uint32_t, n);
  l->nnodes = n;
  memcpy(l->nodes, found, n * sizeof *found);
}

static void find_latches(FnGraph *g, GraphLoop *l, uint32_t *mark) {
  const GraphNode *h = &g->nodes[l->header];
  for (uint32_t p = 0; p < h->npred; p++) {
    if (h->pred[p] < l->header || mark[h->pred[p]] == l->header + 1)
      continue;
    if (!l->latches)
      l->latches = ARENA_ARRAY(g->arena, uint32_t, h->npred);
    mark[l->latches[l->nlatches++] = h->pred[p]] = l->header + 1;
    g->irreducible |= !graph_dominates(g, l->header, h->pred[p]);
  }
}

void graph_loops(FnGraph *g) {
  uint32_t *mark = ARENA_ARRAY(g->arena, uint32_t, g->len),
           *found = ARENA_ARRAY(g->arena, uint32_t, g->len + 1);
  set_dominators(g);
  for (uint32_t header = 0; header < g->len; header++) {
    GraphLoop l = {.header = header, .parent = g->nodes[header].loop, .innermost = true};
    find_latches(g, &l, mark);
    if (!l.nlatches)
      continue;
    fill_loop(g, &l, mark, found);
    for (uint32_t k = 0; k < l.nnodes; k++) {
      g->nodes[l.nodes[k]].loop = g->loops.len;
      g->nodes[l.nodes[k]].depth++;
    }
    VEC_PUSH(g->arena, &g->loops, l);
  }
}

bool graph_next_function(const Cg *cg, LLVMValueRef *f, FnGraph *g) {
  do
    *f = *f ? LLVMGetNextFunction(*f) : LLVMGetFirstFunction(cg->module);
  while (*f && LLVMIsDeclaration(*f));
  if (!*f)
    return false;
  *g = graph_of(&cg->cx->arena, *f, NULL);
  graph_loops(g);
  return true;
}

void graph_each_loop(Cg *cg, void (*look_at)(Cg *cg, const FnGraph *g, uint32_t loop)) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);)
    for (uint32_t k = 0; k < g.loops.len; k++)
      look_at(cg, &g, k);
}

bool graph_in_loop(const FnGraph *g, uint32_t loop, LLVMValueRef v) {
  uint32_t at = LLVMIsAInstruction(v) ? graph_number(g, LLVMGetInstructionParent(v)) : GRAPH_NONE;
  uint32_t in = at == GRAPH_NONE ? GRAPH_NONE : g->nodes[at].loop;
  while (in != GRAPH_NONE && in != loop)
    in = g->loops.data[in].parent;
  return in == loop && loop != GRAPH_NONE;
}

/* Is v the phi plus what the loop does not change? */
static bool is_further(const FnGraph *g, uint32_t loop, LLVMValueRef v, LLVMValueRef phi,
                       unsigned depth) {
  LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet;
  bool moves = op == LLVMAdd || op == LLVMGetElementPtr;
  if (v == phi || !moves || LLVMGetNumOperands(v) != 2 || depth == MOST_SUMS)
    return v == phi;
  for (unsigned k = 0; k < 2; k++)
    if (!graph_in_loop(g, loop, LLVMGetOperand(v, !k)) &&
        is_further(g, loop, LLVMGetOperand(v, k), phi, depth + 1))
      return true;
  return false;
}

bool graph_counts(const FnGraph *g, uint32_t loop, LLVMValueRef phi) {
  const GraphLoop *l = &g->loops.data[loop];
  return l->nlatches == 1 &&
         is_further(g, loop, graph_incoming(phi, g->nodes[l->latches[0]].block), phi, 0);
}

LLVMValueRef graph_front(const FnGraph *g, uint32_t loop) {
  const GraphNode *header = &g->nodes[g->loops.data[loop].header];
  LLVMValueRef front = NULL;
  unsigned entries = 0;
  for (uint32_t k = 0; k < header->npred; k++)
    if (!graph_in_loop(g, loop, g->nodes[header->pred[k]].last)) {
      front = g->nodes[header->pred[k]].last;
      entries++;
    }
  return entries == 1 ? front : NULL;
}

LLVMValueRef graph_outer_front(const FnGraph *g, uint32_t loop, LLVMValueRef v) {
  LLVMValueRef front = NULL;
  for (; loop != GRAPH_NONE && !graph_in_loop(g, loop, v); loop = g->loops.data[loop].parent) {
    LLVMValueRef at = graph_front(g, loop);
    if (!at)
      return front;
    front = at;
  }
  return front;
}

/* --- liveness --- */

LiveSets *graph_live_sets(const FnGraph *g, uint32_t variables) {
  LiveSets *sets = ARENA_ARRAY(g->arena, LiveSets, g->len);
  size_t words = set_words(variables);
  uint64_t *at = ARENA_ARRAY(g->arena, uint64_t, 4 * words * g->len + 1);
  for (uint32_t k = 0; k < g->len; k++, at += 4 * words)
    sets[k] = (LiveSets){at, at + words, at + 2 * words, at + 3 * words};
  return sets;
}

static bool step_back(const FnGraph *g, LiveSets *sets, uint32_t node, uint32_t words) {
  const GraphNode *n = &g->nodes[node];
  LiveSets *s = &sets[node];
  bool changed = false;
  for (uint32_t w = 0; w < words; w++) {
    for (uint32_t e = 0; e < n->nsucc; e++)
      s->out[w] |= sets[n->succ[e]].in[w];
    uint64_t in = s->use[w] | (s->out[w] & ~s->def[w]);
    changed |= in != s->in[w];
    s->in[w] = in;
  }
  return changed;
}

void graph_live(const FnGraph *g, LiveSets *sets, uint32_t variables) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = g->len; k-- > 0;)
      changed |= step_back(g, sets, k, set_words(variables));
  }
}

/* --- edges --- */

bool graph_fork(LLVMValueRef end, Fork *fork) {
  if (!cg_llvm_is_branch(end) || !LLVMIsConditional(end))
    return false;
  *fork = (Fork){LLVMGetCondition(end), LLVMGetSuccessor(end, 0), LLVMGetSuccessor(end, 1)};
  return true;
}

unsigned graph_count_edges(LLVMValueRef end) { return LLVMGetNumSuccessors(end); }

LLVMValueRef graph_behind_phis(LLVMBasicBlockRef block) {
  LLVMValueRef i = LLVMGetFirstInstruction(block);
  while (LLVMIsAPHINode(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

LLVMBasicBlockRef graph_next(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMGetNumSuccessors(end) == 1 ? LLVMGetSuccessor(end, 0) : NULL;
}

LLVMBasicBlockRef graph_before(LLVMBasicBlockRef block) {
  LLVMUseRef edge = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
  return edge && !LLVMGetNextUse(edge) ? LLVMGetInstructionParent(LLVMGetUser(edge)) : NULL;
}

void graph_redirect(LLVMValueRef end, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
    if (LLVMGetSuccessor(end, s) == from)
      LLVMSetSuccessor(end, s, to);
}

LLVMBasicBlockRef graph_cut_before(Cg *cg, LLVMValueRef i) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i),
                    front = LLVMInsertBasicBlockInContext(cg->context, block, "");
  for (LLVMUseRef u; (u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)));)
    graph_redirect(LLVMGetUser(u), block, front);
  for (LLVMValueRef v; (v = LLVMGetFirstInstruction(block)) != i;) {
    LLVMInstructionRemoveFromParent(v);
    l_at_end(cg->builder, front, NULL);
    l_insert(cg->builder, v);
  }
  return front;
}

GraphDetour graph_detour(Cg *cg, LLVMValueRef i, const char *name) {
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
  GraphDetour d = {.before = graph_cut_before(cg, i), .block = block};
  d.apart = LLVMInsertBasicBlockInContext(cg->context, block, name);
  LLVMPositionBuilderBefore(b, i);
  d.phi = l_phi(b, LLVMTypeOf(i));
  LLVMReplaceAllUsesWith(i, d.phi);
  LLVMInstructionRemoveFromParent(i);
  l_at_end(b, d.apart, NULL);
  l_insert(b, i);
  l_br(b, block);
  l_at_end(b, d.before, NULL);
  return d;
}

void graph_join_detour(const GraphDetour *d, LLVMValueRef i, LLVMValueRef otherwise) {
  LLVMAddIncoming(d->phi, (LLVMValueRef[]){i, otherwise},
                  (LLVMBasicBlockRef[]){d->apart, d->before}, 2);
}

/* phi: split into one for the edges back, in front of `first`, and a new one of the header. */
static void split_phi(const FnGraph *g, const GraphLoop *loop, LLVMBuilderRef b, LLVMValueRef phi,
                      LLVMValueRef first, LLVMBasicBlockRef last) {
  LLVMPositionBuilderBefore(b, phi);
  LLVMValueRef outer = l_phi(b, LLVMTypeOf(phi));
  LLVMPositionBuilderBefore(b, first);
  LLVMValueRef inner = l_phi(b, LLVMTypeOf(phi));
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef v = LLVMGetIncomingValue(phi, k);
    uint32_t node = graph_end(g, from);
    LLVMAddIncoming(node != GRAPH_NONE && node >= loop->header ? inner : outer, &v, &from, 1);
  }
  LLVMAddIncoming(outer, &inner, &last, 1);
  LLVMReplaceAllUsesWith(phi, outer);
  LLVMInstructionEraseFromParent(phi);
}

void graph_join_latches(const FnGraph *g, const GraphLoop *loop, LLVMBuilderRef b,
                        LLVMBasicBlockRef into, LLVMBasicBlockRef last) {
  LLVMBasicBlockRef header = g->nodes[loop->header].block;
  LLVMValueRef first = LLVMGetFirstInstruction(into);
  for (LLVMValueRef i = LLVMGetFirstInstruction(header), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    split_phi(g, loop, b, i, first, last);
  }
  for (uint32_t k = 0; k < loop->nlatches; k++)
    graph_redirect(g->nodes[loop->latches[k]].last, header, into);
}

LLVMValueRef graph_incoming(LLVMValueRef phi, LLVMBasicBlockRef from) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    if (LLVMGetIncomingBlock(phi, k) == from)
      return LLVMGetIncomingValue(phi, k);
  return NULL;
}

static bool is_any_of(LLVMBasicBlockRef b, const LLVMBasicBlockRef *list, unsigned n) {
  unsigned k = 0;
  while (k < n && list[k] != b)
    k++;
  return k < n;
}

void graph_join_edges(Cg *cg, LLVMValueRef phi, const LLVMBasicBlockRef *edges, unsigned n,
                      LLVMBasicBlockRef from, LLVMValueRef v) {
  LLVMPositionBuilderBefore(cg->builder, phi);
  LLVMValueRef now = l_phi(cg->builder, LLVMTypeOf(phi));
  LLVMAddIncoming(now, &v, &from, 1);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef edge = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef in = LLVMGetIncomingValue(phi, k);
    if (!is_any_of(edge, edges, n))
      LLVMAddIncoming(now, &in, &edge, 1);
  }
  LLVMReplaceAllUsesWith(phi, now);
  LLVMInstructionEraseFromParent(phi);
}
