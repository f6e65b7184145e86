/* Halves: float16 and bfloat16 as numbers, and back, rounded once to nearest even; and the 8-bit
 * floats as numbers. */
#ifndef PYPTX_RUNTIME_HOST_HALVES_H
#define PYPTX_RUNTIME_HOST_HALVES_H

#include <stdint.h>

double rt_half_to_double(uint16_t half);
uint16_t rt_double_to_half(double v);
double rt_bfloat_to_double(uint16_t bfloat);
uint16_t rt_double_to_bfloat(double v);
double rt_e4m3_to_double(uint8_t v);
double rt_e5m2_to_double(uint8_t v);

#endif
