/* Host loops, between their files: entry.c runs blocks and threads, segments.c the segments of
 * kernels whose threads meet. */
#ifndef PYPTX_CODEGEN_HOST_ENTRY_H
#define PYPTX_CODEGEN_HOST_ENTRY_H

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"

typedef struct Loop {
  LLVMBasicBlockRef head;
  LLVMValueRef counter, to;
} Loop;

/* Blocks that run as whole vectors (whole_vectors.c). */
typedef struct Whole {
  Fission fission; /* without segments: there are none */
  unsigned width;
  LLVMValueRef *lanes; /* one a segment; NULL: its threads run one by one */
  bool *one_result;
  LLVMValueRef *wide; /* lanes for WIDE times as many threads at a time, NULL mostly */
} Whole;

typedef struct Loops {
  Cg *cg;
  LLVMBuilderRef b;
  const CgTypes *t;
  LLVMValueRef entry, launch; /* the function, its argument */
  LLVMBasicBlockRef first;    /* allocas go to its beginning */
  LLVMValueRef sizes[3];      /* of a block, i32 */
  LLVMValueRef args[HOST_NARGS];
  LLVMValueRef rows;       /* threads of a block along y and z, i32 */
  Loop nest[2];            /* rows, x */
  unsigned nest_by;        /* threads along x at a time */
  unsigned width;          /* lanes that run at a time, 0: threads run one by one */
  LLVMValueRef markers[2]; /* barriers and other meetings, NULL where there are none */
  unsigned row_width;      /* the same of hl_make_row's rows */
  LLVMValueRef row;        /* of a kernel without barriers, NULL if there is none */
  bool line;               /* neighbouring blocks are one row (cg_host_make_line) */
  LLVMValueRef bound;      /* if the thread's function is a turn of a loop (cg_host_cut_stride) */
  Whole whole;
  bool rare; /* what is made now is for other blocks than those: small code */
  /* with barriers */
  Fission fission;
  LLVMValueRef frame, stride;
  LLVMValueRef shared;               /* alloca: what all threads of a whole block keep alike */
  LLVMValueRef ayes, voters;         /* allocas: of the barrier in front */
  LLVMValueRef new_ayes, new_voters; /* of the one that is being arrived at */
  LLVMValueRef all_or, all_and;      /* of what the segments return */
  LLVMValueRef totals;               /* alloca: the last four in one piece */
  LLVMValueRef *rows_of;             /* one a segment: a function for rows, NULL if there is none */
  LLVMBasicBlockRef *nests,
      *meets;                   /* one a segment; meets: where its threads meet before, or NULL */
  LLVMBasicBlockRef apart, end; /* threads at different barriers; the block is done */
  /* with other meetings */
  LLVMValueRef points;                 /* RtMeetPoint[nsegments], NULL without */
  LLVMValueRef go, state;              /* allocas: what the runtime said; an RtMeetState */
  LLVMBasicBlockRef release, dispatch; /* asks the runtime; goes where it says */
} Loops;

/* --- passes, by file --- */

/* entry.c; cg->kernel and cg->out->host's sizes are there behind hl_pass_entry */
void hl_pass_math(Cg *cg);
void hl_pass_gather(Cg *cg);
void hl_pass_regular(Cg *cg);
void hl_pass_fission(Cg *cg);
void hl_pass_segments(Cg *cg);
void hl_pass_join(Cg *cg);
void hl_pass_lanes(Cg *cg);
void hl_pass_wraps(Cg *cg);
void hl_pass_entry(Cg *cg);
/* whole_vectors.c */
void hl_pass_whole(Cg *cg);

/* --- entry.c --- */

/* Those of this compilation; NULL where a device function is compiled alone. */
Loops *hl_loops(Cg *cg);
LLVMValueRef hl_new_variable(const Loops *l, LLVMTypeRef type, const char *name);
/* counter from `from` while below `to`, at least once; the builder is left in the body. */
Loop hl_loop_begin(const Loops *l, LLVMValueRef from, LLVMValueRef to, const char *name);
void hl_loop_end(const Loops *l, Loop *loop);
/* Loops over the threads of a block, one by one: fills the thread's arguments. */
void hl_nest_begin(Loops *l, unsigned by); /* by: threads along x at a time, a divisor of all */
void hl_nest_end(Loops *l);
/* The same with whole rows: `row` is a function of thread_rows.c, `more` the arguments of a segment
 * behind a thread's. */
void hl_rows_nest(Loops *l, LLVMValueRef row, LLVMValueRef const *more, unsigned nmore,
                  LLVMValueRef totals);
/* The function of a row of such threads; NULL if there is none. */
LLVMValueRef hl_make_row(Loops *l, LLVMValueRef thread, HostRow how);

/* --- segments.c --- */

bool hl_has_meeting(const Fission *f, RtMeetKind kind);
/* May a block leave in the middle, to be entered again? Then memory is its own, and the runtime has
 * filled it. */
static inline bool hl_can_leave(const Fission *f) {
  return hl_has_meeting(f, RT_MEET_GRID) || hl_has_meeting(f, RT_MEET_YIELD);
}
/* The block that l->args names, from segment to segment; the builder is left behind it.
 * hl_find_frame, once, comes before the loop over blocks. */
void hl_find_frame(Loops *l);
void hl_run_segments(Loops *l);
void hl_add_to(const Loops *l, LLVMValueRef variable, LLVMValueRef v);

/* --- whole_vectors.c --- */

/* As hl_run_segments. */
void hl_run_whole(Loops *l);

/* --- small builders --- */

static inline LLVMValueRef i32(const Loops *l, uint32_t v) { return l_int(l->t->i32, v); }
static inline LLVMValueRef i64(const Loops *l, uint64_t v) { return l_int(l->t->i64, v); }
static inline LLVMBasicBlockRef new_block(const Loops *l, const char *name) {
  return LLVMAppendBasicBlockInContext(l->cg->context, l->entry, name);
}
static inline void at(const Loops *l, LLVMBasicBlockRef block) {
  LLVMPositionBuilderAtEnd(l->b, block);
}

static inline LLVMValueRef get(const Loops *l, LLVMValueRef variable) {
  return l_load(l->b, l->t->i32, variable);
}
static inline void set(const Loops *l, LLVMValueRef variable, LLVMValueRef v) {
  l_store(l->b, v, variable);
}
static inline LLVMValueRef launch_field(const Loops *l, LLVMTypeRef type, size_t offset) {
  return cg_host_launch_field(l->cg, l->launch, type, offset);
}

#endif
