/* Diag: the table of errors, and one error as text with a caret. */
#include "ir/base/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ErrorInfo ir_errors[ERR_COUNT] = {
    [ERR_OK] = {"OK", "", "", "", ""},
#define E(ID, code, exception, message, remedy)                                                    \
  [ERR_##ID] = {#ID, code, exception, message, remedy},
#include "ir/base/errors.def"
#undef E
};

static const struct {
  const char *name, *text;
} advice[] = {
#define ADVICE(name, text) {name, text},
#include "ir/base/advice.def"
#undef ADVICE
};

const char *diag_advice(const char *of, const char *name) {
  char full[128];
  snprintf(full, sizeof full, "%s%s%s", of, *of ? "." : "", name);
  for (size_t k = 0; k < sizeof advice / sizeof *advice; k++) {
    size_t n = strcspn(advice[k].name, "*");
    if (!strncmp(full, advice[k].name, n) && (advice[k].name[n] || !full[n]))
      return advice[k].text;
  }
  return NULL;
}

enum {
  MAX_LINES = 15,
  WIDTH = 160,
  MOST_MESSAGE = 2400, /* bytes: names of all passes have room */
};

typedef struct Out {
  FILE *file;
  int lines;
} Out;

static void out_line(Out *o, const char *text) {
  if (o->lines >= MAX_LINES)
    return;
  fprintf(o->file, o->lines ? "\n%s" : "%s", text);
  o->lines++;
}

/* Bytes of UTF-8 that show as one column: continuation bytes show as none. */
static int columns(const char *s, int bytes) {
  int n = 0;
  for (int i = 0; i < bytes && s[i]; i++)
    n += ((unsigned char)s[i] & 0xC0) != 0x80;
  return n;
}

/* The source line without its indentation, and the span under it. Long lines show a window around
 * the span. */
static void out_source(Out *o, const DiagPlace *at, DiagSource source, void *user) {
  const char *line = at->line > 0 && source && at->file ? source(user, at->file, at->line) : NULL;
  if (!line)
    return;
  int len = (int)strcspn(line, "\r\n");
  int col = at->col < 0 ? 0 : at->col, end = at->end_line == at->line ? at->end_col : len;
  if (col > len)
    col = len;
  int skip = (int)strspn(line, " \t");
  if (at->end_col <= 0 && col < skip) { /* the line as a whole, without its indentation */
    col = skip;
    end = len;
  }
  if (end <= col || end > len)
    end = end > len ? len : col + 1;
  if (skip > col)
    skip = col;
  if (col - skip > WIDTH / 2)
    skip = col - WIDTH / 4;
  while (skip > 0 && ((unsigned char)line[skip] & 0xC0) == 0x80)
    skip--;
  int show = len - skip > WIDTH ? WIDTH : len - skip;
  if (end > skip + show)
    end = skip + show;
  char text[WIDTH + 32];
  snprintf(text, sizeof text, "    %.*s", show, line + skip);
  out_line(o, text);
  char mark[WIDTH + 32];
  int pad = columns(line + skip, col - skip), wide = columns(line + col, end - col);
  if (wide < 1)
    wide = 1;
  int n = snprintf(mark, sizeof mark, "    %*s", pad, "");
  for (int i = 0; i < wide && n < (int)sizeof mark - 1; i++)
    mark[n++] = '^';
  mark[n] = 0;
  out_line(o, mark);
}

static void out_place(Out *o, const DiagPlace *at, const char *lead, DiagSource source,
                      void *user) {
  if (!at->file)
    return;
  const char *shown = source ? source(user, at->file, 0) : NULL, *file = shown ? shown : at->file;
  char text[1024];
  if (at->line > 0)
    snprintf(text, sizeof text, "  %s%s:%d:%d, in %s", lead, file, (int)at->line,
             at->col < 0 ? 1 : (int)at->col + 1, at->function ? at->function : "?");
  else
    snprintf(text, sizeof text, "  %s%s, in %s", lead, file, at->function ? at->function : "?");
  out_line(o, text);
}

char *diag_render(const Diag *d, DiagSource source, void *user) {
  char *text = NULL;
  size_t size = 0;
  Out o = {.file = open_memstream(&text, &size)};
  if (!o.file)
    return NULL;
  const ErrorInfo *info = &ir_errors[d->id];
  fprintf(o.file, "%s: %.*s", info->code, MOST_MESSAGE, d->message ? d->message : "");
  o.lines = 1;
  out_place(&o, &d->at, "", source, user);
  out_source(&o, &d->at, source, user);
  for (uint32_t i = 0; i < d->nnotes; i++) {
    if (o.lines + 4 >= MAX_LINES)
      break;
    char lead[512];
    snprintf(lead, sizeof lead, "%.300s: ", d->notes[i].text);
    out_place(&o, &d->notes[i].at, lead, source, user);
    out_source(&o, &d->notes[i].at, source, user);
  }
  if (d->remedy && *d->remedy) {
    char remedy[1024];
    snprintf(remedy, sizeof remedy, "  help: %s", d->remedy);
    out_line(&o, remedy);
  }
  if (fclose(o.file)) {
    free(text);
    return NULL;
  }
  return text;
}

static char *copy_text(const char *s) { return s ? strdup(s) : NULL; }

static DiagPlace copy_place(DiagPlace p) {
  p.file = copy_text(p.file);
  p.function = copy_text(p.function);
  return p;
}

Diag *diag_copy(const Diag *d) {
  Diag *c = malloc(sizeof *c);
  if (!c)
    return NULL;
  *c = *d;
  c->at = copy_place(d->at);
  c->message = copy_text(d->message);
  c->remedy = copy_text(d->remedy);
  for (uint32_t i = 0; i < d->nnotes; i++) {
    c->notes[i].at = copy_place(d->notes[i].at);
    c->notes[i].text = copy_text(d->notes[i].text);
  }
  return c;
}

static void free_place(DiagPlace p) {
  free((char *)p.file);
  free((char *)p.function);
}

void diag_free(Diag *d) {
  if (!d)
    return;
  free_place(d->at);
  free(d->message);
  free(d->remedy);
  for (uint32_t i = 0; i < d->nnotes; i++) {
    free_place(d->notes[i].at);
    free(d->notes[i].text);
  }
  free(d);
}
