/* Lanes: arrays of a thread, interleaved. See lanes.h.
 *
 * Element k of all lanes lies together, then element k + 1 of all lanes: an access at a uniform
 * index is one vector, where each lane's array as a whole would need a gather. If all indices turn
 * out to be constants, LLVM's sroa makes vectors in registers of the elements.
 *
 * An offset into the array of one thread becomes W times that offset into the memory of all, so
 * every address derived from the array has to be known: it is an alloca that is only used by
 * getelementptr with one index and by plain loads and stores, all of which access elements of one
 * size at multiples of it. Then bytes of different elements never mix, and lane k's element begins
 * k sizes after lane 0's. Any other use (a call, a comparison, a pointer that is stored or
 * selected) leaves the array as it is. */
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { DEEPEST_ADDRESS = 8 };

/* The bytes of an access; 0 if it has padding. */
static uint64_t bytes_of(const Lanes *l, LLVMTypeRef t) {
  uint64_t size = LLVMABISizeOfType(l->cg->layout, t);
  return LLVMStoreSizeOfType(l->cg->layout, t) == size ? size : 0;
}

/* Is v a multiple of `size`, a power of two? Products and sums that wrap are multiples too. */
static bool is_multiple(LLVMValueRef v, uint64_t size, int depth) {
  if (size == 1)
    return true;
  if (LLVMIsAConstantInt(v))
    return LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64 && LLVMConstIntGetZExtValue(v) % size == 0;
  if (!LLVMIsAInstruction(v) || depth > DEEPEST_ADDRESS)
    return false;
  LLVMValueRef x = LLVMGetOperand(v, 0);
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMZExt:
  case LLVMSExt: return is_multiple(x, size, depth + 1);
  case LLVMShl: {
    LLVMValueRef by = LLVMGetOperand(v, 1);
    return is_multiple(x, size, depth + 1) ||
           (LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) < 64 &&
            ((uint64_t)1 << LLVMConstIntGetZExtValue(by)) % size == 0);
  }
  case LLVMMul:
    return is_multiple(x, size, depth + 1) || is_multiple(LLVMGetOperand(v, 1), size, depth + 1);
  case LLVMAdd:
  case LLVMSub:
  case LLVMOr:
    return is_multiple(x, size, depth + 1) && is_multiple(LLVMGetOperand(v, 1), size, depth + 1);
  default: return false;
  }
}

/* Is the offset that the address adds a multiple of the element's size? */
static bool steps_by_elements(const Lanes *l, LLVMValueRef gep, uint64_t size) {
  uint64_t unit = LLVMABISizeOfType(l->cg->layout, LLVMGetGEPSourceElementType(gep));
  LLVMValueRef index = LLVMGetOperand(gep, 1);
  if (unit % size == 0)
    return true;
  return unit && size % unit == 0 && is_multiple(index, size / unit, 0);
}

/* Do all uses access elements of *size bytes, or of one size where that is 0 yet? */
static bool has_elements(Lanes *l, LLVMValueRef address, uint64_t *size, int depth) {
  if (depth > DEEPEST_ADDRESS)
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsACallInst(user) && ln_is_nothing(user))
      continue;
    if (LLVMIsAGetElementPtrInst(user)) {
      if (LLVMGetNumOperands(user) != 2 || LLVMGetOperand(user, 0) != address ||
          LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(user, 1))) != LLVMIntegerTypeKind ||
          !has_elements(l, user, size, depth + 1))
        return false;
      continue;
    }
    bool stores = LLVMIsAStoreInst(user);
    if ((!stores && !LLVMIsALoadInst(user)) || !cg_is_plain_access(user) ||
        (stores && LLVMGetOperand(user, 0) == address))
      return false;
    uint64_t bytes = bytes_of(l, LLVMTypeOf(stores ? LLVMGetOperand(user, 0) : user));
    if (!bytes || (*size && bytes != *size))
      return false;
    *size = bytes;
  }
  return true;
}

static bool has_even_offsets(Lanes *l, LLVMValueRef address, uint64_t size) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAGetElementPtrInst(user) &&
        (!steps_by_elements(l, user, size) || !has_even_offsets(l, user, size)))
      return false;
  }
  return true;
}

static void mark(Lanes *l, LLVMValueRef address, uint64_t size) {
  ln_value(l, address)->element = size;
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u))
    if (LLVMIsAGetElementPtrInst(LLVMGetUser(u)))
      mark(l, LLVMGetUser(u), size);
}

void ln_find_arrays(Lanes *l) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    LLVMValueRef array = l->values.data[k].old;
    uint64_t size = 0;
    if (LLVMIsAAllocaInst(array) && has_elements(l, array, &size, 0) && size &&
        (size & (size - 1)) == 0 && has_even_offsets(l, array, size))
      mark(l, array, size);
  }
}

/* Of one lane's array, as it is laid out for all of them. */
uint64_t ln_array_bytes(const Lanes *l, const LaneValue *v) {
  uint64_t bytes = LLVMABISizeOfType(l->cg->layout, LLVMGetAllocatedType(v->old)),
           unit = v->element ? v->element : LLVMGetAlignment(v->old);
  return (bytes + unit - 1) / unit * unit;
}

/* Is an element stored where some lanes may rest, through an address of the array? */
static bool is_partly_written(Lanes *l, LLVMValueRef address) {
  bool is = false;
  for (LLVMUseRef u = LLVMGetFirstUse(address); u && !is; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    uint32_t at = graph_number(&l->g, LLVMGetInstructionParent(user)); /* NONE: in a trap */
    is = LLVMIsAStoreInst(user) ? at != GRAPH_NONE && ln_may_rest(l, at)
                                : LLVMIsAGetElementPtrInst(user) && is_partly_written(l, user);
  }
  return is;
}

/* Lanes that rest leave what was there before: without zeros, what the vector of threads before has
 * left, in registers that wait for it from one vector to the next. Or denormal numbers, such as
 * addresses are: CPUs take a hundred cycles for an operation with one. */
LLVMValueRef ln_make_array(Lanes *l, const LaneValue *v) {
  enum { LINE = 64, MOST_ZEROS = 4096 };
  uint64_t align = LLVMGetAlignment(v->old), vector = v->element * l->width,
           bytes = ln_array_bytes(l, v) * l->width;
  LLVMTypeRef t = LLVMArrayType2(l->cg->t.i8, bytes);
  LLVMValueRef memory = l_alloca(l->b, t);
  if (vector > align) /* no vector across two cache lines */
    align = vector < LINE ? vector : LINE;
  LLVMSetAlignment(memory, (unsigned)align);
  if (v->element && bytes <= MOST_ZEROS && is_partly_written(l, v->old))
    LLVMBuildMemSet(l->b, memory, l_int(l->cg->t.i8, 0), l_int(l->cg->t.i64, bytes),
                    (unsigned)align);
  return memory;
}

LLVMTypeRef ln_gep_unit(Lanes *l, LLVMValueRef gep) {
  LLVMTypeRef unit = LLVMGetGEPSourceElementType(gep);
  const LaneValue *v = ln_value(l, gep);
  return v && v->element ? LLVMArrayType2(unit, l->width) : unit;
}

/* Is it an address in an array of the thread, whose elements are interleaved? What is contiguous
 * there is an element of each lane, which no other lane and no other thread knows of. So under a
 * mask, which is not empty, all of it can be read, and written back as it was in the lanes that
 * rest. LLVM makes registers of arrays that are accessed without masks. */
bool ln_is_of_own_array(Lanes *l, LLVMValueRef pointer) {
  const LaneValue *v = ln_value(l, pointer);
  return v && v->element;
}

void ln_store_own(Lanes *l, LLVMValueRef value, LLVMValueRef first, LLVMValueRef mask,
                  unsigned align) {
  if (mask) {
    LLVMValueRef old = ln_load_run(l, LLVMTypeOf(value), first, NULL, align);
    value = l_select(l->b, mask, value, old);
  }
  ln_store_run(l, value, first, NULL, align);
}
