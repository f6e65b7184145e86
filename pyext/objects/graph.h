/* Graph: cuda.graph(), and what other files tell it while a thread captures. */
#ifndef PYPTX_PYEXT_OBJECTS_GRAPH_H
#define PYPTX_PYEXT_OBJECTS_GRAPH_H

#include "pyext/state.h"

struct PxLauncher;
struct PxOverload;

/* Does this thread capture? What would need a result now must ask, and raise. */
bool px_capturing(void);
/* -1 with RuntimeError if this thread captures: what says what cannot be done, help what to do
 * instead. */
int px_not_captured(const char *what, const char *help);

/* After RT_CAPTURED of a launch or a copy: the last node's Python side. All that is passed lives as
 * long as the graph. 0 or -1. */
int px_captured_launch(struct PxLauncher *l, struct PxOverload *o, PyObject *const *argv,
                       Py_ssize_t n, PyObject *kwnames);
int px_captured_module_launch(PyObject *kernel, PyObject *arrays);
int px_captured_copy(PyObject *to, PyObject *from);
/* Something that nodes may refer to without naming it: memory that is made meanwhile. Nothing where
 * nothing is captured. 0 or -1. */
int px_captured_keep(PyObject *object);

#endif
