/* Registers: what setmaxregister_increase and _decrease do on the host. All threads of a warpgroup
 * ask for the same; an increase waits until the block's other warpgroups have left enough. */
#ifndef PYPTX_RUNTIME_HOST_REGISTERS_H
#define PYPTX_RUNTIME_HOST_REGISTERS_H

#include "runtime/host/waits.h"

/* A thread comes. *operand: what it asks for; what it waits for. */
RtMisuse rt_registers_come(RtPlace *p, uint32_t thread, uint64_t *operand);
bool rt_registers_are_there(RtPlace *p, uint64_t operand);
/* The values of the message of a thread that waits in vain; returns which message. */
uint32_t rt_registers_values(const RtPlace *p, uint64_t operand, int64_t out[RT_TRAP_VALUES]);
/* The block has ended. */
void rt_registers_end(RtPlace *p);

#endif
