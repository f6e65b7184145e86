/* NVPTX warpgroup: cuda.wgmma as inline assembly, since LLVM has no intrinsic of mma_async.
 *
 * All of it has effects, clobbers memory and is convergent, so that it keeps its order. The
 * accumulators are outputs that are tied to inputs: the hardware changes them in place, for as long
 * as the operation is in flight. The fence and the wait take what passes through them the same way,
 * so that nothing is computed behind the fence that belongs before it, or read before the wait. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

enum { MOST_REGISTERS = 512, ATOM_ROWS = 8, ONE = 16 /* unit of addresses in a descriptor */ };

typedef struct Tied {
  LLVMValueRef in[MOST_REGISTERS];
  unsigned n;
} Tied;

static void add_registers(Lower *lw, Tied *t, Ins *tuple) {
  CX_ASSERT(lw->cx, t->n + tuple->type->n <= MOST_REGISTERS);
  t->n += cg_nvptx_pack(lw, tuple->type, lw_leaves(lw, tuple), true, t->in + t->n);
}

static char letter(Lower *lw, LLVMValueRef v) { return LLVMTypeOf(v) == lw->t->f32 ? 'f' : 'r'; }

/* Runs the text, whose first t->n operands are the tied registers and the next the `more` inputs;
 * what the registers are then. */
static void run(Lower *lw, const char *text, Tied *t, LLVMValueRef const *more, unsigned nmore) {
  LLVMValueRef args[MOST_REGISTERS + 8];
  LLVMTypeRef types[MOST_REGISTERS + 8], outs[MOST_REGISTERS];
  Buf constraints;
  buf_init(&constraints, &lw->cx->arena);
  for (unsigned k = 0; k < t->n; k++) {
    buf_printf(&constraints, "=%c,", letter(lw, t->in[k]));
    outs[k] = LLVMTypeOf(t->in[k]);
  }
  for (unsigned k = 0; k < nmore; k++) {
    LLVMTypeRef type = LLVMTypeOf(more[k]);
    buf_printf(&constraints, "%c,", type == lw->t->i64 ? 'l' : letter(lw, more[k]));
    args[k] = more[k];
  }
  for (unsigned k = 0; k < t->n; k++) {
    buf_printf(&constraints, "%u,", k);
    args[nmore + k] = t->in[k];
  }
  buf_puts(&constraints, "~{memory}");
  for (unsigned k = 0; k < nmore + t->n; k++)
    types[k] = LLVMTypeOf(args[k]);
  LLVMTypeRef result = !t->n       ? lw->t->none
                       : t->n == 1 ? outs[0]
                                   : LLVMStructTypeInContext(lw->cg->context, outs, t->n, 0);
  LLVMTypeRef type = LLVMFunctionType(result, types, nmore + t->n, 0);
  LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints.text, constraints.len,
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef v = l_call_type(lw->b, type, code, args, nmore + t->n);
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
  LLVMAddCallSiteAttribute(v, L_FUNCTION, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  for (unsigned k = 0; k < t->n; k++)
    t->in[k] = t->n == 1 ? v : l_extract_value(lw->b, v, k);
}

/* Fragments from operand `first` on pass through the text. */
static void pass(Lower *lw, Ins *i, uint32_t first, const char *text) {
  Tied t = {.n = 0};
  for (uint32_t k = first; k < i->nargs; k++)
    add_registers(lw, &t, i->args[k]);
  run(lw, text, &t, NULL, 0);
  if (i->nargs == first)
    return;
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(i->type) + 1), *out = leaves;
  unsigned at = 0;
  for (uint32_t k = first; k < i->nargs; k++) {
    at += cg_nvptx_unpack(lw, i->args[k]->type, t.in + at, out);
    out += i->args[k]->type->n;
  }
  lw_set_leaves(lw, i, leaves);
}

/* Zeros that LLVM takes for any numbers. It would define constants anew on each path, also on the
 * one around a loop to the wait behind it, and ptxas does not keep operations in flight where
 * accumulators are defined on the way. */
static void zeros(Lower *lw, Ins *i) {
  bool halves = i->type->elems[0]->id == TY_F16;
  unsigned n = halves ? i->type->n / 2 : i->type->n;
  LLVMTypeRef one = halves ? lw->t->i32 : lw_scalar_type(lw->cg, i->type->elems[0]->id),
              types[MOST_REGISTERS];
  Buf text, constraints;
  buf_init(&text, &lw->cx->arena), buf_init(&constraints, &lw->cx->arena);
  for (unsigned k = 0; k < n; k++) {
    buf_printf(&text, "mov.b32 $%u, 0;%s", k, k + 1 < n ? "\n\t" : "");
    buf_printf(&constraints, "%s=%c", k ? "," : "", one == lw->t->f32 ? 'f' : 'r');
    types[k] = one;
  }
  LLVMValueRef v = cg_nvptx_asm(lw, LLVMStructTypeInContext(lw->cg->context, types, n, 0),
                                text.text, constraints.text, true);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, i->type->n + 1), registers[MOST_REGISTERS];
  for (unsigned k = 0; k < n; k++)
    registers[k] = l_extract_value(lw->b, v, k);
  cg_nvptx_unpack(lw, i->type, registers, leaves);
  lw_set_leaves(lw, i, leaves);
}

/* --- mma --- */

static LLVMValueRef units(Lower *lw, LLVMValueRef bytes, int shift) {
  return l_shl(lw->b, l_lshr(lw->b, bytes, lw_i64(lw, 4)), lw_i64(lw, shift));
}

/* Beside the address: the bytes to the next part of a swizzle's width (leading), to the next 8 rows
 * (stride), and which swizzle. */
static LLVMValueRef descriptor(Lower *lw, Ins *array, Ins *part, int64_t swizzle, bool other) {
  static const struct { int64_t bytes, code; } codes[] = {{128, 1}, {64, 2}, {32, 3}};
  int64_t code = 0;
  for (int k = 0; k < 3; k++)
    code = codes[k].bytes == swizzle ? codes[k].code : code;
  int64_t rest = ATOM_ROWS * swizzle / ONE << 32 | (int64_t)((uint64_t)code << 62);
  LLVMValueRef leading = other
                             ? units(lw, l_and(lw->b, lw_value(lw, part), lw_i64(lw, 0x3ffff)), 16)
                             : lw_i64(lw, 1 << 16); /* not used */
  return cg_nvptx_descriptor(lw, lw_leaves(lw, array)[LEAF_POINTER],
                             l_or(lw->b, leading, lw_i64(lw, rest)));
}

static void put_registers(Buf *out, unsigned first, unsigned n) {
  for (unsigned k = 0; k < n; k++)
    buf_printf(out, "%s$%u", k ? "," : "{", first + k);
  buf_puts(out, "}, ");
}

static void multiply(Lower *lw, Ins *i) {
  static const struct {
    unsigned k;
    const char *factor, *sum;
    int majors;
  } rows[] = {
#define X(k, factor, sum, code, ptx_factor, ptx_sum, majors) {k, ptx_factor, ptx_sum, majors},
#include "ir/warpgroups.def"
#undef X
  };
  int64_t row = i->args[5]->aux.frozen->i, swizzle = i->args[6]->aux.frozen->i,
          majors = i->args[7]->aux.frozen->i;
  bool registers = i->args[0]->type->id == TY_TUPLE;
  Tied t = {.n = 0};
  LLVMValueRef more[8];
  Buf text;
  add_registers(lw, &t, i->args[4]);
  unsigned n =
      registers ? cg_nvptx_pack(lw, i->args[0]->type, lw_leaves(lw, i->args[0]), false, more) : 1;
  if (!registers)
    more[0] = descriptor(lw, i->args[0], i->args[1], swizzle, majors & 1);
  more[n] = descriptor(lw, i->args[2], i->args[3], swizzle, majors >> 1);
  buf_init(&text, &lw->cx->arena);
  buf_printf(&text, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s ", 2 * i->type->n, rows[row].k,
             rows[row].sum, rows[row].factor, rows[row].factor);
  put_registers(&text, 0, t.n);
  if (registers)
    put_registers(&text, t.n, n);
  else
    buf_printf(&text, "$%u, ", t.n);
  buf_printf(&text, "$%u, 1", t.n + n);
  if (rows[row].majors)
    buf_puts(&text, ", 1, 1");
  if (rows[row].majors > 0 && !registers)
    buf_printf(&text, ", %d", (int)(majors & 1));
  if (rows[row].majors > 0)
    buf_printf(&text, ", %d", (int)(majors >> 1));
  buf_puts(&text, "; ");
  cx_put_place(&text, "wgmma.mma", i->loc);
  run(lw, text.text, &t, more, n + 1);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, i->type->n + 1);
  cg_nvptx_unpack(lw, i->type, t.in, leaves);
  lw_set_leaves(lw, i, leaves);
}

void cg_nvptx_warpgroup(Lower *lw, Ins *i) {
  Tied none = {.n = 0};
  ((NvptxState *)lw->cg->target_state)->warpgroups = true;
  switch ((int)i->aux.intrinsic) {
  case INTR_WGMMA_ZEROS: zeros(lw, i); return;
  case INTR_WGMMA_FENCE: pass(lw, i, 0, "wgmma.fence.sync.aligned;"); return;
  case INTR_WGMMA_MMA: multiply(lw, i); return;
  case INTR_WGMMA_COMMIT: run(lw, "wgmma.commit_group.sync.aligned;", &none, NULL, 0); return;
  default:
    pass(lw, i, 1,
         arena_printf(&lw->cx->arena, "wgmma.wait_group.sync.aligned %d;",
                      (int)i->args[0]->aux.frozen->i));
  }
}
