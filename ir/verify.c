/* Verify: what every pass may assume of a function, and has to leave.
 *
 * Edges and predecessor lists agree, also where both edges of a branch lead to one block; a
 * terminator ends each block, and phis begin it, with an operand for each predecessor. An
 * operation has the operands and the stage that its row of ops.def allows. Each operand is made
 * where it dominates its use, that of a phi where it dominates the end of the predecessor: that is
 * what makes it SSA. Typed functions have a type for each value. That the types fit the operations
 * is typing's to check (ty_verify). Orders the blocks and finds dominators, as each analysis does.
 */
#include "ir/verify.h"

#include "ir/cfg.h"
#include "ir/print.h"

typedef struct Check {
  Cx *cx;
  const Fn *fn;
  const char *pass;
} Check;

#define REQUIRE(c, cond, ...)                                                                      \
  do {                                                                                             \
    if (!(cond))                                                                                   \
      cx_bug((c)->cx, "after %s: %s: %s", (c)->pass, (c)->fn->name,                                \
             arena_printf(&(c)->cx->arena, __VA_ARGS__));                                          \
  } while (0)

static void check_edges(Check *c, const Block *b) {
  REQUIRE(c, b->last && ins_is_term(b->last), "b%u has no terminator", b->id);
  int want = b->last->op == OP_BR ? 1 : b->last->op == OP_CONDBR ? 2 : 0;
  for (int n = 0; n < 2; n++) {
    REQUIRE(c, !b->succ[n] == (n >= want), "b%u: successors do not fit %s", b->id,
            ir_op_info[b->last->op].text);
    if (!b->succ[n])
      continue;
    uint32_t in = 0, out = 0;
    for (uint32_t k = 0; k < b->succ[n]->preds.len; k++)
      in += b->succ[n]->preds.data[k] == b;
    for (int m = 0; m < 2; m++)
      out += b->succ[m] == b->succ[n];
    REQUIRE(c, in == out, "b%u -> b%u: the predecessor list disagrees", b->id, b->succ[n]->id);
  }
}

static void check_ins(Check *c, const Block *b, const Ins *i, bool *phis) {
  const OpInfo *info = &ir_op_info[i->op];
  REQUIRE(c, i->block == b, "%%%u is not in its block", i->id);
  REQUIRE(c, !i->next || i->next->prev == i, "%%%u: broken list", i->id);
  REQUIRE(
      c, (int)i->nargs >= info->min_args && (info->max_args < 0 || (int)i->nargs <= info->max_args),
      "%%%u %s has %u operands", i->id, info->text, i->nargs);
  REQUIRE(c, info->stage & (c->fn->typed ? STAGE_T : STAGE_L),
          "%%%u: %s does not belong in this stage", i->id, info->text);
  REQUIRE(c, !ins_is_term(i) || !i->next, "%%%u: %s inside a block", i->id, info->text);
  if (i->op == OP_PHI) {
    REQUIRE(c, *phis, "%%%u: phi behind other instructions", i->id);
    REQUIRE(c, i->nargs == b->preds.len, "%%%u: phi with %u operands for %u predecessors", i->id,
            i->nargs, b->preds.len);
  } else {
    *phis = false;
  }
  REQUIRE(c, !c->fn->typed || i->type, "%%%u %s has no type", i->id, info->text);
}

/* Each operand's definition dominates its use; a phi's dominates the end of the predecessor. */
static void check_operands(Check *c, const Block *b, const Ins *i) {
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Ins *a = i->args[k];
    REQUIRE(c, a && a->block, "%%%u: operand %u is not in the function", i->id, k);
    REQUIRE(c, a->block->rpo != UINT32_MAX, "%%%u: operand %u is in a dead block", i->id, k);
    if (i->op == OP_PHI) {
      REQUIRE(c, ir_dominates(a->block, b->preds.data[k]),
              "%%%u: operand %u does not reach the edge", i->id, k);
      REQUIRE(c, !c->fn->typed || a->type == i->type, "%%%u: phi of %s takes %s", i->id,
              ty_name(c->cx, i->type), ty_name(c->cx, a->type));
    } else if (a->block == b) {
      REQUIRE(c, a->note < i->note, "%%%u: used before it is made", i->id);
    } else {
      REQUIRE(c, ir_dominates(a->block, b), "%%%u: operand %u does not dominate", i->id, k);
    }
  }
}

void ir_verify(Cx *cx, const Fn *fn, const char *pass) {
  Check c = {cx, fn, pass};
  ir_order(cx, (Fn *)(uintptr_t)fn);
  ir_dominators(cx, (Fn *)(uintptr_t)fn);
  uintptr_t position = 1;
  FOR_BLOCKS (fn, b) {
    bool phis = true;
    check_edges(&c, b);
    FOR_INS (b, i) {
      check_ins(&c, b, i, &phis);
      i->note = (void *)position++; /* order, for check_operands */
    }
  }
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      check_operands(&c, b, i);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      i->note = NULL;
}
