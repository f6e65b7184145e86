/* Lanes: control flow and masks; whether a function can be written, and is worth it. See lanes.h.
 *
 * Linearisation: blocks are written in the order that regions.c found. Uniform control flow stays
 * as it is. An edge of masked code adds its lanes to the mask of its target, and control continues
 * with the next block of the region (or its post-dominator), which is skipped while its mask is
 * empty. A divergent loop is repeated while the mask of its header is not empty. Values that are
 * used in other blocks live in allocas, from which LLVM makes registers and phis. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"

/* --- legality --- */

static bool has_form(Lanes *l, const LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(v->old);
  bool structure = LLVMGetTypeKind(t) == LLVMStructTypeKind;
  LLVMOpcode op = LLVMGetInstructionOpcode(v->old);
  if (v->shape.kind != SHAPE_VECTOR)
    return true;
  if (!ln_vector_type(l, t))
    return false;
  if (ln_is_pair(t) && op != LLVMLoad && op != LLVMInsertElement)
    return false;
  switch (op) {
  case LLVMPHI:
  case LLVMSelect: return !structure;
  case LLVMExtractValue:
  case LLVMInsertValue: return LLVMGetNumIndices(v->old) == 1;
  case LLVMGetElementPtr: return LLVMGetNumOperands(v->old) <= 8;
  case LLVMExtractElement:
    return ln_is_pair(LLVMTypeOf(LLVMGetOperand(v->old, 0))) &&
           LLVMIsAConstantInt(LLVMGetOperand(v->old, 1));
  case LLVMInsertElement: return LLVMIsAConstantInt(LLVMGetOperand(v->old, 2));
  case LLVMShuffleVector: return false;
  case LLVMLoad:
  case LLVMCall:
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg: return true;
  default: return cg_only_computes(v->old);
  }
}

/* May a loop around the instruction wait for another thread of the block? Lanes would then wait for
 * one of themselves. */
static bool may_wait(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg: return LLVMGetFirstUse(i) != NULL;
  case LLVMFence: return true;
  case LLVMLoad: return !cg_is_plain_access(i);
  default: return false;
  }
}

static bool calls_function(LLVMValueRef i) {
  return LLVMIsACallInst(i) &&
         (!LLVMIsAFunction(LLVMGetCalledValue(i)) || !LLVMIsDeclaration(LLVMGetCalledValue(i)));
}

/* Lanes check first and store then, so two of them that store into one element would not see each
 * other's value, which says whether that is a race. */
static bool may_store_together(Lanes *l, uint32_t block, LLVMValueRef i) {
  enum { POINTER = 1, WHAT = 3, BYTES = 4 };
  if (!cg_is_call_of(i, "rt_check_access"))
    return false;
  LLVMValueRef what = LLVMGetOperand(i, WHAT), bytes = LLVMGetOperand(i, BYTES);
  if ((LLVMConstIntGetZExtValue(what) & RT_ACCESS_KINDS) != RT_ACCESS_WRITE)
    return false;
  bool apart = ln_row_form(l, i) && llabs(ln_shape(l, LLVMGetOperand(i, POINTER)).step) >=
                                        (long long)LLVMConstIntGetZExtValue(bytes);
  return !apart && !ln_runs_alone(l, block);
}

/* The arrays of all lanes are on the stack of the thread of the process that runs them. */
static bool arrays_fit(const Lanes *l) {
  int64_t bytes = 0;
  for (uint32_t k = 0; k < l->values.len; k++)
    if (LLVMIsAAllocaInst(l->values.data[k].old))
      bytes += (int64_t)ln_array_bytes(l, &l->values.data[k]) * l->width;
  return bytes <= LANES_ARRAY_BYTES;
}

static bool can_write(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[k].in->block); i;
         i = LLVMGetNextInstruction(i))
      if (calls_function(i) || may_store_together(l, k, i) ||
          (cg_is_meeting(i) && !cg_lanes_meet(l, i)) ||
          (l->blocks[k].in->loop != GRAPH_NONE && may_wait(i)))
        return false;
  for (uint32_t k = 0; k < l->values.len; k++)
    if (!has_form(l, &l->values.data[k]))
      return false;
  return arrays_fit(l);
}

/* --- units of a context --- */

static bool is_loop_unit(const Lanes *l, uint32_t head, uint32_t context) {
  return l->blocks[head].in->loop != context;
}

/* The first block of the unit of `context` that has the block. */
static uint32_t unit_of(const Lanes *l, uint32_t block, uint32_t context) {
  for (uint32_t n = l->blocks[block].in->loop; n != context; n = l->loops.data[n].in->parent)
    block = l->loops.data[n].in->header;
  return block;
}

static bool unit_has(const Lanes *l, uint32_t head, uint32_t context, uint32_t block) {
  return is_loop_unit(l, head, context)
             ? ln_in_set(&l->loops.data[l->blocks[head].in->loop].blocks, block)
             : head == block;
}

static bool unit_is_masked(const Lanes *l, uint32_t head, uint32_t context) {
  return is_loop_unit(l, head, context) ? l->loops.data[l->blocks[head].in->loop].masked
                                        : l->blocks[head].masked;
}

/* Is there a test in front of the block (of the loop whose header it is) that skips it while its
 * mask is empty? */
static bool waits(const Lanes *l, uint32_t block) {
  uint32_t n = ln_own_loop(l, block);
  return (l->blocks[block].masked && !l->blocks[block].follows) ||
         (n != GRAPH_NONE && l->loops.data[n].masked);
}

/* A masked block whose only predecessor has no other successor and is next to it in the order. */
static void find_followers(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++) {
    LaneBlock *b = &l->blocks[k];
    const LaneBlock *before = b->in->npred == 1 ? &l->blocks[b->in->pred[0]] : NULL;
    b->follows = before && b->masked && before->masked && before->in->nsucc == 1 &&
                 before->in->loop == b->in->loop && before->place + 1 == b->place;
  }
}

static LLVMBasicBlockRef entry_of(const Lanes *l, uint32_t head) {
  return waits(l, head) ? l->blocks[head].test : l->blocks[head].body;
}

static bool concerns(const Lanes *l, uint32_t split, uint32_t head, uint32_t context) {
  const LaneBlock *d = &l->blocks[split];
  return d->splits && ln_loop_has(l, context, split) &&
         (ln_in_set(&d->region, head) || unit_has(l, head, context, split));
}

/* Where control continues behind a unit in which lanes may have diverged: at the next unit whose
 * mask may hold some of them. */
static LLVMBasicBlockRef next_of(Lanes *l, uint32_t head, uint32_t context) {
  bool all = context != GRAPH_NONE && l->loops.data[context].divergent;
  for (uint32_t place = l->blocks[head].place + 1; place < l->nblocks; place++) {
    uint32_t k = l->order[place];
    if (!ln_loop_has(l, context, k) || unit_of(l, k, context) != k ||
        unit_has(l, head, context, k) || l->blocks[k].follows)
      continue;
    if (all)
      return entry_of(l, k);
    for (uint32_t d = 0; d < l->nblocks; d++)
      if (concerns(l, d, head, context) &&
          (ln_in_set(&l->blocks[d].region, k) || l->blocks[d].in->ipdom == k))
        return entry_of(l, k);
  }
  if (all)
    return l->loops.data[context].end;
  l->failed |= context != GRAPH_NONE; /* no unit of the loop follows: the function is refused */
  return l->end;
}

/* --- edges --- */

void ln_wait_for(Lanes *l, uint32_t block, LLVMValueRef mask) {
  if (!waits(l, block))
    return;
  LLVMValueRef slot = l->blocks[block].mask;
  if (!mask) {
    l_store(l->b, LLVMConstAllOnes(l->mask_type), slot);
    return;
  }
  LLVMValueRef before = l_load(l->b, l->mask_type, slot);
  l_store(l->b, l_or(l->b, before, mask), slot);
}

static bool leaves_divergent_loop(const Lanes *l, uint32_t from, uint32_t to) {
  for (uint32_t n = l->blocks[from].in->loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].divergent && !ln_in_set(&l->loops.data[n].blocks, to))
      return true;
  return false;
}

static LLVMValueRef wanted(Lanes *l, LLVMValueRef phi, LLVMValueRef v) {
  return ln_value(l, phi)->shape.kind == SHAPE_VECTOR ? ln_vector(l, v) : ln_scalar(l, v);
}

/* Parallel copies: all new values are computed before one is stored. */
static void set_phis(Lanes *l, uint32_t to, LLVMValueRef mask) {
  const LaneBlock *s = &l->blocks[to];
  bool blend = mask && ln_own_loop(l, to) == GRAPH_NONE &&
               ((s->joins && s->in->npred > 1) || leaves_divergent_loop(l, l->at, to));
  LLVMBasicBlockRef from = l->blocks[l->at].in->block;
  VEC(LLVMValueRef) values = {0};
  LLVMValueRef phi;
  for (phi = LLVMGetFirstInstruction(s->in->block); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi))
    VEC_PUSH(l->arena, &values, wanted(l, phi, graph_incoming(phi, from)));
  uint32_t n = 0;
  for (phi = LLVMGetFirstInstruction(s->in->block); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef v = values.data[n++], slot = ln_value(l, phi)->slot;
    if (blend && ln_value(l, phi)->shape.kind == SHAPE_VECTOR)
      v = l_select(l->b, mask, v, l_load(l->b, LLVMTypeOf(v), slot));
    l_store(l->b, v, slot);
  }
}

/* Loads what all edges of the block read, before one of them stores. */
static void read_for_edges(Lanes *l, const LaneBlock *b) {
  for (uint32_t s = 0; s < b->in->nsucc; s++)
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[b->in->succ[s]].in->block);
         LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
      LLVMValueRef v = graph_incoming(phi, b->in->block);
      if (ln_value(l, v))
        (void)(ln_shape(l, v).kind == SHAPE_VECTOR ? ln_vector(l, v) : ln_scalar(l, v));
    }
}

static void jump(Lanes *l, LLVMBasicBlockRef to) { l_br(l->b, to); }

/* LLVM unrolls by the number of iterations, which is a division where a loop advances by what is no
 * constant (blockDim.x): longer than the few iterations that such loops of a block mostly have. */
static void jump_back(Lanes *l, uint32_t loop) {
  LLVMValueRef branch = l_br(l->b, l->blocks[l->loops.data[loop].in->header].body);
  if (ln_has_stride(l, &l->loops.data[loop]))
    cg_mark_loop(l->cg, branch, "llvm.loop.unroll.runtime.disable");
}

/* All lanes of the current mask take one edge. */
static void follow_edge(Lanes *l, uint32_t to) {
  uint32_t head = l->at, context = l->blocks[head].in->loop;
  uint32_t own = ln_own_loop(l, to);
  bool again = own != GRAPH_NONE && ln_in_set(&l->loops.data[own].blocks, head);
  set_phis(l, to, l->mask_now);
  if (own != GRAPH_NONE && !again)
    ln_begin_walks(l, own);
  if (again && !l->loops.data[own].divergent) {
    jump_back(l, own);
    return;
  }
  if (l->blocks[to].follows) {
    l_store(l->b, l->mask_now, l->blocks[to].mask);
    jump(l, l->blocks[to].body);
    return;
  }
  ln_wait_for(l, to, l->mask_now);
  for (; !ln_loop_has(l, context, to); context = l->loops.data[context].in->parent) {
    if (unit_is_masked(l, head, context)) {
      jump(l, next_of(l, head, context));
      return;
    }
    head = l->loops.data[context].in->header;
  }
  if (again || unit_is_masked(l, head, context))
    jump(l, next_of(l, head, context));
  else
    jump(l, entry_of(l, to));
}

/* A divergent branch: both targets get their lanes, and control continues with the region. */
static void split(Lanes *l, const LaneBlock *b, LLVMValueRef condition) {
  assert(b->in->nsucc == 2 && b->in->succ[0] != b->in->succ[1]);
  LLVMValueRef bits = ln_vector(l, condition), masks[2];
  for (unsigned s = 0; s < 2; s++)
    masks[s] = ln_and(l, l->mask_now, bits, s == 1);
  for (unsigned s = 0; s < 2; s++) {
    uint32_t to = b->in->succ[s];
    set_phis(l, to, masks[s]);
    ln_wait_for(l, to, masks[s]);
  }
  jump(l, next_of(l, l->at, b->in->loop));
}

/* --- checks --- */

/* The trap's path, copied for one lane: the first that fails. */
static void write_trap(Lanes *l, const LaneBlock *b, LLVMValueRef lane) {
  LLVMBasicBlockRef from = b->in->block, at = b->in->trap;
  l->lane = lane;
  for (LLVMValueRef i = LLVMGetFirstInstruction(at); i;) {
    LLVMValueRef copy;
    if (LLVMIsAUnreachableInst(i)) {
      l_unreachable(l->b);
      break;
    }
    if (LLVMIsATerminatorInst(i)) {
      from = at, at = graph_next(at);
      i = LLVMGetFirstInstruction(at);
      continue;
    }
    copy = LLVMIsAPHINode(i) ? ln_in_lane(l, graph_incoming(i, from), lane)
                             : ln_copy_in_lane(l, i, lane);
    uint32_t n = valuemap_get(&l->copy_of, i);
    if (n == VALUEMAP_NONE) {
      valuemap_set(&l->copy_of, i, l->copies.len);
      VEC_PUSH(l->arena, &l->copies, copy);
    } else {
      l->copies.data[n] = copy;
    }
    i = LLVMGetNextInstruction(i);
  }
  l->lane = NULL;
  for (uint32_t k = 0; k < l->copies.len; k++)
    l->copies.data[k] = NULL;
}

static void fail_in(Lanes *l, const LaneBlock *b, LLVMBasicBlockRef block, LLVMValueRef lanes) {
  LLVMPositionBuilderAtEnd(l->b, block);
  if (l->how.whole || b->dirty || b->writes)
    write_trap(l, b, ln_first(l, lanes));
  else
    jump(l, l->alone);
}

/* Of a check of an access, which holds where nothing was found or the value is the same: the first
 * of the two, which is looked at alone, so that LLVM moves the other one to where that fails. */
static LLVMValueRef mostly_holds(LLVMValueRef condition) {
  LLVMValueRef first = LLVMIsAInstruction(condition) &&
                               LLVMGetInstructionOpcode(condition) == LLVMOr
                           ? LLVMGetOperand(condition, 0)
                           : NULL;
  bool is = first && LLVMIsAICmpInst(first) && LLVMGetICmpPredicate(first) == LLVMIntEQ &&
            cg_is_call_of(LLVMGetOperand(first, 0), "rt_check_access");
  return is ? first : NULL;
}

/* Leaves the builder where that does not hold. */
static void look_unless(Lanes *l, LLVMValueRef holds, LLVMBasicBlockRef hold) {
  LLVMBasicBlockRef look = ln_new_block(l, "look");
  cg_branch_weights(l->cg, l_condbr(l->b, holds, hold, look), CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(l->b, look);
  l->reading = true;
}

/* A check by the first and the last lane, whether these two run or not: mostly both are in range.
 * At the edges of a grid one rests, and those that run are looked at. Leaves the builder where that
 * did not show that the check holds; true: there it fails. */
static bool check_ends(Lanes *l, LaneValue *v, bool holds, LLVMBasicBlockRef hold) {
  LLVMValueRef ends = ln_ends_agree(l, v, holds),
               whole = !ends && holds ? ln_ends_are_whole(l, v->old) : NULL;
  if (ends || whole)
    look_unless(l, ends ? ends : whole, hold);
  if (whole && l->mask_now)
    look_unless(l, ln_running_ends_are_whole(l, v->old), hold);
  if (!ends)
    return false;
  if (!l->mask_now || !cg_host_has_rows(l->f))
    return false;
  look_unless(l, ln_running_ends_agree(l, v, holds), hold);
  return ln_ends_decide(l, v->old, holds);
}

/* Leaves the builder where the check has held. */
static void write_check(Lanes *l, const LaneBlock *b) {
  Fork fork = {0};
  graph_fork(b->in->last, &fork);
  LLVMValueRef c = fork.condition;
  bool negated = fork.yes == b->in->trap; /* the check holds where the condition does not */
  assert(negated || fork.no == b->in->trap);
  LLVMBasicBlockRef hold = ln_new_block(l, "ok"), fail = ln_new_block(l, "fail");
  LaneValue *v = ln_value(l, c);
  LLVMValueRef lanes = l->mask_now;
  if (ln_is_uniform(ln_shape(l, c))) {
    LLVMValueRef bit = ln_scalar(l, c);
    LLVMValueRef end = l_condbr(l->b, bit, negated ? fail : hold, negated ? hold : fail);
    cg_branch_weights(l->cg, end, negated ? 1 : CG_OFTEN, negated ? CG_OFTEN : 1);
    l->reading = true;
  } else {
    bool failed = v && v->late && check_ends(l, v, !negated, hold);
    LLVMValueRef first = negated ? NULL : mostly_holds(c);
    if (first && !failed) {
      LLVMBasicBlockRef look = ln_new_block(l, "look");
      l_condbr(l->b, ln_any(l, ln_and(l, l->mask_now, ln_vector(l, first), true)), look, hold);
      LLVMPositionBuilderAtEnd(l->b, look);
      l->reading = true;
    }
    LLVMValueRef bits = v && v->late ? ln_compare(l, c) : ln_vector(l, c);
    lanes = ln_and(l, l->mask_now, bits, !negated);
    if (failed)
      jump(l, fail);
    else
      cg_branch_weights(l->cg, l_condbr(l->b, ln_any(l, lanes), fail, hold), 1, CG_OFTEN);
    l->reading = true;
  }
  fail_in(l, b, fail, lanes);
  l->reading = false;
  LLVMPositionBuilderAtEnd(l->b, hold);
}

void ln_run_alone_unless(Lanes *l, LLVMValueRef ok) {
  LLVMBasicBlockRef go = ln_new_block(l, "alike");
  cg_branch_weights(l->cg, l_condbr(l->b, ok, go, l->alone), CG_OFTEN, 1);
  LLVMPositionBuilderAtEnd(l->b, go);
}

/* --- blocks --- */

/* Skips a block or a loop while its mask is empty. */
static void write_test(Lanes *l, uint32_t block) {
  LaneBlock *b = &l->blocks[block];
  assert(b->test && b->mask);
  uint32_t own = ln_own_loop(l, block),
           context = own == GRAPH_NONE ? b->in->loop : l->loops.data[own].in->parent;
  LLVMPositionBuilderAtEnd(l->b, b->test);
  LLVMValueRef mask = l_load(l->b, l->mask_type, b->mask);
  if (own != GRAPH_NONE && !l->loops.data[own].divergent) {
    l_store(l->b, mask, l->loops.data[own].mask);
    l_store(l->b, LLVMConstNull(l->mask_type), b->mask);
  }
  LLVMBasicBlockRef body = b->body;
  if (ln_is_search(l, block)) {
    LLVMBasicBlockRef test = LLVMGetInsertBlock(l->b), few = ln_new_block(l, "few");
    body = ln_new_block(l, "some");
    LLVMPositionBuilderAtEnd(l->b, body);
    l_condbr(l->b, ln_are_few(l, mask), few, b->body);
    LLVMPositionBuilderAtEnd(l->b, few);
    ln_write_search(l, block, mask);
    l_store(l->b, LLVMConstNull(l->mask_type), b->mask);
    jump(l, next_of(l, block, context));
    LLVMPositionBuilderAtEnd(l->b, test);
  }
  l_condbr(l->b, ln_any(l, mask), body, next_of(l, block, context));
}

static void write_loop_end(Lanes *l, uint32_t number) {
  LaneLoop *loop = &l->loops.data[number];
  const LaneBlock *header = &l->blocks[loop->in->header];
  assert(loop->divergent && header->mask);
  LLVMPositionBuilderAtEnd(l->b, loop->end);
  LLVMValueRef mask = l_load(l->b, l->mask_type, header->mask);
  l_condbr(l->b, ln_any(l, mask), header->body, next_of(l, loop->in->header, loop->in->parent));
}

static LLVMValueRef take_mask(Lanes *l, const LaneBlock *b) {
  if (b->masked) {
    LLVMValueRef mask = LLVMBuildLoad2(l->b, l->mask_type, b->mask, "mask");
    if (!b->follows)
      l_store(l->b, LLVMConstNull(l->mask_type), b->mask);
    return mask;
  }
  for (uint32_t n = b->in->loop; n != GRAPH_NONE; n = l->loops.data[n].in->parent)
    if (l->loops.data[n].masked)
      return LLVMBuildLoad2(l->b, l->mask_type, l->loops.data[n].mask, "mask");
  return NULL;
}

/* Is the returned value uniform? */
static bool returns_one(Lanes *l) {
  for (uint32_t k = 0; k < l->nblocks; k++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks[k].in->block);
    if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) &&
        (l->blocks[k].masked || !ln_is_uniform(ln_shape(l, LLVMGetOperand(end, 0)))))
      return false;
  }
  return true;
}

static void write_return(Lanes *l, const LaneBlock *b, LLVMValueRef end) {
  if (LLVMGetNumOperands(end) && l->one_result) {
    l_store(l->b, ln_scalar(l, LLVMGetOperand(end, 0)), l->result_slot);
  } else if (LLVMGetNumOperands(end)) {
    LLVMValueRef v = ln_vector(l, LLVMGetOperand(end, 0));
    if (l->mask_now)
      v = l_select(l->b, l->mask_now, v, l_load(l->b, LLVMTypeOf(v), l->result_slot));
    l_store(l->b, v, l->result_slot);
  }
  jump(l, b->masked ? next_of(l, l->at, GRAPH_NONE) : l->end);
}

static void write_end(Lanes *l, const LaneBlock *b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b->in->block);
  read_for_edges(l, b);
  if (b->in->trap)
    write_check(l, b);
  if (LLVMIsAReturnInst(end)) {
    write_return(l, b, end);
  } else if (b->in->nsucc == 1) {
    follow_edge(l, b->in->succ[0]);
  } else if (b->splits) {
    split(l, b, LLVMGetCondition(end));
  } else {
    LLVMBasicBlockRef sides[] = {ln_new_block(l, ""), ln_new_block(l, "")};
    l_condbr(l->b, ln_scalar(l, LLVMGetCondition(end)), sides[0], sides[1]);
    for (unsigned s = 0; s < 2; s++) {
      LLVMPositionBuilderAtEnd(l->b, sides[s]);
      follow_edge(l, b->in->succ[s]);
    }
  }
}

static void write_block(Lanes *l, uint32_t block) {
  LaneBlock *b = &l->blocks[block];
  assert(b->body && l->order[b->place] == block);
  if (waits(l, block))
    write_test(l, block);
  for (uint32_t k = 0; k < l->values.len; k++)
    l->values.data[k].now = NULL;
  l->at = block;
  l->divided.division = NULL;
  LLVMPositionBuilderAtEnd(l->b, b->body);
  l->mask_now = take_mask(l, b);
  for (LLVMValueRef i = LLVMGetFirstInstruction(b->in->block); i; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i))
      (void)(ln_shape(l, i).kind == SHAPE_VECTOR ? ln_vector(l, i) : ln_scalar(l, i));
    else if (!LLVMIsATerminatorInst(i))
      ln_write_instruction(l, i);
  }
  write_end(l, b);
}

/* --- the function --- */

static void make_function(Lanes *l) {
  Cg *cg = l->cg;
  LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, l->nargs + 1);
  for (unsigned k = 0; k < l->nargs; k++)
    types[k] = LLVMTypeOf(LLVMGetParam(l->f, k));
  types[l->nargs] = cg->t.ptr;
  const char *name = arena_printf(l->arena, "%s.lanes", LLVMGetValueName(l->f));
  l->fn = LLVMAddFunction(cg->module, name, LLVMFunctionType(cg->t.i32, types, l->nargs + 1, 0));
  LLVMSetLinkage(l->fn, LLVMInternalLinkage);
  cg_attribute(cg, l->fn, L_FUNCTION, "nounwind", 0);
  cg_attribute(cg, l->fn, l->nargs + 1, "noalias", 0);
  l->results = LLVMGetParam(l->fn, l->nargs);
  l->mask_type = LLVMVectorType(cg->t.i1, l->width);
  l->entry = ln_new_block(l, "entry");
  l->end = ln_new_block(l, "end");
  l->alone = ln_new_block(l, "alone");
}

static void make_slots(Lanes *l) {
  LLVMPositionBuilderAtEnd(l->b, l->entry);
  LLVMTypeRef i32 = l->cg->t.i32;
  l->one_result = returns_one(l);
  l->result_type = l->one_result ? i32 : LLVMVectorType(i32, l->width);
  l->result_slot = LLVMBuildAlloca(l->b, l->result_type, "result");
  for (uint32_t k = 0; k < l->values.len; k++) {
    LaneValue *v = &l->values.data[k];
    ln_make_walk(l, v);
    if (!v->outside)
      continue;
    LLVMTypeRef t = LLVMTypeOf(v->old);
    v->slot = l_alloca(l->b, v->shape.kind == SHAPE_VECTOR ? ln_vector_type(l, t) : t);
    if (LLVMIsAAllocaInst(v->old))
      l_store(l->b, ln_make_array(l, v), v->slot);
  }
  for (uint32_t k = 0; k < l->nblocks; k++) {
    LaneBlock *b = &l->blocks[k];
    b->body = ln_new_block(l, LLVMGetBasicBlockName(b->in->block));
    if (!b->masked && !waits(l, k))
      continue;
    b->mask = LLVMBuildAlloca(l->b, l->mask_type, "waiting");
    l_store(l->b, LLVMConstNull(l->mask_type), b->mask);
    if (!waits(l, k))
      continue;
    b->test = ln_new_block(l, "test");
  }
  for (uint32_t n = 0; n < l->loops.len; n++) {
    l->loops.data[n].end = l->loops.data[n].divergent ? ln_new_block(l, "again") : NULL;
    l->loops.data[n].mask = l_alloca(l->b, l->mask_type);
  }
  jump(l, l->blocks[0].body);
}

static void write_ends(Lanes *l) {
  LLVMTypeRef i32 = l->cg->t.i32;
  for (uint32_t n = 0; n < l->loops.len; n++)
    if (l->loops.data[n].divergent)
      write_loop_end(l, n);
  LLVMPositionBuilderAtEnd(l->b, l->alone);
  l_ret(l->b, l_int(i32, 1));
  LLVMPositionBuilderAtEnd(l->b, l->end);
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(l->f));
  if (LLVMGetTypeKind(result) != LLVMVoidTypeKind)
    l_store(l->b, l_load(l->b, l->result_type, l->result_slot), l->results);
  l_ret(l->b, LLVMConstNull(i32));
}

bool cg_lanes_agree(Lanes *l) {
  if (l->values.len > LANES_MASKED_VALUES)
    return false;
  for (uint32_t k = 0; k < l->values.len; k++)
    if (l->values.data[k].agreed && !ln_keeps_order(l, l->values.data[k].old))
      return true;
  return false;
}

bool cg_lanes_have_loops(const Lanes *l) { return l->loops.len > 0; }

bool cg_lanes_one_result(const Lanes *l) { return l->one_result; }

LLVMValueRef cg_lanes_write(Lanes *l) {
  if (!can_write(l) || !ln_is_worth_it(l))
    return NULL;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  assert(!l->fn && l->values.len <= LANES_INSTRUCTIONS);
  find_followers(l);
  make_function(l);
  make_slots(l);
  for (uint32_t k = 0; k < l->nblocks; k++)
    write_block(l, l->order[k]);
  write_ends(l);
  if (here)
    LLVMPositionBuilderAtEnd(l->b, here);
  if (l->failed) {
    LLVMDeleteFunction(l->fn);
    return NULL;
  }
  return l->fn;
}

/* --- the machine's vectors --- */

/* Is it in the list of "+name" and "-name"? The last one counts. */
static bool has_feature(const char *list, const char *name) {
  size_t n = strlen(name);
  bool has = false;
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (strcspn(p, ",") == n + 1 && memcmp(p + 1, name, n) == 0)
      has = *p == '+';
  return has;
}

/* Whether `list` has each name of `names`. */
static bool has_features(const char *list, const char *names) {
  char name[24];
  for (const char *p = names; *p; p += strcspn(p, " "), p += *p == ' ') {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(p, " "), p);
    if (!has_feature(list, name))
      return false;
  }
  return true;
}

/* A fused multiply-add is asked for by host/math.c; NEON and SVE always have it. AVX2 has as many
 * lanes as AVX-512, in two registers: its CPUs start two such operations in a cycle, and what is
 * done once for all lanes (checks, addresses, control) is done half as often. */
static const struct {
  const char *features;
  unsigned width; /* lanes */
  unsigned part;  /* of them float32 or int32 in the widest register that pays */
} widths[] = {
    {"avx512f avx512dq avx512bw avx512vl fma", 16, 16},
    {"avx2 fma", 16, 8},
    {"neon", 4, 4},
};

static void find_widths(Cg *cg, unsigned *width, unsigned *part) {
  char *features = LLVMGetTargetMachineFeatureString(cg->machine);
  *width = *part = 0;
  for (size_t k = 0; k < sizeof widths / sizeof *widths && !*width; k++)
    if (has_features(features, widths[k].features))
      *width = widths[k].width, *part = widths[k].part;
  LLVMDisposeMessage(features);
}

bool cg_lanes_have(Cg *cg, const char *features) {
  char *all = LLVMGetTargetMachineFeatureString(cg->machine);
  bool has = has_features(all, features);
  LLVMDisposeMessage(all);
  return has;
}

unsigned cg_lanes_width(Cg *cg) {
  unsigned width, part;
  find_widths(cg, &width, &part);
  return width;
}

unsigned cg_lanes_part(Cg *cg) {
  unsigned width, part;
  find_widths(cg, &width, &part);
  return part;
}

bool ln_has_masks(const Lanes *l) {
  enum { AVX512 = 16 };
  return cg_lanes_part(l->cg) >= AVX512;
}

/* --- preparation --- */

static void merge_latches(Cg *cg, LLVMValueRef f) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Lanes l = {.cg = cg, .arena = &cg->cx->arena, .f = f, .b = cg->builder};
  ln_merge_latches(&l);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}

/* Switches become branches. A function with a switch of more cases than LANES_BLOCKS stays as it
 * is: it runs thread by thread anyway, and a tree of so many comparisons of one value takes LLVM's
 * code generator minutes (CodeGenPrepare is quadratic in them). */
static void lower_switches(Cg *cg, LLVMValueRef f) {
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    if (!LLVMIsASwitchInst(end))
      continue;
    if (graph_count_edges(end) > LANES_BLOCKS)
      return;
    any = true;
  }
  if (any)
    cg_run_function_passes(cg, f, "lower-switch");
}

/* Loops in the form that the analysis assumes. Functions that are refused for their length anyway
 * are left out: the passes take the square of the number of a loop's exits. */
static void make_regular(Cg *cg, LLVMValueRef f) {
  lower_switches(cg, f);
  merge_latches(cg, f);
  if (LLVMCountBasicBlocks(f) > 2 * LANES_BLOCKS)
    return;
  ln_shorten_products(cg, f);
  cg_run_function_passes(cg, f, "loop-simplify,lcssa");
}

static void make_all_regular(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      make_regular(cg, f);
}

void cg_lanes_regulate(Cg *cg) {
  cg_run_passes(cg, cg_cleaning(cg));
  make_all_regular(cg);
}

void cg_lanes_regulate_one(Cg *cg, LLVMValueRef f) {
  cg_run_function_passes(cg, f, cg_cleaning(cg));
  make_regular(cg, f);
}

/* LLVM's later passes take elements that a thread has loaded or stored already from registers, but
 * not those of lanes, if they are masked or far apart. */
void cg_lanes_prepare(Cg *cg) {
  cg_run_passes(cg, "always-inline,cgscc(inline)");
  cg_run_passes(cg, cg_cleaning(cg));
  cg_run_passes(cg, "function(early-cse<memssa>)");
  make_all_regular(cg);
}
