/* Lanes: row versions. What a loop does behind `k // n` and `k % n` gets a second version, for
 * iterations in which all lanes have the same quotient. See lanes.h.
 *
 * Where k counts from lane to lane and n is uniform, such lanes are neighbours in one row: the
 * quotient is uniform and the rest counts as k does, so what they address is one access, and checks
 * of both are those of numbers. Whether they are is asked in each iteration:
 *
 *   header -> front -> region -> end -> header      the original, for lanes of two rows
 *               |                 |
 *               +--> region' -----+                 quotient and rest are uniform and linear
 *
 * The region is all that the loop does from the first such division on, in a small innermost loop
 * with one exit, at the header, each of whose iterations comes to the division. The test: k and n
 * are below a quarter of all numbers in all lanes, and so is lane 0's rest, plus what k rises by,
 * below n. Then no lane's rest wraps, nothing is negative, and floor division is the CPU's without
 * corrections. pyptx.all asks it by the first and the last lane; for a single thread it becomes
 * false, as in loop_versions.c. */

#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/guards.h"
#include "codegen/llvm/match.h"

enum { MOST_INSTRUCTIONS = 160, MOST_BLOCKS = 24, LARGEST_STEP = 1 << 16, LEAST_BITS = 32 };

typedef struct Row {
  Lanes *l;
  LLVMValueRef division;          /* the first */
  LLVMValueRef number, by;        /* its operands */
  LLVMValueRef divisor;           /* by, or 1 where that is 0 */
  LLVMBasicBlockRef front, begin; /* in front of the region; its first block */
  LLVMBasicBlockRef last, end;    /* its last block; behind it: the loop's latch */
  RegionCopy copies;
} Row;

/* --- which divisions --- */

static bool is_quotient(LLVMValueRef v) { return cg_is_op(v, LLVMUDiv) || cg_is_op(v, LLVMSDiv); }

static bool is_row_division(Lanes *l, LLVMValueRef v) {
  if (!cg_is_division(v) || cg_int_width(v) < LEAST_BITS || cg_int_width(v) > 64 ||
      ln_shape(l, v).kind != SHAPE_VECTOR)
    return false;
  Shape k = ln_shape(l, LLVMGetOperand(v, 0));
  return k.kind == SHAPE_STEP && k.step && k.step < LARGEST_STEP && k.step > -LARGEST_STEP &&
         ln_is_uniform(ln_shape(l, LLVMGetOperand(v, 1)));
}

/* Behind a division: does something read or write memory at places that depend on it? */
static bool addresses(Lanes *l, LLVMValueRef v, int depth) {
  enum { DEEPEST = 8 };
  for (LLVMUseRef u = LLVMGetFirstUse(v); u && depth < DEEPEST; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAGetElementPtrInst(user) ||
        (!LLVMIsAPHINode(user) && ln_value(l, user) && addresses(l, user, depth + 1)))
      return true;
  }
  return false;
}

/* The first in a block that each iteration runs; NULL if there is none. */
static LLVMValueRef find_division(Lanes *l, const LaneLoop *loop) {
  for (uint32_t k = 0; k < l->nblocks; k++) {
    uint32_t at = l->order[k];
    if (!ln_in_set(&loop->blocks, at) || at == loop->in->header ||
        !graph_dominates(&l->g, at, loop->latch))
      continue;
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[at].in->block); i;
         i = LLVMGetNextInstruction(i))
      if (is_row_division(l, i) && addresses(l, i, 0))
        return i;
  }
  return NULL;
}

/* The last iterations of a loop that has a version without masks in front are not worth it. */
static bool is_what_is_left(Lanes *l, const LaneLoop *loop) {
  const LaneBlock *h = &l->blocks[loop->in->header];
  for (uint32_t p = 0; p < h->in->npred; p++) {
    LLVMBasicBlockRef from = l->blocks[h->in->pred[p]].in->block;
    Fork fork;
    if (graph_fork(LLVMGetBasicBlockTerminator(from), &fork) &&
        cg_is_call_of(fork.condition, CG_ALL_NAME))
      return true;
  }
  return false;
}

/* --- the copy --- */

static void copy_row(Row *r, const LaneLoop *loop) {
  Lanes *l = r->l;
  LLVMBasicBlockRef *blocks = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, loop->in->nnodes);
  uint32_t n = 0, at = graph_number(&l->g, LLVMGetInstructionParent(r->division));
  r->end = l->blocks[loop->latch].in->block;
  r->last = graph_cut_before(l->cg, LLVMGetBasicBlockTerminator(r->end));
  l_at_end(l->b, r->last, NULL);
  l_br(l->b, r->end);
  r->begin = LLVMGetInstructionParent(r->division);
  r->front = graph_cut_before(l->cg, r->division);
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&loop->blocks, k) && graph_dominates(&l->g, at, k))
      blocks[n++] = k == loop->latch ? r->last : l->blocks[k].in->block;
  r->copies = copy_region(l->cg, blocks, n, r->end, "row");
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&loop->blocks, k) && graph_dominates(&l->g, at, k))
      ln_enter_trap(l, k, &r->copies);
}

/* What the next iteration has of the region. */
static void join_row(Row *r, const LaneLoop *loop) {
  Lanes *l = r->l;
  LLVMBasicBlockRef from[] = {r->last, copy_of_block(&r->copies, r->last)};
  for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[loop->in->header].in->block);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      LLVMValueRef v = LLVMGetIncomingValue(phi, k), of[] = {v, copy_of(&r->copies, v)};
      if (LLVMGetIncomingBlock(phi, k) != r->end || of[1] == v)
        continue;
      LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(r->end));
      LLVMValueRef both = l_phi(l->b, LLVMTypeOf(v));
      LLVMAddIncoming(both, of, from, 2);
      LLVMSetOperand(phi, k, both);
    }
}

/* --- quotients and rests --- */

/* Of the same operands, as the shapes of the version take it: uniform, or linear. */
static LLVMValueRef divide(Row *r, LLVMOpcode op) {
  Lanes *l = r->l;
  LLVMValueRef v = l_binop(l->b, op, r->number, r->divisor);
  if (LLVMIsAInstruction(v))
    LLVMSetMetadata(
        v, l->row_kind,
        LLVMMetadataAsValue(l->cg->context, LLVMMDNodeInContext2(l->cg->context, NULL, 0)));
  return v;
}

static void replace_divisions(Row *r, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!cg_is_division(i) || LLVMGetOperand(i, 0) != r->number || LLVMGetOperand(i, 1) != r->by)
      continue;
    LLVMPositionBuilderBefore(r->l->b, i);
    LLVMReplaceAllUsesWith(i, divide(r, is_quotient(i) ? LLVMUDiv : LLVMURem));
    LLVMInstructionEraseFromParent(i);
  }
}

/* Corrections for signs, of which there are none. */
static void drop_corrections(Row *r, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    DivisionGuard g;
    next = LLVMGetNextInstruction(i);
    if (!cg_find_guard(i, &g) || !g.then ||
        !LLVMGetMetadata(LLVMGetOperand(g.then, 0), r->l->row_kind))
      continue;
    LLVMValueRef all = g.sum ? g.sum : g.choice;
    LLVMReplaceAllUsesWith(all, g.often);
    if (next == all)
      next = LLVMGetNextInstruction(next);
    copy_erase_unused(all);
  }
}

/* --- the test --- */

static LLVMValueRef all_below(Row *r, LLVMValueRef v, LLVMValueRef limit) {
  Lanes *l = r->l;
  return ln_call_all(l, l_icmp(l->b, LLVMIntULT, v, limit), true);
}

static void branch_on_row(Row *r) {
  Lanes *l = r->l;
  LLVMTypeRef t = LLVMTypeOf(r->number);
  l_at_end(l->b, r->front, NULL);
  LLVMValueRef quarter = l_int(t, 1ull << (LLVMGetIntTypeWidth(t) - 2)),
               args[] = {r->by, l_int(t, 1)};
  r->divisor = LLVMIsAConstantInt(r->by)
                   ? r->by
                   : l_call(l->b, cg_intrinsic_fn(l->cg, "llvm.umax", &t, 1), args, 2);
  LLVMValueRef small = l_and(l->b, l_icmp(l->b, LLVMIntULT, r->by, quarter),
                             all_below(r, r->number, quarter)),
               one = l_and(l->b, small, all_below(r, divide(r, LLVMURem), r->divisor));
  l_condbr(l->b, one, copy_of_block(&r->copies, r->begin), r->begin);
}

static void make_version(Lanes *l, const LaneLoop *loop, LLVMValueRef division) {
  Row r = {.l = l,
           .division = division,
           .number = LLVMGetOperand(division, 0),
           .by = LLVMGetOperand(division, 1)};
  copy_row(&r, loop);
  join_row(&r, loop);
  branch_on_row(&r);
  for (uint32_t pass = 0; pass < 2; pass++)
    for (LLVMBasicBlockRef b = copy_of_block(&r.copies, r.begin); b != r.end;
         b = LLVMGetNextBasicBlock(b))
      (pass ? drop_corrections : replace_divisions)(&r, b);
}

bool ln_make_row_versions(Lanes *l) {
  bool any = false;
  for (uint32_t k = 0; k < l->loops.len; k++) {
    const LaneLoop *loop = &l->loops.data[k];
    if (!ln_is_closed(l, loop, MOST_INSTRUCTIONS, MOST_BLOCKS) || loop->latch == loop->in->header ||
        l->blocks[loop->latch].in->nsucc != 1 || l->blocks[loop->latch].in->trap ||
        is_what_is_left(l, loop))
      continue;
    LLVMValueRef division = find_division(l, loop);
    if (division)
      make_version(l, loop, division);
    any |= division != NULL;
  }
  return any;
}
