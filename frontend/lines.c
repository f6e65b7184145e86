/* Lines: the location table and the exception table of a code object.
 *
 * In: the bytes, which may be damaged. Out: a Loc for each code unit; the protected ranges.
 * Formats: CPython's Objects/locations.md and Objects/exception_handling_notes.txt. */
#include "frontend/bc.h"

typedef struct Reader {
  Cx *cx;
  const Code *code;
  const uint8_t *at, *end;
  const char *what;
} Reader;

static uint32_t byte(Reader *r) {
  if (r->at == r->end)
    bc_corrupt(r->cx, r->code, r->what);
  return *r->at++;
}

/* Six bits a byte, lowest first; bit 6 says that another follows. Wider than 32 bits wraps. */
static uint32_t varint(Reader *r) {
  uint32_t b = byte(r), value = b & 63;
  for (unsigned shift = 6; b & 64; shift += 6) {
    b = byte(r);
    if (shift < 32)
      value |= (b & 63) << shift;
  }
  return value;
}

static int32_t signed_varint(Reader *r) {
  uint32_t v = varint(r);
  return (int32_t)(v & 1 ? 0 - (v >> 1) : v >> 1);
}

static int32_t add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }

enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

/* One entry; *line is the running line number. */
static Loc entry(Reader *r, unsigned form, int32_t *line) {
  Loc loc = {.code = r->code, .col = -1, .end_col = -1};
  if (form == FORM_NONE)
    return loc;
  if (form == FORM_LONG) {
    *line = add(*line, signed_varint(r));
    loc.line = *line;
    loc.end_line = add(*line, (int32_t)varint(r));
    loc.col = add((int32_t)varint(r), -1);
    loc.end_col = add((int32_t)varint(r), -1);
    return loc;
  }
  if (form == FORM_NO_COLUMNS) {
    *line = add(*line, signed_varint(r));
  } else if (form >= FORM_ONE_LINE) {
    *line = add(*line, (int32_t)(form - FORM_ONE_LINE));
    loc.col = (int32_t)byte(r);
    loc.end_col = (int32_t)byte(r);
  } else {
    uint32_t second = byte(r);
    loc.col = (int32_t)(form << 3 | (second >> 4 & 7));
    loc.end_col = loc.col + (int32_t)(second & 15);
  }
  loc.line = loc.end_line = *line;
  return loc;
}

Loc *bc_lines(Cx *cx, const Code *code, uint32_t n) {
  Loc *locs = CX_ARRAY(cx, Loc, n);
  Reader r = {cx, code, code->linetable, code->linetable + code->nlinetable,
              "its line table is too short"};
  int32_t line = code->firstlineno;
  uint32_t unit = 0;
  while (unit < n && r.at < r.end) {
    uint32_t first = byte(&r);
    if (!(first & 128))
      bc_corrupt(cx, code, "its line table has no entry where one must begin");
    Loc loc = entry(&r, first >> 3 & 15, &line);
    if (loc.line <= 0)
      loc = (Loc){.code = code, .col = -1, .end_col = -1};
    for (uint32_t k = (first & 7) + 1; k && unit < n; k--)
      locs[unit++] = loc;
  }
  for (; unit < n; unit++) /* a stripped table: no places */
    locs[unit] = (Loc){.code = code, .col = -1, .end_col = -1};
  return locs;
}

/* Six bits a byte, highest first; bit 7 marks the first byte of a row. */
static uint32_t row_varint(Reader *r) {
  uint32_t b = byte(r), value = b & 63;
  while (b & 64) {
    b = byte(r);
    value = value << 6 | (b & 63);
  }
  return value;
}

void bc_handlers(Cx *cx, const Code *code, BcCode *out) {
  Reader r = {cx, code, code->exceptiontable, code->exceptiontable + code->nexceptiontable,
              "its exception table is too short"};
  while (r.at < r.end) {
    if (!(*r.at & 128))
      bc_corrupt(cx, code, "its exception table has no row where one must begin");
    BcHandler h;
    h.start = row_varint(&r);
    uint32_t size = row_varint(&r);
    h.target = row_varint(&r);
    (void)row_varint(&r); /* depth and lasti */
    h.end = h.start + size;
    if (h.end < h.start || h.end > out->nunits || h.target >= out->nunits)
      bc_corrupt(cx, code, "its exception table points outside the code");
    VEC_PUSH(&cx->arena, &out->handlers, h);
  }
}
