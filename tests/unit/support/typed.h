/* Typed: a function of the corpus, typed for a signature, as text: the typed SSA of all its
 * functions, or the error. */
#ifndef PYPTX_TESTS_TYPED_H
#define PYPTX_TESTS_TYPED_H

#include "tests/unit/support/corpus.h"

typedef enum TypedFlags {
  TYPED_CHECKED = 1,
  TYPED_DEBUG = 2,
  TYPED_DEVICE = 4,
  TYPED_NUMBA = 8
} TypedFlags;

/* malloc'd text; NULL on no memory. The typed functions have passed ir_verify and ty_verify. */
char *typed_text(const FrozenFunc *func, const char *signature, unsigned flags);

#endif
