#include "tests/unit/support/expect.h"

int expect_failures;
const char *expect_case = "";
