/* NVPTX masked form: whether a loop has the form of which masked_unroll.c makes masked copies, and
 * what its loads and sums are.
 *
 * In: a loop of one block. Out: its steps in the order in which copies are written. */
#include "codegen/nvptx/loops/masked_form.h"

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"

/* FEW: operations behind the loads that are computed for iterations that are not there; LIGHT: for
 * one of them, at most */
enum { FEW = 6, LIGHT = 2 * FEW, MAX_GROWS = 4 };

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
  bool writes = cg_is_op(i, LLVMStore) || cg_is_op(i, LLVMAtomicRMW);
  if (writes && cg_goes_ahead(l->cg, i))
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
  bool slow = l->one_by_one;  /* what it stores, or may not be computed */
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

/* --- what iterations read again --- */

/* By how much does v grow from one iteration to the next? False: that is not known. whole: only
 * sums that are exact in their type (0: in none, 1: unsigned, 2: signed), as those which are
 * extended must be. */
static bool grows(const MaskedLoop *l, LLVMValueRef v, int whole, unsigned depth, int64_t *by) {
  *by = 0;
  if (!cg_masked_is_inside(l, v))
    return true;
  uint32_t at = valuemap_get(&l->place, v);
  if (at == VALUEMAP_NONE || depth == MAX_GROWS)
    return false;
  bool phi = at >= MAX_BODY;
  LLVMValueRef sum = phi ? l->carried[at - MAX_BODY].next : v;
  if (!phi && (cg_is_op(v, LLVMZExt) || cg_is_op(v, LLVMSExt)))
    return !whole && grows(l, LLVMGetOperand(v, 0), cg_is_op(v, LLVMZExt) ? 1 : 2, depth + 1, by);
  if (!cg_is_op(sum, LLVMAdd) || (whole == 1 && !LLVMGetNUW(sum)) ||
      (whole == 2 && !LLVMGetNSW(sum)))
    return false;
  LLVMValueRef a = LLVMGetOperand(sum, 0), b = LLVMGetOperand(sum, 1);
  if (phi) {
    if (a != v || !LLVMIsAConstantInt(b) || cg_int_width(b) > 64)
      return false;
    *by = LLVMConstIntGetSExtValue(b);
    return *by > 0 && *by <= INT16_MAX;
  }
  int64_t more;
  bool known = grows(l, a, whole, depth + 1, by) && grows(l, b, whole, depth + 1, &more);
  *by += known ? more : 0;
  return known;
}

/* By how many bytes does an address grow from one iteration to the next? 0: that is not known. An
 * index of fewer than 64 bits is extended with its sign. */
static int64_t bytes_of_turn(const MaskedLoop *l, LLVMValueRef address) {
  int64_t by;
  if (!cg_masked_is_inside(l, address) || !cg_is_op(address, LLVMGetElementPtr) ||
      LLVMGetNumIndices(address) != 1 || cg_masked_is_inside(l, LLVMGetOperand(address, 0)))
    return 0;
  LLVMValueRef index = LLVMGetOperand(address, 1);
  if (!grows(l, index, cg_int_width(index) == 64 ? 0 : 2, 0, &by))
    return 0;
  return by * (int64_t)LLVMABISizeOfType(l->cg->layout, LLVMGetGEPSourceElementType(address));
}

/* x[k + 1] - x[k - 1]: what one iteration reads one or two before have read. Iterations that are
 * there have all before them, so what these have loaded is what it would load: loads of copies all
 * come in front of the loop's stores, which are elsewhere. */
static void find_read_again(MaskedLoop *l) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    MaskedStep *s = &l->steps[k];
    int64_t at, from;
    LLVMValueRef base = s->load ? cg_base_of(l->cg, LLVMGetOperand(s->ins, 0), &at) : NULL;
    int64_t turn = base ? bytes_of_turn(l, base) : 0;
    for (unsigned j = 0; j < l->nsteps && turn; j++) {
      const MaskedStep *o = &l->steps[j];
      if (!o->load || LLVMTypeOf(o->ins) != LLVMTypeOf(s->ins) ||
          o->extended_by != s->extended_by ||
          cg_base_of(l->cg, LLVMGetOperand(o->ins, 0), &from) != base)
        continue;
      int64_t turns = (from - at) / turn;
      bool nearer = turns > 0 && turns <= COPIES && (!s->behind || turns < s->behind);
      if (!nearer || turns * turn != from - at)
        continue;
      s->behind = (unsigned)turns;
      s->before = j;
    }
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
void cg_masked_find_sums(MaskedLoop *l) {
  for (unsigned k = 0; k < l->ncarried; k++) {
    MaskedCarried *c = &l->carried[k];
    if (!cg_is_op(c->next, LLVMAdd) || !cg_masked_is_inside(l, c->next))
      continue;
    bool second = LLVMGetOperand(c->next, 1) == c->phi;
    MaskedStep *s = loaded(l, LLVMGetOperand(c->next, !second));
    if (!s || s->behind || LLVMGetOperand(c->next, second) != c->phi)
      continue;
    s->zero = c->sum = true;
  }
}

bool cg_masked_read(MaskedLoop *l) {
  bool right = cg_nvptx_is_block_loop(l->block) && read_body(l) && read_end(l) && read_outside(l) &&
               find_levels(l) && has_good_loads(l) && order_steps(l);
  if (right) {
    find_extensions(l);
    find_read_again(l);
  }
  return right;
}
