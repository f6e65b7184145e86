/* Passes: tables of them, and the one loop that runs, dumps, verifies, times and skips any row.
 * Private to this room.
 *
 * A compilation is the rows of passes.def; within each run the rows of ssa/passes.def and of the
 * target's table that name it. */
#ifndef PYPTX_CODEGEN_PASSES_H
#define PYPTX_CODEGEN_PASSES_H

#include "codegen/llvm/cg.h"

enum CgState {
  CG_NOTHING = 0,
  CG_LIFTED = 1,
  CG_TYPED = 2,
  CG_LOWERED = 4,
  CG_LINKED = 8,
  CG_OPTIMIZED = 16,
  CG_COARSENED = 32,
  CG_EMITTED = 64,
};

typedef enum TextKind { TEXT_SSA, TEXT_LLVM, TEXT_CODE } TextKind;

typedef struct Pass {
  const char *name; /* "nvptx.square_root"; of a row of passes.def "optimize" */
  const char *within, *after;
  int opt;
  bool (*when)(const Cg *cg); /* NULL: always */
  bool skippable;
  TextKind text;
  void (*run)(Cg *cg); /* NULL: what is within it is all */
  const char *why;
  /* of passes.def alone */
  char letter;
  unsigned needs, gives;
} Pass;

typedef struct PassTable {
  const Pass *rows;
  unsigned n;
} PassTable;

extern const PassTable cg_ssa_passes, cg_nvptx_passes, cg_host_passes;

/* Expansions of P for the table of a family, to be included twice: the conditions, then the
 * rows. */
#define PASS_WHEN(name, function, within, after, opt, when, ...)                                   \
  static bool when_##name(const Cg *cg) {                                                          \
    (void)cg;                                                                                      \
    return when;                                                                                   \
  }
enum { PASS_SKIP_NO, PASS_SKIP_YES };
#define PASS_ROW(family, name, function, within, after, opt, when, skip, text, why)                \
  {family "." #name, #within,  after, opt, when_##name, PASS_SKIP_##skip,                          \
   TEXT_##text,      function, why,   0,   0,           0},

/* Runs them all on cg, whose request, options, target and out are set: dumps what request->dump
 * names, keeps the texts that request->want names, times each, verifies after each. Fails like the
 * passes. */
void cg_run(Cg *cg);
/* The rows within a pass of passes.def alone, and one of them alone whatever its condition:
 * tests. */
void cg_run_within(Cg *cg, const char *within);
void cg_run_row(Cg *cg, const Pass *p);
/* Row number k of all tables, NULL behind the last. */
const Pass *cg_pass(unsigned k);
/* The row of a table that comes before one that it is to come after, or that names one that is not
 * there; NULL: none does. */
const Pass *cg_misplaced_row(const PassTable *table);
/* Reads PYPTX_SKIP and what is to be dumped into cg. Fails with ERR_PASS where a name is none, or
 * one that must not be skipped. */
void cg_read_pass_names(Cg *cg);
/* Of the pass that runs, where it is a row with several steps: dumps the module behind one of them
 * if the row is dumped. */
void cg_dump_step(Cg *cg, const char *step);
/* of request->coarse_of: module and kernel as its coarsen pass left them */
void cg_open_rest(Cg *cg);

void cg_pass_lift(Cg *cg);
void cg_pass_infer(Cg *cg);
void cg_pass_lower(Cg *cg);
void cg_pass_link(Cg *cg);
void cg_pass_coarsen(Cg *cg);

#endif
