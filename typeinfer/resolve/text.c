/* Text: what print, f-strings and messages are made of: literal pieces and values with their format
 * specs.
 *
 * The result is a format: literal text with braces doubled, and for each value {} (as str() has
 * it), {%…} (a printf conversion, or %r: the shortest text that reads back, as repr(float) has it,
 * or %p: a percentage of a number times 100) or, in messages, {0}, {0:f}, {0:d=SPEC} …
 * (pyext/raise.c). What printf has no conversion for (groups, other bases, fills, centring) is
 * written by pyptx/_library.py's format_int into memory of the thread. */
#include <string.h>

#include "typeinfer/engine/door.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/dates.h"
#include "typeinfer/value/value.h"

static const char fstring_mark[] = "f-string";

/* An f-string that is not known as a whole: its parts are the operands of the instruction that made
 * it. */
bool ty_is_fstring(Val v) {
  return v.type->id == TY_OBJECT && v.type->frozen->kind == FZ_OPAQUE &&
         v.type->frozen->text == fstring_mark;
}

static Val fstring(Ty *ty, Ins *i) {
  static const Frozen mark = {.kind = FZ_OPAQUE, .text = fstring_mark};
  return (Val){.type = ty_frozen(ty->cx, TY_OBJECT, &mark, NULL, 0), .src = i};
}

Val ty_text_arg(Ty *ty, Ins *i, uint32_t k) {
  return ty_tested(ty, ty_arg_or_none(ty, i, k), "a text");
}

/* What a spec is when the kernel is compiled: strings and integers, joined. */
static bool constant_text(Ty *ty, Val v, Buf *out, int depth) {
  int64_t n;
  if (ty_is_bottom(v) || depth > 4)
    return false;
  if (v.konst && v.konst->kind == FZ_STR)
    buf_add(out, v.konst->text, v.konst->n);
  else if (ty_is_number(v.type) && ty_is_integral(v.type) && fz_get_int(v.konst, &n))
    buf_printf(out, "%lld", (long long)n);
  else if (ty_is_fstring(v) && v.src && (v.src->op == OP_MAKE_STR || v.src->op == OP_FORMAT))
    for (uint32_t k = 0; k < v.src->nargs; k++) {
      bool nested = v.src->op == OP_FORMAT && k > 0; /* {x:{y:z}} */
      if (nested || !constant_text(ty, ty_text_arg(ty, v.src, k), out, depth + 1))
        return false;
    }
  else
    return false;
  return true;
}

Val ty_format(Ty *ty, Ins *i) {
  Val v = ty_text_arg(ty, i, 0);
  if (ty_is_bottom(v))
    return BOTTOM;
  bool text = v.konst && v.konst->kind == FZ_STR && i->nargs == 1 && i->aux.i != 'r' &&
              i->aux.i != 'a';
  return text ? v : fstring(ty, i);
}

Val ty_make_str(Ty *ty, Ins *i) {
  Buf all;
  buf_init(&all, &ty->cx->arena);
  bool known = true;
  for (uint32_t k = 0; k < i->nargs; k++) {
    Val v = ty_text_arg(ty, i, k);
    if (ty_is_bottom(v))
      return BOTTOM;
    known &= v.konst && v.konst->kind == FZ_STR;
    if (known)
      buf_add(&all, v.konst->text, v.konst->n);
    if (all.len > TY_MAX_TEXT)
      return TY_FAIL(ty, ERR_TOO_LARGE, "the text", "it has more than 4096 characters");
  }
  if (known)
    return ty_const(ty, fz_strn(ty->cx, all.text, (uint32_t)all.len));
  return fstring(ty, i);
}

static void add_literal(TyText *t, const char *s, size_t n) {
  for (size_t k = 0; k < n; k++) {
    buf_putc(&t->format, s[k]);
    if (s[k] == '{' || s[k] == '}')
      buf_putc(&t->format, s[k]);
  }
}

static bool too_long(Ty *ty, const char *what) {
  (void)TY_FAIL(ty, ERR_TOO_LARGE, "the text", what);
  return false;
}

static bool room(Ty *ty, const TyText *t) {
  return t->n < sizeof t->values / sizeof *t->values || too_long(ty, "it has more than 64 values");
}

/* A message has room for few values; "..." stands for the others. */
static bool is_full(TyText *t, uint32_t more) {
  enum { MESSAGE_VALUES = 4 }; /* what a trap carries */
  bool full = t->numbered && t->n + more > MESSAGE_VALUES;
  if (full)
    buf_puts(&t->format, "...");
  return full;
}

static bool add_number(Ty *ty, TyText *t, Val v) {
  bool parts = t->numbered && ty_is_complex(v.type);
  if (is_full(t, 1 + parts))
    return true;
  if (!room(ty, t))
    return false;
  if (parts) {
    buf_printf(&t->format, "{%u:z}", t->n);
    t->values[t->n++] = ty_part(ty, v, 0);
    v = ty_part(ty, v, 1);
  } else if (t->numbered)
    buf_printf(&t->format, ty_is_float(v.type) ? "{%u:f}" : "{%u}", t->n);
  else
    buf_puts(&t->format, "{}");
  t->values[t->n++] = v;
  return true;
}

/* repr(): NumPy's numbers say their type, where Python's are no such numbers. */
static bool add_repr(Ty *ty, TyText *t, Val v) {
  bool named = !ty_is_weak(v.type) && !t->numbered && !ty_is_ml_dtype(v.type->id) &&
               ty_policy(ty->cx)->weak;
  bool boolean = v.type->id == TY_BOOL;
  /* one pair of parentheses, which the conversion's - asks for */
  if (named && ty_is_complex(v.type)) {
    if (!room(ty, t))
      return false;
    buf_printf(&t->format, "np.%s{%%-z}", ty_name(ty->cx, v.type));
    t->values[t->n++] = v;
    return true;
  }
  if (named)
    buf_printf(&t->format, boolean ? "np." : "np.%s(", ty_name(ty->cx, v.type));
  if (!add_number(ty, t, v))
    return false;
  if (named)
    buf_puts(&t->format, boolean ? "_" : ")");
  return true;
}

/* --- strings --- */

/* The character at s, which is valid UTF-8, and its bytes. */
static uint32_t character(const char *s, uint32_t *bytes) {
  unsigned char c = (unsigned char)*s;
  *bytes = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  uint32_t code = *bytes == 1 ? c : c & (0x7Fu >> *bytes);
  for (uint32_t k = 1; k < *bytes; k++)
    code = code << 6 | ((unsigned char)s[k] & 0x3F);
  return code;
}

/* As Python has it, but that of what cannot be shown only control characters are escaped. */
static void put_character(Buf *b, const char *s, uint32_t bytes, uint32_t code, char quote,
                          bool ascii) {
  static const char plain[] = "\n\r\t", names[] = "nrt";
  const char *named = code && code < 128 ? strchr(plain, (char)code) : NULL;
  bool control = code < 32 || (code >= 127 && code <= 160) || code == 0xAD;
  if (named)
    buf_printf(b, "\\%c", names[named - plain]);
  else if (code == '\\' || code == (unsigned char)quote)
    buf_printf(b, "\\%c", (char)code);
  else if (!control && (code < 128 || !ascii))
    buf_add(b, s, bytes);
  else
    buf_printf(b, code < 256 ? "\\x%02x" : code < 65536 ? "\\u%04x" : "\\U%08x", code);
}

/* NULL: an error. Texts end with a NUL where they are printed, so there can be none inside. */
static const char *string_text(Ty *ty, const Frozen *f, TyQuoting quoting) {
  if (quoting == TY_STR_OF && strlen(f->text) < f->n)
    (void)TY_FAIL(ty, ERR_OBJECT_VALUE, "a text with a NUL character");
  if (quoting == TY_STR_OF)
    return strlen(f->text) < f->n ? NULL : f->text;
  Buf b;
  buf_init(&b, &ty->cx->arena);
  char quote = memchr(f->text, '\'', f->n) && !memchr(f->text, '"', f->n) ? '"' : '\'';
  buf_putc(&b, quote);
  for (uint32_t at = 0, bytes; at < f->n; at += bytes) {
    uint32_t code = character(f->text + at, &bytes);
    put_character(&b, f->text + at, bytes, code, quote, quoting == TY_ASCII_OF);
  }
  buf_putc(&b, quote);
  return b.text;
}

/* --- format specs: [[fill]align][sign][#][0][width][,_][.precision][type] --- */

typedef struct Spec {
  const char *text, *fill; /* fill: one character, of one to four bytes; NULL for a space */
  uint32_t nfill;
  char align, sign, group, type; /* 0: not given */
  bool alternate, zero;
  int width, precision; /* -1: none */
  Loc loc;
} Spec;

static uint32_t char_bytes(const char *s) {
  unsigned char c = (unsigned char)*s;
  uint32_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  for (uint32_t k = 1; k < n; k++)
    if (!s[k])
      return k;
  return c ? n : 0;
}

static bool is_align(char c) { return c && strchr("<>^=", c); }

static bool read_number(const char **s, int *out) {
  int n = 0;
  for (; **s >= '0' && **s <= '9'; ++*s)
    if ((n = n * 10 + (**s - '0')) > TY_MAX_TEXT)
      return false;
  *out = n;
  return true;
}

static bool read_spec(const char *s, Spec *out) {
  *out = (Spec){.text = s, .precision = -1};
  uint32_t n = char_bytes(s);
  if (n && is_align(s[n])) {
    out->fill = s;
    out->nfill = n;
    s += n;
  }
  if (is_align(*s))
    out->align = *s++;
  if (*s && strchr("+- ", *s))
    out->sign = *s++;
  if (*s == '#') {
    out->alternate = true;
    s++;
  }
  if (*s == '0') {
    out->zero = true;
    s++;
  }
  if (!read_number(&s, &out->width))
    return false;
  if (*s == ',' || *s == '_')
    out->group = *s++;
  if (*s == '.') {
    s++;
    if (*s < '0' || *s > '9' || !read_number(&s, &out->precision))
      return false;
  }
  if (*s)
    out->type = *s++;
  return !*s;
}

static bool bad_spec(Ty *ty, const Spec *spec, Val v) {
  (void)TY_FAIL_AT(ty, spec->loc, ERR_FORMAT, spec->text, TY_PRETTY(ty, v));
  return false;
}

/* A text that is known, cut and padded; width and precision count characters. */
static bool add_padded(Ty *ty, TyText *t, const Spec *spec, Val v, const char *text) {
  if ((spec->type && spec->type != 's') || spec->align == '=' || spec->sign || spec->alternate ||
      spec->group)
    return bad_spec(ty, spec, v);
  size_t n = 0;
  int chars = 0;
  while (text[n] && (spec->precision < 0 || chars < spec->precision)) {
    n += char_bytes(text + n);
    chars++;
  }
  int pad = spec->width > chars ? spec->width - chars : 0;
  int left = spec->align == '>' ? pad : spec->align == '^' ? pad / 2 : 0;
  for (int k = 0; k < pad + 1; k++) {
    if (k == left)
      add_literal(t, text, n);
    if (k < pad)
      add_literal(t,
                  spec->fill   ? spec->fill
                  : spec->zero ? "0"
                               : " ",
                  spec->fill ? spec->nfill : 1);
  }
  return true;
}

/* The conversion of C that does the same. */
static void put_conversion(TyText *t, const Spec *spec, const char *conversion) {
  buf_printf(&t->format, "{%%%s%s%s", spec->align == '<' ? "-" : "",
             spec->sign == '+'   ? "+"
             : spec->sign == ' ' ? " "
                                 : "",
             spec->zero && (!spec->align || spec->align == '=') ? "0" : "");
  if (spec->width > 0)
    buf_printf(&t->format, "%d", spec->width);
  if (spec->precision >= 0)
    buf_printf(&t->format, ".%d", spec->precision);
  buf_printf(&t->format, "%s}", conversion);
}

static bool has_c_padding(const Spec *spec) {
  bool fill = spec->fill && (spec->nfill != 1 || *spec->fill != ' ');
  bool zeros = spec->zero && spec->align && spec->align != '='; /* a fill by another name */
  return !fill && !zeros && spec->align != '^' && !(spec->align == '=' && !spec->zero) &&
         !spec->group && !spec->alternate;
}

static bool add_float(Ty *ty, TyText *t, const Spec *spec, Val v) {
  bool known = !spec->type || strchr("fFeEgG%", spec->type);
  if (!known || !has_c_padding(spec) || spec->precision > 300)
    return bad_spec(ty, spec, v);
  if (!room(ty, t))
    return false;
  bool percent = spec->type == '%';
  char conversion[] = {percent ? 'p' : spec->type ? spec->type : 'r', 0};
  put_conversion(t, spec, conversion);
  v = ty_cast_id(ty, v, TY_F64); /* as NumPy does for all but the empty spec */
  if (percent)
    v = ty_op2(ty, OP_MUL, v.type, v, ty_scalar_const(ty, TY_F64, 100));
  t->values[t->n++] = v;
  return !ty_is_bottom(v);
}

/* By format_int(out, magnitude, negative, base, letters, sign, prefix, group, every, fill, align,
 * width) of pyptx/_library.py. */
static bool add_by_library(Ty *ty, TyText *t, const Spec *spec, Val v) {
  if (!t->library || !room(ty, t) || spec->nfill > 1)
    return bad_spec(ty, spec, v);
  char type = spec->type ? spec->type : 'd';
  int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'd' ? 10 : 16;
  bool zeros = spec->zero && !spec->align;
  char fill = spec->fill ? *spec->fill : spec->zero ? '0' : ' ';
  char align = zeros ? '=' : spec->align ? spec->align : '>';
  IrAlloc *a = CX_NEW(ty->cx, IrAlloc);
  a->extents[0] = spec->width + 160;
  a->name = "text";
  Val out = ty_op(ty, OP_ALLOC,
                  ty_array(ty->cx, ty_id(ty, TY_U8), 1, LAYOUT_C, SPACE_LOCAL, false, false), NULL,
                  0);
  if (out.ins)
    out.ins->aux.alloc = a;
  Val zero = ty_scalar_const(ty, v.type->id, 0);
  bool is_signed = ty_is_signed(v.type);
  Val args[] = {
      out,
      ty_magnitude(ty, v),
      is_signed ? ty_op2(ty, OP_LT, ty_id(ty, TY_PYBOOL), v, zero) : ty_const_bool(ty, false),
      ty_const_int(ty, base),
      ty_const_int(ty, type == 'X' ? 'A' - 10 : 'a' - 10),
      ty_const_int(ty, spec->sign == '+' || spec->sign == ' ' ? spec->sign : 0),
      ty_const_int(ty, spec->alternate && base != 10 ? type : 0),
      ty_const_int(ty, spec->group),
      ty_const_int(ty, base == 10 ? 3 : 4),
      ty_const_int(ty, fill),
      ty_const_int(ty, align),
      ty_const_int(ty, spec->width),
  };
  if (ty_is_bottom(ty_call_spec(ty, t->library, args, sizeof args / sizeof *args)))
    return false;
  buf_puts(&t->format, "{}");
  t->values[t->n++] = out;
  return true;
}

static bool add_int(Ty *ty, TyText *t, const Spec *spec, Val v) {
  if (spec->type && strchr("fFeEgG%", spec->type))
    return add_float(ty, t, spec, ty_cast_id(ty, v, TY_F64));
  bool decimal = !spec->type || spec->type == 'd';
  bool known = (decimal || strchr("boxX", spec->type)) && spec->precision < 0 &&
               !(spec->group == ',' && !decimal);
  if (!known)
    return bad_spec(ty, spec, v);
  bool is_unsigned = ty_kind(v.type) == KIND_UINT && ty_bits(v.type) == 64;
  bool signs = spec->sign == '+' || spec->sign == ' '; /* C has none before unsigned numbers */
  if (!decimal || !has_c_padding(spec) || (is_unsigned && signs))
    return add_by_library(ty, t, spec, v);
  if (!room(ty, t))
    return false;
  put_conversion(t, spec, is_unsigned ? "llu" : "lld");
  t->values[t->n++] = ty_cast_id(ty, v, is_unsigned ? TY_U64 : TY_I64);
  return !ty_is_bottom(t->values[t->n - 1]);
}

/* In a message Python does it when the exception is raised. */
static bool add_to_message(Ty *ty, TyText *t, const Spec *spec, Val v) {
  if (ty_is_complex(v.type) || strpbrk(spec->text, "{}"))
    return bad_spec(ty, spec, v);
  if (is_full(t, 1))
    return true;
  bool real = ty_is_float(v.type), big = ty_kind(v.type) == KIND_UINT;
  buf_printf(&t->format, "{%u:%c=%s}", t->n, real ? 'F' : big ? 'U' : 'D', spec->text);
  t->values[t->n++] = ty_cast_id(ty, v, real ? TY_F64 : big ? TY_U64 : TY_I64);
  return true;
}

static bool add_formatted(Ty *ty, TyText *t, Ins *format, int depth) {
  Val v = ty_text_arg(ty, format, 0);
  char conversion = (char)format->aux.i;
  Buf text;
  buf_init(&text, &ty->cx->arena);
  if (ty_is_bottom(v))
    return false;
  if (format->nargs > 1) {
    Val given = ty_arg(ty, format, 1);
    if (ty_is_bottom(given))
      return false;
    if (!constant_text(ty, given, &text, 0)) {
      (void)ty_not_constant(ty, "a format specification", NULL);
      return false;
    }
  }
  Spec spec;
  bool ok = read_spec(text.text ? text.text : "", &spec);
  spec.loc = format->loc.line ? format->loc : ty->at->loc;
  if (!ok)
    return bad_spec(ty, &spec, v);
  /* NumPy formats these as Python's numbers, with their digits */
  if (!text.len && !conversion && !t->numbered) {
    TypeId id = v.type->id;
    v = id == TY_F32 || id == TY_F16 ? ty_cast_id(ty, v, TY_F64)
        : id == TY_C64               ? ty_cast_id(ty, v, TY_C128)
                                     : v;
  }
  TyQuoting quoting = conversion == 'r' ? TY_REPR_OF : conversion == 'a' ? TY_ASCII_OF : TY_STR_OF;
  if (!text.len)
    return ty_text_add(ty, t, v, quoting, depth + 1);
  bool is_text = v.konst && v.konst->kind == FZ_STR;
  if (is_text || (v.konst && ty_kind(v.type) == KIND_BOOL && conversion) ||
      (v.type->id == TY_NONE && conversion)) {
    const char *plain = is_text ? string_text(ty, v.konst, quoting) : fz_text(ty->cx, v.konst);
    return plain && add_padded(ty, t, &spec, v, plain);
  }
  if (!ty_is_number(v.type) || ty_is_complex(v.type) || conversion)
    return bad_spec(ty, &spec, v);
  if (t->numbered)
    return add_to_message(ty, t, &spec, v);
  if (ty_is_float(v.type))
    return add_float(ty, t, &spec, v);
  return add_int(ty, t, &spec, ty_kind(v.type) == KIND_BOOL ? ty_cast_id(ty, v, TY_PYINT) : v);
}

/* --- any value --- */

static bool add_tuple(Ty *ty, TyText *t, Val v, TyQuoting quoting, int depth) {
  const char *const *names = v.type->title ? v.type->names : NULL;
  bool list = v.type->list;
  buf_printf(&t->format, "%s%s", names ? v.type->title : "", list ? "[" : "(");
  for (uint32_t k = 0; k < v.type->n; k++) {
    buf_puts(&t->format, k ? ", " : "");
    if (names)
      buf_printf(&t->format, "%s=", names[k]);
    if (!ty_text_add(ty, t, ty_item(ty, v, k), quoting == TY_ASCII_OF ? quoting : TY_REPR_OF,
                     depth + 1))
      return false;
  }
  buf_puts(&t->format, list ? "]" : v.type->n == 1 && !names ? ",)" : ")");
  return true;
}

/* The count, and what it counts: 5[s], -3[25s]; NaT where it is known. */
static bool add_date(Ty *ty, TyText *t, Val v) {
  if (v.konst && v.konst->i == INT64_MIN) {
    add_literal(t, "NaT", 3);
    return true;
  }
  if (!add_number(ty, t, ty_date_raw(ty, v)))
    return false;
  buf_putc(&t->format, '[');
  ty_put_unit(&t->format, v.type);
  buf_putc(&t->format, ']');
  return true;
}

static bool add_fstring(Ty *ty, TyText *t, Ins *parts, int depth) {
  for (uint32_t k = 0; k < parts->nargs; k++)
    if (!ty_text_add(ty, t, ty_text_arg(ty, parts, k), TY_STR_OF, depth + 1))
      return false;
  return true;
}

bool ty_is_position(Val v) {
  const Frozen *f = v.type->frozen;
  return v.type->id == TY_FUNC && f->kind == FZ_INTRINSIC && f->i >= INTR_CUDA_THREADIDX &&
         f->i <= INTR_CUDA_GRIDDIM;
}

/* They show as (x, y, z). */
static Val position_tuple(Ty *ty, Val v) {
  Val parts[3];
  for (int k = 0; k < 3; k++) {
    int64_t id = INTR_TID_X + 3 * (v.type->frozen->i - INTR_CUDA_THREADIDX) + k;
    parts[k] = ty_call_intrinsic(ty, (IntrinsicId)id, NULL, 0, NULL);
  }
  return ty_make_tuple(ty, parts, 3);
}

/* Of numbers: a dtype as NumPy shows it, int64 or dtype('int64'), a class as Python does. */
static const char *dtype_text(Ty *ty, const Frozen *f, TyQuoting quoting) {
  const char *name = ty_scalar_info[f->type].name;
  bool foreign = f->type == TY_BF16 || ty_is_float8(f->type);
  if (f->i == DTYPE_INSTANCE)
    return !quoting ? name
                    : arena_printf(&ty->cx->arena, foreign ? "dtype(%s)" : "dtype('%s')", name);
  if (f->i != DTYPE_CLASS)
    return name;
  bool weak = ty_scalar_info[f->type].weak;
  return arena_printf(&ty->cx->arena, "<class '%s%s'>",
                      weak      ? ""
                      : foreign ? "ml_dtypes."
                                : "numpy.",
                      name + (weak ? strlen("py") : 0));
}

bool ty_text_add(Ty *ty, TyText *t, Val v, TyQuoting quoting, int depth) {
  if (!ty_is_bottom(v) && ty_is_position(v))
    v = position_tuple(ty, v);
  if (ty_is_bottom(v))
    return false;
  if (depth > TY_MAX_DEPTH || t->format.len > TY_MAX_TEXT)
    return too_long(ty, depth > TY_MAX_DEPTH ? "it is nested too deep"
                                             : "it has more than 4096 characters");
  if (ty_is_number(v.type))
    return quoting ? add_repr(ty, t, v) : add_number(ty, t, v);
  if (ty_is_date(v.type))
    return add_date(ty, t, v);
  if (ty_is_fstring(v) && v.src && v.src->op == OP_MAKE_STR)
    return add_fstring(ty, t, v.src, depth);
  if (ty_is_fstring(v) && v.src && v.src->op == OP_FORMAT)
    return add_formatted(ty, t, v.src, depth);
  if (ty_is_fstring(v)) { /* which one it is depends on the path */
    (void)TY_FAIL(ty, ERR_STRING_BUILD);
    return false;
  }
  if (v.type->id == TY_TUPLE)
    return add_tuple(ty, t, v, quoting, depth);
  if (v.type->id == TY_ARRAY || v.type->id == TY_RANGE || v.type->id == TY_SLICE ||
      ty_is_iterator(v.type) || v.type->n) {
    (void)TY_FAIL(ty, ERR_OBJECT_VALUE, TY_PRETTY(ty, v));
    return false;
  }
  if (v.type->id == TY_ENUM && (!v.konst || quoting)) {
    (void)TY_FAIL(ty, ERR_OBJECT_VALUE, TY_PRETTY(ty, v));
    return false;
  }
  if (v.type->id == TY_ENUM) {
    const char *shown = fz_text(ty->cx, v.konst);
    add_literal(t, shown, strlen(shown));
    return true;
  }
  bool is_text = v.konst && v.konst->kind == FZ_STR;
  bool is_dtype = v.type->id == TY_DTYPE && v.type->frozen->type < TY_SCALARS;
  const char *text = v.type->id == TY_NONE ? "None"
                     : is_text             ? string_text(ty, v.konst, quoting)
                     : is_dtype            ? dtype_text(ty, v.type->frozen, quoting)
                                           : ty_name(ty->cx, v.type);
  if (text)
    add_literal(t, text, strlen(text));
  return text != NULL;
}
