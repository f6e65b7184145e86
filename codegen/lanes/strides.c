/* Lanes: accesses to every second, third or fourth element. See lanes.h; memory.c calls it.
 *
 * A gather takes about as long as its loads one by one, and of bytes and words it is these loads.
 * What lies between the first lane's element and the last one's is a few contiguous vectors, from
 * which shuffles take the elements. Both ends are accessed by lanes that run, so all between them
 * is memory of the same array: nothing is read outside of it, and what is read beside the elements
 * is not used. With a mask the ends may be elsewhere: then, and for stores, which must not touch
 * what lies between, only the elements themselves are accessed, by masked accesses. These are
 * single instructions where the CPU has masks of vectors (AVX-512), and otherwise it gathers. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { MOST_APART = 4 };

/* By how many elements the lanes are apart; 0: it is no such access. */
static unsigned apart(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  Shape s = ln_shape(l, pointer);
  int64_t size = (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  if (s.kind != SHAPE_STEP || !ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
      LLVMSizeOfTypeInBits(l->cg->layout, t) != 8 * (uint64_t)size || s.step % size)
    return 0;
  int64_t by = s.step / size;
  return by >= 2 && by <= MOST_APART ? (unsigned)by : 0;
}

unsigned ln_apart(Lanes *l, LLVMValueRef i, bool masked) {
  bool stores = LLVMIsAStoreInst(i);
  unsigned by = cg_is_plain_access(i) ? apart(l, LLVMGetOperand(i, stores ? 1 : 0),
                                              LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i))
                                      : 0;
  return by && (stores || masked) && !ln_has_masks(l) ? 0 : by;
}

/* Elements of x and then of y, by their numbers; UINT32_MAX: any. */
static LLVMValueRef chosen(Lanes *l, LLVMValueRef x, LLVMValueRef y, const unsigned *numbers) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, l->width);
  LLVMTypeRef i32 = l->cg->t.i32;
  for (unsigned k = 0; k < l->width; k++)
    all[k] = numbers[k] == UINT32_MAX ? LLVMGetPoison(i32) : l_int(i32, numbers[k]);
  return l_shuffle(l->b, x, y, LLVMConstVector(all, l->width));
}

/* Which elements of the vector of W that begins W * part elements after lane 0's are lanes'
 * elements: their lanes, `other` for those between. */
static const unsigned *lanes_of_part(Lanes *l, unsigned by, unsigned part, unsigned other) {
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width);
  for (unsigned k = 0; k < l->width; k++) {
    unsigned element = part * l->width + k;
    numbers[k] = element % by ? other : element / by;
    assert(element % by || element / by < l->width);
  }
  return numbers;
}

static LLVMValueRef mask_of_part(Lanes *l, unsigned by, unsigned part) {
  return chosen(l, ln_mask_or_all(l), LLVMConstNull(l->mask_type),
                lanes_of_part(l, by, part, l->width));
}

static LLVMValueRef place_of(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, unsigned begin) {
  LLVMValueRef at = l_int(l->cg->t.i64, begin);
  return begin ? l_gep(l->b, t, ln_scalar(l, pointer), &at, 1) : ln_scalar(l, pointer);
}

/* The last vector ends with the last lane's element, where no mask hides what follows that. */
LLVMValueRef ln_load_apart(Lanes *l, LLVMValueRef i, unsigned by) {
  LLVMTypeRef t = LLVMTypeOf(i), all = ln_vector_type(l, t);
  unsigned *numbers = ARENA_ARRAY(l->arena, unsigned, l->width),
           last = l->mask_now ? (by - 1) * l->width : (by - 1) * (l->width - 1);
  LLVMValueRef pointer = LLVMGetOperand(i, 0), got = NULL;
  for (unsigned part = 0; part < by; part++) {
    unsigned begin = part == by - 1 ? last : part * l->width;
    LLVMValueRef mask = l->mask_now ? mask_of_part(l, by, part) : NULL,
                 next = ln_load_run(l, all, place_of(l, pointer, t, begin), mask,
                                    LLVMGetAlignment(i));
    for (unsigned k = 0; k < l->width; k++) {
      unsigned element = k * by, old = part == 1 ? element : k;
      numbers[k] = element >= begin && element < begin + l->width ? l->width + element - begin
                   : old < l->width                               ? old
                                                                  : UINT32_MAX;
    }
    got = got ? chosen(l, got, next, numbers) : next;
  }
  return got;
}

void ln_store_apart(Lanes *l, LLVMValueRef i, unsigned by) {
  LLVMValueRef value = LLVMGetOperand(i, 0), pointer = LLVMGetOperand(i, 1);
  LLVMValueRef all = ln_vector(l, value), none = LLVMGetPoison(LLVMTypeOf(all));
  for (unsigned part = 0; part < by; part++) {
    LLVMValueRef there = chosen(l, all, none, lanes_of_part(l, by, part, UINT32_MAX));
    ln_store_run(l, there, place_of(l, pointer, LLVMTypeOf(value), part * l->width),
                 mask_of_part(l, by, part), LLVMGetAlignment(i));
  }
}
