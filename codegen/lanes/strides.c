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
 * Elements farther apart, and of stores those that no mask picks, are accessed one by one where the
 * CPU has no gathers or scatters of their size: each at its distance from lane 0's. */
#include <assert.h>

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

/* Which elements of the vector of W that begins W * part elements after the first one are lanes'
 * elements: their lanes, `other` for those between. */
static const unsigned *lanes_of_part(Lanes *l, const Spread *s, unsigned part, unsigned other) {
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width);
  for (unsigned k = 0; k < l->width; k++)
    numbers[k] = other;
  for (unsigned k = 0; k < l->width; k++)
    if (s->element[k] / l->width == part)
      numbers[s->element[k] % l->width] = k;
  return numbers;
}

/* NULL if all of it is accessed. */
static LLVMValueRef mask_of_part(Lanes *l, const Spread *s, unsigned part) {
  const unsigned *lanes = lanes_of_part(l, s, part, l->width);
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
LLVMValueRef ln_load_spread(Lanes *l, LLVMValueRef i) {
  Spread s = {0};
  bool is = find(l, i, l->mask_now != NULL, &s);
  assert(is);
  (void)is;
  LLVMTypeRef t = LLVMTypeOf(i), all = ln_vector_type(l, t);
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width), count = parts_of(l, &s),
           last = l->mask_now ? (count - 1) * l->width : s.span - l->width;
  LLVMValueRef at = lane_0(l, LLVMGetOperand(i, 0)), got = NULL;
  for (unsigned part = 0; part < count; part++) {
    unsigned begin = part == count - 1 ? last : part * l->width;
    LLVMValueRef next = ln_load_run(l, all, place_of(l, at, t, s.begin + begin),
                                    l->mask_now ? mask_of_part(l, &s, part) : NULL,
                                    LLVMGetAlignment(i));
    for (unsigned k = 0; k < l->width; k++) {
      unsigned element = s.element[k], old = part == 1 ? element : k;
      numbers[k] = element >= begin && element < begin + l->width ? l->width + element - begin
                   : old < l->width                               ? old
                                                                  : UINT32_MAX;
    }
    got = got || count == 1 ? chosen(l, got ? got : next, next, numbers) : next;
  }
  return got;
}

void ln_store_spread(Lanes *l, LLVMValueRef i) {
  Spread s = {0};
  bool is = find(l, i, l->mask_now != NULL, &s);
  assert(is);
  (void)is;
  LLVMValueRef value = LLVMGetOperand(i, 0), at = lane_0(l, LLVMGetOperand(i, 1));
  LLVMValueRef all = ln_vector(l, value), none = LLVMGetPoison(LLVMTypeOf(all));
  for (unsigned part = 0; part < parts_of(l, &s); part++) {
    LLVMValueRef there = chosen(l, all, none, lanes_of_part(l, &s, part, UINT32_MAX));
    ln_store_run(l, there, place_of(l, at, LLVMTypeOf(value), s.begin + (int64_t)part * l->width),
                 mask_of_part(l, &s, part), LLVMGetAlignment(i));
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
