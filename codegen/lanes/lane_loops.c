/* Lanes: operations without a vector form, lane by lane, in a loop over the lanes of the mask. See
 * lanes.h; values.c calls it.
 *
 * Atomics on memory of one OS thread that follow one another share a loop: where neighbouring lanes
 * have one element, each addition waits for the store of the last one, and those to other tables
 * need not wait as well. The lanes' effects have no order among them. */
#include <assert.h>

#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

LLVMValueRef ln_new_slot(Lanes *l, LLVMTypeRef t) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(l->entry));
  LLVMValueRef slot = l_alloca(l->b, t);
  LLVMPositionBuilderAtEnd(l->b, here);
  return slot;
}

LaneLoopNow ln_begin_lanes(Lanes *l, LLVMValueRef mask) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef first = mask ? ln_bits(l, mask) : LLVMConstNull(i64);
  LaneLoopNow n = {ln_new_slot(l, LLVMTypeOf(first)), NULL, ln_new_block(l, "lane"),
                   ln_new_block(l, "lane.done"), NULL};
  l_store(l->b, first, n.left);
  if (mask)
    l_condbr(l->b, ln_any(l, mask), n.head, n.done);
  else
    l_br(l->b, n.head);
  LLVMPositionBuilderAtEnd(l->b, n.head);
  n.lane = LLVMBuildLoad2(l->b, LLVMTypeOf(first), n.left, "lane");
  if (mask) {
    n.mask = n.lane;
    n.lane = ln_lowest_bit(l, n.mask);
  }
  return n;
}

void ln_end_lanes(Lanes *l, const LaneLoopNow *n, unsigned by) {
  LLVMTypeRef t = LLVMTypeOf(n->mask ? n->mask : n->lane);
  LLVMValueRef one = l_int(t, 1), next, more;
  if (n->mask) {
    next = l_and(l->b, n->mask, l_sub(l->b, n->mask, one));
    more = l_icmp(l->b, LLVMIntNE, next, LLVMConstNull(t));
  } else {
    next = l_add_nuw(l->b, n->lane, l_int(t, by));
    more = l_icmp(l->b, LLVMIntULT, next, l_int(t, l->width));
  }
  l_store(l->b, next, n->left);
  cg_leave_rolled(l->cg, l_condbr(l->b, more, n->head, n->done));
  LLVMPositionBuilderAtEnd(l->b, n->done);
}

/* Vector operands and results of such a loop are in memory: that is cheaper than extracting and
 * inserting elements at a variable position. */
static LLVMValueRef element_place(Lanes *l, LLVMTypeRef t, LLVMValueRef memory, LLVMValueRef lane) {
  return l_gep_inbounds(l->b, t, memory, &lane, 1);
}

LLVMValueRef ln_in_memory(Lanes *l, LLVMValueRef vector) {
  LLVMValueRef slot = ln_new_slot(l, LLVMTypeOf(vector));
  l_store(l->b, vector, slot);
  return slot;
}

bool ln_fills_bytes(const Lanes *l, LLVMTypeRef t) {
  return ln_is_element(t) &&
         LLVMSizeOfTypeInBits(l->cg->layout, t) == 8 * LLVMABISizeOfType(l->cg->layout, t);
}

/* An atomic on shared memory whose result is not used; it will become a load and a store
 * (host/atomics.c). */
bool ln_is_short(const Lanes *l, LLVMValueRef i) {
  return !l->mask_now && LLVMIsAAtomicRMWInst(i) && LLVMIsAtomicSingleThread(i) &&
         !LLVMGetFirstUse(i);
}

/* An atomic whose result is not used and which changes nothing where its operand is 0: a test is
 * cheaper than a locked access. */
static bool is_nothing_of_zero(Lanes *l, LLVMValueRef i) {
  if (!LLVMIsAAtomicRMWInst(i) || LLVMIsAtomicSingleThread(i) || LLVMGetFirstUse(i) ||
      ln_shape(l, LLVMGetOperand(i, 1)).kind != SHAPE_VECTOR)
    return false;
  switch (LLVMGetAtomicRMWBinOp(i)) {
  case LLVMAtomicRMWBinOpAdd:
  case LLVMAtomicRMWBinOpSub:
  case LLVMAtomicRMWBinOpOr:
  case LLVMAtomicRMWBinOpXor: return true;
  default: return false;
  }
}

/* Which lanes change what is there: those of a minimum or a maximum in front of the loop over
 * lanes, if all elements are one or contiguous. Each asks again (host/atomics.c). NULL: all do. */
static LLVMValueRef changes(Lanes *l, LLVMValueRef i) {
  if (!LLVMIsAAtomicRMWInst(i) || LLVMIsAtomicSingleThread(i) || LLVMGetFirstUse(i) ||
      !cg_host_changes_if(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingMonotonic)
    return NULL;
  LLVMValueRef p = LLVMGetOperand(i, 0), v = LLVMGetOperand(i, 1), now;
  LLVMTypeRef t = LLVMTypeOf(v);
  unsigned align = LLVMGetAlignment(i);
  if (ln_is_run(l, p, t)) {
    now = l_freeze(l->b, ln_load_run(l, ln_vector_type(l, t), ln_scalar(l, p), l->mask_now, align));
  } else if (ln_is_uniform(ln_shape(l, p))) {
    LLVMValueRef one = l_load(l->b, t, ln_scalar(l, p));
    LLVMSetAlignment(one, align);
    LLVMSetOrdering(one, LLVMAtomicOrderingMonotonic);
    now = ln_splat(l, one);
  } else {
    return NULL;
  }
  return l_icmp(l->b, cg_host_changes_if(i), ln_vector(l, v), now);
}

/* Varying operands in such a loop. A widening cast, and an address with a uniform base, are
 * computed for each lane: an index of one byte in memory is a load, which takes the place of eight
 * bytes of an address and the vector operations that made it. */
enum { MOST_LEAVES = 8 };
typedef struct LaneLeaves {
  LLVMValueRef old[MOST_LEAVES], memory[MOST_LEAVES];
  LLVMValueRef some[MOST_LEAVES]; /* of SOME lanes, as words if they are narrower integers */
  unsigned n;
} LaneLeaves;

static bool is_varying(Lanes *l, LLVMValueRef v) {
  return ln_value(l, v) && ln_shape(l, v).kind == SHAPE_VECTOR;
}

/* The varying operand that is to be computed for the lane first; NULL: the value itself is taken
 * from memory. */
static LLVMValueRef computed_from(Lanes *l, LLVMValueRef v) {
  bool address = LLVMIsAGetElementPtrInst(v);
  if (!address && !LLVMIsAZExtInst(v) && !LLVMIsASExtInst(v))
    return NULL;
  LLVMValueRef base = LLVMGetOperand(v, 0), from = LLVMGetOperand(v, address);
  if (address &&
      (ln_value(l, v)->element || LLVMGetNumOperands(v) != 2 || !ln_is_uniform(ln_shape(l, base))))
    return NULL;
  return is_varying(l, from) && ln_is_here(l, from) && ln_is_here(l, base) ? from : NULL;
}

/* In front of the loop, all of whose operands are read there: what is read first within it does not
 * dominate what follows. */
static void keep_leaves(Lanes *l, LaneLeaves *leaves, LLVMValueRef v) {
  for (unsigned k = 0; k < leaves->n; k++)
    if (leaves->old[k] == v)
      return;
  LLVMValueRef from = is_varying(l, v) ? computed_from(l, v) : NULL;
  if (from) {
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
      keep_leaves(l, leaves, LLVMGetOperand(v, (unsigned)k));
    return;
  }
  if (ln_value(l, v))
    ln_read(l, ln_value(l, v));
  if (!is_varying(l, v))
    return;
  if (!ln_fills_bytes(l, LLVMTypeOf(v)) || leaves->n == MOST_LEAVES)
    return;
  leaves->old[leaves->n] = v;
  leaves->memory[leaves->n++] = ln_in_memory(l, ln_vector(l, v));
}

/* A load for each lane, between stores of which the CPU does not know where they go yet, may have
 * to wait for all of these, one by one: several times as long as the operation. */
enum { SOME = 8, WORD = 64 };

static unsigned bits_of_narrow(LLVMTypeRef t) {
  unsigned bits = LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : WORD;
  return bits < WORD ? bits : 0;
}

static void read_some(Lanes *l, LaneLeaves *leaves, LLVMValueRef lane) {
  for (unsigned k = 0; k < leaves->n; k++) {
    LLVMTypeRef t = LLVMTypeOf(leaves->old[k]);
    unsigned bits = bits_of_narrow(t);
    LLVMTypeRef all = bits ? LLVMVectorType(l->cg->t.i64, SOME * bits / WORD)
                           : LLVMVectorType(t, SOME);
    /* frozen, LLVM does not make loads of its elements from it */
    leaves->some[k] = l_freeze(l->b,
                               l_load(l->b, all, element_place(l, t, leaves->memory[k], lane)));
  }
}

static LLVMValueRef one_of_some(Lanes *l, LLVMValueRef some, LLVMTypeRef t, unsigned lane) {
  unsigned bits = bits_of_narrow(t);
  LLVMTypeRef i32 = l->cg->t.i32;
  if (!bits)
    return l_extract_element(l->b, some, l_int(i32, lane));
  LLVMValueRef word = l_extract_element(l->b, some, l_int(i32, lane * bits / WORD));
  word = l_lshr(l->b, word, l_int(l->cg->t.i64, lane * bits % WORD));
  return l_trunc(l->b, word, t);
}

/* In that lane of all, or of what read_some has read. */
static LLVMValueRef leaf_in_lane(Lanes *l, const LaneLeaves *leaves, LLVMValueRef v,
                                 LLVMValueRef lane, unsigned of_some) {
  LLVMTypeRef t = LLVMTypeOf(v);
  LLVMValueRef from = is_varying(l, v) ? computed_from(l, v) : NULL;
  for (unsigned k = 0; k < leaves->n; k++)
    if (leaves->old[k] == v)
      return leaves->some[k] ? one_of_some(l, leaves->some[k], t, of_some)
                             : l_load(l->b, t, element_place(l, t, leaves->memory[k], lane));
  if (!from)
    return ln_in_lane(l, v, lane);
  LLVMValueRef operands[2];
  for (int k = 0; k < LLVMGetNumOperands(v); k++) {
    LLVMValueRef o = LLVMGetOperand(v, (unsigned)k);
    operands[k] = o == from ? leaf_in_lane(l, leaves, o, lane, of_some) : ln_scalar(l, o);
  }
  return copy_ins(l->b, v, operands);
}

static LLVMValueRef copy_by_leaves(Lanes *l, const LaneLeaves *leaves, LLVMValueRef i,
                                   LLVMValueRef lane, unsigned of_some) {
  int n = LLVMGetNumOperands(i);
  LLVMValueRef *operands = ARENA_ARRAY(l->arena, LLVMValueRef, (size_t)n + 1);
  for (int k = 0; k < n; k++)
    operands[k] = leaf_in_lane(l, leaves, LLVMGetOperand(i, (unsigned)k), lane, of_some);
  return copy_ins(l->b, i, operands);
}

/* --- the loops --- */

/* Does this thread alone access its memory, and is it written lane by lane? */
static bool is_joinable(Lanes *l, LLVMValueRef i) {
  return LLVMIsAAtomicRMWInst(i) && LLVMIsAtomicSingleThread(i) && !LLVMGetFirstUse(i) &&
         !ln_is_apart(l, i) && !ln_is_reduced(l, i);
}

/* The next such operation, if there are no others but computations between. */
static LLVMValueRef next_joined(Lanes *l, LLVMValueRef i) {
  do
    i = LLVMGetNextInstruction(i);
  while (i && cg_only_computes(i));
  return i && is_joinable(l, i) ? i : NULL;
}

bool ln_waits_for_next(Lanes *l, LLVMValueRef i) {
  if (!is_joinable(l, i) || l->njoined + 1 == LANES_JOINED || !next_joined(l, i))
    return false;
  l->joined[l->njoined++] = i;
  return true;
}

static LaneLeaves leaves_of(Lanes *l, LLVMValueRef i) {
  LaneLeaves leaves = {.n = 0};
  for (unsigned n = 0; n <= l->njoined; n++) {
    LLVMValueRef one = n < l->njoined ? l->joined[n] : i;
    for (int k = 0; k < LLVMGetNumOperands(one); k++)
      keep_leaves(l, &leaves, LLVMGetOperand(one, (unsigned)k));
  }
  return leaves;
}

/* After those that wait for it. */
static LLVMValueRef copy_joined(Lanes *l, const LaneLeaves *leaves, LLVMValueRef i,
                                LLVMValueRef lane, unsigned of_some) {
  for (unsigned n = 0; n < l->njoined; n++)
    copy_by_leaves(l, leaves, l->joined[n], lane, of_some);
  return copy_by_leaves(l, leaves, i, lane, of_some);
}

/* Long vectors some lanes an iteration. */
void ln_write_short(Lanes *l, LLVMValueRef i, LaneValue *v) {
  enum { SHORT_VECTOR = 16 };
  bool is_long = l->width > SHORT_VECTOR;
  unsigned by = is_long ? SOME : l->width;
  v->now = LLVMGetPoison(ln_vector_type(l, LLVMTypeOf(i)));
  LaneLeaves leaves = leaves_of(l, i);
  LaneLoopNow lanes = ln_begin_lanes(l, NULL);
  if (is_long)
    read_some(l, &leaves, lanes.lane);
  for (unsigned k = 0; k < by; k++)
    copy_joined(l, &leaves, i, l_add_nuw(l->b, lanes.lane, l_int(l->cg->t.i64, k)), k);
  ln_end_lanes(l, &lanes, by);
  l->njoined = 0;
}

void ln_write_lane_by_lane(Lanes *l, LLVMValueRef i, LaneValue *v) {
  assert(!v || v->shape.kind == SHAPE_VECTOR);
  LLVMTypeRef one_type = LLVMTypeOf(i), t = v ? ln_vector_type(l, one_type) : NULL;
  LaneLeaves leaves = leaves_of(l, i);
  LLVMValueRef all = v ? ln_in_memory(l, LLVMGetPoison(t)) : NULL;
  LLVMValueRef mask = l->mask_now;
  if (is_nothing_of_zero(l, i)) {
    LLVMValueRef by = ln_vector(l, LLVMGetOperand(i, 1));
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(by));
    mask = ln_and(l, mask, l_icmp(l->b, LLVMIntNE, by, zero), false);
  }
  LLVMValueRef changing = changes(l, i);
  if (changing)
    mask = ln_and(l, mask, changing, false);
  LaneLoopNow lanes = ln_begin_lanes(l, mask);
  LLVMValueRef one = copy_joined(l, &leaves, i, lanes.lane, 0);
  l->njoined = 0;
  if (v && ln_fills_bytes(l, one_type))
    l_store(l->b, one, element_place(l, one_type, all, lanes.lane));
  else if (v)
    l_store(l->b, ln_insert(l, l_load(l->b, t, all), one, lanes.lane), all);
  ln_end_lanes(l, &lanes, 1);
  if (v)
    v->now = l_load(l->b, t, all);
}
