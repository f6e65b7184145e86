/* Blocks: the control flow of decoded nodes, made the same for all versions.
 *
 * In: nodes as bc_decode leaves them. Out: the same nodes with
 *   - jumps and no-operations stepped over, so that successors are instructions that do something;
 *   - the stack depth before each reachable node, the same on every path (else ERR_CORRUPT);
 *   - a return of a constant as one node;
 *   - code that CPython's compiler duplicated (loop conditions, small exits) merged: two nodes of
 *     one source place that do the same and go on to the same nodes are one. This is congruence
 *     closure over the flow graph, by hash-consing from the exits backwards (as in minimising an
 *     acyclic automaton); merging is sound at any place, since both have one future.
 * Linear, iterative. */
#include <string.h>

#include "frontend/bc.h"

/* --- stack effects --- */

static uint32_t bc_pops(const BcNode *n) {
  uint32_t A = n->arg;
  (void)A;
  switch ((BcOp)n->op) {
#define O(NAME, pop, push, lift)                                                                   \
  case BC_##NAME:                                                                                  \
    return pop;
#define N(NAME)
#define A(NAME, OF)
#define X(NAME, expand)
#define E(NAME, ERROR)
#include "frontend/opcodes.def"
  default: return 0;
  }
}

static uint32_t bc_pushes(const BcNode *n) {
  uint32_t A = n->arg;
  (void)A;
  switch ((BcOp)n->op) {
#define O(NAME, pop, push, lift)                                                                   \
  case BC_##NAME:                                                                                  \
    return push;
#define N(NAME)
#define A(NAME, OF)
#define X(NAME, expand)
#define E(NAME, ERROR)
#include "frontend/opcodes.def"
  default: return 0;
  }
}

bool bc_ends(const BcNode *n) {
  switch ((BcOp)n->op) {
  case BC_RETURN_VALUE:
  case BC_return_none:
  case BC_return_const:
  case BC_return_small:
  case BC_RAISE_VARARGS:
  case BC_END_FOR:
  case BC_STORE_GLOBAL:
  case BC_DELETE_GLOBAL:
  case BC_DELETE_ATTR: return true;
  default: return bc_info[n->op].kind == BC_KIND_ERROR;
  }
}

bool bc_has_two(const BcNode *n) {
  return n->op == BC_branch || n->op == BC_branch_none || n->op == BC_for_iter;
}

/* --- jumps --- */

/* A node that only leads on. A jump to itself is an endless loop that does nothing: it stays. */
static bool passes_on(const BcCode *bc, uint32_t i) {
  const BcNode *n = &bc->nodes.data[i];
  return (n->op == BC_jump || bc_info[n->op].kind == BC_KIND_NOTHING) && n->succ[0] != i;
}

static void close_ring(BcCode *bc, uint32_t at) {
  BcNode *nodes = bc->nodes.data;
  for (uint32_t i = nodes[at].succ[0]; i != at;) {
    uint32_t next = nodes[i].succ[0];
    nodes[i].succ[0] = at;
    i = next;
  }
  nodes[at].op = BC_jump;
  nodes[at].succ[0] = at;
}

/* The first node from `at` on that does something. Shortens the way as it goes, so that all of them
 * take linear time. */
static uint32_t step_over(BcCode *bc, uint32_t at) {
  BcNode *nodes = bc->nodes.data;
  uint32_t end = at, slow = at;
  for (uint32_t steps = 0; end != BC_NONE && passes_on(bc, end); steps++) {
    end = nodes[end].succ[0];
    if (steps & 1)
      slow = nodes[slow].succ[0];
    if (end == slow)
      close_ring(bc, end);
  }
  while (at != end && passes_on(bc, at)) {
    uint32_t next = nodes[at].succ[0];
    nodes[at].succ[0] = end;
    at = next;
  }
  return end;
}

/* TO_BOOL before an instruction that takes any value's truth itself says nothing. */
static void drop_to_bool(BcCode *bc) {
  for (uint32_t i = 0; i < bc->nodes.len; i++) {
    BcNode *n = &bc->nodes.data[i];
    uint32_t next = n->op == BC_TO_BOOL && n->succ[0] != BC_NONE ? step_over(bc, n->succ[0])
                                                                 : BC_NONE;
    if (next != BC_NONE &&
        (bc->nodes.data[next].op == BC_branch || bc->nodes.data[next].op == BC_UNARY_NOT))
      n->op = BC_NOP;
  }
}

static bool tests_copy(const BcCode *bc, uint32_t i) {
  const BcNode *n = i == BC_NONE ? NULL : &bc->nodes.data[i];
  return n && n->op == BC_COPY && n->arg == 1 && n->succ[0] != BC_NONE &&
         bc->nodes.data[n->succ[0]].op == BC_branch;
}

/* x and y or z: where x was found false and stays on top, asking again whether it is true has one
 * answer. */
static void thread_tests(Cx *cx, BcCode *bc) {
  enum { MAX_STEPS = 1000 };
  BcNode *nodes = bc->nodes.data;
  uint32_t *into = CX_ARRAY(cx, uint32_t, bc->nodes.len);
  for (uint32_t i = 0; i < bc->nodes.len; i++)
    for (int k = 0; k < 2; k++)
      if (nodes[i].succ[k] != BC_NONE && !passes_on(bc, i))
        into[nodes[i].succ[k]]++;
  /* from the end, so that most paths are short already */
  for (uint32_t i = bc->nodes.len; i-- > 0;) {
    if (!tests_copy(bc, i) || into[nodes[i].succ[0]] != 1)
      continue;
    BcNode *branch = &nodes[nodes[i].succ[0]];
    for (int k = 0; k < 2; k++)
      for (int steps = 0; steps < MAX_STEPS && tests_copy(bc, branch->succ[k]); steps++)
        branch->succ[k] = nodes[nodes[branch->succ[k]].succ[0]].succ[k];
  }
}

static void thread_jumps(Cx *cx, BcCode *bc) {
  for (uint32_t i = 0; i < bc->nodes.len; i++)
    if (bc_ends(&bc->nodes.data[i]))
      bc->nodes.data[i].succ[0] = BC_NONE;
  drop_to_bool(bc);
  for (uint32_t i = 0; i < bc->nodes.len; i++)
    for (int k = 0; k < 2; k++)
      if (bc->nodes.data[i].succ[k] != BC_NONE)
        bc->nodes.data[i].succ[k] = step_over(bc, bc->nodes.data[i].succ[k]);
  bc->entry = step_over(bc, 0);
  thread_tests(cx, bc);
}

/* --- depths --- */

/* Our expansions need a little more stack than CPython's instructions. */
enum { EXTRA_STACK = 4 };

typedef VEC(uint32_t) NodeList;

static void reach(Cx *cx, BcCode *bc, NodeList *work, uint32_t to, uint32_t depth) {
  if (to == BC_NONE)
    bc_corrupt(cx, bc->code, "control runs off its end");
  BcNode *n = &bc->nodes.data[to];
  if (depth > bc->code->stacksize + EXTRA_STACK)
    bc_corrupt(cx, bc->code, "it uses more stack than it declares");
  if (n->depth < 0) {
    n->depth = (int32_t)depth;
    VEC_PUSH(&cx->arena, work, to);
  } else if ((uint32_t)n->depth != depth) {
    bc_corrupt(cx, bc->code, "paths meet with different stack depths");
  }
}

static bool bad_argument(const BcNode *n) {
  switch ((BcOp)n->op) {
  case BC_COPY:
  case BC_LIST_EXTEND:
  case BC_LIST_APPEND:
  case BC_SWAP: return n->arg < 1;
  case BC_RAISE_VARARGS: return n->arg > 2;
  case BC_BUILD_SLICE: return n->arg != 2 && n->arg != 3;
  default: return false;
  }
}

static void find_depths(Cx *cx, BcCode *bc) {
  NodeList work = {0};
  reach(cx, bc, &work, bc->entry, 0);
  while (work.len) {
    const BcNode n = bc->nodes.data[VEC_POP(&work)];
    uint32_t depth = (uint32_t)n.depth, pops = bc_pops(&n);
    if (bad_argument(&n))
      bc_corrupt(cx, bc->code, "an argument is out of range");
    if (pops > depth)
      bc_corrupt(cx, bc->code, "it takes values from an empty stack");
    if (bc_ends(&n))
      continue;
    reach(cx, bc, &work, n.succ[0], depth - pops + bc_pushes(&n));
    if (bc_has_two(&n))
      reach(cx, bc, &work, n.succ[1], depth - pops); /* a for loop drops its iterator as it ends */
  }
}

/* --- returns of constants --- */

static bool is_none(const BcCode *bc, const BcNode *n) {
  return n->op == BC_LOAD_CONST && n->arg < bc->nconsts && bc->consts[n->arg]->kind == FZ_NONE;
}

/* Versions differ in whether `return constant` is one instruction and whether such returns are
 * shared. Here each is one node. */
static void fuse_returns(BcCode *bc) {
  for (uint32_t i = 0; i < bc->nodes.len; i++) {
    BcNode *n = &bc->nodes.data[i];
    if (n->depth < 0 || (n->op != BC_LOAD_CONST && n->op != BC_LOAD_SMALL_INT))
      continue;
    const BcNode *next = &bc->nodes.data[n->succ[0]];
    if (next->op != BC_RETURN_VALUE)
      continue;
    n->op = is_none(bc, n)           ? BC_return_none
            : n->op == BC_LOAD_CONST ? BC_return_const
                                     : BC_return_small;
    n->unit = next->unit;
    if (n->op == BC_return_none) /* it takes nothing, so all of them can be one */
      n->depth = 0;
    n->succ[0] = BC_NONE;
  }
}

/* --- merging --- */

typedef struct Merger {
  Cx *cx;
  BcCode *bc;
  uint32_t *same;  /* union-find without ranks: the node that stands for this one */
  uint32_t *slots; /* hash table of nodes by key */
  uint32_t mask;
  /* predecessors as linked lists of edges; edge e comes from node e / 2 */
  uint32_t *first, *last, *next;
} Merger;

static uint32_t stands(Merger *m, uint32_t i) {
  if (i == BC_NONE)
    return i;
  while (m->same[i] != i) {
    m->same[i] = m->same[m->same[i]];
    i = m->same[i];
  }
  return i;
}

static bool one_place(const Merger *m, const BcNode *a, const BcNode *b) {
  const Loc *x = &m->bc->locs[a->unit], *y = &m->bc->locs[b->unit];
  if (a->op != b->op || a->arg != b->arg || x->line != y->line)
    return false;
  return a->second || b->second ||
         (x->end_line == y->end_line && x->col == y->col && x->end_col == y->end_col);
}

static uint32_t edge_behind(const Merger *m, uint32_t node, uint32_t edge) {
  return edge == m->last[node] ? BC_NONE : m->next[edge];
}

/* Do two branches ask one value? CPython 3.11 gives the tests of `if a if c else b` one place:
 * merged they would ask what a and b join to. */
static bool ask_one_value(const Merger *m, uint32_t i, uint32_t j) {
  const BcNode *nodes = m->bc->nodes.data;
  for (uint32_t e = m->first[i]; e != BC_NONE; e = edge_behind(m, i, e))
    for (uint32_t f = m->first[j]; f != BC_NONE; f = edge_behind(m, j, f))
      if (one_place(m, &nodes[e / 2], &nodes[f / 2]))
        return true;
  return false;
}

static bool equal_keys(Merger *m, uint32_t i, uint32_t j) {
  const BcNode *a = &m->bc->nodes.data[i], *b = &m->bc->nodes.data[j];
  if (a->op != b->op || a->depth != b->depth || stands(m, a->succ[0]) != stands(m, b->succ[0]) ||
      stands(m, a->succ[1]) != stands(m, b->succ[1]))
    return false;
  if (a->op == BC_return_none)
    return true;
  bool tests = a->op == BC_branch || a->op == BC_branch_none;
  return one_place(m, a, b) && (!tests || ask_one_value(m, i, j));
}

static uint32_t hash_key(Merger *m, const BcNode *n) {
  const Loc *loc = &m->bc->locs[n->unit];
  bool none = n->op == BC_return_none;
  bool may_be_second = n->op == BC_LOAD_FAST || n->op == BC_STORE_FAST;
  uint32_t key[] = {n->op,
                    (uint32_t)n->depth,
                    stands(m, n->succ[0]),
                    stands(m, n->succ[1]),
                    none ? 0 : n->arg,
                    none ? 0 : (uint32_t)loc->line,
                    none || may_be_second ? 0 : (uint32_t)loc->col};
  uint64_t h = 0;
  for (size_t k = 0; k < sizeof key / sizeof *key; k++)
    h = (h ^ key[k]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
  return (uint32_t)h;
}

/* A node with the same key that was seen before, or the node itself, now in the table. An entry
 * whose key changed since stays in its old place and is passed by: it is entered again when its
 * turn comes. */
static uint32_t look_up(Merger *m, uint32_t i) {
  const BcNode *nodes = m->bc->nodes.data;
  for (uint32_t at = hash_key(m, &nodes[i]);; at++) {
    uint32_t *slot = &m->slots[at & m->mask];
    if (*slot == BC_NONE) {
      *slot = i;
      return i;
    }
    if (*slot == i)
      return i;
    if (m->same[*slot] == *slot && equal_keys(m, i, *slot))
      return *slot;
  }
}

static void add_edge(Merger *m, uint32_t edge, uint32_t to) {
  m->next[edge] = BC_NONE;
  if (m->first[to] == BC_NONE)
    m->first[to] = edge;
  else
    m->next[m->last[to]] = edge;
  m->last[to] = edge;
}

static void join_edges(Merger *m, uint32_t from, uint32_t to) {
  if (m->first[from] == BC_NONE)
    return;
  if (m->first[to] == BC_NONE)
    m->first[to] = m->first[from];
  else
    m->next[m->last[to]] = m->first[from];
  m->last[to] = m->last[from];
}

static uint32_t *fresh(Cx *cx, uint32_t n) {
  uint32_t *a = CX_ARRAY(cx, uint32_t, n);
  memset(a, 0xFF, sizeof *a * n);
  return a;
}

static void merger_init(Merger *m, Cx *cx, BcCode *bc) {
  uint32_t n = bc->nodes.len, size = 16;
  while (size < 8 * n) /* room for entries that went stale */
    size *= 2;
  *m = (Merger){.cx = cx, .bc = bc, .mask = size - 1};
  m->same = CX_ARRAY(cx, uint32_t, n);
  m->slots = fresh(cx, size);
  m->first = fresh(cx, n);
  m->last = fresh(cx, n);
  m->next = fresh(cx, 2 * n);
  for (uint32_t i = 0; i < n; i++) {
    m->same[i] = i;
    for (uint32_t k = 0; k < 2; k++)
      if (bc->nodes.data[i].depth >= 0 && bc->nodes.data[i].succ[k] != BC_NONE)
        add_edge(m, 2 * i + k, bc->nodes.data[i].succ[k]);
  }
}

static void merge_same(Cx *cx, BcCode *bc) {
  Merger m;
  merger_init(&m, cx, bc);
  BcNode *nodes = bc->nodes.data;
  NodeList work = {0};
  uint32_t budget = 4 * bc->nodes.len;         /* entries that the table has room for */
  for (uint32_t i = 0; i < bc->nodes.len; i++) /* taken from the end: exits first */
    if (bc->nodes.data[i].depth >= 0)
      VEC_PUSH(&cx->arena, &work, i);
  while (work.len && budget--) {
    uint32_t i = VEC_POP(&work);
    if (m.same[i] != i)
      continue;
    uint32_t twin = look_up(&m, i);
    if (twin == i)
      continue;
    m.same[i] = twin;
    if (nodes[twin].second && !nodes[i].second) { /* that one knows its columns */
      nodes[twin].unit = nodes[i].unit;
      nodes[twin].second = false;
    }
    for (uint32_t e = m.first[i]; e != BC_NONE; e = m.next[e]) {
      VEC_PUSH(&cx->arena, &work, e / 2);
      if (e == m.last[i])
        break;
    }
    join_edges(&m, i, twin);
  }
  for (uint32_t i = 0; i < bc->nodes.len; i++) {
    for (int k = 0; k < 2; k++)
      bc->nodes.data[i].succ[k] = stands(&m, bc->nodes.data[i].succ[k]);
    if (m.same[i] != i)
      bc->nodes.data[i].depth = -1;
  }
  bc->entry = stands(&m, bc->entry);
}

/* What lifting relies on: from what is reached control goes to what is reached, and the entry
 * begins with an empty stack. */
static void check_flow(Cx *cx, const BcCode *bc) {
  const BcNode *nodes = bc->nodes.data;
  CX_ASSERT(cx, bc->entry < bc->nodes.len && nodes[bc->entry].depth == 0);
  for (uint32_t i = 0; i < bc->nodes.len; i++) {
    const BcNode *n = &nodes[i];
    if (n->depth < 0)
      continue;
    CX_ASSERT(cx, bc_ends(n) || (n->succ[0] < bc->nodes.len && nodes[n->succ[0]].depth >= 0));
    CX_ASSERT(cx, !bc_has_two(n) || (n->succ[1] < bc->nodes.len && nodes[n->succ[1]].depth >= 0));
  }
}

void bc_flow(Cx *cx, BcCode *bc) {
  thread_jumps(cx, bc);
  find_depths(cx, bc);
  fuse_returns(bc);
  merge_same(cx, bc);
  check_flow(cx, bc);
}
