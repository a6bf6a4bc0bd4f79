// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "proxy/store/store_folder.h"

struct listing {
    FILE *out;
    int films;
    int64_t bytes;
};

static void print_time(FILE *out, usec_t wall)
{
    time_t at = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    char text[32] = "never";
    if (wall && localtime_r(&at, &tm))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(out, "%-19s", text);
}

static int64_t count(const struct folder_film *f, int track, int64_t *bytes)
{
    int64_t verified = 0;
    for (int64_t group = 0; f->tracks[track].of && group < f->groups; group++) {
        const struct folder_group *g = &f->tracks[track].of[group];
        verified += g->state == GROUP_VERIFIED;
        *bytes += g->state != GROUP_NONE ? folder_file_cost(g->bytes) : 0;
    }
    return verified;
}

static void print_film(void *ctx, struct folder_film *f)
{
    struct listing *l = ctx;
    struct stored_info *info = malloc(sizeof(*info));
    char url[URL_MAX_TEXT];
    int64_t audio_bytes = 0;
    int64_t audio = count(f, STORED_AUDIO_TRACK, &audio_bytes);
    utf8_copy(f->url, url, sizeof(url));
    for (int size = 0; info && folder_film_info(f, info) == 0 && size < f->sizes; size++) {
        int64_t bytes = 0, verified = count(f, size, &bytes);
        const struct size_spec *s = &info->sdp.ladder.sizes[size];
        char dimensions[32], state[16] = "complete";
        if (!bytes)
            continue;
        if (verified < f->groups || (f->audio && audio < f->groups))
            snprintf(state, sizeof(state), "%.0f %%",
                     99.4 * (double)(verified + (f->audio ? audio : verified)) /
                         (double)(2 * f->groups));
        snprintf(dimensions, sizeof(dimensions), "%dx%d", s->width, s->height);
        print_time(l->out, f->tracks[size].used);
        fprintf(l->out, "  %-9s  %8.1f MB  %-9s  %s\n", state, (double)(bytes + audio_bytes) / 1e6,
                dimensions, url);
        l->bytes += bytes + audio_bytes;
        audio_bytes = 0; // it is counted once
    }
    l->films++;
    free(info);
    folder_film_destroy(f);
}

int store_list(const char *folder, FILE *out)
{
    struct store_folder *s;
    int err = store_folder_open(folder, false, &s);
    if (err) {
        log_error("%s: %s", folder,
                  err == ERR_UNSUPPORTED ? "not a cache of this version of weir-proxy"
                  : err == ERR_IO        ? strerror(errno)
                                         : err_text(err));
        return err;
    }
    struct listing l = {.out = out};
    fprintf(out, "%-19s  %-9s  %11s  %-9s  %s\n", "LAST USE", "STORED", "BYTES", "SIZE", "FILM");
    store_folder_scan(s, false, print_film, &l);
    fprintf(out, "%d film%s, %.1f MB\n", l.films, l.films == 1 ? "" : "s", (double)l.bytes / 1e6);
    store_folder_free(s);
    return 0;
}
