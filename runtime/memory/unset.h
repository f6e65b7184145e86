/* Unset: bytes of memory that nothing has written yet. Arrays of the host device are noted while
 * somebody looks for reads of such bytes (rt_unset_watch), shared and local arrays by checked
 * launches. What is not noted counts as written. Safe from any thread. */
#ifndef PYPTX_RUNTIME_MEMORY_UNSET_H
#define PYPTX_RUNTIME_MEMORY_UNSET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many look; read by every allocation and copy of the host device. */
extern _Atomic uint32_t rt_unset_watchers;
void rt_unset_watch(int by); /* 1: one more, -1: one less; the last one forgets all */

void rt_unset_mark(uintptr_t at, size_t bytes);
void rt_unset_clear(uintptr_t at, size_t bytes);
bool rt_unset_any(uintptr_t at, size_t bytes);
void rt_unset_forget(void);

static inline bool rt_unset_is_watched(void) {
  return atomic_load_explicit(&rt_unset_watchers, memory_order_relaxed) != 0;
}
/* Memory of the host device that something else than a checked kernel writes. */
static inline void rt_unset_written(uintptr_t at, size_t bytes) {
  if (rt_unset_is_watched())
    rt_unset_clear(at, bytes);
}

#endif
