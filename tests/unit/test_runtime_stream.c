/* Streams and events, on the stand-in GPU and on the host. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/support/kernels.h"

static void streams(int n) {
  (void)n;
  const StandinControl *control = standin_open(1);
  RtDevice *d;
  RtStream *s, *w;
  RtEvent *e;
  int done = -1;
  EXPECT(rt_device_open(0, &d) == RT_OK && rt_stream_new(d, &s) == RT_OK &&
         rt_event_new(d, 0, &e) == RT_OK);
  EXPECT(rt_stream_device(s) == d && rt_stream_handle(s) > 2 && rt_stream_handle(NULL) == 0);
  EXPECT(rt_stream_query(d, s, &done) == RT_OK && done == 1);
  EXPECT(rt_stream_query(d, NULL, &done) == RT_OK && done == 1);
  control->busy(1);
  EXPECT(rt_stream_query(d, s, &done) == RT_OK && done == 0);
  EXPECT(rt_event_query(e, &done) == RT_OK && done == 0);
  control->busy(0);
  EXPECT(rt_stream_synchronize(d, s) == RT_OK && rt_stream_synchronize(d, NULL) == RT_OK);
  EXPECT(rt_event_record(e, s) == RT_OK && rt_stream_wait_event(NULL, e) == RT_OK &&
         rt_stream_wait_event(s, e) == RT_OK);
  EXPECT(rt_stream_wrap(d, rt_stream_handle(s), &w) == RT_OK &&
         rt_stream_handle(w) == rt_stream_handle(s));
  rt_stream_release(w);
  EXPECT(control->live(SI_STREAM) == 1);
  EXPECT(rt_stream_wrap(d, 1, &w) == RT_OK && rt_stream_handle(w) == 0 &&
         rt_stream_synchronize(d, w) == RT_OK);
  rt_stream_release(w);
  EXPECT(rt_stream_wrap(d, 2, &w) == RT_OK && rt_stream_handle(w) == 2 &&
         rt_stream_synchronize(d, w) == RT_OK);
  rt_stream_release(w);
  rt_stream_release(NULL);
  rt_event_release(NULL);
  control->fail("cuStreamQuery", 1, 700);
  EXPECT(rt_stream_query(d, s, &done) == RT_CONTEXT_LOST && done == 0);
  rt_event_release(e);
  rt_stream_release(s);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void events(int n) {
  (void)n;
  const StandinControl *control = standin_open(2);
  RtDevice *d, *other;
  RtEvent *a, *b, *plain, *foreign;
  float ms = 0;
  EXPECT(rt_device_open(0, &d) == RT_OK && rt_device_open(1, &other) == RT_OK);
  EXPECT(rt_event_new(d, 1, &a) == RT_OK && rt_event_new(d, 1, &b) == RT_OK &&
         rt_event_new(d, 0, &plain) == RT_OK);
  EXPECT(rt_event_new(other, 1, &foreign) == RT_OK && rt_event_handle(a) != 0);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_BAD_ARGUMENT && has("start event was never recorded"));
  EXPECT(rt_event_record(a, NULL) == RT_OK);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_BAD_ARGUMENT && has("end event was never recorded"));
  EXPECT(rt_event_record(b, NULL) == RT_OK && rt_event_synchronize(b) == RT_OK);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_OK && ms == 1.5f);
  EXPECT(rt_event_elapsed(a, plain, &ms) == RT_BAD_ARGUMENT && has("timing=False"));
  EXPECT(rt_event_elapsed(a, foreign, &ms) == RT_BAD_ARGUMENT && has("two devices"));
  control->busy(1);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_BAD_ARGUMENT && has("NOT_READY") && *rt_error()->remedy);
  control->busy(0);
  EXPECT(rt_stream_wait_event(NULL, foreign) == RT_OK);
  rt_event_release(a);
  rt_event_release(b);
  rt_event_release(plain);
  rt_event_release(foreign);
  EXPECT(standin_live(control) == 0 && control->misuse() == 0);
}

static void host(int n) {
  (void)n;
  RtDevice *d;
  RtStream *s, *w;
  RtEvent *a, *b;
  int done = 0;
  float ms = -1;
  setenv("PYPTX_DRIVER", "/nonexistent", 1);
  EXPECT(rt_device_open(RT_HOST, &d) == RT_OK && rt_stream_new(d, &s) == RT_OK &&
         rt_stream_wrap(d, 0, &w) == RT_OK);
  EXPECT(rt_stream_query(d, s, &done) == RT_OK && done && rt_stream_synchronize(d, NULL) == RT_OK);
  EXPECT(rt_event_new(d, 1, &a) == RT_OK && rt_event_new(d, 1, &b) == RT_OK);
  EXPECT(rt_event_record(a, s) == RT_OK);
  nanosleep(&(struct timespec){0, 2000000}, NULL);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_BAD_ARGUMENT);
  EXPECT(rt_event_record(b, NULL) == RT_OK && rt_event_synchronize(b) == RT_OK &&
         rt_event_query(b, &done) == RT_OK && done);
  EXPECT(rt_event_elapsed(a, b, &ms) == RT_OK && ms >= 1.9f && ms < 10000);
  EXPECT(rt_event_elapsed(b, a, &ms) == RT_OK && ms <= -1.9f);
  EXPECT(rt_stream_wait_event(s, a) == RT_OK && rt_stream_wait_event(NULL, a) == RT_OK);
  rt_event_release(a);
  rt_event_release(b);
  rt_stream_release(s);
  rt_stream_release(w);
}

#define RUN(f, n) expect_failures += scenario(#f, f, n)

int main(void) {
  RUN(streams, 0);
  RUN(events, 0);
  RUN(host, 0);
  return expect_failures != 0;
}
