/* Cache files: what is written is read; every damage of every byte is noticed; locks, the bound,
 * directories that are refused. */
#include "runtime/cache/cache_files.h"
#include "tests/unit/support/expect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64], folder[80];

/* Any function will do that changes with every bit: FNV-1a, four times with different
 * beginnings. */
static void digest(const void *data, size_t size, unsigned char out[RT_CACHE_KEY]) {
  for (int k = 0; k < 4; k++) {
    uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)k;
    for (size_t i = 0; i < size; i++)
      h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    memcpy(out + 8 * k, &h, 8);
  }
}

static void set_key(unsigned char key[RT_CACHE_KEY], int n) { memset(key, n, RT_CACHE_KEY); }

static void path_of(char *to, size_t room, int n, const char *suffix) {
  int at = snprintf(to, room, "%s/", folder);
  for (int i = 0; i < RT_CACHE_KEY; i++)
    at += snprintf(to + at, room - (size_t)at, "%02x", n);
  snprintf(to + at, room - (size_t)at, "%s", suffix);
}

static RtCache *opened(void) {
  RtCache *c = NULL;
  EXPECT(rt_cache_open(folder, 1, digest, &c) == RT_OK);
  return c;
}

static RtCacheFound read_it(RtCache *c, int n, const char *want) {
  unsigned char key[RT_CACHE_KEY];
  RtCacheEntry e;
  set_key(key, n);
  RtCacheFound found = rt_cache_read(c, key, &e);
  EXPECT((found == RT_CACHE_FOUND) == (e.file != NULL));
  if (found == RT_CACHE_FOUND && want)
    EXPECT(e.size == strlen(want) && !memcmp(e.bytes, want, e.size) && !strcmp(e.label, "a label"));
  free(e.file);
  return found;
}

static void write_it(RtCache *c, int n, const char *text, uint64_t limit) {
  unsigned char key[RT_CACHE_KEY];
  set_key(key, n);
  EXPECT(rt_cache_write(c, key, "a label", text, strlen(text), limit) == RT_OK);
}

static void test_there_and_back(void) {
  RtCache *c = opened();
  EXPECT(read_it(c, 1, NULL) == RT_CACHE_ABSENT);
  write_it(c, 1, "some bytes", 0);
  write_it(c, 2, "", 0);
  EXPECT(read_it(c, 1, "some bytes") == RT_CACHE_FOUND);
  EXPECT(read_it(c, 2, "") == RT_CACHE_FOUND);
  write_it(c, 1, "others", 0);
  EXPECT(read_it(c, 1, "others") == RT_CACHE_FOUND);
  rt_cache_close(c);
  rt_cache_close(NULL);
}

/* --- damage --- */

static size_t load(const char *path, char *to, size_t room) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(to, 1, room, f) : 0;
  if (f)
    fclose(f);
  return n;
}

static void save(const char *path, const char *from, size_t n) {
  FILE *f = fopen(path, "wb");
  EXPECT(f && fwrite(from, 1, n, f) == n);
  if (f)
    fclose(f);
}

static void test_every_damage(void) {
  static char image[4096];
  char path[256];
  RtCache *c = opened();
  write_it(c, 3, "forty-two bytes that are worth looking after", 0);
  path_of(path, sizeof path, 3, ".kernel");
  size_t n = load(path, image, sizeof image);
  EXPECT(n > 100);
  for (size_t i = 0; i < n; i++)
    for (int bit = 0; bit < 8; bit++) {
      image[i] = (char)(image[i] ^ 1 << bit);
      save(path, image, n);
      EXPECT(read_it(c, 3, NULL) == RT_CACHE_DAMAGED);
      image[i] = (char)(image[i] ^ 1 << bit);
    }
  for (size_t length = 0; length < n; length++) {
    save(path, image, length);
    EXPECT(read_it(c, 3, NULL) == RT_CACHE_DAMAGED);
  }
  save(path, image, n + 1);
  EXPECT(read_it(c, 3, NULL) == RT_CACHE_DAMAGED);
  save(path, image, n);
  EXPECT(read_it(c, 3, NULL) == RT_CACHE_FOUND);
  srand(1);
  /* several bytes, lengths that lie, checksums that fit the lie */
  for (int round = 0; round < 2000; round++) {
    static char other[4096];
    memcpy(other, image, n);
    size_t length = (size_t)rand() % (n + 200);
    for (int k = rand() % 6; k >= 0; k--)
      other[(size_t)rand() % (length + 1)] = (char)rand();
    if (round % 2 && length > 32)
      digest(other, length - 32, (unsigned char *)other + length - 32);
    save(path, other, length);
    (void)read_it(c, 3, NULL);
  }
  unlink(path);
  rt_cache_close(c);
}

/* --- the bound --- */

static void test_the_bound(void) {
  RtCache *c = opened();
  uint64_t files, bytes;
  EXPECT(rt_cache_clear(c, 0, &files, &bytes) == RT_OK);
  for (int n = 10; n < 20; n++) {
    write_it(c, n, "0123456789", 0);
    char path[256];
    path_of(path, sizeof path, n, ".kernel");
    struct timespec when[2] = {{1000 + n, 0}, {1000 + n, 0}};
    EXPECT(utimensat(AT_FDCWD, path, when, 0) == 0);
  }
  EXPECT(read_it(c, 10, "0123456789") == RT_CACHE_FOUND); /* is the one used last now */
  uint64_t each = 64 + 8 + 10 + 32;
  write_it(c, 20, "0123456789", 4 * each);
  EXPECT(read_it(c, 20, NULL) == RT_CACHE_FOUND && read_it(c, 10, NULL) == RT_CACHE_FOUND);
  EXPECT(read_it(c, 19, NULL) == RT_CACHE_FOUND && read_it(c, 18, NULL) == RT_CACHE_FOUND);
  EXPECT(read_it(c, 17, NULL) == RT_CACHE_ABSENT);
  EXPECT(rt_cache_clear(c, 1, &files, &bytes) == RT_OK && files == 0);
  EXPECT(rt_cache_clear(c, 0, &files, &bytes) == RT_OK && files == 4 && bytes == 4 * each);
  rt_cache_close(c);
}

/* --- locks --- */

static void test_locks(void) {
  RtCache *a = opened(), *b = opened();
  unsigned char key[RT_CACHE_KEY];
  int first, second;
  set_key(key, 30);
  EXPECT(rt_cache_lock(a, key, 0, &first) == RT_CACHE_HELD && first >= 0);
  EXPECT(rt_cache_lock(b, key, 20, &second) == RT_CACHE_BUSY && second == -1);
  rt_cache_unlock(a, key, first);
  EXPECT(rt_cache_lock(b, key, 0, &second) == RT_CACHE_HELD);
  rt_cache_unlock(b, key, second);
  rt_cache_unlock(b, key, -1);
  pid_t child = fork();
  if (child == 0) { /* dies with the lock */
    rt_cache_lock(a, key, 0, &first);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  EXPECT(rt_cache_lock(a, key, 0, &first) == RT_CACHE_HELD);
  rt_cache_unlock(a, key, first);
  rt_cache_close(a);
  rt_cache_close(b);
}

/* Writers and readers of one key at once: a reader sees one or the other, whole. */
static void test_processes(void) {
  enum { N = 8, ROUNDS = 50 };
  static char text[2][20000];
  memset(text[0], 'a', sizeof text[0] - 1);
  memset(text[1], 'b', 7000);
  pid_t children[N];
  for (int p = 0; p < N; p++)
    if ((children[p] = fork()) == 0) {
      RtCache *c = opened();
      for (int round = 0; round < ROUNDS; round++) {
        if (p < 2)
          write_it(c, 40, text[p], 0);
        unsigned char key[RT_CACHE_KEY];
        RtCacheEntry e;
        set_key(key, 40);
        RtCacheFound found = rt_cache_read(c, key, &e);
        EXPECT(found == RT_CACHE_FOUND || (p >= 2 && found == RT_CACHE_ABSENT));
        if (e.file)
          EXPECT(!memcmp(e.bytes, text[((const char *)e.bytes)[0] == 'b'], e.size));
        free(e.file);
      }
      _exit(expect_failures != 0);
    }
  for (int p = 0; p < N; p++) {
    int status;
    waitpid(children[p], &status, 0);
    EXPECT(status == 0);
  }
}

/* --- directories --- */

static RtStatus try_open(const char *path, int writable) {
  RtCache *c;
  RtStatus status = rt_cache_open(path, writable, digest, &c);
  EXPECT((status == RT_OK) == (c != NULL));
  rt_cache_close(c);
  return status;
}

static void test_directories(void) {
  char path[128];
  struct stat s;
  (void)!chmod(root, 0755);
  snprintf(path, sizeof path, "%s/a/b/c", root);
  EXPECT(try_open(path, 0) == RT_BAD_ARGUMENT && strstr(rt_error()->text, "cannot be opened"));
  EXPECT(try_open(path, 1) == RT_OK && stat(path, &s) == 0 && (s.st_mode & 0777) == 0700);
  EXPECT(try_open(path, 0) == RT_OK);
  EXPECT(chmod(path, 0720) == 0 && try_open(path, 0) == RT_BAD_ARGUMENT);
  EXPECT(strstr(rt_error()->text, "can be written to by other users") &&
         strstr(rt_error()->remedy, "chmod go-w"));
  EXPECT(chmod(path, 0755) == 0 && try_open(path, 1) == RT_OK);
  if (geteuid() == 0) { /* a directory of root's: others may read it */
    pid_t child = fork();
    if (child == 0) {
      RtCache *c = NULL;
      _exit(seteuid(65534) || rt_cache_open(path, 1, digest, &c) != RT_OK ||
            rt_cache_is_writable(c) || !strstr(rt_error()->text, "can only be read"));
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT(status == 0);
    EXPECT(chown(path, 12345, (gid_t)-1) == 0 && try_open(path, 1) == RT_BAD_ARGUMENT);
    EXPECT(strstr(rt_error()->text, "belongs to user 12345") != NULL);
  } else {
    RtCache *c = NULL;
    EXPECT(chmod(path, 0555) == 0 && rt_cache_open(path, 1, digest, &c) == RT_OK &&
           !rt_cache_is_writable(c));
    rt_cache_close(c);
  }
  snprintf(path, sizeof path, "%s/file", root);
  save(path, "x", 1);
  EXPECT(try_open(path, 1) == RT_BAD_ARGUMENT);
  snprintf(path, sizeof path, "%s/file/below", root);
  EXPECT(try_open(path, 1) == RT_BAD_ARGUMENT && strstr(rt_error()->text, "cannot be made"));
}

int main(void) {
  snprintf(root, sizeof root, "/tmp/pyptx-cache-XXXXXX");
  if (!mkdtemp(root))
    return 1;
  snprintf(folder, sizeof folder, "%s/store", root);
  test_there_and_back();
  test_every_damage();
  test_the_bound();
  test_locks();
  test_processes();
  test_directories();
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  EXPECT(system(command) == 0);
  return expect_failures != 0;
}
