/* Inputs: arrays that no thread of a launch writes to, whose reads need no notes.
 *
 * In: typed functions, and which array parameters may be written (ssa/params.h). Out: one bit of
 * the launch, `apart`, computed at the kernel's beginning: is the memory of every array parameter
 * that is read only beside the memory of each that may be written? An array's memory is all that is
 * between the first and the last byte of its elements, so that arrays which are interleaved are not
 * apart. And of a load: is its array such a parameter, on whatever way it came here?
 *
 * Where that is not known for certain reads are noted: if something may be written that is no
 * parameter (captured device arrays, foreign functions), if indices are not checked. */
#include "codegen/host/checks.h"
#include "codegen/lower/private.h"
#include "codegen/ssa/params.h"

/* --- apart --- */

typedef struct Range {
  LLVMValueRef begin, end; /* i64 */
} Range;

static Range range_of(Lower *lw, const ArrayParam *a) {
  const Type *t = a->type;
  LLVMBuilderRef b = lw->b;
  LLVMValueRef *leaf = lw_leaves(lw, lw->fn->params[a->param]) + a->leaf,
               at = l_ptrtoint(b, leaf[LEAF_POINTER], lw->t->i64),
               size = lw_i64(lw, (int64_t)ty_size(t->elem)), one = lw_i64(lw, 1),
               zero = lw_i64(lw, 0);
  if (!cg_has_strides(t)) {
    LLVMValueRef bytes = size;
    for (unsigned k = 0; k < t->ndim; k++)
      bytes = l_mul(b, bytes, leaf[cg_extent_leaf(k)]);
    return (Range){at, l_add(b, at, bytes)};
  }
  Range r = {at, l_add(b, at, size)};
  for (unsigned k = 0; k < t->ndim; k++) {
    LLVMValueRef reach = l_mul(b, l_sub(b, leaf[cg_extent_leaf(k)], one),
                               leaf[cg_stride_leaf(t, k)]),
                 down = l_icmp(b, LLVMIntSLT, reach, zero);
    r.begin = l_add(b, r.begin, l_select(b, down, reach, zero));
    r.end = l_add(b, r.end, l_select(b, down, zero, reach));
  }
  return r;
}

static bool is_input(const ArrayParam *a) { return a->used && !a->written; }

void cg_host_find_apart(Lower *lw) {
  enum { MOST_PAIRS = 32 };
  const Params *p = lw->cg->params;
  HostState *s = lw->cg->target_state;
  uint32_t inputs = 0, outputs = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    inputs += is_input(&p->arrays.data[k]), outputs += p->arrays.data[k].written;
  if (!(lw->cg->options.check & RT_CHECK_RACE) || !lw->cg->options.boundscheck ||
      p->writes_elsewhere || !inputs || inputs * outputs > MOST_PAIRS)
    return;
  Range *ranges = CX_ARRAY(lw->cx, Range, p->arrays.len);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].used)
      ranges[k] = range_of(lw, &p->arrays.data[k]);
  LLVMValueRef apart = l_int(lw->t->i1, 1);
  for (uint32_t i = 0; i < p->arrays.len; i++)
    for (uint32_t o = 0; o < p->arrays.len; o++) {
      if (!is_input(&p->arrays.data[i]) || !p->arrays.data[o].written)
        continue;
      LLVMValueRef below = l_icmp(lw->b, LLVMIntULE, ranges[i].end, ranges[o].begin),
                   above = l_icmp(lw->b, LLVMIntULE, ranges[o].end, ranges[i].begin);
      apart = l_and(lw->b, apart, l_or(lw->b, below, above));
    }
  s->apart = apart;
  if (lw->context)
    lw->context = l_insert_value(lw->b, lw->context, apart, HOST_APART);
}

/* --- loads --- */

enum { MOST_STEPS = 64 };

typedef struct Trace {
  const Cg *cg;
  bool (*is)(const ArrayParam *a);
  const Ins *seen[MOST_STEPS];
  uint32_t leaves[MOST_STEPS], n;
} Trace;

static bool comes_from_these(Trace *t, const Ins *i, uint32_t leaf);

static bool is_such_param(const Trace *t, uint32_t param, uint32_t leaf) {
  const Params *p = t->cg->params;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].param == param && p->arrays.data[k].leaf == leaf)
      return t->is(&p->arrays.data[k]);
  return false;
}

static int number_of(const Program *p, const Ins *param) {
  for (uint32_t f = 0; f < p->fns.len; f++)
    for (uint32_t k = 0; k < p->fns.data[f]->nparams; k++)
      if (p->fns.data[f]->params[k] == param)
        return (int)f;
  return -1;
}

/* Whatever is passed for it. */
static bool all_passed(Trace *t, const Fn *callee, uint32_t param, uint32_t leaf) {
  const Program *p = t->cg->program;
  for (uint32_t f = 0; f < p->fns.len; f++)
    FOR_BLOCKS (p->fns.data[f], b)
      FOR_INS (b, i)
        if (i->op == OP_CALL_FN && i->aux.fn == callee &&
            (i->args[param]->type != callee->param_types[param] ||
             !comes_from_these(t, i->args[param], leaf)))
          return false;
  return true;
}

static bool of_param(Trace *t, const Ins *i, uint32_t leaf) {
  const Program *p = t->cg->program;
  int number = number_of(p, i);
  if (number < 0)
    return false;
  return number ? all_passed(t, p->fns.data[number], (uint32_t)i->aux.i, leaf)
                : is_such_param(t, (uint32_t)i->aux.i, leaf);
}

static bool of_operands(Trace *t, const Ins *i, uint32_t first, uint32_t leaf) {
  for (uint32_t k = first; k < i->nargs; k++)
    if (i->args[k]->type != i->type || !comes_from_these(t, i->args[k], leaf))
      return false;
  return true;
}

static bool of_element(Trace *t, const Ins *i, uint32_t leaf) {
  for (uint32_t k = 0; k < i->nargs; k++) {
    uint32_t n = cg_leaf_count(i->args[k]->type);
    if (leaf < n)
      return comes_from_these(t, i->args[k], leaf);
    leaf -= n;
  }
  return false;
}

/* leaf: the pointer of the array, if the value is a tuple. What is asked already counts as yes: it
 * is a loop of phis, or recursion. */
static bool comes_from_these(Trace *t, const Ins *i, uint32_t leaf) {
  for (uint32_t k = 0; k < t->n; k++)
    if (t->seen[k] == i && t->leaves[k] == leaf)
      return true;
  if (t->n == MOST_STEPS)
    return false;
  t->seen[t->n] = i, t->leaves[t->n++] = leaf;
  switch ((Op)i->op) {
  case OP_PARAM: return of_param(t, i, leaf);
  case OP_VIEW: return leaf == LEAF_POINTER && comes_from_these(t, i->args[0], LEAF_POINTER);
  case OP_PHI: return i->nargs && of_operands(t, i, 0, leaf);
  case OP_SELECT: return of_operands(t, i, 1, leaf);
  case OP_MAKE_TUPLE: return of_element(t, i, leaf);
  case OP_TUPLE_GET:
    return comes_from_these(t, i->args[0],
                            cg_tuple_offset(i->args[0]->type, (uint32_t)i->aux.i) + leaf);
  default: return false;
  }
}

bool cg_host_comes_from(const Cg *cg, const Ins *array, bool (*is)(const ArrayParam *a)) {
  Trace t = {.cg = cg, .is = is};
  return comes_from_these(&t, array, LEAF_POINTER);
}

LLVMValueRef cg_host_is_input(Lower *lw, const Ins *load) {
  const HostState *s = lw->cg->target_state;
  if (!s->apart || load->op != OP_LOAD || !cg_host_comes_from(lw->cg, load->args[0], is_input))
    return NULL;
  return lw->function == s->thread ? s->apart : l_extract_value(lw->b, lw->context, HOST_APART);
}
