/* Intrinsics: the rows, and look-up by name. */
#include "ir/intrinsics.h"

#include <string.h>

#include "ir/base/suggest.h"
#include "ir/fn.h"

#define GONE                                                                                       \
  { LOWER_GONE, NULL }
#define LLVM(name)                                                                                 \
  { LOWER_LLVM, name }
#define LIB(name)                                                                                  \
  { LOWER_LIB, name }
#define LIBDEVICE                                                                                  \
  { LOWER_LIBDEVICE, NULL }
#define FN                                                                                         \
  { LOWER_FN, NULL }
#define TARGET                                                                                     \
  { LOWER_TARGET, NULL }
#define FUNC  INTRINSIC_FUNC
#define VALUE INTRINSIC_VALUE
#define SPACE INTRINSIC_SPACE

const IntrinsicInfo ir_intrinsics[INTR_COUNT] = {
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc)                               \
  [INTR_##ID] = {path, signature, doc, kind, EFFECT_##effect, nvptx, host},
#include "ir/intrinsics.def"
#undef I
};

const HintInfo ir_hints[HINT_COUNT] = {
#define LOAD(ID, name, modifier, doc) [HINT_##ID] = {name, modifier},
#define STORE                         LOAD
#include "ir/hints.def"
#undef LOAD
#undef STORE
};

IntrinsicId ir_intrinsic_by_path(const char *path) {
  for (int i = 0; i < INTR_COUNT; i++)
    if (!strcmp(ir_intrinsics[i].path, path))
      return (IntrinsicId)i;
  return INTR_NONE;
}

const char *ir_intrinsic_suggest(const char *space, const char *name) {
  size_t prefix = strlen(space);
  Suggest s = suggest_for(name);
  for (int i = 0; i < INTR_COUNT; i++) {
    const char *path = ir_intrinsics[i].path;
    if (!strncmp(path, space, prefix) && path[prefix] == '.' && !strchr(path + prefix + 1, '.'))
      suggest_try(&s, path + prefix + 1);
  }
  return s.best;
}
