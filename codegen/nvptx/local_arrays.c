/* NVPTX local arrays: see local_arrays.h. An array that this file does not understand (a record's
 * members behind several indices, an address that is chosen or passed on) stays as it is. */
#include "codegen/nvptx/local_arrays.h"

#include "codegen/llvm/match.h"

LLVMTypeRef cg_local_type(const LocalAccess *a) {
  return LLVMTypeOf(LLVMIsAStoreInst(a->ins) ? LLVMGetOperand(a->ins, 0) : a->ins);
}

static bool is_lifetime(LLVMValueRef i) {
  return cg_is_call_of(i, "llvm.lifetime.start.p0") || cg_is_call_of(i, "llvm.lifetime.end.p0");
}

/* The step of an address: one index, or false. */
static bool add_index(const Cg *cg, LLVMValueRef gep, LocalAccess *a) {
  if (LLVMGetNumIndices(gep) != 1)
    return false;
  int64_t size = (int64_t)LLVMABISizeOfType(cg->layout, LLVMGetGEPSourceElementType(gep));
  LLVMValueRef v = LLVMGetOperand(gep, 1);
  if (LLVMIsAConstantInt(v)) {
    a->offset += size * LLVMConstIntGetSExtValue(v);
    return true;
  }
  bool first = !a->index;
  a->index = v, a->scale = size;
  return first;
}

/* Reads the users of an address; `at` is what is known of it. */
static bool read_users(const Cg *cg, LocalArray *array, LLVMValueRef address, LocalAccess at) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    LocalAccess a = at;
    if (cg_is_op(by, LLVMGetElementPtr)) {
      if (!add_index(cg, by, &a) || !read_users(cg, array, by, a))
        return false;
      continue;
    }
    if (LLVMIsACallInst(by) && is_lifetime(by))
      continue;
    bool plain = (LLVMIsALoadInst(by) && cg_is_plain_access(by)) ||
                 (LLVMIsAStoreInst(by) && cg_is_plain_access(by) &&
                  LLVMGetOperand(by, 0) != address);
    if (!plain)
      return false;
    a.ins = by;
    VEC_PUSH(&cg->cx->arena, &array->accesses, a);
  }
  return true;
}

LocalArrays cg_local_arrays(Cg *cg, LLVMValueRef f) {
  LocalArrays found = {0};
  uint64_t bytes = 0;
  if (LLVMIsDeclaration(f))
    return found;
  for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); i;
       i = LLVMGetNextInstruction(i)) {
    if (!LLVMIsAAllocaInst(i))
      continue;
    LocalArray a = {i, LLVMABISizeOfType(cg->layout, LLVMGetAllocatedType(i)), {0}};
    if (a.bytes > LOCAL_MOST_BYTES || !read_users(cg, &a, i, (LocalAccess){0}))
      continue;
    bytes += a.bytes;
    VEC_PUSH(&cg->cx->arena, &found, a);
  }
  return bytes <= LOCAL_MOST_BYTES ? found : (LocalArrays){0};
}
