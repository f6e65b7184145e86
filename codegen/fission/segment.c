/* Fission: writes one segment as a function. See fission.h for what a segment is, private.h for the
 * tables.
 *
 * The segment's first block recomputes or loads its live-in values. Copies follow of the nodes that
 * can be reached from its start without passing a barrier, in reverse post-order, so that
 * definitions are copied before their uses. Where a path ends at a barrier, the live-out values
 * that the segment may have changed are stored. A value that one segment both loads and computes (a
 * loop around the barrier) is kept in an alloca, from which LLVM makes the phis. */
#include <assert.h>
#include <string.h>

#include "codegen/fission/private.h"
#include "codegen/llvm/copy.h"

typedef struct Clone {
  Fissioner *x;
  LLVMValueRef fn, frame, stride, ayes, voters, shared, thread;
  LLVMBasicBlockRef begin;
  uint32_t start; /* node */
  bool *reached;  /* nodes */
  uint32_t node;  /* being copied */
  Segment *out;
} Clone;

/* --- the nodes of the segment --- */

static void add_exit(Clone *c, uint32_t next) {
  for (uint32_t k = 0; k < c->out->nexits; k++)
    if (c->out->exits[k] == next)
      return;
  assert(c->out->nexits <= c->x->starts.len); /* and the end, 0 */
  c->out->exits[c->out->nexits++] = next;
}

static void reach(Clone *c, uint32_t from) {
  Fissioner *x = c->x;
  VEC(uint32_t) work = {0};
  VEC_PUSH(x->arena, &work, from);
  c->reached[from] = true;
  while (work.len) {
    uint32_t k = VEC_POP(&work);
    const GraphNode *n = &x->g.nodes[k];
    LLVMValueRef barrier = fs_barrier(x, k);
    if (barrier || LLVMIsAReturnInst(n->last))
      add_exit(c, barrier ? x->segment_of[n->succ[0]] : 0);
    for (uint32_t s = 0; s < n->nsucc && !barrier; s++) {
      if (!c->reached[n->succ[s]]) {
        c->reached[n->succ[s]] = true;
        VEC_PUSH(x->arena, &work, n->succ[s]);
      }
    }
  }
}

/* --- the frame --- */

static LLVMValueRef field_address(Clone *c, uint32_t offset, uint32_t size) {
  LLVMBuilderRef b = c->x->b;
  const CgTypes *t = &c->x->cg->t;
  LLVMValueRef at = l_mul(b, c->stride, l_int(t->i64, offset));
  LLVMValueRef mine = l_mul(b, c->thread, l_int(t->i64, size));
  LLVMValueRef row = l_gep_inbounds(b, t->i8, c->frame, &at, 1);
  return l_gep_inbounds(b, t->i8, row, &mine, 1);
}

/* out: where the next segment finds it. */
static LLVMValueRef frame_address(Clone *c, const Value *v, bool out) {
  if (!v->shared)
    return field_address(c, v->offset, v->size);
  LLVMValueRef at = l_int(c->x->cg->t.i64, v->offset + (out ? c->x->shared_bytes : 0));
  return l_gep_inbounds(c->x->b, c->x->cg->t.i8, c->shared, &at, 1);
}

static bool is_bool(const Clone *c, const Value *v) { return LLVMTypeOf(v->old) == c->x->cg->t.i1; }
static LLVMTypeRef kept_type(const Clone *c, const Value *v) {
  return is_bool(c, v) ? c->x->cg->t.i8 : LLVMTypeOf(v->old);
}

static LLVMValueRef frame_load(Clone *c, const Value *v) {
  LLVMBuilderRef b = c->x->b;
  LLVMValueRef got = LLVMBuildLoad2(b, kept_type(c, v), frame_address(c, v, false), "kept");
  LLVMSetAlignment(got, v->align);
  if (v->uniform) {
    LLVMContextRef context = c->x->cg->context;
    LLVMSetMetadata(got, c->x->uniform_kind,
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
  }
  return is_bool(c, v) ? l_trunc(b, got, c->x->cg->t.i1) : got;
}

static void frame_store(Clone *c, const Value *v, LLVMValueRef now) {
  LLVMBuilderRef b = c->x->b;
  if (is_bool(c, v))
    now = l_zext(b, now, c->x->cg->t.i8);
  LLVMSetAlignment(l_store(b, now, frame_address(c, v, true)), v->align);
  for (uint32_t k = 0; v->shared && k < c->out->nshared; k++)
    if (c->out->shared[k].offset == v->offset)
      return;
  if (v->shared)
    c->out->shared[c->out->nshared++] = (SharedValue){v->offset, kept_type(c, v)};
}

/* --- values --- */

static LLVMValueRef argument(const Clone *c, LLVMValueRef old) {
  for (unsigned k = 0; k < c->x->nargs; k++)
    if (LLVMGetParam(c->x->f, k) == old)
      return LLVMGetParam(c->fn, k);
  cx_bug(c->x->cg->cx, "an argument of another function");
}

static LLVMValueRef copy_named(const Fissioner *x, LLVMValueRef i, const LLVMValueRef *operands) {
  size_t n;
  const char *name = LLVMGetValueName2(i, &n);
  LLVMValueRef copy = copy_ins(x->b, i, operands);
  if (n)
    LLVMSetValueName2(copy, name, n);
  return copy;
}

/* A copy of v, of operands that `of` computes. */
static LLVMValueRef copied_from(Clone *c, const Value *v, LLVMValueRef (*of)(Clone *, Value *)) {
  int n = LLVMGetNumOperands(v->old);
  LLVMValueRef operands[8];
  CX_ASSERT(c->x->cg->cx, n <= 8);
  for (int k = 0; k < n; k++) {
    LLVMValueRef o = LLVMGetOperand(v->old, (unsigned)k);
    Value *from = fs_value(c->x, o);
    operands[k] = from ? of(c, from) : LLVMIsAArgument(o) ? argument(c, o) : o;
  }
  return copy_named(c->x, v->old, operands);
}

/* In the segment's first block. The depth of the recursion is bounded by the cost. */
static LLVMValueRef compute_again(Clone *c, Value *v) {
  if (v->again)
    return v->again;
  return v->again = v->home == HOME_ARRAY ? frame_address(c, v, false)
                                          : copied_from(c, v, compute_again);
}

/* In the segment's first block, where the shared values that it is made of have been loaded. */
static LLVMValueRef compute_from_shared(Clone *c, Value *v) {
  if (v->home == HOME_FRAME && v->shared) {
    CX_ASSERT(c->x->cg->cx, v->start);
    return v->start;
  }
  return v->cost != TOO_DEAR ? compute_again(c, v) : copied_from(c, v, compute_from_shared);
}

/* The segment's value for `old` at the builder's position, in the node that is being copied. */
static LLVMValueRef resolve(Clone *c, LLVMValueRef old) {
  Fissioner *x = c->x;
  if (LLVMIsAArgument(old))
    return argument(c, old);
  Value *v = fs_value(x, old);
  if (!v)
    return old;
  if (v->again)
    return v->again;
  if (v->box && !(v->node == c->node && v->now))
    return l_load(x->b, LLVMTypeOf(v->old), v->box);
  CX_ASSERT(x->cg->cx, v->now);
  return v->now;
}

/* --- the first block --- */

static void make_function(Clone *c, uint32_t number) {
  Fissioner *x = c->x;
  const CgTypes *t = &x->cg->t;
  unsigned nargs = x->nargs + (x->shares ? SEGMENT_BLOCK_ARGS : SEGMENT_ARGS);
  LLVMTypeRef *types = ARENA_ARRAY(x->arena, LLVMTypeRef, nargs);
  for (unsigned k = 0; k < x->nargs; k++)
    types[k] = LLVMTypeOf(LLVMGetParam(x->f, k));
  types[x->nargs] = t->ptr, types[x->nargs + 1] = t->i64,
  types[x->nargs + 2] = types[x->nargs + 3] = t->i32;
  if (x->shares)
    types[nargs - 1] = t->ptr;
  const char *name = arena_printf(x->arena, "%s.segment.%u", LLVMGetValueName(x->f), number);
  c->fn = LLVMAddFunction(x->cg->module, name, LLVMFunctionType(t->i32, types, nargs, 0));
  LLVMSetLinkage(c->fn, LLVMInternalLinkage);
  cg_attribute(x->cg, c->fn, L_FUNCTION, "nounwind", 0);
  cg_attribute(x->cg, c->fn, x->nargs + 1, "nonnull", 0);
  cg_attribute(x->cg, c->fn, x->nargs + 1, "align", RT_FRAME_THREADS);
  cg_attribute(x->cg, c->fn, x->nargs + 1, "noalias", 0);
  c->frame = LLVMGetParam(c->fn, x->nargs);
  c->stride = LLVMGetParam(c->fn, x->nargs + 1);
  c->ayes = LLVMGetParam(c->fn, x->nargs + 2);
  c->voters = LLVMGetParam(c->fn, x->nargs + 3);
  c->shared = x->shares ? LLVMGetParam(c->fn, nargs - 1) : NULL;
  c->begin = LLVMAppendBasicBlockInContext(x->cg->context, c->fn, "begin");
  LLVMPositionBuilderAtEnd(x->b, c->begin);
  c->thread = l_zext(x->b, LLVMGetParam(c->fn, x->thread_arg), t->i64);
  LLVMSetNNeg(c->thread, 1);
}

static LLVMValueRef meeting_result(Clone *c) {
  LLVMBuilderRef b = c->x->b;
  LLVMTypeRef i32 = c->x->cg->t.i32;
  LLVMValueRef behind = fs_barrier_before(c->x, c->start);
  if (cg_is_meeting(behind))
    return LLVMBuildLoad2(b, c->x->cg->t.i64, field_address(c, RT_SLOT_RESULT, 8), "got");
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(behind, 0))) {
  case BARRIER_AND: return l_zext(b, l_icmp(b, LLVMIntEQ, c->ayes, c->voters), i32);
  case BARRIER_OR: return l_zext(b, l_icmp(b, LLVMIntNE, c->ayes, LLVMConstNull(i32)), i32);
  default: return c->ayes;
  }
}

static void begin_value(Clone *c, Value *v) {
  Fissioner *x = c->x;
  v->now = v->again = v->box = v->start = NULL;
  assert(v->home != HOME_INSIDE || !fs_live_at(x, c->start, v));
  bool again = v->home == HOME_AGAIN && fs_live_at(x, c->start, v);
  if (v->home == HOME_ARRAY || v->home == HOME_OWN || again) {
    compute_again(c, v);
  } else if ((v->home == HOME_FRAME || v->home == HOME_FOLLOWS) && fs_live_at(x, c->start, v)) {
    v->start = v->home == HOME_FRAME ? frame_load(c, v) : compute_from_shared(c, v);
    if (c->reached[v->node]) {
      v->box = l_alloca(x->b, LLVMTypeOf(v->old));
      l_store(x->b, v->start, v->box);
    } else {
      v->now = v->start;
    }
  }
}

static void begin_segment(Clone *c) {
  Fissioner *x = c->x;
  /* all are reset before the next loop, in which recomputing one value recomputes others */
  for (uint32_t k = 0; k < x->values.len; k++)
    x->values.data[k].again = NULL;
  for (uint32_t k = 0; k < x->values.len; k++) {
    LLVMValueRef again = x->values.data[k].again;
    if (again)
      x->values.data[k].now = x->values.data[k].box = NULL;
    else
      begin_value(c, &x->values.data[k]);
  }
  for (uint32_t k = 0; k < x->g.len; k++)
    x->now[k] = c->reached[k] ? LLVMAppendBasicBlockInContext(x->cg->context, c->fn, "") : NULL;
  l_br(x->b, x->now[c->start]);
}

/* --- nodes --- */

static void keep(Clone *c, Value *v) {
  if (v->box)
    l_store(c->x->b, v->now, v->box);
}

bool fs_is_lifetime(LLVMValueRef i) {
  static const char prefix[] = "llvm.lifetime.";
  size_t n;
  if (!LLVMIsAIntrinsicInst(i))
    return false;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &n);
  return n > sizeof prefix && memcmp(name, prefix, sizeof prefix - 1) == 0;
}

static void copy_instruction(Clone *c, LLVMValueRef i) {
  Fissioner *x = c->x;
  Value *v = fs_value(x, i);
  if ((v && v->again) || fs_is_lifetime(i))
    return;
  int n = LLVMGetNumOperands(i);
  LLVMValueRef *operands = ARENA_ARRAY(x->arena, LLVMValueRef, (size_t)n + 1);
  for (int k = 0; k < n; k++) {
    LLVMValueRef o = LLVMGetOperand(i, (unsigned)k);
    operands[k] = LLVMValueIsBasicBlock(o) ? NULL : resolve(c, o);
  }
  LLVMValueRef copy = copy_named(x, i, operands);
  if (LLVMIsATerminatorInst(i))
    for (uint32_t s = 0; s < x->g.nodes[c->node].nsucc; s++)
      LLVMSetSuccessor(copy, s, x->now[x->g.nodes[c->node].succ[s]]);
  if (v) {
    v->now = copy;
    keep(c, v);
  }
}

/* Stores the operands that this kind of meeting has; other slots keep what they hold. */
static void store_operands(Clone *c, LLVMValueRef meeting) {
  enum { MASK = 2, VALUE, LANE }; /* operands of the marker */
  static const struct {
    uint32_t operand, offset, size;
    RtMeetKind first, last; /* kinds that have this operand */
  } slots[] = {{MASK, RT_SLOT_MASK, 4, RT_MEET_SYNC, RT_MEET_MATCH_ALL},
               {VALUE, RT_SLOT_VALUE, 8, RT_MEET_SHFL_IDX, RT_MEET_MATCH_ALL},
               {LANE, RT_SLOT_LANE, 4, RT_MEET_SHFL_IDX, RT_MEET_SHFL_XOR},
               {MASK, RT_SLOT_MASK, 4, RT_MEET_WAIT, RT_MEET_MATRIX},
               {VALUE, RT_SLOT_VALUE, 8, RT_MEET_WAIT, RT_MEET_MATRIX},
               {LANE, RT_SLOT_LANE, 4, RT_MEET_MATRIX, RT_MEET_MATRIX}};
  RtMeetKind kind = (RtMeetKind)LLVMConstIntGetZExtValue(LLVMGetOperand(meeting, 0));
  for (unsigned k = 0; k < sizeof slots / sizeof *slots; k++)
    if (kind >= slots[k].first && kind <= slots[k].last)
      l_store(c->x->b, resolve(c, LLVMGetOperand(meeting, slots[k].operand)),
              field_address(c, slots[k].offset, slots[k].size));
}

/* Stores the live-out values that the segment may have changed, and returns the next segment. */
static void leave_at_barrier(Clone *c, LLVMValueRef barrier) {
  Fissioner *x = c->x;
  uint32_t next = c->node + 1;
  assert(x->segment_of[next]);
  for (uint32_t k = 0; k < x->values.len; k++) {
    Value *v = &x->values.data[k];
    if (v->home == HOME_FRAME && fs_live_at(x, next, v) && c->reached[v->node])
      frame_store(c, v, resolve(c, v->old));
  }
  LLVMTypeRef i32 = x->cg->t.i32;
  bool meeting = cg_is_meeting(barrier);
  if (meeting)
    store_operands(c, barrier);
  bool votes = !meeting && LLVMConstIntGetZExtValue(LLVMGetOperand(barrier, 0)) != BARRIER_PLAIN;
  c->out->votes |= votes;
  LLVMValueRef result =
      l_int(i32, x->segment_of[next] << SEGMENT_NEXT_SHIFT | (votes ? SEGMENT_VOTER : 0));
  if (votes)
    result = l_or(x->b, result, l_zext(x->b, resolve(c, LLVMGetOperand(barrier, 1)), i32));
  l_ret(x->b, result);
}

static void copy_node(Clone *c, uint32_t number) {
  Fissioner *x = c->x;
  LLVMValueRef first = x->g.nodes[number].first, barrier = fs_barrier(x, number),
               behind = fs_barrier_before(x, number), i = first;
  c->node = number;
  LLVMPositionBuilderAtEnd(x->b, x->now[number]);
  for (; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
    fs_value(x, i)->now = LLVMBuildPhi(x->b, LLVMTypeOf(i), LLVMGetValueName(i));
  for (LLVMValueRef phi = first; phi != i; phi = LLVMGetNextInstruction(phi))
    keep(c, fs_value(x, phi));
  if (behind) {
    Value *vote = fs_value(x, behind);
    vote->now = meeting_result(c);
    keep(c, vote);
  }
  for (; i != barrier && !LLVMIsAReturnInst(i); i = LLVMGetNextInstruction(i)) {
    copy_instruction(c, i);
    if (LLVMIsATerminatorInst(i))
      return;
  }
  if (barrier)
    leave_at_barrier(c, barrier);
  else
    l_ret(x->b, LLVMConstNull(x->cg->t.i32));
}

/* Predecessors that this segment does not reach have no edge here. */
static void fill_phi(Clone *c, LLVMValueRef phi) {
  Fissioner *x = c->x;
  LLVMValueRef now = fs_value(x, phi)->now;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    uint32_t from = graph_end(&x->g, LLVMGetIncomingBlock(phi, k));
    if (from == GRAPH_NONE || !c->reached[from])
      continue;
    LLVMBasicBlockRef edge = x->now[from];
    LLVMValueRef v = NULL;
    /* several edges from one block carry one value */
    for (unsigned n = 0; n < LLVMCountIncoming(now) && !v; n++)
      if (LLVMGetIncomingBlock(now, n) == edge)
        v = LLVMGetIncomingValue(now, n);
    if (!v) {
      LLVMPositionBuilderBefore(x->b, LLVMGetBasicBlockTerminator(edge));
      c->node = from;
      v = resolve(c, LLVMGetIncomingValue(phi, k));
    }
    LLVMAddIncoming(now, &v, &edge, 1);
  }
  assert(LLVMCountIncoming(now) > 0);
}

void fs_write_segment(Fissioner *x, uint32_t number, Segment *out) {
  uint32_t start = x->starts.data[number];
  Clone c = {.x = x,
             .start = start,
             .out = out,
             .node = start,
             .reached = ARENA_ARRAY(x->arena, bool, x->g.len)};
  LLVMValueRef behind = fs_barrier_before(x, start);
  out->exits = ARENA_ARRAY(x->arena, uint32_t, x->starts.len + 1);
  out->shared = ARENA_ARRAY(x->arena, SharedValue, x->values.len + 1);
  reach(&c, start);
  make_function(&c, number);
  out->fn = c.fn;
  if (behind && cg_is_meeting(behind)) {
    LLVMValueRef site = LLVMGetOperand(behind, 1);
    out->point = (RtMeetPoint){(uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(behind, 0)),
                               LLVMIsAConstantInt(site) ? (uint32_t)LLVMConstIntGetZExtValue(site)
                                                        : RT_NO_SITE};
  }
  if (behind && !cg_is_meeting(behind) && LLVMGetNumArgOperands(behind) > 2) /* checked code */
    out->point.site = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(behind, 2));
  begin_segment(&c);
  for (uint32_t k = 0; k < x->g.len; k++)
    if (c.reached[k])
      copy_node(&c, k);
  for (uint32_t k = 0; k < x->g.len; k++)
    for (LLVMValueRef i = x->g.nodes[k].first; c.reached[k] && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i))
      fill_phi(&c, i);
}
