/* Buf: text that grows in an arena; always NUL-terminated. */
#ifndef PYPTX_IR_BASE_BUF_H
#define PYPTX_IR_BASE_BUF_H

#include "ir/base/arena.h"

typedef struct Buf {
  Arena *arena;
  char *text;
  size_t len, cap;
} Buf;

void buf_init(Buf *b, Arena *arena);
void buf_add(Buf *b, const char *s, size_t n);
void buf_puts(Buf *b, const char *s);
void buf_putc(Buf *b, char c);
void buf_printf(Buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
