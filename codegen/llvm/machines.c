/* Machines: see machines.h. A few slots behind a lock; when they are full, the oldest machine is
 * disposed of. */
#include "codegen/llvm/machines.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8 }; /* for several architectures and levels, or several threads that compile */

typedef struct Slot {
  char *key;
  LLVMTargetMachineRef machine;
} Slot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Slot slots[SLOTS]; /* the used ones first, oldest first */
static int used;

static Slot remove_slot(int k) {
  assert(k >= 0 && k < used && used <= SLOTS);
  Slot s = slots[k];
  memmove(&slots[k], &slots[k + 1], (size_t)(--used - k) * sizeof *slots);
  return s;
}

LLVMTargetMachineRef cg_machine_take(const char *key) {
  Slot found = {0};
  pthread_mutex_lock(&lock);
  for (int k = used; k-- > 0 && !found.machine;)
    if (strcmp(slots[k].key, key) == 0)
      found = remove_slot(k);
  pthread_mutex_unlock(&lock);
  free(found.key);
  return found.machine;
}

void cg_machine_leave(const char *key, LLVMTargetMachineRef machine) {
  Slot out = {.key = strdup(key), .machine = machine};
  if (out.key) {
    pthread_mutex_lock(&lock);
    Slot in = out;
    out = used == SLOTS ? remove_slot(0) : (Slot){0};
    assert(used < SLOTS);
    slots[used++] = in;
    pthread_mutex_unlock(&lock);
  }
  free(out.key);
  if (out.machine)
    LLVMDisposeTargetMachine(out.machine);
}
