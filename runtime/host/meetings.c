/* Meetings: see meetings.h. */
#include "runtime/host/meetings.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MARKS = 512 };

/* --- the log --- */

void rt_threads_put(RtThreads *s, uint32_t thread) { s->bits[thread / 64] |= 1ull << thread % 64; }
bool rt_threads_have(const RtThreads *s, uint32_t thread) {
  return s->bits[thread / 64] >> thread % 64 & 1;
}

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

/* Threads that arrive one after the other share a step: who is not in it yet comes before it. */
uint32_t rt_meeting_now(RtPlace *p, uint32_t thread) {
  const RtMeeting *last =
      p->nmeetings && p->meetings ? &p->meetings[(p->nmeetings - 1) % RT_MEETINGS] : NULL;
  bool arrives = last && last->time == p->cluster->clock &&
                 (last->what == RT_STEP_ARRIVES || last->what == RT_STEP_ELSEWHERE);
  if (!arrives)
    return p->cluster->clock;
  return rt_threads_have(&last->threads, thread) ? ++p->cluster->clock : p->cluster->clock - 1;
}

/* --- who knows --- */

/* Threads, and barriers: those who will go on behind one, and those who do. */
typedef struct Know {
  RtThreads threads;
  uint64_t coming[MARKS / 64], there[MARKS / 64];
  bool others;        /* of other blocks */
  uint32_t others_at; /* since when for certain; 0: they do not */
} Know;

static bool marked(const uint64_t *marks, uint32_t at) {
  return marks[at % MARKS / 64] >> at % 64 & 1;
}
static void mark(uint64_t *marks, uint32_t at) { marks[at % MARKS / 64] |= 1ull << at % 64; }

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

static void follow(const RtPlace *p, Know *know, const RtMeeting *m) {
  bool tells = any(&know->threads, &m->threads), cluster = m->at == RT_AT_CLUSTER;
  switch (m->what) {
  case RT_STEP_ARRIVES:
    if (tells)
      mark(know->coming, m->at);
    know->others |= tells && cluster;
    return;
  case RT_STEP_ELSEWHERE:
    know->others |= tells;
    know->others_at = tells && !know->others_at ? m->time : know->others_at;
    return;
  case RT_STEP_OTHER:
    if (know->others)
      mark(know->coming, m->at);
    return;
  case RT_STEP_OVER:
    if (marked(know->coming, m->at) || (cluster && know->others))
      mark(know->there, m->at);
    if (cluster && marked(know->coming, m->at) && !know->others_at)
      know->others_at = m->time;
    return;
  case RT_STEP_GOES_ON:
    for (uint32_t k = 0; marked(know->there, m->at) && k < RT_MOST_THREADS / 64; k++)
      know->threads.bits[k] |= m->threads.bits[k];
    tell_warps(p, know, m->time);
    return;
  }
}

static bool is_forgotten(const RtPlace *p, uint32_t time) {
  bool some = p->nmeetings > RT_MEETINGS || (p->nmeetings && !p->meetings);
  return some && (!p->meetings || p->meetings[p->nmeetings % RT_MEETINGS].time > time);
}

/* All know what was then: they have met, or the log has forgotten. */
static bool all_know(const RtPlace *p, uint32_t time) {
  return p->all_met > time || is_forgotten(p, time);
}

/* What came of what some knew at that time. */
static void follow_all(const RtPlace *p, Know *know, uint32_t time) {
  uint32_t kept = p->nmeetings < RT_MEETINGS ? p->nmeetings : RT_MEETINGS;
  for (uint32_t y = 0; y < p->threads; y++)
    if (p->met_outside[y] > time)
      rt_threads_put(&know->threads, y);
  tell_warps(p, know, time);
  for (uint32_t k = p->nmeetings - kept; k < p->nmeetings; k++)
    if (p->meetings[k % RT_MEETINGS].time > time)
      follow(p, know, &p->meetings[k % RT_MEETINGS]);
}

static bool told(const RtPlace *p, Know *know, uint32_t time, RtThreads *out) {
  if (all_know(p, time)) {
    memset(out, UINT8_MAX, sizeof *out);
    return true;
  }
  follow_all(p, know, time);
  *out = know->threads;
  return know->others;
}

bool rt_meeting_told(const RtPlace *p, uint32_t first, uint32_t count, uint32_t time,
                     RtThreads *out) {
  Know know = {0};
  for (uint32_t t = first; t < first + count; t++)
    rt_threads_put(&know.threads, t);
  return told(p, &know, time, out);
}

bool rt_meeting_told_at(const RtPlace *p, uint32_t at, uint32_t time, RtThreads *out) {
  Know know = {0};
  mark(know.coming, at);
  return told(p, &know, time, out);
}

bool rt_meeting_tells(const RtPlace *p, uint32_t thread, uint32_t other, uint32_t time) {
  RtThreads know;
  if (thread == other || p->met_outside[thread] > time ||
      (thread / WARP == other / WARP && p->warp_met[thread / WARP] > time))
    return true;
  rt_meeting_told(p, other, 1, time, &know);
  return rt_threads_have(&know, thread);
}

uint32_t rt_meeting_told_others(const RtPlace *p, bool barrier, uint32_t what, uint32_t time) {
  Know know = {0};
  if (is_forgotten(p, time))
    return time + 1;
  if (barrier)
    mark(know.coming, what);
  else
    rt_threads_put(&know.threads, what);
  if (p->all_met > time)
    memset(&know.threads, UINT8_MAX, sizeof know.threads);
  follow_all(p, &know, time);
  return know.others_at;
}
