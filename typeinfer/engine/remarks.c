/* Remarks: what typing knows of numbers and a strict function no longer says, for the pass that
 * advises (codegen/ssa/numbers.c): which variables start as Python numbers, and what made an
 * operation on float32 data a float64 one, an operation on Python numbers one of a few bits. Shifts
 * by all bits of a type are advised of here.
 *
 * All ask lifted instructions, which are what the user wrote, while their function is emitted; no
 * typed rule has a say. */
#include "ir/cfg.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/value/value.h"

enum { MAX_NODES = 64 };

static const Type *type_of(const Ty *ty, const Ins *lifted) {
  return lifted->id < ty->spec->ninfos ? ty_info(ty, lifted)->v.type : NULL;
}

static const Ins *unread(const Ins *i) {
  while (i->op == OP_READ)
    i = i->args[0];
  return i;
}

/* --- sums --- */

typedef struct Sum {
  Ty *ty;
  const Ins *variable, *added; /* the phi; the operation that adds to it */
  const Ins *seen[MAX_NODES];
  uint32_t n, depth;
  bool grows; /* by additions, factors or shifts: or'ed bits alone are those of their type */
} Sum;

static bool was_seen(Sum *s, const Ins *i) {
  for (uint32_t k = 0; k < s->n; k++)
    if (s->seen[k] == i)
      return true;
  if (s->n < MAX_NODES)
    s->seen[s->n++] = i;
  return false;
}

/* Does the value depend on the variable, other than through memory? Yes, if that is too long to
 * say. */
static bool depends(Sum *s, const Ins *i) {
  if (i == s->variable || s->n == MAX_NODES)
    return true;
  if (was_seen(s, i))
    return false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (depends(s, i->args[k]))
      return true;
  return false;
}

static bool is_integral(const Ty *ty, const Ins *i) {
  const Type *t = type_of(ty, i);
  return t && ty_is_integral(t);
}

static bool grows(const Ty *ty, const Ins *i) {
  return i->op == OP_ADD || i->op == OP_SUB ||
         ((i->op == OP_MUL || i->op == OP_LSHIFT) && is_integral(ty, i));
}

/* Bits are added, too: `v << 8 | data[k]`. */
static bool is_addition(const Ty *ty, const Ins *i) {
  return grows(ty, i) || ((i->op == OP_OR || i->op == OP_XOR) && is_integral(ty, i));
}

/* What is done to a sum now and then: (code << 2 | base) & mask. Of known bits it has all that it
 * would have. */
static bool reduces(const Ty *ty, const Ins *i) {
  bool masks = i->op == OP_AND && ty_is_weak(type_of(ty, i->args[1])) &&
               !ty_info(ty, i->args[1])->v.konst;
  return masks || i->op == OP_MOD || i->op == OP_FLOORDIV || i->op == OP_RSHIFT;
}

typedef enum Way { WAY_NOT, WAY_THERE, WAY_ROUND } Way;

/* From what a loop makes of the variable back to it: through additions, and through phis all of
 * whose ways lead there. ROUND: only back to a phi on the way. */
static Way way_back(Sum *s, const Ins *i) {
  i = unread(i);
  if (i == s->variable)
    return WAY_THERE;
  if (i->op == OP_PHI) {
    Way way = WAY_ROUND;
    if (was_seen(s, i))
      return WAY_ROUND;
    for (uint32_t k = 0; k < i->nargs && way != WAY_NOT; k++) {
      Way next = s->n < MAX_NODES ? way_back(s, i->args[k]) : WAY_NOT;
      way = next == WAY_ROUND ? way : next;
    }
    return way;
  }
  bool reduced = is_integral(s->ty, i) && reduces(s->ty, i);
  if (!reduced && !is_addition(s->ty, i))
    return WAY_NOT;
  if (s->depth++ == MAX_NODES)
    return WAY_NOT;
  uint32_t seen = s->n;
  Way way = way_back(s, i->args[0]);
  uint32_t side = way == WAY_NOT;
  if (side && !reduced && i->op != OP_SUB && i->op != OP_LSHIFT) {
    s->n = seen;
    way = way_back(s, i->args[1]);
  }
  Sum other = {.ty = s->ty, .variable = s->variable};
  const Type *added = type_of(s->ty, i->args[!side]);
  if (way == WAY_NOT || !added || depends(&other, i->args[!side]))
    return WAY_NOT;
  if (!reduced && !ty_is_weak(added) && i->op != OP_LSHIFT)
    s->added = i;
  s->grows |= grows(s->ty, i);
  return way;
}

static bool is_narrow(const Type *t) {
  return (ty_is_integral(t) && t->id != TY_BOOL && ty_bits(t) <= 16) ||
         (ty_is_float(t) && ty_bits(t) <= 32);
}

void ty_remark_variable(Ty *ty, Ins *phi) {
  const TyInfo *info = ty_info(ty, phi);
  Sum s = {.ty = ty, .variable = phi};
  const Ins *start = NULL;
  if (info->v.ins != phi || !info->met || !is_narrow(info->v.type) || fz_is_ours(ty->spec->func))
    return;
  bool loops = false;
  for (uint32_t k = 0; k < phi->nargs; k++) {
    const Block *from = phi->block->preds.data[k];
    if (!ty_edge_taken(ty->spec, from, phi->block))
      continue;
    const Type *t = type_of(ty, phi->args[k]);
    bool back = ir_dominates(phi->block, from);
    loops |= back;
    s.n = 0;
    if (back ? way_back(&s, phi->args[k]) != WAY_THERE : !t || !ty_is_weak(t))
      return;
    if (!back)
      start = phi->args[k];
  }
  if (!loops || !start || !s.added || !s.grows)
    return;
  IrSum sum = {phi, s.added, start->op == OP_CONST ? start->loc : (Loc){0}};
  VEC_PUSH(&ty->cx->arena, &ty->p->program->sums, sum);
}

/* --- shifts --- */

/* data[i] << 8 of uint8, as people write who put bytes together, and (77 * r + 179 * g) >> 8. */
static void remark_shift(Ty *ty, const Ins *i) {
  const Type *t = type_of(ty, i);
  const Frozen *by = ty_info(ty, i->args[1])->v.konst;
  int64_t n;
  if (t && ty_is_integral(t) && !ty_is_weak(t) && !ty_info(ty, i->args[0])->v.konst && by &&
      fz_get_int(by, &n) && n >= ty_bits(t) && (i->op == OP_LSHIFT || !ty_is_signed(t)))
    cx_advice(ty->cx, i->loc, ERR_SHIFTED_OUT, ty_pretty(ty->cx, t), ty_bits(t));
}

/* --- Python numbers in narrow types --- */

static void push_cut(Ty *ty, const Ins *made, Loc loc) {
  IrCut cut = {made, loc};
  VEC_PUSH(&ty->cx->arena, &ty->p->program->cuts, cut);
}

static bool is_small(const Type *t) {
  return ty_is_integral(t) && t->id != TY_BOOL && !ty_is_weak(t) && ty_bits(t) <= 16;
}

/* Those known when compiling are errors where they do not fit. */
void ty_remark_cut(Ty *ty, Val from, const Ins *to, Loc loc) {
  if (to && to->op == OP_CAST && is_small(to->type) && from.type->id == TY_PYINT && !from.konst &&
      !fz_is_ours(ty->spec->func))
    push_cut(ty, to, loc);
}

/* threadIdx.x * 256 + data[i] of uint8, and 1 << data[i]. How far something is shifted has no type
 * to keep. */
static void remark_cuts(Ty *ty, const Ins *i, const Ins *made) {
  bool shifts = i->op == OP_LSHIFT || i->op == OP_RSHIFT || i->op == OP_POW;
  if (!made || made->op != i->op || !is_small(made->type))
    return;
  for (uint32_t k = 0; k < (shifts ? 1 : 2); k++)
    ty_remark_cut(ty, ty_info(ty, i->args[k])->v, made->args[k], i->loc);
  const Val *shifted = &ty_info(ty, i->args[0])->v;
  if (i->op == OP_LSHIFT && shifted->konst && ty_is_weak(shifted->type))
    push_cut(ty, made, i->loc);
}

/* --- what is named, and not called --- */

/* `cuda.syncthreads` as a statement. */
static void remark_name(Ty *ty, const Ins *i) {
  const Type *t = type_of(ty, i);
  const Frozen *f = t && t->id == TY_FUNC ? t->frozen : NULL;
  bool function = f && (f->kind == FZ_FUNC ||
                        (f->kind == FZ_INTRINSIC && ir_intrinsics[f->i].kind == INTRINSIC_FUNC));
  if (function && i->aux2)
    cx_advice(ty->cx, i->loc, ERR_NOT_CALLED, ty_pretty(ty->cx, t));
}

/* --- float64 among float32 --- */

static bool is_wide(const Type *t) { return t && (t->id == TY_F64 || t->id == TY_C128); }
static bool is_single(const Type *t) { return t && (t->id == TY_F32 || t->id == TY_C64); }

static bool is_conversion(const Ty *ty, const Ins *call) {
  const Type *t = type_of(ty, call->args[0]);
  return t && t->id == TY_DTYPE;
}

/* Up from a wide value to what made it wide; NULL: the user asked for it. */
static const Ins *origin_of(const Ty *ty, const Ins *i, const Ins *user) {
  for (uint32_t depth = 0; depth < MAX_NODES; depth++) {
    const Ins *next = NULL;
    i = unread(i);
    if (i == user)
      return NULL; /* a sum: see above */
    if (i->op == OP_CALL && is_conversion(ty, i))
      return NULL;
    if (i->op != OP_PHI && !(i->op >= OP_ADD && i->op <= OP_NEG))
      return i;
    for (uint32_t k = 0; k < i->nargs; k++) {
      if (i->op == OP_PHI && unread(i->args[k]) == user)
        return NULL;
      if (!next && is_wide(type_of(ty, i->args[k])) && i->args[k] != i)
        next = i->args[k];
    }
    bool mixed = i->op != OP_PHI && i->nargs == 2 &&
                 is_single(type_of(ty, i->args[0])) != is_single(type_of(ty, i->args[1]));
    if (!next)
      return mixed ? NULL : i; /* what is remarked on itself */
    i = next;
  }
  return NULL;
}

static const char *what_it_is(const Ty *ty, const Ins *i) {
  Cx *cx = ty->cx;
  const char *type = ty_pretty(cx, type_of(ty, i)), *name = i->name;
  switch ((Op)i->op) {
  case OP_PARAM:
    return arena_printf(&cx->arena, "the argument '%s' is %s", name ? name : "?", type);
  case OP_GLOBAL:
    return arena_printf(&cx->arena, "'%s' is a NumPy scalar, %s", name ? name : "?", type);
  case OP_CONST: return "under Numba's typing Python's own numbers are float64 and complex128";
  case OP_GETATTR: return arena_printf(&cx->arena, "'.%s' is %s", name ? name : "?", type);
  case OP_GETITEM:
  case OP_ITER_ITEM: {
    const char *of = unread(i->args[0])->name;
    return of ? arena_printf(&cx->arena, "an element of '%s' is %s", of, type)
              : arena_printf(&cx->arena, "an element of an array is %s", type);
  }
  case OP_CALL: return arena_printf(&cx->arena, "the result of this call is %s", type);
  default: return arena_printf(&cx->arena, "this operation gives %s", type);
  }
}

void ty_remark_operation(Ty *ty, Ins *i) {
  const Val *made = &ty_info(ty, i)->v;
  const Ins *ins = made->ins || !made->items ? made->ins : made->items[0].ins; /* its real part */
  if ((i->op == OP_LSHIFT || i->op == OP_RSHIFT) && !fz_is_ours(ty->spec->func))
    remark_shift(ty, i);
  if (i->op == OP_GETATTR && !fz_is_ours(ty->spec->func))
    remark_name(ty, i);
  if (i->op < OP_ADD || i->op > OP_XOR || !ins || fz_is_ours(ty->spec->func))
    return;
  remark_cuts(ty, i, ins);
  if (i->op > OP_POW || !is_wide(made->type))
    return;
  const Type *a = type_of(ty, i->args[0]), *b = type_of(ty, i->args[1]);
  if (is_single(a) == is_single(b))
    return;
  const Ins *other = i->args[is_single(a)], *origin = unread(other);
  if (is_wide(type_of(ty, other)))
    origin = origin_of(ty, other, i);
  if (!origin)
    return;
  const Loc nowhere = {0};
  IrWidening w = {.made = ins,
                  .type = made->type,
                  .data = is_single(a) ? a : b,
                  .loc = i->loc,
                  .origin = origin->op == OP_PARAM ? nowhere : origin->loc,
                  .what = what_it_is(ty, origin),
                  .named = origin->op == OP_PARAM || origin->op == OP_GLOBAL ||
                           origin->op == OP_CONST || origin->op == OP_GETATTR ||
                           origin->op == OP_GETITEM};
  VEC_PUSH(&ty->cx->arena, &ty->p->program->widenings, w);
}
