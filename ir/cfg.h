/* CFG: order, dominators, loops, clean-up. */
#ifndef PYPTX_IR_CFG_H
#define PYPTX_IR_CFG_H

#include "ir/cx.h"
#include "ir/fn.h"

/* drops unreachable blocks (and their phi operands), sorts the list into reverse post-order,
 * numbers rpo */
void ir_order(Cx *cx, Fn *fn);
void ir_dominators(Cx *cx, Fn *fn); /* idom, and what ir_dominates needs; needs ir_order */
bool ir_dominates(const Block *a, const Block *b);
/* a loop with several back edges gets a block that they all go through; orders, and needs
 * ir_order */
void ir_join_latches(Cx *cx, Fn *fn);
/* do both have one value, whenever? No: it is not known */
bool ir_is_same_value(const Ins *a, const Ins *b);
/* phis whose operands are one value and themselves become that value */
void ir_simplify_phis(Cx *cx, Fn *fn);
void ir_drop_dead(Cx *cx, Fn *fn); /* pure instructions without uses */
/* a block with one predecessor that has one successor joins it; empty forwarding blocks go */
void ir_merge_blocks(Cx *cx, Fn *fn);

#endif
