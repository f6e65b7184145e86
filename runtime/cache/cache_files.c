/* Cache files. See cache_files.h. In a directory stand KEY.kernel, KEY.lock while one is being
 * made, and .KEY-….tmp while it is written.
 *
 * All names are relative to an open directory, whose owner and mode were checked once it was
 * open. */
#include "runtime/cache/cache_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct RtCache {
  int directory;
  int writable;
  RtDigest digest;
  char *path;
};

/* A file: this, the label with its NUL, the bytes, and the digest of all before it. */
typedef struct Header {
  char magic[8];
  uint32_t version, label; /* label: bytes, with the NUL */
  uint64_t size;           /* of the bytes */
  unsigned char key[RT_CACHE_KEY];
  uint64_t unused;
} Header;
_Static_assert(sizeof(Header) == 64, "the header has no padding");

static const char magic[8] = {'P', 'Y', 'P', 'T', 'X', 'K', 'C', '\n'};
enum { VERSION = 1, DIGEST = RT_CACHE_KEY, MAX_LABEL = 4096, NAME = 2 * RT_CACHE_KEY + 8 };
#define MAX_BYTES ((uint64_t)1 << 31)
static const char entry_suffix[] = ".kernel", lock_suffix[] = ".lock", temporary_suffix[] = ".tmp";

/* --- the directory --- */

static RtStatus unusable(const char *path, const char *what, int error) {
  return rt_fail(RT_BAD_ARGUMENT, "set PYPTX_CACHE_DIR to a directory that you can write to",
                 "the cache directory %s %s: %s", path, what, strerror(error));
}

/* The directory itself for its owner only, those above it as usual. */
static int make_directories(const char *path) {
  char *copy = strdup(path);
  if (!copy)
    return ENOMEM;
  int failed = 0;
  for (char *p = copy + 1; *p && !failed; p++)
    if (*p == '/') {
      *p = 0;
      failed = mkdir(copy, 0777) && errno != EEXIST ? errno : 0;
      *p = '/';
    }
  if (!failed)
    failed = mkdir(copy, 0700) && errno != EEXIST ? errno : 0;
  free(copy);
  return failed;
}

static RtStatus check_owner(const char *path, int directory, int writable) {
  struct stat s;
  if (fstat(directory, &s))
    return unusable(path, "cannot be examined", errno);
  if (s.st_uid != geteuid() && s.st_uid != 0)
    return rt_fail(
        RT_BAD_ARGUMENT,
        writable ? "use a directory of your own: set PYPTX_CACHE_DIR, or change the owner"
                 : "name a directory of your own or of root's",
        "the cache directory %s belongs to user %u, who could put code there that this program (user %u) "
        "would execute",
        path, (unsigned)s.st_uid, (unsigned)geteuid());
  if (s.st_mode & (S_IWGRP | S_IWOTH))
    return rt_fail(
        RT_BAD_ARGUMENT,
        writable ? "`chmod go-w` it, or set PYPTX_CACHE_DIR to another"
                 : "`chmod go-w` it, or name another",
        "the cache directory %s (mode %03o) can be written to by other users, who could put code there "
        "that this program would execute",
        path, (unsigned)s.st_mode & 0777);
  return RT_OK;
}

RtStatus rt_cache_open(const char *directory, int writable, RtDigest digest, RtCache **out) {
  *out = NULL;
  int failed = writable ? make_directories(directory) : 0;
  if (failed)
    return unusable(directory, "cannot be made", failed);
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && !writable)
    return rt_fail(RT_BAD_ARGUMENT, "name a directory that can be read",
                   "the cache directory %s cannot be opened: %s", directory, strerror(errno));
  if (fd < 0)
    return unusable(directory, "cannot be opened", errno);
  RtStatus status = check_owner(directory, fd, writable);
  if (status == RT_OK && writable && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS)) {
    unusable(directory, "can only be read", errno);
    writable = 0;
  }
  RtCache *c = status == RT_OK ? calloc(1, sizeof *c) : NULL;
  char *path = c ? strdup(directory) : NULL;
  if (!path) {
    free(c);
    close(fd);
    return status == RT_OK ? rt_fail(RT_NO_MEMORY, "", "no host memory to open a cache") : status;
  }
  *c = (RtCache){fd, writable, digest, path};
  *out = c;
  return RT_OK;
}

int rt_cache_is_writable(const RtCache *c) { return c->writable; }

void rt_cache_close(RtCache *c) {
  if (!c)
    return;
  close(c->directory);
  free(c->path);
  free(c);
}

/* --- names --- */

static void put_key(char *to, const unsigned char key[RT_CACHE_KEY]) {
  for (int i = 0; i < RT_CACHE_KEY; i++)
    snprintf(to + 2 * i, 3, "%02x", key[i]);
}

static void name_of(char name[NAME], const unsigned char key[RT_CACHE_KEY], const char *suffix) {
  put_key(name, key);
  memcpy(name + 2 * RT_CACHE_KEY, suffix, strlen(suffix) + 1);
}

/* Is it a name that name_of makes? The key, too. */
static int is_name(const char *name, const char *suffix, unsigned char key[RT_CACHE_KEY]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 2 * RT_CACHE_KEY; i++) {
    const char *d = name[i] ? strchr(digits, name[i]) : NULL;
    if (!d)
      return 0;
    unsigned v = (unsigned)(d - digits);
    key[i / 2] = (unsigned char)(i % 2 ? key[i / 2] | v : v << 4);
  }
  return strcmp(name + 2 * RT_CACHE_KEY, suffix) == 0;
}

static int is_temporary(const char *name) {
  size_t n = strlen(name), end = sizeof temporary_suffix - 1;
  return name[0] == '.' && n > 2 * RT_CACHE_KEY + end &&
         strcmp(name + n - end, temporary_suffix) == 0;
}

/* --- reading --- */

static int read_all(int fd, char *to, size_t n) {
  while (n) {
    ssize_t got = read(fd, to, n);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) /* shorter than it was a moment ago */
      return -1;
    to += got;
    n -= (size_t)got;
  }
  return 0;
}

/* NULL if the image is whole and has this key. */
static const char *fault_of(const RtCache *c, const char *image, uint64_t size,
                            const unsigned char key[RT_CACHE_KEY]) {
  const Header *h = (const Header *)(const void *)image;
  unsigned char digest[DIGEST];
  if (size < sizeof *h + DIGEST)
    return "it is cut off";
  if (memcmp(h->magic, magic, sizeof magic) != 0)
    return "it is not a kernel of pyptx";
  if (h->version != VERSION)
    return "it is of another format";
  if (h->label < 1 || h->label > MAX_LABEL || h->size > MAX_BYTES ||
      size != sizeof *h + h->label + h->size + DIGEST)
    return "its length is not what its header says";
  c->digest(image, size - DIGEST, digest);
  if (memcmp(digest, image + size - DIGEST, DIGEST) != 0)
    return "its checksum is wrong";
  if (memcmp(h->key, key, RT_CACHE_KEY) != 0)
    return "it was renamed";
  return image[sizeof *h + h->label - 1] ? "its label does not end" : NULL;
}

/* The file's contents, malloc'd, or NULL: *fault says why, NULL if there is no such file. */
static char *read_file(const RtCache *c, const char *name, int *fd_out, struct stat *about,
                       const char **fault) {
  *fault = NULL;
  int fd = openat(c->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno != ENOENT)
      *fault = errno == ELOOP ? "it is a link" : "it cannot be opened";
    return NULL;
  }
  char *image = NULL;
  if (fstat(fd, about) || !S_ISREG(about->st_mode))
    *fault = "it is not a file";
  else if ((about->st_uid != geteuid() && about->st_uid != 0) ||
           about->st_mode & (S_IWGRP | S_IWOTH))
    *fault = "other users can write to it";
  else if ((uint64_t)about->st_size > MAX_BYTES + MAX_LABEL)
    *fault = "it is too large";
  else if (!(image = malloc((size_t)about->st_size + 1)) ||
           read_all(fd, image, (size_t)about->st_size))
    *fault = "it cannot be read";
  if (*fault) {
    free(image);
    close(fd);
    return NULL;
  }
  *fd_out = fd;
  return image;
}

RtCacheFound rt_cache_read(RtCache *c, const unsigned char key[RT_CACHE_KEY], RtCacheEntry *out) {
  char name[NAME];
  int fd = -1;
  struct stat about;
  const char *fault;
  memset(out, 0, sizeof *out);
  name_of(name, key, entry_suffix);
  char *image = read_file(c, name, &fd, &about, &fault);
  if (!image)
    return fault ? RT_CACHE_DAMAGED : RT_CACHE_ABSENT;
  fault = fault_of(c, image, (uint64_t)about.st_size, key);
  if (!fault && c->writable) { /* when it was used last; a failure does no harm */
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    (void)!futimens(fd, now);
  }
  close(fd);
  if (fault) {
    free(image);
    return RT_CACHE_DAMAGED;
  }
  const Header *h = (const Header *)(const void *)image;
  out->file = image;
  out->label = image + sizeof *h;
  out->bytes = out->label + h->label;
  out->size = (size_t)h->size;
  return RT_CACHE_FOUND;
}

/* --- the bound --- */

typedef struct Used { /* an entry, by age */
  char name[NAME];
  uint64_t size;
  struct timespec when;
} Used;

typedef struct Listing {
  Used *items;
  size_t n, room;
} Listing;

/* what(user, name, about) for each file of the directory. */
static int walk(const RtCache *c,
                int (*what)(void *user, const char *name, const struct stat *about), void *user) {
  int fd = openat(c->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = fd < 0 ? NULL : fdopendir(fd);
  if (!d) {
    if (fd >= 0)
      close(fd);
    return -1;
  }
  int stop = 0;
  for (struct dirent *e; !stop && (e = readdir(d));) {
    struct stat about;
    if (!fstatat(c->directory, e->d_name, &about, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(about.st_mode))
      stop = what(user, e->d_name, &about);
  }
  closedir(d);
  return stop;
}

static int list_entry(void *user, const char *name, const struct stat *about) {
  Listing *l = user;
  unsigned char key[RT_CACHE_KEY];
  if (!is_name(name, entry_suffix, key))
    return 0;
  if (l->n == l->room) {
    size_t room = l->room ? 2 * l->room : 64;
    Used *items = realloc(l->items, room * sizeof *items);
    if (!items)
      return -1;
    l->items = items;
    l->room = room;
  }
  Used *u = &l->items[l->n++];
  memcpy(u->name, name, strlen(name) + 1);
  u->size = (uint64_t)about->st_size;
  u->when = about->st_mtim;
  return 0;
}

static int by_age(const void *a, const void *b) {
  const struct timespec *x = &((const Used *)a)->when, *y = &((const Used *)b)->when;
  if (x->tv_sec != y->tv_sec)
    return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

enum { STALE_SECONDS = 3600 };

/* What a writer that died left: nobody writes for an hour. */
static int remove_stale(void *user, const char *name, const struct stat *about) {
  const RtCache *c = user;
  unsigned char key[RT_CACHE_KEY];
  if ((is_temporary(name) || is_name(name, lock_suffix, key)) &&
      time(NULL) - about->st_mtim.tv_sec > STALE_SECONDS)
    (void)!unlinkat(c->directory, name, 0);
  return 0;
}

/* A reader that has a file open keeps it; another process may remove the same files: both are fine.
 * `kept` is not removed. */
static void trim(RtCache *c, uint64_t limit, const char *kept) {
  Listing l = {0};
  uint64_t total = 0;
  if (walk(c, list_entry, &l) == 0) {
    for (size_t i = 0; i < l.n; i++)
      total += l.items[i].size;
    if (total > limit) {
      qsort(l.items, l.n, sizeof *l.items, by_age);
      walk(c, remove_stale, c);
    }
    for (size_t i = 0; i < l.n && total > limit; i++)
      if (strcmp(l.items[i].name, kept) != 0) {
        (void)!unlinkat(c->directory, l.items[i].name, 0);
        total -= l.items[i].size;
      }
  }
  free(l.items);
}

/* --- writing --- */

static int write_all(int fd, const char *from, size_t n) {
  while (n) {
    ssize_t put = write(fd, from, n);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return put ? errno : EIO;
    from += put;
    n -= (size_t)put;
  }
  return 0;
}

static char *make_image(const RtCache *c, const unsigned char key[RT_CACHE_KEY], const char *label,
                        const void *bytes, size_t size, size_t *out_size) {
  Header h = {.version = VERSION, .size = size};
  size_t n = strlen(label);
  h.label = (uint32_t)(n < MAX_LABEL ? n : MAX_LABEL - 1) + 1;
  memcpy(h.magic, magic, sizeof magic);
  memcpy(h.key, key, RT_CACHE_KEY);
  size_t total = sizeof h + h.label + size;
  char *image = calloc(1, total + DIGEST);
  if (!image)
    return NULL;
  memcpy(image, &h, sizeof h);
  memcpy(image + sizeof h, label, h.label - 1);
  memcpy(image + sizeof h + h.label, bytes, size);
  c->digest(image, total, (unsigned char *)image + total);
  *out_size = total + DIGEST;
  return image;
}

/* A new file, open; its name is unlike any other's. -1 with errno. */
static int open_temporary(RtCache *c, const unsigned char key[RT_CACHE_KEY], char *name,
                          size_t room) {
  char hex[2 * RT_CACHE_KEY + 1];
  put_key(hex, key);
  for (int attempt = 0; attempt < 100; attempt++) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(name, room, ".%s-%lx-%lx-%llx%s", hex, (unsigned long)getpid(),
             (unsigned long)(uintptr_t)name,
             (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec,
             temporary_suffix);
    int fd = openat(c->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  return -1;
}

/* 0 or an errno. */
static int put_file(RtCache *c, const unsigned char key[RT_CACHE_KEY], const char *name,
                    const char *image, size_t size) {
  char temporary[2 * RT_CACHE_KEY + 80];
  int fd = open_temporary(c, key, temporary, sizeof temporary);
  if (fd < 0)
    return errno;
  int error = write_all(fd, image, size);
  if (!error && fsync(fd))
    error = errno;
  if (close(fd) && !error)
    error = errno;
  if (!error && renameat(c->directory, temporary, c->directory, name))
    error = errno;
  if (error)
    (void)!unlinkat(c->directory, temporary, 0);
  return error;
}

RtStatus rt_cache_write(RtCache *c, const unsigned char key[RT_CACHE_KEY], const char *label,
                        const void *bytes, size_t size, uint64_t limit) {
  size_t total = 0;
  char name[NAME],
      *image = size <= MAX_BYTES ? make_image(c, key, label, bytes, size, &total) : NULL;
  if (!image)
    return rt_fail(RT_NO_MEMORY, "", "no host memory to keep a kernel of %zu bytes", size);
  name_of(name, key, entry_suffix);
  int error = limit && total > limit ? 0 : put_file(c, key, name, image, total);
  free(image);
  if (error)
    return unusable(c->path, "cannot take another kernel", error);
  if (limit)
    trim(c, limit, name);
  return RT_OK;
}

/* --- one maker --- */

static void pause_ms(int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

static int is_still(RtCache *c, const char *name, int fd) { /* or did its holder remove it? */
  struct stat ours, there;
  return !fstat(fd, &ours) && !fstatat(c->directory, name, &there, AT_SYMLINK_NOFOLLOW) &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

RtCacheLock rt_cache_lock(RtCache *c, const unsigned char key[RT_CACHE_KEY], int wait_ms,
                          int *held) {
  char name[NAME];
  name_of(name, key, lock_suffix);
  *held = -1;
  for (int waited = 0, step = 1;;) {
    int fd = openat(c->directory, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
      return RT_CACHE_NO_LOCKS;
    int failed = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
    if (!failed && is_still(c, name, fd)) {
      *held = fd;
      return RT_CACHE_HELD;
    }
    close(fd);
    if (failed && failed != EWOULDBLOCK && failed != EINTR)
      return RT_CACHE_NO_LOCKS;
    if (failed && waited >= wait_ms)
      return RT_CACHE_BUSY;
    if (failed) {
      pause_ms(step);
      waited += step;
      step = step < 16 ? 2 * step : 16;
    }
  }
}

void rt_cache_unlock(RtCache *c, const unsigned char key[RT_CACHE_KEY], int held) {
  char name[NAME];
  if (held < 0)
    return;
  name_of(name, key, lock_suffix);
  (void)!unlinkat(c->directory, name, 0);
  (void)!flock(held, LOCK_UN); /* closing would leave it with a process that was forked meanwhile */
  close(held);
}

/* --- looking and clearing --- */

typedef struct Visit {
  RtCache *c;
  int (*each)(void *, const RtCacheInfo *);
  void *user;
} Visit;

static int visit_entry(void *user, const char *name, const struct stat *about) {
  const Visit *v = user;
  unsigned char key[RT_CACHE_KEY];
  if (!is_name(name, entry_suffix, key))
    return 0;
  RtCacheInfo info = {.size = (uint64_t)about->st_size, .label = ""};
  info.used = (double)about->st_mtim.tv_sec + 1e-9 * (double)about->st_mtim.tv_nsec;
  memcpy(info.name, name, strlen(name) + 1);
  struct stat now;
  int fd = -1;
  char *image = read_file(v->c, name, &fd, &now, &info.fault);
  if (!image && !info.fault)
    return 0; /* gone */
  if (image) {
    close(fd);
    info.fault = fault_of(v->c, image, (uint64_t)now.st_size, key);
    if (!info.fault)
      info.label = image + sizeof(Header);
  }
  int stop = v->each(v->user, &info);
  free(image);
  return stop;
}

RtStatus rt_cache_list(RtCache *c, int (*each)(void *user, const RtCacheInfo *info), void *user) {
  Visit v = {c, each, user};
  errno = 0;
  if (walk(c, visit_entry, &v) < 0 && errno)
    return unusable(c->path, "cannot be listed", errno);
  return RT_OK;
}

typedef struct Clearing {
  RtCache *c;
  int only_damaged;
  uint64_t files, bytes;
} Clearing;

static int clear_entry(void *user, const RtCacheInfo *info) {
  Clearing *k = user;
  if (k->only_damaged && !info->fault)
    return 0;
  if (!unlinkat(k->c->directory, info->name, 0)) {
    k->files++;
    k->bytes += info->size;
  }
  return 0;
}

RtStatus rt_cache_clear(RtCache *c, int only_damaged, uint64_t *files, uint64_t *bytes) {
  Clearing k = {c, only_damaged, 0, 0};
  TRY(rt_cache_list(c, clear_entry, &k));
  walk(c, remove_stale, c);
  *files = k.files;
  *bytes = k.bytes;
  return RT_OK;
}
