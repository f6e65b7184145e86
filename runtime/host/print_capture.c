/* Print capture: see print_capture.h. */
#include "runtime/host/print_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  int file;            /* -1: none yet */
  int own;             /* file descriptor 1 as it was; -1: not open */
  unsigned host, gpus; /* captures that last */
  off_t taken;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1, .own = -1};

static _Atomic int print_file = STDOUT_FILENO;

int rt_print_file(void) { return atomic_load_explicit(&print_file, memory_order_relaxed); }

void rt_print_write(int file, const char *text, size_t n) {
  while (n) {
    ssize_t done = write(file, text, n);
    if (done < 0 && errno != EINTR)
      return;
    if (done > 0)
      text += done, n -= (size_t)done;
  }
}

/* --- fork: the child has no captures, and must not share the file's position --- */

static void restore_stdout(void) {
  if (kept.own >= 0) {
    (void)dup2(kept.own, STDOUT_FILENO);
    close(kept.own);
  } else {
    close(STDOUT_FILENO);
  }
  kept.own = -1;
}

static void before_fork(void) { pthread_mutex_lock(&kept.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&kept.lock); }

static void after_fork_child(void) {
  if (kept.gpus)
    restore_stdout();
  if (kept.file >= 0)
    close(kept.file);
  kept.file = -1;
  kept.host = kept.gpus = 0;
  kept.taken = 0;
  atomic_store(&print_file, STDOUT_FILENO);
  pthread_mutex_unlock(&kept.lock);
}

static void watch_fork(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

/* --- captures --- */

/* Opened for appending, so that writers of two descriptors never overwrite one another. */
static bool open_file(void) {
  if (kept.file >= 0)
    return true;
  int file = memfd_create("pyptx prints", MFD_CLOEXEC);
  if (file >= 0 && fcntl(file, F_SETFL, O_APPEND) == 0) {
    kept.file = file;
    return true;
  }
  if (file >= 0)
    close(file);
  return false;
}

/* C's stdout, which the driver may print through, holds text back. */
static bool redirect_stdout(void) {
  (void)fflush(stdout);
  kept.own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept.own < 0 && errno != EBADF)
    return false;
  if (dup2(kept.file, STDOUT_FILENO) >= 0)
    return true;
  if (kept.own >= 0)
    close(kept.own);
  kept.own = -1;
  return false;
}

bool rt_print_capture_begin(bool gpu) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_fork);
  pthread_mutex_lock(&kept.lock);
  bool begun = open_file() && (!gpu || kept.gpus || redirect_stdout());
  if (begun)
    *(gpu ? &kept.gpus : &kept.host) += 1;
  if (kept.host)
    atomic_store(&print_file, kept.file);
  pthread_mutex_unlock(&kept.lock);
  return begun;
}

/* A capture that a fork has ended is over already. */
void rt_print_capture_end(bool gpu) {
  pthread_mutex_lock(&kept.lock);
  if (gpu && kept.gpus) {
    (void)fflush(stdout);
    if (!--kept.gpus)
      restore_stdout();
  } else if (!gpu && kept.host && !--kept.host) {
    atomic_store(&print_file, STDOUT_FILENO);
  }
  pthread_mutex_unlock(&kept.lock);
}

char *rt_print_take(size_t *n) {
  char *text = NULL;
  struct stat s;
  *n = 0;
  pthread_mutex_lock(&kept.lock);
  if (kept.file >= 0 && fstat(kept.file, &s) == 0 && s.st_size > kept.taken &&
      (text = malloc((size_t)(s.st_size - kept.taken)))) {
    ssize_t got = pread(kept.file, text, (size_t)(s.st_size - kept.taken), kept.taken);
    *n = got > 0 ? (size_t)got : 0;
    kept.taken += (off_t)*n;
    /* nobody writes to it now, but a process that was started meanwhile: to its end */
    if (!kept.host && !kept.gpus && kept.taken == s.st_size && ftruncate(kept.file, 0) == 0)
      kept.taken = 0;
  }
  pthread_mutex_unlock(&kept.lock);
  return text;
}

void rt_print_put_back(const char *text, size_t n) {
  pthread_mutex_lock(&kept.lock);
  if (kept.file >= 0)
    rt_print_write(kept.file, text, n);
  pthread_mutex_unlock(&kept.lock);
}
