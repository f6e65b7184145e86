/* CFG: reverse post-order, dominators (Cooper, Harvey, Kennedy 2001), and the clean-ups that keep
 * SSA minimal. */
#include "ir/cfg.h"

#include <string.h>

#include "ir/build.h"

/* --- order --- */

typedef struct Visit {
  Block *block;
  int next;
} Visit;

/* Reached blocks in post-order; iterative, so that deep code needs no C stack. Successors are
 * visited last first, which puts the taken side of a branch before the other in reverse
 * post-order. */
static Block **post_order(Cx *cx, Fn *fn, uint32_t *count) {
  Block **order = CX_ARRAY(cx, Block *, fn->nblocks);
  Visit *stack = CX_ARRAY(cx, Visit, fn->nblocks);
  uint32_t n = 0, depth = 0;
  FOR_BLOCKS (fn, b)
    b->rpo = UINT32_MAX;
  stack[depth++] = (Visit){fn->entry, 1};
  fn->entry->rpo = 0;
  while (depth) {
    Visit *v = &stack[depth - 1];
    if (v->next < 0) {
      order[n++] = v->block;
      depth--;
      continue;
    }
    Block *s = v->block->succ[v->next--];
    if (s && s->rpo == UINT32_MAX) {
      s->rpo = 0;
      stack[depth++] = (Visit){s, 1};
    }
  }
  *count = n;
  return order;
}

void ir_order(Cx *cx, Fn *fn) {
  uint32_t n;
  Block **order = post_order(cx, fn, &n);
  FOR_BLOCKS (fn, b) {
    if (b->rpo != UINT32_MAX)
      continue;
    for (int k = 0; k < 2; k++)
      while (b->succ[k])
        ir_unlink(b, b->succ[k]);
  }
  Block *last = NULL;
  for (uint32_t k = 0; k < n; k++) {
    Block *b = order[n - 1 - k];
    b->rpo = k;
    if (last)
      last->next = b;
    else
      fn->entry = b;
    last = b;
  }
  last->next = NULL;
  fn->last_block = last;
  fn->nblocks = n;
}

/* --- dominators --- */

/* Cooper, Harvey and Kennedy: "A simple, fast dominance algorithm". A block whose dominators were
 * followed before in the same round leads to where the round has got, so none is passed twice: a
 * join of a thousand branches of a chain is not a thousand ways to its start. */
static Block *intersect(Block *a, Block *dom, uint32_t round) {
  while (a != dom) {
    Block **up = a->rpo > dom->rpo ? &a : &dom;
    if (up == &a && a->dom_round == round)
      return dom;
    (*up)->dom_round = round;
    *up = (*up)->idom;
  }
  return dom;
}

static Block *dominator_of(Block *b, uint32_t round) {
  Block *dom = NULL;
  for (uint32_t k = 0; k < b->preds.len; k++) {
    Block *p = b->preds.data[k];
    if (p->idom)
      dom = dom ? intersect(p, dom, round) : p;
  }
  return dom;
}

/* Dominators come first in reverse post-order: so counts add up from the end, and numbers are
 * handed out from the start. dom_round is the next number for a child. */
static void number_dominated(Cx *cx, Fn *fn) {
  Block **order = CX_ARRAY(cx, Block *, fn->nblocks);
  uint32_t n = 0;
  FOR_BLOCKS (fn, b) {
    b->dom_count = 1;
    order[n++] = b;
  }
  for (uint32_t k = n; k-- > 1;)
    order[k]->idom->dom_count += order[k]->dom_count;
  fn->entry->dom_first = 1;
  for (uint32_t k = 0; k < n; k++) {
    Block *up = k ? order[k]->idom : NULL;
    if (up) {
      order[k]->dom_first = up->dom_round;
      up->dom_round += order[k]->dom_count;
    }
    order[k]->dom_round = order[k]->dom_first + 1;
  }
}

void ir_dominators(Cx *cx, Fn *fn) {
  uint32_t round = 0;
  CX_ASSERT(cx, fn->entry->rpo == 0 && !fn->entry->preds.len); /* ir_order was here */
  FOR_BLOCKS (fn, b) {
    b->idom = NULL;
    b->dom_round = 0;
  }
  fn->entry->idom = fn->entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (Block *b = fn->entry->next; b; b = b->next) {
      Block *dom = dominator_of(b, ++round);
      CX_ASSERT(cx, dom); /* in reverse post-order some predecessor has its own */
      changed |= b->idom != dom;
      b->idom = dom;
    }
  }
  number_dominated(cx, fn);
  fn->entry->idom = NULL;
}

bool ir_dominates(const Block *a, const Block *b) {
  return a == b || b->dom_first - a->dom_first < a->dom_count;
}

/* --- loops --- */

/* Which predecessors of h are back edges; how many. */
static uint32_t back_edges(const Block *h, bool *back) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < h->preds.len; k++)
    n += back[k] = h->preds.data[k]->rpo >= h->rpo && ir_dominates(h, h->preds.data[k]);
  return n;
}

void ir_join_latches(Cx *cx, Fn *fn) {
  bool joined = false;
  ir_dominators(cx, fn);
  Block *last = fn->last_block;
  for (Block *b = fn->entry;; b = b->next) {
    bool *back = CX_ARRAY(cx, bool, b->preds.len + 1);
    if (back_edges(b, back) > 1) {
      ir_join_edges(cx, fn, b, back);
      joined = true;
    }
    if (b == last)
      break;
  }
  if (joined)
    ir_order(cx, fn);
}

/* --- phis --- */

/* The one value that a phi can have, or NULL if it has two. A phi of only itself gives itself. */
static Ins *phi_value(Ins *phi) {
  Ins *only = NULL;
  for (uint32_t k = 0; k < phi->nargs; k++) {
    Ins *a = ir_real(phi->args[k]);
    if (a == phi || a == only)
      continue;
    if (only)
      return NULL;
    only = a;
  }
  return only ? only : phi;
}

void ir_simplify_phis(Cx *cx, Fn *fn) {
  (void)cx;
  for (bool changed = true; changed;) {
    changed = false;
    FOR_BLOCKS (fn, b)
      FOR_INS_SAFE (b, i, next) {
        if (i->op != OP_PHI)
          break;
        Ins *v = phi_value(i);
        if (!v || v == i)
          continue;
        ir_remove(i);
        ir_replace(i, v);
        changed = true;
      }
  }
  ir_settle(fn);
}

/* --- dead code --- */

/* Before typing nobody knows whether an operation is an error, and an unused one is an error all
 * the same: it stays until it has types. */
static bool may_be_wrong(const Ins *i) {
  switch ((Op)i->op) {
  case OP_GETATTR:
  case OP_GETITEM:
  case OP_UNPACK:
  case OP_UNPACK_EX: return true;
  case OP_NOT:
  case OP_TRUTH: return false; /* right for whatever is */
  case OP_GLOBAL: return i->aux.frozen && i->aux.frozen->kind == FZ_UNSET;
  default: return i->op >= OP_ADD && i->op <= OP_NOT_IN;
  }
}

static bool is_same(const Ins *a, const Ins *b, int depth) {
  enum { DEEPEST = 24 };
  if (a == b)
    return true;
  Effect e = ir_op_info[a->op].effect;
  if (a->op != b->op || a->nargs != b->nargs || a->type != b->type || depth > DEEPEST ||
      (e != EFFECT_PURE && e != EFFECT_STOP) || a->op == OP_ALLOC || a->op == OP_PHI)
    return false;
  if (a->op == OP_CONST)
    return a->aux.frozen == b->aux.frozen ||
           (a->aux.frozen->kind == FZ_INT && b->aux.frozen->kind == FZ_INT &&
            !a->aux.frozen->wide && !b->aux.frozen->wide && a->aux.frozen->i == b->aux.frozen->i);
  if (a->op != OP_CHECK_INDEX && a->aux.i != b->aux.i)
    return false;
  for (uint32_t k = 0; k < a->nargs; k++)
    if (!is_same(a->args[k], b->args[k], depth + 1))
      return false;
  return true;
}

bool ir_is_same_value(const Ins *a, const Ins *b) { return is_same(a, b, 0); }

static bool is_root(const Fn *fn, const Ins *i) {
  Effect e = (Effect)ir_op_info[i->op].effect;
  if (!fn->typed && may_be_wrong(i))
    return true;
  if (i->op == OP_INTRINSIC)
    e = (Effect)ir_intrinsics[i->aux.intrinsic].effect;
  return e != EFFECT_PURE && e != EFFECT_READ && e != EFFECT_PHI;
}

void ir_drop_dead(Cx *cx, Fn *fn) {
  VEC(Ins *) work = {0};
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (is_root(fn, i) || i->op == OP_PARAM) {
        i->flags &= (uint16_t)~INS_DEAD;
        VEC_PUSH(&cx->arena, &work, i);
      } else {
        i->flags |= INS_DEAD;
      }
    }
  while (work.len) {
    Ins *i = VEC_POP(&work);
    for (uint32_t k = 0; k < i->nargs; k++)
      if (i->args[k]->flags & INS_DEAD) {
        i->args[k]->flags &= (uint16_t)~INS_DEAD;
        VEC_PUSH(&cx->arena, &work, i->args[k]);
      }
  }
  FOR_BLOCKS (fn, b)
    FOR_INS_SAFE (b, i, next)
      if (i->flags & INS_DEAD)
        ir_remove(i);
}

/* --- blocks --- */

/* b's only successor has b as its only predecessor: its instructions join b. */
static void absorb(Block *b) {
  Block *s = b->succ[0];
  ir_remove(b->last);
  FOR_INS_SAFE (s, i, next) {
    ir_remove(i);
    if (i->op == OP_PHI)
      ir_replace(i, i->args[0]);
    else
      ir_append(b, i);
  }
  s->preds.len = 0;
  for (int n = 0; n < 2; n++) {
    Block *to = b->succ[n] = s->succ[n];
    s->succ[n] = NULL;
    if (!to || (n == 1 && to == b->succ[0]))
      continue;
    for (uint32_t k = 0; k < to->preds.len; k++)
      if (to->preds.data[k] == s)
        to->preds.data[k] = b;
  }
}

/* An empty block that only goes on to a block without phis gives way: its predecessors go there
 * directly. */
static bool forward(Cx *cx, Fn *fn, Block *b) {
  Block *to = b->succ[0];
  if (b == fn->entry || b->first->op != OP_BR || to == b || to->first->op == OP_PHI ||
      !b->preds.len)
    return false;
  for (uint32_t k = 0; k < b->preds.len; k++) {
    Block *p = b->preds.data[k];
    for (int n = 0; n < 2; n++)
      if (p->succ[n] == b) {
        p->succ[n] = to;
        VEC_PUSH(&cx->arena, &to->preds, p);
        break;
      }
  }
  b->preds.len = 0;
  ir_unlink(b, to);
  return true;
}

void ir_merge_blocks(Cx *cx, Fn *fn) {
  ir_order(cx, fn);
  for (bool changed = true; changed;) {
    changed = false;
    FOR_BLOCKS (fn, b) {
      while (b->last && b->last->op == OP_BR && b->succ[0] != b && b->succ[0]->preds.len == 1 &&
             b->succ[0] != fn->entry) {
        absorb(b);
        changed = true;
      }
      if (b->first && forward(cx, fn, b))
        changed = true;
    }
    FOR_BLOCKS (fn, b)
      if (b->last && b->last->op == OP_CONDBR && b->succ[0] == b->succ[1] &&
          b->succ[0]->first->op != OP_PHI) {
        ir_fold_condbr(cx, b->last, true);
        changed = true;
      }
    ir_settle(fn);
    ir_order(cx, fn);
  }
}
