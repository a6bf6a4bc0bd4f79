// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/model/changes.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/scan.h"

// Takes the next word, with the white space after it.
static struct scan next_word(struct scan *line)
{
    struct scan word = {line->at, line->at};
    while (word.end < line->end && *word.end != ' ' && *word.end != '\t')
        word.end++;
    line->at = word.end;
    scan_space(line);
    return word;
}

static bool parse_seconds(struct scan s, usec_t *out)
{
    int64_t whole;
    if (!scan_int(&s, CHANGES_SECONDS_MAX, &whole))
        return false;
    double fraction = scan_char(&s, '.') ? scan_fraction(&s) : 0;
    *out = whole * USEC_PER_SEC + (usec_t)(fraction * 1e6 + 0.5);
    return scan_end(&s);
}

static int parse_line(struct scan line, struct change *c, char *error, size_t cap)
{
    *c = (struct change){.at = 0};
    if (!parse_seconds(next_word(&line), &c->at)) {
        snprintf(error, cap, "expects seconds since the start first, such as 20 or 0.5, at most %d",
                 CHANGES_SECONDS_MAX);
        return ERR_MALFORMED;
    }
    struct scan way = next_word(&line);
    bool both = scan_is(way, "both");
    c->way[0] = both || scan_is(way, "a-to-b");
    c->way[1] = both || scan_is(way, "b-to-a");
    if (!c->way[0] && !c->way[1]) {
        snprintf(error, cap, "expects a-to-b, b-to-a or both as the second word");
        return ERR_MALFORMED;
    }
    char text[LINK_SPEC_TEXT_MAX];
    if (scan_left(&line) >= sizeof(text)) {
        snprintf(error, cap, "longer than %d bytes", LINK_SPEC_TEXT_MAX - 1);
        return ERR_RANGE;
    }
    snprintf(text, sizeof(text), "%.*s", (int)scan_left(&line), line.at);
    return link_change_parse(text, &c->change, error, cap);
}

static int append(struct changes *c, const struct change *change)
{
    bool is_full = (c->count & (c->count - 1)) == 0; // the list grows at powers of two
    if (is_full) {
        size_t cap = c->count ? 2 * c->count : 1;
        struct change *grown = realloc(c->list, cap * sizeof(*grown));
        if (!grown)
            return ERR_NO_MEMORY;
        c->list = grown;
    }
    c->list[c->count++] = *change;
    return 0;
}

static int add_line(struct changes *c, struct scan line, char *error, size_t cap)
{
    if (c->count == CHANGES_MAX) {
        snprintf(error, cap, "more than %d changes", CHANGES_MAX);
        return ERR_TOO_BIG;
    }
    struct change change;
    int err = parse_line(line, &change, error, cap);
    if (err)
        return err;
    if (c->count && change.at < c->list[c->count - 1].at) {
        snprintf(error, cap, "earlier than the line before it");
        return ERR_MALFORMED;
    }
    err = append(c, &change);
    if (err)
        snprintf(error, cap, "%s", err_text(err));
    return err;
}

int changes_parse(struct changes *c, const char *text, size_t len, char *error, size_t error_cap)
{
    *c = (struct changes){.count = 0};
    struct scan all = scan_of(text, len);
    struct scan line;
    for (int number = 1; scan_line(&all, &line); number++) {
        line = scan_trimmed(scan_until(&line, '#'));
        if (scan_end(&line))
            continue;
        char why[400] = "";
        int err = add_line(c, line, why, sizeof(why));
        if (err) {
            snprintf(error, error_cap, "line %d: %s", number, why);
            changes_destroy(c);
            return err;
        }
    }
    return 0;
}

void changes_destroy(struct changes *c)
{
    free(c->list);
    *c = (struct changes){.count = 0};
}
