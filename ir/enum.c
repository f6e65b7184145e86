/* Enum: types of members of enum.Enum classes, "enum Color(RED=1, GREEN=2.5, NAME)". Values that
 * are no numbers are left out.
 *
 * Two classes are one type if names, members and numbers agree: a type made of a signature's text
 * is that of the frozen class. */
#include <stdlib.h>
#include <string.h>

#include "ir/base/number.h"
#include "ir/build.h"
#include "ir/cx.h"
#include "ir/type.h"

static bool is_value(const Frozen *f) {
  return f && ((f->kind == FZ_INT && !f->wide) || f->kind == FZ_FLOAT);
}

static bool same_value(const Frozen *a, const Frozen *b) {
  if (!is_value(a) || !is_value(b))
    return is_value(a) == is_value(b);
  return a->kind == b->kind && a->i == b->i && !memcmp(&a->re, &b->re, sizeof a->re);
}

static bool same_class(const Frozen *a, const Frozen *b) {
  if (a == b)
    return true;
  if (a->n != b->n || strcmp(a->text, b->text))
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (strcmp(a->names[k], b->names[k]) || !same_value(a->items[k], b->items[k]))
      return false;
  return true;
}

const Type *ty_enum(Cx *cx, const Frozen *class) {
  TypeTable *t = &cx->types;
  for (uint32_t k = 0; k < t->nenums; k++)
    if (same_class(t->enums[k]->frozen, class))
      return t->enums[k];
  if (!(t->nenums & (t->nenums - 1))) { /* 0, 1, 2, 4 …: full */
    const Type **more = CX_ARRAY(cx, const Type *, t->nenums ? 2 * t->nenums : 1);
    if (t->nenums)
      memcpy(more, t->enums, sizeof *more * t->nenums);
    t->enums = more;
  }
  return t->enums[t->nenums++] = ty_intern(cx, &(Type){.id = TY_ENUM, .frozen = class});
}

void ty_put_enum(Cx *cx, Buf *b, const Type *t) {
  const Frozen *class = t->frozen;
  buf_printf(b, "enum %s(", class->text);
  for (uint32_t k = 0; k < class->n; k++) {
    buf_printf(b, "%s%s", k ? ", " : "", class->names[k]);
    if (is_value(class->items[k]))
      buf_printf(b, "=%s", fz_text(cx, class->items[k]));
  }
  buf_putc(b, ')');
}

/* --- text in --- */

static const Frozen *parse_value(Cx *cx, const char **text) {
  const char *s = *text;
  char *end_int, *end_float;
  long long i = strtoll(s, &end_int, 10);
  double d = number_read(s, &end_float);
  if (end_float == s)
    return NULL;
  *text = end_float;
  return end_int == end_float ? fz_int(cx, i) : fz_float(cx, d);
}

bool ty_is_enum_text(const char *s) {
  s += strspn(s, " \t\r\n");
  return !strncmp(s, "enum ", 5);
}

const Type *ty_parse_enum(Cx *cx, const char **text, const char **error) {
  const char *s = *text;
  size_t n = ty_word_length(s);
  VEC(const char *) names = {0};
  VEC(const Frozen *) values = {0};
  Frozen *class = CX_NEW(cx, Frozen);
  class->kind = FZ_ENUM;
  class->text = arena_strndup(&cx->arena, s, n);
  s += n;
  *error = "an Enum's type is written enum Color(RED=1, GREEN=2)";
  if (!n || *s++ != '(')
    return NULL;
  while (*s != ')') {
    s += strspn(s, " ,");
    if (!(n = ty_word_length(s)))
      return NULL;
    VEC_PUSH(&cx->arena, &names, arena_strndup(&cx->arena, s, n));
    s += n;
    const Frozen *value = NULL;
    if (*s == '=' && (s++, !(value = parse_value(cx, &s))))
      return NULL;
    VEC_PUSH(&cx->arena, &values, value);
    s += strspn(s, " ");
    if (*s != ',' && *s != ')')
      return NULL;
  }
  if (!names.len)
    return NULL;
  class->names = names.data;
  class->items = values.data;
  class->n = names.len;
  *error = NULL;
  *text = s + 1;
  return ty_enum(cx, class);
}
