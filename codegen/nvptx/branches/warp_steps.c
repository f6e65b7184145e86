/* NVPTX warp steps: reductions and scans over the lanes of a warp in fewer instructions.
 *
 * Five steps v = op(v, shfl.bfly(v, d)) with d = 1, 2, 4, 8 and 16 in any order, where op is an
 * integer operation that redux.sync has, are one redux.sync (sm_80 and later). All lanes get the
 * same from either, since the operations are associative and commutative.
 *
 * A step of a scan, `if laneid >= d: v = op(shfl.up(v, d), v)`, compares what the shuffle itself
 * finds out: its predicate says whether there is a lane d below. So no predicate registers hold
 * the five comparisons from one scan to the next. LLVM makes v + (laneid >= d ? w : 0) of sums;
 * they become selections of the sum again, which ptxas makes one predicated addition.
 *
 * In: functions after LLVM's passes, with shuffles of 32 bits. */
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

#define SHUFFLE_UP  "llvm.nvvm.shfl.sync.up.i32"
#define SHUFFLE_XOR "llvm.nvvm.shfl.sync.bfly.i32"
enum { LANES = 32, MASK = 0, VALUE = 1, LANE = 2, LAST = 3 }; /* operands of a shuffle */

static void place_before(Cg *cg, LLVMValueRef i) {
  LLVMPositionBuilderBefore(cg->builder, i);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
}

/* --- reductions --- */

typedef struct Reduction {
  const char *redux;    /* the intrinsic for the operation */
  const char *function; /* the operation, where it is an intrinsic too, else NULL */
  LLVMOpcode opcode;
} Reduction;

static const Reduction reductions[] = {
    {"llvm.nvvm.redux.sync.add", NULL, LLVMAdd},
    {"llvm.nvvm.redux.sync.and", NULL, LLVMAnd},
    {"llvm.nvvm.redux.sync.or", NULL, LLVMOr},
    {"llvm.nvvm.redux.sync.xor", NULL, LLVMXor},
    {"llvm.nvvm.redux.sync.min", "llvm.smin.i32", LLVMCall},
    {"llvm.nvvm.redux.sync.max", "llvm.smax.i32", LLVMCall},
    {"llvm.nvvm.redux.sync.umin", "llvm.umin.i32", LLVMCall},
    {"llvm.nvvm.redux.sync.umax", "llvm.umax.i32", LLVMCall},
};

static const Reduction *reduction_of(LLVMValueRef i) {
  for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++) {
    const Reduction *r = &reductions[k];
    if (r->function ? cg_is_call_of(i, r->function) : cg_is_op(i, r->opcode))
      return r;
  }
  return NULL;
}

/* The shuffle w of a step op(v, w) with w = shfl.bfly(v, d) of all 32 lanes, whose d goes to
 * *distance; else NULL. The shuffle is used for nothing else. */
static LLVMValueRef step_of(LLVMValueRef i, uint32_t *distance) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef w = LLVMGetOperand(i, k), v = LLVMGetOperand(i, 1 - k);
    if (cg_is_call_of(w, SHUFFLE_XOR) && LLVMGetOperand(w, VALUE) == v && cg_count_uses(w) == 1 &&
        cg_is_number(LLVMGetOperand(w, MASK), UINT32_MAX) &&
        cg_is_number(LLVMGetOperand(w, LAST), LANES - 1) &&
        LLVMIsAConstantInt(LLVMGetOperand(w, LANE))) {
      *distance = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(w, LANE));
      return w;
    }
  }
  return NULL;
}

/* i, the last step of a reduction, as redux.sync where the last shuffle is: there all lanes are. */
static bool reduce(Cg *cg, LLVMValueRef i) {
  const Reduction *r = LLVMTypeOf(i) == cg->t.i32 ? reduction_of(i) : NULL;
  LLVMValueRef shuffles[5], steps[5], v = i;
  uint32_t distances = 0;
  for (unsigned k = 0; k < 5; k++) {
    uint32_t d;
    if (!r || reduction_of(v) != r || !(shuffles[k] = step_of(v, &d)) || d >= LANES ||
        (d & (d - 1)) || (distances & d) || (k && cg_count_uses(v) != 2))
      return false;
    distances |= d, steps[k] = v, v = LLVMGetOperand(shuffles[k], VALUE);
  }
  if (distances != LANES - 1)
    return false;
  place_before(cg, shuffles[0]);
  LLVMValueRef redux = l_call(cg->builder, cg_intrinsic_fn(cg, r->redux, NULL, 0),
                              (LLVMValueRef[]){v, LLVMGetOperand(shuffles[0], MASK)}, 2);
  LLVMReplaceAllUsesWith(i, redux);
  for (unsigned k = 0; k < 5; k++) {
    LLVMInstructionEraseFromParent(steps[k]);
    LLVMInstructionEraseFromParent(shuffles[k]);
  }
  return true;
}

/* --- scans --- */

/* Does the condition say whether the lane's number is d or more (1), or less (-1)? Else 0. */
static int lane_test(LLVMValueRef c, uint32_t d) {
  if (!LLVMIsAICmpInst(c) || !LLVMIsAConstantInt(LLVMGetOperand(c, 1)))
    return 0;
  LLVMValueRef lane = cg_peel(LLVMGetOperand(c, 0));
  uint64_t n = LLVMConstIntGetZExtValue(LLVMGetOperand(c, 1));
  if (!LLVMIsACallInst(lane) || cg_nvptx_register_of(lane) != SREG_LANEID)
    return 0;
  switch (LLVMGetICmpPredicate(c)) {
  case LLVMIntUGE:
  case LLVMIntSGE: return n == d;
  case LLVMIntUGT:
  case LLVMIntSGT: return n + 1 == d;
  case LLVMIntNE: return n == 0 && d == 1;
  case LLVMIntULT:
  case LLVMIntSLT: return n == d ? -1 : 0;
  case LLVMIntULE:
  case LLVMIntSLE: return n + 1 == d ? -1 : 0;
  case LLVMIntEQ: return n == 0 && d == 1 ? -1 : 0;
  default: return 0;
  }
}

/* The shuffle with its predicate; *found becomes that. */
static void with_predicate(Cg *cg, LLVMValueRef shuffle, LLVMValueRef *found) {
  LLVMValueRef args[4];
  for (unsigned k = 0; k < 4; k++)
    args[k] = LLVMGetOperand(shuffle, k);
  place_before(cg, shuffle);
  LLVMValueRef pair = l_call(cg->builder, cg_intrinsic_fn(cg, SHUFFLE_UP "p", NULL, 0), args, 4);
  LLVMReplaceAllUsesWith(shuffle, l_extract_value(cg->builder, pair, 0));
  *found = l_extract_value(cg->builder, pair, 1);
  LLVMInstructionEraseFromParent(shuffle);
}

/* A selection whose condition tells lanes from d on from the others. */
typedef struct Selection {
  LLVMValueRef i, yes, no; /* yes: what lanes from d on have */
  LLVMValueRef sum;        /* the only use, if that is a sum and `no` is 0; else NULL */
} Selection;

static bool find_selection(LLVMValueRef i, uint32_t d, Selection *s) {
  int test = LLVMIsASelectInst(i) ? lane_test(LLVMGetOperand(i, 0), d) : 0;
  if (!test)
    return false;
  *s = (Selection){.i = i,
                   .yes = LLVMGetOperand(i, test > 0 ? 1 : 2),
                   .no = LLVMGetOperand(i, test > 0 ? 2 : 1)};
  LLVMValueRef user = cg_count_uses(i) == 1 ? LLVMGetUser(LLVMGetFirstUse(i)) : NULL;
  if (user && cg_is_op(user, LLVMAdd) && LLVMIsConstant(s->no) && LLVMIsNull(s->no))
    s->sum = user;
  return true;
}

/* By the shuffle's predicate; v + (found ? w : 0) as found ? v + w : v. */
static void rewrite(Cg *cg, const Selection *s, LLVMValueRef found) {
  LLVMValueRef old = s->sum ? s->sum : s->i, yes = s->yes, no = s->no;
  place_before(cg, old);
  if (s->sum) {
    no = LLVMGetOperand(s->sum, LLVMGetOperand(s->sum, 0) == s->i);
    yes = l_add(cg->builder, no, s->yes);
  }
  LLVMReplaceAllUsesWith(old, l_select(cg->builder, found, yes, no));
  if (s->sum)
    LLVMInstructionEraseFromParent(s->sum);
  LLVMInstructionEraseFromParent(s->i);
}

/* A scan's shuffle: the selections behind it in its block ask its predicate, up to the next shuffle
 * by as much. The instruction after which the walk goes on: the shuffle may be gone. */
static LLVMValueRef scan(Cg *cg, LLVMValueRef shuffle) {
  LLVMValueRef distance = LLVMGetOperand(shuffle, LANE), found = NULL, after;
  if (!LLVMIsAConstantInt(distance) || !cg_is_number(LLVMGetOperand(shuffle, LAST), 0))
    return shuffle;
  uint64_t d = LLVMConstIntGetZExtValue(distance);
  for (LLVMValueRef i = LLVMGetNextInstruction(shuffle); i && d > 0 && d < LANES; i = after) {
    Selection s;
    after = LLVMGetNextInstruction(i);
    if (cg_is_call_of(i, SHUFFLE_UP) && LLVMGetOperand(i, LANE) == distance)
      break;
    if (!find_selection(i, (uint32_t)d, &s))
      continue;
    if (after && after == s.sum)
      after = LLVMGetNextInstruction(after);
    if (!found) {
      with_predicate(cg, shuffle, &found);
      if (s.yes == shuffle || s.no == shuffle)
        find_selection(i, (uint32_t)d, &s); /* has what has replaced the shuffle */
    }
    rewrite(cg, &s, found);
  }
  return found ? found : shuffle;
}

/* --- the pass --- */

static bool rewrite_in(Cg *cg, LLVMValueRef f) {
  bool changed = false, redux = cg_nvptx_arch_number(cg) >= 80;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      LLVMValueRef last = cg_is_call_of(i, SHUFFLE_UP) ? scan(cg, i) : i;
      next = LLVMGetNextInstruction(last);
      changed |= last != i || (redux && reduce(cg, i));
    }
  return changed;
}

void cg_nvptx_warp_steps(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && rewrite_in(cg, f))
      cg_run_function_passes(cg, f, "dce");
}
