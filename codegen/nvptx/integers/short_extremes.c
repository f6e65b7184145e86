/* NVPTX short extremes: minima, maxima and loop variables of 8 and 16 bits, in 32 bits.
 *
 *   best = max(best, src[y, x])            # uint16
 *   if v > best: best = v; who = i
 *
 * A GPU compares 32 bits. Of what has fewer, the bits above are not known to be 0, or copies of the
 * sign, once it has been through an operation of so few bits or around a loop: ptxas extends it
 * again each time, and makes one instruction of no two maxima. But all values between which a
 * minimum, a maximum, a phi or a selection chooses can be extended where they are read from memory,
 * which costs nothing; the least of extended numbers is the extension of the least.
 *
 * LLVM's TypePromotion begins with comparisons, knows no minima and no signs, and asks a target
 * that NVPTX is not.
 *
 * In: functions after LLVM's passes and coarsening. Out: such values, those that minima, maxima,
 * phis and selections connect, as numbers of 32 bits that are extended by the sign that the minima
 * have, or the comparisons. Groups with both signs stay, and so do those that are not compared. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"
#include "ir/base/vec.h"

enum { /* of the members of a group: what there is among them */
       SIGNED_EXTREME = 1,
       UNSIGNED_EXTREME = 2,
       EXTREME = 3,
       SIGNED_LESS = 4, /* who reads them */
       UNSIGNED_LESS = 8,
       EQUAL = 16,
       COMPARED = 28,
       PHI = 32,
       COMPUTED = 64 /* a number that is neither loaded nor a constant comes in */
};

typedef struct Member {
  LLVMValueRef narrow, wide; /* wide: the same in 32 bits; NULL: not written yet */
  uint32_t group;            /* a member of the same one, itself if it stands for it */
  unsigned facts;            /* of the one that stands for the group */
} Member;

typedef struct Extremes {
  Cg *cg;
  VEC(Member) all;
  ValueMap number; /* of a narrow value in `all` */
  VEC(LLVMValueRef) extended;
  ValueMap zeros, signs; /* of other values: the number in `extended` of what they are in 32 bits */
  VEC(LLVMValueRef) users;
} Extremes;

static bool is_narrow(LLVMValueRef v) { return cg_int_width(v) == 8 || cg_int_width(v) == 16; }

static unsigned extreme_of(LLVMValueRef v) {
  if (cg_is_call_of_any(v, "llvm.smin.") || cg_is_call_of_any(v, "llvm.smax."))
    return SIGNED_EXTREME;
  bool is = cg_is_call_of_any(v, "llvm.umin.") || cg_is_call_of_any(v, "llvm.umax.");
  return is ? UNSIGNED_EXTREME : 0;
}

static bool chooses(LLVMValueRef i) {
  return is_narrow(i) && (LLVMIsAPHINode(i) || LLVMIsASelectInst(i) || extreme_of(i));
}

static Member *member_of(const Extremes *x, LLVMValueRef v) {
  uint32_t k = valuemap_get(&x->number, v);
  return k == VALUEMAP_NONE ? NULL : &x->all.data[k];
}

/* The one that stands for the group. */
static Member *group_of(const Extremes *x, const Member *m) {
  while (&x->all.data[m->group] != m)
    m = &x->all.data[m->group];
  return &x->all.data[m->group];
}

/* --- groups --- */

/* The operands between which i chooses are [*from, the result). */
static unsigned choices(LLVMValueRef i, unsigned *from) {
  *from = LLVMIsASelectInst(i) != NULL;
  return LLVMIsAPHINode(i) ? LLVMCountIncoming(i) : *from + 2;
}

static unsigned facts_of_use(LLVMValueRef user) {
  if (!LLVMIsAICmpInst(user))
    return 0;
  LLVMIntPredicate p = LLVMGetICmpPredicate(user);
  return p == LLVMIntEQ || p == LLVMIntNE ? EQUAL : p >= LLVMIntSGT ? SIGNED_LESS : UNSIGNED_LESS;
}

static void connect(Extremes *x, Member *m) {
  unsigned from, end = choices(m->narrow, &from);
  m->facts = extreme_of(m->narrow) | (LLVMIsAPHINode(m->narrow) ? PHI : 0);
  for (LLVMUseRef u = LLVMGetFirstUse(m->narrow); u; u = LLVMGetNextUse(u))
    m->facts |= facts_of_use(LLVMGetUser(u));
  for (unsigned k = from; k < end; k++) {
    LLVMValueRef v = LLVMGetOperand(m->narrow, k);
    if (LLVMIsAConstant(v) && !LLVMIsAConstantInt(v) && !LLVMIsUndef(v))
      m->facts |= EXTREME; /* of an address: as it is */
    else if (!member_of(x, v) && !LLVMIsAConstant(v) && !cg_is_op(v, LLVMLoad))
      m->facts |= COMPUTED;
  }
}

static void merge(Extremes *x, Member *m) {
  unsigned from, end = choices(m->narrow, &from);
  for (unsigned k = from; k < end; k++) {
    const Member *other = member_of(x, LLVMGetOperand(m->narrow, k));
    Member *a = group_of(x, m), *b = other ? group_of(x, other) : a;
    if (a == b)
      continue;
    a->facts |= b->facts;
    b->group = (uint32_t)(a - x->all.data);
  }
}

static bool find_groups(Extremes *x, LLVMValueRef f) {
  bool any = false;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (chooses(i)) {
        valuemap_set(&x->number, i, x->all.len);
        const Member m = {i, NULL, x->all.len, 0};
        VEC_PUSH(&x->cg->cx->arena, &x->all, m);
      }
  for (uint32_t k = 0; k < x->all.len; k++)
    connect(x, &x->all.data[k]);
  for (uint32_t k = 0; k < x->all.len; k++)
    merge(x, &x->all.data[k]);
  for (uint32_t k = 0; k < x->all.len; k++)
    any |= (x->all.data[k].facts & (EXTREME | COMPARED)) != 0;
  return any;
}

/* Of which sign the group is; false: it stays. */
static bool is_widened(const Extremes *x, const Member *m, bool *sign) {
  unsigned facts = group_of(x, m)->facts, has = facts & EXTREME;
  *sign = has == SIGNED_EXTREME || (!has && facts & SIGNED_LESS);
  if (has)
    return has != EXTREME;
  return facts & COMPARED && facts & PHI && !(facts & COMPUTED) &&
         !(facts & SIGNED_LESS && facts & UNSIGNED_LESS);
}

/* Is v a member of a group that is written anew, with that sign? */
static bool is_now_wide(const Extremes *x, LLVMValueRef v, bool sign) {
  const Member *m = member_of(x, v);
  bool its;
  return m && is_widened(x, m, &its) && its == sign;
}

/* --- writing --- */

static void write_before(const Extremes *x, LLVMValueRef i) {
  LLVMPositionBuilderBefore(x->cg->builder, i);
  LLVMSetCurrentDebugLocation2(x->cg->builder, LLVMInstructionGetDebugLoc(i));
}

static LLVMValueRef cast(const Extremes *x, LLVMValueRef v, bool sign) {
  return sign ? l_sext(x->cg->builder, v, x->cg->t.i32) : l_zext(x->cg->builder, v, x->cg->t.i32);
}

/* What v was before it was cut off, if it is of 32 bits and was in range already; else NULL. */
static LLVMValueRef uncut(const Extremes *x, LLVMValueRef v, bool sign) {
  LLVMValueRef of = LLVMIsATruncInst(v) ? LLVMGetOperand(v, 0) : NULL;
  unsigned bits = cg_int_width(v);
  if (!of || LLVMTypeOf(of) != x->cg->t.i32)
    return NULL;
  Interval room = sign ? cg_nvptx_numbers(bits) : (Interval){0, ((IrWide)1 << bits) - 1};
  return ir_interval_lies_within(cg_nvptx_range(of), room) ? of : NULL;
}

/* A value that is no member, extended behind where it is computed. */
static LLVMValueRef extended(Extremes *x, LLVMValueRef v, bool sign) {
  if (LLVMIsAConstant(v))
    return cast(x, v, sign);
  ValueMap *known = sign ? &x->signs : &x->zeros;
  uint32_t k = valuemap_get(known, v);
  if (k != VALUEMAP_NONE)
    return x->extended.data[k];
  LLVMValueRef e = uncut(x, v, sign);
  if (!e) {
    write_before(x, LLVMIsAArgument(v)
                        ? LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetParamParent(v)))
                        : LLVMGetNextInstruction(v));
    e = cast(x, v, sign);
  }
  valuemap_set(known, v, x->extended.len);
  VEC_PUSH(&x->cg->cx->arena, &x->extended, e);
  return e;
}

static LLVMValueRef wide_of(Extremes *x, LLVMValueRef v, bool sign);

/* A member that is no phi. */
static LLVMValueRef computed(Extremes *x, LLVMValueRef i, bool sign) {
  static const char *const names[] = {"llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"};
  unsigned from, end = choices(i, &from);
  LLVMValueRef of[] = {NULL, NULL};
  for (unsigned k = from; k < end; k++)
    of[k - from] = wide_of(x, LLVMGetOperand(i, k), sign);
  write_before(x, i);
  if (LLVMIsASelectInst(i))
    return l_select(x->cg->builder, LLVMGetOperand(i, 0), of[0], of[1]);
  unsigned k = 0;
  while (!cg_is_call_of_any(i, names[k]))
    k++;
  return l_call(x->cg->builder, cg_intrinsic_fn(x->cg, names[k], &x->cg->t.i32, 1), of, 2);
}

static LLVMValueRef wide_of(Extremes *x, LLVMValueRef v, bool sign) {
  Member *m = member_of(x, v);
  if (!m)
    return extended(x, v, sign);
  m->wide = m->wide ? m->wide : computed(x, v, sign);
  return m->wide;
}

static void write_groups(Extremes *x) {
  bool sign;
  for (uint32_t k = 0; k < x->all.len; k++) {
    Member *m = &x->all.data[k];
    if (LLVMIsAPHINode(m->narrow) && is_widened(x, m, &sign)) {
      write_before(x, m->narrow);
      m->wide = l_phi(x->cg->builder, x->cg->t.i32);
    }
  }
  for (uint32_t k = 0; k < x->all.len; k++) {
    const Member *m = &x->all.data[k];
    if (!is_widened(x, m, &sign))
      continue;
    (void)wide_of(x, m->narrow, sign);
    for (unsigned e = 0; LLVMIsAPHINode(m->narrow) && e < LLVMCountIncoming(m->narrow); e++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(m->narrow, e);
      LLVMValueRef v = wide_of(x, LLVMGetIncomingValue(m->narrow, e), sign);
      LLVMAddIncoming(m->wide, &v, &from, 1);
    }
  }
}

/* --- who reads them --- */

/* Can the operand of such a comparison be had in 32 bits for nothing? */
static bool is_at_hand(const Extremes *x, LLVMValueRef v, bool sign) {
  return LLVMIsAConstantInt(v) || cg_is_op(v, LLVMLoad) || is_now_wide(x, v, sign);
}

/* What reads a member, written anew with 32 bits; NULL: it reads the narrow number. */
static LLVMValueRef reader(Extremes *x, LLVMValueRef i, bool sign) {
  LLVMBuilderRef b = x->cg->builder;
  if (cg_is_extension(i) && cg_int_width(i) >= 32 && sign == (LLVMIsASExtInst(i) != NULL)) {
    LLVMValueRef v = wide_of(x, LLVMGetOperand(i, 0), sign);
    write_before(x, i);
    return l_int_cast(b, v, LLVMTypeOf(i), sign);
  }
  unsigned less = facts_of_use(i);
  LLVMValueRef y = less ? LLVMGetOperand(i, 0) : NULL, z = less ? LLVMGetOperand(i, 1) : NULL;
  if (!less || less == (sign ? UNSIGNED_LESS : SIGNED_LESS) || !is_at_hand(x, y, sign) ||
      !is_at_hand(x, z, sign))
    return NULL;
  y = wide_of(x, y, sign), z = wide_of(x, z, sign);
  write_before(x, i);
  return l_icmp(b, LLVMGetICmpPredicate(i), y, z);
}

static void rewrite_user(Extremes *x, const Member *m, LLVMValueRef user, bool sign) {
  LLVMValueRef v = reader(x, user, sign);
  if (v) {
    LLVMReplaceAllUsesWith(user, v);
    LLVMInstructionEraseFromParent(user);
    return;
  }
  write_before(x, user);
  v = l_trunc(x->cg->builder, m->wide, LLVMTypeOf(m->narrow));
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
    if (LLVMGetOperand(user, k) == m->narrow)
      LLVMSetOperand(user, k, v);
}

/* No phi is among them: it would be a member. */
static void rewrite_users(Extremes *x, const Member *m, bool sign) {
  x->users.len = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(m->narrow); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    bool known = member_of(x, user) != NULL;
    for (uint32_t k = 0; k < x->users.len && !known; k++)
      known = x->users.data[k] == user;
    if (!known)
      VEC_PUSH(&x->cg->cx->arena, &x->users, user);
  }
  for (uint32_t k = 0; k < x->users.len; k++)
    rewrite_user(x, m, x->users.data[k], sign);
}

static void widen(Extremes *x) {
  bool sign;
  write_groups(x);
  for (uint32_t k = 0; k < x->all.len; k++)
    if (is_widened(x, &x->all.data[k], &sign))
      rewrite_users(x, &x->all.data[k], sign);
  for (uint32_t k = 0; k < x->all.len; k++)
    if (is_widened(x, &x->all.data[k], &sign)) {
      LLVMValueRef v = x->all.data[k].narrow;
      LLVMReplaceAllUsesWith(v, LLVMGetPoison(LLVMTypeOf(v)));
    }
  for (uint32_t k = 0; k < x->all.len; k++)
    if (x->all.data[k].wide)
      LLVMInstructionEraseFromParent(x->all.data[k].narrow);
}

void cg_nvptx_short_extremes(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    Arena *arena = &cg->cx->arena;
    Extremes x = {.cg = cg, .number = {arena}, .zeros = {arena}, .signs = {arena}};
    if (!LLVMIsDeclaration(f) && find_groups(&x, f))
      widen(&x);
  }
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
}
