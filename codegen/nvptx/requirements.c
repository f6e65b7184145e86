/* Requirements: which architecture and which PTX version the instructions of a program need.
 *
 * In: the request's architecture and typed SSA. Out: NvptxState.arch and .least_ptx, or an error at
 * the instruction that the architecture, or the PTX version that the driver takes, lacks. An
 * instruction of sm_90a alone makes sm_90 into sm_90a: that code runs on no other architecture. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "ir/instructions.h"

bool cg_nvptx_has_letter(const char *arch, char letter) { return arch[strlen(arch) - 1] == letter; }

/* The instruction as the user has written it. */
static const char *called(const Cg *cg, const Ins *i, const InstructionInfo *row) {
  return row->id == INTR_NONE ? arena_printf(&cg->cx->arena, "%s in this text", row->ptx)
                              : arena_printf(&cg->cx->arena, "%s (%s)",
                                             ir_intrinsics[i->aux.intrinsic].path, row->ptx);
}

static void lacks(Cg *cg, const Ins *i, const InstructionInfo *row, const char *what,
                  const char *have) {
  fail(cg->cx, i->loc, ERR_ARCH_LACKS, called(cg, i, row), what, have);
}

static void need(Cg *cg, const Ins *i, const InstructionInfo *row) {
  NvptxState *s = cg->target_state;
  const char *asked = cg->request->arch;
  int number = cg_nvptx_arch_number(cg), limit = cg->request->ptx_version;
  bool alone = cg_nvptx_has_letter(row->arch, 'a'); /* these architectures; no later one */
  const char *with_letter = arena_printf(&cg->cx->arena, "sm_%da", number);
  if (alone ? !strstr(row->arch, with_letter) : number < atoi(row->arch + 3))
    lacks(cg, i, row,
          alone ? row->arch : arena_printf(&cg->cx->arena, "%s or a newer architecture", row->arch),
          asked);
  if (limit && limit < row->version)
    lacks(cg, i, row,
          arena_printf(&cg->cx->arena, "PTX %d.%d", row->version / 10, row->version % 10),
          arena_printf(&cg->cx->arena, "PTX %d.%d", limit / 10, limit % 10));
  if (alone && !cg_nvptx_has_letter(asked, 'f'))
    s->arch = with_letter;
  s->least_ptx = s->least_ptx < row->version ? row->version : s->least_ptx;
}

/* Of 8-bit floats mma.sync is newer than of others, and newer still in other forms than m16n8k32
 * with sums in float32. */
static const InstructionInfo mma_of_float8[] = {
    {.id = INTR_MMA_SYNC, .ptx = "mma.sync of 8-bit floats", .arch = "sm_89", .version = 84},
    {.id = INTR_MMA_SYNC,
     .ptx = "mma.sync of 8-bit floats, m16n8k16 or with sums in float16",
     .arch = "sm_89",
     .version = 87}};

static const InstructionInfo *multiplies_float8(const Ins *i) {
  if (i->op != OP_INTRINSIC || i->aux.intrinsic != INTR_MMA_SYNC ||
      !ty_is_float8(i->args[0]->type->elems[0]->id))
    return NULL;
  return &mma_of_float8[i->args[0]->type->n == 8 || i->type->elems[0]->id == TY_F16];
}

/* The mapping of an array that another instruction of the same call begins with, st_async for one:
 * that needs no less, and has the name that the user wrote. */
static bool is_a_part(const Fn *fn, const Ins *map) {
  if (map->op != OP_INTRINSIC || map->aux.intrinsic != INTR_CLUSTER_MAP)
    return false;
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      if (i->op == OP_INTRINSIC && i->aux.intrinsic != INTR_CLUSTER_MAP &&
          !memcmp(&i->loc, &map->loc, sizeof i->loc) && ir_instruction(i->aux.intrinsic))
        return true;
  return false;
}

void cg_nvptx_require(Cg *cg) {
  NvptxState *s = cg->target_state;
  s->arch = cg->request->arch;
  for (uint32_t k = 0; cg->program && k < cg->program->fns.len; k++)
    FOR_BLOCKS (cg->program->fns.data[k], b)
      FOR_INS (b, i) {
        const InstructionInfo *row = i->op == OP_INTRINSIC ? ir_instruction(i->aux.intrinsic)
                                                           : NULL;
        if (row && !is_a_part(cg->program->fns.data[k], i))
          need(cg, i, row);
        if ((row = multiplies_float8(i)))
          need(cg, i, row);
        if (i->op == OP_CALL_C && i->aux.frozen->kind == FZ_STR)
          while ((row = ir_instruction_in(i->aux.frozen->text, row)))
            need(cg, i, row);
      }
}
