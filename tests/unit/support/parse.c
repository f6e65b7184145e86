/* Parse: see parse.h. */
#include "tests/unit/support/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/number.h"
#include "ir/build.h"

typedef struct Pending { /* an operand or callee that is named before it is made */
  Ins *ins;
  uint32_t at;
  uint32_t id;
  const char *callee;
} Pending;

typedef struct Parser {
  Cx *cx;
  const char *s;
  int line;
  Program *program;
  Fn *fn;
  Block *block;
  VEC(Ins *) values;   /* by number */
  VEC(Block *) blocks; /* by number */
  VEC(Pending) pending;
  VEC(Pending) calls;
  VEC(uint32_t) phi_preds; /* of the line being read */
} Parser;

static _Noreturn void bad(Parser *p, const char *what) {
  fail(p->cx, (Loc){0}, ERR_CORRUPT, "IR text",
       arena_printf(&p->cx->arena, "line %d: %s at '%.30s'", p->line, what, p->s));
}

static void skip(Parser *p) {
  while (*p->s == ' ' || *p->s == '\t')
    p->s++;
}

static void end_line(Parser *p) {
  skip(p);
  if (*p->s == ';')
    p->s += strcspn(p->s, "\n");
  if (*p->s && *p->s != '\n')
    bad(p, "more than expected");
  while (*p->s == '\n' || *p->s == ' ') {
    p->line += *p->s == '\n';
    p->s++;
  }
}

static bool take(Parser *p, const char *word) {
  skip(p);
  size_t n = strlen(word);
  if (strncmp(p->s, word, n))
    return false;
  bool is_word = isalnum((unsigned char)word[n - 1]) || word[n - 1] == '_';
  if (is_word && (isalnum((unsigned char)p->s[n]) || p->s[n] == '_'))
    return false;
  p->s += n;
  return true;
}

static void want(Parser *p, const char *word) {
  if (!take(p, word))
    bad(p, arena_printf(&p->cx->arena, "expected '%s'", word));
}

static int64_t number(Parser *p) {
  skip(p);
  char *end;
  int64_t v = strtoll(p->s, &end, 10);
  if (end == p->s)
    bad(p, "expected a number");
  p->s = end;
  return v;
}

static const char *word(Parser *p) {
  skip(p);
  size_t n = 0;
  while (isalnum((unsigned char)p->s[n]) || (p->s[n] && strchr("_.<>", p->s[n])))
    n++;
  if (!n)
    bad(p, "expected a name");
  const char *w = intern_n(&p->cx->strings, p->s, n);
  p->s += n;
  return w;
}

static const char *quoted(Parser *p) {
  skip(p);
  if (*p->s != '\'')
    bad(p, "expected a quoted text");
  Buf b;
  buf_init(&b, &p->cx->arena);
  for (p->s++; *p->s && *p->s != '\''; p->s++) {
    if (*p->s == '\\' && p->s[1]) {
      p->s++;
      buf_putc(&b, *p->s == 'n' ? '\n' : *p->s);
    } else {
      buf_putc(&b, *p->s);
    }
  }
  want(p, "'");
  return b.text;
}

static const Type *type(Parser *p) {
  const char *error = NULL;
  const Type *t = ty_parse(p->cx, &p->s, &error);
  if (!t)
    bad(p, error);
  return t;
}

static Block *block_number(Parser *p, uint32_t id) {
  enum { MAX_BLOCKS = 1 << 20 };
  if (id >= MAX_BLOCKS)
    bad(p, "block number too large");
  while (p->blocks.len <= id)
    VEC_PUSH(&p->cx->arena, &p->blocks, NULL);
  if (!p->blocks.data[id]) {
    if (id == 0)
      p->blocks.data[id] = p->fn->entry;
    else {
      p->blocks.data[id] = ir_block(p->cx, p->fn);
      p->blocks.data[id]->id = id;
      if (p->fn->next_block <= id)
        p->fn->next_block = id + 1;
    }
  }
  return p->blocks.data[id];
}

static uint32_t block_id(Parser *p) {
  skip(p);
  if (*p->s != 'b' || !isdigit((unsigned char)p->s[1]))
    bad(p, "expected a block");
  p->s++;
  return (uint32_t)number(p);
}

static Block *block_name(Parser *p) { return block_number(p, block_id(p)); }

static void set_value(Parser *p, uint32_t id, Ins *i) {
  enum { MAX_VALUES = 1 << 24 };
  if (id >= MAX_VALUES)
    bad(p, "value number too large");
  while (p->values.len <= id)
    VEC_PUSH(&p->cx->arena, &p->values, NULL);
  i->id = id;
  if (p->fn->next_id <= id)
    p->fn->next_id = id + 1;
  p->values.data[id] = i;
}

/* --- constants --- */

static const Frozen *constant(Parser *p, int depth);

static const Frozen *tuple_constant(Parser *p, int depth) {
  VEC(const Frozen *) items = {0};
  while (!take(p, ")")) {
    VEC_PUSH(&p->cx->arena, &items, constant(p, depth + 1));
    if (!take(p, ",")) {
      want(p, ")");
      break;
    }
  }
  return fz_tuple(p->cx, items.data, items.len);
}

static const Frozen *angle_constant(Parser *p) {
  Frozen *f = CX_NEW(p->cx, Frozen);
  if (take(p, "module")) {
    f->kind = FZ_MODULE;
    skip(p);
    size_t n = strcspn(p->s, ">");
    f->text = intern_n(&p->cx->strings, p->s, n);
    p->s += n;
  } else if (take(p, "type")) {
    f->kind = FZ_DTYPE;
    skip(p);
    size_t n = strcspn(p->s, ">");
    f->type = ty_by_name(p->s, n);
    p->s += n;
  } else if (take(p, "declared")) {
    f->kind = FZ_DECLARED;
    f->i = !strcmp(word(p), "numba");
    f->text = word(p);
    want(p, ":");
    skip(p);
    size_t n = strcspn(p->s, ">");
    f->names = arena_memdup(&p->cx->arena, &(const char *){intern_n(&p->cx->strings, p->s, n)},
                            sizeof *f->names);
    p->s += n;
  } else if (take(p, "exception")) {
    f->kind = FZ_EXCEPTION;
    skip(p);
    size_t n = strcspn(p->s, ">");
    f->text = intern_n(&p->cx->strings, p->s, n);
    p->s += n;
  } else {
    bad(p, "this constant has no text form");
  }
  want(p, ">");
  return f;
}

static const Frozen *constant(Parser *p, int depth) {
  if (depth > 16)
    bad(p, "nested too deep");
  if (take(p, "None"))
    return fz_none(p->cx);
  if (take(p, "True"))
    return fz_bool(p->cx, true);
  if (take(p, "False"))
    return fz_bool(p->cx, false);
  if (take(p, "("))
    return tuple_constant(p, depth);
  if (take(p, "<"))
    return angle_constant(p);
  skip(p);
  if (*p->s == '\'')
    return fz_str(p->cx, quoted(p));
  if (isalpha((unsigned char)*p->s) && strncmp(p->s, "inf", 3) && strncmp(p->s, "nan", 3)) {
    IntrinsicId id = ir_intrinsic_by_path(word(p));
    if (id == INTR_NONE)
      bad(p, "unknown intrinsic");
    Frozen *f = CX_NEW(p->cx, Frozen);
    f->kind = FZ_INTRINSIC;
    f->i = id;
    return f;
  }
  char *int_end, *float_end;
  int64_t i = strtoll(p->s, &int_end, 10);
  double d = number_read(p->s, &float_end);
  if (float_end == p->s)
    bad(p, "expected a constant");
  bool is_float = float_end > int_end;
  p->s = is_float ? float_end : int_end;
  return is_float ? fz_float(p->cx, d) : fz_int(p->cx, i);
}

/* --- operations --- */

static Op op_name(Parser *p) {
  const char *w = word(p);
  for (int k = 0; k < OP_COUNT; k++)
    if (!strcmp(ir_op_info[k].text, w))
      return (Op)k;
  bad(p, arena_printf(&p->cx->arena, "unknown operation '%s'", w));
}

static void parse_field(Parser *p, IrView *v) {
  int64_t *extents = CX_ARRAY(p->cx, int64_t, TY_MAX_NDIM);
  want(p, ":");
  v->offset = (uint32_t)number(p);
  while (v->nested < TY_MAX_NDIM && take(p, ":"))
    extents[v->nested++] = number(p);
  v->extents = extents;
}

static void parse_view(Parser *p, Ins *i) {
  static const char *const names[] = {"full",    "index",   "slice", "newaxis",
                                      "permute", "reshape", "part",  "field"};
  IrView *v = CX_NEW(p->cx, IrView);
  want(p, "[");
  while (!take(p, "]")) {
    unsigned k = 0;
    while (k < sizeof names / sizeof *names && !take(p, names[k]))
      k++;
    if (k == sizeof names / sizeof *names || v->n == sizeof v->kind)
      bad(p, "bad view");
    v->kind[v->n] = (uint8_t)k;
    if (k == VIEW_PERMUTE && v->n < TY_MAX_NDIM) {
      want(p, ":");
      v->axes[v->n] = (uint8_t)number(p);
    }
    if (k == VIEW_FIELD)
      parse_field(p, v);
    v->n++;
  }
  i->aux.view = v;
}

static void parse_alloc(Parser *p, Ins *i) {
  IrAlloc *a = CX_NEW(p->cx, IrAlloc);
  a->dynamic = take(p, "dynamic");
  want(p, "[");
  for (unsigned k = 0; !take(p, "]"); k++) {
    if (k >= TY_MAX_NDIM)
      bad(p, "too many axes");
    a->extents[k] = number(p);
    p->s += *p->s == 'x';
  }
  want(p, "align");
  a->align = (uint32_t)number(p);
  i->aux.alloc = a;
}

static const IrSite *parse_site(Parser *p) {
  skip(p);
  if (!isupper((unsigned char)*p->s))
    return NULL;
  const char *exception = word(p);
  want(p, "(");
  const char *message = quoted(p);
  want(p, ")");
  return ir_site(p->cx, p->program, exception, message, (Loc){0});
}

static void parse_aux(Parser *p, Ins *i) {
  static const char *const atomics[] = {
#define A(ID, text, elements, of_signed, of_unsigned) text,
#include "ir/atomics.def"
#undef A
  };
  switch ((Op)i->op) {
  case OP_CONST:
  case OP_GLOBAL:
  case OP_CALL_C:
  case OP_PRINT: i->aux.frozen = constant(p, 0); break;
  case OP_PARAM:
  case OP_TUPLE_GET:
  case OP_EXTENT:
  case OP_STRIDE: i->aux.i = number(p); break;
  case OP_LOAD:
  case OP_STORE:
    for (int k = HINT_NONE + 1; k < HINT_COUNT && !i->aux.i; k++)
      if (take(p, ir_hints[k].name))
        i->aux.i = k;
    break;
  case OP_CHECK_INDEX:
    want(p, "axis");
    i->aux2 = (int32_t)number(p);
    i->aux.site = parse_site(p);
    break;
  case OP_UNSET: i->aux2 = take(p, "zero"); break;
  case OP_UNPACK:
  case OP_UNPACK_EX:
    i->aux.i = number(p);
    want(p, "/");
    i->aux2 = (int32_t)number(p);
    break;
  case OP_CALL:
  case OP_CALL_STAR:
  case OP_MAKE_DICT:
    if (take(p, "names="))
      i->aux.names = constant(p, 0);
    break;
  case OP_FORMAT:
    if (take(p, "!"))
      i->aux.i = *p->s++;
    break;
  case OP_VIEW: parse_view(p, i); break;
  case OP_ALLOC: parse_alloc(p, i); break;
  case OP_INTRINSIC:
    i->aux.intrinsic = ir_intrinsic_by_path(word(p));
    if (i->aux.intrinsic == INTR_NONE)
      bad(p, "unknown intrinsic");
    break;
  case OP_ATOMIC:
    i->aux.i = -1;
    for (int k = 0; k < ATOMIC_COUNT && i->aux.i < 0; k++)
      if (take(p, atomics[k]))
        i->aux.i = k;
    if (i->aux.i < 0)
      bad(p, "unknown atomic operation");
    break;
  case OP_CALL_FN: {
    want(p, "@");
    Pending call = {.ins = i, .callee = word(p)};
    VEC_PUSH(&p->cx->arena, &p->calls, call);
    break;
  }
  case OP_CHECK:
  case OP_RAISE: i->aux.site = parse_site(p); break;
  default: break;
  }
}

static void parse_operands(Parser *p, Ins *i) {
  p->phi_preds.len = 0;
  while (take(p, "%")) {
    Pending use = {.ins = i, .at = i->nargs, .id = (uint32_t)number(p)};
    ir_add_arg(p->cx, i, NULL);
    VEC_PUSH(&p->cx->arena, &p->pending, use);
    if (i->op == OP_PHI) {
      uint32_t from = block_id(p);
      VEC_PUSH(&p->cx->arena, &p->phi_preds, from);
    }
    if (!take(p, ","))
      break;
  }
  if (i->op == OP_PHI) /* kept in the order of the text; matched with the predecessors at the end */
    i->note = arena_memdup(&p->cx->arena, p->phi_preds.data, sizeof(uint32_t) * p->phi_preds.len);
}

static void parse_successors(Parser *p, Ins *i) {
  int want_n = i->op == OP_BR ? 1 : i->op == OP_CONDBR ? 2 : 0;
  for (int n = 0; n < want_n; n++) {
    if (n)
      want(p, ",");
    Block *to = block_name(p);
    p->block->succ[n] = to;
    VEC_PUSH(&p->cx->arena, &to->preds, p->block);
  }
}

static void parse_ins(Parser *p) {
  int64_t id = -1;
  const Type *t = NULL;
  if (take(p, "%")) {
    id = number(p);
    if (take(p, ":"))
      t = type(p);
    want(p, "=");
  }
  Op op = op_name(p);
  if (!t && p->fn->typed)
    t = ty_scalar(p->cx, TY_VOID);
  Ins *i = ir_ins(p->cx, p->fn, op, t, (Loc){.line = p->line, .end_line = p->line, .end_col = 1},
                  NULL, 0);
  if (id >= 0)
    set_value(p, (uint32_t)id, i);
  parse_aux(p, i);
  parse_operands(p, i);
  ir_append(p->block, i);
  parse_successors(p, i);
  skip(p);
  if (*p->s == '\'')
    i->name = quoted(p);
#define X(flag, word)                                                                              \
  if (take(p, #word))                                                                              \
    i->flags |= flag;
  INS_FLAG_WORDS(X)
#undef X
  if (take(p, "ahead"))
    i->flags |= INS_AHEAD;
  if (take(p, "polled"))
    i->flags |= INS_POLLED;
  if (take(p, "often"))
    i->flags |= INS_OFTEN;
  if (take(p, "exact"))
    i->flags |= INS_EXACT;
  if (op == OP_PARAM) {
    if (i->aux.i < 0 || i->aux.i >= p->fn->nparams)
      bad(p, "no such parameter");
    p->fn->params[i->aux.i] = i;
  }
  end_line(p);
}

/* --- functions --- */

static void parse_head(Parser *p) {
  VEC(const char *) names = {0};
  VEC(const Type *) types = {0};
  const char *name = word(p);
  want(p, "(");
  while (!take(p, ")")) {
    VEC_PUSH(&p->cx->arena, &names, word(p));
    if (take(p, ":"))
      VEC_PUSH(&p->cx->arena, &types, type(p));
    if (!take(p, ",")) {
      want(p, ")");
      break;
    }
  }
  p->fn = CX_NEW(p->cx, Fn);
  Fn *fn = p->fn;
  fn->name = fn->symbol = name;
  fn->program = p->program;
  fn->nparams = names.len;
  fn->param_names = names.data;
  fn->params = CX_ARRAY(p->cx, Ins *, names.len + 1);
  fn->param_types = types.data;
  ir_block(p->cx, fn);
  if (take(p, "->")) {
    fn->typed = true;
    fn->result = type(p);
    if (types.len != names.len)
      bad(p, "a typed function needs a type for each parameter");
  }
  want(p, "{");
  end_line(p);
}

static void resolve_operands(Parser *p) {
  for (uint32_t k = 0; k < p->pending.len; k++) {
    Pending *u = &p->pending.data[k];
    Ins *v = u->id < p->values.len ? p->values.data[u->id] : NULL;
    if (!v)
      bad(p, arena_printf(&p->cx->arena, "%%%u is not defined", u->id));
    u->ins->args[u->at] = v;
  }
}

/* Puts phi operands into the order of the block's predecessors. */
static void order_phis(Parser *p) {
  FOR_BLOCKS (p->fn, b)
    FOR_INS (b, i) {
      if (i->op != OP_PHI)
        break;
      uint32_t *from = i->note;
      i->note = NULL;
      if (i->nargs != b->preds.len)
        bad(p, "a phi needs one operand a predecessor");
      Ins **args = CX_ARRAY(p->cx, Ins *, i->nargs);
      for (uint32_t k = 0; k < b->preds.len; k++)
        for (uint32_t j = 0; j < i->nargs; j++)
          if (!args[k] && i->args[j] && from[j] == b->preds.data[k]->id) {
            args[k] = i->args[j];
            i->args[j] = NULL;
          }
      for (uint32_t k = 0; k < i->nargs; k++)
        if (!args[k])
          bad(p, "a phi names a block that is no predecessor");
      i->args = args;
    }
}

static void parse_fn(Parser *p) {
  p->values.len = p->blocks.len = p->pending.len = 0;
  parse_head(p);
  while (!take(p, "}")) {
    skip(p);
    if (*p->s == 'b' && isdigit((unsigned char)p->s[1])) {
      p->block = block_name(p);
      want(p, ":");
      end_line(p);
    } else if (!*p->s) {
      bad(p, "the function does not end");
    } else if (!p->block) {
      bad(p, "instruction outside a block");
    } else {
      parse_ins(p);
    }
  }
  end_line(p);
  resolve_operands(p);
  order_phis(p);
  FOR_BLOCKS (p->fn, b)
    if (!b->last || !ins_is_term(b->last))
      bad(p, "a block has no terminator");
  p->block = NULL;
  VEC_PUSH(&p->cx->arena, &p->program->fns, p->fn);
}

Program *ir_parse(Cx *cx, const char *text) {
  Parser p = {.cx = cx, .s = text, .line = 1, .program = CX_NEW(cx, Program)};
  while (*p.s == '\n' || *p.s == ' ')
    p.line += *p.s++ == '\n';
  while (*p.s) {
    want(&p, "func");
    parse_fn(&p);
  }
  for (uint32_t k = 0; k < p.calls.len; k++) {
    Pending *c = &p.calls.data[k];
    for (uint32_t f = 0; f < p.program->fns.len; f++)
      if (!strcmp(p.program->fns.data[f]->symbol, c->callee))
        c->ins->aux.fn = p.program->fns.data[f];
    if (!c->ins->aux.fn)
      bad(&p, arena_printf(&cx->arena, "no function %s", c->callee));
  }
  if (p.program->fns.len) {
    p.program->fns.data[0]->is_kernel = true;
    for (uint32_t f = 0; f < p.program->fns.len; f++)
      FOR_BLOCKS (p.program->fns.data[f], b)
        FOR_INS (b, i) {
          bool sync = i->op == OP_INTRINSIC &&
                      ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC;
          p.program->fns.data[f]->has_barrier |= sync;
          p.program->uses_dynamic_shared |= i->op == OP_ALLOC && i->aux.alloc->dynamic;
        }
  }
  return p.program;
}

Fn *ir_parse_fn(Cx *cx, const char *text) {
  Program *program = ir_parse(cx, text);
  if (!program->fns.len)
    fail(cx, (Loc){0}, ERR_CORRUPT, "IR text", "there is no function");
  return program->fns.data[0];
}
