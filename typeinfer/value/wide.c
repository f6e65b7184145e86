/* Sign and magnitude in 32-bit words: schoolbook arithmetic, since what constants need is short.
 * wide.h says what comes in and goes out. */
#include "typeinfer/value/wide.h"

#include <math.h>
#include <string.h>

#include "ir/base/chars.h"
#include "ir/build.h"

/* Sign and magnitude; words from the lowest, none of them 0 at the top. Twice the words hold a
 * product. */
enum { WORDS = WIDE_BITS / 32, ROOM = 2 * WORDS + 2, MAX_DIGITS = 1250 };
typedef struct Wide {
  bool negative;
  uint32_t n;
  uint32_t w[ROOM];
} Wide;

static void trim(Wide *x) {
  while (x->n && !x->w[x->n - 1])
    x->n--;
  x->negative &= x->n != 0;
}

static void from_u64(Wide *x, uint64_t v, bool negative) {
  x->negative = negative;
  x->n = 2;
  x->w[0] = (uint32_t)v;
  x->w[1] = (uint32_t)(v >> 32);
  trim(x);
}

/* x = x * factor + add */
static void scale(Wide *x, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t k = 0; k < x->n; k++) {
    carry += (uint64_t)x->w[k] * factor;
    x->w[k] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry)
    x->w[x->n++] = (uint32_t)carry;
}

/* x = x / by; the remainder */
static uint32_t divide_small(Wide *x, uint32_t by) {
  uint64_t rest = 0;
  for (uint32_t k = x->n; k-- > 0;) {
    rest = rest << 32 | x->w[k];
    x->w[k] = (uint32_t)(rest / by);
    rest %= by;
  }
  trim(x);
  return (uint32_t)rest;
}

static bool read_digits(Wide *x, const char *s) {
  *x = (Wide){0};
  bool negative = *s == '-';
  s += negative;
  size_t n = strlen(s);
  if (!n || n > MAX_DIGITS)
    return false;
  for (; *s; s++) {
    if (!char_is_digit(*s))
      return false;
    scale(x, 10, (uint32_t)(*s - '0'));
  }
  x->negative = negative;
  trim(x);
  return x->n <= WORDS;
}

bool wide_is_int(const Frozen *f) { return f && (f->kind == FZ_INT || f->kind == FZ_BOOL); }

static bool read(Wide *x, const Frozen *f) {
  if (f->wide && f->text)
    return read_digits(x, f->text);
  bool negative = !f->wide && f->i < 0;
  from_u64(x, negative ? -(uint64_t)f->i : (uint64_t)f->i, negative);
  return true;
}

static const Frozen *with_text(Cx *cx, const char *text) {
  Frozen *f = CX_NEW(cx, Frozen);
  f->kind = FZ_INT;
  f->wide = true;
  f->text = text;
  return f;
}

static const Frozen *digits_of(Cx *cx, const Wide *value) {
  Wide x = *value;
  char text[MAX_DIGITS + 16], *at = text + sizeof text;
  *--at = 0;
  while (x.n) {
    uint32_t nine = divide_small(&x, 1000000000);
    for (int k = 0; k < 9 && (x.n || nine); k++, nine /= 10)
      *--at = (char)('0' + nine % 10);
  }
  if (value->negative)
    *--at = '-';
  return with_text(cx, arena_strdup(&cx->arena, at));
}

static const Frozen *without_digits(Cx *cx) { return with_text(cx, fz_no_digits); }

static const Frozen *result(Cx *cx, const Wide *x) {
  if (x->n > WORDS)
    return without_digits(cx);
  uint64_t low = (x->n > 0 ? x->w[0] : 0) | (uint64_t)(x->n > 1 ? x->w[1] : 0) << 32;
  if (x->n > 2 || (x->negative && low > UINT64_C(1) << 63))
    return digits_of(cx, x);
  return x->negative ? fz_int(cx, (int64_t)-low) : fz_uint(cx, low);
}

/* --- magnitudes --- */

static int compare_magnitude(const Wide *a, const Wide *b) {
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (uint32_t k = a->n; k-- > 0;)
    if (a->w[k] != b->w[k])
      return a->w[k] < b->w[k] ? -1 : 1;
  return 0;
}

static int compare(const Wide *a, const Wide *b) {
  if (a->negative != b->negative)
    return a->negative ? -1 : 1;
  int c = compare_magnitude(a, b);
  return a->negative ? -c : c;
}

/* |a| + |b|, or |a| - |b| where that is not negative */
static void add_magnitude(Wide *r, const Wide *a, const Wide *b, bool minus) {
  uint32_t n = a->n > b->n ? a->n : b->n;
  int64_t carry = 0;
  for (uint32_t k = 0; k < n; k++) {
    int64_t y = k < b->n ? b->w[k] : 0;
    carry += (int64_t)(k < a->n ? a->w[k] : 0) + (minus ? -y : y);
    r->w[k] = (uint32_t)carry;
    carry >>= 32;
  }
  r->n = n;
  if (carry > 0)
    r->w[r->n++] = (uint32_t)carry;
}

static void add(Wide *r, const Wide *a, const Wide *b, bool minus) {
  bool b_negative = b->negative != minus;
  if (a->negative == b_negative) {
    add_magnitude(r, a, b, false);
    r->negative = a->negative;
  } else if (compare_magnitude(a, b) >= 0) {
    add_magnitude(r, a, b, true);
    r->negative = a->negative;
  } else {
    add_magnitude(r, b, a, true);
    r->negative = b_negative;
  }
  trim(r);
}

static void multiply(Wide *r, const Wide *a, const Wide *b) {
  memset(r->w, 0, (a->n + b->n) * sizeof *r->w);
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t carry = 0;
    for (uint32_t j = 0; j < b->n; j++) {
      carry += (uint64_t)a->w[i] * b->w[j] + r->w[i + j];
      r->w[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    r->w[i + b->n] = (uint32_t)carry;
  }
  r->n = a->n + b->n;
  r->negative = a->negative != b->negative;
  trim(r);
}

static uint32_t bit_length(const Wide *x) {
  return x->n ? 32 * x->n - (uint32_t)__builtin_clz(x->w[x->n - 1]) : 0;
}

static bool bit(const Wide *x, uint32_t k) { return k / 32 < x->n && x->w[k / 32] >> k % 32 & 1; }

/* count bits to the left, or -count to the right, rounding toward 0; true if bits that are 1 are
 * lost */
static bool shift(Wide *r, const Wide *a, int64_t count) {
  bool lost = false;
  int64_t bits = (int64_t)bit_length(a) + count;
  r->negative = a->negative;
  r->n = bits > 0 ? (uint32_t)((bits + 31) / 32) : 0;
  for (int64_t k = 0; k < -count && k < 32 * (int64_t)a->n; k++)
    lost |= bit(a, (uint32_t)k);
  for (uint32_t k = 0; k < r->n; k++) {
    uint32_t word = 0;
    for (uint32_t j = 0; j < 32; j++) {
      int64_t from = 32 * (int64_t)k + j - count;
      word |= (uint32_t)(from >= 0 && bit(a, (uint32_t)from)) << j;
    }
    r->w[k] = word;
  }
  trim(r);
  return lost;
}

/* Quotient and remainder of magnitudes, bit by bit. */
static void divide(Wide *q, Wide *r, const Wide *a, const Wide *b) {
  *q = *r = (Wide){0};
  q->n = a->n;
  for (uint32_t k = bit_length(a); k-- > 0;) {
    scale(r, 2, bit(a, k));
    if (compare_magnitude(r, b) >= 0) {
      Wide less = *r;
      add_magnitude(r, &less, b, true);
      trim(r);
      q->w[k / 32] |= UINT32_C(1) << k % 32;
    }
  }
  trim(q);
}

/* --- Python's operations: false where the result has more than WIDE_BITS bits --- */

static void floor_division(Wide *q, Wide *r, const Wide *a, const Wide *b) {
  Wide one = {.n = 1, .w = {1}}, t;
  divide(q, r, a, b);
  q->negative = q->n && a->negative != b->negative;
  r->negative = r->n && a->negative;
  if (r->n && a->negative != b->negative) {
    add(&t, q, &one, true);
    *q = t;
    add(&t, r, b, false);
    *r = t;
  }
}

static bool power(Wide *r, const Wide *a, const Wide *b) {
  bool trivial = !a->n || (a->n == 1 && a->w[0] == 1);
  uint32_t n = b->n ? b->w[0] : 0;
  if (trivial) {
    *r = b->n ? *a : (Wide){.n = 1, .w = {1}};
    r->negative = a->negative && (n & 1);
    return true;
  }
  if (b->n > 1 || (uint64_t)(bit_length(a) - 1) * n > WIDE_BITS)
    return false;
  Wide x = *a, t;
  *r = (Wide){.n = 1, .w = {1}};
  for (;; n >>= 1) {
    if (n & 1) {
      multiply(&t, r, &x);
      *r = t;
    }
    if (n < 2 || r->n > WORDS || x.n > WORDS)
      return n < 2;
    multiply(&t, &x, &x);
    x = t;
  }
}

/* Bitwise, of two's complements of n words. */
static void bitwise(Wide *r, Op op, const Wide *a, const Wide *b) {
  uint32_t n = (a->n > b->n ? a->n : b->n) + 1;
  uint64_t carry_a = 1, carry_b = 1, carry = 1;
  for (uint32_t k = 0; k < n; k++) {
    uint64_t x = k < a->n ? a->w[k] : 0, y = k < b->n ? b->w[k] : 0;
    if (a->negative) {
      carry_a += (uint32_t)~x;
      x = (uint32_t)carry_a;
      carry_a >>= 32;
    }
    if (b->negative) {
      carry_b += (uint32_t)~y;
      y = (uint32_t)carry_b;
      carry_b >>= 32;
    }
    r->w[k] = (uint32_t)(op == OP_AND ? x & y : op == OP_OR ? x | y : x ^ y);
  }
  r->n = n;
  r->negative = r->w[n - 1] >> 31;
  for (uint32_t k = 0; k < n && r->negative; k++) {
    carry += (uint32_t)~r->w[k];
    r->w[k] = (uint32_t)carry;
    carry >>= 32;
  }
  trim(r);
}

/* x << count, or x >> count, which rounds down. */
static bool shift_by(Wide *r, Op op, const Wide *x, const Wide *count) {
  Wide one = {.n = 1, .w = {1}}, t;
  bool many = count->n > 1 || (count->n && count->w[0] > 2 * WIDE_BITS);
  int64_t n = many ? 2 * WIDE_BITS : count->n ? count->w[0] : 0;
  if (op == OP_LSHIFT && x->n && (many || bit_length(x) + n > WIDE_BITS))
    return false;
  if (shift(r, x, op == OP_LSHIFT ? n : -n) && x->negative) {
    t = *r;
    t.negative = t.n != 0;
    add(r, &t, &one, true);
  }
  return true;
}

/* --- floats --- */

static double to_double(const Wide *x) {
  Wide t;
  int64_t bits = bit_length(x), drop = bits - 64;
  bool sticky = drop > 0 && shift(&t, x, -drop);
  const Wide *top = drop > 0 ? &t : x;
  uint64_t m = (top->n > 0 ? top->w[0] : 0) | (uint64_t)(top->n > 1 ? top->w[1] : 0) << 32;
  double d = ldexp((double)(m | sticky), drop > 0 ? (int)drop : 0);
  return x->negative ? -d : d;
}

/* a / b rounded once, as Python has it; inf where it is too large. */
static double ratio(const Wide *a, const Wide *b) {
  Wide x, q, r;
  int64_t up = 66 - ((int64_t)bit_length(a) - bit_length(b)); /* the quotient has 66 or 67 bits */
  if (!a->n)
    return b->negative ? -0.0 : 0.0;
  up = up < 0 ? 0 : up;
  (void)shift(&x, a, up);
  divide(&q, &r, &x, b);
  q.w[0] |= r.n != 0;
  int64_t bits = bit_length(&q);
  /* a subnormal quotient has fewer bits: they are cut here, so that it is rounded once */
  int64_t drop = up - 1074 - 2;
  if (drop > 0 && drop < bits) {
    bool sticky = shift(&x, &q, -drop);
    x.w[0] |= sticky;
    q = x;
    up -= drop;
  }
  q.negative = false;
  double d = ldexp(to_double(&q), (int)-up);
  return a->negative != b->negative ? -d : d;
}

double wide_double(const Frozen *f) {
  Wide x;
  return read(&x, f) ? to_double(&x) : (double)NAN;
}

/* --- the interface --- */

const Frozen *wide_binary(Cx *cx, Op op, const Frozen *fa, const Frozen *fb) {
  Wide a, b, r, other;
  if (!read(&a, fa) || !read(&b, fb))
    return without_digits(cx);
  bool shifts = op == OP_LSHIFT || op == OP_RSHIFT;
  bool divides = op == OP_FLOORDIV || op == OP_MOD || op == OP_TRUEDIV;
  if ((divides && !b.n) || ((shifts || op == OP_POW) && b.negative))
    return NULL;
  bool ok = true;
  switch (op) {
  case OP_ADD:
  case OP_SUB: add(&r, &a, &b, op == OP_SUB); break;
  case OP_MUL: multiply(&r, &a, &b); break;
  case OP_FLOORDIV: floor_division(&r, &other, &a, &b); break;
  case OP_MOD: floor_division(&other, &r, &a, &b); break;
  case OP_POW: ok = power(&r, &a, &b); break;
  case OP_LSHIFT:
  case OP_RSHIFT: ok = shift_by(&r, op, &a, &b); break;
  case OP_AND:
  case OP_OR:
  case OP_XOR: bitwise(&r, op, &a, &b); break;
  case OP_TRUEDIV: {
    double d = ratio(&a, &b);
    return isinf(d) ? NULL : fz_float(cx, d);
  }
  default: return NULL;
  }
  return ok ? result(cx, &r) : without_digits(cx);
}

const Frozen *wide_unary(Cx *cx, Op op, const Frozen *f) {
  Wide x, r, minus = {.negative = true, .n = 1, .w = {1}};
  if (!read(&x, f))
    return without_digits(cx);
  switch (op) {
  case OP_NEG: x.negative = x.n && !x.negative; return result(cx, &x);
  case OP_POS: return result(cx, &x);
  case OP_INVERT: /* -1 - x */ add(&r, &minus, &x, true); return result(cx, &r);
  default: return NULL;
  }
}

/* An integer beside a float: the float's whole part, then what is left of it. */
static int compare_float(const Wide *a, double d) {
  Wide b = {0};
  int exponent;
  if (isnan(d))
    return 2;
  if (isinf(d))
    return d > 0 ? -1 : 1;
  double whole = trunc(d), mantissa = frexp(fabs(whole), &exponent);
  Wide m;
  from_u64(&m, (uint64_t)ldexp(mantissa, 53), whole < 0);
  (void)shift(&b, &m, exponent - 53);
  int c = compare(a, &b);
  return c ? c : d > whole ? -1 : d < whole;
}

int wide_compare(const Frozen *fa, const Frozen *fb) {
  Wide a, b;
  if (wide_is_int(fa) && !read(&a, fa))
    return 2;
  if (wide_is_int(fb) && !read(&b, fb))
    return 2;
  if (fb->kind == FZ_FLOAT)
    return compare_float(&a, fb->re);
  if (fa->kind == FZ_FLOAT) {
    int c = compare_float(&b, fa->re);
    return c == 2 ? c : -c;
  }
  return compare(&a, &b);
}

int64_t wide_bit_length(const Frozen *f) {
  Wide x;
  return read(&x, f) ? (int64_t)bit_length(&x) : -1;
}

int64_t wide_bit_count(const Frozen *f) {
  Wide x;
  int64_t n = 0;
  if (!read(&x, f))
    return -1;
  for (uint32_t k = 0; k < x.n; k++)
    n += __builtin_popcount(x.w[k]);
  return n;
}
