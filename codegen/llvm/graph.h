/* Graph: the control-flow graph of an LLVM function. Private to this room.
 *
 * LLVM's C API has no block order, predecessors, dominators, loops or liveness; this is the one
 * place that computes them. Nodes are numbered in reverse post-order, so an edge to the same or a
 * lower number is a back edge. A graph is a snapshot: after changing a function's edges, make a new
 * one. */
#ifndef PYPTX_CODEGEN_LLVM_GRAPH_H
#define PYPTX_CODEGEN_LLVM_GRAPH_H

#include "codegen/llvm/cg.h"
#include "codegen/llvm/valuemap.h"

enum { GRAPH_NONE = UINT32_MAX };

/* A block; in a graph with cuts a part of one, and the parts of one block have consecutive
 * numbers. */
typedef struct GraphNode {
  LLVMBasicBlockRef block;
  LLVMValueRef first, last; /* instructions; last: the terminator, or the one before the cut */
  uint32_t *succ, nsucc;    /* in the terminator's order; duplicates stay but for GraphHow.checks */
  uint32_t *pred, npred;
  LLVMBasicBlockRef trap; /* GraphHow.checks: the successor that ends in a trap, or NULL */
  uint32_t idom;          /* graph_dominators: GRAPH_NONE at the entry */
  /* graph_post_dominators: GRAPH_NONE where no node is on all paths to an end */
  uint32_t ipdom;
  bool ends;      /* graph_post_dominators: an end is reachable from here */
  uint32_t loop;  /* graph_loops: the innermost, GRAPH_NONE if none */
  uint32_t depth; /* graph_loops: the number of loops around it */
} GraphNode;

typedef struct GraphLoop {
  uint32_t header, parent;     /* parent: a loop, GRAPH_NONE if none */
  uint32_t *latches, nlatches; /* sources of back edges to the header, each once */
  uint32_t *nodes, nnodes;     /* the natural loop's: the header, then the latches, then the rest */
  bool innermost;              /* it has no back edges but those of the latches */
} GraphLoop;

typedef struct FnGraph {
  Arena *arena;
  GraphNode *nodes;
  uint32_t len;
  VEC(GraphLoop) loops; /* graph_loops; outer ones first */
  bool irreducible;     /* graph_loops: some loop has several entries */
  ValueMap number;      /* of blocks: their first node */
} FnGraph;

typedef struct GraphHow {
  /* Leave out blocks that can only end in a trap, on a path without branches, and merge duplicate
   * edges. */
  bool checks;
  bool near_first; /* prefer a block's first successor as the next in the order, else the last */
  /* Is the block cut after this instruction? NULL: nowhere. */
  bool (*cuts)(const void *user, LLVMValueRef i);
  const void *user;
} GraphHow;

/* The reachable nodes of f, whose blocks all have terminators, and their edges. how NULL: all of it
 * zero. */
FnGraph graph_of(Arena *arena, LLVMValueRef f, const GraphHow *how);
void graph_post_dominators(FnGraph *g);
void graph_loops(FnGraph *g); /* computes dominators, too */
/* The module's functions with code, one after the other, each with its loops: *f is NULL for the
 * first; false: there are no more. */
bool graph_next_function(const Cg *cg, LLVMValueRef *f, FnGraph *g);
/* Has every loop of every function looked at, a function's outer ones first. (Of one whose edges
 * that changes, the graph stays as it was.) */
void graph_each_loop(Cg *cg, void (*look_at)(Cg *cg, const FnGraph *g, uint32_t loop));
bool graph_dominates(const FnGraph *g, uint32_t a, uint32_t b);
uint32_t graph_common(const FnGraph *g, uint32_t a,
                      uint32_t b); /* the nearest that dominates both */
/* The first node of a block, and the one with its terminator; GRAPH_NONE if it is not reachable. */
uint32_t graph_number(const FnGraph *g, LLVMBasicBlockRef block);
uint32_t graph_end(const FnGraph *g, LLVMBasicBlockRef block);

/* Is v computed in the loop, or in a loop in it? Constants and parameters are not. */
bool graph_in_loop(const FnGraph *g, uint32_t loop, LLVMValueRef v);
/* Is a phi of the loop's header a counter: moved on by what the loop does not change? */
bool graph_counts(const FnGraph *g, uint32_t loop, LLVMValueRef phi);
/* The terminator of the only block from which the loop is entered; NULL if there are several. */
LLVMValueRef graph_front(const FnGraph *g, uint32_t loop);
/* The same of the outermost loop around it that does not change v, as it does not. */
LLVMValueRef graph_outer_front(const FnGraph *g, uint32_t loop, LLVMValueRef v);

/* --- liveness --- */

typedef struct LiveSets { /* of a node: bit sets of variables */
  uint64_t *use, *def;    /* read in the node before any write there; written in the node */
  uint64_t *in, *out;     /* live at the node's beginning, at its end */
} LiveSets;

/* Empty sets for each node; the caller fills use and def, then graph_live fills in and out. */
LiveSets *graph_live_sets(const FnGraph *g, uint32_t variables);
void graph_live(const FnGraph *g, LiveSets *sets, uint32_t variables);

static inline uint32_t set_words(uint32_t bits) { return (bits + 63) / 64; }
static inline bool set_has(const uint64_t *set, uint32_t k) { return set[k / 64] >> (k % 64) & 1; }
static inline void set_add(uint64_t *set, uint32_t k) { set[k / 64] |= (uint64_t)1 << (k % 64); }
static inline void set_drop(uint64_t *set, uint32_t k) {
  set[k / 64] &= ~((uint64_t)1 << (k % 64));
}

/* --- edges --- */

typedef struct Fork { /* a conditional branch */
  LLVMValueRef condition;
  LLVMBasicBlockRef yes, no;
} Fork;

bool graph_fork(LLVMValueRef end, Fork *fork); /* false: the terminator is not one */
unsigned graph_count_edges(LLVMValueRef end);
/* The only successor of a block; NULL unless its terminator has exactly one edge. */
LLVMBasicBlockRef graph_next(LLVMBasicBlockRef block);
/* The block from which the only edge to it comes; NULL unless there is exactly one. */
LLVMBasicBlockRef graph_before(LLVMBasicBlockRef block);
/* The first instruction of a block that is no phi. */
LLVMValueRef graph_behind_phis(LLVMBasicBlockRef block);
/* Redirects all edges of the terminator to `from` to `to`; phis are not changed. */
void graph_redirect(LLVMValueRef end, LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/* What is in front of i in its block becomes a block of its own, without a terminator, to which all
 * edges to the block now lead. */
LLVMBasicBlockRef graph_cut_before(Cg *cg, LLVMValueRef i);
/* An instruction that only one way comes by: from `before` either to `apart`, where it is, and on
 * to `block`, or to `block` at once, which begins with the phi of its value and another's. */
typedef struct GraphDetour {
  LLVMBasicBlockRef before, apart, block;
  LLVMValueRef phi;
} GraphDetour;

/* Moves i to such a block; the builder is at the end of `before`, whose branch is still to be
 * written. */
GraphDetour graph_detour(Cg *cg, LLVMValueRef i, const char *name);
void graph_join_detour(const GraphDetour *d, LLVMValueRef i, LLVMValueRef otherwise);
/* The edges back to the loop's header lead to `into` instead, which begins with phis for them, and
 * from `last`, which is it or comes behind it and is written already, to the header. */
void graph_join_latches(const FnGraph *g, const GraphLoop *loop, LLVMBuilderRef b,
                        LLVMBasicBlockRef into, LLVMBasicBlockRef last);
/* The phi's operand for the edge from that block, NULL if it has none. */
LLVMValueRef graph_incoming(LLVMValueRef phi, LLVMBasicBlockRef from);
/* A phi with one edge, of v, takes the place of one with edges from these n blocks, too. LLVM's C
 * API cannot take edges away. */
void graph_join_edges(Cg *cg, LLVMValueRef phi, const LLVMBasicBlockRef *edges, unsigned n,
                      LLVMBasicBlockRef from, LLVMValueRef v);

#endif
