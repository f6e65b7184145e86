/* Passes: the tables of passes, and the one loop that runs, dumps, verifies, times and skips any
 * row of them. Private to this room.
 *
 * A compilation is the rows of passes.def in order. Before the function of each run the rows of
 * ssa/passes.def and of the target's table that name it as the pass that they are within. */
#ifndef PYPTX_CODEGEN_PASSES_H
#define PYPTX_CODEGEN_PASSES_H

#include "codegen/llvm/cg.h"

enum CgState {
  CG_NOTHING = 0,
  CG_LIFTED = 1,
  CG_TYPED = 2,
  CG_ADVISED = 4,
  CG_LOWERED = 8,
  CG_LINKED = 16,
  CG_OPTIMIZED = 32,
  CG_COARSENED = 64,
  CG_EMITTED = 128,
};

typedef enum TextKind { TEXT_SSA, TEXT_LLVM, TEXT_CODE } TextKind;

typedef struct Pass {
  const char *name; /* "nvptx.square_root"; of a row of passes.def "optimize" */
  const char *within, *after;
  int opt;
  bool (*when)(const Cg *cg); /* NULL: always */
  bool skippable;
  TextKind text;
  void (*run)(Cg *cg); /* NULL: the rows within it are all of it */
  const char *why;
  /* in rows of passes.def only */
  char letter;
  unsigned needs, gives;
} Pass;

typedef struct PassTable {
  const Pass *rows;
  unsigned n;
} PassTable;

extern const PassTable cg_ssa_passes, cg_nvptx_passes, cg_host_passes;

/* Expansions of P for the table of a family, which is included twice: for the conditions, then for
 * the rows. */
#define PASS_WHEN(name, function, within, after, opt, when, ...)                                   \
  static bool when_##name(const Cg *cg) {                                                          \
    (void)cg;                                                                                      \
    return when;                                                                                   \
  }
enum { PASS_SKIP_NO, PASS_SKIP_YES };
#define PASS_ROW(family, name, function, within, after, opt, when, skip, text, why)                \
  {family "." #name, #within,  after, opt, when_##name, PASS_SKIP_##skip,                          \
   TEXT_##text,      function, why,   0,   0,           0},

/* Runs all passes on cg, whose request, options, target and out are set: dumps what request->dump
 * names, keeps the texts that request->want names, times each pass and verifies after it. Fails as
 * the passes do. */
void cg_run(Cg *cg);
/* For tests: only the rows within a pass of passes.def; one such row, whatever its condition
 * says. */
void cg_run_within(Cg *cg, const char *within);
void cg_run_row(Cg *cg, const Pass *p);
/* Row number k of all tables; NULL past the last. */
const Pass *cg_pass(unsigned k);
/* The first row whose constraints do not hold: it comes before a row that it must come after, or
 * names a row or a pass that does not exist. NULL: there is none. */
const Pass *cg_misplaced_row(const PassTable *table);
/* Reads PYPTX_SKIP and the list of dumps into cg. Fails with ERR_PASS if a name is not that of a
 * pass, or is that of one that must not be skipped. */
void cg_read_pass_names(Cg *cg);
/* Called by a pass of several steps, after one of them: dumps the module if the pass is dumped. */
void cg_dump_step(Cg *cg, const char *step);
/* Opens the module and the kernel of request->coarse_of as its coarsen pass left them. */
void cg_open_rest(Cg *cg);

void cg_pass_lift(Cg *cg);
void cg_pass_infer(Cg *cg);
void cg_pass_advise(Cg *cg);
void cg_pass_lower(Cg *cg);
void cg_pass_link(Cg *cg);
void cg_pass_coarsen(Cg *cg);

#endif
