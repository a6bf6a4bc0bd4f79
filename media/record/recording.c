// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "media/record/policy/record_gate.h"
#include "media/record/policy/record_name.h"
#include "media/record/record_writer.h"

#define GAP_LOG                                                                                    \
    (60 * USEC_PER_SEC) // a disk that is slow again and again is reported at this interval

struct recording {
    struct record_gate gate;
    struct record_writer *writer; // owned
    bool has_audio;
    struct fps fps;
    int width, height; // of VP9; 0: it is H.264
    bool in_gap;
    bool gap_is_logged;
    usec_t gap_begun;
    usec_t gap_logged; // when the last gap was logged; 0: none was
};

int recording_check(const char *option, const char *pattern)
{
    char folder[PATH_MAX];
    if (record_name_folder(pattern, folder, sizeof(folder)) != 0) {
        log_error("%s '%s': the name is too long", option, pattern);
        return ERR_IO;
    }
    if (access(folder, W_OK | X_OK) == 0)
        return 0;
    log_error("%s '%s': cannot make files in %s: %s (create the folder, or name another one)",
              option, pattern, folder, strerror(errno));
    return ERR_IO;
}

struct recording *recording_new(const struct recording_config *config)
{
    struct recording *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    struct record_writer_config writer = {
        .pattern = config->pattern, .title = config->title, .keep = config->keep};
    record_gate_init(&r->gate, config->segment, config->key_every);
    r->writer = record_writer_new(&writer);
    if (r->writer)
        return r;
    free(r);
    return NULL;
}

void recording_describe(struct recording *r, bool has_audio, struct fps fps)
{
    r->has_audio = has_audio;
    r->fps = fps;
}

void recording_describe_vp9(struct recording *r, int width, int height)
{
    r->width = width;
    r->height = height;
}

static void begin_gap(struct recording *r, usec_t now)
{
    record_gate_lost(&r->gate);
    if (r->in_gap)
        return;
    r->in_gap = true;
    r->gap_begun = now;
    r->gap_is_logged = !r->gap_logged || now - r->gap_logged >= GAP_LOG;
    if (!r->gap_is_logged)
        return;
    r->gap_logged = now;
    log_warn("the disk is too slow: the recording has a gap from now on");
}

static void end_gap(struct recording *r, usec_t now)
{
    if (r->in_gap && r->gap_is_logged)
        log_info("the recording continues after a gap of %.1f s", usec_to_sec(now - r->gap_begun));
    r->in_gap = false;
}

static bool push(struct recording *r, struct record_packet *p)
{
    if (p && record_writer_push(r->writer, p))
        return true;
    free(p);
    return false;
}

bool recording_frame(struct recording *r, const struct recorded_frame *f, usec_t now)
{
    struct record_candidate of = {.number = f->number,
                                  .depends_on = f->depends_on,
                                  .size_id = f->size_id,
                                  .key = f->key,
                                  .time = f->decode};
    enum record_verdict verdict = record_gate_frame(&r->gate, &of);
    if (verdict != RECORD_SKIP) {
        struct record_packet *p = record_packet_new(f->bytes);
        if (p) {
            p->key = f->key;
            p->has_audio = r->has_audio;
            p->fps = r->fps;
            p->width = r->width;
            p->height = r->height;
            p->begins = verdict == RECORD_BEGIN;
            p->time = f->time;
            p->decode = f->decode;
            p->wall = f->wall ? f->wall : clock_wall();
            memcpy(p->data, f->data, f->bytes);
        }
        if (push(r, p))
            end_gap(r, now);
        else
            begin_gap(r, now);
    }
    return record_gate_wants_key(&r->gate, record_writer_needs_key(r->writer, now), f->decode);
}

void recording_audio(struct recording *r, usec_t time, usec_t decode, const uint8_t *data,
                     size_t bytes)
{
    struct record_packet *p = r->has_audio ? record_packet_new(bytes) : NULL;
    if (!p)
        return;
    p->is_audio = true;
    p->time = time;
    p->decode = decode;
    memcpy(p->data, data, bytes);
    (void)push(r, p); // frames notice that the disk is slow
}

void recording_break(struct recording *r)
{
    struct record_packet *p = record_packet_new(0);
    record_gate_init(&r->gate, r->gate.segment, r->gate.key_every);
    if (p)
        p->ends = true;
    (void)push(r, p); // the next file's begin ends this one, too
}

int recording_end(struct recording *r, usec_t patience)
{
    if (!r)
        return 0;
    int err = record_writer_end(r->writer, patience);
    free(r);
    return err;
}
