/* Small loops: innermost loops of a few blocks, which are left from their headers only. */
#ifndef PYPTX_CODEGEN_SSA_SMALL_LOOP_H
#define PYPTX_CODEGEN_SSA_SMALL_LOOP_H

#include "ir/fn.h"

enum { SMALL_LOOP_BLOCKS = 12, NEST_BLOCKS = 32 };

typedef struct SmallLoop { /* the header first */
  Block *blocks[NEST_BLOCKS];
  unsigned n;
} SmallLoop;

bool ssa_is_header(const Block *b); /* does a loop begin with it? Needs dominators */
bool ssa_in_loop(const SmallLoop *loop, const Block *b);

/* The loop of an edge; false if it is no back edge, or the loop is not small. Needs dominators. */
bool ssa_small_loop(SmallLoop *loop, Block *header, Block *latch);

/* The same of a loop with small loops in it, which have no others in them. */
bool ssa_small_nest(SmallLoop *loop, Block *header, Block *latch);

/* The same, whatever loops are in it, and from wherever it is left. */
bool ssa_any_nest(SmallLoop *loop, Block *header, Block *latch);

/* May the loop be written twice, and has it, with the functions that it calls, at most so many
 * operations? */
bool ssa_is_short(const SmallLoop *loop, unsigned most);

/* The load that a bound was made of, as those of a sparse matrix's rows or a node's neighbours are,
 * or that a sum begins with; else NULL. */
const Ins *ssa_loaded(const Ins *bound);

#endif
