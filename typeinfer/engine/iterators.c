/* Iterators: enumerate(), zip(), reversed(), x.flat and generator expressions give what is used up
 * by being used.
 *
 * In Python a second use of one goes on where the first has stopped. In a kernel it is a sequence
 * that each use begins anew, and says the same as Python if there is one use only. So no value that
 * is an iterator or holds one (in a tuple, as what a function has captured) may be used twice after
 * it was made: neither in two places that one path goes through, nor in a loop that does not make
 * it.
 *
 * In: a function whose types are final, not rewritten yet. Out: ERR_ITERATOR_USED.
 *
 * What is given such a value uses it, whatever it does with it: calls, phis and nested functions
 * give values that hold it and have a use of their own. Asking is no use (`is`, `==`, a length),
 * nor is making a tuple and taking an element out of it: what uses the element uses that part of
 * the tuple, or what the tuple was made of. An operation that is in neither list is a use. */
#include <string.h>

#include "typeinfer/engine/engine.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/value/value.h"

static bool holds_iterator(Ty *ty, const Ins *i) {
  const Type *t = ty_info(ty, i)->v.type;
  return t && ty_holds_iterator(ty, t);
}

/* --- which value, and which part of it --- */

enum { PARTS = 64 };
static const uint64_t all_parts = UINT64_MAX;

static uint64_t part(uint32_t k) { return k < PARTS - 1 ? UINT64_C(1) << k : UINT64_C(1) << 63; }

static uint64_t parts_between(uint32_t from, uint32_t to) {
  uint64_t parts = 0;
  for (uint32_t k = from; k < to; k++)
    parts |= part(k);
  return parts;
}

/* Of a starred unpacking: before | after << 8 targets around the star. */
static uint64_t unpacked_parts(const Ins *i, uint32_t n) {
  uint32_t k = (uint32_t)i->aux.i, before = (uint32_t)i->aux2 & 255, after = (uint32_t)i->aux2 >> 8;
  if (k == before)
    return parts_between(before, n - after);
  return part(k < before ? k : n - after + (k - before - 1));
}

static uint64_t field_part(const Type *t, const char *name) {
  for (uint32_t k = 0; t->names && k < t->n; k++)
    if (!strcmp(t->names[k], name))
      return part(k);
  return 0;
}

static uint64_t item_part(Ty *ty, const Ins *i, uint32_t n) {
  int64_t k;
  if (!fz_get_int(ty_info(ty, i->args[1])->v.konst, &k))
    return 0;
  return part((uint32_t)(k < 0 ? k + n : k));
}

/* The parts of its first operand, a tuple, that an instruction gives as they are; 0 if it does
 * something else. */
static uint64_t parts_taken(Ty *ty, const Ins *i) {
  const Type *t = i->nargs ? ty_info(ty, i->args[0])->v.type : NULL;
  if (!t || t->id != TY_TUPLE)
    return 0;
  switch ((Op)i->op) {
  case OP_UNPACK: return part((uint32_t)i->aux.i);
  case OP_UNPACK_EX: return unpacked_parts(i, t->n);
  case OP_GETATTR: return field_part(t, i->name);
  case OP_GETITEM: return item_part(ty, i, t->n);
  default: return 0;
  }
}

/* The parameter that a captured value is. */
static Ins *captured(Ty *ty, Ins *i) {
  uint32_t k;
  if (i->op == OP_GLOBAL && ty_is_capture(i->aux.frozen, &k))
    return ty->spec->params[ty->spec->nargs - ty->spec->func->code->nfrees + k];
  return i;
}

/* --- its uses --- */

typedef struct Use {
  Ins *of;
  uint64_t parts;
  const Ins *at; /* where control is then: of a phi the end of the block that it is entered from */
  const Ins *by; /* the instruction itself */
} Use;

typedef VEC(Use) Uses;

static Loc place_of(const Use *u) { return u->by->loc.line ? u->by->loc : u->at->loc; }

/* "the iterator 'e'"; "'f', which holds an iterator," */
static const char *what_is(Ty *ty, const Ins *i) {
  const char *name = i->op == OP_GETATTR ? arena_printf(&ty->cx->arena, ".%s", i->name) : i->name;
  bool holder = !ty_is_iterator(ty_info(ty, i)->v.type);
  if (!name)
    return "an iterator";
  return arena_printf(&ty->cx->arena,
                      holder ? "'%s', which holds an iterator," : "the iterator '%s'", name);
}

static _Noreturn void fail_used(Ty *ty, const Use *first, const Use *second) {
  Cx *cx = ty->cx;
  if (second->of->loc.line)
    note(cx, second->of->loc,
         first == second ? "it is made here, outside of the loop" : "it is made here");
  if (first->by != second->by)
    note(cx, place_of(first), "it is used here before");
  fail(cx, place_of(second), ERR_ITERATOR_USED, what_is(ty, second->of));
}

/* All targets of one unpacking are one use, but the same target comes once in it. */
static bool is_further_target(const Ins *i) {
  bool further = false;
  for (const Ins *p = i->prev; p; p = p->prev) {
    bool together = p->op == i->op && p->args[0] == i->args[0] && p->loc.line == i->loc.line &&
                    p->loc.col == i->loc.col;
    if (together && p->aux.i == i->aux.i)
      return false;
    further |= together;
  }
  return further;
}

static bool function_asks(IntrinsicId id) {
  switch (id) {
  case INTR_PY_LEN:
  case INTR_PY_ISINSTANCE:
  case INTR_OPERATOR_IS:
  case INTR_OPERATOR_IS_NOT:
  case INTR_OPERATOR_EQ:
  case INTR_OPERATOR_NE: return true;
  default: return false;
  }
}

static bool only_asks(Ty *ty, const Ins *i) {
  const Type *first = i->nargs ? ty_info(ty, i->args[0])->v.type : NULL;
  switch ((Op)i->op) {
  case OP_MAKE_TUPLE: /* its uses are those of its items */
  case OP_MAKE_LIST:
  case OP_ITER_START: /* a loop's own, of what its ITER has used */
  case OP_ITER_MORE:
  case OP_ITER_ITEM:
  case OP_ITER_STEP:
  case OP_IS:
  case OP_IS_NOT:
  case OP_EQ:
  case OP_NE:
  case OP_TRUTH:
  case OP_NOT:
  case OP_CONDBR:
  case OP_LEN_MATCH:
  case OP_IS_SEQ: return true;
  case OP_UNPACK:
  case OP_UNPACK_EX: return (first && first->id == TY_TUPLE) || is_further_target(i);
  case OP_CALL:
    return first && first->id == TY_FUNC && first->frozen->kind == FZ_INTRINSIC &&
           function_asks((IntrinsicId)first->frozen->i);
  default: return false;
  }
}

/* `u` is a use of parts of this value. Twice one in an instruction are two: (e, e). */
static void add_use(Ty *ty, Ins *value, Use u, Uses *uses) {
  if (!holds_iterator(ty, value))
    return;
  for (uint64_t taken; (taken = parts_taken(ty, value)); value = value->args[0])
    u.parts = taken;
  u.of = value = captured(ty, value);
  if (value->op == OP_MAKE_TUPLE || value->op == OP_MAKE_LIST) {
    for (uint32_t k = 0; k < value->nargs; k++)
      if (u.parts & part(k))
        add_use(ty, value->args[k], (Use){.parts = all_parts, .at = u.at, .by = u.by}, uses);
    return;
  }
  for (uint32_t k = uses->len; k-- && uses->data[k].by == u.by;) {
    const Use *v = &uses->data[k];
    if (v->of == u.of && v->parts & u.parts && v->at == u.at)
      fail_used(ty, v, &u);
  }
  VEC_PUSH(&ty->cx->arena, uses, u);
}

/* f[i], f[i] = v and f.size of f = x.flat, which is an array too. */
static bool is_by_index(Ty *ty, const Ins *i) {
  const Type *first = i->nargs ? ty_info(ty, i->args[0])->v.type : NULL;
  bool op = i->op == OP_GETITEM || i->op == OP_SETITEM || i->op == OP_GETATTR;
  return op && first && first->id == TY_ARRAY;
}

static void add_uses(Ty *ty, Ins *i, Uses *uses) {
  bool given = false;
  for (uint32_t k = 0; k < i->nargs; k++)
    given |= holds_iterator(ty, i->args[k]);
  if (!given || only_asks(ty, i) || parts_taken(ty, i))
    return;
  for (uint32_t k = is_by_index(ty, i); k < i->nargs; k++) {
    const Block *from = i->op == OP_PHI ? i->block->preds.data[k] : NULL;
    if (!from || ty_edge_taken(ty->spec, from, i->block))
      add_use(ty, i->args[k], (Use){.parts = all_parts, .at = from ? from->last : i, .by = i},
              uses);
  }
}

/* --- two of one value --- */

/* Marks the blocks that control can come to from the end of this one, before the value is made
 * again. */
static bool *reached_from(Ty *ty, const Block *b, const Block *makes) {
  bool *seen = CX_ARRAY(ty->cx, bool, ty->fn->next_block);
  VEC(const Block *) work = {0};
  VEC_PUSH(&ty->cx->arena, &work, b);
  while (work.len) {
    const Block *from = VEC_POP(&work);
    for (int k = 0; k < 2; k++) {
      const Block *to = from->succ[k];
      if (!to || to == makes || seen[to->id] || !ty_edge_taken(ty->spec, from, to))
        continue;
      seen[to->id] = true;
      VEC_PUSH(&ty->cx->arena, &work, to);
    }
  }
  return seen;
}

static bool is_before(const Ins *a, const Ins *b) {
  while (a && a != b)
    a = a->next;
  return a;
}

static void check_against(Ty *ty, const Uses *uses, uint32_t k) {
  const Use *u = &uses->data[k];
  const bool *seen = NULL;
  for (uint32_t j = 0; j < uses->len; j++) {
    const Use *v = &uses->data[j];
    if (v->of != u->of || !(v->parts & u->parts))
      continue;
    if (!seen)
      seen = reached_from(ty, u->at->block, u->of->block);
    bool behind = j != k && v->at->block == u->at->block && is_before(u->at, v->at) &&
                  (u->at != v->at || k < j);
    if (behind || seen[v->at->block->id])
      fail_used(ty, u, v);
  }
}

void ty_check_iterators(Ty *ty) {
  Uses uses = {0};
  FOR_BLOCKS (ty->fn, b)
    FOR_INS (b, i)
      if (ty->spec->taken[b->id] & BLOCK_REACHED)
        add_uses(ty, i, &uses);
  for (uint32_t k = 0; k < uses.len; k++)
    check_against(ty, &uses, k);
}
