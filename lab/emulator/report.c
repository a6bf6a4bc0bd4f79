// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/err.h"
#include "common/base/log.h"

static json_t *milliseconds(double us)
{
    return isnan(us) ? json_null() : json_real(round(us) / 1e3);
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

// `index` is into `b`'s arrays. `queue_bytes` < 0: unknown (for a single flow).
static json_t *direction(const struct link_stats *f, const struct extra_drops *b, int index,
                         int64_t queue_bytes)
{
    uint64_t pool =
        f->dropped[LINK_DROP_POOL] + b->refused_packets[index] + b->unwritten_packets[index];
    return json_pack("{s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o,s:o},s:o,s:o,s:{s:o,s:o,s:o}}", "packets_in",
                     count(f->packets_in + b->refused_packets[index]), "bytes_in",
                     count(f->bytes_in + b->refused_bytes[index]), "packets_out",
                     count(f->packets_out - b->unwritten_packets[index]), "bytes_out",
                     count(f->bytes_out - b->unwritten_bytes[index]), "dropped", "loss",
                     count(f->dropped[LINK_DROP_LOSS]), "full", count(f->dropped[LINK_DROP_FULL]),
                     "aqm", count(f->dropped[LINK_DROP_AQM]), "pool", count(pool), "marked",
                     count(f->marked), "queue_bytes",
                     queue_bytes < 0 ? json_null() : json_integer(queue_bytes), "queue_delay_ms",
                     "mean", milliseconds(hist_mean_us(&f->queue_delay)), "p95",
                     milliseconds(hist_quantile_us(&f->queue_delay, 0.95)), "max",
                     milliseconds(hist_max_us(&f->queue_delay)));
}

static json_t *seconds(usec_t t)
{
    return json_real(usec_to_sec(t));
}

static void write_line(struct report *r, json_t *line)
{
    if (!line || json_dumpf(line, r->file, JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0 ||
        fputc('\n', r->file) == EOF || fflush(r->file) != 0) {
        log_error("cannot write %s: %s (the file ends here)", r->path,
                  line ? strerror(errno) : err_text(ERR_NO_MEMORY));
        fclose(r->file);
        r->file = NULL;
        r->failed = true;
    }
    json_decref(line);
}

int link_report_open(struct report *r, const char *path)
{
    *r = (struct report){.path = path};
    if (!path)
        return 0;
    r->file = fopen(path, "we");
    if (r->file)
        return 0;
    log_error("cannot write %s: %s", path, strerror(errno));
    return ERR_IO;
}

void link_report_second(struct report *r, const struct report_way ways[2], usec_t start, usec_t now)
{
    if (!r->file)
        return;
    json_t *d[2];
    for (int i = 0; i < 2; i++)
        d[i] = direction(ways[i].link->lately, ways[i].lately, 0,
                         (int64_t)link_queue_bytes(ways[i].link));
    write_line(r, json_pack("{s:o,s:o,s:o,s:o}", "t", seconds(now - start), "monotonic",
                            seconds(now), "a_to_b", d[0], "b_to_a", d[1]));
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static json_t *flows(const struct report_way ways[2], const uint16_t *ports, int port_count)
{
    json_t *all = json_object();
    for (int i = 0; i < port_count; i++) {
        char name[8];
        snprintf(name, sizeof(name), "%u", ports[i]);
        json_t *d[2];
        uint32_t flow = (uint32_t)i + 1;
        for (int way = 0; way < 2; way++)
            d[way] =
                direction(link_flow_stats(ways[way].link, flow), ways[way].all, (int)flow + 1, -1);
        json_object_set_new(all, name, json_pack("{s:o,s:o}", "a_to_b", d[0], "b_to_a", d[1]));
    }
    return all;
}

void link_report_end(struct report *r, const struct report_way ways[2], const uint16_t *ports,
                     int port_count, usec_t start, usec_t now)
{
    if (!r->file)
        return;
    json_t *d[2];
    for (int i = 0; i < 2; i++)
        d[i] = direction(link_all_stats(ways[i].link), ways[i].all, 0,
                         (int64_t)link_queue_bytes(ways[i].link));
    write_line(r,
               json_pack("{s:s,s:o,s:o,s:o,s:o,s:f,s:o}", "event", "end", "t", seconds(now - start),
                         "monotonic", seconds(now), "a_to_b", d[0], "b_to_a", d[1], "cpu_s",
                         cpu_seconds(), "flows", flows(ways, ports, port_count)));
}

int link_report_close(struct report *r)
{
    if (r->file && fclose(r->file) != 0) {
        log_error("cannot write %s: %s", r->path, strerror(errno));
        r->failed = true;
    }
    r->file = NULL;
    return r->failed ? ERR_IO : 0;
}
