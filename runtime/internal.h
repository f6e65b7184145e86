/* Internal: what every file of this room may use, and no other room sees: marks for the compiler,
 * and failures in more detail than status.h gives them (status.c). */
#ifndef PYPTX_RUNTIME_INTERNAL_H
#define PYPTX_RUNTIME_INTERNAL_H

#include <stdint.h>

#include "runtime/status.h"

#define LIKELY(e)   __builtin_expect(!!(e), 1)
#define UNLIKELY(e) __builtin_expect(!!(e), 0)
/* what every launch runs: the linker lays it side by side */
#define HOT __attribute__((hot))

/* As rt_fail, for a failed driver call whose text is better than the table's. */
RtStatus rt_fail_driver(RtStatus status, int result, const char *call, const char *remedy,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
void rt_set_error(const RtError *e); /* puts back a copy: cleaning up may have failed too */
/* As rt_driver_status, with "kernel NAME" in the text. */
RtStatus rt_driver_status_of(int result, const char *call, const char *kernel);
/* "1.5 GB" */
const char *rt_size_text(uint64_t bytes, char text[32]);

#endif
