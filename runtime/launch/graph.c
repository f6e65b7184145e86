/* Graph: in, what a thread does between begin and end; out, a list of nodes and, on a GPU, the
 * driver's executable graph.
 *
 * rt_capture is the graph that this thread captures. While it is set rt_current stays NULL, so that
 * a launch leaves its fast path and comes here without a test of its own. A call that is passed on
 * from here to the function that it came from is made with rt_capture put aside.
 *
 * The host device knows the order of streams and events as the driver does: each stream has a last
 * mark, each mark up to two before it. */
#include "runtime/launch/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/host/host.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/stream_state.h"
#include "runtime/memory/memory.h"

typedef struct Node {
  RtNodeInfo info;
  RtKernel *kernel;
  void *params;       /* KERNEL: ours */
  CUgraphNode handle; /* GPU, KERNEL */
  uint64_t to, from;  /* COPY, FILL: host addresses, of the host device */
  uint8_t byte;
} Node;

typedef struct Nodes {
  Node *at;
  uint32_t n, room;
} Nodes;

typedef struct Mark {
  int32_t before[2]; /* -1: none */
  uint8_t work;      /* a node; else a wait for an event */
} Mark;

typedef struct Word { /* memory of a cooperative launch */
  uint64_t address;
  size_t bytes;
} Word;

struct RtGraph {
  RtDevice *device;
  uint32_t epoch;
  CUgraph graph; /* that exec was made from: its nodes name what is updated */
  CUgraphExec exec;
  Nodes nodes;
  Word *words;
  uint32_t nwords;
  pthread_mutex_t lock; /* launches and updates, one at a time */
  int ready, broken;
  /* the capture in progress */
  RtStream *stream, *side; /* side: where memory comes from meanwhile */
  uint64_t id;
  Nodes fresh;
  Word *fresh_words;
  uint32_t nfresh_words;
  Mark *marks; /* host */
  uint32_t nmarks, mark_room;
};

_Thread_local RtGraph *rt_capture, *rt_passing;
_Atomic unsigned rt_captures;
static _Atomic uint64_t last_id;

/* --- nodes --- */

static void nodes_clear(Nodes *nodes) {
  for (uint32_t i = 0; i < nodes->n; i++)
    free(nodes->at[i].params);
  free(nodes->at);
  *nodes = (Nodes){0};
}

static RtStatus no_memory(void) { return rt_fail(RT_NO_MEMORY, "", "no host memory for a graph"); }

/* Room for one node more, so that what the driver has recorded is never lost. */
static RtStatus reserve(RtGraph *g) {
  Nodes *nodes = &g->fresh;
  if (nodes->n < nodes->room)
    return RT_OK;
  uint32_t room = nodes->room ? 2 * nodes->room : 16;
  Node *grown = realloc(nodes->at, sizeof *grown * room);
  if (!grown)
    return no_memory();
  nodes->at = grown;
  nodes->room = room;
  return RT_OK;
}

/* --- the host's order of streams --- */

static RtStatus add_mark(RtGraph *g, int32_t before, int32_t other, int work, int32_t *out) {
  if (g->nmarks == g->mark_room) {
    uint32_t room = g->mark_room ? 2 * g->mark_room : 32;
    Mark *grown = realloc(g->marks, sizeof *grown * room);
    if (!grown)
      return no_memory();
    g->marks = grown;
    g->mark_room = room;
  }
  assert(before < (int32_t)g->nmarks && other < (int32_t)g->nmarks); /* marks are made in order */
  *out = (int32_t)g->nmarks;
  g->marks[g->nmarks++] = (Mark){{before, other}, (uint8_t)work};
  return RT_OK;
}

static RtStatus work_on(RtGraph *g, RtStream *s) {
  return rt_is_host(g->device) ? add_mark(g, s->mark, -1, 1, &s->mark) : RT_OK;
}

/* Does everything lead to the graph's stream? Marks are made in order, so one walk back finds
 * it. */
static RtStatus check_joined(RtGraph *g) {
  uint8_t *reached = calloc(g->nmarks + 1, 1);
  if (!reached)
    return no_memory();
  int lost = 0;
  if (g->stream->mark >= 0)
    reached[g->stream->mark] = 1;
  for (uint32_t i = g->nmarks; i-- > 0;) {
    lost |= !reached[i];
    for (int k = 0; k < 2 && reached[i]; k++)
      if (g->marks[i].before[k] >= 0)
        reached[g->marks[i].before[k]] = 1;
  }
  free(reached);
  return lost ? rt_driver_status(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "cuda.graph") : RT_OK;
}

/* --- what belongs to a capture --- */

static int gpu_takes(RtGraph *g, const RtStream *s) {
  int status = 0;
  cuuint64_t id = 0;
  RtContext was SCOPED = {0};
  if (!rt_cu.cuStreamGetCaptureInfo || rt_enter(&was, g->device) != RT_OK ||
      rt_cu.cuStreamGetCaptureInfo(s->handle, &status, &id, NULL, NULL, NULL) != CUDA_SUCCESS)
    return 0;
  return status == CU_CAPTURE_ACTIVE && id == g->id;
}

/* Would work on s (NULL: the default stream) become a node of what this thread captures? */
static int graph_takes(RtDevice *d, RtStream *s) {
  RtGraph *g = rt_capture;
  if (!g || d != g->device)
    return 0;
  if (!s || s == g->stream)
    return 1;
  return rt_is_host(d) ? s->capture == g->id : gpu_takes(g, s);
}

/* The rest of a call as if nothing were captured; resume puts back what suspend took. */
static RtGraph *suspend(void) {
  RtGraph *g = rt_capture;
  assert(g && !rt_passing && !rt_current);
  rt_capture = NULL;
  rt_passing = g;
  return g;
}

static void resume(RtGraph *g) {
  assert(rt_passing == g && !rt_capture);
  rt_capture = g;
  rt_passing = NULL;
  rt_current = NULL;
}

/* The driver's graph and ours must agree, so a capture in which a call failed cannot be kept. */
static RtStatus recorded(RtGraph *g, RtStatus status) {
  if (status == RT_OK)
    return RT_CAPTURED;
  g->broken = 1;
  return status;
}

/* --- launches --- */

/* The node that the driver has just added to what s does. */
static RtStatus last_node(const RtStream *s, CUgraphNode *node) {
  int status = 0;
  cuuint64_t id = 0;
  const CUgraphNode *before = NULL;
  size_t n = 0;
  CUgraph graph = NULL;
  ENTER(s->device);
  TRY(CU(cuStreamGetCaptureInfo, (s->handle, &status, &id, &graph, &before, &n)));
  *node = n == 1 ? before[0] : NULL;
  return RT_OK;
}

static RtStatus keep_launch(RtGraph *g, RtKernel *k, const RtConfig *c, const void *params) {
  Node node = {.info = {.kind = RT_NODE_KERNEL, .config = *c}, .kernel = k};
  node.info.config.stream = NULL;
  if (!rt_is_host(g->device))
    TRY(last_node(c->stream, &node.handle));
  node.params = malloc(k->param_bytes + 1);
  if (!node.params)
    return no_memory();
  memcpy(node.params, params, k->param_bytes);
  assert(g->fresh.n < g->fresh.room);
  g->fresh.at[g->fresh.n++] = node;
  return RT_OK;
}

RtStatus rt_capture_launch(RtKernel *k, const RtConfig *config, void *params, RtTrap *trap) {
  RtConfig c = *config;
  int takes = graph_takes(k->device, c.stream);
  RtGraph *g = suspend();
  RtStatus status = RT_OK;
  if (takes && !c.stream)
    c.stream = g->stream;
  if (takes)
    status = reserve(g);
  if (status == RT_OK && (!takes || !rt_is_host(k->device)))
    status = rt_launch(k, &c, params, trap);
  if (status == RT_OK && takes)
    status = work_on(g, c.stream);
  if (status == RT_OK && takes)
    status = keep_launch(g, k, &c, params);
  resume(g);
  return takes && status != RT_NO_ENTRY ? recorded(g, status) : status;
}

/* --- copies --- */

/* The driver reads pageable memory when the call is made, which a graph cannot. */
static RtStatus check_pinned(const RtCopy *c) {
  const void *host = c->way == RT_COPY_TO_HOST     ? (const void *)(uintptr_t)c->to
                     : c->way == RT_COPY_TO_DEVICE ? (const void *)(uintptr_t)c->from
                                                   : NULL;
  int ordinal;
  if (!host || rt_pointer_is_known((uintptr_t)host, &ordinal))
    return RT_OK;
  return rt_fail(
      RT_BAD_ARGUMENT,
      "make the host array with cuda.pinned_array(), or copy before or after the capture",
      "a graph cannot copy from or to pageable host memory");
}

static RtStatus copy_now(const RtCopy *c, RtDevice *d, RtStream *s) {
  switch (c->way) {
  case RT_COPY_TO_DEVICE:
    return rt_copy_to_device(d, c->to, (const void *)(uintptr_t)c->from, c->bytes, s);
  case RT_COPY_TO_HOST: return rt_copy_to_host(d, (void *)(uintptr_t)c->to, c->from, c->bytes, s);
  case RT_COPY_ON_DEVICE: return rt_copy_on_device(d, c->to, c->from, c->bytes, s);
  case RT_COPY_FILL: break;
  }
  return rt_fill(d, c->to, c->byte, c->bytes, s);
}

RtStatus rt_capture_copy(RtDevice *d, RtStream *s, RtCopy c) {
  int takes = graph_takes(d, s);
  RtGraph *g = suspend();
  RtStatus status = takes ? reserve(g) : RT_OK;
  if (takes && !s)
    s = g->stream;
  if (status == RT_OK && takes && !rt_is_host(d))
    status = check_pinned(&c);
  if (status == RT_OK && (!takes || !rt_is_host(d)))
    status = copy_now(&c, d, s);
  if (status == RT_OK && takes)
    status = work_on(g, s);
  if (status == RT_OK && takes)
    g->fresh.at[g->fresh.n++] = (Node){
        .info = {.kind = c.way == RT_COPY_FILL ? RT_NODE_FILL : RT_NODE_COPY, .bytes = c.bytes},
        .to = c.to,
        .from = c.from,
        .byte = c.byte};
  resume(g);
  return takes ? recorded(g, status) : status;
}

/* --- memory meanwhile --- */

/* From a stream of its own, which the end of the capture waits for: no node, and no order that the
 * capture would have to know. */
static RtStatus alloc_apart(RtGraph *g, RtDevice *d, size_t bytes, uint64_t *address) {
  int ours = d == g->device && !rt_is_host(d);
  if (ours && !g->side)
    TRY(rt_stream_new_apart(d, &g->side));
  return rt_alloc(d, bytes, ours ? g->side : NULL, address);
}

RtStatus rt_capture_alloc(RtDevice *d, size_t bytes, uint64_t *address) {
  RtGraph *g = suspend();
  RtStatus status = alloc_apart(g, d, bytes, address);
  resume(g);
  return status;
}

RtStatus rt_passing_alloc(RtDevice *d, size_t bytes, uint64_t *address) {
  RtGraph *g = rt_passing;
  Word *grown = realloc(g->fresh_words, sizeof *grown * (g->nfresh_words + 1));
  if (!grown)
    return no_memory();
  g->fresh_words = grown;
  TRY(alloc_apart(g, d, bytes, address));
  grown[g->nfresh_words++] = (Word){*address, bytes};
  return RT_OK;
}

typedef struct Deferred {
  struct Deferred *next;
  RtDevice *device;
  uint64_t address;
  size_t bytes;
  uint32_t epoch;
} Deferred;

static Deferred *deferred;
static pthread_mutex_t deferred_lock = PTHREAD_MUTEX_INITIALIZER;

int rt_capture_defer(RtDevice *d, uint64_t address, size_t bytes) {
  Deferred *one = malloc(sizeof *one);
  if (!one)
    return 0;
  *one = (Deferred){.device = d, .address = address, .bytes = bytes, .epoch = rt_epoch(d)};
  pthread_mutex_lock(&deferred_lock);
  one->next = deferred;
  deferred = one;
  pthread_mutex_unlock(&deferred_lock);
  return 1;
}

/* The stream that used it last may be gone by now, so this waits for all of them. */
static void free_deferred(void) {
  pthread_mutex_lock(&deferred_lock);
  Deferred *list = deferred;
  deferred = NULL;
  pthread_mutex_unlock(&deferred_lock);
  RtDevice *idle = NULL;
  while (list) {
    RtContext was SCOPED = {0};
    Deferred *next = list->next;
    if (list->device != idle && rt_enter_alive(&was, list->device, list->epoch))
      rt_cu.cuCtxSynchronize();
    idle = list->device;
    if (list->epoch == rt_epoch(list->device))
      rt_free(list->device, list->address, list->bytes, NULL);
    free(list);
    list = next;
  }
}

static void free_words(RtGraph *g, Word **words, uint32_t *n) {
  for (uint32_t i = 0; i < *n && g->epoch == rt_epoch(g->device); i++)
    rt_free(g->device, (*words)[i].address, (*words)[i].bytes, NULL);
  free(*words);
  *words = NULL;
  *n = 0;
}

/* --- waiting, and events --- */

RtStream *rt_stream_now(RtDevice *d, RtStream *s) {
  return s || !rt_capture || rt_capture->device != d ? s : rt_capture->stream;
}

RtStatus rt_capture_wait(RtDevice *d, RtStream *s) {
  if (!graph_takes(d, s))
    return RT_OK;
  return rt_fail(RT_BAD_ARGUMENT, "synchronize after the capture, when the graph has been launched",
                 "nothing runs while a graph is captured, so there is nothing to wait for");
}

RtStatus rt_capture_record(RtDevice *d, RtStream *s, uint64_t *capture, int32_t *mark) {
  RtGraph *g = rt_capture;
  *capture = 0;
  if (!g || !graph_takes(d, s))
    return RT_OK;
  *capture = g->id;
  *mark = (s ? s : g->stream)->mark;
  return RT_OK;
}

static RtStatus apart(void) {
  return rt_fail(RT_BAD_ARGUMENT,
                 "wait for it before the capture begins, or record it in the capture",
                 "a stream that is captured waits for an event that is not part of the capture");
}

RtStatus rt_capture_join(RtDevice *d, RtStream *s, uint64_t capture, int32_t mark) {
  RtGraph *g = rt_capture;
  int ours = g && capture == g->id;
  if (!ours && capture)
    return rt_driver_status(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "event.wait");
  if (!ours)
    return graph_takes(d, s) ? apart() : RT_OK;
  if (!s)
    s = g->stream;
  if (s->capture != g->id)
    s->mark = -1;
  s->capture = g->id;
  return rt_is_host(d) ? add_mark(g, s->mark, mark, 0, &s->mark) : RT_OK;
}

/* --- begin and end --- */

static RtStatus check_driver(void) {
  if (rt_cu.cuStreamBeginCapture && rt_cu.cuStreamEndCapture && rt_cu.cuStreamGetCaptureInfo &&
      rt_cu.cuGraphInstantiate && rt_cu.cuGraphLaunch && rt_cu.cuGraphDestroy &&
      rt_cu.cuGraphExecDestroy && rt_cu.cuGraphExecUpdate && rt_cu.cuGraphExecKernelNodeSetParams)
    return RT_OK;
  return rt_fail(RT_NO_DRIVER, "update the NVIDIA driver: graphs need one for CUDA 11.4 or newer",
                 "this driver has no CUDA graphs");
}

RtStatus rt_graph_new(RtDevice *d, RtGraph **out) {
  *out = NULL;
  if (!rt_is_host(d)) {
    ENTER(d);
    TRY(check_driver());
  }
  RtGraph *g = calloc(1, sizeof *g);
  if (!g)
    return no_memory();
  g->device = d;
  g->epoch = rt_epoch(d);
  pthread_mutex_init(&g->lock, NULL);
  *out = g;
  return RT_OK;
}

static RtStatus check_epoch(const RtGraph *g) {
  if (g->epoch == rt_epoch(g->device))
    return RT_OK;
  return rt_fail(RT_CONTEXT_LOST, "capture a new one, with cuda.graph()",
                 "%s was reset after this graph was made", g->device->name);
}

static RtStatus begin_gpu(RtGraph *g, RtStream *s) {
  int status = 0;
  cuuint64_t id = 0;
  ENTER(g->device);
  TRY(rt_stream_check(g->device, s));
  TRY(CU(cuStreamBeginCapture, (s->handle, CU_CAPTURE_RELAXED)));
  RtStatus asked = CU(cuStreamGetCaptureInfo, (s->handle, &status, &id, NULL, NULL, NULL));
  g->id = id;
  if (asked != RT_OK) {
    CUgraph graph = NULL;
    if (rt_cu.cuStreamEndCapture(s->handle, &graph) == CUDA_SUCCESS && graph)
      rt_cu.cuGraphDestroy(graph);
  }
  return asked;
}

RtStatus rt_graph_begin(RtGraph *g, RtStream *stream) {
  if (rt_capture)
    return rt_fail(RT_BAD_ARGUMENT, "end one capture before the next begins",
                   "this thread captures a graph already");
  TRY(check_epoch(g));
  assert(stream && stream->device == g->device);
  assert(!g->stream && !g->side && !g->fresh.n && !g->nfresh_words && !g->nmarks);
  if (rt_is_host(g->device))
    g->id = atomic_fetch_add(&last_id, 1) + 1;
  else
    TRY(begin_gpu(g, stream));
  g->stream = stream;
  g->broken = 0;
  stream->capture = g->id;
  stream->mark = -1;
  atomic_fetch_add(&rt_captures, 1);
  rt_capture = g;
  rt_current = NULL;
  return RT_OK;
}

static RtStatus instantiate(RtGraph *g, CUgraph fresh) {
  CUgraphExec exec = NULL;
  TRY(CU(cuGraphInstantiate, (&exec, fresh, 0)));
  if (g->exec)
    rt_cu.cuGraphExecDestroy(g->exec);
  if (g->graph)
    rt_cu.cuGraphDestroy(g->graph);
  g->exec = exec;
  g->graph = fresh;
  return RT_OK;
}

/* After an update the nodes keep the handles that they were made with. */
static int update(RtGraph *g, CUgraph fresh) {
  CUgraphNode where = NULL;
  int why = 0;
  if (!g->exec || g->nodes.n != g->fresh.n)
    return 0;
  if (rt_cu.cuGraphExecUpdate(g->exec, fresh, &where, &why) != CUDA_SUCCESS)
    return 0;
  for (uint32_t i = 0; i < g->nodes.n; i++)
    g->fresh.at[i].handle = g->nodes.at[i].handle;
  rt_cu.cuGraphDestroy(fresh);
  return 1;
}

static RtStatus check_whole(const RtGraph *g) {
  return !g->broken
             ? RT_OK
             : rt_fail(RT_FAILED, "capture again, and let the error leave the block",
                       "a call failed while this graph was captured, so it cannot be launched");
}

static RtStatus end_gpu(RtGraph *g, int keep, int *in_place) {
  CUgraph fresh = NULL;
  ENTER(g->device);
  RtStatus status = CU(cuStreamEndCapture, (g->stream->handle, &fresh));
  if (status == RT_OK && keep)
    status = check_whole(g);
  if (status == RT_OK && keep && g->side)
    status = CU(cuStreamSynchronize, (g->side->handle));
  if (status == RT_OK && keep && (*in_place = update(g, fresh)))
    return RT_OK;
  if (status == RT_OK && keep)
    status = instantiate(g, fresh);
  if ((status != RT_OK || !keep) && fresh)
    rt_cu.cuGraphDestroy(fresh);
  return keep ? status : RT_OK;
}

static RtStatus end_host(RtGraph *g, int keep, int *in_place) {
  *in_place = g->ready && g->nodes.n == g->fresh.n;
  if (!keep)
    return RT_OK;
  TRY(check_whole(g));
  return check_joined(g);
}

static void settle(RtGraph *g, int keep) {
  if (keep) {
    nodes_clear(&g->nodes);
    free_words(g, &g->words, &g->nwords);
    g->nodes = g->fresh;
    g->words = g->fresh_words;
    g->nwords = g->nfresh_words;
    g->fresh = (Nodes){0};
    g->fresh_words = NULL;
    g->nfresh_words = 0;
    g->ready = 1;
  }
  nodes_clear(&g->fresh);
  free_words(g, &g->fresh_words, &g->nfresh_words);
  free(g->marks);
  g->marks = NULL;
  g->nmarks = g->mark_room = 0;
  rt_stream_release(g->side);
  g->side = NULL;
  assert(g->stream->capture == g->id);
  g->stream->capture = 0;
  g->stream = NULL;
}

/* Words that a launch may still use are freed only when the device is idle. */
static void wait_for_words(const RtGraph *g) {
  RtContext was SCOPED = {0};
  if (g->nwords && rt_enter_alive(&was, g->device, g->epoch))
    rt_cu.cuCtxSynchronize();
}

RtStatus rt_graph_end(RtGraph *g, int keep, int *in_place) {
  RtStatus status;
  *in_place = 0;
  if (rt_capture != g)
    return rt_fail(RT_BAD_ARGUMENT, "end it in the thread that began it",
                   "this thread does not capture this graph");
  rt_capture = NULL;
  pthread_mutex_lock(&g->lock);
  status = rt_is_host(g->device) ? end_host(g, keep, in_place) : end_gpu(g, keep, in_place);
  if (status == RT_OK && keep)
    wait_for_words(g);
  RtError why = *rt_error();
  unsigned left = atomic_fetch_sub(&rt_captures, 1) - 1;
  assert(left != UINT32_MAX);
  settle(g, keep && status == RT_OK);
  if (!left)
    free_deferred();
  pthread_mutex_unlock(&g->lock);
  if (status != RT_OK)
    rt_set_error(&why);
  return status;
}

void rt_graph_release(RtGraph *g) {
  if (!g)
    return;
  assert(rt_capture != g && rt_passing != g);
  wait_for_words(g);
  RtContext was SCOPED = {0};
  if (!rt_is_host(g->device) && rt_enter_alive(&was, g->device, g->epoch)) {
    if (g->exec)
      rt_cu.cuGraphExecDestroy(g->exec);
    if (g->graph)
      rt_cu.cuGraphDestroy(g->graph);
  }
  nodes_clear(&g->nodes);
  free_words(g, &g->words, &g->nwords);
  pthread_mutex_destroy(&g->lock);
  free(g);
}

/* --- after the capture --- */

static const Nodes *nodes_of(const RtGraph *g) { return g->stream ? &g->fresh : &g->nodes; }
uint32_t rt_graph_count(const RtGraph *g) { return nodes_of(g)->n; }
RtNodeInfo rt_graph_node(const RtGraph *g, uint32_t node) {
  assert(node < nodes_of(g)->n);
  return nodes_of(g)->at[node].info;
}

static RtStatus set_gpu(RtGraph *g, Node *n, void *params) {
  const RtConfig *c = &n->info.config;
  RtEntry e = rt_entry_for(n->kernel, c, params);
  void *extra[] = {CU_PARAM_BUFFER, params, CU_PARAM_BUFFER_SIZE, &e.bytes, CU_PARAM_END};
  CUkernelNodeParams p = {.function = e.function,
                          .grid = {e.grid[0], e.grid[1], e.grid[2]},
                          .block = {c->block[0], c->block[1], c->block[2]},
                          .dynamic_shared = c->dynamic_shared,
                          .extra = extra};
  if (!n->handle)
    return rt_fail(RT_BAD_ARGUMENT, "capture the graph again instead",
                   "the driver did not name the node of kernel '%s'", n->kernel->symbol);
  ENTER(g->device);
  return rt_driver_status_of(rt_cu.cuGraphExecKernelNodeSetParams(g->exec, n->handle, &p),
                             "cuGraphExecKernelNodeSetParams", n->kernel->symbol);
}

/* What the runtime fills in stays as it was at the capture. */
static void keep_fields(const RtKernel *k, char *fresh, const char *old) {
  const int32_t offsets[] = {k->trap_offset, k->grid_offset};
  for (int i = 0; i < 2; i++)
    if (offsets[i] >= 0)
      memcpy(fresh + offsets[i], old + offsets[i], sizeof(uint64_t));
}

RtStatus rt_graph_set_params(RtGraph *g, uint32_t node, const void *params) {
  TRY(check_epoch(g));
  pthread_mutex_lock(&g->lock);
  assert(node < g->nodes.n && g->nodes.at[node].info.kind == RT_NODE_KERNEL);
  Node *n = &g->nodes.at[node];
  char *fresh = malloc(n->kernel->param_bytes + 1);
  RtStatus status = fresh ? RT_OK : no_memory();
  if (fresh) {
    memcpy(fresh, params, n->kernel->param_bytes);
    keep_fields(n->kernel, fresh, n->params);
    status = rt_is_host(g->device) ? RT_OK : set_gpu(g, n, fresh);
  }
  if (status == RT_OK) {
    free(n->params);
    n->params = fresh;
  } else {
    free(fresh);
  }
  pthread_mutex_unlock(&g->lock);
  return status;
}

static RtStatus run_host(RtGraph *g, RtTrap *trap, uint32_t *node) {
  RtStatus status = RT_OK;
  for (uint32_t i = 0; i < g->nodes.n && status == RT_OK; i++) {
    Node *n = &g->nodes.at[i];
    *node = i;
    if (n->info.kind == RT_NODE_KERNEL)
      status = rt_host_run(&n->kernel->host, &n->kernel->host_block_ns, &n->info.config, n->params,
                           trap);
    else
      rt_note_written(n->to, n->info.bytes);
    if (n->info.kind == RT_NODE_COPY)
      memmove((void *)(uintptr_t)n->to, (const void *)(uintptr_t)n->from, n->info.bytes);
    else if (n->info.kind == RT_NODE_FILL)
      memset((void *)(uintptr_t)n->to, n->byte, n->info.bytes);
  }
  return status;
}

static RtStatus run_gpu(RtGraph *g, RtStream *s) {
  ENTER(g->device);
  TRY(rt_stream_check(g->device, s));
  TRY(CU(cuGraphLaunch, (g->exec, rt_handle(s))));
  for (uint32_t i = g->nodes.n; i-- > 0;)
    if (g->nodes.at[i].kernel) {
      rt_note_last(g->device, s, g->nodes.at[i].kernel);
      break;
    }
  return RT_OK;
}

RtStatus rt_graph_launch(RtGraph *g, RtStream *s, RtTrap *trap, uint32_t *node) {
  *node = 0;
  if (rt_capture)
    return rt_fail(RT_BAD_ARGUMENT,
                   "launch it after the capture, or call the function that it was captured from",
                   "a graph cannot be launched while this thread captures another");
  TRY(check_epoch(g));
  pthread_mutex_lock(&g->lock);
  RtStatus status = rt_is_host(g->device) ? rt_stream_check(g->device, s) : RT_OK;
  if (status == RT_OK)
    status = rt_is_host(g->device) ? run_host(g, trap, node) : run_gpu(g, s);
  pthread_mutex_unlock(&g->lock);
  return status;
}
