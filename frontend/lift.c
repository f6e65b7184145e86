/* Lift: nodes to SSA. The driver: blocks in reverse post-order, variables to values, and the
 * clean-up that makes one form.
 *
 * In: a FrozenFunc. Out: see lift.h. Nothing here recurses, so that deep code needs no C stack. */
#include "frontend/lift.h"

#include <string.h>

#include "frontend/lift_private.h"
#include "ir/cfg.h"

enum { MAX_PHIS = 1 << 22 };

void bc_damaged(Lift *l, const char *why) { bc_corrupt(l->cx, l->code, why); }

/* --- instructions --- */

static Ins *place(Lift *l, Ins *i) {
  i->note = (void *)((uintptr_t)l->at + 1); /* capture.c asks which node made it */
  ir_append(l->block, i);
  return i;
}

Ins *bc_emit(Lift *l, Op op, Ins *const *args, uint32_t n) {
  return place(l, ir_ins(l->cx, l->fn, op, NULL, l->loc, args, n));
}

Ins *bc_emit1(Lift *l, Op op, Ins *a) { return bc_emit(l, op, &a, 1); }
Ins *bc_emit2(Lift *l, Op op, Ins *a, Ins *b) { return bc_emit(l, op, (Ins *[]){a, b}, 2); }
Ins *bc_constant(Lift *l, const Frozen *f) {
  return place(l, ir_const(l->cx, l->fn, f, NULL, l->loc));
}

Ins *bc_global(Lift *l, const Frozen *f, const char *name) {
  Ins *i = bc_emit(l, OP_GLOBAL, NULL, 0);
  i->aux.frozen = f;
  i->name = name;
  return i;
}

Ins *bc_exception(Lift *l, const char *name) {
  Frozen *f = CX_NEW(l->cx, Frozen);
  f->kind = FZ_EXCEPTION;
  f->text = name;
  return bc_global(l, f, name);
}

Ins **bc_items(Lift *l, Ins *value, uint32_t *n) {
  value = bc_through(l, value);
  if (value->op == OP_MAKE_TUPLE || value->op == OP_MAKE_LIST) {
    *n = value->nargs;
    return value->args ? value->args : CX_ARRAY(l->cx, Ins *, 1);
  }
  if (value->op != OP_CONST || value->aux.frozen->kind != FZ_TUPLE)
    return NULL;
  const Frozen *f = value->aux.frozen;
  Ins **items = CX_ARRAY(l->cx, Ins *, f->n + 1);
  for (uint32_t k = 0; k < f->n; k++)
    items[k] = bc_constant(l, f->items[k]);
  *n = f->n;
  return items;
}

Ins *bc_tuple(Lift *l, Ins *const *items, uint32_t n) {
  const Frozen **values = CX_ARRAY(l->cx, const Frozen *, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    if (items[k]->op != OP_CONST)
      return bc_emit(l, OP_MAKE_TUPLE, items, n);
    values[k] = items[k]->aux.frozen;
  }
  return bc_constant(l, fz_tuple(l->cx, values, n));
}

const char *bc_name_arg(Lift *l, uint32_t index) {
  if (index >= l->code->nnames)
    bc_damaged(l, "a name is out of range");
  return cx_intern(l->cx, l->code->names[index]);
}

const Frozen *bc_const_arg(Lift *l, uint32_t index) {
  if (index >= l->bc->nconsts)
    bc_damaged(l, "a constant is out of range");
  return l->bc->consts[index];
}

/* --- variables --- */

static uint32_t bc_slot(const Lift *l, uint32_t depth) { return l->code->nlocalsplus + depth; }
uint32_t bc_state(const Lift *l, uint32_t depth) {
  return l->code->nlocalsplus + l->code->stacksize + 8 + depth;
}

const char *bc_var_name(Lift *l, uint32_t var) {
  return var < l->code->nlocalsplus ? cx_intern(l->cx, l->code->localsplus[var]) : NULL;
}

static DefEntry *find_def(Lift *l, uint32_t block, uint32_t var) {
  uint64_t h = ((uint64_t)block << 32 | var) * 0x9E3779B97F4A7C15u;
  for (uint32_t at = (uint32_t)(h >> 32);; at++) {
    DefEntry *e = &l->defs[at & (l->defs_cap - 1)];
    if (!e->block || (e->block == block + 1 && e->var == var))
      return e;
  }
}

static void grow_defs(Lift *l) {
  DefEntry *old = l->defs;
  uint32_t n = l->defs_cap;
  l->defs_cap = n ? n * 2 : 256;
  l->defs = CX_ARRAY(l->cx, DefEntry, l->defs_cap);
  for (uint32_t k = 0; k < n; k++)
    if (old[k].block)
      *find_def(l, old[k].block - 1, old[k].var) = old[k];
}

static void define(Lift *l, const Block *b, uint32_t var, Ins *value) {
  if (2 * l->ndefs >= l->defs_cap)
    grow_defs(l);
  DefEntry *e = find_def(l, b->id, var);
  if (!e->block)
    l->ndefs++;
  *e = (DefEntry){b->id + 1, var, value};
}

/* What a variable is before the first instruction: a parameter, nothing, or for a stack slot the
 * null. */
static Ins *initial(Lift *l, uint32_t var) {
  if (var < l->nargs)
    return l->fn->params[var];
  if (var >= l->code->nlocalsplus)
    return l->null;
  if (!l->unset[var]) {
    Ins *i = l->unset[var] = ir_ins(l->cx, l->fn, OP_UNSET, NULL,
                                    (Loc){.code = l->code, .col = -1, .end_col = -1}, NULL, 0);
    i->aux.name = i->name = bc_var_name(l, var);
    ir_insert_before(l->null, i);
  }
  return l->unset[var];
}

static Ins *new_phi(Lift *l, Block *b, uint32_t var) {
  if (l->phis.len >= MAX_PHIS)
    fail(l->cx, l->loc, ERR_TOO_LARGE, l->code->qualname,
         "too many variables live across too many branches");
  Ins *phi = ir_ins(l->cx, l->fn, OP_PHI, NULL, l->loc, NULL, 0);
  phi->aux.name = phi->name = bc_var_name(l, var);
  phi->aux2 = (int32_t)var; /* until its operands are there */
  if (b->first)
    ir_insert_before(b->first, phi);
  else
    ir_append(b, phi);
  VEC_PUSH(&l->cx->arena, &l->phis, phi);
  return phi;
}

/* The value of a variable at the end of a block that is lifted, or so far in the one that is being
 * lifted. */
static Ins *read_at(Lift *l, Block *b, uint32_t var) {
  Block *from = b;
  Ins *value = NULL;
  while (!value) {
    DefEntry *e = find_def(l, from->id, var);
    if (e->block)
      value = e->value;
    else if (from == l->fn->entry)
      value = initial(l, var);
    else if ((uintptr_t)from->note > 1)
      value = new_phi(l, from, var);
    else
      from = from->preds.data[0]; /* the only one, which reverse post-order has lifted before */
  }
  for (;; b = b->preds.data[0]) { /* the next read is shorter */
    define(l, b, var, value);
    if (b == from)
      return value;
  }
}

Ins *bc_read(Lift *l, uint32_t var) { return read_at(l, l->block, var); }
void bc_write(Lift *l, uint32_t var, Ins *value) { define(l, l->block, var, value); }

static void fill_phis(Lift *l) {
  for (uint32_t k = 0; k < l->phis.len; k++) { /* grows as reads make more */
    Ins *phi = l->phis.data[k];
    l->loc = phi->loc;
    for (uint32_t p = 0; p < phi->block->preds.len; p++)
      ir_add_arg(l->cx, phi, read_at(l, phi->block->preds.data[p], (uint32_t)phi->aux2));
  }
  for (uint32_t k = 0; k < l->phis.len; k++)
    l->phis.data[k]->aux2 = 0;
}

/* A conditional expression above it on the stack makes a phi of what lies below: f(*t, k=1 if c
 * else 2), the tuple and the name 'k'. */
Ins *bc_through(Lift *l, Ins *value) {
  enum { MAX_PHIS_PASSED = 64 };
  VEC(Ins *) seen = {0};
  Ins *found = NULL;
  VEC_PUSH(&l->cx->arena, &seen, value);
  for (uint32_t k = 0; k < seen.len; k++) {
    Ins *i = seen.data[k];
    bool open = i->op == OP_PHI && !i->nargs;
    if (!open && found && found != i)
      return value;
    if (!open) {
      found = i;
      continue;
    }
    const Block *b = i->block;
    if (b->preds.len < (uintptr_t)b->note) /* a loop, whose end is not there yet */
      return value;
    for (uint32_t p = 0; p < b->preds.len; p++) {
      if (seen.len > MAX_PHIS_PASSED)
        return value;
      Ins *one = read_at(l, b->preds.data[p], (uint32_t)i->aux2);
      uint32_t at = 0;
      while (at < seen.len && seen.data[at] != one)
        at++;
      if (at == seen.len)
        VEC_PUSH(&l->cx->arena, &seen, one);
    }
  }
  return found ? found : value;
}

/* Paths agree on which slots hold no value, so one path tells: each step goes to a block that was
 * lifted earlier. */
bool bc_is_null(Lift *l, Ins *value) {
  while (value->op == OP_PHI && !value->nargs)
    value = read_at(l, value->block->preds.data[0], (uint32_t)value->aux2);
  return value == l->null;
}

Ins *bc_local(Lift *l, uint32_t var) {
  if (var >= l->code->nlocalsplus)
    bc_damaged(l, "a variable is out of range");
  if (!bc_is_free(l, var))
    return bc_read(l, var);
  uint32_t k = var - (l->code->nlocalsplus - l->code->nfrees);
  const Frozen *f = l->func->closure ? l->func->closure[k] : NULL;
  if (!f) {
    Frozen *missing = CX_NEW(l->cx, Frozen);
    missing->kind = FZ_UNSET;
    missing->text = bc_var_name(l, var);
    f = missing;
  }
  return bc_global(l, f, bc_var_name(l, var));
}

/* --- stack --- */

/* blocks.c has found the depth before each node, and refused code that takes more than there is. */

void bc_push(Lift *l, Ins *value) {
  CX_ASSERT(l->cx, bc_slot(l, l->depth) < bc_state(l, 0));
  bc_write(l, bc_slot(l, l->depth++), value);
}

Ins *bc_pop(Lift *l) {
  CX_ASSERT(l->cx, l->depth > 0);
  return bc_read(l, bc_slot(l, --l->depth));
}

Ins *bc_peek(Lift *l, uint32_t n) {
  CX_ASSERT(l->cx, n > 0 && n <= l->depth);
  return bc_read(l, bc_slot(l, l->depth - n));
}

void bc_poke(Lift *l, uint32_t n, Ins *value) {
  CX_ASSERT(l->cx, n > 0 && n <= l->depth);
  bc_write(l, bc_slot(l, l->depth - n), value);
}

Ins **bc_pop_many(Lift *l, uint32_t n) {
  Ins **values = CX_ARRAY(l->cx, Ins *, n + 1);
  for (uint32_t k = n; k > 0; k--)
    values[k - 1] = bc_pop(l);
  return values;
}

/* --- errors that a node stands for --- */

/* The try statement around a code unit: the no-operation that stands for its keyword, else its
 * first instruction. */
static Loc try_loc(const BcCode *bc, uint32_t unit) {
  uint32_t start = unit;
  for (uint32_t k = 0; k < bc->handlers.len; k++) {
    const BcHandler *h = &bc->handlers.data[k];
    if (h->start <= unit && unit < h->end && h->start < start)
      start = h->start;
  }
  if (start > 0 && bc->ops->op[bc->code->bytes[2 * (start - 1)]] == BC_NOP)
    start--;
  return bc->locs[start];
}

/* The error that n stands for. */
static _Noreturn void bc_unsupported(Cx *cx, const BcCode *bc, const BcNode *n) {
  const char *name = bc->ops->name[n->raw];
  Loc loc = bc_loc(bc, n);
  if (bc_info[n->op].error == ERR_WITH && n->unit > 0)
    loc = bc->locs[n->unit - 1]; /* the context, which all versions place alike */
  if (n->op == BC_unknown && bc->ops->op[n->raw] == BC_CALL_INTRINSIC_1 &&
      n->arg < bc->ops->nintrinsic1)
    name = bc->ops->intrinsic1_name[n->arg];
  switch (bc_info[n->op].error) {
  case ERR_GENERATOR:
  case ERR_ASYNC: fail(cx, loc, bc_info[n->op].error, bc->code->qualname);
  case ERR_BYTECODE:
    fail(cx, loc, ERR_BYTECODE, name ? name : arena_printf(&cx->arena, "number %u", n->raw),
         arena_printf(&cx->arena, "%d.%d", bc->ops->version / 100, bc->ops->version % 100));
  default: fail(cx, loc, bc_info[n->op].error);
  }
}

/* A function that is wrong as a whole: at its yield, or at its first line. */
static void check_flags(Cx *cx, const BcCode *bc, Consumer consumer) {
  const Code *code = bc->code;
  Loc loc = {.code = code,
             .line = code->firstlineno,
             .end_line = code->firstlineno,
             .col = -1,
             .end_col = -1};
  if (code->flags & (CODE_COROUTINE | CODE_ASYNC_GENERATOR))
    fail(cx, loc, ERR_ASYNC, code->qualname);
  if ((code->flags & CODE_GENERATOR) && !consumer) {
    for (uint32_t k = 0; k < bc->nodes.len; k++)
      if (bc->nodes.data[k].op == BC_YIELD_VALUE) {
        loc = bc_loc(bc, &bc->nodes.data[k]);
        break;
      }
    fail(cx, loc, ERR_GENERATOR, code->qualname);
  }
  if (code->flags & CODE_VARKEYWORDS)
    fail(cx, loc, ERR_VARARGS_KERNEL, code->qualname);
}

/* --- blocks --- */

typedef void LiftOp(Lift *l);
static LiftOp *const lift_op[BC_COUNT] = {
#define O(NAME, pop, push, lift) [BC_##NAME] = bc_lift_##lift,
#define N(NAME)
#define A(NAME, OF)
#define X(NAME, expand)
#define E(NAME, ERROR)
#include "frontend/opcodes.def"
};

static bool is_leader(const Lift *l, uint32_t node) {
  return l->npreds[node] != 1 || l->blocks[node];
}

/* The block that begins at a node; made when first asked for. Its note is its number of
 * predecessors to be. */
Block *bc_block_at(Lift *l, uint32_t node) {
  if (!l->blocks[node]) {
    l->blocks[node] = ir_block(l->cx, l->fn);
    l->blocks[node]->note = (void *)(uintptr_t)l->npreds[node];
  }
  return l->blocks[node];
}

static void count_preds(Lift *l) {
  const BcNode *nodes = l->bc->nodes.data;
  for (uint32_t k = 0; k < l->bc->nodes.len; k++) {
    if (nodes[k].depth < 0 || bc_ends(&nodes[k]))
      continue;
    for (int s = 0; s < (bc_has_two(&nodes[k]) ? 2 : 1); s++)
      l->npreds[nodes[k].succ[s]]++;
  }
  l->npreds[l->bc->entry]++;
}

/* Nodes that begin blocks, in reverse post-order. `true` sides come first, as in ir_order. */
static uint32_t *leaders(Lift *l, uint32_t *count) {
  const BcNode *nodes = l->bc->nodes.data;
  uint32_t n = l->bc->nodes.len, depth = 0, at = n;
  uint32_t *stack = CX_ARRAY(l->cx, uint32_t, n), *order = CX_ARRAY(l->cx, uint32_t, n);
  int8_t *next = CX_ARRAY(l->cx, int8_t, n); /* successors still to visit, plus one; 0: not seen */
  stack[depth++] = l->bc->entry;
  next[l->bc->entry] = 3;
  while (depth) {
    uint32_t k = stack[depth - 1];
    if (next[k] == 1) {
      depth--;
      if (is_leader(l, k))
        order[--at] = k;
      continue;
    }
    int s = --next[k] - 1;
    if (bc_ends(&nodes[k]) || (s == 1 && !bc_has_two(&nodes[k])))
      continue;
    uint32_t to = nodes[k].succ[s];
    if (bc_has_two(&nodes[k]))
      (void)bc_block_at(l, to);
    if (!next[to]) {
      next[to] = 3;
      stack[depth++] = to;
    }
  }
  *count = n - at;
  return order + at;
}

static void lift_node(Lift *l, uint32_t at) {
  l->at = at;
  l->node = &l->bc->nodes.data[at];
  l->loc = bc_loc(l->bc, l->node);
  if (!lift_op[l->node->op])
    bc_unsupported(l->cx, l->bc, l->node);
  /* all of a generator is inside a try, of CPython's own */
  if (l->covered[l->node->unit] && !l->func->consumer)
    fail(l->cx, try_loc(l->bc, l->node->unit), ERR_TRY);
  lift_op[l->node->op](l);
}

static void lift_block(Lift *l, uint32_t at) {
  CX_ASSERT(l->cx, l->bc->nodes.data[at].depth >= 0);
  l->block = bc_block_at(l, at);
  l->depth = (uint32_t)l->bc->nodes.data[at].depth;
  for (;;) {
    lift_node(l, at);
    if (!l->block)
      return;
    at = l->node->succ[0];
    CX_ASSERT(l->cx, at < l->bc->nodes.len);
    const BcNode *next = &l->bc->nodes.data[at];
    /* returns of None take nothing: those of all depths are one node */
    CX_ASSERT(l->cx, next->op == BC_return_none || (uint32_t)next->depth == l->depth);
    if (is_leader(l, at)) {
      ir_br(l->cx, l->fn, l->block, bc_block_at(l, at), l->loc);
      return;
    }
  }
}

static void mark_covered(Lift *l) {
  uint32_t n = l->bc->nunits;
  int32_t *change = CX_ARRAY(l->cx, int32_t, n + 1), inside = 0;
  for (uint32_t k = 0; k < l->bc->handlers.len; k++) {
    change[l->bc->handlers.data[k].start]++;
    change[l->bc->handlers.data[k].end]--;
  }
  for (uint32_t k = 0; k < n; k++)
    l->covered[k] = (inside += change[k]) > 0;
}

/* --- clean-up --- */

static bool is_boolean(const Ins *i) {
  switch ((Op)i->op) {
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE:
  case OP_IS:
  case OP_IS_NOT:
  case OP_IN:
  case OP_NOT_IN:
  case OP_NOT:
  case OP_TRUTH:
  case OP_ITER_MORE:
  case OP_IS_SEQ: return true;
  default: return false;
  }
}

/* Versions differ in where they turn a value into a bool: the truth of a bool is the bool, and not
 * takes any value. */
static void simplify_truth(Lift *l) {
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i) {
      if (i->op == OP_TRUTH && is_boolean(ir_real(i->args[0])))
        ir_replace(i, i->args[0]);
      if (i->op == OP_NOT && ir_real(i->args[0])->op == OP_TRUTH)
        i->args[0] = ir_real(i->args[0])->args[0];
    }
  ir_settle(l->fn);
}

/* Nothing that lives may use the null: it stood for slots that hold no value. */
static void check_null(Lift *l) {
  FOR_BLOCKS (l->fn, b)
    FOR_INS (b, i)
      for (uint32_t k = 0; k < i->nargs; k++)
        if (i->args[k] == l->null)
          bc_damaged(l, "it uses a stack slot that holds no value");
}

/* Numbers in the order of the text, so that equal functions have equal text. */
static void renumber(Fn *fn) {
  fn->next_block = fn->next_id = 0;
  FOR_BLOCKS (fn, b) {
    b->id = fn->next_block++;
    b->note = NULL;
    FOR_INS (b, i) {
      i->id = fn->next_id++;
      i->note = NULL;
    }
  }
}

static void clean_up(Lift *l) {
  FOR_BLOCKS (l->fn, b)
    b->note = NULL;
  ir_order(l->cx, l->fn);
  ir_simplify_phis(l->cx, l->fn);
  simplify_truth(l);
  ir_drop_dead(l->cx, l->fn);
  check_null(l);
  bc_check_captures(l);
  ir_merge_blocks(l->cx, l->fn);
  ir_simplify_phis(l->cx, l->fn);
  ir_drop_dead(l->cx, l->fn);
  renumber(l->fn);
  bc_check_generators(l);
}

/* --- the front door --- */

static void lift_init(Lift *l, Cx *cx, const FrozenFunc *func) {
  const Code *code = func->code;
  *l = (Lift){.cx = cx, .func = func, .code = code};
  l->bc = bc_decode(cx, code);
  check_flags(cx, l->bc, func->consumer);
  bc_flow(cx, l->bc);
  uint32_t n = l->bc->nodes.len;
  l->blocks = CX_ARRAY(cx, Block *, n);
  l->npreds = CX_ARRAY(cx, uint32_t, n);
  l->unset = CX_ARRAY(cx, Ins *, code->nlocalsplus + 1);
  l->stored_cells = CX_ARRAY(cx, bool, code->nlocalsplus + 1);
  l->cells = CX_ARRAY(cx, bool, code->nlocalsplus + 1);
  l->maybe_unset = CX_ARRAY(cx, uint8_t, n);
  l->globals = CX_ARRAY(cx, const Frozen *, code->nnames + 1);
  l->covered = CX_ARRAY(cx, uint8_t, l->bc->nunits);
  mark_covered(l);
  grow_defs(l);

  uint32_t nparams = code->argcount + code->kwonlyargcount + !!(code->flags & CODE_VARARGS);
  l->nargs = nparams;
  const char **names = CX_ARRAY(cx, const char *, nparams + 3);
  for (uint32_t k = 0; k < nparams; k++)
    names[k] = cx_intern(cx, code->localsplus[k]);
  if (func->consumer)
    names[nparams++] = cx_intern(cx, "start");
  if (func->consumer & CONSUME_KEYED)
    names[nparams++] = cx_intern(cx, "key");
  l->fn = ir_fn(cx, cx_intern(cx, code->qualname ? code->qualname : "?"), nparams, names);
  l->fn->source = func;
  l->fn->inlining = func->options ? func->options->inlining : INLINE_AUTO;
  Loc loc = {.code = code,
             .line = code->firstlineno,
             .end_line = code->firstlineno,
             .col = -1,
             .end_col = -1};
  for (uint32_t k = 0; k < nparams; k++)
    l->fn->params[k]->loc = loc;
  l->null = ir_ins(cx, l->fn, OP_UNSET, NULL, loc, NULL, 0);
  ir_append(l->fn->entry, l->null);
}

Fn *bc_lift(Cx *cx, const FrozenFunc *func) {
  Lift l;
  uint32_t n;
  lift_init(&l, cx, func);
  count_preds(&l);
  if (func->consumer)
    bc_begin_consumer(&l);
  ir_br(cx, l.fn, l.fn->entry, bc_block_at(&l, l.bc->entry), l.null->loc);
  uint32_t *order = leaders(&l, &n);
  bc_find_unset(&l, order, n);
  for (uint32_t k = 0; k < n; k++)
    lift_block(&l, order[k]);
  fill_phis(&l);
  clean_up(&l);
  return l.fn;
}
