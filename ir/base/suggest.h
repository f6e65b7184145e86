/* Suggest: did you mean …? The nearest of the names that are tried, if it is near enough.
 *
 *   Suggest s = suggest_for("lenght"); suggest_try(&s, "length"); suggest_try(&s, "size"); s.best
 *   is "length" (or NULL) */
#ifndef PYPTX_IR_BASE_SUGGEST_H
#define PYPTX_IR_BASE_SUGGEST_H

#include <stddef.h>

typedef struct Suggest {
  const char *name, *best;
  size_t limit; /* largest distance that still counts */
} Suggest;

Suggest suggest_for(const char *name);
void suggest_try(Suggest *s, const char *candidate);

#endif
