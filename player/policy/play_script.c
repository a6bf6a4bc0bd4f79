// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/play_script.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "player/policy/play_speed.h"
#include "player/policy/playlist.h"

enum { MAX_SECONDS = 1000000, MAX_LEVEL = 31, MAX_SCALE = 8 };

static bool scan_seconds(struct scan *s, double *out)
{
    int64_t whole;
    if (!scan_int(s, MAX_SECONDS, &whole))
        return false;
    *out = (double)whole + (scan_char(s, '.') ? scan_fraction(s) : 0);
    return true;
}

static bool scan_action(struct scan *s, struct play_step *out)
{
    int64_t level;
    if (scan_word(s, "seek=")) {
        bool minus = scan_char(s, '-');
        out->action = PLAY_SEEK;
        if (!scan_seconds(s, &out->value))
            return false;
        out->value = minus ? -out->value : out->value;
        return true;
    }
    if (scan_word(s, "level=") && scan_int(s, MAX_LEVEL, &level)) {
        out->action = PLAY_LEVEL;
        out->value = (double)level;
        return true;
    }
    if (scan_word(s, "channel=") && scan_int(s, PLAYLIST_MAX, &level) && level > 0) {
        out->action = PLAY_CHANNEL;
        out->value = (double)level;
        return true;
    }
    if (scan_word(s, "next") || scan_word(s, "previous")) {
        out->action = PLAY_CHANNEL_BY;
        out->value = s->at[-1] == 't' ? 1 : -1;
        return true;
    }
    if (scan_word(s, "stop")) {
        out->action = PLAY_STOP;
        return true;
    }
    if (scan_word(s, "scale=")) {
        bool minus = scan_char(s, '-');
        int64_t scale = 0;
        bool good = scan_int(s, MAX_SCALE, &scale) && scale > 0;
        out->action = PLAY_SCALE;
        out->value = (double)(minus ? -scale : scale);
        return good;
    }
    if (scan_word(s, "speed=")) {
        out->action = PLAY_SPEED;
        return scan_seconds(s, &out->value) && out->value >= PLAY_SPEED_LEAST &&
               out->value <= PLAY_SPEED_MOST;
    }
    out->action = scan_word(s, "pause") ? PLAY_PAUSE : PLAY_GO_ON;
    return out->action == PLAY_PAUSE || scan_word(s, "go-on");
}

int play_script_add(struct play_script *s, const char *text)
{
    struct scan in = scan_of(text, strlen(text));
    struct play_step step = {0};
    double at;
    if (!scan_seconds(&in, &at) || !scan_char(&in, ':') || !scan_action(&in, &step) ||
        !scan_end(&in))
        return ERR_MALFORMED;
    if (s->count == PLAY_SCRIPT_MAX)
        return ERR_FULL;
    step.at = (usec_t)(at * 1e6);
    int i = s->count++;
    for (; i > 0 && s->steps[i - 1].at > step.at; i--)
        s->steps[i] = s->steps[i - 1];
    s->steps[i] = step;
    return 0;
}
