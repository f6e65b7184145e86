/* Calls: of device functions, of functions of other modules, and of print.
 *
 * A device function takes the leaves of its arguments as parameters, behind the target's hidden
 * context if there is one, and before its path (paths.c). It returns the leaves of its result:
 * nothing, one value, or a struct of them. All are declared before any body is lowered, so calls
 * may be recursive; whether a function is inlined was decided before (inlining.c), and becomes an
 * attribute here. Declared functions (cuda.declare_device) follow Numba's ABI or C's. print's
 * format, whose values are in braces, becomes one printf-like format and a list of arguments for
 * Target.print. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "ir/base/chars.h"

/* --- device functions: parameters and results are leaves --- */

/* A name of letters, digits, _ and $ only, which neither LLVM nor PTX mangles; the $ keeps it apart
 * from the kernel's name. */
static const char *safe_name(Cg *cg, const char *name, uint32_t number) {
  char *s = number ? arena_printf(&cg->cx->arena, "%s$%u", name, number)
                   : arena_strdup(&cg->cx->arena, name);
  for (char *p = s; *p; p++)
    if (!char_is_alnum(*p) && *p != '$')
      *p = '_';
  return char_is_digit(*s) ? arena_printf(&cg->cx->arena, "f%s", s) : s;
}

static LLVMTypeRef result_type(Cg *cg, const Type *t) {
  uint32_t n = cg_leaf_count(t);
  LLVMTypeRef *leaves = CX_ARRAY(cg->cx, LLVMTypeRef, n + 1);
  lw_leaf_types(cg, t, leaves);
  return n == 0   ? cg->t.none
         : n == 1 ? leaves[0]
                  : LLVMStructTypeInContext(cg->context, leaves, n, 0);
}

static LLVMTypeRef function_type(Cg *cg, const Fn *fn, uint32_t number) {
  LLVMTypeRef context = cg->target->context_type(cg);
  uint32_t n = context != NULL;
  for (uint32_t k = 0; k < fn->nparams; k++)
    n += cg_leaf_count(fn->param_types[k]);
  LLVMTypeRef *types = CX_ARRAY(cg->cx, LLVMTypeRef, n + 1);
  types[0] = context;
  for (uint32_t k = 0, at = context != NULL; k < fn->nparams; k++)
    at += lw_leaf_types(cg, fn->param_types[k], types + at);
  if (lw_takes_path(cg, number))
    types[n++] = cg->t.i32;
  return LLVMFunctionType(result_type(cg, fn->result), types, n, 0);
}

static uint32_t index_of(Cg *cg, const Fn *fn) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    if (cg->program->fns.data[k] == fn)
      return k;
  cx_bug(cg->cx, "%s is not in the program", fn->name);
}

void lw_declare(Cg *cg, Fn *fn) {
  LLVMAttributeIndex at = L_FUNCTION;
  uint32_t number = index_of(cg, fn);
  const char *name = number ? safe_name(cg, fn->symbol ? fn->symbol : fn->name, number)
                            : cg->symbol;
  LLVMValueRef f = LLVMAddFunction(cg->module, name, function_type(cg, fn, number));
  cg->functions[number] = f;
  cg_attribute(cg, f, at, "nounwind", 0);
  if (fn->has_barrier)
    cg_attribute(cg, f, at, "convergent", 0);
  if (number == 0) /* a device function compiled alone stays visible to the linker */
    return;
  LLVMSetLinkage(f, LLVMInternalLinkage);
  if (fn->inlining == INLINE_NEVER)
    cg_attribute(cg, f, at, "noinline", 0);
  else if (!fn->recursive)
    cg_attribute(cg, f, at, "alwaysinline", 0);
}

void lw_call(Lower *lw, Ins *i) {
  uint32_t number = index_of(lw->cg, i->aux.fn);
  LLVMValueRef fn = lw->cg->functions[number];
  assert(fn && i->nargs == i->aux.fn->nparams);
  assert(cg_leaf_count(i->type) == cg_leaf_count(i->aux.fn->result));
  uint32_t total = 2;
  for (uint32_t k = 0; k < i->nargs; k++)
    total += cg_leaf_count(i->args[k]->type);
  LLVMValueRef *args = CX_ARRAY(lw->cx, LLVMValueRef, total);
  uint32_t n = 0;
  if (lw->target->context_type(lw->cg))
    args[n++] = lw->context;
  for (uint32_t k = 0; k < i->nargs; k++) {
    uint32_t count = cg_leaf_count(i->args[k]->type);
    memcpy(args + n, lw_leaves(lw, i->args[k]), count * sizeof *args);
    n += count;
  }
  if (lw_takes_path(lw->cg, number))
    args[n++] = lw_path_of_call(lw, i);
  assert(n == LLVMCountParams(fn));
  LLVMValueRef v = l_call(lw->b, fn, args, n);
  uint32_t leaves = cg_leaf_count(i->type);
  LLVMValueRef *out = CX_ARRAY(lw->cx, LLVMValueRef, leaves + 1);
  for (uint32_t k = 0; k < leaves; k++)
    out[k] = leaves == 1 ? v : l_extract_value(lw->b, v, k);
  lw_set_leaves(lw, i, out);
}

/* --- functions of other modules --- */

/* As C passes it: bools as bytes, arrays as generic addresses. */
static LLVMValueRef declared_argument(Lower *lw, Ins *i) {
  LLVMValueRef v = lw_leaves(lw, i)[0];
  if (i->type->id == TY_ARRAY)
    return l_addrspacecast(lw->b, v, lw->t->ptr);
  return ty_kind(i->type) == KIND_BOOL ? l_zext(lw->b, v, lw->t->i8) : v;
}

static LLVMValueRef declared_function(Lower *lw, const char *name, LLVMTypeRef type) {
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, name);
  if (!fn) {
    fn = LLVMAddFunction(lw->cg->module, name, type);
    cg_attribute(lw->cg, fn, L_FUNCTION, "convergent", 0);
  }
  if (LLVMGlobalGetValueType(fn) != type || !LLVMIsDeclaration(fn))
    fail(lw->cx, lw->ins->loc, ERR_ARGUMENTS, arena_printf(&lw->cx->arena, "%s()", name),
         "the name is that of the kernel, or was declared with another signature");
  return fn;
}

/* In Numba's ABI the first argument is the address of the result, and the function returns a
 * status; in C's it returns the result. */
void lw_call_declared(Lower *lw, Ins *i) {
  const Frozen *f = i->aux.frozen;
  if (f->kind == FZ_STR) {
    CX_ASSERT(lw->cx, lw->target->inline_text);
    lw->target->inline_text(lw, i);
    return;
  }
  if (!lw->target->links)
    fail(lw->cx, i->loc, ERR_HOST_ONLY,
         arena_printf(&lw->cx->arena, "the declared device function %s()", f->text),
         lw->target->name);
  bool returns = i->type->id != TY_VOID, numba = f->i;
  LLVMTypeRef result = returns ? lw_memory_type(lw->cg, i->type->id) : lw->t->none;
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, i->nargs + 1);
  LLVMValueRef *args = CX_ARRAY(lw->cx, LLVMValueRef, i->nargs + 1);
  if (numba)
    args[0] = lw_alloca(lw, returns ? result : lw->t->i64, 8, "result");
  for (uint32_t k = 0; k < i->nargs; k++)
    args[numba + k] = declared_argument(lw, i->args[k]);
  for (uint32_t k = 0; k < i->nargs + numba; k++)
    types[k] = LLVMTypeOf(args[k]);
  LLVMTypeRef type = LLVMFunctionType(numba ? lw->t->i32 : result, types, i->nargs + numba, 0);
  LLVMValueRef v = l_call_type(lw->b, type, declared_function(lw, f->text, type), args,
                               i->nargs + numba);
  if (!returns)
    return;
  if (numba)
    v = l_load(lw->b, result, args[0]);
  if (ty_kind(i->type) == KIND_BOOL)
    v = l_icmp(lw->b, LLVMIntNE, v, LLVMConstNull(lw->t->i8));
  lw_set(lw, i, v);
}

/* --- print --- */

typedef struct Line { /* a printf call under construction */
  Buf format;
  VEC(LLVMValueRef) args;
} Line;

static void line_arg(Lower *lw, Line *line, const char *conversion, LLVMValueRef v) {
  buf_puts(&line->format, conversion);
  VEC_PUSH(&lw->cx->arena, &line->args, v);
}

/* %r and its like: see Target.print. */
static const char *shortest(TypeId id) {
  return id == TY_F16 ? "%H" : id == TY_BF16 ? "%B" : id == TY_F32 ? "%R" : "%r";
}

/* grouped: in parentheses even where Python shows none. */
static void line_complex(Lower *lw, Line *line, Ins *i, bool grouped) {
  static const char *const conversions[2][2] = {{"%z", "%Z"}, {"%-z", "%-Z"}};
  for (int k = 0; k < 2; k++)
    line_arg(lw, line, k ? "" : conversions[grouped][i->type->id == TY_C64],
             l_fpcast(lw->b, lw_leaves(lw, i)[k], lw->t->f64));
}

static void line_number(Lower *lw, Line *line, Ins *i) {
  const Type *t = i->type;
  if (t->id == TY_NONE) {
    buf_puts(&line->format, "None");
    return;
  }
  if (t->id == TY_STR) {
    buf_puts(&line->format, t->frozen->text);
    return;
  }
  if (ty_is_complex(t)) {
    line_complex(lw, line, i, false);
    return;
  }
  LLVMValueRef v = lw_value(lw, i);
  if (ty_kind(t) == KIND_BOOL)
    line_arg(lw, line, "%s", l_select(lw->b, v, lw_text(lw, "True"), lw_text(lw, "False")));
  else if (ty_is_float(t))
    line_arg(lw, line, shortest(t->id), l_fpcast(lw->b, v, lw->t->f64));
  else
    line_arg(lw, line, ty_is_signed(t) ? "%lld" : "%llu",
             l_int_cast(lw->b, v, lw->t->i64, ty_is_signed(t)));
}

/* {%…}: the text in the braces is the conversion. */
static void line_converted(Lower *lw, Line *line, const char *conversion, size_t n, Ins *i) {
  LLVMValueRef v = lw_value(lw, i);
  if (ty_is_float(i->type))
    v = l_fpcast(lw->b, v, lw->t->f64);
  line_arg(lw, line, arena_strndup(&lw->cx->arena, conversion, n), v);
}

void lw_line(Lower *lw, Ins *i) {
  DiagPlace at = cx_place(i->loc);
  unsigned char *byte = lw->cg->request->covers ? lw->cg->request->covers(at.file, at.line) : NULL;
  if (byte)
    l_store(lw->b, l_int(lw->t->i8, 1),
            LLVMConstIntToPtr(lw_i64(lw, (int64_t)(uintptr_t)byte), lw->t->ptr));
}

void lw_print(Lower *lw, Ins *i) {
  Line line = {0};
  buf_init(&line.format, &lw->cx->arena);
  uint32_t next = 0;
  for (const char *p = i->aux.frozen->text; *p; p++) {
    const char *end = *p == '{' ? strchr(p, '}') : NULL;
    if ((*p == '{' || *p == '}') && p[1] == *p) { /* a doubled brace stands for one */
      buf_putc(&line.format, *p++);
    } else if (end && next < i->nargs) {
      Ins *v = i->args[next++];
      if (p[1] == '%' && ty_is_complex(v->type))
        line_complex(lw, &line, v, true);
      else if (p[1] == '%')
        line_converted(lw, &line, p + 1, (size_t)(end - p - 1), v);
      else if (v->type->id == TY_ARRAY)
        line_arg(lw, &line, "%s", lw_leaves(lw, v)[0]);
      else
        line_number(lw, &line, v);
      p = end;
    } else {
      buf_puts(&line.format, *p == '%' ? "%%" : (char[]){*p, 0});
    }
  }
  lw->target->print(lw, line.format.text ? line.format.text : "", line.args.data, line.args.len);
}
