/* NVPTX inline text: cuda.inline_ptx as LLVM's inline assembly.
 *
 * In: OP_CALL_C with a text and its constraints (typeinfer/rules/inline_ptx.c). The letters of what
 * is read say how a value is passed: h as the bits of 16, the address of an array as l, that of a
 * shared array's own window as r. The call may do anything to memory and is convergent, since the
 * text may hold barriers. Bulk stores in it are waited for at the kernel's end, as others are
 * (drain.c). */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"

/* Constraints begin with those of the results; *c is left behind the one that is returned: its
 * letter, or of "0" that of the result which it is. */
static char next_letter(const char **c, const char *all) {
  const char *s = *c;
  *c = strchr(s, ',') + 1;
  if (!isdigit((unsigned char)*s))
    return *s;
  const char *of = all;
  for (int k = atoi(s); k > 0; k--)
    of = strchr(of, ',') + 1;
  return of[1]; /* behind '=' */
}

static LLVMValueRef operand(Lower *lw, Ins *i, char letter) {
  LLVMValueRef v = lw_leaves(lw, i)[0];
  const CgTypes *t = lw->t;
  if (i->type->id == TY_ARRAY && letter == 'r')
    return l_trunc(lw->b, l_ptrtoint(lw->b, v, t->i64), t->i32);
  if (i->type->id == TY_ARRAY)
    return l_ptrtoint(lw->b, l_addrspacecast(lw->b, v, t->ptr), t->i64);
  return letter == 'h' && LLVMTypeOf(v) != t->i16 ? l_bitcast(lw->b, v, t->i16) : v;
}

static LLVMTypeRef result_type(Lower *lw, const Type *t) {
  unsigned bits = ty_bits(t);
  return bits == 16 ? lw->t->i16 : lw_scalar_type(lw->cg, t->id);
}

static LLVMValueRef call(Lower *lw, Ins *i, LLVMTypeRef result, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(args[k]);
  LLVMTypeRef type = LLVMFunctionType(result, types, n, 0);
  const Frozen *text = i->aux.frozen;
  lw->cg->bulk_stores |= cg_nvptx_stores_in_bulk(text->text, text->n);
  LLVMValueRef code = LLVMGetInlineAsm(type, text->text, text->n, i->name, strlen(i->name), true, 0,
                                       LLVMInlineAsmDialectATT, 0);
  LLVMValueRef v = l_call_type(lw->b, type, code, args, n);
  static const char *const attributes[] = {"convergent", "nounwind"};
  for (int k = 0; k < 2; k++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(attributes[k], strlen(attributes[k]));
    LLVMAddCallSiteAttribute(v, L_FUNCTION, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  }
  return v;
}

void cg_nvptx_inline_text(Lower *lw, Ins *i) {
  const Type *t = i->type;
  bool many = t->id == TY_TUPLE;
  unsigned n = many ? t->n : t->id != TY_VOID;
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    types[k] = result_type(lw, many ? t->elems[k] : t);
  LLVMTypeRef result = !n       ? lw->t->none
                       : n == 1 ? types[0]
                                : LLVMStructTypeInContext(lw->cg->context, types, n, 0);
  const char *c = i->name;
  for (unsigned k = 0; k < n; k++)
    c = strchr(c, ',') + 1;
  LLVMValueRef *args = CX_ARRAY(lw->cx, LLVMValueRef, i->nargs + 1);
  for (uint32_t k = 0; k < i->nargs; k++)
    args[k] = operand(lw, i->args[k], next_letter(&c, i->name));
  LLVMValueRef v = call(lw, i, result, args, i->nargs);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  for (unsigned k = 0; k < n; k++) {
    const Type *one = many ? t->elems[k] : t;
    LLVMValueRef part = n == 1 ? v : l_extract_value(lw->b, v, k);
    leaves[k] = l_bitcast(lw->b, part, lw_scalar_type(lw->cg, one->id));
  }
  lw_set_leaves(lw, i, leaves);
}
