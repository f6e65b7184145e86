/* Checks: code that notes accesses, fences and ends of threads for the runtime (host/check.h), and
 * tests results of arithmetic. */
#ifndef PYPTX_CODEGEN_HOST_CHECKS_H
#define PYPTX_CODEGEN_HOST_CHECKS_H

#include "codegen/host/host.h"
#include "codegen/lower/lower.h"

/* target.c: an argument of the thread's function, in any function. */
LLVMValueRef cg_host_arg(Lower *lw, HostArg a);
/* A site at the instruction that is being lowered, whose text is `what`. */
uint32_t cg_host_check_site(Lower *lw, const char *what);
void cg_host_check_before(Lower *lw, Ins *i);
void cg_host_check_after(Lower *lw, Ins *i);

#endif
