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
/* elements.c: an access in messages, the values of its holes (returns how many), an array's name
 * (NULL: it has none). */
const char *cg_host_element_text(Lower *lw, const Ins *i);
unsigned cg_host_element_values(Lower *lw, const Ins *i, LLVMValueRef values[RT_TRAP_VALUES]);
const char *cg_host_array_name(Lower *lw, const Ins *array);
/* relaxed_reads.c: may this load be beside atomic operations of other threads? */
bool cg_host_is_relaxed(Lower *lw, const Ins *load);
bool cg_host_is_same_element(const Ins *a, const Ins *b); /* of two accesses, for certain */
/* inputs.c: at the kernel's beginning; and an i1 in any function: does no thread of the launch
 * write to the memory that this load reads? NULL: that is not known. */
void cg_host_find_apart(Lower *lw);
LLVMValueRef cg_host_is_input(Lower *lw, const Ins *load);
/* Is this one of the kernel's array parameters that are such, on whatever way it came here? */
struct ArrayParam;
bool cg_host_comes_from(const Cg *cg, const Ins *array, bool (*is)(const struct ArrayParam *a));
void cg_host_check_before(Lower *lw, Ins *i);
void cg_host_check_after(Lower *lw, Ins *i);

#endif
