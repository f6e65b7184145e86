/* Coarsening: by how much, and on which axis. A model of what was measured (docs/performance.md): more copies keep more loads in
 * flight until their values no longer fit in the registers; neighbouring threads of a stencil share loads. */
#include "codegen/coarsen.h"

enum { MOST_REGISTERS = 72, OWN_REGISTERS = 10, MOST_CODE = 600, AUTOMATIC = 4, MOST_FORMS = 400 };

/* A short body waits for memory, and gains from its second round on; a long one is left as many threads as the device holds. */
enum { SHORT_BODY = 64, FILL_OF_SHORT = 2 };

/* --- loads that copies share --- */

/* What an address is, but for a constant number of steps along the axis: equal hashes mean the same address, moved. */
typedef struct Form {
  uint64_t hash;
  int64_t steps;
  bool moves; /* depends on the axis */
  uint64_t unit; /* that a step moves it by, bytes of an address, where it is that simple; else 0 */
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
  bool swaps = op == LLVMAdd || op == LLVMMul; /* in either order */
  uint64_t sum = 0;
  Form f = {.hash = mix(7, op)};
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++) {
    Form of = form_of(x, LLVMGetOperand(v, k));
    if (of.moves && !f.moves)
      f.steps = of.steps;
    else if (of.moves)
      f.hash = mix(f.hash, (uint64_t)(of.steps - f.steps));
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
    int64_t bytes = LLVMConstIntGetSExtValue(by) * (int64_t)size, unit = (int64_t)base.unit;
    if (bytes % unit == 0) {
      base.steps += bytes / unit;
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
      of.steps += LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
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
    x->known[n] = i->reads || LLVMIsAPHINode(v) ? (Form){.hash = mix(11, n)} : instruction_form(x, i);
    x->done[n] = true;
  }
  return x->known[n];
}

/* How many loads of all copies' are of an address that another one loads too. */
static unsigned shared_loads(const CoShape *s, unsigned axis, unsigned factor) {
  Cx *cx = s->cg->cx;
  Forms x = {s, axis, s->cg->layout, CX_ARRAY(cx, Form, s->ins.len), CX_ARRAY(cx, bool, s->ins.len)};
  Form *seen = CX_ARRAY(cx, Form, s->ins.len * factor + 1);
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

/* --- loads that are the same --- */

/* Does an address differ from one thread of a warp to the next? Such a load costs several times one that all of them do together. */
static bool differs_in_warp(const CoShape *s, LLVMValueRef v, bool *seen) {
  const CoIns *i = co_ins(s, v);
  if (!i || seen[i - s->ins.data])
    return false;
  seen[i - s->ins.data] = true;
  if (i->sreg == SREG_TID || i->sreg == SREG_LANEID || i->reads || i->effects)
    return true;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n; k++)
    if (differs_in_warp(s, LLVMGetOperand(v, k), seen))
      return true;
  return false;
}

/* What all loads cost that copies do once, by the loops around them. */
static unsigned loads_once(const CoShape *s) {
  enum { ALONE = 2, TOGETHER = 1, ROUNDS_SHIFT = 3, MOST_DEPTH = 6 };
  unsigned sum = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    unsigned depth = s->blocks[i->block].depth;
    if (!i->reads || i->varies)
      continue;
    bool *seen = CX_ARRAY(s->cg->cx, bool, s->ins.len);
    unsigned one = differs_in_warp(s, LLVMGetOperand(i->old, 0), seen) ? ALONE : TOGETHER;
    sum += one << (ROUNDS_SHIFT * (depth < MOST_DEPTH ? depth : MOST_DEPTH));
  }
  return sum;
}

/* --- axis --- */

/* Copies that are neighbouring threads are no block's threads by themselves, so those must not meet. */
static CoPlan plan_for(const CoShape *s, unsigned axis) {
  CoPlan p = {.factor = 1, .axis = axis, .linear = co_is_linear(s, axis)};
  p.threads = axis && p.linear && !co_reads_thread(s, axis) && !s->meets && !s->shared.len;
  return p;
}

static unsigned shared_by(const CoShape *s, const CoPlan *p) {
  if (s->loops || s->shared.len)
    return loads_once(s);
  return p->threads ? shared_loads(s, p->axis, AUTOMATIC) : 0;
}

static bool is_asked_for(const CoShape *s, unsigned axis) {
  unsigned bits = s->cg->options.variant & (CG_VARIANT_AXIS_X | CG_VARIANT_AXIS_Y | CG_VARIANT_AXIS_Z);
  return !bits || bits & (unsigned)CG_VARIANT_AXIS_X << axis;
}

/* Along x a warp's accesses lie side by side, and stay so with neighbouring blocks. */
static CoPlan choose_axis(CoShape *s) {
  CoPlan best = {.factor = 1, .reason = "its blocks all do the same"};
  bool found = false;
  unsigned most = 0;
  for (unsigned axis = 0; axis < 3; axis++) {
    if (!co_reads_axis(s, axis) || !is_asked_for(s, axis))
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

static uint32_t last_use(const CoShape *s, LLVMValueRef v) {
  uint32_t last = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    const CoIns *i = co_ins(s, LLVMGetUser(u));
    uint32_t n = i ? (uint32_t)(i - s->ins.data) : 0;
    last = n > last ? n : last;
  }
  return last;
}

/* Most registers that values of the kind take at once, in the order of the code: one copy's, or what all share. */
static unsigned pressure(const CoShape *s, bool varying) {
  int *change = CX_ARRAY(s->cg->cx, int, s->ins.len + 1), now = 0, most = 0;
  for (uint32_t k = 0; k < s->ins.len; k++) {
    const CoIns *i = &s->ins.data[k];
    uint32_t last = i->varies == varying ? last_use(s, i->old) : 0;
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

/* Registers of a thread that the user's limits leave. */
static unsigned most_registers(const CgOptions *o) {
  enum { ON_MULTIPROCESSOR = 65536 };
  unsigned most = MOST_REGISTERS;
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

static void choose_factor(CoShape *s, CoPlan *p) {
  unsigned varying = count_varying(s);
  unsigned one = pressure(s, true), common = pressure(s, false) + OWN_REGISTERS;
  unsigned most = most_registers(&s->cg->options);
  for (unsigned k = AUTOMATIC; k > 1; k /= 2)
    if (k * one + common <= most && k * varying <= MOST_CODE && has_room(s, k)) {
      p->factor = k;
      p->fill = varying <= SHORT_BODY ? FILL_OF_SHORT : k;
      return;
    }
  p->reason = "its values leave no room in the registers for a second copy";
}

/* What is coarsened when asked for, and not by the compiler itself. */
static const char *not_measured(const CoShape *s) {
  return s->meets        ? "its threads meet at barriers or in operations of a warp"
         : s->shared.len ? "it has shared memory"
         : s->loops      ? "it has a loop"
                         : NULL;
}

CoPlan co_plan(CoShape *s) {
  CoPlan p = {.factor = 1, .reason = s->reason};
  int wanted = s->cg->options.coarsen;
  if (!p.reason && wanted < 0 && !(s->cg->options.variant & CG_VARIANT_LOOPS))
    p.reason = not_measured(s);
  if (p.reason)
    return p;
  p = choose_axis(s);
  if (p.reason)
    return p;
  if (wanted > 1 && !has_room(s, (unsigned)wanted))
    p.reason = "its copies' arrays have no room in shared memory";
  else if (wanted > 1)
    p.factor = (unsigned)wanted;
  else if (!touches_memory(s))
    p.reason = "it waits for no memory";
  else if (has_atomics(s))
    p.reason = "it has atomic operations";
  else
    choose_factor(s, &p);
  return p;
}

CoPlan co_plan_again(const CoShape *s, unsigned axis, unsigned factor) {
  CoPlan p = plan_for(s, axis);
  p.factor = factor;
  return p;
}
