/* Graphs of the stand-in: what is captured is a list of nodes, a launch runs them in order. Streams
 * and events keep in their memory which capture they take part in. A capture that nobody ended
 * stays with its stream. */
#include <stdlib.h>
#include <string.h>

#include "tests/standin/internal.h"

enum { MAX_BRANCHES = 16 };

struct CUgraphNode_st {
  Work work;
};
struct CUgraph_st {
  CUgraphNode *nodes;
  size_t n;
};
typedef struct ExecNode {
  Work work;
  CUgraphNode of; /* the node it was made from: only compared */
} ExecNode;
struct CUgraphExec_st {
  ExecNode *nodes;
  size_t n;
};

typedef struct Capture {
  struct Capture *before; /* all that were ever begun: events may still name them */
  CUstream origin;
  cuuint64_t id;
  CUgraph graph;
  int spoilt;
  struct {
    CUstream stream;
    CUgraphNode last;
    int open; /* has work that the origin does not wait for yet */
  } branches[MAX_BRANCHES];
  int nbranches;
} Capture;

typedef struct Mark { /* in the memory of a stream or an event */
  Capture *capture;
  cuuint64_t id; /* a capture that has ended may be another one by now */
  int branch;
} Mark;

static cuuint64_t last_id;

static Mark *mark_of(StandinKind kind, void *handle) {
  Thing *t = standin_find(kind, handle);
  return t ? t->handle : NULL;
}

static Mark *active(CUstream stream) {
  Mark *m = mark_of(SI_STREAM, stream);
  return m && m->capture ? m : NULL;
}

static void *grow(void *p, size_t n, size_t each) { return realloc(p, (n + 1) * each); }

int graphs_take(CUstream stream, const Work *work) {
  Mark *m = active(stream);
  if (!m)
    return 0;
  Capture *c = m->capture;
  if (c->spoilt)
    return -CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  CUgraphNode node = calloc(1, sizeof *node);
  node->work = *work;
  c->graph->nodes = grow(c->graph->nodes, c->graph->n, sizeof node);
  c->graph->nodes[c->graph->n++] = node;
  c->branches[m->branch].last = node;
  c->branches[m->branch].open = 1;
  return 1;
}

int graphs_record(CUevent event, CUstream stream) {
  Mark *m = active(stream), *e = mark_of(SI_EVENT, event);
  *e = m ? *m : (Mark){0};
  return m != NULL;
}

int graphs_is_captured_event(CUevent event) { return mark_of(SI_EVENT, event)->capture != NULL; }

int graphs_wait(CUstream stream, CUevent event) {
  Mark *e = mark_of(SI_EVENT, event), *m = active(stream);
  if (!e->capture)
    return m ? (m->capture->spoilt = 1, -CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : 0;
  Capture *c = e->capture;
  if (m && m->capture != c)
    return -CUDA_ERROR_STREAM_CAPTURE_MERGE;
  if (!m) {
    Mark *s = mark_of(SI_STREAM, stream);
    if (!s || c->nbranches == MAX_BRANCHES)
      return -CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    c->branches[c->nbranches].stream = stream;
    c->branches[c->nbranches].last = c->branches[e->branch].last;
    *s = (Mark){c, c->id, c->nbranches++};
  } else if (stream == c->origin) {
    c->branches[e->branch].open = 0;
  }
  return 1;
}

int graphs_state(CUstream stream) {
  Mark *m = active(stream);
  return !m ? CU_CAPTURE_NONE : m->capture->spoilt ? CU_CAPTURE_INVALIDATED : CU_CAPTURE_ACTIVE;
}

int graphs_refuse(CUstream stream) {
  Mark *m = active(stream);
  if (!m)
    return 0;
  m->capture->spoilt = 1;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static void free_graph(CUgraph g) {
  for (size_t i = 0; i < g->n; i++)
    free(g->nodes[i]);
  free(g->nodes);
  g->nodes = NULL;
  g->n = 0;
}

void graphs_forget(Thing *t) {
  if (t->kind == SI_GRAPH)
    free_graph(t->handle);
  if (t->kind == SI_EXEC)
    free(((CUgraphExec)t->handle)->nodes);
}

/* --- capturing --- */

CUresult cuStreamBeginCapture(CUstream stream, int mode) {
  BEGIN(cuStreamBeginCapture, 1);
  Mark *m = mark_of(SI_STREAM, stream);
  if (!m || mode < 0 || mode > CU_CAPTURE_RELAXED)
    return standin_misuse(m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (m->capture)
    return standin_misuse(CUDA_ERROR_ILLEGAL_STATE);
  static Capture *last;
  Capture *c = calloc(1, sizeof *c);
  c->before = last;
  last = c;
  c->origin = stream;
  c->id = ++last_id;
  c->graph = standin_make(SI_GRAPH, sizeof *c->graph);
  c->branches[0].stream = stream;
  c->nbranches = 1;
  *m = (Mark){c, c->id, 0};
  return standin_end(CUDA_SUCCESS);
}

/* Everything that took part is free again, events too. */
static void leave(Capture *c) {
  for (int i = 0; i < c->nbranches; i++) {
    Mark *m = mark_of(SI_STREAM, c->branches[i].stream);
    if (m && m->capture == c)
      *m = (Mark){0};
  }
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  BEGIN(cuStreamEndCapture, 1);
  Mark *m = active(stream);
  *graph = NULL;
  if (!m || m->capture->origin != stream)
    return standin_misuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  Capture *c = m->capture;
  int open = 0;
  for (int i = 1; i < c->nbranches; i++)
    open |= c->branches[i].open;
  leave(c);
  CUgraph made = c->graph;
  result = c->spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
           : open    ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                     : CUDA_SUCCESS;
  /* c is left to the process: events may still name it */
  if (result)
    standin_drop(standin_find(SI_GRAPH, made));
  else
    *graph = made;
  return standin_end(result);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                const CUgraphNode **before, size_t *nbefore) {
  BEGIN(cuStreamGetCaptureInfo, 1);
  Mark *m = active(stream);
  *status = graphs_state(stream);
  if (m && id)
    *id = m->capture->id;
  if (m && graph)
    *graph = m->capture->graph;
  if (m && before)
    *before = &m->capture->branches[m->branch].last;
  if (m && nbefore)
    *nbefore = m->capture->branches[m->branch].last != NULL;
  return standin_end(CUDA_SUCCESS);
}

/* --- graphs --- */

static void fill(CUgraphExec exec, CUgraph graph) {
  exec->nodes = calloc(graph->n + 1, sizeof *exec->nodes);
  exec->n = graph->n;
  for (size_t i = 0; i < graph->n; i++)
    exec->nodes[i] = (ExecNode){graph->nodes[i]->work, graph->nodes[i]};
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  BEGIN(cuGraphInstantiate, 1);
  if (!standin_find(SI_GRAPH, graph) || flags)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  *exec = standin_make(SI_EXEC, sizeof **exec);
  fill(*exec, graph);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *where, int *why) {
  BEGIN(cuGraphExecUpdate, 1);
  if (!standin_find(SI_EXEC, exec) || !standin_find(SI_GRAPH, graph))
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  *where = NULL;
  *why = 0;
  int same = exec->n == graph->n;
  for (size_t i = 0; same && i < exec->n; i++)
    same = exec->nodes[i].work.kind == graph->nodes[i]->work.kind;
  if (!same)
    return standin_end(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  for (size_t i = 0; i < exec->n; i++)
    exec->nodes[i].work = graph->nodes[i]->work;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUkernelNodeParams *params) {
  BEGIN(cuGraphExecKernelNodeSetParams, 1);
  if (!standin_find(SI_EXEC, exec))
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < exec->n; i++) {
    StandinLaunch *l = &exec->nodes[i].work.launch;
    if (exec->nodes[i].of != node || exec->nodes[i].work.kind != WORK_KERNEL)
      continue;
    size_t bytes = 0;
    const void *from = NULL;
    for (void **e = params->extra; e && *e != CU_PARAM_END; e += 2) {
      from = e[0] == CU_PARAM_BUFFER ? e[1] : from;
      bytes = e[0] == CU_PARAM_BUFFER_SIZE ? *(size_t *)e[1] : bytes;
    }
    if (params->function != exec->nodes[i].work.function || bytes != l->bytes ||
        memcmp(params->grid, l->grid, sizeof l->grid) != 0)
      return standin_misuse(CUDA_ERROR_INVALID_VALUE);
    memcpy(l->params, from, bytes < sizeof l->params ? bytes : sizeof l->params);
    return standin_end(CUDA_SUCCESS);
  }
  return standin_misuse(CUDA_ERROR_INVALID_VALUE);
}

static int legal(const Work *w) {
  return w->kind == WORK_KERNEL ||
         ((standin_is_memory((uintptr_t)w->to, w->bytes) || standin_is_pinned((uintptr_t)w->to)) &&
          (w->kind == WORK_FILL || standin_is_memory((uintptr_t)w->from, w->bytes) ||
           standin_is_pinned((uintptr_t)w->from)));
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  BEGIN(cuGraphLaunch, 1);
  if (!standin_find(SI_EXEC, exec) || !standin_is_stream(stream))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  for (size_t i = 0; i < exec->n; i++)
    if (!legal(&exec->nodes[i].work))
      return standin_misuse(CUDA_ERROR_ILLEGAL_ADDRESS);
  for (size_t i = 0; i < exec->n; i++) {
    const Work *w = &exec->nodes[i].work;
    if (w->kind == WORK_COPY)
      memmove(w->to, w->from, w->bytes);
    if (w->kind == WORK_FILL)
      memset(w->to, w->byte, w->bytes);
    if (w->kind != WORK_KERNEL)
      continue;
    standin_end(CUDA_SUCCESS); /* the caller keeps the graph meanwhile */
    int refused = standin_run(&w->launch);
    standin_lock();
    if (refused)
      return standin_end(refused);
  }
  return standin_end(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  BEGIN(cuGraphExecDestroy, 1);
  Thing *t = standin_find(SI_EXEC, exec);
  if (!t)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  standin_drop(t);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph graph) {
  BEGIN(cuGraphDestroy, 1);
  Thing *t = standin_find(SI_GRAPH, graph);
  if (!t)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  standin_drop(t);
  return standin_end(CUDA_SUCCESS);
}
