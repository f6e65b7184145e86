/* Fuzz: files of the disk cache, whose digest is right. A file is refused, or gives an entry that lies within it.
 *
 * Input: the file without its digest, which is zeros here. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cache/cache_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char key[RT_CACHE_KEY] = {1, 2, 3};
static char folder[] = "/tmp/pyptx-fuzz-XXXXXX";

static void no_digest(const void *data, size_t size, unsigned char out[RT_CACHE_KEY]) {
  (void)data, (void)size;
  memset(out, 0, RT_CACHE_KEY);
}

static int its_name(void *user, const RtCacheInfo *info) {
  snprintf(user, 80, "%s", info->name);
  return 0;
}

static RtCache *cache(char path[128]);

static void remove_folder(void) {
  char path[128];
  uint64_t files, bytes;
  (void)rt_cache_clear(cache(path), 0, &files, &bytes);
  (void)!rmdir(folder);
}

/* A cache with one entry, whose file is what is written over. */
static RtCache *cache(char path[128]) {
  static RtCache *made;
  static char name[80];
  if (!made) {
    if (!mkdtemp(folder) || rt_cache_open(folder, 1, no_digest, &made) != RT_OK ||
        rt_cache_write(made, key, "label", "some bytes", 10, 0) != RT_OK ||
        rt_cache_list(made, its_name, name) != RT_OK)
      abort();
    (void)atexit(remove_folder);
  }
  snprintf(path, 128, "%s/%s", folder, name);
  return made;
}

static void put(const char *path, const uint8_t *data, size_t size) {
  static const uint8_t digest[RT_CACHE_KEY];
  int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
      write(fd, digest, sizeof digest) != (ssize_t)sizeof digest || close(fd))
    abort();
}

static int read_fault(void *user, const RtCacheInfo *info) {
  if (info->fault)
    *(size_t *)user += strlen(info->fault);
  *(size_t *)user += strlen(info->label) + info->size;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[128];
  RtCache *c = cache(path);
  RtCacheEntry entry;
  size_t seen = 0;
  put(path, data, size);
  if (rt_cache_read(c, key, &entry) == RT_CACHE_FOUND) {
    const char *file = entry.file, *bytes = entry.bytes;
    size_t label = strlen(entry.label) + 1, whole = size + RT_CACHE_KEY;
    volatile unsigned char sum = 0; /* each byte of the entry can be read */
    for (size_t k = 0; k < entry.size; k++)
      sum = (unsigned char)(sum + bytes[k]);
    if (entry.label < file || entry.label + label > bytes || bytes + entry.size > file + whole)
      abort();
    free(entry.file);
  }
  (void)rt_cache_list(c, read_fault, &seen);
  return 0;
}
