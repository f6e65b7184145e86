/* Graph: work that is recorded once and launched many times.
 *
 * Between rt_graph_begin and rt_graph_end the calling thread captures: its work on the graph's
 * stream, on the default stream (which stands for the graph's stream meanwhile) and on streams that
 * wait for an event of these is not done but becomes a node, and the call that would have done it
 * returns RT_CAPTURED. Other streams and other threads go on as ever. On a GPU the driver's stream
 * capture does the recording; the host device keeps a list of its own and runs it in order.
 *
 * What the nodes refer to (kernels, memory) must live as long as the graph: that is the caller's
 * part. Memory that the thread allocates while it captures is ordinary memory; memory that anybody
 * frees meanwhile is freed when the capture has ended. */
#ifndef PYPTX_RUNTIME_LAUNCH_GRAPH_H
#define PYPTX_RUNTIME_LAUNCH_GRAPH_H

#include "runtime/launch/launch.h"

typedef struct RtGraph RtGraph;
typedef enum RtNodeKind { RT_NODE_KERNEL, RT_NODE_COPY, RT_NODE_FILL } RtNodeKind;
typedef struct RtNodeInfo {
  RtNodeKind kind;
  RtConfig config; /* KERNEL; stream is NULL */
  uint64_t bytes;  /* COPY, FILL */
} RtNodeInfo;

RtStatus rt_graph_new(RtDevice *d, RtGraph **out);
/* no launch may be in progress; work of earlier launches may still run */
void rt_graph_release(RtGraph *g);

/* stream: of the graph's device, not NULL. Captured again, a graph keeps what it was until the
 * end. */
RtStatus rt_graph_begin(RtGraph *g, RtStream *stream);
/* In the thread that began. keep 0: what was recorded is thrown away (the graph is what it was
 * before), and the status is RT_OK. *in_place: an executable graph was there and has been updated,
 * which needs the same nodes in the same order; else it is made anew. */
RtStatus rt_graph_end(RtGraph *g, int keep, int *in_place);

/* Of the capture in progress if there is one, else of the graph. */
uint32_t rt_graph_count(const RtGraph *g);
RtNodeInfo rt_graph_node(const RtGraph *g, uint32_t node);
/* New parameters for a kernel node, of the same layout; later launches have them. */
RtStatus rt_graph_set_params(RtGraph *g, uint32_t node, const void *params);
/* GPU: asynchronous. Host: RT_TRAPPED with *trap and *node if a thread stopped; later nodes are
 * then not run. */
RtStatus rt_graph_launch(RtGraph *g, RtStream *stream, RtTrap *trap, uint32_t *node);

#endif
