/* The rule of cuda.inline_ptx: text of PTX with typed operands.
 *
 * In: the text, then pairs of a constraint ("=r", "+f", "l") and a value, or for a result of a
 * type. Out, for a GPU: OP_CALL_C with the text as LLVM's inline assembly takes it ($0 for %0),
 * whose results are those of the operands with '=' and '+', in their order. For the host device: a
 * call of host= with what is read. What the text says is checked as far as its operands go; the
 * rest is for the assembler, whose errors are told the line (pyext/compile/inline_text.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

enum { MOST_OPERANDS = TY_MAX_ARGS };

typedef struct Operand {
  char letter;
  bool written, read;
  Val v;            /* what is read; a weak number has the letter's type by now */
  const Type *type; /* of the result */
  unsigned number;  /* LLVM's */
} Operand;

typedef struct Asm {
  Ty *ty;
  const TyCall *call;
  Operand operands[MOST_OPERANDS];
  uint32_t n, nresults, nread;
} Asm;

/* What a letter takes: numbers of so many bits, and a weak number's type. */
typedef struct Letter {
  char letter;
  bool integers, floats;
  uint8_t bits;
  TypeId weak_int, weak_float; /* TY_VOID: it takes none */
  const char *want;
} Letter;

static const Letter letters[] = {
    {'h', true, true, 16, TY_I16, TY_VOID, "an integer of 16 bits, a float16 or a bfloat16"},
    {'r', true, false, 32, TY_I32, TY_VOID, "an integer of 32 bits"},
    {'l', true, false, 64, TY_I64, TY_VOID, "an integer of 64 bits"},
    {'f', false, true, 32, TY_F32, TY_F32, "a float32"},
    {'d', false, true, 64, TY_F64, TY_F64, "a float64"},
};

static const Letter *letter_of(char c) {
  for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
    if (letters[k].letter == c)
      return &letters[k];
  return NULL;
}

static bool wrong(Asm *a, const char *what) {
  (void)TY_FAIL(a->ty, ERR_ARGUMENTS, a->call->name, what);
  return false;
}

#define TEXTED(a, ...) arena_printf(&(a)->ty->cx->arena, __VA_ARGS__)

/* --- operands --- */

static bool takes(const Letter *l, const Type *t) {
  bool whole = ty_kind(t) == KIND_INT || ty_kind(t) == KIND_UINT;
  return ty_bits(t) == l->bits &&
         ((l->integers && whole) || (l->floats && ty_kind(t) == KIND_FLOAT));
}

static bool bad_value(Asm *a, const Letter *l, const char *which, Val v) {
  bool number = ty_is_number(v.type);
  if (a->ty->emit)
    advise(
        a->ty->cx,
        number
            ? "convert it before, as in np.int32(x), or x.view(np.uint32) for the "
              "same bits, or write the letter of its type: h r l for integers of "
              "16, 32, 64 bits, f and d for float32 and float64"
            : "pass numbers one by one; an array's address has the letter l, that of a shared array r too");
  return wrong(a, TEXTED(a, "operand %%%u: '%s' takes %s, not %s", a->n, which, l->want,
                         TY_PRETTY(a->ty, v)));
}

/* The value as the letter has it. */
static bool read_value(Asm *a, Operand *o, const Letter *l, const char *which) {
  Ty *ty = a->ty;
  Val v = o->v;
  bool shared = v.type->id == TY_ARRAY && v.type->space == SPACE_SHARED;
  if (v.type->id == TY_ARRAY && !o->written && (l->letter == 'l' || (l->letter == 'r' && shared)))
    return true;
  if (!ty_is_number(v.type) || ty_is_complex(v.type) || ty_kind(v.type) == KIND_BOOL)
    return bad_value(a, l, which, v);
  TypeId weak = !ty_is_weak(v.type)      ? TY_VOID
                : ty_is_integral(v.type) ? l->weak_int
                                         : l->weak_float;
  if (weak == TY_I32 && v.konst && !ty_int_fits(v.konst, TY_I32))
    weak = TY_U32;
  if (weak != TY_VOID)
    o->v = v = ty_operand(ty, v, weak);
  else if (!takes(l, v.type))
    return bad_value(a, l, which, v);
  o->type = v.type;
  return !ty_is_bottom(v);
}

static bool read_type(Asm *a, Operand *o, const Letter *l, const char *which) {
  Val v = o->v;
  const Frozen *f = v.type->frozen;
  TypeId id = TY_VOID;
  if (v.type->id == TY_DTYPE && f->type < TY_SCALARS)
    id = ty_strengthen(f->type);
  else if (v.type->id == TY_STR && f)
    id = ty_by_name(f->text, f->n);
  if (id >= TY_SCALARS || id == TY_VOID || id == TY_NONE) {
    if (a->ty->emit)
      advise(a->ty->cx, "write the type of the result behind its constraint: '=r', np.int32; a "
                        "value that is changed has '+r', x");
    return wrong(a,
                 TEXTED(a,
                        "operand %%%u: behind '%s' stands the type of a result, and here a value "
                        "(%s)",
                        a->n, which, TY_PRETTY(a->ty, v)));
  }
  o->type = ty_id(a->ty, id);
  return takes(l, o->type) || bad_value(a, l, which, (Val){.type = o->type});
}

/* A constant becomes text. */
static bool read_constant(Asm *a, Operand *o) {
  int64_t n;
  if (fz_get_int(o->v.konst, &n))
    return true;
  (void)ty_not_constant(a->ty, TEXTED(a, "operand %%%u ('n') of %s", a->n, a->call->name), NULL);
  return false;
}

static bool add_operand(Asm *a, Val constraint, Val v) {
  const Frozen *f = constraint.type->id == TY_STR ? constraint.type->frozen : NULL;
  const char *which = f ? f->text : "";
  Operand *o = &a->operands[a->n];
  *o = (Operand){.v = v, .written = *which == '=' || *which == '+', .read = *which != '='};
  const char *letter = which + o->written;
  const Letter *l = letter_of(*letter);
  bool constant = !strcmp(which, "n");
  if (a->n == MOST_OPERANDS || !f || !*letter || letter[1] || (!l && !constant))
    return wrong(a, f ? TEXTED(a,
                               "operand %%%u: '%s' is no constraint: h r l f d, with = or + for "
                               "results, or n",
                               a->n, which)
                      : TEXTED(a,
                               "operand %%%u begins with %s, and not with a constraint such as "
                               "'=r'",
                               a->n, TY_PRETTY(a->ty, constraint)));
  o->letter = *letter;
  if (!(constant  ? read_constant(a, o)
        : o->read ? read_value(a, o, l, which)
                  : read_type(a, o, l, which)))
    return false;
  a->nresults += o->written;
  a->nread += o->read && !constant;
  a->n++;
  return true;
}

/* Pairs, each a tuple or two arguments. */
static bool read_operands(Asm *a) {
  const TyCall *c = a->call;
  for (uint32_t k = 1; k < c->n; k++) {
    Val v = c->args[k];
    if (v.type->id == TY_TUPLE && v.type->n == 2) {
      if (!add_operand(a, ty_item(a->ty, v, 0), ty_item(a->ty, v, 1)))
        return false;
    } else if (k + 1 == c->n) {
      return wrong(a, TEXTED(a, "operand %%%u has a constraint and no value", a->n));
    } else if (!add_operand(a, v, c->args[++k])) {
      return false;
    }
  }
  return true;
}

/* --- the text --- */

/* LLVM counts results first, then what is read; a value that is changed is one operand of either
 * kind, and the text means the result. */
static void number_operands(Asm *a) {
  unsigned results = 0, others = a->nresults;
  for (uint32_t k = 0; k < a->n; k++) {
    Operand *o = &a->operands[k];
    if (o->written)
      o->number = results++;
  }
  for (uint32_t k = 0; k < a->n; k++) {
    Operand *o = &a->operands[k];
    if (o->read && o->letter != 'n') {
      unsigned at = others++;
      if (!o->written)
        o->number = at;
    }
  }
}

/* %N at *s, with the line of the text that it stands in. */
static bool put_operand(Asm *a, Buf *out, const char **s, int line) {
  char *end;
  unsigned long k = strtoul(*s + 1, &end, 10);
  *s = end;
  if (k >= a->n)
    return wrong(
        a, TEXTED(a, "line %d of the text names %%%lu, but there are %u operands", line, k, a->n));
  const Operand *o = &a->operands[k];
  int64_t n = 0;
  if (o->letter != 'n')
    buf_printf(out, "$%u", o->number);
  else if (fz_get_int(o->v.konst, &n))
    buf_printf(out, "%lld", (long long)n);
  return true;
}

static bool is_blank(const char *s) {
  while (isspace((unsigned char)*s))
    s++;
  return !*s;
}

/* For LLVM: $0 for %0, %% and % before a name are a percent sign, $ is doubled. The first line is a
 * comment that names the place in the source, by which errors of the assembler are explained. */
static const char *converted(Asm *a, const Frozen *text) {
  Buf out;
  int line = 1, braces = 0;
  buf_init(&out, &a->ty->cx->arena);
  cx_put_place(&out, "inline_ptx", a->ty->at->loc);
  buf_putc(&out, '\n');
  bool comment = false;
  for (const char *s = text->text; *s;) {
    comment = *s != '\n' && (comment || (s[0] == '/' && s[1] == '/'));
    line += *s == '\n';
    braces += comment ? 0 : (*s == '{') - (*s == '}');
    if (braces < 0) {
      wrong(a, TEXTED(a, "line %d of the text closes a brace that is not open", line));
      return NULL;
    }
    if (*s == '%' && !comment && isdigit((unsigned char)s[1])) {
      if (!put_operand(a, &out, &s, line))
        return NULL;
      continue;
    }
    if (*s == '%' && s[1] == '%')
      s++;
    buf_puts(&out, *s == '$' ? "$$" : (char[]){*s, 0});
    s++;
  }
  if (braces) {
    wrong(a, "a brace of the text is not closed");
    return NULL;
  }
  return out.text;
}

/* "=r,=f,l,0,~{memory}" */
static const char *constraints(const Asm *a) {
  Buf out;
  buf_init(&out, &a->ty->cx->arena);
  for (uint32_t k = 0; k < a->n; k++)
    if (a->operands[k].written)
      buf_printf(&out, "=%c,", a->operands[k].letter);
  for (uint32_t k = 0; k < a->n; k++) {
    const Operand *o = &a->operands[k];
    if (!o->read || o->letter == 'n')
      continue;
    if (o->written)
      buf_printf(&out, "%u,", o->number);
    else
      buf_printf(&out, "%c,", o->letter);
  }
  buf_puts(&out, "~{memory}");
  return out.text;
}

/* --- results --- */

static const Type *result_type(const Asm *a) {
  const Type *types[MOST_OPERANDS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->operands[k].written)
      types[n++] = a->operands[k].type;
  return !n ? ty_id(a->ty, TY_VOID) : n == 1 ? types[0] : ty_tuple(a->ty->cx, types, n);
}

static Val on_gpu(Asm *a, const Frozen *text) {
  Val read[MOST_OPERANDS];
  uint32_t n = 0;
  number_operands(a);
  const char *code = converted(a, text);
  if (!code)
    return BOTTOM;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->operands[k].read && a->operands[k].letter != 'n')
      read[n++] = a->operands[k].v;
  Val r = ty_op(a->ty, OP_CALL_C, result_type(a), read, n);
  if (r.ins) {
    Frozen *f = CX_NEW(a->ty->cx, Frozen);
    *f = (Frozen){.kind = FZ_STR, .text = code, .n = (uint32_t)strlen(code)};
    r.ins->aux.frozen = f;
    r.ins->name = constraints(a);
    a->ty->fn->has_barrier = true; /* the text may hold one */
  }
  return a->nresults || ty_is_bottom(r) ? r : ty_none(a->ty);
}

/* One result of host=, as the text would give it. */
static Val converted_result(Asm *a, Val v, const Type *want, uint32_t k) {
  if (ty_is_bottom(v) || (ty_is_number(v.type) && ty_can_store(v.type, want)))
    return ty_is_bottom(v) ? v : ty_cast(a->ty, v, want);
  wrong(a, TEXTED(a, "result %u of host= is %s, and not %s", k + 1, TY_PRETTY(a->ty, v),
                  ty_name(a->ty->cx, want)));
  return BOTTOM;
}

static Val on_host(Asm *a, Val function) {
  Ty *ty = a->ty;
  Val read[MOST_OPERANDS], results[MOST_OPERANDS];
  uint32_t n = 0;
  for (uint32_t k = 0; k < a->n; k++)
    if (a->operands[k].read)
      read[n++] = a->operands[k].v;
  Val r = ty_call(ty, function, read, n, NULL);
  if (!a->nresults || ty_is_bottom(r))
    return ty_is_bottom(r) ? r : ty_none(ty);
  const Type *want = result_type(a);
  if (a->nresults == 1)
    return converted_result(a, r, want, 0);
  if (r.type->id != TY_TUPLE || r.type->n != a->nresults) {
    wrong(a, TEXTED(a, "host= gives %s, but there are %u results", TY_PRETTY(ty, r), a->nresults));
    return BOTTOM;
  }
  for (uint32_t k = 0; k < a->nresults; k++) {
    results[k] = converted_result(a, ty_item(ty, r, k), want->elems[k], k);
    if (ty_is_bottom(results[k]))
      return BOTTOM;
  }
  return ty_make_tuple(ty, results, a->nresults);
}

Val ty_rule_inline_ptx(Ty *ty, const TyCall *c) {
  Asm a = {.ty = ty, .call = c};
  const Frozen *text = c->n && c->args[0].type->id == TY_STR ? c->args[0].type->frozen : NULL;
  Val host = c->options[0];
  bool for_host = host.type && host.type->id != TY_NONE, blank = text && is_blank(text->text);
  if (!text || (blank && !for_host)) {
    wrong(&a, "the first argument is the text, which must be known when the kernel is compiled");
    return BOTTOM;
  }
  if (!read_operands(&a))
    return BOTTOM;
  if (blank && a.nresults) {
    wrong(&a, "an empty text gives no results");
    return BOTTOM;
  }
  if (!ty->cx->host) /* an empty text: what only the host device does */
    return blank ? ty_none(ty) : on_gpu(&a, text);
  number_operands(&a);
  if (!converted(&a, text)) /* wrong on the host device too */
    return BOTTOM;
  if (for_host)
    return on_host(&a, host);
  return TY_FAIL_ADVISED(
      ty,
      "say what it does in Python too: cuda.inline_ptx(..., host=lambda x, y: x + y) gets what "
      "the text reads, and gives its results",
      ERR_HOST_ONLY, c->name, "host");
}
