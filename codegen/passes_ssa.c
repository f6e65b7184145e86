/* SSA passes: the rows of ssa/passes.def as a table.
 *
 * In: the strict Program that typing has left. Out: the same Program in the form that lowering
 * assumes (dead code gone, blocks in reverse post-order, one back edge a loop, dominators current),
 * with the results of the analyses as flags on its instructions. The order of the rows, and what
 * each requires of the earlier ones, is in the table; here are only the functions that run an
 * analysis of one function over all functions of the program. */
#include <assert.h>

#include "codegen/passes.h"

#include "codegen/lower/inlining.h"
#include "codegen/lower/unroll_hints.h"
#include "codegen/ssa/accumulators.h"
#include "codegen/ssa/condition_loads.h"
#include "codegen/ssa/last_steps.h"
#include "codegen/ssa/latches.h"
#include "codegen/ssa/narrow.h"
#include "codegen/ssa/range_versions.h"
#include "codegen/ssa/waits.h"
#include "codegen/target.h"

static void each(Cg *cg, void (*pass)(Cx *cx, Fn *fn)) {
  assert(cg->program && cg->program->fns.len);
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    pass(cg->cx, cg->program->fns.data[k]);
}

static void order(Cg *cg) { each(cg, ir_order); }
static void join_latches(Cg *cg) { each(cg, ir_join_latches); }
static void dominators(Cg *cg) { each(cg, ir_dominators); }
static void condition_loads(Cg *cg) { each(cg, cg_load_conditions); }
static void range_versions(Cg *cg) { each(cg, cg_version_ranges); }
static void checked_versions(Cg *cg) { each(cg, cg_version_checks); }
static void sign_versions(Cg *cg) { each(cg, cg_version_signs); }
static void row_versions(Cg *cg) { each(cg, cg_version_rows); }
static void factor_versions(Cg *cg) { each(cg, cg_version_factors); }
static void early_numbers(Cg *cg) { each(cg, cg_early_numbers); }
static void sum_versions(Cg *cg) { each(cg, cg_version_sums); }
static void nest_versions(Cg *cg) { each(cg, cg_version_nests); }
static void short_versions(Cg *cg) { each(cg, cg_version_shorts); }
static void thin_versions(Cg *cg) { each(cg, cg_version_thin); }
static void drift_versions(Cg *cg) { each(cg, cg_version_drifts); }
static void quotient_versions(Cg *cg) { each(cg, cg_version_quotients); }
static void recurrences(Cg *cg) { each(cg, cg_version_recurrences); }
static void table_versions(Cg *cg) { each(cg, cg_version_tables); }
static void narrow(Cg *cg) { each(cg, cg_narrow); }
static void narrow_low(Cg *cg) { each(cg, cg_narrow_low); }
static void waits(Cg *cg) { cg_find_waits(cg->cx, cg->program); }
static void accumulators(Cg *cg) { cg_check_accumulators(cg->cx, cg->program); }
static void unroll_hints(Cg *cg) { each(cg, cg_hint_loops); }
static void two_steps(Cg *cg) { each(cg, cg_take_two_steps); }
static void apart_versions(Cg *cg) {
  each(cg, cg_version_apart);
  cg->out->needs_apart = cg->program->needs_apart;
}
static void latches(Cg *cg) { each(cg, cg_part_latches); }
static void last_steps(Cg *cg) {
  Program *host = cg->target->narrows ? NULL : cg->program;
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    cg_leave_before_last_steps(cg->cx, host, cg->program->fns.data[k]);
}

#define P(...) PASS_WHEN(__VA_ARGS__)
#include "codegen/ssa/passes.def"
#undef P
static const Pass rows[] = {
#define P(name, function, within, after, opt, when, skip, why)                                     \
  PASS_ROW("ssa", name, function, within, after, opt, when, skip, SSA, why)
#include "codegen/ssa/passes.def"
#undef P
};
const PassTable cg_ssa_passes = {rows, sizeof rows / sizeof *rows};
