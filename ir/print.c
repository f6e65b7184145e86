/* Print: a function as text that tests read back (tests/unit/support/parse.c).
 *
 * One form for lifted and typed functions: a value that has no type yet is printed without. Values
 * have the numbers that they were made with. What has no text of its own (functions, code, the
 * elements of arrays) stands in angle brackets; docs/IR.md says which of it is read back. */
#include "ir/print.h"

#include <string.h>

static void put_constant(Cx *cx, Buf *out, const Frozen *f) { buf_puts(out, fz_text(cx, f)); }

static void put_view(Buf *out, const IrView *v) {
  static const char *const names[] = {"full",    "index",   "slice", "newaxis",
                                      "permute", "reshape", "part",  "field"};
  buf_puts(out, " [");
  for (unsigned k = 0; k < v->n; k++) {
    buf_printf(out, "%s%s", k ? " " : "", names[v->kind[k]]);
    if (v->kind[k] == VIEW_PERMUTE)
      buf_printf(out, ":%u", v->axes[k]);
    if (v->kind[k] == VIEW_FIELD)
      buf_printf(out, ":%u", v->offset);
  }
  for (unsigned k = 0; k < v->nested; k++) { /* a field's own axes */
    buf_printf(out, ":%lld", (long long)v->extents[k]);
  }
  buf_putc(out, ']');
}

static void put_alloc(Buf *out, const Ins *i) {
  const IrAlloc *a = i->aux.alloc;
  buf_puts(out, a->dynamic ? " dynamic" : "");
  buf_puts(out, " [");
  for (unsigned k = 0; k < i->type->ndim; k++)
    buf_printf(out, "%s%lld", k ? "x" : "", (long long)a->extents[k]);
  buf_printf(out, "] align %u", a->align);
}

static void put_site(Buf *out, const IrSite *s) {
  if (!s)
    return;
  buf_printf(out, " %s('", s->exception);
  for (const char *c = s->message ? s->message : ""; *c; c++) {
    if (*c == '\'' || *c == '\\' || *c == '\n')
      buf_putc(out, '\\');
    buf_putc(out, *c == '\n' ? 'n' : *c);
  }
  buf_puts(out, "')");
}

/* What stands between the operation's name and its operands. */
static void put_aux(Cx *cx, Buf *out, const Ins *i) {
  static const char *const atomics[] = {
#define A(ID, text, elements, of_signed, of_unsigned) text,
#include "ir/atomics.def"
#undef A
  };
  switch ((Op)i->op) {
  case OP_CONST:
  case OP_GLOBAL:
  case OP_CONST_ARRAY:
  case OP_MAKE_FUNC:
  case OP_PRINT:
  case OP_CALL_C:
    buf_putc(out, ' ');
    put_constant(cx, out, i->aux.frozen);
    if (i->op == OP_MAKE_FUNC)
      buf_printf(out, " captures %d", i->aux2);
    break;
  case OP_PARAM:
  case OP_TUPLE_GET:
  case OP_EXTENT:
  case OP_STRIDE: buf_printf(out, " %lld", (long long)i->aux.i); break;
  case OP_LOAD:
  case OP_STORE:
    if (i->aux.i)
      buf_printf(out, " %s", ir_hints[i->aux.i].name);
    break;
  case OP_CHECK_INDEX:
    buf_printf(out, " axis %d", i->aux2);
    put_site(out, i->aux.site);
    break;
  case OP_FORMAT:
    if (i->aux.i)
      buf_printf(out, " !%c", (char)i->aux.i);
    break;
  case OP_UNSET:
    if (i->type && i->aux2)
      buf_puts(out, " zero");
    break;
  case OP_UNPACK:
  case OP_UNPACK_EX: buf_printf(out, " %lld/%d", (long long)i->aux.i, i->aux2); break;
  case OP_CALL:
  case OP_CALL_STAR:
  case OP_MAKE_DICT:
    if (i->aux.names) {
      buf_puts(out, " names=");
      put_constant(cx, out, i->aux.names);
    }
    break;
  case OP_VIEW: put_view(out, i->aux.view); break;
  case OP_ALLOC: put_alloc(out, i); break;
  case OP_INTRINSIC: buf_printf(out, " %s", ir_intrinsics[i->aux.intrinsic].path); break;
  case OP_ATOMIC: buf_printf(out, " %s", atomics[i->aux.i]); break;
  case OP_CALL_FN:
    buf_printf(out, " @%s", i->aux.fn->symbol ? i->aux.fn->symbol : i->aux.fn->name);
    break;
  case OP_CHECK:
  case OP_RAISE: put_site(out, i->aux.site); break;
  default: break;
  }
}

void ir_print_ins(Cx *cx, Buf *out, const Block *b, const Ins *i, bool locations) {
  const OpInfo *info = &ir_op_info[i->op];
  size_t start = out->len;
  buf_puts(out, "  ");
  bool has_value = info->effect != EFFECT_TERM && !(i->type && i->type->id == TY_VOID) &&
                   i->op != OP_STORE && i->op != OP_SETITEM;
  if (has_value)
    buf_printf(out, "%%%u%s%s = ", i->id, i->type ? ": " : "", i->type ? ty_name(cx, i->type) : "");
  buf_puts(out, info->text);
  put_aux(cx, out, i);
  for (uint32_t k = 0; k < i->nargs; k++) {
    buf_printf(out, "%s%%%u", k ? ", " : " ", i->args[k]->id);
    if (i->op == OP_PHI && k < b->preds.len)
      buf_printf(out, " b%u", b->preds.data[k]->id);
  }
  for (int n = 0; n < 2 && b->last == i; n++)
    if (b->succ[n])
      buf_printf(out, "%s b%u", i->nargs || n ? "," : "", b->succ[n]->id);
  if (i->name)
    buf_printf(out, " '%s'", i->name);
  bool access = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
  int of_access = access ? i->flags & (INS_AHEAD | INS_POLLED) : 0,
      of_branch = i->op == OP_CONDBR ? i->flags & INS_OFTEN : 0,
      of_division = i->op == OP_TRUEDIV ? i->flags & INS_EXACT : 0,
      flags = i->flags & ~(of_access | of_branch | of_division);
#define X(flag, word)                                                                              \
  if (flags & flag)                                                                                \
    buf_puts(out, " " #word);
  INS_FLAG_WORDS(X)
#undef X
  if (of_access & INS_AHEAD)
    buf_puts(out, " ahead");
  if (of_access & INS_POLLED)
    buf_puts(out, " polled");
  if (of_branch)
    buf_puts(out, " often");
  if (of_division)
    buf_puts(out, " exact");
  if (locations && i->loc.line) {
    while (out->len - start < 56)
      buf_putc(out, ' ');
    buf_printf(out, " ; %d:%d", i->loc.line, i->loc.col + 1);
  }
  buf_putc(out, '\n');
}

void ir_print_fn(Cx *cx, Buf *out, const Fn *fn, bool locations) {
  buf_printf(out, "func %s(", fn->typed && fn->symbol ? fn->symbol : fn->name);
  for (uint32_t k = 0; k < fn->nparams; k++) {
    buf_printf(out, "%s%s", k ? ", " : "",
               fn->param_names && fn->param_names[k] ? fn->param_names[k] : "_");
    if (fn->typed)
      buf_printf(out, ": %s", ty_name(cx, fn->param_types[k]));
  }
  buf_puts(out, ")");
  if (fn->typed)
    buf_printf(out, " -> %s", ty_name(cx, fn->result));
  buf_puts(out, " {\n");
  FOR_BLOCKS (fn, b) {
    buf_printf(out, "b%u:", b->id);
    for (uint32_t k = 0; k < b->preds.len; k++)
      buf_printf(out, "%s b%u", k ? "," : "  ; from", b->preds.data[k]->id);
    buf_putc(out, '\n');
    FOR_INS (b, i)
      ir_print_ins(cx, out, b, i, locations);
  }
  buf_puts(out, "}\n");
}

char *ir_print(Cx *cx, const Program *program, bool locations) {
  Buf out;
  buf_init(&out, &cx->arena);
  for (uint32_t k = 0; k < program->fns.len; k++)
    ir_print_fn(cx, &out, program->fns.data[k], locations);
  return out.text;
}
