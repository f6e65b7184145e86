/* Host loops: what their files share. entry.c writes the loops over blocks and threads, segments.c
 * and whole_vectors.c those over the segments of kernels with barriers. */
#ifndef PYPTX_CODEGEN_HOST_ENTRY_H
#define PYPTX_CODEGEN_HOST_ENTRY_H

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"

typedef struct Loop {
  LLVMBasicBlockRef head;
  LLVMValueRef counter, to;
} Loop;

/* A version of a segment that is tried first: its guards are uniform, or it returns 1. */
typedef struct Alike {
  LLVMValueRef fn; /* NULL: there is none */
  bool one_result;
} Alike;

/* Blocks that run as whole vectors (whole_vectors.c). The arrays are by segment. */
typedef struct Whole {
  Fission fission; /* no segments: the kernel is not of this kind */
  unsigned width;
  unsigned columns;    /* 0: rows are multiples of width; else rows of so many threads */
  uint32_t inputs;     /* a bit for each array that must last (lasting_inputs.c) */
  LLVMValueRef *lanes; /* NULL: the segment's threads run one by one */
  bool *one_result;
  LLVMValueRef *wide; /* for WIDE times as many threads at a time; mostly NULL */
  Alike *alike;
  MaskVersions *versions; /* `fns` are of one thread, then of all lanes */
} Whole;

/* A version of the thread's function for arrays of certain extents (exact_rows.c). */
enum { MOST_EXACT = 8 };
typedef struct ExactRows {
  LLVMValueRef thread, row; /* thread: NULL if there is none; row: NULL if it has no lanes */
  uint32_t offsets[MOST_EXACT], lengths[MOST_EXACT]; /* of fields of the parameter block */
  unsigned n;
  bool written; /* one of these arrays */
} ExactRows;

/* What holds for all inner threads of a row, and the thread's function without (inner_rows.c). */
enum { MOST_INNER = 48 };
typedef struct InnerTest {
  LLVMValueRef condition; /* of the thread's function, which is `holds` in inner threads */
  LLVMValueRef x, n;      /* x: NULL, it is the same in all of the row; else x, which counts, */
  LLVMIntPredicate how;   /* is compared so with n */
  bool holds, guards;     /* guards: a thread in which it comes out otherwise does nothing */
} InnerTest;

struct InnerRow {
  LLVMValueRef thread, of; /* the copy; the thread's function, or what it is unrolled */
  LLVMValueRef
      ends; /* the copy, with two more arguments, i64: only threads in between do anything */
  InnerTest tests[MOST_INNER];
  unsigned n, counting; /* counting: of so many of them x counts */
  bool bounded;         /* so it does in a guard */
};

typedef struct Loops {
  Cg *cg;
  LLVMBuilderRef b;
  const CgTypes *t;
  LLVMValueRef entry, launch; /* the function, its argument */
  LLVMBasicBlockRef first;    /* the entry block, at whose beginning allocas are */
  LLVMValueRef sizes[3];      /* of a block, i32 */
  LLVMValueRef args[HOST_NARGS];
  LLVMValueRef rows;       /* threads of a block along y and z, i32 */
  Loop nest[2];            /* over rows, and over x */
  unsigned nest_by;        /* threads along x at a time */
  unsigned width;          /* lanes; 0: threads run one by one */
  LLVMValueRef markers[2]; /* of barriers and of other meetings, NULL where there are none */
  unsigned row_width;      /* width for hl_make_row */
  LLVMValueRef row;        /* of a kernel without barriers, NULL if there is none */
  bool parts;              /* blocks may be less wide (cg_host_has_parts) */
  bool joined;             /* neighbouring blocks are one row (cg_host_join_blocks) */
  LLVMValueRef bound;      /* if the thread's function is one iteration (cg_host_cut_stride) */
  ExactRows exact;
  InnerRow *inner;     /* NULL: there is none */
  Whole whole, narrow; /* narrow: for blocks with short rows, or of other widths */
  bool checks;         /* accesses are noted (host/checks.c) */
  bool followed;       /* the runtime follows each block: it is to know who has met whom */
  bool rare; /* the code being written is for blocks of other widths than `whole` takes: small */

  /* with barriers */
  Fission fission;
  LLVMValueRef frame, stride;
  LLVMValueRef shared;               /* alloca: the values that a whole block keeps once */
  LLVMValueRef ayes, voters;         /* allocas: the votes at the barrier in front of a segment */
  LLVMValueRef new_ayes, new_voters; /* the votes at the barrier at which it ends */
  LLVMValueRef all_or, all_and;      /* of the next segments that threads return */
  LLVMValueRef totals;               /* alloca: the last four, as an array */
  LLVMValueRef *rows_of;             /* by segment: the function of a row, NULL if there is none */
  LLVMBasicBlockRef *nests;          /* by segment: the loops over its threads */
  LLVMBasicBlockRef *meets;          /* by segment: the meeting in front of it; NULL: a barrier */
  LLVMBasicBlockRef apart;           /* threads are at different barriers */
  LLVMBasicBlockRef end;             /* the block is done */

  /* with other meetings */
  LLVMValueRef points;                 /* RtMeetPoint[nsegments], NULL if there are none */
  LLVMValueRef go, state;              /* allocas: the runtime's answer; an RtMeetState */
  LLVMBasicBlockRef release, dispatch; /* calls the runtime; branches on its answer */
} Loops;

/* --- passes, by file --- */

/* entry.c; hl_pass_entry leaves cg->kernel and the sizes of cg->out->host */
void hl_pass_math(Cg *cg);
void hl_pass_inline_barriers(Cg *cg);
void hl_pass_regular(Cg *cg);
void hl_pass_bits(Cg *cg);
void hl_pass_short(Cg *cg);
void hl_pass_fission(Cg *cg);
void hl_pass_segments(Cg *cg);
void hl_pass_join(Cg *cg);
void hl_pass_lanes(Cg *cg);
void hl_pass_ranges(Cg *cg);
void hl_pass_rows(Cg *cg);
void hl_pass_wraps(Cg *cg);
void hl_pass_entry(Cg *cg);
void hl_pass_fields(Cg *cg);
/* flat_indices.c, whole_vectors.c, exact_rows.c, inner_rows.c */
void hl_pass_flat(Cg *cg);
void hl_pass_whole(Cg *cg);
void hl_pass_exact(Cg *cg);
void hl_pass_inner(Cg *cg);

/* --- entry.c --- */

/* The state of this compilation; NULL where a device function is compiled alone. */
Loops *hl_loops(Cg *cg);
LLVMValueRef hl_new_variable(const Loops *l, LLVMTypeRef type, const char *name);
/* A loop whose counter starts at `from` and continues while below `to`; at least one iteration. The
 * builder is left in its body. */
Loop hl_loop_begin(const Loops *l, LLVMValueRef from, LLVMValueRef to, const char *name);
void hl_loop_end(const Loops *l, Loop *loop);
/* Loops over the threads of a block, one by one: fills the thread's arguments. */
void hl_find_sizes(Loops *l);              /* of a block: fields of the launch */
void hl_nest_begin(Loops *l, unsigned by); /* by: threads along x at a time, a divisor of all */
void hl_nest_end(Loops *l);
/* The same by whole rows. row: a function of thread_rows.c; more: the arguments that a segment has
 * after a thread's. */
void hl_rows_nest(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                  LLVMValueRef totals);
/* From here on the function of a thread, or a segment, does nothing (and returns 0) beyond the end
 * of its row, so that lanes may run the last threads of a row with masks. columns: of a row; 0: as
 * the launch says. */
void hl_guard_row(Loops *l, LLVMValueRef thread, unsigned columns);
/* The same in two steps, for another condition, which is written in between. begin returns the
 * block that was first. */
LLVMBasicBlockRef hl_rest_begin(Loops *l, LLVMValueRef thread);
void hl_rest_end(Loops *l, LLVMValueRef thread, LLVMValueRef runs, LLVMBasicBlockRef old);
/* The function of a row of such threads; NULL if it cannot be vectorised. */
LLVMValueRef hl_make_row(Loops *l, LLVMValueRef thread, HostRow how);

/* --- segments.c --- */

bool hl_has_meeting(const Fission *f, RtMeetKind kind);
/* May a block leave the entry before its end, to be resumed later? Then it has frames and shared
 * memory of its own, which the runtime has initialised. */
static inline bool hl_can_leave(const Fission *f) {
  return hl_has_meeting(f, RT_MEET_GRID) || hl_has_meeting(f, RT_MEET_YIELD) ||
         hl_has_meeting(f, RT_MEET_WAIT);
}
/* hl_run_segments runs the block that l->args names, and leaves the builder after it. hl_find_frame
 * comes once, before the loop over blocks. */
void hl_find_frame(Loops *l);
void hl_run_segments(Loops *l);
void hl_add_to(const Loops *l, LLVMValueRef variable, LLVMValueRef v);

/* --- whole_vectors.c --- */

/* The same, for blocks that are whole vectors of `w`. */
void hl_run_whole(Loops *l, const Whole *w);

/* --- exact_rows.c --- */

/* Has the launch the extents that l->exact is for? At the builder's position. */
LLVMValueRef hl_are_exact(const Loops *l);
/* Once lanes are written: the version goes where it gains nothing. */
void hl_drop_exact(Loops *l);

/* --- lasting_inputs.c --- */

/* LanesHow.lasts: is it a load from an array parameter that no thread writes? */
bool hl_lasts(const Cg *cg, LLVMValueRef f, LLVMValueRef load);
/* The arrays, by their numbers, of which that is used: of such loads that are uniform over the
 * block. */
uint32_t hl_lasting_inputs(const Cg *cg, LLVMValueRef f, const Lanes *block);
/* Has no array that is written memory of one of these? At the builder's position; NULL: yes. */
LLVMValueRef hl_inputs_last(const Loops *l, uint32_t inputs);

/* --- small builders --- */

static inline LLVMValueRef hl_i32(const Loops *l, uint32_t v) { return l_int(l->t->i32, v); }
static inline LLVMValueRef hl_i64(const Loops *l, uint64_t v) { return l_int(l->t->i64, v); }
static inline LLVMBasicBlockRef hl_new_block(const Loops *l, const char *name) {
  return LLVMAppendBasicBlockInContext(l->cg->context, l->entry, name);
}
static inline void hl_at(const Loops *l, LLVMBasicBlockRef block) {
  LLVMPositionBuilderAtEnd(l->b, block);
}

static inline LLVMValueRef hl_get(const Loops *l, LLVMValueRef variable) {
  return l_load(l->b, l->t->i32, variable);
}
static inline void hl_set(const Loops *l, LLVMValueRef variable, LLVMValueRef v) {
  l_store(l->b, v, variable);
}
static inline LLVMValueRef hl_launch_field(const Loops *l, LLVMTypeRef type, size_t offset) {
  return cg_host_launch_field(l->cg, l->launch, type, offset);
}

#endif
