/* Meetings: see meetings.h. */
#include "runtime/host/meetings.h"

#include <stdlib.h>

enum { WARP = 32, MARKS = 512 };

/* --- the log --- */

void rt_threads_put(RtThreads *s, uint32_t thread) { s->bits[thread / 64] |= 1ull << thread % 64; }

/* The last step, if it is such a one and nothing has happened since; else a new one. Without
 * memory, none is kept. */
static RtMeeting *step(RtPlace *p, RtMeetingStep what, uint32_t at) {
  if (!p->meetings)
    p->meetings = malloc(RT_MEETINGS * sizeof *p->meetings);
  if (!p->meetings) {
    p->nmeetings++;
    return NULL;
  }
  RtMeeting *last = p->nmeetings ? &p->meetings[(p->nmeetings - 1) % RT_MEETINGS] : NULL;
  if (last && last->what == what && last->at == at && last->time == p->cluster->clock)
    return last;
  RtMeeting *m = &p->meetings[p->nmeetings++ % RT_MEETINGS];
  *m = (RtMeeting){.time = ++p->cluster->clock, .what = what, .at = at};
  return m;
}

static void add(RtPlace *p, RtMeetingStep what, uint32_t at, uint32_t thread) {
  RtMeeting *m = step(p, what, at);
  if (m)
    rt_threads_put(&m->threads, thread);
}

void rt_meeting_arrives(RtPlace *p, uint32_t at, uint32_t thread) {
  add(p, RT_STEP_ARRIVES, at, thread);
}
void rt_meeting_arrives_elsewhere(RtPlace *p, uint32_t thread) {
  add(p, RT_STEP_ELSEWHERE, 0, thread);
}
void rt_meeting_other_arrives(RtPlace *p, uint32_t at) { step(p, RT_STEP_OTHER, at); }
void rt_meeting_is_over(RtPlace *p, uint32_t at) { step(p, RT_STEP_OVER, at); }
void rt_meeting_lets_go(RtPlace *p, uint32_t at, uint32_t thread) {
  add(p, RT_STEP_GOES_ON, at, thread);
}

void rt_meeting_lets_all_go(RtPlace *p, uint32_t at, const RtThreads *threads) {
  RtMeeting *m = step(p, RT_STEP_GOES_ON, at);
  for (uint32_t k = 0; m && k < RT_MOST_THREADS / 64; k++)
    m->threads.bits[k] |= threads->bits[k];
}

/* --- who knows --- */

/* Threads, and barriers: those who will go on behind one, and those who do. */
typedef struct Know {
  RtThreads threads;
  uint64_t coming[MARKS / 64], there[MARKS / 64];
  bool others; /* of other blocks */
} Know;

static bool marked(const uint64_t *marks, uint32_t at) {
  return marks[at % MARKS / 64] >> at % 64 & 1;
}
static void mark(uint64_t *marks, uint32_t at) { marks[at % MARKS / 64] |= 1ull << at % 64; }

static bool holds(const RtThreads *s, uint32_t thread) {
  return s->bits[thread / 64] >> thread % 64 & 1;
}

static bool any(const RtThreads *a, const RtThreads *b) {
  uint64_t both = 0;
  for (uint32_t k = 0; k < RT_MOST_THREADS / 64; k++)
    both |= a->bits[k] & b->bits[k];
  return both != 0;
}

/* So do the lanes of a warp that has met since. */
static void tell_warps(const RtPlace *p, Know *know, uint32_t time) {
  for (uint32_t w = 0; w < (p->threads + WARP - 1) / WARP; w++) {
    uint64_t lanes = (uint64_t)UINT32_MAX << WARP * (w % 2);
    if (know->threads.bits[w / 2] & lanes && p->warp_met[w] > time)
      know->threads.bits[w / 2] |= lanes;
  }
}

static void follow(const RtPlace *p, Know *know, const RtMeeting *m, uint32_t time) {
  bool tells = any(&know->threads, &m->threads), cluster = m->at == RT_AT_CLUSTER;
  switch (m->what) {
  case RT_STEP_ARRIVES:
    if (tells)
      mark(know->coming, m->at);
    know->others |= tells && cluster;
    return;
  case RT_STEP_ELSEWHERE: know->others |= tells; return;
  case RT_STEP_OTHER:
    if (know->others)
      mark(know->coming, m->at);
    return;
  case RT_STEP_OVER:
    if (marked(know->coming, m->at) || (cluster && know->others))
      mark(know->there, m->at);
    return;
  case RT_STEP_GOES_ON:
    for (uint32_t k = 0; marked(know->there, m->at) && k < RT_MOST_THREADS / 64; k++)
      know->threads.bits[k] |= m->threads.bits[k];
    tell_warps(p, know, time);
    return;
  }
}

bool rt_meeting_tells(const RtPlace *p, uint32_t thread, uint32_t other, uint32_t time) {
  uint32_t kept = p->nmeetings < RT_MEETINGS ? p->nmeetings : RT_MEETINGS;
  if (thread == other || p->all_met > time || p->met_outside[thread] > time ||
      (thread / WARP == other / WARP && p->warp_met[thread / WARP] > time))
    return true;
  if (p->nmeetings && !p->meetings)
    return true;
  if (p->nmeetings > kept && p->meetings[p->nmeetings % RT_MEETINGS].time > time)
    return true;
  Know know = {0};
  rt_threads_put(&know.threads, other);
  for (uint32_t y = 0; y < p->threads; y++)
    if (p->met_outside[y] > time)
      rt_threads_put(&know.threads, y);
  tell_warps(p, &know, time);
  for (uint32_t k = p->nmeetings - kept; k < p->nmeetings; k++)
    if (p->meetings[k % RT_MEETINGS].time > time)
      follow(p, &know, &p->meetings[k % RT_MEETINGS], time);
  return holds(&know.threads, thread);
}
