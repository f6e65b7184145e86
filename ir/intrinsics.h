/* Intrinsics: ids and rows of ir/intrinsics.def. */
#ifndef PYPTX_IR_INTRINSICS_H
#define PYPTX_IR_INTRINSICS_H

#include <stddef.h>

typedef enum IntrinsicId {
#define I(ID, path, signature, kind, rule, effect, nvptx, host, doc) INTR_##ID,
#include "ir/intrinsics.def"
#undef I
  INTR_COUNT,
  INTR_NONE = -1
} IntrinsicId;

typedef enum IntrinsicKind { INTRINSIC_FUNC, INTRINSIC_VALUE, INTRINSIC_SPACE } IntrinsicKind;

typedef enum LoweringKind {
  LOWER_GONE,
  LOWER_LLVM,
  LOWER_LIB,
  LOWER_LIBDEVICE,
  LOWER_FN,
  LOWER_TARGET
} LoweringKind;
typedef struct Lowering {
  LoweringKind kind;
  const char *name;
} Lowering;

typedef struct IntrinsicInfo {
  const char *path, *signature, *doc;
  IntrinsicKind kind;
  int effect; /* Effect */
  Lowering nvptx, host;
} IntrinsicInfo;

extern const IntrinsicInfo ir_intrinsics[INTR_COUNT];

IntrinsicId ir_intrinsic_by_path(const char *path);
/* The path under a namespace that is nearest to `name`, for "did you mean", or NULL. */
const char *ir_intrinsic_suggest(const char *space, const char *name);

#endif
