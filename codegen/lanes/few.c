/* Lanes: searches by few lanes. See lanes.h; control.c calls it.
 *
 * A loop that lanes leave by what they read, and that only some lanes enter (`if text[i] != text[i
 * - 1]: while text[end] == text[i]: end += 1`), takes as many iterations as its slowest lane, each
 * with masks and blends. While few lanes come to it they run it one after the other instead, in a
 * copy of the loop of one thread:
 *
 *   test -> few: for each lane of the mask { loop of one thread } -> what follows the loop
 *     |
 *   body: the loop under masks
 *
 * It has the loop's initial values from the slots of its phis, and leaves each lane's results in
 * the slots of the phis behind it and in the masks of their blocks, as the edges of the masked loop
 * do. Only loops that have no effects: where a check fails, all threads run one by one. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum { MOST_BLOCKS = 8, MOST_INSTRUCTIONS = 48, SHARE = 4 /* one lane in so many is few */ };

/* --- which loops --- */

static bool in_loop(Lanes *l, const LaneLoop *loop, LLVMValueRef v) {
  const LaneValue *own = ln_value(l, v);
  return own && ln_in_set(&loop->blocks, own->block);
}

/* A phi behind the loop, which gets lanes from one of its blocks. */
static bool takes_results(Lanes *l, const LaneLoop *loop, LLVMValueRef phi) {
  const LaneValue *v = ln_value(l, phi);
  return LLVMIsAPHINode(phi) && v && v->shape.kind == SHAPE_VECTOR &&
         l->blocks[v->block].in->loop == loop->in->parent && ln_fills_bytes(l, LLVMTypeOf(phi));
}

static bool can_copy(Lanes *l, const LaneLoop *loop, LLVMValueRef i) {
  const LaneValue *v = ln_value(l, i);
  if (LLVMIsATerminatorInst(i) || (LLVMIsACallInst(i) && ln_is_nothing(i)))
    return true;
  if (!v || v->element || cg_lanes_writes(i) || cg_is_call_of(i, CG_ALL_NAME) ||
      LLVMIsAAllocaInst(i) || (LLVMIsALoadInst(i) && !cg_is_plain_access(i)))
    return false;
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    const LaneValue *o = ln_value(l, LLVMGetOperand(i, (unsigned)k));
    if (o && o->element)
      return false;
  }
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    uint32_t at = graph_number(&l->g, LLVMGetInstructionParent(user)); /* NONE: in a trap */
    if (at != GRAPH_NONE && !ln_in_set(&loop->blocks, at) && !takes_results(l, loop, user))
      return false;
  }
  return true;
}

/* Its edges out of the loop lead to blocks right behind it. */
static bool leaves_well(Lanes *l, const LaneLoop *loop, const LaneBlock *b) {
  for (uint32_t s = 0; s < b->in->nsucc; s++) {
    uint32_t to = b->in->succ[s];
    if (ln_in_set(&loop->blocks, to))
      continue;
    if (l->blocks[to].in->loop != loop->in->parent || l->blocks[to].follows)
      return false;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[to].in->block); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi))
      if (!takes_results(l, loop, phi))
        return false;
  }
  return true;
}

static bool splits_by_reads(Lanes *l, const LaneBlock *b) {
  const LaneValue *c =
      b->splits ? ln_value(l, LLVMGetCondition(LLVMGetBasicBlockTerminator(b->in->block))) : NULL;
  return c && c->read;
}

/* Do lanes come there by what they read, in front of the loop? What they read in an iteration of a
 * loop around it says who comes to the next one: mostly all do. */
static bool is_entered_by_reads(Lanes *l, uint32_t header) {
  for (uint32_t k = 0; k < l->nblocks; k++)
    if (l->blocks[k].place < l->blocks[header].place && splits_by_reads(l, &l->blocks[k]) &&
        ln_in_set(&l->blocks[k].region, header))
      return true;
  return false;
}

/* A division takes long, and in a masked loop the lanes that rest divide, too. */
static bool divides(Lanes *l, const LaneLoop *loop) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    const LaneValue *v = &l->values.data[k];
    if (v->shape.kind == SHAPE_VECTOR && cg_is_division(v->old) &&
        ln_in_set(&loop->blocks, v->block))
      return true;
  }
  return false;
}

bool ln_is_search(Lanes *l, uint32_t header) {
  uint32_t own = ln_own_loop(l, header);
  const LaneLoop *loop = own == GRAPH_NONE ? NULL : &l->loops.data[own];
  unsigned blocks = 0, instructions = 0;
  bool reads = false;
  if (!loop || !loop->divergent || !loop->in->innermost || l->how.whole)
    return false;
  for (uint32_t k = 0; k < l->nblocks; k++) {
    const LaneBlock *b = &l->blocks[k];
    if (!ln_in_set(&loop->blocks, k))
      continue;
    if (++blocks > MOST_BLOCKS || (b->in->trap && b->dirty) || !leaves_well(l, loop, b))
      return false;
    reads |= splits_by_reads(l, b);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->in->block); i; i = LLVMGetNextInstruction(i))
      if (++instructions > MOST_INSTRUCTIONS || !can_copy(l, loop, i))
        return false;
  }
  return reads && (is_entered_by_reads(l, header) || divides(l, loop));
}

/* --- the copy --- */

typedef struct Exit { /* a block behind the loop */
  uint32_t block;
  LLVMValueRef came; /* alloca: bits of the lanes */
} Exit;

typedef struct Few {
  Lanes *l;
  const LaneLoop *loop;
  LLVMBasicBlockRef *copies, head, next; /* by block; before the copy; to the next lane */
  LLVMTypeRef bits;
  LLVMValueRef lane;
  ValueMap number; /* of values, as they are in this lane: index into `now` */
  VEC(LLVMValueRef) now;
  ValueMap memory_of; /* of varying values from before the loop, and of results: into `memory` */
  VEC(LLVMValueRef) memory;
  VEC(Exit) exits;
} Few;

static void keep(Few *f, LLVMValueRef old, LLVMValueRef now) {
  valuemap_set(&f->number, old, f->now.len);
  VEC_PUSH(f->l->arena, &f->now, now);
}

static void keep_memory(Few *f, LLVMValueRef old, LLVMValueRef memory) {
  valuemap_set(&f->memory_of, old, f->memory.len);
  VEC_PUSH(f->l->arena, &f->memory, memory);
}

static LLVMValueRef element_of(Few *f, LLVMValueRef old) {
  uint32_t n = valuemap_get(&f->memory_of, old);
  LLVMValueRef at = f->lane;
  return n == VALUEMAP_NONE ? NULL
                            : l_gep_inbounds(f->l->b, LLVMTypeOf(old), f->memory.data[n], &at, 1);
}

/* The value of the lane: of the copy, or from before the loop. */
static LLVMValueRef in_lane(Few *f, LLVMValueRef old) {
  uint32_t n = valuemap_get(&f->number, old);
  if (n != VALUEMAP_NONE)
    return f->now.data[n];
  assert(!ln_value(f->l, old));
  return ln_scalar(f->l, old);
}

/* The first instruction of a block of the loop; NULL: it is another block. */
static LLVMValueRef first_of_loop(const Few *f, uint32_t k) {
  return ln_in_set(&f->loop->blocks, k) ? LLVMGetFirstInstruction(f->l->blocks[k].in->block) : NULL;
}

typedef void (*Visit)(Few *f, LLVMValueRef old);

/* Is the operand a first value of the header's phi? */
static bool is_first_value(const Few *f, LLVMValueRef phi, unsigned n) {
  uint32_t from = graph_number(&f->l->g, LLVMGetIncomingBlock(phi, n));
  return from == GRAPH_NONE || !ln_in_set(&f->loop->blocks, from);
}

/* What the copy reads from before the loop: the first values of the header's phis are in these. */
static void visit_inputs(Few *f, Visit visit) {
  Lanes *l = f->l;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = first_of_loop(f, k); i; i = LLVMGetNextInstruction(i)) {
      bool first = k == f->loop->in->header && LLVMIsAPHINode(i);
      if (first)
        visit(f, i);
      for (int n = 0; n < LLVMGetNumOperands(i); n++) {
        LLVMValueRef o = LLVMGetOperand(i, (unsigned)n);
        if (!(first && is_first_value(f, i, (unsigned)n)) && !LLVMValueIsBasicBlock(o) &&
            ln_value(l, o) && !in_loop(l, f->loop, o))
          visit(f, o);
      }
    }
  for (uint32_t n = 0; n < f->exits.len; n++)
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[f->exits.data[n].block].in->block);
         LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
      for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef o = LLVMGetIncomingValue(phi, k);
        uint32_t from = graph_number(&l->g, LLVMGetIncomingBlock(phi, k));
        if (from != GRAPH_NONE && ln_in_set(&f->loop->blocks, from) && ln_value(l, o) &&
            !in_loop(l, f->loop, o))
          visit(f, o);
      }
}

static void put_in_memory(Few *f, LLVMValueRef old) {
  Lanes *l = f->l;
  if (valuemap_get(&f->memory_of, old) == VALUEMAP_NONE && ln_shape(l, old).kind == SHAPE_VECTOR &&
      ln_fills_bytes(l, LLVMTypeOf(old)))
    keep_memory(f, old, ln_in_memory(l, ln_vector(l, old)));
}

static void take_input(Few *f, LLVMValueRef old) {
  LLVMValueRef at;
  if (valuemap_get(&f->number, old) != VALUEMAP_NONE)
    return;
  at = element_of(f, old);
  keep(f, old, at ? l_load(f->l->b, LLVMTypeOf(old), at) : ln_in_lane(f->l, old, f->lane));
}

static void find_exits(Few *f) {
  Lanes *l = f->l;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (uint32_t s = 0; ln_in_set(&f->loop->blocks, k) && s < l->blocks[k].in->nsucc; s++) {
      Exit x = {.block = l->blocks[k].in->succ[s]};
      bool known = ln_in_set(&f->loop->blocks, x.block);
      for (uint32_t n = 0; n < f->exits.len; n++)
        known |= f->exits.data[n].block == x.block;
      if (known)
        continue;
      x.came = ln_in_memory(l, LLVMConstNull(f->bits));
      for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[x.block].in->block);
           LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
        LLVMValueRef slot = ln_value(l, phi)->slot;
        keep_memory(f, phi,
                    ln_in_memory(l, l_load(l->b, ln_vector_type(l, LLVMTypeOf(phi)), slot)));
      }
      VEC_PUSH(l->arena, &f->exits, x);
    }
}

/* Where an edge of the copy leads: the lane leaves its results. */
static LLVMBasicBlockRef edge(Few *f, uint32_t from, uint32_t to) {
  Lanes *l = f->l;
  if (ln_in_set(&f->loop->blocks, to))
    return f->copies[to];
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b), leave = ln_new_block(l, "found");
  LLVMPositionBuilderAtEnd(l->b, leave);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[to].in->block); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi))
    l_store(l->b, in_lane(f, graph_incoming(phi, l->blocks[from].in->block)), element_of(f, phi));
  for (uint32_t n = 0; n < f->exits.len; n++)
    if (f->exits.data[n].block == to) {
      LLVMValueRef at = f->exits.data[n].came, before = l_load(l->b, f->bits, at),
                   own = l_shl(l->b, l_int(f->bits, 1), l_int_cast(l->b, f->lane, f->bits, 0));
      l_store(l->b, l_or(l->b, before, own), at);
    }
  l_br(l->b, f->next);
  LLVMPositionBuilderAtEnd(l->b, here);
  return leave;
}

static void copy_end(Few *f, uint32_t number) {
  Lanes *l = f->l;
  const LaneBlock *b = &l->blocks[number];
  Fork fork = {0};
  if (b->in->trap) {
    graph_fork(b->in->last, &fork);
    LLVMValueRef c = in_lane(f, fork.condition);
    LLVMBasicBlockRef go = edge(f, number, b->in->succ[0]);
    bool negated = fork.yes == b->in->trap;
    l_condbr(l->b, c, negated ? l->alone : go, negated ? go : l->alone);
  } else if (b->in->nsucc == 1) {
    l_br(l->b, edge(f, number, b->in->succ[0]));
  } else {
    LLVMValueRef c = in_lane(f, LLVMGetCondition(LLVMGetBasicBlockTerminator(b->in->block)));
    LLVMBasicBlockRef yes = edge(f, number, b->in->succ[0]), no = edge(f, number, b->in->succ[1]);
    l_condbr(l->b, c, yes, no);
  }
}

static void copy_block(Few *f, uint32_t number) {
  Lanes *l = f->l;
  LLVMPositionBuilderAtEnd(l->b, f->copies[number]);
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[number].in->block); i;
       i = LLVMGetNextInstruction(i)) {
    int n = LLVMGetNumOperands(i);
    LLVMValueRef *operands = ARENA_ARRAY(l->arena, LLVMValueRef, (size_t)n + 1);
    if (LLVMIsATerminatorInst(i) || LLVMIsAPHINode(i) || (LLVMIsACallInst(i) && ln_is_nothing(i)))
      continue;
    for (int k = 0; k < n; k++)
      operands[k] = in_lane(f, LLVMGetOperand(i, (unsigned)k));
    keep(f, i, copy_ins(l->b, i, operands));
  }
  copy_end(f, number);
}

/* The phis of the copy; `first` of the header's: what they begin with in this lane. */
static void make_phis(Few *f, LLVMValueRef *first) {
  Lanes *l = f->l;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = first_of_loop(f, k); i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
      if (k == f->loop->in->header)
        *first++ = in_lane(f, i);
      LLVMPositionBuilderAtEnd(l->b, f->copies[k]);
      keep(f, i, l_phi(l->b, LLVMTypeOf(i)));
    }
}

static void fill_phis(Few *f, LLVMValueRef *first) {
  Lanes *l = f->l;
  for (uint32_t k = 0; k < l->nblocks; k++)
    for (LLVMValueRef i = first_of_loop(f, k); i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
      if (k == f->loop->in->header)
        LLVMAddIncoming(in_lane(f, i), first++, &f->head, 1);
      for (unsigned n = 0; n < LLVMCountIncoming(i); n++) {
        uint32_t from = graph_number(&l->g, LLVMGetIncomingBlock(i, n));
        if (from == GRAPH_NONE || !ln_in_set(&f->loop->blocks, from))
          continue;
        LLVMValueRef v = in_lane(f, LLVMGetIncomingValue(i, n));
        LLVMAddIncoming(in_lane(f, i), &v, &f->copies[from], 1);
      }
    }
}

static void copy_loop(Few *f) {
  Lanes *l = f->l;
  LLVMValueRef *first = ARENA_ARRAY(l->arena, LLVMValueRef, MOST_INSTRUCTIONS + 1);
  visit_inputs(f, take_input);
  f->head = LLVMGetInsertBlock(l->b);
  f->next = ln_new_block(l, "next");
  for (uint32_t k = 0; k < l->nblocks; k++)
    f->copies[k] = ln_in_set(&f->loop->blocks, k) ? ln_new_block(l, "alone") : NULL;
  l_br(l->b, f->copies[f->loop->in->header]);
  make_phis(f, first);
  for (uint32_t place = 0; place < l->nblocks; place++)
    if (f->copies[l->order[place]])
      copy_block(f, l->order[place]);
  fill_phis(f, first);
  LLVMPositionBuilderAtEnd(l->b, f->next);
}

/* --- entry points --- */

LLVMValueRef ln_are_few(Lanes *l, LLVMValueRef mask) {
  LLVMTypeRef t = cg_int_type(l->cg, l->width);
  LLVMValueRef bits = l_bitcast(l->b, mask, t), fn = cg_intrinsic_fn(l->cg, "llvm.ctpop", &t, 1);
  return l_icmp(l->b, LLVMIntULE, l_call(l->b, fn, &bits, 1), l_int(t, l->width / SHARE));
}

void ln_write_search(Lanes *l, uint32_t header, LLVMValueRef mask) {
  Few f = {.l = l,
           .loop = &l->loops.data[ln_own_loop(l, header)],
           .copies = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, l->nblocks),
           .bits = cg_int_type(l->cg, l->width),
           .number.arena = l->arena,
           .memory_of.arena = l->arena};
  for (uint32_t k = 0; k < l->values.len; k++)
    l->values.data[k].now = NULL; /* of the block that was written before */
  find_exits(&f);
  visit_inputs(&f, put_in_memory);
  LaneLoopNow lanes = ln_begin_lanes(l, mask);
  f.lane = lanes.lane;
  copy_loop(&f);
  ln_end_lanes(l, &lanes, 1);
  for (uint32_t n = 0; n < f.exits.len; n++) {
    const Exit *x = &f.exits.data[n];
    for (LLVMValueRef phi = LLVMGetFirstInstruction(l->blocks[x->block].in->block);
         LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
      l_store(l->b,
              l_load(l->b, ln_vector_type(l, LLVMTypeOf(phi)),
                     f.memory.data[valuemap_get(&f.memory_of, phi)]),
              ln_value(l, phi)->slot);
    ln_wait_for(l, x->block, l_bitcast(l->b, l_load(l->b, f.bits, x->came), l->mask_type));
  }
  for (uint32_t k = 0; k < l->values.len; k++)
    l->values.data[k].now = NULL;
}
