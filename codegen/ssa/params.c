/* Params: which parts of its arguments a kernel uses, and so what the parameter block holds.
 *
 * In: a typed Program. Out: a Params. A backward data-flow analysis over leaves
 * (codegen/ssa/leaves.h), across calls: a leaf is used if an instruction needs it, or if a leaf of
 * a value made from it is used. Facts flow through phis, tuples, views and calls until a fixed
 * point is reached; they only grow, so it exists. Each leaf has one byte of Use bits, kept in
 * Ins.note while the analysis runs; those but USED have a meaning on the pointer leaf of an array
 * only.
 *
 * The result decides which host arrays are copied back and whether read-only memory is accepted, so
 * the analysis must err towards use: an operation without a case in visit() reads and writes all
 * its operands. */
#include "codegen/ssa/params.h"

#include <assert.h>
#include <string.h>

#include "codegen/ssa/leaves.h"
#include "ir/tensor_maps.h"
#include "typeinfer/infer.h"

/* SUM: by atomic additions without a result. KNOWN: its address, or its elements as others. */
enum Use { USED = 1, READ = 2, WRITE = 4, SUM = 8, KNOWN = 16, ANYTHING = USED | READ | WRITE };

static bool is_read(uint8_t bits) { return bits & (READ | SUM); }
static bool is_written(uint8_t bits) { return bits & (WRITE | SUM); }
static bool is_summed(uint8_t bits) { return (bits & SUM) && !(bits & (READ | WRITE | KNOWN)); }
static uint8_t as_others(uint8_t bits) { return bits & SUM ? bits | KNOWN : bits; }

typedef struct FnUse { /* of Program.fns[k] */
  const Type *type;    /* of its result */
  uint8_t *result;     /* what callers use of it */
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
  mark_leaves(u, use_of(i), cg_leaf_count(i->type), bits);
}

static bool any(const uint8_t *leaf, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (leaf[k])
      return true;
  return false;
}

/* The pointer, and the extents or strides that the address of an element is computed from. */
static void mark_address(Usage *u, Ins *array, uint8_t bits) {
  const Type *t = array->type;
  uint8_t *leaf = use_of(array);
  mark(u, leaf, bits | USED);
  for (unsigned k = 0; k < t->ndim; k++) {
    bool needed = (t->layout == LAYOUT_C && k > 0) || (t->layout == LAYOUT_F && k + 1u < t->ndim);
    if (needed)
      mark(u, leaf + cg_extent_leaf(k), USED);
    if (cg_has_strides(t))
      mark(u, leaf + cg_stride_leaf(t, k), USED);
  }
}

static void mark_stride(Usage *u, Ins *array, unsigned axis) {
  const Type *t = array->type;
  uint8_t *leaf = use_of(array);
  if (cg_has_strides(t)) {
    mark(u, leaf + cg_stride_leaf(t, axis), USED);
    return;
  }
  for (unsigned k = 0; k < t->ndim; k++)
    if (t->layout == LAYOUT_C ? k > axis : k < axis)
      mark(u, leaf + cg_extent_leaf(k), USED);
}

/* A value of type `to` with uses `made` is made from one of type `from`: marks what that uses of
 * the source. */
static void carry(Usage *u, const Type *from, uint8_t *source, const Type *to,
                  const uint8_t *made) {
  uint32_t n = cg_leaf_count(from);
  bool numbers = ty_is_scalar(from) && ty_is_scalar(to);
  if (from == to || (numbers && n == cg_leaf_count(to)))
    for (uint32_t k = 0; k < n; k++)
      mark(u, source + k, made[k]);
  else if (any(made, cg_leaf_count(to)))
    mark_leaves(u, source, n, ANYTHING);
}

static void carry_to(Usage *u, Ins *from, const Type *to, const uint8_t *made) {
  carry(u, from->type, use_of(from), to, made);
}

/* Axis `to` of a view is axis `axis` of the source: marks the source's leaves that the used leaves
 * of the view are made from. */
static void mark_axis(Usage *u, Ins *i, unsigned axis, unsigned to) {
  const Type *t = i->type;
  if (use_of(i)[cg_extent_leaf(to)])
    mark(u, use_of(i->args[0]) + cg_extent_leaf(axis), USED);
  if (cg_has_strides(t) && use_of(i)[cg_stride_leaf(t, to)])
    mark_stride(u, i->args[0], axis);
}

/* A view of one element, or of a field of each: no extents are used but those of the address.
 * False for other views. */
static bool visit_simple_view(Usage *u, Ins *i) {
  const IrView *how = i->aux.view;
  if (how->n && how->kind[0] == VIEW_FIELD) {
    mark(u, use_of(i->args[0]), as_others(*use_of(i)));
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

/* Any other view that is used at all uses all leaves of its source; reads and writes are those of
 * the source's pointer. */
static void visit_view(Usage *u, Ins *i) {
  if (!any(use_of(i), cg_leaf_count(i->type)))
    return;
  if (i->type->elem != i->args[0]->type->elem)
    mark(u, use_of(i->args[0]), as_others(*use_of(i)));
  if (visit_simple_view(u, i))
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

/* The operands' leaves one after the other. */
static void visit_make(Usage *u, Ins *i) {
  for (uint32_t k = 0, at = 0; k < i->nargs; at += cg_leaf_count(i->args[k++]->type))
    carry_to(u, i->args[k], i->args[k]->type, use_of(i) + at);
}

/* The result may be any of the elements. */
static void visit_tuple_index(Usage *u, Ins *i) {
  const Type *tuple = i->args[0]->type;
  for (uint32_t k = 0; k < tuple->n; k++)
    carry(u, tuple->elems[k], use_of(i->args[0]) + cg_tuple_offset(tuple, k), i->type, use_of(i));
  mark_all(u, i->args[1], USED);
}

/* Operands of which nothing is known but that they are used: those that may hold arrays count as
 * read and written. */
static void mark_operands(Usage *u, Ins *i, uint32_t first) {
  for (uint32_t k = first; k < i->nargs; k++)
    mark_all(u, i->args[k], ty_is_scalar(i->args[k]->type) ? USED : ANYTHING);
}

/* A foreign function gets the address of an array, and may do there what its signature allows. */
static void visit_call_c(Usage *u, Ins *i) {
  if (i->aux.frozen->kind == FZ_STR) { /* text that may do anything */
    for (uint32_t k = 0; k < i->nargs; k++)
      mark_leaves(u, use_of(i->args[k]), 1, ANYTHING);
    return;
  }
  Signature sig = ty_signature(u->cx, i->aux.frozen->names[0]);
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Type *t = i->args[k]->type;
    bool reads = k < sig.nargs && sig.args[k]->readonly;
    mark_leaves(u, use_of(i->args[k]), t->id == TY_ARRAY ? 1 : cg_leaf_count(t),
                reads ? USED | READ : ANYTHING);
  }
}

static void visit_element(Usage *u, Ins *i, uint8_t bits) {
  mark_address(u, i->args[0], bits);
  mark_operands(u, i, 1);
}

/* A sum of which nobody takes the result, in numbers that LLVM has sums of. */
static bool is_sum(const Ins *i) {
  const Type *t = i->args[0]->type->elem;
  AtomicOp op = (AtomicOp)i->aux.i;
  bool number = ty_is_integral(t) || t->id == TY_F32 || t->id == TY_F64;
  return (op == ATOMIC_ADD || op == ATOMIC_SUB) && number &&
         !any(use_of(i), cg_leaf_count(i->type));
}

/* Asynchronous copies read one side and write the other; all else about them is as unknown. */
static bool visit_copy(Usage *u, Ins *i) {
  uint32_t from;
  switch ((int)i->aux.intrinsic) {
  case INTR_CP_ASYNC: from = 1 + i->args[0]->type->ndim; break;
  case INTR_CP_ASYNC_BULK:
  case INTR_CP_ASYNC_TENSOR: from = 1; break;
  default: return false;
  }
  for (uint32_t k = 0; k < i->nargs; k++)
    mark_all(u, i->args[k],
             k == from                        ? USED | READ
             : ty_is_scalar(i->args[k]->type) ? USED
                                              : ANYTHING);
  return true;
}

static void visit(Usage *u, FnUse *fn, Ins *i) {
  switch ((Op)i->op) {
  case OP_LOAD: visit_element(u, i, READ); return;
  case OP_STORE: visit_element(u, i, WRITE); return;
  case OP_ATOMIC: visit_element(u, i, is_sum(i) ? SUM : READ | WRITE); return;
  case OP_EXTENT: mark(u, use_of(i->args[0]) + cg_extent_leaf((unsigned)i->aux.i), USED); return;
  case OP_ADDRESS: mark(u, use_of(i->args[0]), USED | KNOWN); return;
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
    uint8_t *from = use_of(i->args[0]) + cg_tuple_offset(tuple, (uint32_t)i->aux.i);
    carry(u, i->type, from, i->type, use_of(i));
    return;
  }
  case OP_TUPLE_INDEX: visit_tuple_index(u, i); return;
  case OP_CALL_FN: visit_call(u, i); return;
  case OP_CALL_C: visit_call_c(u, i); return;
  case OP_RET: carry_to(u, i->args[0], fn->type, fn->result); return;
  case OP_INTRINSIC:
    if (visit_copy(u, i))
      return;
    break;
  default: break;
  }
  mark_operands(u, i, 0);
}

static void analyse(Usage *u) {
  u->fns = CX_ARRAY(u->cx, FnUse, u->program->fns.len);
  for (uint32_t f = 0; f < u->program->fns.len; f++) {
    Fn *fn = u->program->fns.data[f];
    u->fns[f].type = fn->result;
    u->fns[f].result = CX_ARRAY(u->cx, uint8_t, cg_leaf_count(fn->result) + 1);
    if (f == 0) /* a device function compiled alone: its callers may use all of the result */
      memset(u->fns[f].result, ANYTHING, cg_leaf_count(fn->result));
    FOR_BLOCKS (fn, b)
      FOR_INS (b, i)
        i->note = CX_ARRAY(u->cx, uint8_t, cg_leaf_count(i->type) + 1);
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

enum { MOST_ALIGN = 64 }; /* of a parameter: a tensor map's */

RtField cg_next_field(RtFieldKind kind, uint32_t size, unsigned axis, uint32_t leaf, uint32_t begin,
                      uint32_t *bytes) {
  assert(size && !(size & (size - 1)));
  uint32_t align = size < MOST_ALIGN ? size : MOST_ALIGN,
           at = (begin + *bytes + align - 1) / align * align - begin;
  *bytes = at + size;
  return (RtField){.kind = (uint8_t)kind,
                   .size = (uint8_t)size,
                   .axis = (uint8_t)axis,
                   .leaf = (uint16_t)leaf,
                   .offset = at};
}

static uint32_t size_of(RtFieldKind kind, const Type *t) {
  static const uint8_t sizes[] = {
#define FIELD(ID, size, align, doc) [RT_FIELD_##ID] = size,
#include "runtime/abi.def"
#undef FIELD
  };
  return sizes[kind] ? sizes[kind] : (uint32_t)ty_size(t);
}

/* p: the parameter that the field belongs to; the field itself is filled in here. */
static void add_field(Cx *cx, Params *all, Param p, RtFieldKind kind, unsigned axis,
                      uint32_t argument) {
  p.field = cg_next_field(kind, size_of(kind, p.type), axis, argument, all->begin, &all->bytes);
  VEC_PUSH(&cx->arena, &all->fields, p);
}

/* Everything that describes an array, in one order for every layout. */
static void add_stable_array(Cx *cx, Params *all, Param p, uint32_t argument) {
  const Type *t = p.type;
  const Param first = p;
  add_field(cx, all, p, RT_FIELD_POINTER, 0, argument);
  for (unsigned axis = 0; axis < t->ndim; axis++) {
    p.leaf = first.leaf + cg_extent_leaf(axis);
    add_field(cx, all, p, RT_FIELD_EXTENT64, axis, argument);
  }
  p.unread = !cg_has_strides(t);
  for (unsigned axis = 0; axis < t->ndim; axis++) {
    p.leaf = first.leaf + (p.unread ? 0 : cg_stride_leaf(t, axis));
    add_field(cx, all, p, RT_FIELD_STRIDE, axis, argument);
  }
}

/* The argument whose leaves are those of parameter p.param from p.leaf on. Tuples are walked depth
 * first; everything else, None too, is one leaf argument. */
static void add_argument(Cx *cx, Params *all, const Type *t, const uint8_t *use, ParamsWant want,
                         Param p) {
  uint32_t n = cg_leaf_count(t), argument = all->args.len;
  if (t->id == TY_TUPLE) {
    for (uint32_t k = 0; k < t->n; p.leaf += cg_leaf_count(t->elems[k++]))
      add_argument(cx, all, t->elems[k], use, want, p);
    return;
  }
  use += p.leaf;
  p.type = t;
  CgArg arg = {.is_array = t->id == TY_ARRAY};
  if (arg.is_array) {
    uint8_t bits = use[LEAF_POINTER];
    arg.read = is_read(bits);
    arg.written = is_written(bits);
    VEC_PUSH(
        &cx->arena, &all->arrays,
        ((ArrayParam){t, p.param, p.leaf, arg.read || arg.written, arg.written, is_summed(bits)}));
  }
  bool whole = want.extents && (arg.read || arg.written);
  VEC_PUSH(&cx->arena, &all->args, arg);
  if (ty_is_scalar(t) && (want.stable || any(use, n)))
    add_field(cx, all, p, RT_FIELD_SCALAR, 0, argument);
  if (arg.is_array && want.stable) {
    add_stable_array(cx, all, p, argument);
    return;
  }
  for (uint32_t k = 0; arg.is_array && k < n; k++, p.leaf++) {
    unsigned axis;
    RtFieldKind kind = cg_array_leaf(t, k, &axis);
    if (use[k] || whole)
      add_field(cx, all, p, kind, axis, argument);
  }
}

/* --- memory that is no parameter's --- */

static bool has_array(const Type *t) {
  bool has = t->id == TY_ARRAY;
  for (uint32_t k = 0; t->id == TY_TUPLE && k < t->n && !has; k++)
    has = has_array(t->elems[k]);
  return has;
}

/* Is the value made of others, whose uses have its own? */
static bool is_carrier(const Ins *i) {
  switch ((Op)i->op) {
  case OP_PARAM:
  case OP_VIEW:
  case OP_CAST:
  case OP_PHI:
  case OP_SELECT:
  case OP_MAKE_TUPLE:
  case OP_TUPLE_GET:
  case OP_TUPLE_INDEX:
  case OP_CALL_FN: return true;
  default: return false;
  }
}

/* What the instruction may do to global memory of an array that it makes. A foreign function may
 * do anything anywhere. Shared and local arrays are others' memory. */
static uint8_t uses_elsewhere(const Ins *i) {
  if (i->op == OP_CALL_C)
    return ANYTHING;
  if (i->op == OP_ALLOC || is_carrier(i) || !i->type || !has_array(i->type))
    return 0;
  uint8_t bits = 0;
  for (uint32_t k = 0, n = cg_leaf_count(i->type); k < n; k++)
    bits |= use_of(i)[k];
  return bits;
}

static uint8_t all_uses_elsewhere(const Program *p) {
  uint8_t bits = 0;
  for (uint32_t f = 0; f < p->fns.len; f++)
    FOR_BLOCKS (p->fns.data[f], b)
      FOR_INS (b, i)
        bits |= uses_elsewhere(i);
  return bits;
}

/* Is there an array among the kernel's parameters that is only summed? */
static bool has_sums(const Fn *kernel) {
  for (uint32_t k = 0; k < kernel->nparams; k++)
    for (uint32_t n = 0; n < cg_leaf_count(kernel->param_types[k]); n++)
      if (is_summed(use_of(kernel->params[k])[n]))
        return true;
  return false;
}

/* --- tensor maps: one for each array, box and swizzle, and type of its elements --- */

enum {
  NO_REDUCTION,
#define REDUCTION(id, name, types) REDUCTION_##id,
#include "ir/bulk.def"
};

/* The least and the greatest of integers: the only operations that tell signed ones apart. A GPU
 * refuses and, or and xor of signed ones of 64 bits. */
static bool compares(const Ins *i) {
  if (i->aux.intrinsic != INTR_CP_ASYNC_TENSOR_STORE)
    return false;
  int64_t n = i->args[i->nargs - 2]->aux.frozen->i;
  return n == REDUCTION_MIN || n == REDUCTION_MAX;
}

static RtTensorElement tensor_element(const Ins *i) {
  const Type *t = i->args[TENSOR_ARRAY]->type->elem;
  bool sign = compares(i);
  switch ((int)t->id) {
  case TY_I32: return sign ? RT_TENSOR_I32 : RT_TENSOR_U32;
  case TY_I64: return sign ? RT_TENSOR_I64 : RT_TENSOR_U64;
  case TY_F16: return RT_TENSOR_F16;
  case TY_BF16: return RT_TENSOR_BF16;
  case TY_F32: return RT_TENSOR_F32;
  case TY_F64: return RT_TENSOR_F64;
  }
  return ty_size(t) == 1   ? RT_TENSOR_U8
         : ty_size(t) == 2 ? RT_TENSOR_U16
         : ty_size(t) == 4 ? RT_TENSOR_U32
                           : RT_TENSOR_U64;
}

static uint64_t map_of(const Ins *i) {
  unsigned rank = ir_tensor_rank(i), swizzle = (unsigned)ir_tensor_swizzle(i);
  uint64_t map = swizzle ? (uint64_t)__builtin_ctz(swizzle) : 0;
  map |= (uint64_t)tensor_element(i) << RT_MAP_ELEMENT;
  map |= (uint64_t)rank << RT_MAP_RANK;
  map |= (uint64_t)ir_tensor_is_fortran(i) << RT_MAP_FORTRAN;
  for (unsigned k = 0; k < rank; k++)
    map |= (uint64_t)(ir_tensor_box(i, k) - 1) << (RT_MAP_BOX + 8 * k);
  return map;
}

static uint32_t count_arguments(const Type *t) {
  uint32_t n = t->id != TY_TUPLE;
  for (uint32_t k = 0; t->id == TY_TUPLE && k < t->n; k++)
    n += count_arguments(t->elems[k]);
  return n;
}

/* The parameter whose array, or array in tuples, is copied, and which of its leaf arguments it
 * is. */
static const Ins *mapped(const Ins *copy, uint32_t *array) {
  const Ins *i = copy->args[TENSOR_ARRAY];
  for (*array = 0; i->op == OP_TUPLE_GET; i = i->args[0])
    for (int64_t k = 0; k < i->aux.i; k++)
      *array += count_arguments(i->args[0]->type->elems[k]);
  return i;
}

bool cg_is_of_array(const Param *f, const ArrayParam *a) {
  return f->type == a->type && f->param == a->param && f->leaf >= a->leaf &&
         f->leaf < a->leaf + cg_leaf_count(a->type);
}

uint32_t cg_tensor_field(const Params *p, const Ins *i) {
  uint64_t map = map_of(i);
  uint32_t array;
  const Ins *parameter = mapped(i, &array);
  for (uint32_t k = 0; k < p->fields.len; k++) {
    const Param *f = &p->fields.data[k];
    if (f->field.kind == RT_FIELD_TENSOR_MAP && f->map_of == parameter && f->map_array == array &&
        f->field.map == map)
      return k;
  }
  return UINT32_MAX;
}

static void add_maps(Cx *cx, Params *all, const Fn *kernel, const uint32_t *arguments,
                     bool stable) {
  FOR_BLOCKS (kernel, b)
    FOR_INS (b, i) {
      if (!ir_is_tensor_copy(i) || cg_tensor_field(all, i) != UINT32_MAX)
        continue;
      if (stable)
        advise(cx,
               "compile it with --abi compact, or @cuda.jit(abi=\"compact\"): that shows its code, "
               "and this package launches it; for other programs copy without a map "
               "(cuda.cp_async_bulk), or in cuda.inline_ptx with a map of theirs");
      if (stable)
        fail(cx, i->loc, ERR_ARGUMENTS, "cuda.tensor_map",
             "a map is made by this package's launches, and this kernel is for other programs "
             "(abi=\"stable\")");
      uint32_t array;
      const Ins *parameter = mapped(i, &array);
      for (uint32_t k = 0; k < kernel->nparams; k++)
        if (kernel->params[k] == parameter) {
          add_field(cx, all, (Param){.map_of = parameter, .map_array = array}, RT_FIELD_TENSOR_MAP,
                    0, arguments[k] + array);
          all->fields.data[all->fields.len - 1].field.map = map_of(i);
        }
    }
}

enum { PARAMS_LIMIT = 4096 }; /* bytes of parameters that every GPU and driver accept */

Params *cg_lay_out_params(Cx *cx, Program *program, ParamsWant want) {
  Usage u = {.cx = cx, .program = program};
  Params *all = CX_NEW(cx, Params);
  all->begin = want.begin;
  Fn *kernel = program->fns.data[0];
  assert(kernel->typed);
  uint32_t *arguments = CX_ARRAY(cx, uint32_t, kernel->nparams + 1);
  analyse(&u);
  want.extents |= want.sums && has_sums(kernel);
  for (uint32_t k = 0; k < kernel->nparams; k++) {
    arguments[k] = all->args.len;
    assert(kernel->params[k]->type == kernel->param_types[k]);
    add_argument(cx, all, kernel->param_types[k], use_of(kernel->params[k]), want,
                 (Param){.param = k});
  }
  uint8_t elsewhere = all_uses_elsewhere(program);
  all->writes_elsewhere = is_written(elsewhere);
  all->uses_elsewhere = is_read(elsewhere) || is_written(elsewhere);
  if (want.maps)
    add_maps(cx, all, kernel, arguments, want.stable);
  if (want.trap)
    add_field(cx, all, (Param){0}, RT_FIELD_TRAP, 0, all->args.len);
  if (want.grid)
    add_field(cx, all, (Param){0}, RT_FIELD_GRID, 0, all->args.len);
  if (all->bytes > PARAMS_LIMIT)
    fail(cx, (Loc){0}, ERR_PARAM_SIZE, kernel->name, (long long)all->bytes,
         (long long)PARAMS_LIMIT);
  return all;
}
