/* Corpus: recorded code objects of CPython 3.11 to 3.15 (tests/data/bytecode) as frozen functions,
 * for tests of any room.
 *
 * The globals of each function are what its module would have: cuda, np, math, operator as modules,
 * N_ITER, COEFFS, TABLE, the other functions of the corpus, and builtins as intrinsics, scalar
 * types and exceptions. */
#ifndef PYPTX_TESTS_CORPUS_H
#define PYPTX_TESTS_CORPUS_H

#include "ir/cx.h"
#include "ir/frozen.h"

typedef struct Corpus Corpus;

typedef struct CorpusPlace { /* one a code unit; None is -1 */
  int32_t line, end_line, col, end_col;
} CorpusPlace;

extern const char *const corpus_versions[]; /* "3.11" … "3.15", NULL */

/* version: "3.11", or "extra-3.11" for tests/data/bytecode/extra.py (which is not recorded for
 * 3.14). NULL if there is no such file, or it cannot be read. */
Corpus *corpus_open(const char *version);
void corpus_close(Corpus *c);

uint32_t corpus_count(const Corpus *c);
const char *corpus_name(const Corpus *c, uint32_t k);             /* in source order */
const FrozenFunc *corpus_func(const Corpus *c, const char *name); /* NULL if there is none */
/* CPython's own co_positions() of a code object of the corpus, nested ones included; one a code
 * unit. */
const CorpusPlace *corpus_places(const Corpus *c, const Code *code, uint32_t *n);
/* All code objects, nested ones included. */
const Code *const *corpus_codes(const Corpus *c, uint32_t *n);

/* A damaged or invented code object for tests: a copy of the corpus' that may be written to, in
 * cx's arena. */
Code *corpus_copy(Cx *cx, const Code *code);

#endif
