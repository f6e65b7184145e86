/* Values: the type of every value of a lifted function, as text, before it is rewritten. Who
 * compares the types that two typings give (`pyptx port`) reads it.
 *
 * A line "func NAME FILE RESULT", then one for each instruction that control can reach: its number,
 * line, column, last line and column (from 0, in bytes), operation, variable, type, and the numbers
 * of its operands, with tabs between. A comparison has the type in which it compares. */
#include "ir/base/buf.h"
#include "typeinfer/engine/engine.h"
#include "typeinfer/value/promote.h"
#include "typeinfer/value/value.h"

static const Type *type_of(Ty *ty, const Ins *i) {
  const Type *own = ty_info(ty, i)->v.type;
  if (i->op < OP_LT || i->op > OP_GE || i->nargs != 2)
    return own;
  const Type *a = ty_info(ty, i->args[0])->v.type, *b = ty_info(ty, i->args[1])->v.type;
  if (!a || !b || !ty_is_number(a) || !ty_is_number(b))
    return own;
  TyOp types = ty_op_types(ty->cx->typing, (Op)i->op, a->id, b->id);
  return types.ok && types.left == types.right ? ty_id(ty, types.left) : own;
}

static void put_ins(Ty *ty, Buf *out, const Ins *i) {
  const Type *t = type_of(ty, i);
  const Loc *at = &i->loc;
  const char *name = i->op == OP_PHI ? i->aux.name : i->name;
  buf_printf(out, "%u\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t", i->id, (int)at->line, (int)at->col,
             (int)at->end_line, (int)at->end_col, ir_op_info[i->op].text, name ? name : "",
             t ? ty_name(ty->cx, t) : "");
  for (uint32_t k = 0; k < i->nargs; k++)
    buf_printf(out, "%s%u", k ? " " : "", i->args[k]->id);
  buf_printf(out, "\n");
}

void ty_list_values(Ty *ty) {
  Buf *out = &ty->cx->values;
  if (!out->arena)
    return;
  const Type *result = ty->spec->result;
  buf_printf(out, "func\t%s\t%s\t%s\n", ty->fn->name, ty->fn->source->code->filename,
             result ? ty_name(ty->cx, result) : "");
  FOR_BLOCKS (ty->fn, b) {
    if (!(ty->spec->taken[b->id] & BLOCK_REACHED))
      continue;
    FOR_INS (b, i)
      put_ins(ty, out, i);
  }
}
