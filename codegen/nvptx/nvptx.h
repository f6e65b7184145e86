/* NVPTX: what its files share. */
#ifndef PYPTX_CODEGEN_NVPTX_NVPTX_H
#define PYPTX_CODEGEN_NVPTX_NVPTX_H

#include "codegen/lower/lower.h"

/* address spaces; 0 is generic */
enum { NVPTX_GLOBAL = 1, NVPTX_SHARED = 3, NVPTX_CONSTANT = 4, NVPTX_LOCAL = 5, NVPTX_CLUSTER = 7 };

typedef struct NvptxState {
  LLVMValueRef dynamic, trap, grid_barrier; /* made when first needed */
  uint64_t constant_bytes;                  /* of constant memory in use */
  unsigned nglobals;                        /* for names */
  /* what the program's instructions need (requirements.c): the request's architecture, or that with
   * the letter a; a version of PTX, or 0 */
  const char *arch;
  int least_ptx;
  bool warpgroups; /* it has matrix operations of warpgroups */
} NvptxState;

int cg_nvptx_arch_number(const Cg *cg); /* 90 for sm_90a */

bool cg_nvptx_has_letter(const char *arch, char letter); /* sm_90a has an a */
/* requirements.c: what the instructions of the program need, or ERR_ARCH_LACKS. */
void cg_nvptx_require(Cg *cg);
static inline const char *cg_nvptx_arch(const Cg *cg) {
  return ((const NvptxState *)cg->target_state)->arch;
}

/* --- target.c --- */

/* Is it a parameter that is an array's extent? Those have a range, 0 to 2**31 - 1. */
bool cg_nvptx_is_extent(LLVMValueRef v);

/* Inline assembly without operands. effects: it must not be moved or removed. */
LLVMValueRef cg_nvptx_asm(Lower *lw, LLVMTypeRef result, const char *code, const char *constraints,
                          bool effects);
/* A Lower at the entry block of fn, which gets the attributes (NULL-terminated). The caller
 * disposes of its builder. */
Lower cg_nvptx_open_function(Lower *lw, LLVMValueRef fn, const char *const *attributes);
LLVMValueRef cg_nvptx_trap_address(Lower *lw);
LLVMValueRef cg_nvptx_grid_address(Lower *lw);

/* float8.c: Target.float8_to_float, float_to_float8 */
LLVMValueRef cg_nvptx_float8_to_float(Lower *lw, LLVMValueRef v, TypeId id);
LLVMValueRef cg_nvptx_float_to_float8(Lower *lw, LLVMValueRef v, TypeId id);

/* contract_doubles.c: t + t + c as fma(t, 2, c), where contraction is allowed; after LLVM's
 * passes. */
void cg_nvptx_double(Cg *cg);

/* kept_products.c: products that something else than sums reads, too, are contracted with nothing;
 * after LLVM's passes. */
void cg_nvptx_keep_products(Cg *cg);

/* square_root.c: float32 roots without slow paths, where the argument's range allows it; after
 * LLVM's passes, with IEEE arithmetic. */
void cg_nvptx_roots(Cg *cg);

/* if_conversion.c: short sides of branches as selections; before LLVM's passes, and after them. */
void cg_nvptx_convert_ifs(Cg *cg);
void cg_nvptx_convert_late_ifs(Cg *cg);

/* switches.c: choices by a number as comparisons; after LLVM's passes. */
void cg_nvptx_switches(Cg *cg);

/* guarded_quotients.c: quotients behind equal branches are computed once; after LLVM's passes. */
void cg_nvptx_guarded_quotients(Cg *cg);

/* rounded.c: clamps and float32 of int64 numbers that were floats; after LLVM's passes. */
void cg_nvptx_rounded(Cg *cg);
void cg_nvptx_unroll_rounded(Cg *cg);        /* rounded_loops.c */
bool cg_nvptx_is_conversion(LLVMValueRef i); /* of a float to an int64 */
/* The conversion of a float to an int64 that v selects, with 0 for nan; NULL: v is no such. */
LLVMValueRef cg_nvptx_converted(LLVMValueRef v);
/* What v selects, with 0 for nan, where that is 0 for nan by itself; else NULL. */
LLVMValueRef cg_nvptx_zero_of_nan(LLVMValueRef v);

/* hidden.c: the letter of a value as an operand of inline assembly; 0: of no such type. A value of
 * a type with a letter, or i1, by another name, through which the code generator does not see. */
char cg_nvptx_letter_of(const Cg *cg, LLVMValueRef v);
LLVMValueRef cg_nvptx_hidden(Cg *cg, LLVMValueRef v);

/* wide_accesses.c: is it so in all threads of the warp that are here? */
LLVMValueRef cg_nvptx_in_all(Cg *cg, LLVMBuilderRef b, LLVMValueRef condition);

/* hoist.c: what the loop around a new block does not change, in front of the loop. */
void cg_nvptx_hoist(Cg *cg, LLVMBasicBlockRef block);

/* index_bounds.c: variables of 64 bits that indices made of them bound, in 32. */
void cg_nvptx_index_bounds(Cg *cg);
/* low_halves.c: 64-bit integers of which only the low half is used, in 32 bits. */
void cg_nvptx_low_halves(Cg *cg);
/* bounded_phis.c: variables that the conditions of their loop bound, in 32 bits. */
void cg_nvptx_bounded_phis(Cg *cg);
/* Loads side by side at several places that were read. */
void cg_nvptx_near_indices(Cg *cg);
/* leave_early.c: threads without work leave in front of what only the others need. */
void cg_nvptx_leave_early(Cg *cg);
/* place_versions.c: accesses behind branches at constants from a place that was read. */
void cg_nvptx_place_versions(Cg *cg);

/* short_indices.c: 64-bit positions that a loop takes from memory, in 32 bits; after LLVM's
 * passes. */
void cg_nvptx_short_indices(Cg *cg);
/* walk_versions.c: loops that walk forwards from a position that was read in two versions. */
void cg_nvptx_walk_versions(Cg *cg);
/* May code with this instruction be written twice? Not what threads do together. */
bool cg_nvptx_may_be_twice(const Cg *cg, LLVMValueRef i);
/* word_phis.c: words of narrow elements that a loop carries, as phis of words; after LLVM's
 * passes. */
void cg_nvptx_words(Cg *cg);

/* short_extremes.c: minima, maxima and loop variables of 8 and 16 bits, in 32 bits; after
 * coarsening. */
void cg_nvptx_short_extremes(Cg *cg);

/* small_numbers.c: integers that 32 bits hold, in 32 bits; after coarsening. */
void cg_nvptx_small_numbers(Cg *cg);
/* A phi of 64 bits, of values that int32 holds where they come to it, in 32 bits. */
LLVMValueRef cg_nvptx_phi_in_32_bits(Cg *cg, LLVMValueRef phi);

/* warp_steps.c: reductions of a warp as redux.sync, and scans by the predicates of their shuffles;
 * after coarsening. */
void cg_nvptx_warp_steps(Cg *cg);

/* extremes.c: minima and maxima of float32 as one instruction each; after coarsening. */
void cg_nvptx_extremes(Cg *cg);

/* row_pointers.c: induction pointers for accesses that walk a matrix row by row; right before code
 * generation. */
void cg_nvptx_rows(Cg *cg);

/* differences.c: x - (k + 1) as a distance from x - k; right before code generation. */
void cg_nvptx_differences(Cg *cg);
/* vector_counters.c: counters that are added to under predicates, in registers of each thread. */
void cg_nvptx_vector_counters(Cg *cg);
/* 0, of which ptxas knows nothing, at the end of the function's first block. */
LLVMValueRef cg_nvptx_hidden_zero(Cg *cg, LLVMValueRef f);
/* parity.c: whether a count of the ones of 64 bits is odd, by 32 bits. */
void cg_nvptx_parity(Cg *cg);
/* apart.c: arrays lie apart, of which launches make sure. */
void cg_nvptx_apart(Cg *cg);
/* chosen_steps.c: steps of loops that are chosen in front of them, in registers. */
void cg_nvptx_chosen_steps(Cg *cg);

/* row_distances.c: addresses that are rows or layers apart as distances from one another; right
 * before code generation. */
void cg_nvptx_row_distances(Cg *cg);

/* local_unroll.c: loops over small local arrays, unrolled so that the arrays become registers;
 * between the two parts of LLVM's passes. */
void cg_nvptx_local_unroll(Cg *cg);
/* Are there loops of loops with a barrier, as of a sorting network? */
bool cg_nvptx_has_networks(const Cg *cg);

/* pair_places.c: indices of a pair's lower place, 2 * t - (t & mask) - stride, not wrapped. */
void cg_nvptx_pair_places(Cg *cg);

/* registers.c: whether launches take more registers than ptxas gives the kernel. */
void cg_nvptx_choose_registers(Cg *cg);

/* local_registers.c: small local arrays become registers although some indices vary. */
void cg_nvptx_local_registers(Cg *cg);
/* reciprocals.c: 64-bit divisions of a loop by the same number; after LLVM's passes. */
void cg_nvptx_reciprocals(Cg *cg);
/* predicated.c: float64 operations under conditions; right before code generation. */
void cg_nvptx_predicated(Cg *cg);
void cg_nvptx_loads_first(Cg *cg);
/* late_loads.c: what a long loop does not change, loaded where it is used. */
void cg_nvptx_late_loads(Cg *cg);
/* loads_ahead.c: loads of several iterations in front of the stores that they may pass, and of slow
 * operations behind conditions. */
void cg_nvptx_loads_ahead(Cg *cg);
/* passed_stores.c: loads in front of stores that may be to the same place. */
void cg_nvptx_passed_stores(Cg *cg);
/* late_stores.c: stores of loops behind the loads that follow them, of arrays that lie apart. */
void cg_nvptx_late_stores(Cg *cg);
/* sum_comparisons.c: sums of two 32-bit numbers that are compared in 64 bits, in 32. */
void cg_nvptx_sum_comparisons(Cg *cg);
/* magnitudes.c: abs(x - y) > reach in loops as one comparison without a sign. */
void cg_nvptx_magnitudes(Cg *cg);
/* loop_bounds.c: comparisons with bounds of 64 bits, in 32; before code is emitted. */
void cg_nvptx_loop_bounds(Cg *cg);
/* exit_latches.c: loops that both their ends leave; before rotation. */
void cg_nvptx_exit_latches(Cg *cg);
bool cg_nvptx_has_exit_latches(const Cg *cg);
/* alternating.c: loops in which something comes back; before unrolling. */
void cg_nvptx_alternating(Cg *cg);
bool cg_nvptx_may_alternate(const Cg *cg);
/* sum_counters.c: loops that count by what they use of the counter. */
void cg_nvptx_sum_counters(Cg *cg);
/* closed_ranges.c: loops compare their counter as it is behind the step. */
void cg_nvptx_closed_ranges(Cg *cg);
/* early_ors.c: a condition that any of many comparisons meets, known after each of them. */
void cg_nvptx_early_ors(Cg *cg);
/* elif_updates.c: updates behind elif, each by a condition of its own. */
void cg_nvptx_elif_updates(Cg *cg);
/* wide_accesses.c: neighbouring elements of a thread in one access, where addresses allow it. */
void cg_nvptx_wide_accesses(Cg *cg);
/* wide_rows.c: the same of rows that loops read; after wide_accesses.c. */
void cg_nvptx_wide_rows(Cg *cg);
/* Is v a thread's index in its block, or its number in its warp? */
bool cg_nvptx_is_thread(LLVMValueRef v);
/* own_elements.c: a thread's own element of a shared array as a register; before unrolling. */
void cg_nvptx_own_elements(Cg *cg);
/* equal_calls.c: equal calls of libdevice's functions are one; before it is linked. */
void cg_nvptx_equal_calls(Cg *cg);
void cg_nvptx_sine_pairs(Cg *cg);
/* short_shuffles.c: shuffles of 64-bit numbers that fit 32 bits; after LLVM's passes. */
void cg_nvptx_short_shuffles(Cg *cg);
/* local_guards.c: loads of local arrays in front of a condition that was loaded. */
void cg_nvptx_local_guards(Cg *cg);

/* array_bases.c: in loops over many arrays, addresses that begin with parameters, not with elements
 * in front of the loop. */
void cg_nvptx_array_bases(Cg *cg);

/* shared_addresses.c: what addresses behind several conditions have in common, in front of them;
 * before code generation. */
void cg_nvptx_shared_addresses(Cg *cg);

/* keep_places.c: what is made in front of a branch stays there; right before code generation. */
void cg_nvptx_keep_places(Cg *cg);
/* periodic.c: an index that is one of n places by how it was made. */
void cg_nvptx_periodic(Cg *cg);
/* float_ranges.c: selections by comparisons of floats that are made of integers. */
void cg_nvptx_float_ranges(Cg *cg);
/* wide_products.c: of 64-bit products of 32-bit numbers, both are extended beside them. */
void cg_nvptx_wide_products(Cg *cg);
/* shared_offsets.c: constants in the indices of shared arrays, as offsets of their accesses. */
void cg_nvptx_shared_offsets(Cg *cg);
/* upper_halves.c: comparisons of 64-bit numbers that the upper half answers, in 32 bits. */
void cg_nvptx_upper_halves(Cg *cg);
/* wide_extremes.c: minima of 64 bits by a comparison of the same numbers that is there anyway. */
void cg_nvptx_wide_extremes(Cg *cg);
/* common_divisors.c: float64 quotients by the same number share its reciprocal. */
void cg_nvptx_common_divisors(Cg *cg);

/* next_addresses.c: what the next iteration of a search loads, addressed in front of the loop's
 * branch; before code generation. */
void cg_nvptx_next_addresses(Cg *cg);

/* drain.c: threads that may have bulk stores under way wait at the kernel's end until these have
 * read shared memory; right before code generation. */
void cg_nvptx_drain(Cg *cg);
/* Does the text of inline assembly begin bulk stores? */
bool cg_nvptx_stores_in_bulk(const char *text, size_t n);
void cg_nvptx_fence_copies(Cg *cg);

/* descriptors.c: the descriptor of a tile in shared memory, of which `rest` is what does not depend
 * on the address; and what becomes of it after LLVM's passes. */
LLVMValueRef cg_nvptx_descriptor(Lower *lw, LLVMValueRef tile, LLVMValueRef rest);
void cg_nvptx_descriptors(Cg *cg);

/* local_shared.c: small local arrays in shared memory, in launches with small blocks. */
void cg_nvptx_local_shared(Cg *cg);
/* The thread's number in its block; in *threads how many there are. */
LLVMValueRef cg_nvptx_thread_number(Cg *cg, LLVMValueRef *threads);
/* local_space.c: ld.local and st.local for local arrays that stay in memory; right before code
 * generation. */
void cg_nvptx_local_space(Cg *cg);

/* --- members of the target, by file; target.h describes them --- */

/* instructions.c */
void cg_nvptx_instruction(Lower *lw, Ins *i);
/* Elements of a tuple as registers of 32 bits (of 64 where they have so many), and back; how many
 * registers there are. floats: those of 32 bits are registers as they are. */
unsigned cg_nvptx_pack(Lower *lw, const Type *tuple, LLVMValueRef const *leaves, bool floats,
                       LLVMValueRef *out);
unsigned cg_nvptx_unpack(Lower *lw, const Type *tuple, LLVMValueRef const *registers,
                         LLVMValueRef *leaves);
/* warpgroup.c */
void cg_nvptx_warpgroup(Lower *lw, Ins *i);
/* copies.c: those of mbarriers and asynchronous copies; false: it is none. */
bool cg_nvptx_copy(Lower *lw, Ins *i);
/* inline_text.c */
void cg_nvptx_inline_text(Lower *lw, Ins *i);
/* cache_hints.c */
LLVMValueRef cg_nvptx_load_hinted(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p);
LLVMValueRef cg_nvptx_store_hinted(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p);
/* threads.c */
LLVMValueRef cg_nvptx_sreg(Lower *lw, SpecialReg r);
LLVMValueRef cg_nvptx_read_register(Cg *cg, LLVMBuilderRef b, SpecialReg r);
SpecialReg cg_nvptx_register_of(LLVMValueRef call);
void cg_nvptx_barrier(Lower *lw);
LLVMValueRef cg_nvptx_barrier_vote(Lower *lw, BarrierVote vote, LLVMValueRef i1);
LLVMValueRef cg_nvptx_warp(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                           LLVMValueRef lane);
void cg_nvptx_nanosleep(Lower *lw, LLVMValueRef ns);
void cg_nvptx_fence(Lower *lw, FenceLevel level);
/* trap.c: the function that reports an exception, (RtTrap *, site, values…, axis, block, thread) */
#define NVPTX_TRAP_NAME "pyptx$trap"
enum { NVPTX_TRAP_AXIS = 2 + RT_TRAP_VALUES, NVPTX_TRAP_BLOCK, NVPTX_TRAP_THREAD, NVPTX_TRAP_ARGS };
void cg_nvptx_stop(Lower *lw);
void cg_nvptx_trap(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n);
/* grid_barrier.c */
void cg_nvptx_grid_barrier(Lower *lw);

#endif
