/* Waits: which loops wait for other threads.
 *
 * In: typed functions in order, with dominators and one back edge a loop. Out: INS_YIELDS on the
 * back edge's branch of each loop that must let other threads run in every iteration, and
 * INS_POLLED on the loads that its end depends on. On the host the threads of a block share an OS
 * thread, so a loop that waits for one of them would otherwise spin for ever. On a GPU it would
 * spin on what LLVM has read once, in front of it.
 *
 * A loop waits if an iteration can pass without progress: there is a path from the header back to
 * it on which everything that the path's exit conditions depend on keeps its value, except memory
 * that other threads may write and that the path itself does not. The next iteration would then
 * repeat this one, and so would all that follow, until another thread changes that memory. So these
 * loops do not wait: counting loops, a search that narrows its bounds, a walk along a list, a
 * compare-and-swap that is retried with the value just read, a loop on a counter that it increments
 * itself. A spin lock waits, and so does a loop that reads a flag until it is set, even if other
 * paths through it do work.
 *
 * What the kernel does not write itself is waited for only where the loop never moves on in it, as
 * a flag that the host sets: in a walk over a map, the next step is elsewhere (is_walked).
 *
 * Nor is such a path repeated for ever if it is taken only while a counter of its own is below a
 * bound, as by a scanner that reads two texts and moves on in one of them (`if p < n: p += 1`), or
 * if it writes to the next element of an array each time. See is_bounded and ends_at_check.
 *
 * The paths through the body are enumerated, each with the branch conditions that it assumes, and a
 * backward walk from the exit conditions along the path finds what they depend on. Inner loops are
 * not unfolded: a value that one computes depends on all that the inner loop reads and tests.
 * Whatever the analysis cannot decide (calls, too many paths) counts as a wait: a needless yield
 * costs time, a missing one hangs the kernel. */
#include "codegen/ssa/waits.h"

#include <assert.h>

#include "ir/cfg.h"

enum { MOST_PATHS = 512, MOST_STEPS = 1 << 15, DEEPEST = 24 };

typedef struct FnFacts {
  bool reads;         /* memory that other threads may write, itself or in a call */
  bool always_writes; /* such memory, on every path */
  bool nested; /* recursive, or called by a recursive one: cannot yield (fission/fission.h) */
} FnFacts;

typedef struct WaitLoop {
  Block *header, *latch;
  bool *has; /* by Block.rpo */
} WaitLoop;

typedef struct Chosen { /* a condition that the path assumes to be true or false */
  const Ins *condition;
  bool holds;
} Chosen;

typedef struct Waits {
  Cx *cx;
  Program *program;
  FnFacts *facts; /* of Program.fns[k] */
  /* the types of what the program writes; all: it may write others, too */
  VEC(const Type *) written;
  bool writes_all;
  Fn *fn;
  VEC(WaitLoop) loops;
  const WaitLoop *loop;
  const WaitLoop **inner; /* by rpo: the outermost loop inside `loop` that has the block */
  /* the path: its blocks, and by rpo the predecessor on it, NULL for blocks that are not on it */
  Block **from;
  VEC(Block *) path;
  unsigned paths, steps; /* so far; blocks on the way, of paths that lead out of the loop too */
  /* what the path's conditions depend on; by Ins.id: the stamp of the last walk that came there */
  uint32_t *seen, visit_stamp;
  uint32_t *followed, follow_stamp;
  VEC(const Ins *) reads;
  VEC(Chosen) chosen;
  bool advances; /* something that they depend on changes in each iteration: progress */
  bool merges;   /* they depend on phis, and so on the branches that the path takes */
  /* by Ins.id, of the header's phis: how paths without progress move them, of Way */
  uint8_t *moves;
  bool bounded; /* a path was found that would wait but for its bound */
} Waits;

typedef enum Way { STAYS = 0, UP = 1, DOWN = 2, ANYWHERE = UP | DOWN } Way;

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

/* Does the operation, repeated with the same operand, change the memory each time? */
static bool always_modifies(const Ins *atomic) {
  switch ((AtomicOp)atomic->aux.i) {
  case ATOMIC_ADD:
  case ATOMIC_SUB:
  case ATOMIC_XOR: return !is_zero(atomic->args[atomic->nargs - 1]);
  case ATOMIC_INC:
  case ATOMIC_DEC: return true;
  default: return false;
  }
}

/* May it change the memory? A compare-and-swap counts as one that fails, which does not. */
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

static uint32_t indices_of(const Ins *access) { return access->args[0]->type->ndim; }

static bool is_same_element(const Ins *a, const Ins *b) {
  if (!ir_is_same_value(a->args[0], b->args[0]))
    return false;
  for (uint32_t k = 1; k <= indices_of(a); k++)
    if (!ir_is_same_value(a->args[k], b->args[k]))
      return false;
  return true;
}

/* --- functions --- */

static FnFacts *facts_of(const Waits *w, const Fn *fn) {
  for (uint32_t k = 0; k < w->program->fns.len; k++)
    if (w->program->fns.data[k] == fn)
      return &w->facts[k];
  assert(false); /* a call of a function that is not in the program */
  return NULL;
}

static bool ins_reads(const Waits *w, const Ins *i) {
  return ((i->op == OP_LOAD || i->op == OP_ATOMIC) && is_shared_with_others(i->args[0])) ||
         i->op == OP_CALL_C || (i->op == OP_CALL_FN && facts_of(w, i->aux.fn)->reads);
}

static bool ins_always_writes(const Waits *w, const Ins *i) {
  return ((i->op == OP_STORE || (i->op == OP_ATOMIC && always_modifies(i))) &&
          is_shared_with_others(i->args[0])) ||
         (i->op == OP_CALL_FN && facts_of(w, i->aux.fn)->always_writes);
}

static bool is_on_every_path(const Fn *fn, const Block *b) {
  FOR_BLOCKS (fn, end)
    if (end->last->op == OP_RET && !ir_dominates(b, end))
      return false;
  return true;
}

static bool summarise(Waits *w, const Fn *fn, FnFacts *f) {
  FnFacts before = *f;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      f->reads |= ins_reads(w, i);
      f->always_writes |= ins_always_writes(w, i) && is_on_every_path(fn, b);
      if (i->op == OP_CALL_FN && (f->nested || i->aux.fn->recursive) &&
          !facts_of(w, i->aux.fn)->nested) {
        facts_of(w, i->aux.fn)->nested = true;
        before.nested = !f->nested; /* so that the fixed point takes another sweep */
      }
    }
  return before.reads != f->reads || before.always_writes != f->always_writes ||
         before.nested != f->nested;
}

/* … other than a store or an atomic operation. */
static bool writes_otherwise(const Ins *i) {
  if (i->op == OP_INTRINSIC)
    return ir_intrinsics[i->aux.intrinsic].effect == EFFECT_WRITE;
  return ir_op_info[i->op].effect == EFFECT_WRITE && i->op != OP_CALL_FN && i->op != OP_LINE;
}

static void note_written(Waits *w, const Ins *i) {
  if (i->op != OP_STORE && i->op != OP_ATOMIC)
    w->writes_all |= writes_otherwise(i);
  else if (writes(i))
    VEC_PUSH(&w->cx->arena, &w->written, i->args[0]->type->elem);
}

static bool is_of_written(const Waits *w, const Ins *array) {
  bool found = w->writes_all;
  for (uint32_t k = 0; k < w->written.len; k++)
    found |= w->written.data[k] == array->type->elem;
  return found;
}

static void summarise_all(Waits *w) {
  uint32_t n = w->program->fns.len;
  for (uint32_t k = 0; k < n; k++)
    FOR_BLOCKS (w->program->fns.data[k], b)
      FOR_INS (b, i)
        note_written(w, i);
  w->facts = CX_ARRAY(w->cx, FnFacts, n);
  for (uint32_t k = 0; k < n; k++)
    w->facts[k].nested = w->program->fns.data[k]->recursive;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < n; k++)
      again |= summarise(w, w->program->fns.data[k], &w->facts[k]);
  }
}

/* --- loops --- */

static void add_loop(Waits *w, Block *header, Block *latch) {
  WaitLoop l = {header, latch, CX_ARRAY(w->cx, bool, w->fn->nblocks + 1)};
  for (uint32_t k = 0; k < w->loops.len; k++)
    assert(w->loops.data[k].header != header || w->loops.data[k].latch == latch);
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

/* The outermost loops inside w->loop: of the loops that contain a block, the one whose header no
 * other of them contains. */
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

/* --- what a path's conditions depend on --- */

static void visit(Waits *w, Ins *v);

static void visit_operands(Waits *w, const Ins *v) {
  for (uint32_t k = 0; k < v->nargs; k++)
    visit(w, v->args[k]);
}

static void visit_conditions(Waits *w, const WaitLoop *inner) {
  FOR_BLOCKS (w->fn, b)
    if (has(inner, b) && b->last->op == OP_CONDBR)
      visit(w, b->last->args[0]);
}

/* The operand that a phi takes on the path; NULL if the path does not determine it. */
static Ins *operand_on_path(const Waits *w, const Ins *phi) {
  const Block *from = w->from[phi->block->rpo];
  for (uint32_t k = 0; from && k < phi->nargs; k++)
    if (phi->block->preds.data[k] == from)
      return phi->args[k];
  return NULL;
}

static Ins *entry_operand(const Ins *phi, const WaitLoop *l) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (!has(l, phi->block->preds.data[k]))
      return phi->args[k];
  return NULL;
}

/* Assumes that the condition holds, or does not; false if the path already assumes the opposite. */
static bool choose(Waits *w, const Ins *condition, bool holds) {
  while (condition->op == OP_NOT || condition->op == OP_TRUTH) {
    holds ^= condition->op == OP_NOT;
    condition = condition->args[0];
  }
  for (uint32_t k = 0; k < w->chosen.len; k++)
    if (ir_is_same_value(w->chosen.data[k].condition, condition))
      return w->chosen.data[k].holds == holds;
  VEC_PUSH(&w->cx->arena, &w->chosen, ((Chosen){condition, holds}));
  return true;
}

/* Does v, at the end of the path, still have the value that the header's phi had at its
 * beginning? */
static bool is_kept(Waits *w, Ins *v, const Ins *phi, int depth) {
  if (v == phi)
    return true;
  if (depth > DEEPEST || !has(w->loop, v->block))
    return false;
  const WaitLoop *inner = inner_of(w, v->block);
  if (v->op == OP_PHI && inner && v->block == inner->header) {
    visit_conditions(w, inner); /* as if the inner loop ran no iteration */
    return is_kept(w, entry_operand(v, inner), phi, depth + 1);
  }
  if (v->op == OP_PHI && !inner && v->block != w->loop->header) {
    w->merges = true;
    Ins *on_path = operand_on_path(w, v);
    return on_path && is_kept(w, on_path, phi, depth + 1);
  }
  if (v->op != OP_SELECT || inner)
    return false;
  visit(w, v->args[0]);
  for (int arm = 1; arm <= 2; arm++)
    if (is_kept(w, v->args[arm], phi, depth + 1) && choose(w, v->args[0], arm == 1))
      return true;
  return false;
}

static Ins *latch_operand(const Waits *w, const Ins *phi) {
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->block->preds.data[k] == w->loop->latch)
      return phi->args[k];
  return NULL;
}

/* Does the value of v at the end of the path depend on the header's phi, of this iteration or an
 * earlier one? */
static bool depends_on(Waits *w, Ins *v, const Ins *phi) {
  if (v == phi)
    return true;
  if (!has(w->loop, v->block) || w->followed[v->id] == w->follow_stamp)
    return false;
  w->followed[v->id] = w->follow_stamp;
  if (v->op == OP_PHI && v->block == w->loop->header)
    return depends_on(w, latch_operand(w, v), phi);
  Ins *on_path = v->op == OP_PHI && !inner_of(w, v->block) ? operand_on_path(w, v) : NULL;
  if (on_path)
    return depends_on(w, on_path, phi);
  for (uint32_t k = 0; k < v->nargs; k++)
    if (depends_on(w, v->args[k], phi))
      return true;
  return false;
}

/* A phi of the header either keeps its value, or takes one that is computed afresh in each
 * iteration (whose dependences count then), or else is a recurrence: progress. */
static void visit_carried(Waits *w, Ins *phi) {
  Ins *next = latch_operand(w, phi);
  if (is_kept(w, next, phi, 0))
    return;
  w->follow_stamp++;
  if (depends_on(w, next, phi))
    w->advances = true;
  else
    visit(w, next);
}

static void visit_phi(Waits *w, Ins *phi) {
  const WaitLoop *inner = inner_of(w, phi->block);
  Ins *on_path = inner ? NULL : operand_on_path(w, phi);
  if (phi->block == w->loop->header) {
    visit_carried(w, phi);
  } else if (on_path) {
    w->merges = true;
    visit(w, on_path);
  } else {
    visit_operands(w, phi);
    if (inner)
      visit_conditions(w, inner);
  }
}

/* A compare-and-swap with a value that this iteration has read fails only if another thread has
 * made progress. */
static bool swaps_what_was_read(const Waits *w, const Ins *cas) {
  for (uint32_t k = 0; k < w->reads.len; k++)
    if (w->reads.data[k] != cas && root_of(w->reads.data[k]->args[0]) == root_of(cas->args[0]))
      return true;
  return false;
}

static void visit_atomic(Waits *w, Ins *v) {
  if (v->aux.i == ATOMIC_CAS) {
    visit(w, v->args[v->nargs - 2]);
    w->advances |= swaps_what_was_read(w, v);
  }
  for (uint32_t k = 0; k + 1 < v->nargs; k++)
    visit(w, v->args[k]);
  if (v->aux.i != ATOMIC_CAS) /* the new value does not decide whether it succeeds */
    visit(w, v->args[v->nargs - 1]);
  VEC_PUSH(&w->cx->arena, &w->reads, v);
}

static void visit(Waits *w, Ins *v) {
  if (w->advances || !has(w->loop, v->block) || w->seen[v->id] == w->visit_stamp)
    return;
  w->seen[v->id] = w->visit_stamp;
  switch ((Op)v->op) {
  case OP_PHI: visit_phi(w, v); break;
  case OP_ATOMIC: visit_atomic(w, v); break;
  case OP_LOAD:
    visit_operands(w, v);
    VEC_PUSH(&w->cx->arena, &w->reads, v);
    break;
  case OP_CALL_FN:
    w->advances |= facts_of(w, v->aux.fn)->always_writes;
    visit_operands(w, v);
    if (facts_of(w, v->aux.fn)->reads)
      VEC_PUSH(&w->cx->arena, &w->reads, v);
    break;
  case OP_CALL_C: VEC_PUSH(&w->cx->arena, &w->reads, v); break;
  default: visit_operands(w, v); break;
  }
}

/* --- paths --- */

static bool is_access(const Ins *i) { return i->op == OP_LOAD || i->op == OP_ATOMIC; }

/* Does the path itself change what `read` reads? An atomic that modifies its element each time
 * does, unless something else on the path may undo it. */
static bool is_written(const Waits *w, const Ins *read) {
  unsigned others = 0;
  bool moving = read->op == OP_ATOMIC && always_modifies(read);
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

/* With a barrier in every iteration, values that the loop's threads write for one another are
 * waited for at the barrier, and need no yield. */
static bool is_ordered_by_barrier(const Waits *w, const Ins *read) {
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

/* Is it computed from what the loop carries, and from nothing that others may change? */
static bool is_carried(const Waits *w, const Ins *v, int depth) {
  if (!has(w->loop, v->block) || depth > DEEPEST)
    return false;
  if (v->op == OP_PHI && v->block != w->loop->header) {
    const WaitLoop *inner = inner_of(w, v->block);
    const Ins *from = !inner                      ? operand_on_path(w, v)
                      : v->block == inner->header ? entry_operand(v, inner)
                                                  : NULL;
    return from && is_carried(w, from, depth + 1);
  }
  if (v->op == OP_PHI)
    return true;
  if (ir_op_info[v->op].effect != EFFECT_PURE && v->op != OP_CHECK_INDEX)
    return false;
  for (uint32_t k = 0; k < v->nargs; k++)
    if (is_carried(w, v->args[k], depth + 1))
      return true;
  return false;
}

/* Does the loop read another element each time? */
static bool goes_on(const Waits *w, const Ins *read) {
  for (uint32_t k = 1; read->op == OP_LOAD && k <= indices_of(read); k++)
    if (is_carried(w, read->args[k], 0))
      return true;
  return false;
}

/* Does the loop go from element to element of what the kernel only reads? Arrays with other
 * elements are taken to be other memory. */
static bool is_walked(const Waits *w, const Ins *read) {
  return goes_on(w, read) && !is_of_written(w, read->args[0]);
}

static bool may_change(const Waits *w, const Ins *read) {
  return (!is_access(read) || is_shared_with_others(read->args[0])) && !is_walked(w, read) &&
         !is_ordered_by_barrier(w, read);
}

static void begin_path(Waits *w) {
  w->visit_stamp++;
  w->reads.len = 0;
  w->advances = w->merges = false;
}

/* The conditions that select the path: only what they read counts. That one of them changes in each
 * iteration is no progress of the path. */
static void visit_path_conditions(Waits *w) {
  for (uint32_t k = 0; k < w->path.len; k++) {
    const Block *b = w->path.data[k];
    uint32_t reads = w->reads.len;
    if (inner_of(w, b) || b->last->op != OP_CONDBR)
      continue;
    visit(w, b->last->args[0]);
    if (w->advances)
      w->reads.len = reads, w->advances = false;
  }
}

/* Of a complete path: does it make no progress, and depend on something that other threads may
 * change? */
static bool judge_path(Waits *w) {
  begin_path(w);
  for (uint32_t k = 0; k < w->path.len; k++)
    if (leaves(w, w->path.data[k]) && w->path.data[k]->last->op == OP_CONDBR)
      visit(w, w->path.data[k]->last->args[0]);
  for (uint32_t k = 0; k < w->reads.len && !w->advances; k++)
    w->advances |= is_access(w->reads.data[k]) && is_written(w, w->reads.data[k]);
  if (w->advances)
    return false;
  if (w->merges)
    visit_path_conditions(w);
  for (uint32_t k = 0; k < w->reads.len; k++) {
    const Ins *read = w->reads.data[k];
    if (may_change(w, read) && !(is_access(read) && is_written(w, read)))
      return true;
  }
  return false;
}

static Way step_of(const Ins *v) {
  bool adds = v->op == OP_ADD;
  if ((!adds && v->op != OP_SUB) || v->args[1]->op != OP_CONST)
    return ANYWHERE;
  const Frozen *by = v->args[1]->aux.frozen;
  if (by->kind != FZ_INT || by->wide || !by->i)
    return ANYWHERE;
  return (by->i > 0) == adds ? UP : DOWN;
}

/* By how v, at the end of the path, differs from the header's phi at its beginning. */
static Way moves(const Waits *w, const Ins *v, const Ins *phi) {
  for (int depth = 0; v && depth < DEEPEST && has(w->loop, v->block); depth++) {
    if (v == phi)
      return STAYS;
    if (v->op != OP_PHI)
      return v->nargs == 2 && v->args[0] == phi ? step_of(v) : ANYWHERE;
    if (v->block == w->loop->header || inner_of(w, v->block))
      return ANYWHERE;
    v = operand_on_path(w, v);
  }
  return ANYWHERE;
}

static bool is_counter_type(const Type *t) { return ty_is_signed(t) && ty_bits(t) >= 32; }

/* The header's phi of which v is the value, in as many bits or more; NULL: it is something else. */
static const Ins *counter_of(const Waits *w, const Ins *v) {
  while (v->op == OP_CAST && is_counter_type(v->type) && is_counter_type(v->args[0]->type) &&
         ty_bits(v->type) >= ty_bits(v->args[0]->type))
    v = v->args[0];
  return v->op == OP_PHI && v->block == w->loop->header && is_counter_type(v->type) ? v : NULL;
}

static bool is_invariant(const Waits *w, const Ins *v) {
  return is_counter_type(v->type) && (!has(w->loop, v->block) || v->op == OP_CONST ||
                                      (v->op == OP_EXTENT && !has(w->loop, v->args[0]->block)));
}

/* Does the path move v towards the bound, below or above which (`way`) it must be for the path to
 * be taken, and does no other path without progress move it back? */
static bool approaches(const Waits *w, const Ins *v, const Ins *bound, Way way) {
  const Ins *phi = counter_of(w, v);
  return phi && is_invariant(w, bound) && w->moves[phi->id] == way &&
         moves(w, latch_operand(w, phi), phi) == way;
}

/* Must a comparison of a counter with an invariant bound hold for the path to be taken, so that it
 * cannot be repeated for ever? Another path may begin the counter anew (`if p < n: p += 1; else: p
 * = 0`). But of iterations for ever the last ones make no progress. If none of those moves the
 * counter back, it comes nearer to the bound whenever this path is taken, which is finitely often.
 * Only branches count, `chosen` of them: what a selection assumes does not hold on all of it. */
static bool is_bounded(const Waits *w, uint32_t chosen) {
  for (uint32_t k = 0; k < chosen; k++) {
    const Ins *c = w->chosen.data[k].condition;
    if (c->op != OP_LT && c->op != OP_LE && c->op != OP_GT && c->op != OP_GE)
      continue;
    bool less = (c->op == OP_LT || c->op == OP_LE) == w->chosen.data[k].holds;
    if (approaches(w, c->args[0], c->args[1], less ? UP : DOWN) ||
        approaches(w, c->args[1], c->args[0], less ? DOWN : UP))
      return true;
  }
  return false;
}

/* Nor can one that moves an index up which it checks (`out[count] = x; count += 1`) and looks at
 * other elements each time. One that looks at the same may fill a list until another thread says
 * that it is enough. */
static bool ends_at_check(const Waits *w) {
  for (uint32_t k = 0; k < w->reads.len; k++)
    if (may_change(w, w->reads.data[k]) && !goes_on(w, w->reads.data[k]))
      return false;
  for (uint32_t k = 0; k < w->path.len; k++)
    FOR_INS (w->path.data[k], i)
      if (i->op == OP_CHECK_INDEX && !inner_of(w, i->block) &&
          approaches(w, i->args[0], i->args[1], UP))
        return true;
  return false;
}

/* Other paths may yet be found to move the counter of a path that is bounded: see waits(). */
static bool path_waits(Waits *w) {
  uint32_t chosen = w->chosen.len;
  bool waits = judge_path(w);
  w->chosen.len = chosen; /* drops what selections have assumed */
  FOR_INS (w->loop->header, phi)
    if (phi->op == OP_PHI && !w->advances)
      w->moves[phi->id] |= moves(w, latch_operand(w, phi), phi);
  if (!waits || !(is_bounded(w, chosen) || ends_at_check(w)))
    return waits;
  w->bounded = true;
  return false;
}

/* For a loop of too many paths: does any condition depend on something that other threads may
 * change? */
static bool some_condition_waits(Waits *w) {
  bool found = false;
  FOR_BLOCKS (w->fn, b) {
    begin_path(w);
    if (has(w->loop, b) && b->last->op == OP_CONDBR)
      visit(w, b->last->args[0]);
    for (uint32_t k = 0; k < w->reads.len; k++)
      found |= may_change(w, w->reads.data[k]);
  }
  return found;
}

static bool search(Waits *w, Block *b, Block *from);

static bool search_past_inner(Waits *w, const WaitLoop *inner) {
  FOR_BLOCKS (w->fn, b)
    for (int s = 0; has(inner, b) && s < 2; s++)
      if (b->succ[s] && !has(inner, b->succ[s]) && has(w->loop, b->succ[s]) &&
          search(w, b->succ[s], b))
        return true;
  return false;
}

/* All paths that extend the current one by the edge from `from` to b: does one of them wait? */
static bool search(Waits *w, Block *b, Block *from) {
  const WaitLoop *inner = inner_of(w, b);
  uint32_t length = w->path.len, chosen = w->chosen.len;
  bool found = false, ends = b == w->loop->header && from;
  if (w->paths > MOST_PATHS || w->steps > MOST_STEPS)
    return false; /* that is decided */
  w->paths += ends;
  if (w->paths > MOST_PATHS || ++w->steps > MOST_STEPS)
    return w->bounded || some_condition_waits(w);
  if (ends)
    return path_waits(w);
  w->from[b->rpo] = from;
  if (inner) {
    FOR_BLOCKS (w->fn, x)
      if (has(inner, x))
        VEC_PUSH(&w->cx->arena, &w->path, x);
    found = search_past_inner(w, inner);
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

/* Most loops test a counter in their header that every path advances: there is no need to enumerate
 * their paths. */
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
    const Ins *next = latch_operand(w, phi);
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
  w->path.len = w->chosen.len = w->paths = w->steps = w->bounded = 0;
  FOR_INS (l->header, phi)
    w->moves[phi->id] = STAYS;
  if (search(w, l->header, NULL))
    return true;
  w->paths = w->steps = 0;
  return w->bounded && search(w, l->header, NULL); /* now all moves are known */
}

/* Marks the loads of the loop that v depends on. What is loaded in front of it, as the end of a row
 * is, is read once. */
static void mark_polled(Waits *w, const WaitLoop *l, Ins *v) {
  if (w->seen[v->id] == w->visit_stamp || !v->block || !has(l, v->block))
    return;
  w->seen[v->id] = w->visit_stamp;
  if (v->op == OP_LOAD && is_shared_with_others(v->args[0]))
    v->flags |= INS_POLLED;
  for (uint32_t k = 0; !is_access(v) && v->op != OP_CALL && k < v->nargs; k++)
    mark_polled(w, l, v->args[k]);
}

static void mark(Waits *w, const WaitLoop *l) {
  w->visit_stamp++;
  l->latch->last->flags |= INS_YIELDS;
  FOR_BLOCKS (w->fn, b)
    if (has(l, b) && b->last->op == OP_CONDBR && !(has(l, b->succ[0]) && has(l, b->succ[1])))
      mark_polled(w, l, b->last->args[0]);
}

static void find_in(Waits *w, Fn *fn) {
  assert(fn->entry->rpo == 0 && !fn->entry->idom); /* ordered, with dominators */
  w->fn = fn;
  w->inner = CX_ARRAY(w->cx, const WaitLoop *, fn->nblocks + 1);
  w->from = CX_ARRAY(w->cx, Block *, fn->nblocks + 1);
  w->seen = CX_ARRAY(w->cx, uint32_t, fn->next_id + 1);
  w->followed = CX_ARRAY(w->cx, uint32_t, fn->next_id + 1);
  w->moves = CX_ARRAY(w->cx, uint8_t, fn->next_id + 1);
  w->visit_stamp = w->follow_stamp = 0;
  find_loops(w);
  for (uint32_t n = 0; n < w->loops.len; n++)
    if (waits(w, &w->loops.data[n]))
      mark(w, &w->loops.data[n]);
}

void cg_find_waits(Cx *cx, Program *program) {
  Waits w = {.cx = cx, .program = program};
  summarise_all(&w);
  for (uint32_t k = 0; k < program->fns.len; k++)
    if (!w.facts[k].nested && w.facts[k].reads)
      find_in(&w, program->fns.data[k]);
}
