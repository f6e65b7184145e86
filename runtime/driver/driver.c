/* Driver: libcuda, found and opened at first use, never at import. In: PYPTX_DRIVER (a file that
 * replaces the search) and the places of driver_files. Out: rt_cu, filled before the phase
 * becomes OPEN and constant from then on.
 *
 * Loading (dlopen, version) and opening (cuInit) are two steps, so that a process that only
 * asked for the version may still fork. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/device.h"
#include "runtime/driver/driver.h"

RtDriver rt_cu;
_Atomic int rt_phase = RT_PHASE_CLOSED;

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int driver_version; /* not 0: loaded */
static char driver_path[1024];

static const char *const driver_files[] = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", /* Jetson: Orin and later, then older */
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
};

static const char no_driver_remedy[] =
    "install the NVIDIA driver (`nvidia-smi` tells whether it works; in a container: --gpus all), "
    "or run on the CPU with PYPTX_DEVICE=host";

/* --- fork and exit --- */

/* CUDA does not survive a fork. The child's one thread is a copy of the one that forked: its
 * current device is forgotten, so that its next call takes the slow path, which reports the
 * phase. */
static _Thread_local int opening; /* this thread holds the lock */

static void lock_driver(void) {
  pthread_mutex_lock(&driver_lock);
  opening = 1;
}

static void unlock_driver(void) {
  opening = 0;
  pthread_mutex_unlock(&driver_lock);
}

/* cuInit forks itself where the kernel's module is not loaded yet: to run nvidia-modprobe. */
static void before_fork(void) {
  if (!opening)
    pthread_mutex_lock(&driver_lock);
}
static void after_fork(void) {
  if (!opening)
    pthread_mutex_unlock(&driver_lock);
}
static void in_child(void) {
  if (rt_phase == RT_PHASE_OPEN)
    rt_phase = RT_PHASE_FORKED;
  rt_current = NULL;
  after_fork();
}

/* Registered after cuInit, so it runs before libcuda's own handlers. */
static void at_exit(void) { rt_phase = RT_PHASE_ENDED; }

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

/* --- loading --- */

typedef struct Entry {
  const char *symbol;
  size_t offset;
  int optional;
} Entry;

static const Entry entries[] = {
#define ENTRY(name, symbol, params)    {symbol, offsetof(RtDriver, name), 0},
#define OPTIONAL(name, symbol, params) {symbol, offsetof(RtDriver, name), 1},
#include "runtime/driver/driver.def"
#undef ENTRY
#undef OPTIONAL
};

static RtStatus find_entries(void *library, RtDriver *out) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *address = dlsym(library, entries[i].symbol);
    if (!address && !entries[i].optional)
      return rt_fail(RT_NO_DRIVER,
                     "update the NVIDIA driver: CUDA 11.2 is the oldest that pyptx takes",
                     "the driver lacks %s", entries[i].symbol);
    memcpy((char *)out + entries[i].offset, &address, sizeof address);
  }
  return RT_OK;
}

static void *open_library(char *why, size_t size) {
  const char *own = getenv("PYPTX_DRIVER");
  if (own && *own) {
    void *library = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      snprintf(why, size, "PYPTX_DRIVER: %s", dlerror());
    return library;
  }
  for (size_t i = 0; i < sizeof driver_files / sizeof *driver_files; i++) {
    void *library = dlopen(driver_files[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
      return library;
    if (i == 0)
      snprintf(why, size, "%s", dlerror());
  }
  return NULL;
}

static RtStatus load_locked(void) {
  char why[400] = "";
  void *library = open_library(why, sizeof why);
  if (!library)
    return rt_fail(RT_NO_DRIVER, no_driver_remedy, "the CUDA driver was not found: %s", why);
  RtDriver found = {0};
  int version = 0;
  RtStatus status = find_entries(library, &found);
  if (status == RT_OK)
    status = rt_driver_check(found.cuDriverGetVersion(&version), "cuDriverGetVersion");
  if (status == RT_OK && version <= 0)
    status = rt_fail(RT_NO_DRIVER, no_driver_remedy, "the CUDA driver's version is %d", version);
  if (status != RT_OK) {
    dlclose(library);
    return status;
  }
  Dl_info info;
  if (dladdr(dlsym(library, "cuInit"), &info) && info.dli_fname)
    snprintf(driver_path, sizeof driver_path, "%s", info.dli_fname);
  rt_cu = found;
  atomic_store(&driver_version, version);
  return RT_OK; /* the library stays open until the process ends */
}

/* Opens libcuda, and does not initialise it: safe before a fork. */
static RtStatus load_driver(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (atomic_load(&driver_version))
    return RT_OK;
  pthread_once(&once, watch_forks);
  lock_driver();
  RtStatus status = atomic_load(&driver_version) ? RT_OK : load_locked();
  unlock_driver();
  return status;
}

static RtStatus init_locked(void) {
  TRY(CU(cuInit, (0)));
  static int registered;
  if (!registered)
    registered = atexit(at_exit) == 0;
  rt_phase = RT_PHASE_OPEN;
  return RT_OK;
}

RtStatus rt_driver_open(void) {
  if (rt_phase == RT_PHASE_OPEN)
    return RT_OK;
  if (rt_phase != RT_PHASE_CLOSED)
    return rt_driver_unusable();
  TRY(load_driver());
  lock_driver();
  RtStatus status = rt_phase == RT_PHASE_CLOSED ? init_locked() : RT_OK;
  unlock_driver();
  return status;
}

RtStatus rt_driver_unusable(void) {
  if (rt_phase == RT_PHASE_FORKED)
    return rt_fail(
        RT_FAILED,
        "start processes before the first use of the GPU, or with multiprocessing.set_start_method(\"spawn\") (or "
        "\"forkserver\")",
        "CUDA initialized before forking: this process was forked from one that had already used the GPU, and CUDA does not work in such a child");
  if (rt_phase == RT_PHASE_ENDED)
    return rt_fail(RT_FAILED, "use the GPU before the process ends",
                   "the process is ending and the CUDA driver has shut down");
  return rt_fail(RT_NO_DRIVER, no_driver_remedy, "the CUDA driver has not been initialised");
}

int rt_driver_is_over(void) { return rt_phase == RT_PHASE_FORKED || rt_phase == RT_PHASE_ENDED; }

/* --- versions --- */

int rt_driver_version(void) { return load_driver() == RT_OK ? atomic_load(&driver_version) : 0; }

const char *rt_driver_path(void) { return load_driver() == RT_OK ? driver_path : NULL; }

/* The newest PTX ISA that the compiler in each driver takes: the release table in the PTX ISA
 * manual. Newest first. */
static const struct {
  int cuda, ptx;
} ptx_versions[] = {
    {13010, 91}, {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
    {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77}, {11060, 76},
    {11050, 75}, {11040, 74}, {11030, 73}, {11020, 72}, {11010, 71}, {11000, 70},
};

int rt_driver_ptx_version(void) {
  int version = rt_driver_version();
  for (size_t i = 0; i < sizeof ptx_versions / sizeof *ptx_versions; i++)
    if (version >= ptx_versions[i].cuda)
      return ptx_versions[i].ptx;
  return 0;
}
