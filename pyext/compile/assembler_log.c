/* The assembler's log: in, the PTX of a kernel and what the assembler says of it; out, which lines
 * in Python that is about. Instructions of which it may say something have a comment with their
 * place in the source: cx_put_place. */
#include "pyext/compile/assembler_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pyext/raise.h"

static const char begins[] = "// begin inline asm", ends[] = "// end inline asm",
                  inline_text[] = "// inline_ptx at ", matrices[] = "// wgmma.mma at ",
                  registers[] = "// setmaxregister at ";

typedef struct Place {
  int text_line;         /* of the text */
  int line, column, end; /* of the Python source */
  char name[256], file[1024];
} Place;

static const char *next_line(const char *s) {
  const char *end = strchr(s, '\n');
  return end ? end + 1 : s + strlen(s);
}

static bool has(const char *line, const char *what) {
  const char *found = strstr(line, what), *end = strchr(line, '\n');
  return found && (!end || found < end);
}

static bool read_place(const char *s, const char *mark, Place *out) {
  s = strstr(s, mark);
  return s && sscanf(s + strlen(mark), "%d:%d-%d in %255s of %1023[^\n]", &out->line, &out->column,
                     &out->end, out->name, out->file) == 5;
}

/* The text of cuda.inline_ptx that line `number` of the PTX is part of; false: of none. */
static bool find_text(const char *ptx, long number, Place *out) {
  long at = 1, first = 0;
  for (const char *s = ptx; *s && at <= number; s = next_line(s), at++) {
    if (has(s, begins))
      first = 0;
    else if (has(s, ends) && at < number)
      first = 0;
    else if (has(s, inline_text)) {
      first = at + 1;
      if (!read_place(s, inline_text, out))
        return false;
    }
  }
  out->text_line = (int)(number - first + 1);
  return first && out->text_line > 0;
}

/* The instruction with that mark which is nearest to line `number`, 0 for any; false: none. */
static bool find_mark(const char *ptx, const char *mark, long number, Place *out) {
  const char *best = NULL;
  long at = 1, least = 0;
  for (const char *s = ptx; *s; s = next_line(s), at++) {
    long distance = labs(number - at);
    if (has(s, mark) && (!best || (number && distance < least))) {
      best = s;
      least = distance;
    }
  }
  return best && read_place(best, mark, out);
}

/* In one line, up to the next message. */
static void message_of(const char *s, char *out, size_t size) {
  size_t n = 0;
  for (; *s && *s != '\n' && strncmp(s, " ptxas ", 7) && n + 1 < size; s++)
    if (n || *s != ' ')
      out[n++] = *s;
  out[n] = 0;
}

static Diag diag_at(ErrorId id, const Place *p, char *message) {
  return (Diag){.id = id,
                .message = message,
                .remedy = (char *)(uintptr_t)ir_errors[id].remedy,
                .at = {.file = (char *)(uintptr_t)p->file,
                       .function = (char *)(uintptr_t)p->name,
                       .line = p->line,
                       .end_line = p->line,
                       .col = p->column,
                       .end_col = p->end}};
}

/* Behind the next "line " of *log, 0 if there is none; *log is behind the number then. */
static long next_number(const char **log) {
  static const char word[] = "line ";
  for (const char *s = *log; (s = strstr(s, word)); s++) {
    char *end;
    long number = strtol(s + sizeof word - 1, &end, 10);
    if (end != s + sizeof word - 1) {
      *log = end;
      return number;
    }
  }
  return 0;
}

/* "line 25; error   : Unknown symbol". */
static bool raise_inline_text(PxState *st, const char *ptx, const char *log) {
  char why[400], message[600];
  Place p;
  for (long number; (number = next_number(&log));) {
    if (!find_text(ptx, number, &p))
      continue;
    const char *colon = strchr(log, ':');
    message_of(colon ? colon + 1 : log, why, sizeof why);
    snprintf(message, sizeof message, ir_errors[ERR_INLINE_TEXT].message, p.text_line, why);
    Diag d = diag_at(ERR_INLINE_TEXT, &p, message);
    px_raise_diag(st, &d);
    return true;
  }
  return false;
}

/* What the assembler says, from its words on; of which instructions. */
typedef struct Words {
  const char *begin, *mark;
  ErrorId id;
} Words;
static const Words errors[] = {
    {"Insufficient registers", matrices, ERR_MATRIX_REGISTERS},
    {"wgmma.mma_async instructions are serialized due to insufficient register", matrices,
     ERR_MATRIX_REGISTERS},
    {"wgmma.mma_async instructions are serialized", matrices, ERR_SERIALIZED},
};
static const Words remarks[] = {
    {"warpgroup.wait is injected", matrices, ERR_WAIT_ADDED},
    {"'setmaxnreg' ignored", registers, ERR_REGISTERS_KEPT},
};

/* *d, in `message`, if the log has these words and the PTX such an instruction. */
static bool find_words(const Words *w, const char *ptx, const char *log, Place *p, Diag *d,
                       char *message, size_t size) {
  char why[400];
  const char *said = strstr(log, w->begin), *rest = said;
  if (!said)
    return false;
  message_of(said, why, sizeof why);
  long number = strstr(why, "line ") ? next_number(&rest) : 0;
  if (!find_mark(ptx, w->mark, number, p))
    return false;
  snprintf(message, size, ir_errors[w->id].message, why);
  *d = diag_at(w->id, p, message);
  return true;
}

bool px_raise_assembler_log(PxState *st, const char *ptx, const char *log) {
  char message[600];
  Place p;
  Diag d;
  if (!ptx || !log || !*log)
    return false;
  if (raise_inline_text(st, ptx, log))
    return true;
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
    if (find_words(&errors[k], ptx, log, &p, &d, message, sizeof message)) {
      px_raise_diag(st, &d);
      return true;
    }
  return false;
}

static int add_advice(PxState *st, const Diag *d, PyObject *list) {
  PyObject *advice = px_advice_of(st, d, false);
  int failed = !advice || PyList_Append(list, advice) < 0;
  Py_XDECREF(advice);
  return failed ? -1 : 0;
}

int px_add_assembler_advice(PxState *st, const char *ptx, const char *log, PyObject *list) {
  char message[600];
  Place p;
  Diag d;
  for (size_t k = 0; ptx && log && *log && k < sizeof remarks / sizeof *remarks; k++) {
    if (!find_words(&remarks[k], ptx, log, &p, &d, message, sizeof message))
      continue;
    if (add_advice(st, &d, list) < 0)
      return -1;
  }
  return 0;
}

static bool same_place(const Place *a, const Place *b) {
  return a->line == b->line && a->column == b->column && !strcmp(a->file, b->file);
}

int px_add_local_advice(PxState *st, const char *ptx, uint32_t local, PyObject *list) {
  enum { MOST_PLACES = 8 };
  static const char mark[] = "// local.array[";
  Place seen[MOST_PLACES];
  char message[256];
  unsigned n = 0;
  for (const char *at = ptx; n < MOST_PLACES && (at = strstr(at, mark)); at++) {
    char *end;
    unsigned long long bytes = strtoull(at + sizeof mark - 1, &end, 10);
    bool known = *end != ']' || bytes > local || !read_place(end, "] at ", &seen[n]);
    for (unsigned k = 0; k < n && !known; k++)
      known = same_place(&seen[k], &seen[n]);
    if (known)
      continue;
    snprintf(message, sizeof message, ir_errors[ERR_LOCAL_MEMORY].message, (unsigned)bytes);
    Diag d = diag_at(ERR_LOCAL_MEMORY, &seen[n++], message);
    if (add_advice(st, &d, list) < 0)
      return -1;
  }
  return 0;
}
