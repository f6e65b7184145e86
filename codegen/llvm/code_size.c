/* Length: see code_size.h. Blocks are numbered in reverse post-order; a way to a lower or equal number is a way back, and the blocks of its
 * loop are those from which it is reached without passing the loop's header. */
#include "codegen/llvm/code_size.h"

#include "codegen/llvm/block_order.h"
#include "codegen/llvm/valuemap.h"

typedef struct Graph {
  Arena *arena;
  uint32_t nblocks;
  uint32_t *first_to, *to; /* successors of block k: to[first_to[k]] and on, to first_to[k + 1] */
  uint32_t *first_from, *from; /* predecessors */
} Graph;

static uint32_t count_ways(const Blocks *blocks) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < blocks->len; k++)
    n += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(blocks->data[k]));
  return n;
}

static void find_ways(Graph *g, const Blocks *blocks) {
  ValueMap number = {.arena = g->arena};
  for (uint32_t k = 0; k < blocks->len; k++)
    valuemap_set(&number, blocks->data[k], k);
  uint32_t n = 0;
  for (uint32_t k = 0; k < blocks->len; k++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks->data[k]);
    g->first_to[k] = n;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
      g->to[n++] = valuemap_get(&number, LLVMGetSuccessor(end, s));
  }
  g->first_to[blocks->len] = n;
}

static void turn_round(Graph *g) {
  for (uint32_t w = 0; w < g->first_to[g->nblocks]; w++)
    g->first_from[g->to[w] + 1]++;
  for (uint32_t k = 0; k < g->nblocks; k++)
    g->first_from[k + 1] += g->first_from[k];
  uint32_t *next = ARENA_ARRAY(g->arena, uint32_t, g->nblocks);
  for (uint32_t k = 0; k < g->nblocks; k++)
    for (uint32_t w = g->first_to[k]; w < g->first_to[k + 1]; w++) {
      uint32_t to = g->to[w];
      g->from[g->first_from[to] + next[to]++] = k;
    }
}

static Graph make_graph(Arena *arena, const Blocks *blocks) {
  uint32_t n = blocks->len, ways = count_ways(blocks);
  Graph g = {arena,
             n,
             ARENA_ARRAY(arena, uint32_t, n + 1),
             ARENA_ARRAY(arena, uint32_t, ways + 1),
             ARENA_ARRAY(arena, uint32_t, n + 1),
             ARENA_ARRAY(arena, uint32_t, ways + 1)};
  find_ways(&g, blocks);
  turn_round(&g);
  return g;
}

/* The blocks of a header's loop are marked with its number + 1; 0 of them where nothing leads back to it. */
static uint32_t find_loop(const Graph *g, uint32_t header, uint32_t *mark, uint32_t *body) {
  uint32_t n = 0;
  for (uint32_t w = g->first_from[header]; w < g->first_from[header + 1]; w++)
    if (g->from[w] >= header && mark[g->from[w]] != header + 1)
      mark[body[n++] = g->from[w]] = header + 1;
  if (n && mark[header] != header + 1)
    mark[body[n++] = header] = header + 1;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t w = g->first_from[body[k]]; body[k] != header && w < g->first_from[body[k] + 1];
         w++)
      if (mark[g->from[w]] != header + 1)
        mark[body[n++] = g->from[w]] = header + 1;
  return n;
}

static uint32_t count_exits(const Graph *g, uint32_t header, const uint32_t *mark,
                            const uint32_t *body, uint32_t n) {
  uint32_t exits = 0;
  for (uint32_t k = 0; k < n; k++) {
    bool leaves = false;
    for (uint32_t w = g->first_to[body[k]]; w < g->first_to[body[k] + 1]; w++)
      leaves |= mark[g->to[w]] != header + 1;
    exits += leaves;
  }
  return exits;
}

static uint32_t count_loads(LLVMBasicBlockRef block) {
  uint32_t n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n += LLVMGetInstructionOpcode(i) == LLVMLoad;
  return n;
}

static void count_loops(const Graph *g, const Blocks *blocks, Length *l) {
  uint32_t *mark = ARENA_ARRAY(g->arena, uint32_t, g->nblocks),
           *body = ARENA_ARRAY(g->arena, uint32_t, g->nblocks);
  for (uint32_t header = 0; header < g->nblocks; header++) {
    uint32_t n = find_loop(g, header, mark, body);
    uint32_t exits = count_exits(g, header, mark, body, n);
    l->loops += n > 0;
    l->exits = exits > l->exits ? exits : l->exits;
  }
  for (uint32_t k = 0; k < g->nblocks; k++)
    l->loads += mark[k] ? count_loads(blocks->data[k]) : 0;
}

static Length length_of(Arena *arena, LLVMValueRef f) {
  Blocks blocks = cg_blocks_in_order(arena, f);
  Length l = {.blocks = blocks.len};
  for (uint32_t k = 0; k < blocks.len; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(blocks.data[k]); i; i = LLVMGetNextInstruction(i))
      l.instructions++;
  Graph g = make_graph(arena, &blocks);
  count_loops(&g, &blocks, &l);
  return l;
}

static void raise_to(uint32_t *most, uint32_t n) { *most = n > *most ? n : *most; }

Length cg_length(Cg *cg) {
  Length most = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    Length l = length_of(&cg->cx->arena, f);
    raise_to(&most.instructions, l.instructions), raise_to(&most.blocks, l.blocks);
    raise_to(&most.loops, l.loops), raise_to(&most.exits, l.exits);
    raise_to(&most.loads, l.loads);
  }
  return most;
}
