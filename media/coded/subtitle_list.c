// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/subtitle_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/utf8.h"

struct place { // of a cue
    usec_t begin;
    usec_t end;
    size_t text; // offset of its text, terminated
};

// The cues are in the order of their begins. One may last longer than many that follow, so a tree
// of the latest ends finds the next one that is still shown: a node's value is the larger one of
// its two children's, 2 i and 2 i + 1; the leaf of cue i is node room + i.
struct subtitle_list {
    struct place *cues; // owned
    usec_t *latest;     // owned: 2 * room nodes; 0: no cue
    int count;
    int room;   // a power of 2
    char *text; // owned
    size_t used;
    size_t bytes;
};

// ---- Scripts

static bool is_wanted(struct scan line)
{
    static const char *const names[] = {
        "[Script Info]", "[V4+ Styles]", "[V4 Styles]", "ScriptType:", "PlayResX:",
        "PlayResY:",     "LayoutResX:",  "LayoutResY:", "WrapStyle:",  "ScaledBorderAndShadow:",
        "YCbCr Matrix:", "Kerning:",     "Timer:",      "Format:",     "Style:",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct scan s = line;
        if (scan_word(&s, names[i]))
            return true;
    }
    return false;
}

bool subtitle_head(const char *data, size_t len, char out[SUBTITLE_HEAD])
{
    struct scan s = scan_of(data, len), part;
    bool whole = true;
    size_t used = 0;
    out[0] = '\0';
    scan_word(&s, "\xef\xbb\xbf");
    while (scan_line(&s, &part)) {
        char line[512], clean[512];
        struct scan events = part;
        if (scan_word(&events, "[Events]"))
            break;
        if (!is_wanted(part))
            continue;
        text_copy(text_trimmed(part, sizeof(line)), line, sizeof(line));
        utf8_copy(line, clean, sizeof(clean));
        size_t bytes = strlen(clean);
        if (used + bytes + 2 > SUBTITLE_HEAD) {
            whole = false;
            continue;
        }
        memcpy(out + used, clean, bytes);
        used += bytes;
        out[used++] = '\n';
        out[used] = '\0';
    }
    return whole;
}

bool subtitle_event(const char *line, char out[SUBTITLE_BYTES])
{
    const char *comma = strchr(line, ',');
    out[0] = '\0';
    if (!comma || strlen(comma + 1) >= SUBTITLE_BYTES)
        return !comma;
    utf8_copy(comma + 1, out, SUBTITLE_BYTES);
    size_t len = strlen(out);
    while (len && out[len - 1] == ' ')
        out[--len] = '\0';
    return true;
}

// ---- The list

struct subtitle_list *subtitle_list_new(void)
{
    return calloc(1, sizeof(struct subtitle_list));
}

void subtitle_list_free(struct subtitle_list *l)
{
    if (!l)
        return;
    free(l->cues);
    free(l->latest);
    free(l->text);
    free(l);
}

// Returns the number of cues that begin at `time` or before it.
static int begun_at(const struct subtitle_list *l, usec_t time)
{
    int low = 0, high = l->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (l->cues[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Updates the tree: the cues from `first` on have changed.
static void update(struct subtitle_list *l, int first)
{
    if (first >= l->count)
        return;
    for (int i = first; i < l->count; i++)
        l->latest[l->room + i] = l->cues[i].end;
    for (int low = (l->room + first) / 2, high = (l->room + l->count - 1) / 2; high > 0;
         low /= 2, high /= 2)
        for (int i = low; i <= high; i++)
            l->latest[i] = usec_max(l->latest[2 * i], l->latest[2 * i + 1]);
}

// Returns the first cue from `first` on that ends after `time`; l->count: there is none.
static int next_after(const struct subtitle_list *l, int first, usec_t time)
{
    if (first >= l->count)
        return l->count;
    int i = l->room + first;
    while (l->latest[i] <= time) { // nothing in this subtree: up, and on to the right
        while (i & 1)
            i /= 2;
        if (!i)
            return l->count;
        i++;
    }
    while (i < l->room)
        i = l->latest[2 * i] > time ? 2 * i : 2 * i + 1;
    return i - l->room;
}

static bool make_room(struct subtitle_list *l, size_t len)
{
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 64;
        struct place *cues = realloc(l->cues, (size_t)room * sizeof(*cues));
        if (!cues)
            return false;
        l->cues = cues;
        usec_t *latest = realloc(l->latest, 2 * (size_t)room * sizeof(*latest));
        if (!latest)
            return false;
        l->latest = latest;
        l->room = room;
        memset(latest, 0, 2 * (size_t)room * sizeof(*latest));
        update(l, 0);
    }
    if (l->used + len > l->bytes) {
        size_t bytes = 2 * l->bytes + 4096;
        char *text = realloc(l->text, bytes);
        if (!text)
            return false;
        l->text = text;
        l->bytes = bytes;
    }
    return true;
}

int subtitle_list_add(struct subtitle_list *l, const struct subtitle_cue *cue)
{
    size_t len = strlen(cue->text) + 1;
    if (len == 1 || cue->begin < 0 || cue->end <= cue->begin || cue->end > SUBTITLE_LAST)
        return 0;
    if (l->count == SUBTITLE_LIST_CUES || l->used + len > SUBTITLE_LIST_BYTES)
        return ERR_FULL;
    if (!make_room(l, len))
        return ERR_NO_MEMORY;
    int at = begun_at(l, cue->begin); // the end, as a rule
    memmove(l->cues + at + 1, l->cues + at, (size_t)(l->count - at) * sizeof(*l->cues));
    l->cues[at] = (struct place){cue->begin, cue->end, l->used};
    l->count++;
    update(l, at);
    memcpy(l->text + l->used, cue->text, len);
    l->used += len;
    return 0;
}

int subtitle_list_find(const struct subtitle_list *l, usec_t from, usec_t until,
                       struct subtitle_cue *out, int max)
{
    int found = 0, end = begun_at(l, until);
    for (int i = next_after(l, 0, from); i < end && found < max; i = next_after(l, i + 1, from)) {
        const struct place *p = &l->cues[i];
        struct subtitle_cue *c = &out[found++];
        c->begin = p->begin;
        c->end = p->end;
        snprintf(c->text, sizeof(c->text), "%s", l->text + p->text);
    }
    return found;
}
