/* Infer: the types of one function, loop by loop, then by sweeps until nothing changes.
 *
 * Sparse conditional: blocks are typed once control can reach them, and a branch on a known
 * condition reaches one side only. Phis join what reaches them over reached edges.
 *
 * sweep_loops goes first. It types a loop to its end before what follows it, from what enters it
 * alone each time it is entered (the horizon hides the blocks behind); the reason, that promotion
 * is not monotone, stands there. Plain sweeps in reverse post-order follow, and find the result's
 * type. In them values are computed anew each time, so that an early guess leaves no trace; after
 * SETTLE sweeps they are joined with the last guess, which bounds the number of sweeps by the
 * height of the lattice. */
#include <string.h>

#include "typeinfer/engine/door.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

enum { SETTLE = 12 };

/* --- operands --- */

/* The place of the variable's name in the expression that is being typed, else in its line (a store
 * is placed at its target); that expression's, if it is not known. */
static Loc read_loc(Ty *ty, const char *name) {
  Loc best = ty->at->loc;
  for (uint32_t k = 0; k < ty->fn->reads.len; k++) {
    const IrRead *r = &ty->fn->reads.data[k];
    if (strcmp(r->name, name) || !r->loc.line || r->loc.col < 0)
      continue;
    if (ir_loc_inside(r->loc, ty->at->loc))
      return r->loc;
    if (r->loc.line == ty->at->loc.line)
      best = r->loc;
  }
  return best;
}

static _Noreturn void fail_types(Ty *ty, const Ins *phi, const char *one, const char *other) {
  const char *what = phi->name ? arena_printf(&ty->cx->arena, "variable '%s'", phi->name)
                               : "a value";
  fail(ty->cx, phi->name ? read_loc(ty, phi->name) : ty->at->loc, ERR_NO_COMMON_TYPE, what, one,
       other);
}

/* Names both places and both types. */
static _Noreturn void fail_conflict(Ty *ty, Ins *phi) {
  Cx *cx = ty->cx;
  const Type *first = NULL;
  for (uint32_t depth = 0; depth < 8; depth++) { /* to the phi where the types meet */
    Ins *inner = NULL;
    for (uint32_t k = 0; k < phi->nargs; k++)
      if (ty_info(ty, phi->args[k])->conflict && phi->args[k] != phi)
        inner = phi->args[k];
    if (!inner)
      break;
    phi = inner;
  }
  const Ins *one = NULL;
  for (uint32_t k = 0; k < phi->nargs; k++) {
    const Ins *a = phi->args[k];
    const Type *t = ty_info(ty, a)->v.type;
    if (!t || (first && ty_join(ty, first, t)))
      continue;
    if (!first) {
      first = t;
      one = a;
      continue;
    }
    note(cx, one->loc, "%s here", ty_pretty(cx, first));
    note(cx, a->loc, "%s here", ty_pretty(cx, t));
    if (first->id == TY_FUNC && t->id == TY_FUNC)
      fail(cx, ty->at->loc, ERR_FUNCTION_PHI);
    fail_types(ty, phi, ty_pretty(cx, first), ty_pretty(cx, t));
  }
  /* what comes round a loop has no type, since it is made from the variable itself */
  const char *other = "a type that changes in each turn of the loop";
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (phi->args[k] != phi && !ty_info(ty, phi->args[k])->v.type && phi->args[k]->loc.line) {
      if (one)
        note(cx, one->loc, "%s here", ty_pretty(cx, first));
      note(cx, phi->args[k]->loc, "%s here", other);
      break;
    }
  fail_types(ty, phi, first ? ty_pretty(cx, first) : "unknown", other);
}

Val ty_value(Ty *ty, Ins *i) {
  TyInfo *info = ty_info(ty, i);
  if (!info->conflict)
    return info->v;
  if (ty->emit)
    fail_conflict(ty, i);
  ty->stuck = true;
  return BOTTOM;
}

Val ty_arg_or_none(Ty *ty, Ins *i, uint32_t k) {
  if (ty_info(ty, i->args[k])->unset) /* unset.c asks for what an OP_READ reads */
    cx_bug(ty->cx, "%%%u uses %%%u without a read", i->id, i->args[k]->id);
  return ty_value(ty, i->args[k]);
}

Val ty_arg(Ty *ty, Ins *i, uint32_t k) { return ty_given(ty, ty_arg_or_none(ty, i, k)); }

/* --- phis --- */

static bool beyond_horizon(const TySpec *s, const Block *from, const Block *to) {
  return s->order && s->order[from->id] > s->horizon[to->id];
}

TyInfo ty_eval_phi(Ty *ty, Ins *phi) {
  TyInfo r = {0};
  TyMeeting meeting = {0};
  const Ins *first = NULL;
  bool one = true;
  CX_ASSERT(ty->cx, phi->op == OP_PHI && phi->nargs == phi->block->preds.len);
  for (uint32_t k = 0; k < phi->nargs; k++) {
    Block *from = phi->block->preds.data[k];
    if (!ty_edge_taken(ty->spec, from, phi->block) || beyond_horizon(ty->spec, from, phi->block))
      continue;
    TyInfo *a = ty_info(ty, phi->args[k]);
    r.conflict |= a->conflict;
    if (a->unset)
      r.unset = a->unset;
    one &= phi->args[k]->op != OP_UNSET || !phi->args[k]->aux2;
    if (ty_is_bottom(a->v))
      continue;
    ty_meet_value(ty, &meeting, a);
    if (!first) {
      r.v = a->v;
      first = phi->args[k];
    } else if (first != phi->args[k]) {
      bool same = r.v.konst && a->v.konst && r.v.type == a->v.type &&
                  fz_same(r.v.konst, a->v.konst);
      r.v = (Val){.type = r.v.type, .konst = same ? r.v.konst : NULL};
      one = false;
    }
  }
  if (!one && !ty_is_bottom(r.v)) {
    const Type *t = ty_meeting_type(ty, &meeting);
    if (ty_stored(r.v.type))
      r.v = (Val){.type = r.v.type, .konst = r.v.konst};
    r.conflict |= !t;
    r.v.type = t ? t : r.v.type;
  }
  if (r.unset && r.v.type && ty_stored(r.v.type))
    r.v = (Val){.type = r.v.type}; /* the one value is not there on every path */
  const TyInfo *last = ty_info(ty, phi);
  if (last->varies && r.v.type && ty_stored(r.v.type) && (r.v.konst || r.v.items))
    r.v = (Val){.type = r.v.type};
  r.varies = last->varies;
  r.met = ty_met(ty, &meeting, last->met);
  return r;
}

/* --- a sweep --- */

/* Whether what is known of an instruction, seen from those that use it, changes. */
static bool changes(Ty *ty, const TyInfo *old, const TyInfo *new) {
  return !ty_same(ty, old->v, new->v) || old->conflict != new->conflict ||
         !old->unset != !new->unset || !ty_same_met(old->met, new->met);
}

/* What met in a phi before, too. */
static const TyMet *all_met(Ty *ty, const TyInfo *old, const TyInfo *new) {
  TyMeeting meeting = {0};
  ty_meet_value(ty, &meeting, old);
  ty_meet_value(ty, &meeting, new);
  return ty_met(ty, &meeting, old->met);
}

static bool put(Ty *ty, Ins *i, TyInfo new) {
  TyInfo *old = ty_info(ty, i);
  if (ty->spec->sweeps > SETTLE && !ty_is_bottom(old->v)) {
    if (i->op == OP_PHI && !ty_is_bottom(new.v))
      new.met = all_met(ty, old, &new);
    if (ty_is_bottom(new.v)) {
      new.v = old->v;
      new.met = old->met;
    } else if (!ty_same(ty, old->v, new.v)) {
      const Type *t = ty_join(ty, old->v.type, new.v.type);
      new.v = (Val){.type = t ? t : new.v.type, .src = new.v.src};
      new.conflict |= !t;
    }
    new.conflict |= old->conflict;
  }
  bool changed = changes(ty, old, &new);
  *old = new;
  return changed;
}

static bool reach(Ty *ty, Block *from, int n) {
  uint8_t *taken = ty->spec->taken;
  Block *to = from->succ[n];
  bool changed = !(taken[from->id] & (1 << n)) || !(taken[to->id] & BLOCK_REACHED);
  taken[from->id] |= (uint8_t)(1 << n);
  taken[to->id] |= BLOCK_REACHED;
  return changed;
}

static void sweep_ret(Ty *ty, Ins *i) {
  Val v = ty_arg_or_none(ty, i, 0);
  TySpec *s = ty->spec;
  if (ty_is_bottom(v))
    return;
  TyMeeting returned = *s->returned;
  ty_meet_value(ty, &returned, ty_info(ty, i->args[0]));
  if (ty_meeting_type(ty, &returned))
    *s->returned = returned;
  else
    ty->stuck = true;
}

/* The result's type is what the returns of this sweep join to, so it forgets early guesses as other
 * values do. */
static bool settle_result(Ty *ty) {
  TySpec *s = ty->spec;
  const Type *t = ty_meeting_type(ty, s->returned);
  if (t && s->result && s->sweeps > SETTLE)
    t = ty_join(ty, s->result, t);
  if (!t || t == s->result)
    return false;
  s->result = t;
  ty->p->changes++;
  return true;
}

static bool sweep_term(Ty *ty, Block *b, Ins *i) {
  bool known, changed = false;
  switch (i->op) {
  case OP_BR: return reach(ty, b, 0);
  case OP_CONDBR: {
    /* bottom after an error, which a loop's later iterations may undo */
    Val c = ty_truth(ty, ty_arg_or_none(ty, i, 0));
    bool decided = !ty_is_bottom(c) && fz_truth(c.konst, &known);
    if (!decided || known)
      changed |= reach(ty, b, 0);
    if (!decided || !known)
      changed |= reach(ty, b, 1);
    return changed;
  }
  case OP_RET: sweep_ret(ty, i); return false;
  case OP_RAISE: (void)ty_raise(ty, i); return false;
  default: return false;
  }
}

static bool sweep_block(Ty *ty, Block *b) {
  bool changed = false;
  FOR_INS (b, i) {
    ty->at = i;
    if (i->op == OP_PARAM)
      continue;
    if (i->op == OP_UNSET)
      ty_info(ty, i)->unset = i->aux2 ? NULL : i; /* what nobody reads is no error */
    else if (i->op == OP_PHI)
      changed |= put(ty, i, ty_eval_phi(ty, i));
    else if (i->op == OP_READ)
      changed |= put(ty, i, (TyInfo){.v = ty_eval(ty, i), .met = ty_info(ty, i->args[0])->met});
    else if (ins_is_term(i))
      changed |= sweep_term(ty, b, i);
    else
      changed |= put(ty, i, (TyInfo){.v = ty_eval(ty, i)});
  }
  return changed;
}

/* --- loop by loop
 *
 * A loop is typed to its end before what follows it, and from what enters it alone each time it is
 * entered: promotion is not monotone (bool * 1 is int64, uint8 * 1 is uint8), so that a guess made
 * before an outer or an earlier loop had its types would stay in the variables of this one. For the
 * same reason all ends of its body (`continue`, the branches of an `if` there) are typed before its
 * head is looked at again. */

enum { VISITS = 64 }; /* of a block, on average; beyond, plain sweeps settle the rest */

typedef enum Change { SAME, CHANGED, NEW_START } Change;

/* Whether the phis of a loop's head change, now that the types at the end of `from` are known. A
 * value that was known in the first iteration, and is not, decided types: the loop starts anew
 * without it. */
static Change head_changes(Ty *ty, Block *from, Block *head) {
  TySpec *s = ty->spec;
  if (s->horizon[head->id] < s->order[from->id])
    s->horizon[head->id] = s->order[from->id];
  Change change = SAME;
  FOR_INS (head, i)
    if (i->op == OP_PHI) {
      TyInfo new = ty_eval_phi(ty, i), *old = ty_info(ty, i);
      if (!old->varies && ((old->v.konst && !new.v.konst) || (old->v.items && !new.v.items))) {
        old->varies = true;
        change = NEW_START;
      } else if (change == SAME && changes(ty, old, &new)) {
        change = CHANGED;
      }
    }
  return change;
}

/* Whether b is the last of the blocks from which control returns to a loop's head. */
static bool is_last_latch(const TySpec *s, const Block *b, const Block *head) {
  if (s->order[b->id] < s->order[head->id])
    return false;
  for (uint32_t k = 0; k < head->preds.len; k++)
    if (s->order[head->preds.data[k]->id] > s->order[b->id])
      return false;
  return true;
}

/* The head of a loop that ends at b and has types it has not seen; NULL if there is none. */
static Block *head_to_repeat(Ty *ty, Block *b, Change *change) {
  for (int n = 0; n < 2; n++) {
    Block *to = b->succ[n];
    if (to && (ty->spec->taken[to->id] & BLOCK_REACHED) && is_last_latch(ty->spec, b, to) &&
        (*change = head_changes(ty, b, to)) != SAME)
      return to;
  }
  return NULL;
}

static void sweep_loops(Ty *ty) {
  Cx *cx = ty->cx;
  TySpec *s = ty->spec;
  uint32_t n = 0, ids = 0;
  FOR_BLOCKS (ty->fn, b) {
    n++;
    ids = b->id >= ids ? b->id + 1 : ids;
  }
  Block **at = CX_ARRAY(cx, Block *, n + 1);
  s->order = CX_ARRAY(cx, uint32_t, ids + 1);
  s->horizon = CX_ARRAY(cx, uint32_t, ids + 1);
  n = 0;
  FOR_BLOCKS (ty->fn, b) {
    s->order[b->id] = ++n; /* from 1, so that 0 is before all of them */
    at[n - 1] = b;
  }
  Block *repeat = NULL;
  for (uint32_t p = 0, visits = 0; p < n && visits < n * VISITS; visits++) {
    Block *b = at[p];
    if (s->taken[b->id] & BLOCK_REACHED) {
      if (b != repeat) /* entered: only what comes before */
        s->horizon[b->id] = s->order[b->id] - 1;
      (void)sweep_block(ty, b);
    }
    Change change = SAME;
    Block *head = head_to_repeat(ty, b, &change);
    repeat = change == NEW_START ? NULL : head;
    p = head ? s->order[head->id] - 1 : p + 1;
  }
  s->order = s->horizon = NULL;
}

static void sweep_to_end(Ty *ty) {
  TyMeeting returned = {0};
  ty->spec->returned = &returned;
  sweep_loops(ty);
  for (bool changed = true; changed;) {
    changed = ty->stuck = ty->spec->missing = false;
    ty->spec->sweeps++;
    returned = (TyMeeting){0};
    FOR_BLOCKS (ty->fn, b)
      if (ty->spec->taken[b->id] & BLOCK_REACHED)
        changed |= sweep_block(ty, b);
    changed |= settle_result(ty);
  }
  ty->spec->returned = NULL;
}

void ty_type_spec(TyProgram *p, TySpec *s) {
  Cx *cx = p->cx;
  Ty ty = {.cx = cx, .p = p, .spec = s, .fn = s->fn};
  CX_ASSERT(cx, (s->state == SPEC_NEW || s->state == SPEC_PROVISIONAL) && !s->fn->typed);
  s->level = s->low = p->stack.len;
  s->state = SPEC_TYPING;
  VEC_PUSH(&cx->arena, &p->stack, s);
  for (;;) {
    uint32_t before = p->changes;
    sweep_to_end(&ty);
    bool head = s->recursive && s->low >= s->level;
    if (!head || p->changes == before)
      break;
    p->round++;
  }
  /* what was typed with a guess of its result is typed again when it is next called */
  if (s->recursive)
    p->round++;
  s->stuck = ty.stuck;
  CX_ASSERT(cx, p->stack.len == s->level + 1 && p->stack.data[s->level] == s);
  (void)VEC_POP(&p->stack);
  s->state = s->low < s->level ? SPEC_PROVISIONAL : SPEC_TYPED;
  s->round = p->round;
  if (p->stack.len && s->state == SPEC_PROVISIONAL) {
    TySpec *caller = p->stack.data[p->stack.len - 1];
    caller->low = s->low < caller->low ? s->low : caller->low;
  }
  if (!s->result && !s->stuck && !s->recursive && s->state == SPEC_TYPED)
    s->result = ty_scalar(cx, TY_NONE); /* it never returns */
}
