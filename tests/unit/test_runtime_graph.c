/* Graphs: what the driver gets of a capture, replay and updates, branches, what a capture refuses,
 * memory meanwhile, and each driver call of the whole way failing in turn. On the host device: the
 * same order, the same refusals. */
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"
#include "runtime/launch/capture.h"
#include "runtime/launch/graph.h"
#include "tests/unit/support/kernels.h"
#include "tests/unit/support/load.h"

static RtConfig config_on(uint32_t grid, RtStream *s) {
  return (RtConfig){.grid = {grid, 1, 1}, .block = {32, 1, 1}, .stream = s};
}

typedef struct Seen {
  int n;
  uint32_t extents[64];
  uint64_t traps[64], grids[64];
} Seen;

static void look(const StandinLaunch *l, void *user) {
  Seen *s = user;
  Block b = {0};
  memcpy(&b, l->params, l->bytes < sizeof b ? l->bytes : sizeof b);
  s->extents[s->n & 63] = b.extent;
  s->traps[s->n & 63] = b.trap;
  s->grids[s->n++ & 63] = b.grid;
}

static void capture_launches(RtGraph *g, RtStream *s, RtKernel *k, uint32_t first, int n,
                             RtStream *on) {
  RtConfig c = config_on(2, on);
  EXPECT(rt_graph_begin(g, s) == RT_OK && rt_capture == g);
  for (int i = 0; i < n; i++)
    EXPECT(rt_launch(k, &c, &(Block){.extent = first + (uint32_t)i}, NULL) == RT_CAPTURED);
}

static void keep_last(const StandinLaunch *l, void *user) { *(StandinLaunch *)user = *l; }

/* A node keeps the entry that its launch took, and new parameters get the hidden field. */
static void coarse_node(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  static RtField with_blocks[] = {
      {.kind = RT_FIELD_POINTER, .size = 8, .offset = 0},
      {.kind = RT_FIELD_EXTENT32, .size = 4, .offset = 8},
      {.kind = RT_FIELD_BLOCKS, .size = 4, .offset = 12},
  };
  const RtParams params = {
      .fields = with_blocks, .nfields = 3, .bytes = 16, .coarse = {.factor = 4, .plain_bytes = 12}};
  RtDevice *d = gpu();
  RtStream *s;
  RtGraph *g;
  RtKernel *k;
  RtTrap trap;
  uint32_t node;
  int in_place;
  EXPECT(rt_stream_new_apart(d, &s) == RT_OK && rt_graph_new(d, &g) == RT_OK);
  EXPECT(rt_kernel_open(d, "vadd", &params, 0, &k) == RT_OK);
  StandinLaunch l;
  control->on_launch(keep_last, &l);
  RtConfig c = config_on(9, NULL);
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  /* nothing was recorded, and the capture goes on */
  EXPECT(rt_launch(k, &c, &(Block){0}, NULL) == RT_NO_ENTRY);
  EXPECT(rt_kernel_add(k, RT_ENTRY_COARSE, standin_ptx, strlen(standin_ptx), &(RtLinked){0}) ==
         RT_OK);
  EXPECT(rt_launch(k, &c, &(Block){.extent = 1, .pad = 77}, NULL) == RT_CAPTURED &&
         rt_graph_count(g) == 1);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK);
  for (uint32_t extent = 1; extent < 4; extent++) {
    EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK);
    Block b = {0};
    memcpy(&b, l.params, 16);
    EXPECT(strcmp(l.kernel, "vadd$coarse") == 0 && l.grid[0] == 3 && l.bytes == 16);
    EXPECT(b.extent == extent && b.pad == 9);
    EXPECT(rt_graph_set_params(g, 0, &(Block){.extent = extent + 1, .pad = 77}) == RT_OK);
  }
  EXPECT(rt_graph_node(g, 0).config.grid[0] == 9);
  rt_graph_release(g);
  rt_kernel_release(k);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void replay(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s, *other;
  RtGraph *g;
  RtTrap trap;
  uint32_t node;
  int in_place = 7;
  Seen seen = {0};
  control->on_launch(look, &seen);
  EXPECT(rt_stream_new_apart(d, &s) == RT_OK && rt_stream_new(d, &other) == RT_OK);
  EXPECT(rt_graph_new(d, &g) == RT_OK);
  RtKernel *k = load(d, "stop", &stop_params);
  capture_launches(g, s, k, 10, 5, NULL); /* the default stream is the captured one */
  RtConfig elsewhere = config_on(1, other);
  EXPECT(rt_launch(k, &elsewhere, &(Block){.extent = 77}, NULL) == RT_OK); /* not part of it */
  EXPECT(seen.n == 1 && seen.extents[0] == 77 && rt_graph_count(g) == 5);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK && !in_place && !rt_capture);
  for (int round = 0; round < 3; round++) {
    seen.n = 0;
    EXPECT(rt_graph_launch(g, round ? other : NULL, &trap, &node) == RT_OK && seen.n == 5);
    EXPECT(seen.extents[0] == 10 && seen.extents[4] == 14 && seen.traps[2] == k->trap_address);
  }
  /* one node's parameters */
  seen.n = 0;
  EXPECT(rt_graph_set_params(g, 3, &(Block){.extent = 99, .trap = 1}) == RT_OK);
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK);
  EXPECT(seen.extents[3] == 99 && seen.extents[2] == 12 && seen.traps[3] == k->trap_address);
  /* all of them again */
  capture_launches(g, s, k, 20, 5, s);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK && in_place);
  EXPECT(control->live(SI_GRAPH) == 1 && control->live(SI_EXEC) == 1);
  /* by the first capture's node */
  EXPECT(rt_graph_set_params(g, 0, &(Block){.extent = 1}) == RT_OK);
  seen.n = 0;
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK && seen.extents[0] == 1 &&
         seen.extents[4] == 24);
  /* another number of them */
  capture_launches(g, s, k, 30, 3, NULL);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK && !in_place && rt_graph_count(g) == 3);
  EXPECT(control->live(SI_GRAPH) == 1 && control->live(SI_EXEC) == 1);
  /* thrown away: the graph is what it was */
  capture_launches(g, s, k, 40, 4, NULL);
  EXPECT(rt_graph_end(g, 0, &in_place) == RT_OK && rt_graph_count(g) == 3);
  seen.n = 0;
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK && seen.n == 3 && seen.extents[0] == 30);
  RtConfig c = config_on(1, NULL);
  EXPECT(rt_launch(k, &c, &(Block){0}, NULL) == RT_OK); /* launches are launches again */
  rt_graph_release(g);
  rt_kernel_release(k);
  rt_stream_release(s);
  rt_stream_release(other);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void copies_and_memory(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  RtGraph *g;
  RtTrap trap;
  uint32_t node;
  int in_place;
  uint64_t before, inside;
  char pageable[64] = {3};
  void *pinned;
  EXPECT(rt_stream_new_apart(d, &s) == RT_OK && rt_graph_new(d, &g) == RT_OK);
  EXPECT(rt_alloc(d, 64, NULL, &before) == RT_OK && rt_pinned_alloc(NULL, 64, &pinned) == RT_OK);
  memset(pinned, 5, 64);
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  EXPECT(rt_alloc(d, 64, NULL, &inside) == RT_OK &&
         inside != before); /* no node, and usable for as long as anything */
  EXPECT(rt_copy_to_device(d, inside, pinned, 64, NULL) == RT_CAPTURED);
  EXPECT(rt_copy_on_device(d, before, inside, 64, s) == RT_CAPTURED);
  EXPECT(rt_fill(d, before, 9, 32, NULL) == RT_CAPTURED);
  EXPECT(rt_copy_to_host(d, pinned, before, 64, NULL) == RT_CAPTURED);
  EXPECT(rt_graph_count(g) == 4 && rt_graph_node(g, 2).kind == RT_NODE_FILL &&
         rt_graph_node(g, 2).bytes == 32);
  uint64_t gone;
  EXPECT(rt_alloc(d, 64, NULL, &gone) == RT_OK);
  int live = control->live(SI_MEMORY);
  rt_free(d, gone, 64, NULL);
  EXPECT(control->live(SI_MEMORY) == live);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK);
  memset((void *)(uintptr_t)before, 0, 64);
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK);
  EXPECT(((char *)pinned)[0] == 9 && ((char *)pinned)[63] == 5);
  /* what cannot be captured, and that such a capture cannot be kept */
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  EXPECT(rt_copy_to_device(d, inside, pageable, 64, NULL) == RT_BAD_ARGUMENT && has("pageable") &&
         strstr(rt_error()->remedy, "pinned_array"));
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_FAILED && has("a call failed"));
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  EXPECT(rt_stream_synchronize(d, NULL) == RT_BAD_ARGUMENT && has("nothing to wait for"));
  EXPECT(rt_stream_synchronize(d, s) == RT_BAD_ARGUMENT &&
         rt_device_synchronize(d) == RT_BAD_ARGUMENT);
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_BAD_ARGUMENT);
  EXPECT(rt_graph_begin(g, s) == RT_BAD_ARGUMENT && has("already"));
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK && rt_graph_count(g) == 0);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_BAD_ARGUMENT);
  rt_graph_release(g);
  rt_free(d, before, 64, NULL);
  rt_free(d, inside, 64, NULL);
  rt_pinned_free(pinned);
  rt_stream_release(s);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* --- both devices --- */

static void host_add(const RtHostLaunch *launch, uint64_t first, uint64_t last) {
  Block b;
  memcpy(&b, launch->params, 12);
  for (; first < last; first++)
    *(uint32_t *)(uintptr_t)b.pointer = *(uint32_t *)(uintptr_t)b.pointer * 3 + b.extent;
}

static RtKernel *kernel_of(RtDevice *d) {
  RtKernel *k = NULL;
  RtHostCode code = {.entry = host_add};
  if (rt_device_is_host(d))
    EXPECT(rt_kernel_host(d, "add", &code, &vadd_params, &k) == RT_OK);
  else
    k = load(d, "vadd", &vadd_params);
  return k;
}

/* main: one launch; a: two; b: one; joined or not. */
static RtStatus fork_and_join(RtDevice *d, RtGraph *g, RtStream *s, RtKernel *k, int joins,
                              Block *block) {
  RtStream *a, *b;
  RtEvent *forked, *done_a, *done_b;
  int in_place;
  RtConfig c = config_on(1, NULL), ca, cb;
  EXPECT(rt_stream_new(d, &a) == RT_OK && rt_stream_new(d, &b) == RT_OK);
  EXPECT(rt_event_new(d, 0, &forked) == RT_OK && rt_event_new(d, 0, &done_a) == RT_OK &&
         rt_event_new(d, 0, &done_b) == RT_OK);
  ca = config_on(1, a);
  cb = config_on(1, b);
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  EXPECT(rt_launch(k, &c, block, NULL) == RT_CAPTURED);
  EXPECT(rt_event_record(forked, NULL) == RT_OK);
  EXPECT(rt_stream_wait_event(a, forked) == RT_OK && rt_stream_wait_event(b, forked) == RT_OK);
  EXPECT(rt_launch(k, &ca, block, NULL) == RT_CAPTURED &&
         rt_launch(k, &ca, block, NULL) == RT_CAPTURED);
  EXPECT(rt_launch(k, &cb, block, NULL) == RT_CAPTURED);
  EXPECT(rt_event_record(done_a, a) == RT_OK && rt_event_record(done_b, b) == RT_OK);
  EXPECT(rt_event_synchronize(done_a) == RT_BAD_ARGUMENT);
  EXPECT(rt_stream_wait_event(NULL, done_a) == RT_OK);
  if (joins)
    EXPECT(rt_stream_wait_event(NULL, done_b) == RT_OK);
  EXPECT(rt_launch(k, &c, block, NULL) == RT_CAPTURED);
  RtStatus status = rt_graph_end(g, 1, &in_place);
  RtError why = *rt_error();
  EXPECT(rt_stream_wait_event(b, done_b) == RT_BAD_ARGUMENT); /* it never happened */
  rt_set_error(&why);
  rt_event_release(forked);
  rt_event_release(done_a);
  rt_event_release(done_b);
  rt_stream_release(a);
  rt_stream_release(b);
  return status;
}

static void branches(int ordinal) {
  const StandinControl *control = standin_open(1);
  RtDevice *d;
  RtStream *s;
  RtGraph *g;
  RtTrap trap;
  uint32_t value = 0, node;
  Seen seen = {0};
  control->on_launch(look, &seen);
  EXPECT(rt_device_open(ordinal, &d) == RT_OK && rt_stream_new_apart(d, &s) == RT_OK &&
         rt_graph_new(d, &g) == RT_OK);
  RtKernel *k = kernel_of(d);
  Block block = {.pointer = (uintptr_t)&value, .extent = 1};
  EXPECT(fork_and_join(d, g, s, k, 1, &block) == RT_OK && rt_graph_count(g) == 5);
  EXPECT(value == 0 && rt_graph_launch(g, NULL, &trap, &node) == RT_OK);
  EXPECT(ordinal == RT_HOST ? value == 121 : seen.n == 5);
  EXPECT(fork_and_join(d, g, s, k, 0, &block) == RT_BAD_ARGUMENT && has("not joined") &&
         rt_error()->result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT(rt_graph_count(g) == 5); /* what it was */
  /* an event from outside cannot be waited for */
  RtEvent *e;
  EXPECT(rt_event_new(d, 0, &e) == RT_OK && rt_event_record(e, NULL) == RT_OK);
  int in_place;
  EXPECT(rt_graph_begin(g, s) == RT_OK && rt_stream_wait_event(NULL, e) == RT_BAD_ARGUMENT &&
         has("not part of"));
  EXPECT(rt_graph_end(g, 0, &in_place) == RT_OK);
  rt_event_release(e);
  rt_graph_release(g);
  rt_kernel_release(k);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void two_devices(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  RtDevice *d = gpu(), *other;
  RtStream *s;
  RtGraph *g;
  uint64_t here, there;
  int in_place;
  EXPECT(rt_device_open(1, &other) == RT_OK && rt_stream_new_apart(d, &s) == RT_OK &&
         rt_graph_new(d, &g) == RT_OK);
  EXPECT(rt_alloc(d, 64, NULL, &here) == RT_OK && rt_alloc(other, 64, NULL, &there) == RT_OK);
  EXPECT(rt_graph_begin(g, s) == RT_OK);
  EXPECT(rt_copy_peer(other, there, d, here, 64, NULL) == RT_BAD_ARGUMENT && has("another"));
  EXPECT(rt_fill(other, there, 3, 64, NULL) == RT_OK); /* the other device's work is not captured */
  EXPECT(((char *)(uintptr_t)there)[63] == 3 && rt_graph_count(g) == 0);
  EXPECT(rt_graph_end(g, 0, &in_place) == RT_OK);
  rt_free(d, here, 64, NULL);
  rt_free(other, there, 64, NULL);
  rt_graph_release(g);
  rt_stream_release(s);
  EXPECT(rt_device_make_current(d) == RT_OK);
  rt_cache_flush(d, NULL, 1);
  EXPECT(rt_device_make_current(other) == RT_OK);
  rt_cache_flush(other, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void cooperative(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  RtGraph *g;
  RtTrap trap;
  uint32_t node;
  int in_place;
  Seen seen = {0};
  control->on_launch(look, &seen);
  EXPECT(rt_stream_new_apart(d, &s) == RT_OK && rt_graph_new(d, &g) == RT_OK);
  RtKernel *k = load(d, "meet", &meet_params);
  capture_launches(g, s, k, 1, 2, NULL);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK);
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK && seen.n == 2);
  EXPECT(seen.grids[0] && seen.grids[1] && seen.grids[0] != seen.grids[1]);
  uint64_t word = 7;
  memcpy((void *)(uintptr_t)seen.grids[0], &word, 8); /* as a stopped launch leaves it */
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_OK);
  memcpy(&word, (void *)(uintptr_t)seen.grids[0], 8);
  EXPECT(word == 0 && seen.grids[2] == seen.grids[0]);
  rt_graph_release(g);
  rt_kernel_release(k);
  rt_stream_release(s);
  rt_cache_flush(d, NULL, 1);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void after_reset(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d = gpu();
  RtStream *s;
  RtGraph *g;
  RtTrap trap;
  uint32_t node;
  int in_place;
  EXPECT(rt_stream_new_apart(d, &s) == RT_OK && rt_graph_new(d, &g) == RT_OK);
  RtKernel *k = load(d, "vadd", &vadd_params);
  capture_launches(g, s, k, 1, 2, NULL);
  EXPECT(rt_graph_end(g, 1, &in_place) == RT_OK && rt_device_reset(d) == RT_OK);
  EXPECT(rt_graph_launch(g, NULL, &trap, &node) == RT_CONTEXT_LOST && has("reset"));
  EXPECT(rt_graph_begin(g, s) == RT_CONTEXT_LOST);
  rt_graph_release(g);
  rt_kernel_release(k);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

/* --- each call failing --- */

typedef struct Path {
  RtDevice *d;
  RtStream *s;
  RtKernel *k, *meet;
  RtGraph *g;
  uint64_t a;
} Path;

static RtStatus body(Path *p) {
  RtConfig c = config_on(2, NULL);
  RtStatus status;
  uint64_t inside;
  if (!p->a) {
    TRY(rt_alloc(p->d, 64, NULL, &inside));
    p->a = inside;
  }
  if ((status = rt_launch(p->k, &c, &(Block){.extent = 1}, NULL)) != RT_CAPTURED ||
      (status = rt_fill(p->d, p->a, 0, 64, NULL)) != RT_CAPTURED ||
      (status = rt_launch(p->meet, &c, &(Block){.extent = 2}, NULL)) != RT_CAPTURED)
    return status;
  return RT_OK;
}

static RtStatus walk(Path *p) {
  RtTrap trap;
  uint32_t node;
  int in_place;
  TRY(rt_device_open(0, &p->d));
  TRY(rt_stream_new_apart(p->d, &p->s));
  TRY(load_kernel(p->d, standin_ptx, strlen(standin_ptx), "stop", &stop_params, 1, &p->k));
  TRY(load_kernel(p->d, standin_ptx, strlen(standin_ptx), "meet", &meet_params, 1, &p->meet));
  TRY(rt_graph_new(p->d, &p->g));
  for (int round = 0; round < 2; round++) {
    TRY(rt_graph_begin(p->g, p->s));
    RtStatus status = body(p);
    RtError why = *rt_error();
    RtStatus ended = rt_graph_end(p->g, status == RT_OK, &in_place);
    if (status != RT_OK) {
      rt_set_error(&why);
      return status;
    }
    TRY(ended);
    TRY(rt_graph_launch(p->g, round ? p->s : NULL, &trap, &node));
    TRY(rt_graph_set_params(p->g, 0, &(Block){.extent = 3}));
  }
  return RT_OK;
}

static void leave(Path *p) {
  EXPECT(!rt_capture);
  rt_graph_release(p->g);
  if (p->d)
    rt_free(p->d, p->a, 64, NULL);
  rt_kernel_release(p->k);
  rt_kernel_release(p->meet);
  rt_stream_release(p->s);
  if (p->d)
    rt_cache_flush(p->d, NULL, 1);
}

enum { MOST_CALLS = 200 };

/* Where a call may fail and the path goes on: contexts are set again, launches and allocations
 * tried again, an update that is not possible makes the graph anew, and what only tidies up has
 * nothing to report. */
static int harmless(const char *call, int result) {
  static const char *const calls[] = {"cuCtxGetCurrent", "cuGraphExecUpdate", "cuGraphExecDestroy",
                                      "cuGraphDestroy",  "cuCtxSynchronize",  "cuStreamDestroy",
                                      "cuMemFreeAsync"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(call, calls[i]) == 0)
      return 1;
  return (strcmp(call, "cuLaunchKernel") == 0 && result == 400) ||
         (strcmp(call, "cuMemAllocAsync") == 0 && result == 2);
}

/* What a destroying call leaves alive because it failed is the driver's. */
static int destroys(const char *call) {
  return strstr(call, "Destroy") || strstr(call, "Free") || strcmp(call, "cuStreamEndCapture") == 0;
}

static void failing(int n) {
  static const int injected[] = {999, 2, 700, 400};
  static const RtStatus expected[] = {RT_FAILED, RT_NO_MEMORY, RT_CONTEXT_LOST, RT_BAD_ARGUMENT};
  const StandinControl *control = standin_open(1);
  int which = n % 4;
  Path p = {0};
  control->fail(NULL, n / 4, injected[which]);
  RtStatus status = walk(&p);
  int fired = control->fired();
  const char *call = control->fired_call();
  RtError error = *rt_error();
  control->fail(NULL, 0, 0);
  leave(&p);
  if (!fired || !destroys(call))
    EXPECT(standin_live(control) == 0);
  EXPECT(control->misuse() == 0);
  if (!fired)
    EXPECT(status == RT_OK);
  else if (status == RT_OK)
    EXPECT(harmless(call, injected[which]));
  else
    EXPECT(status == expected[which] && error.result == injected[which] &&
           strcmp(error.call, call) == 0);
  if (expect_failures)
    fprintf(stderr, "  %s failed with %d: status %d, %s: %s\n", call, injected[which], (int)status,
            error.call, error.text);
}

static void measure(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  Path p = {0};
  EXPECT(walk(&p) == RT_OK);
  EXPECT(control->calls(NULL) > 60 && control->calls(NULL) < MOST_CALLS);
  leave(&p);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(replay, 0);
  RUN(coarse_node, 0);
  RUN(copies_and_memory, 0);
  RUN(branches, 0);
  RUN(branches, RT_HOST);
  RUN(two_devices, 0);
  RUN(cooperative, 0);
  RUN(after_reset, 0);
  RUN(measure, 0);
  for (int nth = 1; nth <= MOST_CALLS && expect_failures < 5; nth++)
    for (int which = 0; which < 4; which++)
      RUN(failing, nth * 4 + which);
  return expect_failures != 0;
}
