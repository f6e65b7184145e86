/* Print where there is only C's printf, as on GPUs: expresses the conversions of
 * runtime/host/print.c by C's.
 *
 * In: a format with %r %R %H %B (shortest texts), %z %Z (complex numbers), %p (a percentage) and
 * C's conversions. Out: a format with C's conversions alone, whose arguments, including widths, are
 * 8 bytes each. What C prints otherwise than Python (1 for 1.0, the sign of nan, zeros before inf)
 * is chosen at run time by further arguments: strings of which one is empty, and widths. The
 * shortest text that reads back is beyond printf; %.16g, %.7g and their like stand for it. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/lower/private.h"

typedef struct Line { /* the printf call under construction */
  Lower *lw;
  Buf format;
  VEC(LLVMValueRef) args;
} Line;

typedef struct Conversion {
  bool left, zeros, percent; /* zeros: fill up to the width between the sign and the digits */
  char sign, kind;           /* sign: '+', ' ' or 0 */
  int width, precision;      /* precision -1: none */
} Conversion;

static const char *read_conversion(const char *s, Conversion *c) {
  *c = (Conversion){.precision = -1};
  for (; *s && strchr("-+ 0", *s); s++) {
    c->left |= *s == '-';
    c->zeros |= *s == '0';
    c->sign = *s == '+' || (*s == ' ' && !c->sign) ? *s : c->sign;
  }
  c->width = (int)strtol(s, (char **)(uintptr_t)&s, 10);
  if (*s == '.')
    c->precision = (int)strtol(s + 1, (char **)(uintptr_t)&s, 10);
  c->zeros &= !c->left && c->width;
  c->percent = *s == 'p';
  c->kind = c->percent ? 'f' : *s;
  return s + 1;
}

static void add(Line *line, const char *format, LLVMValueRef v) {
  buf_puts(&line->format, format);
  VEC_PUSH(&line->lw->cx->arena, &line->args, v);
}

static LLVMValueRef choose(Line *line, LLVMValueRef c, LLVMValueRef yes, LLVMValueRef no) {
  return l_select(line->lw->b, c, yes, no);
}

static LLVMValueRef number(Line *line, int64_t v) { return lw_i64(line->lw, v); }

static LLVMValueRef minus(Line *line, LLVMValueRef a, LLVMValueRef b) {
  return l_sub(line->lw->b, a, b);
}

static LLVMValueRef not_negative(Line *line, LLVMValueRef n) {
  LLVMTypeRef t = line->lw->t->i64;
  return lw_intrinsic(line->lw, "llvm.smax", &t, 1, (LLVMValueRef[]){n, number(line, 0)}, 2);
}

static LLVMValueRef size_of(Line *line, LLVMValueRef x) {
  LLVMTypeRef t = line->lw->t->f64;
  return lw_intrinsic(line->lw, "llvm.fabs", &t, 1, &x, 1);
}

static LLVMValueRef is_finite(Line *line, LLVMValueRef x) {
  LLVMValueRef infinity = LLVMConstReal(line->lw->t->f64, INFINITY);
  return l_fcmp(line->lw->b, LLVMRealOLT, size_of(line, x), infinity);
}

static LLVMValueRef is_negative(Line *line, LLVMValueRef x) { /* -0.0 too */
  LLVMValueRef bits = l_bitcast(line->lw->b, x, line->lw->t->i64);
  return l_icmp(line->lw->b, LLVMIntSLT, bits, number(line, 0));
}

/* Python shows no nan with a sign. */
static LLVMValueRef without_nan_sign(Line *line, LLVMValueRef x) {
  return choose(line, lw_is_nan(line->lw, x), LLVMConstReal(line->lw->t->f64, NAN), x);
}

/* --- zeros up to a width: before inf and nan C writes spaces, Python zeros --- */

/* The sign, and the zeros if x is not finite. */
static LLVMValueRef zero_prefix(Line *line, const Conversion *c, LLVMValueRef x) {
  LLVMValueRef texts[2], finite = is_finite(line, x);
  for (int negative = 0; negative < 2; negative++) {
    char sign[2] = {negative ? '-' : c->sign, 0};
    int rest = c->width - 3 - c->percent - !!*sign;
    Buf zeros;
    buf_init(&zeros, &line->lw->cx->arena);
    buf_puts(&zeros, sign);
    while (rest-- > 0)
      buf_putc(&zeros, '0');
    texts[negative] = choose(line, finite,
                             lw_text(line->lw, arena_strdup(&line->lw->cx->arena, sign)),
                             lw_text(line->lw, zeros.text ? zeros.text : ""));
  }
  return choose(line, is_negative(line, x), texts[1], texts[0]);
}

/* The front of a conversion that fills with zeros, up to its precision. behind: how many characters
 * follow the digits. The value itself is to be printed without its sign. */
static void put_zeros(Line *line, const Conversion *c, LLVMValueRef x, LLVMValueRef behind) {
  add(line, "%s", zero_prefix(line, c, x));
  LLVMValueRef sign = choose(line, is_negative(line, x), number(line, 1),
                             number(line, c->sign != 0));
  LLVMValueRef width = minus(line, minus(line, number(line, c->width), sign), behind);
  add(line, "%0*", choose(line, is_finite(line, x), not_negative(line, width), number(line, 0)));
}

/* The same for a conversion that fills with spaces, or has no width. */
static void put_width(Line *line, const Conversion *c, LLVMValueRef behind) {
  buf_printf(&line->format, "%%%s%.1s", c->left ? "-" : "", (char[]){c->sign, 0});
  if (c->width && LLVMIsAConstantInt(behind))
    buf_printf(&line->format, "%d", c->width - (int)LLVMConstIntGetSExtValue(behind));
  else if (c->width)
    add(line, "*", not_negative(line, minus(line, number(line, c->width), behind)));
}

static void put_front(Line *line, const Conversion *c, LLVMValueRef x, LLVMValueRef behind) {
  if (c->zeros)
    put_zeros(line, c, x, behind);
  else
    put_width(line, c, behind);
}

/* --- spaces behind a percentage --- */

/* The digits before the point that "%.*f" writes. */
static int whole_digits(double x, int precision) {
  return snprintf(NULL, 0, "%.*f", precision, x) - (precision ? precision + 1 : 0);
}

/* The smallest number that is written with more than k digits before the point. */
static double first_beyond(int k, int precision) {
  char power[16];
  snprintf(power, sizeof power, "1e%d", k);
  double x = strtod(power, NULL) - 0.5 * pow(10, -precision);
  while (whole_digits(x, precision) > k)
    x = nextafter(x, 0);
  while (whole_digits(x, precision) <= k)
    x = nextafter(x, INFINITY);
  return x;
}

static LLVMValueRef spaces_behind(Line *line, const Conversion *c, LLVMValueRef x) {
  enum { MOST_DIGITS = 309 };
  LLVMBuilderRef b = line->lw->b;
  int precision = c->precision < 0 ? 6 : c->precision;
  int fixed = 2 + (precision ? precision + 1 : 0); /* a digit, the fraction, the percent sign */
  LLVMValueRef size = size_of(line, x), n = number(line, fixed);
  for (int k = 1; k < MOST_DIGITS && fixed + k <= c->width; k++) {
    LLVMValueRef bound = LLVMConstReal(line->lw->t->f64, first_beyond(k, precision));
    LLVMValueRef more = l_fcmp(b, LLVMRealOGE, size, bound);
    n = l_add(b, n, l_zext(b, more, line->lw->t->i64));
  }
  n = choose(line, is_finite(line, x), n, number(line, 4)); /* inf% */
  LLVMValueRef sign = choose(line, is_negative(line, x), number(line, 1),
                             number(line, c->sign != 0));
  return not_negative(line, minus(line, minus(line, number(line, c->width), n), sign));
}

/* --- reals --- */

static void put_real(Line *line, const Conversion *given, LLVMValueRef x) {
  Conversion c = *given;
  bool fills = c.percent && c.left && c.width;
  c.width = fills ? 0 : c.width;
  x = without_nan_sign(line, x);
  LLVMValueRef behind = number(line, c.percent);
  put_front(line, &c, x, behind);
  if (c.precision >= 0)
    buf_printf(&line->format, ".%d", c.precision);
  add(line, (char[]){c.kind, 0}, c.zeros ? size_of(line, x) : x);
  buf_puts(&line->format, c.percent ? "%%" : "");
  if (!fills)
    return;
  add(line, "%*s", spaces_behind(line, given, x));
  add(line, "", lw_text(line->lw, ""));
}

/* Python writes 1.0 where printf writes 1, so a further argument is ".0" for whole numbers that are
 * not printed with an exponent; not if the text is padded on the right or has a precision, nor for
 * a bfloat16, which is printed as ml_dtypes prints it. */
static void put_shortest(Line *line, const Conversion *c, LLVMValueRef x) {
  static const struct {
    char kind;
    int digits;
    double limit; /* from here on %g writes an exponent */
  } rows[] = {{'r', 16, 1e16}, {'R', 7, 1e7}, {'H', 4, 1e4}, {'B', 6, 0}};
  size_t row = 0;
  while (rows[row].kind != c->kind)
    row++;
  assert(row < sizeof rows / sizeof *rows);
  bool points = !c->left && c->precision < 0 && c->kind != 'B';
  LLVMBuilderRef b = line->lw->b;
  LLVMTypeRef t = line->lw->t->f64;
  LLVMValueRef floor = lw_intrinsic(line->lw, "llvm.floor", &t, 1, &x, 1);
  LLVMValueRef limit = LLVMConstReal(t, rows[row].limit);
  LLVMValueRef whole = l_and(b, l_fcmp(b, LLVMRealOEQ, floor, x),
                             l_fcmp(b, LLVMRealOLT, size_of(line, x), limit));
  x = without_nan_sign(line, x);
  LLVMValueRef behind = points && c->width ? choose(line, whole, number(line, 2), number(line, 0))
                                           : number(line, 0);
  put_front(line, c, x, behind);
  buf_printf(&line->format, ".%d", c->precision < 0 ? rows[row].digits : c->precision);
  add(line, "g", c->zeros ? size_of(line, x) : x);
  if (points)
    add(line, "%s", choose(line, whole, lw_text(line->lw, ".0"), lw_text(line->lw, "")));
}

/* Always with both parts, since a format cannot leave one out. */
static void put_complex(Line *line, char kind, LLVMValueRef const *parts) {
  add(line, kind == 'z' ? "(%.16g" : "(%.7g", without_nan_sign(line, parts[0]));
  add(line, kind == 'z' ? "%+.16gj)" : "%+.7gj)", without_nan_sign(line, parts[1]));
}

LLVMValueRef *lw_plain_print(Lower *lw, const char **format, LLVMValueRef const *args,
                             unsigned *n) {
  const unsigned given = *n;
  Line line = {.lw = lw};
  unsigned next = 0;
  buf_init(&line.format, &lw->cx->arena);
  for (const char *p = *format; *p;) {
    Conversion c;
    if (*p != '%' || p[1] == '%') {
      buf_puts(&line.format, *p == '%' ? "%%" : (char[]){*p, 0});
      p += 1 + (*p == '%');
      continue;
    }
    const char *end = read_conversion(p + 1, &c);
    if (strchr("rRHB", c.kind)) {
      put_shortest(&line, &c, args[next++]);
    } else if (c.kind == 'z' || c.kind == 'Z') {
      put_complex(&line, c.kind, args + next);
      next += 2;
    } else if (strchr("fFeEgG", c.kind)) {
      put_real(&line, &c, args[next++]);
    } else { /* one of C's */
      end = p + 1 + strcspn(p + 1, "dus") + 1;
      add(&line, arena_strndup(&lw->cx->arena, p, (size_t)(end - p)), args[next++]);
    }
    p = end;
  }
  assert(next == given); /* each argument has its conversion */
  (void)given;
  *format = line.format.text ? line.format.text : "";
  *n = line.args.len;
  return line.args.data;
}
