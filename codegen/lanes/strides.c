/* Lanes: accesses to every second, third or fourth element, and to others that are at known places
 * near each other (patterns.c). See lanes.h; memory.c calls it.
 *
 * A gather takes about as long as its loads one by one, and of bytes and words it is these loads.
 * What lies between the first element and the last one is a few contiguous vectors, from which
 * shuffles take the elements. Both ends are accessed by lanes that run, so all between them is
 * memory of the same array: nothing is read outside of it, and what is read beside the elements is
 * not used. With a mask the ends may be elsewhere: then, and for stores, which must not touch what
 * lies between, only the elements themselves are accessed, by masked accesses. These are single
 * instructions where the CPU has masks of vectors (AVX-512), and otherwise it gathers.
 *
 * In static shared memory, which one OS thread accesses, what lies between may be read and written
 * back. So with AVX2 such accesses, and ones whose index may count from the end, are whole vectors
 * and shuffles where a test of lane 0's index finds all of them inside. Columns of short rows are
 * taken from the same vectors.
 *
 * Elements farther apart, and of stores those that no mask picks, are accessed one by one where the
 * CPU has no gathers or scatters of their size: each at its distance from lane 0's. */
#include <assert.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { MOST_APART = 4 };

/* Where the lanes' elements are, counted from the first one of all: lane k's is element[k]. */
typedef struct Spread {
  unsigned *element, span;
  int64_t begin; /* from lane 0's element to the first one */
  bool distinct;
} Spread;

static bool measure(Lanes *l, const int64_t *bytes, int64_t size, Spread *s) {
  int64_t least = 0, most = 0, limit = (int64_t)MOST_APART * l->width;
  for (unsigned k = 0; k < l->width; k++) {
    if (bytes[k] % size)
      return false;
    least = bytes[k] / size < least ? bytes[k] / size : least;
    most = bytes[k] / size > most ? bytes[k] / size : most;
  }
  if (most - least >= limit || most - least + 1 < l->width)
    return false;
  s->begin = least, s->span = (unsigned)(most - least + 1), s->distinct = true;
  s->element = ARENA_ARRAY(l->arena, unsigned, l->width);
  for (unsigned k = 0; k < l->width; k++) {
    s->element[k] = (unsigned)(bytes[k] / size - least);
    for (unsigned n = 0; n < k; n++)
      s->distinct &= s->element[n] != s->element[k];
  }
  return true;
}

/* False: it is no such access. Contiguous ones are none. */
static bool find_spread(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, Spread *s) {
  Shape shape = ln_shape(l, pointer);
  int64_t size = (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  if (!ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
      LLVMSizeOfTypeInBits(l->cg->layout, t) != 8 * (uint64_t)size)
    return false;
  if (shape.kind == SHAPE_STEP &&
      (shape.step % size || shape.step / size < 2 || shape.step / size > MOST_APART))
    return false;
  int64_t *bytes = ARENA_ARRAY(l->arena, int64_t, l->width);
  return ln_pattern(l, pointer, bytes) && measure(l, bytes, size, s);
}

static unsigned parts_of(const Lanes *l, const Spread *s) {
  return (s->span + l->width - 1) / l->width;
}

/* Without masks it has to be all that lies between the ends: a permutation. */
static bool is_possible(Lanes *l, const Spread *s, bool stores, bool masked) {
  if ((stores || masked) && !s->distinct)
    return false;
  return ln_has_masks(l) || (!masked && (!stores || s->span == l->width));
}

/* LLVM 22 legalises stores of some shuffles of bytes without end: those of a butterfly in shared
 * memory (tests/api/language/test_language_butterflies.py), those of a constant step too. Of words
 * only the latter are written. */
static bool can_be_legalised(Lanes *l, LLVMValueRef i) {
  if (!LLVMIsAStoreInst(i))
    return true;
  uint64_t size = LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(LLVMGetOperand(i, 0)));
  return size >= 4 || (size == 2 && ln_shape(l, LLVMGetOperand(i, 1)).kind == SHAPE_STEP);
}

static bool find(Lanes *l, LLVMValueRef i, bool masked, Spread *s) {
  bool stores = LLVMIsAStoreInst(i);
  return cg_is_plain_access(i) && can_be_legalised(l, i) &&
         find_spread(l, LLVMGetOperand(i, stores), LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i),
                     s) &&
         is_possible(l, s, stores, masked);
}

bool ln_is_spread(Lanes *l, LLVMValueRef i, bool masked) {
  Spread s;
  return find(l, i, masked, &s);
}

/* Elements of x and then of y, by their numbers; UINT32_MAX: any. */
static LLVMValueRef chosen(Lanes *l, LLVMValueRef x, LLVMValueRef y, const unsigned *numbers) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, l->width);
  LLVMTypeRef i32 = l->cg->t.i32;
  for (unsigned k = 0; k < l->width; k++)
    all[k] = numbers[k] == UINT32_MAX ? LLVMGetPoison(i32) : l_int(i32, numbers[k]);
  return l_shuffle(l->b, x, y, LLVMConstVector(all, l->width));
}

/* Of the parts of W elements, the last one ends with the last element. */
static unsigned begin_of_part(const Lanes *l, const Spread *s, unsigned part) {
  return part == parts_of(l, s) - 1 ? s->span - l->width : part * l->width;
}

/* Which elements of the vector of W that begins so many elements after the first one are lanes'
 * elements: their lanes, `other` for those between. */
static const unsigned *lanes_from(Lanes *l, const Spread *s, unsigned begin, unsigned other) {
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width);
  for (unsigned k = 0; k < l->width; k++)
    numbers[k] = other;
  for (unsigned k = 0; k < l->width; k++)
    if (s->element[k] >= begin && s->element[k] - begin < l->width)
      numbers[s->element[k] - begin] = k;
  return numbers;
}

/* NULL if all of it is accessed. */
static LLVMValueRef mask_of_part(Lanes *l, const Spread *s, unsigned part) {
  const unsigned *lanes = lanes_from(l, s, part * l->width, l->width);
  bool all = !l->mask_now;
  for (unsigned k = 0; k < l->width; k++)
    all &= lanes[k] < l->width;
  return all ? NULL : chosen(l, ln_mask_or_all(l), LLVMConstNull(l->mask_type), lanes);
}

/* Lane 0's address, from which the others are known whether it runs or not. */
static LLVMValueRef lane_0(Lanes *l, LLVMValueRef pointer) {
  if (ln_shape(l, pointer).kind == SHAPE_STEP)
    return ln_scalar(l, pointer);
  LLVMValueRef at = l_extract_element(l->b, ln_vector(l, pointer), l_int(l->cg->t.i32, 0));
  return l->mask_now ? l_freeze(l->b, at) : at;
}

static LLVMValueRef place_of(Lanes *l, LLVMValueRef lane_0, LLVMTypeRef t, int64_t begin) {
  LLVMValueRef at = l_int(l->cg->t.i64, (uint64_t)begin);
  return begin ? l_gep(l->b, t, lane_0, &at, 1) : lane_0;
}

/* The last vector ends with the last element, where no mask hides what follows that. */
static LLVMValueRef load_parts(Lanes *l, const Spread *s, LLVMTypeRef t, LLVMValueRef first,
                               bool masked, unsigned align) {
  LLVMTypeRef all = ln_vector_type(l, t);
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width), count = parts_of(l, s);
  LLVMValueRef got = NULL;
  for (unsigned part = 0; part < count; part++) {
    unsigned begin = masked ? part * l->width : begin_of_part(l, s, part);
    LLVMValueRef next = ln_load_run(l, all, place_of(l, first, t, begin),
                                    masked ? mask_of_part(l, s, part) : NULL, align);
    for (unsigned k = 0; k < l->width; k++) {
      unsigned element = s->element[k], old = part == 1 ? element : k;
      numbers[k] = element >= begin && element < begin + l->width ? l->width + element - begin
                   : old < l->width                               ? old
                                                                  : UINT32_MAX;
    }
    got = got || count == 1 ? chosen(l, got ? got : next, next, numbers) : next;
  }
  return got;
}

LLVMValueRef ln_load_spread(Lanes *l, LLVMValueRef i) {
  Spread s = {0};
  bool is = find(l, i, l->mask_now != NULL, &s);
  assert(is);
  (void)is;
  LLVMValueRef at = place_of(l, lane_0(l, LLVMGetOperand(i, 0)), LLVMTypeOf(i), s.begin);
  return load_parts(l, &s, LLVMTypeOf(i), at, l->mask_now != NULL, LLVMGetAlignment(i));
}

void ln_store_spread(Lanes *l, LLVMValueRef i) {
  Spread s = {0};
  bool is = find(l, i, l->mask_now != NULL, &s);
  assert(is);
  (void)is;
  LLVMValueRef value = LLVMGetOperand(i, 0), at = lane_0(l, LLVMGetOperand(i, 1));
  LLVMValueRef all = ln_vector(l, value), none = LLVMGetPoison(LLVMTypeOf(all));
  for (unsigned part = 0; part < parts_of(l, &s); part++) {
    LLVMValueRef there = chosen(l, all, none, lanes_from(l, &s, part * l->width, UINT32_MAX));
    ln_store_run(l, there, place_of(l, at, LLVMTypeOf(value), s.begin + (int64_t)part * l->width),
                 mask_of_part(l, &s, part), LLVMGetAlignment(i));
  }
}

/* --- in shared memory --- */

typedef struct Inside {
  Spread s;
  LLVMValueRef base, index; /* index: without what is added to a negative one */
  LLVMValueRef row;         /* in place of an index: the address of lane 0's row */
  LLVMTypeRef unit;
  uint64_t places; /* units from the base to the end of the memory */
  uint64_t span;   /* units, of all places */
} Inside;

uint64_t ln_left_of_shared(Lanes *l, LLVMValueRef address) {
  int64_t bytes, at;
  LLVMValueRef field = cg_base_of(l->cg, address, &bytes);
  bool is = LLVMIsALoadInst(field) && cg_is_field_load(l->cg, l->f, field) &&
            cg_base_of(l->cg, LLVMGetOperand(field, 0), &at) == LLVMGetParam(l->f, HOST_LAUNCH) &&
            at == (int64_t)offsetof(RtHostLaunch, shared);
  int64_t left = (int64_t)l->cg->static_shared - bytes;
  return is && bytes >= 0 && left > 0 ? (uint64_t)left : 0;
}

/* Of an address that steps by rows of a few elements (`now[t, 2]` of three columns): all rows are
 * accessed, by the same vectors for each column, which LLVM then loads and stores once. */
static bool find_row(Lanes *l, LLVMValueRef pointer, int64_t size, Inside *x) {
  Shape shape = ln_shape(l, pointer);
  int64_t by = shape.kind == SHAPE_STEP && shape.step % size == 0 ? shape.step / size : 0, at = 0;
  if (by < 2 || by > MOST_APART)
    return false;
  LLVMValueRef base = x->row = cg_base_of(l->cg, pointer, &at);
  if (at < 0 || at >= shape.step || at % size)
    at = 0, x->row = pointer;
  while (LLVMIsAGetElementPtrInst(base) && !ln_left_of_shared(l, base))
    base = LLVMGetOperand(base, 0);
  x->base = base, x->index = NULL, x->unit = l->cg->t.i8;
  x->span = (uint64_t)shape.step * l->width;
  x->places = ln_left_of_shared(l, base);
  x->s.span = (unsigned)by * l->width, x->s.distinct = true;
  x->s.element = ARENA_ARRAY(l->arena, unsigned, l->width);
  for (unsigned k = 0; k < l->width; k++)
    x->s.element[k] = (unsigned)(at / size + by * k);
  return x->places >= x->span && base != x->row && ln_shape(l, x->row).kind == SHAPE_STEP;
}

static bool find_inside(Lanes *l, LLVMValueRef i, Inside *x) {
  enum { LEAST_BITS = 32 };
  bool stores = LLVMIsAStoreInst(i);
  LLVMValueRef pointer = LLVMGetOperand(i, stores);
  LLVMTypeRef t = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
  if (!cg_is_plain_access(i) || !ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
      LLVMSizeOfTypeInBits(l->cg->layout, t) < LEAST_BITS || !LLVMIsAGetElementPtrInst(pointer) ||
      LLVMGetNumOperands(pointer) != 2)
    return false;
  uint64_t size = LLVMABISizeOfType(l->cg->layout, t);
  *x = (Inside){0};
  if (find_row(l, pointer, (int64_t)size, x))
    return true;
  LLVMValueRef index = LLVMGetOperand(pointer, 1), whole = ln_unwrapped(index);
  *x = (Inside){.base = LLVMGetOperand(pointer, 0),
                .index = whole ? whole : index,
                .unit = LLVMGetGEPSourceElementType(pointer)};
  Shape shape = ln_shape(l, x->index);
  bool run = shape.kind == SHAPE_STEP && shape.step >= -1 && shape.step <= 1;
  x->places = ln_left_of_shared(l, x->base) / size;
  int64_t *places = ARENA_ARRAY(l->arena, int64_t, l->width);
  if (!x->places || run || cg_int_width(x->index) != 64 ||
      LLVMABISizeOfType(l->cg->layout, x->unit) != size || !ln_pattern(l, x->index, places) ||
      !measure(l, places, 1, &x->s))
    return false;
  x->span = x->s.span;
  return x->places >= x->span && (!stores || x->s.distinct);
}

LLVMValueRef ln_index_inside(Lanes *l, LLVMValueRef pointer) {
  int64_t *places = ARENA_ARRAY(l->arena, int64_t, l->width);
  LLVMValueRef index = LLVMGetOperand(pointer, 1), whole = ln_unwrapped(index);
  index = whole ? whole : index;
  return ln_left_of_shared(l, LLVMGetOperand(pointer, 0)) && ln_pattern(l, index, places) ? index
                                                                                          : NULL;
}

/* From the base to the first place. */
static LLVMValueRef first_unit(Lanes *l, const Inside *x) {
  LLVMTypeRef i64 = l->cg->t.i64;
  if (x->row)
    return l_sub(l->b, l_freeze(l->b, l_ptrtoint(l->b, ln_scalar(l, x->row), i64)),
                 l_ptrtoint(l->b, ln_scalar(l, x->base), i64));
  LLVMValueRef lane_0s = ln_shape(l, x->index).kind == SHAPE_STEP
                             ? ln_scalar(l, x->index)
                             : l_extract_element(l->b, ln_vector(l, x->index), l_int(i64, 0));
  return l_add(l->b, l_freeze(l->b, lane_0s), l_int(i64, (uint64_t)x->s.begin));
}

/* What both sides read is read in front of them. */
bool ln_begin_inside(Lanes *l, LLVMValueRef i, NearRun *run) {
  Inside x;
  if (!find_inside(l, i, &x) || !ln_is_here(l, x.row ? x.row : x.index) || !ln_is_here(l, x.base))
    return false;
  LLVMValueRef pointer = LLVMGetOperand(i, LLVMIsAStoreInst(i) != NULL),
               both[] = {pointer, LLVMGetOperand(pointer, 1)};
  for (unsigned k = 0; k < 2; k++)
    if (ln_value(l, both[k]) && ln_is_here(l, both[k]))
      ln_read(l, ln_value(l, both[k]));
  LLVMValueRef first = first_unit(l, &x),
               is = l_icmp(l->b, LLVMIntULE, first, l_int(l->cg->t.i64, x.places - x.span));
  run->first = l_gep(l->b, x.unit, ln_scalar(l, x.base), &first, 1);
  run->there = ln_new_block(l, "inside");
  run->other = ln_new_block(l, "outside");
  run->done = ln_new_block(l, "");
  cg_branch_weights(l->cg, l_condbr(l->b, is, run->there, run->other), CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(l->b, run->there);
  return true;
}

LLVMValueRef ln_load_inside(Lanes *l, LLVMValueRef i, LLVMValueRef first) {
  Inside x;
  bool is = find_inside(l, i, &x);
  assert(is);
  (void)is;
  return load_parts(l, &x.s, LLVMTypeOf(i), first, false, LLVMGetAlignment(i));
}

void ln_store_inside(Lanes *l, LLVMValueRef i, LLVMValueRef first) {
  Inside x;
  bool is = find_inside(l, i, &x);
  assert(is);
  (void)is;
  LLVMValueRef all = ln_vector(l, LLVMGetOperand(i, 0)), old[MOST_APART + 1];
  LLVMTypeRef t = LLVMTypeOf(all);
  unsigned count = parts_of(l, &x.s), align = LLVMGetAlignment(i);
  for (unsigned part = 0; part < count; part++)
    old[part] = ln_load_run(
        l, t, place_of(l, first, LLVMGetElementType(t), begin_of_part(l, &x.s, part)), NULL, align);
  for (unsigned part = 0; part < count; part++) {
    unsigned begin = begin_of_part(l, &x.s, part);
    const unsigned *lanes = lanes_from(l, &x.s, begin, l->width);
    LLVMValueRef mask = chosen(l, ln_mask_or_all(l), LLVMConstNull(l->mask_type), lanes),
                 there = chosen(l, all, LLVMGetPoison(t), lanes_from(l, &x.s, begin, UINT32_MAX));
    ln_store_run(l, l_select(l->b, mask, there, old[part]),
                 place_of(l, first, LLVMGetElementType(t), begin), NULL, align);
  }
}

/* --- far steps: one by one, without a vector of addresses --- */

bool ln_gathers(const Lanes *l, LLVMTypeRef element) {
  return ln_has_masks(l) && !ln_has_no_gather(l, element);
}

bool ln_steps_alone(Lanes *l, LLVMValueRef pointer, LLVMTypeRef element) {
  return !ln_gathers(l, element) && !l->mask_now && ln_shape(l, pointer).kind == SHAPE_STEP;
}

static LLVMValueRef at_lane(Lanes *l, LLVMValueRef pointer, unsigned lane) {
  return place_of(l, ln_scalar(l, pointer), l->cg->t.i8, ln_shape(l, pointer).step * lane);
}

LLVMValueRef ln_load_steps(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer, unsigned align) {
  LLVMValueRef got = LLVMGetPoison(all);
  for (unsigned k = 0; k < l->width; k++) {
    LLVMValueRef one = l_load(l->b, LLVMGetElementType(all), at_lane(l, pointer, k));
    LLVMSetAlignment(one, align);
    got = l_insert_element(l->b, got, one, l_int(l->cg->t.i32, k));
  }
  return got;
}

/* In the order of the lanes: the last one's stays, where several have the same place. */
void ln_store_steps(Lanes *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align) {
  for (unsigned k = 0; k < l->width; k++) {
    LLVMValueRef one = l_extract_element(l->b, value, l_int(l->cg->t.i32, k));
    LLVMSetAlignment(l_store(l->b, one, at_lane(l, pointer, k)), align);
  }
}
