/* Scalar: reading and converting numbers, as NumPy's safe casts and NEP 50's weak numbers have
 * it. */
#include "pyext/launch/scalar.h"

#include <string.h>

#include "ir/base/half.h"

static double read_float(TypeId id, unsigned bits, const void *p) {
  float f;
  double d;
  uint16_t h = 0;
  if (bits <= 16) {
    memcpy(&h, p, bits / 8u); /* little endian */
    return half_value(ty_half_format(id), h);
  }
  if (bits == 32) {
    memcpy(&f, p, sizeof f);
    return (double)f;
  }
  memcpy(&d, p, sizeof d);
  return d;
}

PxNumber px_read_number(TypeId id, const void *p) {
  const ScalarInfo *s = &ty_scalar_info[id];
  PxNumber n = {.kind = s->kind};
  uint64_t bits = 0;
  switch (s->kind) {
  case KIND_BOOL:
  case KIND_UINT:
    n.kind = KIND_UINT;
    memcpy(&bits, p, s->bits / 8u); /* little endian */
    n.i = (int64_t)bits;
    break;
  case KIND_INT:
    memcpy(&bits, p, s->bits / 8u);
    n.i = (int64_t)(bits << (64 - s->bits)) >> (64 - s->bits);
    break;
  case KIND_FLOAT: n.re = read_float(id, s->bits, p); break;
  case KIND_COMPLEX:
    n.re = read_float(TY_F64, s->bits / 2u, p);
    n.im = read_float(TY_F64, s->bits / 2u, (const char *)p + s->bits / 16u);
    break;
  default: break;
  }
  return n;
}

/* Its bits, if they are those of the number as either signedness: 0xffffffff is -1 as an int32. */
static bool write_int(const PxNumber *n, const ScalarInfo *s, void *out) {
  if (s->bits < 64) {
    int64_t low = -(INT64_C(1) << (s->bits - 1)), high = (INT64_C(1) << s->bits) - 1;
    bool huge = n->kind == KIND_UINT && n->i < 0;
    if (huge || n->i < low || n->i > high)
      return false;
  }
  memcpy(out, &n->i, s->bits / 8u);
  return true;
}

static double as_double(const PxNumber *n) {
  return n->kind == KIND_INT ? (double)n->i : n->kind == KIND_UINT ? (double)(uint64_t)n->i : n->re;
}

static void write_half(const PxNumber *n, TypeId to, void *out) {
  bool negative = n->kind == KIND_INT && n->i < 0, whole = n->kind != KIND_FLOAT;
  uint64_t size = negative ? -(uint64_t)n->i : (uint64_t)n->i;
  uint16_t bits = half_bits(ty_half_format(to), whole ? half_sticky(negative, size) : n->re);
  memcpy(out, &bits, ty_scalar_info[to].bits / 8u);
}

static void write_float(double v, unsigned bits, void *out) {
  float f = (float)v;
  memcpy(out, bits == 32 ? (void *)&f : (void *)&v, bits / 8u);
}

bool px_convert_scalar(TypeId from, const void *value, TypeId to, void *out) {
  const ScalarInfo *s = &ty_scalar_info[to];
  if (from == to || (ty_scalar_info[from].kind == s->kind && ty_scalar_info[from].bits == s->bits &&
                     s->bits > 16)) {
    memmove(out, value, s->bits / 8u);
    return true;
  }
  PxNumber n = px_read_number(from, value);
  bool whole = n.kind == KIND_INT || n.kind == KIND_UINT;
  switch (s->kind) {
  case KIND_BOOL: *(uint8_t *)out = n.i != 0; return whole;
  case KIND_INT:
  case KIND_UINT: return whole && write_int(&n, s, out);
  case KIND_FLOAT:
    if (n.kind == KIND_COMPLEX)
      return false;
    if (s->bits <= 16)
      write_half(&n, to, out);
    else
      write_float(as_double(&n), s->bits, out);
    return true;
  case KIND_COMPLEX:
    write_float(as_double(&n), s->bits / 2u, out);
    write_float(n.im, s->bits / 2u, (char *)out + s->bits / 16u);
    return true;
  default: return false;
  }
}
