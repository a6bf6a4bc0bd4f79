// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

struct report {
    FILE *out;
    const char *path; // borrowed
    int spec_count;
    bool failed;
    int64_t reported[]; // bytes of each spec in the last line
};

struct report *traffic_report_open(const char *path, int spec_count)
{
    struct report *r = calloc(1, sizeof(*r) + (size_t)spec_count * sizeof(r->reported[0]));
    FILE *out = r ? fopen(path, "we") : NULL;
    if (!out) {
        log_error("%s: %s", path, strerror(errno));
        free(r);
        return NULL;
    }
    setvbuf(out, NULL, _IOLBF, 1 << 16); // line-buffered, so that a reader can follow the file
    r->out = out;
    r->path = path;
    r->spec_count = spec_count;
    return r;
}

static void fail(struct report *r, const char *reason)
{
    if (!r->failed)
        log_error("%s is incomplete: %s", r->path, reason);
    r->failed = true;
}

// Returns seconds rounded to milliseconds, as 12.345.
static json_t *seconds(usec_t t)
{
    return json_real(round(usec_to_sec(t) * 1e3) / 1e3);
}

// Takes ownership of `line`; NULL: no memory.
static void write_line(struct report *r, json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (!text)
        fail(r, "out of memory");
    else if (fprintf(r->out, "%s\n", text) < 0)
        fail(r, strerror(errno));
    free(text);
    json_decref(line);
}

void traffic_report_second(struct report *r, const struct report_spec *specs, usec_t since_epoch)
{
    json_t *list = json_array();
    for (int i = 0; i < r->spec_count; i++) {
        const struct report_spec *s = &specs[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:i, s:I}", "spec", s->text, "bytes",
                                              (json_int_t)(s->bytes - r->reported[i]), "active",
                                              s->active, "completed", (json_int_t)s->completed));
        r->reported[i] = s->bytes;
    }
    write_line(r, json_pack("{s:o, s:o}", "t", seconds(since_epoch), "specs", list));
}

void traffic_report_end(struct report *r, const struct report_spec *specs, usec_t since_epoch)
{
    json_t *list = json_array();
    for (int i = 0; i < r->spec_count; i++) {
        const struct report_spec *s = &specs[i];
        json_t *flows = json_array();
        for (int k = 0; k < s->flow_count; k++)
            json_array_append_new(flows, json_integer(s->flows[k]));
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:I, s:I, s:o}", "spec", s->text, "bytes",
                                        (json_int_t)s->bytes, "completed", (json_int_t)s->completed,
                                        "failed", (json_int_t)s->failed, "flows", flows));
    }
    write_line(
        r, json_pack("{s:s, s:o, s:o}", "event", "end", "t", seconds(since_epoch), "specs", list));
}

int traffic_report_close(struct report *r)
{
    if (!r)
        return 0;
    if (fclose(r->out) != 0)
        fail(r, strerror(errno));
    int err = r->failed ? ERR_IO : 0;
    free(r);
    return err;
}
