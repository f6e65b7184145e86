/* Record: dtypes to text and back, and the table of the types that have no number of their own. */
#include "pyext/compile/record.h"

#include <string.h>

#include "ir/cx.h"
#include "pyext/compile/type.h"

/* --- dtype to type --- NULL: not a kernel's; a Python exception may be set, which the caller
 * drops */

enum { MAX_DEPTH = 24 };

static const Type *record_of(PxState *st, Cx *cx, PyObject *dtype, int depth);

/* '<m8[25s]' of the host's byte order: the type of that text; NULL for other dtypes. */
static const Type *date_of(PxState *st, Cx *cx, PyObject *dtype) {
  PyObject *str = px_getattr_optional(dtype, st->name.str);
  const char *text = str && PyUnicode_Check(str) ? PyUnicode_AsUTF8(str) : NULL, *error;
  bool date = text && *text == (PY_LITTLE_ENDIAN ? '<' : '>') && ty_is_date_text(text + 1);
  if (date)
    text = arena_strdup(&cx->arena, text + 1);
  Py_XDECREF(str);
  PyErr_Clear();
  return date ? ty_parse_date(cx, &text, &error) : NULL;
}

static bool read_extents(PyObject *shape, RecordField *f, int64_t *extents) {
  Py_ssize_t n = PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : -1;
  if (n < 0 || n > TY_MAX_NDIM)
    return false;
  for (Py_ssize_t k = 0; k < n; k++) {
    extents[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, k));
    if (extents[k] < 0 || extents[k] > INT32_MAX)
      return false;
  }
  f->ndim = (uint8_t)n;
  f->extents = extents;
  return true;
}

static bool read_size(PxState *st, PyObject *dtype, int64_t *out) {
  PyObject *size = PyObject_GetAttr(dtype, st->name.itemsize);
  *out = size ? PyLong_AsLongLong(size) : -1;
  Py_XDECREF(size);
  return *out >= 0 && *out <= INT32_MAX;
}

/* The element behind a field's dtype, which has no axes. What has no type of ours is its bytes. */
static bool read_element(PxState *st, Cx *cx, PyObject *dtype, RecordField *f, int depth) {
  if ((f->type = date_of(st, cx, dtype)))
    return true;
  PyObject *names = PyObject_GetAttr(dtype, st->name.names);
  Py_XDECREF(names);
  if (!names)
    return false;
  if (names != Py_None)
    return (f->type = record_of(st, cx, dtype, depth + 1)) != NULL;
  TypeId id = px_type_of_dtype(st, dtype);
  f->type = ty_scalar(cx, id < TY_SCALARS ? id : TY_VOID);
  if (id < TY_SCALARS)
    return true;
  int64_t *extents = CX_ARRAY(cx, int64_t, TY_MAX_NDIM + 1), size;
  if (!read_size(st, dtype, &size) || f->ndim == TY_MAX_NDIM)
    return false;
  if (f->ndim)
    memcpy(extents, f->extents, sizeof *extents * f->ndim);
  extents[f->ndim++] = size;
  f->extents = extents;
  return true;
}

static bool read_field(PxState *st, Cx *cx, PyObject *entry, RecordField *f, int depth) {
  if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) < 2)
    return false;
  PyObject *dtype = PyTuple_GET_ITEM(entry, 0);
  f->offset = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(entry, 1));
  PyObject *sub = PyObject_GetAttrString(dtype, "subdtype");
  bool ok = sub != NULL;
  if (ok && sub != Py_None)
    ok = PyTuple_Check(sub) && PyTuple_GET_SIZE(sub) == 2 &&
         read_extents(PyTuple_GET_ITEM(sub, 1), f, CX_ARRAY(cx, int64_t, TY_MAX_NDIM));
  ok = ok && read_element(st, cx, sub == Py_None ? dtype : PyTuple_GET_ITEM(sub, 0), f, depth);
  Py_XDECREF(sub);
  return ok;
}

static bool read_fields(PxState *st, Cx *cx, PyObject *names, PyObject *fields, RecordField *out,
                        int depth) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); k++) {
    PyObject *name = PyTuple_GET_ITEM(names, k), *entry = PyObject_GetItem(fields, name);
    const char *text = PyUnicode_AsUTF8(name);
    bool ok = entry && text;
    if (ok)
      out[k].name = arena_strdup(&cx->arena, text);
    ok = ok && read_field(st, cx, entry, &out[k], depth);
    Py_XDECREF(entry);
    if (!ok)
      return false;
  }
  return true;
}

static const Type *record_of(PxState *st, Cx *cx, PyObject *dtype, int depth) {
  int64_t size;
  PyObject *names = PyObject_GetAttr(dtype, st->name.names);
  PyObject *fields = PyObject_GetAttrString(dtype, "fields");
  const Type *t = NULL;
  if (names && PyTuple_Check(names) && fields && depth < MAX_DEPTH && read_size(st, dtype, &size) &&
      size > 0 && PyTuple_GET_SIZE(names) <= TY_MAX_TUPLE) {
    uint32_t n = (uint32_t)PyTuple_GET_SIZE(names);
    RecordField *out = CX_ARRAY(cx, RecordField, n + 1);
    if (read_fields(st, cx, names, fields, out, depth))
      t = ty_record(cx, out, n, (uint32_t)size);
  }
  Py_XDECREF(names);
  Py_XDECREF(fields);
  return t;
}

/* --- type to dtype --- */

static PyObject *dtype_of(PxState *st, const Type *t);

static PyObject *field_format(PxState *st, const RecordField *f) {
  unsigned ndim = f->ndim;
  PyObject *elem = f->type->id >= TY_SCALARS ? dtype_of(st, f->type)
                   : f->type->id == TY_VOID
                       ? PyUnicode_FromFormat("V%lld", (long long)f->extents[--ndim])
                       : px_dtype_of_type(st, f->type->id);
  PyObject *shape = elem ? PyTuple_New(ndim) : NULL;
  for (unsigned k = 0; shape && k < ndim; k++)
    PyTuple_SET_ITEM(shape, k, PyLong_FromLongLong(f->extents[k]));
  PyObject *format = shape && ndim ? PyTuple_Pack(2, elem, shape) : shape ? Py_NewRef(elem) : NULL;
  Py_XDECREF(elem);
  Py_XDECREF(shape);
  return format;
}

static PyObject *date_dtype(PxState *st, const Type *t) {
  Cx *cx = px_need_numpy(st) < 0 ? NULL : cx_new();
  PyObject *dtype = NULL;
  if (!cx)
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  if (CX_TRY(cx)) {
    Buf b;
    buf_init(&b, &cx->arena);
    ty_put_date(&b, t);
    dtype = PyObject_CallFunction(st->np_dtype, "s", b.text);
  }
  cx_free(cx);
  return dtype;
}

static PyObject *dtype_of(PxState *st, const Type *t) {
  if (ty_is_date(t))
    return date_dtype(st, t);
  PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
  bool ok = names && formats && offsets && px_need_numpy(st) == 0;
  for (uint32_t k = 0; ok && k < t->nfields; k++) {
    PyObject *name = PyUnicode_FromString(t->fields[k].name),
             *format = field_format(st, &t->fields[k]),
             *offset = PyLong_FromUnsignedLong(t->fields[k].offset);
    ok = name && format && offset && !PyList_Append(names, name) &&
         !PyList_Append(formats, format) && !PyList_Append(offsets, offset);
    Py_XDECREF(name);
    Py_XDECREF(format);
    Py_XDECREF(offset);
  }
  PyObject *spec = ok ? Py_BuildValue("{s:O,s:O,s:O,s:I}", "names", names, "formats", formats,
                                      "offsets", offsets, "itemsize", t->size)
                      : NULL;
  PyObject *dtype = spec ? PyObject_CallOneArg(st->np_dtype, spec) : NULL;
  Py_XDECREF(spec);
  Py_XDECREF(names);
  Py_XDECREF(formats);
  Py_XDECREF(offsets);
  return dtype;
}

/* --- the table --- */

static int remember(PxState *st, PyObject *key, PxElem e) {
  PyObject *number = PyLong_FromUnsignedLong(e);
  int failed = number ? PyDict_SetItem(st->scalar_ids, key, number) : -1;
  Py_XDECREF(number);
  return failed;
}

static PxElem find_record(PxState *st, const char *text) {
  PyObject *known = PyDict_GetItemString(st->record_ids, text); /* borrowed: never removed */
  return known ? (PxElem)PyLong_AsLong(known) : PX_NO_ELEM;
}

/* The element of that type, added if it is new. dtype: a new reference, taken; NULL with an
 * exception set. */
static PxElem add_record(PxState *st, const Type *t, const char *text, PyObject *dtype) {
  PxRecord *r = dtype ? PyMem_Calloc(1, sizeof *r + strlen(text) + 1) : NULL;
  PxElem e = PX_NO_ELEM;
  if (r)
    *r = (PxRecord){strcpy((char *)(r + 1), text), dtype, t->id, (uint32_t)ty_size(t), ty_align(t)};
  PX_BEGIN_LOCKED(st->module)
  if (!st->records)
    st->records = PyMem_Calloc(PX_MAX_RECORDS, sizeof *st->records);
  e = find_record(st, text);
  PyObject *number = r && e == PX_NO_ELEM && st->records && st->nrecords < PX_MAX_RECORDS
                         ? PyLong_FromUnsignedLong(PX_RECORD_ELEM + st->nrecords)
                         : NULL;
  if (number) {
    st->records[st->nrecords] = r;
    if (PyDict_SetItemString(st->record_ids, text, number) == 0) {
      e = PX_RECORD_ELEM + st->nrecords++;
      r = NULL;
      dtype = NULL;
    }
    Py_DECREF(number);
  }
  PX_END_LOCKED()
  PyMem_Free(r);
  Py_XDECREF(dtype);
  return e;
}

static PxElem elem_of_listed(PxState *st, PyObject *dtype) {
  volatile PxElem e = PX_NO_ELEM; /* set behind a setjmp */
  PyObject *objects = PyObject_GetAttrString(dtype, "hasobject");
  Py_XDECREF(objects);
  Cx *cx = objects == Py_False ? cx_new() : NULL;
  if (!cx)
    return e;
  if (CX_TRY(cx)) {
    const Type *t = date_of(st, cx, dtype);
    t = t ? t : record_of(st, cx, dtype, 0);
    const char *text = t ? ty_name(cx, t) : NULL, *end = text, *error;
    if (text && ty_parse(cx, &end, &error) == t) { /* no two fields of one name */
      e = add_record(st, t, text, Py_NewRef(dtype));
      if (e != PX_NO_ELEM)
        (void)remember(st, dtype, e);
    }
  }
  cx_free(cx);
  return e;
}

PxElem px_elem_of_dtype(PxState *st, PyObject *dtype) {
  PyObject *known = PyDict_GetItemWithError(st->scalar_ids, dtype); /* borrowed: never removed */
  if (known)
    return (PxElem)PyLong_AsLong(known);
  PyErr_Clear();
  TypeId id = px_type_of_dtype(st, dtype);
  if (id < TY_SCALARS)
    return (PxElem)id;
  PxElem e = elem_of_listed(st, dtype);
  PyErr_Clear();
  return e;
}

/* Why a record or date type is no element, for the end of a message: "" unless the process has had
 * as many as there can be. */
static const char *records_full(const PxState *st) {
  return st->nrecords < PX_MAX_RECORDS
             ? ""
             : ": this process has had as many record and date types as there can be\n  help: make dtypes once and use them again, or go on in another process";
}

PxElem px_elem_of_text(PxState *st, const char *text) {
  volatile PxElem e = PX_NO_ELEM; /* set behind a setjmp */
  Cx *cx = cx_new();
  if (!cx) {
    PyErr_NoMemory();
    return e;
  }
  const char *end = text, *error = NULL;
  const Type *t = NULL;
  if (CX_TRY(cx)) {
    t = ty_parse(cx, &end, &error);
    const char *name = t && (t->id == TY_RECORD || ty_is_date(t)) ? ty_name(cx, t) : NULL;
    e = name ? find_record(st, name) : e;
    if (name && e == PX_NO_ELEM)
      e = add_record(st, t, name, dtype_of(st, t));
  }
  cx_free(cx);
  if (e == PX_NO_ELEM && !PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "%.200s is no record or date type that kernels can have%s", text,
                 records_full(st));
  return e;
}

const char *px_elem_text(PxState *st, PxElem e) {
  return px_elem_is_listed(e) ? st->records[e - PX_RECORD_ELEM]->text : ty_scalar_info[e].name;
}

unsigned px_elem_align(PxState *st, PxElem e) {
  return px_elem_is_listed(e) ? st->records[e - PX_RECORD_ELEM]->align
                              : ty_align(&(Type){.id = (TypeId)e});
}

size_t px_elem_size(PxState *st, PxElem e) {
  return px_elem_is_listed(e) ? st->records[e - PX_RECORD_ELEM]->size : ty_scalar_info[e].bits / 8u;
}

PyObject *px_elem_dtype(PxState *st, PxElem e) {
  return px_elem_is_listed(e) ? Py_NewRef(st->records[e - PX_RECORD_ELEM]->dtype)
                              : px_dtype_of_type(st, (TypeId)e);
}

static bool has_fields(PxState *st, PyObject *dtype) {
  PyObject *names = px_getattr_optional(dtype, st->name.names);
  bool has = names && names != Py_None;
  Py_XDECREF(names);
  PyErr_Clear();
  return has;
}

static bool is_swapped(PyObject *dtype) {
  PyObject *native = PyObject_GetAttrString(dtype, "isnative");
  bool swapped = native == Py_False;
  Py_XDECREF(native);
  PyErr_Clear();
  return swapped;
}

/* The type that texts and raw bytes are read as in a kernel; NULL for other dtypes. */
static const char *read_as(PyObject *dtype) {
  PyObject *kind = PyObject_GetAttrString(dtype, "kind");
  Py_UCS4 c = kind && PyUnicode_Check(kind) && PyUnicode_GET_LENGTH(kind) == 1
                  ? PyUnicode_READ_CHAR(kind, 0)
                  : 0;
  Py_XDECREF(kind);
  PyErr_Clear();
  return c == 'S' || c == 'V' ? "uint8), its bytes" : c == 'U' ? "uint32), its characters" : NULL;
}

void px_refuse_dtype(PxState *st, const char *who, PyObject *dtype) {
  char why[200];
  if (*records_full(st))
    snprintf(why, sizeof why, "%s", records_full(st));
  else if (has_fields(st, dtype))
    snprintf(why, sizeof why,
             ": records have no Python objects in them, at least one byte, at most %d fields and "
             "%d levels",
             TY_MAX_TUPLE, MAX_DEPTH);
  else if (is_swapped(dtype))
    snprintf(why, sizeof why,
             ": its bytes are in another order than this machine's: pass "
             "x.astype(x.dtype.newbyteorder('='))");
  else if (read_as(dtype))
    snprintf(why, sizeof why, ": pass x.view(np.%s", read_as(dtype));
  else
    snprintf(why, sizeof why, ": pass x.astype(np.float64), or another type that it has");
  PyObject *text = PyObject_Str(dtype);
  if (!text) { /* NumPy has none of very deep ones */
    if (!PyErr_ExceptionMatches(PyExc_RecursionError) && !PyErr_ExceptionMatches(PyExc_TypeError))
      return;
    PyErr_Clear();
    text = PyUnicode_FromString("records in records");
  }
  if (text)
    PyErr_Format(PyExc_TypeError, "%s is an array of %.200U%s, which a kernel cannot take%s", who,
                 text, PyUnicode_GET_LENGTH(text) > 200 ? "..." : "", why);
  Py_XDECREF(text);
}

void px_records_free(PxState *st) {
  for (uint32_t k = 0; st->records && k < st->nrecords; k++) {
    Py_XDECREF(st->records[k]->dtype);
    PyMem_Free(st->records[k]);
  }
  PyMem_Free(st->records);
  st->records = NULL;
  st->nrecords = 0;
}
