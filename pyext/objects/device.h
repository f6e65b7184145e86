/* Device: a GPU or the host as a Python object; which one this thread uses. */
#ifndef PYPTX_PYEXT_OBJECTS_DEVICE_H
#define PYPTX_PYEXT_OBJECTS_DEVICE_H

#include "pyext/state.h"

typedef struct PxDevice {
  PyObject_HEAD RtDevice *device; /* lives until the process ends */
  PyObject *weakrefs;
} PxDevice;

#endif
