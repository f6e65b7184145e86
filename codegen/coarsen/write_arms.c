/* Coarsening: arms, the blocks that each copy runs by itself, behind a branch at which copies may
 * go different ways, up to where these join.
 *
 * They are written copy by copy. But where the branch asks for a bound, as a window does that
 * reaches the border of an image, all copies take them nearly always:
 *
 *   for j in range(-r, r + 1):                    if 0 <= x < cols:      # once for all copies
 *     if 0 <= y < rows and 0 <= x < cols:           loads of all copies, each under its own bound
 *       total += f(image[y, x])                     f of all copies
 *                                                   total += …, each under its own bound
 *
 * What is the same in all copies is asked first: outside of a narrow image all of them are passed.
 * (ptxas would make predicates of all conditions, through which every thread goes.) Inside, what
 * may run in any thread does, so that the loads of all copies are in flight together, and what they
 * have in common exists once.
 *
 * In: a block of the common path of the kind CO_ARMS. Out: the copies' arms, and the edge to the
 * join. */
#include <assert.h>
#include <string.h>

#include "codegen/coarsen/writer.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/match.h"

/* How many instructions the arms of all copies must have, for a branch around them to pay. */
enum { LONG_ARMS = 64 };

/* A branch past arms, by parts of a condition that are the same in all copies. */
typedef struct Past {
  LLVMValueRef condition;          /* of the branch; NULL: no part is the same in all copies */
  LLVMValueRef own[CO_MAX_FACTOR]; /* by copy: the parts that are not */
  bool if_true;                    /* it is `a or b`: the arms are passed where one holds */
} Past;

static bool joins_parts(const Past *p, LLVMValueRef v) {
  return p->if_true ? cg_is_either(v) : cg_is_both(v);
}

/* `a and b`, or `a or b`; b is asked where a does not decide. */
static LLVMValueRef join_parts(CoWriter *w, const Past *p, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef decided = l_int(w->t->i1, p->if_true);
  if (!a || !b)
    return a ? a : b;
  return p->if_true ? l_select(w->b, a, decided, b) : l_select(w->b, a, b, decided);
}

/* The parts of copy c's condition that vary, or those that do not; NULL: there are none. */
static LLVMValueRef parts_of(CoWriter *w, const Past *p, unsigned c, LLVMValueRef v, bool varying) {
  const CoIns *i = co_ins(w->s, v);
  if (i && i->varies && joins_parts(p, v)) {
    LLVMValueRef a = parts_of(w, p, c, LLVMGetOperand(v, 0), varying);
    return join_parts(w, p, a, parts_of(w, p, c, cg_second_condition(v), varying));
  }
  return (i && i->varies) == varying ? co_resolve(w, c, v) : NULL;
}

/* Is it one long block of loads and of what may run in all threads? */
static bool is_flat(const CoWriter *w, const CoBlock *b, const CoBlock *arm) {
  uint32_t n = arm->last - arm->first;
  if (b->arms != co_one((uint32_t)(arm - w->s->blocks)) || n * w->plan->factor < LONG_ARMS)
    return false;
  for (uint32_t k = arm->first; k + 1 < arm->last; k++) {
    const CoIns *i = &w->s->ins.data[k];
    bool runs = cg_is_speculatable(i->old) || cg_is_function_of_operands(i->old);
    if (LLVMIsAPHINode(i->old) || (!i->reads && !runs))
      return false;
  }
  return true;
}

static bool has_part(const CoWriter *w, const Past *p, LLVMValueRef v, bool varying) {
  const CoIns *i = co_ins(w->s, v);
  if (i && i->varies && joins_parts(p, v))
    return has_part(w, p, LLVMGetOperand(v, 0), varying) ||
           has_part(w, p, cg_second_condition(v), varying);
  return (i && i->varies) == varying;
}

/* Is a part that varies, or one that does not, asked behind one of the other kind? There it may be
 * poison. */
static bool is_behind(const CoWriter *w, const Past *p, LLVMValueRef v, bool varying, bool behind) {
  const CoIns *i = co_ins(w->s, v);
  if (!i || !i->varies || !joins_parts(p, v))
    return behind && (i && i->varies) == varying;
  LLVMValueRef first = LLVMGetOperand(v, 0);
  bool guards = LLVMIsASelectInst(v) && has_part(w, p, first, !varying);
  return is_behind(w, p, first, varying, behind) ||
         is_behind(w, p, cg_second_condition(v), varying, behind || guards);
}

/* Do the own parts of all copies say that the arms are passed, or that one copy's are not? */
static LLVMValueRef said_by_own(CoWriter *w, const Past *p) {
  LLVMValueRef all = p->own[0];
  for (unsigned c = 1; c < w->plan->factor; c++)
    all = (p->if_true ? l_and : l_or)(w->b, all, p->own[c]);
  return all;
}

static Past way_past(CoWriter *w, const CoBlock *b) {
  Past p = {0};
  if (!LLVMIsABranchInst(b->in->last) || b->in->nsucc != 2 || (b->arms & ~w->bounded))
    return p;
  p.if_true = b->in->succ[0] == b->join;
  if ((!p.if_true && b->in->succ[1] != b->join) ||
      !is_flat(w, b, &w->s->blocks[b->in->succ[p.if_true]]))
    return p;
  LLVMValueRef condition = LLVMGetCondition(b->in->last);
  LLVMValueRef common = parts_of(w, &p, 0, condition, false);
  bool guarded = is_behind(w, &p, condition, false, false);
  if (!common || (guarded && is_behind(w, &p, condition, true, false)))
    return p;
  for (unsigned c = 0; c < w->plan->factor; c++)
    p.own[c] = parts_of(w, &p, c, condition, true);
  p.condition = guarded ? join_parts(w, &p, said_by_own(w, &p), common) : common;
  return p;
}

/* The phis of the join, of all copies, where the arms of all were passed or not. */
static void write_passed(CoWriter *w, const CoBlock *join, LLVMBasicBlockRef from, uint32_t at,
                         LLVMBasicBlockRef end, LLVMValueRef *joined) {
  for (uint32_t k = join->first; k < join->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++)
    for (unsigned c = 0; c < w->plan->factor; c++) {
      LLVMValueRef *value = &joined[(k - join->first) * w->plan->factor + c];
      LLVMValueRef old = w->s->ins.data[k].old, phi = l_phi(w->b, LLVMTypeOf(old));
      LLVMValueRef before = co_resolve(w, c, graph_incoming(old, w->s->blocks[at].in->block));
      LLVMAddIncoming(phi, &before, &from, 1);
      LLVMAddIncoming(phi, value, &end, 1);
      *value = phi;
    }
}

static void write_arms_of(CoWriter *w, uint32_t at, unsigned c, LLVMValueRef *joined) {
  CoShape *s = w->s;
  CoBlock *b = &s->blocks[at], *join = &s->blocks[b->join];
  CoSet from = b->arms | co_one(at); /* guards have ruled out other predecessors */
  LLVMBasicBlockRef end = co_new_block(w, "met");
  b->now[c] = LLVMGetInsertBlock(w->b);
  join->now[c] = end;
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(b->arms, k))
      s->blocks[k].now[c] = co_new_block(w, "arm");
  co_write_end(w, c, b);
  for (uint32_t k = 0; k < s->nblocks; k++)
    if (co_has(b->arms, k))
      co_write_block(w, c, &s->blocks[k], from);
  LLVMPositionBuilderAtEnd(w->b, end);
  co_write_joined(w, c, join, from, joined);
}

/* A load where the condition holds; elsewhere nobody uses its value. There is one all the same, the
 * one that was loaded before: of a predicated load without it ptxas keeps a register around the
 * whole loop. */
static LLVMValueRef write_load_if(CoWriter *w, unsigned c, const CoIns *i, LLVMValueRef condition) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(w->b), then = co_new_block(w, "load");
  LLVMBasicBlockRef behind = co_new_block(w, "loaded");
  LLVMTypeRef type = LLVMTypeOf(i->old);
  LLVMValueRef before = w->loaded[c], phi;
  if (!before || LLVMTypeOf(before) != type)
    before = LLVMConstNull(type);
  l_condbr(w->b, condition, then, behind);
  LLVMPositionBuilderAtEnd(w->b, then);
  LLVMValueRef loaded = co_cloned(w, c, i);
  l_br(w->b, behind);
  LLVMPositionBuilderAtEnd(w->b, behind);
  phi = w->loaded[c] = l_phi(w->b, type);
  LLVMAddIncoming(phi, &loaded, &then, 1);
  LLVMAddIncoming(phi, &before, &here, 1);
  return phi;
}

static LLVMValueRef any_of(CoWriter *w, const LLVMValueRef *own) {
  LLVMValueRef any = own[0];
  for (unsigned c = 1; c < w->plan->factor; c++)
    any = l_select(w->b, any, l_int(w->t->i1, 1), own[c]);
  return any;
}

/* The one block of the arms, without a branch but around its loads: those of all copies are in
 * flight at once, and what is the same in all copies is loaded where one of them wants it. own:
 * each copy's condition. */
static void write_flat(CoWriter *w, const CoBlock *arm, const LLVMValueRef *own) {
  unsigned factor = w->plan->factor;
  for (uint32_t k = arm->first; k + 1 < arm->last; k++) {
    CoIns *i = &w->s->ins.data[k];
    for (unsigned c = 0; c < factor; c++)
      i->now[c] = c && i->once ? i->now[0]
                  : !i->reads  ? co_copied(w, c, i)
                               : write_load_if(w, c, i, i->once ? any_of(w, own) : own[c]);
  }
}

static void write_arms_past(CoWriter *w, uint32_t at, const Past *p, LLVMValueRef *joined) {
  CoBlock *b = &w->s->blocks[at], *join = &w->s->blocks[b->join];
  const CoBlock *arm = &w->s->blocks[b->in->succ[p->if_true]];
  LLVMValueRef own[CO_MAX_FACTOR] = {0};
  unsigned factor = w->plan->factor;
  for (unsigned c = 0; c < factor; c++)
    own[c] = p->if_true ? l_not(w->b, p->own[c]) : p->own[c];
  write_flat(w, arm, own);
  for (uint32_t k = join->first; k < join->last && LLVMIsAPHINode(w->s->ins.data[k].old); k++)
    for (unsigned c = 0; c < factor; c++) {
      LLVMValueRef old = w->s->ins.data[k].old;
      LLVMValueRef x = co_resolve(w, c, graph_incoming(old, arm->in->block));
      LLVMValueRef y = co_resolve(w, c, graph_incoming(old, b->in->block));
      joined[(k - join->first) * factor + c] = l_select(w->b, own[c], x, y);
    }
}

/* Is a block reached from a branch and its arms alone? */
static bool follows(const CoBlock *join, CoSet arms) {
  for (uint32_t k = 0; k < join->in->npred; k++)
    if (!co_has(arms, join->in->pred[k]))
      return false;
  return true;
}

/* What was loaded last, where the arms were passed or not. */
static void keep_loaded(CoWriter *w, LLVMBasicBlockRef from, const LLVMValueRef *before,
                        LLVMBasicBlockRef end) {
  for (unsigned c = 0; c < w->plan->factor; c++) {
    LLVMValueRef now = w->loaded[c], old = before[c], phi;
    if (now == old)
      continue;
    if (!old || LLVMTypeOf(old) != LLVMTypeOf(now))
      old = LLVMConstNull(LLVMTypeOf(now));
    phi = w->loaded[c] = l_phi(w->b, LLVMTypeOf(now));
    LLVMAddIncoming(phi, &old, &from, 1);
    LLVMAddIncoming(phi, &now, &end, 1);
  }
}

void co_write_arms(CoWriter *w, uint32_t at) {
  CoBlock *b = &w->s->blocks[at], *join = &w->s->blocks[b->join];
  LLVMValueRef *joined = CX_ARRAY(w->cx, LLVMValueRef,
                                  (size_t)(join->last - join->first) * w->plan->factor);
  assert(b->arms && !co_has(b->arms, b->join) && !co_has(b->arms, at));
  Past past = way_past(w, b);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(w->b), passed = NULL;
  if (past.condition) {
    LLVMBasicBlockRef inside = co_new_block(w, "inside");
    passed = co_new_block(w, "passed");
    l_condbr(w->b, past.condition, past.if_true ? passed : inside, past.if_true ? inside : passed);
    LLVMPositionBuilderAtEnd(w->b, inside);
  }
  for (unsigned c = 0; !passed && c < w->plan->factor; c++)
    write_arms_of(w, at, c, joined);
  if (passed) {
    LLVMValueRef before[CO_MAX_FACTOR];
    if (w->loaded_at != at)
      memset(w->loaded, 0, sizeof w->loaded);
    memcpy(before, w->loaded, sizeof before);
    write_arms_past(w, at, &past, joined);
    LLVMBasicBlockRef end = LLVMGetInsertBlock(w->b);
    l_br(w->b, passed);
    LLVMPositionBuilderAtEnd(w->b, passed);
    write_passed(w, join, from, at, end, joined);
    keep_loaded(w, from, before, end);
    w->loaded_at = follows(join, b->arms | co_one(at)) ? b->join : GRAPH_NONE;
  }
  co_add_edge(w, at, b->join, joined);
  l_br(w->b, join->common);
}
