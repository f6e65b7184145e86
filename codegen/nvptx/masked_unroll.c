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
 * unrolls them: four or eight times, what is left over of such a loop twice. Loads that depend
 * on loads of the iteration before are refused: they could not be in flight at once. */
#include "codegen/nvptx/masked_unroll.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/loop_marks.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/strided_unroll.h"

enum {
  COPIES = MASKED_COPIES * 3 / 2, /* those of a round, and of half of one behind it */
  MAX_BODY = 48,
  MAX_PHIS = 8,
  MAX_LEVEL = 4,
  UNROLLED = 4,
  FEW = 6,    /* operations behind the loads that are computed for iterations that are not there */
  WORDS = 14, /* of 32 bits: what the copies of what is left over may have in flight */
  ROUND = 16, /* … of which some are there in any case, as in a round */
  HELD = 8,   /* words that may be held around a loop, for iterations that are not there */
  HELD_REST = 5, /* … that are left over of a loop which computes much */
  MUCH = 8,      /* instructions behind an iteration's loads, of which masked copies are too many */
};

/* An instruction of the body. */
typedef struct Step {
  LLVMValueRef ins;
  int level; /* the length of the longest chain of loads that it depends on */
  bool load;
  bool early;                /* addresses of loads depend on it */
  bool zero;                 /* a load that gives 0 to threads that have no such iteration */
  LLVMValueRef last[COPIES]; /* what the round before has loaded, if that is kept */
  LLVMOpcode extended_by;    /* of a load: see find_extensions; else 0 */
  LLVMValueRef copy[COPIES];
} Step;

/* A loop-carried variable. */
typedef struct Carried {
  LLVMValueRef phi, next;
  int level;
  bool read_outside;           /* `next` is used after the loop */
  bool early;                  /* addresses of loads depend on it */
  bool sum;                    /* `next` is the same number where loads give 0 */
  LLVMValueRef at[COPIES + 1]; /* its value in each copy, and after the last */
  LLVMValueRef out;            /* and after the last that there is */
} Carried;

typedef struct Loop {
  Cg *cg;
  unsigned copies;
  unsigned least;  /* so many iterations are there where the loop is entered; of others, one */
  bool rest;       /* of a loop that LLVM has unrolled */
  bool once;       /* the copies are all iterations that there are */
  bool one_by_one; /* what is behind the loads is branched around */
  uint64_t stored; /* address spaces, as bits */
  bool passed;     /* global memory is stored to, by what loads with CG_AHEAD may pass */
  bool defined;    /* registers of what is not loaded have a value, from the entry on */
  LLVMValueRef function;
  LLVMBasicBlockRef block, entry, header;
  LLVMValueRef end, compare, counter; /* compare: of the counter's next value with end */
  bool strided;                       /* a loop of strided_unroll.c */
  Stride stride;
  Step steps[MAX_BODY];
  Carried carried[MAX_PHIS];
  unsigned nsteps, ncarried;
  ValueMap place; /* instruction -> number of its step; phi -> MAX_BODY + its number in carried */
  LLVMValueRef left, has[COPIES + 1]; /* iterations left; is there one for this copy? */
} Loop;

/* --- the form of the loop --- */

static bool is_inside(const Loop *l, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == l->block;
}

static bool read_phi(Loop *l, LLVMValueRef phi) {
  if (l->ncarried == MAX_PHIS || LLVMCountIncoming(phi) != 2)
    return false;
  bool second = LLVMGetIncomingBlock(phi, 1) == l->block;
  l->entry = LLVMGetIncomingBlock(phi, !second);
  valuemap_set(&l->place, phi, MAX_BODY + l->ncarried);
  l->carried[l->ncarried++] = (Carried){.phi = phi, .next = LLVMGetIncomingValue(phi, second)};
  return LLVMGetIncomingBlock(phi, second) == l->block && l->entry != l->block;
}

enum { MOST_SPACES = 64 };

/* May it run, in threads that have such an iteration, while later iterations' loads are in flight
 * or done? Stores to the memory of a block or of a thread may, since arrays are elsewhere, and so
 * may stores to arrays that were found to lie apart. */
static bool may_follow_loads(Loop *l, LLVMValueRef i) {
  if (cg_is_op(i, LLVMStore) && cg_goes_ahead(l->cg, i))
    return l->passed = true;
  if (cg_is_op(i, LLVMStore) && cg_is_plain_access(i)) {
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 1)));
    l->stored |= space < MOST_SPACES ? (uint64_t)1 << space : 1;
    return space == NVPTX_SHARED || space == NVPTX_LOCAL;
  }
  return cg_is_division(i) || cg_is_op(i, LLVMFRem) || cg_is_function_of_operands(i);
}

static bool read_body(Loop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); i != end;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i)) {
      if (!read_phi(l, i))
        return false;
      continue;
    }
    bool load = cg_is_op(i, LLVMLoad) && cg_is_plain_access(i);
    bool now = load || cg_is_speculatable(i);
    if (l->nsteps == MAX_BODY || !(now || (l->rest && may_follow_loads(l, i))))
      return false;
    l->one_by_one |= !now;
    valuemap_set(&l->place, i, l->nsteps);
    l->steps[l->nsteps++] = (Step){.ins = i, .load = load};
  }
  return l->ncarried > 0;
}

/* Is it what strided_unroll.c has left over? */
static bool read_stride(Loop *l) {
  l->strided = l->rest && cg_read_stride(l->block, &l->stride) && cg_has_one_use(l->stride.compare);
  l->compare = l->stride.compare;
  l->counter = l->stride.counter;
  return l->strided;
}

/* Does the loop continue until counter + 1 equals `end`? */
static bool read_end(Loop *l) {
  if (read_stride(l))
    return true;
  l->counter = NULL;
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork;
  if (!graph_fork(branch, &fork))
    return false;
  l->compare = fork.condition;
  bool stays = fork.yes == l->block;
  if (!is_inside(l, l->compare) || !cg_is_op(l->compare, LLVMICmp) ||
      LLVMGetICmpPredicate(l->compare) != (stays ? LLVMIntNE : LLVMIntEQ) ||
      !cg_has_one_use(l->compare))
    return false;
  LLVMValueRef next = LLVMGetOperand(l->compare, 0);
  l->end = LLVMGetOperand(l->compare, 1);
  for (unsigned k = 0; k < l->ncarried; k++) {
    const Carried *c = &l->carried[k];
    bool steps = c->next == next && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == c->phi &&
                 LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
                 LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == 1;
    if (steps)
      l->counter = c->phi;
  }
  return l->counter && !is_inside(l, l->end);
}

/* Are the next values of loop-carried variables the only ones that are used after the loop? */
static bool read_outside(Loop *l) {
  for (unsigned k = 0; k < l->nsteps + l->ncarried; k++) {
    LLVMValueRef v = k < l->nsteps ? l->steps[k].ins : l->carried[k - l->nsteps].phi;
    bool outside = false, known = false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
      outside |= LLVMGetInstructionParent(LLVMGetUser(u)) != l->block;
    for (unsigned j = 0; j < l->ncarried && outside; j++)
      if (l->carried[j].next == v && !known)
        known = l->carried[j].read_outside = true;
    if (outside && !known)
      return false;
  }
  return true;
}

static int level_of(const Loop *l, LLVMValueRef v) {
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return 0;
  return at < MAX_BODY ? l->steps[at].level + l->steps[at].load : l->carried[at - MAX_BODY].level;
}

static bool raise_to(int *level, int to) {
  bool higher = to > *level;
  *level = higher ? to : *level;
  return higher;
}

/* Levels order the code: all copies of one level are written before the next. A carried variable's
 * level is that of its next value, since a copy uses the value from the copy before. False if loads
 * depend on loads of the previous iteration: then levels do not end. */
static bool find_levels(Loop *l) {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned k = 0; k < l->nsteps; k++) {
      Step *s = &l->steps[k];
      for (int o = 0; o < LLVMGetNumOperands(s->ins); o++)
        changed |= raise_to(&s->level, level_of(l, LLVMGetOperand(s->ins, (unsigned)o)));
      if (s->level > MAX_LEVEL)
        return false;
    }
    for (unsigned k = 0; k < l->ncarried; k++)
      changed |= raise_to(&l->carried[k].level, level_of(l, l->carried[k].next));
  }
  return true;
}

/* Loads of arrays, and none of what is stored: those of later iterations would be too early. */
static bool has_good_loads(const Loop *l) {
  bool any = false;
  for (unsigned k = 0; k < l->nsteps; k++) {
    if (!l->steps[k].load)
      continue;
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(l->steps[k].ins, 0)));
    any = true;
    if (l->stored && (!space || space >= MOST_SPACES || l->stored >> space & 1))
      return false;
    if (l->passed && !cg_goes_ahead(l->cg, l->steps[k].ins))
      return false;
  }
  return any;
}

/* --- what loads depend on --- */

static void find_early(Loop *l, LLVMValueRef v) {
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return;
  if (at >= MAX_BODY) {
    Carried *c = &l->carried[at - MAX_BODY];
    if (!c->early) {
      c->early = true;
      find_early(l, c->next);
    }
    return;
  }
  Step *s = &l->steps[at];
  if (s->early)
    return;
  s->early = true;
  for (int o = 0; o < LLVMGetNumOperands(s->ins); o++)
    find_early(l, LLVMGetOperand(s->ins, (unsigned)o));
}

/* Finds what is to be computed before all loads, and whether the rest is worth a branch. False if
 * the former cannot be speculated. */
static bool order_steps(Loop *l) {
  unsigned late = l->strided; /* FEW was chosen where iterations are counted, too */
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load)
      find_early(l, l->steps[k].ins);
  for (unsigned k = 0; k < l->nsteps; k++) {
    const Step *s = &l->steps[k];
    if (s->early && !s->load && !cg_is_speculatable(s->ins))
      return false;
    late += !s->early;
    l->one_by_one |= l->rest && !s->early && cg_nvptx_is_expensive(s->ins);
  }
  l->one_by_one |= l->rest && late > FEW;
  return true;
}

/* Loads of bytes and half words, all of whose readers extend them in one way, are extended where
 * they are: from a phi ptxas would not know that the register's upper part is zero. */
static void find_extensions(Loop *l) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    LLVMTypeRef t = LLVMTypeOf(s->ins);
    LLVMUseRef u = s->load ? LLVMGetFirstUse(s->ins) : NULL;
    if (!u || LLVMGetTypeKind(t) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(t) >= 32)
      continue;
    LLVMOpcode op = LLVMGetInstructionOpcode(LLVMGetUser(u));
    bool same = op == LLVMZExt || op == LLVMSExt;
    for (; u && same; u = LLVMGetNextUse(u))
      same = cg_is_op(LLVMGetUser(u), op) && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetUser(u))) >= 32;
    s->extended_by = same ? op : (LLVMOpcode)0;
  }
}

/* The load that v is, extended or truncated; NULL: it is none. */
static Step *loaded(Loop *l, LLVMValueRef v) {
  while (is_inside(l, v) &&
         (cg_is_op(v, LLVMZExt) || cg_is_op(v, LLVMSExt) || cg_is_op(v, LLVMTrunc)))
    v = LLVMGetOperand(v, 0);
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  return at < MAX_BODY && l->steps[at].load ? &l->steps[at] : NULL;
}

/* Sums of integers that are loaded: what is not there counts 0, and no selection is needed. */
static void find_sums(Loop *l) {
  for (unsigned k = 0; k < l->ncarried; k++) {
    Carried *c = &l->carried[k];
    if (!cg_is_op(c->next, LLVMAdd) || !is_inside(l, c->next))
      continue;
    bool second = LLVMGetOperand(c->next, 1) == c->phi;
    Step *s = loaded(l, LLVMGetOperand(c->next, !second));
    if (!s || LLVMGetOperand(c->next, second) != c->phi)
      continue;
    s->zero = c->sum = true;
  }
}

/* --- writing --- */

static LLVMValueRef value_of(Loop *l, LLVMValueRef v, unsigned copy);

/* Are copies that are not there left out of its value at the end alone? A copy that is there has
 * all copies before it, so the addresses of its loads need not wait for selections. */
static bool leaves_late(const Loop *l, const Carried *c) {
  return c->early && c->read_outside && !l->one_by_one && !c->sum;
}

/* The value of a loop-carried variable in a copy; in copy l->copies: after the last. */
static LLVMValueRef carried_to(Loop *l, Carried *c, unsigned copy) {
  if (c->at[copy])
    return c->at[copy];
  assert(copy > 0); /* write_header has made the phis */
  LLVMValueRef before = carried_to(l, c, copy - 1), v = value_of(l, c->next, copy - 1);
  if (c->read_outside && copy > l->least && !l->one_by_one && !c->sum && !leaves_late(l, c))
    v = l_select(l->cg->builder, l->has[copy - 1], v, before);
  return c->at[copy] = v;
}

static LLVMValueRef value_of(Loop *l, LLVMValueRef v, unsigned copy) {
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return v;
  assert(at >= MAX_BODY || l->steps[at].copy[copy]);
  return at < MAX_BODY ? l->steps[at].copy[copy] : carried_to(l, &l->carried[at - MAX_BODY], copy);
}

/* x + m + n as x + (m + n), of copies that are constant distances apart: LLVM's code generator
 * finds one constant in an index. NULL: it is no such sum. */
static LLVMValueRef added_at_once(Loop *l, LLVMValueRef sum, LLVMValueRef const *operands) {
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

static LLVMValueRef cloned(Loop *l, const Step *s, unsigned copy) {
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

static void compute(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    if (s->level == level && !s->load && s->ins != l->compare && (s->early || !l->one_by_one))
      s->copy[copy] = cloned(l, s, copy);
  }
}

static bool has_loads(const Loop *l, int level) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load && l->steps[k].level == level)
      return true;
  return false;
}

static LLVMBasicBlockRef new_block(Loop *l) {
  LLVMBasicBlockRef b = LLVMAppendBasicBlockInContext(l->cg->context, l->function, "");
  LLVMMoveBasicBlockBefore(b, l->block);
  return b;
}

/* Operands come first: they may be loop-carried variables, whose code is written at the first
 * use. */
static void read_addresses(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load && l->steps[k].level == level)
      value_of(l, LLVMGetOperand(l->steps[k].ins, 0), copy);
}

static void write_loads(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    if (!s->load || s->level != level)
      continue;
    s->copy[copy] = cloned(l, s, copy);
    if (copy && s->extended_by)
      s->copy[copy] = l_cast(l->cg->builder, s->extended_by, s->copy[copy], l->cg->t.i32);
  }
}

/* A variable of the new loop, if it is one, with its first value. */
static LLVMValueRef entered_with(Loop *l, LLVMValueRef first) {
  if (l->once)
    return first;
  LLVMValueRef phi = l_phi(l->cg->builder, LLVMTypeOf(first));
  LLVMAddIncoming(phi, &first, &l->entry, 1);
  return phi;
}

/* A variable of the loop that begins with 0: what a copy has loaded, for the next round. */
static LLVMValueRef kept_from(Loop *l, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->cg->builder);
  LLVMPositionBuilderBefore(l->cg->builder, LLVMGetFirstInstruction(l->header));
  LLVMValueRef phi = entered_with(l, LLVMConstNull(type));
  l_at_end(l->cg->builder, here, NULL);
  return phi;
}

static void load(Loop *l, int level, unsigned copy) {
  LLVMBuilderRef b = l->cg->builder;
  if (!has_loads(l, level))
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
    Step *s = &l->steps[k];
    if (!s->load || s->level != level)
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

/* Its value after the last copy that there is. */
static LLVMValueRef carried_out(Loop *l, Carried *c) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef last = carried_to(l, c, l->copies), next = c->next;
  if (!leaves_late(l, c))
    return last;
  if (l->once && !l->strided && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == c->phi &&
      !is_inside(l, LLVMGetOperand(next, 1))) {
    LLVMValueRef n = l_int_cast(b, l->left, LLVMTypeOf(next), false);
    return l_add(b, c->at[0], l_mul(b, n, LLVMGetOperand(next, 1)));
  }
  last = c->at[l->least];
  for (unsigned k = l->least; k < l->copies; k++)
    last = l_select(b, l->has[k], c->at[k + 1], last);
  return last;
}

static LLVMValueRef initial(const Loop *l, LLVMValueRef phi) {
  return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == l->block);
}

static void count_left(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(l->entry));
  l->left = l_sub(b, l->end, initial(l, l->counter));
  if (l->rest && LLVMTypeOf(l->left) == l->cg->t.i64) /* which is less than COPIES */
    l->left = l_trunc(b, l->left, l->cg->t.i32);
}

/* Is there an iteration for each copy, and (has[copies]) one behind them? */
static void ask_counter(Loop *l) {
  LLVMValueRef first = l->carried[valuemap_get(&l->place, l->counter) - MAX_BODY].at[0];
  for (unsigned k = l->least; k <= l->copies - l->once; k++)
    l->has[k] = cg_stride_has(l->cg, &l->stride, first, k, l->has[k - 1]);
}

static void write_header(Loop *l) {
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
static LLVMValueRef count_down(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef all = l_int(LLVMTypeOf(l->left), l->copies), rest = l_sub(b, l->left, all);
  LLVMAddIncoming(l->left, &rest, &l->block, 1);
  return l_icmp(b, LLVMIntUGT, l->left, all);
}

/* The old block stays as the latch of the new loop, so that phis after the loop keep their
 * predecessor. */
static void write_latch(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  for (unsigned k = 0; k < l->ncarried; k++) {
    Carried *c = &l->carried[k];
    c->out = carried_out(l, c);
    LLVMAddIncoming(c->at[0], &c->out, &l->block, 1);
  }
  for (unsigned k = 0; k < l->nsteps * l->copies; k++) {
    Step *s = &l->steps[k / l->copies];
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

/* Of code that runs once: straight on to where the loop would end. The old block is the last, so
 * that phis behind it keep their predecessor. */
static void write_exit(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork = {0};
  for (unsigned k = 0; k < l->ncarried; k++)
    l->carried[k].out = carried_out(l, &l->carried[k]);
  l_br(b, l->block);
  graph_fork(branch, &fork);
  LLVMBasicBlockRef out = fork.no == l->block ? fork.yes : fork.no;
  LLVMInstructionEraseFromParent(branch);
  l_at_end(b, l->block, NULL);
  l_br(b, out);
}

/* What is behind the loads, copy by copy, up to the last iteration that there is. */
static void write_one_by_one(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMBasicBlockRef ends[COPIES], out = new_block(l);
  for (unsigned copy = 0; copy < l->copies; copy++) {
    for (unsigned k = 0; k < l->nsteps; k++) {
      Step *s = &l->steps[k];
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
    Carried *c = &l->carried[k];
    if (l->once && !c->read_outside)
      continue;
    LLVMValueRef last = l_phi(b, LLVMTypeOf(c->phi));
    LLVMAddIncoming(last, &c->at[l->least], ends + l->least - 1, l->copies - l->least + 1);
    c->at[l->copies] = last;
  }
}

static void enter(const Loop *l) {
  graph_redirect(LLVMGetBasicBlockTerminator(l->entry), l->block, l->header);
}

static void erase_old(Loop *l) {
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

static unsigned words_of(const Loop *l) {
  unsigned words = 0;
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load)
      words += cg_nvptx_words_of(l->cg, l->steps[k].ins);
  return words;
}

/* Then iterations that are not there, and selections, take longer than loads in flight save: LLVM
 * unrolls such a loop, and only what is left over has masks. */
static bool computes_much(const Loop *l) {
  unsigned late = 0;
  for (unsigned k = 0; k < l->nsteps; k++)
    if (!l->steps[k].early && !l->steps[k].load)
      late += cg_nvptx_instructions_of(l->cg, l->steps[k].ins);
  return late > MUCH;
}

/* A register that only some threads load has no value before, so ptxas keeps it from the kernel's
 * beginning and throughout the loops around this one. Where these are many, they begin with 0 in
 * front of the loop. Of what is left over of a loop that computes much, fewer are many. */
static bool needs_values(const Loop *l) {
  bool computes = l->rest && !l->stored && !l->passed && computes_much(l);
  if (words_of(l) * (l->copies - 1) <= (computes ? HELD_REST : HELD))
    return false;
  FnGraph g = graph_of(&l->cg->cx->arena, l->function, NULL);
  graph_loops(&g);
  uint32_t at = graph_number(&g, l->block);
  return at != GRAPH_NONE && g.nodes[at].depth > 1;
}

static void write_loop(Loop *l) {
  assert(l->counter && l->compare && l->entry != l->block);
  l->defined = needs_values(l);
  find_extensions(l);
  find_sums(l);
  write_header(l);
  for (int level = 0; level <= MAX_LEVEL; level++) {
    for (unsigned copy = 0; copy < l->copies; copy++)
      compute(l, level, copy);
    for (unsigned copy = 0; copy < l->copies; copy++)
      load(l, level, copy);
  }
  if (l->one_by_one)
    write_one_by_one(l);
  (l->once ? write_exit : write_latch)(l);
  enter(l);
  erase_old(l);
}

/* --- loops --- */

static bool read_loop(Loop *l) {
  return cg_nvptx_is_block_loop(l->block) && read_body(l) && read_end(l) && read_outside(l) &&
         find_levels(l) && has_good_loads(l) && order_steps(l);
}

/* A marked loop. Is it LLVM's to unroll? Eight times, if so many loads have registers, and only
 * what it computes is too much. */
static bool mask_loop(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef block, unsigned copies,
                      bool write) {
  Loop *l = CX_NEW(cg->cx, Loop);
  *l = (Loop){
      .cg = cg, .least = 1, .function = f, .block = block, .place = {.arena = &cg->cx->arena}};
  l->copies = copies;
  bool right = copies <= COPIES && read_loop(l), masked = right && !computes_much(l);
  if (masked && write)
    write_loop(l);
  if (!masked)
    cg_mark_unrolled(cg->context, LLVMGetBasicBlockTerminator(block),
                     right && words_of(l) * copies <= ROUND ? copies : UNROLLED);
  return !masked;
}

/* As many copies as have registers, which a load takes from where it is issued on. */
static bool choose_copies(Loop *l, unsigned most) {
  unsigned words = words_of(l);
  l->copies = words * most <= (l->least > 1 ? ROUND : WORDS) ? most : WORDS / words;
  l->once = l->copies == most;
  l->least = l->once ? l->least : 1; /* rounds behind the first may have fewer */
  return l->copies > 1;
}

static bool mask_rest(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef block, unsigned most, bool write) {
  Loop *l = CX_NEW(cg->cx, Loop);
  *l = (Loop){
      .cg = cg, .rest = true, .function = f, .block = block, .place = {.arena = &cg->cx->arena}};
  unsigned least = cg_mark_of(cg, block, MARK_LEAST);
  l->least = least > 1 ? least : 1;
  bool right = most <= COPIES && read_loop(l) && choose_copies(l, most);
  if (right && write) {
    write_loop(l);
    cg_nvptx_hoist(l->cg, l->header);
  }
  return right;
}

/* Of a loop with that latch: may loads go ahead of what the iterations before do, and are they few
 * enough for that to matter? */
static bool gains_from_llvm(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef latch) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  Loop none = {.cg = cg};
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
      if (!LLVMIsAPHINode(i) && !load && !cg_is_speculatable(i) && !may_follow_loads(&none, i))
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
      left |= !write && cg_nvptx_go_on_unrolling(cg, b);
      unsigned most = cg_mark_of(cg, b, MARK_REST);
      if (most < 2 || mask_rest(cg, f, b, most, write) || write || !gains_from_llvm(cg, f, b))
        continue;
      unsigned count = most > UNROLLED ? UNROLLED : 2;
      if (!cg_nvptx_unroll_stride(cg, b, count, most))
        cg_mark_unrolled(cg->context, LLVMGetBasicBlockTerminator(b), count);
      left = true;
    }
  return left;
}
