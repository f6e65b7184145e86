/* Values that consist of given leaves: constants, tuples and their elements, extents; and indices
 * that count from the end. A tuple's leaves are those of its elements, so making a tuple, or taking
 * an element by a constant index, emits no code. */
#include <assert.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "codegen/ssa/small_loop.h"
#include "ir/base/half.h"

/* --- constants --- */

static LLVMValueRef constant_number(Lower *lw, const Frozen *f, const Type *t) {
  LLVMTypeRef type = lw_scalar_type(lw->cg, t->id);
  bool is_real = f->kind == FZ_FLOAT ||
                 (f->kind == FZ_SCALAR && ty_scalar_info[f->type].kind == KIND_FLOAT);
  double re = is_real ? f->re : f->wide ? (double)(uint64_t)f->i : (double)f->i;
  if (ty_is_float8(t->id))
    return l_int(type, half_bits(ty_half_format(t->id), re));
  if (ty_is_float(t))
    return LLVMConstReal(type, re);
  if (ty_kind(t) == KIND_BOOL)
    return l_int(type, is_real ? f->re != 0 : f->i != 0);
  CX_ASSERT(lw->cx, !is_real);
  return LLVMConstInt(type, (unsigned long long)f->i, 1);
}

static uint32_t constant_leaves(Lower *lw, const Frozen *f, const Type *t, LLVMValueRef *out) {
  if (ty_is_complex(t)) {
    LLVMTypeRef part = lw_scalar_type(lw->cg, ty_part_id(t->id));
    out[0] = LLVMConstReal(part, f->re);
    out[1] = LLVMConstReal(part, f->im);
    return 2;
  }
  if (ty_is_scalar(t)) {
    out[0] = constant_number(lw, f, t);
    return 1;
  }
  uint32_t at = 0, n = cg_leaf_count(t);
  if (n)
    CX_ASSERT(lw->cx, t->id == TY_TUPLE && f->kind == FZ_TUPLE && f->n == t->n);
  for (uint32_t k = 0; at < n; k++)
    at += constant_leaves(lw, f->items[k], t->elems[k], out + at);
  return n;
}

void lw_constant(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(i->type) + 1);
  constant_leaves(lw, i->aux.frozen, i->type, leaves);
  lw_set_leaves(lw, i, leaves);
}

/* A value that no path reads is undef. With Ins.aux2 it is all zeros: an array without elements, at
 * address 0. */
void lw_unset(Lower *lw, Ins *i) {
  uint32_t n = cg_leaf_count(i->type);
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, n + 1);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  lw_leaf_types(lw->cg, i->type, types);
  for (uint32_t k = 0; k < n; k++)
    leaves[k] = i->aux2 ? LLVMConstNull(types[k]) : LLVMGetUndef(types[k]);
  lw_set_leaves(lw, i, leaves);
}

/* --- tuples --- */

void lw_make_tuple(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(i->type) + 1);
  for (uint32_t k = 0, at = 0; k < i->nargs; k++) {
    uint32_t n = cg_leaf_count(i->args[k]->type);
    assert(at + n <= cg_leaf_count(i->type));
    memcpy(leaves + at, lw_leaves(lw, i->args[k]), n * sizeof *leaves);
    at += n;
  }
  lw_set_leaves(lw, i, leaves);
}

void lw_tuple_get(Lower *lw, Ins *i) {
  lw_set_leaves(lw, i,
                lw_leaves(lw, i->args[0]) + cg_tuple_offset(i->args[0]->type, (uint32_t)i->aux.i));
}

/* All elements have the same type, so leaf k of element e is leaf e * n + k of the tuple.
 *
 * LONG_TUPLE: elements that are chosen by the bits of the index, not one by one. TABLE: constants
 * that are in memory. */
enum { LONG_TUPLE = 8, TABLE = 32 };

/* Element `index` of so many, each `n` apart: halves are chosen by the bits of the index, so that
 * there is one comparison for each bit. */
static LLVMValueRef choose(Lower *lw, LLVMValueRef const *from, uint32_t count, uint32_t n,
                           LLVMValueRef index) {
  LLVMValueRef *left = CX_ARRAY(lw->cx, LLVMValueRef, count + 1);
  for (uint32_t k = 0; k < count; k++)
    left[k] = from[k * n];
  for (uint32_t bit = 1; count > 1; bit *= 2, count = (count + 1) / 2) {
    LLVMValueRef set = l_icmp(lw->b, LLVMIntNE, l_and(lw->b, index, lw_i64(lw, bit)),
                              lw_i64(lw, 0));
    for (uint32_t k = 0; k < (count + 1) / 2; k++)
      left[k] = 2 * k + 1 < count ? l_select(lw->b, set, left[2 * k + 1], left[2 * k])
                                  : left[2 * k];
  }
  return left[0];
}

/* --- tables --- */

/* Constants in memory: integers of 64 bits in 32 where these hold all of them. */
typedef struct Table {
  LLVMValueRef address; /* NULL: they are no constants, of one type, or too few */
  LLVMTypeRef type, stored;
  bool is_signed; /* how what is stored in fewer bits is extended */
} Table;

static bool are_within(LLVMValueRef const *of, uint32_t n, int64_t least, int64_t most) {
  bool all = true;
  for (uint32_t k = 0; k < n && all; k++)
    all = LLVMConstIntGetSExtValue(of[k]) >= least && LLVMConstIntGetSExtValue(of[k]) <= most;
  return all;
}

static Table table_of(Lower *lw, LLVMValueRef const *of, uint32_t n) {
  if (n < TABLE)
    return (Table){0};
  Table t = {.type = LLVMTypeOf(of[0])};
  for (uint32_t k = 0; k < n; k++)
    if (LLVMTypeOf(of[k]) != t.type || !(LLVMIsAConstantInt(of[k]) || LLVMIsAConstantFP(of[k])))
      return t;
  t.is_signed = t.type == lw->t->i64 && are_within(of, n, INT32_MIN, INT32_MAX);
  bool halves = t.is_signed || (t.type == lw->t->i64 && are_within(of, n, 0, UINT32_MAX));
  t.stored = halves ? lw->t->i32 : t.type == lw->t->i1 ? lw->t->i8 : t.type;
  LLVMValueRef *values = CX_ARRAY(lw->cx, LLVMValueRef, n);
  for (uint32_t k = 0; k < n; k++)
    values[k] = t.stored == t.type ? of[k] : l_int_cast(lw->b, of[k], t.stored, false);
  unsigned bytes = (unsigned)LLVMABISizeOfType(lw->cg->layout, t.stored);
  if ((uint64_t)n * bytes <= FZ_MAX_BYTES)
    t.address = lw_constant_table(lw, LLVMConstArray2(t.stored, values, n), (uint64_t)n * bytes,
                                  bytes, "table");
  return t;
}

/* Where the element of a constant begins in its leaves, in 32 bits. An index out of range reads the
 * last element: the instruction may stand where the kernel would not run it. */
static LLVMValueRef place_in(Lower *lw, Ins *i) {
  const Type *tuple = i->args[0]->type;
  LLVMValueRef both[] = {lw_low(lw, lw_value(lw, i->args[1])), lw_i32(lw, (int32_t)tuple->n - 1)};
  LLVMValueRef at = lw_intrinsic(lw, "llvm.umin", &lw->t->i32, 1, both, 2);
  return l_mul(lw->b, at, lw_i32(lw, (int32_t)cg_leaf_count(i->type)));
}

/* An element of a constant, or of one of its elements, and so on; false: it is of none. */
static bool read_table(Lower *lw, Ins *i, LLVMValueRef *leaves) {
  Ins *of = i->args[0];
  while (of->op == OP_TUPLE_INDEX)
    of = of->args[0];
  Table t = table_of(lw, lw_leaves(lw, of), cg_leaf_count(of->type));
  if (!t.address)
    return false;
  LLVMValueRef at = place_in(lw, i);
  for (Ins *k = i->args[0]; k != of; k = k->args[0])
    at = l_add(lw->b, at, place_in(lw, k));
  for (uint32_t k = 0, n = cg_leaf_count(i->type); k < n; k++) {
    LLVMValueRef index = l_zext(lw->b, l_add(lw->b, at, lw_i32(lw, (int32_t)k)), lw->t->i64);
    LLVMValueRef v = l_load(lw->b, t.stored, l_gep(lw->b, t.stored, t.address, &index, 1));
    leaves[k] = t.stored == t.type ? v : l_int_cast(lw->b, v, t.type, t.is_signed);
  }
  return true;
}

void lw_tuple_index(Lower *lw, Ins *i) {
  const Type *tuple = i->args[0]->type;
  uint32_t n = cg_leaf_count(i->type);
  assert(tuple->n && cg_leaf_count(tuple) == tuple->n * n);
  LLVMValueRef *from = lw_leaves(lw, i->args[0]), index = lw_value(lw, i->args[1]);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  bool found = read_table(lw, i, leaves);
  for (uint32_t k = 0; k < n && !found; k++) {
    if (tuple->n >= LONG_TUPLE) {
      leaves[k] = choose(lw, from + k, tuple->n, n, index);
      continue;
    }
    LLVMValueRef v = from[(tuple->n - 1) * n + k];
    for (uint32_t e = tuple->n - 1; e-- > 0;) {
      LLVMValueRef here = l_icmp(lw->b, LLVMIntEQ, index, lw_i64(lw, e));
      v = l_select(lw->b, here, from[e * n + k], v);
    }
    leaves[k] = v;
  }
  lw_set_leaves(lw, i, leaves);
}

/* --- indices --- */

enum { MAX_CLAMP = 3 }; /* selections in each other */

void lw_extent(Lower *lw, Ins *i) {
  lw_set_leaves(lw, i, lw_leaves(lw, i->args[0]) + cg_extent_leaf((unsigned)i->aux.i));
}

/* Is it an index of an array of fewer than 2**31 elements an axis, which may be a constant, and
 * nothing else? Then it fits 32 bits, whatever its type, or it is out of range. Of 64 bits only
 * those from memory count: of others LLVM often finds that they are not negative, which it could
 * not of their low half. */
static bool is_small(const Ins *wrap) {
  const Ins *index = wrap->args[0], *extent = wrap->args[1];
  int64_t n;
  bool small = extent->op == OP_EXTENT
                   ? !extent->args[0]->type->wide
                   : extent->op == OP_CONST && fz_get_int(extent->aux.frozen, &n) && n < INT32_MAX;
  return wrap->flags & INS_INDEX && (index->flags & INS_I32 || ssa_loaded(index)) && small;
}

/* The unsigned 32-bit minimum of x and x + n is x for 0 <= x < n and x + n for -n <= x < 0; newer
 * GPUs compute it in one instruction. Other x are out of range, and undefined if nothing checks
 * them. */
static LLVMValueRef wrapped_small(Lower *lw, LLVMValueRef index, LLVMValueRef extent) {
  LLVMValueRef x = lw_low(lw, index);
  LLVMValueRef both[] = {x, l_add(lw->b, x, lw_low(lw, extent))};
  return l_zext(lw->b, lw_intrinsic(lw, "llvm.umin", &lw->t->i32, 1, both, 2), lw->t->i64);
}

/* i without casts to signed types of 32 bits or more; `widening`: not those that may drop bits. */
static const Ins *uncast(const Ins *i, bool widening) {
  while (i->op == OP_CAST && ty_is_integral(i->args[0]->type) && ty_is_signed(i->type) &&
         ty_is_signed(i->args[0]->type) && ty_bits(i->type) >= 32 &&
         (!widening || ty_bits(i->type) >= ty_bits(i->args[0]->type)))
    i = i->args[0];
  return i;
}

/* Is it the extent less one? Of an array of fewer than 2**31 elements an axis it is, as an int32
 * too. */
static bool is_last(const Ins *index, const Ins *extent) {
  int64_t n;
  if (extent->op != OP_EXTENT)
    return false;
  index = uncast(index, extent->args[0]->type->wide);
  const Ins *of = index->op == OP_SUB ? uncast(index->args[0], true) : NULL,
            *by = of ? index->args[1] : NULL;
  return of && of->op == OP_EXTENT && of->args[0] == extent->args[0] &&
         of->aux.i == extent->aux.i && by->op == OP_CONST && fz_get_int(by->aux.frozen, &n) &&
         n == 1;
}

/* Is the index the same when it is wrapped? It is if it is not negative; the extent less one is
 * negative only if the extent is 0, which adds nothing, and so are the bits of a number that it
 * masks, as in a table whose length is a power of two; a clamp is a selection between such. */
static bool stays(const Ins *index, const Ins *extent, int depth) {
  if (index->flags & (INS_NONNEGATIVE | INS_U32) || is_last(index, extent))
    return true;
  index = uncast(index, true);
  if (index->op == OP_AND && (is_last(index->args[0], extent) || is_last(index->args[1], extent)))
    return true;
  return depth < MAX_CLAMP && index->op == OP_SELECT && stays(index->args[1], extent, depth + 1) &&
         stays(index->args[2], extent, depth + 1);
}

void lw_wrap_index(Lower *lw, Ins *i) {
  LLVMValueRef index = lw_value(lw, i->args[0]);
  if (stays(i->args[0], i->args[1], 0)) {
    lw_set(lw, i, index);
    return;
  }
  if (is_small(i)) {
    lw_set(lw, i, wrapped_small(lw, index, lw_value(lw, i->args[1])));
    return;
  }
  LLVMValueRef negative = l_icmp(lw->b, LLVMIntSLT, index, lw_i64(lw, 0));
  LLVMValueRef wrapped = l_add(lw->b, index, lw_value(lw, i->args[1]));
  lw_set(lw, i, l_select(lw->b, negative, wrapped, index));
}
