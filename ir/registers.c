/* Special registers: the rows. */
#include "ir/registers.h"

#define S(ID, ptx, path, kind, rule, of, least, most, host, doc)                                   \
  _Static_assert((int)INTR_##ID - (int)INTR_TID_X == (int)SREG_##ID,                               \
                 "intrinsics.def has the registers in the order of registers.def");                \
  _Static_assert((least) >= 0 && (least) <= (most) && (most) <= UINT32_MAX, "of 32 bits");
#include "ir/registers.def"
#undef S

#define THREE_AXES(R)                                                                              \
  _Static_assert(SREG_##R##_Y == SREG_##R##_X + 1 && SREG_##R##_Z == SREG_##R##_X + 2,             \
                 "the axes of a register follow each other");
THREE_AXES(TID)
THREE_AXES(CTAID)
THREE_AXES(NTID)
THREE_AXES(NCTAID)

const RegisterInfo ir_registers[SREG_COUNT] = {
#define S(ID, ptx, path, kind, rule, of, least, most, host, doc)                                   \
  [SREG_##ID] = {ptx, SCOPE_##of, least, most},
#include "ir/registers.def"
#undef S
};

bool ir_register_bounds(IntrinsicId id, int64_t *least, int64_t *most) {
  int r = (int)id - (int)INTR_TID_X;
  if (r < 0 || r >= SREG_COUNT)
    return false;
  *least = ir_registers[r].least;
  *most = ir_registers[r].most;
  return true;
}
