/* NVPTX wide rows: rows that loops read, in wide accesses.
 *
 *   for k in range(32):
 *     ax, ay, bx, by = pattern[32 * word + k]
 *
 * As outside of loops (wide_accesses.c) each of these loads touches a cache line for each thread or
 * two of a warp, and here each iteration has them. Whether a row may be one access is known in
 * front of the loop, by the array's address and the widths of its rows, and is the same in all
 * threads. So the loop is written twice:
 *
 *   if (address | width) & 3 == 0:
 *     for k in range(32): row = load of 4 bytes; …
 *   else:
 *     for k in range(32): ax = load; ay = load; bx = load; by = load; …
 *
 * So are rows that all threads read: each access takes its turn in the load pipe.
 *
 * A row of which the loop reads more than its wide accesses, as the third of three numbers behind a
 * condition, is as wide as all of it, and hardly ever begins at such multiples.
 *
 * Rows at places that one iteration hands to the next, but for counters, stay: there the loop's
 * time is that chain, and a merge of two lists of edges took 1.28 of it.
 *
 * In: functions as they go to the code generator. Innermost loops, of which all instructions may be
 * written twice and are not many. Rows whose address is made of more than the array's and multiples
 * of widths stay as they are. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/memory/wide_accesses.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_CODE = 256, /* instructions of a loop that is written twice */
  MAX_DEPTH = 8,   /* of what an index is made of */
};

typedef struct Rows {
  const FnGraph *g;
  const GraphLoop *loop;
  uint32_t number;         /* the loop's */
  LLVMBasicBlockRef front; /* NULL: only asks whether there are any */
  LLVMValueRef bits;       /* 0: the rows may be read in wide accesses */
  bool any;
} Rows;

/* Does all that the loop reads at the group's common address end at such a multiple? */
static bool is_whole(const Cg *cg, const Rows *rows, const Access *group, unsigned widest) {
  int64_t end = 0;
  for (uint32_t k = 0; k < rows->loop->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(rows->g->nodes[rows->loop->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i)) {
      Access a = LLVMIsALoadInst(i) ? cg_access_of(cg, i, false) : (Access){0};
      if (LLVMIsALoadInst(i) && cg_is_side_by_side(group, &a) && a.constant + a.bytes > end)
        end = a.constant + a.bytes;
    }
  return end % widest == 0;
}

/* Is v made of what one iteration hands to the next, beside counters? What is loaded is not looked
 * into: it is another place each time. */
static bool is_carried(const Rows *rows, LLVMValueRef v, unsigned depth) {
  if (!v || !graph_in_loop(rows->g, rows->number, v) || LLVMIsALoadInst(v) || !depth)
    return false;
  if (LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == rows->g->nodes[rows->loop->header].block)
    return !graph_counts(rows->g, rows->number, v);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    if (is_carried(rows, LLVMGetOperand(v, k), depth - 1))
      return true;
  return false;
}

/* What the groups ask for is computed in front of the loop. */
static void write_rows(Run *r, const Gain *gains, const bool *chosen, LLVMValueRef at) {
  Rows *rows = r->user;
  LLVMBuilderRef b = r->cg->builder;
  LLVMValueRef wide[RUN_MOST] = {0};
  for (unsigned k = 0; k < r->n; k++) {
    if (!chosen[k] || r->all[k].group != k || is_carried(rows, r->all[k].index, MAX_DEPTH) ||
        !is_whole(r->cg, rows, &r->all[k], gains[k].widest))
      continue;
    rows->any = true;
    if (!rows->front)
      continue;
    l_at_end(b, rows->front, NULL);
    LLVMValueRef own = cg_wide_common_bits(r->cg, &r->all[k], gains[k].widest);
    rows->bits = rows->bits ? l_or(b, rows->bits, own) : own;
    LLVMPositionBuilderBefore(b, at);
    cg_wide_write(r, k, wide);
  }
  for (unsigned k = 0; k < r->n; k++)
    if (wide[k]) {
      LLVMReplaceAllUsesWith(r->all[k].ins, wide[k]);
      LLVMInstructionEraseFromParent(r->all[k].ins);
      r->all[k].erased = true;
    }
  for (unsigned k = 0; k < r->n; k++)
    r->all[k].done |= chosen[k];
}

static void visit_blocks(Cg *cg, Rows *rows) {
  Run *r = CX_NEW(cg->cx, Run);
  *r = (Run){.cg = cg, .common = true, .write = write_rows, .user = rows};
  for (uint32_t k = 0; k < rows->loop->nnodes; k++)
    cg_wide_visit(r, rows->g->nodes[rows->loop->nodes[k]].block);
}

static bool may_be_twice(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  unsigned code = 0;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[loop->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i))
      if (++code > MOST_CODE || !cg_nvptx_may_be_twice(cg, i))
        return false;
  return true;
}

static bool has_rows(Cg *cg, const FnGraph *g, uint32_t number) {
  const GraphLoop *loop = &g->loops.data[number];
  Rows rows = {.g = g, .loop = loop, .number = number};
  if (loop->innermost && may_be_twice(cg, g, loop))
    visit_blocks(cg, &rows);
  return rows.any;
}

/* The function's values that are used behind the loop are phis there. */
static void write_versions(Cg *cg, const FnGraph *g, uint32_t number, LLVMBasicBlockRef front) {
  const GraphLoop *loop = &g->loops.data[number];
  uint32_t n = loop->nnodes;
  LLVMBasicBlockRef *blocks = CX_ARRAY(cg->cx, LLVMBasicBlockRef, n);
  for (uint32_t k = 0; k < n; k++)
    blocks[k] = g->nodes[loop->nodes[k]].block;
  LLVMBasicBlockRef header = g->nodes[loop->header].block;
  RegionCopy copies = copy_region(cg, blocks, n, header, "");
  copy_join_exits(&copies, blocks, n);
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
  Rows rows = {.g = g, .loop = loop, .number = number, .front = front};
  visit_blocks(cg, &rows);
  l_at_end(cg->builder, front, NULL);
  LLVMValueRef fits = l_icmp(cg->builder, LLVMIntEQ, rows.bits, l_int(cg->t.i32, 0));
  l_condbr(cg->builder, fits, header, copy_of_block(&copies, header));
}

/* Is there such a loop? Writes all of them, if so told. */
static bool read_loops(Cg *cg, LLVMValueRef f, bool write) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  bool any = false;
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len && !g.irreducible; k++) {
    LLVMValueRef front = graph_front(&g, k);
    if (!front || !has_rows(cg, &g, k))
      continue;
    any = true;
    if (write && graph_next(LLVMGetInstructionParent(front)))
      write_versions(cg, &g, k, LLVMGetInstructionParent(front));
  }
  return any;
}

void cg_nvptx_wide_rows(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || !read_loops(cg, f, false))
      continue;
    cg_run_function_passes(cg, f, "loop-simplify,lcssa");
    read_loops(cg, f, true);
  }
}
