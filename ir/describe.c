/* Describe: in, a strict program; out, JSON. */
#include "ir/describe.h"

#include <string.h>

#include "ir/intrinsics.h"
#include "ir/print.h"

typedef struct Describe {
  Cx *cx;
  Buf *out;
  const Program *program;
  VEC(const char *) files; /* as often as there are: their place is their number */
} Describe;

static void put_string(Buf *out, const char *s) {
  buf_putc(out, '"');
  for (; s && *s; s++)
    if (*s == '"' || *s == '\\')
      buf_printf(out, "\\%c", *s);
    else if ((unsigned char)*s < ' ')
      buf_printf(out, "\\u%04x", (unsigned)*s);
    else
      buf_putc(out, *s);
  buf_putc(out, '"');
}

static void put_member(Buf *out, const char *key, const char *text) {
  buf_printf(out, ", \"%s\": ", key);
  put_string(out, text);
}

static uint32_t file_number(Describe *d, const Code *code) {
  const char *name = code && code->filename ? code->filename : "";
  uint32_t k = 0;
  while (k < d->files.len && strcmp(d->files.data[k], name) != 0)
    k++;
  if (k == d->files.len)
    VEC_PUSH(&d->cx->arena, &d->files, name);
  return k;
}

static void put_loc(Describe *d, Loc l) {
  buf_printf(d->out, "%u, %d, %d, %d, %d", file_number(d, l.code), l.line, l.col, l.end_line,
             l.end_col);
}

static const char *kind_of(const Type *t) {
  static const char *const kinds[] = {"", "b", "i", "u", "f", "c", ""};
  return t && ty_is_scalar(t) ? kinds[ty_kind(t)] : t && ty_is_date(t) ? "i" : "";
}

static unsigned bits_of(const Type *t) { return t && ty_is_date(t) ? 64 : t ? ty_bits(t) : 0; }

static void put_kind(Buf *out, const Type *t) {
  put_member(out, "kind", kind_of(t));
  buf_printf(out, ", \"bits\": %u", bits_of(t));
}

/* --- instructions --- */

static void put_space(Buf *out, const Type *array) {
  static const char *const spaces[] = {"global", "shared", "local", "constant"};
  put_member(out, "space", spaces[array->space]);
}

static void put_access(Buf *out, const Type *array) {
  put_space(out, array);
  put_kind(out, array->elem);
  buf_printf(out, ", \"bytes\": %zu", ty_size(array->elem));
}

static void put_alloc(Buf *out, const Ins *i) {
  size_t bytes = ty_size(i->type->elem);
  for (unsigned k = 0; k < i->type->ndim; k++)
    bytes *= (size_t)i->aux.alloc->extents[k];
  put_space(out, i->type);
  buf_printf(out, ", \"bytes\": %zu", i->aux.alloc->dynamic ? 0 : bytes);
}

static void put_called(const Describe *d, const Ins *i) {
  uint32_t k = 0;
  while (k < d->program->fns.len && d->program->fns.data[k] != i->aux.fn)
    k++;
  buf_printf(d->out, ", \"function\": %u", k);
}

/* What the operation has beside operands and a type. */
static void put_own(const Describe *d, const Block *b, const Ins *i) {
  Buf *out = d->out;
  switch ((Op)i->op) {
  case OP_LOAD:
  case OP_STORE:
  case OP_ATOMIC: put_access(out, i->args[0]->type); return;
  case OP_ALLOC: put_alloc(out, i); return;
  case OP_CALL_FN: put_called(d, i); break;
  case OP_CONST:
    if (i->aux.frozen && ty_is_integral(i->type) && !i->aux.frozen->wide)
      buf_printf(out, ", \"value\": %lld", (long long)i->aux.frozen->i);
    break;
  case OP_INTRINSIC:
    put_member(out, "path", ir_intrinsics[i->aux.intrinsic].path);
    buf_printf(out, ", \"pure\": %s",
               ir_intrinsics[i->aux.intrinsic].effect == EFFECT_PURE ? "true" : "false");
    break;
  case OP_PHI:
    for (uint32_t k = 0; k < b->preds.len; k++)
      buf_printf(out, "%s%u", k ? ", " : ", \"from\": [", b->preds.data[k]->id);
    buf_puts(out, "]");
    break;
  default: break;
  }
  put_kind(out, i->type);
}

static void put_ins(Describe *d, const Block *b, const Ins *i) {
  Buf *out = d->out, text;
  buf_init(&text, &d->cx->arena);
  ir_print_ins(d->cx, &text, b, i, false);
  buf_printf(out, "{\"id\": %u", i->id);
  put_member(out, "op", ir_op_info[i->op].text);
  char *line = text.text + strspn(text.text, " ");
  line[strcspn(line, "\n")] = 0;
  put_member(out, "text", line);
  buf_puts(out, ", \"at\": ");
  if (i->loc.line) {
    buf_putc(out, '[');
    put_loc(d, i->loc);
    buf_putc(out, ']');
  } else {
    buf_puts(out, "null");
  }
  buf_puts(out, ", \"args\": [");
  for (uint32_t k = 0; k < i->nargs; k++)
    buf_printf(out, "%s%u", k ? ", " : "", i->args[k]->id);
  buf_puts(out, "]");
  put_member(out, "type", ty_name(d->cx, i->type));
  put_own(d, b, i);
  buf_puts(out, "}");
}

/* --- functions --- */

static void put_place(Describe *d, const IrPlace *p) {
  Buf *out = d->out;
  buf_putc(out, '[');
  if (p->variable)
    put_string(out, p->variable);
  else
    buf_puts(out, "null");
  buf_puts(out, ", ");
  put_loc(d, p->loc);
  buf_puts(out, ", ");
  put_string(out, ty_name(d->cx, p->type));
  bool narrow = p->ins && p->ins->flags & (INS_I32 | INS_U32);
  buf_printf(out, ", \"%s\"]", p->known ? "known" : narrow ? "narrow" : "");
}

static void put_places(Describe *d, const Fn *fn) {
  bool any = false;
  buf_puts(d->out, ", \"places\": [");
  for (uint32_t k = 0; k < fn->places.len; k++) {
    const IrPlace *p = &fn->places.data[k];
    if (!p->type || !p->loc.line || p->loc.col < 0)
      continue;
    buf_puts(d->out, any ? ",\n" : "");
    put_place(d, p);
    any = true;
  }
  buf_puts(d->out, "]");
}

static void put_block(Describe *d, const Block *b) {
  Buf *out = d->out;
  buf_printf(out, "{\"id\": %u, \"idom\": ", b->id);
  if (b->idom && b->idom != b)
    buf_printf(out, "%u", b->idom->id);
  else
    buf_puts(out, "null");
  buf_puts(out, ", \"to\": [");
  for (int k = 0; k < 2 && b->succ[k]; k++)
    buf_printf(out, "%s%u", k ? ", " : "", b->succ[k]->id);
  buf_puts(out, "], \"code\": [");
  FOR_INS (b, i) {
    buf_puts(out, i == b->first ? "\n" : ",\n");
    put_ins(d, b, i);
  }
  buf_puts(out, "]}");
}

static void put_fn(Describe *d, const Fn *fn) {
  Buf *out = d->out;
  const Code *code = fn->source ? fn->source->code : NULL;
  buf_puts(out, "{\"name\": ");
  put_string(out, fn->name);
  put_member(out, "symbol", fn->symbol);
  buf_printf(out, ", \"file\": %u, \"line\": %d, \"recursive\": %s, \"params\": [",
             file_number(d, code), code ? code->firstlineno : 0, fn->recursive ? "true" : "false");
  for (uint32_t k = 0; k < fn->nparams; k++) {
    buf_puts(out, k ? ", [" : "[");
    put_string(out, fn->param_names ? fn->param_names[k] : NULL);
    buf_puts(out, ", ");
    put_string(out, ty_name(d->cx, fn->param_types[k]));
    buf_putc(out, ']');
  }
  buf_putc(out, ']');
  put_member(out, "result", ty_name(d->cx, fn->result));
  put_places(d, fn);
  buf_puts(out, ", \"blocks\": [");
  FOR_BLOCKS (fn, b) {
    buf_puts(out, b == fn->entry ? "\n" : ",\n");
    put_block(d, b);
  }
  buf_puts(out, "]}");
}

char *ir_describe(Cx *cx, const Program *program) {
  Buf out;
  buf_init(&out, &cx->arena);
  Describe d = {.cx = cx, .out = &out, .program = program};
  buf_puts(&out, "{\"functions\": [");
  for (uint32_t k = 0; k < program->fns.len; k++) {
    buf_puts(&out, k ? ",\n" : "");
    put_fn(&d, program->fns.data[k]);
  }
  buf_puts(&out, "], \"files\": [");
  for (uint32_t k = 0; k < d.files.len; k++) {
    buf_puts(&out, k ? ", " : "");
    put_string(&out, d.files.data[k]);
  }
  buf_puts(&out, "]}\n");
  return out.text;
}
