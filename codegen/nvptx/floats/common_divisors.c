/* NVPTX common divisors: float64 quotients by the same number share its reciprocal, and those of
 * integers need no slow path.
 *
 *   m2 += delta * delta * n / both; mean = (n * mean + other) / both
 *
 * ptxas writes each quotient x / y in place: an estimate of 1 / y, four fused steps, which make it
 * the nearest number or the one beside it, a product with two steps more, and a test that sends
 * what is subnormal, infinite or nan to a function. Of a second quotient by y it computes all of
 * that anew. The steps written here are its own (the same for sm_75 to sm_120), so results are the
 * same to the bit: those of 1 / y at the first quotient, those of x and the test at each. What does
 * not pass the test is divided by ptxas's code, at the end of the function.
 *
 * The reciprocal takes two registers from the first quotient to the last, so that only those share
 * one that are near each other in a block: further apart, kernels lose threads by it.
 *
 * A quotient of integers, total / count, is 0 or neither tiny nor huge: it always passes the test,
 * unless it is one by 0, which is chosen behind the steps. Without a branch, several are computed
 * side by side.
 *
 * Of float32 the steps of 1 / y are two, and its test is an instruction that PTX does not have.
 *
 * In: functions that only the code generator is still to see, with IEEE arithmetic. */
#include <math.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

/* NEAR: instructions between two quotients that share a reciprocal, which takes two registers */
enum { UPPER = 32, NEAR = 32, MOST_SUMS = 4 };

typedef struct Quotient {
  LLVMValueRef division;
  uint32_t place;          /* instructions of the function in front of it */
  uint32_t first;          /* the first of those by the same number; its own number if it is that */
  bool shared;             /* of a first one: there are others */
  bool whole;              /* of two integers */
  bool of_0;               /* of a whole one: it may be a quotient by 0 */
  LLVMValueRef reciprocal; /* of a first one, when it is written */
} Quotient;

typedef VEC(Quotient) Quotients;

/* --- steps --- */

static LLVMValueRef call(Cg *cg, const char *name, LLVMTypeRef *type, LLVMValueRef *args,
                         unsigned n) {
  return l_call(cg->builder, cg_intrinsic_fn(cg, name, type, type != NULL), args, n);
}

static LLVMValueRef fused(Cg *cg, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return call(cg, "llvm.fma", &type, (LLVMValueRef[]){a, b, c}, 3);
}

/* The upper half of a float64 as a float32, which has its exponent's upper bits. */
static LLVMValueRef upper(Cg *cg, LLVMValueRef x) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef bits = l_bitcast(b, x, cg->t.i64),
               half = l_trunc(b, l_lshr(b, bits, l_int(cg->t.i64, UPPER)), cg->t.i32);
  return l_bitcast(b, half, cg->t.f32);
}

static LLVMValueRef magnitude(Cg *cg, LLVMValueRef x) {
  return call(cg, "llvm.fabs", &cg->t.f32, &x, 1);
}

static bool was_integer(LLVMValueRef v) {
  return cg_is_op(v, LLVMSIToFP) || cg_is_op(v, LLVMUIToFP);
}

/* c - y * r. Of a whole y, which was an integer, the sign is not changed: that would take
 * instructions of its own (nvptx/ptx_fixup.c). */
static LLVMValueRef rest(Cg *cg, LLVMValueRef y, LLVMValueRef r, LLVMValueRef c, bool whole) {
  LLVMBuilderRef b = cg->builder;
  return whole ? fused(cg, y, l_fneg(b, r), c) : fused(cg, l_fneg(b, y), r, c);
}

/* The estimate has an upper half only; ptxas makes the lower one 1. */
static LLVMValueRef reciprocal(Cg *cg, LLVMValueRef y, bool whole) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef one = LLVMConstReal(cg->t.f64, 1),
               bits = l_bitcast(b, call(cg, "llvm.nvvm.rcp.approx.ftz.d", NULL, &y, 1), cg->t.i64),
               high = l_and(b, bits, l_int(cg->t.i64, ~(uint64_t)0 << UPPER)),
               r = l_bitcast(b, l_or(b, high, l_int(cg->t.i64, 1)), cg->t.f64),
               e = rest(cg, y, r, one, whole);
  r = fused(cg, r, fused(cg, e, e, e), r);
  return fused(cg, r, rest(cg, y, r, one, whole), r);
}

static LLVMValueRef quotient(Cg *cg, LLVMValueRef x, LLVMValueRef y, LLVMValueRef r, bool whole) {
  LLVMValueRef q = l_fmul(cg->builder, x, r);
  return fused(cg, r, rest(cg, y, q, x, whole), q);
}

/* Are x, y and the quotient such that it is the nearest number? */
static LLVMValueRef is_exact(Cg *cg, LLVMValueRef x, LLVMValueRef y, LLVMValueRef q) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef least = LLVMConstReal(cg->t.f32, 0x1p-129),
               low = LLVMConstReal(cg->t.f32, 0x1.cp-121),
               sum = fused(cg, LLVMConstReal(cg->t.f32, 0), upper(cg, y), upper(cg, q));
  return l_and(b, l_fcmp(b, LLVMRealOGT, magnitude(cg, sum), least),
               l_fcmp(b, LLVMRealUGE, magnitude(cg, upper(cg, x)), low));
}

/* --- quotients of integers --- */

/* Is it an integer, and not -0, the sign of whose quotient the steps would lose? */
static bool is_whole(LLVMValueRef v, unsigned depth) {
  LLVMBool lost = false;
  if (LLVMIsAConstantFP(v)) {
    double x = LLVMConstRealGetDouble(v, &lost);
    return !lost && x == trunc(x) && fabs(x) < 0x1p64 && !signbit(x);
  }
  if (depth && (cg_is_op(v, LLVMFAdd) || cg_is_op(v, LLVMFSub)))
    return is_whole(LLVMGetOperand(v, 0), depth - 1) && is_whole(LLVMGetOperand(v, 1), depth - 1);
  return was_integer(v) && cg_int_width(LLVMGetOperand(v, 0)) <= 64;
}

/* Does a comparison say that x, or the difference that it is, is not 0? */
static bool says_not_0(Fact fact, LLVMValueRef x) {
  LLVMValueRef c = fact.condition;
  if (!LLVMIsAICmpInst(c) || LLVMGetICmpPredicate(c) != (fact.holds ? LLVMIntNE : LLVMIntEQ))
    return false;
  LLVMValueRef a = LLVMGetOperand(c, 0), b = LLVMGetOperand(c, 1);
  if (a == x && LLVMIsNull(b))
    return true;
  if (!cg_is_op(x, LLVMSub))
    return false;
  LLVMValueRef from = LLVMGetOperand(x, 0), by = LLVMGetOperand(x, 1);
  return (a == from && b == by) || (a == by && b == from);
}

/* May the float, where the block runs, be 0? */
static bool may_be_0(const FnGraph *g, LLVMValueRef y, LLVMBasicBlockRef block) {
  if (LLVMIsAConstantFP(y) || !was_integer(y))
    return !LLVMIsAConstantFP(y) || LLVMIsNull(y);
  Facts facts = {.n = 0};
  cg_add_facts_at(&facts, g, graph_number(g, block));
  for (LLVMValueRef x = LLVMGetOperand(y, 0);; x = LLVMGetOperand(x, 0)) {
    Interval r = cg_nvptx_range(x);
    if (r.lo > 0 || r.hi < 0)
      return false;
    for (unsigned k = 0; k < facts.n; k++)
      if (says_not_0(facts.list[k], x))
        return false;
    if (!cg_is_extension(x))
      return true;
  }
}

/* Where y may be 0, what IEEE wants: x * inf. */
static LLVMValueRef unless_0(Cg *cg, LLVMValueRef x, LLVMValueRef y, LLVMValueRef q) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef infinite = l_fmul(b, x, LLVMConstReal(cg->t.f64, INFINITY)),
               is_0 = l_fcmp(b, LLVMRealOEQ, y, LLVMConstNull(cg->t.f64));
  return l_select(b, is_0, infinite, q);
}

/* --- the pass --- */

static bool is_quotient(const Cg *cg, LLVMValueRef i) {
  return cg_is_op(i, LLVMFDiv) && LLVMTypeOf(i) == cg->t.f64 &&
         !LLVMIsAConstant(LLVMGetOperand(i, 1)) &&
         !(LLVMGetFastMathFlags(i) & (LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal));
}

/* The last quotient by the same number, if that is a little way back in the block. */
static void add(Cg *cg, const FnGraph *g, Quotients *all, LLVMValueRef division, uint32_t place) {
  Quotient q = {.division = division, .place = place, .first = all->len};
  LLVMValueRef y = LLVMGetOperand(division, 1);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(division);
  q.whole = is_whole(LLVMGetOperand(division, 0), MOST_SUMS) && is_whole(y, MOST_SUMS);
  q.of_0 = q.whole && may_be_0(g, y, block);
  for (uint32_t k = all->len; k-- && q.first == all->len;) {
    const Quotient *other = &all->data[k];
    if (LLVMGetOperand(other->division, 1) == y && place - other->place <= NEAR &&
        LLVMGetInstructionParent(other->division) == block) {
      q.first = other->first;
      all->data[q.first].shared = true;
    }
  }
  VEC_PUSH(&cg->cx->arena, all, q);
}

static void write(Cg *cg, Quotients *all, Quotient *q) {
  Quotient *first = &all->data[q->first];
  if (!first->shared && !q->whole)
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(q->division, 0), y = LLVMGetOperand(q->division, 1);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(q->division));
  if (q->whole) {
    LLVMPositionBuilderBefore(b, q->division);
    first->reciprocal = first == q ? reciprocal(cg, y, q->whole) : first->reciprocal;
    LLVMValueRef exact = quotient(cg, x, y, first->reciprocal, q->whole);
    LLVMReplaceAllUsesWith(q->division, q->of_0 ? unless_0(cg, x, y, exact) : exact);
    LLVMInstructionEraseFromParent(q->division);
    return;
  }
  GraphDetour d = graph_detour(cg, q->division, "slow");
  if (first == q)
    q->reciprocal = reciprocal(cg, y, q->whole);
  LLVMValueRef quick = quotient(cg, x, y, first->reciprocal, q->whole);
  LLVMValueRef branch = l_condbr(b, is_exact(cg, x, y, quick), d.block, d.apart);
  cg_branch_weights(cg, branch, CG_OFTEN, 1);
  graph_join_detour(&d, q->division, quick);
}

void cg_nvptx_common_divisors(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    Quotients all = {0};
    uint32_t place = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i), place++)
        if (is_quotient(cg, i))
          add(cg, &g, &all, i, place);
    for (uint32_t k = 0; k < all.len; k++)
      write(cg, &all, &all.data[k]);
  }
}
