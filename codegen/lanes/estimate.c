/* Lanes: whether vectors are worth it. See lanes.h; costs.c adds what holds of AVX2 and AVX-512.
 *
 * Beside operations that threads one by one take W times, a function has gathers, which take what
 * their loads take, and more; it is written as vectors if it gains more than it loses. Loops count
 * by their depth. */
#include "codegen/fission/fission.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum {
  BRANCHES_COST = 3,
  GATHER_COST = 4,
  GATHER_COST_ALONE = 5, /* in a function without loops */
  GATHER_COST_APART = 6, /* the same, where gathers are loads one by one */
  CALL_COST = 1,
  MEETING_GAIN = 64,
  DEPTH_WEIGHT = 8,
  DEEPEST_LOOP = 4
};

static bool is_read(Lanes *l, LLVMValueRef v) {
  const LaneValue *own = ln_value(l, v);
  return own && own->read;
}

/* Which values depend on what lanes have read, each from a place of its own. */
static void find_read(Lanes *l) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < l->values.len; k++) {
      LaneValue *v = &l->values.data[k];
      bool read = LLVMIsALoadInst(v->old) != NULL;
      for (int o = 0; o < LLVMGetNumOperands(v->old) && !read; o++)
        read = is_read(l, LLVMGetOperand(v->old, (unsigned)o));
      if (v->read || !read || v->shape.kind != SHAPE_VECTOR)
        continue;
      again = v->read = true;
    }
  }
}

/* With masks each lane is a branch then, or a load more, and where the lanes' places are not near
 * each other, threads one by one take fewer. */
bool ln_has_no_gather(const Lanes *l, LLVMTypeRef t) {
  enum { LEAST = 32 };
  return LLVMSizeOfTypeInBits(l->cg->layout, t) < LEAST;
}

/* What an access gains; cost: of a gather. Elements that are far from each other are one, whether
 * their step is known or not. Near ones are a few vectors (strides.c), each with a mask of its own
 * where lanes rest. Where the CPU cannot do that they are accessed one by one, which was measured
 * to pay for every second element, but not for every third, and for bytes and words, which are all
 * in one cache line or two. Kernels with shared memory gain by vectors at their barriers, too. */
static int gain_of_access(Lanes *l, LLVMValueRef i, LLVMValueRef pointer, LLVMTypeRef t, int cost,
                          bool masked) {
  enum { SECOND = 2, NEAR = 4 };
  Shape shape = ln_shape(l, pointer);
  bool shared = l->cg->static_shared || l->cg->uses_dynamic_shared;
  if (shape.kind != SHAPE_STEP || shared)
    return shape.kind == SHAPE_VECTOR && !ln_grouped(l, i) ? -cost : 1;
  int64_t apart = shape.step / (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  apart = apart < 0 ? -apart : apart;
  if (apart > NEAR || (apart > SECOND && !ln_has_no_gather(l, t) && !ln_is_spread(l, i, masked)))
    return -cost;
  return masked && apart > 1 ? -(int)apart : 1;
}

/* What a vectorised instruction gains over one for each lane, in vector instructions. A gather
 * takes about as long as its loads one by one, and inserting the elements comes on top. It loses
 * more where nothing is repeated: a CPU is then in the middle of several threads at once, and none
 * waits for its loads. Threads that run one by one meet in the runtime for each warp operation. */
static int gain_of(Lanes *l, LLVMValueRef i, uint32_t block) {
  if (cg_is_meeting(i))
    return MEETING_GAIN;
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
    LLVMValueRef pointer = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
    LLVMTypeRef t = LLVMTypeOf(LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : i);
    int cost = l->loops.len                      ? GATHER_COST
               : ln_has_masks(l) || l->how.whole ? GATHER_COST_ALONE
                                                 : GATHER_COST_APART;
    if (LLVMIsALoadInst(i) && ln_walks(l, i, block))
      return 1;
    if (ln_is_pair(t))
      cost *= 2;
    if (l->blocks[block].masked && ln_has_no_gather(l, t) && is_read(l, pointer))
      cost *= BRANCHES_COST;
    return gain_of_access(l, i, pointer, t, cost, l->blocks[block].masked);
  }
  const LaneValue *v = ln_value(l, i);
  if (LLVMIsACallInst(i) && ln_row_form(l, i))
    return CALL_COST;
  if (LLVMIsACallInst(i) && !ln_is_nothing(i) && !ln_vector_form(i))
    return v && v->shape.kind == SHAPE_STEP ? 1 : -CALL_COST;
  /* checks and wrap-around of indices: LLVM removes them, or they cost the same in both */
  if (!v || LLVMIsAPHINode(i) || LLVMIsAGetElementPtrInst(i) || LLVMIsACmpInst(i) ||
      LLVMIsASelectInst(i) || LLVMIsACastInst(i))
    return 0;
  return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ? -CALL_COST : 1;
}

int64_t ln_weight(const Lanes *l, uint32_t loop) {
  int64_t weight = 1;
  int depth = 0;
  for (uint32_t n = loop; n != GRAPH_NONE && depth++ < DEEPEST_LOOP;
       n = l->loops.data[n].in->parent)
    weight *= DEPTH_WEIGHT;
  return weight;
}

bool ln_is_worth_it(Lanes *l) {
  find_read(l);
  int64_t gain = 0;
  bool meets = false;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    int64_t weight = ln_weight(l, l->blocks[k].in->loop);
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i)) {
      meets |= cg_is_meeting(i);
      gain += weight * gain_of(l, i, k);
    }
  }
  return gain >= 0 && (meets || ln_saves_instructions(l));
}
