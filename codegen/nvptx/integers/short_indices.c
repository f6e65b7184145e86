/* NVPTX short indices: positions that a loop takes from memory and moves on, in 32 bits.
 *
 *   i, end = starts[row], starts[row + 1]       # int64
 *   while i < end:
 *     c = text[i]
 *     i += 1
 *     if c >= 0x80: i += 2
 *
 * Of i nothing is known, so the analyses of typed SSA leave it 64 bits, and each of its indices is
 * wrapped by a selection. But it is an index of an array of fewer than 2**31 elements whenever an
 * iteration begins, or it is out of range; and within the iteration it moves by constants. So it
 * and what is made of it fit 32 bits. What it is compared with may not, and is clamped once, in
 * front of the loop.
 *
 * So it is with `while x[i] < value: i += 1`, of which it is known that i is not negative.
 *
 * In: optimised functions. Lowering has marked accesses whose index is in range, although only its
 * low half is used (CG_IN_RANGE). Out: the index of such an access is wrapped by an unsigned
 * minimum of 32 bits (as lower/values.c does where it knows the index well enough), and the
 * variable of a loop whose header has one is an i32 phi. */
#include <assert.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MOST = 48 }; /* values made of a variable, variables of a function */

/* The wrapped index of an access: the low half of index + (n if index < 0 else 0), extended. */
typedef struct Wrapped {
  LLVMValueRef access, index, extent,
      low; /* extent: of 32 bits, NULL: it is not negative; low: what is extended, or shifted */
  uint64_t left; /* by so many bits, if it is an offset in bytes */
} Wrapped;

/* A variable of a loop and what is made of it: phis and sums with constants. */
typedef struct Walk {
  Cg *cg;
  const FnGraph *g;
  uint32_t number;         /* of the loop */
  LLVMValueRef phi, front; /* front: the end of the block in front of the loop */
  LLVMValueRef made[MOST], narrow[MOST], wide[MOST]; /* narrow: in 32 bits; wide: that extended */
  unsigned n;
} Walk;

/* --- accesses --- */

static bool is_step(LLVMValueRef v) {
  return cg_is_op(v, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(v, 1));
}

/* The value of 64 bits whose low half v is, extended with its sign, and shifted left; else NULL. */
static LLVMValueRef extended(Cg *cg, LLVMValueRef v, uint64_t *left) {
  LLVMValueRef from = LLVMIsAInstruction(v) ? LLVMGetOperand(v, 0) : NULL,
               back = cg_is_op(v, LLVMAShr) ? LLVMGetOperand(v, 1) : NULL;
  *left = 0;
  if (back && cg_is_op(from, LLVMShl) && cg_is_number(LLVMGetOperand(from, 1), 32) &&
      LLVMIsAConstantInt(back) && LLVMConstIntGetZExtValue(back) <= 32) {
    *left = 32 - LLVMConstIntGetZExtValue(back);
    return LLVMGetOperand(from, 0);
  }
  if (cg_is_op(v, LLVMSExt) && cg_is_op(from, LLVMTrunc) && LLVMTypeOf(from) == cg->t.i32)
    return LLVMGetOperand(from, 0);
  return NULL;
}

/* Is `test` the condition that index is negative? LLVM writes that of a sum with its first term. */
static bool is_negative(LLVMValueRef test, LLVMValueRef index) {
  if (!LLVMIsAICmpInst(test) || LLVMGetICmpPredicate(test) != LLVMIntSLT ||
      !LLVMIsAConstantInt(LLVMGetOperand(test, 1)))
    return false;
  int64_t below = LLVMConstIntGetSExtValue(LLVMGetOperand(test, 1));
  LLVMValueRef x = LLVMGetOperand(test, 0);
  return x == index
             ? below == 0
             : cg_is_op(index, LLVMAdd) && LLVMGetNSW(index) && LLVMGetOperand(index, 0) == x &&
                   cg_is_number(LLVMGetOperand(index, 1), (uint64_t)-below);
}

static bool read_sum(Wrapped *w, LLVMValueRef sum, unsigned k) {
  LLVMValueRef by = LLVMGetOperand(sum, k);
  w->index = LLVMGetOperand(sum, !k);
  if (!LLVMIsASelectInst(by) || !cg_is_number(LLVMGetOperand(by, 2), 0) ||
      !LLVMIsAZExtInst(LLVMGetOperand(by, 1)) || !is_negative(LLVMGetOperand(by, 0), w->index))
    return false;
  w->extent = LLVMGetOperand(LLVMGetOperand(by, 1), 0);
  return true;
}

static bool read_access(Cg *cg, unsigned mark, LLVMValueRef i, Wrapped *w) {
  bool store = cg_is_op(i, LLVMStore);
  if ((!store && !cg_is_op(i, LLVMLoad)) || !LLVMGetMetadata(i, mark))
    return false;
  LLVMValueRef p = LLVMGetOperand(i, store);
  w->access = i;
  w->low = cg_is_op(p, LLVMGetElementPtr) && LLVMGetNumIndices(p) == 1 ? LLVMGetOperand(p, 1)
                                                                       : NULL;
  LLVMValueRef sum = w->low ? extended(cg, w->low, &w->left) : NULL;
  w->extent = NULL;
  if (sum && cg_is_op(sum, LLVMAdd) && (read_sum(w, sum, 0) || read_sum(w, sum, 1)))
    return LLVMTypeOf(w->extent) == cg->t.i32;
  w->index = sum; /* which is not wrapped */
  return sum && (LLVMIsAPHINode(sum) || is_step(sum));
}

/* --- what a variable becomes --- */

static unsigned number_of(const Walk *w, LLVMValueRef v) {
  for (unsigned k = 0; k < w->n; k++)
    if (w->made[k] == v)
      return k;
  return MOST;
}

static bool is_inside(const Walk *w, LLVMValueRef i) {
  uint32_t at = graph_number(w->g, LLVMGetInstructionParent(i));
  return at != GRAPH_NONE && w->g->nodes[at].loop == w->number;
}

/* Adds what is made of a value in the loop itself, not in loops in it. False if it is too much. */
static bool read_uses(Walk *w, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    if ((!is_step(i) && !LLVMIsAPHINode(i)) || !is_inside(w, i) || number_of(w, i) < MOST)
      continue;
    if (w->n == MOST)
      return false;
    w->made[w->n++] = i;
  }
  return true;
}

/* Finds all that is made of the variable. False unless each value of the next iteration is, and
 * it moves by at most TY_REACH. A phi of the loop's own blocks is no variable of a loop but the
 * header's. */
static bool read_walk(Walk *w) {
  int64_t far = 0;
  for (unsigned k = 0; k < w->n; k++)
    if (!read_uses(w, w->made[k]))
      return false;
  for (unsigned k = 0; k < w->n; k++) {
    LLVMValueRef v = w->made[k];
    if (is_step(v)) {
      int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
      if (by < -TY_REACH || by > TY_REACH)
        return false;
      far += by < 0 ? -by : by;
      continue;
    }
    bool header = LLVMGetInstructionParent(v) == LLVMGetInstructionParent(w->phi);
    if (header != (v == w->phi))
      return false;
    for (unsigned e = 0; e < LLVMCountIncoming(v); e++)
      if (number_of(w, LLVMGetIncomingValue(v, e)) == MOST &&
          !(header && LLVMGetIncomingBlock(v, e) == LLVMGetInstructionParent(w->front)))
        return false;
  }
  return far <= TY_REACH;
}

/* Does the header, whenever it runs, reach the access? */
static bool is_reached(const Wrapped *w) {
  LLVMBasicBlockRef b = LLVMGetInstructionParent(w->access);
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != w->access; i = LLVMGetNextInstruction(i))
    if (LLVMIsACallInst(i) && !LLVMIsAIntrinsicInst(i))
      return false;
  return true;
}

/* --- writing --- */

static void write_before(const Walk *w, LLVMValueRef i) {
  LLVMPositionBuilderBefore(w->cg->builder, i);
  LLVMSetCurrentDebugLocation2(w->cg->builder, NULL);
}

static void write_narrow(Walk *w) {
  Cg *cg = w->cg;
  LLVMTypeRef t = cg->t.i32;
  for (unsigned k = 0; k < w->n; k++) { /* a sum's operand comes later: it may be further on */
    write_before(w, w->made[k]);
    w->narrow[k] = LLVMIsAPHINode(w->made[k])
                       ? l_phi(cg->builder, t)
                       : l_add_nsw(cg->builder, w->narrow[0],
                                   l_int(t, (uint64_t)LLVMConstIntGetSExtValue(
                                                LLVMGetOperand(w->made[k], 1))));
  }
  for (unsigned k = 0; k < w->n; k++) {
    LLVMValueRef v = w->made[k];
    if (!LLVMIsAPHINode(v)) {
      LLVMSetOperand(w->narrow[k], 0, w->narrow[number_of(w, LLVMGetOperand(v, 0))]);
      continue;
    }
    for (unsigned e = 0; e < LLVMCountIncoming(v); e++) {
      LLVMValueRef from = LLVMGetIncomingValue(v, e);
      LLVMBasicBlockRef block = LLVMGetIncomingBlock(v, e);
      unsigned at = number_of(w, from);
      write_before(w, w->front);
      LLVMValueRef in = at < MOST ? w->narrow[at] : l_trunc(cg->builder, from, t);
      LLVMAddIncoming(w->narrow[k], &in, &block, 1);
    }
  }
}

/* A bound of the loop in 32 bits: the least and the largest are no value of the variable. */
static LLVMValueRef clamped(const Walk *w, LLVMValueRef bound) {
  Cg *cg = w->cg;
  LLVMValueRef least = cg_intrinsic_fn(cg, "llvm.smin", &cg->t.i64, 1),
               most = cg_intrinsic_fn(cg, "llvm.smax", &cg->t.i64, 1);
  if (LLVMIsAConstantInt(bound)) {
    int64_t n = LLVMConstIntGetSExtValue(bound);
    return l_int(cg->t.i32, (uint64_t)(n < INT32_MIN ? INT32_MIN : n > INT32_MAX ? INT32_MAX : n));
  }
  write_before(w, w->front);
  LLVMValueRef v = l_call(cg->builder, most,
                          (LLVMValueRef[]){bound, l_int(cg->t.i64, (uint64_t)INT32_MIN)}, 2);
  v = l_call(cg->builder, least, (LLVMValueRef[]){v, l_int(cg->t.i64, INT32_MAX)}, 2);
  return l_trunc(cg->builder, v, cg->t.i32);
}

/* A signed comparison of a value, or one for equality, with what the loop does not change; NULL: it
 * is none. */
static LLVMValueRef compared(const Walk *w, unsigned k, LLVMValueRef i) {
  if (!LLVMIsAICmpInst(i) || !is_inside(w, i))
    return NULL;
  LLVMIntPredicate how = LLVMGetICmpPredicate(i);
  bool second = LLVMGetOperand(i, 0) != w->made[k];
  LLVMValueRef bound = LLVMGetOperand(i, !second);
  bool is_signed = how == LLVMIntSLT || how == LLVMIntSLE || how == LLVMIntSGT || how == LLVMIntSGE;
  if (!(is_signed || how == LLVMIntEQ || how == LLVMIntNE) || graph_in_loop(w->g, w->number, bound))
    return NULL;
  LLVMValueRef by = clamped(w, bound), v = w->narrow[k];
  write_before(w, i);
  return l_icmp(w->cg->builder, how, second ? by : v, second ? v : by);
}

static LLVMValueRef widened(Walk *w, unsigned k) {
  if (!w->wide[k]) {
    LLVMValueRef at = w->narrow[k];
    do
      at = LLVMGetNextInstruction(at);
    while (LLVMIsAPHINode(at));
    write_before(w, at);
    w->wide[k] = l_sext(w->cg->builder, w->narrow[k], w->cg->t.i64);
  }
  return w->wide[k];
}

/* The first use of a value by what is not made of the variable; NULL: there is none. */
static LLVMValueRef other_user(const Walk *w, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (number_of(w, LLVMGetUser(u)) == MOST)
      return LLVMGetUser(u);
  return NULL;
}

static void replace_uses(Walk *w, unsigned k) {
  for (LLVMValueRef i; (i = other_user(w, w->made[k]));) {
    LLVMValueRef same = LLVMIsATruncInst(i) && LLVMTypeOf(i) == w->cg->t.i32 ? w->narrow[k]
                                                                             : compared(w, k, i);
    if (same) {
      LLVMReplaceAllUsesWith(i, same);
      LLVMInstructionEraseFromParent(i);
      continue;
    }
    for (int o = 0; o < LLVMGetNumOperands(i); o++)
      if (LLVMGetOperand(i, (unsigned)o) == w->made[k])
        LLVMSetOperand(i, (unsigned)o, widened(w, k));
  }
}

static void write_walk(Walk *w) {
  assert(w->phi && w->front && w->n);
  write_narrow(w);
  for (unsigned k = 0; k < w->n; k++)
    replace_uses(w, k);
  for (unsigned k = 0; k < w->n; k++)
    LLVMReplaceAllUsesWith(w->made[k], LLVMGetPoison(w->cg->t.i64));
  for (unsigned k = 0; k < w->n; k++)
    LLVMInstructionEraseFromParent(w->made[k]);
}

/* --- loops --- */

/* The loop of a header, with one block in front of it. */
static bool find_loop(Walk *w, LLVMBasicBlockRef header) {
  uint32_t at = graph_number(w->g, header);
  w->number = at == GRAPH_NONE ? GRAPH_NONE : w->g->nodes[at].loop;
  if (w->number == GRAPH_NONE || w->g->loops.data[w->number].header != at)
    return false;
  w->front = graph_front(w->g, w->number);
  return w->front != NULL;
}

/* The variable of the loop that an index is, but for a constant; else NULL. */
static LLVMValueRef variable_of(const Wrapped *w) {
  LLVMValueRef v = is_step(w->index) ? LLVMGetOperand(w->index, 0) : w->index;
  return LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == LLVMGetInstructionParent(w->access)
             ? v
             : NULL;
}

static void narrow_walk(Cg *cg, const FnGraph *g, LLVMValueRef phi) {
  Walk *w = CX_NEW(cg->cx, Walk);
  *w = (Walk){.cg = cg, .g = g, .phi = phi, .made = {phi}, .n = 1};
  if (find_loop(w, LLVMGetInstructionParent(phi)) && read_walk(w))
    write_walk(w);
}

/* --- the pass --- */

/* In place of what is extended: x, of 32 bits, extended here. */
static void extend(Cg *cg, const Wrapped *w, LLVMValueRef x) {
  LLVMValueRef v = l_sext(cg->builder, x, cg->t.i64);
  LLVMReplaceAllUsesWith(w->low, w->left ? l_shl(cg->builder, v, l_int(cg->t.i64, w->left)) : v);
}

/* The unsigned minimum of x and x + n; x, if it is not negative. */
static void wrap_narrow(Cg *cg, const Wrapped *w) {
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, w->low);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(w->low));
  LLVMValueRef x = l_trunc(b, w->index, cg->t.i32);
  if (w->extent)
    x = l_call(b, cg_intrinsic_fn(cg, "llvm.umin", &cg->t.i32, 1),
               (LLVMValueRef[]){x, l_add(b, x, w->extent)}, 2);
  extend(cg, w, x);
}

static void add_once(LLVMValueRef *all, unsigned *n, LLVMValueRef v) {
  for (unsigned k = 0; k < *n; k++)
    if (all[k] == v)
      return;
  all[(*n)++] = v;
}

static bool shorten_in(Cg *cg, LLVMValueRef f, unsigned mark) {
  LLVMValueRef phis[MOST];
  unsigned n = 0;
  bool found = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      Wrapped w;
      if (!read_access(cg, mark, i, &w))
        continue;
      LLVMValueRef phi = variable_of(&w);
      if (phi && n < MOST && is_reached(&w))
        add_once(phis, &n, phi);
      if (!phi && !w.extent)
        continue;
      wrap_narrow(cg, &w);
      found = true;
    }
  if (!n)
    return found;
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (unsigned k = 0; k < n; k++)
    narrow_walk(cg, &g, phis[k]);
  return found;
}

void cg_nvptx_short_indices(Cg *cg) {
  unsigned mark = LLVMGetMDKindIDInContext(cg->context, CG_IN_RANGE, sizeof CG_IN_RANGE - 1);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && shorten_in(cg, f, mark))
      cg_run_function_passes(cg, f, "early-cse,dce");
}
