#include "ir/base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* This thread has C's own locale from here on. The C library keeps that one: nothing is
 * allocated. */
static locale_t enter_plain(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

double number_read(const char *text, char **end) {
  locale_t before = enter_plain();
  double v = strtod(text, end);
  uselocale(before);
  return v;
}

void number_write(char text[NUMBER_TEXT], double v) {
  locale_t before = enter_plain();
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, NUMBER_TEXT, "%.*g", digits, v);
    if (strtod(text, NULL) == v)
      break;
  }
  uselocale(before);
}
