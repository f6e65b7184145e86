/* Lanes: divergence analysis. The shape of every value, and from these the divergent branches. See
 * lanes.h.
 *
 * A sparse analysis over the lattice none < uniform or linear < varying (RV's shapes, with one
 * stride for each value), by sweeps over the blocks in reverse post-order. It is optimistic: every
 * value begins with no shape, and shapes only become less regular, so the sweeps end. A varying
 * condition makes its branch divergent at once (ln_split), which masks blocks and makes phis
 * blends, and so makes further values varying: data and control dependences in one fixed point.
 *
 * Linear values are taken to be linear modulo their type. What depends on their not wrapping (an
 * extension, an index narrower than a pointer) asks ln_extends. Memory is not analysed: a load from
 * a uniform address is uniform, since threads between two barriers are independent; `strict`
 * switches that off, except for memory that lasts. */
#include <assert.h>
#include <string.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"

enum { DEEPEST = 6 };                   /* of walks that follow both operands */
#define LARGEST_STEP ((int64_t)1 << 40) /* so that sums of steps never wrap */

static Shape step(int64_t by) { return (Shape){SHAPE_STEP, by, 0}; }
static const Shape vector = {SHAPE_VECTOR, 0, 0};

static Shape argument_shape(const Lanes *l, unsigned k) {
  if (l->how.steps[k] == LANES_ANY)
    return vector;
  return (Shape){SHAPE_STEP, l->how.steps[k], l->how.zeros ? l->how.zeros[k] : 0};
}

Shape ln_shape(Lanes *l, LLVMValueRef v) {
  LaneValue *own = ln_value(l, v);
  if (own)
    return own->shape;
  for (unsigned k = 0; LLVMIsAArgument(v) && k < l->nargs; k++)
    if (LLVMGetParam(l->f, k) == v)
      return argument_shape(l, k);
  Shape s = step(0); /* a constant */
  if (LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64)
    s.zeros = LLVMConstIntGetZExtValue(v) ? (unsigned)__builtin_ctzll(LLVMConstIntGetZExtValue(v))
                                          : 63;
  return s;
}

/* --- calls --- */

static bool name_begins(LLVMValueRef callee, const char *text) {
  size_t n;
  const char *name = LLVMGetValueName2(callee, &n);
  return n >= strlen(text) && memcmp(name, text, strlen(text)) == 0;
}

bool ln_is_nothing(LLVMValueRef call) {
  static const char *const names[] = {"llvm.lifetime.", "llvm.assume",
                                      "llvm.experimental.noalias.scope.decl"};
  for (size_t k = 0; LLVMIsAIntrinsicInst(call) && k < sizeof names / sizeof *names; k++)
    if (name_begins(LLVMGetCalledValue(call), names[k]))
      return true;
  return cg_is_call_of(call, CG_PLACE_NAME);
}

unsigned ln_extreme(LLVMValueRef i) {
  static const struct {
    const char *name;
    LLVMIntPredicate holds;
  } forms[] = {{"llvm.smax.", LLVMIntSGE},
               {"llvm.smin.", LLVMIntSLE},
               {"llvm.umax.", LLVMIntUGE},
               {"llvm.umin.", LLVMIntULE}};
  for (size_t k = 0; LLVMIsAIntrinsicInst(i) && k < sizeof forms / sizeof *forms; k++)
    if (name_begins(LLVMGetCalledValue(i), forms[k].name))
      return forms[k].holds;
  return 0;
}

const RowForm *ln_row_form(Lanes *l, LLVMValueRef call) {
  enum { POINTER = 1, THREAD = 2, MOST = 32 };
  static const RowForm forms[] = {
      {"rt_check_access", "rt_check_row", true, true},
      {"rt_check_unset", "rt_check_unset_row", false, true},
      {"rt_check_set", "rt_check_set_row", false, false},
  };
  for (size_t k = 0; l->width <= MOST && k < sizeof forms / sizeof *forms; k++) {
    if (!cg_is_call_of(call, forms[k].name))
      continue;
    Shape at = ln_shape(l, LLVMGetOperand(call, POINTER)),
          thread = ln_shape(l, LLVMGetOperand(call, THREAD));
    bool follow = !forms[k].is_access || (thread.kind == SHAPE_STEP && thread.step == 1);
    return at.kind == SHAPE_STEP && follow ? &forms[k] : NULL;
  }
  return NULL;
}

const VectorForm *ln_vector_form(LLVMValueRef call) {
  static const VectorForm forms[] = {
#define ALIKE(name) {"llvm." name ".", FORM_RESULT, 0}
      ALIKE("fabs"),
      ALIKE("sqrt"),
      ALIKE("floor"),
      ALIKE("ceil"),
      ALIKE("trunc"),
      ALIKE("rint"),
      ALIKE("nearbyint"),
      ALIKE("round"),
      ALIKE("roundeven"),
      ALIKE("fma"),
      ALIKE("fmuladd"),
      ALIKE("copysign"),
      ALIKE("minnum"),
      ALIKE("maxnum"),
      ALIKE("minimum"),
      ALIKE("maximum"),
      ALIKE("minimumnum"),
      ALIKE("maximumnum"),
      ALIKE("smax"),
      ALIKE("smin"),
      ALIKE("umax"),
      ALIKE("umin"),
      ALIKE("ctpop"),
      ALIKE("bitreverse"),
      ALIKE("bswap"),
      ALIKE("fshl"),
      ALIKE("fshr"),
      ALIKE("sadd.sat"),
      ALIKE("ssub.sat"),
      ALIKE("uadd.sat"),
      ALIKE("usub.sat"),
#undef ALIKE
      {"llvm.abs.", FORM_RESULT, 1 << 1},
      {"llvm.ctlz.", FORM_RESULT, 1 << 1},
      {"llvm.cttz.", FORM_RESULT, 1 << 1},
      {"llvm.is.fpclass.", FORM_FIRST, 1 << 1},
      {"llvm.fptosi.sat.", FORM_RESULT_AND_FIRST, 0},
      {"llvm.fptoui.sat.", FORM_RESULT_AND_FIRST, 0},
      {"llvm.sadd.with.overflow.", FORM_FIRST, 0},
      {"llvm.ssub.with.overflow.", FORM_FIRST, 0},
      {"llvm.smul.with.overflow.", FORM_FIRST, 0},
      {"llvm.uadd.with.overflow.", FORM_FIRST, 0},
      {"llvm.usub.with.overflow.", FORM_FIRST, 0},
      {"llvm.umul.with.overflow.", FORM_FIRST, 0},
  };
  for (size_t k = 0; LLVMIsAIntrinsicInst(call) && k < sizeof forms / sizeof *forms; k++)
    if (name_begins(LLVMGetCalledValue(call), forms[k].name))
      return &forms[k];
  return NULL;
}

/* Does a call's result depend on its arguments alone, and has it no effect? */
static bool only_computes(LLVMValueRef call) {
  if (ln_vector_form(call))
    return true;
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (!LLVMIsAFunction(callee))
    return false;
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
  LLVMAttributeIndex whole = L_FUNCTION;
  LLVMAttributeRef memory = LLVMGetEnumAttributeAtIndex(callee, whole, kind);
  return memory && LLVMGetEnumAttributeValue(memory) == 0;
}

bool cg_lanes_writes(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMCall: return !ln_is_nothing(i) && !only_computes(i) && !cg_is_call_of(i, CG_ALL_NAME);
  case LLVMLoad:
  case LLVMAlloca:
  CG_CASE_BRANCH:
  case LLVMSwitch:
  case LLVMRet:
  case LLVMUnreachable: return false;
  default: return !cg_only_computes(i);
  }
}

/* --- memory effects so far --- */

/* Along the paths of one lane; ln_split adds the effects of lanes on the other side of a branch. */
static void find_dirty(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i))
      l->blocks[k].writes |= cg_lanes_writes(i);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < l->nblocks; k++)
      for (uint32_t s = 0;
           s < l->blocks[k].in->nsucc && (l->blocks[k].writes || l->blocks[k].dirty); s++) {
        LaneBlock *to = &l->blocks[l->blocks[k].in->succ[s]];
        again |= !to->dirty;
        to->dirty = true;
      }
  }
}

/* --- comparisons that may be assumed to be uniform --- */

static bool depends_on_block(Lanes *l, LLVMValueRef v, int depth) {
  for (unsigned k = HOST_BX; k <= HOST_BZ; k++)
    if (v == LLVMGetParam(l->f, k))
      return true;
  if (!ln_value(l, v) || LLVMIsAPHINode(v) || depth > DEEPEST)
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (depends_on_block(l, LLVMGetOperand(v, (unsigned)k), depth + 1))
      return true;
  return false;
}

/* May the threads still run one by one instead, and are the operands linear integers, `both` of
 * them with a step or one of them? */
static bool can_assume(Lanes *l, const LaneValue *v, bool dirty, bool both) {
  if (dirty || !l->how.alone)
    return false;
  LLVMValueRef x = LLVMGetOperand(v->old, 0), y = LLVMGetOperand(v->old, 1);
  Shape a = ln_shape(l, x), b = ln_shape(l, y);
  int64_t rise;
  return a.kind == SHAPE_STEP && b.kind == SHAPE_STEP && (a.step != 0) == (both || !b.step) &&
         (b.step != 0) == (both || !a.step) &&
         LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind &&
         ln_rise(l, LLVMTypeOf(x), a.step ? a.step : b.step, &rise);
}

/* An equality by which one thread does nothing and all others something, as by `t >= 1`. */
static bool leaves_one_out(const Lanes *l, const LaneValue *v) {
  const GraphNode *n = l->blocks[v->block].in;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(n->block);
  LLVMUseRef use = LLVMGetFirstUse(v->old);
  Fork fork;
  if (n->ipdom == GRAPH_NONE || !use || LLVMGetNextUse(use) || LLVMGetUser(use) != end ||
      !graph_fork(end, &fork))
    return false;
  LLVMBasicBlockRef equal = LLVMGetICmpPredicate(v->old) == LLVMIntEQ ? fork.yes : fork.no;
  return equal == l->g.nodes[n->ipdom].block;
}

/* Is it a comparison by which a row of threads is two parts? Equality is mostly one thread's. */
static bool parts_row(const Lanes *l, const LaneValue *v) {
  if (!LLVMIsAICmpInst(v->old))
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(v->old);
  return (p != LLVMIntEQ && p != LLVMIntNE) || leaves_one_out(l, v);
}

static bool serves_check(const Lanes *l, const LaneValue *v) {
  const LaneBlock *b = &l->blocks[v->block];
  LLVMUseRef use = LLVMGetFirstUse(v->old);
  return b->in->trap && use && !LLVMGetNextUse(use) &&
         LLVMGetUser(use) == LLVMGetBasicBlockTerminator(b->in->block);
}

/* A position in the grid compared with a bound: nearly always uniform. So is one in the block, of
 * whose vectors one at most is divided by the bound. Not in loops. */
static bool can_agree(Lanes *l, LaneValue *v, bool dirty) {
  bool traps = l->how.whole && serves_check(l, v);
  if (traps || l->blocks[v->block].in->loop != GRAPH_NONE || !can_assume(l, v, dirty, false))
    return false;
  unsigned linear = ln_shape(l, LLVMGetOperand(v->old, 0)).step ? 0 : 1;
  return (l->how.places && parts_row(l, v)) ||
         depends_on_block(l, LLVMGetOperand(v->old, linear), 0);
}

/* Is v used for more than comparisons with what is uniform? */
static bool serves_steps(Lanes *l, LLVMValueRef v, int depth) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use && depth <= DEEPEST; use = LLVMGetNextUse(use)) {
    LLVMValueRef i = LLVMGetUser(use);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMICmp:
      if (!ln_is_uniform(ln_shape(l, LLVMGetOperand(i, LLVMGetOperand(i, 0) == v ? 1 : 0))))
        return true;
      break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
      if (serves_steps(l, i, depth + 1))
        return true;
      break;
    default: return true;
    }
  }
  return false;
}

/* Such a position limited by a bound (`max(i - 1, 0)`): nearly always the position, so what it
 * addresses is one access. Not as the bound of a loop alone (`range(min(i, n))`), which may as well
 * be the limit; and only where the edges of the grid have a version in which it varies. */
static bool can_follow(Lanes *l, LaneValue *v, bool dirty) {
  return ln_extreme(v->old) && l->values.len <= LANES_MASKED_VALUES && can_agree(l, v, dirty) &&
         serves_steps(l, v->old, 0);
}

/* Values of the same step compare alike in all lanes unless one of them wraps around between the
 * first lane and the last (`for k in range(i - r, i + r)`). In loops too: it never does. */
static bool can_keep_order(Lanes *l, LaneValue *v, bool dirty) {
  return can_assume(l, v, dirty, true) &&
         ln_shape(l, LLVMGetOperand(v->old, 0)).step == ln_shape(l, LLVMGetOperand(v->old, 1)).step;
}

/* They are equal in all lanes or in none: linear values are so modulo their type. */
static bool differs_alike(Lanes *l, LLVMValueRef icmp) {
  LLVMValueRef x = LLVMGetOperand(icmp, 0), y = LLVMGetOperand(icmp, 1);
  Shape a = ln_shape(l, x), b = ln_shape(l, y);
  LLVMIntPredicate p = LLVMGetICmpPredicate(icmp);
  return (p == LLVMIntEQ || p == LLVMIntNE) && a.kind == SHAPE_STEP && b.kind == SHAPE_STEP &&
         a.step == b.step && LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind;
}

/* --- shapes --- */

/* Is v ~x, which is -1 - x? So LLVM writes n - 1 - x. */
static bool is_complement(LLVMValueRef v) {
  if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMXor)
    return false;
  LLVMValueRef y = LLVMGetOperand(v, 1);
  return LLVMIsAConstantInt(y) && LLVMGetIntTypeWidth(LLVMTypeOf(y)) <= 64 &&
         LLVMConstIntGetSExtValue(y) == -1;
}

/* Flags that hold in all lanes. A flag is a promise about the lanes that run; in masked code lane 0
 * may not be one of them. */
static bool has_flag(Lanes *l, LLVMValueRef v, bool is_signed) {
  if (ln_may_rest(l, ln_value(l, v)->block))
    return false;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl: return is_signed ? LLVMGetNSW(v) : LLVMGetNUW(v);
  case LLVMOr: return LLVMGetIsDisjoint(v);
  case LLVMXor: return is_signed && is_complement(v);
  default: return false;
  }
}

/* Is v linear as a wide integer too, so that its extension is? Arguments that vary are small
 * numbers of threads. */
static bool extends(Lanes *l, LLVMValueRef v, bool is_signed, int depth) {
  if (ln_is_uniform(ln_shape(l, v)) || LLVMIsAArgument(v) || ln_is_aligned(l, ln_shape(l, v)))
    return true;
  if (LLVMIsAInstruction(v) && LLVMGetMetadata(v, l->row_kind))
    return true; /* the rest of a row: small and not negative in all lanes */
  if (depth > DEEPEST || !ln_value(l, v) || !has_flag(l, v, is_signed))
    return false;
  return extends(l, LLVMGetOperand(v, 0), is_signed, depth + 1) &&
         extends(l, LLVMGetOperand(v, 1), is_signed, depth + 1);
}

bool ln_extends(Lanes *l, LLVMValueRef v, bool is_signed) { return extends(l, v, is_signed, 0); }

bool ln_all_uniform(Lanes *l, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef o = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(o) && !ln_is_uniform(ln_shape(l, o)))
      return false;
  }
  return true;
}

static Shape gep_shape(Lanes *l, LLVMValueRef i) {
  Shape base = ln_shape(l, LLVMGetOperand(i, 0));
  LLVMTypeRef unit = ln_gep_unit(l, i);
  if (base.kind != SHAPE_STEP)
    return vector;
  for (int k = 2; k < LLVMGetNumOperands(i); k++)
    if (!ln_is_uniform(ln_shape(l, LLVMGetOperand(i, (unsigned)k))))
      return vector;
  LLVMValueRef index = LLVMGetOperand(i, 1);
  Shape s = ln_shape(l, index);
  if (s.kind != SHAPE_STEP)
    return vector;
  if (s.step && LLVMGetIntTypeWidth(LLVMTypeOf(index)) != 64 && !ln_extends(l, index, true))
    return vector;
  return step(base.step + s.step * (int64_t)LLVMABISizeOfType(l->cg->layout, unit));
}

static Shape sum_of_steps(int64_t a, int64_t b) {
  int64_t sum = a + b; /* of what products leave, below 2**31, and of sums */
  return sum > LARGEST_STEP || sum < -LARGEST_STEP ? vector : step(sum);
}

static Shape product_shape(Lanes *l, LLVMValueRef x, LLVMValueRef y, bool shift) {
  Shape a = ln_shape(l, x), b = ln_shape(l, y);
  if (LLVMIsAConstantInt(x) && !LLVMIsAConstantInt(y) && !shift)
    return product_shape(l, y, x, false);
  if (!LLVMIsAConstantInt(y) || a.kind != SHAPE_STEP || LLVMGetIntTypeWidth(LLVMTypeOf(y)) > 64)
    return ln_is_uniform(a) && ln_is_uniform(b) ? step(0) : vector;
  int64_t by = LLVMConstIntGetSExtValue(y), steps;
  if (shift)
    by = by >= 0 && by < 32 ? (int64_t)1 << by : INT64_MAX;
  return __builtin_mul_overflow(a.step, by, &steps) || steps > INT32_MAX || steps < INT32_MIN
             ? (a.step ? vector : step(0))
             : step(steps);
}

/* Temporal and spatial divergence: a phi where paths from a divergent branch join is a blend, and
 * so is one behind a divergent loop, which lanes left in different iterations. */
bool ln_is_blend(const Lanes *l, const LaneValue *v) {
  const LaneBlock *b = &l->blocks[v->block];
  bool header = b->in->loop != GRAPH_NONE && l->loops.data[b->in->loop].in->header == v->block;
  if (b->joins && !header && b->in->npred > 1)
    return true;
  for (uint32_t k = 0; k < b->in->npred; k++)
    for (uint32_t n = l->blocks[b->in->pred[k]].in->loop; n != GRAPH_NONE;
         n = l->loops.data[n].in->parent)
      if (l->loops.data[n].divergent && !ln_in_set(&l->loops.data[n].blocks, v->block))
        return true;
  return false;
}

static Shape phi_shape(Lanes *l, const LaneValue *v) {
  Shape s = {0};
  if (ln_is_blend(l, v))
    return vector;
  for (unsigned k = 0; k < LLVMCountIncoming(v->old); k++) {
    Shape from = ln_shape(l, LLVMGetIncomingValue(v->old, k));
    if (from.kind == SHAPE_NONE)
      continue;
    if (from.kind == SHAPE_VECTOR || (s.kind == SHAPE_STEP && s.step != from.step))
      return vector;
    s = from;
  }
  return s;
}

static Shape load_shape(Lanes *l, LLVMValueRef i) {
  if (LLVMGetMetadata(i, l->uniform_kind))
    return step(0);
  if (l->how.strict && !cg_is_field_load(l->cg, l->f, i) &&
      !(l->how.lasts && l->how.lasts(l->cg, l->f, i)))
    return vector;
  bool uniform = cg_is_plain_access(i) && ln_is_uniform(ln_shape(l, LLVMGetOperand(i, 0)));
  return uniform ? step(0) : vector;
}

static Shape call_shape(Lanes *l, LaneValue *v, bool dirty) {
  LLVMValueRef i = v->old;
  if (cg_is_block_barrier(i))
    return step(0);
  if (cg_is_meeting(i))
    return ln_meeting_shape(l, i);
  if (cg_is_call_of(i, CG_ALL_NAME))
    return l->how.strict ? vector : step(0);
  v->agreed = can_follow(l, v, dirty);
  if (v->agreed)
    return step(ln_shape(l, LLVMGetOperand(i, 0)).step + ln_shape(l, LLVMGetOperand(i, 1)).step);
  return only_computes(i) && ln_all_uniform(l, i) ? step(0) : vector;
}

static Shape shape_by_operands(Lanes *l, LaneValue *v, bool dirty) {
  LLVMValueRef i = v->old, x = LLVMGetNumOperands(i) > 0 ? LLVMGetOperand(i, 0) : NULL,
               y = LLVMGetNumOperands(i) > 1 ? LLVMGetOperand(i, 1) : NULL;
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  if (op == LLVMPHI)
    return phi_shape(l, v);
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef o = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(o) && ln_shape(l, o).kind == SHAPE_NONE)
      return (Shape){0};
  }
  Shape a = x ? ln_shape(l, x) : step(0), b = y ? ln_shape(l, y) : step(0);
  bool both = a.kind == SHAPE_STEP && b.kind == SHAPE_STEP;
  Shape aligned = ln_aligned_shape(l, i);
  if (aligned.kind != SHAPE_NONE)
    return aligned;
  if (ln_is_total(l, i))
    return step(0);
  switch (op) {
  case LLVMAdd: return both ? sum_of_steps(a.step, b.step) : vector;
  case LLVMSub: return both ? sum_of_steps(a.step, -b.step) : vector;
  case LLVMOr:
    return both && LLVMGetIsDisjoint(i) ? sum_of_steps(a.step, b.step)
                                        : (ln_all_uniform(l, i) ? step(0) : vector);
  case LLVMXor:
    return is_complement(i) && a.kind == SHAPE_STEP ? step(-a.step)
                                                    : (ln_all_uniform(l, i) ? step(0) : vector);
  case LLVMMul: return product_shape(l, x, y, false);
  case LLVMShl: return product_shape(l, x, y, true);
  case LLVMZExt:
  case LLVMSExt:
    return ln_is_uniform(a) || (a.kind == SHAPE_STEP &&
                                (ln_extends(l, x, op == LLVMSExt) ||
                                 (op == LLVMZExt && LLVMGetNNeg(i) && ln_extends(l, x, true))))
               ? a
               : vector;
  case LLVMTrunc: return ln_is_uniform(a) || LLVMGetIntTypeWidth(LLVMTypeOf(i)) >= 32 ? a : vector;
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMFreeze:
    return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind && !ln_is_uniform(a) ? vector : a;
  case LLVMGetElementPtr: return gep_shape(l, i);
  case LLVMSelect: {
    Shape c = ln_shape(l, LLVMGetOperand(i, 2));
    return ln_is_uniform(a) && b.kind == SHAPE_STEP && c.kind == SHAPE_STEP && b.step == c.step
               ? b
               : vector;
  }
  case LLVMICmp:
    if (differs_alike(l, i))
      return step(0);
    v->agreed = can_agree(l, v, dirty) || can_keep_order(l, v, dirty);
    return v->agreed || ln_all_uniform(l, i) ? step(0) : vector;
  case LLVMUDiv:
  case LLVMURem:
    if (both && !b.step && !l->how.strict && LLVMGetMetadata(i, l->row_kind)) /* in one row */
      return op == LLVMURem ? step(a.step) : step(0);
    return ln_all_uniform(l, i) ? step(0) : vector;
  case LLVMLoad: return load_shape(l, i);
  case LLVMCall: return call_shape(l, v, dirty);
  case LLVMAlloca: return step((int64_t)(v->element ? v->element : ln_array_bytes(l, v)));
  default: return cg_only_computes(i) && ln_all_uniform(l, i) ? step(0) : vector;
  }
}

static Shape find_shape(Lanes *l, LaneValue *v, bool dirty) {
  Shape s = shape_by_operands(l, v, dirty);
  if (s.kind == SHAPE_STEP)
    s.zeros = ln_zeros(l, v->old);
  return s;
}

static bool sweep_block(Lanes *l, uint32_t number) {
  LaneBlock *b = &l->blocks[number];
  bool changed = false, dirty = b->dirty;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b->in->block); i; i = LLVMGetNextInstruction(i)) {
    LaneValue *v = ln_value(l, i);
    dirty |= cg_lanes_writes(i);
    if (!v || v->shape.kind == SHAPE_VECTOR)
      continue;
    Shape s = find_shape(l, v, dirty);
    if (v->shape.kind == SHAPE_STEP && (s.kind != SHAPE_STEP || s.step != v->shape.step))
      s = vector;
    if (s.kind == SHAPE_VECTOR)
      v->agreed = false;
    if (v->shape.kind == SHAPE_STEP && s.zeros > v->shape.zeros)
      s.zeros = v->shape.zeros;
    assert(s.kind >= v->shape.kind && s.zeros < 64);
    changed |= s.kind != v->shape.kind || s.zeros != v->shape.zeros;
    v->shape = s;
  }
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b->in->block);
  if (b->in->nsucc == 2 && !b->splits) {
    Shape s = ln_shape(l, LLVMGetCondition(end));
    if (s.kind == SHAPE_VECTOR) {
      ln_split(l, number);
      changed = true;
    }
  }
  return changed;
}

static bool is_used_elsewhere(LLVMValueRef i, LLVMBasicBlockRef block) {
  for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != block)
      return true;
  }
  return LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i);
}

static bool is_late(const Lanes *l, const LaneValue *v) {
  return LLVMIsAICmpInst(v->old) && v->shape.kind == SHAPE_VECTOR && serves_check(l, v);
}

/* No CPU divides vectors of integers: what divide.c does not take counts once for each lane, and
 * what it takes is about as long. */
static bool is_short_enough(const Lanes *l) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < l->values.len; k++) {
    const LaneValue *v = &l->values.data[k];
    n += v->shape.kind == SHAPE_VECTOR && cg_is_division(v->old) ? l->width : 1;
  }
  return n <= LANES_INSTRUCTIONS;
}

static bool ln_find_shapes(Lanes *l) {
  uint32_t instructions = 0;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i)) {
      if (++instructions > LANES_INSTRUCTIONS)
        return false;
      if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        continue;
      LaneValue v = {.old = i, .block = k, .outside = is_used_elsewhere(i, l->blocks[k].in->block)};
      valuemap_set(&l->value_of, i, l->values.len);
      VEC_PUSH(l->arena, &l->values, v);
    }
  find_dirty(l);
  ln_find_arrays(l);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < l->nblocks; k++)
      again |= sweep_block(l, k);
  }
  for (uint32_t k = 0; k < l->values.len; k++) {
    assert(l->values.data[k].shape.kind != SHAPE_NONE);
    l->values.data[k].late = is_late(l, &l->values.data[k]);
  }
  ln_find_groups(l);
  ln_keep_for_runs(l);
  return is_short_enough(l);
}

/* --- entry points --- */

Lanes *cg_lanes_analyse(Cg *cg, LLVMValueRef f, const LanesHow *how) {
  Arena *a = &cg->cx->arena;
  Lanes *l = ARENA_NEW(a, Lanes);
  assert(!LLVMIsDeclaration(f) && how->steps);
  assert(how->width > 1 && (how->width & (how->width - 1)) == 0);
  *l = (Lanes){.cg = cg,
               .arena = a,
               .f = f,
               .b = cg->builder,
               .width = how->width,
               .how = *how,
               .nargs = LLVMCountParams(f),
               .value_of.arena = a,
               .copy_of.arena = a,
               .uniform_kind = LLVMGetMDKindIDInContext(cg->context, CG_UNIFORM_METADATA,
                                                        strlen(CG_UNIFORM_METADATA)),
               .row_kind = LLVMGetMDKindIDInContext(cg->context, LANES_ROW_METADATA,
                                                    strlen(LANES_ROW_METADATA))};
  return ln_find_flow(l) && ln_find_shapes(l) ? l : NULL;
}

bool cg_lanes_together(const Lanes *l, LLVMValueRef i) {
  uint32_t k = graph_number(&l->g, LLVMGetInstructionParent(i));
  if (k == VALUEMAP_NONE || l->blocks[k].masked)
    return false;
  for (uint32_t n = l->blocks[k].in->loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].divergent || l->loops.data[n].masked)
      return false;
  return true;
}

bool cg_lanes_uniform(const Lanes *l, LLVMValueRef v) {
  uint32_t n = valuemap_get(&l->value_of, v);
  return n != VALUEMAP_NONE && ln_is_uniform(l->values.data[n].shape);
}
