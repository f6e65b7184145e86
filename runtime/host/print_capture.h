/* Print capture: what kernels print is kept meanwhile, for a caller that hands it on.
 *
 * Host kernels write to rt_print_file, which is file descriptor 1 or, while a host launch is
 * captured, an anonymous file. The CUDA driver writes to file descriptor 1 itself, so while a GPU's
 * launch is captured that descriptor is this file, for the whole process. Captures may overlap, in
 * one thread and in several: they share the file, and who ends one takes what is there. */
#ifndef PYPTX_RUNTIME_HOST_PRINT_CAPTURE_H
#define PYPTX_RUNTIME_HOST_PRINT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Where host kernels print: a file descriptor. */
int rt_print_file(void);

/* False: there is no file to be had, and kernels print where they do otherwise. */
bool rt_print_capture_begin(bool gpu);
void rt_print_capture_end(bool gpu);
/* What was printed and not taken yet, for free(); NULL: nothing. */
char *rt_print_take(size_t *n);
/* For a later one to take. */
void rt_print_put_back(const char *text, size_t n);
/* Text on a file descriptor, in as few writes as it takes. */
void rt_print_write(int file, const char *text, size_t n);

#endif
