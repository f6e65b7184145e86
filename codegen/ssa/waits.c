/* Waits: which loops wait for what other threads do.
 *
 * In: typed functions, each loop with one way back. Out: INS_YIELDS on that way's branch, where
 * others are to have their turn.
 *
 * A loop waits if it can go round once without getting any further: there is a path from its header
 * back to it on which everything that the path's ways out of the loop hang on is as it was, except
 * for memory that other threads may write and that the path does not. A second round would then be
 * like the first, and so on, unless another thread changes that memory. So these are no waits:
 * counting loops, a search that narrows its bounds, a walk along a list, a compare-and-swap that is
 * tried again with what was just read, a counter that the loop itself increments. A spin lock is
 * one, and so is a flag that is read until it is set; also where other paths do work.
 *
 * Inner loops are taken as a whole: a value that one computes hangs on all that it reads and asks.
 * What this does not see through (calls, too many paths) is taken for a wait: a turn too many for
 * the others costs time, one too few never ends. */
#include "codegen/ssa/waits.h"

#include "ir/cfg.h"

enum { MOST_PATHS = 512, DEEPEST = 24 };

typedef struct FnFacts {
  bool reads;         /* memory that other threads may write, or calls that do */
  bool always_writes; /* whichever way it goes */
  bool nested; /* recursive, or called by such: threads cannot stop there (fission/fission.h) */
} FnFacts;

typedef struct WaitLoop {
  Block *header, *latch;
  bool *has; /* by Block.rpo */
} WaitLoop;

typedef struct Chosen { /* of a condition on the path: is it true? */
  const Ins *condition;
  bool holds;
} Chosen;

typedef struct Waits {
  Cx *cx;
  Program *program;
  FnFacts *facts; /* of Program.fns[k] */
  Fn *fn;
  VEC(WaitLoop) loops;
  const WaitLoop *loop;
  const WaitLoop **inner; /* by rpo: the outermost loop inside `loop` that has the block */
  /* the path: by rpo, the block that control comes from, NULL off it */
  Block **from;
  VEC(Block *) path;
  unsigned paths;
  /* what the path's conditions hang on */
  uint32_t *seen, round; /* by Ins.id: looked at for this path */
  uint32_t *followed, trail;
  VEC(const Ins *) reads;
  VEC(Chosen) chosen;
  bool moves;  /* something that they hang on is another one in each round */
  bool merges; /* which way the path goes decides what they see */
} Waits;

static bool has(const WaitLoop *l, const Block *b) {
  return b->rpo != UINT32_MAX && l->has[b->rpo];
}

/* --- memory --- */

static bool is_shared_with_others(const Ins *array) {
  Space s = array->type->space;
  return s != SPACE_LOCAL && s != SPACE_CONST;
}

static const Ins *root_of(const Ins *array) {
  while (array->op == OP_VIEW)
    array = array->args[0];
  return array;
}

static bool is_zero(const Ins *i) {
  return i->op == OP_CONST && i->aux.frozen->kind == FZ_INT && !i->aux.frozen->wide &&
         i->aux.frozen->i == 0;
}

/* Does doing it again change what is there? */
static bool moves_on(const Ins *atomic) {
  switch ((AtomicOp)atomic->aux.i) {
  case ATOMIC_ADD:
  case ATOMIC_SUB:
  case ATOMIC_XOR: return !is_zero(atomic->args[atomic->nargs - 1]);
  case ATOMIC_INC:
  case ATOMIC_DEC: return true;
  default: return false;
  }
}

/* May it leave something else there than it found? A compare-and-swap that fails does not. */
static bool writes(const Ins *i) {
  if (i->op != OP_ATOMIC)
    return i->op == OP_STORE;
  switch ((AtomicOp)i->aux.i) {
  case ATOMIC_ADD:
  case ATOMIC_SUB:
  case ATOMIC_OR:
  case ATOMIC_XOR: return !is_zero(i->args[i->nargs - 1]);
  default: return i->aux.i != ATOMIC_CAS;
  }
}

static bool is_same(const Ins *a, const Ins *b, int depth) {
  if (a == b)
    return true;
  Effect e = ir_op_info[a->op].effect;
  if (a->op != b->op || a->nargs != b->nargs || a->type != b->type || depth > DEEPEST ||
      (e != EFFECT_PURE && e != EFFECT_STOP) || a->op == OP_ALLOC || a->op == OP_PHI)
    return false;
  if (a->op == OP_CONST)
    return a->aux.frozen == b->aux.frozen ||
           (a->aux.frozen->kind == FZ_INT && b->aux.frozen->kind == FZ_INT &&
            !a->aux.frozen->wide && !b->aux.frozen->wide && a->aux.frozen->i == b->aux.frozen->i);
  if (a->op != OP_CHECK_INDEX && a->aux.i != b->aux.i)
    return false;
  for (uint32_t k = 0; k < a->nargs; k++)
    if (!is_same(a->args[k], b->args[k], depth + 1))
      return false;
  return true;
}

static uint32_t indices_of(const Ins *access) { return access->args[0]->type->ndim; }

static bool is_same_element(const Ins *a, const Ins *b) {
  if (!is_same(a->args[0], b->args[0], 0))
    return false;
  for (uint32_t k = 1; k <= indices_of(a); k++)
    if (!is_same(a->args[k], b->args[k], 0))
      return false;
  return true;
}

/* --- functions --- */

static FnFacts *facts_of(const Waits *w, const Fn *fn) {
  for (uint32_t k = 0; k < w->program->fns.len; k++)
    if (w->program->fns.data[k] == fn)
      return &w->facts[k];
  return NULL;
}

static bool ins_reads(const Waits *w, const Ins *i) {
  return ((i->op == OP_LOAD || i->op == OP_ATOMIC) && is_shared_with_others(i->args[0])) ||
         i->op == OP_CALL_C || (i->op == OP_CALL_FN && facts_of(w, i->aux.fn)->reads);
}

static bool ins_always_writes(const Waits *w, const Ins *i) {
  return ((i->op == OP_STORE || (i->op == OP_ATOMIC && moves_on(i))) &&
          is_shared_with_others(i->args[0])) ||
         (i->op == OP_CALL_FN && facts_of(w, i->aux.fn)->always_writes);
}

static bool is_on_every_way(const Fn *fn, const Block *b) {
  FOR_BLOCKS (fn, end)
    if (end->last->op == OP_RET && !ir_dominates(b, end))
      return false;
  return true;
}

static bool learn(Waits *w, const Fn *fn, FnFacts *f) {
  FnFacts before = *f;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      f->reads |= ins_reads(w, i);
      f->always_writes |= ins_always_writes(w, i) && is_on_every_way(fn, b);
      if (i->op == OP_CALL_FN && (f->nested || i->aux.fn->recursive) &&
          !facts_of(w, i->aux.fn)->nested) {
        facts_of(w, i->aux.fn)->nested = true;
        before.nested = !f->nested; /* go round again */
      }
    }
  return before.reads != f->reads || before.always_writes != f->always_writes ||
         before.nested != f->nested;
}

static void learn_all(Waits *w) {
  uint32_t n = w->program->fns.len;
  w->facts = CX_ARRAY(w->cx, FnFacts, n);
  for (uint32_t k = 0; k < n; k++)
    w->facts[k].nested = w->program->fns.data[k]->recursive;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < n; k++)
      again |= learn(w, w->program->fns.data[k], &w->facts[k]);
  }
}

/* --- loops --- */

static void add_loop(Waits *w, Block *header, Block *latch) {
  WaitLoop l = {header, latch, CX_ARRAY(w->cx, bool, w->fn->nblocks + 1)};
  VEC(Block *) todo = {0};
  l.has[header->rpo] = true;
  VEC_PUSH(&w->cx->arena, &todo, latch);
  while (todo.len) {
    Block *b = VEC_POP(&todo);
    if (l.has[b->rpo])
      continue;
    l.has[b->rpo] = true;
    for (uint32_t k = 0; k < b->preds.len; k++)
      VEC_PUSH(&w->cx->arena, &todo, b->preds.data[k]);
  }
  VEC_PUSH(&w->cx->arena, &w->loops, l);
}

static void find_loops(Waits *w) {
  w->loops.len = 0;
  FOR_BLOCKS (w->fn, b)
    for (int s = 0; s < 2; s++)
      if (b->succ[s] && b->succ[s]->rpo <= b->rpo && ir_dominates(b->succ[s], b))
        add_loop(w, b->succ[s], b);
}

/* Headers come in reverse post-order, so an outer loop's before those inside. */
static void find_inner(Waits *w) {
  for (uint32_t k = 0; k < w->fn->nblocks; k++)
    w->inner[k] = NULL;
  for (uint32_t n = 0; n < w->loops.len; n++) {
    const WaitLoop *l = &w->loops.data[n];
    if (l->header == w->loop->header || !has(w->loop, l->header))
      continue;
    FOR_BLOCKS (w->fn, b)
      if (has(l, b) && (!w->inner[b->rpo] || has(l, w->inner[b->rpo]->header)))
        w->inner[b->rpo] = l;
  }
}

static const WaitLoop *inner_of(const Waits *w, const Block *b) { return w->inner[b->rpo]; }

static bool leaves(const Waits *w, const Block *b) {
  for (int s = 0; s < 2; s++)
    if (b->succ[s] && !has(w->loop, b->succ[s]) && b->succ[s]->last->op != OP_RAISE)
      return true;
  return false;
}

/* --- what a path's conditions hang on --- */

static void look_at(Waits *w, Ins *v);

static void look_at_operands(Waits *w, const Ins *v) {
  for (uint32_t k = 0; k < v->nargs; k++)
    look_at(w, v->args[k]);
}

static void look_at_conditions(Waits *w, const WaitLoop *inner) {
  FOR_BLOCKS (w->fn, b)
    if (has(inner, b) && b->last->op == OP_CONDBR)
      look_at(w, b->last->args[0]);
}

/* Which operand a phi has on the path; NULL if the path does not say. */
static Ins *taken(const Waits *w, const Ins *phi) {
  const Block *from = w->from[phi->block->rpo];
  for (uint32_t k = 0; from && k < phi->nargs; k++)
    if (phi->block->preds.data[k] == from)
      return phi->args[k];
  return NULL;
}

static Ins *from_outside(const Ins *phi, const WaitLoop *l) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (!has(l, phi->block->preds.data[k]))
      return phi->args[k];
  return NULL;
}

/* Takes it to be so; false if it is known on the path to be otherwise. */
static bool choose(Waits *w, const Ins *condition, bool holds) {
  while (condition->op == OP_NOT || condition->op == OP_TRUTH) {
    holds ^= condition->op == OP_NOT;
    condition = condition->args[0];
  }
  for (uint32_t k = 0; k < w->chosen.len; k++)
    if (is_same(w->chosen.data[k].condition, condition, 0))
      return w->chosen.data[k].holds == holds;
  VEC_PUSH(&w->cx->arena, &w->chosen, ((Chosen){condition, holds}));
  return true;
}

/* Is v, at the path's end, still what the header's phi was at its beginning? */
static bool is_kept(Waits *w, Ins *v, const Ins *phi, int depth) {
  if (v == phi)
    return true;
  if (depth > DEEPEST || !has(w->loop, v->block))
    return false;
  const WaitLoop *inner = inner_of(w, v->block);
  if (v->op == OP_PHI && inner && v->block == inner->header) {
    look_at_conditions(w, inner); /* no turn of it */
    return is_kept(w, from_outside(v, inner), phi, depth + 1);
  }
  if (v->op == OP_PHI && !inner && v->block != w->loop->header) {
    w->merges = true;
    Ins *on_path = taken(w, v);
    return on_path && is_kept(w, on_path, phi, depth + 1);
  }
  if (v->op != OP_SELECT || inner)
    return false;
  look_at(w, v->args[0]);
  for (int arm = 1; arm <= 2; arm++)
    if (is_kept(w, v->args[arm], phi, depth + 1) && choose(w, v->args[0], arm == 1))
      return true;
  return false;
}

static Ins *from_latch(const Waits *w, const Ins *phi) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->block->preds.data[k] == w->loop->latch)
      return phi->args[k];
  return NULL;
}

/* Does what v is at the path's end hang on what the header's phi was, in this round or an earlier
 * one? */
static bool hangs_on(Waits *w, Ins *v, const Ins *phi) {
  if (v == phi)
    return true;
  if (!has(w->loop, v->block) || w->followed[v->id] == w->trail)
    return false;
  w->followed[v->id] = w->trail;
  if (v->op == OP_PHI && v->block == w->loop->header)
    return hangs_on(w, from_latch(w, v), phi);
  Ins *on_path = v->op == OP_PHI && !inner_of(w, v->block) ? taken(w, v) : NULL;
  if (on_path)
    return hangs_on(w, on_path, phi);
  for (uint32_t k = 0; k < v->nargs; k++)
    if (hangs_on(w, v->args[k], phi))
      return true;
  return false;
}

/* Of the header: kept as it is, or read anew in each round. */
static void look_at_carried(Waits *w, Ins *phi) {
  Ins *next = from_latch(w, phi);
  if (is_kept(w, next, phi, 0))
    return;
  w->trail++;
  if (hangs_on(w, next, phi))
    w->moves = true;
  else
    look_at(w, next);
}

static void look_at_phi(Waits *w, Ins *phi) {
  const WaitLoop *inner = inner_of(w, phi->block);
  Ins *on_path = inner ? NULL : taken(w, phi);
  if (phi->block == w->loop->header) {
    look_at_carried(w, phi);
  } else if (on_path) {
    w->merges = true;
    look_at(w, on_path);
  } else {
    look_at_operands(w, phi);
    if (inner)
      look_at_conditions(w, inner);
  }
}

/* A compare-and-swap of what this round has read fails only if another thread got further. */
static bool swaps_what_was_read(const Waits *w, const Ins *cas) {
  for (uint32_t k = 0; k < w->reads.len; k++)
    if (w->reads.data[k] != cas && root_of(w->reads.data[k]->args[0]) == root_of(cas->args[0]))
      return true;
  return false;
}

static void look_at_atomic(Waits *w, Ins *v) {
  if (v->aux.i == ATOMIC_CAS) {
    look_at(w, v->args[v->nargs - 2]);
    w->moves |= swaps_what_was_read(w, v);
  }
  for (uint32_t k = 0; k + 1 < v->nargs; k++)
    look_at(w, v->args[k]);
  if (v->aux.i != ATOMIC_CAS) /* what it would put there decides nothing */
    look_at(w, v->args[v->nargs - 1]);
  VEC_PUSH(&w->cx->arena, &w->reads, v);
}

static void look_at(Waits *w, Ins *v) {
  if (w->moves || !has(w->loop, v->block) || w->seen[v->id] == w->round)
    return;
  w->seen[v->id] = w->round;
  switch ((Op)v->op) {
  case OP_PHI: look_at_phi(w, v); break;
  case OP_ATOMIC: look_at_atomic(w, v); break;
  case OP_LOAD:
    look_at_operands(w, v);
    VEC_PUSH(&w->cx->arena, &w->reads, v);
    break;
  case OP_CALL_FN:
    w->moves |= facts_of(w, v->aux.fn)->always_writes;
    look_at_operands(w, v);
    if (facts_of(w, v->aux.fn)->reads)
      VEC_PUSH(&w->cx->arena, &w->reads, v);
    break;
  case OP_CALL_C: VEC_PUSH(&w->cx->arena, &w->reads, v); break;
  default: look_at_operands(w, v); break;
  }
}

/* --- paths --- */

static bool is_access(const Ins *i) { return i->op == OP_LOAD || i->op == OP_ATOMIC; }

/* Does the path itself write what was read there? An atomic that moves on does, unless the path
 * also has what may undo it. */
static bool is_written(const Waits *w, const Ins *read) {
  unsigned others = 0;
  bool moving = read->op == OP_ATOMIC && moves_on(read);
  for (uint32_t k = 0; k < w->path.len; k++)
    FOR_INS (w->path.data[k], i) {
      if (i == read || !writes(i) || root_of(i->args[0]) != root_of(read->args[0]))
        continue;
      bool same = is_same_element(i, read);
      if (!moving && (same || !is_shared_with_others(read->args[0])))
        return true;
      others += same;
    }
  return moving && !others;
}

static bool synchronises(const Ins *i) {
  return (i->op == OP_CALL_FN && i->aux.fn->has_barrier) ||
         (i->op == OP_INTRINSIC && ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC);
}

/* Where threads meet in each round, what threads of the loop write for each other is waited for
 * there. */
static bool is_met_for(const Waits *w, const Ins *read) {
  bool meets = false, written = is_access(read) && read->args[0]->type->space == SPACE_SHARED;
  for (uint32_t k = 0; k < w->path.len && !meets; k++)
    FOR_INS (w->path.data[k], i)
      meets |= synchronises(i);
  FOR_BLOCKS (w->fn, b)
    if (meets && has(w->loop, b))
      FOR_INS (b, i)
        written |= is_access(read) && writes(i) && root_of(i->args[0]) == root_of(read->args[0]);
  return meets && written;
}

static bool may_change(const Waits *w, const Ins *read) {
  return (!is_access(read) || is_shared_with_others(read->args[0])) && !is_met_for(w, read);
}

static void begin_path(Waits *w) {
  w->round++;
  w->reads.len = 0;
  w->moves = w->merges = false;
}

/* What chooses the path only tells whether it asks: it may hang on what moves besides. */
static void look_at_way(Waits *w) {
  for (uint32_t k = 0; k < w->path.len; k++) {
    const Block *b = w->path.data[k];
    uint32_t reads = w->reads.len;
    if (inner_of(w, b) || b->last->op != OP_CONDBR)
      continue;
    look_at(w, b->last->args[0]);
    if (w->moves)
      w->reads.len = reads, w->moves = false;
  }
}

/* The path is complete: nothing has got further on it, and it asks for what others may change? */
static bool ask_path(Waits *w) {
  begin_path(w);
  for (uint32_t k = 0; k < w->path.len; k++)
    if (leaves(w, w->path.data[k]) && w->path.data[k]->last->op == OP_CONDBR)
      look_at(w, w->path.data[k]->last->args[0]);
  for (uint32_t k = 0; k < w->reads.len && !w->moves; k++)
    w->moves |= is_access(w->reads.data[k]) && is_written(w, w->reads.data[k]);
  if (w->moves)
    return false;
  if (w->merges)
    look_at_way(w);
  for (uint32_t k = 0; k < w->reads.len; k++)
    if (may_change(w, w->reads.data[k]) &&
        !(is_access(w->reads.data[k]) && is_written(w, w->reads.data[k])))
      return true;
  return false;
}

static bool path_waits(Waits *w) {
  uint32_t chosen = w->chosen.len;
  bool waits = ask_path(w);
  w->chosen.len = chosen; /* less what selections have taken for granted */
  return waits;
}

/* Too many paths: is there anything at all that others may change? */
static bool some_way_asks(Waits *w) {
  bool asks = false;
  FOR_BLOCKS (w->fn, b) {
    begin_path(w);
    if (has(w->loop, b) && b->last->op == OP_CONDBR)
      look_at(w, b->last->args[0]);
    for (uint32_t k = 0; k < w->reads.len; k++)
      asks |= may_change(w, w->reads.data[k]);
  }
  return asks;
}

static bool search(Waits *w, Block *b, Block *from);

static bool search_behind_inner(Waits *w, const WaitLoop *inner) {
  FOR_BLOCKS (w->fn, b)
    for (int s = 0; has(inner, b) && s < 2; s++)
      if (b->succ[s] && !has(inner, b->succ[s]) && has(w->loop, b->succ[s]) &&
          search(w, b->succ[s], b))
        return true;
  return false;
}

/* The paths that go on to b. */
static bool search(Waits *w, Block *b, Block *from) {
  const WaitLoop *inner = inner_of(w, b);
  uint32_t length = w->path.len, chosen = w->chosen.len;
  bool found = false;
  if (b == w->loop->header && from)
    return ++w->paths > MOST_PATHS ? some_way_asks(w) : path_waits(w);
  w->from[b->rpo] = from;
  if (inner) {
    FOR_BLOCKS (w->fn, x)
      if (has(inner, x))
        VEC_PUSH(&w->cx->arena, &w->path, x);
    found = search_behind_inner(w, inner);
  } else {
    VEC_PUSH(&w->cx->arena, &w->path, b);
    for (int s = 0; s < 2 && !found; s++) {
      if (b->succ[s] && has(w->loop, b->succ[s]) &&
          (b->last->op != OP_CONDBR || choose(w, b->last->args[0], s == 0)))
        found = search(w, b->succ[s], b);
      w->chosen.len = chosen;
    }
  }
  w->from[b->rpo] = NULL;
  w->path.len = length;
  return found;
}

/* Most loops ask in their header for a counter that moves on every path: then there is no need to
 * look at them all. */
static bool counts(const Waits *w, const WaitLoop *l) {
  const Ins *end = l->header->last;
  if (end->op != OP_CONDBR || !leaves(w, l->header))
    return false;
  for (uint32_t k = 0; k < end->args[0]->nargs; k++) {
    const Ins *phi = end->args[0]->args[k];
    while (phi->op == OP_CAST)
      phi = phi->args[0];
    if (phi->op != OP_PHI || phi->block != l->header)
      continue;
    const Ins *next = from_latch(w, phi);
    if ((next->op == OP_ADD || next->op == OP_SUB) &&
        (next->args[0] == phi) != (next->args[1] == phi))
      return true;
  }
  return false;
}

static bool sleeps(const Waits *w) {
  FOR_BLOCKS (w->fn, b)
    FOR_INS (b, i)
      if (has(w->loop, b) && !inner_of(w, b) && i->op == OP_INTRINSIC &&
          i->aux.intrinsic == INTR_CUDA_NANOSLEEP)
        return true;
  return false;
}

static bool waits(Waits *w, const WaitLoop *l) {
  w->loop = l;
  find_inner(w);
  if (sleeps(w))
    return true;
  if (counts(w, l))
    return false;
  w->path.len = w->chosen.len = w->paths = 0;
  return search(w, l->header, NULL);
}

static void find_in(Waits *w, Fn *fn) {
  w->fn = fn;
  w->inner = CX_ARRAY(w->cx, const WaitLoop *, fn->nblocks + 1);
  w->from = CX_ARRAY(w->cx, Block *, fn->nblocks + 1);
  w->seen = CX_ARRAY(w->cx, uint32_t, fn->next_id + 1);
  w->followed = CX_ARRAY(w->cx, uint32_t, fn->next_id + 1);
  w->round = w->trail = 0;
  find_loops(w);
  for (uint32_t n = 0; n < w->loops.len; n++)
    if (waits(w, &w->loops.data[n]))
      w->loops.data[n].latch->last->flags |= INS_YIELDS;
}

void cg_find_waits(Cx *cx, Program *program) {
  Waits w = {.cx = cx, .program = program};
  learn_all(&w);
  for (uint32_t k = 0; k < program->fns.len; k++)
    if (!w.facts[k].nested && w.facts[k].reads)
      find_in(&w, program->fns.data[k]);
}
