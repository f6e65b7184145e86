/* Guards: `if i < a.size` around what a thread does with element i.
 *
 * In: a typed program, in order, with dominators, and its parameter block. Out: the guards of the
 * kernel after which a launch of fewer threads than the guard's bound has silently left out
 * elements. The launch compares (pyext/launch/advice.c), and says so.
 *
 * A guard compares the thread's index in the grid along an axis with the extent of an array
 * argument, or with an integer argument; it is in no loop; and where it holds, the thread reads or
 * writes that element. Nothing is said of a kernel that may reach the other elements in another
 * way: one that asks for the size of the grid (a loop in strides of it), one that makes other
 * indices of the same array of the thread's, one that passes the array on, one that tests the index
 * against another bound, one that goes to elements of the index where the guard does not hold.
 * Whatever this analysis does not know counts as such a way. */
#include "codegen/ssa/guards.h"

#include <assert.h>
#include <string.h>

#include "ir/cfg.h"

typedef struct Search {
  Cx *cx;
  Fn *fn;
  const Params *params;
  unsigned axis;    /* of the grid */
  bool *depends;    /* by Ins.id: on the index along this axis */
  const Ins *bound; /* OP_EXTENT, or the OP_PARAM of a number */
  const Block *inside;
  bool reached; /* the element, inside the guard */
  bool others;  /* there may be a way to other elements */
  Guards found;
} Search;

/* --- the thread's index --- */

static const Ins *plain(const Ins *i) {
  while (i->op == OP_CAST || i->op == OP_CHECK_INDEX || i->op == OP_WRAP_INDEX)
    i = i->args[0];
  return i;
}

static bool is_register(const Ins *i, IntrinsicId of_x, unsigned axis) {
  i = plain(i);
  return i->op == OP_INTRINSIC && i->aux.intrinsic == (IntrinsicId)((unsigned)of_x + axis);
}

/* threadIdx + blockIdx * blockDim, in any order. */
static bool is_index(const Ins *i, unsigned axis) {
  i = plain(i);
  if (i->op != OP_ADD)
    return false;
  for (int k = 0; k < 2; k++) {
    const Ins *of_block = plain(i->args[!k]);
    for (int m = 0; of_block->op == OP_MUL && m < 2; m++)
      if (is_register(i->args[k], INTR_TID_X, axis) &&
          is_register(of_block->args[m], INTR_CTAID_X, axis) &&
          is_register(of_block->args[!m], INTR_NTID_X, axis))
        return true;
  }
  return false;
}

static bool is_constant(const Ins *i, int64_t *value) {
  i = plain(i);
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, value);
}

/* The element itself, or a neighbour at a fixed distance. */
static bool is_near(const Ins *i, unsigned axis) {
  int64_t distance;
  i = plain(i);
  if (is_index(i, axis))
    return true;
  return (i->op == OP_ADD || i->op == OP_SUB) &&
         ((is_index(i->args[0], axis) && is_constant(i->args[1], &distance)) ||
          (i->op == OP_ADD && is_index(i->args[1], axis) && is_constant(i->args[0], &distance)));
}

/* What is computed from the index: all but what memory holds there. */
static void mark_dependents(Search *s) {
  memset(s->depends, 0, s->fn->next_id * sizeof *s->depends);
  for (bool changed = true; changed;) {
    changed = false;
    FOR_BLOCKS (s->fn, b)
      FOR_INS (b, i) {
        bool depends = is_register(i, INTR_TID_X, s->axis) || is_register(i, INTR_CTAID_X, s->axis);
        for (uint32_t k = 0; k < i->nargs && i->op != OP_LOAD; k++)
          depends |= s->depends[i->args[k]->id];
        changed |= depends && !s->depends[i->id];
        s->depends[i->id] |= depends;
      }
  }
}

/* --- what is done with the arrays --- */

static const Ins *array_of(const Search *s) {
  return s->bound->op == OP_EXTENT ? s->bound->args[0] : NULL;
}

static void visit_subscript(Search *s, const Ins *i, const Ins *index) {
  if (is_index(index, s->axis))
    s->reached |= ir_dominates(s->inside, i->block);
  else
    s->others |= s->depends[index->id] && !is_near(index, s->axis);
}

/* Of a view, the operand that selects on an axis of the source; NULL: it is none that we know. */
static const Ins *selected(const Ins *i, unsigned axis) {
  const IrView *how = i->aux.view;
  for (unsigned k = 0, source = 0, operand = 1; k < how->n && source <= axis; k++) {
    if (how->kind[k] == VIEW_INDEX && source == axis)
      return i->args[operand];
    if (how->kind[k] > VIEW_NEWAXIS)
      return NULL;
    operand += how->kind[k] == VIEW_INDEX ? 1 : how->kind[k] == VIEW_SLICE ? 3 : 0;
    source += how->kind[k] != VIEW_NEWAXIS;
  }
  return NULL;
}

/* A use of the array whose extent is the bound: only the bound's axis counts. */
static void visit_bounded(Search *s, const Ins *i, uint32_t operand) {
  unsigned axis = (unsigned)s->bound->aux.i;
  const Ins *index = NULL;
  if (i->op == OP_EXTENT || i->op == OP_STRIDE)
    return;
  if (operand == 0 && (i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC))
    index = i->args[1 + axis];
  else if (operand == 0 && i->op == OP_VIEW)
    index = selected(i, axis);
  if (index)
    visit_subscript(s, i, index);
  else
    s->others = true;
}

/* A use of any array, where the bound is a number: every axis counts. */
static void visit_any(Search *s, const Ins *i) {
  bool element = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
  unsigned n = element ? i->args[0]->type->ndim : i->op == OP_VIEW ? i->nargs - 1 : 0;
  if (n && i->args[0]->op != OP_PARAM)
    return; /* memory of the block, or a part of what was looked at where it was made */
  for (unsigned k = 1; k <= n; k++)
    if (i->op != OP_LOAD || is_index(i->args[k], s->axis))
      visit_subscript(s, i, i->args[k]);
  if (i->op == OP_CALL_FN || i->op == OP_CALL_C)
    for (uint32_t k = 0; k < i->nargs; k++)
      s->others |= i->args[k]->type->id == TY_ARRAY;
}

static void visit_uses(Search *s) {
  const Ins *array = array_of(s);
  s->reached = s->others = false;
  FOR_BLOCKS (s->fn, b)
    FOR_INS (b, i) {
      if (!array)
        visit_any(s, i);
      for (uint32_t k = 0; array && k < i->nargs; k++)
        if (i->args[k] == array)
          visit_bounded(s, i, k);
    }
}

/* --- the tests of the index --- */

static const Ins *argument_of(const Ins *bound) {
  return bound->op == OP_EXTENT ? bound->args[0] : bound;
}

/* n - 1 in `i < n - 1`, which leaves the last ones to nobody on purpose. */
static const Ins *without_margin(const Ins *bound) {
  int64_t margin;
  bound = plain(bound);
  bool less = bound->op == OP_SUB && is_constant(bound->args[1], &margin) && margin >= 0;
  return less ? plain(bound->args[0]) : bound;
}

static bool is_bound(const Ins *i) {
  const Ins *argument = argument_of(i);
  if (argument->op != OP_PARAM || !argument->name)
    return false;
  return i->op == OP_EXTENT ? argument->type->id == TY_ARRAY
                            : i->op == OP_PARAM && ty_is_integral(i->type);
}

/* The other side of a comparison with the index; NULL: it is none. below: it holds for small
 * indices. */
static const Ins *compared(const Ins *i, unsigned axis, bool *below) {
  bool less = i->op == OP_LT || i->op == OP_LE;
  if (!less && i->op != OP_GT && i->op != OP_GE)
    return NULL;
  for (int k = 0; k < 2; k++)
    if (is_index(i->args[k], axis)) {
      *below = less == !k;
      return plain(i->args[!k]);
    }
  return NULL;
}

/* i < n, and not i <= n. */
static bool is_strict(const Ins *i, bool below) {
  bool less = i->op == OP_LT || i->op == OP_GT;
  return below ? less : !less;
}

static bool in_loop(const Block *b) {
  for (const Block *up = b; up; up = up->idom == up ? NULL : up->idom)
    for (uint32_t k = 0; k < up->preds.len; k++)
      if (ir_dominates(up, up->preds.data[k]))
        return true;
  return false;
}

static uint32_t field_of(const Params *params, const Ins *bound) {
  const Ins *argument = argument_of(bound);
  for (uint32_t k = 0; k < params->fields.len; k++) {
    const Param *p = &params->fields.data[k];
    bool extent = p->field.kind == RT_FIELD_EXTENT32 || p->field.kind == RT_FIELD_EXTENT64;
    if (p->type && p->param == (uint32_t)argument->aux.i &&
        (bound->op == OP_EXTENT ? extent && p->field.axis == bound->aux.i
                                : p->field.kind == RT_FIELD_SCALAR && p->field.size >= 4))
      return k;
  }
  return UINT32_MAX;
}

/* Does it go to elements where the test fails too: if i < k: x[i] = 0, else: x[i] = 1? */
static bool goes_beyond(const Search *s, const Block *failed) {
  if (failed->preds.len != 1)
    return false;
  FOR_BLOCKS (s->fn, b)
    FOR_INS (b, i) {
      bool element = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
      for (unsigned k = 1; element && k <= i->args[0]->type->ndim; k++)
        if (is_index(i->args[k], s->axis) && ir_dominates(failed, b))
          return true;
    }
  return false;
}

static void add_guard(Search *s, const Ins *test) {
  uint32_t field = field_of(s->params, s->bound);
  if (field == UINT32_MAX)
    return;
  CgGuard g = {.axis = (unsigned char)s->axis,
               .extent = s->bound->op == OP_EXTENT,
               .field = field,
               .name = (char *)(uintptr_t)argument_of(s->bound)->name,
               .at = cx_place(test->loc)};
  VEC_PUSH(&s->cx->arena, &s->found, g);
}

static void visit_branch(Search *s, const Block *b) {
  const Ins *test = b->last->args[0];
  bool holds = true, below = false;
  for (; test->op == OP_NOT; test = test->args[0])
    holds = !holds;
  const Ins *bound = compared(test, s->axis, &below);
  if (!bound || !is_bound(bound) || !is_strict(test, below) || in_loop(b))
    return;
  s->bound = bound;
  s->inside = b->succ[below != holds];
  if (s->inside->preds.len != 1 || goes_beyond(s, b->succ[below == holds]))
    return;
  visit_uses(s);
  if (s->reached && !s->others)
    add_guard(s, test);
}

/* Another bound of the index, or a use of it that decides by itself which elements are meant. */
static bool has_other_bounds(const Search *s) {
  FOR_BLOCKS (s->fn, b)
    FOR_INS (b, i) {
      bool below;
      int64_t low;
      const Ins *other = compared(i, s->axis, &below);
      if (other && !is_bound(without_margin(other)) && !(is_constant(other, &low) && low <= 1))
        return true;
    }
  return false;
}

static bool asks_for_size(const Program *program) {
  for (uint32_t k = 0; k < program->fns.len; k++)
    FOR_BLOCKS (program->fns.data[k], b)
      FOR_INS (b, i)
        for (unsigned axis = 0; axis < 3; axis++)
          if (is_register(i, INTR_NCTAID_X, axis))
            return true;
  return false;
}

Guards cg_find_guards(Cx *cx, Program *program, const Params *params) {
  Search s = {.cx = cx, .fn = program->fns.data[0], .params = params};
  if (asks_for_size(program))
    return s.found;
  s.depends = CX_ARRAY(cx, bool, s.fn->next_id + 1);
  for (s.axis = 0; s.axis < 3; s.axis++) {
    if (has_other_bounds(&s))
      continue;
    mark_dependents(&s);
    FOR_BLOCKS (s.fn, b)
      if (b->last && b->last->op == OP_CONDBR)
        visit_branch(&s, b);
  }
  return s.found;
}
