/* NVPTX short rows: what is asked in front of the rounds of an unrolled loop, where the threads of
 * a block, or the lanes of a warp, share a row.
 *
 * Where no thread of the block, or of the grid, can have a second iteration, that is asked first:
 *
 *   if end <= step:  # and start is not negative
 *     acc += x[start]
 *
 * All threads answer it alike if the end is an argument or an extent, so that none waits for
 * another, and the few instructions of a short row are not those that choose among iterations. That
 * is asked in front of loops with a constant step, too, which a warp's lanes share. Behind it a few
 * iterations, which masked_unroll.c makes masks of, have none of the questions which rounds there
 * are, and what is left over:
 *
 *   elif end <= 4 * step:
 *     while k < end: acc += x[k]; k += step
 *
 * Where a block's threads begin side by side, a thread without a round has at most three
 * iterations, and in a warp as many as the first thread, or one fewer: of 257 elements and 256
 * threads seven warps have one, and pay for no more.
 *
 *   for k in range(threadIdx.x, end, blockDim.x): acc += x[k]
 *
 *   elif k < end - 3 * step: …
 *   else:
 *     w = threadIdx.x & ~31
 *     if w + step >= end: acc += x[k]
 *     elif w + 2 * step >= end: acc += x[k]; if k + step < end: acc += x[k + step]
 *     else: acc += x[k]; acc += x[k + step]; if k + 2 * step < end: acc += x[k + 2 * step]
 *
 * (The last two are loops that are marked as what is left over of others is.) A warp answers these
 * alike if its threads are one behind the other. Each answer holds for any thread, since it begins
 * at w or later, and less than a step later than w: threadIdx.x is less than w + 32 and than
 * blockDim.x.
 *
 * In: a loop that strided_unroll.c has read. Out: these questions and ways, in front of its rounds.
 */
#include "codegen/nvptx/loops/short_rows.h"

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* SHORT: of a body that is copied once more; MEDIUM: of bodies of a few iterations; COUNTED: of
 * those that have no round, at most */
enum { MAX_DEPTH = 6, SHORT = 24, MEDIUM = 40, COUNTED = 3, WARP = 32 };

/* --- what may be asked --- */

static LLVMValueRef first_of(const Unroll *u) { return graph_incoming(u->s.counter, u->entry); }

/* Is v made of constants, of registers that differ between no smaller parts of a launch than this,
 * and of `end`, or of arguments if that is NULL? */
static bool is_made_of(LLVMValueRef v, RegisterScope scope, LLVMValueRef end, unsigned depth) {
  if (LLVMIsAConstantInt(v) || v == end || (!end && cg_is_kernel_argument(v)))
    return true;
  if (!LLVMIsAInstruction(v) || depth == MAX_DEPTH)
    return false;
  bool call = LLVMIsAIntrinsicInst(v) != NULL;
  if (call && cg_nvptx_register_of(v) != SREG_NONE)
    return ir_registers[cg_nvptx_register_of(v)].of <= scope;
  if (!(call || LLVMIsABinaryOperator(v) || LLVMIsACastInst(v)) || !cg_is_speculatable(v))
    return false;
  for (int o = 0; o < LLVMGetNumOperands(v) - call; o++)
    if (!is_made_of(LLVMGetOperand(v, (unsigned)o), scope, end, depth + 1))
      return false;
  return true;
}

/* Do all threads begin at their places, which are not negative, and have one end? Then there is one
 * iteration at most where the end is no more than a step away from 0. */
static bool have_one_end(const Unroll *u) {
  LLVMValueRef first = first_of(u);
  return cg_nvptx_range(first).lo >= 0 && is_made_of(first, SCOPE_LANE, u->s.end, 0) &&
         is_made_of(u->s.end, SCOPE_BLOCK, NULL, 0) && is_made_of(u->s.step, SCOPE_BLOCK, NULL, 0);
}

bool cg_nvptx_same_in_block(LLVMValueRef v) { return is_made_of(v, SCOPE_BLOCK, NULL, 0); }
bool cg_nvptx_is_of_place(LLVMValueRef v) { return is_made_of(v, SCOPE_THREAD, NULL, 0); }

static bool is_same_along_x(LLVMValueRef v, unsigned depth);

/* A counter of a loop around, which is in one turn where all threads are. */
static bool counts_alike(LLVMValueRef phi, unsigned depth) {
  if (LLVMCountIncoming(phi) != 2)
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k), first = LLVMGetIncomingValue(phi, !k);
    if (cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == phi)
      return is_same_along_x(LLVMGetOperand(next, 1), depth + 1) &&
             is_same_along_x(first, depth + 1);
  }
  return false;
}

/* A number that was loaded is the same where its place is, or nearly always. */
static bool is_same_along_x(LLVMValueRef v, unsigned depth) {
  if (LLVMIsAConstant(v) || cg_is_kernel_argument(v))
    return true;
  if (!LLVMIsAInstruction(v) || depth == 2 * MAX_DEPTH)
    return false;
  bool call = LLVMIsAIntrinsicInst(v) != NULL;
  SpecialReg reg = call ? cg_nvptx_register_of(v) : SREG_NONE;
  if (reg != SREG_NONE)
    return ir_registers[reg].of <= SCOPE_BLOCK || reg == SREG_TID_Y || reg == SREG_TID_Z;
  if (LLVMIsAPHINode(v))
    return counts_alike(v, depth);
  bool load = cg_is_op(v, LLVMLoad) && cg_is_plain_access(v);
  if (!(load || cg_is_speculatable(v)))
    return false;
  for (int o = 0; o < LLVMGetNumOperands(v) - call; o++)
    if (!is_same_along_x(LLVMGetOperand(v, (unsigned)o), depth + 1))
      return false;
  return true;
}

bool cg_nvptx_same_along_x(LLVMValueRef v) { return is_same_along_x(v, 0); }

bool cg_rows_are_of_lanes(const Unroll *u) {
  return have_one_end(u) && !is_made_of(first_of(u), SCOPE_BLOCK, u->s.end, 0);
}

bool cg_rows_may_be_alone(const Unroll *u) { return u->n <= SHORT && have_one_end(u); }

/* May the iterations of a short row be masked? Loads that wait for the stores of the iteration
 * before may not. */
static bool goes_ahead(const Unroll *u) {
  bool stores = false, ahead = true;
  for (unsigned k = u->nphis; k < u->n; k++) {
    LLVMValueRef i = u->old[k];
    bool load = cg_is_op(i, LLVMLoad), store = cg_is_op(i, LLVMStore);
    stores |= store;
    ahead &= !(load || store) || cg_goes_ahead(u->cg, i);
    if (!load && !store && !cg_is_speculatable(i) && !cg_is_division(i) && !cg_is_op(i, LLVMFRem) &&
        !cg_is_function_of_operands(i))
      return false;
  }
  return !stores || ahead;
}

bool cg_rows_begin_side_by_side(const Unroll *u) {
  Interval first = cg_nvptx_range(first_of(u)), step = cg_nvptx_range(u->s.step);
  return first.hi < step.lo && step.hi <= INT16_MAX && cg_int_width(u->s.step) >= 32;
}

bool cg_rows_may_be_few(const Unroll *u) { return u->n <= MEDIUM && goes_ahead(u); }

static bool is_register(LLVMValueRef v, SpecialReg reg) {
  v = cg_is_extension(v) ? LLVMGetOperand(v, 0) : v;
  return LLVMIsAIntrinsicInst(v) && cg_nvptx_register_of(v) == reg;
}

/* Is it for k in range(threadIdx.x, end, blockDim.x)? */
static bool is_of_block(const Unroll *u) {
  return is_register(first_of(u), SREG_TID_X) && is_register(u->s.step, SREG_NTID_X);
}

/* --- writing --- */

LLVMBasicBlockRef cg_rows_write_alone(Unroll *u, const LLVMValueRef *first,
                                      LLVMBasicBlockRef front) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMBasicBlockRef ask = cg_unroll_block(u), alone = cg_unroll_block(u);
  LLVMMoveBasicBlockBefore(ask, front);
  LLVMMoveBasicBlockBefore(alone, front);
  graph_redirect(LLVMGetBasicBlockTerminator(u->entry), front, ask);
  l_at_end(b, ask, NULL);
  l_condbr(b, l_not(b, cg_stride_goes_on(u->cg, &u->s, u->s.step)), alone, front);
  l_at_end(b, alone, NULL);
  cg_unroll_loop(u, ask, first, 1, NULL, u->block);
  cg_unroll_way(u, alone, u->now);
  return alone;
}

/* The first values, the counter's by another name, in front of the end of a block. LLVM's code
 * generator computes what two blocks have in common where it is asked which of them it is:
 * addresses of a few iterations, that is, for long rows, too. */
static LLVMValueRef *renamed(const Unroll *u, const LLVMValueRef *first, LLVMBasicBlockRef at) {
  LLVMValueRef *own = CX_ARRAY(u->cg->cx, LLVMValueRef, u->nphis);
  LLVMPositionBuilderBefore(u->cg->builder, LLVMGetBasicBlockTerminator(at));
  for (unsigned k = 0; k < u->nphis; k++)
    own[k] = u->old[k] == u->s.counter ? cg_nvptx_hidden(u->cg, first[k]) : first[k];
  return own;
}

/* A loop of up to `most` iterations, and of at least so many, which is marked as what is left over
 * of others is, in a block behind `ask`. */
static void write_left(Unroll *u, const LLVMValueRef *first, LLVMBasicBlockRef ask,
                       LLVMBasicBlockRef at, unsigned most, unsigned least) {
  l_at_end(u->cg->builder, at, NULL);
  LLVMValueRef branch = cg_unroll_loop(u, ask, first, 1, u->s.end, u->block);
  cg_mark_left(u->cg->context, branch, most, least);
  cg_unroll_way(u, at, u->now);
}

/* Asks whether there are a few iterations. More go to `front`, to which `from` goes. */
static void write_few(Unroll *u, const LLVMValueRef *first, LLVMBasicBlockRef from,
                      LLVMBasicBlockRef front) {
  LLVMBuilderRef b = u->cg->builder;
  LLVMBasicBlockRef ask = cg_unroll_block(u), few = cg_unroll_block(u);
  LLVMMoveBasicBlockBefore(ask, front);
  LLVMMoveBasicBlockBefore(few, front);
  graph_redirect(LLVMGetBasicBlockTerminator(from), front, ask);
  l_at_end(b, ask, NULL);
  uint64_t far = ROWS_FEW * LLVMConstIntGetZExtValue(u->s.step);
  LLVMValueRef more = cg_stride_goes_on(u->cg, &u->s, l_int(LLVMTypeOf(u->s.step), far));
  l_condbr(b, l_not(b, more), few, front);
  write_left(u, first, ask, few, ROWS_FEW, 0);
}

LLVMBasicBlockRef cg_rows_write_counted(Unroll *u, const LLVMValueRef *first,
                                        LLVMBasicBlockRef alone) {
  if (u->count > COUNTED + 1 || !is_of_block(u) || !goes_ahead(u))
    return NULL;
  LLVMBuilderRef b = u->cg->builder;
  LLVMTypeRef type = LLVMTypeOf(u->s.step);
  LLVMBasicBlockRef one = cg_unroll_block(u), two = cg_unroll_block(u),
                    ways[] = {cg_unroll_block(u), cg_unroll_block(u)};
  l_at_end(b, one, NULL);
  LLVMValueRef at = l_and(b, first_of(u), l_int(type, ~(uint64_t)(WARP - 1)));
  at = l_add_nsw(b, at, u->s.step);
  l_condbr(b, cg_stride_goes_on(u->cg, &u->s, at), two, alone);
  l_at_end(b, two, NULL);
  at = l_add_nsw(b, at, u->s.step);
  l_condbr(b, cg_stride_goes_on(u->cg, &u->s, at), ways[1], ways[0]);
  for (unsigned k = 0; k < 2; k++)
    write_left(u, renamed(u, first, two), two, ways[k], k + 2, k + 1);
  return one;
}

/* Long bodies have no iteration alone: it is one of a few. */
void cg_rows_write_lanes(Unroll *u, const LLVMValueRef *first, LLVMBasicBlockRef front, bool few) {
  LLVMBasicBlockRef ask = u->entry;
  const LLVMValueRef *own = u->n > SHORT ? renamed(u, first, u->entry) : first;
  if (u->n <= SHORT)
    ask = LLVMGetPreviousBasicBlock(cg_rows_write_alone(u, first, front));
  if (few)
    write_few(u, own, ask, front);
}
