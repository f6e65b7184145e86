/* Build: functions, blocks, instructions and their links. */
#include "ir/build.h"

#include <assert.h>
#include <string.h>

const OpInfo ir_op_info[OP_COUNT] = {
#define OP(ID, text, stage, lo, hi, effect, rule, lower, doc)                                      \
  [OP_##ID] = {text, STAGE_##stage, lo, hi, EFFECT_##effect},
#include "ir/ops.def"
#undef OP
};

Fn *ir_fn(Cx *cx, const char *name, uint32_t nparams, const char *const *param_names) {
  Fn *fn = CX_NEW(cx, Fn);
  fn->name = name;
  fn->nparams = nparams;
  fn->param_names = param_names;
  fn->params = CX_ARRAY(cx, Ins *, nparams ? nparams : 1);
  Block *entry = ir_block(cx, fn);
  for (uint32_t i = 0; i < nparams; i++) {
    Ins *p = ir_ins(cx, fn, OP_PARAM, NULL, (Loc){0}, NULL, 0);
    p->aux.i = i;
    p->name = param_names ? param_names[i] : NULL;
    ir_append(entry, p);
    fn->params[i] = p;
  }
  return fn;
}

const IrSite *ir_site(Cx *cx, Program *program, const char *exception, const char *message,
                      Loc loc) {
  IrSite *s = CX_NEW(cx, IrSite);
  *s = (IrSite){
      .number = program->sites.len, .exception = exception, .message = message, .loc = loc};
  VEC_PUSH(&cx->arena, &program->sites, s);
  return s;
}

Block *ir_block(Cx *cx, Fn *fn) {
  Block *b = CX_NEW(cx, Block);
  b->id = fn->next_block++;
  b->rpo = UINT32_MAX;
  if (fn->last_block)
    fn->last_block->next = b;
  else
    fn->entry = b;
  fn->last_block = b;
  fn->nblocks++;
  return b;
}

Ins *ir_ins(Cx *cx, Fn *fn, Op op, const Type *type, Loc loc, Ins *const *args, uint32_t nargs) {
  Ins *i = CX_NEW(cx, Ins);
  i->op = (uint16_t)op;
  i->id = fn->next_id++;
  i->type = type;
  i->loc = loc;
  i->nargs = nargs;
  if (nargs) { /* capacity is the next power of two: ir_add_arg relies on it */
    uint32_t cap = 1;
    while (cap < nargs)
      cap *= 2;
    i->args = CX_ARRAY(cx, Ins *, cap);
    memcpy(i->args, args, sizeof *args * nargs);
  }
  return i;
}

void ir_append(Block *b, Ins *i) {
  assert(!i->block);
  i->block = b;
  i->prev = b->last;
  i->next = NULL;
  if (b->last)
    b->last->next = i;
  else
    b->first = i;
  b->last = i;
}

void ir_insert_before(Ins *at, Ins *i) {
  Block *b = at->block;
  assert(b && !i->block);
  i->block = b;
  i->next = at;
  i->prev = at->prev;
  if (at->prev)
    at->prev->next = i;
  else
    b->first = i;
  at->prev = i;
}

void ir_insert_phi(Block *b, Ins *phi) {
  Ins *at = b->first;
  while (at && at->op == OP_PHI)
    at = at->next;
  if (at)
    ir_insert_before(at, phi);
  else
    ir_append(b, phi);
}

void ir_remove(Ins *i) {
  Block *b = i->block;
  if (!b)
    return;
  if (i->prev)
    i->prev->next = i->next;
  else
    b->first = i->next;
  if (i->next)
    i->next->prev = i->prev;
  else
    b->last = i->prev;
  i->block = NULL;
  i->prev = i->next = NULL;
}

void ir_add_arg(Cx *cx, Ins *i, Ins *arg) {
  if ((i->nargs & (i->nargs - 1)) == 0) { /* capacity is the next power of two */
    uint32_t cap = i->nargs ? i->nargs * 2 : 1;
    i->args = arena_grow(&cx->arena, i->args, sizeof *i->args * i->nargs, sizeof *i->args * cap);
  }
  i->args[i->nargs++] = arg;
}

static void link_edge(Cx *cx, Block *from, int n, Block *to) {
  from->succ[n] = to;
  VEC_PUSH(&cx->arena, &to->preds, from);
}

Ins *ir_br(Cx *cx, Fn *fn, Block *from, Block *to, Loc loc) {
  CX_ASSERT(cx, !from->succ[0] && !(from->last && ins_is_term(from->last)));
  Ins *i = ir_ins(cx, fn, OP_BR, NULL, loc, NULL, 0);
  ir_append(from, i);
  link_edge(cx, from, 0, to);
  return i;
}

Ins *ir_condbr(Cx *cx, Fn *fn, Block *from, Ins *cond, Block *yes, Block *no, Loc loc) {
  CX_ASSERT(cx, !from->succ[0] && !(from->last && ins_is_term(from->last)));
  Ins *i = ir_ins(cx, fn, OP_CONDBR, NULL, loc, &cond, 1);
  ir_append(from, i);
  link_edge(cx, from, 0, yes);
  link_edge(cx, from, 1, no);
  return i;
}

Ins *ir_ret(Cx *cx, Fn *fn, Block *from, Ins *value, Loc loc) {
  Ins *i = ir_ins(cx, fn, OP_RET, NULL, loc, &value, 1);
  ir_append(from, i);
  return i;
}

/* Removes predecessor number n of a block, with the operands of its phis. */
static void drop_pred(Block *to, uint32_t n) {
  assert(n < to->preds.len);
  for (uint32_t k = n; k + 1 < to->preds.len; k++)
    to->preds.data[k] = to->preds.data[k + 1];
  to->preds.len--;
  for (Ins *i = to->first; i && i->op == OP_PHI; i = i->next) {
    if (i->nargs <= n)
      continue;
    for (uint32_t k = n; k + 1 < i->nargs; k++)
      i->args[k] = i->args[k + 1];
    i->nargs--;
  }
}

void ir_unlink(Block *from, Block *to) {
  assert(from->succ[0] == to || from->succ[1] == to);
  for (int n = 0; n < 2; n++)
    if (from->succ[n] == to) {
      from->succ[n] = NULL;
      break;
    }
  for (uint32_t k = 0; k < to->preds.len; k++)
    if (to->preds.data[k] == from) {
      drop_pred(to, k);
      return;
    }
}

/* What phi is on the edges of `through`: one value, or a phi of the block that joins them. */
static Ins *joined_value(Cx *cx, Fn *fn, const Ins *phi, Block *join, const bool *through) {
  Ins *p = ir_ins(cx, fn, OP_PHI, phi->type, phi->loc, NULL, 0);
  bool one = true;
  p->flags = phi->flags;
  for (uint32_t k = 0; k < phi->nargs; k++)
    if (through[k]) {
      ir_add_arg(cx, p, phi->args[k]);
      one = one && phi->args[k] == p->args[0];
    }
  if (one)
    return p->args[0];
  ir_append(join, p);
  return p;
}

Block *ir_join_edges(Cx *cx, Fn *fn, Block *to, const bool *through) {
  Block *join = ir_block(cx, fn);
  VEC(Ins *) values = {0};
  for (Ins *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
    VEC_PUSH(&cx->arena, &values, joined_value(cx, fn, phi, join, through));
  for (uint32_t k = 0; k < to->preds.len; k++) {
    Block *from = to->preds.data[k];
    if (!through[k])
      continue;
    from->succ[from->succ[0] != to] = join;
    VEC_PUSH(&cx->arena, &join->preds, from);
  }
  for (uint32_t k = to->preds.len; k-- > 0;)
    if (through[k])
      drop_pred(to, k);
  uint32_t n = 0;
  for (Ins *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
    ir_add_arg(cx, phi, values.data[n++]);
  ir_br(cx, fn, join, to, to->first->loc)->type = to->last->type; /* void, once there are types */
  return join;
}

void ir_fold_condbr(Cx *cx, Ins *condbr, bool taken) {
  Block *from = condbr->block, *keep = from->succ[taken ? 0 : 1], *drop = from->succ[taken ? 1 : 0];
  CX_ASSERT(cx, condbr->op == OP_CONDBR);
  /* two edges to one block: the second goes, its phi operands are equal by construction */
  if (keep == drop) {
    uint32_t seen = 0, at = 0;
    for (uint32_t k = 0; k < drop->preds.len; k++)
      if (drop->preds.data[k] == from && seen++ == (taken ? 1u : 0u))
        at = k;
    drop_pred(drop, at);
  } else {
    ir_unlink(from, drop);
  }
  from->succ[0] = keep;
  from->succ[1] = NULL;
  condbr->op = OP_BR;
  condbr->nargs = 0;
}

Block *ir_split(Cx *cx, Fn *fn, Ins *at) {
  CX_ASSERT(cx, at->block && at->op != OP_PHI);
  Block *b = at->block, *tail = ir_block(cx, fn);
  if (fn->last_block == tail && b->next != tail) { /* stands behind the block that it came from */
    Block *before = b;
    while (before->next != tail)
      before = before->next;
    before->next = NULL;
    fn->last_block = before;
    tail->next = b->next;
    b->next = tail;
  }
  tail->first = at;
  tail->last = b->last;
  b->last = at->prev;
  if (at->prev)
    at->prev->next = NULL;
  else
    b->first = NULL;
  at->prev = NULL;
  for (Ins *i = at; i; i = i->next)
    i->block = tail;
  for (int n = 0; n < 2; n++) {
    Block *to = tail->succ[n] = b->succ[n];
    b->succ[n] = NULL;
    if (!to || (n == 1 && to == tail->succ[0]))
      continue;
    for (uint32_t k = 0; k < to->preds.len; k++)
      if (to->preds.data[k] == b)
        to->preds.data[k] = tail;
  }
  return tail;
}

void ir_replace(Ins *from, Ins *to) {
  if (from != ir_real(to))
    from->replaced = to;
}

Ins *ir_real(Ins *i) {
  Ins *end = i;
  while (end->replaced)
    end = end->replaced;
  while (i->replaced && i->replaced != end) { /* shorten the chain */
    Ins *next = i->replaced;
    i->replaced = end;
    i = next;
  }
  return end;
}

void ir_settle(Fn *fn) {
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++)
        i->args[k] = ir_real(i->args[k]);
}

/* --- constants --- */

Ins *ir_const(Cx *cx, Fn *fn, const Frozen *f, const Type *type, Loc loc) {
  Ins *i = ir_ins(cx, fn, OP_CONST, type, loc, NULL, 0);
  i->aux.frozen = f;
  return i;
}

static Frozen *fz_new(Cx *cx, FrozenKind kind) {
  Frozen *f = CX_NEW(cx, Frozen);
  f->kind = kind;
  return f;
}

const Frozen *fz_int(Cx *cx, int64_t v) {
  Frozen *f = fz_new(cx, FZ_INT);
  f->i = v;
  return f;
}

const Frozen *fz_uint(Cx *cx, uint64_t v) {
  Frozen *f = fz_new(cx, FZ_INT);
  f->i = (int64_t)v;
  f->wide = v > INT64_MAX;
  return f;
}

const Frozen *fz_float(Cx *cx, double v) {
  Frozen *f = fz_new(cx, FZ_FLOAT);
  f->re = v;
  return f;
}

const Frozen *fz_complex(Cx *cx, TypeId type, double re, double im) {
  bool weak = ty_scalar_info[type].weak;
  Frozen *f = fz_new(cx, weak ? FZ_COMPLEX : FZ_SCALAR);
  f->type = weak ? TY_VOID : type;
  f->re = re;
  f->im = im;
  return f;
}

const Frozen *fz_bool(Cx *cx, bool v) {
  Frozen *f = fz_new(cx, FZ_BOOL);
  f->i = v;
  return f;
}

const Frozen *fz_strn(Cx *cx, const char *s, uint32_t n) {
  Frozen *f = fz_new(cx, FZ_STR);
  f->text = s;
  f->n = n;
  return f;
}

const Frozen *fz_str(Cx *cx, const char *s) { return fz_strn(cx, s, (uint32_t)strlen(s)); }

const Frozen *fz_none(Cx *cx) { return fz_new(cx, FZ_NONE); }

const Frozen *fz_tuple(Cx *cx, const Frozen *const *items, uint32_t n) {
  Frozen *f = fz_new(cx, FZ_TUPLE);
  f->items = items;
  f->n = n;
  return f;
}
