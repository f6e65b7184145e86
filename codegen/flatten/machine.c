/* Flatten, writing: the machine of a component whose frames are laid out (frames.c).
 *
 * The members' blocks are moved into it unchanged, but for two things: a call among them becomes a
 * push, stores of the arguments and a branch to `next`, and what follows it in its block becomes
 * the block of a new state; a return becomes a pop and a branch to `next`. The state passes through
 * an empty inline assembly, so that LLVM cannot thread these branches past the dispatch, at which
 * the warp reconverges. mem2reg runs afterwards (flatten.c). */
#include "codegen/flatten/flatten.h"

#include <assert.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/compat.h"
#include "codegen/nvptx/nvptx.h"

enum { DONE = 0, FIRST_STATE = 1, STATE_BYTES = 4 };

uint32_t fl_stack_bytes(const Cg *cg) {
  return cg->options.stack ? ((uint32_t)cg->options.stack + 15) / 16 * 16 : CG_STACK_BYTES;
}

bool fl_has_context(const Cg *cg) { return cg->target->context_type((Cg *)cg) != NULL; }

LLVMTypeRef fl_local(const Cg *cg) { return LLVMPointerTypeInContext(cg->context, NVPTX_LOCAL); }

static LLVMValueRef i32(const FlMachine *m, uint32_t v) { return l_int(m->cg->t.i32, v); }

static uint32_t rounded(const FlMachine *m, uint32_t bytes) {
  return (bytes + m->align - 1) / m->align * m->align;
}

static LLVMValueRef moved(FlMachine *m, LLVMValueRef p, int64_t bytes) {
  LLVMValueRef n = LLVMConstInt(m->cg->t.i64, (unsigned long long)bytes, 1);
  return bytes ? l_gep_inbounds(m->b, m->cg->t.i8, p, &n, 1) : p;
}

LLVMValueRef fl_top(FlMachine *m) { return l_load(m->b, m->cg->t.i32, m->top); }

LLVMValueRef fl_address(FlMachine *m, LLVMValueRef top) {
  LLVMValueRef n = l_zext(m->b, top, m->cg->t.i64);
  return l_gep_inbounds(m->b, m->cg->t.i8, m->base, &n, 1);
}

/* Pops so many bytes; returns the new top. */
static LLVMValueRef drop(FlMachine *m, uint32_t bytes) {
  LLVMValueRef top = fl_top(m);
  if (bytes)
    l_store(m->b, top = l_sub_nuw(m->b, top, i32(m, bytes)), m->top);
  return top;
}

/* What is built there has no debug location. */
static void at_end(FlMachine *m, LLVMBasicBlockRef b) {
  LLVMPositionBuilderAtEnd(m->b, b);
  LLVMSetCurrentDebugLocation2(m->b, NULL);
}

static LLVMBasicBlockRef block(FlMachine *m, const char *name) {
  return LLVMAppendBasicBlockInContext(m->cg->context, m->fn, name);
}

/* --- the function --- */

static void make_function(FlMachine *m) {
  const CgTypes *t = &m->cg->t;
  VEC(LLVMTypeRef) params = {0}, fields = {0};
  VEC_PUSH(m->arena, &params, fl_local(m->cg));
  VEC_PUSH(m->arena, &params, t->i32);
  VEC_PUSH(m->arena, &params, t->i32);
  if (fl_has_context(m->cg))
    VEC_PUSH(m->arena, &params, m->cg->target->context_type(m->cg));
  unsigned begin = fl_has_context(m->cg);
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    if (!f->entered)
      continue;
    CX_ASSERT(m->cg->cx, f->first + begin == params.len);
    for (unsigned a = begin; a < f->nargs; a++)
      VEC_PUSH(m->arena, &params, LLVMTypeOf(LLVMGetParam(f->fn, a)));
    f->field = fields.len;
    if (f->result_type != t->none)
      VEC_PUSH(m->arena, &fields, f->result_type);
  }
  m->result = fields.len ? LLVMStructTypeInContext(m->cg->context, fields.data, fields.len, 0)
                         : t->none;
  m->type = LLVMFunctionType(m->result, params.data, params.len, 0);
  const char *name = arena_printf(m->arena, "%s$machine", LLVMGetValueName(m->members.data[0]->fn));
  m->fn = LLVMAddFunction(m->cg->module, name, m->type);
  LLVMSetLinkage(m->fn, LLVMInternalLinkage);
  cg_attribute(m->cg, m->fn, L_FUNCTION, "nounwind", 0);
}

/* The machine has the attribute if one of the functions has it. */
static void take_attribute(FlMachine *m, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  for (uint32_t k = 0; k < m->members.len; k++) {
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(m->members.data[k]->fn, L_FUNCTION, kind);
    if (a) {
      LLVMAddAttributeAtIndex(m->fn, L_FUNCTION, a);
      return;
    }
  }
}

/* --- lines --- */

/* The same location, as inlined into the machine, whose scope is the first member's. */
static LLVMMetadataRef inlined(FlMachine *m, LLVMMetadataRef at, LLVMMetadataRef scope) {
  LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(at);
  outer = outer ? inlined(m, outer, scope)
                : LLVMDIBuilderCreateDebugLocation(m->cg->context, LLVMDISubprogramGetLine(scope),
                                                   0, scope, NULL);
  return LLVMDIBuilderCreateDebugLocation(m->cg->context, LLVMDILocationGetLine(at),
                                          LLVMDILocationGetColumn(at), LLVMDILocationGetScope(at),
                                          outer);
}

static void take_lines(FlMachine *m) {
  LLVMMetadataRef scope = LLVMGetSubprogram(m->members.data[0]->fn);
  if (!scope)
    return;
  for (uint32_t k = 1; k < m->members.len; k++)
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(m->members.data[k]->fn); b;
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
        if (at)
          LLVMInstructionSetDebugLoc(i, inlined(m, at, scope));
      }
  for (uint32_t k = 0; k < m->members.len; k++)
    LLVMGlobalEraseMetadata(m->members.data[k]->fn,
                            LLVMGetMDKindIDInContext(m->cg->context, "dbg", 3));
  LLVMSetSubprogram(m->fn, scope);
}

/* --- bodies --- */

static void move_to_end(FlMachine *m, LLVMValueRef i, LLVMBasicBlockRef end) {
  LLVMInstructionRemoveFromParent(i);
  at_end(m, end);
  LLVMInsertIntoBuilder(m->b, i);
}

/* An array's address is relative to the top of the stack, at which the area of the running
 * activation ends. */
static void replace_array(FlMachine *m, const FlMember *f, const FlArray *a) {
  int64_t at = (int64_t)a->offset - (int64_t)f->area;
  for (LLVMUseRef u; (u = LLVMGetFirstUse(a->array));) {
    LLVMValueRef user = LLVMGetUser(u);
    LLVMPositionBuilderBefore(m->b, user);
    LLVMValueRef p = l_addrspacecast(m->b, moved(m, fl_address(m, fl_top(m)), at), m->cg->t.ptr);
    for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(user); k < n; k++)
      if (LLVMGetOperand(user, k) == a->array)
        LLVMSetOperand(user, k, p);
  }
  LLVMInstructionEraseFromParent(a->array);
}

static void move_body(FlMachine *m, FlMember *f, LLVMBasicBlockRef boxes) {
  for (unsigned k = 0; k < f->nargs; k++) {
    if (f->fixed[k])
      LLVMReplaceAllUsesWith(LLVMGetParam(f->fn, k), LLVMGetParam(m->fn, f->fixed[k]));
    else
      LLVMInstructionEraseFromParent(f->stores[k]);
  }
  for (uint32_t k = 0; k < f->boxes.len; k++)
    move_to_end(m, f->boxes.data[k], boxes);
  f->entry = LLVMGetEntryBasicBlock(f->fn);
  for (LLVMBasicBlockRef b; (b = LLVMGetFirstBasicBlock(f->fn));)
    LLVMMoveBasicBlockAfter(b, LLVMGetLastBasicBlock(m->fn));
  for (uint32_t k = 0; k < f->arrays.len; k++)
    replace_array(m, f, &f->arrays.data[k]);
}

/* --- calls and returns --- */

static void go(FlMachine *m, LLVMValueRef state) {
  l_store(m->b, state, m->state);
  l_br(m->b, m->next);
}

/* Pushes so many bytes on top of `from`, or branches to `overflow`. Leaves the builder where they
 * fit. */
static void reserve(FlMachine *m, LLVMValueRef from, uint32_t bytes) {
  assert(bytes % m->align == 0);
  LLVMValueRef to = l_add_nuw(m->b, from, i32(m, bytes));
  LLVMBasicBlockRef fits = block(m, "");
  LLVMMoveBasicBlockAfter(fits, LLVMGetInsertBlock(m->b));
  LLVMValueRef beyond = l_icmp(m->b, LLVMIntUGT, to, m->room);
  l_condbr(m->b, beyond, m->overflow, fits);
  at_end(m, fits);
  l_store(m->b, to, m->top);
}

static void put_state(FlMachine *m, LLVMValueRef end, LLVMValueRef state) {
  LLVMSetAlignment(l_store(m->b, state, moved(m, end, -STATE_BYTES)), STATE_BYTES);
}

/* Copies the live boxes into the frame, or back from it. */
static void keep(FlMachine *m, const FlMember *f, const FlCall *c, LLVMValueRef frame, bool back) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < f->boxes.len; k++) {
    if (!set_has(c->live, k))
      continue;
    LLVMValueRef box = f->boxes.data[k], place = moved(m, frame, fl_place(m, box, &at));
    LLVMTypeRef type = LLVMGetAllocatedType(box);
    LLVMValueRef v = l_load(m->b, type, back ? place : box);
    l_store(m->b, v, back ? box : place);
  }
}

static void write_call(FlMachine *m, const FlMember *f, const FlCall *c, LLVMBasicBlockRef resume,
                       unsigned state) {
  uint32_t bytes = rounded(m, c->bytes);
  assert(c->live && c->bytes >= STATE_BYTES && c->to->area % m->align == 0);
  at_end(m, resume);
  keep(m, f, c, fl_address(m, drop(m, bytes)), true);
  if (c->to->result)
    LLVMReplaceAllUsesWith(c->call, l_load(m->b, c->to->result_type, c->to->result));
  for (LLVMValueRef i; (i = LLVMGetNextInstruction(c->call));)
    move_to_end(m, i, resume);
  at_end(m, LLVMGetInstructionParent(c->call));
  LLVMValueRef top = fl_top(m);
  reserve(m, top, bytes + c->to->area);
  LLVMValueRef frame = fl_address(m, top);
  keep(m, f, c, frame, false);
  put_state(m, moved(m, frame, bytes), i32(m, state));
  for (unsigned k = 0; k < c->to->nargs; k++)
    if (!c->to->fixed[k])
      l_store(m->b, LLVMGetOperand(c->call, k), c->to->args[k]);
  go(m, i32(m, c->to->state));
  LLVMInstructionEraseFromParent(c->call);
}

static void write_return(FlMachine *m, const FlMember *f, LLVMValueRef ret) {
  LLVMPositionBuilderBefore(m->b, ret);
  if (f->result)
    l_store(m->b, LLVMGetOperand(ret, 0), f->result);
  LLVMValueRef frame = fl_address(m, drop(m, f->area));
  LLVMValueRef state = l_load(m->b, m->cg->t.i32, moved(m, frame, -STATE_BYTES));
  LLVMSetAlignment(state, STATE_BYTES);
  go(m, state);
  LLVMInstructionEraseFromParent(ret);
}

static void write_returns(FlMachine *m, const FlMember *f) {
  VEC(LLVMValueRef) returns = {0};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->fn); b; b = LLVMGetNextBasicBlock(b))
    if (LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(b)))
      VEC_PUSH(m->arena, &returns, LLVMGetBasicBlockTerminator(b));
  for (uint32_t k = 0; k < returns.len; k++)
    write_return(m, f, returns.data[k]);
}

/* --- the state --- */

/* The state, hidden from LLVM: else jump threading would connect the states directly, and the warp
 * would not reconverge. */
static LLVMValueRef opaque(FlMachine *m, LLVMValueRef v) {
  static const char code[] = "mov.b32 $0, $1;", constraints[] = "=r,r";
  LLVMTypeRef t = m->cg->t.i32, type = LLVMFunctionType(t, &t, 1, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, sizeof code - 1, constraints,
                                       sizeof constraints - 1, 0, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef call = l_call_type(m->b, type, text, &v, 1);
  static const char *const names[] = {"convergent", "nounwind", "memory"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(names[k], strlen(names[k]));
    LLVMAddCallSiteAttribute(call, L_FUNCTION, LLVMCreateEnumAttribute(m->cg->context, kind, 0));
  }
  return call;
}

/* --- the dispatcher --- */

static LLVMValueRef intrinsic(FlMachine *m, const char *name, LLVMValueRef *args, unsigned n) {
  LLVMValueRef fn = cg_intrinsic_fn(m->cg, name, NULL, 0);
  return l_call(m->b, fn, args, n);
}

static LLVMValueRef any(FlMachine *m, LLVMValueRef aye) {
  return intrinsic(m, "llvm.nvvm.vote.any.sync", (LLVMValueRef[]){m->callers, aye}, 2);
}

/* The maximum over the lanes; bit by bit where there is no instruction for it (before sm_80). */
static LLVMValueRef most(FlMachine *m, LLVMValueRef v, uint32_t limit) {
  if (cg_nvptx_arch_number(m->cg) >= 80)
    return intrinsic(m, "llvm.nvvm.redux.sync.umax", (LLVMValueRef[]){v, m->callers}, 2);
  LLVMValueRef in = l_int(m->cg->t.i1, 1), zero = i32(m, 0), found = zero;
  uint32_t bit = FL_LEAST_ALIGN;
  while (bit <= limit / 2)
    bit *= 2;
  for (; bit >= FL_LEAST_ALIGN; bit /= 2) {
    LLVMValueRef has = l_icmp(m->b, LLVMIntNE, l_and(m->b, v, i32(m, bit)), zero);
    LLVMValueRef aye = l_and(m->b, in, has), some = any(m, aye);
    in = l_select(m->b, some, aye, in);
    found = l_or(m->b, found, l_select(m->b, some, i32(m, bit), zero));
  }
  return found;
}

/* All lanes that entered stay until the last is done, so that they leave as one group: ptxas lets
 * lanes that leave a loop run on alone to the end of a kernel, and does not always reconverge those
 * that stay. Where members have barriers or warp operations, the lanes with the deepest stacks
 * continue. */
static void choose_lanes(FlMachine *m, LLVMValueRef state, LLVMBasicBlockRef done,
                         LLVMBasicBlockRef go_on) {
  LLVMValueRef busy = l_icmp(m->b, LLVMIntNE, state, i32(m, DONE));
  if (!m->meets) {
    LLVMBasicBlockRef some = block(m, "busy");
    l_condbr(m->b, any(m, busy), some, done);
    at_end(m, some);
    l_condbr(m->b, busy, go_on, m->next);
    return;
  }
  LLVMBasicBlockRef some = block(m, "busy");
  LLVMValueRef depth = l_select(m->b, busy, fl_top(m), i32(m, 0));
  LLVMValueRef deepest = most(m, depth, fl_stack_bytes(m->cg));
  l_condbr(m->b, l_icmp(m->b, LLVMIntNE, deepest, i32(m, 0)), some, done);
  at_end(m, some);
  l_condbr(m->b, l_icmp(m->b, LLVMIntEQ, depth, deepest), go_on, m->next);
}

/* Returns the dispatch, whose default destination is still itself. */
static LLVMValueRef write_next(FlMachine *m, LLVMBasicBlockRef done, unsigned states) {
  LLVMBasicBlockRef dispatch = block(m, "dispatch");
  at_end(m, m->next);
  LLVMValueRef state = opaque(m, l_load(m->b, m->cg->t.i32, m->state));
  choose_lanes(m, state, done, dispatch);
  at_end(m, dispatch);
  return l_switch(m->b, state, dispatch, states);
}

/* Adds a case to the switch; the first one becomes the default. */
static void add_state(FlMachine *m, LLVMValueRef to, unsigned state, LLVMBasicBlockRef at,
                      LLVMBasicBlockRef unset) {
  if (LLVMGetSwitchDefaultDest(to) == unset)
    LLVMSetSuccessor(to, 0, at);
  else
    LLVMAddCase(to, i32(m, state), at);
}

/* The stack begins with a frame that holds nothing but the state DONE, to which the outermost call
 * returns. */
static void start_member(FlMachine *m, const FlMember *f, LLVMBasicBlockRef at) {
  at_end(m, at);
  reserve(m, i32(m, 0), m->align + f->area);
  put_state(m, moved(m, m->base, m->align), i32(m, DONE));
  for (unsigned k = 0; k < f->nargs; k++)
    if (!f->fixed[k])
      l_store(m->b, LLVMGetParam(m->fn, f->first + k), f->args[k]);
  go(m, i32(m, f->state));
}

/* The parameters, aligned for the frames. */
static void find_base(FlMachine *m) {
  const CgTypes *t = &m->cg->t;
  m->base = LLVMGetParam(m->fn, FL_PARAM_STACK);
  m->room = LLVMGetParam(m->fn, FL_PARAM_ROOM);
  if (m->align <= FL_LEAST_ALIGN)
    return;
  LLVMValueRef back = l_neg(m->b, l_ptrtoint(m->b, m->base, t->i64));
  back = l_and(m->b, back, l_int(t->i64, m->align - 1));
  m->base = l_gep_inbounds(m->b, t->i8, m->base, &back, 1);
  LLVMValueRef fn = cg_intrinsic_fn(m->cg, "llvm.usub.sat", &m->cg->t.i32, 1);
  LLVMValueRef args[] = {m->room, l_trunc(m->b, back, t->i32)};
  m->room = l_call(m->b, fn, args, 2);
}

static void write_begin(FlMachine *m, LLVMBasicBlockRef begin) {
  at_end(m, begin);
  LLVMValueRef which = l_switch(m->b, LLVMGetParam(m->fn, FL_PARAM_ENTRY), m->next, m->members.len);
  for (uint32_t k = 0; k < m->members.len; k++) {
    const FlMember *f = m->members.data[k];
    if (!f->entered)
      continue;
    LLVMBasicBlockRef start = block(m, "start");
    add_state(m, which, f->state, start, m->next);
    start_member(m, f, start);
  }
}

static void write_done(FlMachine *m, LLVMBasicBlockRef done) {
  at_end(m, done);
  if (m->result == m->cg->t.none) {
    l_ret_void(m->b);
    return;
  }
  LLVMValueRef all = LLVMGetPoison(m->result);
  for (uint32_t k = 0; k < m->members.len; k++) {
    const FlMember *f = m->members.data[k];
    if (f->entered && f->result)
      all = l_insert_value(m->b, all, l_load(m->b, f->result_type, f->result), f->field);
  }
  l_ret(m->b, all);
}

static void write_overflow(FlMachine *m) {
  Cg *cg = m->cg;
  at_end(m, m->overflow);
  if (cg->too_deep) {
    Lower lw = {.cg = cg,
                .cx = cg->cx,
                .target = cg->target,
                .t = &cg->t,
                .b = m->b,
                .function = m->fn,
                .context = LLVMGetParam(m->fn, FL_PARAM_CONTEXT)};
    LLVMValueRef bytes = l_int(cg->t.i64, fl_stack_bytes(cg));
    cg_nvptx_trap(&lw, cg->too_deep->number, &bytes, 1);
    return;
  }
  intrinsic(m, "llvm.trap", NULL, 0);
  l_unreachable(m->b);
}

static void make_boxes(FlMachine *m, LLVMBasicBlockRef boxes) {
  at_end(m, boxes);
  m->top = LLVMBuildAlloca(m->b, m->cg->t.i32, "top");
  m->state = LLVMBuildAlloca(m->b, m->cg->t.i32, "state");
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    f->area = rounded(m, f->area);
    f->state = FIRST_STATE + k;
    f->result = f->result_type == m->cg->t.none ? NULL
                                                : LLVMBuildAlloca(m->b, f->result_type, "result");
  }
}

static unsigned count_states(const FlMachine *m) {
  unsigned n = FIRST_STATE + m->members.len;
  for (uint32_t k = 0; k < m->members.len; k++)
    n += m->members.data[k]->calls.len;
  return n;
}

static void move_bodies(FlMachine *m, LLVMBasicBlockRef boxes) {
  for (uint32_t k = 0; k < m->members.len; k++)
    write_returns(m, m->members.data[k]);
  for (uint32_t k = 0; k < m->members.len; k++)
    move_body(m, m->members.data[k], boxes);
}

/* One state for the entry of each member, and one for the code after each call. */
static void write_states(FlMachine *m, LLVMValueRef to) {
  LLVMBasicBlockRef dispatch = LLVMGetInstructionParent(to);
  unsigned state = FIRST_STATE + m->members.len;
  for (uint32_t k = 0; k < m->members.len; k++) {
    FlMember *f = m->members.data[k];
    add_state(m, to, f->state, f->entry, dispatch);
    for (uint32_t c = 0; c < f->calls.len; c++, state++) {
      LLVMBasicBlockRef resume = block(m, "resume");
      add_state(m, to, state, resume, dispatch);
      write_call(m, f, &f->calls.data[c], resume, state);
    }
  }
  assert(state == count_states(m));
}

void fl_write(FlMachine *m) {
  make_function(m);
  take_attribute(m, "noinline");
  cg_attribute(m->cg, m->fn, L_FUNCTION, "convergent", 0);
  take_lines(m);
  LLVMBasicBlockRef begin = block(m, "begin"), done = block(m, "done");
  m->next = block(m, "next");
  m->overflow = block(m, "overflow");
  make_boxes(m, begin);
  find_base(m);
  m->callers = intrinsic(m, "llvm.nvvm.activemask", NULL, 0);
  move_bodies(m, begin);
  write_states(m, write_next(m, done, count_states(m)));
  write_begin(m, begin);
  write_done(m, done);
  write_overflow(m);
}
