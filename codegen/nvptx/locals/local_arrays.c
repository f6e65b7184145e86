/* NVPTX local arrays: see local_arrays.h. An array that this file does not understand (a record's
 * members behind several indices, an address that is passed on) stays as it is. */
#include "codegen/nvptx/locals/local_arrays.h"

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

bool cg_local_distance(const Cg *cg, LLVMValueRef array, LLVMValueRef v, int64_t *bytes) {
  LocalAccess a = {0};
  while (v != array && cg_is_op(v, LLVMGetElementPtr) && add_index(cg, v, &a) && !a.index)
    v = LLVMGetOperand(v, 0);
  *bytes = a.offset;
  return v == array;
}

/* Is it a selection or phi of addresses at constant distances? */
static bool is_choice(const Cg *cg, const LocalArray *array, LLVMValueRef v) {
  bool is_phi = LLVMIsAPHINode(v) != NULL;
  unsigned n = is_phi ? LLVMCountIncoming(v) : 3;
  int64_t bytes;
  for (unsigned k = !is_phi; k < n; k++)
    if (!cg_local_distance(cg, array->alloca,
                           is_phi ? LLVMGetIncomingValue(v, k) : LLVMGetOperand(v, k), &bytes))
      return false;
  return is_phi || LLVMIsASelectInst(v);
}

static bool is_plain(LLVMValueRef i, LLVMValueRef address) {
  bool store = LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != address;
  return (store || LLVMIsALoadInst(i)) && cg_is_plain_access(i);
}

static bool read_users(const Cg *cg, LocalArray *array, LLVMValueRef address, LocalAccess at);

/* A choice is reached from each of its addresses, and read once. */
static bool read_choice(const Cg *cg, LocalArray *array, LLVMValueRef v, const LocalAccess *at) {
  if (at->index || !is_choice(cg, array, v))
    return false;
  for (uint32_t k = 0; k < array->choices.len; k++)
    if (array->choices.data[k] == v)
      return true;
  VEC_PUSH(&cg->cx->arena, &array->choices, v);
  return read_users(cg, array, v, (LocalAccess){.index = v, .scale = 1});
}

/* Reads the users of an address; `at` is what is known of it. */
static bool read_users(const Cg *cg, LocalArray *array, LLVMValueRef address, LocalAccess at) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    LocalAccess a = at;
    a.ins = by;
    if (LLVMIsACallInst(by) && is_lifetime(by))
      continue;
    bool right = false;
    if (cg_is_op(by, LLVMGetElementPtr))
      right = add_index(cg, by, &a) && read_users(cg, array, by, a);
    else if (LLVMIsAPHINode(by) || LLVMIsASelectInst(by))
      right = read_choice(cg, array, by, &at);
    else if ((right = is_plain(by, address)))
      VEC_PUSH(&cg->cx->arena, &array->accesses, a);
    if (!right)
      return false;
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
    LocalArray a = {i, LLVMABISizeOfType(cg->layout, LLVMGetAllocatedType(i)), {0}, {0}};
    if (a.bytes > LOCAL_MOST_BYTES || !read_users(cg, &a, i, (LocalAccess){0}))
      continue;
    bytes += a.bytes;
    VEC_PUSH(&cg->cx->arena, &found, a);
  }
  return bytes <= LOCAL_MOST_BYTES ? found : (LocalArrays){0};
}

/* --- integers --- */

int64_t cg_int_value(LLVMValueRef constant) {
  return cg_int_width(constant) == 1 ? (int64_t)LLVMConstIntGetZExtValue(constant)
                                     : LLVMConstIntGetSExtValue(constant);
}

static uint64_t unsigned_of(int64_t n, unsigned width) {
  return width >= 64 ? (uint64_t)n : (uint64_t)n & (((uint64_t)1 << width) - 1);
}

static int64_t wrapped(uint64_t n, unsigned width) {
  unsigned above = 64 - width;
  return width == 1 ? (int64_t)(n & 1) : (int64_t)(n << above) >> above;
}

bool cg_fold(LLVMValueRef operation, int64_t a, int64_t b, int64_t *result) {
  unsigned w = cg_int_width(operation), from = cg_int_width(LLVMGetOperand(operation, 0));
  uint64_t x = unsigned_of(a, from), y = unsigned_of(b, from), r = 0;
  bool divides = a >= 0 && b > 0, shifts = y < w, right = true;
  if (!w || w > 64 || !from || from > 64)
    return false;
  switch (LLVMGetInstructionOpcode(operation)) {
  case LLVMAdd: r = x + y; break;
  case LLVMSub: r = x - y; break;
  case LLVMMul: r = x * y; break;
  case LLVMAnd: r = x & y; break;
  case LLVMOr: r = x | y; break;
  case LLVMXor: r = x ^ y; break;
  case LLVMShl: r = (right = shifts) ? x << y : 0; break;
  case LLVMLShr: r = (right = shifts) ? x >> y : 0; break;
  case LLVMAShr: r = (right = shifts) ? (uint64_t)(a >> y) : 0; break;
  case LLVMSDiv:
  case LLVMUDiv: r = (right = divides) ? x / y : 0; break;
  case LLVMSRem:
  case LLVMURem: r = (right = divides) ? x % y : 0; break;
  case LLVMZExt:
  case LLVMTrunc: r = x; break;
  case LLVMSExt: r = from == 1 ? (uint64_t)-a : (uint64_t)a; break;
  default: return false;
  }
  *result = wrapped(r, w);
  return right;
}

static bool value_at(LLVMValueRef v, LLVMValueRef phi, int64_t n, int64_t *value, unsigned depth) {
  enum { MAX_DEPTH = 12 };
  int64_t a = 0, b = 0;
  if (v == phi || LLVMIsAConstantInt(v)) {
    *value = v == phi ? n : cg_int_value(v);
    return true;
  }
  bool chooses = LLVMIsASelectInst(v) != NULL;
  if (!chooses && !LLVMIsABinaryOperator(v) && !LLVMIsACastInst(v) && !LLVMIsAICmpInst(v))
    return false;
  if (depth == MAX_DEPTH || !value_at(LLVMGetOperand(v, 0), phi, n, &a, depth + 1))
    return false;
  if (chooses)
    return value_at(LLVMGetOperand(v, a ? 1 : 2), phi, n, value, depth + 1);
  if (LLVMGetNumOperands(v) == 2 && !value_at(LLVMGetOperand(v, 1), phi, n, &b, depth + 1))
    return false;
  if (!LLVMIsAICmpInst(v))
    return cg_fold(v, a, b, value);
  *value = cg_compares(LLVMGetICmpPredicate(v), a, b);
  return true;
}

bool cg_value_at(LLVMValueRef v, LLVMValueRef phi, int64_t n, int64_t *value) {
  return value_at(v, phi, n, value, 0);
}
