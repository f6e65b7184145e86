/* Arena: all memory of one compilation, freed at once.
 *
 * In: a size. Out: zeroed memory, 16-byte aligned, that lives until arena_free. There is no free of
 * one object. When malloc fails, on_oom(user) is called and must not return (a compilation sets it
 * to its fail()). */
#ifndef PYPTX_IR_BASE_ARENA_H
#define PYPTX_IR_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
  ArenaChunk *chunks;     /* newest first */
  char *at, *end;         /* free space in the newest chunk */
  size_t used;            /* bytes handed out, for statistics and limits */
  void (*on_oom)(void *); /* noreturn in effect; NULL aborts */
  void *user;
} Arena;

void arena_init(Arena *a, void (*on_oom)(void *), void *user);
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t size);
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_strdup(Arena *a, const char *s);
void *arena_memdup(Arena *a, const void *p, size_t n);
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

#endif
