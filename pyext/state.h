/* State: what one copy of the module owns. Every type of this room is a heap type whose module
 * state is a PxState.
 *
 * Lazily filled fields (NumPy, opcode tables, devices) are filled under the module's lock; once set
 * they do not change. */
#ifndef PYPTX_PYEXT_STATE_H
#define PYPTX_PYEXT_STATE_H

#include "pyext/compat.h"

#include "frontend/snapshot.h"

#include "ir/type.h"
#include "runtime/driver/device.h"
#include "runtime/launch/stream.h"

/* Heap types: X(field, spec) */
#define PX_TYPES(X)                                                                                \
  X(type, px_type_spec)                                                                            \
  X(signature, px_signature_spec)                                                                  \
  X(intrinsic, px_intrinsic_spec)                                                                  \
  X(dispatcher, px_dispatcher_spec)                                                                \
  X(launcher, px_launcher_spec)                                                                    \
  X(bound, px_bound_spec)                                                                          \
  X(overload, px_overload_spec)                                                                    \
  X(array, px_array_spec)                                                                          \
  X(memory, px_memory_spec)                                                                        \
  X(host_memory, px_host_memory_spec)                                                              \
  X(stream, px_stream_spec)                                                                        \
  X(event, px_event_spec)                                                                          \
  X(device, px_device_spec)                                                                        \
  X(graph, px_graph_spec)                                                                          \
  X(graph_node, px_graph_node_spec)

#define X(field, spec) extern PyType_Spec spec;
PX_TYPES(X)
#undef X

/* Names that are looked up in objects, interned once. */
/* clang-format off */
#define PX_NAMES(X) \
  X(dtype) X(str) X(shape) X(strides) X(data) X(typestr) X(stream) X(value) X(item) X(names) \
  X(__dlpack__) X(__dlpack_device__) X(__dlpack_c_exchange_api__) X(__c_dlpack_exchange_api__) \
  X(ptr) X(device_id) X(requires_grad) X(__array_interface__) X(__cuda_array_interface__) \
  X(__pyptx_way__) X(__cuda_stream__) X(__dict__) X(__module__) X(__qualname__) X(__name__) \
  X(_fields) X(__code__) X(__globals__) X(__builtins__) X(__closure__) X(__defaults__) \
  X(__kwdefaults__) X(cell_contents) X(co_code) X(co_linetable) X(co_exceptiontable) \
  X(co_consts) X(co_names) X(co_varnames) X(co_cellvars) X(co_freevars) X(co_name) \
  X(co_qualname) X(co_filename) X(co_flags) X(co_firstlineno) X(co_argcount) \
  X(co_posonlyargcount) X(co_kwonlyargcount) X(co_nlocals) X(co_stacksize) X(__doc__) \
  X(__wrapped__) X(itemsize) X(ndarray) X(generic) X(empty) X(order) X(buffer) X(offset) X(copy) \
  X(__members__) X(__pyptx_declared__) X(link) X(flags) X(writeable) X(_field_defaults) \
  X(_sort_order_) X(_flag_mask_) X(name) X(__mro__) X(descr) X(__match_args__) \
  X(stdout) X(flush) X(nbytes)
/* clang-format on */

enum { PX_SOURCES = 64 };

typedef struct PxState {
  PyObject *module; /* borrowed: the state lives in it */
#define X(field, spec) PyTypeObject *field##_type;
  PX_TYPES(X)
#undef X
  struct {
#define X(n) PyObject *n;
    PX_NAMES(X)
#undef X
  } name;
  PyObject *errors; /* module pyptx.errors, imported at the first error */
  PyObject *numpy, *np_ndarray, *np_generic, *np_dtype; /* NULL until NumPy is needed */
  PyObject *dtypes[TY_SCALARS]; /* NumPy dtype by TypeId, NULL where there is none */
  /* dict: dtype object → element number; none of them holds objects */
  PyObject *scalar_ids;
  PyObject *class_dtypes;    /* dict: NumPy scalar class → dtype, as np.dtype(class) said */
  struct PxRecord **records; /* record types by element number, compile/record.h */
  uint32_t nrecords;
  PyObject *record_ids;        /* dict: their text → element number */
  PyObject *named, *named_ids; /* classes of named tuples, compile/named_tuple.h */
  PyObject *enums, *enum_ids;  /* types of Enums by number, launch/typeof.c */
  /* types of other libraries' arrays, array/foreign.h: filled, never changed */
  struct PxSource *_Atomic sources[PX_SOURCES];
  /* those launched on a GPU that may have trapped: a list, each owned, under the module's lock;
   * and how many such launches there were (launch/traps.c) */
  struct PxOverload *pending;
  uint64_t launches;
  bool gave_up;          /* a wait for a GPU was: by a signal, or a timeout */
  bool calls_back;       /* a stream has been given a callback: waits are for those too */
  struct PxTimed *timed; /* launch/timeouts.c */
  PyObject *operations;  /* tuple: what device arrays do in Python, array/operators.c */
  bool warns_of_grids, warns_of_copies; /* launch/warnings.h */
  PyObject *devices;                    /* dict: ordinal → Device */
  OpTable *ops;
  struct PxSnapshot *complex_library; /* pyptx._complex, frozen for the life of the module */
  PyObject *allocator;                /* of new device arrays; NULL: the runtime's pool */
  char *why_host;                     /* why there is no GPU, if nobody chose the host device */
  bool said_host;                     /* … and its user knows, or asked for the host device */
  RtDevice *default_device;           /* NULL: not known yet, or of several GPUs */
  /* the default device of threads without a CUDA context, on a machine with several GPUs */
  RtDevice *first_gpu;
  PyObject *cache_problems; /* set of str: what was wrong with the disk cache and has been said */
  struct {
    uint64_t hits, misses, stored, damaged;
  } cache; /* counters, under the module's lock */
} PxState;

/* The state of the module that made the type of `self` (an instance of one of our types). */
static inline PxState *px_state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }
static inline PxState *px_state_of_module(PyObject *module) { return PyModule_GetState(module); }

/* Imports NumPy if need be. 0 or -1. */
int px_need_numpy(PxState *st);
/* As px_need_numpy, but does not import: false if nobody has, and then no object can be NumPy's.
 * Never raises. */
bool px_have_numpy(PxState *st);

/* pyptx._pickle.NAME(object). */
PyObject *px_call_pickle(const char *name, PyObject *object);
/* __reduce__ of what belongs to this process alone. */
PyObject *px_refuse_pickle(PyObject *self, PyObject *unused);
/* _repr_html_ of the types that notebooks show: pyptx._html. */
PyObject *px_html(PyObject *self, PyObject *unused);

/* Functions of the module that live beside the type they serve. Ended by a NULL row. */
extern PyMethodDef px_device_functions[], px_stream_functions[], px_graph_functions[],
    px_array_functions[], px_type_functions[], px_cache_functions[], px_memory_functions[],
    px_operand_functions[], px_option_functions[], px_warning_functions[];

#endif
