/* Cx: set-up, tear-down and the way out of a compilation. */
#include "ir/cx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void cx_out_of_memory(void *user) { fail(user, (Loc){0}, ERR_MEMORY); }

/* The first allocation may fail already; a function of its own keeps cx out of setjmp's reach. */
static bool cx_start(Cx *cx) {
  arena_init(&cx->arena, cx_out_of_memory, cx);
  cx->pass = "start";
  if (!CX_TRY(cx))
    return false;
  intern_init(&cx->strings, &cx->arena);
  cx->caught = false;
  return true;
}

Cx *cx_new(void) {
  Cx *cx = calloc(1, sizeof *cx);
  if (cx && !cx_start(cx)) {
    cx_free(cx);
    return NULL;
  }
  return cx;
}

void cx_free(Cx *cx) {
  if (!cx)
    return;
  arena_free(&cx->arena);
  free(cx);
}

DiagPlace cx_place(Loc loc) {
  DiagPlace p = {
      .line = loc.line, .end_line = loc.end_line, .col = loc.col, .end_col = loc.end_col};
  if (loc.code) {
    p.file = loc.code->filename;
    p.function = loc.code->qualname;
  }
  return p;
}

static void cx_leave(Cx *cx) {
  if (!cx->caught) { /* a missing CX_TRY is our bug; there is nowhere to go */
    fprintf(stderr, "pyptx: fail() outside CX_TRY: %s\n",
            cx->diag.message ? cx->diag.message : "?");
    abort();
  }
  cx->caught = false;
  longjmp(cx->out, 1);
}

/* The calls that led to the error, innermost first, become notes. */
static void add_call_notes(Cx *cx) {
  for (uint32_t n = cx->ncalls; n > 0 && cx->diag.nnotes < DIAG_NOTES; n--) {
    if (n > sizeof cx->calls / sizeof *cx->calls)
      continue;
    note(cx, cx->calls[n - 1].loc, "in the call of %s", cx->calls[n - 1].name);
  }
}

void fail(Cx *cx, Loc loc, ErrorId id, ...) {
  cx->diag.id = id;
  cx->diag.at = cx_place(loc);
  if (id == ERR_MEMORY) { /* no allocation: the arena may have nothing left */
    cx->diag.message = (char *)ir_errors[id].message;
    cx->diag.remedy = (char *)ir_errors[id].remedy;
    cx->diag.nnotes = 0;
    cx_leave(cx);
  }
  va_list ap;
  va_start(ap, id);
  cx->diag.message = arena_vprintf(&cx->arena, ir_errors[id].message, ap);
  va_end(ap);
  cx->diag.remedy = arena_strdup(&cx->arena, cx->remedy ? cx->remedy : ir_errors[id].remedy);
  add_call_notes(cx);
  cx_leave(cx);
  abort(); /* not reached */
}

void advise(Cx *cx, const char *remedy) { cx->remedy = remedy; }

static bool same_place(const DiagPlace *a, const DiagPlace *b) {
  bool files = a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file));
  return files && a->line == b->line && a->col == b->col;
}

/* Of one place, which a function of several signatures has several times; or of one cause, which
 * several places have. */
static bool is_same_advice(const Diag *a, const Diag *b) {
  return a->id == b->id && (same_place(&a->at, &b->at) ||
                            (a->nnotes && b->nnotes && !strcmp(a->message, b->message) &&
                             same_place(&a->notes[0].at, &b->notes[0].at)));
}

void cx_advice(Cx *cx, Loc loc, ErrorId id, ...) {
  Diag d = cx->diag;
  cx->diag = (Diag){0};
  d.id = id;
  d.at = cx_place(loc);
  va_list ap;
  va_start(ap, id);
  d.message = arena_vprintf(&cx->arena, ir_errors[id].message, ap);
  va_end(ap);
  for (uint32_t k = 0; k < cx->advice.len; k++)
    if (is_same_advice(&cx->advice.data[k], &d))
      return;
  d.remedy = (char *)(uintptr_t)ir_errors[id].remedy;
  VEC_PUSH(&cx->arena, &cx->advice, d);
}

void cx_put_place(Buf *out, const char *what, Loc loc) {
  int end = loc.end_line == loc.line ? loc.end_col : 0;
  buf_printf(out, "// %s at %d:%d-%d in %s of ", what, loc.line, loc.col, end,
             loc.code ? loc.code->qualname : "?");
  for (const char *f = loc.code ? loc.code->filename : ""; *f; f++)
    buf_puts(out, *f == '$' ? "$$" : *f == '\n' ? " " : (char[]){*f, 0});
}

void note(Cx *cx, Loc loc, const char *format, ...) {
  if (cx->diag.nnotes >= DIAG_NOTES)
    return;
  va_list ap;
  va_start(ap, format);
  cx->diag.notes[cx->diag.nnotes].text = arena_vprintf(&cx->arena, format, ap);
  va_end(ap);
  cx->diag.notes[cx->diag.nnotes++].at = cx_place(loc);
}

void cx_bug(Cx *cx, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  char *text = arena_vprintf(&cx->arena, format, ap);
  va_end(ap);
  if (getenv("PYPTX_ABORT_ON_BUG")) {
    fprintf(stderr, "pyptx: internal error in pass %s: %s\n", cx->pass, text);
    abort();
  }
  fail(cx, (Loc){0}, ERR_INTERNAL, cx->pass, text);
}
