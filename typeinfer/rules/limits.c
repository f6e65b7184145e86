/* Rules of np.iinfo and np.finfo: objects of constants, known while the kernel is compiled. One
 * object a type and program. */
#include <math.h>
#include <string.h>

#include "ir/base/half.h"
#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

static const char iinfo_text[] = "numpy.iinfo", finfo_text[] = "numpy.finfo";

typedef struct Members {
  Ty *ty;
  Binding *list;
  uint32_t n;
} Members;

enum { MAX_MEMBERS = 24 };

static void add(Members *m, const char *name, const Frozen *value) {
  CX_ASSERT(m->ty->cx, m->n < MAX_MEMBERS);
  m->list[m->n++] = (Binding){name, value};
}

static void add_int(Members *m, const char *name, int64_t v) { add(m, name, fz_int(m->ty->cx, v)); }

static void add_dtype(Members *m, TypeId id) {
  add(m, "dtype", ty_dtype_of(m->ty, ty_id(m->ty, id), DTYPE_INSTANCE).type->frozen);
  add_int(m, "bits", ty_scalar_info[id].bits);
}

static void add_limits_of_int(Members *m, TypeId id) {
  unsigned bits = ty_scalar_info[id].bits;
  bool is_unsigned = ty_scalar_info[id].kind == KIND_UINT;
  uint64_t max = UINT64_MAX >> (64 - bits + !is_unsigned);
  add(m, "max", fz_uint(m->ty->cx, max));
  add_int(m, "min", is_unsigned ? 0 : -(int64_t)max - 1);
  add(m, "kind", fz_str(m->ty->cx, is_unsigned ? "u" : "i"));
}

static const HalfFormat float32 = {.fraction = 23, .bias = 127},
                        float64 = {.fraction = 52, .bias = 1023};

static const HalfFormat *format_of(TypeId id) {
  return id == TY_F32 ? &float32 : id == TY_F64 ? &float64 : ty_half_format(id);
}

/* ml_dtypes' of float8_e8m0fnu, which has no bits of fraction and no sign. */
static void add_limits_of_powers(Members *m, TypeId id, const HalfFormat *f) {
  const struct {
    const char *name;
    int power;
  } floats[] = {{"eps", 0},
                {"epsneg", -1},
                {"max", f->bias},
                {"min", -f->bias},
                {"tiny", -f->bias},
                {"smallest_normal", -f->bias},
                {"smallest_subnormal", -f->bias},
                {"resolution", -3}};
  for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
    add(m, floats[k].name,
        ty_fold_cast(m->ty->cx, fz_float(m->ty->cx, ldexp(1, floats[k].power)), id));
  const struct {
    const char *name;
    int value;
  } ints[] = {{"nmant", 0}, {"machep", 0},           {"negep", -1},        {"iexp", 8},
              {"nexp", 8},  {"maxexp", f->bias + 1}, {"minexp", -f->bias}, {"precision", 1}};
  for (size_t k = 0; k < sizeof ints / sizeof *ints; k++)
    add_int(m, ints[k].name, ints[k].value);
}

static void add_limits_of_float(Members *m, TypeId id, const HalfFormat *f) {
  if (f->powers) {
    add_limits_of_powers(m, id, f);
    return;
  }
  int m_bits = f->fraction, maxexp = f->bias + 1 + f->finite, minexp = 1 - f->bias;
  int exponent_bits = ty_scalar_info[id].bits - 1 - m_bits, precision = (int)(m_bits * log10(2));
  double max = ldexp(2 - ldexp(f->finite ? 2 : 1, -m_bits), maxexp - 1);
  const struct {
    const char *name;
    double value;
  } floats[] = {{"eps", ldexp(1, -m_bits)},
                {"epsneg", ldexp(1, -m_bits - 1)},
                {"max", max},
                {"min", -max},
                {"tiny", ldexp(1, minexp)},
                {"smallest_normal", ldexp(1, minexp)},
                {"smallest_subnormal", ldexp(1, minexp - m_bits)},
                {"resolution", pow(10, -precision)}};
  for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
    add(m, floats[k].name, ty_fold_cast(m->ty->cx, fz_float(m->ty->cx, floats[k].value), id));
  add_int(m, "nmant", m_bits);
  add_int(m, "machep", -m_bits);
  add_int(m, "negep", -m_bits - 1);
  add_int(m, "iexp", exponent_bits);
  add_int(m, "nexp", exponent_bits);
  add_int(m, "maxexp", maxexp);
  add_int(m, "minexp", minexp);
  add_int(m, "precision", precision);
}

static const Frozen *limits(Ty *ty, const char *text, TypeId id, const HalfFormat *format) {
  for (uint32_t k = 0; k < ty->p->frozen.len; k++)
    if (ty->p->frozen.data[k]->text == text && ty->p->frozen.data[k]->type == id)
      return ty->p->frozen.data[k];
  Frozen *f = CX_NEW(ty->cx, Frozen);
  Members m = {.ty = ty, .list = CX_ARRAY(ty->cx, Binding, MAX_MEMBERS)};
  f->kind = FZ_OPAQUE;
  f->text = text;
  f->wide = true; /* its name, in messages */
  f->type = id;
  add_dtype(&m, id);
  if (format)
    add_limits_of_float(&m, id, format);
  else
    add_limits_of_int(&m, id);
  f->attrs = m.list;
  f->nattrs = m.n;
  return f;
}

/* The type that is asked for: a dtype, its name, or a number, which stands for its own. */
static TypeId type_of(Val v) {
  const Type *t = v.type;
  if (t->id == TY_STR && v.konst)
    return ty_by_name(v.konst->text, v.konst->n);
  if (t->id == TY_DTYPE)
    return ty_strengthen(t->frozen->type);
  return ty_is_number(t) ? ty_strengthen(t->id) : TY_VOID;
}

Val ty_rule_np_iinfo(Ty *ty, const TyCall *c) {
  TypeId id = type_of(c->args[0]);
  bool integer = id < TY_SCALARS &&
                 (ty_scalar_info[id].kind == KIND_INT || ty_scalar_info[id].kind == KIND_UINT);
  return integer ? ty_const(ty, limits(ty, iinfo_text, id, NULL))
                 : ty_argument_type(ty, c, 0, "an integer type such as np.int32, or an integer");
}

Val ty_rule_np_finfo(Ty *ty, const TyCall *c) {
  TypeId id = type_of(c->args[0]);
  if (id < TY_SCALARS && ty_scalar_info[id].kind == KIND_COMPLEX)
    id = ty_part_id(id);
  const HalfFormat *format = format_of(id);
  if (format)
    return ty_const(ty, limits(ty, finfo_text, id, format));
  return ty_argument_type(ty, c, 0, "a float type such as np.float32, or a float");
}
