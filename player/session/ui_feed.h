// SPDX-License-Identifier: GPL-2.0-or-later
// Feeds the display with all but the pictures: its title, the messages and the panel over the
// picture, from the state of the session. Loop thread only.
#ifndef WEIR_PLAYER_SESSION_UI_FEED_H
#define WEIR_PLAYER_SESSION_UI_FEED_H

#include "player/policy/reconnect.h"
#include "player/session/connection.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ui_feed;

struct ui_feed_config {
    const struct play_options *options; // these are borrowed
    struct display *display;
    struct qoe *qoe;
};

struct ui_facts {
    const struct connection *shown; // whose media is on the screen; NULL: none is described yet
    const struct reconnect *reconnect;
    const char *reason;                 // for the last loss
    const char *transport;              // that the next connection begins with
    const struct qoe_transport *second; // the last second's statistics
    bool raw;                           // transports over TCP segments of our own are possible
};

struct ui_feed *ui_feed_new(const struct ui_feed_config *config); // NULL: no memory
void ui_feed_free(struct ui_feed *u);                             // NULL is fine
// UI_FEED_TICKS times a second.
enum { UI_FEED_TICKS = 4 };
void ui_feed_tick(struct ui_feed *u, const struct ui_facts *f, usec_t now);
// Shows a message once, for a while.
void ui_feed_toast(struct ui_feed *u, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ui_feed_end(struct ui_feed *u, const char *error); // the last message; NULL: the media's end

#ifdef __cplusplus
}
#endif
#endif
