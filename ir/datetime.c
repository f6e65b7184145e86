/* Datetime: types of NumPy's dates and time spans, "datetime64[ns]", "timedelta64[25s]",
 * "timedelta64" (generic: any unit).
 *
 * Two of one kind, unit and multiple are one type. A value counts units since 1970-01-01T00:00 or
 * is a number of units, in 64 bits; the lowest integer is NaT. Units are multiples of each other on
 * either side of a border that only the calendar crosses: years and months before it, weeks to
 * attoseconds behind it. */
#include <ctype.h>
#include <string.h>

#include "ir/cx.h"
#include "ir/type.h"

static const struct {
  const char *name;
  int64_t next; /* how many of the next unit it has; 0: the border */
} units[DATE_UNITS] = {
    [DATE_Y] = {"Y", 12},     [DATE_M] = {"M", 0},
    [DATE_W] = {"W", 7},      [DATE_D] = {"D", 24},
    [DATE_HOUR] = {"h", 60},  [DATE_MIN] = {"m", 60},
    [DATE_S] = {"s", 1000},   [DATE_MS] = {"ms", 1000},
    [DATE_US] = {"us", 1000}, [DATE_NS] = {"ns", 1000},
    [DATE_PS] = {"ps", 1000}, [DATE_FS] = {"fs", 1000},
    [DATE_AS] = {"as", 0},    [DATE_GENERIC] = {"generic", 0},
};

const Type *ty_date(Cx *cx, TypeId id, DateUnit unit, int32_t multiple) {
  return ty_intern(
      cx,
      &(Type){.id = id, .unit = (uint8_t)unit, .multiple = unit == DATE_GENERIC ? 1 : multiple});
}

/* How many of the finer unit `to` a unit has; 0 if there is no such number, or it needs more than
 * 63 bits. */
static int64_t ty_unit_factor(DateUnit from, DateUnit to) {
  int64_t factor = 1;
  for (; from < to; from++)
    if (!units[from].next || __builtin_mul_overflow(factor, units[from].next, &factor))
      return 0;
  return from == to ? factor : 0;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

bool ty_date_ratio(const Type *from, const Type *to, int64_t *num, int64_t *den) {
  *num = *den = 1;
  if (from->unit == DATE_GENERIC || to->unit == DATE_GENERIC)
    return from->unit == DATE_GENERIC;
  int64_t up = from->unit <= to->unit ? ty_unit_factor((DateUnit)from->unit, (DateUnit)to->unit)
                                      : 1;
  int64_t down = from->unit > to->unit ? ty_unit_factor((DateUnit)to->unit, (DateUnit)from->unit)
                                       : 1;
  if (!up || !down || __builtin_mul_overflow(up, (int64_t)from->multiple, num) ||
      __builtin_mul_overflow(down, (int64_t)to->multiple, den))
    return false;
  int64_t common = gcd(*num, *den);
  *num /= common;
  *den /= common;
  return true;
}

/* A date's unit may be refined over the border: each month starts with a day. NumPy takes months
 * for weeks there, which matters for multiples of days only (years and 7D go to 7D), and stops at
 * factors of 56 bits. A time span of months has no number of days. */
const Type *ty_date_promote(Cx *cx, TypeId id, const Type *a, const Type *b) {
  if (a->unit == DATE_GENERIC || b->unit == DATE_GENERIC) {
    const Type *t = a->unit == DATE_GENERIC ? b : a;
    return ty_date(cx, id, (DateUnit)t->unit, t->multiple);
  }
  const Type *coarse = a->unit <= b->unit ? a : b, *fine = coarse == a ? b : a;
  bool over = coarse->unit <= DATE_M && fine->unit > DATE_M;
  if (over && coarse->id == TY_TIMEDELTA)
    return NULL;
  int64_t factor = ty_unit_factor(over ? DATE_W : (DateUnit)coarse->unit, (DateUnit)fine->unit),
          many;
  if (!factor || factor >> 56 || __builtin_mul_overflow(factor, (int64_t)coarse->multiple, &many))
    return NULL;
  return ty_date(cx, id, (DateUnit)fine->unit, (int32_t)gcd(many, fine->multiple));
}

/* --- text --- */

void ty_put_date(Buf *b, const Type *t) {
  buf_puts(b, t->id == TY_DATETIME ? "datetime64" : "timedelta64");
  if (t->unit == DATE_GENERIC)
    return;
  buf_putc(b, '[');
  if (t->multiple != 1)
    buf_printf(b, "%d", (int)t->multiple);
  buf_printf(b, "%s]", units[t->unit].name);
}

void ty_put_unit(Buf *b, const Type *t) {
  if (t->unit == DATE_GENERIC)
    return;
  if (t->multiple != 1)
    buf_printf(b, "%d", (int)t->multiple);
  buf_puts(b, units[t->unit].name);
}

bool ty_parse_unit(const char **text, DateUnit *unit, int32_t *multiple) {
  const char *s = *text;
  int64_t many = 0;
  bool digits = isdigit((unsigned char)*s);
  for (; isdigit((unsigned char)*s); s++)
    if ((many = many * 10 + (*s - '0')) > INT32_MAX)
      return false;
  size_t n = 0;
  while (isalpha((unsigned char)s[n]))
    n++;
  *multiple = digits ? (int32_t)many : 1;
  *text = s + n;
  for (*unit = DATE_Y; *unit < DATE_UNITS; ++*unit)
    if (strlen(units[*unit].name) == n && !memcmp(units[*unit].name, s, n))
      return *multiple > 0;
  return false;
}

/* datetime64, M8, timedelta64, m8: the length of the word, or 0. */
static size_t date_word(const char *s, TypeId *id) {
  static const struct {
    const char *word;
    TypeId id;
  } words[] = {{"datetime64", TY_DATETIME},
               {"M8", TY_DATETIME},
               {"timedelta64", TY_TIMEDELTA},
               {"m8", TY_TIMEDELTA}};
  size_t n = ty_word_length(s);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (n == strlen(words[k].word) && !memcmp(s, words[k].word, n)) {
      *id = words[k].id;
      return n;
    }
  return 0;
}

bool ty_is_date_text(const char *s) {
  TypeId id;
  return date_word(s, &id) > 0;
}

const Type *ty_parse_date(Cx *cx, const char **text, const char **error) {
  TypeId id = TY_VOID;
  DateUnit unit = DATE_GENERIC;
  int32_t multiple = 1;
  const char *s = *text + date_word(*text, &id);
  if (*s == '[' && isalnum((unsigned char)s[1])) { /* else axes, "timedelta64[:]" */
    s++;
    if (!ty_parse_unit(&s, &unit, &multiple) || *s++ != ']') {
      *error = arena_printf(&cx->arena,
                            "'%.30s' has no unit of NumPy's (Y M W D h m s ms us ns ps fs as, 25s)",
                            *text);
      return NULL;
    }
  }
  *text = s;
  return ty_date(cx, id, unit, multiple);
}

TypeId ty_date_text_id(const char *s) {
  TypeId id;
  size_t n = date_word(s, &id);
  if (!n)
    return TY_SCALARS;
  const char *end = s[n] == '[' && isalnum((unsigned char)s[n + 1]) ? strchr(s + n, ']') : NULL;
  return !s[n] || (end && !end[1]) ? id : TY_SCALARS;
}
