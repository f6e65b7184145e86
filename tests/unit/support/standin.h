/* Tests with the stand-in driver. The runtime opens a driver once in a process, so each scenario
 * runs in a child of its own. */
#ifndef PYPTX_TESTS_SUPPORT_STANDIN_H
#define PYPTX_TESTS_SUPPORT_STANDIN_H

#include "tests/standin/standin.h"
#include "tests/unit/support/expect.h"

/* Makes the stand-in this process's driver. Exits with 77 (skipped) where it was not built. */
const StandinControl *standin_open(int devices);

/* Runs a scenario in a child: 0 if every EXPECT in it held. n is passed on. */
int scenario(const char *name, void (*run)(int n), int n);

/* All kinds of things but contexts that are alive. */
int standin_live(const StandinControl *control);

/* vadd(u64, u32), stop(u64, u32, u64), meet(u64, u32, u64, u64), empty() */
extern const char standin_ptx[];

#endif
