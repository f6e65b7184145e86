/* Graph: an LLVM function as a control-flow graph. Private to this room.
 *
 * LLVM's C API has no order of blocks, no predecessors, dominators, loops or liveness; this is the
 * one place that works them out. Nodes are numbered in reverse post-order, so an edge to the same
 * or a lower number leads back. A graph is a picture: who changes the function's edges makes a new
 * one. */
#ifndef PYPTX_CODEGEN_LLVM_GRAPH_H
#define PYPTX_CODEGEN_LLVM_GRAPH_H

#include "codegen/llvm/cg.h"
#include "codegen/llvm/valuemap.h"

enum { GRAPH_NONE = UINT32_MAX };

/* A block; in a graph with cuts a stretch of one, and stretches of one block have neighbouring
 * numbers. */
typedef struct GraphNode {
  LLVMBasicBlockRef block;
  LLVMValueRef first,
      last;              /* instructions; last: the terminator, or what the block is cut behind */
  uint32_t *succ, nsucc; /* as the terminator names them, also twice, but for GraphHow.checks */
  uint32_t *pred, npred;
  LLVMBasicBlockRef trap; /* GraphHow.checks: the successor that ends in one, NULL if none */
  uint32_t idom;          /* graph_loops: GRAPH_NONE at the entry */
  uint32_t
      ipdom; /* graph_post_dominators: GRAPH_NONE where the paths to an end have no node in common */
  bool ends;      /* graph_post_dominators: an end can be reached from here */
  uint32_t loop;  /* graph_loops: the innermost, GRAPH_NONE if none */
  uint32_t depth; /* graph_loops: how many are around it */
} GraphNode;

typedef struct GraphLoop {
  uint32_t header, parent;     /* parent: a loop, GRAPH_NONE if none */
  uint32_t *latches, nlatches; /* where edges lead back to the header, each once */
  uint32_t *nodes,
      nnodes; /* from which a latch is reached without passing the header; with both, which come first */
  bool innermost; /* no other edge leads back among them */
} GraphLoop;

typedef struct FnGraph {
  Arena *arena;
  GraphNode *nodes;
  uint32_t len;
  VEC(GraphLoop) loops; /* graph_loops; outer ones first */
  bool irreducible;     /* graph_loops: some loop has several entries */
  ValueMap number;      /* of blocks: the first node */
} FnGraph;

typedef struct GraphHow {
  /* Blocks that can only end in a trap, on a path without branches, are no nodes, and several edges
   * to one node are one. */
  bool checks;
  bool near_first; /* the first successor comes next in the order, where it can; else the last */
  /* Is the block cut behind this instruction? NULL: nowhere. */
  bool (*cuts)(const void *user, LLVMValueRef i);
  const void *user;
} GraphHow;

/* Nodes that are reached, and their edges. how: NULL is all of it zero. */
FnGraph graph_of(Arena *arena, LLVMValueRef f, const GraphHow *how);
void graph_post_dominators(FnGraph *g);
void graph_loops(FnGraph *g); /* and dominators */
bool graph_dominates(const FnGraph *g, uint32_t a, uint32_t b);
/* The first node of a block, and that with its terminator; GRAPH_NONE if it is not reached. */
uint32_t graph_number(const FnGraph *g, LLVMBasicBlockRef block);
uint32_t graph_end(const FnGraph *g, LLVMBasicBlockRef block);

/* --- liveness --- */

typedef struct LiveSets { /* of a node: bits by variable */
  uint64_t *use, *def;    /* read before it is written here; written */
  uint64_t *in, *out;     /* read from the node's beginning, from its end on */
} LiveSets;

/* Empty sets, one a node; the caller fills use and def. */
LiveSets *graph_live_sets(const FnGraph *g, uint32_t variables);
void graph_live(const FnGraph *g, LiveSets *sets, uint32_t variables);

static inline uint32_t set_words(uint32_t bits) { return (bits + 63) / 64; }
static inline bool set_has(const uint64_t *set, uint32_t k) { return set[k / 64] >> (k % 64) & 1; }
static inline void set_add(uint64_t *set, uint32_t k) { set[k / 64] |= (uint64_t)1 << (k % 64); }
static inline void set_drop(uint64_t *set, uint32_t k) {
  set[k / 64] &= ~((uint64_t)1 << (k % 64));
}

/* --- edges --- */

typedef struct Fork { /* a branch by a condition */
  LLVMValueRef condition;
  LLVMBasicBlockRef yes, no;
} Fork;

bool graph_fork(LLVMValueRef end, Fork *fork); /* false: the terminator is none */
unsigned graph_count_edges(LLVMValueRef end);
/* Where a block leads that has one edge; NULL where it has another number. */
LLVMBasicBlockRef graph_next(LLVMBasicBlockRef block);
/* Every edge of the terminator to `from` leads to `to`; phis are left as they are. */
void graph_redirect(LLVMValueRef end, LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/* The edges back to the loop's header lead to `into` instead, which begins with phis for them, and
 * from `last`, which is it or comes behind it and is written already, to the header. */
void graph_join_latches(const FnGraph *g, const GraphLoop *loop, LLVMBuilderRef b,
                        LLVMBasicBlockRef into, LLVMBasicBlockRef last);
/* The phi's operand for the edge from that block, NULL if it has none. */
LLVMValueRef graph_incoming(LLVMValueRef phi, LLVMBasicBlockRef from);

#endif
