/* Flatten, frames: which values each call must keep, and how large its frame is.
 *
 * reg2mem puts every value that is used in another block into an alloca, and box_across those that
 * are used across a call in one block. After that a call must keep the allocas that are live after
 * it: a backward dataflow problem over loads and stores alone (boxes; llvm/graph.c solves it).
 * Allocas whose address is used otherwise are the activation's arrays, and are kept as a whole.
 * Arguments that all calls of a component pass on unchanged, such as arrays and limits, stay
 * parameters of the machine: a fixed point over the calls, from "never called" over one parameter
 * to "varies". */
#include "codegen/flatten/flatten.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum { VARIES = 0, NOT_CALLED = INT_MAX }; /* of FlMember.fixed */

static uint32_t rounded(uint64_t n, uint32_t align) {
  return (uint32_t)((n + align - 1) / align * align);
}

static LLVMValueRef first_of(const FlMember *f) {
  return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->fn));
}

static LLVMValueRef new_box(FlMachine *m, FlMember *f, LLVMTypeRef type) {
  LLVMPositionBuilderBefore(m->b, first_of(f));
  return l_alloca(m->b, type);
}

/* --- parameters as boxes --- */

static bool is_lifetime(LLVMValueRef i) {
  static const char *const names[] = {"llvm.lifetime.start", "llvm.lifetime.end"};
  unsigned id = LLVMIsAIntrinsicInst(i) ? LLVMGetIntrinsicID(LLVMGetCalledValue(i)) : 0;
  for (size_t k = 0; id && k < sizeof names / sizeof *names; k++)
    if (id == LLVMLookupIntrinsicID(names[k], strlen(names[k])))
      return true;
  return false;
}

static void drop_lifetimes(const FlMember *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (is_lifetime(i))
        LLVMInstructionEraseFromParent(i);
    }
}

static void box_arguments(FlMachine *m, FlMember *f) {
  f->args = ARENA_ARRAY(m->arena, LLVMValueRef, f->nargs + 1);
  f->stores = ARENA_ARRAY(m->arena, LLVMValueRef, f->nargs + 1);
  LLVMValueRef first = first_of(f);
  for (unsigned k = 0; k < f->nargs; k++) {
    if (f->fixed[k])
      continue;
    LLVMValueRef arg = LLVMGetParam(f->fn, k);
    f->args[k] = new_box(m, f, LLVMTypeOf(arg));
    LLVMPositionBuilderBefore(m->b, first);
    LLVMValueRef load = l_load(m->b, LLVMTypeOf(arg), f->args[k]);
    LLVMReplaceAllUsesWith(arg, load);
    LLVMPositionBuilderBefore(m->b, load);
    f->stores[k] = l_store(m->b, arg, f->args[k]);
  }
}

static FlMember *callee_of(const FlMachine *m, LLVMValueRef i) {
  LLVMValueRef fn = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  for (uint32_t k = 0; fn && k < m->members.len; k++)
    if (m->members.data[k]->fn == fn)
      return m->members.data[k];
  return NULL;
}

/* --- arguments that all calls pass on unchanged: arrays, limits, the context --- */

static void begin_arguments(FlMachine *m) {
  unsigned entered = 0, context = fl_has_context(m->cg), at = FL_PARAM_CONTEXT;
  for (uint32_t k = 0; k < m->members.len; k++)
    entered += m->members.data[k]->entered;
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    f->nargs = LLVMCountParams(f->fn);
    f->fixed = ARENA_ARRAY(m->arena, unsigned, f->nargs + 1);
    f->first = at; /* argument a is parameter first + a, but for the context */
    for (unsigned a = context; a < f->nargs; a++)
      f->fixed[a] = !f->entered ? NOT_CALLED : entered == 1 ? f->first + a : VARIES;
    if (context)
      f->fixed[0] = FL_PARAM_CONTEXT;
    if (f->entered)
      at += f->nargs - context;
  }
}

static unsigned fixed_value(const FlMember *f, LLVMValueRef v) {
  for (unsigned k = 0; LLVMIsAArgument(v) && k < f->nargs; k++)
    if (LLVMGetParam(f->fn, k) == v)
      return f->fixed[k];
  return VARIES;
}

static bool note_call(const FlMember *from, const FlCall *c) {
  bool changed = false;
  for (unsigned k = 0; k < c->to->nargs; k++) {
    unsigned given = fixed_value(from, LLVMGetOperand(c->call, k)), *known = &c->to->fixed[k];
    if (given == NOT_CALLED || *known == given || *known == VARIES)
      continue;
    *known = *known == NOT_CALLED ? given : VARIES;
    changed = true;
  }
  return changed;
}

static void find_fixed(FlMachine *m) {
  begin_arguments(m);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < m->members.len; k++)
      for (uint32_t c = 0; c < m->members.data[k]->calls.len; c++)
        changed |= note_call(m->members.data[k], &m->members.data[k]->calls.data[c]);
  }
  /* members whose calls were never reached */
  for (uint32_t k = 0; k < m->members.len; k++)
    for (unsigned a = 0; a < m->members.data[k]->nargs; a++)
      if (m->members.data[k]->fixed[a] == NOT_CALLED)
        m->members.data[k]->fixed[a] = VARIES;
}

/* Boxes for the values that the call's block computes before the call and uses after it. */
static void box_across(FlMachine *m, FlMember *f, LLVMValueRef call) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
  ValueMap before = {.arena = m->arena}, boxes = {.arena = m->arena};
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != call; i = LLVMGetNextInstruction(i))
    if (!LLVMIsAAllocaInst(i))
      valuemap_set(&before, i, 0);
  VEC(LLVMValueRef) made = {0};
  for (LLVMValueRef i = LLVMGetNextInstruction(call); i; i = LLVMGetNextInstruction(i)) {
    for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
      LLVMValueRef v = LLVMGetOperand(i, k);
      if (valuemap_get(&before, v) == VALUEMAP_NONE)
        continue;
      uint32_t number = valuemap_get(&boxes, v);
      if (number == VALUEMAP_NONE) {
        number = made.len;
        valuemap_set(&boxes, v, number);
        VEC_PUSH(m->arena, &made, new_box(m, f, LLVMTypeOf(v)));
        LLVMPositionBuilderBefore(m->b, LLVMGetNextInstruction(v));
        l_store(m->b, v, made.data[number]);
      }
      LLVMPositionBuilderBefore(m->b, i);
      LLVMSetOperand(i, k, l_load(m->b, LLVMTypeOf(v), made.data[number]));
    }
  }
}

static void list_calls(FlMachine *m, FlMember *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      FlMember *to = callee_of(m, i);
      if (to)
        VEC_PUSH(m->arena, &f->calls, ((FlCall){.call = i, .to = to}));
    }
}

/* --- boxes and arrays --- */

static bool is_box(LLVMValueRef alloca) {
  LLVMTypeRef type = LLVMGetAllocatedType(alloca);
  for (LLVMUseRef u = LLVMGetFirstUse(alloca); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    bool load = LLVMIsALoadInst(i) && LLVMTypeOf(i) == type;
    bool store = LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) != alloca &&
                 LLVMTypeOf(LLVMGetOperand(i, 0)) == type;
    if (!(load || store) || !cg_is_plain_access(i))
      return false;
  }
  return true;
}

static void note_align(FlMachine *m, uint32_t align) {
  if (align > m->align)
    m->align = align;
}

static void sort_allocas(FlMachine *m, FlMember *f) {
  f->numbers = (ValueMap){.arena = m->arena};
  for (LLVMValueRef i = first_of(f); i; i = LLVMGetNextInstruction(i)) {
    if (!LLVMIsAAllocaInst(i))
      continue;
    LLVMTypeRef type = LLVMGetAllocatedType(i);
    if (is_box(i)) {
      valuemap_set(&f->numbers, i, f->boxes.len);
      VEC_PUSH(m->arena, &f->boxes, i);
      note_align(m, LLVMABIAlignmentOfType(m->cg->layout, type));
      continue;
    }
    uint32_t align = LLVMGetAlignment(i);
    note_align(m, align);
    f->area = rounded(f->area, align);
    VEC_PUSH(m->arena, &f->arrays, ((FlArray){i, f->area}));
    f->area += (uint32_t)LLVMABISizeOfType(m->cg->layout, type);
  }
}

/* --- liveness after calls --- */

/* The transfer function of one instruction, backwards. written: may be NULL. */
static void step_back(const FlMember *f, LLVMValueRef i, uint64_t *live, uint64_t *written) {
  bool load = LLVMIsALoadInst(i), store = LLVMIsAStoreInst(i);
  uint32_t box = load || store ? valuemap_get(&f->numbers, LLVMGetOperand(i, store))
                               : VALUEMAP_NONE;
  if (box == VALUEMAP_NONE)
    return;
  if (load)
    set_add(live, box);
  else
    set_drop(live, box);
  if (store && written)
    set_add(written, box);
}

static void find_live(FlMachine *m, FlMember *f) {
  FnGraph g = graph_of(m->arena, f->fn, NULL);
  LiveSets *sets = graph_live_sets(&g, f->boxes.len);
  for (uint32_t k = 0; k < g.len; k++)
    for (LLVMValueRef i = g.nodes[k].last; i; i = LLVMGetPreviousInstruction(i))
      step_back(f, i, sets[k].use, sets[k].def);
  graph_live(&g, sets, f->boxes.len);
  for (uint32_t k = 0; k < f->calls.len; k++) {
    FlCall *c = &f->calls.data[k];
    LLVMBasicBlockRef block = LLVMGetInstructionParent(c->call);
    size_t words = set_words(f->boxes.len);
    uint32_t node = graph_number(&g, block);
    c->live = ARENA_ARRAY(m->arena, uint64_t, words + 1);
    if (node != GRAPH_NONE)
      memcpy(c->live, sets[node].out, words * sizeof *c->live);
    for (LLVMValueRef i = LLVMGetLastInstruction(block); i != c->call;
         i = LLVMGetPreviousInstruction(i))
      step_back(f, i, c->live, NULL);
  }
}

/* --- frames --- */

uint32_t fl_place(const FlMachine *m, LLVMValueRef box, uint32_t *at) {
  assert(LLVMIsAAllocaInst(box));
  LLVMTypeRef type = LLVMGetAllocatedType(box);
  uint32_t here = rounded(*at, LLVMABIAlignmentOfType(m->cg->layout, type));
  *at = here + (uint32_t)LLVMABISizeOfType(m->cg->layout, type);
  return here;
}

static uint32_t frame_bytes(const FlMachine *m, const FlMember *f, const FlCall *c) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < f->boxes.len; k++)
    if (set_has(c->live, k))
      fl_place(m, f->boxes.data[k], &at);
  return at + (uint32_t)sizeof(uint32_t);
}

static void lay_out(FlMachine *m, FlMember *f) {
  box_arguments(m, f);
  cg_run_function_passes(m->cg, f->fn, "reg2mem");
  for (uint32_t k = 0; k < f->calls.len; k++)
    box_across(m, f, f->calls.data[k].call);
  sort_allocas(m, f);
  find_live(m, f);
  for (uint32_t k = 0; k < f->calls.len; k++)
    f->calls.data[k].bytes = frame_bytes(m, f, &f->calls.data[k]);
  assert((m->align & (m->align - 1)) == 0);
}

static bool is_meeting(LLVMValueRef i) {
  static const char name[] = "convergent";
  LLVMAttributeIndex at = L_FUNCTION;
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  if (!LLVMIsACallInst(i))
    return false;
  LLVMValueRef fn = LLVMGetCalledValue(i);
  return LLVMGetCallSiteEnumAttribute(i, at, kind) ||
         (LLVMIsAFunction(fn) && LLVMGetEnumAttributeAtIndex(fn, at, kind));
}

static bool meets(const FlMachine *m, const FlMember *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (is_meeting(i) && !callee_of(m, i))
        return true;
  return false;
}

void fl_lay_out(FlMachine *m) {
  m->align = FL_LEAST_ALIGN;
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    cg_run_function_passes(m->cg, f->fn, "simplifycfg");
    drop_lifetimes(f);
    list_calls(m, f);
    m->meets |= meets(m, f);
  }
  find_fixed(m);
  for (uint32_t k = 0; k < m->members.len; k++)
    lay_out(m, m->members.data[k]);
}
