/* NVPTX masked unrolling: short loops that load, unrolled eight times without an epilogue.
 *
 * A loop between bounds that were loaded from memory (a row of a sparse matrix, a particle's
 * neighbours) runs some ten or twenty times, with a trip count that differs from thread to thread.
 * Unrolled by LLVM, four times with an epilogue, up to three iterations wait for their loads one
 * after another. Here eight iterations become one. Each after the first is predicated on the trip
 * count: arithmetic is speculated, loads are branched around, and loop-carried variables keep their
 * values. ptxas turns that into predicated instructions in one block, the loads first.
 *
 *   for k in range(start, end):
 *     acc += value[k]
 *
 * becomes
 *
 *   n = end - start
 *   do:
 *     v0 = value[k]; if n > 1: v1 = value[k + 1]; …; if n > 7: v7 = value[k + 7]
 *     acc += v0; acc = acc + v1 if n > 1 else acc; …
 *     k += 8; n -= 8
 *   while n > 0
 *
 * In: an optimised module in which lower/unroll_hints.c has marked loops. A marked loop must be a
 * single block that branches to itself until its counter, which steps by 1, equals a loop
 * invariant; it may load, and compute what may be speculated. Loops of other forms get the metadata
 * by which LLVM unrolls them. Loads that depend on loads of the iteration before are refused: they
 * could not be in flight at once. */
#include "codegen/nvptx/masked_unroll.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/valuemap.h"

enum { COPIES = 8, MAX_BODY = 48, MAX_PHIS = 8, MAX_LEVEL = 4, UNROLLED = 4 };

/* An instruction of the body. */
typedef struct Step {
  LLVMValueRef ins;
  int level; /* the length of the longest chain of loads that it depends on */
  bool load;
  LLVMValueRef copy[COPIES];
} Step;

/* A loop-carried variable. */
typedef struct Carried {
  LLVMValueRef phi, next;
  int level;
  bool read_outside;           /* `next` is used after the loop */
  LLVMValueRef at[COPIES + 1]; /* its value in each copy, and after the last */
} Carried;

typedef struct Loop {
  Cg *cg;
  LLVMValueRef function;
  LLVMBasicBlockRef block, entry, header;
  LLVMValueRef end, compare, counter; /* compare: of the counter's next value with end */
  Step steps[MAX_BODY];
  Carried carried[MAX_PHIS];
  unsigned nsteps, ncarried;
  ValueMap place; /* instruction -> number of its step; phi -> MAX_BODY + its number in carried */
  LLVMValueRef left, has[COPIES]; /* iterations left; is there one for this copy? */
} Loop;

/* --- the form of the loop --- */

static bool is_inside(const Loop *l, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == l->block;
}

static bool is_speculatable_call(LLVMValueRef i) {
  LLVMValueRef f = LLVMGetCalledValue(i);
  unsigned kind = LLVMGetEnumAttributeKindForName("speculatable", 12);
  return LLVMIsAFunction(f) && LLVMGetIntrinsicID(f) &&
         LLVMGetEnumAttributeAtIndex(f, L_FUNCTION, kind);
}

/* May it be speculated, by threads that have no such iteration? */
static bool is_speculatable(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMFNeg:
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMFPTrunc:
  case LLVMFPExt:
  case LLVMSIToFP:
  case LLVMUIToFP:
  case LLVMBitCast:
  case LLVMGetElementPtr:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMSelect:
  case LLVMFreeze: return true;
  case LLVMCall: return is_speculatable_call(i);
  default: return false;
  }
}

static bool read_phi(Loop *l, LLVMValueRef phi) {
  if (l->ncarried == MAX_PHIS || LLVMCountIncoming(phi) != 2)
    return false;
  bool second = LLVMGetIncomingBlock(phi, 1) == l->block;
  l->entry = LLVMGetIncomingBlock(phi, !second);
  valuemap_set(&l->place, phi, MAX_BODY + l->ncarried);
  l->carried[l->ncarried++] = (Carried){.phi = phi, .next = LLVMGetIncomingValue(phi, second)};
  return LLVMGetIncomingBlock(phi, second) == l->block && l->entry != l->block;
}

static bool read_body(Loop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); i != end;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i)) {
      if (!read_phi(l, i))
        return false;
      continue;
    }
    bool load = cg_is_op(i, LLVMLoad) && cg_is_plain_access(i);
    if (l->nsteps == MAX_BODY || !(load || is_speculatable(i)))
      return false;
    valuemap_set(&l->place, i, l->nsteps);
    l->steps[l->nsteps++] = (Step){.ins = i, .load = load};
  }
  return l->ncarried > 0;
}

/* Does the loop continue until counter + 1 equals `end`? */
static bool read_end(Loop *l) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork;
  if (!graph_fork(branch, &fork))
    return false;
  l->compare = fork.condition;
  bool stays = fork.yes == l->block;
  if (!is_inside(l, l->compare) || !cg_is_op(l->compare, LLVMICmp) ||
      LLVMGetICmpPredicate(l->compare) != (stays ? LLVMIntNE : LLVMIntEQ) ||
      LLVMGetNextUse(LLVMGetFirstUse(l->compare)))
    return false;
  LLVMValueRef next = LLVMGetOperand(l->compare, 0);
  l->end = LLVMGetOperand(l->compare, 1);
  for (unsigned k = 0; k < l->ncarried; k++) {
    const Carried *c = &l->carried[k];
    bool steps = c->next == next && cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == c->phi &&
                 LLVMIsAConstantInt(LLVMGetOperand(next, 1)) &&
                 LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) == 1;
    if (steps)
      l->counter = c->phi;
  }
  return l->counter && !is_inside(l, l->end);
}

/* Are the next values of loop-carried variables the only ones that are used after the loop? */
static bool read_outside(Loop *l) {
  for (unsigned k = 0; k < l->nsteps + l->ncarried; k++) {
    LLVMValueRef v = k < l->nsteps ? l->steps[k].ins : l->carried[k - l->nsteps].phi;
    bool outside = false, known = false;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
      outside |= LLVMGetInstructionParent(LLVMGetUser(u)) != l->block;
    for (unsigned j = 0; j < l->ncarried && outside; j++)
      if (l->carried[j].next == v && !known)
        known = l->carried[j].read_outside = true;
    if (outside && !known)
      return false;
  }
  return true;
}

static int level_of(const Loop *l, LLVMValueRef v) {
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return 0;
  return at < MAX_BODY ? l->steps[at].level + l->steps[at].load : l->carried[at - MAX_BODY].level;
}

static bool raise_to(int *level, int to) {
  bool higher = to > *level;
  *level = higher ? to : *level;
  return higher;
}

/* Levels order the code: all copies of one level are written before the next. A carried variable's
 * level is that of its next value, since a copy uses the value from the copy before. False if loads
 * depend on loads of the previous iteration: then levels do not end. */
static bool find_levels(Loop *l) {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned k = 0; k < l->nsteps; k++) {
      Step *s = &l->steps[k];
      for (int o = 0; o < LLVMGetNumOperands(s->ins); o++)
        changed |= raise_to(&s->level, level_of(l, LLVMGetOperand(s->ins, (unsigned)o)));
      if (s->level > MAX_LEVEL)
        return false;
    }
    for (unsigned k = 0; k < l->ncarried; k++)
      changed |= raise_to(&l->carried[k].level, level_of(l, l->carried[k].next));
  }
  return true;
}

static bool has_any_load(const Loop *l) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load)
      return true;
  return false;
}

/* --- writing --- */

static LLVMValueRef value_of(Loop *l, LLVMValueRef v, unsigned copy);

/* The value of a loop-carried variable in a copy; in copy COPIES: after the last. */
static LLVMValueRef carried_to(Loop *l, Carried *c, unsigned copy) {
  if (c->at[copy])
    return c->at[copy];
  assert(copy > 0); /* write_header has made the phis */
  LLVMValueRef before = carried_to(l, c, copy - 1), v = value_of(l, c->next, copy - 1);
  if (c->read_outside && copy > 1)
    v = l_select(l->cg->builder, l->has[copy - 1], v, before);
  return c->at[copy] = v;
}

static LLVMValueRef value_of(Loop *l, LLVMValueRef v, unsigned copy) {
  uint32_t at = is_inside(l, v) ? valuemap_get(&l->place, v) : VALUEMAP_NONE;
  if (at == VALUEMAP_NONE)
    return v;
  assert(at >= MAX_BODY || l->steps[at].copy[copy]);
  return at < MAX_BODY ? l->steps[at].copy[copy] : carried_to(l, &l->carried[at - MAX_BODY], copy);
}

static LLVMValueRef cloned(Loop *l, const Step *s, unsigned copy) {
  unsigned n = (unsigned)LLVMGetNumOperands(s->ins);
  LLVMValueRef *operands = CX_ARRAY(l->cg->cx, LLVMValueRef, n + 1);
  for (unsigned o = 0; o < n; o++)
    operands[o] = value_of(l, LLVMGetOperand(s->ins, o), copy);
  return copy_ins(l->cg->builder, s->ins, operands);
}

static void compute(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    if (s->level == level && !s->load && s->ins != l->compare)
      s->copy[copy] = cloned(l, s, copy);
  }
}

static bool has_loads(const Loop *l, int level) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load && l->steps[k].level == level)
      return true;
  return false;
}

static LLVMBasicBlockRef new_block(Loop *l) {
  LLVMBasicBlockRef b = LLVMAppendBasicBlockInContext(l->cg->context, l->function, "");
  LLVMMoveBasicBlockBefore(b, l->block);
  return b;
}

/* Operands come first: they may be loop-carried variables, whose code is written at the first
 * use. */
static void read_addresses(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++)
    if (l->steps[k].load && l->steps[k].level == level)
      value_of(l, LLVMGetOperand(l->steps[k].ins, 0), copy);
}

static void write_loads(Loop *l, int level, unsigned copy) {
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    if (s->load && s->level == level)
      s->copy[copy] = cloned(l, s, copy);
  }
}

static void load(Loop *l, int level, unsigned copy) {
  LLVMBuilderRef b = l->cg->builder;
  if (!has_loads(l, level))
    return;
  if (copy == 0) {
    write_loads(l, level, copy);
    return;
  }
  read_addresses(l, level, copy);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), yes = new_block(l), behind = new_block(l);
  l_condbr(b, l->has[copy], yes, behind);
  LLVMPositionBuilderAtEnd(b, yes);
  write_loads(l, level, copy);
  l_br(b, behind);
  LLVMPositionBuilderAtEnd(b, behind);
  for (unsigned k = 0; k < l->nsteps; k++) {
    Step *s = &l->steps[k];
    if (!s->load || s->level != level)
      continue;
    LLVMTypeRef type = LLVMTypeOf(s->ins);
    LLVMValueRef phi = l_phi(b, type);
    LLVMAddIncoming(phi, (LLVMValueRef[]){s->copy[copy], LLVMGetPoison(type)},
                    (LLVMBasicBlockRef[]){yes, from}, 2);
    s->copy[copy] = phi;
  }
}

static LLVMValueRef initial(const Loop *l, LLVMValueRef phi) {
  return LLVMGetIncomingValue(phi, LLVMGetIncomingBlock(phi, 0) == l->block);
}

static void write_header(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef type = LLVMTypeOf(l->counter);
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(l->entry));
  LLVMValueRef n = l_sub(b, l->end, initial(l, l->counter));
  l->header = new_block(l);
  LLVMPositionBuilderAtEnd(b, l->header);
  for (unsigned k = 0; k < l->ncarried; k++) {
    Carried *c = &l->carried[k];
    LLVMValueRef first = initial(l, c->phi);
    c->at[0] = l_phi(b, LLVMTypeOf(c->phi));
    LLVMAddIncoming(c->at[0], &first, &l->entry, 1);
  }
  l->left = l_phi(b, type);
  LLVMAddIncoming(l->left, &n, &l->entry, 1);
  for (unsigned k = 1; k < COPIES; k++)
    l->has[k] = l_icmp(b, LLVMIntUGT, l->left, l_int(type, k));
}

/* The old block stays as the latch of the new loop, so that phis after the loop keep their
 * predecessor. */
static void write_end(Loop *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef type = LLVMTypeOf(l->counter);
  for (unsigned k = 0; k < l->ncarried; k++) {
    LLVMValueRef last = carried_to(l, &l->carried[k], COPIES);
    LLVMAddIncoming(l->carried[k].at[0], &last, &l->block, 1);
  }
  LLVMValueRef eight = l_int(type, COPIES), rest = l_sub(b, l->left, eight);
  LLVMAddIncoming(l->left, &rest, &l->block, 1);
  LLVMValueRef more = l_icmp(b, LLVMIntUGT, l->left, eight);
  l_br(b, l->block);
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(l->block);
  Fork fork = {0};
  graph_fork(branch, &fork);
  bool second = fork.no == l->block;
  LLVMPositionBuilderBefore(b, branch);
  LLVMSetCondition(branch, second ? l_not(b, more) : more);
  LLVMSetSuccessor(branch, second, l->header);
}

static void enter(const Loop *l) {
  graph_redirect(LLVMGetBasicBlockTerminator(l->entry), l->block, l->header);
}

static void erase_old(Loop *l) {
  for (unsigned k = 0; k < l->ncarried; k++)
    if (l->carried[k].read_outside)
      LLVMReplaceAllUsesWith(l->carried[k].next, l->carried[k].at[COPIES]);
  for (unsigned k = 0; k < l->ncarried; k++)
    LLVMReplaceAllUsesWith(l->carried[k].phi, LLVMGetPoison(LLVMTypeOf(l->carried[k].phi)));
  for (unsigned k = l->nsteps; k-- > 0;)
    LLVMInstructionEraseFromParent(l->steps[k].ins);
  for (unsigned k = 0; k < l->ncarried; k++)
    LLVMInstructionEraseFromParent(l->carried[k].phi);
}

static void write_loop(Loop *l) {
  assert(l->counter && l->compare && l->entry != l->block);
  LLVMSetCurrentDebugLocation2(l->cg->builder, NULL);
  write_header(l);
  for (int level = 0; level <= MAX_LEVEL; level++) {
    for (unsigned copy = 0; copy < COPIES; copy++)
      compute(l, level, copy);
    for (unsigned copy = 0; copy < COPIES; copy++)
      load(l, level, copy);
  }
  write_end(l);
  enter(l);
  erase_old(l);
}

/* --- metadata --- */

static LLVMMetadataRef text(LLVMContextRef c, const char *s) {
  return LLVMMDStringInContext2(c, s, strlen(s));
}

static void set_marks(LLVMContextRef c, LLVMValueRef branch, LLVMMetadataRef *parts, size_t n) {
  /* the first operand is the node itself, which makes it distinct */
  parts[0] = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, n);
  LLVMMetadataReplaceAllUsesWith(parts[0], id);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, id));
}

void cg_mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count) {
  LLVMValueRef number = l_int(LLVMInt32TypeInContext(c), count);
  LLVMMetadataRef option[] = {text(c, "llvm.loop.unroll.count"), LLVMValueAsMetadata(number)};
  set_marks(c, branch, (LLVMMetadataRef[]){NULL, LLVMMDNodeInContext2(c, option, 2)}, 2);
}

static const char masked[] = "pyptx.masked", whole[] = "pyptx.whole";

void cg_mark_whole(LLVMContextRef c, LLVMValueRef branch, unsigned most) {
  LLVMValueRef number = l_int(LLVMInt32TypeInContext(c), most);
  LLVMMetadataRef own = text(c, whole), full = text(c, "llvm.loop.unroll.full");
  LLVMMetadataRef count[] = {text(c, "llvm.loop.unroll.count"), LLVMValueAsMetadata(number)};
  set_marks(c, branch,
            (LLVMMetadataRef[]){
                NULL, most ? LLVMMDNodeInContext2(c, count, 2) : LLVMMDNodeInContext2(c, &full, 1),
                LLVMMDNodeInContext2(c, &own, 1)},
            3);
}

void cg_mark_masked(LLVMContextRef c, LLVMValueRef branch) {
  LLVMMetadataRef own = text(c, masked), off = text(c, "llvm.loop.unroll.disable");
  set_marks(
      c, branch,
      (LLVMMetadataRef[]){NULL, LLVMMDNodeInContext2(c, &off, 1), LLVMMDNodeInContext2(c, &own, 1)},
      3);
}

static bool is_text(LLVMValueRef node, const char *want) {
  unsigned n = 0;
  const char *s = LLVMIsAMDString(node) ? LLVMGetMDString(node, &n) : NULL;
  return s && n == strlen(want) && memcmp(s, want, n) == 0;
}

/* Is the mark among the options of the loop's metadata? LLVM may have added others. */
static bool is_marked(Cg *cg, LLVMBasicBlockRef block, const char *mark) {
  LLVMValueRef marks = LLVMGetMetadata(LLVMGetBasicBlockTerminator(block),
                                       LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9));
  unsigned n = marks ? LLVMGetMDNodeNumOperands(marks) : 0;
  LLVMValueRef *parts = n ? CX_ARRAY(cg->cx, LLVMValueRef, n) : NULL, name;
  if (n)
    LLVMGetMDNodeOperands(marks, parts);
  for (unsigned k = 1; k < n; k++) {
    if (!parts[k] || !LLVMIsAMDNode(parts[k]) || LLVMGetMDNodeNumOperands(parts[k]) != 1)
      continue;
    LLVMGetMDNodeOperands(parts[k], &name);
    if (name && is_text(name, mark))
      return true;
  }
  return false;
}

void cg_unmark_whole(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (is_marked(cg, b, whole))
        LLVMSetMetadata(LLVMGetBasicBlockTerminator(b),
                        LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9), NULL);
}

static bool is_single_block_loop(LLVMBasicBlockRef b) {
  Fork fork;
  return graph_fork(LLVMGetBasicBlockTerminator(b), &fork) && (fork.yes == b) != (fork.no == b);
}

static bool visit_loop(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef block) {
  Loop *l = CX_NEW(cg->cx, Loop);
  *l = (Loop){.cg = cg, .function = f, .block = block, .place = {.arena = &cg->cx->arena}};
  bool right = is_single_block_loop(block) && read_body(l) && read_end(l) && read_outside(l) &&
               find_levels(l) && has_any_load(l);
  if (right)
    write_loop(l);
  return right;
}

bool cg_nvptx_masked(Cg *cg) {
  bool left = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f), next; b; b = next) {
      next = LLVMGetNextBasicBlock(b);
      if (!is_marked(cg, b, masked) || visit_loop(cg, f, b))
        continue;
      cg_mark_unrolled(cg->context, LLVMGetBasicBlockTerminator(b), UNROLLED);
      left = true;
    }
  return left;
}
