/* Range versions: loops over ranges or rows of which too little is known, and loops that check
 * indices, written twice. */
#ifndef PYPTX_CODEGEN_SSA_RANGE_VERSIONS_H
#define PYPTX_CODEGEN_SSA_RANGE_VERSIONS_H

#include "ir/cx.h"
#include "ir/fn.h"

/* Loops over ranges, loops that check indices, loops that wrap them, loops over rows of which
 * constant columns are read, and loops with products, sums or numbers from in front of them that
 * may not fit 32 bits. All need ir_join_latches and dominators, and keep them. */
void cg_version_ranges(Cx *cx, Fn *fn);
void cg_version_checks(Cx *cx, Fn *fn);
void cg_version_signs(Cx *cx, Fn *fn);
void cg_version_rows(Cx *cx, Fn *fn);
void cg_version_factors(Cx *cx, Fn *fn);
void cg_version_sums(Cx *cx, Fn *fn);
void cg_version_nests(Cx *cx, Fn *fn);
void cg_version_thin(Cx *cx, Fn *fn);
void cg_version_shorts(Cx *cx, Fn *fn);
void cg_version_drifts(Cx *cx, Fn *fn);
void cg_version_quotients(Cx *cx, Fn *fn);
void cg_version_recurrences(Cx *cx, Fn *fn);
void cg_version_tables(Cx *cx, Fn *fn);
/* Products, and sums of these, that a loop compares and does not change go in front of it. */
void cg_early_numbers(Cx *cx, Fn *fn);
/* Loops with a barrier in which two buffers take turns: two iterations one after the other. Needs
 * cg_narrow's marks. */
void cg_take_two_steps(Cx *cx, Fn *fn);
/* Loops marked by cg_hint_loops whose loads go ahead of their stores. */
void cg_version_apart(Cx *cx, Fn *fn);

#endif
