/* Sums: whether arrays become a worker's own, how that memory begins, and how it is added up.
 *
 * In: what compiled code says of its arrays (RtHostArray), a parameter block. Out: for each worker
 * a copy of the block with other addresses. An element that adds nothing is 0, of floats -0.0:
 * whatever is added to it comes out with its own bits, and elements that nobody added to are left
 * alone. */
#include "runtime/host/sums.h"

#include <string.h>

enum {
  ALIGN = 64,
  /* more would take the place of what the kernel reads in the nearest caches */
  MOST_BYTES = 64 << 10,
  /* so many elements of a worker for each thread, at most: with more, filling them and looking for
   * those that were added to takes longer than the locked additions */
  ELEMENTS_EACH = 2,
};

static uint64_t word_at(const void *params, uint32_t offset, bool wide) {
  uint64_t v = 0;
  memcpy(&v, (const char *)params + offset, wide ? sizeof(uint64_t) : sizeof(uint32_t));
  return v;
}

static uint64_t elements(const RtHostArray *a, const void *params) {
  uint64_t n = 1;
  for (uint32_t k = 0; k < a->axes; k++)
    if (__builtin_mul_overflow(n, word_at(params, a->extents[k], a->wide), &n))
      return UINT64_MAX;
  return n;
}

typedef struct Span {
  uint64_t begin, end;
} Span;

/* All that is between its first and its last byte. */
static Span span_of(const RtHostArray *a, const void *params) {
  uint64_t at = word_at(params, a->pointer, true), n = elements(a, params);
  if (!n)
    return (Span){at, at};
  if (!a->has_strides)
    return (Span){at, at + n * a->bytes};
  Span s = {at, at + a->bytes};
  for (uint32_t k = 0; k < a->axes; k++) {
    int64_t step = (int64_t)word_at(params, a->strides[k], true);
    int64_t reach = (int64_t)(word_at(params, a->extents[k], a->wide) - 1) * step;
    if (reach < 0)
      s.begin += (uint64_t)reach;
    else
      s.end += (uint64_t)reach;
  }
  return s;
}

/* Has no other array memory of this one? */
static bool is_apart(const RtHostCode *code, const void *params, uint32_t which) {
  Span own = span_of(&code->arrays[which], params);
  for (uint32_t k = 0; k < code->narrays; k++) {
    Span other = span_of(&code->arrays[k], params);
    if (k != which && own.begin < other.end && other.begin < own.end)
      return false;
  }
  return true;
}

static size_t aligned(size_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

RtSums rt_sums_of(const RtHostCode *code, const void *params, uint64_t threads, uint64_t workers) {
  RtSums s = {.code = code, .params = params, .workers = (unsigned)workers};
  size_t bytes = aligned(code->param_bytes);
  bool any = false;
  for (uint32_t k = 0; k < code->narrays; k++) {
    const RtHostArray *a = &code->arrays[k];
    uint64_t n = a->sum ? elements(a, params) : 0;
    if (!n || n > MOST_BYTES / a->bytes || n / ELEMENTS_EACH > threads / workers)
      continue;
    size_t more = aligned((size_t)n * a->bytes);
    if (bytes + more > MOST_BYTES || !is_apart(code, params, k))
      continue;
    s.at[k] = bytes, s.count[k] = (size_t)n;
    bytes += more;
    any = true;
  }
  /* a sum asks no more than whether there are such arrays: all must be */
  for (uint32_t k = 0; k < code->narrays && any; k++)
    any = !code->arrays[k].sum || s.count[k];
  s.bytes = any ? bytes : 0;
  return s;
}

static void fill(const RtHostArray *a, char *own, size_t n) {
  memset(own, 0, n * a->bytes);
  if (a->sum == RT_SUM_FLOAT) /* the sign's bit */
    for (size_t k = 1; k <= n; k++)
      own[k * a->bytes - 1] = (char)0x80;
}

#define GIVE_INTEGERS(T)                                                                           \
  static void give_##T(T *to, T *own, size_t n) {                                                  \
    for (size_t k = 0; k < n; k++) {                                                               \
      if (own[k])                                                                                  \
        __atomic_fetch_add(&to[k], own[k], __ATOMIC_RELEASE);                                      \
      own[k] = 0;                                                                                  \
    }                                                                                              \
  }
GIVE_INTEGERS(uint8_t)
GIVE_INTEGERS(uint16_t)
GIVE_INTEGERS(uint32_t)
GIVE_INTEGERS(uint64_t)
#undef GIVE_INTEGERS

/* Floats, and the integers of their bits. */
#define GIVE_FLOATS(T, BITS)                                                                       \
  static void give_##T(BITS *to, BITS *own, size_t n) {                                            \
    const BITS nothing = (BITS)1 << (8 * sizeof(BITS) - 1);                                        \
    for (size_t k = 0; k < n; k++) {                                                               \
      BITS old = __atomic_load_n(&to[k], __ATOMIC_RELAXED), now;                                   \
      T sum, more;                                                                                 \
      if (own[k] == nothing)                                                                       \
        continue;                                                                                  \
      memcpy(&more, &own[k], sizeof more);                                                         \
      do {                                                                                         \
        memcpy(&sum, &old, sizeof sum);                                                            \
        sum += more;                                                                               \
        memcpy(&now, &sum, sizeof now);                                                            \
      } while (!__atomic_compare_exchange_n(&to[k], &old, now, true, __ATOMIC_RELEASE,             \
                                            __ATOMIC_RELAXED));                                    \
      own[k] = nothing;                                                                            \
    }                                                                                              \
  }
GIVE_FLOATS(float, uint32_t)
GIVE_FLOATS(double, uint64_t)
#undef GIVE_FLOATS

/* One element: x with y added to it. */
static uint32_t with_added(uint32_t x, uint32_t y, bool is_float) {
  float sum, more;
  if (!is_float)
    return x + y;
  if (y == UINT32_C(1) << 31) /* nobody added to it */
    return x;
  memcpy(&sum, &x, sizeof sum);
  memcpy(&more, &y, sizeof more);
  sum += more;
  memcpy(&x, &sum, sizeof x);
  return x;
}

/* Two elements of 32 bits at a time: half as many locked accesses. */
static void give_pairs(uint64_t *to, uint64_t *own, size_t n, bool is_float) {
  const uint64_t nothing = is_float ? UINT64_C(0x8000000080000000) : 0;
  for (size_t k = 0; k < n; k++) {
    if (own[k] == nothing)
      continue;
    uint64_t old = __atomic_load_n(&to[k], __ATOMIC_RELAXED), now;
    do {
      uint32_t low = with_added((uint32_t)old, (uint32_t)own[k], is_float),
               high = with_added((uint32_t)(old >> 32), (uint32_t)(own[k] >> 32), is_float);
      now = (uint64_t)high << 32 | low;
    } while (
        !__atomic_compare_exchange_n(&to[k], &old, now, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    own[k] = nothing;
  }
}

static void give_each(const RtHostArray *a, void *to, void *own, size_t n) {
  switch (a->bytes) {
  case 1: give_uint8_t(to, own, n); return;
  case 2: give_uint16_t(to, own, n); return;
  case 4:
    if (a->sum == RT_SUM_FLOAT)
      give_float(to, own, n);
    else
      give_uint32_t(to, own, n);
    return;
  default:
    if (a->sum == RT_SUM_FLOAT)
      give_double(to, own, n);
    else
      give_uint64_t(to, own, n);
    return;
  }
}

static void give(const RtHostArray *a, void *to, void *own, size_t n) {
  size_t pairs = a->bytes == sizeof(uint32_t) && (uintptr_t)to % sizeof(uint64_t) == 0 ? n / 2 : 0,
         bytes = pairs * sizeof(uint64_t);
  give_pairs(to, own, pairs, a->sum == RT_SUM_FLOAT);
  give_each(a, (char *)to + bytes, (char *)own + bytes, n - 2 * pairs);
}

const void *rt_sums_begin(const RtSums *s, void *own) {
  memcpy(own, s->params, s->code->param_bytes);
  for (uint32_t k = 0; k < s->code->narrays; k++) {
    char *at = (char *)own + s->at[k];
    if (!s->count[k])
      continue;
    fill(&s->code->arrays[k], at, s->count[k]);
    memcpy((char *)own + s->code->arrays[k].pointer, &at, sizeof at);
  }
  return own;
}

/* Workers that end together would follow each other through the same cache lines, each addition
 * waiting for the line: so each begins at another one. */
void rt_sums_give(const RtSums *s, void *own, unsigned number) {
  for (uint32_t k = 0; k < s->code->narrays; k++) {
    const RtHostArray *a = &s->code->arrays[k];
    size_t n = s->count[k], line = ALIGN / a->bytes,
           first = n / line * (number % s->workers) / s->workers * line;
    if (!n)
      continue;
    char *to = (char *)(uintptr_t)word_at(s->params, a->pointer, true),
         *from = (char *)own + s->at[k];
    give(a, to + first * a->bytes, from + first * a->bytes, n - first);
    give(a, to, from, first);
  }
}
