/* Host, between its files.
 *
 * A kernel is lowered as the function of one thread, `void SYMBOL.thread(launch, block, bx, by, bz,
 * tx, ty, tz, t)`; entry.c puts the loops over blocks and threads around it; jit.c makes machine
 * code of the module. */
#ifndef PYPTX_CODEGEN_HOST_HOST_H
#define PYPTX_CODEGEN_HOST_HOST_H

#include <stddef.h>

#include "codegen/llvm/cg.h"
#include "ir/registers.h"
#include "runtime/abi.h"

/* Parameters of the thread's function, and members of the struct by value that device functions get
 * (Target.context_type). */
typedef enum HostArg {
  HOST_LAUNCH, /* ptr: RtHostLaunch */
  HOST_BLOCK,  /* i64: linear number */
  HOST_BX,
  HOST_BY,
  HOST_BZ,
  HOST_TX,
  HOST_TY,
  HOST_TZ,     /* i32 */
  HOST_THREAD, /* i32: linear number in the block */
  HOST_NARGS
} HostArg;

/* Calls of this stand for the offset of the dynamic shared memory, i64, until all static arrays are
 * known. */
#define CG_HOST_DYNAMIC_NAME "pyptx.dynamic_offset"
enum { HOST_SHARED_ALIGN = 64 };

typedef struct HostState {
  LLVMValueRef thread; /* SYMBOL.thread, NULL if a device function is compiled alone */
  struct Loops *loops; /* entry.h: what the passes over it have found, NULL before the first */
} HostState;

void cg_host_arg_types(const Cg *cg, LLVMTypeRef types[HOST_NARGS]);
/* A field of an RtHostLaunch that never changes during a launch. */
LLVMValueRef cg_host_launch_field(Cg *cg, LLVMValueRef launch, LLVMTypeRef type, size_t offset);
/* The block's or the grid's size along an axis: a special register that is such a field. */
LLVMValueRef cg_host_size(Cg *cg, LLVMValueRef launch, SpecialReg r);

/* The function that stands for a barrier or meeting (fission/fission.h), NULL where the module has
 * none. */
LLVMValueRef cg_host_marker(const Cg *cg, const char *name);
/* Atomics that only one thread can see become plain: atomics.c. */
void cg_host_relax_atomics(Cg *cg);
/* Functions of the C library as code of the module: math.c. */
void cg_host_math(Cg *cg);
/* inline_barriers.c */
void cg_host_gather(Cg *cg, LLVMValueRef const markers[2], LLVMValueRef kernel);

/* thread_rows.c: the attribute for calls of a thread's code, or of that of so many times as
 * much. */
const char *cg_host_inlining(LLVMValueRef fn, unsigned times);

/* joined_blocks.c: makes the thread's function good for tx beyond its block, where that stands for
 * a thread of a block further along x; false if it cannot. */
bool cg_host_make_line(Cg *cg, LLVMValueRef thread);
/* Of such a function that is a loop by the grid's stride: makes it one turn, with the turn's begin,
 * a multiple of the stride, as HOST_BLOCK. Turns are to follow while blockIdx.x * blockDim.x plus
 * that is below the result, a value in the function of the launch alone (cg_host_compute). NULL if
 * it is none. */
LLVMValueRef cg_host_cut_stride(Cg *cg, LLVMValueRef thread);
/* The same value where the builder is. */
LLVMValueRef cg_host_compute(Cg *cg, LLVMValueRef thread, LLVMValueRef v, LLVMValueRef launch);

/* wrapped_indices.c: of a function that runs thread by thread. */
void cg_host_split_wraps(Cg *cg, LLVMValueRef f);

/* What is wanted of a row of threads. */
typedef struct HostRow {
  unsigned width;   /* lanes */
  bool segment;     /* of a segment: i32 */
  bool votes, next; /* to be gathered */
  bool one_result;  /* of all lanes (lanes/lanes.h) */
} HostRow;

/* f.row, see thread_rows.c. masked: lanes whose guards are masks, for where those of `lanes` have
 * not been the same; NULL if there are none. */
LLVMValueRef cg_host_row(Cg *cg, LLVMValueRef thread, LLVMValueRef lanes, LLVMValueRef masked,
                         const HostRow *how);
void cg_call_attribute(Cg *cg, LLVMValueRef call, const char *name);
/* Code that is seldom needed: small, in a function of its own. */
void cg_host_make_small(Cg *cg, LLVMValueRef fn);
/* An option of LLVM's for a loop, by its last branch; one that is not unrolled. */
void cg_mark_loop(Cg *cg, LLVMValueRef branch, const char *option);
void cg_leave_rolled(Cg *cg, LLVMValueRef branch);

/* safepoints.c: code that attends to what the runtime wants, where the builder is; and on the way
 * back of all loops that might not end. */
void cg_host_look_up(Cg *cg);
void cg_host_look_up_in_loops(Cg *cg);

/* Another machine for very long functions: target.c. */
void cg_host_choose_machine(Cg *cg);
/* Labels in long blocks, for the code generator's sake: long_blocks.c. */
void cg_host_divide_blocks(Cg *cg);
void cg_host_emit(Cg *cg);
/* Links object code, which it takes; cg->out has entry and imports, and gets jit and host.entry. */
void cg_host_link(Cg *cg, LLVMMemoryBufferRef object);
void cg_host_release(void *jit);

#endif
