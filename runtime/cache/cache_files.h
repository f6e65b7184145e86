/* Cache: named bytes in a directory, shared by processes that know nothing of each other. What the
 * bytes mean is the caller's.
 *
 * An entry is a file, written beside its place and renamed into it, so it is whole or not there.
 * Its digest is checked at each read: a damaged or foreign file is an absent one. Nothing here
 * blocks but rt_cache_lock, which has a limit. No function needs the GIL.
 *
 * The directory holds what will be executed, so it must belong to the user (or root) and be
 * writable by nobody else. */
#ifndef PYPTX_RUNTIME_CACHE_CACHE_FILES_H
#define PYPTX_RUNTIME_CACHE_CACHE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/status.h"

enum { RT_CACHE_KEY = 32 };

typedef struct RtCache RtCache;
typedef void (*RtDigest)(const void *data, size_t size, unsigned char out[RT_CACHE_KEY]);

/* writable: the directory is made if it is not there; else it is only read. RT_BAD_ARGUMENT, with
 * the reason, for a directory that others can write to or that cannot be used. One that this user
 * cannot write to is opened all the same, to be read. */
RtStatus rt_cache_open(const char *directory, int writable, RtDigest digest, RtCache **out);
/* Was it to be written to, and can it be? rt_error() says why not, right after rt_cache_open. */
int rt_cache_is_writable(const RtCache *c);
void rt_cache_close(RtCache *c); /* NULL is fine */

typedef struct RtCacheEntry {
  void *file;        /* owner of the rest: free() it */
  const char *label; /* NUL-terminated */
  const void *bytes;
  size_t size;
} RtCacheEntry;

typedef enum RtCacheFound { RT_CACHE_ABSENT, RT_CACHE_FOUND, RT_CACHE_DAMAGED } RtCacheFound;

/* Marks the entry as used now, where the cache is writable. */
RtCacheFound rt_cache_read(RtCache *c, const unsigned char key[RT_CACHE_KEY], RtCacheEntry *out);
/* Replaces what is there. label: one line for people. Then the entries used longest ago go, until
 * all together have at most `limit` bytes; 0: no limit. */
RtStatus rt_cache_write(RtCache *c, const unsigned char key[RT_CACHE_KEY], const char *label,
                        const void *bytes, size_t size, uint64_t limit);

/* One of many processes makes an entry, the others wait for it: at most wait_ms milliseconds here.
 * *held: what rt_cache_unlock takes, or -1. RT_CACHE_BUSY: somebody else still has it;
 * RT_CACHE_NO_LOCKS: this file system has none. A holder that dies loses its lock. */
typedef enum RtCacheLock { RT_CACHE_HELD, RT_CACHE_BUSY, RT_CACHE_NO_LOCKS } RtCacheLock;
RtCacheLock rt_cache_lock(RtCache *c, const unsigned char key[RT_CACHE_KEY], int wait_ms,
                          int *held);
void rt_cache_unlock(RtCache *c, const unsigned char key[RT_CACHE_KEY], int held);

typedef struct RtCacheInfo {
  char name[80];     /* of the file */
  uint64_t size;     /* of the file, bytes */
  double used;       /* seconds since 1970: when it was made or read last */
  const char *fault; /* what is wrong with it, NULL if it is whole */
  const char *label; /* "" if it cannot be read */
} RtCacheInfo;

/* Reads and checks every entry: each(user, info), in no order; the texts are valid during the call.
 * Stops where each() is not 0. */
RtStatus rt_cache_list(RtCache *c, int (*each)(void *user, const RtCacheInfo *info), void *user);
/* Removes entries, or only the damaged ones, and what dead writers left; other files in the
 * directory stay. */
RtStatus rt_cache_clear(RtCache *c, int only_damaged, uint64_t *files, uint64_t *bytes);

#endif
