/* Host: what its files share.
 *
 * A kernel is lowered as the function of one thread, `void SYMBOL.thread(launch, block, bx, by, bz,
 * tx, ty, tz, t)`. entry.c puts the loops over blocks and threads around it; jit.c turns the module
 * into machine code. */
#ifndef PYPTX_CODEGEN_HOST_HOST_H
#define PYPTX_CODEGEN_HOST_HOST_H

#include <stddef.h>

#include "codegen/llvm/cg.h"
#include "ir/fn.h"
#include "ir/registers.h"
#include "runtime/abi.h"

/* Parameters of the thread's function, and members of the struct that device functions receive by
 * value (Target.context_type). */
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
  HOST_NARGS,
  /* i1, a member of the struct only, of checked code: inputs.c */
  HOST_APART = HOST_NARGS
} HostArg;

/* A marker for the offset of dynamic shared memory (i64), which is known once all static arrays
 * are. */
#define CG_HOST_DYNAMIC_NAME "pyptx.dynamic_offset"
enum { HOST_SHARED_ALIGN = 64 };

typedef struct HostState {
  uint32_t dynamic_align; /* of dynamic shared memory, what its arrays ask for */
  LLVMValueRef thread;    /* SYMBOL.thread, NULL if a device function is compiled alone */
  struct Loops *loops;    /* entry.h: what the passes have found so far, NULL before the first */
  LLVMValueRef apart;     /* inputs.c: in the kernel's function; NULL: never */
  const Fn *looked_at;    /* whose relaxed reads these are (relaxed_reads.c) */
  VEC(const Ins *) relaxed;
  struct OrderSites *order_sites; /* checks.c: of places that use shared memory */
} HostState;

void cg_host_arg_types(const Cg *cg, LLVMTypeRef types[HOST_NARGS]);
/* A field of an RtHostLaunch that never changes during a launch. */
LLVMValueRef cg_host_launch_field(Cg *cg, LLVMValueRef launch, LLVMTypeRef type, size_t offset);
/* While code is lowered: a parameter of the thread; a call of the meetings' marker
 * (fission/fission.h), of which operands that the kind lacks are NULL; what a row of
 * ir/instructions.def does (instructions.c). */
struct Lower;
struct Ins;
LLVMValueRef cg_host_arg(struct Lower *lw, HostArg a);
LLVMValueRef cg_host_meeting(struct Lower *lw, RtMeetKind kind, uint32_t site, LLVMValueRef mask,
                             LLVMValueRef value, LLVMValueRef lane);
void cg_host_instruction(struct Lower *lw, struct Ins *i);
/* warpgroup.c: cuda.wgmma */
void cg_host_warpgroup(struct Lower *lw, struct Ins *i);
/* copies.c: mbarriers and asynchronous copies; false: it is none. */
bool cg_host_copy(struct Lower *lw, struct Ins *i);
/* The block's or the grid's size along an axis: a special register that is such a field. */
LLVMValueRef cg_host_size(Cg *cg, LLVMValueRef launch, SpecialReg r);
/* Is the instruction a load of it? */
bool cg_host_is_size(LLVMValueRef launch, LLVMValueRef load, SpecialReg r);

/* The marker of barriers or of other meetings (fission/fission.h); NULL if the module has no call
 * of it. */
LLVMValueRef cg_host_marker(const Cg *cg, const char *name);
/* atomics.c: atomics that only one OS thread can see become loads and stores. */
void cg_host_relax_atomics(Cg *cg);
/* Of a minimum or a maximum: the comparison of its operand with what is there that holds if it
 * changes that; 0: it is none of these. */
LLVMIntPredicate cg_host_changes_if(LLVMValueRef atomic);
void cg_host_load_fields_once(Cg *cg);
/* own_sums.c: is the memory of this sum the worker's own? (Target.own_sum); and what the runtime
 * has to know for that. */
LLVMValueRef cg_host_own_sum(struct Lower *lw);
void cg_host_describe_sums(Cg *cg);
/* Where the array's fields are in the parameter block; false: not all of them are there. */
struct Params;
struct ArrayParam;
bool cg_host_describe_array(const struct Params *p, const struct ArrayParam *a, RtHostArray *out);
/* math.c: calls of the C library's functions become code of the module. */
void cg_host_math(Cg *cg);
/* inline_barriers.c: all calls of the markers end up in the kernel's own function. */
void cg_host_inline_barriers(Cg *cg, LLVMValueRef const markers[2], LLVMValueRef kernel);

/* thread_rows.c: has the grid more than one axis? Then each of its rows has edges. */
bool cg_host_has_rows(LLVMValueRef thread);
/* The attribute (alwaysinline, noinline) for calls of a thread's function, or of one with so many
 * times as much code. */
const char *cg_host_inlining(LLVMValueRef fn, unsigned times);

/* joined_blocks.c: changes the thread's function so that a tx beyond its block means a thread of a
 * later block along x; false if that is not possible. */
bool cg_host_join_blocks(Cg *cg, LLVMValueRef thread);
/* Of such a function: is a launch of more blocks along x, in proportion less wide, the same to
 * it? */
bool cg_host_has_parts(Cg *cg, LLVMValueRef thread);
/* Of such a function that is a grid-stride loop: reduces it to one iteration, whose offset, a
 * multiple of the stride, is passed as HOST_BLOCK. The caller iterates while blockIdx.x *
 * blockDim.x plus that offset is below the result, a value in the function that depends on the
 * launch alone (cg_host_compute). NULL if it is no such loop. */
LLVMValueRef cg_host_cut_stride(Cg *cg, LLVMValueRef thread);
/* Computes that value at the builder's position, in another function. */
LLVMValueRef cg_host_compute(Cg *cg, LLVMValueRef thread, LLVMValueRef v, LLVMValueRef launch);

/* early_signs.c: signs of indices before the first note of an access, in checked code. */
void cg_host_ask_signs_early(Cg *cg, LLVMValueRef thread);
/* wrapped_indices.c: bounds checks in two steps, in a function that runs thread by thread. */
void cg_host_split_wraps(Cg *cg, LLVMValueRef f);
/* A bounds check as lowering writes it, at the end of a block: of x, or if x is negative of x + n,
 * which is below n. */
typedef struct HostCheck {
  LLVMBasicBlockRef block, ok, stop;
  LLVMValueRef x, n, index, test; /* index: x itself where it is known not to be negative */
} HostCheck;
bool cg_host_find_check(LLVMBasicBlockRef block, HostCheck *check);
/* sure_ranges.c: loops without the checks that hold throughout, in such a function. */
void cg_host_version_ranges(Cg *cg, LLVMValueRef f);
void cg_host_version_rows(Cg *cg); /* of the entry */

/* inner_rows.c: of a row, by numbers from its first thread on, the threads that have anything to
 * do, the vectors of inner threads, and those of inner ones and others that have nothing to do. */
typedef struct InnerRow InnerRow;
typedef struct InnerSpans {
  LLVMValueRef first, end;             /* first: of a vector */
  LLVMValueRef inner_first, inner_end; /* of vectors; the same if there are none */
  LLVMValueRef sure_first, sure_end;   /* of vectors; sure_end: UINT32_MAX: to `end` */
  LLVMValueRef busy[2];                /* i64, what InnerRow.ends gets */
  LLVMValueRef all;                    /* i1: threads begin to stop are inner ones, and others */
  LLVMValueRef begin, stop;            /* have nothing to do */
} InnerSpans;
/* At the builder's position. */
InnerSpans cg_host_inner_spans(Cg *cg, const InnerRow *row, LLVMValueRef const *args,
                               LLVMValueRef count, unsigned width);

/* How a row of threads is to run. */
typedef struct HostRow {
  unsigned width;   /* lanes */
  bool segment;     /* it is a segment's: each thread returns an i32 */
  bool votes, next; /* which parts of these results are to be collected */
  bool one_result;  /* the result of lanes is uniform (lanes/lanes.h) */
  bool guarded;     /* threads beyond the row's end do nothing */
  const InnerRow *inner_row;
  LLVMValueRef inner; /* the version of `lanes` for its inner threads; NULL: there is none */
  LLVMValueRef ends;  /* with `inner`: that for the vectors at the ends of these; may be NULL */
  bool bounded;       /* guards say which are inner threads; these versions begin at any thread */
} HostRow;

/* f.row, see thread_rows.c. masked: a version of `lanes` in which guards are masks, called where
 * those of `lanes` are not uniform; NULL if there is none. */
LLVMValueRef cg_host_row(Cg *cg, LLVMValueRef thread, LLVMValueRef lanes, LLVMValueRef masked,
                         const HostRow *how);
/* The same by `wide`, lanes of how->width threads, where these run alike, else by `row`. */
LLVMValueRef cg_host_wide_row(Cg *cg, LLVMValueRef thread, LLVMValueRef wide, LLVMValueRef row,
                              const HostRow *how);
void cg_call_attribute(Cg *cg, LLVMValueRef call, const char *name);
/* Compiles fn for size, and never inlines it: code that is seldom needed. */
void cg_host_make_small(Cg *cg, LLVMValueRef fn);
/* Sets one of LLVM's options for the loop of this back edge; the second forbids unrolling. */
void cg_mark_loop(Cg *cg, LLVMValueRef branch, const char *option);
void cg_leave_rolled(Cg *cg, LLVMValueRef branch);

/* safepoints.c: writes a safepoint at the builder's position, with the site of a thread that is
 * there, an i32, or NULL; and one on the back edges of each loop that might not end. */
void cg_host_write_safepoint(Cg *cg, LLVMValueRef site);
void cg_host_add_safepoints(Cg *cg);
/* division_guards.c: in the module after LLVM's passes. */
void cg_host_guard_divisions(Cg *cg);
void cg_host_guard_conversions(Cg *cg); /* conversion_guards.c: the same */
void cg_host_mark_choices(Cg *cg);      /* even_choices.c: the same */
void cg_host_widen_masks(Cg *cg);       /* wide_masks.c: the same */
void cg_host_order_stores(Cg *cg);      /* store_order.c: the same */

/* target.c: another target machine for very long functions. */
void cg_host_choose_machine(Cg *cg);
/* long_blocks.c: labels in long blocks, which bound the code generator's time. */
void cg_host_divide_blocks(Cg *cg);
void cg_host_emit(Cg *cg);
/* Links object code, and takes ownership of it. In: cg->out's entry and imports; out: its jit and
 * host.entry. */
void cg_host_link(Cg *cg, LLVMMemoryBufferRef object);
void cg_host_release(void *jit);

#endif
