// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/resume_notes.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/program/state_dir.h"
#include "player/policy/resume.h"

#define FILE_NAME "resume"
enum { WATCHED = 16 }; // films of one viewing that are noted; of more, the last ones

struct watched {
    uint64_t id;
    double position;
    double duration;
};

struct resume_notes {
    struct resume known;
    struct watched watched[WATCHED]; // the latest last
    int count;
};

static void read_file(const char *dir, struct resume *out)
{
    uint8_t text[STATE_FILE_MAX];
    size_t len;
    if (state_file_read(dir, FILE_NAME, text, sizeof(text), &len) == 0)
        resume_read(out, (const char *)text, len);
}

struct resume_notes *resume_notes_new(void)
{
    char dir[STATE_PATH_MAX];
    struct resume_notes *n = calloc(1, sizeof(*n));
    if (n && state_dir_find(NULL, dir) == 0)
        read_file(dir, &n->known);
    return n;
}

void resume_notes_free(struct resume_notes *n)
{
    free(n);
}

unsigned resume_notes_begin(struct resume_notes *n, const char *url, const struct sdp *sdp)
{
    if (!n)
        return 0;
    uint64_t id = resume_id(url, sdp->title, sdp->duration);
    if (n->count == WATCHED) {
        for (int i = 1; i < WATCHED; i++)
            n->watched[i - 1] = n->watched[i];
        n->count--;
    }
    n->watched[n->count++] = (struct watched){id, NAN, sdp->duration};
    return resume_find(&n->known, id);
}

void resume_notes_take(struct resume_notes *n, double position)
{
    if (!n || !n->count || isnan(position))
        return;
    struct watched *w = &n->watched[n->count - 1];
    w->position = position;
    resume_set(&n->known, w->id, w->position, w->duration);
}

void resume_notes_save(struct resume_notes *n)
{
    char dir[STATE_PATH_MAX], text[RESUME_MAX_TEXT];
    if (!n || !n->count || state_dir_find(NULL, dir) != 0)
        return;
    struct resume now = {0};
    read_file(dir, &now);
    for (int i = 0; i < n->count; i++) {
        const struct watched *w = &n->watched[i];
        if (!isnan(w->position))
            resume_set(&now, w->id, w->position, w->duration);
    }
    if (state_file_replace(dir, FILE_NAME, (const uint8_t *)text, resume_write(&now, text)) != 0)
        log_warn("it is not noted where the film was left (--no-resume does not try to)");
}
