/* Launches with attributes: in, a configuration whose cluster or dependent is not 0; out, a launch
 * whose blocks are scheduled so many at a time on neighbouring multiprocessors, or which may begin
 * while the one in front of it runs. On the host device a cluster is checked as on a GPU; its
 * blocks take turns where they wait for one another (runtime/host), and else run as they come.
 * Launches run one after the other there. */
#include "runtime/launch/cluster.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/stream_state.h"

enum { FIRST_CAPABILITY = 90, PORTABLE_BLOCKS = 8, MOST_BLOCKS = 16, MANY_CLUSTERS = 1 << 20 };

static RtStatus check_device(const RtKernel *k, const RtConfig *c) {
  int capability = rt_device_capability(k->device);
  if (rt_is_host(k->device) || (capability >= FIRST_CAPABILITY && rt_cu.cuLaunchKernelEx))
    return RT_OK;
  const char *what = c->cluster[0] ? "clusters" : "dependent launches";
  if (capability < FIRST_CAPABILITY)
    return rt_fail(RT_BAD_LAUNCH,
                   c->cluster[0] ? "launch without cluster= on this GPU"
                                 : "launch without programmatic_dependent_launch= on this GPU",
                   "kernel '%s': %s need compute capability 9.0, and %s has %d.%d", k->name, what,
                   k->device->label, capability / 10, capability % 10);
  return rt_fail(RT_BAD_LAUNCH, "update the NVIDIA driver: CUDA 11.8 brought them",
                 "kernel '%s': this driver knows no %s", k->name, what);
}

static RtStatus check_cluster(const RtKernel *k, const RtConfig *c) {
  const uint32_t *n = c->cluster;
  uint64_t blocks = (uint64_t)n[0] * n[1];
  blocks = blocks > MOST_BLOCKS ? blocks : blocks * n[2];
  if (blocks > MOST_BLOCKS)
    return rt_fail(RT_BAD_LAUNCH,
                   "use a smaller cluster: 8 blocks run on every GPU that has clusters, 16 on some",
                   "kernel '%s': a cluster of (%u, %u, %u) blocks; it can have at most %d", k->name,
                   n[0], n[1], n[2], MOST_BLOCKS);
  for (int i = 0; i < 3; i++)
    if (c->grid[i] % n[i])
      return rt_fail(
          RT_BAD_LAUNCH, "round the grid up to a multiple of the cluster",
          "kernel '%s': the grid (%u, %u, %u) is not a multiple of the cluster (%u, %u, %u)",
          k->name, c->grid[0], c->grid[1], c->grid[2], n[0], n[1], n[2]);
  return RT_OK;
}

RtStatus rt_attributes_check(const RtKernel *k, const RtConfig *c) {
  TRY(check_device(k, c));
  if (!rt_kernel_is_cooperative(k))
    return c->cluster[0] ? check_cluster(k, c) : RT_OK;
  return rt_fail(RT_BAD_LAUNCH,
                 c->cluster[0] ? "launch it without cluster="
                               : "launch it without programmatic_dependent_launch=",
                 "kernel '%s' synchronises its grid: such a launch takes no %s", k->name,
                 c->cluster[0] ? "cluster" : "programmatic_dependent_launch");
}

/* The driver wants to be told of clusters that not every GPU has. Twice does no harm. */
static int allow_large(const RtKernel *k, const RtConfig *c) {
  return c->cluster[0] * c->cluster[1] * c->cluster[2] <= PORTABLE_BLOCKS
             ? CUDA_SUCCESS
             : rt_cu.cuFuncSetAttribute(rt_own_function(k), CU_FUNC_NON_PORTABLE_CLUSTER, 1);
}

/* The driver's form of it; attributes: room for two. */
static CUlaunchConfig config_of(const RtConfig *c, CUlaunchAttribute *attributes) {
  unsigned n = 0;
  if (c->cluster[0])
    attributes[n++] = (CUlaunchAttribute){
        .id = CU_LAUNCH_CLUSTER, .value.cluster = {c->cluster[0], c->cluster[1], c->cluster[2]}};
  if (c->dependent)
    attributes[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_DEPENDENT, .value.allowed = 1};
  return (CUlaunchConfig){.grid = {c->grid[0], c->grid[1], c->grid[2]},
                          .block = {c->block[0], c->block[1], c->block[2]},
                          .dynamic_shared = c->dynamic_shared,
                          .stream = rt_handle(c->stream),
                          .attributes = attributes,
                          .nattributes = n};
}

static int queue(const RtKernel *k, const RtConfig *c, void *params, const char **call) {
  int result = allow_large(k, c);
  *call = "cuFuncSetAttribute";
  if (result != CUDA_SUCCESS)
    return result;
  CUlaunchAttribute attributes[2] = {{0}};
  CUlaunchConfig config = config_of(c, attributes);
  size_t bytes = k->plain_bytes;
  void *extra[] = {CU_PARAM_BUFFER, params, CU_PARAM_BUFFER_SIZE, &bytes, CU_PARAM_END};
  *call = "cuLaunchKernelEx";
  return rt_cu.cuLaunchKernelEx(&config, rt_own_function(k), NULL, bytes ? extra : NULL);
}

static RtStatus gpu_clusters(RtKernel *k, const RtConfig *c, uint32_t *clusters) {
  int most = 0;
  if (!rt_cu.cuOccupancyMaxActiveClusters)
    return rt_fail(RT_BAD_LAUNCH, "update the NVIDIA driver: CUDA 11.8 brought them",
                   "kernel '%s': this driver knows no clusters", k->name);
  if (c->dynamic_shared > atomic_load_explicit(&k->allowed_dynamic, memory_order_relaxed))
    TRY(rt_allow_dynamic(k));
  ENTER(k->device);
  int result = allow_large(k, c);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuFuncSetAttribute", k->name);
  CUlaunchAttribute attributes[2] = {{0}};
  CUlaunchConfig config = config_of(c, attributes);
  for (int i = 0; i < 3; i++) /* the driver says no more than the grid has */
    config.grid[i] = c->cluster[i] * (i ? 1 : MANY_CLUSTERS);
  result = rt_cu.cuOccupancyMaxActiveClusters(&most, rt_own_function(k), &config);
  if (result != CUDA_SUCCESS)
    return rt_driver_status_of(result, "cuOccupancyMaxActiveClusters", k->name);
  *clusters = most > 0 ? (uint32_t)most : 0;
  return RT_OK;
}

RtStatus rt_kernel_clusters(RtKernel *k, const RtConfig *c, uint32_t *clusters) {
  uint64_t threads = (uint64_t)c->block[0] * c->block[1];
  threads = threads > UINT32_MAX ? threads : threads * c->block[2];
  *clusters = 0;
  TRY(rt_attributes_check(k, c));
  if (threads > k->threads || c->dynamic_shared > k->max_dynamic)
    return RT_OK; /* not even one */
  if (!rt_is_host(k->device))
    return gpu_clusters(k, c, clusters);
  *clusters = rt_host_threads();
  return RT_OK;
}

RtStatus rt_launch_attributes(RtKernel *k, const RtConfig *c, void *params) {
  const char *call;
  RtContext was SCOPED = {0};
  TRY(rt_attributes_check(k, c));
  int result = queue(k, c, params, &call);
  if (rt_is_wrong_context(result)) {
    TRY(rt_enter(&was, k->device));
    result = queue(k, c, params, &call);
  }
  return rt_launch_refused(k, result, call);
}
