// SPDX-License-Identifier: GPL-2.0-or-later
// Records pictures at real pace until it is killed: `record_crash PATTERN SEGMENT_MS`. After each
// frame that the recording has taken it writes a line to stdout: the frame's media time, and by how
// much the machine let a sleeping thread oversleep, at most, both in us. So a test knows what a
// kill may cost, and what it must not blame on the recording.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/net/clock.h"
#include "media/encode/encoder.h"
#include "media/record/recording.h"

enum { FPS = 30, NAP = 20000, OPUS_MS = 20 };

static atomic_llong oversleep;

static void *nap(void *ctx)
{
    (void)ctx;
    for (;;) {
        usec_t due = clock_now() + NAP;
        clock_wait_until(due);
        usec_t late = clock_now() - due;
        if (late > atomic_load(&oversleep))
            atomic_store(&oversleep, late);
    }
    return NULL;
}

static struct ladder levels(void)
{
    return (struct ladder){.source_fps = {FPS, 1},
                           .source_width = 160,
                           .source_height = 90,
                           .size_count = 1,
                           .sizes = {{160, 90, {FPS, 1}, 2}},
                           .level_count = 1,
                           .levels = {{0, 1, 200000}}};
}

static void draw(struct picture *p, int64_t number)
{
    for (int y = 0; y < p->height; y++)
        memset(p->plane[0] + y * p->stride[0], (int)(16 + (y * 7 + number * 5) % 200),
               (size_t)p->width);
    for (int i = 1; i < 3; i++)
        memset(p->plane[i], 128, (size_t)p->stride[i] * (size_t)p->height / 2);
}

static void say(usec_t time)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "%lld %lld\n", (long long)time,
                       (long long)atomic_load(&oversleep));
    if (write(STDOUT_FILENO, line, (size_t)len) != len)
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct ladder l = levels();
    struct encoder *e = encoder_new(&l, 0);
    struct recording *r = recording_new(&(struct recording_config){
        .pattern = argv[1], .segment = atoi(argv[2]) * USEC_PER_MSEC, .key_every = USEC_PER_SEC});
    pthread_t thread;
    if (!e || !r || pthread_create(&thread, NULL, nap, NULL) != 0)
        return EXIT_FAILURE;
    recording_describe(r, true, (struct fps){FPS, 1});
    static const uint8_t silence[] = {0xfc, 0xff, 0xfe}; // Opus, 20 ms
    usec_t begun = clock_now(), heard = 0;
    for (int64_t number = 0;; number++) {
        usec_t time = usec_of_frames(number, FPS, 1);
        clock_wait_until(begun + time);
        struct picture *p = picture_new(160, 90);
        if (!p)
            return EXIT_FAILURE;
        draw(p, number);
        p->number = number;
        p->pts = time;
        struct coded_frame *f = NULL;
        int err = encoder_encode(e, p, &f);
        picture_unref(p);
        if (err || !f)
            return EXIT_FAILURE;
        struct recorded_frame of = {.number = f->number,
                                    .depends_on = f->depends_on,
                                    .key = f->key,
                                    .time = time,
                                    .decode = time,
                                    .wall = clock_wall(),
                                    .data = f->data,
                                    .bytes = f->bytes};
        if (recording_frame(r, &of, clock_now()))
            encoder_request_key(e, -1);
        coded_frame_unref(f);
        for (; heard <= time; heard += OPUS_MS * USEC_PER_MSEC)
            recording_audio(r, heard, heard, silence, sizeof(silence));
        say(time);
    }
}
