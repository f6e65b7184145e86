/* Frozen: look-ups and text. */
#include "ir/frozen.h"

#include <stdio.h>
#include <string.h>

#include "ir/cx.h"

const Binding *fz_find(const Binding *b, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (b[i].name == name || !strcmp(b[i].name, name))
      return &b[i];
  return NULL;
}

const char fz_keywords_mark[] = "keyword defaults";

const Frozen *fz_attr(const Frozen *f, const char *name) {
  const Binding *b = fz_find(f->attrs, f->nattrs, name);
  return b ? b->value : NULL;
}

static void put_string(Buf *b, const char *s, size_t n) {
  enum { MAX_SHOWN = 60 };
  buf_putc(b, '\'');
  for (size_t i = 0; i < n && i < MAX_SHOWN; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\'' || c == '\\')
      buf_printf(b, "\\%c", c);
    else if (c == '\n')
      buf_puts(b, "\\n");
    else if (c < 32 || c == 127)
      buf_printf(b, "\\x%02x", c);
    else
      buf_putc(b, (char)c);
  }
  buf_puts(b, n > MAX_SHOWN ? "...'" : "'");
}

static void put_float(Buf *b, double v) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back */
    snprintf(text, sizeof text, "%.*g", digits, v);
    double back;
    if (sscanf(text, "%lf", &back) == 1 && back == v)
      break;
  }
  buf_puts(b, text);
  if (!strpbrk(text, ".eni"))
    buf_puts(b, ".0");
}

static void put_frozen(Cx *cx, Buf *b, const Frozen *f, int depth) {
  enum { MAX_ITEMS = 8, MAX_DEPTH = 4 };
  switch (f->kind) {
  case FZ_NONE: buf_puts(b, "None"); return;
  case FZ_ELLIPSIS: buf_puts(b, "..."); return;
  case FZ_BOOL: buf_puts(b, f->i ? "True" : "False"); return;
  case FZ_INT:
    if (f->wide && f->text)
      buf_printf(b, "%.60s", f->text);
    else if (f->wide)
      buf_printf(b, "%llu", (unsigned long long)f->i);
    else
      buf_printf(b, "%lld", (long long)f->i);
    return;
  case FZ_FLOAT: put_float(b, f->re); return;
  case FZ_COMPLEX:
    buf_putc(b, '(');
    put_float(b, f->re);
    buf_puts(b, f->im < 0 ? "" : "+");
    put_float(b, f->im);
    buf_puts(b, "j)");
    return;
  case FZ_STR: put_string(b, f->text, f->n); return;
  case FZ_BYTES: buf_putc(b, 'b'); put_string(b, f->text, f->n); return;
  case FZ_TUPLE:
    buf_puts(b, f->names ? f->text : "");
    buf_putc(b, '(');
    for (uint32_t i = 0; i < f->n; i++) {
      buf_puts(b, i ? ", " : "");
      if (f->names && i < MAX_ITEMS && depth < MAX_DEPTH)
        buf_printf(b, "%s=", f->names[i]);
      if (i == MAX_ITEMS || depth == MAX_DEPTH) {
        buf_puts(b, "...");
        break;
      }
      put_frozen(cx, b, f->items[i], depth + 1);
    }
    buf_puts(b, f->n == 1 && !f->names ? ",)" : ")");
    return;
  case FZ_SLICE:
    buf_puts(b, "slice(");
    for (uint32_t i = 0; i < 3; i++) {
      buf_puts(b, i ? ", " : "");
      put_frozen(cx, b, f->items[i], depth + 1);
    }
    buf_putc(b, ')');
    return;
  case FZ_SCALAR:
    buf_printf(b, "%s(", ty_scalar_info[f->type].name);
    if (ty_scalar_info[f->type].kind == KIND_FLOAT)
      put_float(b, f->re);
    else if (ty_scalar_info[f->type].kind == KIND_UINT)
      buf_printf(b, "%llu", (unsigned long long)f->i);
    else
      buf_printf(b, "%lld", (long long)f->i);
    buf_putc(b, ')');
    return;
  case FZ_DATE:
    if (f->i == INT64_MIN)
      buf_printf(b, "%s(NaT)", f->text);
    else
      buf_printf(b, "%s(%lld)", f->text, (long long)f->i);
    return;
  case FZ_DTYPE:
    buf_printf(b, "<type %s>", f->type >= TY_SCALARS ? f->text : ty_scalar_info[f->type].name);
    return;
  case FZ_INTRINSIC: buf_puts(b, ir_intrinsics[f->i].path); return;
  case FZ_MODULE: buf_printf(b, "<module %s>", f->text); return;
  case FZ_FUNC: buf_printf(b, "<function %s>", f->func->code->qualname); return;
  case FZ_CODE: buf_printf(b, "<code %s>", f->code->qualname); return;
  case FZ_ARRAY:
    buf_printf(b, "<array %s", f->array->record ? f->array->record : ty_scalar_info[f->array->elem].name);
    for (unsigned i = 0; i < f->array->ndim; i++)
      buf_printf(b, "%c%lld", i ? 'x' : ' ', (long long)f->array->extents[i]);
    buf_putc(b, '>');
    return;
  case FZ_DEVICE_ARRAY:
    buf_printf(b, "<device array %s at 0x%llx>", f->text, (unsigned long long)f->array->address);
    return;
  case FZ_ENUM: buf_printf(b, "<class %s>", f->text); return;
  case FZ_MEMBER: buf_printf(b, "%s.%s", f->items[0]->text, f->items[0]->names[f->i]); return;
  case FZ_NAMED: buf_printf(b, "<class %s>", f->text); return;
  case FZ_DECLARED: buf_printf(b, "<declared %s %s: %s>", f->i ? "numba" : "c", f->text, f->names[0]); return;
  case FZ_EXCEPTION: buf_printf(b, "<exception %s>", f->text); return;
  case FZ_UNSET: buf_printf(b, "<undefined %s>", f->text); return;
  case FZ_OPAQUE: buf_printf(b, f->wide ? "%s" : "<object of type %s>", f->text); return;
  }
}

const char *fz_text(Cx *cx, const Frozen *f) {
  Buf b;
  buf_init(&b, &cx->arena);
  put_frozen(cx, &b, f, 0);
  return b.text;
}

bool code_is_genexpr(const Code *code) {
  return (code->flags & CODE_GENERATOR) && code->name && !strcmp(code->name, "<genexpr>");
}
