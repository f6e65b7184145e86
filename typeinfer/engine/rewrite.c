/* Rewrite: a function whose types are final becomes strict.
 *
 * In: a typed TySpec whose Fn is still lifted. Out: the same Fn at stage T: every lifted
 * instruction is replaced by what its rule emits before it; branches on known conditions are
 * folded; phis and returns have casts at the ends of their predecessors. */
#include <string.h>

#include "ir/base/chars.h"
#include "ir/cfg.h"
#include "typeinfer/engine/door.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

/* --- values that meet
 *
 * What meets in a variable is converted to the type that the variable has where it is read. Where a
 * phi is on the way to another, a weak number would lose what the phi's own type does not hold: -1
 * beside a uint8 is 255, and 255 as an int16. */

/* The phi that a lifted one is, if several types meet in it. What an operation gives back as it is,
 * +x, has been read. */
static Ins *meeting_of(Ty *ty, Ins *lifted) {
  bool variable = lifted->op == OP_PHI || lifted->op == OP_READ;
  Ins *phi = variable ? ty_info(ty, lifted)->v.ins : NULL;
  return phi && phi->op == OP_PHI && phi->id < ty->spec->ninfos && ty_info(ty, phi)->met ? phi
                                                                                         : NULL;
}

static Ins *twin_of(Ty *ty, Ins *phi, const Type *type) {
  TySpec *s = ty->spec;
  for (uint32_t k = 0; k < s->twins.len; k++)
    if (s->twins.data[k].phi == phi && s->twins.data[k].type == type)
      return s->twins.data[k].made;
  Ins *made = ir_ins(ty->cx, ty->fn, OP_PHI, ty_storage(ty, type), phi->loc, phi->args, phi->nargs);
  made->name = phi->name;
  ir_insert_phi(phi->block, made);
  TyTwin twin = {phi, made, type};
  VEC_PUSH(&ty->cx->arena, &s->twins, twin);
  return made;
}

/* The value of a lifted instruction, which is not bottom, as one of that type. */
static Ins *as_type(Ty *ty, Ins *lifted, const Type *type) {
  Val v = ty_info(ty, lifted)->v;
  Ins *phi = meeting_of(ty, lifted);
  if (phi && ty_loses(ty_info(ty, phi)->met, v.type, type))
    return twin_of(ty, phi, type);
  Ins *to = ty_ins(ty, ty_cast(ty, v, type));
  ty_remark_cut(ty, v, to, lifted->loc);
  return to;
}

/* --- instructions --- */

static void rewrite_phi(Ty *ty, Ins *i) {
  TyInfo r = ty_eval_phi(ty, i), *old = ty_info(ty, i);
  const Type *t = old->v.type;
  r.conflict |= old->conflict;
  if (!r.v.type || r.conflict) {
    r.v.ins = NULL;
  } else if (!r.v.ins && !r.v.konst && !r.v.items && ty_stored(t)) {
    r.v = (Val){.type = t, .ins = i, .src = r.v.src};
    i->type = ty_storage(ty, t);
  }
  *old = r;
}

static void rewrite_value(Ty *ty, Ins *i) {
  TyInfo *info = ty_info(ty, i);
  Val v = ty_eval(ty, i);
  if (!ty_is_bottom(v) && info->v.type && v.type != info->v.type) {
    Ins *src = v.src;
    v = ty_cast(ty, v, info->v.type);
    v.src = src;
  }
  if (ty_is_bottom(v))
    cx_bug(ty->cx, "%%%u %s has no type and no error", i->id, ir_op_info[i->op].text);
  info->v = v;
  ir_remove(i);
}

static void rewrite_condbr(Ty *ty, Ins *i) {
  Val c = ty_arg_or_none(ty, i, 0);
  bool known;
  if (!c.konst && c.type && c.type->id == TY_BOOL) {
    i->args[0] = ty_ins(ty, c);
    return;
  }
  c = ty_truth(ty, c);
  if (ty_is_bottom(c))
    cx_bug(ty->cx, "%%%u: a branch on nothing", i->id);
  if (!fz_truth(c.konst, &known)) {
    i->args[0] = ty_ins(ty, c);
    return;
  }
  ir_fold_condbr(ty->cx, i, known);
  ty->spec->taken[i->block->id] = BLOCK_REACHED | 1; /* its one successor is number 0 now */
}

/* Emission may know more than typing did, never less: where control goes, the types are final. */
static void check_reached(Ty *ty, const Block *b) {
  for (int n = 0; n < 2; n++)
    if (b->succ[n] && !(ty->spec->taken[b->succ[n]->id] & BLOCK_REACHED))
      cx_bug(ty->cx, "b%u goes to b%u, which has no types", b->id, b->succ[n]->id);
}

static void rewrite_ret(Ty *ty, Ins *i) {
  Val v = ty_arg_or_none(ty, i, 0);
  const Type *t = ty->spec->result;
  if (ty_is_bottom(v) || !t) /* behind a call that has no type: the call raises its error */
    cx_bug(ty->cx, "%%%u: a return of nothing", i->id);
  if (ty->fn->is_kernel && v.type->id != TY_NONE)
    fail(ty->cx, i->loc, ERR_RETURN_VALUE, TY_PRETTY(ty, v));
  if (!ty_join(ty, t, v.type))
    fail(ty->cx, i->loc, ERR_RETURN_TYPES, ty->fn->name, TY_PRETTY(ty, v), ty_pretty(ty->cx, t));
  i->args[0] = as_type(ty, i->args[0], t);
}

static void rewrite_ins(Ty *ty, Ins *i) {
  ty->at = i;
  switch (i->op) {
  case OP_PARAM:
  case OP_UNSET: return;
  case OP_PHI:
    if (i->id >= ty->spec->ninfos) /* one that an earlier block has made beside it */
      return;
    rewrite_phi(ty, i);
    ty_remark_variable(ty, i);
    return;
  case OP_BR:
  case OP_UNREACHABLE: break;
  case OP_CONDBR: rewrite_condbr(ty, i); break;
  case OP_RET: rewrite_ret(ty, i); break;
  case OP_RAISE: (void)ty_raise(ty, i); break;
  default:
    rewrite_value(ty, i);
    ty_remark_operation(ty, i);
    return;
  }
  i->type = ty_id(ty, TY_VOID);
  check_reached(ty, i->block);
}

/* --- parameters --- */

/* A parameter of a device function that has no storage, or whose value is part of the
 * specialisation, is not passed. A kernel keeps all that its signature names; the others have their
 * defaults. */
static void rewrite_params(Ty *ty, bool is_kernel) {
  Fn *fn = ty->fn;
  Ins **params = CX_ARRAY(ty->cx, Ins *, fn->nparams + 1);
  const char **names = CX_ARRAY(ty->cx, const char *, fn->nparams + 1);
  const Type **types = CX_ARRAY(ty->cx, const Type *, fn->nparams + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < fn->nparams; k++) {
    Ins *p = fn->params[k];
    TyInfo *info = ty_info(ty, p);
    if (is_kernel ? k >= ty->p->npassed : !ty_stored(info->v.type) || info->v.konst) {
      ir_remove(p);
      continue;
    }
    p->type = ty_storage(ty, info->v.type);
    p->aux.i = n;
    names[n] = fn->param_names ? fn->param_names[k] : NULL;
    types[n] = p->type;
    params[n++] = p;
    if (!info->v.konst)
      info->v.ins = p;
  }
  fn->params = params;
  fn->param_names = names;
  fn->param_types = types;
  fn->nparams = n;
}

/* --- phis, once everything has its value --- */

static Ins *unset_value(Ty *ty, const Type *t, Ins *at) {
  bool zero = ty->spec->reads_unset;
  if (zero && ty_is_number(t) && !ty_is_complex(t))
    return ty_ins(ty, ty_scalar_const(ty, t->id, 0));
  Ins *u = ir_ins(ty->cx, ty->fn, OP_UNSET, t, at->loc, NULL, 0);
  u->aux2 = zero;
  ir_insert_before(at, u);
  return u;
}

/* Their operands are strict from here on; those of the phis stay lifted until all of them, twins
 * too, have theirs. */
static Ins **finished_args(Ty *ty, Ins *phi, const Type *type) {
  Ins **args = CX_ARRAY(ty->cx, Ins *, phi->nargs + 1);
  for (uint32_t k = 0; k < phi->nargs; k++) {
    Block *from = phi->block->preds.data[k];
    Ins *end = from->last;
    args[k] = phi->args[k];
    if (!(ty->spec->taken[from->id] & BLOCK_REACHED))
      continue;
    ty->at = end;
    args[k] = ty_is_bottom(ty_info(ty, phi->args[k])->v) ? unset_value(ty, phi->type, end)
                                                         : as_type(ty, phi->args[k], type);
  }
  return args;
}

static void finish_phis(Ty *ty) {
  struct Finished {
    Ins *phi, **args;
  };
  VEC(struct Finished) done = {0};
  FOR_BLOCKS (ty->fn, b) {
    FOR_INS_SAFE (b, i, next) {
      if (i->op == OP_UNSET && !i->type)
        ir_remove(i);
      if (i->op != OP_PHI || !(ty->spec->taken[b->id] & BLOCK_REACHED) || i->id >= ty->spec->ninfos)
        continue;
      if (ty_info(ty, i)->v.ins != i)
        ir_remove(i);
    }
  }
  FOR_BLOCKS (ty->fn, b)
    for (Ins *i = b->first; i && i->op == OP_PHI && (ty->spec->taken[b->id] & BLOCK_REACHED);
         i = i->next)
      if (i->id < ty->spec->ninfos) {
        struct Finished f = {i, finished_args(ty, i, ty_info(ty, i)->v.type)};
        VEC_PUSH(&ty->cx->arena, &done, f);
      }
  for (uint32_t k = 0; k < ty->spec->twins.len; k++) {
    TyTwin twin = ty->spec->twins.data[k];
    struct Finished f = {twin.made, finished_args(ty, twin.made, twin.type)};
    VEC_PUSH(&ty->cx->arena, &done, f);
  }
  for (uint32_t k = 0; k < done.len; k++)
    done.data[k].phi->args = done.data[k].args;
}

/* --- the function --- */

static const char *symbol_of(TyProgram *p, const Fn *fn) {
  Buf b;
  buf_init(&b, &p->cx->arena);
  for (const char *s = fn->name; *s; s++)
    buf_putc(&b, char_is_alnum(*s) ? *s : '_');
  if (!fn->is_kernel)
    buf_printf(&b, "__%u", p->nfns);
  return b.text;
}

/* --- places, for reports --- */

/* A step of a for loop, which no expression stands for. */
static bool iterates(const Ins *i) { return i->op >= OP_ITER_START && i->op <= OP_ITER_STEP; }

/* To the assignments that lifting has noted come all expressions, and to each its type. */
static void begin_places(Ty *ty) {
  Fn *fn = ty->fn;
  FOR_BLOCKS (fn, b)
    if (ty->spec->taken[b->id] & BLOCK_REACHED)
      FOR_INS (b, i)
        if (i->op != OP_PHI && i->op != OP_PARAM && !ins_is_term(i) && !iterates(i))
          VEC_PUSH(&ty->cx->arena, &fn->places, ((IrPlace){.ins = i, .loc = i->loc}));
  for (uint32_t k = 0; k < fn->places.len; k++) {
    IrPlace *p = &fn->places.data[k];
    while (p->ins->replaced)
      p->ins = p->ins->replaced;
    bool used = p->ins->block && p->ins->id < ty->spec->ninfos; /* else lifting has dropped it */
    p->type = used ? ty_info(ty, p->ins)->v.type : NULL;
  }
}

static void finish_places(Ty *ty) {
  for (uint32_t k = 0; k < ty->fn->places.len; k++) {
    IrPlace *p = &ty->fn->places.data[k];
    Val v = p->type ? ty_info(ty, p->ins)->v : BOTTOM;
    p->ins = v.ins;
    p->known = v.konst;
  }
}

/* Uses of parameters and phis by strict instructions are links already; what is left of the lifted
 * form is in unreached blocks. */
void ty_emit_spec(TyProgram *p, TySpec *s) {
  Cx *cx = p->cx;
  Ty ty = {.cx = cx, .p = p, .spec = s, .fn = s->fn, .emit = true, .at = s->fn->entry->last};
  CX_ASSERT(cx, s->state == SPEC_TYPED && !s->fn->typed);
  s->state = SPEC_EMITTING;
  VEC_PUSH(&cx->arena, &p->program->fns, s->fn);
  s->fn->is_kernel = p->kernel && p->program->fns.len == 1;
  s->fn->symbol = symbol_of(p, s->fn);
  s->fn->recursive = s->recursive;
  s->fn->result = s->result;
  p->nfns++;
  ty_list_values(&ty);
  ty_find_first_edges(&ty);
  ty_check_iterators(&ty);
  if (cx->keeps_places)
    begin_places(&ty);
  rewrite_params(&ty, p->program->fns.len == 1);
  FOR_BLOCKS (s->fn, b) {
    if (!(s->taken[b->id] & BLOCK_REACHED))
      continue;
    FOR_INS_SAFE (b, i, next)
      rewrite_ins(&ty, i);
  }
  finish_phis(&ty);
  ty_lower_assigns(&ty);
  s->fn->result = ty_storage(&ty, s->result ? s->result : ty_scalar(cx, TY_NONE));
  s->fn->typed = true;
  ir_order(cx, s->fn);
  ir_drop_dead(cx, s->fn);
  ir_merge_blocks(cx, s->fn);
  ty_drop_wraps(cx, s->fn);
  finish_places(&ty);
  s->state = SPEC_DONE;
}
