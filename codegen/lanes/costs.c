/* Lanes: whether vectors are worth it with AVX2. See lanes.h; estimate.c calls it.
 *
 * Its gathers are loads one by one, with a selection of the addresses in front where lanes rest; a
 * mask is a vector that each comparison packs and each selection unpacks; and much of 64 bits takes
 * several instructions for each of the four registers of 16 lanes. So it is counted what vectors
 * save and what they cost, in instructions for all lanes, against one instruction for each lane.
 * Loops count by their depth; what does not change in a loop, by that of the loop around it. What
 * is the same in all lanes counts on neither side: threads one by one have it in front of their
 * loops, too.
 *
 * Two things cost threads one by one more than instructions. They wait for their loads: where an
 * iteration's load says where the next one reads, and where memory is slow, since a CPU looks ahead
 * to a few threads only. Vectors wait for those of all lanes at once. And a branch on what has been
 * read is often mispredicted, and so is the end of a loop.
 *
 * What lanes lose is that all wait for the last one: how many run a block is a guess (`running`).
 * Nor do they save anything in a loop that LLVM writes with vectors for one thread (alone.c). */
#include "codegen/lanes/private.h"
#include "codegen/llvm/guards.h"
#include "codegen/llvm/match.h"

enum {
  REGISTER_BITS = 256,
  /* instructions for each lane */
  GATHERED = 4, /* a load, two moves of its address, an insertion */
  AWAITED = 2,  /* the same, less what a thread alone would wait */
  STRIDED = 3,  /* its addresses need no vector */
  FOLDED = 1,   /* a test, and one access mostly (near.c) */
  ONE_BY_ONE = 3,
  DIVIDED = 2,       /* fewer: a division of floats instead of integers */
  DIVIDED_ALONE = 4, /* operands taken out of vectors, the result put into one */
  MISPREDICTED = 2,  /* fewer */
  LEFT = 27,         /* fewer, for each time that a loop is left by what was read */
  LOOPED = 2,        /* fewer: control of a loop */
  /* for each register */
  LONG_PRODUCT = 8,
  LONG_SHIFT = 3,
  COUNTED_BITS = 9,
  COMPARED = 2,
  BLENDED = 3,
  CHECKED = 4,
  MASKED_LOAD = 3,  /* with the mask of each register */
  MASKED_STORE = 9, /* some CPUs store element by element */
  PACKED = 8        /* for all: the masks of a check become one, which is tested */
};

typedef struct Balance {
  Lanes *l;
  int width;
  int rest; /* lanes that rest in the block at hand, of `width` */
  int64_t saved, lost;
} Balance;

static void add(Balance *b, int64_t gain) { *(gain > 0 ? &b->saved : &b->lost) += gain; }

static int registers(const Balance *b, LLVMTypeRef t) {
  unsigned long long bits = LLVMSizeOfTypeInBits(b->l->cg->layout, t) * b->l->width;
  return (int)((bits + REGISTER_BITS - 1) / REGISTER_BITS);
}

static bool varies(Lanes *l, LLVMValueRef v) { return ln_shape(l, v).kind == SHAPE_VECTOR; }

/* --- chains: what an iteration of a loop reads says where the next one does --- */

typedef struct Chain {
  Lanes *l;
  uint32_t loop;
  int left; /* steps of the search: what is not found by then is none */
} Chain;

/* Does v depend, within the loop, on its last iteration, and that on a gather? behind: v is a value
 * of that iteration. */
static bool in_chain(Chain *c, LLVMValueRef v, bool behind) {
  const LaneValue *own = ln_value(c->l, v);
  if (!own || own->shape.kind != SHAPE_VECTOR || !ln_loop_has(c->l, c->loop, own->block) ||
      c->left-- <= 0)
    return false;
  if (behind && LLVMIsALoadInst(v))
    return varies(c->l, LLVMGetOperand(v, 0));
  bool head = LLVMIsAPHINode(v) && ln_own_loop(c->l, own->block) == c->loop;
  if (head && behind)
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (in_chain(c, LLVMGetOperand(v, (unsigned)k), head || behind))
      return true;
  return false;
}

static bool is_chained(Lanes *l, LLVMValueRef pointer, uint32_t block) {
  enum { SEARCH = 256 };
  Chain c = {l, l->blocks[block].in->loop, SEARCH};
  return c.loop != GRAPH_NONE && in_chain(&c, pointer, false);
}

/* --- lanes that rest --- */

/* Does it depend on what lanes have read whether they stay together behind the block? */
static bool parts_by_data(Lanes *l, uint32_t block) {
  const LaneValue *c =
      l->blocks[block].splits
          ? ln_value(l, LLVMGetCondition(LLVMGetBasicBlockTerminator(l->blocks[block].in->block)))
          : NULL;
  return c && c->read;
}

bool ln_rests_by_data(Lanes *l, uint32_t block) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&l->blocks[k].region, block) && parts_by_data(l, k))
      return true;
  return false;
}

static bool leaves_loop(const Lanes *l, uint32_t block) {
  const GraphNode *in = l->blocks[block].in;
  bool stays = true;
  for (uint32_t k = 0; k < in->nsucc; k++)
    stays = stays && ln_loop_has(l, in->loop, in->succ[k]);
  return !stays;
}

static bool is_left_by_data(Lanes *l, uint32_t loop) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (l->blocks[k].in->loop == loop && leaves_loop(l, k) && parts_by_data(l, k))
      return true;
  return false;
}

/* Does the loop count to a bound that each lane has read, or can it end before its end? Then the
 * lanes' numbers of iterations differ most. */
static bool is_uneven(Lanes *l, uint32_t loop) {
  unsigned exits = 0;
  bool reads = false;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    if (l->blocks[k].in->loop != loop || !leaves_loop(l, k))
      continue;
    LLVMValueRef c = LLVMGetCondition(LLVMGetBasicBlockTerminator(l->blocks[k].in->block));
    exits++;
    for (unsigned o = 0; parts_by_data(l, k) && LLVMIsAICmpInst(c) && o < 2; o++) {
      const LaneValue *bound = ln_value(l, LLVMGetOperand(c, o));
      LLVMValueRef other = LLVMGetOperand(c, 1 - o);
      reads |= bound && bound->read && !ln_loop_has(l, loop, bound->block) &&
               (!varies(l, other) || ln_counts_by_one(l, loop, other));
    }
  }
  return reads || exits > 1;
}

/* How many lanes run the block on average, as a guess: fewer behind each branch on what they have
 * read, and in each of its loops, from `inner` on, that they leave by what they have read. Of
 * searches, vectors are the version for many lanes (few.c). */
static int running(Lanes *l, uint32_t block, uint32_t inner) {
  enum { OF_BRANCH = 5, OF_LOOP = 6, OF_UNEVEN = 3, OF = 8, FEWEST = 3 };
  int run = (int)l->width;
  for (uint32_t n = inner; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].divergent && is_left_by_data(l, n) &&
        !ln_is_search(l, l->loops.data[n].in->header))
      run = run * (is_uneven(l, n) ? OF_UNEVEN : OF_LOOP) / OF;
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&l->blocks[k].region, block) && parts_by_data(l, k) && !leaves_loop(l, k))
      run = run * OF_BRANCH / OF;
  return run < FEWEST ? FEWEST : run;
}

/* All rest, so to speak, where a thread alone has vectors, too. */
static int resting(Lanes *l, uint32_t block) {
  uint32_t inner = l->blocks[block].in->loop;
  if (inner != GRAPH_NONE && ln_vectorises_alone(l, inner))
    return (int)l->width;
  return (int)l->width - running(l, block, inner);
}

/* --- accesses --- */

/* By how many elements the lanes' places are apart where indices do not count from the end; 0: that
 * varies. */
static int64_t distance(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  Shape s = ln_shape(l, pointer);
  if (s.kind == SHAPE_STEP)
    return s.step / (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  LLVMValueRef index = LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2
                           ? LLVMGetOperand(pointer, 1)
                           : NULL,
               x = index ? ln_unwrapped(index) : NULL;
  Shape of_x = x ? ln_shape(l, x) : s;
  return of_x.kind == SHAPE_STEP ? of_x.step : 0;
}

/* Without what resting lanes save, where that is nothing (ln_saves_instructions takes it off). */
static int contiguous(const Balance *b, LLVMTypeRef t, bool masked, bool stores) {
  int gain = b->width - registers(b, t) * (!masked ? 1 : stores ? MASKED_STORE : MASKED_LOAD);
  return gain > 0 ? gain : gain - b->rest;
}

static int gain_of_access(const Balance *b, LLVMValueRef i, uint32_t block) {
  Lanes *l = b->l;
  bool stores = LLVMIsAStoreInst(i) != NULL, masked = l->blocks[block].masked;
  LLVMValueRef pointer = LLVMGetOperand(i, stores);
  LLVMTypeRef t = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
  if (ln_is_uniform(ln_shape(l, pointer)))
    return 0;
  int64_t by = distance(l, pointer, t);
  if (by == 1 || by == -1 || ln_grouped(l, i) || ln_is_spread(l, i, masked) ||
      (!stores && ln_walks(l, i, block)))
    return contiguous(b, t, masked, stores);
  int cost = GATHERED;
  if (by)
    cost = STRIDED;
  else if (ln_may_be_run(l, pointer, t))
    cost = FOLDED;
  else if (!stores && (is_chained(l, pointer, block) || (!masked && !l->loops.len)))
    cost = AWAITED;
  if (ln_is_pair(t))
    cost *= 2;
  return (1 - cost) * b->width - (masked ? b->width / 2 : 0);
}

/* --- indices --- */

/* x + (n if x < 0 else 0), where x may be extended */
static bool is_wrap(LLVMValueRef v) {
  if (ln_unwrapped(v))
    return true;
  for (unsigned k = 0; cg_is_op(v, LLVMAdd) && k < 2; k++) {
    LLVMValueRef chosen = LLVMGetOperand(v, k),
                 test = LLVMIsASelectInst(chosen) ? LLVMGetOperand(chosen, 0) : NULL;
    if (test && LLVMIsAICmpInst(test) && LLVMGetICmpPredicate(test) == LLVMIntSLT &&
        cg_is_number(LLVMGetOperand(test, 1), 0) && cg_is_number(LLVMGetOperand(chosen, 2), 0) &&
        LLVMGetOperand(test, 0) == cg_peel(LLVMGetOperand(v, 1 - k)))
      return true;
  }
  return false;
}

static bool ends_check(Lanes *l, LLVMValueRef i) {
  uint32_t at = graph_number(&l->g, LLVMGetInstructionParent(i));
  return LLVMIsATerminatorInst(i) && at != GRAPH_NONE && l->blocks[at].in->trap;
}

/* Does it only say whether an index is in range, or counts from the end? Threads one by one branch
 * for the first, and seldom come to the second. */
static bool is_of_index(Lanes *l, LLVMValueRef v, int depth) {
  enum { DEEPEST = 3 };
  if (is_wrap(v) || cg_is_guard(v))
    return true;
  bool truth = LLVMTypeOf(v) == l->cg->t.i1 && LLVMIsABinaryOperator(v);
  if (!LLVMIsASelectInst(v) && !LLVMIsAICmpInst(v) && !truth)
    return false;
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!ends_check(l, user) && !is_wrap(user) && !cg_is_guard(user) &&
        (depth == DEEPEST || !is_of_index(l, user, depth + 1)))
      return false;
  }
  return true;
}

static int gain_of_index(const Balance *b, LLVMValueRef i, int n) {
  if (LLVMIsAICmpInst(i) && !varies(b->l, LLVMGetOperand(i, 0)) &&
      !varies(b->l, LLVMGetOperand(i, 1)))
    return 0; /* its two ends are compared, and mostly decide it */
  bool checks = LLVMIsAICmpInst(i) && LLVMGetICmpPredicate(i) == LLVMIntULT;
  return checks ? b->width - CHECKED * n - PACKED : -n;
}

/* --- what computes --- */

static bool is_long(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 64;
}

/* Instructions for each register; 0: there is none of vectors. */
static int cost_of(LLVMValueRef i) {
  LLVMTypeRef t = LLVMTypeOf(i);
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMMul: return is_long(t) ? LONG_PRODUCT : 1;
  case LLVMAShr: return is_long(t) ? LONG_SHIFT : 1;
  case LLVMFPToSI:
  case LLVMFPToUI: return is_long(t) ? 0 : 1;
  case LLVMSIToFP:
  case LLVMUIToFP: return is_long(LLVMTypeOf(LLVMGetOperand(i, 0))) ? 0 : 1;
  case LLVMICmp:
  case LLVMFCmp: return COMPARED;
  case LLVMCall:
    if (cg_is_call_of_any(i, "llvm.fptosi.sat.") || cg_is_call_of_any(i, "llvm.fptoui.sat."))
      return is_long(t) ? 0 : COMPARED;
    return cg_is_call_of_any(i, "llvm.ctpop.") ? COUNTED_BITS : 1;
  default: return 1;
  }
}

static int gain_of_vector(const Balance *b, LLVMValueRef i) {
  int n = registers(b, LLVMTypeOf(i));
  int from = registers(b, LLVMTypeOf(LLVMGetOperand(i, 0))), cost = cost_of(i);
  if (from > n)
    n = from;
  if (!cost)
    return (1 - ONE_BY_ONE) * b->width;
  if (LLVMIsASExtInst(i) || LLVMIsAZExtInst(i) || LLVMIsATruncInst(i))
    return -n; /* part of another instruction, of one thread */
  return is_of_index(b->l, i, 0) ? gain_of_index(b, i, n) : b->width - cost * n;
}

static int gain_of_call(const Balance *b, LLVMValueRef call, const LaneValue *v) {
  if (ln_is_nothing(call))
    return 0;
  if (ln_row_form(b->l, call))
    return b->width;
  return !v || v->shape.kind == SHAPE_VECTOR ? -b->width : 0;
}

static int gain_of_branch(const Balance *b, uint32_t block) {
  if (!b->l->blocks[block].splits)
    return 0;
  bool stays = b->rest < b->width && !leaves_loop(b->l, block);
  return stays && parts_by_data(b->l, block) ? MISPREDICTED * b->width : -b->width;
}

/* A selection on each edge where lanes that took another way keep their value, in each iteration of
 * a loop that they leave one by one. */
static void add_blends(Balance *b, LLVMValueRef phi) {
  Lanes *l = b->l;
  const LaneValue *v = ln_value(l, phi);
  int cost = -BLENDED * registers(b, LLVMTypeOf(phi));
  uint32_t at = v->block;
  bool once = false;
  if (v->shape.kind != SHAPE_VECTOR || !ln_is_blend(l, v))
    return;
  for (uint32_t k = 0; k < l->blocks[at].in->npred; k++) {
    uint32_t n = l->blocks[l->blocks[at].in->pred[k]].in->loop;
    bool leaves = n != GRAPH_NONE && !ln_loop_has(l, n, at) && l->loops.data[n].divergent;
    if (leaves)
      add(b, ln_weight(l, n) * cost);
    once |= !leaves;
  }
  if (once)
    add(b, ln_weight(l, l->blocks[at].in->loop) * cost);
}

/* Extracting parts of pairs is nothing: they are apart (memory.c). */
static int gain_of(const Balance *b, LLVMValueRef i, uint32_t block) {
  const LaneValue *v = ln_value(b->l, i);
  if (LLVMIsAPHINode(i))
    return 0; /* add_blends */
  if (LLVMIsATerminatorInst(i))
    return gain_of_branch(b, block);
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
    return gain_of_access(b, i, block);
  if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
    return -ONE_BY_ONE * b->width;
  if (LLVMIsACallInst(i) && !ln_vector_form(i))
    return gain_of_call(b, i, v);
  if (!v || v->shape.kind != SHAPE_VECTOR || LLVMIsAGetElementPtrInst(i) || LLVMIsAAllocaInst(i) ||
      LLVMIsAExtractElementInst(i) || LLVMIsAInsertElementInst(i))
    return 0;
  if (cg_is_division(i) && !ln_divides(b->l, i))
    return -DIVIDED_ALONE * b->width;
  if (cg_is_division(i)) /* of 64 bits one by one, if they are used (divide.c) */
    return is_long(LLVMTypeOf(i)) ? -b->width : DIVIDED * b->width;
  return gain_of_vector(b, i);
}

/* --- loops --- */

static bool changes_in(Lanes *l, uint32_t loop, LLVMValueRef v) {
  const LaneValue *own = ln_value(l, v);
  return own && own->home != GRAPH_NONE &&
         ln_loop_has(l, loop, l->loops.data[own->home].in->header);
}

/* The innermost loop that it changes in: LLVM moves out of the others what only computes. */
static uint32_t home_of(Lanes *l, LLVMValueRef i, uint32_t block) {
  uint32_t n = l->blocks[block].in->loop;
  if (LLVMIsAPHINode(i) || LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) ||
      LLVMIsATerminatorInst(i))
    return n;
  for (; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
      if (changes_in(l, n, LLVMGetOperand(i, (unsigned)k)))
        return n;
  return GRAPH_NONE;
}

/* Its control, and that each thread that comes to it leaves it when the CPU does not expect it. */
static void add_loop(Balance *b, uint32_t loop) {
  Lanes *l = b->l;
  uint32_t around = l->loops.data[loop].in->parent;
  add(b, ln_weight(l, loop) * LOOPED * (b->width - b->rest));
  if (l->loops.data[loop].divergent && is_left_by_data(l, loop))
    add(b, ln_weight(l, around) * LEFT * running(l, l->loops.data[loop].in->header, around));
}

/* Of other CPUs nothing is counted, nor of blocks with barriers, whose segments pass vectors on to
 * each other. */
bool ln_saves_instructions(Lanes *l) {
  enum { LEAST = 5, OF = 6 }; /* what was measured is on the right side of this */
  Balance b = {.l = l, .width = (int)l->width};
  if (cg_lanes_part(l->cg) != REGISTER_BITS / 32 || l->how.whole)
    return true;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    uint32_t block = l->order[k], loop = ln_own_loop(l, block);
    b.rest = resting(l, block);
    if (loop != GRAPH_NONE)
      add_loop(&b, loop);
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[block].in->block); i;
         i = LLVMGetNextInstruction(i)) {
      LaneValue *v = ln_value(l, i);
      uint32_t home = home_of(l, i, block);
      int gain = gain_of(&b, i, block);
      if (v)
        v->home = home;
      if (LLVMIsAPHINode(i))
        add_blends(&b, i);
      add(&b, ln_weight(l, home) * (gain > 0 ? gain - b.rest : gain));
    }
  }
  return OF * b.saved >= LEAST * -b.lost;
}
