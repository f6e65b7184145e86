/* NVPTX masked unrolling: short loops that load, unrolled eight times without an epilogue, and the
 * iterations that are left over where LLVM has unrolled a loop.
 *
 * A loop between bounds that were loaded from memory (a row of a sparse matrix, a particle's
 * neighbours) runs some ten or twenty times, with a trip count that differs from thread to thread.
 * Unrolled by LLVM, four times with an epilogue, up to three iterations wait for their loads one
 * after another. Here eight iterations become one. Each after the first is predicated on the trip
 * count: arithmetic is speculated, loads are branched around, and variables keep their values.
 * ptxas makes one block of that, the loads first. Where much is computed, LLVM unrolls the loop.
 *
 *   for k in range(start, end):
 *     acc += value[k]
 *
 * becomes
 *
 *   n = end - start
 *   do:
 *     v0 = value[k]; if n > 1: v1 = value[k + 1]; …; if n > 7: v7 = value[k + 7]
 *     acc += v0; acc = acc + v1 if n > 1 else acc; …
 *     k += 8; n -= 8
 *   while n > 0
 *
 * Where LLVM, or strided_unroll.c, has unrolled a loop N times, a loop is left for the up to N - 1
 * iterations before or behind it. With one load in flight it takes more time than the unrolled one
 * wherever the trip count is small, as in a row that the threads of a block share. It becomes the
 * same code with up to N - 1 copies; with N - 1 it runs once:
 *
 *   if n > 0:  # of 0 to 7
 *     v0 = value[k]; if n > 1: v1 = value[k + 1]; …; if n > 6: v6 = value[k + 6]
 *     acc += v0; acc = acc + v1 if n > 1 else acc; …
 *
 * or, where much is computed or something is stored, with the loads as they are there and
 *
 *     acc += exp(v0); if n > 1: acc += exp(v1); if n > 2: acc += exp(v2); …
 *
 * In: an optimised module in which lower/unroll_hints.c has marked loops. A marked loop must be a
 * single block that branches to itself until its counter, which steps by 1, equals a loop
 * invariant; it may load, and compute what may be speculated. Others get the metadata by which LLVM
 * unrolls them: four or eight times, what is left over of such a loop twice; and so do those whose
 * bounds a warp's threads have in common. Loads that depend on loads of the iteration before are
 * refused: they could not be in flight at once. */
#include "codegen/nvptx/loops/masked_unroll.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/loops/masked_form.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/loops/strided_unroll.h"

enum {
  UNROLLED = 4,
  WORDS = 14,    /* of 32 bits: what the copies of what is left over may have in flight */
  ROUND = 16,    /* … of which some are there in any case, as in a round */
  HELD = 8,      /* words that may be held around a loop, for iterations that are not there */
  HELD_REST = 5, /* … that are left over of a loop which computes much */
  HELD_WAYS = 2, /* … of which each way has its own, and begins them by itself */
  MUCH = 8,      /* instructions behind an iteration's loads, of which masked copies are too many */
  ROW = 24,      /* words that a round of a row in common has in flight */
  PAIRED = 32,   /* words that copies may have in flight of which all but one are there */
};

/* --- writing --- */

static LLVMValueRef value_of(MaskedLoop *l, LLVMValueRef v, unsigned copy);

/* Are copies that are not there left out of its value at the end alone? A copy that is there has
 * all copies before it, so the addresses of its loads need not wait for selections. */
static bool leaves_late(const MaskedLoop *l, const MaskedCarried *c) {
  return c->early && c->read_outside && !l->one_by_one && !c->sum;
}

/* The value of a loop-carried variable in a copy; in copy l->copies: after the last. */
static LLVMValueRef carried_to(MaskedLoop *l, MaskedCarried *c, unsigned copy) {
  if (c->at[copy])
    return c->at[copy];
  assert(copy > 0); /* write_header has made the phis */
  LLVMValueRef before = carried_to(l, c, copy - 1), v = value_of(l, c->next, copy - 1);
  if (c->read_outside && copy > l->least && !l->one_by_one && !c->sum && !leaves_late(l, c))
    v = l_select(l->cg->builder, l->has[copy - 1], v, before);
  return c->at[copy] = v;
}

static LLVMValueRef value_of(MaskedLoop *l, LLVMValueRef v, unsigned copy) {
  uint32_t at = cg_masked_is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return v;
  assert(at >= MAX_BODY || l->steps[at].copy[copy]);
  return at < MAX_BODY ? l->steps[at].copy[copy] : carried_to(l, &l->carried[at - MAX_BODY], copy);
}

/* x + m + n as x + (m + n), of copies that are constant distances apart: LLVM's code generator
 * finds one constant in an index. NULL: it is no such sum. */
static LLVMValueRef added_at_once(MaskedLoop *l, LLVMValueRef sum, LLVMValueRef const *operands) {
  LLVMValueRef before = operands[0], n = operands[1];
  if (!cg_is_op(sum, LLVMAdd) || !LLVMIsAConstantInt(n) || !LLVMIsAInstruction(before) ||
      !cg_is_op(before, LLVMAdd) || !LLVMIsAConstantInt(LLVMGetOperand(before, 1)) ||
      LLVMGetIntTypeWidth(LLVMTypeOf(sum)) < 32)
    return NULL;
  int64_t a = LLVMConstIntGetSExtValue(LLVMGetOperand(before, 1)), b = LLVMConstIntGetSExtValue(n);
  if (a <= 0 || b <= 0 || a > INT16_MAX || b > INT16_MAX) /* then the flags hold for both at once */
    return NULL;
  LLVMValueRef v = l_add(l->cg->builder, LLVMGetOperand(before, 0),
                         l_int(LLVMTypeOf(sum), (uint64_t)(a + b)));
  if (LLVMIsAInstruction(v)) {
    LLVMSetNSW(v, LLVMGetNSW(before) && LLVMGetNSW(sum));
    LLVMSetNUW(v, LLVMGetNUW(before) && LLVMGetNUW(sum));
  }
  return v;
}

static LLVMValueRef cloned(MaskedLoop *l, const MaskedStep *s, unsigned copy) {
  unsigned n = (unsigned)LLVMGetNumOperands(s->ins);
  LLVMValueRef *operands = CX_ARRAY(l->cg->cx, LLVMValueRef, n + 1);
  for (unsigned o = 0; o < n; o++)
    operands[o] = value_of(l, LLVMGetOperand(s->ins, o), copy);
  if (LLVMIsACastInst(s->ins) && LLVMTypeOf(operands[0]) == LLVMTypeOf(s->ins))
    return operands[0]; /* of a load that was extended */
  LLVMValueRef v = n == 2 ? added_at_once(l, s->ins, operands) : NULL;
  if (v)
    return v;
  return copy_ins(l->cg->builder, s->ins, operands);
}

static void compute(MaskedLoop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
    if (s->level == level && !s->load && s->ins != l->compare && (s->early || !l->one_by_one))
      s->copy[copy] = cloned(l, s, copy);
  }
}

/* What an earlier copy has loaded there; NULL: the copy loads for itself. */
static LLVMValueRef read_before(const MaskedLoop *l, const MaskedStep *s, unsigned copy) {
  return s->behind && s->behind <= copy ? l->steps[s->before].copy[copy - s->behind] : NULL;
}

/* Does the copy load by the step? */
static bool loads(const MaskedLoop *l, const MaskedStep *s, int level, unsigned copy) {
  return s->load && s->level == level && !read_before(l, s, copy);
}

static bool has_loads(const MaskedLoop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (loads(l, &l->steps[k], level, copy))
      return true;
  return false;
}

static void take_read_before(MaskedLoop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
    if (s->load && s->level == level && !s->copy[copy])
      s->copy[copy] = read_before(l, s, copy);
  }
}

static LLVMBasicBlockRef new_block(MaskedLoop *l) {
  LLVMBasicBlockRef b = LLVMAppendBasicBlockInContext(l->cg->context, l->function, "");
  LLVMMoveBasicBlockBefore(b, l->block);
  return b;
}

/* Operands come first: they may be loop-carried variables, whose code is written at the first
 * use. */
static void read_addresses(MaskedLoop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (loads(l, &l->steps[k], level, copy))
      value_of(l, LLVMGetOperand(l->steps[k].ins, 0), copy);
}

static void write_loads(MaskedLoop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
    if (!loads(l, s, level, copy))
      continue;
    s->copy[copy] = cloned(l, s, copy);
    if (copy && s->extended_by)
      s->copy[copy] = l_cast(l->cg->builder, s->extended_by, s->copy[copy], l->cg->t.i32);
  }
}

/* A variable of the new loop, if it is one, with its first value. */
static LLVMValueRef entered_with(MaskedLoop *l, LLVMValueRef first) {
  if (l->once)
    return first;
  LLVMValueRef phi = l_phi(l->cg->builder, LLVMTypeOf(first));
  LLVMAddIncoming(phi, &first, &l->entry, 1);
  return phi;
}

/* A variable of the loop that begins with 0: what a copy has loaded, for the next round. */
static LLVMValueRef kept_from(MaskedLoop *l, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->cg->builder);
  LLVMPositionBuilderBefore(l->cg->builder, LLVMGetFirstInstruction(l->header));
  LLVMValueRef phi = entered_with(l, LLVMConstNull(type));
  l_at_end(l->cg->builder, here, NULL);
  return phi;
}

static void load(MaskedLoop *l, int level, unsigned copy) {
  LLVMBuilderRef b = l->cg->builder;
  take_read_before(l, level, copy);
  if (!has_loads(l, level, copy))
    return;
  if (copy < l->least) {
    write_loads(l, level, copy);
    return;
  }
  read_addresses(l, level, copy);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), yes = new_block(l), behind = new_block(l);
  l_condbr(b, l->has[copy], yes, behind);
  l_at_end(b, yes, NULL);
  write_loads(l, level, copy);
  l_br(b, behind);
  l_at_end(b, behind, NULL);
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
    if (!loads(l, s, level, copy))
      continue;
    LLVMTypeRef type = LLVMTypeOf(s->copy[copy]);
    LLVMValueRef phi = l_phi(b, type);
    LLVMValueRef without = s->zero      ? LLVMConstNull(type)
                           : l->defined ? (s->last[copy] = kept_from(l, type))
                                        : LLVMGetPoison(type);
    LLVMAddIncoming(phi, (LLVMValueRef[]){s->copy[copy], without}, (LLVMBasicBlockRef[]){yes, from},
                    2);
    s->copy[copy] = phi;
  }
}

/* The loads of iterations that are there come before the addresses of others: by them LLVM's code
 * generator knows that sums in the addresses do not overflow, if it finds them within some thirty
 * instructions, and writes the others as distances. last_first: the last copy loads before all. */
static void write_levels(MaskedLoop *l, bool last_first) {
  unsigned sure = last_first ? 0 : l->least < l->copies ? l->least : l->copies;
  for (int level = 0; level <= MAX_LEVEL; level++) {
    for (unsigned copy = 0; copy < sure; copy++) {
      compute(l, level, copy);
      load(l, level, copy);
    }
    for (unsigned copy = sure; copy < l->copies; copy++)
      compute(l, level, copy);
    if (last_first)
      load(l, level, l->copies - 1);
    for (unsigned copy = sure; copy + last_first < l->copies; copy++)
      load(l, level, copy);
  }
}

/* Its value after the last copy that there is. */
static LLVMValueRef carried_out(MaskedLoop *l, MaskedCarried *c) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef last = carried_to(l, c, l->copies), next = c->next;
  if (!leaves_late(l, c))
    return last;
  if (l->once && !l->strided && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == c->phi &&
      !cg_masked_is_inside(l, LLVMGetOperand(next, 1))) {
    LLVMValueRef n = l_int_cast(b, l->left, LLVMTypeOf(next), false);
    return l_add(b, c->at[0], l_mul(b, n, LLVMGetOperand(next, 1)));
  }
  last = c->at[l->least];
  for (unsigned k = l->least; k < l->copies; k++)
    last = l_select(b, l->has[k], c->at[k + 1], last);
  return last;
}

static LLVMValueRef initial(const MaskedLoop *l, LLVMValueRef phi) {
  return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == l->block);
}

static void count_left(MaskedLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(l->entry));
  l->left = l_sub(b, l->end, initial(l, l->counter));
  if (l->rest && LLVMTypeOf(l->left) == l->cg->t.i64) /* which is less than COPIES */
    l->left = l_trunc(b, l->left, l->cg->t.i32);
}

/* Is there an iteration for each copy, and (has[copies]) one behind them? */
static void ask_counter(MaskedLoop *l) {
  LLVMValueRef first = l->carried[valuemap_get(&l->place, l->counter) - MAX_BODY].at[0];
  for (unsigned k = l->least; k <= l->copies - l->once; k++)
    l->has[k] = cg_stride_has(l->cg, &l->stride, first, k, l->has[k - 1]);
}

static void write_header(MaskedLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  if (!l->strided)
    count_left(l);
  l->header = new_block(l);
  l_at_end(b, l->header, NULL);
  for (unsigned k = 0; k < l->ncarried; k++)
    l->carried[k].at[0] = entered_with(l, initial(l, l->carried[k].phi));
  if (l->strided) {
    ask_counter(l);
    return;
  }
  l->left = entered_with(l, l->left);
  for (unsigned k = l->least; k < l->copies; k++)
    l->has[k] = l_icmp(b, LLVMIntUGT, l->left, l_int(LLVMTypeOf(l->left), k));
}

/* Is an iteration left behind all copies? */
static LLVMValueRef count_down(MaskedLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef all = l_int(LLVMTypeOf(l->left), l->copies), rest = l_sub(b, l->left, all);
  LLVMAddIncoming(l->left, &rest, &l->block, 1);
  return l_icmp(b, LLVMIntUGT, l->left, all);
}

/* The old block stays as the latch of the new loop, so that phis after the loop keep their
 * predecessor. */
static void write_latch(MaskedLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  for (unsigned k = 0; k < l->ncarried; k++) {
    MaskedCarried *c = &l->carried[k];
    c->out = carried_out(l, c);
    LLVMAddIncoming(c->at[0], &c->out, &l->block, 1);
  }
  for (unsigned k = 0; k < l->nsteps * l->copies; k++) {
    MaskedStep *s = &l->steps[k / l->copies];
    unsigned copy = k % l->copies;
    if (s->last[copy])
      LLVMAddIncoming(s->last[copy], &s->copy[copy], &l->block, 1);
  }
  LLVMValueRef more = l->strided ? l->has[l->copies] : count_down(l);
  l_br(b, l->block);
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork = {0};
  graph_fork(branch, &fork);
  bool second = fork.no == l->block;
  LLVMPositionBuilderBefore(b, branch);
  LLVMSetCondition(branch, second ? l_not(b, more) : more);
  LLVMSetSuccessor(branch, second, l->header);
}

/* Out of the old block, to where the loop would end. */
static void leave(const MaskedLoop *l) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork = {0};
  graph_fork(branch, &fork);
  LLVMBasicBlockRef out = fork.no == l->block ? fork.yes : fork.no;
  LLVMInstructionEraseFromParent(branch);
  l_at_end(l->cg->builder, l->block, NULL);
  l_br(l->cg->builder, out);
}

/* Of code that runs once: straight on. The old block is the last, so that phis behind it keep their
 * predecessor. */
static void write_exit(MaskedLoop *l) {
  for (unsigned k = 0; k < l->ncarried; k++)
    l->carried[k].out = carried_out(l, &l->carried[k]);
  l_br(l->cg->builder, l->block);
  leave(l);
}

/* What is behind the loads, copy by copy, up to the last iteration that there is. */
static void write_one_by_one(MaskedLoop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMBasicBlockRef ends[COPIES], out = new_block(l);
  for (unsigned copy = 0; copy < l->copies; copy++) {
    for (unsigned k = 0; k < l->nsteps; k++) {
      MaskedStep *s = &l->steps[k];
      if (!s->early && s->ins != l->compare)
        s->copy[copy] = cloned(l, s, copy);
    }
    for (unsigned k = 0; k < l->ncarried; k++)
      carried_to(l, &l->carried[k], copy + 1);
    ends[copy] = LLVMGetInsertBlock(b);
    if (copy + 1 == l->copies) {
      l_br(b, out);
      break;
    }
    if (copy + 1 < l->least)
      continue;
    LLVMBasicBlockRef next = new_block(l);
    l_condbr(b, l->has[copy + 1], next, out);
    l_at_end(b, next, NULL);
  }
  LLVMMoveBasicBlockBefore(out, l->block);
  l_at_end(b, out, NULL);
  for (unsigned k = 0; k < l->ncarried; k++) {
    MaskedCarried *c = &l->carried[k];
    if (l->once && !c->read_outside)
      continue;
    LLVMValueRef last = l_phi(b, LLVMTypeOf(c->phi));
    LLVMAddIncoming(last, &c->at[l->least], ends + l->least - 1, l->copies - l->least + 1);
    c->at[l->copies] = last;
  }
}

static void enter(const MaskedLoop *l) {
  graph_redirect(LLVMGetBasicBlockTerminator(l->entry), l->block, l->header);
}

static void erase_old(MaskedLoop *l) {
  for (unsigned k = 0; k < l->ncarried; k++)
    if (l->carried[k].read_outside)
      LLVMReplaceAllUsesWith(l->carried[k].next, l->carried[k].out);
  for (unsigned k = 0; k < l->ncarried; k++)
    LLVMReplaceAllUsesWith(l->carried[k].phi, LLVMGetPoison(LLVMTypeOf(l->carried[k].phi)));
  for (unsigned k = l->nsteps; k-- > 0;)
    LLVMInstructionEraseFromParent(l->steps[k].ins);
  for (unsigned k = 0; k < l->ncarried; k++)
    LLVMInstructionEraseFromParent(l->carried[k].phi);
}

/* What so many copies load, in words. */
static unsigned words_of(const MaskedLoop *l, unsigned copies) {
  unsigned words = 0;
  for (unsigned k = 0; k < l->nsteps; k++) {
    const MaskedStep *s = &l->steps[k];
    unsigned times = s->behind && s->behind < copies ? s->behind : copies;
    if (s->load)
      words += times * cg_nvptx_words_of(l->cg, s->ins);
  }
  return words;
}

/* Then iterations that are not there, and selections, take longer than loads in flight save: LLVM
 * unrolls such a loop, and only what is left over has masks. */
static bool computes_much(const MaskedLoop *l) {
  unsigned late = 0;
  for (unsigned k = 0; k < l->nsteps; k++)
    if (!l->steps[k].early && !l->steps[k].load)
      late += cg_nvptx_instructions_of(l->cg, l->steps[k].ins);
  return late > MUCH;
}

/* Is the loop in another one? */
static bool is_in_loop(const MaskedLoop *l) {
  FnGraph g = graph_of(&l->cg->cx->arena, l->function, NULL);
  graph_loops(&g);
  uint32_t at = graph_number(&g, l->block);
  return at != GRAPH_NONE && g.nodes[at].depth > 1;
}

/* A register that only some threads load has no value before, so ptxas keeps it from the kernel's
 * beginning and throughout the loops around this one. Where these are many, they begin with 0 in
 * front of the loop. Of what is left over of a loop that computes much, fewer are many. */
static bool needs_values(const MaskedLoop *l) {
  bool computes = l->rest && !l->stored && !l->passed && computes_much(l);
  return words_of(l, l->copies) - words_of(l, 1) > (computes ? HELD_REST : HELD) && is_in_loop(l);
}

/* --- as many for all threads ---
 *
 * Where the number of iterations that are left over is the same in all threads of a block, as where
 * each thread has a row, or of a warp, as where they have one row in common, it is asked for: a
 * branch that all take together costs less than masks.
 *
 *   if n >= 4:
 *     if n >= 6: …; six iterations, and one if n > 6
 *     else: …; four iterations, and one if n > 4
 *   elif n >= 2: …; two iterations, and one if n > 2
 *   else: one iteration
 *
 * Each way has all its loads in front. */

/* The values behind `least` iterations, or one more, where the builder stands. */
static void write_way(MaskedLoop *l, unsigned least, unsigned most) {
  LLVMBuilderRef b = l->cg->builder;
  for (unsigned k = 0; k < l->nsteps; k++)
    memset(l->steps[k].copy, 0, sizeof l->steps[k].copy);
  for (unsigned k = 0; k < l->ncarried; k++) {
    memset(l->carried[k].at, 0, sizeof l->carried[k].at);
    l->carried[k].at[0] = initial(l, l->carried[k].phi);
  }
  l->least = least;
  l->copies = most;
  for (unsigned k = least; k < most; k++)
    l->has[k] = l_icmp(b, LLVMIntUGT, l->left, l_int(LLVMTypeOf(l->left), k));
  write_levels(l, false);
  LLVMValueRef out[MAX_PHIS];
  for (unsigned k = 0; k < l->ncarried; k++)
    out[k] = l->carried[k].read_outside ? carried_out(l, &l->carried[k]) : NULL;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
  for (unsigned k = 0; k < l->ncarried; k++)
    if (out[k])
      LLVMAddIncoming(l->carried[k].out, &out[k], &here, 1);
  l_br(b, l->block);
}

/* The ways of 2 * lo to 2 * hi + 1 iterations, but of no more than `most`. */
static void write_ways(MaskedLoop *l, unsigned lo, unsigned hi, unsigned most) {
  LLVMBuilderRef b = l->cg->builder;
  if (lo == hi) {
    write_way(l, lo ? 2 * lo : 1, 2 * lo + 1 < most ? 2 * lo + 1 : most);
    return;
  }
  unsigned half = (lo + hi + 1) / 2;
  LLVMBasicBlockRef more = new_block(l), less = new_block(l);
  LLVMValueRef many = l_icmp(b, LLVMIntUGE, l->left, l_int(LLVMTypeOf(l->left), 2 * half));
  l_condbr(b, many, more, less);
  l_at_end(b, less, NULL);
  write_ways(l, lo, half - 1, most);
  l_at_end(b, more, NULL);
  write_ways(l, half, hi, most);
}

/* The old block is where all ways end, so that phis behind it keep their predecessor. */
static void write_for_all(MaskedLoop *l, unsigned most) {
  LLVMBuilderRef b = l->cg->builder;
  l->once = true;
  l->one_by_one = false;
  /* Each way but one has an iteration that may not be there. */
  l->defined = words_of(l, 1) * (most / 2) > HELD_WAYS && is_in_loop(l);
  cg_masked_find_sums(l);
  count_left(l);
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(l->block));
  for (unsigned k = 0; k < l->ncarried; k++)
    if (l->carried[k].read_outside)
      l->carried[k].out = l_phi(b, LLVMTypeOf(l->carried[k].phi));
  l->header = new_block(l);
  l_at_end(b, l->header, NULL);
  write_ways(l, 0, most / 2, most);
  leave(l);
  enter(l);
  erase_old(l);
}

static bool is_in_common(LLVMValueRef v) {
  return cg_nvptx_same_in_block(v) || cg_nvptx_same_along_x(v);
}

/* Are there as many in all threads of a block, or of a warp, of which little is computed? Where the
 * number is known, nothing need be asked. */
static bool is_for_all(MaskedLoop *l, unsigned most) {
  return most > 2 && l->light && !l->strided && l->least == 1 && words_of(l, most) <= PAIRED &&
         !LLVMIsAConstantInt(l->end) && is_in_common(l->end) &&
         is_in_common(initial(l, l->counter));
}

/* Of two float64, where the second may not be there: what adds it is behind a branch
 * (predicated.c), to which ptxas would move its load, behind what waits for the first. */
static bool is_pair_of_doubles(const MaskedLoop *l) {
  bool any = false;
  for (unsigned k = 0; k < l->nsteps; k++)
    any |= l->steps[k].load && LLVMTypeOf(l->steps[k].ins) == l->cg->t.f64;
  return any && l->strided && l->once && l->copies == 2;
}

static void write_loop(MaskedLoop *l) {
  assert(l->counter && l->compare && l->entry != l->block);
  l->defined = needs_values(l);
  cg_masked_find_sums(l);
  write_header(l);
  write_levels(l, is_pair_of_doubles(l));
  if (l->one_by_one)
    write_one_by_one(l);
  (l->once ? write_exit : write_latch)(l);
  enter(l);
  erase_old(l);
}

/* --- loops --- */

/* Do a warp's threads take one row, as where threadIdx.y chooses it and threadIdx.x a column of
 * what it is multiplied with? Then they are through with it together, and a round of which all
 * iterations are there has no masks: of the row, only what is left over has. */
static bool is_row_in_common(const MaskedLoop *l) {
  return words_of(l, l->copies) <= ROW && cg_nvptx_same_along_x(l->end) &&
         cg_nvptx_same_along_x(initial(l, l->counter));
}

/* A marked loop. Is it left to LLVM, marked to be unrolled? As often as it would have been masked,
 * if only what it computes is too much and its loads have registers; else four times. */
static bool mask_loop(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef block, unsigned copies,
                      bool write) {
  MaskedLoop *l = CX_NEW(cg->cx, MaskedLoop);
  *l = (MaskedLoop){
      .cg = cg, .least = 1, .function = f, .block = block, .place = {.arena = &cg->cx->arena}};
  l->copies = copies;
  bool right = copies <= COPIES && cg_masked_read(l), masked = right && !computes_much(l);
  if (masked && is_row_in_common(l)) {
    cg_mark_short_unrolled(cg->context, LLVMGetBasicBlockTerminator(block), copies);
    return true;
  }
  if (masked && write)
    write_loop(l);
  if (!masked)
    cg_mark_unrolled(cg->context, LLVMGetBasicBlockTerminator(block),
                     right && words_of(l, copies) <= ROUND ? copies : UNROLLED);
  return !masked;
}

/* As many copies as have registers, which a load takes from where it is issued on. */
static bool choose_copies(MaskedLoop *l, unsigned most) {
  l->copies = most;
  if (words_of(l, most) > (l->least > 1 ? ROUND : WORDS))
    while (l->copies && words_of(l, l->copies) > WORDS)
      l->copies--;
  l->once = l->copies == most;
  l->least = l->once ? l->least : 1; /* rounds behind the first may have fewer */
  return l->copies > 1;
}

static bool mask_rest(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef block, unsigned most, bool write) {
  MaskedLoop *l = CX_NEW(cg->cx, MaskedLoop);
  *l = (MaskedLoop){
      .cg = cg, .rest = true, .function = f, .block = block, .place = {.arena = &cg->cx->arena}};
  unsigned least = cg_mark_of(cg, block, MARK_LEAST);
  l->least = least > 1 ? least : 1;
  if (most > COPIES || !cg_masked_read(l))
    return false;
  bool all = is_for_all(l, most), right = all || choose_copies(l, most);
  if (right && write) {
    if (all)
      write_for_all(l, most);
    else
      write_loop(l);
    cg_nvptx_hoist(l->cg, l->header);
  }
  return right;
}

/* Of a loop with that latch: may loads go ahead of what the iterations before do, and are they few
 * enough for that to matter? */
static bool gains_from_llvm(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef latch) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  MaskedLoop none = {.cg = cg};
  unsigned words = 0, size = 0;
  graph_loops(&g);
  uint32_t at = graph_number(&g, latch);
  if (at == GRAPH_NONE || g.nodes[at].loop == GRAPH_NONE)
    return false;
  const GraphLoop *loop = &g.loops.data[g.nodes[at].loop];
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    LLVMBasicBlockRef b = g.nodes[loop->nodes[k]].block;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != end; i = LLVMGetNextInstruction(i)) {
      bool load = cg_is_op(i, LLVMLoad) && cg_is_plain_access(i);
      words += load ? cg_nvptx_words_of(cg, i) : 0;
      size++;
      if (!LLVMIsAPHINode(i) && !load && !cg_is_speculatable(i) &&
          !cg_masked_may_follow_loads(&none, i))
        return false;
    }
  }
  return words && words * 2 <= WORDS && size <= MAX_BODY;
}

bool cg_nvptx_masked(Cg *cg, bool write) {
  bool left = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f), next; b; b = next) {
      next = LLVMGetNextBasicBlock(b);
      unsigned copies = cg_mark_of(cg, b, MARK_MASKED);
      left |= copies && mask_loop(cg, f, b, copies, write);
    }
  return left;
}

/* What is left over and has another form is LLVM's, but for a single iteration, and for loads that
 * wait for the stores of the iteration before anyway. */
bool cg_nvptx_left_over(Cg *cg, bool write) {
  bool left = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f), next; b; b = next) {
      next = LLVMGetNextBasicBlock(b);
      left |= !write && (cg_nvptx_go_on_unrolling(cg, b) || cg_nvptx_runs_once(cg, f, b));
      unsigned most = cg_mark_of(cg, b, MARK_REST);
      if (most < 2 || mask_rest(cg, f, b, most, write) || write || !gains_from_llvm(cg, f, b))
        continue;
      unsigned count = most > UNROLLED ? UNROLLED : 2;
      if (!cg_nvptx_unroll_stride(cg, b, count, most))
        cg_mark_rest_unrolled(cg->context, LLVMGetBasicBlockTerminator(b), count, most);
      left = true;
    }
  return left;
}
