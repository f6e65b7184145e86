#include "ir/base/buf.h"

#include <stdio.h>
#include <string.h>

void buf_init(Buf *b, Arena *arena) {
  *b = (Buf){.arena = arena, .cap = 256};
  b->text = arena_alloc(arena, b->cap);
}

static void buf_reserve(Buf *b, size_t n) {
  if (b->len + n + 1 <= b->cap)
    return;
  size_t cap = b->cap * 2;
  while (cap < b->len + n + 1)
    cap *= 2;
  b->text = arena_grow(b->arena, b->text, b->len, cap);
  b->cap = cap;
}

void buf_add(Buf *b, const char *s, size_t n) {
  buf_reserve(b, n);
  memcpy(b->text + b->len, s, n);
  b->len += n;
  b->text[b->len] = 0;
}

void buf_puts(Buf *b, const char *s) { buf_add(b, s, strlen(s)); }
void buf_putc(Buf *b, char c) { buf_add(b, &c, 1); }

void buf_printf(Buf *b, const char *format, ...) {
  va_list ap, again;
  va_start(ap, format);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, format, ap);
  va_end(ap);
  if (n > 0) {
    buf_reserve(b, (size_t)n);
    vsnprintf(b->text + b->len, (size_t)n + 1, format, again);
    b->len += (size_t)n;
  }
  va_end(again);
}
