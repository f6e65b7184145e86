/* NVPTX cache hints: loads and stores with a cache operator. LLVM has none of its own, so they are
 * inline assembly.
 *
 * In: a pointer and a type of 1, 2, 4, 8 or 16 bytes. Out: the access, or NULL where the address is
 * not known to be global memory. */
#include <assert.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"

/* The operands of an access in inline assembly. */
typedef struct Access {
  const char *width, *registers, *constraint; /* "v2.b64", "{$0, $1}", "l" */
  unsigned bits, count;                       /* of one register; number of registers */
} Access;

static const Access *access_of(Lower *lw, LLVMTypeRef type) {
  static const Access rows[] = {{"b8", "$0", "h", 16, 1},
                                {"b16", "$0", "h", 16, 1},
                                {"b32", "$0", "r", 32, 1},
                                {"b64", "$0", "l", 64, 1},
                                {"v2.b64", "{$0, $1}", "l", 64, 2}};
  unsigned long long bytes = LLVMABISizeOfType(lw->cg->layout, type);
  assert(bytes && bytes <= 16 && (bytes & (bytes - 1)) == 0);
  return &rows[__builtin_ctzll(bytes)];
}

static bool is_global(LLVMValueRef p) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == NVPTX_GLOBAL;
}

static LLVMValueRef call_asm(Lower *lw, LLVMTypeRef result, const char *code,
                             const char *constraints, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef types[3];
  CX_ASSERT(lw->cx, n <= 3);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(args[k]);
  LLVMTypeRef type = LLVMFunctionType(result, types, n, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  return l_call_type(lw->b, type, text, args, n);
}

LLVMValueRef cg_nvptx_load_hinted(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p) {
  if (!is_global(p))
    return NULL;
  const Access *a = access_of(lw, type);
  LLVMTypeRef part = cg_int_type(lw->cg, a->bits), both[] = {part, part};
  LLVMTypeRef result = a->count == 1 ? part : LLVMStructTypeInContext(lw->cg->context, both, 2, 0);
  const char *code = arena_printf(&lw->cx->arena, "ld.global.%s.%s %s, [$%u];",
                                  ir_hints[hint].modifier, a->width, a->registers, a->count);
  const char *constraints = arena_printf(&lw->cx->arena, "%s=%s,l,~{memory}",
                                         a->count == 2 ? "=l," : "", a->constraint);
  LLVMValueRef v = call_asm(lw, result, code, constraints, &p, 1);
  if (a->count == 2) {
    LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(part, 2));
    for (unsigned k = 0; k < 2; k++)
      pair = l_insert_element(lw->b, pair, l_extract_value(lw->b, v, k), lw_i32(lw, k));
    v = pair;
  } else if (type == lw->t->i8) {
    return l_trunc(lw->b, v, type);
  }
  return l_bitcast(lw->b, v, type);
}

LLVMValueRef cg_nvptx_store_hinted(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p) {
  if (!is_global(p))
    return NULL;
  const Access *a = access_of(lw, LLVMTypeOf(v));
  LLVMTypeRef part = cg_int_type(lw->cg, a->bits);
  LLVMValueRef args[3] = {NULL, NULL, NULL};
  if (a->count == 2) {
    v = l_bitcast(lw->b, v, LLVMVectorType(part, 2));
    for (unsigned k = 0; k < 2; k++)
      args[k] = l_extract_element(lw->b, v, lw_i32(lw, k));
  } else {
    args[0] = LLVMTypeOf(v) == lw->t->i8 ? l_zext(lw->b, v, part) : l_bitcast(lw->b, v, part);
  }
  args[a->count] = p;
  const char *code = arena_printf(&lw->cx->arena, "st.global.%s.%s [$%u], %s;",
                                  ir_hints[hint].modifier, a->width, a->count, a->registers);
  const char *constraints = arena_printf(&lw->cx->arena, "%s%s,l,~{memory}",
                                         a->count == 2 ? "l," : "", a->constraint);
  return call_asm(lw, lw->t->none, code, constraints, args, a->count + 1);
}
