/* Inlining: which calls are inlined; see inlining.h.
 *
 * Calls are slow on GPUs, and the host vectorises only what it has inlined. So every call is
 * inlined as long as the program stays within BUDGET operations. Beyond that (functions of which
 * each calls the next one twice double the program with each) there is a size limit: a function
 * that is larger, together with what is inlined into it, is not inlined unless it has only one call
 * site. The limit is the highest power of two, from HIGHEST down to LOWEST, that keeps the program
 * within the budget, so small helpers are inlined in any case; at the lowest limit code is at most
 * LOWEST times as long as its source.
 *
 * A function with inline="always" is inlined as long as the result has at most MOST operations. So
 * is a function that synchronises threads, on a target that cannot do that in a call
 * (Target.gathers), and a function that begins or waits for matrix operations of a warpgroup, which
 * no call may separate. Recursive functions are never inlined.
 *
 * What makes or reads a tuple becomes no code, so it does not count. */
#include "codegen/lower/inlining.h"

#include <assert.h>
#include <stdlib.h>

#include "codegen/llvm/valuemap.h"
#include "codegen/target.h"

enum { BUDGET = 1 << 16, HIGHEST = 1 << 12, LOWEST = 1 << 6, MOST = 1 << 17 };

typedef struct Node {
  Fn *fn;
  uint32_t own;    /* operations of its own */
  uint32_t places; /* number of call sites */
  /* operations with those inlined into it, under the limit that is being tried; saturates at
   * MOST + 1 */
  uint32_t length;
  VEC(struct Node *) calls;
  uint32_t next; /* of calls: put_in_order's position */
  bool entered;
  bool matrices; /* it or what it calls has matrix operations of a warpgroup */
} Node;

typedef struct Graph {
  const Cg *cg;
  Node *nodes;       /* one for each function, in the program's order */
  VEC(Node *) order; /* callees first */
  uint32_t limit;
  bool once; /* functions with one call site are inlined, however long they are */
} Graph;

static bool is_matrix_operation(const Ins *i) {
  return i->op == OP_INTRINSIC && i->aux.intrinsic >= INTR_WGMMA_FENCE &&
         i->aux.intrinsic <= INTR_WGMMA_WAIT;
}

static void read_calls(Graph *g, Node *node, const ValueMap *numbers) {
  FOR_BLOCKS (node->fn, b)
    FOR_INS (b, i) {
      node->own += i->op != OP_MAKE_TUPLE && i->op != OP_TUPLE_GET;
      node->matrices |= is_matrix_operation(i);
      if (i->op != OP_CALL_FN)
        continue;
      assert(valuemap_get(numbers, i->aux.fn) < g->cg->program->fns.len);
      Node *callee = &g->nodes[valuemap_get(numbers, i->aux.fn)];
      callee->places++;
      VEC_PUSH(&g->cg->cx->arena, &node->calls, callee);
    }
}

/* Post-order of the call graph: callees first, except for calls that close a cycle. The stack is
 * explicit, since calls may be nested deeply. */
static void put_in_order(Graph *g, Node *root) {
  Arena *a = &g->cg->cx->arena;
  VEC(Node *) stack = {0};
  root->entered = true;
  VEC_PUSH(a, &stack, root);
  while (stack.len) {
    Node *top = stack.data[stack.len - 1];
    if (top->next == top->calls.len) {
      VEC_PUSH(a, &g->order, top);
      for (uint32_t c = 0; c < top->calls.len; c++)
        top->matrices |= top->calls.data[c]->matrices;
      stack.len--;
      continue;
    }
    Node *callee = top->calls.data[top->next++];
    if (!callee->entered) {
      callee->entered = true;
      VEC_PUSH(a, &stack, callee);
    }
  }
}

static bool must_inline(const Graph *g, const Node *n) {
  return n->fn->inlining == INLINE_ALWAYS || n->matrices ||
         (n->fn->has_barrier && g->cg->target->gathers);
}

static bool is_inlined(const Graph *g, const Node *n) {
  if (n->fn->recursive || !n->places)
    return false;
  if (must_inline(g, n))
    return true;
  return n->fn->inlining != INLINE_NEVER && ((g->once && n->places == 1) || n->length <= g->limit);
}

static uint32_t add(uint32_t a, uint32_t b) { return a + b > MOST ? MOST + 1 : a + b; }

/* The size of the program under a limit: of all functions that are not inlined everywhere. */
static uint32_t measure(Graph *g, uint32_t limit) {
  uint32_t total = 0;
  g->limit = limit;
  for (uint32_t k = 0; k < g->order.len; k++) {
    Node *n = g->order.data[k];
    n->length = add(n->own, 0);
    for (uint32_t c = 0; c < n->calls.len; c++)
      if (is_inlined(g, n->calls.data[c]))
        n->length = add(n->length, n->calls.data[c]->length);
    if (!is_inlined(g, n))
      total = add(total, n->length);
  }
  return total;
}

static bool has_forced(const Graph *g, const Node *n) {
  for (uint32_t c = 0; c < n->calls.len; c++)
    if (!n->calls.data[c]->fn->recursive && must_inline(g, n->calls.data[c]))
      return true;
  return false;
}

/* Fails for the first function, callees first, that is too long because of the calls that must be
 * inlined into it. */
static void check_forced(const Graph *g) {
  for (uint32_t k = 0; k < g->order.len; k++) {
    const Node *n = g->order.data[k];
    if (n->length <= MOST || !has_forced(g, n))
      continue;
    Cx *cx = g->cg->cx;
    advise(cx, "leave inline=\"always\" out, or call functions with barriers from fewer places");
    fail(cx, n->fn->entry->first->loc, ERR_TOO_LARGE, n->fn->name,
         arena_printf(
             &cx->arena,
             "with the functions that it has to have inlined it has more than %d operations",
             MOST));
  }
}

static void choose_limit(Graph *g) {
  const char *given = getenv("PYPTX_INLINE_LIMIT"); /* for tests: with "0" nothing is inlined */
  g->once = !given;
  uint32_t total = measure(g, given ? (uint32_t)strtoul(given, NULL, 10) : MOST);
  for (uint32_t limit = HIGHEST; !given && total > BUDGET && limit >= LOWEST; limit /= 2)
    total = measure(g, limit);
}

void cg_choose_inlining(Cg *cg) {
  Arena *a = &cg->cx->arena;
  uint32_t n = cg->program->fns.len;
  Graph g = {.cg = cg, .nodes = ARENA_ARRAY(a, Node, n)};
  ValueMap numbers = {.arena = a};
  for (uint32_t k = 0; k < n; k++) {
    g.nodes[k].fn = cg->program->fns.data[k];
    valuemap_set(&numbers, g.nodes[k].fn, k);
  }
  for (uint32_t k = 0; k < n; k++)
    read_calls(&g, &g.nodes[k], &numbers);
  put_in_order(&g, &g.nodes[0]);
  assert(g.order.len && g.order.data[g.order.len - 1] == &g.nodes[0]);
  choose_limit(&g);
  check_forced(&g);
  for (uint32_t k = 0; k < n; k++)
    if (!g.nodes[k].fn->recursive && !is_inlined(&g, &g.nodes[k]))
      g.nodes[k].fn->inlining = INLINE_NEVER;
}
