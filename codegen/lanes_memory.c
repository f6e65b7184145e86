/* Lanes: loads and stores. See lanes.h; lanes_values.c calls it.
 *
 * Lanes that are neighbours in memory are one access, with a mask where not all run; others are a gather or scatter. What has neither form
 * runs lane by lane. */
#include "codegen/flow.h"
#include "codegen/lanes_private.h"

static LLVMValueRef call_masked(Lanes *l, const char *name, LLVMTypeRef const *overloads,
                                LLVMValueRef *args, unsigned n, unsigned pointer, unsigned align) {
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, name, overloads, 2);
  LLVMValueRef call = LLVMBuildCall2(l->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddCallSiteAttribute(call, 1 + pointer, LLVMCreateEnumAttribute(l->cg->context, kind, align));
  return call;
}

/* Neighbours in memory, as the lanes are? */
static bool is_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  Shape s = ln_shape(l, pointer);
  return s.kind == SHAPE_STEP && (uint64_t)s.step == LLVMABISizeOfType(l->cg->layout, t) &&
         LLVMSizeOfTypeInBits(l->cg->layout, t) == 8 * (uint64_t)s.step;
}

/* Pairs in memory: one run of twice as many parts, or two gathers. */

enum { TWICE = UINT16_MAX };

/* Lanes begin, begin + by, … of x and y, one behind the other; or each of x twice; or each of x and, `second` further on, of y in turn. */
static LLVMValueRef shuffled(Lanes *l, LLVMValueRef x, LLVMValueRef y, unsigned n, unsigned begin,
                             unsigned by, unsigned second) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    all[k] = LLVMConstInt(l->cg->t.i32, second == TWICE ? k / 2 : second ? k / 2 + k % 2 * second : begin + k * by, 0);
  return LLVMBuildShuffleVector(l->b, x, y, LLVMConstVector(all, n), "");
}

static LLVMValueRef mask_of_parts(Lanes *l) {
  return l->mask_now ? shuffled(l, l->mask_now, LLVMGetPoison(l->mask_type), 2 * l->width, 0, 0,
                                TWICE)
                     : NULL;
}

static LLVMValueRef pointer_to_part(Lanes *l, LLVMValueRef pointer, LLVMTypeRef part, unsigned k) {
  LLVMValueRef at = LLVMConstInt(l->cg->t.i64, k, 0);
  return LLVMBuildGEP2(l->b, part, ln_vector(l, pointer), &at, 1, "");
}

static unsigned part_alignment(Lanes *l, LLVMValueRef i, LLVMTypeRef part) {
  unsigned align = LLVMGetAlignment(i), own = LLVMABIAlignmentOfType(l->cg->layout, part);
  return align < own ? align : own;
}

static void load_pairs(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(i), part = LLVMGetElementType(t), wide = LLVMVectorType(part, 2 * l->width),
              all = LLVMVectorType(part, l->width);
  LLVMValueRef pointer = LLVMGetOperand(i, 0), parts[2], both = NULL;
  unsigned align = part_alignment(l, i, part);
  if (is_run(l, pointer, t) && l->mask_now) {
    LLVMTypeRef types[] = {wide, LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {ln_scalar(l, pointer), mask_of_parts(l), LLVMGetPoison(wide)};
    both = call_masked(l, "llvm.masked.load", types, args, 3, 0, align);
  } else if (is_run(l, pointer, t)) {
    both = LLVMBuildLoad2(l->b, wide, ln_scalar(l, pointer), "");
    LLVMSetAlignment(both, align);
  }
  for (unsigned k = 0; k < 2; k++) {
    if (both) {
      parts[k] = shuffled(l, both, LLVMGetPoison(wide), l->width, k, 2, 0);
      continue;
    }
    LLVMTypeRef types[] = {all, LLVMVectorType(LLVMTypeOf(pointer), l->width)};
    LLVMValueRef args[] = {pointer_to_part(l, pointer, part, k), ln_mask_or_all(l), LLVMGetPoison(all)};
    parts[k] = call_masked(l, "llvm.masked.gather", types, args, 3, 0, align);
  }
  v->now = LLVMGetPoison(ln_vector_type(l, t));
  for (unsigned k = 0; k < 2; k++)
    v->now = LLVMBuildInsertValue(l->b, v->now, parts[k], k, "");
}

static void store_pairs(Lanes *l, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0), pointer = LLVMGetOperand(i, 1), parts[2];
  LLVMTypeRef t = LLVMTypeOf(value), part = LLVMGetElementType(t), all = LLVMVectorType(part, l->width);
  unsigned align = part_alignment(l, i, part);
  value = ln_vector(l, value);
  for (unsigned k = 0; k < 2; k++)
    parts[k] = LLVMBuildExtractValue(l->b, value, k, "");
  if (is_run(l, pointer, t)) {
    LLVMValueRef both = shuffled(l, parts[0], parts[1], 2 * l->width, 0, 0, l->width);
    LLVMTypeRef types[] = {LLVMTypeOf(both), LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {both, ln_scalar(l, pointer), mask_of_parts(l)};
    if (args[2])
      call_masked(l, "llvm.masked.store", types, args, 3, 1, align);
    else
      LLVMSetAlignment(LLVMBuildStore(l->b, both, args[1]), align);
    return;
  }
  for (unsigned k = 0; k < 2; k++) {
    LLVMTypeRef types[] = {all, LLVMVectorType(LLVMTypeOf(pointer), l->width)};
    LLVMValueRef args[] = {parts[k], pointer_to_part(l, pointer, part, k), ln_mask_or_all(l)};
    call_masked(l, "llvm.masked.scatter", types, args, 3, 1, align);
  }
}

LLVMValueRef ln_gather(Lanes *l, LLVMTypeRef vector, LLVMValueRef pointers, unsigned align) {
  LLVMTypeRef types[] = {vector, LLVMTypeOf(pointers)};
  LLVMValueRef args[] = {pointers, ln_mask_or_all(l), LLVMGetPoison(vector)};
  return call_masked(l, "llvm.masked.gather", types, args, 3, 0, align);
}

void ln_write_load(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(i), all = ln_vector_type(l, t);
  LLVMValueRef pointer = LLVMGetOperand(i, 0);
  unsigned align = LLVMGetAlignment(i);
  if (cg_is_plain_access(i) && ln_is_pair(t)) {
    load_pairs(l, i, v);
  } else if (!cg_is_plain_access(i) || !ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
    ln_write_lane_by_lane(l, i, v);
  } else if (!is_run(l, pointer, t)) {
    v->now = ln_gather(l, all, ln_vector(l, pointer), align);
  } else if (l->mask_now) {
    LLVMTypeRef types[] = {all, LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {ln_scalar(l, pointer), l->mask_now, LLVMGetPoison(all)};
    v->now = call_masked(l, "llvm.masked.load", types, args, 3, 0, align);
  } else {
    v->now = LLVMBuildLoad2(l->b, all, ln_scalar(l, pointer), "");
    LLVMSetAlignment(v->now, align);
  }
}

/* Lanes that store to one place do so in their order. */
void ln_write_store(Lanes *l, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0), pointer = LLVMGetOperand(i, 1);
  LLVMTypeRef t = LLVMTypeOf(value), all = ln_vector_type(l, t);
  unsigned align = LLVMGetAlignment(i);
  if (cg_is_plain_access(i) && is_uniform(ln_shape(l, pointer)) && is_uniform(ln_shape(l, value))) {
    ln_copy_scalar(l, i);
  } else if (cg_is_plain_access(i) && ln_is_pair(t)) {
    store_pairs(l, i);
  } else if (!cg_is_plain_access(i) || !ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
    ln_write_lane_by_lane(l, i, NULL);
  } else if (!is_run(l, pointer, t)) {
    LLVMTypeRef types[] = {all, LLVMVectorType(LLVMTypeOf(pointer), l->width)};
    LLVMValueRef args[] = {ln_vector(l, value), ln_vector(l, pointer), ln_mask_or_all(l)};
    call_masked(l, "llvm.masked.scatter", types, args, 3, 1, align);
  } else if (l->mask_now) {
    LLVMTypeRef types[] = {all, LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {ln_vector(l, value), ln_scalar(l, pointer), l->mask_now};
    call_masked(l, "llvm.masked.store", types, args, 3, 1, align);
  } else {
    LLVMSetAlignment(LLVMBuildStore(l->b, ln_vector(l, value), ln_scalar(l, pointer)), align);
  }
}
