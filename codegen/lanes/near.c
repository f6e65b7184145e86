/* Lanes: accesses whose addresses may happen to be contiguous. See lanes.h; memory.c calls it.
 *
 * Gathers and scatters take about as long as their loads and stores one by one. An index that
 * counts from lane to lane, but for an operation that folds its range (the remainder in `i % p`,
 * the clamp at a picture's border), is contiguous in most vectors. That is asked at run time, and a
 * gather or scatter is left for the others. It is asked of such indices only: what has been read
 * from memory may be anything, and quotients and products of what counts are not contiguous.
 *   But `x[k // n, k % n]` is, in rows of n elements, and elsewhere where no row ends among the
 * lanes. There the addresses themselves are compared. And `x[k // n]` is mostly one element. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { DEEPEST = 8 };

/* --- the index --- */

typedef struct Place {
  LLVMValueRef base, index; /* of f */
  LLVMTypeRef unit;
  bool in_row; /* the base differs between lanes: which row */
} Place;

static bool is_clamp(LLVMValueRef call) {
  static const char *const names[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (cg_is_call_of_any(call, names[k]))
      return true;
  return false;
}

static bool counts(Lanes *l, LLVMValueRef v) {
  Shape s = ln_shape(l, v);
  return s.kind == SHAPE_STEP && s.step == 1;
}

static bool is_folded(Lanes *l, LLVMValueRef v, int depth);

/* Does it come from different branches (a mirrored index), and from one of them as what counts? */
static bool joins_counted(Lanes *l, LLVMValueRef phi, int depth) {
  enum { MOST = 4 }; /* the walk goes along all of them */
  unsigned n = LLVMCountIncoming(phi);
  bool joins = n <= MOST && ln_own_loop(l, ln_value(l, phi)->block) == GRAPH_NONE, found = false;
  for (unsigned k = 0; joins && k < n; k++) {
    LLVMValueRef x = LLVMGetIncomingValue(phi, k);
    found = found || counts(l, x) || is_folded(l, x, depth + 2);
  }
  return found;
}

/* Is v computed by an operation that folds the range of what counts, and by sums? Not from what has
 * been read, of which nothing is known. */
static bool is_folded(Lanes *l, LLVMValueRef v, int depth) {
  const LaneValue *own = ln_value(l, v);
  if (!own || own->read || own->shape.kind != SHAPE_VECTOR || depth > DEEPEST)
    return false;
  LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetNumOperands(v) > 1 ? LLVMGetOperand(v, 1) : x;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMURem:
  case LLVMSRem:
  case LLVMAnd: return counts(l, x);
  case LLVMCall:
    return is_clamp(v) && (counts(l, x) || counts(l, y) || is_folded(l, x, depth + 1) ||
                           is_folded(l, y, depth + 1));
  case LLVMAdd:
  case LLVMSub: return is_folded(l, x, depth + 1) || is_folded(l, y, depth + 1);
  case LLVMSExt:
  case LLVMZExt:
  case LLVMTrunc:
  case LLVMFreeze: return is_folded(l, x, depth + 1);
  case LLVMPHI: return joins_counted(l, v, depth);
  case LLVMSelect:
    x = LLVMGetOperand(v, 2);
    return counts(l, x) || counts(l, y) || is_folded(l, x, depth + 1) || is_folded(l, y, depth + 1);
  default: return false;
  }
}

/* --- rows: a quotient and its rest --- */

/* The division in v, which varies, that has the operands of `like`, or where that is NULL has what
 * counts divided by what is uniform. A quotient, or with `rest` the rest. */
static LLVMValueRef division_in(Lanes *l, LLVMValueRef v, bool rest, LLVMValueRef like, int depth) {
  const LaneValue *own = ln_value(l, v);
  if (!own || own->read || own->shape.kind != SHAPE_VECTOR || depth > DEEPEST || LLVMIsAPHINode(v))
    return NULL;
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  if (rest ? op == LLVMURem || op == LLVMSRem : op == LLVMUDiv || op == LLVMSDiv) {
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    bool found = like ? x == LLVMGetOperand(like, 0) && y == LLVMGetOperand(like, 1)
                      : counts(l, x) && ln_is_uniform(ln_shape(l, y));
    return found ? v : NULL;
  }
  LLVMValueRef found = NULL;
  for (int k = 0; !found && k < LLVMGetNumOperands(v); k++)
    found = division_in(l, LLVMGetOperand(v, (unsigned)k), rest, like, depth + 1);
  return found;
}

/* Is the base an address of row `k // n`, the index of element `k % n`? */
static bool is_in_row(Lanes *l, LLVMValueRef base, LLVMValueRef index) {
  LLVMValueRef rest = division_in(l, index, true, NULL, 0);
  return rest && division_in(l, base, false, rest, 0);
}

/* May the address of an element of type t be part of a run? */
static bool find_place(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, Place *p) {
  if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2 ||
      ln_value(l, pointer)->element)
    return false;
  *p = (Place){.base = LLVMGetOperand(pointer, 0),
               .index = LLVMGetOperand(pointer, 1),
               .unit = LLVMGetGEPSourceElementType(pointer)};
  if (LLVMTypeOf(p->index) != l->cg->t.i64 || ln_shape(l, p->index).kind != SHAPE_VECTOR ||
      LLVMABISizeOfType(l->cg->layout, p->unit) != LLVMABISizeOfType(l->cg->layout, t))
    return false;
  LLVMValueRef x = ln_unwrapped(p->index);
  p->in_row = !ln_is_uniform(ln_shape(l, p->base));
  return p->in_row ? is_in_row(l, p->base, p->index) : is_folded(l, x ? x : p->index, 0);
}

bool ln_may_be_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  Place p;
  return find_place(l, pointer, t, &p);
}

/* May it be the same address in all lanes: one of a quotient, without the rest? */
static bool may_be_one(Lanes *l, LLVMValueRef pointer) {
  return ln_shape(l, pointer).kind == SHAPE_VECTOR && !ln_value(l, pointer)->element &&
         division_in(l, pointer, false, NULL, 0) && !division_in(l, pointer, true, NULL, 0);
}

/* --- the test --- */

/* <0, 1, 2, …> */
static LLVMValueRef counted(Lanes *l, LLVMTypeRef t, unsigned n) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    all[k] = l_int(t, k);
  return LLVMConstVector(all, n);
}

/* The index in the first lane that runs. */
static LLVMValueRef first_index(Lanes *l, LLVMValueRef indices, LLVMValueRef lane) {
  return l_freeze(l->b, l_extract_element(l->b, indices, lane));
}

/* i1: no lane that runs is among these, of which those of others may be poison */
static LLVMValueRef in_no_lane(Lanes *l, LLVMValueRef far) {
  return l_not(l->b, ln_any(l, l_freeze(l->b, ln_and(l, l->mask_now, far, false))));
}

/* Branches on whether that many bytes lie from each lane's address to the next one's, and leaves
 * the builder where they do. */
static NearRun test_addresses(Lanes *l, LLVMValueRef pointer, uint64_t step) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef pointers = ln_vector(l, pointer), lane = ln_first(l, l->mask_now),
               first = first_index(l, pointers, lane),
               back = l_sub(l->b, l_int(i64, 0), l_mul(l->b, lane, l_int(i64, step))),
               begin = l_gep(l->b, l->cg->t.i8, first, &back, 1),
               offsets = ln_steps_vector(l, i64, (int64_t)step),
               near = l_gep(l->b, l->cg->t.i8, begin, &offsets, 1),
               far = l_icmp(l->b, LLVMIntNE, pointers, near);
  NearRun run = {begin, ln_new_block(l, "run"), ln_new_block(l, "apart"), ln_new_block(l, "")};
  l_condbr(l->b, in_no_lane(l, far), run.there, run.other);
  LLVMPositionBuilderAtEnd(l->b, run.there);
  return run;
}

bool ln_begin_one(Lanes *l, LLVMValueRef pointer, NearRun *run) {
  if (!may_be_one(l, pointer) || !ln_is_here(l, pointer))
    return false;
  *run = test_addresses(l, pointer, 0);
  return true;
}

bool ln_begin_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, NearRun *run) {
  Place p;
  if (!find_place(l, pointer, t, &p))
    return false;
  if (p.in_row) {
    if (ln_is_here(l, pointer))
      *run = test_addresses(l, pointer, LLVMABISizeOfType(l->cg->layout, t));
    return ln_is_here(l, pointer);
  }
  if (!ln_is_here(l, p.base) || !ln_is_here(l, p.index))
    return false;
  LLVMValueRef indices = ln_vector(l, p.index), lane = ln_first(l, l->mask_now),
               begin = l_sub(l->b, first_index(l, indices, lane), lane),
               steps = l_sub(l->b, indices, ln_splat(l, begin)),
               far = l_icmp(l->b, LLVMIntNE, steps, counted(l, l->cg->t.i64, l->width));
  LLVMValueRef base = ln_scalar(l, p.base); /* these two so that they are not read on one side */
  ln_vector(l, pointer);
  *run = (NearRun){NULL, ln_new_block(l, "run"), ln_new_block(l, "apart"), ln_new_block(l, "")};
  l_condbr(l->b, in_no_lane(l, far), run->there, run->other);
  LLVMPositionBuilderAtEnd(l->b, run->there);
  run->first = l_gep(l->b, p.unit, base, &begin, 1);
  return true;
}

void ln_else_run(Lanes *l, const NearRun *run) {
  l_br(l->b, run->done);
  LLVMPositionBuilderAtEnd(l->b, run->other);
}

void ln_end_run(Lanes *l, const NearRun *run) {
  l_br(l->b, run->done);
  LLVMPositionBuilderAtEnd(l->b, run->done);
}
