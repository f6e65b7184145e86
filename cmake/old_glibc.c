/* What Debian 12's libstdc++ and LLVM's archives ask of glibc and glibc 2.28 does not have. Part of
 * the module only where it is linked against an older glibc (cmake/glibc.cmake). All names are
 * hidden. */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* 2.32: libstdc++ leaves locks out while this says that there is one thread. */
char __libc_single_threaded = 0;

/* 2.36: names of LLVM's temporary files. */
uint32_t arc4random(void) {
  uint32_t n = 0;
  if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n)
    n = (uint32_t)getpid() * 2654435761u ^ (uint32_t)(uintptr_t)&n;
  return n;
}

/* 2.33: LLVM's statistics of memory. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct mallinfo2 mallinfo2(void) {
  struct mallinfo old = mallinfo();
  return (struct mallinfo2){.arena = (unsigned)old.arena,
                            .ordblks = (unsigned)old.ordblks,
                            .smblks = (unsigned)old.smblks,
                            .hblks = (unsigned)old.hblks,
                            .hblkhd = (unsigned)old.hblkhd,
                            .usmblks = (unsigned)old.usmblks,
                            .fsmblks = (unsigned)old.fsmblks,
                            .uordblks = (unsigned)old.uordblks,
                            .fordblks = (unsigned)old.fordblks,
                            .keepcost = (unsigned)old.keepcost};
}

/* 2.35: where the unwinder finds the tables of the code at an address; an exception that finds none
 * ends the process. */
typedef struct Search {
  uintptr_t address;
  struct dl_find_object *found;
} Search;

static int look_into(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  Search *s = data;
  uintptr_t low = UINTPTR_MAX, high = 0, tables = 0;
  bool inside = false;
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[k];
    uintptr_t start = object->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
    if (p->p_type == PT_GNU_EH_FRAME)
      tables = start;
    if (p->p_type != PT_LOAD)
      continue;
    inside |= start <= s->address && s->address < end;
    low = start < low ? start : low;
    high = end > high ? end : high;
  }
  if (!inside || !tables)
    return 0;
  *s->found = (struct dl_find_object){
      .dlfo_map_start = (void *)low, .dlfo_map_end = (void *)high, .dlfo_eh_frame = (void *)tables};
  return 1;
}

int _dl_find_object(void *address, struct dl_find_object *found) {
  Search s = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &s) ? 0 : -1;
}
