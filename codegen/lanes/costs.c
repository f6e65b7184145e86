/* Lanes: whether vectors are worth it with AVX2 and AVX-512. See lanes.h; estimate.c calls it.
 *
 * It is counted what vectors save and what they cost, in instructions for all lanes, against one
 * instruction for each lane. Loops count by their depth; what does not change in a loop, by that of
 * the loop around it. What is the same in all lanes counts on neither side: threads one by one have
 * it in front of their loops, too.
 *
 * AVX2's gathers are loads one by one, with a selection of the addresses in front where lanes rest;
 * a mask is a vector that each comparison packs and each selection unpacks; and much of 64 bits
 * takes several instructions for each of the four registers of 16 lanes. AVX-512 has instructions
 * for all of that, but its gathers take as long as the loads, and bytes have none.
 *
 * Two things cost threads one by one more than instructions. They wait for their loads: where an
 * iteration's load says where the next one reads, and where memory is slow, since a CPU looks ahead
 * to a few threads only. Vectors wait for those of all lanes at once. And a branch on what has been
 * read is often mispredicted, and so is the end of a loop.
 *
 * What lanes lose is that all wait for the last one: how many run a block is a guess (`running`).
 * Nor do they save anything in a loop that LLVM writes with vectors for one thread (alone.c).
 *
 * With AVX-512 lanes pay more often than not, and are refused only where the count is clear: where
 * a loop's lanes walk, each as far as it likes, and mostly gather and choose. Loops whose counts
 * differ only by what was read (rows of a sparse matrix, cells) count as if all lanes ran; what is
 * in front of the loops, which are long then, is not counted. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/guards.h"
#include "codegen/llvm/match.h"

enum {
  REGISTER_BITS = 256, /* one of 512 bits counts as two */
  /* instructions for each lane */
  FOLDED = 1, /* an access: a test, and one access mostly (near.c) */
  ONE_BY_ONE = 3,
  DIVIDED = 2,       /* fewer: a division of floats instead of integers */
  DIVIDED_ALONE = 4, /* operands taken out of vectors, the result put into one */
  LEFT = 27,         /* fewer, for each time that a loop is left by what was read */
  LOOPED = 2         /* fewer: control of a loop */
};

typedef struct Costs {
  /* instructions for each lane */
  int gathered;     /* with AVX2 a load, two moves of its address, an insertion */
  int awaited;      /* the same, less what a thread alone would wait */
  int strided;      /* its addresses need no vector */
  int small;        /* of bytes and words that are not awaited; 0: as all others */
  int mispredicted; /* fewer */
  /* for each register */
  int long_product, long_shift, counted_bits, compared, blended, checked;
  int masked_load;  /* with the mask of each register */
  int masked_store; /* some CPUs store element by element */
  /* for all */
  int packed;   /* the masks of a check become one, which is tested */
  int branched; /* a branch that is not mispredicted; 0: one for each lane */
  int waited;   /* a block that lanes may skip: its mask is collected, tested and cleared */
  bool converts_long, divides_long; /* integers of 64 bits as vectors, to floats and from them */
  bool few;      /* a selection for all edges of a block that meet, not for each */
  bool sure;     /* as above for AVX-512: only what is clear */
  int least, of; /* what was measured is on the right side: saved * of >= lost * least */
} Costs;

static const Costs costs_avx2 = {
    .gathered = 4,
    .awaited = 2,
    .strided = 3,
    .mispredicted = 2,
    .long_product = 8,
    .long_shift = 3,
    .counted_bits = 9,
    .compared = 2,
    .blended = 3,
    .checked = 4,
    .masked_load = 3,
    .masked_store = 9,
    .packed = 8,
    .few = true,
    .least = 5,
    .of = 6,
};

static const Costs costs_avx512 = {
    .gathered = 3,
    .awaited = 1,
    .strided = 3,
    .small = 4,
    .mispredicted = 1,
    .long_product = 2,
    .long_shift = 1,
    .counted_bits = 1,
    .compared = 1,
    .blended = 1,
    .checked = 1,
    .masked_load = 1,
    .masked_store = 2,
    .packed = 2,
    .branched = 6,
    .waited = 8,
    .converts_long = true,
    .divides_long = true,
    .sure = true,
    .least = 11,
    .of = 16,
};

typedef struct Balance {
  Lanes *l;
  const Costs *costs;
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

/* How lanes leave a loop. */
typedef struct Exits {
  unsigned n;
  bool counted; /* one is where a counter comes to a bound */
  bool reads;   /* that each lane has read */
} Exits;

static Exits exits_of(Lanes *l, uint32_t loop) {
  Exits exits = {0};
  for (uint32_t k = 0; k < l->nblocks; k++) {
    if (l->blocks[k].in->loop != loop || !leaves_loop(l, k))
      continue;
    LLVMValueRef c = LLVMGetCondition(LLVMGetBasicBlockTerminator(l->blocks[k].in->block));
    exits.n++;
    for (unsigned o = 0; LLVMIsAICmpInst(c) && o < 2; o++) {
      const LaneValue *bound = ln_value(l, LLVMGetOperand(c, o));
      LLVMValueRef other = LLVMGetOperand(c, 1 - o);
      bool counted = (!bound || !ln_loop_has(l, loop, bound->block)) &&
                     (!varies(l, other) || ln_counts_by_one(l, loop, other));
      exits.counted |= counted;
      exits.reads |= counted && bound && bound->read && parts_by_data(l, k);
    }
  }
  return exits;
}

/* How many of OF lanes run a loop that they leave by what they have read. It may count to a bound
 * that each lane has read, or end before its end: then the lanes' numbers of iterations differ
 * most. */
static int running_loop(const Balance *b, uint32_t loop, int of) {
  enum { OF_LOOP = 6, OF_UNEVEN = 3 };
  Exits exits = exits_of(b->l, loop);
  if (exits.n > 1 || (b->costs->sure ? !exits.counted : exits.reads))
    return OF_UNEVEN;
  return b->costs->sure ? of : OF_LOOP;
}

/* How many lanes run the block on average, as a guess: fewer behind each branch on what they have
 * read, and in each of its loops, from `inner` on, that they leave by what they have read. Of
 * searches, vectors are the version for many lanes (few.c). */
static int running(const Balance *b, uint32_t block, uint32_t inner) {
  enum { OF_BRANCH = 5, OF = 8, FEWEST = 3 };
  Lanes *l = b->l;
  int run = b->width;
  for (uint32_t n = inner; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].divergent && is_left_by_data(l, n) &&
        !ln_is_search(l, l->loops.data[n].in->header))
      run = run * running_loop(b, n, OF) / OF;
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (ln_in_set(&l->blocks[k].region, block) && parts_by_data(l, k) && !leaves_loop(l, k))
      run = run * OF_BRANCH / OF;
  return run < FEWEST ? FEWEST : run;
}

/* All rest, so to speak, where a thread alone has vectors, too. */
static int resting(const Balance *b, uint32_t block) {
  uint32_t inner = b->l->blocks[block].in->loop;
  if (!b->costs->sure && inner != GRAPH_NONE && ln_vectorises_alone(b->l, inner))
    return b->width;
  return b->width - running(b, block, inner);
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
  int gain = b->width - registers(b, t) * (!masked  ? 1
                                           : stores ? b->costs->masked_store
                                                    : b->costs->masked_load);
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
  int cost = by ? b->costs->strided : b->costs->gathered;
  if (!by && ln_may_be_run(l, pointer, t))
    cost = FOLDED;
  else if (!by && !stores && (is_chained(l, pointer, block) || (!masked && !l->loops.len)))
    cost = b->costs->awaited;
  else if (b->costs->small && ln_has_no_gather(l, t))
    cost = b->costs->small;
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
  return checks ? b->width - b->costs->checked * n - b->costs->packed : -n;
}

/* --- what computes --- */

static bool is_long(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 64;
}

/* Instructions for each register; 0: there is none of vectors. */
static int cost_of(const Costs *c, LLVMValueRef i) {
  LLVMTypeRef t = LLVMTypeOf(i);
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMMul: return is_long(t) ? c->long_product : 1;
  case LLVMAShr: return is_long(t) ? c->long_shift : 1;
  case LLVMFPToSI:
  case LLVMFPToUI: return is_long(t) && !c->converts_long ? 0 : 1;
  case LLVMSIToFP:
  case LLVMUIToFP: return is_long(LLVMTypeOf(LLVMGetOperand(i, 0))) && !c->converts_long ? 0 : 1;
  case LLVMICmp:
  case LLVMFCmp: return c->compared;
  case LLVMCall:
    if (cg_is_call_of_any(i, "llvm.fptosi.sat.") || cg_is_call_of_any(i, "llvm.fptoui.sat."))
      return is_long(t) && !c->converts_long ? 0 : c->compared;
    return cg_is_call_of_any(i, "llvm.ctpop.") ? c->counted_bits : 1;
  default: return 1;
  }
}

static int gain_of_vector(const Balance *b, LLVMValueRef i) {
  int n = registers(b, LLVMTypeOf(i));
  int from = registers(b, LLVMTypeOf(LLVMGetOperand(i, 0))), cost = cost_of(b->costs, i);
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
  if (stays && parts_by_data(b->l, block))
    return b->costs->mispredicted * b->width;
  return -(b->costs->branched ? b->costs->branched : b->width);
}

/* A selection on each edge where lanes that took another way keep their value, in each iteration of
 * a loop that they leave one by one. */
static void add_blends(Balance *b, LLVMValueRef phi) {
  Lanes *l = b->l;
  const LaneValue *v = ln_value(l, phi);
  int cost = -b->costs->blended * registers(b, LLVMTypeOf(phi));
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
  if (once && !b->costs->few)
    cost *= (int)l->blocks[at].in->npred - 1;
  if (once)
    add(b, ln_weight(l, l->blocks[at].in->loop) * cost);
}

static bool is_left_apart(const Lanes *l, uint32_t loop) {
  for (uint32_t n = loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].divergent)
      return true;
  return false;
}

/* Those of 64 bits that AVX2 lacks are divisions of floats behind a test (divide.c), which pays
 * unless lanes leave the loop one by one: then the CPU's own, of those that still run, are as fast
 * as all of it. What counts is divided once for all lanes. */
static int gain_of_division(const Balance *b, LLVMValueRef i, uint32_t block) {
  bool lacks = is_long(LLVMTypeOf(i)) && !b->costs->divides_long,
       counts = !varies(b->l, LLVMGetOperand(i, 0)) && !varies(b->l, LLVMGetOperand(i, 1));
  if (!ln_divides(b->l, i) ||
      (lacks && !counts && is_left_apart(b->l, b->l->blocks[block].in->loop)))
    return -DIVIDED_ALONE * b->width;
  return lacks ? -b->width : DIVIDED * b->width;
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
  if (cg_is_division(i))
    return gain_of_division(b, i, block);
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
    add(b, ln_weight(l, around) * LEFT * running(b, l->loops.data[loop].in->header, around));
}

static void add_block(Balance *b, uint32_t block) {
  Lanes *l = b->l;
  uint32_t loop = ln_own_loop(l, block);
  b->rest = resting(b, block);
  if (loop != GRAPH_NONE)
    add_loop(b, loop);
  if (l->blocks[block].masked && !l->blocks[block].follows)
    add(b, ln_weight(l, l->blocks[block].in->loop) * -b->costs->waited);
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[block].in->block); i;
       i = LLVMGetNextInstruction(i)) {
    LaneValue *v = ln_value(l, i);
    uint32_t home = home_of(l, i, block);
    int gain = gain_of(b, i, block);
    if (v)
      v->home = home;
    if (LLVMIsAPHINode(i))
      add_blends(b, i);
    if (!b->costs->sure || home != GRAPH_NONE || !l->loops.len)
      add(b, ln_weight(l, home) * (gain > 0 ? gain - b->rest : gain));
  }
}

/* Of other CPUs nothing is counted, nor of blocks with barriers, whose segments pass vectors on to
 * each other; with AVX-512 nothing in kernels with shared memory, which gain at their barriers. */
bool ln_saves_instructions(Lanes *l) {
  bool avx2 = cg_lanes_part(l->cg) == REGISTER_BITS / 32;
  const Costs *costs = avx2 ? &costs_avx2 : ln_has_masks(l) ? &costs_avx512 : NULL;
  Balance b = {.l = l, .costs = costs, .width = (int)l->width};
  bool shared = l->cg->static_shared || l->cg->uses_dynamic_shared;
  if (!costs || l->how.whole || (costs->sure && shared))
    return true;
  for (uint32_t k = 0; k < l->nblocks; k++)
    add_block(&b, l->order[k]);
  return costs->of * b.saved >= costs->least * -b.lost;
}
