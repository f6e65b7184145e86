/* NVPTX index bounds: variables of 64 bits that an index made of them bounds, in 32.
 *
 *   reach = 2                                 # direction: 1 or -1
 *   while shared_bits(codes, i, i + reach * direction) > least: reach *= 2
 *   …
 *   if shared_bits(codes, i, i + (length + step) * direction) > least: length += step
 *
 * `shared_bits` gives -1 where its second place is out of range, so the loop goes on, and length is
 * moved, only where 0 <= i + reach * direction < codes.size. Then reach is no further from 0 than
 * an array is long, and twice that fits 32 bits. bounded_phis.c asks for comparisons of the
 * variable itself; here a condition says something of what its comparison is made of:
 *
 *   - 0 <= i + x * d < n, of which d is 1 or -1: how far x is from 0;
 *   - a phi of constants and other numbers is more than a bound: by which edges it was not reached,
 *     and so what the condition on the only other edge was.
 *
 * The ranges of all variables are found together: they grow from nothing until no way through the
 * function adds to them. In a narrow version extents have at most TY_SMALL, so that a sum of two
 * such numbers fits.
 *
 * In: functions before low_halves.c, with phis of 64 bits and comparisons without signs. Out: where
 * such a variable, or what is made of it, is used and fits 32 bits it is the extension of its low
 * half, and a comparison of low halves is in 32 bits; low_halves.c and small_numbers.c do the
 * rest. */
#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum {
  MOST_PHIS = 16,
  DEEPEST = 6, /* operations of which a value is made */
  MOST_ROUNDS = 32,
  STEPWISE = 4, /* rounds after which a range grows to the next bound at once */
  NARROWING = 4 /* rounds that take back what was too much of that */
};

typedef struct Bounds {
  Cg *cg;
  const FnGraph *g;
  LLVMValueRef phis[MOST_PHIS]; /* of 64 bits */
  Interval ranges[MOST_PHIS];
  unsigned n;
  bool narrow;    /* of a narrow version */
  ValueMap plain; /* of values: their number in `known` */
  VEC(Interval) known;
} Bounds;

static const Interval int32 = {INT32_MIN, INT32_MAX};

/* --- what a value can be --- */

static unsigned number_of(Bounds *b, LLVMValueRef v) {
  unsigned k = 0;
  while (k < b->n && b->phis[k] != v)
    k++;
  return k;
}

/* By what it is made of, whatever the variables are: found once. */
static Interval plain_range(Bounds *b, LLVMValueRef v) {
  uint32_t at = valuemap_get(&b->plain, v);
  if (at != VALUEMAP_NONE)
    return b->known.data[at];
  Interval r = cg_nvptx_range(v);
  LLVMValueRef of = cg_is_extension(v) ? LLVMGetOperand(v, 0) : v;
  if (b->narrow && cg_nvptx_is_extent(of) && r.lo >= 0)
    r.hi = ir_interval_smaller(r.hi, TY_SMALL);
  valuemap_set(&b->plain, v, b->known.len);
  VEC_PUSH(&b->cg->cx->arena, &b->known, r);
  return r;
}

/* A result that leaves the type wraps around, and is any number. */
static Interval kept(LLVMValueRef v, Interval r) {
  Interval room = cg_nvptx_numbers(cg_int_width(v));
  return ir_interval_lies_within(r, room) ? r : room;
}

static Interval range_in(Bounds *b, const Facts *facts, LLVMValueRef v, unsigned depth);

static Interval shifted(LLVMValueRef v, Interval r) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  uint64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : UINT64_MAX;
  if (n >= cg_int_width(v) - 1 || (cg_is_op(v, LLVMLShr) && r.lo < 0))
    return cg_nvptx_numbers(cg_int_width(v));
  IrWide times = (IrWide)1 << n;
  return cg_is_op(v, LLVMShl) ? kept(v, ir_interval_product(r, (Interval){times, times}))
                              : (Interval){r.lo >> n, r.hi >> n};
}

static Interval of_operation(Bounds *b, const Facts *facts, LLVMValueRef v, unsigned depth) {
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  unsigned from = op == LLVMSelect, one = op == LLVMSExt || op == LLVMZExt;
  Interval x = range_in(b, facts, LLVMGetOperand(v, from), depth + 1),
           y = one ? x : range_in(b, facts, LLVMGetOperand(v, from + 1), depth + 1);
  if (ir_interval_is_empty(x) || ir_interval_is_empty(y))
    return op == LLVMSelect ? ir_interval_both(x, y) : ir_nothing;
  switch (op) {
  case LLVMAdd: return kept(v, ir_interval_sum(x, y));
  case LLVMSub: return kept(v, ir_interval_sum(x, ir_interval_negated(y)));
  case LLVMMul: return kept(v, ir_interval_product(x, y));
  case LLVMSelect: return ir_interval_both(x, y);
  case LLVMSExt: return x;
  case LLVMZExt: return x.lo >= 0 ? x : plain_range(b, v);
  default: return shifted(v, x);
  }
}

static bool is_operation(LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || !cg_int_width(v) || cg_int_width(v) > 64)
    return false;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMAShr:
  case LLVMLShr:
  case LLVMSelect: return true;
  default: return false;
  }
}

/* --- what conditions say --- */

/* Of a number that compares so with one of that range. */
static Interval limit(LLVMIntPredicate how, Interval by) {
  const Interval all = ir_everything;
  if (ir_interval_is_empty(by))
    return all;
  switch (how) {
  case LLVMIntEQ: return by;
  case LLVMIntULT: return by.lo >= 0 ? (Interval){0, by.hi - 1} : all;
  case LLVMIntULE: return by.lo >= 0 ? (Interval){0, by.hi} : all;
  case LLVMIntSLT: return (Interval){all.lo, by.hi - 1};
  case LLVMIntSLE: return (Interval){all.lo, by.hi};
  case LLVMIntSGT: return (Interval){by.lo + 1, all.hi};
  case LLVMIntSGE: return (Interval){by.lo, all.hi};
  default: return all;
  }
}

/* What a fact says of the k-th operand of its comparison. */
static Interval said_of(Bounds *b, Fact fact, unsigned k) {
  LLVMIntPredicate how = LLVMGetICmpPredicate(fact.condition);
  how = fact.holds ? how : cg_negated(how);
  return limit(k ? cg_swapped(how) : how, plain_range(b, LLVMGetOperand(fact.condition, !k)));
}

/* What has the same value in fewer bits; v, if nothing has. */
static LLVMValueRef before_extension(Bounds *b, LLVMValueRef v) {
  LLVMValueRef of = cg_is_extension(v) ? LLVMGetOperand(v, 0) : v;
  return LLVMIsAZExtInst(v) && plain_range(b, of).lo < 0 ? v : of;
}

/* Of a comparison of v itself, or of what it extends. */
static Interval said_directly(Bounds *b, const Facts *facts, LLVMValueRef v, Interval r) {
  LLVMValueRef of = before_extension(b, v);
  for (unsigned n = 0; facts && n < facts->n; n++)
    for (unsigned k = 0; k < 2 && LLVMIsAICmpInst(facts->list[n].condition); k++) {
      LLVMValueRef x = LLVMGetOperand(facts->list[n].condition, k);
      if (x == v || x == of)
        r = ir_interval_common(r, said_of(b, facts->list[n], k));
    }
  return r;
}

/* 1 or -1, perhaps extended. */
static bool is_sign(LLVMValueRef v) {
  v = LLVMIsASExtInst(v) ? LLVMGetOperand(v, 0) : v;
  if (LLVMIsASelectInst(v))
    return is_sign(LLVMGetOperand(v, 1)) && is_sign(LLVMGetOperand(v, 2));
  int64_t n = LLVMIsAConstantInt(v) && cg_int_width(v) <= 64 ? LLVMConstIntGetSExtValue(v) : 0;
  return n == 1 || n == -1;
}

static Interval without_facts(Bounds *b, const Facts *facts, LLVMValueRef v) {
  return said_directly(b, facts, v, range_in(b, NULL, v, 0));
}

/* What v is where `whole`, which may be made of it, is in r. */
static Interval solved(Bounds *b, const Facts *facts, LLVMValueRef whole, LLVMValueRef v,
                       Interval r, unsigned depth) {
  if (whole == v)
    return r;
  if (depth == DEEPEST || !LLVMIsAInstruction(whole) || cg_int_width(whole) != 64)
    return ir_everything;
  bool sum = cg_is_op(whole, LLVMAdd), product = cg_is_op(whole, LLVMMul);
  Interval room = cg_nvptx_numbers(64), found = ir_everything;
  for (unsigned k = 0; k < 2 && (sum || product); k++) {
    LLVMValueRef x = LLVMGetOperand(whole, k), y = LLVMGetOperand(whole, !k);
    if (!LLVMIsAInstruction(x) || (product && !is_sign(y)))
      continue;
    Interval a = without_facts(b, facts, x), c = without_facts(b, facts, y);
    if (ir_interval_is_empty(a) || ir_interval_is_empty(c))
      continue;
    IrWide far = ir_interval_larger(-r.lo, r.hi);
    Interval all = sum ? ir_interval_sum(a, c) : ir_interval_product(a, c),
             of = sum ? ir_interval_sum(r, ir_interval_negated(c)) : (Interval){-far, far};
    if (ir_interval_lies_within(all, room))
      found = ir_interval_common(found, solved(b, facts, x, v, of, depth + 1));
  }
  return found;
}

/* What the facts say of v, which is in r. */
static Interval said(Bounds *b, const Facts *facts, LLVMValueRef v, Interval r) {
  r = said_directly(b, facts, v, r);
  for (unsigned n = 0; facts && n < facts->n && cg_int_width(v) == 64; n++)
    for (unsigned k = 0; k < 2 && LLVMIsAICmpInst(facts->list[n].condition); k++) {
      LLVMValueRef x = LLVMGetOperand(facts->list[n].condition, k);
      Interval of = LLVMIsAInstruction(x) ? said_of(b, facts->list[n], k) : ir_everything;
      if (of.lo > ir_everything.lo && of.hi < ir_everything.hi)
        r = ir_interval_common(r, solved(b, facts, x, v, of, 0));
    }
  return r;
}

/* The only edge by which the phi, which is in r, was reached; -1: there are several. */
static int edge_of(LLVMValueRef phi, Interval r) {
  int edge = -1;
  for (unsigned e = 0; e < LLVMCountIncoming(phi); e++) {
    LLVMValueRef v = LLVMGetIncomingValue(phi, e);
    if (LLVMIsAConstantInt(v) &&
        (LLVMConstIntGetSExtValue(v) < r.lo || LLVMConstIntGetSExtValue(v) > r.hi))
      continue;
    if (edge >= 0)
      return -1;
    edge = (int)e;
  }
  return edge;
}

/* What is known where the phi is reached by that edge, of what has not changed since. */
static void add_facts_of_phi(Bounds *b, Facts *facts, LLVMValueRef phi, unsigned edge) {
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, edge), to = LLVMGetInstructionParent(phi);
  uint32_t at = graph_number(b->g, to);
  Facts more = {.n = 0};
  cg_add_facts_of_edge(&more, LLVMGetBasicBlockTerminator(from), to);
  cg_add_facts_at(&more, b->g, graph_number(b->g, from));
  for (unsigned k = 0; k < more.n && facts->n < MOST_FACTS; k++) {
    LLVMValueRef c = more.list[k].condition;
    uint32_t in = LLVMIsAInstruction(c) ? graph_number(b->g, LLVMGetInstructionParent(c)) : at;
    if (in != at && in != GRAPH_NONE && graph_dominates(b->g, in, at))
      facts->list[facts->n++] = more.list[k];
  }
}

/* What follows of facts of phis, from the n-th fact on. */
static void add_implied(Bounds *b, Facts *facts, unsigned n) {
  for (; n < facts->n; n++)
    for (unsigned k = 0; k < 2 && LLVMIsAICmpInst(facts->list[n].condition); k++) {
      LLVMValueRef phi = LLVMGetOperand(facts->list[n].condition, k);
      if (!LLVMIsAPHINode(phi) || !cg_int_width(phi) || cg_int_width(phi) > 64)
        continue;
      int edge = edge_of(phi, said_of(b, facts->list[n], k));
      if (edge >= 0)
        add_facts_of_phi(b, facts, phi, (unsigned)edge);
    }
}

/* What is known where `block` runs; or goes on to `to`, if that is not NULL. */
static Facts facts_at(Bounds *b, LLVMBasicBlockRef block, LLVMBasicBlockRef to) {
  Facts facts = {.n = 0};
  if (to)
    cg_add_facts_of_edge(&facts, LLVMGetBasicBlockTerminator(block), to);
  cg_add_facts_at(&facts, b->g, graph_number(b->g, block));
  add_implied(b, &facts, 0);
  return facts;
}

/* Either side of a selection, where its condition is known. */
static Interval of_selection(Bounds *b, const Facts *facts, LLVMValueRef v, unsigned depth) {
  Interval r = ir_nothing;
  for (unsigned k = 1; k <= 2; k++) {
    Facts more = *facts;
    unsigned had = more.n;
    if (had < MOST_FACTS)
      more.list[more.n++] = (Fact){LLVMGetOperand(v, 0), k == 1};
    add_implied(b, &more, had);
    r = ir_interval_both(r, range_in(b, &more, LLVMGetOperand(v, k), depth + 1));
  }
  return r;
}

static Interval range_in(Bounds *b, const Facts *facts, LLVMValueRef v, unsigned depth) {
  unsigned k = number_of(b, v);
  Interval r = k < b->n ? b->ranges[k] : plain_range(b, v);
  bool extends = cg_is_extension(v) && cg_int_width(v) == 64;
  if (depth < DEEPEST && LLVMIsASelectInst(v) && facts)
    r = ir_interval_common(r, of_selection(b, facts, v, depth));
  else if (depth < DEEPEST && (is_operation(v) || extends))
    r = ir_interval_common(r, of_operation(b, facts, v, depth));
  return facts ? said(b, facts, v, r) : r;
}

/* --- all variables --- */

static Interval of_phi(Bounds *b, LLVMValueRef phi) {
  Interval r = ir_nothing;
  for (unsigned e = 0; e < LLVMCountIncoming(phi); e++) {
    Facts facts = facts_at(b, LLVMGetIncomingBlock(phi, e), LLVMGetInstructionParent(phi));
    Interval in = range_in(b, &facts, LLVMGetIncomingValue(phi, e), 0);
    r = ir_interval_is_empty(in) ? r : ir_interval_both(r, in);
  }
  return r;
}

static Interval widened(Interval had, Interval now) {
  Interval room = cg_nvptx_numbers(64);
  if (now.lo < had.lo)
    now.lo = now.lo >= int32.lo ? int32.lo : room.lo;
  if (now.hi > had.hi)
    now.hi = now.hi <= int32.hi ? int32.hi : room.hi;
  return now;
}

/* They grow step by step. If that goes on, the first that grows is widened, and then the others,
 * which may have grown because of it, get as many steps again. False: that takes too long. */
static bool find_ranges(Bounds *b) {
  for (unsigned k = 0; k < b->n; k++)
    b->ranges[k] = ir_nothing;
  bool grows = true;
  for (unsigned round = 0, steps = 0; round < MOST_ROUNDS && grows; round++, steps++) {
    grows = false;
    for (unsigned k = 0; k < b->n; k++) {
      Interval *r = &b->ranges[k], now = ir_interval_both(*r, of_phi(b, b->phis[k]));
      if (ir_interval_is_empty(now) || ir_interval_lies_within(now, *r))
        continue;
      *r = steps >= STEPWISE ? widened(*r, now) : now;
      steps = steps >= STEPWISE ? 0 : steps;
      grows = true;
    }
  }
  for (unsigned round = 0; round < NARROWING && !grows; round++)
    for (unsigned k = 0; k < b->n; k++)
      b->ranges[k] = ir_interval_common(b->ranges[k], of_phi(b, b->phis[k]));
  return !grows;
}

/* --- writing --- */

static bool is_unsigned(LLVMValueRef comparison) {
  LLVMIntPredicate how = LLVMGetICmpPredicate(comparison);
  return how == LLVMIntULT || how == LLVMIntULE || how == LLVMIntUGT || how == LLVMIntUGE;
}

/* Is v made of variables, all of which fit? */
static bool is_of_variables(Bounds *b, LLVMValueRef v, unsigned depth, bool *any) {
  unsigned k = number_of(b, v);
  if (k < b->n) {
    *any = true;
    return !ir_interval_is_empty(b->ranges[k]) && ir_interval_lies_within(b->ranges[k], int32);
  }
  if (!is_operation(v) || cg_int_width(v) != 64)
    return true;
  for (int n = 0; n < LLVMGetNumOperands(v); n++)
    if (depth == DEEPEST || !is_of_variables(b, LLVMGetOperand(v, (unsigned)n), depth + 1, any))
      return false;
  return true;
}

static Interval range_at_use(Bounds *b, LLVMValueRef v, LLVMUseRef u) {
  LLVMValueRef user = LLVMGetUser(u);
  LLVMBasicBlockRef in = LLVMGetInstructionParent(user);
  Interval r = ir_nothing;
  if (!LLVMIsAPHINode(user)) {
    Facts facts = facts_at(b, in, NULL);
    return range_in(b, &facts, v, 0);
  }
  for (unsigned e = 0; e < LLVMCountIncoming(user); e++) {
    if (LLVMGetIncomingValue(user, e) != v)
      continue;
    Facts facts = facts_at(b, LLVMGetIncomingBlock(user, e), in);
    r = ir_interval_both(r, range_in(b, &facts, v, 0));
  }
  return r;
}

/* A use of v, where it is in r. */
typedef struct Use {
  LLVMValueRef v, user;
  Interval r;
} Use;

typedef VEC(Use) Uses;

static void read_uses(Bounds *b, LLVMValueRef v, Uses *all) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    Use use = {v, LLVMGetUser(u), range_at_use(b, v, u)};
    if (!ir_interval_is_empty(use.r) && !LLVMIsATruncInst(use.user))
      VEC_PUSH(&b->cg->cx->arena, all, use);
  }
}

static LLVMValueRef low_of(Bounds *b, LLVMValueRef v) {
  LLVMValueRef at = LLVMIsAPHINode(v) ? graph_behind_phis(LLVMGetInstructionParent(v))
                                      : LLVMGetNextInstruction(v);
  LLVMPositionBuilderBefore(b->cg->builder, at);
  LLVMSetCurrentDebugLocation2(b->cg->builder, LLVMInstructionGetDebugLoc(v));
  return l_trunc(b->cg->builder, v, b->cg->t.i32);
}

/* In place of v, which fits 32 bits there. Of an address a product is made with a sign; others ask
 * for an upper half that is 0. */
static void extend(Bounds *b, const Use *use) {
  LLVMBuilderRef at = b->cg->builder;
  LLVMTypeRef t = b->cg->t.i64;
  bool sign = use->r.lo < 0 || cg_is_op(use->user, LLVMShl) ||
              cg_is_op(use->user, LLVMGetElementPtr);
  LLVMValueRef low = low_of(b, use->v);
  if (!LLVMIsAPHINode(use->user)) /* where LLVM's code generator looks for a product */
    LLVMPositionBuilderBefore(at, use->user);
  LLVMValueRef v = sign ? l_sext(at, low, t) : l_zext(at, low, t);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(use->user); k++)
    if (LLVMGetOperand(use->user, k) == use->v)
      LLVMSetOperand(use->user, k, v);
}

/* Is it a comparison without signs with a number of 31 bits, which low halves decide as well: what
 * is less than 0 is more than that there, too? */
static bool is_of_halves(Bounds *b, const Use *use) {
  if (!LLVMIsAICmpInst(use->user) || !is_unsigned(use->user) || use->r.lo < INT32_MIN ||
      use->r.hi > (IrWide)UINT32_MAX)
    return false;
  LLVMValueRef x = LLVMGetOperand(use->user, 0), y = LLVMGetOperand(use->user, 1);
  Interval r = plain_range(b, x == use->v ? y : x);
  return x != y && r.lo >= 0 && r.hi <= INT32_MAX;
}

static void compare_halves(Bounds *b, const Use *use) {
  LLVMBuilderRef at = b->cg->builder;
  LLVMTypeRef t = b->cg->t.i32;
  LLVMPositionBuilderBefore(at, use->user);
  LLVMSetCurrentDebugLocation2(at, LLVMInstructionGetDebugLoc(use->user));
  LLVMValueRef x = l_trunc(at, LLVMGetOperand(use->user, 0), t),
               y = l_trunc(at, LLVMGetOperand(use->user, 1), t);
  LLVMReplaceAllUsesWith(use->user, l_icmp(at, LLVMGetICmpPredicate(use->user), x, y));
}

/* --- the pass --- */

/* Are there variables, and is one of them, or what is made of it, compared as an index is? */
static bool read_phis(Bounds *b, LLVMValueRef f) {
  bool asked = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
      if (LLVMIsAPHINode(i) && cg_int_width(i) == 64) {
        if (b->n == MOST_PHIS)
          return false;
        b->phis[b->n++] = i;
      }
      asked |= LLVMIsAICmpInst(i) && is_unsigned(i) && is_operation(LLVMGetOperand(i, 0)) &&
               cg_int_width(LLVMGetOperand(i, 0)) == 64;
    }
  return b->n && asked;
}

/* Does one of them fit 32 bits, as its conditions say? */
static bool gains(Bounds *b) {
  for (unsigned k = 0; k < b->n; k++)
    if (!ir_interval_is_empty(b->ranges[k]) && ir_interval_lies_within(b->ranges[k], int32) &&
        !cg_nvptx_fits(b->phis[k], 32))
      return true;
  return false;
}

/* All ranges are found before anything is written. */
static void shorten_in(Bounds *b, LLVMValueRef f) {
  Uses all = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
      bool any = false;
      if (cg_int_width(i) == 64 && is_of_variables(b, i, 0, &any) && any)
        read_uses(b, i, &all);
    }
  for (uint32_t k = 0; k < all.len; k++) {
    const Use *use = &all.data[k];
    if (ir_interval_lies_within(use->r, int32))
      extend(b, use);
    else if (is_of_halves(b, use))
      compare_halves(b, use);
  }
}

void cg_nvptx_index_bounds(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    Bounds *b = CX_NEW(cg->cx, Bounds);
    b->cg = cg;
    b->plain.arena = &cg->cx->arena;
    b->narrow = cg->program && cg->program->narrow;
    if (LLVMIsDeclaration(f) || !read_phis(b, f))
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    b->g = &g;
    if (g.irreducible || !find_ranges(b) || !gains(b))
      continue;
    shorten_in(b, f);
    any = true;
    cg_run_function_passes(cg, f, "instsimplify,adce");
  }
  if (any)
    cg_nvptx_low_halves(cg);
}
