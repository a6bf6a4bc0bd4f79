// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "server/export/process_stats.h"
#include "server/export/stats_json.h"

enum { PATIENCE_MS = 50 }; // max. wait for the reader of a pipe; none while lines are being dropped

struct stats_file {
    FILE *file; // owned; NULL after an error
    bool late;  // the last line was dropped
};

struct stats_file *stats_file_open(const char *path)
{
    struct stats_file *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->file = fopen(path, "we");
    if (!s->file) {
        log_error("cannot write %s: %s", path, strerror(errno));
        free(s);
        return NULL;
    }
    setvbuf(s->file, NULL, _IOLBF, 0);
    int fd = fileno(s->file);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); // the reader of a pipe may hang
    return s;
}

void stats_file_close(struct stats_file *s)
{
    if (!s)
        return;
    if (s->file)
        fclose(s->file);
    free(s);
}

// Returns true if a line can be written without blocking.
static bool is_writable(struct stats_file *s)
{
    struct pollfd p = {.fd = fileno(s->file), .events = POLLOUT};
    bool writable = poll(&p, 1, s->late ? 0 : PATIENCE_MS) != 0;
    if (!writable && !s->late)
        log_warn("lines of stats dropped: the reader of --stats is too slow");
    s->late = !writable;
    return writable;
}

// Writes the object as a line and takes it over.
static void write_line(struct stats_file *s, json_t *o)
{
    int err = json_dumpf(o, s->file, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(o);
    if (err || fputc('\n', s->file) == EOF) { // a full disk must not end the stream
        log_error("cannot write stats: %s; continuing without", strerror(errno));
        fclose(s->file);
        s->file = NULL;
    }
}

void stats_file_write(struct stats_file *s, const struct stats *f,
                      const struct session_stats *session)
{
    if (!s->file || !is_writable(s))
        return;
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(usec_to_sec(f->age)));
    stats_session_json(o, f, session);
    write_line(s, o);
}

void stats_file_write_http(struct stats_file *s, const struct stats *f)
{
    if (!s->file || !is_writable(s))
        return;
    json_t *o = json_object();
    json_object_set_new(o, "t", json_real(usec_to_sec(f->age)));
    stats_http_json(o, &f->http);
    write_line(s, o);
}

void stats_file_end(struct stats_file *s, usec_t age)
{
    if (!s->file || !is_writable(s))
        return;
    struct process_stats p;
    process_stats_read(&p);
    json_t *o = json_object();
    json_object_set_new(o, "event", json_string("end"));
    json_object_set_new(o, "t", json_real(usec_to_sec(age)));
    stats_process_json(o, &p);
    write_line(s, o);
}
