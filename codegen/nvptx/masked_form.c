/* NVPTX masked form: whether a loop has the form of which masked_unroll.c makes masked copies, and
 * what its loads and sums are.
 *
 * In: a loop of one block. Out: its steps in the order in which copies are written. */
#include "codegen/nvptx/masked_form.h"

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"

/* FEW: operations behind the loads that are computed for iterations that are not there; LIGHT: for
 * one of them, at most */
enum { FEW = 6, LIGHT = 2 * FEW };

/* --- the form of the loop --- */

static bool read_phi(MaskedLoop *l, LLVMValueRef phi) {
  if (l->ncarried == MAX_PHIS || LLVMCountIncoming(phi) != 2)
    return false;
  bool second = LLVMGetIncomingBlock(phi, 1) == l->block;
  l->entry = LLVMGetIncomingBlock(phi, !second);
  valuemap_set(&l->place, phi, MAX_BODY + l->ncarried);
  l->carried[l->ncarried++] = (MaskedCarried){.phi = phi,
                                              .next = LLVMGetIncomingValue(phi, second)};
  return LLVMGetIncomingBlock(phi, second) == l->block && l->entry != l->block;
}

enum { MOST_SPACES = 64 };

bool cg_masked_may_follow_loads(MaskedLoop *l, LLVMValueRef i) {
  if (cg_is_op(i, LLVMStore) && cg_goes_ahead(l->cg, i))
    return l->passed = true;
  if (cg_is_op(i, LLVMStore) && cg_is_plain_access(i)) {
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 1)));
    l->stored |= space < MOST_SPACES ? (uint64_t)1 << space : 1;
    return space == NVPTX_SHARED || space == NVPTX_LOCAL;
  }
  return cg_is_division(i) || cg_is_op(i, LLVMFRem) || cg_is_function_of_operands(i);
}

static bool read_body(MaskedLoop *l) {
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
    if (l->nsteps == MAX_BODY || !(now || (l->rest && cg_masked_may_follow_loads(l, i))))
      return false;
    l->one_by_one |= !now;
    valuemap_set(&l->place, i, l->nsteps);
    l->steps[l->nsteps++] = (MaskedStep){.ins = i, .load = load};
  }
  return l->ncarried > 0;
}

/* Is it what strided_unroll.c has left over? */
static bool read_stride(MaskedLoop *l) {
  l->strided = l->rest && cg_read_stride(l->block, &l->stride) && cg_has_one_use(l->stride.compare);
  l->compare = l->stride.compare;
  l->counter = l->stride.counter;
  return l->strided;
}

/* Does the loop continue until counter + 1 equals `end`? */
static bool read_end(MaskedLoop *l) {
  if (read_stride(l))
    return true;
  l->counter = NULL;
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork;
  if (!graph_fork(branch, &fork))
    return false;
  l->compare = fork.condition;
  bool stays = fork.yes == l->block;
  if (!cg_masked_is_inside(l, l->compare) || !cg_is_op(l->compare, LLVMICmp) ||
      LLVMGetICmpPredicate(l->compare) != (stays ? LLVMIntNE : LLVMIntEQ) ||
      !cg_has_one_use(l->compare))
    return false;
  LLVMValueRef next = LLVMGetOperand(l->compare, 0);
  l->end = LLVMGetOperand(l->compare, 1);
  for (unsigned k = 0; k < l->ncarried; k++) {
    const MaskedCarried *c = &l->carried[k];
    bool steps = c->next == next && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == c->phi &&
                 LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
                 LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == 1;
    if (steps)
      l->counter = c->phi;
  }
  return l->counter && !cg_masked_is_inside(l, l->end);
}

/* Are the next values of loop-carried variables the only ones that are used after the loop? */
static bool read_outside(MaskedLoop *l) {
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

static int level_of(const MaskedLoop *l, LLVMValueRef v) {
  uint32_t at = cg_masked_is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
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
static bool find_levels(MaskedLoop *l) {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned k = 0; k < l->nsteps; k++) {
      MaskedStep *s = &l->steps[k];
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
static bool has_good_loads(const MaskedLoop *l) {
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

static void find_early(MaskedLoop *l, LLVMValueRef v) {
  uint32_t at = cg_masked_is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return;
  if (at >= MAX_BODY) {
    MaskedCarried *c = &l->carried[at - MAX_BODY];
    if (!c->early) {
      c->early = true;
      find_early(l, c->next);
    }
    return;
  }
  MaskedStep *s = &l->steps[at];
  if (s->early)
    return;
  s->early = true;
  for (int o = 0; o < LLVMGetNumOperands(s->ins); o++)
    find_early(l, LLVMGetOperand(s->ins, (unsigned)o));
}

/* A product and a sum that coarsening has fused (coarsen/contract.c), in the kernel's own entry:
 * there it is to be what it is in a kernel that is not coarsened. */
static bool is_fused(const MaskedLoop *l, LLVMValueRef i) {
  return cg_is_call_of_any(i, "llvm.fma.") && !l->cg->request->coarse_of &&
         l->function == l->cg->kernel;
}

/* Finds what is to be computed before all loads, and whether the rest is worth a branch. False if
 * the former cannot be speculated. */
static bool order_steps(MaskedLoop *l) {
  unsigned late = l->strided; /* FEW was chosen where iterations are counted, too */
  bool slow = l->one_by_one; /* what it stores, or may not be computed */
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load)
      find_early(l, l->steps[k].ins);
  for (unsigned k = 0; k < l->nsteps; k++) {
    const MaskedStep *s = &l->steps[k];
    if (s->early && !s->load && !cg_is_speculatable(s->ins))
      return false;
    late += !s->early;
    bool expensive = !s->early && cg_nvptx_is_expensive(s->ins);
    l->one_by_one |= l->rest && expensive;
    slow |= expensive && !is_fused(l, s->ins);
  }
  l->light = l->rest && !slow && late <= LIGHT;
  l->one_by_one |= l->rest && late > FEW;
  return true;
}

/* Loads of bytes and half words, all of whose readers extend them in one way, are extended where
 * they are: from a phi ptxas would not know that the register's upper part is zero. */
static void find_extensions(MaskedLoop *l) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
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
static MaskedStep *loaded(MaskedLoop *l, LLVMValueRef v) {
  while (cg_masked_is_inside(l, v) &&
         (cg_is_op(v, LLVMZExt) || cg_is_op(v, LLVMSExt) || cg_is_op(v, LLVMTrunc)))
    v = LLVMGetOperand(v, 0);
  uint32_t at = cg_masked_is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  return at < MAX_BODY && l->steps[at].load ? &l->steps[at] : NULL;
}

/* Sums of integers that are loaded: what is not there counts 0, and no selection is needed. */
static void find_sums(MaskedLoop *l) {
  for (unsigned k = 0; k < l->ncarried; k++) {
    MaskedCarried *c = &l->carried[k];
    if (!cg_is_op(c->next, LLVMAdd) || !cg_masked_is_inside(l, c->next))
      continue;
    bool second = LLVMGetOperand(c->next, 1) == c->phi;
    MaskedStep *s = loaded(l, LLVMGetOperand(c->next, !second));
    if (!s || LLVMGetOperand(c->next, second) != c->phi)
      continue;
    s->zero = c->sum = true;
  }
}

void cg_masked_find_loaded(MaskedLoop *l) {
  find_extensions(l);
  find_sums(l);
}

bool cg_masked_read(MaskedLoop *l) {
  return cg_nvptx_is_block_loop(l->block) && read_body(l) && read_end(l) && read_outside(l) &&
         find_levels(l) && has_good_loads(l) && order_steps(l);
}
