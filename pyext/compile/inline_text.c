/* Inline text: in, the PTX of a kernel and the assembler's log; out, which line of which
 * cuda.inline_ptx it complains of. Each text begins with a comment that names its place in the
 * source (typeinfer/rules/inline_ptx.c), between comments of LLVM. */
#include "pyext/compile/inline_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pyext/raise.h"

static const char begins[] = "// begin inline asm", ends[] = "// end inline asm",
                  place[] = "// inline_ptx at ";

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

/* What stands in line `number` of the PTX; false: no line of an inline text. */
static bool find(const char *ptx, long number, Place *out) {
  long at = 1, first = 0;
  for (const char *s = ptx; *s && at <= number; s = next_line(s), at++) {
    if (has(s, begins))
      first = 0;
    else if (has(s, ends) && at < number)
      first = 0;
    else if (has(s, place)) {
      first = at + 1;
      if (sscanf(strstr(s, place) + sizeof place - 1, "%d:%d-%d in %255s of %1023[^\n]", &out->line,
                 &out->column, &out->end, out->name, out->file) != 5)
        return false;
    }
  }
  out->text_line = (int)(number - first + 1);
  return first && out->text_line > 0;
}

/* The message behind "line 25; error   : ", in one line. */
static void message_of(const char *s, char *out, size_t size) {
  size_t n = 0;
  const char *colon = strchr(s, ':');
  s = colon ? colon + 1 : s;
  for (; *s && *s != '\n' && strncmp(s, " ptxas ", 7) && n + 1 < size; s++)
    if (n || *s != ' ')
      out[n++] = *s;
  out[n] = 0;
}

bool px_raise_inline(PxState *st, const char *ptx, const char *log) {
  static const char word[] = "line ";
  for (const char *s = log; ptx && (s = strstr(s, word)); s++) {
    char *end, why[400], message[600];
    Place p;
    long number = strtol(s + sizeof word - 1, &end, 10);
    if (end == s + sizeof word - 1 || !find(ptx, number, &p))
      continue;
    message_of(end, why, sizeof why);
    snprintf(message, sizeof message, ir_errors[ERR_INLINE_TEXT].message, p.text_line, why);
    Diag d = {.id = ERR_INLINE_TEXT,
              .message = message,
              .remedy = (char *)(uintptr_t)ir_errors[ERR_INLINE_TEXT].remedy,
              .at = {.file = p.file,
                     .function = p.name,
                     .line = p.line,
                     .end_line = p.line,
                     .col = p.column,
                     .end_col = p.end}};
    px_raise_diag(st, &d);
    return true;
  }
  return false;
}
