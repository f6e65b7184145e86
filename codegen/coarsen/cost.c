/* Coarsening: on which axis, by how much, and whether at all. A model of what was measured
 * (docs/COARSENING.md has the reasons, docs/performance.md the figures). */
#include "codegen/coarsen/coarsen.h"

/* What copies are to bring. */
typedef enum Aim {
  AIM_LOADS,     /* more loads in flight: straight code, which waits for memory */
  AIM_BARRIERS,  /* fewer waits: threads meet, and no loop loads from global memory */
  AIM_COMMON,    /* fewer loads: loops whose loads are mostly the same for all copies */
  AIM_SCATTERED, /* the same, of loads that take the memory's pipe one line for each thread */
  AIM_COUNT
} Aim;

/* How far it goes. Factors are powers of two. */
static const struct {
  unsigned factor, registers, code; /* at most; code: instructions of all copies */
  unsigned fill[4];                 /* as CoPlan.fill, for the factors 1, 2, 4, 8 */
} limits[AIM_COUNT] = {
    [AIM_LOADS] = {4, 72, 600, {0, 16, 32, 64}},
    [AIM_BARRIERS] = {4, 72, 1400, {0, 64, 64, 64}},
    [AIM_COMMON] = {8, 72, 1400, {0, 8, 16, 24}},
    [AIM_SCATTERED] = {8, 128, 2800, {0, 3, 3, 3}},
};

/* A short body that waits for memory gains from its second round on; one between barriers that has
 * loads in flight by itself, late. */
enum {
  SHORT_BODY = 64,
  FILL_OF_SHORT = 16,
  MANY_LOADS = 4,
  FILL_OF_MANY = 128,
  OWN_REGISTERS = 10,
  ASSUMED_FACTOR = 4
};

/* --- axis --- */

/* Copies that are neighbouring threads are no block's threads by themselves, so those must not
 * meet. */
static CoPlan plan_for(const CoShape *s, unsigned axis) {
  CoPlan p = {.factor = 1, .axis = axis, .linear = co_is_linear(s, axis)};
  p.threads = axis && p.linear && !co_reads_thread(s, axis) && !s->meets && !s->shared.len;
  return p;
}

static unsigned shared_by(const CoShape *s, const CoPlan *p) {
  if (s->loops || s->shared.len)
    return co_loads_once(s);
  return p->threads ? co_shared_loads(s, p->axis, ASSUMED_FACTOR) : 0;
}

/* Along x a warp's accesses lie side by side, and stay so with neighbouring blocks. */
static CoPlan choose_axis(CoShape *s) {
  CoPlan best = {.factor = 1, .reason = "its blocks all do the same"};
  bool found = false;
  unsigned most = 0;
  for (unsigned axis = 0; axis < 3; axis++) {
    if (!co_reads_axis(s, axis))
      continue;
    CoPlan p = plan_for(s, axis);
    p.reason = co_way(s, &p);
    unsigned shared = p.reason ? 0 : shared_by(s, &p);
    if (p.reason && !found)
      best.reason = p.reason;
    if (p.reason || (found && shared <= most))
      continue;
    best = p;
    most = shared;
    found = true;
  }
  if (found)
    co_way(s, &best);
  return best;
}

/* --- factor --- */

static unsigned count_varying(const CoShape *s) {
  unsigned n = 0;
  for (uint32_t k = 0; k < s->ins.len; k++)
    n += s->ins.data[k].varies;
  return n;
}

/* Registers of 32 bits. */
static unsigned words(const CoShape *s, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (t == s->cg->t.none || t == s->cg->t.i1 || !LLVMTypeIsSized(t))
    return 0;
  return (unsigned)((LLVMABISizeOfType(s->cg->layout, t) + 3) / 4);
}

/* Part of an address, which is computed where it is used however early it stands, and mostly is a
 * constant in the access itself. */
static bool is_address(const CoShape *s, LLVMValueRef v) {
  return LLVMIsAGetElementPtrInst(v) ||
         ((LLVMIsAZExtInst(v) || LLVMIsASExtInst(v)) && words(s, v) == 2);
}

static uint32_t last_use(const CoShape *s, LLVMValueRef v) {
  uint32_t last = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    const CoIns *i = co_ins(s, by);
    uint32_t n = !i ? 0 : is_address(s, by) ? last_use(s, by) : (uint32_t)(i - s->ins.data);
    last = n > last ? n : last;
  }
  return last;
}

/* Most registers that values of the kind take at once, in the order of the code: one copy's, or
 * what all share. */
static unsigned pressure(const CoShape *s, bool varying) {
  int *change = CX_ARRAY(s->cg->cx, int, s->ins.len + 1), now = 0, most = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint32_t last = i->varies == varying && !is_address(s, i->old) ? last_use(s, i->old) : 0;
    if (last <= k)
      continue;
    change[k] += (int)words(s, i->old);
    change[last] -= (int)words(s, i->old);
  }
  for (uint32_t k = 0; k < s->ins.len; k++) {
    now += change[k];
    most = now > most ? now : most;
  }
  return (unsigned)most;
}

/* Registers of a thread that the user's limits leave. */
static unsigned most_registers(const CgOptions *o, unsigned most) {
  enum { ON_MULTIPROCESSOR = 65536 };
  if (o->max_registers && (unsigned)o->max_registers < most)
    most = (unsigned)o->max_registers;
  if (o->max_threads) {
    unsigned blocks = o->min_blocks ? (unsigned)o->min_blocks : 1;
    unsigned each = ON_MULTIPROCESSOR / ((unsigned)o->max_threads * blocks);
    most = each < most ? each : most;
  }
  return most;
}

static bool has_room(const CoShape *s, unsigned factor) {
  enum { STATIC_BYTES = 48 * 1024, ALIGN = 128 };
  uint64_t sum = 0;
  for (uint32_t k = 0; k < s->shared.len; k++)
    sum += (s->shared.data[k].bytes + ALIGN) * (s->shared.data[k].varies ? factor : 1);
  return sum <= STATIC_BYTES;
}

static unsigned own_loads(const CoShape *s) {
  unsigned n = 0;
  for (uint32_t k = 0; k < s->ins.len; k++)
    n += s->ins.data[k].reads && s->ins.data[k].varies && !s->ins.data[k].shared;
  return n;
}

static unsigned fill_of(const CoShape *s, Aim aim, unsigned log2, unsigned varying) {
  bool waits = aim == AIM_LOADS || (aim == AIM_BARRIERS && !s->loops);
  if (waits && varying <= SHORT_BODY)
    return FILL_OF_SHORT;
  return aim == AIM_BARRIERS && own_loads(s) >= MANY_LOADS ? FILL_OF_MANY : limits[aim].fill[log2];
}

static void choose_factor(CoShape *s, CoPlan *p, Aim aim) {
  unsigned varying = count_varying(s);
  unsigned one = pressure(s, true), common = pressure(s, false) + OWN_REGISTERS;
  unsigned most = most_registers(&s->cg->options, limits[aim].registers);
  for (unsigned log2 = 3; log2; log2--) {
    unsigned k = 1u << log2;
    bool fits = k <= limits[aim].factor && k * one + common <= most &&
                k * varying <= limits[aim].code;
    if (!fits || !has_room(s, k))
      continue;
    p->factor = k;
    p->fill = fill_of(s, aim, log2, varying);
    p->even = aim == AIM_COMMON;
    return;
  }
  p->reason = "its values leave no registers for a second copy";
}

/* --- what for --- */

static bool touches_memory(const CoShape *s) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].reads || s->ins.data[k].effects)
      return true;
  return false;
}

static bool has_atomics(const CoShape *s) {
  for (uint32_t k = 0; k < s->ins.len; k++)
    if (s->ins.data[k].effects && !LLVMIsAStoreInst(s->ins.data[k].old))
      return true;
  return false;
}

/* Is what copies do once a good part of what loops do, an instruction each and what loads cost? */
static bool is_much_common(const CoShape *s, const CoLoads *loads) {
  enum { OF_EIGHT = 3 };
  uint64_t once = loads->once, all = loads->once + loads->own;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint64_t cost = s->blocks[i->block].in->depth ? co_rounds(s, i) : 0;
    once += i->varies ? 0 : cost;
    all += cost;
  }
  return 8 * once >= OF_EIGHT * all;
}

static const char *aim_of_loops(const CoShape *s, Aim *aim) {
  CoLoads loads = co_loads_in_loops(s);
  *aim = 2 * loads.scattered >= loads.once ? AIM_SCATTERED : AIM_COMMON;
  if (!loads.once && !loads.own) {
    *aim = AIM_BARRIERS;
    return s->meets ? NULL : "it does not wait for memory in its loops";
  }
  if (!loads.once)
    return "its blocks read nothing in common in its loops";
  if (loads.streamed > loads.once)
    return "its blocks read more of their own than in common in its loops";
  return is_much_common(s, &loads) ? NULL : "its blocks do little in common in its loops";
}

/* Why not, or NULL. */
static const char *choose_aim(const CoShape *s, Aim *aim) {
  if (!touches_memory(s))
    return "it does not wait for memory";
  if (has_atomics(s))
    return "it has atomic operations";
  *aim = s->meets ? AIM_BARRIERS : AIM_LOADS;
  return s->loops ? aim_of_loops(s, aim) : NULL;
}

CoPlan co_plan(CoShape *s) {
  CoPlan p = {.factor = 1, .reason = s->reason};
  int wanted = s->cg->options.coarsen;
  Aim aim;
  if (p.reason)
    return p;
  p = choose_axis(s);
  if (p.reason)
    return p;
  if (wanted > 1 && !has_room(s, (unsigned)wanted))
    p.reason = "the arrays of its copies do not fit into shared memory";
  else if (wanted > 1)
    p.factor = (unsigned)wanted;
  else if (!(p.reason = choose_aim(s, &aim)))
    choose_factor(s, &p, aim);
  return p;
}

CoPlan co_plan_again(const CoShape *s, unsigned axis, unsigned factor) {
  CoPlan p = plan_for(s, axis);
  p.factor = factor;
  return p;
}
