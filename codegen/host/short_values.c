/* Host short values: Python's integers that only pass on what fits 32 bits, as 32 bits.
 *
 *   other = cuda.shfl_xor_sync(0xFFFFFFFF, key, step)      # key = int(keys[i]), of int16
 *   key = min(key, other)
 *
 * Vectors of 64 bits are twice as many, and AVX2 lacks much for them. Where a value is a choice of
 * others, a minimum or a maximum, a bitwise operation, or what another lane has, it is the sign
 * extension of 32 bits if its operands are, in whatever loops they turn: none of these makes a
 * number longer, and all of them commute with the extension.
 *
 * In: functions of one thread in regular form. Out: the same; a web of such values, which begins
 * with what was read and fits, has 32 bits. It is extended for other uses than comparisons. */
#include "codegen/fission/fission.h"
#include "codegen/host/entry.h"
#include "codegen/llvm/valuemap.h"
#include "runtime/abi.h"

enum { SHORT = 32, LONG = 64, DEEPEST = 6 };

typedef struct Member {
  LLVMValueRef v, now; /* now: of 32 bits, once it is written */
  uint32_t web;        /* the first member of its web */
  bool out;            /* it may be longer */
  bool turns, reads;   /* of a web: it has a phi or a meeting; something that was read */
} Member;

typedef struct Webs {
  Cg *cg;
  Member *members;
  uint32_t n;
  ValueMap numbers;
} Webs;

/* --- how long values are --- */

static unsigned bits_of(LLVMValueRef v, int depth);

static unsigned most_bits(LLVMValueRef v, unsigned first, unsigned n, int depth) {
  unsigned most = 0;
  for (unsigned k = first; k < first + n; k++) {
    unsigned bits = bits_of(LLVMGetOperand(v, k), depth);
    most = bits > most ? bits : most;
  }
  return most;
}

static unsigned bits_of_number(int64_t x) {
  unsigned bits = 1;
  for (x ^= x >> (LONG - 1); x; x >>= 1)
    bits++;
  return bits;
}

static unsigned bits_of_shift(LLVMValueRef v, int depth) {
  LLVMValueRef by = LLVMGetOperand(v, 1);
  if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) == 0 ||
      LLVMConstIntGetZExtValue(by) >= LONG)
    return LONG;
  unsigned n = (unsigned)LLVMConstIntGetZExtValue(by), of = bits_of(LLVMGetOperand(v, 0), depth);
  if (cg_is_op(v, LLVMShl))
    return of + n;
  return cg_is_op(v, LLVMLShr) ? LONG + 1 - n : of > n ? of - n : 1;
}

/* How many bits v has with its sign, at most: `LONG` or more where that is not known. */
static unsigned bits_of(LLVMValueRef v, int depth) {
  if (LLVMIsAConstantInt(v))
    return bits_of_number(LLVMConstIntGetSExtValue(v));
  if (cg_is_extension(v))
    return cg_int_width(LLVMGetOperand(v, 0)) + (LLVMIsAZExtInst(v) && !LLVMGetNNeg(v));
  if (!LLVMIsAInstruction(v) || depth == DEEPEST)
    return LONG;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub: return most_bits(v, 0, 2, depth + 1) + 1;
  case LLVMMul:
    return bits_of(LLVMGetOperand(v, 0), depth + 1) + bits_of(LLVMGetOperand(v, 1), depth + 1);
  case LLVMAnd:
    if (LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
        LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)) >= 0)
      return bits_of(LLVMGetOperand(v, 1), depth);
    return most_bits(v, 0, 2, depth + 1);
  case LLVMOr:
  case LLVMXor: return most_bits(v, 0, 2, depth + 1);
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr: return bits_of_shift(v, depth + 1);
  case LLVMSelect: return most_bits(v, 1, 2, depth + 1);
  default: return LONG;
  }
}

static bool fits(LLVMValueRef v) { return bits_of(v, 0) <= SHORT; }

/* --- webs --- */

static bool is_shuffle(LLVMValueRef i) {
  if (!cg_is_call_of(i, CG_MEET_NAME))
    return false;
  uint64_t kind = LLVMConstIntGetZExtValue(LLVMGetOperand(i, MEET_KIND));
  return kind >= RT_MEET_SHFL_IDX && kind <= RT_MEET_SHFL_XOR;
}

static bool passes_on(LLVMValueRef i) {
  if (cg_int_width(i) != LONG)
    return false;
  return LLVMIsAPHINode(i) || LLVMIsASelectInst(i) || cg_is_op(i, LLVMAnd) || cg_is_op(i, LLVMOr) ||
         cg_is_op(i, LLVMXor) || cg_is_call_of_any(i, "llvm.smin.") ||
         cg_is_call_of_any(i, "llvm.smax.") || is_shuffle(i);
}

/* The operands that it passes on: *first, and so many more. */
static unsigned passed(LLVMValueRef i, unsigned *first) {
  *first = LLVMIsASelectInst(i) ? 1 : is_shuffle(i) ? MEET_VALUE : 0;
  return LLVMIsAPHINode(i) ? LLVMCountIncoming(i) : is_shuffle(i) ? 1 : 2;
}

static Member *member(Webs *w, LLVMValueRef v) {
  uint32_t k = valuemap_get(&w->numbers, v);
  return k == VALUEMAP_NONE || w->members[k].out ? NULL : &w->members[k];
}

static void find_members(Webs *w, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      w->n += passes_on(i);
  w->members = CX_ARRAY(w->cg->cx, Member, w->n + 1);
  uint32_t n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (passes_on(i)) {
        w->members[n] = (Member){.v = i, .web = n};
        valuemap_set(&w->numbers, i, n++);
      }
}

static bool is_short(Webs *w, const Member *m) {
  unsigned first, n = passed(m->v, &first);
  for (unsigned k = first; k < first + n; k++) {
    LLVMValueRef x = LLVMGetOperand(m->v, k);
    if (!member(w, x) && !fits(x))
      return false;
  }
  return true;
}

static void leave_long(Webs *w) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < w->n; k++)
      if (!w->members[k].out && !is_short(w, &w->members[k]))
        again = w->members[k].out = true;
  }
}

static uint32_t web_of(Webs *w, uint32_t k) {
  while (w->members[k].web != k)
    k = w->members[k].web = w->members[w->members[k].web].web;
  return k;
}

static void join(Webs *w) {
  for (uint32_t m = 0; m < w->n; m++) {
    unsigned first, n = passed(w->members[m].v, &first);
    for (unsigned k = first; k < first + n && !w->members[m].out; k++) {
      Member *x = member(w, LLVMGetOperand(w->members[m].v, k));
      if (x)
        w->members[web_of(w, (uint32_t)(x - w->members))].web = web_of(w, m);
    }
  }
}

/* LLVM does as much itself where nothing turns, and what was not read is mostly the same in all
 * lanes, or counts. */
static void judge(Webs *w) {
  for (uint32_t m = 0; m < w->n; m++) {
    LLVMValueRef v = w->members[m].v;
    Member *web = &w->members[web_of(w, m)];
    unsigned first, n = passed(v, &first);
    if (w->members[m].out)
      continue;
    web->turns |= LLVMIsAPHINode(v) || is_shuffle(v);
    web->reads |= is_shuffle(v);
    for (unsigned k = first; k < first + n; k++)
      web->reads |= LLVMIsALoadInst(cg_peel(LLVMGetOperand(v, k))) != NULL;
  }
}

static bool is_wanted(Webs *w, const Member *m) {
  const Member *web = m ? &w->members[web_of(w, (uint32_t)(m - w->members))] : NULL;
  return web && web->turns && web->reads;
}

/* --- writing --- */

static LLVMValueRef shortened(Webs *w, LLVMValueRef v, LLVMValueRef before);

static LLVMValueRef write_call(Webs *w, LLVMValueRef call) {
  LLVMBuilderRef b = w->cg->builder;
  LLVMTypeRef t = w->cg->t.i32;
  if (is_shuffle(call)) {
    LLVMValueRef value = shortened(w, LLVMGetOperand(call, MEET_VALUE), call);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetOperand(call, MEET_VALUE, l_zext(b, value, w->cg->t.i64));
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(call));
    return l_trunc(b, call, t);
  }
  LLVMValueRef both[] = {shortened(w, LLVMGetOperand(call, 0), call),
                         shortened(w, LLVMGetOperand(call, 1), call)};
  const char *name = cg_is_call_of_any(call, "llvm.smin.") ? "llvm.smin" : "llvm.smax";
  LLVMPositionBuilderBefore(b, call);
  return l_call(b, cg_intrinsic_fn(w->cg, name, &t, 1), both, 2);
}

static LLVMValueRef write(Webs *w, LLVMValueRef i) {
  LLVMBuilderRef b = w->cg->builder;
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(i));
  if (LLVMIsACallInst(i))
    return write_call(w, i);
  unsigned first;
  passed(i, &first);
  LLVMValueRef x = shortened(w, LLVMGetOperand(i, first), i),
               y = shortened(w, LLVMGetOperand(i, first + 1), i);
  LLVMPositionBuilderBefore(b, i);
  return LLVMIsASelectInst(i) ? l_select(b, LLVMGetOperand(i, 0), x, y)
                              : l_binop(b, LLVMGetInstructionOpcode(i), x, y);
}

/* v of 32 bits; what is not of the web is truncated in front of `before`. */
static LLVMValueRef shortened(Webs *w, LLVMValueRef v, LLVMValueRef before) {
  Member *m = member(w, v);
  if (!m) {
    LLVMPositionBuilderBefore(w->cg->builder, before);
    return l_trunc(w->cg->builder, v, w->cg->t.i32);
  }
  if (!m->now)
    m->now = write(w, v);
  return m->now;
}

static void write_phis(Webs *w) {
  for (uint32_t k = 0; k < w->n; k++) {
    Member *m = &w->members[k];
    if (m->out || !LLVMIsAPHINode(m->v))
      continue;
    LLVMPositionBuilderBefore(w->cg->builder, m->v);
    m->now = l_phi(w->cg->builder, w->cg->t.i32);
  }
}

static void add_incoming(Webs *w, const Member *m) {
  for (unsigned k = 0; k < LLVMCountIncoming(m->v); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(m->v, k);
    LLVMValueRef x = shortened(w, LLVMGetIncomingValue(m->v, k), LLVMGetBasicBlockTerminator(from));
    LLVMAddIncoming(m->now, &x, &from, 1);
  }
}

/* Extensions compare alike, with a sign or without. */
static void shorten_comparisons(Webs *w, const Member *m) {
  LLVMBuilderRef b = w->cg->builder;
  for (LLVMUseRef u = LLVMGetFirstUse(m->v), next; u; u = next) {
    LLVMValueRef i = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    if (!LLVMIsAICmpInst(i) || !LLVMGetFirstUse(i))
      continue;
    LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
    if ((!member(w, x) && !fits(x)) || (!member(w, y) && !fits(y)))
      continue;
    x = shortened(w, x, i), y = shortened(w, y, i);
    LLVMPositionBuilderBefore(b, i);
    LLVMReplaceAllUsesWith(i, l_icmp(b, LLVMGetICmpPredicate(i), x, y));
  }
}

static LLVMValueRef behind(LLVMValueRef i) {
  do
    i = LLVMGetNextInstruction(i);
  while (LLVMIsAPHINode(i));
  return i;
}

/* Users of the web have operands of their own by now. */
static void extend(Webs *w, const Member *m) {
  LLVMPositionBuilderBefore(w->cg->builder, behind(is_shuffle(m->v) ? m->now : m->v));
  LLVMValueRef wide = l_sext(w->cg->builder, m->now, w->cg->t.i64);
  if (!is_shuffle(m->v)) {
    LLVMReplaceAllUsesWith(m->v, wide);
    return;
  }
  for (LLVMUseRef u = LLVMGetFirstUse(m->v), next; u; u = next) {
    LLVMValueRef user = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    for (int k = 0; user != m->now && k < LLVMGetNumOperands(user); k++)
      if (LLVMGetOperand(user, (unsigned)k) == m->v)
        LLVMSetOperand(user, (unsigned)k, wide);
  }
}

static bool shorten_in(Cg *cg, LLVMValueRef f) {
  Webs w = {.cg = cg, .numbers = {.arena = &cg->cx->arena}};
  bool any = false;
  find_members(&w, f);
  leave_long(&w);
  join(&w);
  judge(&w);
  for (uint32_t k = 0; k < w.n; k++) {
    w.members[k].out |= !is_wanted(&w, &w.members[k]);
    any |= !w.members[k].out;
  }
  write_phis(&w);
  for (uint32_t k = 0; k < w.n; k++)
    if (!w.members[k].out)
      shortened(&w, w.members[k].v, w.members[k].v);
  for (uint32_t k = 0; k < w.n; k++)
    if (!w.members[k].out && LLVMIsAPHINode(w.members[k].v))
      add_incoming(&w, &w.members[k]);
  for (uint32_t k = 0; k < w.n; k++)
    if (!w.members[k].out)
      shorten_comparisons(&w, &w.members[k]);
  for (uint32_t k = 0; k < w.n; k++)
    if (!w.members[k].out)
      extend(&w, &w.members[k]);
  for (uint32_t k = 0; k < w.n; k++)
    if (!w.members[k].out && !is_shuffle(w.members[k].v))
      LLVMInstructionEraseFromParent(w.members[k].v);
  return any;
}

void hl_pass_short(Cg *cg) {
  const Loops *l = hl_loops(cg);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); l && l->width && f;
       f = LLVMGetNextFunction(f))
    any |= !LLVMIsDeclaration(f) && shorten_in(cg, f);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  if (any)
    cg_lanes_regulate(cg);
}
