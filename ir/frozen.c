/* Frozen: look-ups and text. */
#include "ir/frozen.h"

#include <string.h>

#include "ir/base/number.h"
#include "ir/cx.h"

const Binding *fz_find(const Binding *b, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (b[i].name == name || !strcmp(b[i].name, name))
      return &b[i];
  return NULL;
}

const char fz_keywords_mark[] = "keyword defaults";
const char fz_no_digits[] = "of thousands of digits";

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
  char text[NUMBER_TEXT];
  number_write(text, v);
  buf_puts(b, text);
  if (!strpbrk(text, ".eni"))
    buf_puts(b, ".0");
}

static void put_integer(Buf *b, int64_t v, bool is_unsigned) {
  if (is_unsigned)
    buf_printf(b, "%llu", (unsigned long long)v);
  else
    buf_printf(b, "%lld", (long long)v);
}

/* Digits, of a long row the first ones and how many there are. */
static void put_wide(Buf *b, const char *digits) {
  enum { MAX_DIGITS = 60, SHOWN = 20 };
  size_t n = strlen(digits) - (*digits == '-');
  if (n <= MAX_DIGITS)
    buf_puts(b, digits);
  else
    buf_printf(b, "%.*s... (%zu digits)", SHOWN, digits, n);
}

static void put_complex(Buf *b, const Frozen *f) {
  buf_putc(b, '(');
  put_float(b, f->re);
  buf_puts(b, f->im < 0 ? "" : "+");
  put_float(b, f->im);
  buf_puts(b, "j)");
}

static void put_frozen(Buf *b, const Frozen *f, int depth);

enum { MAX_ITEMS = 8, MAX_DEPTH = 4 };

static void put_tuple(Buf *b, const Frozen *f, int depth) {
  buf_puts(b, f->names ? f->text : "");
  buf_putc(b, '(');
  for (uint32_t i = 0; i < f->n; i++) {
    buf_puts(b, i ? ", " : "");
    if (i == MAX_ITEMS || depth >= MAX_DEPTH) {
      buf_puts(b, "...");
      break;
    }
    if (f->names)
      buf_printf(b, "%s=", f->names[i]);
    put_frozen(b, f->items[i], depth + 1);
  }
  buf_puts(b, f->n == 1 && !f->names ? ",)" : ")");
}

static void put_slice(Buf *b, const Frozen *f, int depth) {
  buf_puts(b, "slice(");
  for (uint32_t i = 0; i < 3 && depth < MAX_DEPTH; i++) {
    buf_puts(b, i ? ", " : "");
    put_frozen(b, f->items[i], depth + 1);
  }
  buf_puts(b, depth < MAX_DEPTH ? "" : "...");
  buf_putc(b, ')');
}

static void put_scalar(Buf *b, const Frozen *f) {
  const ScalarInfo *info = &ty_scalar_info[f->type];
  buf_printf(b, "%s(", info->name);
  if (info->kind == KIND_COMPLEX)
    put_complex(b, f);
  else if (info->kind == KIND_FLOAT)
    put_float(b, f->re);
  else
    put_integer(b, f->i, info->kind == KIND_UINT);
  buf_putc(b, ')');
}

static void put_array(Buf *b, const FrozenArray *a) {
  buf_printf(b, "<array %s", a->record ? a->record : ty_scalar_info[a->elem].name);
  for (unsigned i = 0; i < a->ndim; i++)
    buf_printf(b, "%c%lld", i ? 'x' : ' ', (long long)a->extents[i]);
  buf_putc(b, '>');
}

static void put_frozen(Buf *b, const Frozen *f, int depth) {
  switch (f->kind) {
  case FZ_NONE: buf_puts(b, "None"); return;
  case FZ_ELLIPSIS: buf_puts(b, "..."); return;
  case FZ_BOOL: buf_puts(b, f->i ? "True" : "False"); return;
  case FZ_INT:
    if (f->wide && f->text)
      put_wide(b, f->text);
    else
      put_integer(b, f->i, f->wide);
    return;
  case FZ_FLOAT: put_float(b, f->re); return;
  case FZ_COMPLEX: put_complex(b, f); return;
  case FZ_STR: put_string(b, f->text, f->n); return;
  case FZ_BYTES:
    buf_putc(b, 'b');
    put_string(b, f->text, f->n);
    return;
  case FZ_TUPLE: put_tuple(b, f, depth); return;
  case FZ_SLICE: put_slice(b, f, depth); return;
  case FZ_SCALAR: put_scalar(b, f); return;
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
  case FZ_ARRAY: put_array(b, f->array); return;
  case FZ_DEVICE_ARRAY:
    buf_printf(b, "<device array %s at 0x%llx>", f->text, (unsigned long long)f->array->address);
    return;
  case FZ_ENUM: buf_printf(b, "<class %s>", f->text); return;
  case FZ_MEMBER: buf_printf(b, "%s.%s", f->items[0]->text, f->items[0]->names[f->i]); return;
  case FZ_NAMED: buf_printf(b, "<class %s>", f->text); return;
  case FZ_DECLARED:
    buf_printf(b, "<declared %s %s: %s>", f->i ? "numba" : "c", f->text, f->names[0]);
    return;
  case FZ_EXCEPTION: buf_printf(b, "<exception %s>", f->text); return;
  case FZ_UNSET: buf_printf(b, "<undefined %s>", f->text); return;
  case FZ_OPAQUE: buf_printf(b, f->wide ? "%s" : "<object of type %s>", f->text); return;
  }
}

const char *fz_text(Cx *cx, const Frozen *f) {
  Buf b;
  buf_init(&b, &cx->arena);
  put_frozen(&b, f, 0);
  return b.text;
}

bool code_is_genexpr(const Code *code) {
  return (code->flags & CODE_GENERATOR) && code->name && !strcmp(code->name, "<genexpr>");
}
