/* NVPTX low halves: 64-bit integers of which only the low half is used, in 32 bits.
 *
 *   a[row * m + col]                  # m: an int, so that no range shows that the sum fits 32 bits
 *   s = (s * 1664525 + 1013904223) & 0xFFFFFFFF
 *
 * An element number of an array of fewer than 2**31 elements is the low half of its index, extended
 * (lower/places.c), and a mask of 32 bits takes a low half, too. The low half of a sum, difference,
 * product, bit operation, left shift, phi or selection is a function of those of its operands, and
 * so is that of a right shift of a value without an upper half:
 *
 *   (x >> 7 | x << 25) & 0xFFFFFFFF   # a rotation, where x was masked before
 *
 * Comparisons of such values, and conversions to floats, ask their low halves, without a sign.
 *
 * A count of a shift is less than 64 where the shift has a value, and so its low half is all of it
 * (mask |= uint64(1) << k): where a comparison guards the shift, that reads the count in full.
 *
 * LLVM computes such values in 32 bits only where each has a single use and none is a phi. Of the
 * others ptxas computes both halves, and extends the low one by shifts: six instructions for an
 * address in place of two.
 *
 * In: functions after LLVM's passes and coarsening. Out: each such value in 32 bits, and indices
 * whose low half it is wrapped by a minimum. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/high_bits.h"
#include "codegen/nvptx/ranges/value_ranges.h"
#include "ir/base/vec.h"

enum { HALF = 32 };

typedef struct Value {
  LLVMValueRef wide, low; /* low: the same in 32 bits; NULL: not written yet */
  bool full;              /* its upper half is used */
} Value;

typedef struct Halves {
  Cg *cg;
  VEC(Value) all;
  ValueMap number; /* of a wide value in `all` */
  HighBits bits;
} Halves;

static bool is_wide(const Cg *cg, LLVMValueRef v) { return LLVMTypeOf(v) == cg->t.i64; }

static bool is_mask(LLVMValueRef v, unsigned bits) {
  return LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) >> bits == 0;
}

/* Is its low half a function of the low halves of its operands (of a right shift: if the operand
 * has no upper half)? */
static bool keeps_halves(const Cg *cg, LLVMValueRef i) {
  if (!is_wide(cg, i))
    return false;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMSelect:
  case LLVMPHI: return true;
  case LLVMShl:
  case LLVMLShr: return is_mask(LLVMGetOperand(i, 1), 5);
  default: return false;
  }
}

static Value *value_of(const Halves *h, LLVMValueRef v) {
  uint32_t k = valuemap_get(&h->number, v);
  return k == VALUEMAP_NONE ? NULL : &h->all.data[k];
}

static bool is_low(const Halves *h, LLVMValueRef v) {
  const Value *is = value_of(h, v);
  return is && !is->full;
}

static bool is_short(const Halves *h, LLVMValueRef v) {
  return cg_nvptx_bits_of(&h->bits, v) <= HALF;
}

/* --- who reads no more --- */

/* The sum of a number with a constant that has no low half? */
static bool adds_above(LLVMValueRef i) {
  return cg_is_op(i, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
         !(LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) & UINT32_MAX);
}

/* The low half, shifted to the top: a constant is added there, and it is shifted back, perhaps
 * multiplied by the size of an element. */
static bool is_extended(LLVMValueRef top) {
  for (LLVMUseRef u = LLVMGetFirstUse(top); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    bool back = (cg_is_op(i, LLVMAShr) || cg_is_op(i, LLVMLShr)) && LLVMGetOperand(i, 0) == top &&
                (is_mask(LLVMGetOperand(i, 1), 5) || cg_is_number(LLVMGetOperand(i, 1), HALF));
    if (!back && !(adds_above(i) && is_extended(i)))
      return false;
  }
  return true;
}

/* Bits of the low half, moved down? */
static bool is_masked(LLVMValueRef shifted) {
  uint64_t by = LLVMConstIntGetZExtValue(LLVMGetOperand(shifted, 1));
  for (LLVMUseRef u = LLVMGetFirstUse(shifted); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    if (!cg_is_op(i, LLVMAnd) || !is_mask(LLVMGetOperand(i, 1), HALF - (unsigned)by))
      return false;
  }
  return true;
}

static bool is_shift(LLVMValueRef i) {
  return cg_is_op(i, LLVMShl) || cg_is_op(i, LLVMLShr) || cg_is_op(i, LLVMAShr);
}

/* Does a shift of 64 bits ask v for its count, and for nothing else? */
static bool is_count_of(const Cg *cg, LLVMValueRef v, LLVMValueRef shift) {
  return is_wide(cg, shift) && is_shift(shift) && LLVMGetOperand(shift, 1) == v &&
         LLVMGetOperand(shift, 0) != v;
}

/* Does it compare, or convert to a float, numbers without an upper half? */
static bool reads_short(const Halves *h, LLVMValueRef user) {
  bool compares = LLVMIsAICmpInst(user) != NULL;
  if (!compares && !cg_is_op(user, LLVMSIToFP) && !cg_is_op(user, LLVMUIToFP))
    return false;
  return is_wide(h->cg, LLVMGetOperand(user, 0)) && is_short(h, LLVMGetOperand(user, 0)) &&
         (!compares || is_short(h, LLVMGetOperand(user, 1)));
}

static bool reads_low(const Halves *h, LLVMValueRef v, LLVMValueRef user) {
  if (is_low(h, user) || is_count_of(h->cg, v, user) || reads_short(h, user))
    return true;
  switch (LLVMGetInstructionOpcode(user)) {
  case LLVMTrunc: return LLVMGetIntTypeWidth(LLVMTypeOf(user)) <= HALF;
  case LLVMAnd: return is_mask(LLVMGetOperand(user, 1), HALF);
  case LLVMShl: return cg_is_number(LLVMGetOperand(user, 1), HALF) && is_extended(user);
  case LLVMLShr: return is_mask(LLVMGetOperand(user, 1), 5) && is_masked(user);
  default: return false;
  }
}

static bool is_read_in_full(const Halves *h, LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (!reads_low(h, v, LLVMGetUser(u)))
      return true;
  return false;
}

static void find_values(Halves *h, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (keeps_halves(h->cg, i)) {
        valuemap_set(&h->number, i, h->all.len);
        VEC_PUSH(&h->cg->cx->arena, &h->all, (Value){.wide = i});
      }
  if (!h->all.len)
    return;
  h->bits = cg_nvptx_high_bits(h->cg, f);
  for (uint32_t k = 0; k < h->all.len; k++)
    h->all.data[k].full = cg_is_op(h->all.data[k].wide, LLVMLShr) &&
                          !is_short(h, LLVMGetOperand(h->all.data[k].wide, 0));
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = h->all.len; k-- > 0;)
      if (!h->all.data[k].full && is_read_in_full(h, h->all.data[k].wide))
        changed = h->all.data[k].full = true;
  }
}

/* --- writing --- */

static void write_before(const Halves *h, LLVMValueRef i) {
  LLVMPositionBuilderBefore(h->cg->builder, i);
  LLVMSetCurrentDebugLocation2(h->cg->builder, LLVMInstructionGetDebugLoc(i));
}

static LLVMValueRef low_of(const Halves *h, LLVMValueRef v, LLVMValueRef at);

/* Of a low value that is no phi. Of nan the conversion to int64 makes -2**63, whose low half is 0
 * already. */
static LLVMValueRef computed(const Halves *h, LLVMValueRef i) {
  if (cg_nvptx_converted(i))
    return low_of(h, cg_nvptx_converted(i), i);
  bool select = LLVMIsASelectInst(i) != NULL;
  LLVMValueRef x = low_of(h, LLVMGetOperand(i, select), i),
               y = low_of(h, LLVMGetOperand(i, 1 + select), i);
  write_before(h, i);
  return select ? l_select(h->cg->builder, LLVMGetOperand(i, 0), x, y)
                : l_binop(h->cg->builder, LLVMGetInstructionOpcode(i), x, y);
}

/* The low half of v, in front of instruction `at`. */
static LLVMValueRef low_of(const Halves *h, LLVMValueRef v, LLVMValueRef at) {
  Value *is = value_of(h, v);
  if (is && !is->full) {
    is->low = is->low ? is->low : computed(h, v);
    return is->low;
  }
  write_before(h, at);
  if (cg_is_extension(v) && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(v, 0))) <= HALF)
    return l_int_cast(h->cg->builder, LLVMGetOperand(v, 0), h->cg->t.i32, LLVMIsASExtInst(v));
  return l_trunc(h->cg->builder, v, h->cg->t.i32);
}

static void write_low(Halves *h) {
  for (uint32_t k = 0; k < h->all.len; k++) {
    Value *is = &h->all.data[k];
    if (!is->full && LLVMIsAPHINode(is->wide)) {
      write_before(h, is->wide);
      is->low = l_phi(h->cg->builder, h->cg->t.i32);
    }
  }
  for (uint32_t k = 0; k < h->all.len; k++) {
    Value *is = &h->all.data[k];
    if (is->full)
      continue;
    if (!LLVMIsAPHINode(is->wide)) {
      (void)low_of(h, is->wide, is->wide);
      continue;
    }
    for (unsigned e = 0; e < LLVMCountIncoming(is->wide); e++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(is->wide, e);
      LLVMValueRef v = low_of(h, LLVMGetIncomingValue(is->wide, e),
                              LLVMGetBasicBlockTerminator(from));
      LLVMAddIncoming(is->low, &v, &from, 1);
    }
  }
}

/* A low half that is shifted to the top, and back; NULL: i is no such shift. */
static LLVMValueRef extended(const Halves *h, LLVMValueRef i) {
  LLVMBuilderRef b = h->cg->builder;
  LLVMTypeRef t = h->cg->t.i64;
  uint64_t more = 0;
  LLVMValueRef top = LLVMGetOperand(i, 0);
  for (; adds_above(top); top = LLVMGetOperand(top, 0))
    more += LLVMConstIntGetZExtValue(LLVMGetOperand(top, 1)) >> HALF;
  if (!cg_is_op(top, LLVMShl) || !cg_is_number(LLVMGetOperand(top, 1), HALF) ||
      !is_low(h, LLVMGetOperand(top, 0)))
    return NULL;
  uint64_t up = HALF - LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
  LLVMValueRef v = low_of(h, LLVMGetOperand(top, 0), i);
  write_before(h, i);
  v = more ? l_add(b, v, l_int(h->cg->t.i32, more & UINT32_MAX)) : v;
  v = l_int_cast(b, v, t, cg_is_op(i, LLVMAShr));
  v = up ? l_shl(b, v, l_int(t, up)) : v;
  if (up && LLVMIsAInstruction(v))
    LLVMSetNSW(v, cg_is_op(i, LLVMAShr));
  return v;
}

/* Does the mask keep all of the low half of x but bits that are 0? LLVM, which extends such a half
 * with zeros, masks no more than it has to. */
static bool is_whole(LLVMValueRef x, LLVMValueRef mask) {
  uint64_t bits = LLVMIsAConstantInt(mask) ? LLVMConstIntGetZExtValue(mask) : 0;
  return bits && bits >> HALF == 0 && ((bits | (bits - 1)) == UINT32_MAX) &&
         cg_low_zeros(x) >= (unsigned)__builtin_ctzll(bits);
}

/* x & mask, or x >> by & mask. */
static LLVMValueRef masked(const Halves *h, LLVMValueRef i) {
  LLVMBuilderRef b = h->cg->builder;
  LLVMTypeRef t = h->cg->t.i32;
  LLVMValueRef of = LLVMGetOperand(i, 0), by = NULL;
  if (cg_is_op(of, LLVMLShr) && !is_low(h, of))
    by = LLVMGetOperand(of, 1), of = LLVMGetOperand(of, 0);
  if (is_low(h, i) || !is_low(h, of))
    return NULL;
  LLVMValueRef v = low_of(h, of, i);
  write_before(h, i);
  v = by ? l_lshr(b, v, l_trunc(b, by, t)) : v;
  if (by || !is_whole(of, LLVMGetOperand(i, 1)))
    v = l_and(b, v, l_trunc(b, LLVMGetOperand(i, 1), t));
  return l_zext(b, v, h->cg->t.i64);
}

/* A shift by a low value takes that, extended. */
static void shorten_count(const Halves *h, LLVMValueRef i) {
  LLVMValueRef count = is_shift(i) && is_wide(h->cg, i) ? LLVMGetOperand(i, 1) : NULL;
  if (!count || !is_low(h, count))
    return;
  count = low_of(h, count, i);
  write_before(h, i);
  LLVMSetOperand(i, 1, l_zext(h->cg->builder, count, h->cg->t.i64));
}

static LLVMIntPredicate without_signs(LLVMIntPredicate how) {
  switch (how) {
  case LLVMIntSLT: return LLVMIntULT;
  case LLVMIntSLE: return LLVMIntULE;
  case LLVMIntSGT: return LLVMIntUGT;
  case LLVMIntSGE: return LLVMIntUGE;
  default: return how;
  }
}

/* A comparison, or a conversion to a float, of low values without an upper half. */
static LLVMValueRef short_reader(const Halves *h, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMIsAICmpInst(i) ? LLVMGetOperand(i, 1) : NULL;
  if (!reads_short(h, i) || !(is_low(h, x) || (y && is_low(h, y))))
    return NULL;
  LLVMValueRef a = low_of(h, x, i), b = y ? low_of(h, y, i) : NULL;
  write_before(h, i);
  return y ? l_icmp(h->cg->builder, without_signs(LLVMGetICmpPredicate(i)), a, b)
           : l_uitofp(h->cg->builder, a, LLVMTypeOf(i));
}

/* What reads a low half, written anew; NULL: it is no such. */
static LLVMValueRef reader(const Halves *h, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMTrunc: {
    LLVMValueRef of = LLVMGetOperand(i, 0), v = is_low(h, of) ? low_of(h, of, i) : NULL;
    write_before(h, i);
    return v && LLVMTypeOf(i) != h->cg->t.i32 ? l_trunc(h->cg->builder, v, LLVMTypeOf(i)) : v;
  }
  case LLVMAShr:
  case LLVMLShr: return extended(h, i);
  case LLVMAnd: return is_wide(h->cg, i) ? masked(h, i) : NULL;
  case LLVMICmp:
  case LLVMSIToFP:
  case LLVMUIToFP: return short_reader(h, i);
  default: return NULL;
  }
}

/* --- wrapped indices ---
 *
 * The low half of x + (n if x < 0 else 0), where n is an array's extent and the sum addresses an
 * element, is the unsigned minimum of x and x + n in 32 bits: they differ only where the sum is not
 * in range(n). Newer GPUs compute it in one instruction. */

/* x of n if x < 0 else 0, in 32 bits; else NULL. */
static LLVMValueRef wrapped_by(LLVMValueRef v, LLVMValueRef *n) {
  if (LLVMIsASelectInst(v)) {
    LLVMValueRef test = LLVMGetOperand(v, 0);
    *n = LLVMGetOperand(v, 1);
    bool is = LLVMIsAICmpInst(test) && LLVMGetICmpPredicate(test) == LLVMIntSLT &&
              cg_is_number(LLVMGetOperand(test, 1), 0) && cg_is_number(LLVMGetOperand(v, 2), 0);
    return is ? LLVMGetOperand(test, 0) : NULL;
  }
  for (unsigned k = 0; k < 2 && cg_is_op(v, LLVMAnd); k++) {
    LLVMValueRef sign = LLVMGetOperand(v, k);
    sign = LLVMIsATruncInst(sign) ? LLVMGetOperand(sign, 0) : NULL;
    *n = LLVMGetOperand(v, !k);
    if (sign && cg_is_op(sign, LLVMAShr) && cg_is_number(LLVMGetOperand(sign, 1), 63))
      return LLVMGetOperand(sign, 0);
  }
  return NULL;
}

/* Is n one of several extents of the array that the address is in? They follow its pointer. (An
 * array with one may be indexed by products that the kernel writes.) */
static bool is_extent_of(LLVMValueRef n, LLVMValueRef address) {
  address = cg_array_of(address);
  if (!LLVMIsAArgument(address))
    return false;
  unsigned extents = 0;
  bool found = false;
  for (LLVMValueRef p = LLVMGetNextParam(address); p && cg_nvptx_is_extent(p);
       p = LLVMGetNextParam(p)) {
    found |= p == n;
    extents++;
  }
  return found && extents > 1;
}

/* A sum of an index and a row of an array of several axes, or the row: the product of an index and
 * an extent. */
static bool is_part(LLVMValueRef i) {
  if (!(cg_is_op(i, LLVMAdd) || cg_is_op(i, LLVMMul)) || !LLVMGetNSW(i))
    return false;
  return cg_is_op(i, LLVMAdd) || cg_nvptx_is_extent(LLVMGetOperand(i, 0)) ||
         cg_nvptx_is_extent(LLVMGetOperand(i, 1));
}

/* Does v address elements, and nothing else? n: NULL, or where v is a part of an element's number,
 * an extent of the array that it must be in. */
static bool only_addresses(LLVMValueRef v, LLVMValueRef extent, LLVMValueRef n) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    bool access = cg_is_op(i, LLVMLoad) || (cg_is_op(i, LLVMStore) && LLVMGetOperand(i, 1) == v) ||
                  (cg_is_op(i, LLVMAtomicRMW) && LLVMGetOperand(i, 0) == v);
    bool renames = LLVMIsAPHINode(i) && LLVMCountIncoming(i) == 1; /* behind a loop */
    bool part = is_part(i), address = LLVMIsAGetElementPtrInst(i) != NULL;
    bool leads = LLVMIsASExtInst(i) || cg_is_op(i, LLVMShl) || address || renames || part;
    if (address && n && !is_extent_of(n, i))
      return false;
    if (!access && !(leads && only_addresses(i, extent, part ? extent : n)))
      return false;
  }
  return true;
}

static bool wrap(Cg *cg, LLVMValueRef sum) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef n = NULL, x = LLVMGetOperand(sum, k);
    LLVMValueRef of = wrapped_by(LLVMGetOperand(sum, !k), &n);
    if (!of || !LLVMIsATruncInst(x) || LLVMGetOperand(x, 0) != of || LLVMTypeOf(of) != cg->t.i64 ||
        !cg_nvptx_is_extent(n) || !only_addresses(sum, n, NULL))
      continue;
    LLVMPositionBuilderBefore(cg->builder, sum);
    LLVMValueRef both[] = {x, l_add(cg->builder, x, n)};
    LLVMReplaceAllUsesWith(
        sum, l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.umin", &cg->t.i32, 1), both, 2));
    return true;
  }
  return false;
}

static bool wrap_all(Cg *cg, LLVMValueRef f) {
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_op(i, LLVMAdd) && LLVMTypeOf(i) == cg->t.i32)
        any |= wrap(cg, i);
  return any;
}

/* --- guards ---
 *
 *   if 0 <= x + dx < n:
 *
 * dx, an int32 or its negative, makes the sum more than 32 bits hold. LLVM compares its low half
 * with n, behind a comparison of all of it with 0. A sum of -2**31 or more, but less than 0, has a
 * low half of 2**31 or more without a sign, and one from 0 to 2**32 is its low half: so for an n
 * that is not negative the comparison of the low half says all.
 *
 * A number of which no more than 64 bits is known is compared in full, without a sign: as one less
 * than 0 it is 2**63 or more. LLVM does that where it knows that the second comparison may be made
 * without the first, which it does not of an extent that was extended. */

/* The 64-bit number that is asked whether it is less than 0 (below) or not. */
static LLVMValueRef asked_for_sign(const Cg *cg, LLVMValueRef test, bool below) {
  if (!LLVMIsAICmpInst(test) || !is_wide(cg, LLVMGetOperand(test, 0)))
    return NULL;
  LLVMValueRef with = LLVMGetOperand(test, 1);
  LLVMIntPredicate how = LLVMGetICmpPredicate(test);
  bool is = below ? how == LLVMIntSLT && cg_is_number(with, 0)
                  : how == LLVMIntSGT && cg_is_number(with, UINT64_MAX);
  return is ? LLVMGetOperand(test, 0) : NULL;
}

/* Does the test say of v's low half whether it is n or more (above), or less, without a sign? */
static bool is_bound(const Cg *cg, LLVMValueRef test, LLVMValueRef v, bool above) {
  for (unsigned k = 0; k < 2 && LLVMIsAICmpInst(test); k++) {
    LLVMValueRef low = LLVMGetOperand(test, k), n = LLVMGetOperand(test, !k);
    LLVMIntPredicate how = above ? (k ? LLVMIntULE : LLVMIntUGE) : (k ? LLVMIntUGT : LLVMIntULT);
    if (LLVMIsATruncInst(low) && LLVMTypeOf(low) == cg->t.i32 && LLVMGetOperand(low, 0) == v &&
        LLVMGetICmpPredicate(test) == how && cg_nvptx_range(n).lo >= 0)
      return true;
  }
  return false;
}

/* The n of which the test says whether v is n or more (above), or less, with a sign; NULL: of none
 * that is known not to be negative. */
static LLVMValueRef bound_of_all(LLVMValueRef test, LLVMValueRef v, bool above) {
  for (unsigned k = 0; k < 2 && LLVMIsAICmpInst(test); k++) {
    LLVMIntPredicate how = above ? (k ? LLVMIntSLE : LLVMIntSGE) : (k ? LLVMIntSGT : LLVMIntSLT);
    LLVMValueRef n = LLVMGetOperand(test, !k);
    if (LLVMGetOperand(test, k) == v && LLVMGetICmpPredicate(test) == how &&
        cg_nvptx_range(n).lo >= 0)
      return n;
  }
  return NULL;
}

static bool is_extended_extent(LLVMValueRef v) {
  return cg_is_extension(v) && cg_nvptx_is_extent(LLVMGetOperand(v, 0));
}

/* LLVM's code generator makes a comparison anew in each block that asks it, such as a loop's, which
 * it does not with both together. */
static bool is_asked_elsewhere(LLVMValueRef i) {
  for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
    if (LLVMGetInstructionParent(LLVMGetUser(u)) != LLVMGetInstructionParent(i))
      return true;
  return false;
}

/* Could the second test, of `of`, be poison where the first one fails? */
static bool may_be_unasked(LLVMValueRef test, LLVMValueRef of) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef v = LLVMGetOperand(test, k);
    if (v == of || is_extended_extent(v))
      continue;
    if (LLVMIsATruncInst(v) ? LLVMGetNUW(v) || LLVMGetNSW(v) : LLVMIsAInstruction(v) != NULL)
      return true;
  }
  return false;
}

/* One test, the second or in place of it, which says what both do; NULL: i is no such pair. */
static LLVMValueRef without_sign(const Cg *cg, LLVMValueRef i) {
  bool either = cg_is_either(i);
  if (LLVMTypeOf(i) != cg->t.i1 || (!either && !cg_is_both(i)))
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    bool select = LLVMIsASelectInst(i) != NULL;
    LLVMValueRef parts[] = {LLVMGetOperand(i, 0), cg_second_condition(i)};
    LLVMValueRef v = asked_for_sign(cg, parts[k], either), bound = parts[!k];
    if (!v || (select && !k && LLVMIsAICmpInst(bound) && may_be_unasked(bound, v)))
      continue;
    if (is_bound(cg, bound, v, either) &&
        ir_interval_lies_within(cg_nvptx_range(v), (Interval){INT32_MIN, UINT32_MAX}))
      return bound;
    LLVMValueRef n = bound_of_all(bound, v, either);
    if (!n || is_asked_elsewhere(i))
      continue;
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
    return l_icmp(cg->builder, either ? LLVMIntUGE : LLVMIntULT, v, n);
  }
  return NULL;
}

static void drop_signs(Cg *cg, LLVMValueRef f) {
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      LLVMValueRef bound = without_sign(cg, i);
      if (!bound)
        continue;
      LLVMSetICmpSameSign(bound, 0); /* now it is asked of numbers below 0, too */
      LLVMReplaceAllUsesWith(i, bound);
      any = true;
    }
  if (any)
    cg_run_function_passes(cg, f, "adce");
}

/* Of nan the conversion to int64 makes -2**63, so that of `int(x) & 255`, or of a hash of it, which
 * LLVM makes a selection behind the mask, no nan need be asked for. */
static bool drop_nans(LLVMValueRef f) {
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      LLVMValueRef v = cg_nvptx_zero_of_nan(i);
      if (!v)
        continue;
      LLVMReplaceAllUsesWith(i, v);
      any = true;
    }
  return any;
}

/* --- the pass --- */

static void write_readers(const Halves *h, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      shorten_count(h, i);
      LLVMValueRef v = reader(h, i);
      if (v)
        LLVMReplaceAllUsesWith(i, v);
    }
}

void cg_nvptx_low_halves(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    drop_signs(cg, f);
    bool nans = drop_nans(f);
    Halves h = {.cg = cg, .number = {.arena = &cg->cx->arena}};
    find_values(&h, f);
    bool any = false;
    for (uint32_t k = 0; k < h.all.len; k++)
      any |= !h.all.data[k].full;
    if (any) {
      write_low(&h);
      write_readers(&h, f);
    }
    if (wrap_all(cg, f) || any || nans)
      cg_run_function_passes(cg, f, "instsimplify,adce");
  }
}
