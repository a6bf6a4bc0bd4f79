// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the time line of a film (media/source/timeline.h) against films whose times are known as
// they are made: parts whose clock jumps ahead, back, or by half of MPEG-TS's range; in a part
// pictures that stand, and audio that begins late and ends early or late. Prints the films
// whose pictures or end are elsewhere. The unit test has a few thousand of them.
//
//   bench_timeline [FILMS [SEED]]     (default 1000000 films, seed 1)
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/rng.h"
#include "media/source/timeline.h"

#define PACKET (USEC_PER_SEC / 2) // of audio
#define FRAME  (USEC_PER_SEC / 25)
#define WRAP   ((INT64_C(1) << 33) * 100 / 9) // of a clock of 90 kHz and 33 bits

struct film {
    struct rng rng;
    struct timeline t;
    usec_t made;  // media time of the newest picture, as the film was made
    usec_t found; // and as the time line has it
    usec_t last;  // its stamp
    usec_t worst; // difference
    int64_t pictures, stood, jumped;
};

static usec_t upto(struct film *f, usec_t max)
{
    return (usec_t)(rng_unit(&f->rng) * (double)max) / 1000 * 1000;
}

static bool one_in(struct film *f, int n)
{
    return rng_unit(&f->rng) * n < 1;
}

static void show(struct film *f, usec_t stamp)
{
    if (f->pictures++)
        f->found += timeline_step(&f->t, f->last, stamp);
    usec_t off = f->found > f->made ? f->found - f->made : f->made - f->found;
    f->worst = usec_max(f->worst, off);
    f->found = f->made; // the rest of a packet is no error that grows
    f->last = stamp;
}

// Makes a part from `clock` on. Returns what the audio lasts after its last picture.
static usec_t make_part(struct film *f, usec_t clock)
{
    usec_t length = 5 * USEC_PER_SEC + upto(f, 300 * USEC_PER_SEC), picture = 0;
    usec_t audio = one_in(f, 3) ? upto(f, 4 * USEC_PER_SEC) : 0;
    usec_t audio_end = length + (one_in(f, 3) ? upto(f, 20 * USEC_PER_SEC) : 0);
    for (;;) {
        bool stands = picture >= 2 * USEC_PER_SEC && one_in(f, 20);
        usec_t next = usec_min(picture + (stands ? upto(f, 200 * USEC_PER_SEC) : FRAME), length);
        for (; audio < picture; audio += PACKET)
            timeline_add(&f->t, 1, clock + audio, PACKET);
        show(f, clock + picture);
        f->stood += next - picture > TIMELINE_BREAK;
        if (next >= length)
            break;
        f->made += next - picture;
        picture = next;
    }
    for (; audio < audio_end; audio += PACKET)
        timeline_add(&f->t, 1, clock + audio, PACKET);
    return audio - picture;
}

// Returns true if the film is as it was made.
static bool run(struct film *f)
{
    usec_t clock = upto(f, 90000 * USEC_PER_SEC);
    timeline_init(&f->t, true, USEC_NEVER);
    for (int part = 0, parts = 1 + (int)upto(f, 4000) / 1000; part < parts; part++) {
        usec_t tail = make_part(f, clock);
        usec_t end = timeline_end(&f->t, f->last) - f->last;
        tail = tail > TIMELINE_SLACK ? tail : 0;
        if (part == 0 && (end > tail ? end - tail : tail - end) > PACKET)
            return false;
        f->made += tail;
        usec_t ahead = f->last + tail + 100 * USEC_PER_SEC + upto(f, 50000 * USEC_PER_SEC);
        clock = one_in(f, 2) ? ahead : one_in(f, 2) ? 0 : (clock + WRAP / 2) % WRAP;
        f->jumped++;
    }
    return f->worst <= PACKET + FRAME;
}

int main(int argc, char **argv)
{
    int64_t films = argc > 1 ? atoll(argv[1]) : 1000000, seed = argc > 2 ? atoll(argv[2]) : 1;
    int64_t wrong = 0, pictures = 0, stood = 0, jumped = 0;
    usec_t worst = 0;
    for (int64_t i = 0; i < films; i++) {
        struct film f = {0};
        f.rng = rng_seeded((uint64_t)(seed * 1000003 + i));
        bool is_right = run(&f);
        if (!is_right && ++wrong <= 10)
            printf("film %" PRId64 ": off by %.3f s\n", i, usec_to_sec(f.worst));
        pictures += f.pictures;
        stood += f.stood;
        jumped += f.jumped;
        worst = usec_max(worst, f.worst);
    }
    printf("%" PRId64 " films, %" PRId64 " pictures, %" PRId64 " stood for more than 60 s, %" PRId64
           " jumps: %" PRId64 " wrong, the farthest picture %.3f s off\n",
           films, pictures, stood, jumped, wrong, usec_to_sec(worst));
    return wrong != 0;
}
