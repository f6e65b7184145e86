/* Lanes: values and instructions; loads and stores are in memory.c. See lanes.h; control.c calls it
 * with the builder in the block that is being written.
 *
 * Code generation by shape: a uniform or linear value is computed once, for lane 0, and expanded to
 * a vector where a varying operation uses it. A varying value is computed in LLVM's vector form, or
 * where there is none in a loop over the lanes of the mask. In masked code lane 0 may be inactive,
 * so its copy must not trap and loses its flags; divisors of inactive lanes become 1. */
#include <assert.h>
#include <string.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"

LLVMBasicBlockRef ln_new_block(Lanes *l, const char *name) {
  return LLVMAppendBasicBlockInContext(l->cg->context, l->fn, name);
}

/* --- types --- */

bool ln_is_element(LLVMTypeRef t) {
  switch (LLVMGetTypeKind(t)) {
  case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t) <= 64;
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind:
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
  case LLVMPointerTypeKind: return true;
  default: return false;
  }
}

/* A complex number in memory. Vectorised it is a structure of two vectors. */
bool ln_is_pair(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMGetVectorSize(t) == 2 &&
         ln_is_element(LLVMGetElementType(t));
}

LLVMTypeRef ln_vector_type(Lanes *l, LLVMTypeRef t) {
  if (ln_is_element(t))
    return LLVMVectorType(t, l->width);
  if (ln_is_pair(t)) {
    LLVMTypeRef part = LLVMVectorType(LLVMGetElementType(t), l->width), both[] = {part, part};
    return LLVMStructTypeInContext(l->cg->context, both, 2, 0);
  }
  if (LLVMGetTypeKind(t) != LLVMStructTypeKind)
    return NULL;
  unsigned n = LLVMCountStructElementTypes(t);
  LLVMTypeRef *parts = ARENA_ARRAY(l->arena, LLVMTypeRef, n + 1);
  for (unsigned k = 0; k < n; k++)
    if (!(parts[k] = ln_vector_type(l, LLVMStructGetTypeAtIndex(t, k))))
      return NULL;
  return LLVMStructTypeInContext(l->cg->context, parts, n, 0);
}

LLVMValueRef ln_number(Lanes *l, LLVMTypeRef t, int64_t v) {
  (void)l;
  return LLVMConstInt(t, (uint64_t)v, 1);
}

static LLVMValueRef constant_vector(Lanes *l, LLVMValueRef c) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, l->width);
  for (unsigned k = 0; k < l->width; k++)
    all[k] = c;
  return LLVMConstVector(all, l->width);
}

/* Part k of a structure or a pair; the same with another value as part k. */
static LLVMValueRef part_of(Lanes *l, LLVMValueRef v, unsigned k) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind
             ? l_extract_value(l->b, v, k)
             : l_extract_element(l->b, v, l_int(l->cg->t.i64, k));
}

static LLVMValueRef with_part(Lanes *l, LLVMValueRef v, LLVMValueRef part, unsigned k) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind
             ? l_insert_value(l->b, v, part, k)
             : l_insert_element(l->b, v, part, l_int(l->cg->t.i64, k));
}

static LLVMTypeRef part_type(LLVMTypeRef t, unsigned k) {
  return LLVMGetTypeKind(t) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(t, k)
                                                  : LLVMGetElementType(t);
}

LLVMValueRef ln_splat(Lanes *l, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v), vector = ln_vector_type(l, t);
  CX_ASSERT(l->cg->cx, vector);
  if (!ln_is_element(t)) {
    LLVMValueRef all = LLVMGetPoison(vector);
    for (unsigned k = 0; k < LLVMCountStructElementTypes(vector); k++)
      all = l_insert_value(l->b, all, ln_splat(l, part_of(l, v, k)), k);
    return all;
  }
  if (LLVMIsConstant(v))
    return constant_vector(l, v);
  LLVMTypeRef i32 = l->cg->t.i32;
  LLVMValueRef one = l_insert_element(l->b, LLVMGetPoison(vector), v, LLVMConstNull(i32));
  return l_shuffle(l->b, one, LLVMGetPoison(vector), LLVMConstNull(LLVMVectorType(i32, l->width)));
}

/* <0, step, 2 * step, …> */
LLVMValueRef ln_steps_vector(Lanes *l, LLVMTypeRef t, int64_t step) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, l->width);
  for (unsigned k = 0; k < l->width; k++)
    all[k] = ln_number(l, t, (int64_t)k * step);
  return LLVMConstVector(all, l->width);
}

/* Lane 0's value as a vector. */
static LLVMValueRef spread(Lanes *l, LLVMValueRef first, int64_t step) {
  LLVMTypeRef t = LLVMTypeOf(first);
  if (!step)
    return ln_splat(l, first);
  if (LLVMGetTypeKind(t) != LLVMPointerTypeKind)
    return l_add(l->b, ln_splat(l, first), ln_steps_vector(l, t, step));
  LLVMValueRef offsets = ln_steps_vector(l, l->cg->t.i64, step);
  return l_gep(l->b, l->cg->t.i8, first, &offsets, 1);
}

/* --- reading values --- */

static LLVMValueRef argument(Lanes *l, LLVMValueRef old) {
  for (unsigned k = 0; k < l->nargs; k++)
    if (LLVMGetParam(l->f, k) == old)
      return LLVMGetParam(l->fn, k);
  cx_bug(l->cg->cx, "an argument of another function");
}

bool ln_is_here(Lanes *l, LLVMValueRef old) {
  const LaneValue *v = ln_value(l, old);
  return !v || v->now || v->slot;
}

LLVMValueRef ln_read(Lanes *l, LaneValue *v) {
  if (v->now)
    return v->now;
  CX_ASSERT(l->cg->cx, v->slot);
  LLVMTypeRef t = LLVMTypeOf(v->old);
  if (v->shape.kind == SHAPE_VECTOR)
    t = ln_vector_type(l, t);
  LLVMValueRef got = l_load(l->b, t, v->slot);
  if (!l->reading)
    v->now = got;
  return got;
}

LLVMValueRef ln_scalar(Lanes *l, LLVMValueRef old) {
  if (LLVMIsAArgument(old))
    return argument(l, old);
  LaneValue *v = ln_value(l, old);
  if (!v)
    return old;
  CX_ASSERT(l->cg->cx, v->shape.kind == SHAPE_STEP);
  return ln_read(l, v);
}

LLVMValueRef ln_vector(Lanes *l, LLVMValueRef old) {
  LaneValue *v = ln_value(l, old);
  if (v && v->shape.kind == SHAPE_VECTOR) {
    LLVMValueRef again = l->reading ? ln_wrap_again(l, old, NULL) : NULL;
    return again ? again : ln_read(l, v);
  }
  return spread(l, ln_scalar(l, old), ln_shape(l, old).step);
}

static LLVMValueRef extract(Lanes *l, LLVMValueRef vector, LLVMTypeRef t, LLVMValueRef lane) {
  if (ln_is_element(t))
    return l_extract_element(l->b, vector, lane);
  LLVMValueRef one = LLVMGetPoison(t);
  for (unsigned k = 0; k < LLVMCountStructElementTypes(LLVMTypeOf(vector)); k++)
    one = with_part(l, one, extract(l, part_of(l, vector, k), part_type(t, k), lane), k);
  return one;
}

LLVMValueRef ln_insert(Lanes *l, LLVMValueRef vector, LLVMValueRef one, LLVMValueRef lane) {
  if (ln_is_element(LLVMTypeOf(one)))
    return l_insert_element(l->b, vector, one, lane);
  for (unsigned k = 0; k < LLVMCountStructElementTypes(LLVMTypeOf(vector)); k++)
    vector = with_part(l, vector, ln_insert(l, part_of(l, vector, k), part_of(l, one, k), lane), k);
  return vector;
}

/* lane: i64, NULL for lane 0 */
LLVMValueRef ln_in_lane(Lanes *l, LLVMValueRef old, LLVMValueRef lane) {
  uint32_t copy = valuemap_get(&l->copy_of, old);
  if (l->lane && copy != VALUEMAP_NONE && l->copies.data[copy])
    return l->copies.data[copy];
  if (!lane)
    lane = LLVMConstNull(l->cg->t.i64);
  Shape s = ln_shape(l, old);
  LLVMTypeRef t = LLVMTypeOf(old);
  if (s.kind == SHAPE_VECTOR) {
    LLVMValueRef again = l->reading ? ln_wrap_again(l, old, lane) : NULL;
    return again ? again : extract(l, ln_vector(l, old), t, lane);
  }
  LLVMValueRef first = ln_scalar(l, old);
  if (!s.step)
    return first;
  LLVMValueRef offset = l_mul(l->b, lane, ln_number(l, l->cg->t.i64, s.step));
  if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
    return l_gep(l->b, l->cg->t.i8, first, &offset, 1);
  return l_add(l->b, first, l_int_cast(l->b, offset, t, 1));
}

/* --- masks --- */

/* The lanes of the mask whose bit is set (or clear). A select, not an `and`: bits of inactive lanes
 * may be poison. */
LLVMValueRef ln_and(Lanes *l, LLVMValueRef mask, LLVMValueRef bits, bool negate) {
  if (negate)
    bits = l_not(l->b, bits);
  return mask ? l_select(l->b, mask, bits, LLVMConstNull(l->mask_type)) : bits;
}

LLVMValueRef ln_bits(Lanes *l, LLVMValueRef mask) {
  return l_bitcast(l->b, mask, cg_int_type(l->cg, l->width));
}

LLVMValueRef ln_any(Lanes *l, LLVMValueRef mask) {
  LLVMValueRef bits = ln_bits(l, mask);
  return LLVMBuildICmp(l->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "any");
}

/* The number of bits if none is set. */
LLVMValueRef ln_lowest_bit(Lanes *l, LLVMValueRef bits) {
  LLVMTypeRef t = LLVMTypeOf(bits), i64 = l->cg->t.i64;
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, "llvm.cttz", &t, 1),
               args[] = {bits, l_int(l->cg->t.i1, 0)};
  LLVMValueRef n = l_call(l->b, fn, args, 2);
  return LLVMBuildIntCast2(l->b, n, i64, 0, "lane");
}

/* -1 if none is set. */
LLVMValueRef ln_highest_bit(Lanes *l, LLVMValueRef bits) {
  LLVMTypeRef t = LLVMTypeOf(bits), i64 = l->cg->t.i64;
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, "llvm.ctlz", &t, 1),
               args[] = {bits, l_int(l->cg->t.i1, 0)};
  LLVMValueRef n = l_int_cast(l->b, l_call(l->b, fn, args, 2), i64, 0);
  return LLVMBuildSub(l->b, l_int(i64, l->width - 1), n, "lane");
}

LLVMValueRef ln_first(Lanes *l, LLVMValueRef mask) {
  return mask ? ln_lowest_bit(l, ln_bits(l, mask)) : LLVMConstNull(l->cg->t.i64);
}

static LLVMValueRef every_lane(Lanes *l) { return LLVMConstAllOnes(l->mask_type); }
LLVMValueRef ln_mask_or_all(Lanes *l) { return l->mask_now ? l->mask_now : every_lane(l); }

/* --- writing values --- */

/* Stores the value into its slot. Phis are stored by the edges, arrays at the entry. */
static void ln_keep(Lanes *l, LaneValue *v) {
  assert(v->now);
  if (v->slot && !LLVMIsAPHINode(v->old))
    l_store(l->b, v->now, v->slot);
}

static LLVMValueRef copy_with(Lanes *l, LLVMValueRef i, LLVMValueRef lane, bool scalar) {
  int n = LLVMGetNumOperands(i);
  LLVMValueRef *operands = ARENA_ARRAY(l->arena, LLVMValueRef, (size_t)n + 1);
  for (int k = 0; k < n; k++) {
    LLVMValueRef o = LLVMGetOperand(i, (unsigned)k);
    operands[k] = scalar ? ln_scalar(l, o) : ln_in_lane(l, o, lane);
  }
  bool was_disjoint_add = LLVMGetInstructionOpcode(i) == LLVMOr && LLVMGetIsDisjoint(i) &&
                          ln_value(l, i) && !ln_is_uniform(ln_value(l, i)->shape) && scalar;
  if (was_disjoint_add) /* an inactive lane 0's bits need not be disjoint */
    return l_add(l->b, operands[0], operands[1]);
  LaneValue *v = ln_value(l, i);
  if (v && v->element) /* an alloca is no operation */
    return LLVMBuildGEPWithNoWrapFlags(l->b, ln_gep_unit(l, i), operands[0], &operands[1], 1, "",
                                       LLVMGEPGetNoWrapFlags(i));
  return copy_ins(l->b, i, operands);
}

LLVMValueRef ln_copy_scalar(Lanes *l, LLVMValueRef i) { return copy_with(l, i, NULL, true); }

/* pyptx.all: by the first and the last lane, inactive or not, where these decide it; else by the
 * vector of the active lanes. */
static LLVMValueRef write_all(Lanes *l, LLVMValueRef call) {
  LLVMValueRef c = LLVMGetOperand(call, 0);
  bool value = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1));
  LaneValue *v = ln_value(l, c);
  LLVMValueRef agree =
      v && LLVMIsAICmpInst(c) && v->shape.kind == SHAPE_VECTOR ? ln_ends_agree(l, v, value) : NULL;
  if (agree)
    return agree;
  LLVMValueRef others = ln_and(l, l->mask_now, ln_vector(l, c), value);
  return l_not(l->b, ln_any(l, others));
}

LLVMValueRef ln_copy_in_lane(Lanes *l, LLVMValueRef i, LLVMValueRef lane) {
  return copy_with(l, i, lane, false);
}

/* A zext nneg of what is linear as a signed number: an inactive lane 0 may be negative, and the
 * active lanes' values are linear from there only with a sign extension. */
static bool may_begin_below_zero(Lanes *l, LLVMValueRef i) {
  return LLVMIsAZExtInst(i) && LLVMGetNNeg(i) && ln_extends(l, LLVMGetOperand(i, 0), true);
}

static void write_step(Lanes *l, LaneValue *v) {
  assert(v->shape.kind == SHAPE_STEP && !LLVMIsAPHINode(v->old));
  if (l->mask_now && v->shape.step && may_begin_below_zero(l, v->old)) {
    v->now = l_sext(l->b, ln_scalar(l, LLVMGetOperand(v->old, 0)), LLVMTypeOf(v->old));
    return;
  }
  v->now = ln_is_total(l, v->old) ? ln_copy_in_lane(l, v->old, NULL) : ln_copy_scalar(l, v->old);
  if (l->mask_now && !ln_all_uniform(l, v->old)) /* lane 0 may rest */
    copy_forget_flags(v->now);
}

/* --- vectors --- */

static void copy_flags(LLVMValueRef to, LLVMValueRef from) {
  if (!LLVMIsAInstruction(to))
    return;
  if (LLVMCanValueUseFastMathFlags(to) && LLVMCanValueUseFastMathFlags(from))
    LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
  if (LLVMGetInstructionOpcode(to) != LLVMGetInstructionOpcode(from))
    return;
  switch (LLVMGetInstructionOpcode(to)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
    LLVMSetNSW(to, LLVMGetNSW(from));
    LLVMSetNUW(to, LLVMGetNUW(from));
    break;
  case LLVMLShr:
  case LLVMAShr: LLVMSetExact(to, LLVMGetExact(from)); break;
  case LLVMZExt: LLVMSetNNeg(to, LLVMGetNNeg(from)); break;
  case LLVMOr: LLVMSetIsDisjoint(to, LLVMGetIsDisjoint(from)); break;
  default: break;
  }
}

/* Inactive lanes divide by 1. */
static LLVMValueRef divisor(Lanes *l, LLVMValueRef i) {
  LLVMValueRef by = ln_vector(l, LLVMGetOperand(i, 1));
  if (!l->mask_now)
    return by;
  LLVMValueRef one = ln_splat(l, l_int(LLVMTypeOf(i), 1));
  return l_select(l->b, l->mask_now, by, one);
}

static LLVMValueRef write_gep(Lanes *l, LLVMValueRef i) {
  LLVMValueRef indices[8], base = LLVMGetOperand(i, 0);
  unsigned n = (unsigned)LLVMGetNumOperands(i) - 1;
  CX_ASSERT(l->cg->cx, n <= 8);
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef o = LLVMGetOperand(i, k + 1);
    indices[k] = ln_is_uniform(ln_shape(l, o)) ? ln_scalar(l, o) : ln_vector(l, o);
  }
  base = ln_is_uniform(ln_shape(l, base)) ? ln_scalar(l, base) : ln_vector(l, base);
  return LLVMBuildGEPWithNoWrapFlags(l->b, ln_gep_unit(l, i), base, indices, n, "",
                                     LLVMGEPGetNoWrapFlags(i));
}

static void write_row(Lanes *l, LLVMValueRef i, LaneValue *v, const RowForm *form) {
  enum { POINTER = 1, MOST = 5, MORE = 2, ITS_OWN_MEMORY = 12 /* inaccessiblemem: readwrite */ };
  const CgTypes *t = &l->cg->t;
  LLVMTypeRef types[MOST + MORE];
  LLVMValueRef args[MOST + MORE], fn = LLVMGetNamedFunction(l->cg->module, form->row);
  unsigned n = LLVMGetNumArgOperands(i);
  CX_ASSERT(l->cg->cx, n <= MOST);
  for (unsigned k = 0; k < n; k++)
    args[k] = ln_scalar(l, LLVMGetOperand(i, k));
  args[n++] = ln_number(l, t->i64, ln_shape(l, LLVMGetOperand(i, POINTER)).step);
  args[n++] = l_zext(l->b, ln_bits(l, ln_mask_or_all(l)), t->i32);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(args[k]);
  if (!fn) {
    LLVMTypeRef result = form->answers ? t->ptr : t->none;
    fn = LLVMAddFunction(l->cg->module, form->row, LLVMFunctionType(result, types, n, 0));
    cg_attribute(l->cg, fn, L_FUNCTION, "nounwind", 0);
    cg_attribute(l->cg, fn, L_FUNCTION, "memory", ITS_OWN_MEMORY);
  }
  LLVMValueRef found = l_call(l->b, fn, args, n);
  if (!v)
    return;
  v->now = l_load(l->b, ln_vector_type(l, LLVMTypeOf(i)), found);
  LLVMSetAlignment(v->now, 1);
  LLVMSetVolatile(v->now, 1); /* another call writes it again */
}

static void write_call(Lanes *l, LLVMValueRef i, LaneValue *v) {
  const RowForm *row = ln_row_form(l, i);
  if (row) {
    write_row(l, i, v, row);
    return;
  }
  const VectorForm *form = ln_vector_form(i);
  LLVMTypeRef all = v ? ln_vector_type(l, LLVMTypeOf(i)) : NULL;
  if (!form || !all) {
    ln_write_lane_by_lane(l, i, v);
    return;
  }
  if (ln_saturates(l, i)) {
    ln_write_saturating(l, i, v);
    return;
  }
  LLVMValueRef args[4];
  unsigned n = LLVMGetNumArgOperands(i);
  CX_ASSERT(l->cg->cx, n <= 4);
  for (unsigned k = 0; k < n; k++)
    args[k] = form->scalar >> k & 1 ? LLVMGetOperand(i, k) : ln_vector(l, LLVMGetOperand(i, k));
  LLVMTypeRef types[] = {form->types == FORM_FIRST ? LLVMTypeOf(args[0]) : all,
                         LLVMTypeOf(args[0])};
  char name[64];
  assert(strlen(form->name) < sizeof name);
  strncpy(name, form->name, sizeof name - 1);
  name[strlen(form->name) - 1] = 0; /* the dot */
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, name, types,
                                    form->types == FORM_RESULT_AND_FIRST ? 2 : 1);
  v->now = l_call(l->b, fn, args, n);
  copy_flags(v->now, i);
}

/* A site that differs between lanes, since they came by different calls, is not known. */
static void write_place(Lanes *l, LLVMValueRef i) {
  LLVMValueRef args[] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)};
  if (!ln_is_uniform(ln_shape(l, args[0])))
    return;
  args[0] = ln_scalar(l, args[0]);
  l_call(l->b, LLVMGetCalledValue(i), args, 2);
}

static LLVMValueRef write_select(Lanes *l, LLVMValueRef i) {
  LLVMValueRef c = LLVMGetOperand(i, 0);
  c = ln_is_uniform(ln_shape(l, c)) ? ln_scalar(l, c) : ln_vector(l, c);
  return l_select(l->b, c, ln_vector(l, LLVMGetOperand(i, 1)), ln_vector(l, LLVMGetOperand(i, 2)));
}

static LLVMValueRef write_vector(Lanes *l, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  LLVMBuilderRef b = l->b;
  LLVMValueRef x = ln_vector(l, LLVMGetOperand(i, 0));
  switch (op) {
  case LLVMFNeg: return l_fneg(b, x);
  case LLVMFreeze: return l_freeze(b, x);
  case LLVMFCmp: return l_fcmp(b, LLVMGetFCmpPredicate(i), x, ln_vector(l, LLVMGetOperand(i, 1)));
  case LLVMExtractElement:
    return l_extract_value(b, x, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)));
  case LLVMInsertElement:
    return l_insert_value(b, x, ln_vector(l, LLVMGetOperand(i, 1)),
                          (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2)));
  case LLVMExtractValue: return l_extract_value(b, x, LLVMGetIndices(i)[0]);
  case LLVMInsertValue:
    return l_insert_value(b, x, ln_vector(l, LLVMGetOperand(i, 1)), LLVMGetIndices(i)[0]);
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMURem:
  case LLVMSRem:
    return ln_divides(l, i) ? ln_divide(l, i, x, divisor(l, i)) : l_binop(b, op, x, divisor(l, i));
  default: break;
  }
  LLVMValueRef square = ln_square(l, i);
  if (square)
    return square;
  if (LLVMGetNumOperands(i) == 1)
    return l_cast(b, op, x, ln_vector_type(l, LLVMTypeOf(i)));
  return l_binop(b, op, x, ln_vector(l, LLVMGetOperand(i, 1)));
}

/* Flags stay: where one does not hold, the result is poison in that lane alone. Not where others
 * are addressed from a lane that may rest: from the first one of a group (groups.c), or from lane
 * 0, if it is known how far all are from it (patterns.c). */
static LLVMValueRef write_vector_with_flags(Lanes *l, LLVMValueRef i) {
  LLVMValueRef v = LLVMIsAGetElementPtrInst(i) ? write_gep(l, i)
                   : LLVMIsASelectInst(i)      ? write_select(l, i)
                   : LLVMIsAICmpInst(i)        ? ln_compare(l, i)
                                               : write_vector(l, i);
  copy_flags(v, i);
  int64_t *far = ARENA_ARRAY(l->arena, int64_t, l->width);
  if (l->mask_now && LLVMIsAInstruction(v) && (ln_group(l, i).step || ln_pattern(l, i, far)))
    copy_forget_flags(v);
  return v;
}

/* --- any instruction --- */

void ln_write_instruction(Lanes *l, LLVMValueRef i) {
  LaneValue *v = ln_value(l, i);
  if (v && v->late)
    return;
  if (cg_is_call_of(i, CG_PLACE_NAME))
    write_place(l, i);
  if (LLVMIsACallInst(i) && ln_is_nothing(i))
    return;
  if (v && v->agreed)
    ln_write_agreed(l, v);
  else if (v && cg_is_call_of(i, CG_ALL_NAME))
    v->now = write_all(l, i);
  else if (v && cg_is_meeting(i))
    v->now = ln_write_meeting(l, i);
  else if (v && LLVMIsAAllocaInst(i))
    return; /* make_slots has made it */
  else if (v && v->shape.kind == SHAPE_STEP)
    write_step(l, v);
  else if (LLVMIsALoadInst(i))
    ln_write_load(l, i, v);
  else if (LLVMIsAStoreInst(i))
    ln_write_store(l, i);
  else if (LLVMIsACallInst(i))
    write_call(l, i, v);
  else if (ln_is_apart(l, i))
    ln_write_apart(l, i, v);
  else if (ln_is_reduced(l, i))
    ln_write_reduced(l, i, v);
  else if (ln_waits_for_next(l, i))
    return;
  else if (ln_is_short(l, i))
    ln_write_short(l, i, v);
  else if (!v || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
    ln_write_lane_by_lane(l, i, v);
  else
    v->now = write_vector_with_flags(l, i);
  if (v)
    ln_keep(l, v);
}
