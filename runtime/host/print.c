/* Print: what host kernels print, as Python writes it.
 *
 * In: a printf format with C's conversions of long long (%lld, %llu), double (%e %f %g …) and text
 * (%s), and %r, %R, %H: a double, float32 or float16 (all passed as a double) in the shortest form
 * that reads back as the same number, as Python's and NumPy's repr have it; %B: a bfloat16 as
 * ml_dtypes' repr has it, %.6g; these with a precision, as format(x, ".3") has it; %p: %f and a
 * percent sign, within the width; %z and %Z: two such doubles or float32, as the parts of a complex
 * number, %-z: in parentheses always. Out: the text in rt_print_file, in one write. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/host.h"
#include "runtime/host/print_capture.h"

typedef struct Out {
  char *text, small[512];
  size_t len, cap;
  bool failed;
} Out;

static void put(Out *o, const char *s, size_t n) {
  if (o->len + n > o->cap) {
    size_t cap = 2 * o->cap + n;
    char *more = malloc(cap);
    if (!more) {
      o->failed = true;
      return;
    }
    memcpy(more, o->text, o->len);
    if (o->text != o->small)
      free(o->text);
    o->text = more;
    o->cap = cap;
  }
  memcpy(o->text + o->len, s, n);
  o->len += n;
}

static void put_many(Out *o, char c, size_t n) {
  while (n--)
    put(o, &c, 1);
}

/* --- conversions --- */

typedef struct Conversion {
  bool left, zero;
  char sign; /* '+', ' ' or 0 */
  size_t width;
  int precision; /* -1: none */
  char kind;
  const char *behind; /* the digits */
} Conversion;

static const char *read_conversion(const char *s, Conversion *c) {
  *c = (Conversion){.precision = -1, .behind = ""};
  for (; *s && strchr("-+ 0", *s); s++) {
    c->left |= *s == '-';
    c->zero |= *s == '0';
    c->sign = *s == '+' || (*s == ' ' && !c->sign) ? *s : c->sign;
  }
  c->width = strtoul(s, (char **)(uintptr_t)&s, 10);
  if (*s == '.')
    c->precision = (int)strtoul(s + 1, (char **)(uintptr_t)&s, 10);
  s += strspn(s, "l");
  c->behind = *s == 'p' ? "%" : "";
  c->kind = *s == 'p' ? 'f' : *s;
  return *s ? s + 1 : s;
}

/* Sign and digits, padded. Zeros stand between them. */
static void put_padded(Out *o, const Conversion *c, bool negative, const char *text) {
  char sign = negative ? '-' : c->sign;
  size_t n = strlen(text) + strlen(c->behind) + (sign != 0), pad = c->width > n ? c->width - n : 0;
  bool zeros = c->zero && !c->left;
  if (!c->left && !zeros)
    put_many(o, ' ', pad);
  if (sign)
    put(o, &sign, 1);
  if (zeros)
    put_many(o, '0', pad);
  put(o, text, strlen(text));
  put(o, c->behind, strlen(c->behind));
  if (c->left)
    put_many(o, ' ', pad);
}

/* --- shortest texts --- */

/* To the format's nearest number, ties to even. */
static double rounded(double x, char kind) {
  if (kind == 'R')
    return (double)(float)x;
  enum { BITS = 11, LEAST = -14 }; /* of a float16 */
  if (kind == 'r' || x == 0 || !isfinite(x))
    return x;
  int e;
  (void)frexp(x, &e);
  e = e - 1 < LEAST ? LEAST : e - 1;
  double unit = ldexp(1, e - BITS + 1);
  return nearbyint(x / unit) * unit;
}

static bool reads_back(const char *text, double x, char kind) {
  return rounded(kind == 'R' ? (double)strtof(text, NULL) : strtod(text, NULL), kind) == x;
}

/* Above a power of two numbers lie twice as wide as below: the next text up may read back where the
 * nearest one, below, does not. */
static bool next_reads_back(char *out, size_t size, int n, double x, char kind) {
  unsigned long long digits = (unsigned long long)(*out - '0');
  char *s = out + 1, up[64];
  for (s += *s == '.'; *s != 'e'; s++)
    digits = digits * 10 + (unsigned long long)(*s - '0');
  int exponent = atoi(s + 1) - (n - 1);
  snprintf(up, sizeof up, "%llue%d", digits + 1, exponent);
  if (!reads_back(up, x, kind))
    return false;
  char text[32];
  int length = snprintf(text, sizeof text, "%llu", digits + 1);
  snprintf(out, size, "%c%s%se%+03d", *text, length > 1 ? "." : "", text + 1,
           exponent + length - 1);
  return true;
}

/* Digits of x >= 0, finite, as d.dddde±xx: as few as read back as x. Where the exact value lies in
 * the middle between two such texts Python takes the upper one, NumPy the even one. */
static int shortest(double x, char kind, char *out, size_t size) {
  int most = kind == 'r' ? 17 : kind == 'R' ? 9 : 5, n = 1;
  for (;; n++) {
    snprintf(out, size, "%.*e", n - 1, x);
    if (n == most || reads_back(out, x, kind) || next_reads_back(out, size, n, x, kind))
      break;
  }
  char exact[64];
  snprintf(exact, sizeof exact, "%.*e", n + 24, x);
  const char *behind = exact + 1 + (n > 1) + (n > 1 ? n - 1 : 1);
  bool half = kind == 'r' && n > 1 && *behind == '5' && strspn(behind + 1, "0") >= 20;
  if (half) { /* one more digit than needed says which way: nudge it up */
    char *e = strchr(exact, 'e');
    char up[64];
    memcpy(up, exact, (size_t)(behind - exact));
    snprintf(up + (behind - exact), sizeof up - (size_t)(behind - exact), "6%s", e);
    char text[64];
    snprintf(text, sizeof text, "%.*e", n - 1, strtod(up, NULL));
    if (reads_back(text, x, kind))
      snprintf(out, size, "%s", text);
  }
  return n;
}

/* The digits with a point or an exponent, as float's repr (no precision) or format(x, ".p") has
 * them. */
static void real_text(double x, const Conversion *c, char *out, size_t size) {
  if (c->kind == 'B' && c->precision < 0) {
    snprintf(out, size, "%.6g", x);
    return;
  }
  char digits[64];
  int p = c->precision > 40 ? 40 : c->precision == 0 ? 1 : c->precision;
  if (p < 0)
    shortest(x, c->kind, digits, sizeof digits);
  else
    snprintf(digits, sizeof digits, "%.*e", p - 1, x);
  char *e = strchr(digits, 'e');
  int exponent = atoi(e + 1);
  /* as Python and NumPy have it */
  int limit = p >= 0 ? p - 1 : c->kind == 'r' ? 16 : c->kind == 'R' ? 6 : 3;
  bool tiny = p < 0 && x != 0 && x < 1e-4;
  char plain[64];
  size_t n = 0;
  for (const char *s = digits; s < e; s++)
    if (*s != '.')
      plain[n++] = *s;
  while (n > 1 && plain[n - 1] == '0')
    n--;
  plain[n] = 0;
  if (exponent < -4 || exponent >= limit || tiny) {
    snprintf(out, size, "%c%s%se%+03d", plain[0], n > 1 ? "." : "", plain + 1, exponent);
    return;
  }
  char *to = out;
  for (int k = exponent < 0 ? exponent : 0; k < (int)n || k <= exponent + 1; k++) {
    if (k == exponent + 1)
      *to++ = '.';
    *to++ = k >= 0 && k < (int)n ? plain[k] : '0';
  }
  *to = 0;
}

static void put_real(Out *o, const Conversion *c, double x) {
  char text[400];
  bool own = strchr("rRHB", c->kind) != NULL,
       upper = c->kind == 'E' || c->kind == 'F' || c->kind == 'G';
  double size = fabs(x);
  if (isnan(x) || isinf(x)) {
    put_padded(o, c, signbit(x) && !isnan(x),
               isnan(x) ? (upper ? "NAN" : "nan")
               : upper  ? "INF"
                        : "inf");
    return;
  }
  char *to = text, *more = NULL;
  if (own) {
    real_text(size, c, text, sizeof text);
  } else {
    char conversion[] = {'%', '.', '*', c->kind, 0};
    int p = c->precision < 0 ? 6 : c->precision,
        n = snprintf(text, sizeof text, conversion, p, size);
    if (n >= (int)sizeof text && (more = malloc((size_t)n + 1))) {
      snprintf(more, (size_t)n + 1, conversion, p, size);
      to = more;
    }
  }
  put_padded(o, c, signbit(x), to);
  free(more);
}

/* A part of a complex number: whole ones have no point. */
static void put_part(Out *o, double x, char kind, char sign) {
  Conversion c = {.kind = kind, .precision = -1, .sign = sign, .behind = ""};
  char text[400];
  if (!isfinite(x)) {
    put_real(o, &c, x);
    return;
  }
  real_text(fabs(x), &c, text, sizeof text);
  size_t n = strlen(text);
  if (n > 2 && !strcmp(text + n - 2, ".0"))
    text[n - 2] = 0;
  put_padded(o, &c, signbit(x), text);
}

static void put_complex(Out *o, char kind, bool grouped, double re, double im) {
  bool alone = re == 0 && !signbit(re);
  grouped |= !alone;
  put(o, "(", grouped);
  if (!alone)
    put_part(o, re, kind, 0);
  put_part(o, im, kind, alone ? 0 : '+');
  put(o, "j)", 1u + grouped);
}

static void put_int(Out *o, const Conversion *c, long long v) {
  char text[32];
  bool negative = c->kind == 'd' && v < 0;
  snprintf(text, sizeof text, "%llu",
           negative ? 0ull - (unsigned long long)v : (unsigned long long)v);
  put_padded(o, c, negative, text);
}

static void put_conversion(Out *o, const Conversion *c, va_list *ap) {
  switch (c->kind) {
  case 'd':
  case 'u': put_int(o, c, va_arg(*ap, long long)); break;
  case 's': {
    const char *s = va_arg(*ap, const char *);
    put(o, s, strlen(s));
    break;
  }
  case '%': put(o, "%", 1); break;
  case 'z':
  case 'Z': {
    double re = va_arg(*ap, double), im = va_arg(*ap, double);
    put_complex(o, c->kind == 'Z' ? 'R' : 'r', c->left, re, im);
    break;
  }
  default: put_real(o, c, va_arg(*ap, double)); break;
  }
}

int rt_host_print(const char *format, ...) {
  Out o = {.cap = sizeof o.small};
  o.text = o.small;
  /* a point, whatever the process has; C's own is not allocated */
  locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
  va_list ap;
  va_start(ap, format);
  while (*format) {
    size_t plain = strcspn(format, "%");
    put(&o, format, plain);
    format += plain;
    if (!*format)
      break;
    Conversion c;
    format = read_conversion(format + 1, &c);
    put_conversion(&o, &c, &ap);
  }
  va_end(ap);
  uselocale(before);
  /* not through stdio: its buffer would come out after what the caller's own writer prints next */
  if (!o.failed)
    rt_print_write(rt_print_file(), o.text, o.len);
  if (o.text != o.small)
    free(o.text);
  return o.failed ? -1 : (int)o.len;
}
