/* Flights: which words of a block's shared memory a copy will write that has begun and not
 * arrived. */
#ifndef PYPTX_RUNTIME_HOST_FLIGHTS_H
#define PYPTX_RUNTIME_HOST_FLIGHTS_H

#include "runtime/host/block_places.h"

/* A block begins; its place ends. */
void rt_flights_begin(RtPlace *p);
void rt_flights_close(RtPlace *p);
/* A copy to these bytes begins, which are of whole words; false: there is no memory. */
bool rt_flight_starts(RtPlace *p, const char *at, size_t bytes);
void rt_flight_lands(RtPlace *p, const char *at, size_t bytes);
/* Does a copy that is under way write any of these bytes? */
bool rt_is_in_flight(const RtPlace *p, const char *at, size_t bytes);

#endif
