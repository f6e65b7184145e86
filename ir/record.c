/* Records: NumPy's structured dtypes as types.
 *
 * Text: "record(x: float32 @0, v: int8[3,2] @4, p: record(q: bool @0; 1) @10; 12)": name, type with
 * the extents of a nested array, byte offset; then the item size. A name that is no identifier is
 * quoted, with \xNN for everything but letters, digits and '_'. A field that kernels cannot read is
 * void[bytes]. Two dtypes are one type if names, offsets, types and size agree. */
#include <ctype.h>
#include <string.h>

#include "ir/base/chars.h"
#include "ir/cx.h"
#include "ir/type.h"

enum { MAX_BYTES = INT32_MAX };

const Type *ty_record(Cx *cx, const RecordField *fields, uint32_t n, uint32_t size) {
  RecordField *copy = CX_ARRAY(cx, RecordField, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    copy[k] = fields[k];
    copy[k].name = arena_strdup(&cx->arena, fields[k].name);
    copy[k].extents =
        arena_memdup(&cx->arena, fields[k].extents ? fields[k].extents : &(int64_t){0},
                     sizeof *fields[k].extents * (fields[k].ndim ? fields[k].ndim : 1));
  }
  return ty_intern(cx, &(Type){.id = TY_RECORD, .fields = copy, .nfields = n, .size = size});
}

uint64_t ty_field_bytes(const RecordField *f) {
  uint64_t bytes = f->type->id == TY_VOID ? 1 : ty_size(f->type);
  for (unsigned k = 0; k < f->ndim; k++)
    if (__builtin_mul_overflow(bytes, (uint64_t)f->extents[k], &bytes))
      return UINT64_MAX;
  return bytes;
}

const RecordField *ty_find_field(const Type *record, const char *name) {
  for (uint32_t k = 0; k < record->nfields; k++)
    if (!strcmp(record->fields[k].name, name))
      return &record->fields[k];
  return NULL;
}

/* --- text out --- */

static bool is_word(char c) { return char_is_alnum(c) || c == '_'; }

static void put_name(Buf *b, const char *name) {
  bool word = *name && !char_is_digit(*name);
  for (const char *c = name; *c; c++)
    word &= is_word(*c);
  buf_puts(b, word ? "" : "'");
  for (const char *c = name; *c; c++)
    if (is_word(*c))
      buf_putc(b, *c);
    else
      buf_printf(b, "\\x%02x", (unsigned char)*c);
  buf_puts(b, word ? "" : "'");
}

void ty_put_record(Cx *cx, Buf *b, const Type *t) {
  buf_puts(b, "record(");
  for (uint32_t k = 0; k < t->nfields; k++) {
    const RecordField *f = &t->fields[k];
    buf_puts(b, k ? ", " : "");
    put_name(b, f->name);
    buf_puts(b, ": ");
    ty_put_type(cx, b, f->type);
    for (unsigned j = 0; j < f->ndim; j++)
      buf_printf(b, "%c%lld", j ? ',' : '[', (long long)f->extents[j]);
    buf_printf(b, "%s @%u", f->ndim ? "]" : "", f->offset);
  }
  buf_printf(b, "; %u)", t->size);
}

/* --- text in --- */

static const char *skip(const char *s) {
  while (isspace((unsigned char)*s))
    s++;
  return s;
}

static bool parse_number(const char **text, int64_t *out) {
  const char *s = skip(*text);
  int64_t v = 0;
  if (!isdigit((unsigned char)*s))
    return false;
  for (; isdigit((unsigned char)*s); s++)
    if ((v = v * 10 + (*s - '0')) > MAX_BYTES)
      return false;
  *out = v;
  *text = skip(s);
  return true;
}

static int hex(char c) {
  const char *digits = "0123456789abcdef",
             *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
  return at ? (int)(at - digits) : -1;
}

static const char *parse_name(Cx *cx, const char **text) {
  const char *s = *text;
  Buf b;
  buf_init(&b, &cx->arena);
  bool quoted = *s == '\'';
  for (s += quoted; *s; s++)
    if (is_word(*s)) {
      buf_putc(&b, *s);
    } else if (quoted && s[0] == '\\' && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0 &&
               hex(s[2]) + hex(s[3]) > 0) {
      buf_putc(&b, (char)(hex(s[2]) * 16 + hex(s[3])));
      s += 3;
    } else {
      break;
    }
  if (quoted ? *s != '\'' : !b.len)
    return NULL;
  *text = skip(s + quoted);
  buf_puts(&b, "");
  return b.text ? b.text : "";
}

static bool parse_extents(const char **text, RecordField *f, int64_t *extents) {
  const char *s = *text + 1;
  for (;; s++) {
    if (f->ndim == TY_MAX_NDIM || !parse_number(&s, &extents[f->ndim++]))
      return false;
    if (*s != ',')
      break;
  }
  *text = skip(s + 1);
  return *s == ']';
}

static bool parse_field(Cx *cx, const char **text, RecordField *f, const char **error) {
  int64_t *extents = CX_ARRAY(cx, int64_t, TY_MAX_NDIM), offset;
  const char *s = *text;
  *f = (RecordField){.name = parse_name(cx, &s), .extents = extents};
  if (!f->name || *s != ':')
    return *error = arena_printf(&cx->arena, "expected 'name: type' at '%.20s'", *text), false;
  s = skip(s + 1);
  const char *open = s + strcspn(s, "[(@");
  const char *close = ty_is_date_text(s) && *open == '[' ? strchr(open, ']') : NULL;
  if (close && strcspn(open, "YMWDhmsgf") < (size_t)(close - open)) /* a date's unit */
    open = close + 1 + strcspn(close + 1, "[(@");
  if (*open == '(') { /* a record */
    int depth = 0;
    for (; *open; open++) {
      depth += (*open == '(') - (*open == ')');
      if (!depth)
        break;
    }
    open += *open == ')';
  }
  const char *type = arena_strndup(&cx->arena, s, (size_t)(open - s));
  bool opaque = !strcmp(type, "void");
  type += opaque ? 4 : 0;
  f->type = opaque ? ty_scalar(cx, TY_VOID) : ty_parse(cx, &type, error);
  if (!f->type)
    return false;
  if (*skip(type) || ty_is_weak(f->type) ||
      !(ty_is_value(f->type) || f->type->id == TY_RECORD || f->type->id == TY_VOID))
    return *error = arena_printf(&cx->arena, "a record cannot hold %.40s", s), false;
  s = skip(open);
  if ((*s == '[' && !parse_extents(&s, f, extents)) || *s != '@' ||
      (s++, !parse_number(&s, &offset)))
    return *error = arena_printf(&cx->arena, "expected '[extents] @offset' at '%.20s'", s), false;
  f->offset = (uint32_t)offset;
  *text = s;
  return true;
}

const Type *ty_parse_record(Cx *cx, const char **text, const char **error) {
  VEC(RecordField) fields = {0};
  const char *s = skip(*text + 1);
  int64_t size;
  while (*s != ';') {
    RecordField f;
    if (!parse_field(cx, &s, &f, error))
      return NULL;
    VEC_PUSH(&cx->arena, &fields, f);
    if (fields.len > TY_MAX_TUPLE)
      return *error = "the record has too many fields", NULL;
    if (*s == ',')
      s = skip(s + 1);
    else if (*s != ';')
      return *error = arena_printf(&cx->arena, "expected ',' or ';' at '%.20s'", s), NULL;
  }
  s++;
  if (!parse_number(&s, &size) || !size || *s != ')')
    return *error = arena_printf(&cx->arena, "expected the size of a record at '%.20s'", s), NULL;
  for (uint32_t k = 0; k < fields.len; k++) {
    uint64_t bytes = ty_field_bytes(&fields.data[k]);
    if (bytes > (uint64_t)size || fields.data[k].offset + bytes > (uint64_t)size)
      return *error = arena_printf(&cx->arena, "the field '%.40s' does not fit the record",
                                   fields.data[k].name),
             NULL;
    for (uint32_t j = 0; j < k; j++)
      if (!strcmp(fields.data[j].name, fields.data[k].name))
        return *error = arena_printf(&cx->arena, "two fields are called '%.40s'",
                                     fields.data[k].name),
               NULL;
  }
  *text = s + 1;
  return ty_record(cx, fields.data, fields.len, (uint32_t)size);
}
