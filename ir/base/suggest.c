/* Suggest: see suggest.h. Distances are Levenshtein's, of names cut to 40 characters. */
#include "ir/base/suggest.h"

#include <string.h>

enum { MAX = 40 };

static size_t distance(const char *a, const char *b) {
  size_t n = strnlen(a, MAX), m = strnlen(b, MAX), row[MAX + 1];
  for (size_t j = 0; j <= m; j++)
    row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
      if (above + 1 < best)
        best = above + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      diagonal = above;
      row[j] = best;
    }
  }
  return row[m];
}

Suggest suggest_for(const char *name) {
  size_t n = strnlen(name, MAX);
  return (Suggest){.name = name, .limit = n > 1 ? (n + 2) / 3 : 0};
}

void suggest_try(Suggest *s, const char *candidate) {
  size_t d = candidate && s->limit ? distance(s->name, candidate) : MAX;
  if (d > s->limit || !*candidate)
    return;
  s->limit = d ? d - 1 : 0;
  s->best = candidate;
}
