/* Coarsening: the plan. Along which axis, by which factor, and whether at all.
 *
 * In: a shape that may be coarsened. Out: a plan, with a reason if its factor is 1.
 *
 * The axis is the one along which the loads that exist once for all copies cost most. What copies
 * are to bring (the aim: loads in flight, fewer waits at barriers, fewer loads) follows from the
 * kernel's loops and barriers, and each aim has its limits. The factor is the largest power of two
 * within them: on instructions of all copies, on shared memory, and on registers, which are
 * estimated as the maximum pressure of one copy's varying values times the factor, plus that of the
 * common values. A model of what was measured (docs/COARSENING.md has the reasons,
 * docs/performance/coarsening.md the figures). It knows nothing of occupancy beyond these limits;
 * the launch decides from the plan's `fill`, and from what ptxas has allocated. */
#include <assert.h>

#include "codegen/coarsen/coarsen.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"

/* What copies are to gain. */
typedef enum Aim {
  AIM_LOADS,     /* more loads in flight: straight code, which waits for memory */
  AIM_BARRIERS,  /* fewer waits: there are barriers, and loops load little from global memory */
  AIM_WAITS,     /* fewer waits, nothing else: the loops load nothing, and have little in common */
  AIM_COMMON,    /* fewer loads: loops whose loads are mostly the same for all copies */
  AIM_SCATTERED, /* the same, where a load touches a cache line for each thread of a warp */
  AIM_WINDOW,    /* counters and addresses once: loops that load what neighbours load too */
  AIM_COUNT
} Aim;

/* The limits of each aim. Factors are powers of two. */
static const struct {
  unsigned factor, registers, code; /* code: instructions of all copies */
  unsigned fill[4];                 /* CoPlan.fill for the factors 1, 2, 4, 8 */
} limits[AIM_COUNT] = {
    [AIM_LOADS] = {4, 72, 900, {0, 16, 32, 64}},    [AIM_BARRIERS] = {4, 84, 1600, {0, 64, 64, 64}},
    [AIM_WAITS] = {4, 40, 1600, {0, 64, 64, 64}},   [AIM_COMMON] = {8, 72, 1400, {0, 8, 16, 24}},
    [AIM_SCATTERED] = {8, 128, 2800, {0, 3, 3, 3}}, [AIM_WINDOW] = {4, 80, 1600, {0, 16, 32, 64}},
};

/* Straight code: as many threads as a multiprocessor holds have 32 KB in flight if each has 16
 * bytes, as much as memory delivers in the time that a load takes. More brings nothing there, so
 * that copies may not cost threads, nor have loads wait for others' registers: a device full of
 * them has 32 for each, for which ptxas finds room where 36 are estimated. With 40 there are fewer,
 * which the loads of the copies make up for. With 64 bytes they fill half of the cache in which
 * lines wait for the thread's other accesses. Nor may copies cost any threads where most loads wait
 * for another load of the same copy, or for its path.
 *
 * A short body that waits for memory gains from the second wave of blocks on, and so does one that
 * meets at a barrier in each iteration of a loop; if the loop loads as well, two copies fill what
 * the first waits for, and more would cost threads. A kernel with barriers that has many loads in
 * flight by itself gains only in large launches. Where a guard is slanted, threads along its line
 * run their copies one after another: few, in large launches, and not long, with few copies. Loads
 * that each touch a line of their own pay for that all the same, from smaller launches on, but
 * where copies have most of the work for themselves the blocks along the line are the last to end:
 * two. */
enum {
  ENOUGH_IN_FLIGHT = 16,
  FEW_IN_FLIGHT = 1,
  OF_FEW = 48,
  MOST_IN_FLIGHT = 64,
  FULL_DEVICE = 40,
  OF_ALL_THREADS = 36,
  SHORT_BODY = 64,
  FILL_OF_SHORT = 16,
  MANY_LOADS = 4,
  FILL_OF_MANY = 128,
  FILL_OF_STEPS = 16,
  FILL_OF_LOADING_STEPS = 12,
  FILL_OF_SLANTED = 64,
  FILL_OF_SLANTED_LINES = 9,
  FILL_OF_SLANTED_WORK = 32,
  SLANTED_LOG2 = 2,
  SLANTED_WORK_LOG2 = 1,
  STEPS_LOG2 = 1,
  OWN_REGISTERS = 10,
  ASSUMED_FACTOR = 4
};

/* --- axis --- */

/* A copy whose threads are every K-th of the launch is no block of it, so neighbouring threads are
 * for kernels without barriers and shared memory. Blocks of straight code are short, so that what
 * they have in common is worth more than their running side by side. */
static CoPlan plan_for(const CoShape *s, unsigned axis) {
  CoPlan p = {.factor = 1, .axis = axis, .linear = co_is_linear(s, axis)};
  p.in_row = !s->loops && !s->meets;
  p.threads = axis && p.linear && !co_reads_thread(s, axis) && !s->meets && !s->shared.len;
  return p;
}

static unsigned shared_by(const CoShape *s, const CoPlan *p) {
  if (s->loops || s->shared.len)
    return co_loads_once(s);
  return p->threads ? co_shared_loads(s, p->axis, ASSUMED_FACTOR) : 0;
}

/* x wins ties: a warp's accesses are contiguous along x, and stay so with neighbouring blocks. */
static CoPlan choose_axis(CoShape *s) {
  CoPlan best = {.factor = 1, .reason = "its blocks all do the same"};
  bool found = false;
  unsigned most = 0;
  for (unsigned axis = 0; axis < 3; axis++) {
    if (!co_reads_axis(s, axis))
      continue;
    CoPlan p = plan_for(s, axis);
    p.reason = co_common_path(s, &p);
    unsigned shared = p.reason ? 0 : shared_by(s, &p);
    if (p.reason && !found)
      best.reason = p.reason;
    if (p.reason || (found && shared <= most))
      continue;
    best = p;
    most = shared;
    found = true;
  }
  assert(found == !best.reason);
  if (found)
    co_common_path(s, &best);
  return best;
}

/* --- factor --- */

static unsigned count_varying(const CoShape *s) {
  unsigned n = 0;
  for (uint32_t k = 0; k < s->ins.len; k++)
    n += s->ins.data[k].varies;
  return n;
}

/* The 32-bit registers that a value takes. */
static unsigned words(const CoShape *s, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (t == s->cg->t.none || t == s->cg->t.i1 || !LLVMTypeIsSized(t))
    return 0;
  return (unsigned)((LLVMABISizeOfType(s->cg->layout, t) + 3) / 4);
}

/* Part of an address: ptxas computes it at the access, wherever it is defined, and it mostly
 * becomes a constant offset there. */
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

/* The maximum register pressure in the order of the code: of one copy's varying values, or of those
 * that all copies have in common. */
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

/* Registers for all that one copy loads, at once. */
static unsigned loaded_words(const CoShape *s) {
  unsigned n = 0;
  for (uint32_t k = 0; k < s->ins.len; k++)
    n += s->ins.data[k].reads && s->ins.data[k].varies ? words(s, s->ins.data[k].old) : 0;
  return n;
}

/* How many registers a thread may have within the user's limits. */
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

/* The blocks of loops in which threads meet at barriers, or that load from global memory. */
static CoSet loops_that(const CoShape *s, bool meet) {
  CoSet found = 0;
  for (uint32_t k = 0; k < s->nblocks; k++) {
    bool does = false;
    for (uint32_t n = 0; n < s->ins.len && !does; n++) {
      const CoIns *i = &s->ins.data[n];
      does = co_has(s->blocks[k].loop, i->block) &&
             (meet ? i->barrier : i->reads && i->varies && !i->shared);
    }
    found |= does ? s->blocks[k].loop : 0;
  }
  return found;
}

/* Do loops that load meet at a barrier in each iteration? */
static bool loads_in_steps(const CoShape *s) { return loops_that(s, true) & loops_that(s, false); }

static unsigned fill_of(const CoShape *s, Aim aim, unsigned log2, unsigned varying) {
  bool waits = aim == AIM_LOADS || (aim == AIM_BARRIERS && !s->loops),
       barriers = aim == AIM_BARRIERS || aim == AIM_WAITS;
  if (waits && varying <= SHORT_BODY)
    return log2 > 2 ? 2 * FILL_OF_SHORT : FILL_OF_SHORT;
  if (barriers && loops_that(s, true))
    return loads_in_steps(s) ? FILL_OF_LOADING_STEPS : FILL_OF_STEPS;
  return barriers && own_loads(s) >= MANY_LOADS ? FILL_OF_MANY : limits[aim].fill[log2];
}

static bool is_slanted(const CoShape *s) {
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (s->blocks[k].kind == CO_GUARD && s->blocks[k].slanted)
      return true;
  return false;
}

/* Does straight code load mostly where the copies take paths of their own? There one copy's loads
 * wait for another's. */
static bool loads_apart(const CoShape *s) {
  CoSet arms = co_arms(s);
  unsigned apart = 0, all = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    bool on_path = s->blocks[i->block].kind != CO_OFF_PATH, own = co_has(arms, i->block);
    bool counts = i->reads && i->varies && !i->shared;
    all += counts && (on_path || own);
    apart += counts && own;
  }
  return 2 * apart > all;
}

/* What is slow counts as many instructions. */
static uint64_t work_of(const CoShape *s, const CoIns *i) {
  enum { SLOW = 16 };
  bool slow = cg_is_slow(s->cg, i->old) || cg_is_division(i->old);
  return (uint64_t)co_rounds(s, i) * (slow ? SLOW : 1);
}

/* How many eighths of the loops' work exist once for all copies? Work is instructions, and what
 * loads cost. */
static unsigned eighths_in_common(const CoShape *s, const CoLoads *loads) {
  uint64_t once = loads->once, all = loads->once + loads->own;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint64_t cost = s->blocks[i->block].in->depth ? work_of(s, i) : 0;
    once += i->varies ? 0 : cost;
    all += cost;
  }
  return all ? (unsigned)(8 * once / all) : 8;
}

/* The registers of a kernel's own straight code; 0: as many as ptxas takes. Where three quarters of
 * the threads have as much in flight as memory delivers, all loads may have registers, and none
 * waits for another's. */
static unsigned own_registers(const CoShape *s, unsigned bytes) {
  enum { OF_THREE_QUARTERS = 40, ENOUGH_OF_THREE_QUARTERS = 20, SEVERAL = 8 };
  const CgOptions *o = &s->cg->options;
  bool open = !o->max_registers && !o->max_threads && !o->min_blocks;
  unsigned all = pressure(s, true) + pressure(s, false) + OWN_REGISTERS;
  bool fits = own_loads(s) >= SEVERAL && all <= OF_THREE_QUARTERS;
  return open && fits && bytes >= ENOUGH_OF_THREE_QUARTERS ? OF_THREE_QUARTERS : 0;
}

/* Behind a slanted guard: of how many copies, and what fills a launch. */
static unsigned slanted_log2(const CoShape *s, Aim aim, unsigned *fill) {
  CoLoads loads = co_loads_in_loops(s);
  bool lines = aim == AIM_SCATTERED, work = lines && 2 * eighths_in_common(s, &loads) < 8;
  *fill = work ? FILL_OF_SLANTED_WORK : lines ? FILL_OF_SLANTED_LINES : FILL_OF_SLANTED;
  return work ? SLANTED_WORK_LOG2 : SLANTED_LOG2;
}

static void choose_factor(CoShape *s, CoPlan *p, Aim aim) {
  unsigned varying = count_varying(s);
  unsigned one = pressure(s, true), common = pressure(s, false) + OWN_REGISTERS;
  unsigned bytes = aim == AIM_LOADS ? co_in_flight(s) : 0;
  bool enough = bytes >= ENOUGH_IN_FLIGHT;
  if (enough && loaded_words(s) > one)
    one = loaded_words(s);
  bool waits = aim == AIM_LOADS && (co_gathers(s) || loads_apart(s));
  unsigned room = waits ? OF_ALL_THREADS : enough ? FULL_DEVICE : limits[aim].registers;
  unsigned most = most_registers(&s->cg->options, room);
  bool reads = aim == AIM_COMMON || aim == AIM_SCATTERED, slanted = reads && is_slanted(s),
       steps = aim == AIM_BARRIERS && loads_in_steps(s),
       few = aim == AIM_LOADS && bytes && bytes <= FEW_IN_FLIGHT;
  unsigned fill = 0, most_log2 = slanted ? slanted_log2(s, aim, &fill) : 3;
  if (steps)
    most_log2 = STEPS_LOG2;
  for (unsigned log2 = most_log2; log2; log2--) {
    unsigned k = 1u << log2;
    bool more = few && k * one + common <= OF_FEW;
    bool fits = k <= (more ? CO_MAX_FACTOR : limits[aim].factor) && k * one + common <= most &&
                k * varying <= limits[aim].code && k * bytes <= MOST_IN_FLIGHT;
    if (!fits || !has_room(s, k))
      continue;
    p->factor = k;
    p->fill = slanted ? fill : fill_of(s, aim, log2, varying);
    p->even = aim == AIM_COMMON;
    return;
  }
  p->reading = own_registers(s, bytes);
  p->reason = enough ? "its threads have enough loads in flight by themselves"
                     : "its values leave no registers for a second copy";
}

static const char *aim_of_loops(const CoShape *s, const CoPlan *p, Aim *aim);

/* Do loops load in common, and what each copy has for itself besides? */
static bool loads_both(const CoShape *s, const CoPlan *p) {
  Aim aim;
  return !aim_of_loops(s, p, &aim) && aim == AIM_COMMON && co_loads_in_loops(s).own;
}

/* Straight code that is estimated to fit the registers of a full device gets no more: for loads
 * that one thread waits for, ptxas would take some that cost others. Loops that load in common, and
 * for each copy, get what half of the threads have: the copies are threads enough, and ptxas would
 * have the loads of one iteration wait for one another. Where the user says something about
 * registers or copies, that holds. */
unsigned co_registers(const CoShape *s, const CoPlan *p) {
  enum { OF_A_FULL_DEVICE = 32, OF_THREE_QUARTERS = 40, OF_HALF = 64 };
  enum { LONG = 600 }; /* with 40 it spilled, where 38 were estimated */
  const CgOptions *o = &s->cg->options;
  if (s->meets || o->max_registers || o->max_threads || o->coarsen > 1)
    return 0;
  if (s->loops)
    return loads_both(s, p) ? OF_HALF : 0;
  for (uint32_t k = 0; k < s->ins.len; k++) /* their slow paths take registers of their own */
    if (cg_is_slow(s->cg, s->ins.data[k].old) || cg_is_division(s->ins.data[k].old))
      return 0;
  if (p->factor * count_varying(s) > LONG)
    return 0;
  unsigned all = p->factor * pressure(s, true) + pressure(s, false) + OWN_REGISTERS;
  return all <= OF_ALL_THREADS ? OF_A_FULL_DEVICE : all <= FULL_DEVICE ? OF_THREE_QUARTERS : 0;
}

/* --- aim --- */

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

static bool is_much_common(const CoShape *s, const CoLoads *loads) {
  enum { OF_EIGHT = 3 };
  return eighths_in_common(s, loads) >= OF_EIGHT;
}

/* Do the copies take paths of their own in a loop, for more than an eighth of its work? There one
 * copy waits for another, where the threads of more blocks would run side by side. What is slow
 * counts as many instructions. */
static bool parts_in_loops(const CoShape *s, const CoPlan *p) {
  enum { OF = 8 };
  uint64_t parted = 0, all = 0;
  CoSet arms = co_arms(s) & ~co_bounded_arms(s, p);
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint64_t cost = s->blocks[i->block].in->depth ? work_of(s, i) : 0;
    all += cost;
    parted += co_has(arms, i->block) ? cost : 0;
  }
  return OF * parted > all;
}

/* Do the threads of a block do much in an iteration between barriers, such as a step of a tree with
 * quotients, and more than for one load in their loops that load? There most of them wait. What is
 * slow counts as many instructions. */
static bool waits_at_barriers(const CoShape *s) {
  enum { LONG_STEP = 24, ROUNDS = 8 };
  CoSet load = loops_that(s, false), meet = loops_that(s, true) & ~load;
  uint64_t loading = 0, meeting = 0, loads = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint64_t cost = work_of(s, i);
    loading += co_has(load, i->block) ? cost : 0;
    meeting += co_has(meet, i->block) ? cost : 0;
    loads += co_has(load, i->block) && i->reads && i->varies && !i->shared;
  }
  return meeting >= LONG_STEP * ROUNDS && meeting * loads > loading;
}

/* Has an iteration of a loop that loads, and meets at no barrier, so much in flight that the loads
 * of its copies would take registers, and with them threads, and save little? */
static bool loads_enough_in_loops(const CoShape *s) {
  enum { WORDS = 8 };
  CoSet load = loops_that(s, false) & ~loops_that(s, true);
  for (uint32_t b = 0; b < s->nblocks; b++) {
    unsigned n = 0;
    for (uint32_t k = 0; k < s->ins.len && co_has(load, b); k++) {
      const CoIns *i = &s->ins.data[k];
      n += i->block == b && i->reads && i->varies && !i->shared ? words(s, i->old) : 0;
    }
    if (n >= WORDS)
      return true;
  }
  return false;
}

/* Do the loops that load meet at a barrier in each iteration, and do much besides loading? */
static bool meets_often(const CoShape *s, const CoLoads *loads) {
  enum { OF_A_LOAD = 10 };
  CoSet load = loops_that(s, false), meet = loops_that(s, true);
  uint64_t work = 0;
  for (uint32_t k = 0; k < s->ins.len; k++)
    work += co_has(load & meet, s->ins.data[k].block) ? work_of(s, &s->ins.data[k]) : 0;
  return work >= (uint64_t)OF_A_LOAD * (loads->own + loads->once);
}

static const char *aim_of_loops(const CoShape *s, const CoPlan *p, Aim *aim) {
  CoLoads loads = co_loads_in_loops(s);
  *aim = 2 * loads.scattered >= loads.once ? AIM_SCATTERED : AIM_COMMON;
  if (!loads.once && !loads.own) {
    *aim = is_much_common(s, &loads) ? AIM_BARRIERS : AIM_WAITS;
    return s->meets ? NULL : "it does not wait for memory in its loops";
  }
  bool waits = s->meets && waits_at_barriers(s);
  if (waits && loads_enough_in_loops(s))
    return "its threads have enough loads in flight by themselves";
  if (waits || (s->meets && meets_often(s, &loads))) {
    *aim = AIM_BARRIERS;
    return NULL;
  }
  if (!loads.once && loads.streamed)
    return "its blocks read nothing in common in its loops";
  if (loads.once && loads.streamed >= loads.once)
    return "its blocks read at least as much of their own as in common in its loops";
  if (loads.once && co_gathers_in_loops(s))
    return "its blocks gather at places of their own in its loops";
  if (parts_in_loops(s, p))
    return "its blocks take different paths in its loops";
  if (!loads.once) {
    *aim = AIM_WINDOW;
    return NULL;
  }
  return is_much_common(s, &loads) ? NULL : "its blocks do little in common in its loops";
}

/* Are quotients and roots, on paths that each copy takes by itself, much work, and more than a
 * fifth of all in straight code? There one copy waits for another. A few of them wait for memory
 * all the same. */
static bool slow_apart(const CoShape *s) {
  enum { OF = 5, MUCH = 96 };
  uint64_t apart = 0, all = 0;
  CoSet arms = co_arms(s);
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint64_t cost = work_of(s, i);
    all += s->blocks[i->block].kind != CO_OFF_PATH || co_has(arms, i->block) ? cost : 0;
    apart += co_has(arms, i->block) && cost > co_rounds(s, i) ? cost : 0;
  }
  return apart >= MUCH && OF * apart > all;
}

/* Does straight code load nothing, and store several numbers? One is worth copies for what they
 * have in common; with several, copies' stores come between those that the cache would join. */
static bool only_stores(const CoShape *s) {
  unsigned stores = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    if (i->reads && i->varies)
      return false;
    stores += i->effects && s->blocks[i->block].kind != CO_OFF_PATH;
  }
  return stores > 1;
}

/* The reason if there is nothing to gain, else NULL. */
static const char *choose_aim(const CoShape *s, const CoPlan *p, Aim *aim) {
  if (!touches_memory(s))
    return "it does not wait for memory";
  if (has_atomics(s))
    return "it has atomic operations";
  *aim = s->meets ? AIM_BARRIERS : AIM_LOADS;
  if (s->loops)
    return aim_of_loops(s, p, aim);
  if (*aim == AIM_BARRIERS && own_loads(s) >= MANY_LOADS)
    return "its threads have enough loads in flight by themselves";
  if (*aim == AIM_LOADS && only_stores(s))
    return "it loads nothing";
  if (*aim == AIM_LOADS && slow_apart(s))
    return "its blocks divide, or take roots, on different paths";
  bool apart = *aim == AIM_LOADS && !p->threads && loads_apart(s);
  return apart ? "its blocks load on different paths" : NULL;
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
  else if (!(p.reason = choose_aim(s, &p, &aim)))
    choose_factor(s, &p, aim);
  assert((p.factor == 1) == (p.reason != NULL) && p.factor <= CO_MAX_FACTOR);
  return p;
}

CoPlan co_plan_again(const CoShape *s, unsigned axis, unsigned factor) {
  CoPlan p = plan_for(s, axis);
  p.factor = factor;
  return p;
}
