/* Decode: the bytes of a code object to nodes, in one vocabulary for CPython 3.11 to 3.15.
 *
 * In: a Code, which may be damaged. Out: nodes in code order whose successors are node numbers;
 * instructions that a version fuses are split, spellings are unified, the two ends of a branch are
 * (true, false), a for loop's exit lies behind its END_FOR. Where coverage is wanted, a node of its
 * own marks where a line begins. Nothing is judged yet: what a kernel cannot have fails only where
 * it is reached (lift.c). */
#include <string.h>

#include "frontend/bc.h"
#include "frontend/lift.h"
#include "ir/build.h"

enum { MAX_UNITS = 1 << 20, MAX_ARG = 1 << 24 };

typedef struct Decoder {
  Cx *cx;
  BcCode *bc;
  int version;
  uint32_t *node_of; /* code unit → the first node of the instruction that begins there */
  bool kw_names;     /* 3.11, 3.12: KW_NAMES was seen and waits for its CALL */
  int32_t line;      /* of the instruction before */
  /* the instruction being decoded */
  BcOp op;
  uint8_t raw;
  uint32_t arg, unit, next; /* next: the code unit behind it and its caches */
} Decoder;

void bc_corrupt(Cx *cx, const Code *code, const char *why) {
  Loc loc = {.code = code,
             .line = code->firstlineno,
             .end_line = code->firstlineno,
             .col = -1,
             .end_col = -1};
  fail(cx, loc, ERR_CORRUPT, code->qualname ? code->qualname : "?", why);
}

static BcNode *emit(Decoder *d, BcOp op, uint32_t arg) {
  uint32_t next = d->bc->nodes.len + 1;
  /* what a version spells its own way has become one of the others */
  CX_ASSERT(d->cx, bc_info[op].kind != BC_KIND_ALIAS && bc_info[op].kind != BC_KIND_EXPAND);
  VEC_PUSH(&d->cx->arena, &d->bc->nodes,
           ((BcNode){.op = (uint16_t)op,
                     .raw = d->raw,
                     .arg = arg,
                     .unit = d->unit,
                     .succ = {next, BC_NONE},
                     .depth = -1}));
  return &d->bc->nodes.data[next - 1];
}

/* --- expansions: X rows of opcodes.def --- */

static void bc_expand_two_locals(Decoder *d, BcOp first, BcOp second) {
  emit(d, first, d->arg >> 4);
  emit(d, second, d->arg & 15)->second = true;
}

/* A null stands beside a callable so that calls of functions and of methods look the same: before
 * it in 3.11 and 3.12. */
static void bc_expand_load_global(Decoder *d) {
  bool null = d->arg & 1;
  if (null && d->version < 313)
    emit(d, BC_PUSH_NULL, 0);
  emit(d, BC_load_global, d->arg >> 1);
  if (null && d->version >= 313)
    emit(d, BC_PUSH_NULL, 0);
}

static void bc_expand_load_attr(Decoder *d, bool method) {
  emit(d, BC_load_attr, d->version >= 312 ? d->arg >> 1 : d->arg);
  if (method)
    emit(d, BC_PUSH_NULL, 0);
}

static void bc_expand_binary_op(Decoder *d) {
  const OpTable *t = d->bc->ops;
  unsigned op = d->arg < t->nbinary ? t->binary[d->arg] : OP_UNREACHABLE;
  if (op == BC_SUBSCRIPT)
    emit(d, BC_BINARY_SUBSCR, 0);
  else if (op == OP_UNREACHABLE)
    emit(d, BC_unknown, d->arg);
  else
    emit(d, BC_binary_op, op);
}

static void bc_expand_compare_op(Decoder *d) {
  uint32_t index = d->version == 311 ? d->arg : d->version == 312 ? d->arg >> 4 : d->arg >> 5;
  if (index > 5)
    bc_corrupt(d->cx, d->bc->code, "a comparison has no operator");
  emit(d, BC_compare_op, index);
}

static void bc_expand_intrinsic1(Decoder *d) {
  const OpTable *t = d->bc->ops;
  emit(d, d->arg < t->nintrinsic1 ? (BcOp)t->intrinsic1[d->arg] : BC_unknown, d->arg);
}

static uint32_t forward(Decoder *d) { return d->next + d->arg; }
static uint32_t backward(Decoder *d) { return d->arg <= d->next ? d->next - d->arg : BC_NONE; }

static void set_target(BcNode *n, int k, uint32_t unit) {
  n->succ[k] = unit;
  n->targets |= (uint8_t)(1 << k);
}

static void bc_expand_jump(Decoder *d, uint32_t unit) { set_target(emit(d, BC_jump, 0), 0, unit); }

/* To `unit` if the value is `sense`, else on. */
static void bc_expand_branch(Decoder *d, BcOp op, bool sense, uint32_t unit) {
  BcNode *n = emit(d, op, 0);
  n->succ[1] = n->succ[0];
  set_target(n, sense ? 0 : 1, unit);
}

/* 3.11: x and y, x or y; later versions spell it out like this. */
static void bc_expand_jump_or_pop(Decoder *d, bool sense) {
  emit(d, BC_COPY, 1);
  bc_expand_branch(d, BC_branch, sense, forward(d));
  emit(d, BC_POP_TOP, 0);
}

/* From 3.15 on there are two values to an iterator: above it lies an index, or null. Here it is
 * null. */
static void bc_expand_get_iter(Decoder *d) {
  emit(d, BC_get_iter, 0);
  if (d->version >= 315)
    emit(d, BC_PUSH_NULL, 0);
}

static void bc_expand_for_iter(Decoder *d) {
  if (d->version >= 315)
    emit(d, BC_POP_TOP, 0);
  set_target(emit(d, BC_for_iter, 0), 1, forward(d));
  if (d->version >= 315) {
    emit(d, BC_PUSH_NULL, 0);
    emit(d, BC_SWAP, 2);
  }
}

/* From 3.15 on None, True, False, '' and -1 are common constants: here they are constants like
 * others. */
static void bc_expand_common_constant(Decoder *d) {
  const OpTable *t = d->bc->ops;
  if (d->arg < t->ncommon && t->common_value[d->arg] != BC_NO_VALUE)
    emit(d, BC_LOAD_CONST, d->bc->code->nconsts + t->common_value[d->arg]);
  else
    emit(d, BC_common_constant, d->arg);
}

static void bc_expand_return_const(Decoder *d) {
  emit(d, BC_LOAD_CONST, d->arg);
  emit(d, BC_RETURN_VALUE, 0);
}

static void bc_expand_binary_slice(Decoder *d) {
  emit(d, BC_BUILD_SLICE, 2);
  emit(d, BC_BINARY_SUBSCR, 0);
}

static void bc_expand_store_slice(Decoder *d) {
  emit(d, BC_BUILD_SLICE, 2);
  emit(d, BC_STORE_SUBSCR, 0);
}

/* Argument of `format`: conversion in the two low bits (none, str, repr, ascii), 4: a format spec
 * is on top. */
static void bc_expand_format(Decoder *d, uint32_t how) { emit(d, BC_format, how); }

static void bc_expand_kw_names(Decoder *d) {
  emit(d, BC_LOAD_CONST, d->arg);
  d->kw_names = true;
}

static void bc_expand_call(Decoder *d) {
  emit(d, d->kw_names ? BC_CALL_KW : BC_call, d->arg);
  d->kw_names = false;
}

/* 3.14 always has a place for the keywords, which may hold a null. */
static void bc_expand_call_star(Decoder *d) {
  emit(d, BC_call_star, d->version >= 314 ? 1 : d->arg & 1);
}

static void bc_expand_make_function(Decoder *d) {
  emit(d, BC_make_function, d->version >= 313 ? 0 : d->arg);
}

static void expand(Decoder *d) {
  switch (d->op) {
#define O(NAME, pop, push, lift)
#define N(NAME)
#define A(NAME, OF)
#define X(NAME, expand)                                                                            \
  case BC_##NAME:                                                                                  \
    bc_expand_##expand;                                                                            \
    break;
#define E(NAME, ERROR)
#include "frontend/opcodes.def"
  default: cx_bug(d->cx, "%s has no expansion", bc_info[d->op].name);
  }
}

/* --- the walk --- */

static void decode_one(Decoder *d) {
  const BcInfo *info = &bc_info[d->op];
  if (d->kw_names && d->op != BC_PRECALL && d->op != BC_CALL)
    bc_corrupt(d->cx, d->bc->code, "keyword names without a call");
  bool constant = d->op == BC_LOAD_CONST || d->op == BC_RETURN_CONST || d->op == BC_KW_NAMES;
  if (constant && d->arg >= d->bc->code->nconsts) /* behind them are the common ones */
    bc_corrupt(d->cx, d->bc->code, "a constant is out of range");
  switch (info->kind) {
  case BC_KIND_OP:
  case BC_KIND_NOTHING:
  case BC_KIND_ERROR: emit(d, d->op, d->arg); break;
  case BC_KIND_ALIAS: emit(d, (BcOp)info->alias, d->arg); break;
  case BC_KIND_EXPAND: expand(d); break;
  }
}

/* Where the line is another than before; not in front of END_FOR, which is found by its place. */
static void mark_line(Decoder *d) {
  int32_t line = d->bc->locs[d->unit].line;
  if (line > 0 && line != d->line && d->op != BC_END_FOR)
    emit(d, BC_line, 0);
  d->line = line;
}

/* One instruction with its prefixes and caches, from code unit `at`. Returns the unit behind it. */
static uint32_t read_instruction(Decoder *d, uint32_t at) {
  const uint8_t *bytes = d->bc->code->bytes;
  const OpTable *t = d->bc->ops;
  uint32_t start = at, arg = 0;
  for (int prefixes = 0;; at++) {
    if (at >= d->bc->nunits)
      bc_corrupt(d->cx, d->bc->code, "an argument prefix at its end");
    arg = arg << 8 | bytes[2 * at + 1];
    if (t->op[bytes[2 * at]] != BC_EXTENDED_ARG)
      break;
    if (++prefixes > 3)
      bc_corrupt(d->cx, d->bc->code, "too many argument prefixes");
  }
  if (arg > MAX_ARG)
    bc_corrupt(d->cx, d->bc->code, "an argument is out of range");
  d->raw = bytes[2 * at];
  d->op = (BcOp)t->op[d->raw];
  d->arg = arg;
  d->unit = at;
  d->next = at + 1 + t->cache[d->raw];
  if (d->next > d->bc->nunits)
    bc_corrupt(d->cx, d->bc->code, "an instruction at its end is cut off");
  d->node_of[start] = d->bc->nodes.len;
  if (d->cx->marks_lines)
    mark_line(d);
  decode_one(d);
  return d->next;
}

/* The node that a for loop leaves to: behind END_FOR and the POP that belongs to it. */
static uint32_t behind_end_for(Decoder *d, uint32_t node) {
  const BcNode *nodes = d->bc->nodes.data;
  uint32_t n = d->bc->nodes.len;
  if (d->version < 312)
    return node;
  if (nodes[node].op != BC_END_FOR)
    bc_corrupt(d->cx, d->bc->code, "a for loop has no end");
  if (d->version == 312)
    return node + 1;
  if (node + 1 >= n || nodes[node + 1].op != BC_POP_TOP)
    bc_corrupt(d->cx, d->bc->code, "a for loop keeps its iterator");
  return node + 2;
}

static void resolve_targets(Decoder *d) {
  uint32_t n = d->bc->nodes.len;
  for (uint32_t i = 0; i < n; i++) {
    BcNode *node = &d->bc->nodes.data[i];
    for (int k = 0; k < 2; k++) {
      if (node->targets & 1 << k) {
        uint32_t unit = node->succ[k];
        if (unit >= d->bc->nunits || d->node_of[unit] == BC_NONE)
          bc_corrupt(d->cx, d->bc->code, "a jump goes to no instruction");
        node->succ[k] = d->node_of[unit];
        if (node->op == BC_for_iter)
          node->succ[k] = behind_end_for(d, node->succ[k]);
      }
      if (node->succ[k] >= n)
        node->succ[k] = BC_NONE;
    }
  }
}

/* 3.14 spells any, all and tuple of a generator expression out: COPY, LOAD_COMMON_CONSTANT, IS_OP
 * ask whether the name is still the builtin, and a loop follows; if it is not, the plain call, as
 * in other versions. Here it is always the call, which means the same. */
static void plain_consumers(BcCode *bc) {
  static const BcOp question[] = {BC_COPY, BC_common_constant, BC_IS_OP, BC_branch};
  enum { LENGTH = sizeof question / sizeof *question };
  BcNode *nodes = bc->nodes.data;
  for (uint32_t i = 0; i + LENGTH <= bc->nodes.len; i++) {
    uint32_t k = 0;
    while (k < LENGTH && nodes[i + k].op == question[k])
      k++;
    if (k < LENGTH || nodes[i].arg != 1 || nodes[i + 2].arg)
      continue;
    nodes[i].op = BC_jump;
    nodes[i].succ[0] = nodes[i + LENGTH - 1].succ[1];
  }
}

/* What the rest of this room relies on, about the code object itself. */
static void check_code(Cx *cx, const Code *code) {
  uint64_t params = (uint64_t)code->argcount + code->kwonlyargcount +
                    !!(code->flags & CODE_VARARGS) + !!(code->flags & CODE_VARKEYWORDS);
  if (!code->ops)
    bc_corrupt(cx, code, "its opcode table is missing");
  if (code->nbytes % 2 || !code->nbytes)
    bc_corrupt(cx, code, "its bytecode is empty or has an odd length");
  if (params > code->nlocalsplus || code->nfrees > code->nlocalsplus)
    bc_corrupt(cx, code, "it has fewer variables than parameters");
  for (uint32_t i = 0; i < code->nlocalsplus; i++)
    if (!code->localsplus[i])
      bc_corrupt(cx, code, "a variable has no name");
  for (uint32_t i = 0; i < code->nnames; i++)
    if (!code->names[i])
      bc_corrupt(cx, code, "a name is missing");
  for (uint32_t i = 0; i < code->nconsts; i++)
    if (!code->consts[i])
      bc_corrupt(cx, code, "a constant is missing");
  Loc loc = {.code = code,
             .line = code->firstlineno,
             .end_line = code->firstlineno,
             .col = -1,
             .end_col = -1};
  if (code->nbytes / 2 > MAX_UNITS || code->stacksize > MAX_UNITS || code->nlocalsplus > MAX_UNITS)
    fail(cx, loc, ERR_TOO_LARGE, code->qualname ? code->qualname : "?",
         "more than a million instructions or variables");
}

/* In the order of BcCommonValue. */
static void add_common_values(Cx *cx, BcCode *bc) {
  const Code *code = bc->code;
  const Frozen *values[] = {fz_none(cx), fz_bool(cx, true), fz_bool(cx, false), fz_str(cx, ""),
                            fz_int(cx, -1)};
  _Static_assert(sizeof values / sizeof *values == BC_NO_VALUE, "one each");
  bc->nconsts = code->nconsts + BC_NO_VALUE;
  const Frozen **all = CX_ARRAY(cx, const Frozen *, bc->nconsts);
  for (uint32_t k = 0; k < bc->nconsts; k++)
    all[k] = k < code->nconsts ? code->consts[k] : values[k - code->nconsts];
  bc->consts = all;
}

BcCode *bc_decode(Cx *cx, const Code *code) {
  check_code(cx, code);
  BcCode *bc = CX_NEW(cx, BcCode);
  bc->code = code;
  bc->ops = code->ops;
  bc->nunits = code->nbytes / 2;
  bc->locs = bc_lines(cx, code, bc->nunits);
  bc_handlers(cx, code, bc);
  add_common_values(cx, bc);
  Decoder d = {.cx = cx,
               .bc = bc,
               .version = code->ops->version,
               .node_of = CX_ARRAY(cx, uint32_t, bc->nunits)};
  VEC_RESERVE(&cx->arena, &bc->nodes, bc->nunits);
  memset(d.node_of, 0xFF, sizeof *d.node_of * bc->nunits);
  for (uint32_t at = 0; at < bc->nunits;)
    at = read_instruction(&d, at);
  resolve_targets(&d);
  plain_consumers(bc);
  bc_plain_asserts(cx, bc);
  return bc;
}

/* --- names, for the snapshot --- */

typedef struct NameSet {
  VEC(const char *) names;
  VEC(const Code *) codes; /* this one and, after it, those that it makes functions of */
} NameSet;

static void add_name(Cx *cx, NameSet *set, const char *name) {
  name = cx_intern(cx, name);
  for (uint32_t i = 0; i < set->names.len; i++)
    if (set->names.data[i] == name)
      return;
  VEC_PUSH(&cx->arena, &set->names, name);
}

static void add_code(Cx *cx, NameSet *set, const Code *code) {
  for (uint32_t i = 0; i < set->codes.len; i++)
    if (set->codes.data[i] == code)
      return;
  VEC_PUSH(&cx->arena, &set->codes, code);
}

const char *const *bc_global_names(Cx *cx, const Code *code) {
  NameSet set = {0};
  VEC_PUSH(&cx->arena, &set.codes, code);
  for (uint32_t k = 0; k < set.codes.len; k++) {
    const Code *c = set.codes.data[k];
    const BcCode *bc = bc_decode(cx, c);
    bool *seen = CX_ARRAY(cx, bool, c->nnames + 1);
    for (uint32_t i = 0; i < bc->nodes.len; i++) {
      const BcNode *n = &bc->nodes.data[i];
      if (n->op == BC_load_global && n->arg < c->nnames && !seen[n->arg] &&
          c->names[n->arg][0] != '@') { /* pytest's, asserts.c */
        seen[n->arg] = true;
        add_name(cx, &set, c->names[n->arg]);
      }
    }
    for (uint32_t i = 0; i < c->nconsts; i++)
      if (c->consts[i]->kind == FZ_CODE && c->consts[i]->code)
        add_code(cx, &set, c->consts[i]->code);
  }
  VEC_PUSH(&cx->arena, &set.names, NULL);
  return set.names.data;
}
