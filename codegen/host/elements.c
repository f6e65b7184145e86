/* Elements: what an access is called in messages of checked code.
 *
 * In: a load, store or atomic operation. Out: "x[{0}, {1}].b[{2}]" for trap_text of pyext/raise.c,
 * and the numbers for the holes. Views are followed back to the array that they are of, whose own
 * index is named; where that is not known (reshape), the view's. */
#include <string.h>

#include "codegen/host/checks.h"
#include "codegen/lower/private.h"

typedef struct Walk {
  Lower *lw;
  const Ins *array;
  LLVMValueRef index[TY_MAX_NDIM]; /* NULL each, if only the text is wanted */
  unsigned n;
  bool emits;
  const char *tail; /* ".b[{2}]": fields, the innermost last; with holes that count from `holes` */
  LLVMValueRef inner[RT_TRAP_VALUES];
  unsigned ninner;
} Walk;

static LLVMValueRef number(const Walk *w, Ins *i) {
  Lower *lw = w->lw;
  return w->emits ? l_int_cast(lw->b, lw_value(lw, i), lw->t->i64, 1) : NULL;
}

static LLVMValueRef in_slice(const Walk *w, LLVMValueRef index, Ins *start, Ins *step) {
  Lower *lw = w->lw;
  return w->emits ? l_add(lw->b, number(w, start), l_mul(lw->b, index, number(w, step))) : NULL;
}

/* --- views, from the outside in --- */

static void through_axes(Walk *w) {
  const Ins *view = w->array;
  const IrView *how = view->aux.view;
  LLVMValueRef to[2 * TY_MAX_NDIM] = {0};
  unsigned n = 0, from = 0, arg = 1;
  for (unsigned k = 0; k < how->n; k++)
    switch (how->kind[k]) {
    case VIEW_NEWAXIS: from++; break;
    case VIEW_INDEX: to[n++] = number(w, view->args[arg++]); break;
    case VIEW_SLICE:
      to[n++] = in_slice(w, w->index[from++], view->args[arg], view->args[arg + 2]);
      arg += 3;
      break;
    default: to[n++] = w->index[from++];
    }
  while (from < w->n && n < TY_MAX_NDIM)
    to[n++] = w->index[from++];
  memcpy(w->index, to, sizeof w->index);
  w->n = n;
}

static void through_permutation(Walk *w) {
  const IrView *how = w->array->aux.view;
  LLVMValueRef to[TY_MAX_NDIM];
  memcpy(to, w->index, sizeof to);
  for (unsigned k = 0; k < w->n; k++)
    to[how->axes[k]] = w->index[k];
  memcpy(w->index, to, sizeof to);
}

static const char *field_at(const Type *record, uint32_t offset) {
  for (uint32_t k = 0; record->id == TY_RECORD && k < record->nfields; k++)
    if (record->fields[k].offset == offset)
      return record->fields[k].name;
  return NULL;
}

/* The holes of the tail are numbered when it is known how many the array's own index has. */
static void through_field(Walk *w) {
  const IrView *how = w->array->aux.view;
  const char *name = field_at(w->array->args[0]->type->elem, how->offset);
  Arena *a = &w->lw->cx->arena;
  unsigned nested = how->nested < w->n ? how->nested : w->n;
  const char *index = "";
  for (unsigned k = 0; k < nested; k++) {
    index = arena_printf(a, "%s%s%%", index, k ? ", " : "[");
    if (w->ninner < RT_TRAP_VALUES)
      w->inner[w->ninner++] = w->index[w->n - nested + k];
  }
  w->n -= nested;
  w->tail = arena_printf(a, "%s%s%s%s%s", name ? "." : "", name ? name : "", index,
                         nested ? "]" : "", w->tail);
}

/* False: what lies behind is not known. */
static bool through_view(Walk *w) {
  const IrView *how = w->array->aux.view;
  switch (how->n ? how->kind[0] : VIEW_FULL) {
  case VIEW_RESHAPE: return false;
  case VIEW_PERMUTE: through_permutation(w); break;
  case VIEW_PART:
    w->tail = arena_printf(&w->lw->cx->arena, "%s%s", how->axes[0] ? ".imag" : ".real", w->tail);
    break;
  case VIEW_FIELD:
    if (w->ninner) /* the holes of nested fields would be out of order */
      return false;
    through_field(w);
    break;
  default: through_axes(w);
  }
  w->array = w->array->args[0];
  return true;
}

/* --- names --- */

static const char *name_of(Lower *lw, const Ins *i) {
  if (i->op == OP_ALLOC && i->aux.alloc->name)
    return i->aux.alloc->name;
  if (i->name && *i->name)
    return i->name;
  if (i->op == OP_VIEW) {
    const char *base = name_of(lw, i->args[0]);
    return base ? arena_printf(&lw->cx->arena, "a view of %s", base) : NULL;
  }
  if (i->op == OP_TUPLE_GET) {
    const Ins *tuple = i->args[0];
    const char *of = name_of(lw, tuple), *const *names = tuple->type->names;
    if (of && names && names[i->aux.i])
      return arena_printf(&lw->cx->arena, "%s.%s", of, names[i->aux.i]);
    return of ? arena_printf(&lw->cx->arena, "%s[%d]", of, (int)i->aux.i) : NULL;
  }
  return NULL;
}

const char *cg_host_array_name(Lower *lw, const Ins *array) {
  while (array->op == OP_VIEW && !(array->name && *array->name))
    array = array->args[0];
  return name_of(lw, array);
}

static Walk walk(Lower *lw, const Ins *i, bool emits) {
  Walk w = {.lw = lw, .array = i->args[0], .emits = emits, .tail = ""};
  for (; w.n < w.array->type->ndim && w.n < TY_MAX_NDIM; w.n++)
    w.index[w.n] = number(&w, i->args[1 + w.n]);
  while (w.array->op == OP_VIEW && through_view(&w))
    ;
  return w;
}

/* Neighbouring elements along the last axis that are accessed at once, by the array's own index. */
static uint32_t elements_of(const Walk *w, const Ins *i) {
  const Type *t = i->op == OP_STORE ? i->args[i->nargs - 1]->type : i->type;
  bool several = (i->op == OP_LOAD || i->op == OP_STORE) && t && t->id == TY_TUPLE && w->n &&
                 w->array == i->args[0] && w->n < RT_TRAP_VALUES;
  return several ? (uint32_t)t->n : 1;
}

const char *cg_host_element_text(Lower *lw, const Ins *i) {
  Walk w = walk(lw, i, false);
  Arena *a = &lw->cx->arena;
  const char *name = name_of(lw, w.array), *text = name ? name : "an array";
  unsigned hole = 0;
  for (unsigned k = 0; k < w.n && k < RT_TRAP_VALUES; k++)
    text = arena_printf(a, "%s%s{%u}", text, k ? ", " : "[", hole++);
  if (elements_of(&w, i) > 1)
    text = arena_printf(a, "%s:{%u}", text, hole++);
  if (w.n)
    text = arena_printf(a, "%s%s]", text, w.n > RT_TRAP_VALUES ? ", …" : "");
  for (const char *s = w.tail; *s; s++)
    text = *s != '%'               ? arena_printf(a, "%s%c", text, *s)
           : hole < RT_TRAP_VALUES ? arena_printf(a, "%s{%u}", text, hole++)
                                   : arena_printf(a, "%s…", text);
  return text;
}

unsigned cg_host_element_values(Lower *lw, const Ins *i, LLVMValueRef values[RT_TRAP_VALUES]) {
  Walk w = walk(lw, i, true);
  unsigned n = 0;
  for (unsigned k = 0; k < w.n && n < RT_TRAP_VALUES; k++)
    values[n++] = w.index[k];
  if (elements_of(&w, i) > 1)
    values[n] = l_add(lw->b, values[n - 1], lw_i64(lw, elements_of(&w, i))), n++;
  for (unsigned k = 0; k < w.ninner && n < RT_TRAP_VALUES; k++)
    values[n++] = w.inner[k];
  return n;
}
