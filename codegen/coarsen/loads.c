/* Coarsening: what loads cost, and which of them copies share.
 *
 * In: a shape; where copies matter, one whose common path for a plan is known.
 *
 * The cost of a load is the number of cache lines that the threads of a warp touch in it, times an
 * assumed trip count for each loop around it. The lines follow from the stride of its address, from
 * thread to thread of a warp or from iteration to iteration of a loop, found by a walk over the
 * operands; an unknown stride counts as far.
 *
 * Loads of copies that are neighbouring threads are shared if their addresses are equal: each
 * address is hashed as an expression of the global index plus a constant number of steps (value
 * numbering with an offset), so that u[i - 1] of one copy is u[i] of the copy before. Hashes are
 * compared, not expressions: a collision would cost speed only. No aliasing is considered. */
#include "codegen/coarsen/coarsen.h"

#include <assert.h>
#include <stdlib.h>

#include "codegen/llvm/match.h"

enum { MOST_FORMS = 400 };

/* --- loads that copies share --- */

/* An address as an expression, without a constant number of steps along the axis: two with the same
 * hash differ by steps only. */
typedef struct Form {
  uint64_t hash;
  uint64_t steps; /* modulo 2^64, since a constant of the program may be anything */
  bool moves;     /* depends on the axis */
  uint64_t unit;  /* by how much a step moves it (an address: bytes), if that is known; else 0 */
} Form;

typedef struct Forms {
  const CoShape *s;
  unsigned axis;
  LLVMTargetDataRef layout;
  Form *known; /* of instructions */
  bool *done;
} Forms;

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

static Form form_of(Forms *x, LLVMValueRef v);

static Form combined(Forms *x, LLVMValueRef v) {
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  bool swaps = op == LLVMAdd || op == LLVMMul; /* commutative */
  uint64_t sum = 0;
  Form f = {.hash = mix(7, op)};
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++) {
    Form of = form_of(x, LLVMGetOperand(v, k));
    if (of.moves && !f.moves)
      f.steps = of.steps;
    else if (of.moves)
      f.hash = mix(f.hash, of.steps - f.steps);
    f.unit = op != LLVMAdd || (of.moves && f.moves) ? 0 : of.moves ? of.unit : f.unit;
    f.moves |= of.moves;
    if (swaps)
      sum += mix(13, of.hash);
    else
      f.hash = mix(f.hash, of.hash);
  }
  f.hash = mix(f.hash, sum);
  return f;
}

static Form address_form(Forms *x, LLVMValueRef gep) {
  Form f = combined(x, gep);
  uint64_t size = LLVMABISizeOfType(x->layout, LLVMGetGEPSourceElementType(gep));
  f.hash = mix(f.hash, size);
  if (LLVMGetNumOperands(gep) != 2)
    return f;
  Form base = form_of(x, LLVMGetOperand(gep, 0)), at = form_of(x, LLVMGetOperand(gep, 1));
  LLVMValueRef by = LLVMGetOperand(gep, 1);
  f.unit = base.moves ? 0 : at.unit * size;
  if (base.unit && LLVMIsAConstantInt(by)) {
    int64_t bytes = (int64_t)((uint64_t)LLVMConstIntGetSExtValue(by) * size),
            unit = (int64_t)base.unit;
    if (bytes % unit == 0) {
      base.steps += (uint64_t)(bytes / unit);
      return base;
    }
  }
  return f;
}

static Form instruction_form(Forms *x, const CoIns *i) {
  LLVMValueRef v = i->old;
  if (i->axis == x->axis + 1)
    return (Form){.hash = 1, .moves = true, .unit = 1};
  if (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || LLVMIsATruncInst(v))
    return form_of(x, LLVMGetOperand(v, 0));
  if (LLVMIsAGetElementPtrInst(v))
    return address_form(x, v);
  Form f = combined(x, v);
  if (LLVMGetInstructionOpcode(v) == LLVMAdd && LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
    Form of = form_of(x, LLVMGetOperand(v, 0));
    if (of.unit == 1) {
      of.steps += (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
      return of;
    }
  }
  return f;
}

static Form form_of(Forms *x, LLVMValueRef v) {
  CoIns *i = co_ins(x->s, v);
  if (!i) {
    if (LLVMIsAConstantInt(v))
      return (Form){.hash = mix(3, (uint64_t)LLVMConstIntGetSExtValue(v))};
    return (Form){.hash = mix(5, (uint64_t)(uintptr_t)v)};
  }
  size_t n = (size_t)(i - x->s->ins.data);
  if (!x->done[n]) {
    x->known[n] = i->reads || LLVMIsAPHINode(v) ? (Form){.hash = mix(11, n)}
                                                : instruction_form(x, i);
    x->done[n] = true;
  }
  return x->known[n];
}

static Forms forms_of(const CoShape *s, unsigned axis) {
  Cx *cx = s->cg->cx;
  return (Forms){s, axis, s->cg->layout, CX_ARRAY(cx, Form, s->ins.len),
                 CX_ARRAY(cx, bool, s->ins.len)};
}

unsigned co_shared_loads(const CoShape *s, unsigned axis, unsigned factor) {
  assert(factor <= CO_MAX_FACTOR);
  Forms x = forms_of(s, axis);
  Form *seen = CX_ARRAY(s->cg->cx, Form, s->ins.len * factor + 1);
  unsigned n = 0, shared = 0;
  for (uint32_t k = 0; k < s->ins.len && n < MOST_FORMS; k++) {
    Form f = s->ins.data[k].reads ? form_of(&x, LLVMGetOperand(s->ins.data[k].old, 0)) : (Form){0};
    for (unsigned c = 0; f.moves && c < factor; c++) {
      unsigned at = 0;
      while (at < n && (seen[at].hash != f.hash || seen[at].steps != f.steps + c))
        at++;
      shared += at < n;
      seen[n] = f;
      seen[n].steps += c;
      n += at == n;
    }
  }
  return shared;
}

/* --- what a load costs --- */

/* The stride of a value from one thread of a warp to the next, or from one iteration of a loop to
 * the next, clamped to FAR. Of operations without a rule: 0 if no operand has a stride, else 1. */
enum { OF_WARP = UINT32_MAX };
typedef struct Steps {
  const CoShape *s;
  uint32_t header; /* block of the loop, or OF_WARP */
  int64_t *known;
  bool *done;
} Steps;

static const int64_t FAR = 1 << 20;

static int64_t within(int64_t n) { return n > FAR ? FAR : n < -FAR ? -FAR : n; }
static int64_t times(int64_t steps, int64_t n) { return within(within(steps) * within(n)); }
static int64_t further(int64_t a, int64_t b) { return llabs(a) > llabs(b) ? a : b; }

static int64_t step_of(Steps *x, LLVMValueRef v);

static int64_t most_of(Steps *x, LLVMValueRef v) {
  int64_t most = 0;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    most = further(most, step_of(x, LLVMGetOperand(v, k)));
  return most;
}

/* Of an induction variable of the loop: its constant increment. */
static int64_t step_of_counter(const CoShape *s, const CoIns *phi, LLVMValueRef next) {
  if (next == phi->old)
    return 0;
  bool adds = LLVMIsABinaryOperator(next) && LLVMGetInstructionOpcode(next) == LLVMAdd;
  bool moves = LLVMIsAGetElementPtrInst(next) && LLVMGetNumOperands(next) == 2;
  if ((!adds && !moves) || LLVMGetOperand(next, 0) != phi->old ||
      !LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
    return FAR;
  int64_t size =
      moves ? (int64_t)LLVMABISizeOfType(s->cg->layout, LLVMGetGEPSourceElementType(next)) : 1;
  return times(LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)), size);
}

/* Within a warp the stride of the initial value: iterations keep it. */
static int64_t step_of_phi(Steps *x, const CoIns *phi) {
  int64_t most = 0;
  for (unsigned k = 0, n = LLVMCountIncoming(phi->old); k < n; k++) {
    LLVMValueRef in = LLVMGetIncomingValue(phi->old, k);
    bool earlier = graph_number(&x->s->g, LLVMGetIncomingBlock(phi->old, k)) < phi->block;
    most = further(most, earlier                   ? step_of(x, in)
                         : phi->block == x->header ? step_of_counter(x->s, phi, in)
                                                   : 0);
  }
  return most;
}

static int64_t step_of_address(Steps *x, LLVMValueRef gep) {
  LLVMTypeRef of = LLVMGetGEPSourceElementType(gep);
  int64_t sum = step_of(x, LLVMGetOperand(gep, 0));
  for (unsigned k = 1, n = (unsigned)LLVMGetNumOperands(gep); k < n; k++) {
    if (k > 1 && LLVMGetTypeKind(of) != LLVMArrayTypeKind)
      break; /* fields of a record are constants */
    of = k > 1 ? LLVMGetElementType(of) : of;
    sum = within(sum + times(step_of(x, LLVMGetOperand(gep, k)),
                             (int64_t)LLVMABISizeOfType(x->s->cg->layout, of)));
  }
  return sum;
}

static int64_t step_of_product(Steps *x, LLVMValueRef v, bool shift) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  if (!LLVMIsAConstantInt(by))
    return most_of(x, v) ? FAR : 0;
  int64_t n = LLVMConstIntGetSExtValue(by);
  return times(step_of(x, LLVMGetOperand(v, 0)), !shift             ? n
                                                 : n >= 0 && n < 20 ? (int64_t)1 << n
                                                                    : FAR);
}

static int64_t compute_step(Steps *x, const CoIns *i) {
  LLVMValueRef v = i->old;
  if (i->sreg != SREG_NONE)
    return x->header != OF_WARP                            ? 0
           : i->sreg == SREG_TID || i->sreg == SREG_LANEID ? 1
           : co_differs_in(i, SCOPE_LANE)                  ? FAR
                                                           : 0;
  if (i->reads || i->effects)
    return most_of(x, v) ? FAR : 0;
  if (LLVMIsAPHINode(v))
    return step_of_phi(x, i);
  if (LLVMIsAGetElementPtrInst(v))
    return step_of_address(x, v);
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMOr: return within(step_of(x, LLVMGetOperand(v, 0)) + step_of(x, LLVMGetOperand(v, 1)));
  case LLVMSub: return within(step_of(x, LLVMGetOperand(v, 0)) - step_of(x, LLVMGetOperand(v, 1)));
  case LLVMMul: return step_of_product(x, v, false);
  case LLVMShl: return step_of_product(x, v, true);
  case LLVMZExt:
  case LLVMSExt:
  case LLVMTrunc:
  case LLVMFreeze:
  case LLVMSelect:
  case LLVMCall: return most_of(x, v);
  default: return most_of(x, v) != 0;
  }
}

static int64_t step_of(Steps *x, LLVMValueRef v) {
  const CoIns *i = co_ins(x->s, v);
  if (!i)
    return 0;
  size_t n = (size_t)(i - x->s->ins.data);
  if (!x->done[n]) {
    x->done[n] = true;
    x->known[n] = compute_step(x, i);
    assert(llabs(x->known[n]) <= FAR);
  }
  return x->known[n];
}

static Steps steps_of(const CoShape *s, uint32_t header) {
  return (Steps){s, header, CX_ARRAY(s->cg->cx, int64_t, s->ins.len),
                 CX_ARRAY(s->cg->cx, bool, s->ins.len)};
}

/* In one load the threads of a warp touch one line, a few, or each a line of its own (which costs
 * nothing extra in the banks of shared memory). */
enum { ONE = 1, A_FEW = 2, SCATTERED = 8, LINE = 32, ROUNDS_SHIFT = 3, MOST_DEPTH = 6 };
enum { WARP = 32, SECTOR = 32 };

static unsigned lines_of(Steps *x, const CoIns *i) {
  int64_t step = llabs(step_of(x, LLVMGetOperand(i->old, 0)));
  return step <= SECTOR / WARP ? ONE : step < LINE || i->shared ? A_FEW : SCATTERED;
}

unsigned co_rounds(const CoShape *s, const CoIns *i) {
  unsigned depth = s->blocks[i->block].in->depth;
  return 1u << (ROUNDS_SHIFT * (depth < MOST_DEPTH ? depth : MOST_DEPTH));
}

static unsigned cost_of(const CoShape *s, const CoIns *i, unsigned lines) {
  return lines * co_rounds(s, i);
}

unsigned co_loads_once(const CoShape *s) {
  Steps x = steps_of(s, OF_WARP);
  unsigned sum = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    if (i->reads && !i->varies)
      sum += cost_of(s, i, lines_of(&x, i));
  }
  return sum;
}

static uint32_t loop_around(const CoShape *s, const CoIns *i) {
  uint32_t header = 0;
  unsigned depth = 0;
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(s->blocks[k].loop, i->block) && s->blocks[k].in->depth > depth) {
      header = k;
      depth = s->blocks[k].in->depth;
    }
  return header;
}

/* A sliding window: do other threads of the warp load, in the next iteration, the elements that
 * their neighbours load in this one? `rounds`: by number of the loop's header. */
static bool is_window(const CoShape *s, const CoIns *i, Steps *rounds) {
  uint32_t header = loop_around(s, i);
  Steps *x = &rounds[header];
  if (!x->s)
    *x = steps_of(s, header);
  int64_t step = llabs(step_of(x, LLVMGetOperand(i->old, 0)));
  return step < WARP * (int64_t)LLVMABISizeOfType(s->cg->layout, LLVMTypeOf(i->old));
}

/* By instruction: is it a load, or one that is not the same in all copies, or computed from such?
 * (Around a loop nothing is followed: straight code has its operands before it.) */
static bool *loaded_values(const CoShape *s, bool own) {
  bool *loaded = CX_ARRAY(s->cg->cx, bool, s->ins.len);
  for (uint32_t k = 0; k < s->ins.len; k++) {
    LLVMValueRef v = s->ins.data[k].old;
    loaded[k] = s->ins.data[k].reads && (!own || s->ins.data[k].varies);
    for (unsigned n = 0, all = (unsigned)LLVMGetNumOperands(v); n < all && !loaded[k]; n++) {
      const CoIns *i = co_ins(s, LLVMGetOperand(v, n));
      loaded[k] = i && loaded[i - s->ins.data];
    }
  }
  return loaded;
}

/* Is its address made of what was loaded? By loaded_values. */
static bool is_gathered(const CoShape *s, const bool *loaded, const CoIns *i) {
  const CoIns *at = co_ins(s, LLVMGetOperand(i->old, 0));
  return at && loaded[at - s->ins.data];
}

/* What is gathered by what the copy has loaded for itself is in no window. */
CoLoads co_loads_in_loops(const CoShape *s) {
  CoLoads n = {0};
  const bool *loaded = loaded_values(s, true);
  Steps x = steps_of(s, OF_WARP), *rounds = CX_ARRAY(s->cg->cx, Steps, s->nblocks);
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    if (!i->reads || !s->blocks[i->block].in->depth)
      continue;
    unsigned lines = lines_of(&x, i), cost = cost_of(s, i, lines);
    bool own = i->varies && !i->shared;
    n.once += i->varies ? 0 : cost;
    n.scattered += !i->varies && lines == SCATTERED ? cost : 0;
    n.own += own ? cost : 0;
    bool streams = lines == SCATTERED || is_gathered(s, loaded, i) ||
                   (lines == A_FEW && !is_window(s, i, rounds));
    n.streamed += own && streams ? cost : 0;
  }
  return n;
}

bool co_gathers_in_loops(const CoShape *s) {
  const bool *loaded = loaded_values(s, true);
  unsigned gathered = 0, all = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    bool own = i->reads && i->varies && !i->shared && s->blocks[i->block].in->depth;
    all += own;
    gathered += own && is_gathered(s, loaded, i);
  }
  return 2 * gathered > all;
}

/* --- straight code --- */

/* An array's loads: a stencil's elements are its neighbours' too, so a thread has no more of its
 * own than it is away from the next one. */
typedef struct Reads {
  LLVMValueRef array;
  int64_t bytes, step; /* of all its loads; the largest */
} Reads;

bool co_gathers(const CoShape *s) {
  const bool *loaded = loaded_values(s, false);
  unsigned gathered = 0, all = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    bool own = i->reads && i->varies;
    all += own;
    gathered += own && is_gathered(s, loaded, i);
  }
  return 2 * gathered > all;
}

unsigned co_in_flight(const CoShape *s) {
  Steps x = steps_of(s, OF_WARP);
  Reads *reads = CX_ARRAY(s->cg->cx, Reads, s->ins.len);
  const bool *loaded = loaded_values(s, false);
  size_t n = 0;
  int64_t sum = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    LLVMValueRef at = i->reads && !i->shared ? LLVMGetOperand(i->old, 0) : NULL;
    if (!at || is_gathered(s, loaded, i))
      continue;
    Reads *r = reads;
    while (r < reads + n && r->array != cg_array_of(at))
      r++;
    n += r == reads + n;
    r->array = cg_array_of(at);
    r->bytes += (int64_t)LLVMABISizeOfType(s->cg->layout, LLVMTypeOf(i->old));
    r->step = llabs(further(r->step, step_of(&x, at)));
  }
  for (size_t k = 0; k < n; k++)
    sum = within(sum + (reads[k].bytes < reads[k].step ? reads[k].bytes : reads[k].step));
  return (unsigned)sum;
}
