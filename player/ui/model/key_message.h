// SPDX-License-Identifier: GPL-2.0-or-later
// What a key did, in a few words for the picture.
#ifndef WEIR_PLAYER_UI_MODEL_KEY_MESSAGE_H
#define WEIR_PLAYER_UI_MODEL_KEY_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

struct key_volume {
    bool present; // the stream has audio, and there is a device for it
    bool muted;
    int percent;
};
// "Volume 80 %", "Muted (volume 80 %)", "No audio"
void key_message_volume(const struct key_volume *v, char *out, size_t cap);

struct key_level {
    const struct ladder *ladder; // NULL: no stream is described yet
    bool may_choose;             // the viewer may choose the level
    bool policy;                 // --adapt goddard chooses it
    int level;                   // requested; may be outside of the ladder
};
// "Level 3: 640x360, 30 frames/s, 0.96 Mbit/s", "Level 5 is the highest"
void key_message_level(const struct key_level *l, char *out, size_t cap);

struct key_seek {
    bool plays;      // media plays
    bool placed;     // the position is known
    double seconds;  // requested position; placed
    double duration; // placed
};
// "0:42 of 4:05"
void key_message_seek(const struct key_seek *s, char *out, size_t cap);

struct key_live {
    bool possible; // the server keeps a past
    bool at_limit; // nothing changes
    bool back;     // away from the present
    double kept;   // seconds of the past that the server keeps
    double behind; // requested seconds before the present
};
// "0:10 behind live", "Live", "The server keeps only 1:00", "Cannot rewind live video"
void key_message_live(const struct key_live *l, char *out, size_t cap);

struct key_subtitles {
    bool plays;       // media plays
    int track;        // 0: off
    int count;        // of tracks
    const char *name; // of the track; empty: none
};
// "Subtitles 2 of 3: deu", "Subtitles off", "This stream has no text subtitles"
void key_message_subtitles(const struct key_subtitles *s, char *out, size_t cap);

struct key_audio_track {
    bool plays; // media plays
    bool has_audio;
    int track;
    int count;        // of tracks; 0: there is no choice
    const char *name; // of the track; empty: none
};
// "Audio track 2 of 3: deu", "This stream has one audio track", "This stream has no audio"
void key_message_audio_track(const struct key_audio_track *t, char *out, size_t cap);

// "1:02:03", "4:05"
void key_message_time(double seconds, char *out, size_t cap);

DECLS_END
#endif
