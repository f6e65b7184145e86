/* Types: interning, names, parsing. */
#include "ir/type.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/half.h"
#include "ir/base/suggest.h"
#include "ir/cx.h"
#include "ir/frozen.h"
#include "ir/intrinsics.h"

const ScalarInfo ty_scalar_info[TY_SCALARS] = {
#define T(ID, name, kind, bits, weak, npy, others)                                                 \
  [TY_##ID] = {name, npy, others, KIND_##kind, bits, weak},
#include "ir/types.def"
#undef T
};

const HalfFormat *ty_half_format(TypeId id) {
  switch (id) {
  case TY_E4M3: return &half_e4m3;
  case TY_E5M2: return &half_e5m2;
  case TY_E8M0: return &half_e8m0;
  case TY_F16: return &half_float16;
  case TY_BF16: return &half_bfloat16;
  default: return NULL;
  }
}

static uint64_t type_hash(const Type *t) {
  uint64_t h = hash_bytes(&t->id, sizeof t->id, 1);
  h = hash_bytes(&t->elem, sizeof t->elem, h);
  uint8_t small[] = {t->ndim,  t->layout, t->space, t->wide,   t->readonly,
                     t->align, t->list,   t->flat,  t->pointer};
  h = hash_bytes(small, sizeof small, h);
  h = hash_bytes(&t->unit, sizeof t->unit, h);
  h = hash_bytes(&t->multiple, sizeof t->multiple, h);
  if (t->n)
    h = hash_bytes(t->elems, sizeof *t->elems * t->n, h);
  for (uint32_t k = 0; k < t->nfields; k++) {
    h = hash_bytes(&t->fields[k].type, sizeof t->fields[k].type, h);
    h = hash_bytes(&t->fields[k].offset, sizeof t->fields[k].offset, h);
  }
  return hash_bytes(&t->frozen, sizeof t->frozen, h);
}

static bool same_fields(const Type *a, const Type *b) {
  if (a->nfields != b->nfields || a->size != b->size)
    return false;
  for (uint32_t k = 0; k < a->nfields; k++) {
    const RecordField *x = &a->fields[k], *y = &b->fields[k];
    if (x->type != y->type || x->offset != y->offset || x->ndim != y->ndim ||
        strcmp(x->name, y->name) ||
        (x->ndim && memcmp(x->extents, y->extents, sizeof *x->extents * x->ndim)))
      return false;
  }
  return true;
}

bool ty_same_names(const Type *a, const Type *b) {
  if (a->list != b->list)
    return false;
  if (!a->names || !b->names)
    return a->names == b->names;
  for (uint32_t i = 0; i < a->n; i++)
    if (strcmp(a->names[i], b->names[i]))
      return false;
  return a->title && b->title ? !strcmp(a->title, b->title) : a->title == b->title;
}

static bool type_equal(const Type *a, const Type *b) {
  return a->id == b->id && a->elem == b->elem && a->ndim == b->ndim && a->layout == b->layout &&
         a->space == b->space && a->wide == b->wide && a->readonly == b->readonly && a->n == b->n &&
         a->align == b->align && a->flat == b->flat && a->pointer == b->pointer &&
         same_fields(a, b) && a->frozen == b->frozen &&
         (!a->n || !memcmp(a->elems, b->elems, sizeof *a->elems * a->n)) && a->unit == b->unit &&
         a->multiple == b->multiple && ty_same_names(a, b);
}

static void table_grow(Cx *cx) {
  TypeTable *t = &cx->types;
  uint32_t old_cap = t->cap;
  const Type **old = t->slots;
  t->cap = old_cap ? old_cap * 2 : 64;
  t->slots = CX_ARRAY(cx, const Type *, t->cap);
  for (uint32_t i = 0; i < old_cap; i++) {
    if (!old[i])
      continue;
    uint32_t at = (uint32_t)type_hash(old[i]) & (t->cap - 1);
    while (t->slots[at])
      at = (at + 1) & (t->cap - 1);
    t->slots[at] = old[i];
  }
}

const Type *ty_intern(Cx *cx, const Type *key) {
  TypeTable *t = &cx->types;
  if (t->len * 2 >= t->cap)
    table_grow(cx);
  uint32_t at = (uint32_t)type_hash(key) & (t->cap - 1);
  for (; t->slots[at]; at = (at + 1) & (t->cap - 1))
    if (type_equal(t->slots[at], key))
      return t->slots[at];
  Type *made = CX_NEW(cx, Type);
  *made = *key;
  made->number = t->len++;
  if (key->n)
    made->elems = arena_memdup(&cx->arena, key->elems, sizeof *key->elems * key->n);
  return t->slots[at] = made;
}

const Type *ty_scalar(Cx *cx, TypeId id) {
  CX_ASSERT(cx, id < TY_SCALARS);
  if (!cx->types.scalars[id])
    cx->types.scalars[id] = ty_intern(cx, &(Type){.id = id});
  return cx->types.scalars[id];
}

const Type *ty_list_like(Cx *cx, TypeId id, const Type *const *elems, uint32_t n) {
  return ty_intern(cx, &(Type){.id = id, .elems = elems, .n = n});
}

const Type *ty_tuple(Cx *cx, const Type *const *elems, uint32_t n) {
  return ty_intern(cx, &(Type){.id = TY_TUPLE, .elems = elems, .n = n});
}

const Type *ty_list(Cx *cx, const Type *const *elems, uint32_t n) {
  return ty_intern(cx, &(Type){.id = TY_TUPLE, .elems = elems, .n = n, .list = true});
}

static const char **copy_names(Cx *cx, const char *const *names, uint32_t n) {
  const char **copy = CX_ARRAY(cx, const char *, n + 1);
  for (uint32_t i = 0; i < n; i++)
    copy[i] = arena_strdup(&cx->arena, names[i]);
  return copy;
}

const Type *ty_named_tuple(Cx *cx, const Type *const *elems, uint32_t n, const char *const *names,
                           const char *title) {
  if (!n)
    return ty_tuple(cx, elems, 0);
  return ty_intern(cx, &(Type){.id = TY_TUPLE,
                               .elems = elems,
                               .n = n,
                               .names = copy_names(cx, names, n),
                               .title = arena_strdup(&cx->arena, title)});
}

const Type *ty_tuple_like(Cx *cx, const Type *const *elems, const Type *like) {
  return ty_intern(cx, &(Type){.id = TY_TUPLE,
                               .elems = elems,
                               .n = like->n,
                               .names = like->names,
                               .title = like->title,
                               .list = like->list,
                               .frozen = like->frozen});
}

const Type *ty_vector(Cx *cx, const Frozen *constructor, const Type *elem, uint32_t n) {
  static const char *const names[] = {"x", "y", "z", "w"};
  const Type *elems[] = {elem, elem, elem, elem};
  return ty_intern(
      cx, &(Type){.id = TY_TUPLE, .elems = elems, .n = n, .names = names, .frozen = constructor});
}

bool ty_is_wide(const int64_t *extents, unsigned ndim) {
  int64_t count = 1;
  bool wide = false;
  for (unsigned k = 0; k < ndim; k++)
    wide |= extents[k] > TY_NARROW || __builtin_mul_overflow(count, extents[k], &count);
  return wide || count > TY_NARROW;
}

bool ty_may_be_small(const Type *t) {
  return t->id == TY_PYINT || t->id == TY_I64 || t->id == TY_U64;
}

const char *ty_skip_narrow(const char *text, bool *narrow) {
  static const char word[] = "narrow ";
  text += strspn(text, " \t\r\n");
  *narrow = !strncmp(text, word, sizeof word - 1);
  return text + (*narrow ? sizeof word - 1 : 0);
}

const Type *ty_array(Cx *cx, const Type *elem, unsigned ndim, Layout layout, Space space, bool wide,
                     bool readonly) {
  CX_ASSERT(cx, ndim <= TY_MAX_NDIM);
  if (ndim <= 1 && layout == LAYOUT_F)
    layout = LAYOUT_C; /* one contiguous axis is both */
  if (ndim == 0)
    layout = LAYOUT_C;
  return ty_intern(cx, &(Type){.id = TY_ARRAY,
                               .elem = elem,
                               .ndim = (uint8_t)ndim,
                               .layout = (uint8_t)layout,
                               .space = (uint8_t)space,
                               .wide = wide,
                               .readonly = readonly});
}

static const Type *make_pointer(Cx *cx, const Type *elem) {
  Type t = *ty_array(cx, elem, 1, LAYOUT_C, SPACE_GLOBAL, true, false);
  t.pointer = true;
  t.text = NULL;
  return ty_intern(cx, &t);
}

const Type *ty_array_flat_like(Cx *cx, const Type *array, bool flat) {
  Type t = *array;
  t.flat = flat;
  t.text = NULL;
  return ty_intern(cx, &t);
}

const Type *ty_array_aligned(Cx *cx, const Type *array, unsigned align) {
  Type t = *array;
  t.align = align < ty_align(array->elem) ? (uint8_t)align : 0;
  t.text = NULL;
  return ty_intern(cx, &t);
}

const Type *ty_array_in(Cx *cx, const Type *of, const Type *elem, unsigned ndim, Layout layout) {
  const Type *t = ty_array(cx, elem, ndim, layout, (Space)of->space, of->wide, of->readonly);
  return of->align ? ty_array_aligned(cx, t, of->align) : t;
}

const Type *ty_frozen(Cx *cx, TypeId id, const Frozen *f, const Type *const *elems, uint32_t n) {
  return ty_intern(cx, &(Type){.id = id, .frozen = f, .elems = elems, .n = n});
}

size_t ty_size(const Type *t) {
  if (ty_is_date(t))
    return sizeof(int64_t);
  return t->id == TY_RECORD ? t->size : t->id < TY_SCALARS ? ty_scalar_info[t->id].bits / 8u : 0;
}

/* Records: as far as their size keeps it from one to the next, up to what a GPU loads at once.
 * Complex numbers: as a GPU wants them. */
unsigned ty_align(const Type *t) {
  enum { WIDEST_LOAD = 16 };
  unsigned size = (unsigned)ty_size(t);
  if (t->id == TY_RECORD)
    return (size & -size) < WIDEST_LOAD ? size & -size : WIDEST_LOAD;
  return size ? size : 1;
}

/* --- text out --- */

static void put_axes(Buf *b, const Type *t) {
  buf_putc(b, '[');
  for (unsigned i = 0; i < t->ndim; i++) {
    bool one = (t->layout == LAYOUT_C && i + 1 == t->ndim) || (t->layout == LAYOUT_F && i == 0);
    buf_puts(b, i ? "," : "");
    buf_puts(b, one ? "::1" : ":");
  }
  buf_putc(b, ']');
  if (t->wide)
    buf_putc(b, '!');
}

static void put_list(Cx *cx, Buf *b, const char *open, const Type *t, const char *close) {
  buf_puts(b, t->title ? t->title : "");
  buf_puts(b, open);
  for (uint32_t i = 0; i < t->n; i++) {
    buf_puts(b, i ? ", " : "");
    if (t->title)
      buf_printf(b, "%s: ", t->names[i]);
    ty_put_type(cx, b, t->elems[i]);
  }
  if (t->n == 1 && t->id == TY_TUPLE && !t->title && !t->list)
    buf_putc(b, ',');
  buf_puts(b, close);
}

void ty_put_type(Cx *cx, Buf *b, const Type *t) {
  static const char *const space[] = {"", "shared ", "local ", "const ", "cluster "};
  switch (t->id) {
  case TY_TUPLE: put_list(cx, b, t->list ? "[" : "(", t, t->list ? "]" : ")"); return;
  case TY_SLICE: put_list(cx, b, "slice<", t, ">"); return;
  case TY_RANGE: buf_puts(b, "range"); return;
  case TY_ENUMERATE: put_list(cx, b, "enumerate<", t, ">"); return;
  case TY_ZIP: put_list(cx, b, "zip<", t, ">"); return;
  case TY_REVERSED: put_list(cx, b, "reversed<", t, ">"); return;
  case TY_OPTIONAL: put_list(cx, b, "optional<", t, ">"); return;
  case TY_RECORD: ty_put_record(cx, b, t); return;
  case TY_ARRAY:
    if (t->pointer) {
      buf_printf(b, "CPointer(%s)", ty_name(cx, t->elem));
      return;
    }
    buf_puts(b, t->readonly && t->space != SPACE_CONST ? "readonly " : "");
    buf_puts(b, space[t->space]);
    if (t->align)
      buf_printf(b, "align%u ", t->align);
    ty_put_type(cx, b, t->elem);
    put_axes(b, t);
    return;
  case TY_ENUM: ty_put_enum(cx, b, t); return;
  case TY_DATETIME:
  case TY_TIMEDELTA: ty_put_date(b, t); return;
  case TY_STR:
  case TY_FUNC:
  case TY_MODULE:
  case TY_DTYPE:
  case TY_OBJECT:
    buf_puts(b, t->frozen ? fz_text(cx, t->frozen) : "str");
    if (t->n)
      put_list(cx, b, "<", t, ">");
    return;
  default: buf_puts(b, ty_scalar_info[t->id].name);
  }
}

const char *ty_name(Cx *cx, const Type *t) {
  if (!t)
    return "?";
  if (!t->text) {
    Buf b;
    buf_init(&b, &cx->arena);
    ty_put_type(cx, &b, t);
    ((Type *)(uintptr_t)t)->text = b.text;
  }
  return t->text;
}

static const char *pretty_record(Cx *cx, const Type *t) {
  enum { SHOWN = 6 };
  Buf b;
  buf_init(&b, &cx->arena);
  buf_puts(&b, "a record (");
  for (uint32_t k = 0; k < t->nfields && k <= SHOWN; k++)
    buf_printf(&b, "%s%s", k ? ", " : "", k < SHOWN ? t->fields[k].name : "...");
  buf_putc(&b, ')');
  return b.text;
}

enum { MOST_SHOWN_FIELDS = 8 }; /* of a named tuple in a message */

const char *ty_pretty(Cx *cx, const Type *t) {
  static const char *const layout[] = {"C", "F", "any layout"};
  static const char *const in_space[] = {"", " in shared memory", " in local memory",
                                         " in constant memory", " in a cluster's shared memory"};
  if (!t)
    return "an unknown value";
  switch (t->id) {
  case TY_PYBOOL: return "a Python bool";
  case TY_PYINT: return "a Python int";
  case TY_PYFLOAT: return "a Python float";
  case TY_PYCOMPLEX: return "a Python complex";
  case TY_NONE: return "None";
  case TY_STR:
    return t->frozen ? arena_printf(&cx->arena, "the string %s", fz_text(cx, t->frozen))
                     : "a string";
  case TY_SLICE: return "a slice";
  case TY_OPTIONAL: return arena_printf(&cx->arena, "None or %s", ty_pretty(cx, t->elems[1]));
  case TY_RANGE: return "a range";
  case TY_ENUM: return arena_printf(&cx->arena, "a member of %s", t->frozen->text);
  case TY_TUPLE:
    if (ty_is_vector(t)) /* without "cuda." */
      return arena_printf(&cx->arena, "a %s", strrchr(ir_intrinsics[t->frozen->i].path, '.') + 1);
    if (t->title && t->n > MOST_SHOWN_FIELDS)
      return arena_printf(&cx->arena, "a named tuple %s of %u fields", t->title, t->n);
    return arena_printf(&cx->arena,
                        t->title  ? "a named tuple %s"
                        : t->list ? "a list %s"
                                  : "a tuple %s",
                        ty_name(cx, t));
  case TY_RECORD: return pretty_record(cx, t);
  case TY_ARRAY:
    if (t->pointer)
      return ty_name(cx, t);
    if (t->elem->id == TY_RECORD && !t->ndim) /* two that do not join may differ in this only */
      return arena_printf(&cx->arena, "%s%s", pretty_record(cx, t->elem), in_space[t->space]);
    if (t->elem->id == TY_RECORD)
      return arena_printf(&cx->arena, "a %ud array of records %s", t->ndim,
                          strchr(pretty_record(cx, t->elem), '('));
    return arena_printf(&cx->arena, "a %ud %s array (%s)", t->ndim, ty_name(cx, t->elem),
                        layout[t->layout]);
  default: return ty_name(cx, t);
  }
}

/* --- text in --- */

static bool is_word_of(const char *words, const char *word, size_t n) {
  for (const char *s = words; *s;) {
    size_t length = strcspn(s, " ");
    if (length == n && !memcmp(s, word, n))
      return true;
    s += length + strspn(s + length, " ");
  }
  return false;
}

TypeId ty_by_name(const char *name, size_t n) {
  for (int i = TY_NONE; i < TY_SCALARS; i++) {
    const ScalarInfo *s = &ty_scalar_info[i];
    if (is_word_of(s->name, name, n) || is_word_of(s->other_names, name, n))
      return (TypeId)i;
  }
  return TY_SCALARS;
}

static const char *skip_space(const char *s) {
  while (isspace((unsigned char)*s))
    s++;
  return s;
}

static const Type *parse_axes(Cx *cx, const char **text, const Type *elem, bool readonly,
                              Space space, const char **error) {
  const char *s = skip_space(*text + 1);
  unsigned ndim = 0;
  int ones_first = 0, ones_last = *s == ']'; /* no axes at all: contiguous */
  while (*s != ']' || ndim > 0) {
    if (*s != ':') {
      *error = arena_printf(&cx->arena, "expected ':' in the axes at '%.20s'", s);
      return NULL;
    }
    bool one = !strncmp(s, "::1", 3);
    s = skip_space(s + (one ? 3 : 1));
    if (++ndim > TY_MAX_NDIM) {
      *error = arena_printf(&cx->arena, "an array has at most %d axes", TY_MAX_NDIM);
      return NULL;
    }
    if (one && ndim == 1)
      ones_first = 1;
    ones_last = one;
    if (one && ndim > 1 && *s == ',') {
      *error = "'::1' marks the first or the last axis";
      return NULL;
    }
    if (*s != ',')
      break;
    s = skip_space(s + 1);
  }
  if (*s != ']') {
    *error = arena_printf(&cx->arena, "expected ']' at '%.20s'", s);
    return NULL;
  }
  s++;
  bool wide = *s == '!';
  s += wide;
  if (ones_first && ones_last && ndim > 1) {
    *error = "only one axis can be '::1'";
    return NULL;
  }
  *text = s;
  return ty_array(cx, elem, ndim,
                  ones_last    ? LAYOUT_C
                  : ones_first ? LAYOUT_F
                               : LAYOUT_A,
                  space, wide, readonly);
}

size_t ty_word_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_' || (unsigned char)s[n] >= 0x80)
    n++;
  return n;
}

/* "x:" in front of a type: the length of the name, or 0. */
static size_t field_name(const char *s) {
  size_t n = ty_word_length(s);
  const char *colon = skip_space(s + n);
  return n && *colon == ':' && colon[1] != ':' ? n : 0;
}

/* A field of a record has its offset behind it: "(x: float32 @0". */
static bool is_record(const char *open) {
  int depth = 0;
  for (const char *s = open; *s; s++) {
    depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    if (!depth || (depth == 1 && (*s == ',' || *s == '@')))
      return *s == '@';
  }
  return false;
}

bool ty_is_named_text(const char *s) {
  s = skip_space(s);
  size_t n = ty_word_length(s);
  const char *open = skip_space(s + n);
  return n && *open == '(' && field_name(skip_space(open + 1)) && !is_record(open);
}

static const Type *parse_tuple(Cx *cx, const char **text, const char **error) {
  VEC(const Type *) elems = {0};
  VEC(const char *) names = {0};
  const char *title = **text == '(' ? NULL
                                    : arena_strndup(&cx->arena, *text, ty_word_length(*text));
  const char *s = skip_space(strchr(*text, '(') + 1);
  while (*s != ')') {
    if (elems.len >= TY_MAX_TUPLE) {
      *error = "the tuple has too many elements";
      return NULL;
    }
    if (title) {
      size_t n = field_name(s);
      if (!n) {
        *error = arena_printf(&cx->arena, "expected the name of a field at '%.20s'", s);
        return NULL;
      }
      const char *name = arena_strndup(&cx->arena, s, n);
      for (uint32_t i = 0; i < names.len; i++)
        if (!strcmp(names.data[i], name)) {
          *error = arena_printf(&cx->arena, "the field '%s' stands there twice", name);
          return NULL;
        }
      VEC_PUSH(&cx->arena, &names, name);
      s = skip_space(skip_space(s + n) + 1);
    }
    const Type *t = ty_parse(cx, &s, error);
    if (!t)
      return NULL;
    VEC_PUSH(&cx->arena, &elems, t);
    s = skip_space(s);
    if (*s == ',')
      s = skip_space(s + 1);
    else if (*s != ')') {
      *error = arena_printf(&cx->arena, "expected ',' or ')' at '%.20s'", s);
      return NULL;
    }
  }
  *text = s + 1;
  return title ? ty_named_tuple(cx, elems.data, elems.len, names.data, title)
               : ty_tuple(cx, elems.data, elems.len);
}

/* "align4 ": 4; 0 if there is none. */
static unsigned parse_align(const char **text) {
  for (unsigned n = 1; n <= 8; n *= 2) {
    char word[] = {'a', 'l', 'i', 'g', 'n', (char)('0' + n), ' ', 0};
    if (!strncmp(*text, word, sizeof word - 1)) {
      *text = skip_space(*text + sizeof word - 1);
      return n;
    }
  }
  return 0;
}

static const Type *nested(Cx *cx, const char **text, const char **error,
                          const Type *(*parse)(Cx *cx, const char **text, const char **error)) {
  enum { MAX_NESTING = 32 };
  uint32_t *depth = &cx->types.depth;
  if (++*depth > MAX_NESTING) {
    *depth = 0;
    *error = "the types are nested too deep";
    return NULL;
  }
  const Type *t = parse(cx, text, error);
  if (*depth)
    --*depth;
  return t;
}

/* Of names in use elsewhere: float, int; f32, i64, u8 and c64. NULL: it is none. */
static const char *type_elsewhere(const char *name) {
  static const char *const whole[] = {"float", "float64", "int", "int64", "complex", "complex128"};
  static const struct {
    char letter;
    const char *word;
  } letters[] = {{'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}};
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k += 2)
    if (!strcmp(name, whole[k]))
      return whole[k + 1];
  for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
    char full[32];
    snprintf(full, sizeof full, "%s%.16s", letters[k].word, name + 1);
    TypeId id = *name == letters[k].letter && name[1] ? ty_by_name(full, strlen(full)) : TY_SCALARS;
    if (id != TY_SCALARS)
      return ty_scalar_info[id].name;
  }
  return NULL;
}

/* "did you mean", or NULL. */
static const char *nearest_type(const char *name) {
  const char *elsewhere = type_elsewhere(name);
  if (elsewhere)
    return elsewhere;
  Suggest near = suggest_for(name);
  for (int i = TY_NONE; i < TY_SCALARS; i++)
    suggest_try(&near, ty_scalar_info[i].name);
  return near.best;
}

static const Type *parse_element(Cx *cx, const char **text, const char **error) {
  const char *s = *text;
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_')
    n++;
  TypeId id = ty_by_name(s, n);
  const Type *t;
  if (n == 6 && !strncmp(s, "record", n) && s[n] == '(') {
    s += n;
    if (!(t = nested(cx, &s, error, ty_parse_record)))
      return NULL;
    n = 0;
  } else if (ty_is_date_text(s)) {
    if (!(t = ty_parse_date(cx, &s, error)))
      return NULL;
    n = 0;
  } else if (!n || id == TY_SCALARS) {
    const char *near = n ? nearest_type(arena_strndup(&cx->arena, s, n)) : NULL;
    if (!strncmp(s, "np.", 3) || !strncmp(s, "numpy.", 6)) {
      *error = "a type has no module in front of it: write float32[:] for np.float32[:]";
      return NULL;
    }
    *error = arena_printf(
        &cx->arena, near ? "'%.*s' is not a type; did you mean '%s'?" : "'%.*s' is not a type",
        n ? (int)(n > 40 ? 40 : n) : 20, s, near);
    return NULL;
  } else {
    t = ty_scalar(cx, id);
  }
  *text = skip_space(s + n);
  return t;
}

/* Behind "CPointer(". */
static const Type *parse_pointer(Cx *cx, const char **text, const char **error) {
  const char *s = skip_space(*text);
  const Type *t = parse_element(cx, &s, error);
  s = skip_space(s);
  if (t && (!ty_is_value(t) || ty_is_weak(t) || *s != ')')) {
    *error = arena_printf(&cx->arena, "a CPointer is of numbers, not at '%.20s'", *text);
    return NULL;
  }
  *text = s + 1;
  return t ? make_pointer(cx, t) : NULL;
}

const Type *ty_parse(Cx *cx, const char **text, const char **error) {
  const char *s = skip_space(*text);
  if (!strncmp(s, "CPointer(", 9)) {
    s += 9;
    const Type *t = parse_pointer(cx, &s, error);
    *text = s;
    return t;
  }
  if (ty_is_enum_text(s)) {
    s += strlen("enum ");
    const Type *t = ty_parse_enum(cx, &s, error);
    *text = s;
    return t;
  }
  bool named = ty_is_named_text(s);
  if (*s == '(' || named) {
    const Type *t = nested(cx, &s, error, parse_tuple);
    *text = s;
    return t;
  }
  static const struct {
    const char *word;
    Space space;
    bool readonly;
  } prefixes[] = {{"readonly ", SPACE_GLOBAL, true},
                  {"shared ", SPACE_SHARED, false},
                  {"local ", SPACE_LOCAL, false},
                  {"const ", SPACE_CONST, true},
                  {"cluster ", SPACE_CLUSTER, false}};
  Space space = SPACE_GLOBAL;
  bool readonly = false;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (!strncmp(s, prefixes[i].word, strlen(prefixes[i].word))) {
      s = skip_space(s + strlen(prefixes[i].word));
      space = prefixes[i].space;
      readonly |= prefixes[i].readonly;
    }
  unsigned align = parse_align(&s);
  const Type *t = parse_element(cx, &s, error);
  if (t && align && *s != '[') {
    *error = "'align' stands before an array";
    return NULL;
  }
  if (t && *s == '[') {
    if (t->id != TY_RECORD && (!ty_is_value(t) || ty_is_weak(t))) {
      *error = arena_printf(&cx->arena, "an array cannot hold %s", ty_name(cx, t));
      return NULL;
    }
    t = parse_axes(cx, &s, t, readonly, space, error);
    if (t && align)
      t = ty_array_aligned(cx, t, align);
  }
  *text = s;
  return t;
}
