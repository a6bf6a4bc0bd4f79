// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "sender/figures_json.h"
#include "sender/process_figures.h"

struct stats {
    FILE *file; // owned; NULL after an error
};

struct stats *stats_open(const char *path)
{
    struct stats *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->file = fopen(path, "we");
    if (!s->file) {
        log_error("cannot write %s: %s", path, strerror(errno));
        free(s);
        return NULL;
    }
    setvbuf(s->file, NULL, _IOLBF, 0);
    return s;
}

void stats_close(struct stats *s)
{
    if (!s)
        return;
    if (s->file)
        fclose(s->file);
    free(s);
}

// Takes over the object.
static void write_line(struct stats *s, json_t *o)
{
    int err = json_dumpf(o, s->file, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(o);
    if (err || fputc('\n', s->file) == EOF) { // a full disk must not end the stream
        log_error("cannot write statistics: %s; going on without", strerror(errno));
        fclose(s->file);
        s->file = NULL;
    }
}

void stats_write(struct stats *s, const struct figures *f, const struct session_figures *session)
{
    if (!s->file)
        return;
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(usec_to_sec(f->age)));
    figures_session_json(o, f, session);
    write_line(s, o);
}

void stats_end(struct stats *s, usec_t age)
{
    if (!s->file)
        return;
    struct process_figures p;
    process_figures_read(&p);
    json_t *o = json_object();
    json_object_set_new(o, "event", json_string("end"));
    json_object_set_new(o, "t", json_real(usec_to_sec(age)));
    figures_process_json(o, &p);
    write_line(s, o);
}
