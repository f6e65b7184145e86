/* Graph and GraphNode: CUDA graphs as Python objects. The recording is runtime/launch/graph.c's;
 * here are the references that keep what the nodes use alive, and the arguments of each kernel node
 * as Python passed them.
 *
 * nodes and keep are those of the graph as it is; while the graph is captured, fresh_nodes and
 * fresh_keep grow beside them. */
#include "pyext/objects/graph.h"

#include <string.h>

#include "pyext/array/device_array.h"
#include "pyext/compile/coverage.h"
#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/launch/launcher.h"
#include "pyext/launch/overlap.h"
#include "pyext/launch/prints.h"
#include "pyext/launch/traps.h"
#include "pyext/launch/typeof.h"
#include "pyext/objects/device.h"
#include "pyext/objects/stream.h"
#include "pyext/raise.h"
#include "runtime/launch/graph.h"

typedef struct PxGraph {
  PyObject_HEAD RtDevice *device;
  RtGraph *graph;         /* NULL: closed */
  PyObject *stream;       /* that it is captured from: a Stream with a handle */
  PyObject *nodes, *keep; /* lists; nodes: of GraphNode, in the order of the runtime's */
  PyObject *fresh_nodes, *fresh_keep;
  PyObject *streams; /* list: streams other than the default one that it was launched on */
  bool ready, capturing, in_place;
  bool may_print; /* a node's kernel */
  int running;    /* launches and updates that are in progress without the GIL */
  PyObject *weakrefs;
} PxGraph;

typedef struct PxNode {
  PyObject_HEAD PxGraph
      *graph; /* borrowed: the graph sets it to NULL when the node is not one of its any more */
  Py_ssize_t index;
  RtNodeInfo info;
  PxLauncher *launcher; /* KERNEL */
  PxOverload *overload;
  PyObject *args;   /* tuple; COPY: (to, from) */
  PyObject *kwargs; /* dict or NULL */
  PyObject *weakrefs;
} PxNode;

static _Thread_local PxGraph *capturing; /* a reference */

bool px_capturing(void) { return capturing != NULL; }

int px_not_captured(const char *what, const char *help) {
  if (!capturing)
    return 0;
  PyErr_Format(PyExc_RuntimeError, "%s while a graph is captured\n  help: %s", what, help);
  return -1;
}

int px_captured_keep(PyObject *object) {
  return capturing ? PyList_Append(capturing->fresh_keep, object) : 0;
}

/* --- nodes --- */

static PxNode *node_new(PxGraph *g, PyObject *args, PyObject *kwargs) { /* steals both */
  PxState *st = px_state_of((PyObject *)g);
  PxNode *node = args ? PyObject_GC_New(PxNode, st->graph_node_type) : NULL;
  if (!node) {
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return NULL;
  }
  node->graph = g;
  node->index = PyList_GET_SIZE(g->fresh_nodes);
  node->info = rt_graph_node(g->graph, (uint32_t)node->index);
  node->launcher = NULL;
  node->overload = NULL;
  node->args = args;
  node->kwargs = kwargs;
  node->weakrefs = NULL;
  PyObject_GC_Track(node);
  return node;
}

static int add_node(PxGraph *g, PxNode *node) { /* steals */
  /* the runtime's nodes and ours have the same numbers */
  assert(!node || (uint32_t)node->index + 1 == rt_graph_count(g->graph));
  int failed = node ? PyList_Append(g->fresh_nodes, (PyObject *)node) : -1;
  Py_XDECREF((PyObject *)node);
  return failed;
}

static PyObject *tuple_of(PyObject *const *items, Py_ssize_t n) {
  PyObject *tuple = PyTuple_New(n);
  for (Py_ssize_t i = 0; tuple && i < n; i++)
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(items[i]));
  return tuple;
}

static PyObject *dict_of(PyObject *names, PyObject *const *values) {
  PyObject *dict = PyDict_New();
  for (Py_ssize_t i = 0; dict && i < PyTuple_GET_SIZE(names); i++)
    if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), values[i]) < 0)
      Py_CLEAR(dict);
  return dict;
}

int px_captured_launch(PxLauncher *l, PxOverload *o, PyObject *const *argv, Py_ssize_t n,
                       PyObject *kwnames) {
  assert(capturing);
  PyObject *kwargs = NULL;
  if (kwnames && PyTuple_GET_SIZE(kwnames) && !(kwargs = dict_of(kwnames, argv + n)))
    return -1;
  PxNode *node = node_new(capturing, tuple_of(argv, n), kwargs);
  if (node) {
    node->launcher = (PxLauncher *)Py_NewRef(l);
    node->overload = (PxOverload *)Py_NewRef(o);
  }
  return add_node(capturing, node);
}

int px_captured_module_launch(PyObject *kernel, PyObject *arrays) {
  assert(capturing);
  if (px_captured_keep(kernel) < 0) /* and with it the module */
    return -1;
  return add_node(capturing, node_new(capturing, Py_NewRef(arrays), NULL));
}

int px_captured_copy(PyObject *to, PyObject *from) {
  assert(capturing);
  return add_node(capturing, node_new(capturing, PyTuple_Pack(2, to, from), NULL));
}

/* --- what the graph's work uses --- */

static void mark_used(PxState *st, PyObject *object, PyObject *stream) {
  if (Py_IS_TYPE(object, st->array_type))
    px_array_used((PxArray *)object, stream);
  for (Py_ssize_t i = 0; PyTuple_Check(object) && i < PyTuple_GET_SIZE(object); i++)
    mark_used(st, PyTuple_GET_ITEM(object, i), stream);
}

static void mark_node(PxState *st, const PxGraph *g, const PxNode *node) {
  for (Py_ssize_t s = 0; s < PyList_GET_SIZE(g->streams); s++) {
    PyObject *stream = PyList_GET_ITEM(g->streams, s), *name, *value;
    Py_ssize_t at = 0;
    mark_used(st, node->args, stream);
    while (node->kwargs && PyDict_Next(node->kwargs, &at, &name, &value))
      mark_used(st, value, stream);
    if (node->overload && node->overload->owners)
      mark_used(st, node->overload->owners, stream);
  }
}

/* Before the graph lets go of them: memory is freed behind the launches that are still running. */
static void mark_all(PxGraph *g) {
  PxState *st = px_state_of((PyObject *)g);
  for (Py_ssize_t i = 0; g->nodes && i < PyList_GET_SIZE(g->nodes); i++)
    mark_node(st, g, (PxNode *)PyList_GET_ITEM(g->nodes, i));
  for (Py_ssize_t s = 0; g->streams && s < PyList_GET_SIZE(g->streams); s++)
    for (Py_ssize_t i = 0; g->keep && i < PyList_GET_SIZE(g->keep); i++)
      mark_used(st, PyList_GET_ITEM(g->keep, i), PyList_GET_ITEM(g->streams, s));
}

/* Nodes that the user still holds are not the graph's any more. */
static void detach(PyObject *nodes) {
  for (Py_ssize_t i = 0; nodes && i < PyList_GET_SIZE(nodes); i++)
    ((PxNode *)PyList_GET_ITEM(nodes, i))->graph = NULL;
}

static void drop(PxGraph *g) {
  if (g->streams)
    mark_all(g);
  if (g->graph)
    rt_graph_release(g->graph);
  g->graph = NULL;
  g->ready = false;
  detach(g->nodes);
  detach(g->fresh_nodes);
  Py_CLEAR(g->nodes);
  Py_CLEAR(g->keep);
  Py_CLEAR(g->fresh_nodes);
  Py_CLEAR(g->fresh_keep);
  Py_CLEAR(g->streams);
  Py_CLEAR(g->stream);
}

/* --- capturing --- the graph's lock holds what is tested until it is noted that the graph is in
 * use */

static int check_open(const PxGraph *g) {
  if (g->graph)
    return 0;
  PyErr_SetString(PyExc_ValueError, "the graph is closed");
  return -1;
}

static int check_ready(const PxGraph *g) {
  if (check_open(g) < 0)
    return -1;
  if (g->ready && !g->capturing)
    return 0;
  PyErr_SetString(PyExc_ValueError,
                  g->capturing ? "the graph is being captured: use it after the with block"
                               : "the graph holds nothing: capture with `with cuda.graph() as g:`");
  return -1;
}

static int check_idle(const PxGraph *g) {
  if (!g->capturing && !g->running)
    return 0;
  PyErr_Format(PyExc_RuntimeError, "the graph is in use by %s",
               g->capturing ? "a capture" : "another thread");
  return -1;
}

static int begin(PxGraph *g) {
  if (check_open(g) < 0 || check_idle(g) < 0)
    return -1;
  Py_XSETREF(g->fresh_nodes, PyList_New(0));
  Py_XSETREF(g->fresh_keep, PyList_New(0));
  if (!g->fresh_nodes || !g->fresh_keep)
    return -1;
  PX_TRY_STATUS(px_state_of((PyObject *)g), rt_graph_begin(g->graph, px_stream_of(g->stream)),
                return -1);
  g->capturing = true;
  capturing = (PxGraph *)Py_NewRef(g);
  return 0;
}

static PyObject *graph_enter(PyObject *op, PyObject *Py_UNUSED(args)) {
  int failed;
  PX_BEGIN_LOCKED(op)
  failed = begin((PxGraph *)op);
  PX_END_LOCKED()
  return failed ? NULL : Py_NewRef(op);
}

static void take_fresh(PxGraph *g) {
  mark_all(g);
  detach(g->nodes);
  Py_XSETREF(g->nodes, g->fresh_nodes);
  g->may_print = false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(g->nodes); i++) {
    const PxOverload *o = ((PxNode *)PyList_GET_ITEM(g->nodes, i))->overload;
    g->may_print |= o && o->code->may_print;
  }
  Py_XSETREF(g->keep, g->fresh_keep);
  g->fresh_nodes = g->fresh_keep = NULL;
  g->ready = true;
}

static PyObject *graph_exit(PyObject *op, PyObject *args) {
  PxGraph *g = (PxGraph *)op;
  PyObject *raised = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : Py_None;
  if (capturing != g)
    return PyErr_Format(PyExc_RuntimeError, "a capture must end in the thread that began it");
  int in_place = 0;
  RtStatus status;
  Py_BEGIN_ALLOW_THREADS
  status = rt_graph_end(g->graph, raised == Py_None, &in_place);
  Py_END_ALLOW_THREADS
  capturing = NULL;
  PX_BEGIN_LOCKED(op)
  g->capturing = false;
  if (status == RT_OK && raised == Py_None) {
    g->in_place = in_place;
    take_fresh(g);
  } else {
    detach(g->fresh_nodes);
    Py_CLEAR(g->fresh_nodes);
    Py_CLEAR(g->fresh_keep);
  }
  PX_END_LOCKED()
  Py_DECREF(op);
  PX_TRY_STATUS(px_state_of(op), status, return NULL);
  Py_RETURN_FALSE;
}

static PyObject *graph_update(PyObject *op, PyObject *Py_UNUSED(args)) {
  return check_ready((PxGraph *)op) < 0 ? NULL : Py_NewRef(op);
}

/* --- launching --- */

static int note_stream(PxGraph *g, PyObject *stream) {
  Py_ssize_t n = PyList_GET_SIZE(g->streams);
  if (stream == Py_None || (n && PyList_GET_ITEM(g->streams, n - 1) == stream))
    return 0;
  int has = PySequence_Contains(g->streams, stream);
  return has ? (has < 0 ? -1 : 0) : PyList_Append(g->streams, stream);
}

static void note_traps(PxState *st, PyObject *nodes, RtStream *stream) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(nodes); i++) {
    PxOverload *o = ((PxNode *)PyList_GET_ITEM(nodes, i))->overload;
    if (o && o->code->has_trap)
      px_note_launch(st, o, stream);
  }
}

static int launch(PxState *st, PxGraph *g, PyObject *stream) {
  RtTrap trap = {0};
  uint32_t at = 0;
  RtStatus status;
  if (note_stream(g, stream) < 0)
    return -1;
  g->running++;
  Py_BEGIN_ALLOW_THREADS
  status = rt_graph_launch(g->graph, px_stream_of(stream), &trap, &at);
  Py_END_ALLOW_THREADS
  assert(g->running > 0);
  g->running--;
  if (PX_UNLIKELY(px_covers()))
    px_tell_lines();
  if (status == RT_OK && !rt_device_is_host(g->device))
    note_traps(st, g->nodes, px_stream_of(stream));
  if (status == RT_OK)
    return 0;
  if (status == RT_TRAPPED) {
    PxOverload *o = ((PxNode *)PyList_GET_ITEM(g->nodes, at))->overload;
    px_raise_trap(st, o->code, rt_kernel_name(o->kernel), &trap, o->exceptions, o->scope);
  } else {
    px_raise_status(st, status);
  }
  return -1;
}

static PyObject *graph_launch(PyObject *op, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", NULL};
  PyObject *arg = NULL;
  PxState *st = px_state_of(op);
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:launch", names, &arg))
    return NULL;
  PxGraph *g = (PxGraph *)op;
  PxPrints prints = {0};
  /* reading it may run code, as flushing does: the graph is looked at after that */
  PyObject *stream = px_stream_argument(st, arg);
  if (!stream ||
      (g->may_print && px_prints_begin(st, g->device, px_stream_of(stream), &prints) < 0)) {
    Py_XDECREF(stream);
    return NULL;
  }
  int failed = -1;
  PX_BEGIN_LOCKED(op)
  if (check_ready(g) == 0)
    failed = launch(st, g, stream);
  PX_END_LOCKED()
  failed = px_prints_end(st, &prints, g->device, px_stream_of(stream), failed);
  Py_XDECREF(stream);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *graph_close(PyObject *op, PyObject *Py_UNUSED(args)) {
  int failed;
  PX_BEGIN_LOCKED(op)
  failed = check_idle((PxGraph *)op);
  if (!failed)
    drop((PxGraph *)op);
  PX_END_LOCKED()
  return failed ? NULL : Py_NewRef(Py_None);
}

/* --- the graph --- */

static int graph_traverse(PyObject *op, visitproc visit, void *arg) {
  PxGraph *g = (PxGraph *)op;
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(g->nodes);
  Py_VISIT(g->keep);
  Py_VISIT(g->fresh_nodes);
  Py_VISIT(g->fresh_keep);
  Py_VISIT(g->stream);
  Py_VISIT(g->streams);
  return 0;
}

static int graph_clear(PyObject *op) {
  drop((PxGraph *)op);
  return 0;
}

static void graph_dealloc(PyObject *op) {
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, ((PxGraph *)op)->weakrefs);
  drop((PxGraph *)op);
  type->tp_free(op);
  Py_DECREF(type);
}

static PyObject *graph_repr(PyObject *op) {
  PxGraph *g = (PxGraph *)op;
  if (!g->graph)
    return PyUnicode_FromString("<pyptx graph, closed>");
  if (!g->ready)
    return PyUnicode_FromString("<pyptx graph, not captured>");
  return PyUnicode_FromFormat("<pyptx graph of %zd nodes>", PyList_GET_SIZE(g->nodes));
}

static PyObject *get_nodes(PyObject *op, void *Py_UNUSED(c)) {
  PxGraph *g = (PxGraph *)op;
  PyObject *nodes;
  PX_BEGIN_LOCKED(op)
  nodes = check_ready(g) < 0 ? NULL : PyList_AsTuple(g->nodes);
  PX_END_LOCKED()
  return nodes;
}

static PyObject *get_stream(PyObject *op, void *Py_UNUSED(c)) {
  return check_open((PxGraph *)op) < 0 ? NULL : Py_NewRef(((PxGraph *)op)->stream);
}

static PyObject *get_graph_device(PyObject *op, void *Py_UNUSED(c)) {
  return px_device_object(px_state_of(op), ((PxGraph *)op)->device);
}

static PyObject *get_in_place(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong(((PxGraph *)op)->in_place);
}

static PyObject *get_closed(PyObject *op, void *Py_UNUSED(c)) {
  return PyBool_FromLong(!((PxGraph *)op)->graph);
}

static PyGetSetDef graph_getset[] = {
    {"nodes", get_nodes, NULL,
     "The launches and copies in the order in which they were captured: a tuple of GraphNode.",
     NULL},
    {"stream", get_stream, NULL,
     "The stream that is captured; give its handle to other libraries in the block.", NULL},
    {"device", get_graph_device, NULL, "The device that it runs on.", NULL},
    {"updated_in_place", get_in_place, NULL,
     "Did the last capture update the executable graph; False if it was made anew, as it is the first time and when the nodes have changed.",
     NULL},
    {"closed", get_closed, NULL, "Was the graph closed.", NULL},
    {0},
};

static PyMethodDef graph_methods[] = {
    {"launch", PX_KEYWORDS(graph_launch), METH_VARARGS | METH_KEYWORDS,
     "launch($self, /, stream=0)\n--\n\n"
     "Run all nodes on a stream. Like a kernel's launch it returns before they are done; on\n"
     "the host device afterwards.\n\n"
     "Example:\n\n"
     "    with cuda.graph() as g:\n"
     "        add[1, 256](d, d, e)\n"
     "    g.launch()"},
    {"update", graph_update, METH_NOARGS,
     "update($self, /)\n--\n\n"
     "`with g.update():` captures the graph again. With the same kernels and copies in the\n"
     "same order the executable graph is updated, which takes a fraction of the time;\n"
     "otherwise it is made anew.\n\n"
     "Example:\n\n"
     "    with g.update():\n"
     "        add[1, 256](e, d, e)"},
    {"close", graph_close, METH_NOARGS,
     "close($self, /)\n--\n\n"
     "Release the graph and what it keeps alive. Launches that are running finish.\n\n"
     "Example:\n\n"
     "    g.close()"},
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"__enter__", graph_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\n"
     "Begin to capture."},
    {"__exit__", graph_exit, METH_VARARGS,
     "__exit__($self, /, *exception)\n--\n\n"
     "End the capture."},
    {0},
};

static PyMemberDef graph_members[] = {PX_WEAKREFS(PxGraph), {0}};

static PyType_Slot graph_slots[] = {
    {Py_tp_members, graph_members},
    {Py_tp_doc, "Work that is captured once and launched many times: see cuda.graph."},
    {Py_tp_dealloc, graph_dealloc},
    {Py_tp_traverse, graph_traverse},
    {Py_tp_clear, graph_clear},
    {Py_tp_repr, graph_repr},
    {Py_tp_methods, graph_methods},
    {Py_tp_getset, graph_getset},
    {0, NULL},
};

PyType_Spec px_graph_spec = {
    .name = "pyptx._pyptx.Graph",
    .basicsize = sizeof(PxGraph),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = graph_slots,
};

/* --- a node --- */

static int node_traverse(PyObject *op, visitproc visit, void *arg) {
  PxNode *n = (PxNode *)op;
  Py_VISIT(Py_TYPE(op));
  Py_VISIT(n->launcher);
  Py_VISIT(n->overload);
  Py_VISIT(n->args);
  Py_VISIT(n->kwargs);
  return 0;
}

static void node_dealloc(PyObject *op) {
  PxNode *n = (PxNode *)op;
  PyTypeObject *type = Py_TYPE(op);
  PyObject_GC_UnTrack(op);
  px_clear_weakrefs(op, n->weakrefs);
  Py_CLEAR(n->launcher);
  Py_CLEAR(n->overload);
  Py_CLEAR(n->args);
  Py_CLEAR(n->kwargs);
  type->tp_free(op);
  Py_DECREF(type);
}

static PyObject *node_kind(PyObject *op, void *Py_UNUSED(c)) {
  static const char *const kinds[] = {
      [RT_NODE_KERNEL] = "kernel", [RT_NODE_COPY] = "copy", [RT_NODE_FILL] = "fill"};
  return PyUnicode_FromString(kinds[((PxNode *)op)->info.kind]);
}

static PyObject *node_kernel(PyObject *op, void *Py_UNUSED(c)) {
  PxNode *n = (PxNode *)op;
  return Py_NewRef(n->launcher ? (PyObject *)n->launcher->dispatcher : Py_None);
}

static PyObject *node_args(PyObject *op, void *Py_UNUSED(c)) {
  return Py_NewRef(((PxNode *)op)->args);
}

static PyObject *node_kwargs(PyObject *op, void *Py_UNUSED(c)) {
  PxNode *n = (PxNode *)op;
  return n->kwargs ? PyDict_Copy(n->kwargs) : PyDict_New();
}

static PyObject *node_dims(PyObject *op, void *which) {
  PxNode *n = (PxNode *)op;
  const uint32_t *v = which ? n->info.config.block : n->info.config.grid;
  if (n->info.kind != RT_NODE_KERNEL)
    Py_RETURN_NONE;
  return px_uint3(v);
}

static PyObject *node_bytes(PyObject *op, void *Py_UNUSED(c)) {
  const RtNodeInfo *i = &((PxNode *)op)->info;
  return PyLong_FromUnsignedLongLong(i->kind == RT_NODE_KERNEL ? i->config.dynamic_shared
                                                               : i->bytes);
}

static PyObject *node_repr(PyObject *op) {
  PxNode *n = (PxNode *)op;
  if (n->launcher) {
    const uint32_t *g = n->info.config.grid, *b = n->info.config.block;
    return PyUnicode_FromFormat(
        "<pyptx graph node: %U[(%u, %u, %u), (%u, %u, %u)]>",
        ((PyFunctionObject *)n->launcher->dispatcher->function)->func_qualname, g[0], g[1], g[2],
        b[0], b[1], b[2]);
  }
  if (n->info.kind == RT_NODE_KERNEL)
    return PyUnicode_FromString("<pyptx graph node: a kernel of a Module>");
  return PyUnicode_FromFormat("<pyptx graph node: %s of %llu bytes>",
                              n->info.kind == RT_NODE_COPY ? "copy" : "fill",
                              (unsigned long long)n->info.bytes);
}

/* The overload must be the one that was captured: the kernel of a node does not change. */
static int check_same(PxNode *n, const PxArgs *a, PxOverload *o) {
  if (o == n->overload)
    return 0;
  PyObject *given = px_signature_text(a->st, a->tokens, a->ntokens);
  if (given)
    PyErr_Format(
        PyExc_TypeError,
        "the node was captured for arguments %U, and cannot take %U\n  help: capture the graph again: with g.update()",
        n->overload->text, given);
  Py_XDECREF(given);
  return -1;
}

/* Reading arguments runs code, and compiling takes time: the graph may have been closed or captured
 * anew meanwhile. */
static int check_member(const PxGraph *g, const PxNode *n) {
  if (check_ready(g) < 0)
    return -1;
  if (n->graph == g)
    return 0;
  PyErr_Format(PyExc_ValueError,
               "the node is not part of its graph any more: take it from g.nodes again");
  return -1;
}

static int set_block(PxState *st, PxGraph *g, PxNode *n, const PxArgs *a) {
  const RtParams *params = &n->overload->code->params;
  char *block = PyMem_Malloc(params->bytes + 1u);
  if (!block)
    return PyErr_NoMemory(), -1;
  if (px_pack(st, params, a->leaves, block) < 0) {
    PyMem_Free(block);
    return -1;
  }
  RtStatus status;
  g->running++;
  Py_BEGIN_ALLOW_THREADS
  status = rt_graph_set_params(g->graph, (uint32_t)n->index, block);
  Py_END_ALLOW_THREADS
  g->running--;
  PyMem_Free(block);
  PX_TRY_STATUS(st, status, return -1);
  return 0;
}

static int set_args(PxState *st, PxGraph *g, PxNode *n, PyObject *const *argv, Py_ssize_t nargs,
                    PyObject *kwnames) {
  PxArgs a;
  PxDispatcher *d = n->launcher->dispatcher;
  px_args_init(&a, st, g->device, NULL, d->options.numba_typing);
  a.captured = true;
  a.wide = !px_is_narrow(n->overload->signature.tokens, n->overload->signature.n);
  PxOverload *o = px_bind(d, &a, argv, nargs, kwnames) < 0 ? NULL : px_dispatch_apart(d, &a);
  int failed = o && check_same(n, &a, o) == 0 ? px_check_writable(d, o, &a) : -1;
  PX_BEGIN_LOCKED(g)
  if (!failed && !(failed = check_member(g, n)))
    failed = set_block(st, g, n, &a);
  PX_END_LOCKED()
  px_args_clear(&a);
  Py_XDECREF((PyObject *)o);
  return failed;
}

static int replace_args(PxState *st, PxGraph *g, PxNode *n, PyObject *const *argv, Py_ssize_t nargs,
                        PyObject *kwnames) {
  PyObject *args = tuple_of(argv, nargs), *kwargs = kwnames ? dict_of(kwnames, argv + nargs) : NULL;
  if (!args || (kwnames && !kwargs) || set_args(st, g, n, argv, nargs, kwnames) < 0) {
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return -1;
  }
  PX_BEGIN_LOCKED(g)
  if (n->graph == g && g->streams)
    mark_node(st, g, n);
  Py_SETREF(n->args, args);
  Py_XSETREF(n->kwargs, kwargs);
  PX_END_LOCKED()
  return 0;
}

static PyObject *node_set_args(PyObject *op, PyObject *const *argv, Py_ssize_t nargs,
                               PyObject *kwnames) {
  PxNode *n = (PxNode *)op;
  PxState *st = px_state_of(op);
  if (!n->launcher)
    return PyErr_Format(
        PyExc_TypeError,
        "only the node of a kernel in Python has arguments to set; capture the graph again");
  PxGraph *g = (PxGraph *)Py_XNewRef(n->graph); /* another thread may drop it meanwhile */
  if (!g)
    return PyErr_Format(PyExc_ValueError,
                        "the node is not part of its graph any more: take it from g.nodes again");
  int failed = check_ready(g) < 0 ? -1 : replace_args(st, g, n, argv, nargs, kwnames);
  Py_DECREF(g);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyGetSetDef node_getset[] = {
    {"kind", node_kind, NULL, "\"kernel\", \"copy\" or \"fill\".", NULL},
    {"kernel", node_kernel, NULL, "The kernel; None for a copy.", NULL},
    {"griddim", node_dims, NULL, "Blocks of the grid; None for a copy.", NULL},
    {"blockdim", node_dims, NULL, "Threads of a block; None for a copy.", (void *)1},
    {"nbytes", node_bytes, NULL,
     "Bytes that are copied or filled; a kernel's dynamic shared memory.", NULL},
    {"args", node_args, NULL, "The positional arguments of a kernel; (to, from) of a copy.", NULL},
    {"kwargs", node_kwargs, NULL, "The keyword arguments of a kernel.", NULL},
    {0},
};

static PyMethodDef node_methods[] = {
    {"__reduce__", px_refuse_pickle, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nTypeError: it cannot be pickled."},
    {"set_args", PX_KEYWORDS(node_set_args), METH_FASTCALL | METH_KEYWORDS,
     "set_args($self, /, *args, **kwargs)\n--\n\n"
     "Other arguments for a kernel, of the same types as those that were captured. Launches\n"
     "from now on have them.\n\n"
     "Example:\n\n"
     "    with cuda.graph() as g:\n"
     "        add[1, 256](d, d, e)\n"
     "    g.nodes[0].set_args(e, d, e)"},
    {0},
};

static PyMemberDef node_members[] = {PX_WEAKREFS(PxNode), {0}};

static PyType_Slot node_slots[] = {
    {Py_tp_members, node_members}, {Py_tp_doc, "A launch or a copy in a graph."},
    {Py_tp_dealloc, node_dealloc}, {Py_tp_traverse, node_traverse},
    {Py_tp_repr, node_repr},       {Py_tp_methods, node_methods},
    {Py_tp_getset, node_getset},   {0, NULL},
};

PyType_Spec px_graph_node_spec = {
    .name = "pyptx._pyptx.GraphNode",
    .basicsize = sizeof(PxNode),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = node_slots,
};

/* --- making --- */

static PyObject *graph_make(PxState *st, RtDevice *d, PyObject *stream) {
  RtGraph *graph = NULL;
  PX_TRY_STATUS(st, rt_graph_new(d, &graph), return NULL);
  PxGraph *g = PyObject_GC_New(PxGraph, st->graph_type);
  if (!g) {
    rt_graph_release(graph);
    return NULL;
  }
  memset((char *)g + sizeof(PyObject), 0, sizeof *g - sizeof(PyObject));
  g->device = d;
  g->graph = graph;
  g->stream = Py_NewRef(stream);
  g->nodes = PyList_New(0);
  g->keep = PyList_New(0);
  g->streams = PyList_New(0);
  PyObject_GC_Track(g);
  if (!g->nodes || !g->keep || !g->streams)
    Py_CLEAR(g);
  return (PyObject *)g;
}

/* (what tells the current device from itself after a reset, does this thread record a graph) */
static PyObject *module_scratch_state(PyObject *module, PyObject *Py_UNUSED(args)) {
  RtDevice *d = px_current_device(px_state_of_module(module));
  return d ? Py_BuildValue("(KN)", (unsigned long long)px_epoch_now(d),
                           PyBool_FromLong(px_capturing()))
           : NULL;
}

static PyObject *module_graph(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", NULL};
  PyObject *arg = NULL;
  PxState *st = px_state_of_module(module);
  RtDevice *d = px_current_device(st);
  if (!d || !PyArg_ParseTupleAndKeywords(args, kwargs, "|O:graph", names, &arg))
    return NULL;
  PyObject *stream = px_stream_argument(st, arg);
  if (stream == Py_None) {
    Py_DECREF(stream);
    stream = px_stream_apart(st, d);
  }
  PyObject *g = NULL;
  if (stream && rt_stream_device(px_stream_of(stream)) != d)
    PyErr_SetString(PyExc_ValueError, "the stream belongs to another device than the current one");
  else if (stream)
    g = graph_make(st, d, stream);
  Py_XDECREF(stream);
  return g;
}

PyMethodDef px_graph_functions[] = {
    {"graph", PX_KEYWORDS(module_graph), METH_VARARGS | METH_KEYWORDS,
     "graph($module, /, stream=None)\n--\n\n"
     "Capture work into a CUDA graph, which is launched as a whole at a fraction of the cost\n"
     "of its launches:\n\n"
     "    with cuda.graph() as g:\n"
     "        for step in range(100):\n"
     "            add[1, 256](d, e, e)\n"
     "    g.launch()\n\n"
     "In the block nothing runs. Launches and copies of this thread on the default stream, on\n"
     "`stream` (g.stream where none is given) and on streams that wait for an event of these\n"
     "become nodes. Kernels are compiled as ever. Arrays and kernels that the nodes use live\n"
     "as long as the graph, also arrays that are made in the block. What needs a result at once\n"
     "is an error: synchronize, copies to new host arrays, NumPy arrays as arguments of kernels,\n"
     "reading elements; and on a GPU copies from and to host memory that is not pinned.\n"
     "If the block raises, nothing is kept. Returns a Graph: launch, update, nodes, close."},
    {"_scratch_state", module_scratch_state, METH_NOARGS,
     "_scratch_state(): (what tells the current device from itself after a reset, does this "
     "thread record a graph)."},
    {0},
};
