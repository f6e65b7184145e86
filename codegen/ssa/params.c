/* Usage: which parts of its arguments a kernel needs, and so what the parameter block holds.
 *
 * In: a typed Program. Out: cg->out->params and ->args.
 * A backward analysis over leaves (codegen/lower/lower.h): a leaf of a value is used if an instruction needs it, or if a value made from
 * it needs it; through phis, tuples, views and calls, until nothing changes. Each leaf has one byte of Use bits; READ and WRITE
 * mean something on an array's pointer leaf only. Kept in Ins.note while this runs.
 * Host arrays are copied back, and read-only memory is refused, by what is found here. So what an operation does with an operand
 * is said by a case of visit(), or else the operand counts as read and written. */
#include "codegen/ssa/params.h"

#include <string.h>

#include "codegen/lower/lower.h"
#include "typeinfer/infer.h"

enum Use { USED = 1, READ = 2, WRITE = 4, ANYTHING = USED | READ | WRITE };

typedef struct FnUse { /* of Program.fns[k] */
  const Type *type;    /* of its result */
  uint8_t *result;     /* what callers need of that */
} FnUse;

typedef struct Usage {
  Cx *cx;
  Program *program;
  FnUse *fns;
  bool changed;
} Usage;

static uint8_t *use_of(const Ins *i) { return i->note; }

static void mark(Usage *u, uint8_t *leaf, uint8_t bits) {
  if ((*leaf | bits) != *leaf) {
    *leaf |= bits;
    u->changed = true;
  }
}

static void mark_leaves(Usage *u, uint8_t *leaf, uint32_t n, uint8_t bits) {
  for (uint32_t k = 0; k < n; k++)
    mark(u, leaf + k, bits);
}

static void mark_all(Usage *u, Ins *i, uint8_t bits) {
  mark_leaves(u, use_of(i), lw_leaf_count(i->type), bits);
}

static bool any(const uint8_t *leaf, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (leaf[k])
      return true;
  return false;
}

/* Extents (and strides) that the address of an element is computed from. */
static void mark_address(Usage *u, Ins *array, uint8_t bits) {
  const Type *t = array->type;
  uint8_t *leaf = use_of(array);
  mark(u, leaf, bits | USED);
  for (unsigned k = 0; k < t->ndim; k++) {
    bool needed = (t->layout == LAYOUT_C && k > 0) || (t->layout == LAYOUT_F && k + 1u < t->ndim);
    if (needed)
      mark(u, leaf + 1 + k, USED);
    if (t->layout == LAYOUT_A)
      mark(u, leaf + 1 + t->ndim + k, USED);
  }
}

static void mark_stride(Usage *u, Ins *array, unsigned axis) {
  const Type *t = array->type;
  uint8_t *leaf = use_of(array);
  if (t->layout == LAYOUT_A) {
    mark(u, leaf + 1 + t->ndim + axis, USED);
    return;
  }
  for (unsigned k = 0; k < t->ndim; k++)
    if (t->layout == LAYOUT_C ? k > axis : k < axis)
      mark(u, leaf + 1 + k, USED);
}

/* A value of type `to` is made from one of type `from`: what is used of it is used of that. */
static void carry(Usage *u, const Type *from, uint8_t *source, const Type *to,
                  const uint8_t *made) {
  uint32_t n = lw_leaf_count(from);
  bool numbers = ty_is_scalar(from) && ty_is_scalar(to);
  if (from == to || (numbers && n == lw_leaf_count(to)))
    for (uint32_t k = 0; k < n; k++)
      mark(u, source + k, made[k]);
  else if (any(made, lw_leaf_count(to)))
    mark_leaves(u, source, n, ANYTHING);
}

static void carry_to(Usage *u, Ins *from, const Type *to, const uint8_t *made) {
  carry(u, from->type, use_of(from), to, made);
}

/* The leaves of axis `axis` of the source that axis `to` of a view is made from, where those are used. */
static void mark_axis(Usage *u, Ins *i, unsigned axis, unsigned to) {
  const Type *t = i->type;
  if (use_of(i)[1 + to])
    mark(u, use_of(i->args[0]) + 1 + axis, USED);
  if (t->layout == LAYOUT_A && use_of(i)[1 + t->ndim + to])
    mark_stride(u, i->args[0], axis);
}

/* One element, or a field of each element: other extents than those of the address are not needed. Returns false for other views. */
static bool visit_simple_view(Usage *u, Ins *i) {
  const IrView *how = i->aux.view;
  if (how->n && how->kind[0] == VIEW_FIELD) {
    mark(u, use_of(i->args[0]), *use_of(i));
    for (unsigned k = 0; k < i->args[0]->type->ndim; k++)
      mark_axis(u, i, k, k);
    return true;
  }
  for (unsigned k = 0; k < how->n; k++)
    if (how->kind[k] != VIEW_INDEX)
      return false;
  if (how->n != i->args[0]->type->ndim)
    return false;
  mark(u, use_of(i->args[0]), *use_of(i));
  for (unsigned k = 0; k < how->n; k++)
    mark_stride(u, i->args[0], k);
  for (uint32_t k = 1; k < i->nargs; k++)
    mark_all(u, i->args[k], USED);
  return true;
}

/* Other views need their whole source where any of it is used; reads and writes go to the source's pointer. */
static void visit_view(Usage *u, Ins *i) {
  if (!any(use_of(i), lw_leaf_count(i->type)) || visit_simple_view(u, i))
    return;
  mark_all(u, i->args[0], USED);
  mark(u, use_of(i->args[0]), *use_of(i));
  for (uint32_t k = 1; k < i->nargs; k++)
    mark_all(u, i->args[k], USED);
}

static void visit_call(Usage *u, Ins *i) {
  Fn *callee = i->aux.fn;
  for (uint32_t k = 0; k < i->nargs; k++)
    carry_to(u, i->args[k], callee->param_types[k], use_of(callee->params[k]));
  for (uint32_t f = 0; f < u->program->fns.len; f++)
    if (u->program->fns.data[f] == callee)
      carry(u, callee->result, u->fns[f].result, i->type, use_of(i));
}

/* Parts that lie one behind the other. */
static void visit_make(Usage *u, Ins *i) {
  for (uint32_t k = 0, at = 0; k < i->nargs; at += lw_leaf_count(i->args[k++]->type))
    carry_to(u, i->args[k], i->args[k]->type, use_of(i) + at);
}

/* Any of the elements. */
static void visit_tuple_index(Usage *u, Ins *i) {
  const Type *tuple = i->args[0]->type;
  for (uint32_t k = 0; k < tuple->n; k++)
    carry(u, tuple->elems[k], use_of(i->args[0]) + lw_tuple_offset(tuple, k), i->type, use_of(i));
  mark_all(u, i->args[1], USED);
}

/* Operands of which nothing is known but that they are needed: what may hold arrays is read and written. */
static void mark_operands(Usage *u, Ins *i, uint32_t first) {
  for (uint32_t k = first; k < i->nargs; k++)
    mark_all(u, i->args[k], ty_is_scalar(i->args[k]->type) ? USED : ANYTHING);
}

/* Of an array it gets the address, and may do anything there that the signature allows. */
static void visit_call_c(Usage *u, Ins *i) {
  Signature sig = ty_signature(u->cx, i->aux.frozen->names[0]);
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Type *t = i->args[k]->type;
    bool reads = k < sig.nargs && sig.args[k]->readonly;
    mark_leaves(u, use_of(i->args[k]), t->id == TY_ARRAY ? 1 : lw_leaf_count(t),
                reads ? USED | READ : ANYTHING);
  }
}

static void visit_element(Usage *u, Ins *i, uint8_t bits) {
  mark_address(u, i->args[0], bits);
  mark_operands(u, i, 1);
}

static void visit(Usage *u, FnUse *fn, Ins *i) {
  switch ((Op)i->op) {
  case OP_LOAD: visit_element(u, i, READ); return;
  case OP_STORE: visit_element(u, i, WRITE); return;
  case OP_ATOMIC: visit_element(u, i, READ | WRITE); return;
  case OP_EXTENT: mark(u, use_of(i->args[0]) + 1 + i->aux.i, USED); return;
  case OP_ADDRESS: mark(u, use_of(i->args[0]), USED); return;
  case OP_STRIDE: mark_stride(u, i->args[0], (unsigned)i->aux.i); return;
  case OP_VIEW: visit_view(u, i); return;
  case OP_CAST: carry_to(u, i->args[0], i->type, use_of(i)); return;
  case OP_PHI:
  case OP_SELECT:
    for (uint32_t k = i->op == OP_SELECT; k < i->nargs; k++)
      carry_to(u, i->args[k], i->type, use_of(i));
    if (i->op == OP_SELECT)
      mark_all(u, i->args[0], USED);
    return;
  case OP_MAKE_TUPLE: visit_make(u, i); return;
  case OP_TUPLE_GET: {
    const Type *tuple = i->args[0]->type;
    uint8_t *from = use_of(i->args[0]) + lw_tuple_offset(tuple, (uint32_t)i->aux.i);
    carry(u, i->type, from, i->type, use_of(i));
    return;
  }
  case OP_TUPLE_INDEX: visit_tuple_index(u, i); return;
  case OP_CALL_FN: visit_call(u, i); return;
  case OP_CALL_C: visit_call_c(u, i); return;
  case OP_RET: carry_to(u, i->args[0], fn->type, fn->result); return;
  default: mark_operands(u, i, 0);
  }
}

static void analyse(Usage *u) {
  u->fns = CX_ARRAY(u->cx, FnUse, u->program->fns.len);
  for (uint32_t f = 0; f < u->program->fns.len; f++) {
    Fn *fn = u->program->fns.data[f];
    u->fns[f].type = fn->result;
    u->fns[f].result = CX_ARRAY(u->cx, uint8_t, lw_leaf_count(fn->result) + 1);
    if (f ==
        0) /* what the caller of a device function that is compiled alone may need: all of it */
      memset(u->fns[f].result, ANYTHING, lw_leaf_count(fn->result));
    FOR_BLOCKS (fn, b)
      FOR_INS (b, i)
        i->note = CX_ARRAY(u->cx, uint8_t, lw_leaf_count(i->type) + 1);
  }
  do {
    u->changed = false;
    for (uint32_t f = 0; f < u->program->fns.len; f++)
      FOR_BLOCKS (u->program->fns.data[f], b)
        for (Ins *i = b->last; i; i = i->prev)
          visit(u, &u->fns[f], i);
  } while (u->changed);
}

/* --- the parameter block --- */

typedef struct Layouter {
  Cg *cg;
  VEC(RtField) fields;
  VEC(CgArg) args;
  uint32_t offset;
} Layouter;

static void add_field(Layouter *y, RtFieldKind kind, uint32_t size, unsigned axis) {
  uint32_t at = (y->offset + size - 1) / size * size;
  RtField f = {.kind = (uint8_t)kind,
               .size = (uint8_t)size,
               .axis = (uint8_t)axis,
               .leaf = (uint16_t)(y->args.len - 1),
               .offset = at};
  VEC_PUSH(&y->cg->cx->arena, &y->fields, f);
  y->offset = at + size;
}

static void add_array(Layouter *y, const Type *t, const uint8_t *use) {
  CgArg *arg = &y->args.data[y->args.len - 1];
  arg->is_array = 1;
  arg->read = (use[0] & READ) != 0;
  arg->written = (use[0] & WRITE) != 0;
  if (use[0])
    add_field(y, RT_FIELD_POINTER, 8, 0);
  for (unsigned k = 0; k < t->ndim; k++)
    if (use[1 + k])
      add_field(y, t->wide ? RT_FIELD_EXTENT64 : RT_FIELD_EXTENT32, t->wide ? 8 : 4, k);
  for (unsigned k = 0; t->layout == LAYOUT_A && k < t->ndim; k++)
    if (use[1 + t->ndim + k])
      add_field(y, RT_FIELD_STRIDE, 8, k);
}

/* One argument: depth first, everything that is not a tuple counts as a leaf argument, None too. */
static void add_argument(Layouter *y, const Type *t, const uint8_t *use) {
  if (t->id == TY_TUPLE) {
    for (uint32_t k = 0; k < t->n; use += lw_leaf_count(t->elems[k++]))
      add_argument(y, t->elems[k], use);
    return;
  }
  VEC_PUSH(&y->cg->cx->arena, &y->args, (CgArg){0});
  if (t->id == TY_ARRAY)
    add_array(y, t, use);
  else if (ty_is_scalar(t) && any(use, lw_leaf_count(t)))
    add_field(y, RT_FIELD_SCALAR, (uint32_t)ty_size(t), 0);
}

enum { PARAMS_LIMIT = 4096 }; /* bytes of parameters that every GPU and driver take */

static void add_runtime_field(Layouter *y, RtFieldKind kind) {
  add_field(y, kind, 8, 0);
  y->fields.data[y->fields.len - 1].leaf = (uint16_t)y->args.len;
}

void cg_lay_out_params(Cg *cg, bool trap_field, bool grid_field) {
  Usage u = {.cx = cg->cx, .program = cg->program};
  analyse(&u);
  Layouter y = {.cg = cg};
  Fn *kernel = cg->program->fns.data[0];
  for (uint32_t k = 0; k < kernel->nparams; k++)
    add_argument(&y, kernel->param_types[k], use_of(kernel->params[k]));
  if (trap_field)
    add_runtime_field(&y, RT_FIELD_TRAP);
  if (grid_field)
    add_runtime_field(&y, RT_FIELD_GRID);
  if (y.offset > PARAMS_LIMIT)
    fail(cg->cx, (Loc){0}, ERR_PARAM_SIZE, kernel->name, (long long)y.offset,
         (long long)PARAMS_LIMIT);
  CgKernel *out = cg->out;
  out->nargs = y.args.len;
  out->args = cg_calloc(cg, y.args.len, sizeof(CgArg));
  if (y.args.len)
    memcpy(out->args, y.args.data, y.args.len * sizeof(CgArg));
  out->params.nfields = y.fields.len;
  out->params.bytes =
      y.offset; /* not rounded up: the driver takes a block of exactly the size of the parameters */
  out->params.fields = cg_calloc(cg, y.fields.len, sizeof(RtField));
  if (y.fields.len)
    memcpy(out->params.fields, y.fields.data, y.fields.len * sizeof(RtField));
}
