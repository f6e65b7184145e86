/* Machines: target machines that one compilation leaves to the next. LLVM takes longer to make one
 * than to optimise a small kernel.
 *
 * A machine is used by one compilation at a time. What it holds of a finished one (sections,
 * mangled names) LLVM makes anew for each module. */
#ifndef PYPTX_CODEGEN_LLVM_MACHINES_H
#define PYPTX_CODEGEN_LLVM_MACHINES_H

#include <llvm-c/TargetMachine.h>

/* The machine that was left under this key; NULL: there is none. */
LLVMTargetMachineRef cg_machine_take(const char *key);
/* Leaves a machine under its key, or disposes of it where enough are there. */
void cg_machine_leave(const char *key, LLVMTargetMachineRef machine);

#endif
