/* Lanes: lanes that walk along rows of their own. See lanes.h; memory.c calls it.
 *
 * In `for k in range(n): s += a[i, k] * x[k]`, a thread for each row, what the lanes read together
 * lies a row apart, and the next iteration reads the elements behind. Instead of a gather for each
 * iteration, one of U takes U elements of each lane's row, contiguous loads, and shuffles make of
 * them what U iterations read, a vector for each: they wait in a tile.
 *
 *   place < U:  the vector is tile[place++]
 *   place == U: the tile is used up. It is filled if U more iterations follow, else gathered.
 *   place > U:  the loop's first iteration, which gathers
 *
 * Nothing is read that the loop would not read: it is innermost, does not write, and is left where
 * a counter reaches a bound or by conditions that do not change in it. These have been tested once
 * when the tile is filled, and each bound is then at least U away. All of that holds of the lanes
 * that run the loop, which are the same in all of its iterations; the others read zeros. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { AHEAD_BYTES = 512, MOST_BOUNDS = 6, DEEPEST_ADDRESS = 12 };

typedef struct Walk {
  uint32_t loop;
  unsigned n, length; /* bounds; U */
  LLVMValueRef counters[MOST_BOUNDS], bounds[MOST_BOUNDS];
} Walk;

/* --- which loads --- */

/* What a phi of the loop's header is after the iteration; NULL: v is none. */
static LLVMValueRef next_of_phi(const Lanes *l, uint32_t loop, LLVMValueRef v) {
  const LaneLoop *in = &l->loops.data[loop];
  bool is = LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == l->g.nodes[in->in->header].block;
  return is ? graph_incoming(v, l->g.nodes[in->latch].block) : NULL;
}

/* By how much v grows in an iteration: a counter, what stays the same, sums and products with
 * constants. Sums of less than 64 bits may wrap before they are extended: those are left out. */
static bool find_advance(const Lanes *l, uint32_t loop, LLVMValueRef v, int depth, int64_t *by) {
  *by = 0;
  if (!graph_in_loop(&l->g, loop, v))
    return true;
  int64_t parts[2] = {0};
  LLVMValueRef next = next_of_phi(l, loop, v);
  if (next && cg_int_width(v) == 64 && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == v &&
      LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
    *by = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    return true;
  }
  if (LLVMIsAPHINode(v) || !cg_only_computes(v) || depth > DEEPEST_ADDRESS)
    return false;
  bool moves = false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++) {
    int64_t part;
    if (!find_advance(l, loop, LLVMGetOperand(v, (unsigned)k), depth + 1, &part))
      return false;
    moves |= part != 0;
    if (k < 2)
      parts[k] = part;
  }
  if (!moves)
    return true;
  LLVMTypeRef unit = LLVMIsAGetElementPtrInst(v) ? LLVMGetGEPSourceElementType(v) : NULL;
  if (unit && LLVMGetNumOperands(v) == 2)
    return !__builtin_mul_overflow(parts[1], (int64_t)LLVMABISizeOfType(l->cg->layout, unit), by) &&
           !__builtin_add_overflow(*by, parts[0], by);
  if (cg_int_width(v) != 64)
    return false;
  if (cg_is_op(v, LLVMAdd))
    return !__builtin_add_overflow(parts[0], parts[1], by);
  if (cg_is_op(v, LLVMSub))
    return !__builtin_sub_overflow(parts[0], parts[1], by);
  return false;
}

static bool is_steady(Lanes *l, uint32_t loop, LLVMValueRef v) {
  return !graph_in_loop(&l->g, loop, v) && ln_is_uniform(ln_shape(l, v));
}

/* Does the condition have the value `holds`, as long as a counter is below its bound (or is not the
 * bound) or in all iterations after the first one? The bounds are added to the walk. */
static bool find_bounds(Lanes *l, Walk *w, LLVMValueRef condition, bool holds, int depth) {
  int64_t by;
  if (find_advance(l, w->loop, condition, 0, &by) && !by)
    return true;
  if (holds && cg_is_both(condition) && depth < DEEPEST_ADDRESS)
    return find_bounds(l, w, LLVMGetOperand(condition, 0), true, depth + 1) &&
           find_bounds(l, w, LLVMGetOperand(condition, 1), true, depth + 1);
  if (!LLVMIsAICmpInst(condition))
    return false;
  LLVMValueRef x = LLVMGetOperand(condition, 0), y = LLVMGetOperand(condition, 1);
  LLVMIntPredicate p = LLVMGetICmpPredicate(condition);
  static const LLVMIntPredicate below[] = {LLVMIntULT, LLVMIntSLT, LLVMIntNE},
                                beyond[] = {LLVMIntUGE, LLVMIntSGE, LLVMIntEQ};
  bool known = false;
  for (int k = 0; k < 3; k++)
    known |= p == (holds ? below : beyond)[k];
  if (!known || !next_of_phi(l, w->loop, x) || !find_advance(l, w->loop, x, 0, &by) || by != 1 ||
      !ln_is_uniform(ln_shape(l, x)) || !is_steady(l, w->loop, y))
    return false;
  for (unsigned k = 0; k < w->n; k++)
    if (w->counters[k] == x && w->bounds[k] == y)
      return true;
  if (w->n == MOST_BOUNDS)
    return false;
  w->counters[w->n] = x, w->bounds[w->n++] = y;
  return true;
}

static bool find_exits(Lanes *l, Walk *w) {
  const GraphLoop *in = l->loops.data[w->loop].in;
  for (uint32_t k = 0; k < in->nnodes; k++) {
    const GraphNode *n = &l->g.nodes[in->nodes[k]];
    bool leaves = n->trap != NULL;
    for (uint32_t s = 0; s < n->nsucc; s++)
      leaves |= !ln_in_set(&l->loops.data[w->loop].blocks, n->succ[s]);
    if (!leaves)
      continue;
    Fork fork;
    if (!graph_fork(n->last, &fork))
      return false;
    uint32_t yes = graph_number(&l->g, fork.yes), no = graph_number(&l->g, fork.no);
    bool stays = yes != GRAPH_NONE && fork.yes != n->trap &&
                 ln_in_set(&l->loops.data[w->loop].blocks, yes),
         other = no != GRAPH_NONE && fork.no != n->trap &&
                 ln_in_set(&l->loops.data[w->loop].blocks, no);
    if (stays == other || !find_bounds(l, w, fork.condition, stays, 0))
      return false;
  }
  return w->n > 0;
}

/* Loops that are known to be too short for two tiles. */
static bool is_short(const Lanes *l, const Walk *w) {
  for (unsigned k = 0; k < w->n; k++) {
    LLVMValueRef from = NULL, x = w->counters[k];
    for (unsigned s = 0; s < LLVMCountIncoming(x); s++)
      if (LLVMGetIncomingBlock(x, s) != l->g.nodes[l->loops.data[w->loop].latch].block)
        from = LLVMGetIncomingValue(x, s);
    if (LLVMIsAConstantInt(from) && LLVMIsAConstantInt(w->bounds[k]) &&
        LLVMConstIntGetZExtValue(w->bounds[k]) - LLVMConstIntGetZExtValue(from) <= 2 * w->length)
      return true;
  }
  return false;
}

/* In the copy for the edges of the grid, which few threads run, walks are not worth their code. */
static bool may_walk(const Lanes *l, uint32_t block) {
  bool edges = !l->how.alone && !l->how.whole;
  return !l->blocks[block].masked && !(edges && ln_may_rest(l, block));
}

static bool find_walk(Lanes *l, LLVMValueRef load, uint32_t block, Walk *w) {
  LLVMTypeRef t = LLVMTypeOf(load);
  LLVMValueRef pointer = LLVMGetOperand(load, 0);
  *w = (Walk){.loop = l->blocks[block].in->loop};
  if (w->loop == GRAPH_NONE || !cg_is_plain_access(load) || !ln_is_element(t) ||
      LLVMGetTypeKind(t) == LLVMPointerTypeKind || ln_shape(l, pointer).kind != SHAPE_VECTOR ||
      !may_walk(l, block))
    return false;
  const LaneLoop *loop = &l->loops.data[w->loop];
  uint64_t size = LLVMABISizeOfType(l->cg->layout, t);
  int64_t by;
  if (!loop->in->innermost || loop->divergent || !graph_dominates(&l->g, block, loop->latch) ||
      LLVMSizeOfTypeInBits(l->cg->layout, t) != 8 * size ||
      !find_advance(l, w->loop, pointer, 0, &by) || by != (int64_t)size)
    return false;
  for (uint32_t k = 0; k < loop->in->nnodes; k++)
    for (LLVMValueRef i = l->g.nodes[loop->in->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      if (cg_lanes_writes(i) || (LLVMIsALoadInst(i) && !cg_is_plain_access(i)))
        return false;
  w->length = LANES_LINE_BYTES / (unsigned)size < l->width ? LANES_LINE_BYTES / (unsigned)size
                                                           : l->width;
  return find_exits(l, w) && !is_short(l, w);
}

bool ln_walks(Lanes *l, LLVMValueRef load, uint32_t block) {
  Walk w;
  return find_walk(l, load, block, &w);
}

/* --- the tile --- */

void ln_make_walk(Lanes *l, LaneValue *v) {
  Walk w;
  if (!LLVMIsALoadInst(v->old) || !find_walk(l, v->old, v->block, &w))
    return;
  v->tile = LLVMBuildAlloca(l->b, LLVMArrayType2(ln_vector_type(l, LLVMTypeOf(v->old)), w.length),
                            "tile");
  v->place = LLVMBuildAlloca(l->b, l->cg->t.i32, "place");
}

void ln_begin_walks(Lanes *l, uint32_t loop) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    LaneValue *v = &l->values.data[k];
    if (v->place && l->blocks[v->block].in->loop == loop)
      l_store(l->b, LLVMConstAllOnes(l->cg->t.i32), v->place);
  }
}

static LLVMValueRef number(Lanes *l, uint64_t n) { return l_int(l->cg->t.i32, n); }

/* Rows j and j ^ s exchange the elements of which bit s of the column is not that of the row. */
static LLVMValueRef exchanged(Lanes *l, LLVMValueRef const *rows, unsigned j, unsigned s,
                              unsigned n) {
  LLVMValueRef *from = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned e = 0; e < n; e++)
    from[e] = number(l, (e & s) == (j & s) ? e : n + (e ^ s));
  return l_shuffle(l->b, rows[j], rows[j ^ s], LLVMConstVector(from, n));
}

static LLVMValueRef place_in_tile(Lanes *l, LLVMTypeRef t, LLVMValueRef tile, LLVMValueRef at) {
  return l_gep_inbounds(l->b, t, tile, &at, 1);
}

/* n elements from `column` on, as two halves of them: of one lane's row each. They meet in one
 * register as they are loaded, which a CPU does beside shuffles. */
static LLVMValueRef load_halves(Lanes *l, const LaneValue *v, LLVMValueRef low, LLVMValueRef high,
                                unsigned n, unsigned column) {
  LLVMTypeRef t = LLVMTypeOf(v->old);
  LLVMValueRef halves[] = {low, high}, *from = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef by = l_int(l->cg->t.i64, column);
    halves[k] = l_load(l->b, LLVMVectorType(t, n / 2), l_gep(l->b, t, halves[k], &by, 1));
    LLVMSetAlignment(halves[k], LLVMGetAlignment(v->old));
  }
  for (unsigned e = 0; e < n; e++)
    from[e] = number(l, e);
  return l_shuffle(l->b, halves[0], halves[1], LLVMConstVector(from, n));
}

/* The rows of n lanes from `first` on, n elements of each from `column` on, become the columns of n
 * vectors. Rows n / 2 apart exchange halves as they are loaded. */
static void fill_square(Lanes *l, const LaneValue *v, LLVMValueRef const *at, unsigned n,
                        unsigned first, unsigned column) {
  LLVMTypeRef t = LLVMTypeOf(v->old), part = LLVMVectorType(t, n);
  LLVMValueRef *rows = ARENA_ARRAY(l->arena, LLVMValueRef, n),
               *next = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  assert(n > 1 && (n & (n - 1)) == 0);
  for (unsigned k = 0; k < n; k++)
    rows[k] = load_halves(l, v, at[k & ~(n / 2)], at[k | n / 2], n, column + (k & n / 2));
  for (unsigned s = 1; s < n / 2; s *= 2) {
    for (unsigned k = 0; k < n; k++)
      next[k] = exchanged(l, rows, k, s, n);
    LLVMValueRef *last = rows;
    rows = next, next = last;
  }
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef to = place_in_tile(l, t, v->tile, number(l, (column + k) * l->width + first));
    LLVMSetAlignment(l_store(l->b, rows[k], to),
                     (unsigned)LLVMABIAlignmentOfType(l->cg->layout, part));
  }
}

/* In squares of which a row is a register: larger ones do not stay in registers. The lanes' rows
 * are more than a hardware prefetcher follows, so each is fetched ahead; beyond its end that does
 * nothing. */
static void fill_tile(Lanes *l, const Walk *w, const LaneValue *v, LLVMValueRef pointers) {
  unsigned fit = sizeof(int32_t) * cg_lanes_part(l->cg) /
                 (unsigned)LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(v->old)),
           n = fit > 1 && fit < w->length ? fit : w->length;
  LLVMValueRef *at = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  assert(l->width % n == 0 && w->length % n == 0);
  for (unsigned first = 0; first < l->width; first += n) {
    for (unsigned k = 0; k < n; k++) {
      LLVMValueRef ahead = l_int(l->cg->t.i64, AHEAD_BYTES);
      at[k] = l_extract_element(l->b, pointers, number(l, first + k));
      ln_prefetch(l, l_gep(l->b, l->cg->t.i8, at[k], &ahead, 1), false);
    }
    for (unsigned column = 0; column < w->length; column += n)
      fill_square(l, v, at, n, first, column);
  }
}

/* Are U more iterations certain? A counter was below its bound one iteration ago: the difference
 * does not wrap. */
static LLVMValueRef is_far(Lanes *l, const Walk *w) {
  LLVMValueRef far = NULL;
  for (unsigned k = 0; k < w->n; k++) {
    LLVMValueRef left = l_sub(l->b, ln_scalar(l, w->bounds[k]), ln_scalar(l, w->counters[k])),
                 ok = l_icmp(l->b, LLVMIntUGE, left, l_int(LLVMTypeOf(left), w->length));
    far = far ? l_and(l->b, far, ok) : ok;
  }
  return far;
}

LLVMValueRef ln_load_walk(Lanes *l, LaneValue *v, LLVMValueRef pointers, unsigned align) {
  Walk w;
  bool walks = find_walk(l, v->old, v->block, &w);
  assert(walks && v->tile);
  (void)walks;
  LLVMTypeRef i32 = l->cg->t.i32, all = ln_vector_type(l, LLVMTypeOf(v->old));
  LLVMValueRef place = l_load(l->b, i32, v->place), length = number(l, w.length),
               far = is_far(l, &w), zero = number(l, 0), got[2];
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), look = ln_new_block(l, "look"),
                    fill = ln_new_block(l, "fill"), take = ln_new_block(l, "take"),
                    alone = ln_new_block(l, "gather"), done = ln_new_block(l, "");
  LLVMValueRef held = l_icmp(l->b, LLVMIntULT, place, length);
  cg_branch_weights(l->cg, l_condbr(l->b, held, take, look), w.length - 1, 1);
  LLVMPositionBuilderAtEnd(l->b, look);
  l_condbr(l->b, l_and(l->b, l_icmp(l->b, LLVMIntEQ, place, length), far), fill, alone);
  LLVMPositionBuilderAtEnd(l->b, fill);
  fill_tile(l, &w, v,
            l->mask_now ? l_select(l->b, l->mask_now, pointers, ln_splat(l, ln_zeros_to_read(l)))
                        : pointers);
  l_br(l->b, take);
  LLVMPositionBuilderAtEnd(l->b, take);
  LLVMValueRef now = l_phi(l->b, i32);
  LLVMAddIncoming(now, (LLVMValueRef[]){place, zero}, (LLVMBasicBlockRef[]){here, fill}, 2);
  got[0] = l_load(l->b, all, place_in_tile(l, all, v->tile, now));
  l_store(l->b, l_add_nuw(l->b, now, number(l, 1)), v->place);
  l_br(l->b, done);
  LLVMPositionBuilderAtEnd(l->b, alone);
  got[1] = ln_gather(l, all, pointers, align);
  l_store(l->b, length, v->place);
  l_br(l->b, done);
  LLVMPositionBuilderAtEnd(l->b, done);
  LLVMValueRef phi = l_phi(l->b, all);
  LLVMAddIncoming(phi, got, (LLVMBasicBlockRef[]){take, alone}, 2);
  return phi;
}
