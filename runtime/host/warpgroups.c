/* Warpgroups: see warpgroups.h. Shapes, fragments and swizzles: PTX ISA, "Asynchronous Warpgroup
 * Level Matrix Multiply-Accumulate". Thread t = 32 warp + 4 g + q holds, of 64 rows, rows 16 warp +
 * g and + 8. */
#include "runtime/host/warpgroups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/flights.h"
#include "runtime/host/halves.h"
#include "runtime/host/matrices.h"
#include "runtime/host/meetings.h"
#include "runtime/host/proxies.h"

enum {
  THREADS = 128,
  WARPS = 4,
  WARP = 32,
  LINES = 64,
  MOST_COLUMNS = 256,
  MOST_K = 32,
  CHUNK = 16,
  MOST_KEPT = 64
};

typedef struct Sums { /* accumulators: the bits of 64 x columns numbers */
  uint32_t id, version, columns;
  uint32_t group; /* of the last operation on them */
  uint32_t bits[LINES * MOST_COLUMNS];
} Sums;

typedef struct Reading { /* a tile that an operation of a group reads */
  RtWarpgroupOp op;
  uint32_t group, which; /* 0: A's, 1: B's */
  uint64_t content;
  const char *from, *to; /* all of it is between them */
} Reading;

typedef struct RtWarpgroup {
  uint32_t arrived, phase, number;
  const RtWarpgroupOp *ops[THREADS];
  bool fenced;
  bool held;                 /* all threads are at a wait */
  uint32_t committed, ended; /* groups; an operation before its commit is of group committed + 1 */
  Sums *sums[MOST_KEPT];     /* a ring: number id is at id % MOST_KEPT */
  uint32_t next_id;
  Reading *readings;
  uint32_t nreadings, most_readings;
  /* by thread of the block: until when each warp knows what that has done, and until when that
   * knows of the warpgroup's waits; NULL before they are needed */
  uint32_t *known[WARPS], *told;
  RtEndedReading *ended_readings; /* by piece of shared memory; NULL before one has ended */
} RtWarpgroup;

static const RtMisuse fine = {0};

static RtMisuse misuse(uint32_t which, int64_t v0, int64_t v1) {
  return (RtMisuse){.wrong = which, .values = {v0, v1}};
}

/* --- what threads hold instead of accumulators in flight --- */

/* Word 0 names them; the others are there to tell it from a number. */
static uint32_t word(uint32_t id, uint32_t version, uint32_t k) {
  uint64_t h = ((uint64_t)id << 32 | version) * 0x9E3779B97F4A7C15u + k;
  h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9u;
  return k ? (uint32_t)(h >> 32) : id;
}
static uint32_t version_at(uint32_t version) { return version * 2654435761u; }

/* The bits that a thread keeps of each word of fragment f. */
static uint32_t kept_bits(const RtWarpgroupOp *op, uint32_t f) {
  return op->halves >> f & 1 ? UINT16_MAX : UINT32_MAX;
}

/* Words 0 and 1 are number and version, scrambled by an odd factor; is this such a name? */
static bool read_name(const uint32_t *words, uint32_t n, uint32_t bits, uint32_t *id,
                      uint32_t *version) {
  *id = words[0];
  *version = words[1] * 244002641u & bits; /* the inverse of version_at's factor */
  for (uint32_t k = 2; k < n; k++)
    if (words[k] != (word(*id, *version, k) & bits))
      return false;
  return *id != 0;
}

static void write_name(uint32_t *words, uint32_t n, uint32_t bits, const Sums *s) {
  words[0] = s->id & bits, words[1] = version_at(s->version) & bits;
  for (uint32_t k = 2; k < n; k++)
    words[k] = word(s->id & bits, s->version & bits, k) & bits;
}

/* A thread's accumulators: fragment f of its operation. */
static uint32_t *fragment(const RtWarpgroupOp *op, uint32_t f) {
  char *at = (char *)(uintptr_t)op + sizeof *op + op->registers;
  for (uint32_t k = 0; k < f; k++)
    at += op->elements[k] * sizeof(uint32_t);
  return (uint32_t *)(void *)at;
}

static uint32_t *place_of(Sums *s, uint32_t thread, uint32_t e) {
  uint32_t row = thread / 32 * 16 + thread % 32 / 4 + 8 * (e / 2 % 2),
           column = 8 * (e / 4) + 2 * (thread % 4) + e % 2;
  return &s->bits[row * s->columns + column];
}

static Sums *make_sums(RtWarpgroup *g, uint32_t columns) {
  g->next_id += 1 + ((g->next_id & UINT16_MAX) == UINT16_MAX); /* no id whose low half is 0 */
  uint32_t id = g->next_id;
  Sums **slot = &g->sums[id % MOST_KEPT];
  if (!*slot)
    *slot = malloc(sizeof **slot);
  if (*slot) {
    (*slot)->id = id, (*slot)->version = 0, (*slot)->columns = columns;
    (*slot)->group = 0;
  }
  return *slot;
}

/* Accumulators that are named. *wrong: they have gone on under another version. */
static Sums *named(const RtWarpgroup *g, uint32_t f, bool *wrong) {
  const RtWarpgroupOp *op = g->ops[0];
  uint32_t id, version, bits = kept_bits(op, f);
  *wrong = false;
  if (!read_name(fragment(op, f), op->elements[f], bits, &id, &version))
    return NULL;
  Sums *s = g->sums[id % MOST_KEPT];
  *wrong = !s || (s->id & bits) != id || (s->version & bits) != version ||
           s->columns != 2 * op->elements[f];
  return s;
}

/* --- tiles --- */

/* Chunk of 16 bytes number c of a row, with the hardware's permutation of address bits. */
static const char *chunk_at(const RtWarpgroupOp *op, uint32_t which, uint32_t row, uint32_t c) {
  uint32_t each = op->swizzle / CHUNK, part = op->part[which] ? c / each : 0;
  uint64_t at = op->tile[which] + part * op->part[which] + (uint64_t)row * op->swizzle +
                (op->part[which] ? c % each : c) * CHUNK;
  return (const char *)(uintptr_t)(at ^ ((at >> 7 & (each - 1)) << 4));
}

static uint32_t rows_of(const RtWarpgroupOp *op, uint32_t which) {
  return op->majors >> which & 1 ? op->k : which ? 2 * op->elements[0] : LINES;
}
static uint32_t element_bytes(const RtWarpgroupOp *op) { return 32 / op->k; }
static uint32_t chunks_of(const RtWarpgroupOp *op, uint32_t which) {
  uint32_t lines = which ? 2 * op->elements[0] : LINES;
  return (op->majors >> which & 1 ? lines : op->k) * element_bytes(op) / CHUNK;
}

/* A thread of the warpgroup that has met nobody since that time, when somebody wrote; THREADS:
 * there is none. */
static uint32_t not_met(const RtPlace *p, const RtWarpgroup *g, uint32_t which, uint32_t time) {
  uint32_t first = g->number * THREADS, t = 0;
  while (t < THREADS && (p->all_met > time || p->met[first + t] > time ||
                         (!which && p->warp_met[(first + t) / 32] > time)))
    t++;
  return time ? t : THREADS;
}

/* The warps that read a chunk, as bits: of A the one that has the sums of its lines. */
static uint32_t warps_of(const RtWarpgroupOp *op, uint32_t which, uint32_t row, uint32_t c) {
  uint32_t line = op->majors >> which & 1 ? c * (CHUNK / element_bytes(op)) : row;
  return which ? (1u << WARPS) - 1 : 1u << line / (LINES / WARPS);
}

/* A thread of these warps that is not told; THREADS: there is none. */
static uint32_t untold(const RtWarpgroup *g, uint32_t warps, const RtThreads *told) {
  for (uint32_t t = 0; t < THREADS; t++)
    if (warps >> t / WARP & 1 && !rt_threads_have(told, g->number * THREADS + t))
      return t;
  return THREADS;
}

/* Those whom a copy has told, kept for the pieces that it wrote. */
typedef struct CopyTold {
  RtBrought copy;
  RtThreads threads;
  uint32_t warps; /* all of their lanes */
} CopyTold;

/* A thread of these warps that has not waited for the copy that brought a chunk; THREADS: there is
 * none. */
static uint32_t not_waited(const RtPlace *p, const RtWarpgroup *g, const char *at, uint32_t warps,
                           CopyTold *told) {
  const RtBrought *b = rt_proxy_copied(p, at);
  if (!b)
    return THREADS;
  if (told->copy.when != b->when || told->copy.at != b->at) {
    *told = (CopyTold){.copy = *b};
    rt_meeting_told_at(p, b->at, b->when, &told->threads);
    for (uint32_t k = 0; k < WARPS; k++)
      told->warps |= untold(g, 1u << k, &told->threads) == THREADS ? 1u << k : 0;
  }
  return warps & ~told->warps ? untold(g, warps, &told->threads) : THREADS;
}

static uint32_t *known_to(const RtPlace *p, RtWarpgroup *g, uint32_t warp) {
  if (!g->known[warp])
    g->known[warp] = calloc(p->threads, sizeof *g->known[warp]);
  return g->known[warp];
}

/* A thread of these warps that does not know what a thread wrote; THREADS: there is none. */
static uint32_t has_not_met(const RtPlace *p, RtWarpgroup *g, uint32_t warps, const RtWritten *w) {
  uint32_t by = w->by - 1u, rest = 0;
  for (uint32_t k = 0; k < WARPS; k++) {
    const uint32_t *known = warps >> k & 1 ? known_to(p, g, k) : NULL;
    rest |= known && known[by] >= w->when ? 0 : warps & 1u << k;
  }
  RtThreads told;
  if (rest)
    rt_meeting_told(p, by, 1, w->when, &told);
  uint32_t thread = rest ? untold(g, rest, &told) : THREADS;
  for (uint32_t k = 0; thread == THREADS && k < WARPS; k++)
    if (rest >> k & 1 && g->known[k])
      g->known[k][by] = w->when;
  return thread;
}

/* The same of all that wrote a chunk. *others: it is not known who wrote some of it. */
static uint32_t not_met_writers(const RtPlace *p, RtWarpgroup *g, const char *at, uint32_t warps,
                                bool *others) {
  RtWritten last = {0};
  for (uint32_t k = 0; k < CHUNK; k++) {
    const RtWritten *w = rt_proxy_written(p, at + k);
    *others |= !w;
    if (!w || (w->by == last.by && w->when == last.when))
      continue;
    last = *w;
    uint32_t thread = has_not_met(p, g, warps, w);
    if (thread < THREADS)
      return thread;
  }
  return THREADS;
}

/* What is wrong with a tile: a row of it is still being copied, or was written since the last proxy
 * fence, or threads that read it know nothing of the copy or of who wrote. */
static RtMisuse look_at(const RtPlace *p, RtWarpgroup *g, uint32_t which) {
  const RtWarpgroupOp *op = g->ops[0];
  uint32_t newest = 0, thread;
  CopyTold told = {0};
  for (uint32_t row = 0; row < rows_of(op, which); row++)
    for (uint32_t c = 0; c < chunks_of(op, which); c++) {
      const char *at = chunk_at(op, which, row, c);
      if (rt_is_in_flight(p, at, CHUNK))
        return misuse(RT_WARPGROUP_COMING + which, row, 0);
      if (!rt_proxy_sees(p, at, CHUNK))
        return misuse(RT_WARPGROUP_UNSEEN + which, row, 0);
      const RtWritten *w = rt_proxy_unfenced(p, at, CHUNK);
      if (w)
        return (RtMisuse){.wrong = RT_WARPGROUP_UNFENCED_BY + which,
                          .values = {row, w->by - 1, w->line}};
      uint32_t warps = warps_of(op, which, row, c), time = rt_proxy_time(p, at);
      bool others = false;
      thread = not_waited(p, g, at, warps, &told);
      if (thread < THREADS)
        return misuse(RT_WARPGROUP_NOT_WAITED + which, row, thread);
      thread = not_met_writers(p, g, at, warps, &others);
      if (thread < THREADS)
        return misuse(RT_WARPGROUP_NOT_MET + which, thread, 0);
      newest = others && time > newest ? time : newest;
    }
  thread = not_met(p, g, which, newest);
  return thread < THREADS ? misuse(RT_WARPGROUP_NOT_MET + which, thread, 0) : fine;
}

static void set_limits(Reading *r) {
  r->from = r->to = chunk_at(&r->op, r->which, 0, 0);
  for (uint32_t row = 0; row < rows_of(&r->op, r->which); row++)
    for (uint32_t c = 0; c < chunks_of(&r->op, r->which); c++) {
      const char *at = chunk_at(&r->op, r->which, row, c);
      r->from = at < r->from ? at : r->from;
      r->to = at + CHUNK > r->to ? at + CHUNK : r->to;
    }
}

static bool reads(const Reading *r, const char *at, const char *end) {
  if (end <= r->from || at >= r->to)
    return false;
  for (uint32_t row = 0; row < rows_of(&r->op, r->which); row++)
    for (uint32_t c = 0; c < chunks_of(&r->op, r->which); c++) {
      const char *chunk = chunk_at(&r->op, r->which, row, c);
      if (chunk < end && at < chunk + CHUNK)
        return true;
    }
  return false;
}

static uint64_t content(const RtWarpgroupOp *op, uint32_t which) {
  uint64_t h = 0, v[2];
  for (uint32_t row = 0; row < rows_of(op, which); row++)
    for (uint32_t c = 0; c < chunks_of(op, which); c++) {
      memcpy(v, chunk_at(op, which, row, c), sizeof v);
      h = (h ^ v[0]) * 0x9E3779B97F4A7C15u;
      h = (h ^ h >> 31 ^ v[1]) * 0xBF58476D1CE4E5B9u;
    }
  return h;
}

/* Line (row of A, column of B) and k of each element, as numbers. */
static void load_tile(const RtWarpgroupOp *op, uint32_t which, double (*out)[MOST_K]) {
  uint32_t size = element_bytes(op), each = CHUNK / size;
  for (uint32_t row = 0; row < rows_of(op, which); row++)
    for (uint32_t c = 0; c < chunks_of(op, which); c++)
      for (uint32_t e = 0; e < each; e++) {
        double v = rt_matrix_element((RtMatrixFactor)op->factor,
                                     chunk_at(op, which, row, c) + e * size);
        if (op->majors >> which & 1)
          out[c * each + e][row] = v;
        else
          out[row][c * each + e] = v;
      }
}

/* A's fragment: a register is 4 bytes of a row, the next is 8 rows below, the third 16 bytes on. */
static void load_registers(const RtWarpgroup *g, double (*out)[MOST_K]) {
  const RtWarpgroupOp *op = g->ops[0];
  uint32_t size = element_bytes(op), each = 4 / size;
  for (uint32_t t = 0; t < THREADS; t++)
    for (uint32_t i = 0; i < op->registers / size; i++) {
      uint32_t r = i / each, row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2);
      out[row][t % 4 * each + i % each + 4 * each * (r / 2)] =
          rt_matrix_element((RtMatrixFactor)op->factor, (const char *)(g->ops[t] + 1) + i * size);
    }
}

/* --- mma --- */

static void add(const RtWarpgroupOp *op, double sum, uint32_t *bits) {
  float f;
  if (op->whole) {
    *bits += (uint32_t)(int64_t)sum;
  } else if (op->halves) {
    *bits = rt_double_to_half(rt_half_to_double((uint16_t)*bits) + sum);
  } else {
    memcpy(&f, bits, sizeof f);
    f = (float)((double)f + sum);
    memcpy(bits, &f, sizeof f);
  }
}

static void compute(const RtWarpgroup *g, Sums *s) {
  const RtWarpgroupOp *op = g->ops[0];
  double a[LINES][MOST_K], b[MOST_COLUMNS][MOST_K];
  if (op->registers)
    load_registers(g, a);
  else
    load_tile(op, 0, a);
  load_tile(op, 1, b);
  for (uint32_t row = 0; row < LINES; row++)
    for (uint32_t column = 0; column < s->columns; column++) {
      double sum = 0;
      for (uint32_t k = 0; k < op->k; k++)
        sum += a[row][k] * b[column][k];
      add(op, sum, &s->bits[row * s->columns + column]);
    }
}

static bool keep_reading(RtWarpgroup *g, uint32_t which) {
  if (g->nreadings == g->most_readings) {
    uint32_t most = 2 * g->most_readings + 16;
    Reading *grown = realloc(g->readings, most * sizeof *grown);
    if (!grown)
      return false;
    g->readings = grown, g->most_readings = most;
  }
  g->readings[g->nreadings++] = (Reading){.op = *g->ops[0],
                                          .group = g->committed + 1,
                                          .which = which,
                                          .content = content(g->ops[0], which)};
  set_limits(&g->readings[g->nreadings - 1]);
  return true;
}

static RtMisuse multiply(RtPlace *p, RtWarpgroup *g) {
  const RtWarpgroupOp *op = g->ops[0];
  bool given;
  Sums *s = named(g, 0, &given);
  if (given)
    return misuse(RT_WARPGROUP_GIVEN, g->number, 0);
  if ((!s || op->registers) && !g->fenced)
    return misuse(RT_WARPGROUP_UNFENCED, g->number, 0);
  for (uint32_t which = op->registers ? 1 : 0; which < 2; which++) {
    RtMisuse m = look_at(p, g, which);
    if (m.wrong)
      return m;
    if (!keep_reading(g, which))
      return misuse(RT_WARPGROUP_MEMORY, 0, 0);
  }
  if (!s) {
    s = make_sums(g, 2 * op->elements[0]);
    if (!s)
      return misuse(RT_WARPGROUP_MEMORY, 0, 0);
    for (uint32_t t = 0; t < THREADS; t++)
      for (uint32_t e = 0; e < op->elements[0]; e++)
        *place_of(s, t, e) = fragment(g->ops[t], 0)[e];
  }
  compute(g, s);
  s->version++;
  s->group = g->committed + 1;
  for (uint32_t t = 0; t < THREADS; t++)
    write_name(fragment(g->ops[t], 0), op->elements[0], kept_bits(op, 0), s);
  return fine;
}

/* --- wait --- */

/* Whoever writes there from now on must know of the wait. Without memory, nothing is noted. */
static void note_ended(const RtPlace *p, RtWarpgroup *g, const Reading *r, uint32_t now) {
  const RtWarpgroupOp *op = &r->op;
  if (!g->ended_readings)
    g->ended_readings = calloc(p->cluster->shared_bytes / CHUNK + 1, sizeof *g->ended_readings);
  RtEndedReading e = {.when = now, .site = op->site, .line = op->line, .which = (uint8_t)r->which};
  for (uint32_t row = 0; g->ended_readings && row < rows_of(op, r->which); row++)
    for (uint32_t c = 0; c < chunks_of(op, r->which); c++)
      g->ended_readings[(size_t)(chunk_at(op, r->which, row, c) - p->shared) / CHUNK] = e;
}

static RtMisuse end_groups(RtPlace *p, RtWarpgroup *g, uint32_t ended) {
  uint32_t kept = 0, now = rt_wait_time(p);
  for (uint32_t k = 0; k < g->nreadings; k++) {
    const Reading *r = &g->readings[k];
    if (r->group > ended)
      g->readings[kept++] = *r;
    else if (content(&r->op, r->which) != r->content)
      return misuse(RT_WARPGROUP_OVERWRITTEN + r->which, r->op.line, 0);
    else
      note_ended(p, g, r, now);
  }
  g->nreadings = kept;
  g->ended = ended;
  return fine;
}

static RtMisuse wait(RtPlace *p, RtWarpgroup *g) {
  const RtWarpgroupOp *op = g->ops[0];
  uint32_t ended = g->committed > op->pending ? g->committed - op->pending : 0;
  RtMisuse m = end_groups(p, g, ended > g->ended ? ended : g->ended);
  for (uint32_t f = 0; !m.wrong && f < RT_WARPGROUP_FRAGMENTS && op->elements[f]; f++) {
    bool given;
    Sums *s = named(g, f, &given);
    if (given)
      return misuse(RT_WARPGROUP_GIVEN, g->number, 0);
    if (s && s->group > g->ended)
      return misuse(RT_WARPGROUP_IN_FLIGHT, g->committed - g->ended, 0);
    for (uint32_t t = 0; s && t < THREADS; t++)
      for (uint32_t e = 0; e < op->elements[f]; e++)
        fragment(g->ops[t], f)[e] = *place_of(s, t, e);
  }
  g->fenced = false;
  return m;
}

static RtMisuse operate(RtPlace *p, RtWarpgroup *g) {
  for (uint32_t t = 1; t < THREADS; t++)
    if (memcmp(g->ops[t], g->ops[0], sizeof *g->ops[0]) != 0)
      return misuse(RT_WARPGROUP_APART, g->number, t);
  switch ((RtWarpgroupKind)g->ops[0]->kind) {
  case RT_WARPGROUP_FENCE: g->fenced = true; return fine;
  case RT_WARPGROUP_MMA: return multiply(p, g);
  case RT_WARPGROUP_COMMIT:
    g->committed++;
    g->fenced = false;
    return fine;
  case RT_WARPGROUP_WAIT: g->held = true; return fine;
  }
  return fine;
}

/* --- threads --- */

static void go_on(RtWarpgroup *g) {
  g->held = false;
  g->arrived = 0;
  g->phase++;
}

RtMisuse rt_warpgroup_come(RtPlace *p, uint32_t thread, uint64_t *operand) {
  uint32_t n = p->threads / THREADS, number = thread / THREADS;
  if (number >= n)
    return misuse(RT_WARPGROUP_PARTIAL, number, p->threads % THREADS);
  if (!p->warpgroups)
    p->warpgroups = calloc(n, sizeof *p->warpgroups);
  if (!p->warpgroups)
    return misuse(RT_WARPGROUP_MEMORY, 0, 0);
  RtWarpgroup *g = &p->warpgroups[number];
  g->number = number;
  g->ops[thread % THREADS] = (const RtWarpgroupOp *)(uintptr_t)*operand;
  *operand = number | (uint64_t)g->phase << 32;
  if (++g->arrived < THREADS)
    return fine;
  RtMisuse m = operate(p, g);
  if (!g->held)
    go_on(g);
  return m;
}

RtMisuse rt_warpgroups_go_on(RtPlace *p) {
  uint32_t n = p->warpgroups ? p->threads / THREADS : 0, first = p->turn++;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t number = (first + k) % n;
    RtWarpgroup *g = &p->warpgroups[number];
    if (!g->held)
      continue;
    RtMisuse m = wait(p, g);
    m.elsewhere = m.wrong != 0;
    m.site = g->ops[0]->site, m.thread = number * THREADS, m.block = p->block;
    go_on(g);
    return m;
  }
  return fine;
}

uint32_t rt_warpgroups_read(const RtPlace *p, const char *at, size_t bytes) {
  for (uint32_t k = 0; p->warpgroups && k < p->threads / THREADS; k++) {
    const RtWarpgroup *g = &p->warpgroups[k];
    for (uint32_t n = 0; n < g->nreadings; n++)
      if (reads(&g->readings[n], at, at + bytes))
        return g->readings[n].op.line;
  }
  return 0;
}

/* Does the thread know that this warpgroup had waited by then? */
static bool knows_of_end(const RtPlace *p, RtWarpgroup *g, uint32_t thread, uint32_t when) {
  if (!g->told)
    g->told = calloc(p->threads, sizeof *g->told);
  if (p->all_met > when || (g->told && thread != RT_NO_THREAD && g->told[thread] >= when))
    return true;
  RtThreads told;
  bool others = rt_meeting_told(p, g->number * THREADS, THREADS, when, &told);
  if (thread == RT_NO_THREAD)
    return others;
  bool knows = rt_threads_have(&told, thread);
  if (knows && g->told)
    g->told[thread] = when;
  return knows;
}

const RtEndedReading *rt_warpgroups_untold(RtPlace *p, uint32_t thread, const char *at,
                                           size_t bytes) {
  size_t first = (size_t)(at - p->shared), last = first + bytes;
  if (at < p->shared || last > p->cluster->shared_bytes)
    return NULL;
  for (uint32_t k = 0; p->warpgroups && k < p->threads / THREADS; k++) {
    RtWarpgroup *g = &p->warpgroups[k];
    uint32_t when = 0;
    for (size_t n = first / CHUNK; g->ended_readings && n * CHUNK < last; n++) {
      const RtEndedReading *r = &g->ended_readings[n];
      if (r->when == when || !r->when)
        continue;
      when = r->when;
      if (!knows_of_end(p, g, thread, when))
        return r;
    }
  }
  return NULL;
}

RtMisuse rt_warpgroups_left(const RtPlace *p) {
  for (uint32_t k = 0; p->warpgroups && k < p->threads / THREADS; k++) {
    const RtWarpgroup *g = &p->warpgroups[k];
    if (g->nreadings)
      return (RtMisuse){.wrong = RT_WARPGROUP_LEFT,
                        .elsewhere = true,
                        .site = g->readings[0].op.site,
                        .thread = k * THREADS,
                        .block = p->block};
  }
  return fine;
}

bool rt_warpgroup_is_past(const RtPlace *p, uint64_t operand) {
  return p->warpgroups[(uint32_t)operand].phase != (uint32_t)(operand >> 32);
}

uint32_t rt_warpgroup_arrived(const RtPlace *p, uint64_t operand) {
  return p->warpgroups[(uint32_t)operand].arrived;
}

void rt_warpgroups_end(RtPlace *p) {
  for (uint32_t k = 0; p->warpgroups && k < p->threads / THREADS; k++) {
    for (uint32_t n = 0; n < MOST_KEPT; n++)
      free(p->warpgroups[k].sums[n]);
    for (uint32_t n = 0; n < WARPS; n++)
      free(p->warpgroups[k].known[n]);
    free(p->warpgroups[k].told);
    free(p->warpgroups[k].ended_readings);
    free(p->warpgroups[k].readings);
  }
  free(p->warpgroups);
  p->warpgroups = NULL;
}
