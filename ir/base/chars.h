/* Chars: letters and digits of ASCII, whatever the locale: in one of 8 bits isalnum() takes the
 * bytes of UTF-8 for letters. */
#ifndef PYPTX_IR_BASE_CHARS_H
#define PYPTX_IR_BASE_CHARS_H

#include <stdbool.h>

static inline bool char_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool char_is_alnum(char c) {
  return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

#endif
