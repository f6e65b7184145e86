/* Frozen: look-ups, comparison, numbers and truth values, text. */
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

/* --- comparing and reading --- */

bool fz_same(const Frozen *a, const Frozen *b) {
  if (a == b)
    return true;
  if (!a || !b || a->kind != b->kind || a->type != b->type)
    return false;
  switch (a->kind) {
  case FZ_NONE:
  case FZ_ELLIPSIS: return true;
  case FZ_BOOL:
  case FZ_INTRINSIC: return a->i == b->i;
  case FZ_INT:
    return a->i == b->i && a->wide == b->wide &&
           (!a->text || !b->text ? a->text == b->text : !strcmp(a->text, b->text));
  case FZ_FLOAT:
  case FZ_COMPLEX:
    return !memcmp(&a->re, &b->re, sizeof a->re) && !memcmp(&a->im, &b->im, sizeof a->im);
  case FZ_SCALAR:
    return a->i == b->i && !memcmp(&a->re, &b->re, sizeof a->re) &&
           !memcmp(&a->im, &b->im, sizeof a->im);
  case FZ_STR:
  case FZ_BYTES: return a->n == b->n && !memcmp(a->text, b->text, a->n);
  case FZ_DATE: return a->i == b->i && !strcmp(a->text, b->text);
  case FZ_DTYPE: return a->i == b->i && (a->type < TY_SCALARS || !strcmp(a->text, b->text));
  case FZ_TUPLE:
    if (a->n != b->n || a->names != b->names) /* the names are the class's: one list */
      return false;
    for (uint32_t k = 0; k < a->n; k++)
      if (!fz_same(a->items[k], b->items[k]))
        return false;
    return true;
  case FZ_SLICE:
    for (int k = 0; k < 3; k++)
      if (!fz_same(a->items[k], b->items[k]))
        return false;
    return true;
  /* of one code there may be more, with other defaults and globals */
  case FZ_FUNC: return a->func == b->func;
  case FZ_CODE: return a->code == b->code;
  case FZ_ARRAY:
  case FZ_DEVICE_ARRAY: return a->array == b->array;
  case FZ_EXCEPTION: return !strcmp(a->text, b->text);
  case FZ_DECLARED:
    return a->i == b->i && !strcmp(a->text, b->text) && !strcmp(a->names[0], b->names[0]);
  case FZ_NAMED: return a->names == b->names;
  case FZ_MEMBER: return a->i == b->i && a->items[0] == b->items[0];
  case FZ_MODULE:
    return !strcmp(a->text, b->text) && a->nattrs == b->nattrs && a->attrs == b->attrs;
  default: return false;
  }
}

bool fz_is_ours(const FrozenFunc *f) {
  return f && f->module && strncmp(f->module, "pyptx.", 6) == 0;
}

bool fz_get_int(const Frozen *f, int64_t *out) {
  if (!f)
    return false;
  bool is_int = (f->kind == FZ_INT && !f->wide) || f->kind == FZ_BOOL ||
                (f->kind == FZ_SCALAR && ty_scalar_info[f->type].kind >= KIND_BOOL &&
                 ty_scalar_info[f->type].kind <= KIND_UINT && !(f->type == TY_U64 && f->i < 0));
  if (is_int)
    *out = f->i;
  return is_int;
}

bool fz_truth(const Frozen *f, bool *out) {
  if (!f)
    return false;
  switch (f->kind) {
  case FZ_NONE: *out = false; return true;
  case FZ_BOOL: *out = f->i != 0; return true;
  case FZ_INT: *out = f->wide || f->i; return true;
  case FZ_DATE: *out = f->i != 0; return true;
  case FZ_FLOAT: *out = f->re != 0; return true;
  case FZ_SCALAR:
    *out = ty_scalar_info[f->type].kind == KIND_COMPLEX ? f->re != 0 || f->im != 0
           : ty_scalar_info[f->type].kind == KIND_FLOAT ? f->re != 0
                                                        : f->i != 0;
    return true;
  case FZ_COMPLEX: *out = f->re != 0 || f->im != 0; return true;
  case FZ_STR:
  case FZ_BYTES:
  case FZ_TUPLE: *out = f->n != 0; return true;
  case FZ_FUNC:
  case FZ_INTRINSIC:
  case FZ_MODULE:
  case FZ_DTYPE:
  case FZ_NAMED:
  case FZ_ENUM:
  case FZ_MEMBER:
  case FZ_DECLARED:
  case FZ_EXCEPTION:
  case FZ_ELLIPSIS: *out = true; return true;
  default: return false;
  }
}

/* --- text --- */

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
