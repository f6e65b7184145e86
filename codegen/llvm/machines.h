/* Machines: a cache of LLVM target machines between compilations, since creating one takes longer
 * than optimising a small kernel.
 *
 * A machine is used by one compilation at a time. State that it keeps of a finished one (sections,
 * mangled names) is rebuilt by LLVM for each module. */
#ifndef PYPTX_CODEGEN_LLVM_MACHINES_H
#define PYPTX_CODEGEN_LLVM_MACHINES_H

#include <llvm-c/TargetMachine.h>

/* Takes a machine with this key out of the cache; NULL: there is none. */
LLVMTargetMachineRef cg_machine_take(const char *key);
/* Puts a machine into the cache under its key; an older one may be disposed of, or the machine
 * itself if there is no memory. */
void cg_machine_leave(const char *key, LLVMTargetMachineRef machine);

#endif
