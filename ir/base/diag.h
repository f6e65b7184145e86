/* Diag: one compile error, or one piece of advice: which, where, why, what to do. Rendered in at
 * most 15 lines with a caret under the source. */
#ifndef PYPTX_IR_BASE_DIAG_H
#define PYPTX_IR_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ErrorId { /* and advice, which has the class "Advice" */
                       ERR_OK,
#define E(ID, code, exception, message, remedy) ERR_##ID,
#include "ir/base/errors.def"
#undef E
                       ERR_COUNT
} ErrorId;

typedef struct ErrorInfo {
  const char *id, *code, *exception, *message, *remedy;
} ErrorInfo;
extern const ErrorInfo ir_errors[ERR_COUNT];

/* What to do instead of "numpy.sum", or of attribute "sum" of an "array" (ir/base/advice.def).
 * NULL: nothing special. */
const char *diag_advice(const char *of, const char *name);

typedef struct DiagPlace { /* plain copy of a Loc, so that a Diag outlives the compilation */
  const char *file, *function;
  int32_t line, end_line, col, end_col; /* lines from 1 (0: unknown), columns from 0 in bytes */
} DiagPlace;

enum { DIAG_NOTES = 4 };
typedef struct Diag {
  ErrorId id;
  DiagPlace at;
  char *message, *remedy; /* formatted */
  struct {
    DiagPlace at;
    char *text;
  } notes[DIAG_NOTES]; /* "called from here", "first defined here" */
  uint32_t nnotes;
} Diag;

/* Returns the text of one source line of a file, without newline, or NULL. Line 0: the name under
 * which the file is shown (a notebook's cell has one), or NULL for its own. */
typedef const char *(*DiagSource)(void *user, const char *file, int32_t line);

/* Renders into malloc'd text (caller frees): at most 15 lines. source may be NULL. NULL on no
 * memory. */
char *diag_render(const Diag *d, DiagSource source, void *user);
/* A deep copy in malloc'd memory; diag_free frees it. */
Diag *diag_copy(const Diag *d);
void diag_free(Diag *d);

#endif
