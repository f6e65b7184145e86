/* Fission: cuts the function at barriers, and decides where each value is kept that is live across
 * one. See fission.h; segment.c writes the segments.
 *
 * The control-flow graph has a node for each stretch of a block between barriers, and each node
 * after a barrier begins a segment. Liveness over these nodes says which values cross. Of those, a
 * value is rematerialised if it is a short expression of arguments, loads of parameters included;
 * else it gets a slot of the frame, or of the block's shared memory where the analysis of lanes
 * shows that it is uniform and that all threads of the block reach each barrier uniformly. Slots
 * are not reused: no attempt is made to find values that are never live at the same time. */
#include "codegen/fission/fission.h"

#include <assert.h>
#include <string.h>

#include "codegen/fission/private.h"
#include "codegen/lanes/lanes.h"

/* Instructions: at most so many are recomputed for a value. */
enum { DEAREST = 48, DEAREST_OF_SHARED = 8 };

bool cg_is_meeting(LLVMValueRef i) { return cg_is_call_of(i, CG_MEET_NAME); }
bool cg_is_block_barrier(LLVMValueRef i) { return cg_is_call_of(i, CG_BARRIER_NAME); }
static bool is_cut(const void *warps, LLVMValueRef i) {
  return cg_is_block_barrier(i) || (cg_is_meeting(i) && !*(const bool *)warps);
}

/* --- nodes --- */

static void add_value(Fissioner *x, LLVMValueRef i, uint32_t node) {
  Value v = {.old = i, .node = node, .bit = NO_SLOT};
  valuemap_set(&x->value_of, i, x->values.len);
  VEC_PUSH(x->arena, &x->values, v);
}

static void begin_segment(Fissioner *x, uint32_t node) {
  x->segment_of[node] = x->starts.len;
  VEC_PUSH(x->arena, &x->starts, node);
}

/* A barrier's result is defined in the node after it. */
static void cut(Fissioner *x) {
  x->g = graph_of(x->arena, x->f, &(GraphHow){.cuts = is_cut, .user = &x->warps});
  x->segment_of = ARENA_ARRAY(x->arena, uint32_t, x->g.len);
  x->now = ARENA_ARRAY(x->arena, LLVMBasicBlockRef, x->g.len);
  begin_segment(x, 0);
  for (uint32_t k = 0; k < x->g.len; k++) {
    const GraphNode *n = &x->g.nodes[k];
    LLVMValueRef barrier = fs_barrier(x, k);
    for (LLVMValueRef i = n->first; i && i != barrier; i = LLVMGetNextInstruction(i))
      if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind)
        add_value(x, i, k);
    if (!barrier)
      continue;
    begin_segment(x, k + 1);
    add_value(x, barrier, k + 1);
  }
}

/* --- live values --- */

typedef void (*UseVisitor)(Fissioner *x, Value *v, uint32_t node);

static void visit_use(Fissioner *x, LLVMValueRef operand, uint32_t node, UseVisitor visit) {
  Value *v = fs_value(x, operand);
  if (v && v->node != node)
    visit(x, v, node);
}

/* Visits every use of a value outside the node that defines it. A phi uses its operands at the end
 * of the predecessors. */
static void visit_uses(Fissioner *x, UseVisitor visit) {
  for (uint32_t k = 0; k < x->g.len; k++) {
    const GraphNode *p = &x->g.nodes[k];
    for (LLVMValueRef i = p->first; i; i = i == p->last ? NULL : LLVMGetNextInstruction(i)) {
      if (LLVMIsAPHINode(i)) {
        for (unsigned n = 0; n < LLVMCountIncoming(i); n++) {
          uint32_t from = graph_end(&x->g, LLVMGetIncomingBlock(i, n));
          if (from != GRAPH_NONE)
            visit_use(x, LLVMGetIncomingValue(i, n), from, visit);
        }
        continue;
      }
      for (int n = 0; n < LLVMGetNumOperands(i); n++)
        visit_use(x, LLVMGetOperand(i, (unsigned)n), k, visit);
    }
  }
}

static void give_bit(Fissioner *x, Value *v, uint32_t node) {
  (void)node;
  if (v->bit == NO_SLOT)
    v->bit = x->nbits++;
}

static void mark_use(Fissioner *x, Value *v, uint32_t node) { set_add(x->live[node].use, v->bit); }

static void find_live(Fissioner *x) {
  visit_uses(x, give_bit);
  x->live = graph_live_sets(&x->g, x->nbits);
  for (uint32_t k = 0; k < x->values.len; k++) {
    Value *v = &x->values.data[k];
    if (v->bit != NO_SLOT)
      set_add(x->live[v->node].def, v->bit);
  }
  visit_uses(x, mark_use);
  graph_live(&x->g, x->live, x->nbits);
}

/* --- where values are kept --- */

bool cg_divides_safely(LLVMValueRef i) {
  if (!cg_is_division(i))
    return true;
  LLVMValueRef by = LLVMGetOperand(i, 1);
  if (!LLVMIsAConstantInt(by) || LLVMGetIntTypeWidth(LLVMTypeOf(by)) > 64)
    return false;
  return LLVMConstIntGetZExtValue(by) != 0 && LLVMConstIntGetSExtValue(by) != -1;
}

bool cg_is_field_load(Cg *cg, LLVMValueRef f, LLVMValueRef i) {
  if (LLVMGetMetadata(
          i, LLVMGetMDKindIDInContext(cg->context, CG_FIELD_METADATA, strlen(CG_FIELD_METADATA))))
    return true;
  /* the launch, or the parameter block, to which its first word points */
  LLVMValueRef launch = LLVMGetParam(f, 0), p = LLVMGetOperand(i, 0);
  if (LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
      LLVMIsAConstantInt(LLVMGetOperand(p, 1)))
    p = LLVMGetOperand(p, 0);
  bool parameter = LLVMIsALoadInst(p) && LLVMGetOperand(p, 0) == launch;
  return (p == launch || parameter) && cg_is_plain_access(i);
}

/* May it be executed anywhere, any number of times, with the same result? */
static bool is_repeatable(const Fissioner *x, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMFNeg:
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMSelect:
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMFPToUI:
  case LLVMFPToSI:
  case LLVMUIToFP:
  case LLVMSIToFP:
  case LLVMFPTrunc:
  case LLVMFPExt:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMBitCast:
  case LLVMAddrSpaceCast:
  case LLVMGetElementPtr:
  case LLVMExtractValue:
  case LLVMInsertValue:
  case LLVMAlloca: return true;
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMURem:
  case LLVMSRem: return cg_divides_safely(i);
  case LLVMLoad: return cg_is_field_load(x->cg, x->f, i);
  default: return false;
  }
}

/* Operands have lower numbers than their users, except for phis, which are not recomputed. */
static void find_costs(Fissioner *x) {
  for (uint32_t k = 0; k < x->values.len; k++) {
    Value *v = &x->values.data[k];
    uint64_t cost = is_repeatable(x, v->old) ? 1 : TOO_DEAR;
    for (int n = 0; cost < TOO_DEAR && n < LLVMGetNumOperands(v->old); n++) {
      Value *from = fs_value(x, LLVMGetOperand(v->old, (unsigned)n));
      if (from)
        cost = from->cost == TOO_DEAR ? TOO_DEAR : cost + from->cost;
    }
    v->cost = cost > DEAREST ? TOO_DEAR : (uint32_t)cost;
  }
}

bool fs_crosses(const Fissioner *x, const Value *v) {
  for (uint32_t s = 1; s < x->starts.len; s++)
    if (fs_live_at(x, x->starts.data[s], v))
      return true;
  return false;
}

static void measure(Fissioner *x, Value *v) {
  LLVMTypeRef t = v->home == HOME_ARRAY ? LLVMGetAllocatedType(v->old) : LLVMTypeOf(v->old);
  uint64_t size = LLVMABISizeOfType(x->cg->layout, t);
  v->align = v->home == HOME_ARRAY ? LLVMGetAlignment(v->old)
                                   : LLVMABIAlignmentOfType(x->cg->layout, t);
  if (v->home == HOME_ARRAY && LLVMIsAConstantInt(LLVMGetOperand(v->old, 0)))
    size *= LLVMConstIntGetZExtValue(LLVMGetOperand(v->old, 0));
  if (v->align > RT_FRAME_THREADS)
    v->align = RT_FRAME_THREADS;
  size = (size + v->align - 1) / v->align * v->align;
  if (size > INT32_MAX - x->frame_bytes)
    fail(x->cg->cx, (Loc){0}, ERR_LOCAL_SIZE, x->cg->program->fns.data[0]->name, (long long)size,
         (long long)INT32_MAX);
  v->size = (uint32_t)size;
  assert(v->align && (v->align & (v->align - 1)) == 0 && v->size % v->align == 0);
  uint32_t *end = v->shared ? &x->shared_bytes : &x->frame_bytes;
  v->offset = v->shared ? (*end + v->align - 1) / v->align * v->align : *end;
  *end = v->offset + v->size;
}

/* Does the whole block reach each barrier uniformly? */
static bool barriers_are_uniform(const Fissioner *x, const Lanes *lanes) {
  for (uint32_t k = 0; k < x->g.len; k++)
    if (fs_barrier(x, k) && !cg_lanes_together(lanes, fs_barrier(x, k)))
      return false;
  return true;
}

/* What varies among threads and is made of shared values, as `start + t` is: in the order of the
 * values, once it is known where v is kept. */
static void find_cost_of_shared(Fissioner *x, Value *v) {
  uint64_t cost = is_repeatable(x, v->old) ? 1 : TOO_DEAR;
  if (v->home == HOME_FRAME && v->shared) {
    v->cost_of_shared = 1;
    return;
  }
  for (int n = 0; cost < TOO_DEAR && n < LLVMGetNumOperands(v->old); n++) {
    Value *from = fs_value(x, LLVMGetOperand(v->old, (unsigned)n));
    if (from)
      cost = from->cost_of_shared == TOO_DEAR ? TOO_DEAR : cost + from->cost_of_shared;
  }
  v->cost_of_shared = cost > DEAREST_OF_SHARED ? TOO_DEAR : (uint32_t)cost;
}

/* The shared value `from` is kept wherever v, which is made of it, is live. There v is made of the
 * value that `from` has: the definition of v dominates that place, and that of `from` dominates the
 * one of v, so a path on which `from` changes again passes the definition of v again. */
static void keep_for(Fissioner *x, const Value *v, Value *from) {
  if (from->home == HOME_FRAME && from->shared) {
    for (uint32_t k = 0; k < x->g.len; k++)
      if (set_has(x->live[k].in, v->bit))
        set_add(x->live[k].in, from->bit);
    return;
  }
  for (int n = 0; from->cost == TOO_DEAR && n < LLVMGetNumOperands(from->old); n++) {
    Value *next = fs_value(x, LLVMGetOperand(from->old, (unsigned)n));
    if (next)
      keep_for(x, v, next);
  }
}

static void choose_homes(Fissioner *x, const Lanes *lanes, const Lanes *block) {
  find_costs(x);
  fs_find_own_arrays(x);
  if (lanes && !barriers_are_uniform(x, lanes))
    lanes = NULL;
  for (uint32_t k = 0; k < x->values.len; k++) {
    Value *v = &x->values.data[k];
    v->home = v->own                      ? HOME_OWN
              : LLVMIsAAllocaInst(v->old) ? HOME_ARRAY
              : !fs_crosses(x, v)         ? HOME_INSIDE
              : v->cost != TOO_DEAR       ? HOME_AGAIN
                                          : HOME_FRAME;
    v->uniform = v->home == HOME_FRAME && lanes && cg_lanes_uniform(lanes, v->old);
    v->shared = v->uniform && block && cg_lanes_uniform(block, v->old);
    find_cost_of_shared(x, v);
    if (v->home == HOME_FRAME && !v->uniform && block && v->cost_of_shared != TOO_DEAR) {
      v->home = HOME_FOLLOWS;
      keep_for(x, v, v);
    }
    if (v->home == HOME_ARRAY || v->home == HOME_FRAME)
      measure(x, v);
  }
  x->shared_bytes = (x->shared_bytes + RT_FRAME_THREADS - 1) / RT_FRAME_THREADS * RT_FRAME_THREADS;
}

/* --- the pass --- */

Fission cg_fission(Cg *cg, LLVMValueRef f, const FissionHow *how) {
  Arena *a = &cg->cx->arena;
  assert(!LLVMIsDeclaration(f) && how->thread_arg < LLVMCountParams(f));
  assert(!how->block || how->lanes);
  Fissioner x = {.cg = cg,
                 .arena = a,
                 .f = f,
                 .b = cg->builder,
                 .nargs = LLVMCountParams(f),
                 .thread_arg = how->thread_arg,
                 .warps = how->warps,
                 .shares = how->block != NULL,
                 .value_of.arena = a,
                 .frame_bytes = how->first_offset,
                 .uniform_kind = LLVMGetMDKindIDInContext(cg->context, CG_UNIFORM_METADATA,
                                                          strlen(CG_UNIFORM_METADATA))};
  cut(&x);
  find_live(&x);
  choose_homes(&x, how->lanes, how->block);
  Fission out = {.nsegments = x.starts.len,
                 .segments = ARENA_ARRAY(a, Segment, x.starts.len),
                 .frame_bytes = x.frame_bytes,
                 .shared_bytes = x.shared_bytes};
  for (uint32_t k = 0; k < x.starts.len; k++)
    fs_write_segment(&x, k, &out.segments[k]);
  return out;
}
