/* Flights: see flights.h. */
#include "runtime/host/flights.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4 }; /* what the smallest copy writes */

static size_t words_of(const RtPlace *p) { return (p->cluster->shared_bytes + WORD - 1) / WORD; }

static unsigned char *marks_at(const RtPlace *p, const char *at) {
  return p->flights.marks + (size_t)(at - p->shared) / WORD;
}

void rt_flights_begin(RtPlace *p) {
  if (p->flights.words)
    memset(p->flights.marks, 0, words_of(p));
  p->flights.words = 0;
}

void rt_flights_close(RtPlace *p) {
  free(p->flights.marks);
  p->flights = (RtFlights){0};
}

bool rt_flight_starts(RtPlace *p, const char *at, size_t bytes) {
  if (!p->flights.marks)
    p->flights.marks = calloc(words_of(p) + 1, 1);
  if (!p->flights.marks)
    return false;
  memset(marks_at(p, at), 1, bytes / WORD);
  p->flights.words += bytes / WORD;
  return true;
}

void rt_flight_lands(RtPlace *p, const char *at, size_t bytes) {
  memset(marks_at(p, at), 0, bytes / WORD);
  p->flights.words -= bytes / WORD;
}

bool rt_is_in_flight(const RtPlace *p, const char *at, size_t bytes) {
  return p->flights.words && memchr(marks_at(p, at), 1, (bytes + WORD - 1) / WORD);
}
