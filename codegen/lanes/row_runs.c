/* Lanes: loops in which neighbouring threads walk down the rows of an array.
 *
 *   for k in range(a.shape[0]):
 *     s += a[k, col] * x[k]
 *
 * A vector of threads reads a line of each row, each in another page, which no prefetcher follows.
 * Four lines of each are read in little more time, and more sums at once do not wait for each
 * other. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

/* x, without what is added to it in all iterations of the loop alike. */
static LLVMValueRef without_begin(Lanes *l, LLVMValueRef x, const LaneLoop *loop) {
  for (unsigned k = 0; cg_is_op(x, LLVMAdd) && k < 2; k++) {
    LaneValue *by = ln_value(l, LLVMGetOperand(x, k));
    if (!by || !ln_in_set(&loop->blocks, by->block))
      return LLVMGetOperand(x, 1 - k);
  }
  return x;
}

/* The counter of the loop, if v is a multiple of it that is uniform and no constant, or a sum or an
 * address with one: a row's number times the length of a row. */
static LLVMValueRef counter_in(Lanes *l, LLVMValueRef v, const LaneLoop *loop, int depth) {
  enum { DEEPEST = 6 };
  LaneValue *own = ln_value(l, v);
  if (!own || depth > DEEPEST || !ln_in_set(&loop->blocks, own->block))
    return NULL;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  for (unsigned k = 0; op == LLVMMul && k < 2; k++) {
    LLVMValueRef phi = without_begin(l, LLVMGetOperand(v, k), loop), by = LLVMGetOperand(v, 1 - k);
    if (LLVMIsAPHINode(phi) && ln_is_uniform(ln_shape(l, phi)) &&
        LLVMGetInstructionParent(phi) == l->blocks[loop->in->header].in->block &&
        !LLVMIsAConstant(by) && ln_is_uniform(ln_shape(l, by)) && LLVMTypeOf(phi) == l->cg->t.i64)
      return phi;
  }
  if (op != LLVMAdd && op != LLVMGetElementPtr)
    return NULL;
  LLVMValueRef found = NULL;
  for (int k = 0; !found && k < LLVMGetNumOperands(v); k++)
    found = counter_in(l, LLVMGetOperand(v, (unsigned)k), loop, depth + 1);
  return found;
}

LLVMValueRef ln_counter_of_rows(Lanes *l, LLVMValueRef pointer, const LaneLoop *loop) {
  return counter_in(l, pointer, loop, 0);
}

static bool is_in_loop(const Lanes *l, const LaneValue *v) {
  return l->blocks[v->block].in->loop != GRAPH_NONE;
}

static bool is_run(Lanes *l, LLVMValueRef load) {
  Shape s = ln_shape(l, LLVMGetOperand(load, 0));
  return s.kind == SHAPE_STEP &&
         s.step == (int64_t)LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(load));
}

/* Is it what vectors of any length compute in so many instructions for each register? */
static bool is_plain(Lanes *l, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  return op == LLVMPHI || op == LLVMFAdd || op == LLVMFSub || op == LLVMFMul || op == LLVMFNeg ||
         op == LLVMAdd || op == LLVMSub || op == LLVMMul || (op == LLVMLoad && is_run(l, i));
}

/* The bytes of a lane that loops carry from iteration to iteration; 0 if they do more than add up
 * what they read down rows. */
static uint64_t bytes_carried(Lanes *l) {
  enum { MOST = 12 };
  uint64_t bytes = 0;
  unsigned vectors = 0;
  bool rows = false;
  for (uint32_t k = 0; k < l->values.len; k++) {
    LaneValue *v = &l->values.data[k];
    if (!is_in_loop(l, v))
      continue;
    if (cg_lanes_writes(v->old) || l->blocks[v->block].masked)
      return 0;
    if (v->shape.kind != SHAPE_VECTOR)
      continue;
    if (++vectors > MOST || !is_plain(l, v->old))
      return 0;
    const LaneLoop *loop = &l->loops.data[l->blocks[v->block].in->loop];
    if (LLVMIsAPHINode(v->old) && v->block == loop->in->header)
      bytes += LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(v->old));
    rows |= LLVMIsALoadInst(v->old) && loop->in->innermost &&
            ln_counter_of_rows(l, LLVMGetOperand(v->old, 0), loop);
  }
  return rows ? bytes : 0;
}

unsigned cg_lanes_along_rows(Lanes *l) {
  enum { RUN = 4 * LANES_LINE_BYTES };
  for (uint32_t k = 0; k < l->loops.len; k++)
    if (l->loops.data[k].divergent)
      return 1;
  uint64_t bytes = bytes_carried(l) * l->how.width;
  return bytes && bytes <= RUN / 2 ? (unsigned)(RUN / bytes) : 1;
}
