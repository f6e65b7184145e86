/* Verify: does each strict instruction have the operand and result types that ir/ops.def asks for?
 * A violation is our bug. */
#include "ir/print.h"
#include "typeinfer/infer.h"
#include "typeinfer/value/promote.h"

typedef struct Check {
  Cx *cx;
  const Fn *fn;
  const Ins *i;
} Check;

#define WANT(c, cond) ((cond) ? (void)0 : wrong((c), #cond))

static void wrong(const Check *c, const char *what) {
  cx_bug(c->cx, "strict %s: %%%u %s of %s: %s", c->fn->name, c->i->id, ir_op_info[c->i->op].text,
         c->i->nargs ? ty_name(c->cx, c->i->args[0]->type) : "nothing", what);
}

static const Type *arg(const Check *c, uint32_t k) { return c->i->args[k]->type; }
static bool is_bool(const Type *t) { return ty_kind(t) == KIND_BOOL; }
static bool is_real(const Type *t) { return ty_is_number(t) && !ty_is_complex(t); }
static bool is_part(const Type *t, const Type *complex) { return t->id == ty_part_id(complex->id); }

static void indices(const Check *c, uint32_t from, uint32_t n) {
  for (uint32_t k = from; k < from + n; k++)
    WANT(c, arg(c, k)->id == TY_PYINT);
}

static void check_compare(const Check *c) {
  const Type *a = arg(c, 0), *b = arg(c, 1);
  bool mixed = ty_strengthen(a->id) + ty_strengthen(b->id) == TY_I64 + TY_U64 && ty_bits(a) == 64 &&
               ty_bits(b) == 64;
  WANT(c, is_bool(c->i->type));
  WANT(c, is_real(a) && (a == b || mixed));
}

static void check_array(const Check *c, uint32_t values) {
  const Type *a = arg(c, 0);
  WANT(c, a->id == TY_ARRAY);
  WANT(c, c->i->nargs == 1u + a->ndim + values);
  indices(c, 1, a->ndim);
  for (uint32_t k = 1u + a->ndim; k < c->i->nargs; k++)
    WANT(c, arg(c, k) == a->elem);
}

static void check_call(const Check *c) {
  const Fn *f = c->i->aux.fn;
  WANT(c, f->nparams == c->i->nargs);
  for (uint32_t k = 0; k < f->nparams; k++)
    WANT(c, arg(c, k) == f->param_types[k]);
  WANT(c, c->i->type == f->result);
}

static void check_view(const Check *c) {
  uint32_t n = 1, axes = 0, kept = 0;
  const IrView *v = c->i->aux.view;
  if (v->n && v->kind[0] == VIEW_RESHAPE) {
    WANT(c, arg(c, 0)->layout == LAYOUT_C && c->i->nargs == 1u + c->i->type->ndim);
    indices(c, 1, c->i->nargs - 1);
    return;
  }
  if (v->n && v->kind[0] == VIEW_PART) {
    WANT(c, is_part(c->i->type->elem, arg(c, 0)->elem) && c->i->type->ndim == arg(c, 0)->ndim);
    return;
  }
  if (v->n && v->kind[0] == VIEW_FIELD) {
    const Type *from = arg(c, 0), *to = c->i->type;
    bool same_bytes = !v->offset && !v->nested && from->id == TY_ARRAY && to->id == TY_ARRAY &&
                      ty_size(from->elem) == ty_size(to->elem);
    WANT(c, from->id == TY_ARRAY && c->i->nargs == 1);
    WANT(c, same_bytes || from->elem->id == TY_RECORD);
    WANT(c, c->i->type->ndim == arg(c, 0)->ndim + v->nested);
    return;
  }
  for (unsigned k = 0; k < v->n; k++) {
    n += v->kind[k] == VIEW_INDEX ? 1 : v->kind[k] == VIEW_SLICE ? 3 : 0;
    axes += v->kind[k] != VIEW_NEWAXIS;
    kept += v->kind[k] != VIEW_INDEX;
  }
  WANT(c, arg(c, 0)->id == TY_ARRAY && c->i->type->id == TY_ARRAY);
  WANT(c, n == c->i->nargs && axes == arg(c, 0)->ndim && kept == c->i->type->ndim);
  indices(c, 1, n - 1);
}

static bool is_vector_of(const Type *t, const Type *elem) {
  for (uint32_t k = 0; t->id == TY_TUPLE && k < t->n; k++)
    if (t->elems[k] != elem)
      return false;
  return t->id == TY_TUPLE;
}

static void check_ins(const Check *c) {
  const Ins *i = c->i;
  switch ((Op)i->op) {
  case OP_TRUEDIV:
    if (i->type->id == TY_PYFLOAT && arg(c, 0)->id == TY_PYINT) {
      indices(c, 0, 2);
      break;
    } /* fall through */
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_FLOORDIV:
  case OP_MOD:
  case OP_POW:
  case OP_LSHIFT:
  case OP_RSHIFT:
  case OP_AND:
  case OP_OR:
  case OP_XOR: WANT(c, is_real(i->type) && arg(c, 0) == i->type && arg(c, 1) == i->type); break;
  case OP_NEG:
  case OP_INVERT: WANT(c, arg(c, 0) == i->type && is_real(i->type)); break;
  case OP_NOT: WANT(c, arg(c, 0) == i->type && is_bool(i->type)); break;
  case OP_TRUTH: WANT(c, is_real(arg(c, 0)) && i->type->id == TY_PYBOOL); break;
  case OP_LT:
  case OP_LE:
  case OP_EQ:
  case OP_NE:
  case OP_GT:
  case OP_GE: check_compare(c); break;
  case OP_CAST: WANT(c, is_real(arg(c, 0)) && is_real(i->type)); break;
  case OP_SELECT:
    WANT(c, is_bool(arg(c, 0)) && arg(c, 1) == i->type && arg(c, 2) == i->type);
    break;
  case OP_MAKE_TUPLE:
    if (ty_is_complex(i->type)) {
      WANT(c, i->nargs == 2 && is_part(arg(c, 0), i->type) && is_part(arg(c, 1), i->type));
      break;
    }
    WANT(c, i->type->id == TY_TUPLE && i->type->n == i->nargs);
    for (uint32_t k = 0; k < i->nargs; k++)
      WANT(c, arg(c, k) == i->type->elems[k]);
    break;
  case OP_TUPLE_GET:
    if (ty_is_complex(arg(c, 0))) {
      WANT(c, is_part(i->type, arg(c, 0)) && i->aux.i < 2);
      break;
    }
    WANT(c, arg(c, 0)->id == TY_TUPLE && i->aux.i >= 0 && i->aux.i < arg(c, 0)->n);
    WANT(c, i->type == arg(c, 0)->elems[i->aux.i]);
    break;
  case OP_TUPLE_INDEX:
    WANT(c,
         arg(c, 0)->id == TY_TUPLE && i->type == arg(c, 0)->elems[0] && arg(c, 1)->id == TY_PYINT);
    break;
  case OP_EXTENT:
  case OP_STRIDE:
    WANT(c, arg(c, 0)->id == TY_ARRAY && i->aux.i < arg(c, 0)->ndim && i->type->id == TY_PYINT);
    break;
  case OP_WRAP_INDEX:
  case OP_CHECK_INDEX: indices(c, 0, 2); break;
  case OP_CHECK: WANT(c, is_bool(arg(c, 0)) && i->aux.site); break;
  case OP_LOAD:
    check_array(c, 0);
    WANT(c, i->type == arg(c, 0)->elem || is_vector_of(i->type, arg(c, 0)->elem));
    break;
  case OP_STORE:
    if (is_vector_of(arg(c, i->nargs - 1), arg(c, 0)->elem))
      indices(c, 1, i->nargs - 2);
    else
      check_array(c, 1);
    break;
  case OP_ATOMIC: check_array(c, i->aux.i == ATOMIC_CAS ? 2 : 1); break;
  case OP_VIEW: check_view(c); break;
  case OP_CALL_FN: check_call(c); break;
  case OP_CONDBR: WANT(c, is_bool(arg(c, 0))); break;
  case OP_RET: WANT(c, arg(c, 0) == c->fn->result); break;
  case OP_RAISE: WANT(c, i->aux.site); break;
  default: break;
  }
}

void ty_verify(Cx *cx, const Fn *fn) {
  Check c = {.cx = cx, .fn = fn};
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      c.i = i;
      check_ins(&c);
    }
}
