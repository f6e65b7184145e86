/* Asserts: those that pytest has rewritten, made plain again.
 *
 * pytest compiles `assert x > y, m` of a test module as
 *     if not (@py_assert0 := x > y):                   temporaries for each part
 *         @py_format1 = …                              what the parts were, as text
 *         @py_format2 = (@pytest_ar._format_assertmsg(m) + "\n>assert %(py1)s") % {…}
 *         raise AssertionError(@pytest_ar._format_explanation(@py_format2))
 * In: nodes with their successors known. Out: what can only end in such a raise is `raise
 * AssertionError(m)`, or AssertionError alone if there is no message; the rest is left without a
 * way to it. Nodes that were made or changed have no other effect, so the code of a version stays
 * what it is elsewhere. Nothing is changed where the shape is another one: reaching @pytest_ar is
 * then ERR_REWRITTEN. */
#include <string.h>

#include "frontend/bc.h"

static bool names_pytest(const Code *code) {
  for (uint32_t k = 0; k < code->nnames; k++)
    if (!strcmp(code->names[k], BC_PYTEST))
      return true;
  return false;
}

static bool is_name(const BcCode *bc, uint32_t i, BcOp op, const char *name) {
  const BcNode *n = &bc->nodes.data[i];
  return n->op == op && n->arg < bc->code->nnames && !strcmp(bc->code->names[n->arg], name);
}

/* Where @pytest_ar.NAME begins at node i: the node of its attribute; else BC_NONE. */
static uint32_t helper_at(const BcCode *bc, uint32_t i, const char *name) {
  uint32_t n = bc->nodes.len;
  if (!is_name(bc, i, BC_load_global, BC_PYTEST))
    return BC_NONE;
  for (i++; i < n && bc->nodes.data[i].op == BC_PUSH_NULL;)
    i++;
  return i < n && is_name(bc, i, BC_load_attr, name) ? i : BC_NONE;
}

/* The raise of an explanation that is looked up at node i: raise
 * AssertionError(@pytest_ar._format_explanation(variable)). */
static uint32_t raise_behind(const BcCode *bc, uint32_t i) {
  uint32_t at = helper_at(bc, i, "_format_explanation");
  if (at == BC_NONE)
    return BC_NONE;
  for (at++; at < bc->nodes.len; at++)
    switch ((BcOp)bc->nodes.data[at].op) {
    case BC_LOAD_FAST:
    case BC_PUSH_NULL:
    case BC_PRECALL:
    case BC_call: break;
    case BC_RAISE_VARARGS: return bc->nodes.data[at].arg == 1 ? at : BC_NONE;
    default: return BC_NONE;
    }
  return BC_NONE;
}

typedef struct Asserts {
  Cx *cx;
  BcCode *bc;
  /* the raise that a node can only end in; BC_NONE if it can do something else */
  uint32_t *raise_of;
} Asserts;

static uint32_t ends_in(const Asserts *a, uint32_t i) {
  const BcNode *n = &a->bc->nodes.data[i];
  if (bc_ends(n) || n->succ[0] == BC_NONE)
    return BC_NONE;
  uint32_t end = a->raise_of[n->succ[0]];
  return bc_has_two(n) && (n->succ[1] == BC_NONE || a->raise_of[n->succ[1]] != end) ? BC_NONE : end;
}

/* What fails has no loops, so it lies in front of its raise and one walk from the end finds it. */
static void find_regions(Asserts *a, const uint32_t *raises, uint32_t n) {
  memset(a->raise_of, 0xFF, sizeof *a->raise_of * a->bc->nodes.len);
  for (uint32_t k = 0; k < n; k++)
    a->raise_of[raises[k]] = raises[k];
  for (uint32_t i = a->bc->nodes.len; i-- > 0;)
    if (a->raise_of[i] == BC_NONE)
      a->raise_of[i] = ends_in(a, i);
}

/* _format_assertmsg(m) + "\n>assert …": the call. */
static uint32_t message_call(const Asserts *a, uint32_t from, uint32_t raise) {
  const BcNode *nodes = a->bc->nodes.data;
  for (uint32_t i = from; i + 1 < raise; i++) {
    const BcNode *text = &nodes[i + 1];
    const Frozen *f =
        text->op == BC_LOAD_CONST && text->arg < a->bc->nconsts ? a->bc->consts[text->arg] : NULL;
    if (nodes[i].op == BC_call && nodes[i].arg == 1 && f && f->kind == FZ_STR &&
        !strncmp(f->text, "\n>assert ", 9))
      return i;
  }
  return BC_NONE;
}

/* _format_assertmsg(m) becomes AssertionError(m), which is raised. Returns its first node; BC_NONE
 * if there is no message. */
static uint32_t raise_message(Asserts *a, uint32_t raise) {
  BcNode *nodes = a->bc->nodes.data;
  for (uint32_t i = raise; i-- > 0 && a->raise_of[i] == raise;) {
    uint32_t attr = helper_at(a->bc, i, "_format_assertmsg");
    uint32_t call = attr == BC_NONE ? BC_NONE : message_call(a, attr, raise);
    if (call == BC_NONE)
      continue;
    nodes[i].op = BC_LOAD_ASSERTION_ERROR;
    nodes[attr].op = BC_NOP;
    nodes[call].succ[0] = raise;
    return i > 0 && nodes[i - 1].op == BC_PUSH_NULL && nodes[i - 1].unit == nodes[i].unit ? i - 1
                                                                                          : i;
  }
  return BC_NONE;
}

/* The node before a raise is the call of AssertionError: here it becomes the exception itself. */
static uint32_t raise_alone(Asserts *a, uint32_t raise) {
  BcNode *n = &a->bc->nodes.data[raise - 1];
  n->op = BC_LOAD_ASSERTION_ERROR;
  n->arg = 0;
  n->succ[0] = raise;
  return raise - 1;
}

static void redirect(Asserts *a, uint32_t *to, const uint32_t *start) {
  if (*to != BC_NONE && a->raise_of[*to] != BC_NONE)
    *to = start[a->raise_of[*to]];
}

void bc_plain_asserts(Cx *cx, BcCode *bc) {
  if (!names_pytest(bc->code))
    return;
  uint32_t n = bc->nodes.len, nraises = 0;
  Asserts a = {.cx = cx, .bc = bc, .raise_of = CX_ARRAY(cx, uint32_t, n)};
  uint32_t *raises = CX_ARRAY(cx, uint32_t, n), *start = CX_ARRAY(cx, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t raise = raise_behind(bc, i);
    if (raise != BC_NONE)
      raises[nraises++] = raise;
  }
  find_regions(&a, raises, nraises);
  for (uint32_t k = 0; k < nraises; k++) {
    uint32_t first = raise_message(&a, raises[k]);
    start[raises[k]] = first == BC_NONE ? raise_alone(&a, raises[k]) : first;
  }
  for (uint32_t i = 0; i < n; i++)
    if (a.raise_of[i] == BC_NONE) {
      redirect(&a, &bc->nodes.data[i].succ[0], start);
      redirect(&a, &bc->nodes.data[i].succ[1], start);
    }
}
