/* Cpus: how many processors this process may keep busy. */
#ifndef PYPTX_RUNTIME_HOST_CPUS_H
#define PYPTX_RUNTIME_HOST_CPUS_H

/* The affinity mask's count, lowered by the CPU quota of the process's cgroup (v2 or v1) where
 * there is one, rounded up; >= 1. */
unsigned rt_cpus_usable(void);

#endif
