/* Capture: a nested function takes the values of the variables that it uses when it is made; Python
 * would look at them when it is called. The two agree if no variable is assigned between the making
 * and a use of the function.
 *
 * In: a lifted function, its phis simplified and dead code gone; Ins.note is the node that made an
 * instruction, plus 1.
 * Out: ERR_CAPTURE where they differ; in Fn.handed the calls that make them differ if what they
 * give is such a function, which typing knows. */
#include "frontend/lift_private.h"

enum { MAX_CHECKED = 64 }; /* each costs a walk of the function */

/* Marks the nodes that can follow those on the work list; does not go on behind `stop`. */
static void follow(Lift *l, bool *seen, uint32_t *work, uint32_t n, uint32_t stop) {
  const BcNode *nodes = l->bc->nodes.data;
  while (n) {
    const BcNode *at = &nodes[work[--n]];
    if (bc_ends(at))
      continue;
    for (int k = 0; k < 2; k++) {
      uint32_t to = at->succ[k];
      if (to == BC_NONE || seen[to])
        continue;
      seen[to] = true;
      if (to != stop)
        work[n++] = to;
    }
  }
}

static bool is_call(const Ins *i) { return i->op == OP_CALL || i->op == OP_CALL_STAR; }

/* Is an operand part of what the instruction gives: a tuple's item, a default or captured value of
 * another function; the function that a generator runs when it is consumed? Another call may give
 * its argument back as well; but most give a number. */
static bool keeps_operands(const Ins *i, bool calls) {
  switch ((Op)i->op) {
  case OP_CALL:
  case OP_CALL_STAR: return calls || bc_makes_generator(i);
  case OP_NOT:
  case OP_TRUTH:
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE:
  case OP_IS:
  case OP_IS_NOT:
  case OP_IN:
  case OP_NOT_IN:
  case OP_LEN_MATCH:
  case OP_IS_SEQ:
  case OP_ITER_START:
  case OP_ITER_MORE:
  case OP_ITER_STEP: return false; /* a number */
  default: return true;
  }
}

/* Which values are the function object, or hold it; or may be what calls made of it. */
static bool *values_of(Lift *l, const Ins *made, bool calls) {
  bool *is = CX_ARRAY(l->cx, bool, l->fn->next_id);
  is[made->id] = true;
  for (bool changed = true; changed;) {
    changed = false;
    FOR_BLOCKS (l->fn, b)
      FOR_INS (b, i)
        for (uint32_t k = 0; keeps_operands(i, calls) && k < i->nargs && !is[i->id]; k++)
          if (is[i->args[k]->id])
            is[i->id] = changed = true;
  }
  return is;
}

static bool used_at(Lift *l, const bool *is, const bool *after) {
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i) {
      if (i->op == OP_PHI || !i->note)
        continue;
      for (uint32_t k = 0; k < i->nargs; k++)
        if (is[i->args[k]->id] && after[(uintptr_t)i->note - 1])
          return true;
    }
  return false;
}

/* NULL: the row's. */
static const char *capture_advice(const Code *code) {
  return code_is_genexpr(code)
             ? "a generator expression looks at its variables when it is consumed, at all but its "
               "first iterable: consume it before that, or give the variable its value before it"
             : NULL;
}

/* The calls in `is` take part in it. */
static void note_handed(Lift *l, const Capture *c, const bool *is, Loc assigned) {
  const char *function = c->made->aux.frozen->code->name;
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i)
      if (is_call(i) && is[i->id] && !bc_makes_generator(i)) {
        IrHanded h = {
            .call = i,
            .variable = bc_var_name(l, c->var),
            .function = function ? function : "?",
            .advice = capture_advice(c->made->aux.frozen->code),
            .made = c->made->loc,
            .assigned = assigned,
        };
        VEC_PUSH(&l->cx->arena, &l->fn->handed, h);
      }
}

static void check(Lift *l, const Capture *c) {
  const char *name = c->made->aux.frozen->code->name;
  const BcNode *nodes = l->bc->nodes.data;
  uint32_t n = l->bc->nodes.len, stores = 0, first = BC_NONE;
  uint32_t *work = CX_ARRAY(l->cx, uint32_t, n + 1);
  bool *behind = CX_ARRAY(l->cx, bool, n), *after = CX_ARRAY(l->cx, bool, n);
  work[0] = c->node;
  follow(l, behind, work, 1, BC_NONE);
  for (uint32_t k = 0; k < n; k++)
    if (behind[k] && nodes[k].op == BC_STORE_DEREF && nodes[k].arg == c->var) {
      work[stores++] = k;
      first = first == BC_NONE ? k : first;
    }
  if (!stores)
    return;
  follow(l, after, work, stores, c->node);
  Loc assigned = bc_loc(l->bc, &nodes[first]);
  if (used_at(l, values_of(l, c->made, false), after)) {
    note(l->cx, c->made->loc, "%s is defined here", name ? name : "it");
    advise(l->cx, capture_advice(c->made->aux.frozen->code));
    fail(l->cx, assigned, ERR_CAPTURE, bc_var_name(l, c->var), name ? name : "?");
  }
  const bool *is = values_of(l, c->made, true);
  if (used_at(l, is, after))
    note_handed(l, c, is, assigned);
}

void bc_check_captures(Lift *l) {
  uint32_t checked = 0;
  for (uint32_t k = 0; k < l->captures.len; k++) {
    const Capture *c = &l->captures.data[k];
    if (!c->made->block || !l->stored_cells[c->var])
      continue;
    if (++checked > MAX_CHECKED)
      fail(l->cx, c->made->loc, ERR_TOO_LARGE, l->code->qualname,
           "too many nested functions use variables that are assigned");
    check(l, c);
  }
}
