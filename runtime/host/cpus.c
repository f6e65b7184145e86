/* Cpus: affinity mask and cgroup quota.
 *
 * In: the kernel's view of this process (sched_getaffinity, /proc/self/cgroup, /sys/fs/cgroup).
 * Out: a count >= 1. A file that is not there or does not parse means no limit. */
#include "runtime/host/cpus.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned count_affinity(void) {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    size_t size = CPU_ALLOC_SIZE(cpus);
    int found = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (found > 0)
      return (unsigned)found;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

/* Two numbers of a file, as "quota period" of cpu.max; "max" leaves *quota at -1. */
static void read_quota(const char *path, long *quota, long *period) {
  FILE *f = fopen(path, "re");
  if (!f)
    return;
  long q, p;
  int n = fscanf(f, "%ld %ld", &q, &p);
  if (n >= 1)
    *quota = q;
  if (n == 2)
    *period = p;
  fclose(f);
}

static unsigned limit_by(unsigned cpus, long quota, long period) {
  if (quota <= 0 || period <= 0)
    return cpus;
  long allowed = quota / period + (quota % period != 0);
  return allowed < (long)cpus ? (unsigned)(allowed < 1 ? 1 : allowed) : cpus;
}

/* The smallest quota from the process's own group up to the root of what is mounted. */
static unsigned limit_v2(unsigned cpus) {
  char line[1024], path[1200];
  FILE *f = fopen("/proc/self/cgroup", "re");
  char group[1024] = "";
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, "0::", 3) == 0) {
      line[strcspn(line, "\n")] = 0;
      snprintf(group, sizeof group, "%s", line + 3);
    }
  }
  if (f)
    fclose(f);
  for (;;) {
    long quota = -1, period = 100000;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", strcmp(group, "/") ? group : "");
    read_quota(path, &quota, &period);
    cpus = limit_by(cpus, quota, period);
    char *slash = strrchr(group, '/');
    if (!slash)
      return cpus;
    *slash = 0;
  }
}

static unsigned limit_v1(unsigned cpus) {
  long quota = -1, period = -1, unused = 0;
  read_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota, &unused);
  read_quota("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period, &unused);
  return limit_by(cpus, quota, period);
}

unsigned rt_cpus_usable(void) {
  unsigned cpus = limit_v1(limit_v2(count_affinity()));
  return cpus ? cpus : 1;
}
