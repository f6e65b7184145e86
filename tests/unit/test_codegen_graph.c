/* Graphs of LLVM functions against their definitions: random blocks and edges, where dominators,
 * loops and liveness are
 * found by leaving a block out and looking what is still reached.
 *   test_codegen_graph [SEED [COUNT]]   a failure prints its seed */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/llvm/graph.h"

enum { MOST = 12, VARIABLES = 70 };

static int failures;
static uint64_t seed, state;
#define EXPECT(c)                                                                                  \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: seed %llu: %s\n", __FILE__, __LINE__, (unsigned long long)seed, #c); \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

static uint32_t below(uint32_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 33) % n;
}

/* --- a function of random blocks --- */

static LLVMValueRef make(LLVMModuleRef module, LLVMBuilderRef b, uint32_t n) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
  LLVMValueRef f = LLVMAddFunction(module, "f",
                                   LLVMFunctionType(LLVMVoidTypeInContext(c), &i32, 1, 0));
  LLVMBasicBlockRef blocks[MOST];
  for (uint32_t k = 0; k < n; k++)
    blocks[k] = LLVMAppendBasicBlockInContext(c, f, "");
  for (uint32_t k = 0; k < n; k++) { /* none leads to the entry */
    uint32_t edges = below(4);
    LLVMPositionBuilderAtEnd(b, blocks[k]);
    if (edges == 0 || n == 1) {
      LLVMBuildRetVoid(b);
      continue;
    }
    LLVMValueRef s = LLVMBuildSwitch(b, LLVMGetParam(f, 0), blocks[1 + below(n - 1)], edges);
    for (uint32_t e = 1; e < edges; e++)
      LLVMAddCase(s, LLVMConstInt(i32, e, 0), blocks[1 + below(n - 1)]);
  }
  return f;
}

/* --- by definition --- */

/* What is reached from a node, itself included, without passing `without`. */
static uint32_t reach(const FnGraph *g, uint32_t from, uint32_t without) {
  uint32_t set = from == without ? 0 : 1u << from;
  for (uint32_t old = 0; set != old;) {
    old = set;
    for (uint32_t k = 0; k < g->len; k++)
      for (uint32_t s = 0; old >> k & 1 && s < g->nodes[k].nsucc; s++)
        if (g->nodes[k].succ[s] != without)
          set |= 1u << g->nodes[k].succ[s];
  }
  return set;
}

static bool ends(const FnGraph *g, uint32_t from, uint32_t without) {
  uint32_t set = reach(g, from, without);
  for (uint32_t k = 0; k < g->len; k++)
    if (set >> k & 1 && !g->nodes[k].nsucc)
      return true;
  return false;
}

static bool dominates(const FnGraph *g, uint32_t a, uint32_t b) {
  return a == b || !(reach(g, 0, a) >> b & 1);
}
static bool post_dominates(const FnGraph *g, uint32_t a, uint32_t b) {
  return a == b || !ends(g, b, a);
}

typedef bool (*Order)(const FnGraph *g, uint32_t a, uint32_t b);

/* The nearest above b: one that all others above it are above. */
static uint32_t nearest(const FnGraph *g, uint32_t b, Order above, bool post) {
  for (uint32_t a = 0; a < g->len; a++) {
    bool near = a != b && above(g, a, b) && (!post || ends(g, a, GRAPH_NONE));
    for (uint32_t c = 0; c < g->len && near; c++)
      near = c == b || !above(g, c, b) || above(g, c, a);
    if (near)
      return a;
  }
  return GRAPH_NONE;
}

/* --- the tests --- */

static void check_edges(const FnGraph *g) {
  for (uint32_t k = 0; k < g->len; k++) {
    EXPECT(graph_number(g, g->nodes[k].block) == k && graph_end(g, g->nodes[k].block) == k);
    EXPECT(reach(g, 0, GRAPH_NONE) >> k & 1);
    uint32_t from = 0;
    for (uint32_t p = 0; p < g->len; p++)
      for (uint32_t s = 0; s < g->nodes[p].nsucc; s++)
        from += g->nodes[p].succ[s] == k;
    EXPECT(g->nodes[k].npred == from);
  }
}

static void check_dominators(const FnGraph *g) {
  for (uint32_t k = 0; k < g->len; k++) {
    EXPECT(g->nodes[k].idom == nearest(g, k, dominates, false));
    EXPECT(g->nodes[k].ends == ends(g, k, GRAPH_NONE));
    if (g->nodes[k].ends)
      EXPECT(g->nodes[k].ipdom == nearest(g, k, post_dominates, true));
    for (uint32_t a = 0; a < g->len; a++)
      EXPECT(graph_dominates(g, a, k) == dominates(g, a, k));
  }
}

static void check_loops(const FnGraph *g) {
  bool irreducible = false;
  uint32_t at = 0;
  for (uint32_t h = 0; h < g->len; h++) {
    uint32_t latches = 0, body = 1u << h;
    for (uint32_t k = h; k < g->len; k++)
      for (uint32_t s = 0; s < g->nodes[k].nsucc; s++)
        if (g->nodes[k].succ[s] == h)
          latches |= 1u << k, irreducible |= !dominates(g, h, k);
    if (!latches)
      continue;
    for (uint32_t k = 0; k < g->len; k++)
      if (reach(g, k, h) & latches)
        body |= 1u << k;
    EXPECT(at < g->loops.len && g->loops.data[at].header == h);
    const GraphLoop *l = &g->loops.data[at++];
    uint32_t found = 0, back = 0;
    for (uint32_t k = 0; k < l->nnodes; k++)
      found |= 1u << l->nodes[k];
    for (uint32_t k = 0; k < l->nlatches; k++)
      back |= 1u << l->latches[k];
    bool innermost = true;
    for (uint32_t k = 0; k < g->len; k++)
      for (uint32_t e = 0; body >> k & 1 && e < g->nodes[k].nsucc; e++) {
        uint32_t to = g->nodes[k].succ[e];
        innermost &= to == h || to > k || !(body >> to & 1);
      }
    EXPECT(l->innermost == innermost);
    EXPECT(found == body && (uint32_t)__builtin_popcount(body) == l->nnodes && back == latches);
  }
  EXPECT(at == g->loops.len && g->irreducible == irreducible);
}

static void check_live(const FnGraph *g) {
  LiveSets *sets = graph_live_sets(g, VARIABLES);
  uint32_t use = below(g->len), v = below(VARIABLES);
  uint32_t def = below(g->len);
  set_add(sets[use].use, v), set_add(sets[def].def, v);
  graph_live(g, sets, VARIABLES);
  for (uint32_t k = 0; k < g->len; k++)
    for (uint32_t w = 0; w < VARIABLES; w++) {
      bool read = k == use || (k != def && reach(g, k, def == use ? GRAPH_NONE : def) >> use & 1);
      EXPECT(set_has(sets[k].in, w) == (w == v && read));
    }
}

static void check(LLVMContextRef c, Arena *arena) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("m", c);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
  LLVMValueRef f = make(module, b, 1 + below(MOST));
  FnGraph g = graph_of(arena, f, &(GraphHow){.near_first = below(2)});
  graph_loops(&g);
  graph_post_dominators(&g);
  check_edges(&g);
  check_dominators(&g);
  check_loops(&g);
  check_live(&g);
  LLVMDisposeBuilder(b);
  LLVMDisposeModule(module);
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int count = argc > 2 ? atoi(argv[2]) : 1000;
  LLVMContextRef c = LLVMContextCreate();
  for (int k = 0; k < count && failures < 10; k++) {
    Cx *cx = cx_new();
    seed = first + (uint64_t)k;
    state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    check(c, &cx->arena);
    cx_free(cx);
  }
  LLVMContextDispose(c);
  return failures != 0;
}
