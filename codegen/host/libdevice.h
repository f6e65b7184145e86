/* libdevice's functions for host code: C functions with the names, types and meanings of
 * ir/libdevice.def. */
#ifndef PYPTX_CODEGEN_HOST_LIBDEVICE_H
#define PYPTX_CODEGEN_HOST_LIBDEVICE_H

#include <stddef.h>
#include <stdint.h>

/* The address of a function such as "__nv_sin"; NULL if there is none of that name. */
void *cg_host_libdevice(const char *symbol);

/* --- special_functions.c ---
 *
 * Functions that the C library lacks, or has with larger errors. Within 1 ulp where long double is
 * wider than double. */
double cg_sin(double x);
double cg_cos(double x);
double cg_tan(double x);
double cg_sinpi(double x);
double cg_cospi(double x);
/* The Euclidean norm; infinite if a component is, even if another is nan. */
long double cg_norm(double x, double y, double z, double w);
double cg_erfinv(double x);
double cg_erfcinv(double x);
double cg_erfcx(double x);
double cg_normcdf(double x);
double cg_normcdfinv(double x);
double cg_bessel_i(int order, double x); /* order: 0 or 1 */

#endif
