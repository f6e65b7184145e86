/* Unset: variables that some path leaves unset.
 *
 * The frontend has an OP_READ wherever a path comes to a read without having set the variable
 * (frontend/unset.c). Here, with types, the paths are those that control can take, and a loop over
 * something that is never empty runs its body. What is left is a check: beside the variable's phi
 * stands one of bools, whether it is set. Where checks are not compiled in the variable is zero. */
#include "ir/cfg.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/value/value.h"

/* --- loops that run at least once --- */

static bool nonempty(Ty *ty, Val seq) {
  int64_t start, stop, step;
  switch (seq.type->id) {
  case TY_TUPLE: return seq.type->n != 0;
  case TY_RANGE:
    if (!fz_get_int(ty_item(ty, seq, 0).konst, &start) ||
        !fz_get_int(ty_item(ty, seq, 1).konst, &stop) ||
        !fz_get_int(ty_item(ty, seq, 2).konst, &step))
      return false;
    return step > 0 ? start < stop : start > stop;
  case TY_ENUMERATE: return nonempty(ty, ty_item(ty, seq, 0));
  case TY_ZIP:
    for (uint32_t k = 0; k < seq.type->n; k++)
      if (!nonempty(ty, ty_item(ty, seq, k)))
        return false;
    return seq.type->n != 0;
  case TY_ARRAY: return seq.items && fz_get_int(seq.items[0].konst, &start) && start > 0;
  default: return false;
  }
}

void ty_find_first_edges(Ty *ty) {
  bool emit = ty->emit;
  ty->emit = false; /* only asks */
  ir_dominators(ty->cx, ty->fn);
  FOR_BLOCKS (ty->fn, b) {
    Ins *more = b->last && b->last->op == OP_CONDBR ? b->last->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || more->args[1]->op != OP_PHI ||
        more->args[1]->block != b)
      continue;
    Val seq = ty_info(ty, more->args[0])->v;
    if (ty_is_bottom(seq) || !nonempty(ty, seq))
      continue;
    Ins *state = more->args[1];
    for (uint32_t k = 0; k < state->nargs; k++)
      if (state->args[k]->op == OP_ITER_START)
        ty->spec->first_edge[b->id] = b->preds.data[k];
  }
  ty->emit = emit;
}

/* --- the question --- */

enum { MAX_CHAIN = 16, MAX_DEPTH = 6 };

typedef struct Query {
  Ty *ty;
  const Block *at; /* where the variable is read */
  uint32_t budget;
  const Block *chain[MAX_CHAIN]; /* of the phis between the read and the edge that is asked for */
  uint32_t n;
} Query;

/* A condition that holds, or its contrary. */
typedef struct Fact {
  const Ins *cond;
  bool is;
} Fact;

/* The next branch above *b that only one side of leads there, whose side is then known. */
static bool next_fact(const Block **b, Fact *f) {
  for (const Block *to = *b, *d = to->idom; d && d != to; to = d, d = d->idom)
    for (int n = 0; d->last && d->last->op == OP_CONDBR && n < 2; n++)
      if (d->succ[n]->preds.len == 1 && d->succ[0] != d->succ[1] && ir_dominates(d->succ[n], *b)) {
        *b = d;
        *f = (Fact){d->last->args[0], n == 0};
        return true;
      }
  return false;
}

/* Did it have its value before the phis, and has it still where the variable is read? Whoever
 * dominates them all was run last before all of them. */
static bool stays(const Query *q, const Ins *i) {
  if (!i->block) /* what later blocks, which are not strict yet, knew by it */
    return false;
  for (uint32_t k = 0; k < q->n; k++)
    if (i->block == q->chain[k] || !ir_dominates(i->block, q->chain[k]))
      return false;
  return true;
}

/* Is it the same value: one instruction, or the same pure operation on the same? */
static bool same_value(const Query *q, const Ins *a, const Ins *b, int depth) {
  if (a->op == OP_CONST && b->op == OP_CONST)
    return a->type == b->type && fz_same(a->aux.frozen, b->aux.frozen);
  if (a == b && stays(q, a))
    return true;
  bool place = a->op == OP_INTRINSIC && ir_intrinsics[a->aux.intrinsic].effect == EFFECT_PURE;
  if (a->op != b->op || a->type != b->type || a->nargs != b->nargs || a->aux.i != b->aux.i ||
      a->aux2 != b->aux2 || depth == MAX_DEPTH ||
      !(place || (a->nargs && ir_op_info[a->op].effect == EFFECT_PURE)))
    return false;
  for (uint32_t k = 0; k < a->nargs; k++)
    if (!same_value(q, a->args[k], b->args[k], depth + 1))
      return false;
  return true;
}

static Fact plain(Fact f) {
  for (; f.cond->op == OP_NOT; f.is = !f.is)
    f.cond = f.cond->args[0];
  return f;
}

/* Where the read is reached, some condition was not as it is on that edge: `if i < n: x = …` and
 * later `if i < n: use(x)`. */
static bool impossible(const Query *q, const Block *from, const Block *to) {
  enum { MAX_FACTS = 16 };
  Fact here, there[MAX_FACTS];
  uint32_t n = 0;
  if (from->last->op == OP_CONDBR && from->succ[0] != from->succ[1])
    there[n++] = plain((Fact){from->last->args[0], from->succ[0] == to});
  for (const Block *b = from; n < MAX_FACTS && next_fact(&b, &there[n]); n++)
    there[n] = plain(there[n]);
  uint32_t asked = 0;
  for (const Block *b = q->at; n && asked < MAX_FACTS && next_fact(&b, &here); asked++) {
    here = plain(here);
    for (uint32_t k = 0; k < n; k++)
      if (here.is != there[k].is && same_value(q, here.cond, there[k].cond, 0))
        return true;
  }
  return false;
}

static bool set_on_edge(Query *q, Ins *v, Block *from, Block *to);

static bool all_set(Query *q, Ins *phi, const Block *skip) {
  if (q->n == MAX_CHAIN)
    return false;
  bool all = true;
  q->chain[q->n++] = phi->block;
  for (uint32_t k = 0; all && k < phi->nargs; k++) {
    Block *from = phi->block->preds.data[k];
    if (from != skip && ty_edge_taken(q->ty->spec, from, phi->block))
      all = set_on_edge(q, phi->args[k], from, phi->block) || impossible(q, from, phi->block);
  }
  q->n--;
  return all;
}

/* Behind the loop: on the edge out of its header, or anywhere that only the edge out leads to. */
static bool is_behind(const Block *header, const Block *from, const Block *to) {
  const Block *out = header->succ[1];
  return (from == header && to == out) || (out && out->preds.len == 1 && ir_dominates(out, from));
}

static bool set_on_edge(Query *q, Ins *v, Block *from, Block *to) {
  if (!ty_info(q->ty, v)->unset)
    return true;
  if (v->op != OP_PHI || !q->budget)
    return false;
  q->budget--;
  Block *first = q->ty->spec->first_edge[v->block->id];
  if (first && is_behind(v->block, from, to))
    return all_set(q, v, first);
  return all_set(q, v, NULL);
}

static bool set_here(Ty *ty, Ins *variable) {
  Query q = {.ty = ty, .at = ty->at->block, .budget = 64};
  return set_on_edge(&q, variable, ty->at->block, NULL);
}

/* --- which path leaves it unset --- */

typedef struct Path {
  const char *format; /* of its note, which says the variable */
  const char *phrase; /* of the exception, with its line */
  Loc loc;            /* no line: nothing is known of it */
} Path;

static bool is_branch(const Block *b) {
  return b->last && b->last->op == OP_CONDBR && b->last->loc.line;
}

static bool is_loop(const Block *header) {
  for (uint32_t k = 0; k < header->preds.len; k++)
    if (ir_dominates(header, header->preds.data[k]))
      return true;
  return false;
}

/* The edge from preds.data[k] into the phi's block, on which the variable comes unset: the
 * condition that chose it. */
static Path path_of_edge(const Ins *phi, uint32_t k, const Block *at) {
  static const char condition[] = "not set on a path from the condition in line %d",
                    loop[] = "not set if the loop in line %d does not run",
                    first[] = "not set in the first turn of the loop in line %d";
  const Block *to = phi->block, *from = to->preds.data[k];
  while (from->last && from->last->op == OP_BR && from->preds.len == 1)
    from = from->preds.data[0];
  if (is_branch(from))
    return (Path){"'%s' is not set on a path from this condition", condition, from->last->loc};
  if (is_loop(to) && is_branch(to) && ir_dominates(to->succ[0], at))
    return (Path){"'%s' is not set in the first turn of this loop", first, to->last->loc};
  if (is_loop(to) && is_branch(to))
    return (Path){"'%s' is not set if this loop does not run", loop, to->last->loc};
  if (to->idom && to->idom != to && is_branch(to->idom))
    return (Path){"'%s' is not set on a path from this condition", condition, to->idom->last->loc};
  return (Path){0};
}

/* Up from phi to phi, to where the unset variable comes in. */
static Path find_path(Ty *ty, const Ins *v) {
  for (uint32_t depth = 0; v->op == OP_PHI && depth < 64; depth++) {
    uint32_t k = 0, next = UINT32_MAX;
    for (; k < v->nargs; k++) {
      const Ins *a = v->args[k];
      if (a->op == OP_UNSET && ty_info(ty, a)->unset && !a->loc.line)
        return path_of_edge(v, k, ty->at->block);
      if (a->op == OP_UNSET && ty_info(ty, a)->unset)
        return (Path){"'%s' is deleted here", "deleted in line %d", a->loc};
      if (next == UINT32_MAX && a != v && ty_info(ty, a)->unset)
        next = k;
    }
    if (next == UINT32_MAX)
      break;
    v = v->args[next];
  }
  return (Path){0};
}

/* --- whether it is set, at run time --- */

static Ins *set_const(Ty *ty, bool is) {
  Ins *i = ir_const(ty->cx, ty->fn, fz_bool(ty->cx, is), ty_id(ty, TY_PYBOOL), ty->at->loc);
  ir_insert_before(ty->fn->entry->last, i);
  return i;
}

/* Of a lifted instruction; a phi's has no operands yet. */
static Ins *set_bit(Ty *ty, Ins *v) {
  TySpec *s = ty->spec;
  if (v->op != OP_PHI || !ty_info(ty, v)->unset)
    return set_const(ty, !ty_info(ty, v)->unset);
  for (uint32_t k = 0; k < s->set.len; k++)
    if (s->set.data[k].phi == v)
      return s->set.data[k].made;
  Ins *made = ir_ins(ty->cx, ty->fn, OP_PHI, ty_id(ty, TY_PYBOOL), v->loc, NULL, 0);
  ir_insert_phi(v->block, made);
  TySetBit bit = {v, made};
  VEC_PUSH(&ty->cx->arena, &s->set, bit);
  return made;
}

static Val is_set(Ty *ty, Ins *v) {
  TySpec *s = ty->spec;
  uint32_t done = s->set.len;
  Ins *bit = set_bit(ty, v);
  for (; done < s->set.len; done++) { /* grows with the phis that reach it */
    TySetBit b = s->set.data[done];
    for (uint32_t k = 0; k < b.phi->nargs; k++)
      ir_add_arg(ty->cx, b.made, set_bit(ty, b.phi->args[k]));
  }
  return (Val){.type = ty_id(ty, TY_PYBOOL), .ins = bit};
}

static void say_unset(Ty *ty, const Path *path, Loc loc, const char *name) {
  ty->spec->reads_unset = true;
  if (path->loc.line)
    note(ty->cx, path->loc, path->format, name);
  cx_advice(ty->cx, loc, ERR_MAYBE_UNSET, name);
}

static const char *unset_text(Ty *ty, const char *name, const Path *path) {
  Buf b;
  buf_init(&b, &ty->cx->arena);
  buf_printf(&b, "cannot access local variable '%s' where it is not associated with a value", name);
  if (path->loc.line) {
    buf_puts(&b, ": it is ");
    buf_printf(&b, path->phrase, (int)path->loc.line);
  }
  return b.text;
}

/* A value that has no type, among those that reach the variable: what makes it is wrong, or depends
 * on the variable itself. */
static const Ins *untyped_value(Ins *variable) {
  enum { MAX_SEEN = 64 };
  Ins *seen[MAX_SEEN] = {variable};
  for (uint32_t n = 1, at = 0; at < n; at++) {
    if (seen[at]->op != OP_PHI && seen[at]->op != OP_UNSET)
      return seen[at];
    for (uint32_t k = 0; k < seen[at]->nargs && n < MAX_SEEN; k++) {
      uint32_t old = 0;
      while (old < n && seen[old] != seen[at]->args[k])
        old++;
      if (old == n)
        seen[n++] = seen[at]->args[k];
    }
  }
  return NULL;
}

static Val never_set(Ty *ty, Ins *variable, const char *name) {
  const Ins *made = ty->emit ? untyped_value(variable) : NULL;
  if (ty->emit && variable->op == OP_UNSET && variable->loc.line)
    note(ty->cx, variable->loc, "'%s' is deleted here", name);
  if (made && made->loc.line)
    note(ty->cx, made->loc, "'%s' is set here, to what has no type without this", name);
  return TY_FAIL(ty, ERR_UNSET_VAR, name);
}

Val ty_read(Ty *ty, Ins *i) {
  Ins *variable = i->args[0];
  const TyInfo *info = ty_info(ty, variable);
  if (info->unset && ty_is_bottom(info->v))
    return never_set(ty, variable, i->name);
  Val v = ty_value(ty, variable);
  if (ty->emit && !set_here(ty, variable)) {
    Path path = find_path(ty, variable);
    say_unset(ty, &path, i->loc, i->name);
    ty_check(ty, is_set(ty, variable), "UnboundLocalError", unset_text(ty, i->name, &path), NULL,
             0);
  }
  return v;
}

/* --- captured ones --- */

static const Frozen maybe_mark = {.kind = FZ_OPAQUE, .text = "variable"};

/* The value, whether it is set, and the line of what may leave it unset. */
Val ty_capture(Ty *ty, Ins *i) {
  const TyInfo *info = ty_info(ty, i);
  Val v = ty_value(ty, i);
  if (!info->unset)
    return v;
  const char *name = i->name ? i->name : "?";
  if (ty_is_bottom(v))
    return info->conflict ? BOTTOM : never_set(ty, i, name);
  const Type *types[] = {v.type, ty_id(ty, TY_PYBOOL), ty_id(ty, TY_PYINT)};
  Val items[] = {v, {.type = types[1]}, {.type = types[2]}};
  if (ty->emit) {
    Path path = find_path(ty, i);
    bool known = set_here(ty, i);
    if (!known)
      say_unset(ty, &path, ty->at->loc, name);
    items[1] = known ? ty_const_bool(ty, true) : is_set(ty, i);
    items[2] = ty_const_int(ty, path.loc.line ? path.loc.line : ty->at->loc.line);
  }
  return ty_pack(ty, ty_frozen(ty->cx, TY_FUNC, &maybe_mark, types, 3), items, 3);
}

Val ty_captured(Ty *ty, Val v, const char *name) {
  if (ty_is_bottom(v) || v.type->id != TY_FUNC || v.type->frozen != &maybe_mark)
    return v;
  Val line = ty_item(ty, v, 2);
  const char *text = arena_printf(
      &ty->cx->arena,
      "cannot access free variable '%s' where it is not associated with a value in enclosing scope: it is not set on a path from line {0}",
      name);
  ty_check(ty, ty_item(ty, v, 1), "NameError", text, &line, 1);
  return ty_item(ty, v, 0);
}
