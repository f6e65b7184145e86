/* Special registers: ids and rows of ir/registers.def. */
#ifndef PYPTX_IR_REGISTERS_H
#define PYPTX_IR_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/intrinsics.h"

typedef enum SpecialReg {
#define S(ID, ptx, path, kind, rule, of, least, most, host, doc) SREG_##ID,
#include "ir/registers.def"
#undef S
  SREG_COUNT,
  SREG_NONE = -1,
  /* the first of three: ir_register_at has the others */
  SREG_TID = SREG_TID_X,
  SREG_CTAID = SREG_CTAID_X,
  SREG_NTID = SREG_NTID_X,
  SREG_NCTAID = SREG_NCTAID_X
} SpecialReg;

/* In what a register is the same everywhere; LANE: as THREAD, and which thread has which value is
 * the warp's own. */
typedef enum RegisterScope { SCOPE_LAUNCH, SCOPE_BLOCK, SCOPE_THREAD, SCOPE_LANE } RegisterScope;

typedef struct RegisterInfo {
  const char *ptx;
  RegisterScope of;
  int64_t least, most;
} RegisterInfo;

extern const RegisterInfo ir_registers[SREG_COUNT];

static inline SpecialReg ir_register_at(SpecialReg of_x, unsigned axis) {
  return (SpecialReg)((unsigned)of_x + axis);
}

/* The values that this intrinsic can have; false, and nothing is set, if it reads no special
 * register. */
bool ir_register_bounds(IntrinsicId id, int64_t *least, int64_t *most);

#endif
