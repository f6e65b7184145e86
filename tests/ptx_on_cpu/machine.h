/* What translated PTX is compiled with (translate.py): one thread of a grid at a time, up to where
 * it waits for its block or for lanes of its warp, every access to memory checked. In: a Machine,
 * which the launch fills; out: the fault that ended it. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef struct Range {
  uint64_t from, to;
  uint64_t writable;
} Range;

enum {
  FAULT_NONE,
  FAULT_ADDRESS,
  FAULT_ALIGNMENT,
  FAULT_TRAP,
  FAULT_WRITE,
  FAULT_SPACE,
  FAULT_DEPTH,
  FAULT_WARP,
  THREAD_ENDS
};
enum { GENERIC, GLOBAL, CONST, SHARED, LOCAL, PARAM };
enum {
  LOCAL_BYTES = 1 << 20,
  RED = 64,
  SHARED_BYTES = 256 << 10,
  /* a GPU gives out more at once: LLVM's widest access may end beyond the last element */
  SHARED_UNIT = 16,
  MOST_DEPTH = 2000,
  STACK_BYTES = 256 << 10
};

/* Operations of a warp, and what a thread waits for. */
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX, VOTE, MATCH, REDUX, MEET };
enum { READY, AT_BARRIER, AT_WARP };

/* What a lane brings to an operation, and what it takes from it. */
typedef struct Asked {
  int kind;
  uint32_t mask, by, clamp; /* by and clamp: of shuffles */
  uint64_t value;
  uint64_t values[32]; /* out: the lanes' values, */
  uint32_t lanes;      /* and who they were */
  uint64_t line;
} Asked;

typedef struct Frame {
  struct Frame *before;
  uint64_t from, to;
} Frame;

/* Its beginning is known to machine.py. */
typedef struct Machine {
  uint32_t grid[3], block[3];
  uint64_t dynamic_shared, poison, nranges;
  const Range *ranges; /* of global memory, in order */
  const unsigned char *params;
  uint64_t param_bytes;
  uint64_t fault, line, address, size; /* out */
  uint64_t deepest, deepest_calls,
      accesses; /* out: bytes of local memory and calls at the deepest */
  uint32_t tid[3], ctaid[3];
  Frame *frames;
  uint64_t calls;
  unsigned char *local, *shared;
  jmp_buf end;
  ucontext_t here, *block_context; /* of threads that wait for others */
  bool ended;
  int waits;
  Asked asked;
  bool vote;              /* at the barrier where it waits */
  uint32_t votes, voters; /* of all that waited there */
} Machine;

/* A variable of the module, and where it lies. */
typedef struct Held {
  uint64_t from, to;
  int space;
} Held;
static Held held[];
static const unsigned nheld;
static const uint64_t static_shared;
static const bool threads_meet; /* at barriers */

__attribute__((noreturn, cold, noinline)) static void stop(Machine *m, int fault, uint64_t line,
                                                           uint64_t address, uint64_t size) {
  m->fault = fault;
  m->line = line;
  m->address = address;
  m->size = size;
  longjmp(m->end, 1);
}

/* --- memory --- */

static bool in_frame(const Machine *m, uint64_t a, uint64_t end) {
  for (const Frame *f = m->frames; f; f = f->before)
    if (a >= f->from && end <= f->to)
      return true;
  return false;
}

static int held_space(uint64_t a, uint64_t end) {
  for (unsigned k = 0; k < nheld; k++)
    if (a >= held[k].from && end <= held[k].to)
      return held[k].space;
  return -1;
}

/* The space of a range of memory, or -1. */
static int space_of(const Machine *m, uint64_t a, uint64_t end, bool *writable) {
  uint64_t shared = (uint64_t)m->shared, low = 0, high = m->nranges;
  *writable = true;
  while (low < high) { /* the first that ends behind a */
    uint64_t middle = (low + high) / 2;
    if (m->ranges[middle].to > a)
      high = middle;
    else
      low = middle + 1;
  }
  if (low < m->nranges && a >= m->ranges[low].from && end <= m->ranges[low].to) {
    *writable = m->ranges[low].writable;
    return GLOBAL;
  }
  if (in_frame(m, a, end))
    return LOCAL;
  uint64_t shared_end = shared + static_shared + m->dynamic_shared;
  if (a >= shared && end <= (shared_end + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT)
    return SHARED;
  uint64_t params = (uint64_t)m->params;
  int space = a >= params && end <= params + m->param_bytes ? PARAM : held_space(a, end);
  *writable = space != CONST && space != PARAM;
  return space;
}

static void *reach(Machine *m, uint64_t a, uint64_t size, int space, bool writes, uint64_t line) {
  bool writable;
  m->accesses++;
  if (a % size)
    stop(m, FAULT_ALIGNMENT, line, a, size);
  int found = a + size < a ? -1 : space_of(m, a, a + size, &writable);
  if (found < 0)
    stop(m, FAULT_ADDRESS, line, a, size);
  if (space != GENERIC && space != found)
    stop(m, FAULT_SPACE, line, a, size);
  if (writes && !writable)
    stop(m, FAULT_WRITE, line, a, size);
  return (void *)a;
}

/* Atomics are for memory that others see. */
static void *reach_atomic(Machine *m, uint64_t a, uint64_t size, int space, uint64_t line) {
  void *at = reach(m, a, size, space, true, line);
  if (in_frame(m, a, a + size))
    stop(m, FAULT_SPACE, line, a, size);
  return at;
}

static void enter(Machine *m, Frame *f, uint64_t bytes, uint64_t align, uint64_t line) {
  uint64_t from = m->frames ? m->frames->to : (uint64_t)m->local;
  from = (from + RED + align - 1) / align * align;
  *f = (Frame){m->frames, from, from + bytes};
  if (f->to + RED > (uint64_t)m->local + LOCAL_BYTES || ++m->calls > MOST_DEPTH)
    stop(m, FAULT_DEPTH, line, from, bytes);
  memset((void *)from, (int)m->poison, bytes);
  m->frames = f;
  uint64_t used = 0;
  for (const Frame *g = f; g; g = g->before)
    used += g->to - g->from;
  if (used > m->deepest)
    m->deepest = used;
  if (m->calls > m->deepest_calls)
    m->deepest_calls = m->calls;
}

static void leave(Machine *m) {
  m->frames = m->frames->before;
  m->calls--;
}

/* --- warps --- */

static uint32_t lane_of(const Machine *m) {
  return (m->tid[0] + m->block[0] * (m->tid[1] + m->block[1] * m->tid[2])) % 32;
}
static uint32_t own_lane(const Machine *m) { return 1u << lane_of(m); }

/* The values that the lanes of the mask bring, once all of them are here. Threads that run one by
 * one have nobody to wait for: another lane in the mask is a fault. */
static const Asked *meet(Machine *m, int kind, uint32_t mask, uint64_t value, uint32_t by,
                         uint32_t clamp, uint64_t line) {
  Asked *asked = &m->asked;
  asked->kind = kind, asked->mask = mask, asked->value = value;
  asked->by = by, asked->clamp = clamp, asked->line = line;
  if (!(mask & own_lane(m)) || (!threads_meet && mask != own_lane(m)))
    stop(m, FAULT_WARP, line, mask, 4);
  if (mask == own_lane(m)) {
    asked->lanes = mask;
    asked->values[lane_of(m)] = value;
  } else {
    m->waits = AT_WARP;
    swapcontext(&m->here, m->block_context);
  }
  return asked;
}

/* As PTX says it of shfl.sync. A lane from which nobody brings a value gives the pattern. */
static uint32_t shuffle(Machine *m, int kind, uint32_t value, uint32_t by, uint32_t clamp,
                        uint32_t mask, uint64_t line, bool *inside) {
  const Asked *all = meet(m, kind, mask, value, by & 31, clamp, line);
  uint32_t lane = lane_of(m), segment = clamp >> 8 & 31, j;
  uint32_t most = (lane & segment) | (clamp & 31 & ~segment), least_lane = lane & segment;
  by &= 31;
  j = kind == SHFL_UP     ? lane - by
      : kind == SHFL_DOWN ? lane + by
      : kind == SHFL_BFLY ? lane ^ by
                          : least_lane | (by & ~segment);
  *inside = kind == SHFL_UP ? (int32_t)j >= (int32_t)most : j <= most;
  if (!*inside)
    j = lane;
  return all->lanes >> j & 1 ? (uint32_t)all->values[j] : (uint32_t)m->poison;
}

static uint32_t ballot(Machine *m, uint64_t value, uint32_t mask, uint64_t line) {
  const Asked *all = meet(m, VOTE, mask, value, 0, 0, line);
  uint32_t votes = 0;
  for (int k = 0; k < 32; k++)
    votes |= (uint32_t)(all->lanes >> k & 1 && all->values[k]) << k;
  return votes;
}
/* The lanes of the mask that take part: those that have ended do not. */
static uint32_t here_of(const Machine *m) { return m->asked.lanes; }

static uint32_t match_any(Machine *m, uint64_t value, uint32_t mask, uint64_t line) {
  const Asked *all = meet(m, MATCH, mask, value, 0, 0, line);
  uint32_t same = 0;
  for (int k = 0; k < 32; k++)
    same |= (uint32_t)(all->lanes >> k & 1 && all->values[k] == value) << k;
  return same;
}

typedef uint32_t Reduces(uint32_t a, uint32_t b);
static uint32_t redux_add(uint32_t a, uint32_t b) { return a + b; }
static uint32_t redux_and(uint32_t a, uint32_t b) { return a & b; }
static uint32_t redux_or(uint32_t a, uint32_t b) { return a | b; }
static uint32_t redux_xor(uint32_t a, uint32_t b) { return a ^ b; }
static uint32_t redux_umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t redux_umax(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t redux_smin(uint32_t a, uint32_t b) { return (int32_t)a < (int32_t)b ? a : b; }
static uint32_t redux_smax(uint32_t a, uint32_t b) { return (int32_t)a > (int32_t)b ? a : b; }
static uint32_t redux(Machine *m, Reduces *f, uint32_t value, uint32_t mask, uint64_t line) {
  const Asked *all = meet(m, REDUX, mask, value, 0, 0, line);
  uint32_t result = value;
  bool first = true;
  for (int k = 0; k < 32; k++)
    if (all->lanes >> k & 1) {
      result = first ? (uint32_t)all->values[k] : f(result, (uint32_t)all->values[k]);
      first = false;
    }
  return result;
}

/* --- bits and numbers --- */

typedef unsigned __int128 uint128_t;

static float f32_of(uint32_t b) {
  float x;
  memcpy(&x, &b, 4);
  return x;
}
static double f64_of(uint64_t b) {
  double x;
  memcpy(&x, &b, 8);
  return x;
}
static uint32_t of_f32(float x) {
  uint32_t b;
  memcpy(&b, &x, 4);
  return x != x ? 0x7fffffff : b;
}
static uint64_t of_f64(double x) {
  uint64_t b;
  memcpy(&b, &x, 8);
  return x != x ? 0x7ff8000000000000 : b;
}
static float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* To a format of that many bits of precision and that lowest exponent, ties to even; infinite where
 * it is `most` or beyond. */
static long double rounded(long double x, int precision, int lowest, long double most) {
  int e;
  frexpl(x, &e);
  int unit = (e - precision < lowest ? lowest : e - precision);
  long double r = ldexpl(rintl(ldexpl(x, -unit)), unit);
  return fabsl(r) >= most ? copysignl(INFINITY, r) : r;
}
static uint16_t of_bf16(long double x) {
  uint32_t b = of_f32(x != x || isinf(x) || x == 0 ? x : rounded(x, 8, -133, 0x1p128L));
  return b == 0x7fffffff ? 0x7fff : b >> 16;
}
static float bf16_of(uint16_t b) { return f32_of((uint32_t)b << 16); }
static uint16_t of_f16(long double x) {
  uint16_t sign = signbit(x) ? 0x8000 : 0;
  if (x != x)
    return 0x7fff;
  long double r = fabsl(isinf(x) || x == 0 ? x : rounded(x, 11, -24, 0x1p16L));
  if (isinf(r))
    return sign | 0x7c00;
  if (r < 0x1p-14L)
    return sign | (uint16_t)ldexpl(r, 24);
  int e;
  frexpl(r, &e);
  return sign | (uint16_t)(((e + 14) << 10) + (int)ldexpl(r, 11 - e) - 1024);
}
static float f16_of(uint16_t b) {
  int e = b >> 10 & 31, n = b & 1023;
  float x = e == 31 ? (n ? NAN : INFINITY) : e ? ldexpf(n + 1024, e - 25) : ldexpf(n, -24);
  return b & 0x8000 ? -x : x;
}
/* 8-bit floats: e5m2 is the upper half of an f16; the bits of e4m3 are part of an f16 that is less
 * by 2**8, the difference of the biases. satfinite: the largest number for what is beyond it. */
static uint8_t of_e5m2(float x) {
  float r = fabsf(x) >= 57344 ? copysignf(57344, x)
            : x == 0          ? x
                              : (float)rounded(x, 3, -16, INFINITY);
  return x != x ? 0x7f : of_f16(r) >> 8;
}
static uint8_t of_e4m3(float x) {
  float r = fabsf(x) >= 448 ? 448 : x == 0 ? 0 : fabsf((float)rounded(x, 4, -9, INFINITY));
  return x != x ? 0x7f : (signbit(x) ? 0x80 : 0) | of_f16(r / 256) >> 7;
}
static uint16_t e5m2_as_f16(uint8_t v) { return (v & 0x7f) > 0x7c ? 0x7fff : v << 8; }
static uint16_t e4m3_as_f16(uint8_t v) {
  float size = 256 * f16_of((v & 0x7f) << 7);
  return (v & 0x7f) == 0x7f ? 0x7fff : of_f16(v & 0x80 ? -size : size);
}
static double upper_half(double x) {
  uint64_t b;
  memcpy(&b, &x, 8);
  return f64_of(b & ~(uint64_t)UINT32_MAX);
}
static double least(double a, double b) {
  return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static double greatest(double a, double b) {
  return a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b;
}

/* a b + c to 64 bits of precision, the last of them set where it is inexact: rounding that to fewer
 * is rounding once. */
static long double fma_odd(float a, float b, float c) {
  volatile long double product = (long double)a * b, addend = c, sum;
  fesetround(FE_TOWARDZERO);
  feclearexcept(FE_INEXACT);
  sum = product + addend;
  bool inexact = fetestexcept(FE_INEXACT);
  fesetround(FE_TONEAREST);
  if (!inexact || !isfinite(sum))
    return sum == 0 ? (long double)((float)product + (float)addend) : sum;
  uint64_t bits;
  volatile long double odd = sum;
  memcpy(&bits, (void *)&odd, 8);
  bits |= 1;
  memcpy((void *)&odd, &bits, 8);
  return odd;
}

enum { OP_ADD, OP_MUL, OP_FMA };
static float directed_f32(int op, float a, float b, float c, int mode) {
  volatile float x = a, y = b, z = c, r;
  fesetround(mode);
  r = op == OP_ADD ? x + y : op == OP_MUL ? x * y : fmaf(x, y, z);
  fesetround(FE_TONEAREST);
  return r;
}
static double directed_f64(int op, double a, double b, double c, int mode) {
  volatile double x = a, y = b, z = c, r;
  fesetround(mode);
  r = op == OP_ADD ? x + y : op == OP_MUL ? x * y : fma(x, y, z);
  fesetround(FE_TONEAREST);
  return r;
}
static float directed_narrow(double a, int mode) {
  volatile double x = a;
  volatile float r;
  fesetround(mode);
  r = x;
  fesetround(FE_TONEAREST);
  return r;
}
static double directed_from_integer(long double a, int bits, int mode) {
  volatile long double x = a;
  volatile double r;
  volatile float s = 0;
  fesetround(mode);
  if (bits == 32)
    s = x;
  r = bits == 32 ? s : (double)x;
  fesetround(FE_TONEAREST);
  return r;
}

static uint64_t saturated(long double x, int is_signed, int bits) {
  long double high = ldexpl(1, bits - is_signed), low = is_signed ? -high : 0;
  if (x >= high)
    return is_signed ? (UINT64_MAX >> (65 - bits)) : UINT64_MAX >> (64 - bits);
  if (x <= low)
    return is_signed ? UINT64_MAX << (bits - 1) : 0;
  return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t low_bits(int n) { return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1; }
static uint64_t add_carry(int n, uint64_t a, uint64_t b, uint32_t in, uint32_t *out) {
  uint128_t sum = (uint128_t)(a & low_bits(n)) + (b & low_bits(n)) + in;
  *out = (uint32_t)(sum >> n) & 1;
  return (uint64_t)sum;
}
static uint64_t sub_borrow(int n, uint64_t a, uint64_t b, uint32_t in, uint32_t *out) {
  uint128_t difference = (uint128_t)(a & low_bits(n)) - (b & low_bits(n)) - in;
  *out = (uint32_t)(difference >> n) & 1;
  return (uint64_t)difference;
}
static unsigned leading_zeros(uint64_t a, int n) {
  return a ? (unsigned)(__builtin_clzll(a) - (64 - n)) : (unsigned)n;
}
static uint64_t reversed(uint64_t a, int n) {
  uint64_t r = 0;
  for (int k = 0; k < n; k++)
    r |= (a >> k & 1) << (n - 1 - k);
  return r;
}
static uint64_t field(uint64_t a, uint32_t at, uint32_t size, int n, bool is_signed) {
  at &= 255;
  size &= 255;
  unsigned last = at + size > (unsigned)n ? (unsigned)n - 1 : at + size - 1;
  uint64_t sign = is_signed && size && (a >> last & 1) ? UINT64_MAX : 0;
  uint64_t bits = at >= (unsigned)n ? 0 : a >> at;
  if (!size)
    return 0;
  unsigned have = at >= (unsigned)n ? 0 : (unsigned)n - at < size ? (unsigned)n - at : size;
  return (bits & low_bits(have)) | (sign & ~low_bits(have));
}
static uint64_t with_field(uint64_t a, uint64_t b, uint32_t at, uint32_t size, int n) {
  at &= 255;
  size &= 255;
  if (at >= (unsigned)n || !size)
    return b;
  uint64_t mask = low_bits(size) << at;
  return (b & ~mask) | (a << at & mask);
}
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t how) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int k = 0; k < 4; k++) {
    uint32_t which = how >> 4 * k & 15, byte = bytes >> 8 * (which & 7) & 255;
    r |= (which & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * k;
  }
  return r;
}
static uint32_t any_logic(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (int k = 0; k < 8; k++)
    if (table >> k & 1)
      r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

/* --- printing: every argument takes 8 bytes of the buffer --- */

static void ptx_vprintf(Machine *m, unsigned char *result, const unsigned char *format,
                        const unsigned char *arguments) {
  uint64_t text, buffer;
  memcpy(&text, format, 8);
  memcpy(&buffer, arguments, 8);
#ifdef __x86_64__
  union {
    va_list list;
    struct {
      unsigned gp, fp;
      void *overflow, *save;
    } is;
  } all = {.is = {48, 304, (void *)buffer, NULL}};
  int n = vprintf((const char *)text, all.list);
#else
  (void)buffer;
  int n = -1;
  stop(m, FAULT_TRAP, 0, text, 0);
#endif
  (void)m;
  memcpy(result, &n, 4);
}

/* --- the grid --- */

typedef void Entry(Machine *m, const unsigned char *params);

static int run_thread(Machine *m, Entry *entry) {
  m->frames = NULL;
  m->calls = 0;
  if (setjmp(m->end))
    return m->fault == THREAD_ENDS ? (int)(m->fault = 0) : 1;
  entry(m, m->params);
  return 0;
}

static int run_one_by_one(Machine *m, Entry *entry) {
  for (m->tid[2] = 0; m->tid[2] < m->block[2]; m->tid[2]++)
    for (m->tid[1] = 0; m->tid[1] < m->block[1]; m->tid[1]++)
      for (m->tid[0] = 0; m->tid[0] < m->block[0]; m->tid[0]++)
        if (run_thread(m, entry))
          return 1;
  return 0;
}

/* Threads that meet: each is a coroutine, and runs until it waits or ends. */
static void wait_for_block(Machine *m) {
  m->waits = AT_BARRIER;
  swapcontext(&m->here, m->block_context);
}

static void run_coroutine(unsigned low, unsigned high, unsigned entry_low, unsigned entry_high) {
  Machine *m = (Machine *)((uint64_t)high << 32 | low);
  run_thread(m, (Entry *)((uint64_t)entry_high << 32 | entry_low));
  m->ended = true;
  swapcontext(&m->here, m->block_context);
}

static void begin_coroutine(Machine *t, const Machine *m, Entry *entry, ucontext_t *context,
                            unsigned number) {
  uint64_t self = (uint64_t)t, start = (uint64_t)entry;
  *t = *m;
  t->tid[0] = number % m->block[0];
  t->tid[1] = number / m->block[0] % m->block[1];
  t->tid[2] = number / m->block[0] / m->block[1];
  t->local = malloc(LOCAL_BYTES + STACK_BYTES);
  t->ended = false;
  t->waits = READY;
  t->accesses = 0;
  t->block_context = context;
  getcontext(&t->here);
  t->here.uc_stack.ss_sp = t->local + LOCAL_BYTES;
  t->here.uc_stack.ss_size = STACK_BYTES;
  makecontext(&t->here, (void (*)(void))run_coroutine, 4, (unsigned)self, (unsigned)(self >> 32),
              (unsigned)start, (unsigned)(start >> 32));
}

/* What the thread found is the block's. True: it was a fault. */
static bool take_back(Machine *m, const Machine *t) {
  m->accesses += t->accesses;
  m->deepest = t->deepest > m->deepest ? t->deepest : m->deepest;
  m->deepest_calls = t->deepest_calls > m->deepest_calls ? t->deepest_calls : m->deepest_calls;
  m->fault = t->fault, m->line = t->line, m->address = t->address, m->size = t->size;
  return t->fault;
}

/* All have come as far as they can: what they vote where they wait. */
static void count_votes(Machine *threads, unsigned n) {
  uint32_t votes = 0, voters = 0;
  for (unsigned k = 0; k < n; k++) {
    voters += !threads[k].ended;
    votes += !threads[k].ended && threads[k].vote;
  }
  for (unsigned k = 0; k < n; k++) {
    threads[k].votes = votes;
    threads[k].voters = voters;
    threads[k].waits = READY;
  }
}

/* Do all lanes of the mask that thread k waits with ask for the same? Those that have ended are
 * counted as there. */
static bool lanes_are_here(const Machine *threads, unsigned n, unsigned k) {
  const Asked *asked = &threads[k].asked;
  for (unsigned lane = 0, first = k / 32 * 32; lane < 32; lane++) {
    const Machine *t = &threads[first + lane];
    if (!(asked->mask >> lane & 1) || first + lane >= n || t->ended)
      continue;
    if (t->waits != AT_WARP || t->asked.kind != asked->kind || t->asked.mask != asked->mask)
      return false;
  }
  return true;
}

static void give_lanes(Machine *threads, unsigned n, unsigned k) {
  unsigned first = k / 32 * 32;
  uint32_t mask = threads[k].asked.mask, lanes = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    if (mask >> lane & 1 && first + lane < n && !threads[first + lane].ended)
      lanes |= 1u << lane;
  for (unsigned to = 0; to < 32; to++) {
    Machine *t = &threads[first + to];
    if (!(lanes >> to & 1))
      continue;
    for (unsigned from = 0; from < 32; from++)
      if (lanes >> from & 1)
        t->asked.values[from] = threads[first + from].asked.value;
    t->asked.lanes = lanes;
    t->waits = READY;
  }
}

/* All have come as far as they can: lanes that are complete go on; where there are none, all
 * threads wait at the barrier, or for nothing that comes. */
static bool let_go(Machine *m, Machine *threads, unsigned n) {
  bool some = false;
  const Machine *stuck = NULL;
  for (unsigned k = 0; k < n; k++)
    if (!threads[k].ended && threads[k].waits == AT_WARP) {
      if (lanes_are_here(threads, n, k)) {
        give_lanes(threads, n, k);
        some = true;
      } else {
        stuck = &threads[k];
      }
    }
  if (some)
    return true;
  if (!stuck) {
    count_votes(threads, n);
    return true;
  }
  m->fault = FAULT_WARP, m->line = stuck->asked.line, m->address = stuck->asked.mask, m->size = 4;
  return false;
}

static int run_together(Machine *m, Entry *entry) {
  unsigned n = m->block[0] * m->block[1] * m->block[2], running = n;
  Machine *threads = calloc(n, sizeof *threads);
  ucontext_t context;
  for (unsigned k = 0; k < n; k++)
    begin_coroutine(&threads[k], m, entry, &context, k);
  bool fault = false;
  while (running && !fault) {
    for (unsigned k = 0; k < n && !fault; k++) {
      if (threads[k].ended || threads[k].waits != READY)
        continue;
      swapcontext(&context, &threads[k].here);
      if (threads[k].ended) {
        running--;
        fault = take_back(m, &threads[k]);
      }
    }
    fault = fault || (running && !let_go(m, threads, n));
  }
  for (unsigned k = 0; k < n; k++)
    free(threads[k].local);
  free(threads);
  return fault;
}

static int run_block(Machine *m, Entry *entry) {
  memset(m->shared, (int)m->poison, static_shared + m->dynamic_shared);
  return threads_meet ? run_together(m, entry) : run_one_by_one(m, entry);
}

static int run_grid(Machine *m, Entry *entry) {
  for (m->ctaid[2] = 0; m->ctaid[2] < m->grid[2]; m->ctaid[2]++)
    for (m->ctaid[1] = 0; m->ctaid[1] < m->grid[1]; m->ctaid[1]++)
      for (m->ctaid[0] = 0; m->ctaid[0] < m->grid[0]; m->ctaid[0]++)
        if (run_block(m, entry))
          return 1;
  return 0;
}

const unsigned machine_bytes = sizeof(Machine);

static void launch(Machine *m, Entry *entry) {
  m->local = malloc(LOCAL_BYTES);
  m->shared = aligned_alloc(256, SHARED_BYTES);
  run_grid(m, entry);
  fflush(stdout);
  free(m->local);
  free(m->shared);
}
