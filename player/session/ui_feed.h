// SPDX-License-Identifier: GPL-2.0-or-later
// Provides the display with everything except the pictures: the window title, and the messages and
// panel over the picture, from the state of the session. Loop thread only.
#ifndef WEIR_PLAYER_SESSION_UI_FEED_H
#define WEIR_PLAYER_SESSION_UI_FEED_H

#include "common/base/decls.h"
#include "player/policy/reconnect.h"
#include "player/session/connection.h"

DECLS_BEGIN

struct ui_feed;

struct ui_feed_config {
    const struct play_options *options; // these are borrowed
    struct display *display;
    struct qoe *qoe;
};

struct ui_facts {
    const struct connection
        *shown; // the connection whose media is on the screen; NULL: none is described yet
    const struct reconnect *reconnect;
    const char *reason;                 // reason of the last loss
    const char *transport;              // the transport with which the next connection begins
    const char *channel;                // the name of the channel chosen last
    const char *host;                   // its server
    const struct qoe_transport *second; // stats of the last second
    struct key_volume volume;           // of the audio now
    bool raw;                           // true if transports over raw TCP segments are available
    bool other;                         // the viewer has chosen another channel than the first
    const struct playlist *channels;    // NULL: there is one only
    int number;                         // of the channel chosen last, from 1
    unsigned chooses;                   // as connections_chooses has it
    bool list;                          // the transport is chosen from a list
};

struct ui_feed *ui_feed_new(const struct ui_feed_config *config); // NULL: no memory
void ui_feed_free(struct ui_feed *u);                             // NULL is fine
// Call ui_feed_tick UI_FEED_TICKS times a second.
enum { UI_FEED_TICKS = 4 };
void ui_feed_tick(struct ui_feed *u, const struct ui_facts *f, usec_t now);
// Shows a change that the viewer has made at once, without waiting for the tick.
void ui_feed_refresh(struct ui_feed *u, const struct ui_facts *f, usec_t now);
// Shows a message once, for a few seconds.
void ui_feed_toast(struct ui_feed *u, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ui_feed_end(struct ui_feed *u,
                 const char *error); // the last message; NULL: the end of the media

DECLS_END
#endif
