/* Lanes: look-ups in short tables of bytes in shared memory, as permutations of the table. See
 * lanes.h; memory.c calls it.
 *
 * No CPU gathers bytes, so a gather of them takes as long as the loads one by one, and as many
 * operations to take the addresses apart and put the bytes together. With AVX-512 VBMI one
 * instruction looks up 64 places in 128 bytes. Of a longer table each part is asked, and the high
 * bits of the index choose. The table is read as a whole: it lies in static shared memory, which
 * one OS thread accesses, and how long it is at most follows from where it begins there and from
 * the bits of the index. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { PART = 64, PAIR = 2 * PART, MOST_BYTES = 8 * PART };

/* How many values an index has at most that is not negative. */
static uint64_t values_of(LLVMValueRef index) {
  uint64_t mask = cg_is_op(index, LLVMAnd) && LLVMIsAConstantInt(LLVMGetOperand(index, 1)) &&
                          cg_int_width(index) <= 64
                      ? LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1))
                      : UINT64_MAX;
  unsigned bits = cg_is_op(index, LLVMZExt) ? cg_int_width(LLVMGetOperand(index, 0)) : 64;
  uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
  most = mask < most ? mask : most;
  return most < UINT64_MAX ? most + 1 : most;
}

/* The low bits of the index tell the place. Those of one that may count from the end are its own,
 * where what is added to a negative one is a multiple of what they count. */
LLVMValueRef ln_index_of_table(Lanes *l, LLVMValueRef pointer) {
  LLVMValueRef index = LLVMGetOperand(pointer, 1);
  if (LLVMGetGEPSourceElementType(pointer) != l->cg->t.i8 ||
      !ln_left_of_shared(l, LLVMGetOperand(pointer, 0)) || !cg_lanes_have(l->cg, "avx512vbmi"))
    return NULL;
  LLVMValueRef sum = LLVMIsASelectInst(index) ? LLVMGetOperand(index, 1) : NULL,
               x = sum ? LLVMGetOperand(index, 2) : NULL;
  for (unsigned k = 0; x && cg_is_op(sum, LLVMAdd) && k < 2; k++) {
    LLVMValueRef by = LLVMGetOperand(sum, k);
    if (LLVMIsAConstantInt(by) && LLVMGetOperand(sum, 1 - k) == x &&
        LLVMConstIntGetZExtValue(by) % MOST_BYTES == 0)
      return x;
  }
  return index;
}

/* Of the table; 0: it is no such load. */
static unsigned bytes_of_table(Lanes *l, LLVMValueRef load) {
  LLVMValueRef pointer = LLVMGetOperand(load, 0);
  if (!cg_is_plain_access(load) || LLVMTypeOf(load) != l->cg->t.i8 || l->width > PART ||
      !LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2 ||
      LLVMGetGEPSourceElementType(pointer) != l->cg->t.i8 ||
      ln_shape(l, pointer).kind != SHAPE_VECTOR)
    return 0;
  LLVMValueRef base = LLVMGetOperand(pointer, 0), index = LLVMGetOperand(pointer, 1);
  LLVMValueRef place = ln_index_of_table(l, pointer);
  if (!place || ln_shape(l, index).kind != SHAPE_VECTOR || !ln_is_here(l, base) ||
      !ln_is_here(l, place))
    return 0;
  uint64_t bytes = ln_left_of_shared(l, base), values = values_of(index);
  bytes = bytes < values ? bytes : values;
  return bytes <= MOST_BYTES ? (unsigned)bytes : 0;
}

bool ln_is_look_up(Lanes *l, LLVMValueRef load) { return bytes_of_table(l, load) != 0; }

/* 64 bytes of the table from `from` on, of which the last ones may be none of the memory. */
static LLVMValueRef part_of_table(Lanes *l, LLVMValueRef base, unsigned from, unsigned bytes) {
  const CgTypes *t = &l->cg->t;
  LLVMTypeRef part = LLVMVectorType(t->i8, PART);
  LLVMValueRef place = l_int(t->i64, from), at = l_gep(l->b, t->i8, base, &place, 1), is[PART];
  if (from >= bytes)
    return LLVMConstNull(part);
  for (unsigned k = 0; k < PART; k++)
    is[k] = l_int(t->i1, from + k < bytes);
  return ln_load_run(l, part, at, from + PART <= bytes ? NULL : LLVMConstVector(is, PART), 1);
}

/* The first lanes of a vector of another length. */
static LLVMValueRef resized(Lanes *l, LLVMValueRef v, unsigned n) {
  LLVMValueRef numbers[PART];
  unsigned has = LLVMGetVectorSize(LLVMTypeOf(v));
  for (unsigned k = 0; k < n; k++)
    numbers[k] = k < has ? l_int(l->cg->t.i32, k) : LLVMGetPoison(l->cg->t.i32);
  return has == n ? v
                  : l_shuffle(l->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(numbers, n));
}

static LLVMValueRef look_up_pair(Lanes *l, LLVMValueRef base, LLVMValueRef index, unsigned from,
                                 unsigned bytes) {
  LLVMValueRef args[] = {part_of_table(l, base, from, bytes), index,
                         part_of_table(l, base, from + PART, bytes)},
               fn = cg_intrinsic_fn(l->cg, "llvm.x86.avx512.vpermi2var.qi.512", NULL, 0);
  return resized(l, l_call(l->b, fn, args, 3), l->width);
}

/* Lanes that rest may have any index: they get some byte. */
LLVMValueRef ln_look_up(Lanes *l, LLVMValueRef load) {
  LLVMValueRef pointer = LLVMGetOperand(load, 0), base = ln_scalar(l, LLVMGetOperand(pointer, 0));
  unsigned bytes = bytes_of_table(l, load);
  LLVMTypeRef narrow = LLVMVectorType(l->cg->t.i8, l->width),
              i16 = LLVMInt16TypeInContext(l->cg->context), word = LLVMVectorType(i16, l->width);
  unsigned n = (bytes + PAIR - 1) / PAIR;
  LLVMValueRef index = l_freeze(l->b, ln_vector(l, ln_index_of_table(l, pointer))), found[4];
  LLVMValueRef places = resized(l, l_trunc(l->b, index, narrow), PART);
  assert(n && n <= 4);
  for (unsigned k = 0; k < n; k++)
    found[k] = look_up_pair(l, base, places, k * PAIR, bytes);
  LLVMValueRef words = n > 1 ? l_trunc(l->b, index, word) : NULL;
  for (unsigned by = 1; by < n; by *= 2) {
    LLVMValueRef bit = l_and(l->b, words, ln_splat(l, l_int(i16, by * PAIR))),
                 high = l_icmp(l->b, LLVMIntNE, bit, LLVMConstNull(word));
    for (unsigned k = 0; k + by < n; k += 2 * by)
      found[k] = l_select(l->b, high, found[k + by], found[k]);
  }
  return found[0];
}
