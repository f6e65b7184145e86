/* Lanes: more vectors at once, of one function.
 *
 * Loops in which neighbouring threads walk down the rows of an array:
 *
 *   for k in range(a.shape[0]):
 *     s += a[k, col] * x[k]
 *
 * A vector of threads reads a line of each row, each in another page, which no prefetcher follows.
 * Four lines of each are read in little more time, and more sums at once do not wait for each
 * other.
 *
 * Bytes and words that are read, computed with and written side by side:
 *
 *   out[i] = max(a[i], b[i])
 *
 * As many lanes as there are elements of 32 bits in a register leave most of it empty. */
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

static bool is_run(Lanes *l, LLVMValueRef access) {
  bool stores = LLVMIsAStoreInst(access);
  Shape s = ln_shape(l, LLVMGetOperand(access, stores ? 1 : 0));
  LLVMTypeRef t = LLVMTypeOf(stores ? LLVMGetOperand(access, 0) : access);
  return s.kind == SHAPE_STEP && s.step == (int64_t)LLVMABISizeOfType(l->cg->layout, t);
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

static unsigned along_rows(Lanes *l) {
  enum { RUN = 4 * LANES_LINE_BYTES };
  uint64_t bytes = bytes_carried(l) * l->how.width;
  return bytes && bytes <= RUN / 2 ? (unsigned)(RUN / bytes) : 1;
}

/* --- bytes and words --- */

enum { WHOLE = 32 }; /* bits of the elements that lanes are made for */

/* The bits of a lane's element; WHOLE if they are not less. */
static unsigned bits_of(LLVMValueRef v) {
  unsigned bits = cg_int_width(v);
  return bits && bits < WHOLE ? bits : WHOLE;
}

/* Is it uniform, or a vector of short elements itself? */
static bool is_short(Lanes *l, LLVMValueRef v) {
  Shape s = ln_shape(l, v);
  return ln_is_uniform(s) || (s.kind == SHAPE_VECTOR && bits_of(v) < WHOLE);
}

static bool is_short_operation(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMICmp:
  case LLVMSelect:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc: return true;
  case LLVMCall:
    return cg_is_call_of_any(i, "llvm.umin.") || cg_is_call_of_any(i, "llvm.umax.") ||
           cg_is_call_of_any(i, "llvm.smin.") || cg_is_call_of_any(i, "llvm.smax.");
  default: return false;
  }
}

/* Does it compute with vectors of short elements alone? */
static bool computes_short(Lanes *l, LLVMValueRef i) {
  if (!is_short_operation(i) || bits_of(i) == WHOLE)
    return false;
  unsigned n = (unsigned)LLVMGetNumOperands(i) - (LLVMIsACallInst(i) ? 1 : 0);
  for (unsigned k = 0; k < n; k++)
    if (!is_short(l, LLVMGetOperand(i, k)))
      return false;
  return true;
}

/* Does all that the instruction does fit bytes or words side by side? *most: the bits of the
 * longest element in memory. */
static bool stays_short(Lanes *l, LLVMValueRef i, unsigned *most) {
  bool stores = LLVMIsAStoreInst(i);
  if (!stores && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
    return LLVMIsATerminatorInst(i);
  if (!stores && ln_shape(l, i).kind != SHAPE_VECTOR)
    return !cg_lanes_writes(i);
  if (!stores && !LLVMIsALoadInst(i))
    return computes_short(l, i);
  LLVMValueRef element = stores ? LLVMGetOperand(i, 0) : i;
  *most = bits_of(element) > *most ? bits_of(element) : *most;
  return cg_is_plain_access(i) && is_short(l, element) && is_run(l, i);
}

/* The bits of the longest element in memory, where nothing but short elements side by side is
 * loaded, computed with and stored, by all lanes; else WHOLE. */
static unsigned longest_short(Lanes *l) {
  unsigned most = 0;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i))
      if (ln_may_rest(l, k) || !stays_short(l, i, &most))
        return WHOLE;
  return most;
}

unsigned cg_lanes_at_once(Lanes *l) {
  for (uint32_t k = 0; k < l->loops.len; k++)
    if (l->loops.data[k].divergent)
      return 1;
  unsigned rows = along_rows(l), bits = rows > 1 ? WHOLE : longest_short(l);
  return bits == 8 || bits == 16 ? WHOLE / bits : rows;
}
