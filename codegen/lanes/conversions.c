/* Lanes: conversions of floats to integers that saturate, and make 0 of nan. See lanes.h.
 *
 * LLVM 22 takes vectors of them apart, on x86 into branches for each lane. They are written as the
 * CPU's conversion, which is of what lies in between, and selections for the rest. AVX2 has none to
 * 64 bits: if no lane is beyond 32 bits, its conversion to these is extended, else lanes are
 * converted one by one. NEON's conversion saturates. */
#include <math.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { NEON = 4, SHORT = 32, LONG = 64 };

static bool is_signed(LLVMValueRef call) { return cg_is_call_of_any(call, "llvm.fptosi.sat."); }

bool ln_saturates(const Lanes *l, LLVMValueRef call) {
  if (!is_signed(call) && !cg_is_call_of_any(call, "llvm.fptoui.sat."))
    return false;
  LLVMTypeKind from = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, 0)));
  return (from == LLVMFloatTypeKind || from == LLVMDoubleTypeKind) && cg_lanes_part(l->cg) > NEON;
}

static LLVMValueRef real(Lanes *l, LLVMValueRef like, double x) {
  return ln_splat(l, LLVMConstReal(LLVMGetElementType(LLVMTypeOf(like)), x));
}

static LLVMValueRef convert(Lanes *l, LLVMValueRef x, LLVMTypeRef ints, bool with_sign) {
  LLVMBuilderRef b = l->b;
  LLVMTypeRef one = LLVMGetElementType(ints);
  int bits = (int)LLVMGetIntTypeWidth(one) - with_sign;
  LLVMValueRef least = real(l, x, with_sign ? -ldexp(1, bits) : 0),
               above = l_fcmp(b, LLVMRealOGE, x, real(l, x, ldexp(1, bits))),
               nan = l_fcmp(b, LLVMRealUNO, x, x),
               most = ln_splat(l, l_int(one, UINT64_MAX >> (LONG - bits)));
  LLVMValueRef least_or_more = l_select(b, l_fcmp(b, LLVMRealOLT, x, least), least, x),
               within = l_cast(b, with_sign ? LLVMFPToSI : LLVMFPToUI, least_or_more, ints);
  return l_select(b, nan, LLVMConstNull(ints), l_select(b, above, most, within));
}

/* x is between -2**31 and 2**31. */
static LLVMValueRef convert_short(Lanes *l, LLVMValueRef x, LLVMTypeRef ints, bool with_sign) {
  LLVMTypeRef half = LLVMVectorType(l->cg->t.i32, l->width);
  LLVMValueRef v = l_cast(l->b, LLVMFPToSI, x, half);
  if (with_sign)
    return l_sext(l->b, v, ints);
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, "llvm.smax", &half, 1);
  return l_zext(l->b, l_call(l->b, fn, (LLVMValueRef[]){v, LLVMConstNull(half)}, 2), ints);
}

/* Is a lane that runs beyond 32 bits, or nan? */
static LLVMValueRef is_any_long(Lanes *l, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef size = l_call(l->b, cg_intrinsic_fn(l->cg, "llvm.fabs", &t, 1), &x, 1);
  LLVMValueRef beyond = l_fcmp(l->b, LLVMRealUGE, size, real(l, x, ldexp(1, SHORT - 1)));
  return ln_any(l, ln_and(l, l->mask_now, beyond, false));
}

static void convert_short_or_all(Lanes *l, LLVMValueRef call, LaneValue *v) {
  LLVMTypeRef ints = ln_vector_type(l, LLVMTypeOf(call));
  LLVMValueRef x = l_freeze(l->b, ln_vector(l, LLVMGetOperand(call, 0)));
  LLVMBasicBlockRef ways[] = {ln_new_block(l, "short"), ln_new_block(l, "long")},
                    done = ln_new_block(l, "converted");
  cg_branch_weights(l->cg, l_condbr(l->b, is_any_long(l, x), ways[1], ways[0]), 1, CG_OFTEN);
  LLVMValueRef found[2];
  for (int k = 0; k < 2; k++) {
    LLVMPositionBuilderAtEnd(l->b, ways[k]);
    if (k)
      ln_write_lane_by_lane(l, call, v);
    found[k] = k ? v->now : convert_short(l, x, ints, is_signed(call));
    ways[k] = LLVMGetInsertBlock(l->b);
    l_br(l->b, done);
  }
  LLVMPositionBuilderAtEnd(l->b, done);
  v->now = l_phi(l->b, ints);
  LLVMAddIncoming(v->now, found, ways, 2);
}

void ln_write_saturating(Lanes *l, LLVMValueRef call, LaneValue *v) {
  LLVMTypeRef one = LLVMTypeOf(call);
  if (LLVMGetIntTypeWidth(one) > SHORT && !ln_has_masks(l))
    convert_short_or_all(l, call, v);
  else
    v->now = convert(l, ln_vector(l, LLVMGetOperand(call, 0)), ln_vector_type(l, one),
                     is_signed(call));
}
