/* Device: a GPU or the host as a Python object; which one this thread uses. */
#ifndef PYPTX_PYEXT_OBJECTS_DEVICE_H
#define PYPTX_PYEXT_OBJECTS_DEVICE_H

#include "pyext/state.h"

typedef struct PxDevice {
  PyObject_HEAD RtDevice *device; /* lives until the process ends */
  PyObject *weakrefs;
} PxDevice;

/* The device of this thread's calls: what was selected, else the one that another library made
 * current, else the default of PYPTX_DEVICE. NULL with an exception. */
RtDevice *px_current_device(PxState *st);
/* for these calls alone: its context is not made current. NULL: back to the default */
void px_select_device(RtDevice *d);
RtDevice *px_selected_device(void);
PyObject *px_device_object(PxState *st, RtDevice *d);
/* Waits for all its work. 0, or -1 with an exception, which may be one of its kernels. */
int px_device_wait(PxState *st, RtDevice *d);

#endif
