// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of a viewing: packets from the loop, samples to the device's thread, by the pictures'
// clock; and how far both are apart. With a lock for the two threads; only `new` and `free` are for
// one thread alone.
#ifndef WEIR_PLAYER_SOUND_PLAYER_H
#define WEIR_PLAYER_SOUND_PLAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "media/sound.h"
#include "player/av_offset.h"
#include "player/media_clock.h"
#include "player/sound_playout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_player_config {
    bool headless;
    bool test;  // the sound is the test tone, and the pictures flash with it
    int volume; // percent
};

struct sound_player_figures {
    struct sound_counts counts;
    struct av_offset_figures offset;
    bool by_tone; // the offset is of beeps heard and flashes seen, else by their times
};

struct sound_player;

// NULL: logged. A machine without a device is no failure: its sound is not heard.
struct sound_player *sound_player_new(const struct sound_player_config *config);
void sound_player_free(struct sound_player *p); // NULL is fine
void sound_player_packet(struct sound_player *p, int64_t position, const uint8_t *data, size_t len);
// The pictures' clock; NULL: it stands.
void sound_player_set_clock(struct sound_player *p, const struct media_clock *clock);
// A picture of media time `pts` was shown; `flash`: the test picture's.
void sound_player_shown(struct sound_player *p, usec_t pts, usec_t shown_at, bool flash);
void sound_player_flush(struct sound_player *p); // other media follows; its clock stands
void sound_player_end(struct sound_player *p);   // nothing comes any more
bool sound_player_mute(struct sound_player *p);  // or not any more; returns whether it is muted
uint64_t sound_player_underruns(struct sound_player *p);
void sound_player_read(struct sound_player *p, struct sound_player_figures *out);

#ifdef __cplusplus
}
#endif
#endif
