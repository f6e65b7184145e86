/* Suggest: see suggest.h. Distances are twice Levenshtein's, of names cut to 40 characters; two
 * neighbours that are exchanged count half a step (optimal string alignment). */
#include "ir/base/suggest.h"

#include <stdbool.h>
#include <string.h>

enum { MAX = 40, STEP = 2 };

static size_t distance(const char *a, const char *b) {
  size_t n = strnlen(a, MAX), m = strnlen(b, MAX), rows[3][MAX + 1];
  for (size_t j = 0; j <= m; j++)
    rows[0][j] = STEP * j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    row[0] = STEP * i;
    for (size_t j = 1; j <= m; j++) {
      size_t best = above[j - 1] + (a[i - 1] != b[j - 1] ? STEP : 0);
      if (above[j] + STEP < best)
        best = above[j] + STEP;
      if (row[j - 1] + STEP < best)
        best = row[j - 1] + STEP;
      bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged && two_above[j - 2] + 1 < best)
        best = two_above[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n % 3][m];
}

Suggest suggest_for(const char *name) {
  size_t n = strnlen(name, MAX);
  return (Suggest){.name = name, .limit = n > 1 ? STEP * ((n + 2) / 3) : 0};
}

void suggest_try(Suggest *s, const char *candidate) {
  size_t d = candidate && s->limit ? distance(s->name, candidate) : STEP * MAX;
  if (d > s->limit || !*candidate)
    return;
  s->limit = d ? d - 1 : 0;
  s->best = candidate;
}
