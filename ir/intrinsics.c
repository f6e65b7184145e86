/* Intrinsics: the rows, and look-up by name. */
#include "ir/intrinsics.h"

#include <string.h>

#include "ir/fn.h"

#define GONE {LOWER_GONE, NULL}
#define LLVM(name) {LOWER_LLVM, name}
#define LIB(name) {LOWER_LIB, name}
#define FN {LOWER_FN, NULL}
#define FUNC INTRINSIC_FUNC
#define VALUE INTRINSIC_VALUE
#define SPACE INTRINSIC_SPACE

const IntrinsicInfo ir_intrinsics[INTR_COUNT] = {
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc)                               \
  [INTR_##ID] = {path, signature, doc, kind, EFFECT_##effect, nvptx, host},
#include "ir/intrinsics.def"
#undef I
};

IntrinsicId ir_intrinsic_by_path(const char *path) {
  for (int i = 0; i < INTR_COUNT; i++)
    if (!strcmp(ir_intrinsics[i].path, path))
      return (IntrinsicId)i;
  return INTR_NONE;
}

/* Levenshtein distance, names cut to 40 characters. */
static size_t distance(const char *a, const char *b) {
  enum { MAX = 40 };
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

const char *ir_intrinsic_suggest(const char *space, const char *name) {
  size_t prefix = strlen(space), limit = strlen(name) / 3 + 1;
  const char *best = NULL;
  for (int i = 0; i < INTR_COUNT; i++) {
    const char *path = ir_intrinsics[i].path;
    if (strncmp(path, space, prefix) || path[prefix] != '.' || strchr(path + prefix + 1, '.'))
      continue;
    size_t d = distance(name, path + prefix + 1);
    if (d <= limit) {
      limit = d ? d - 1 : 0;
      best = path + prefix + 1;
      if (!d)
        break;
    }
  }
  return best;
}
