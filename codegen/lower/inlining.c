/* Inlining: see inlining.h.
 *
 * Every function is inlined, which is what GPUs and the host's vectors want, as long as the program
 * stays within BUDGET operations. A program that would be longer (functions that each call the next
 * one twice are twice as long with each) has a limit: functions that are longer than it, with what
 * they inline, stay calls, unless they are called in one place only. Of the limits the highest that
 * keeps the program within the budget is taken, so that small helpers are inlined whatever is
 * around them; at the lowest, code is at most so many times as long as its source.
 *
 * A function with inline="always" is inlined up to MOST operations, and so is one in which threads
 * meet, on a target that gathers those. */
#include "codegen/lower/inlining.h"

#include <stdlib.h>

#include "codegen/llvm/valuemap.h"
#include "codegen/target.h"

enum { BUDGET = 1 << 14, HIGHEST = 1 << 12, LOWEST = 1 << 6, MOST = 1 << 17 };

typedef struct Node {
  Fn *fn;
  uint32_t own;    /* operations */
  uint32_t places; /* that call it */
  uint32_t
      length; /* with those that it inlines, under the limit that is tried; MOST + 1 stands for all beyond */
  VEC(struct Node *) calls;
  uint32_t next; /* of calls, while they are put in order */
  bool entered;
} Node;

typedef struct Graph {
  const Cg *cg;
  Node *nodes;       /* one a function, in the program's order */
  VEC(Node *) order; /* callees first */
  uint32_t limit;
  bool once; /* what is called in one place is inlined, however long */
} Graph;

static void read_calls(Graph *g, Node *node, const ValueMap *numbers) {
  FOR_BLOCKS (node->fn, b)
    FOR_INS (b, i) {
      node->own++;
      if (i->op != OP_CALL_FN)
        continue;
      Node *callee = &g->nodes[valuemap_get(numbers, i->aux.fn)];
      callee->places++;
      VEC_PUSH(&g->cg->cx->arena, &node->calls, callee);
    }
}

/* Callees first, but for the calls that close a cycle. With a stack of its own: calls may be nested
 * deep. */
static void put_in_order(Graph *g, Node *root) {
  Arena *a = &g->cg->cx->arena;
  VEC(Node *) stack = {0};
  root->entered = true;
  VEC_PUSH(a, &stack, root);
  while (stack.len) {
    Node *top = stack.data[stack.len - 1];
    if (top->next == top->calls.len) {
      VEC_PUSH(a, &g->order, top);
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
  return n->fn->inlining == INLINE_ALWAYS || (n->fn->has_barrier && g->cg->target->gathers);
}

static bool is_inlined(const Graph *g, const Node *n) {
  if (n->fn->recursive || !n->places)
    return false;
  if (must_inline(g, n))
    return true;
  return n->fn->inlining != INLINE_NEVER && ((g->once && n->places == 1) || n->length <= g->limit);
}

static uint32_t add(uint32_t a, uint32_t b) { return a + b > MOST ? MOST + 1 : a + b; }

/* Of all functions that are left. */
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

/* Of the functions that are too long because of what they must inline, the first: its callees are
 * not. */
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
  const char *given = getenv("PYPTX_INLINE_LIMIT"); /* tests: "0" leaves every call a call */
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
  choose_limit(&g);
  check_forced(&g);
  for (uint32_t k = 0; k < n; k++)
    if (!g.nodes[k].fn->recursive && !is_inlined(&g, &g.nodes[k]))
      g.nodes[k].fn->inlining = INLINE_NEVER;
}
