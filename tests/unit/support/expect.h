/* EXPECT: what must hold in a test. A test goes on after a failure, and its main returns
 * expect_failures != 0. */
#ifndef PYPTX_TESTS_SUPPORT_EXPECT_H
#define PYPTX_TESTS_SUPPORT_EXPECT_H

#include <stdio.h>

extern int expect_failures;
extern const char *expect_case; /* what is being tested, for the message; "" at first */

#define EXPECT(c)                                                                                  \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s%s%s\n", __FILE__, __LINE__, expect_case,                          \
              *expect_case ? ": " : "", #c);                                                       \
      expect_failures++;                                                                           \
    }                                                                                              \
  } while (0)

#endif
