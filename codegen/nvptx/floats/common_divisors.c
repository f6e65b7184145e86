/* NVPTX common divisors: float64 quotients by the same number share its reciprocal.
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
 * Of float32 the steps of 1 / y are two, and its test is an instruction that PTX does not have.
 *
 * In: functions that only the code generator is still to see, with IEEE arithmetic. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* NEAR: instructions between two quotients that share a reciprocal, which takes two registers */
enum { UPPER = 32, NEAR = 32 };

typedef struct Quotient {
  LLVMValueRef division;
  uint32_t place;          /* instructions of the function in front of it */
  uint32_t first;          /* the first of those by the same number; its own number if it is that */
  bool shared;             /* of a first one: there are others */
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

/* The estimate has an upper half only; ptxas makes the lower one 1. */
static LLVMValueRef reciprocal(Cg *cg, LLVMValueRef y) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef one = LLVMConstReal(cg->t.f64, 1), minus = l_fneg(b, y),
               bits = l_bitcast(b, call(cg, "llvm.nvvm.rcp.approx.ftz.d", NULL, &y, 1), cg->t.i64),
               high = l_and(b, bits, l_int(cg->t.i64, ~(uint64_t)0 << UPPER)),
               r = l_bitcast(b, l_or(b, high, l_int(cg->t.i64, 1)), cg->t.f64),
               e = fused(cg, minus, r, one);
  r = fused(cg, r, fused(cg, e, e, e), r);
  return fused(cg, r, fused(cg, minus, r, one), r);
}

static LLVMValueRef quotient(Cg *cg, LLVMValueRef x, LLVMValueRef y, LLVMValueRef r) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef q = l_fmul(b, x, r);
  return fused(cg, r, fused(cg, l_fneg(b, y), q, x), q);
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

/* --- the pass --- */

static bool is_quotient(const Cg *cg, LLVMValueRef i) {
  return cg_is_op(i, LLVMFDiv) && LLVMTypeOf(i) == cg->t.f64 &&
         !LLVMIsAConstant(LLVMGetOperand(i, 1)) &&
         !(LLVMGetFastMathFlags(i) & (LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal));
}

/* The last quotient by the same number, if that is a little way back in the block. */
static void add(Cg *cg, Quotients *all, LLVMValueRef division, uint32_t place) {
  Quotient q = {.division = division, .place = place, .first = all->len};
  LLVMValueRef y = LLVMGetOperand(division, 1);
  LLVMBasicBlockRef block = LLVMGetInstructionParent(division);
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
  if (!first->shared)
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef x = LLVMGetOperand(q->division, 0), y = LLVMGetOperand(q->division, 1);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(q->division));
  GraphDetour d = graph_detour(cg, q->division, "slow");
  if (first == q)
    q->reciprocal = reciprocal(cg, y);
  LLVMValueRef quick = quotient(cg, x, y, first->reciprocal);
  LLVMValueRef branch = l_condbr(b, is_exact(cg, x, y, quick), d.block, d.apart);
  cg_branch_weights(cg, branch, CG_OFTEN, 1);
  graph_join_detour(&d, q->division, quick);
}

void cg_nvptx_common_divisors(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    Quotients all = {0};
    uint32_t place = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i), place++)
        if (is_quotient(cg, i))
          add(cg, &all, i, place);
    for (uint32_t k = 0; k < all.len; k++)
      write(cg, &all, &all.data[k]);
  }
}
