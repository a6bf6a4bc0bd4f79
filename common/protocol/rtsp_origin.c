// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_origin.h"

#include <string.h>
#include <strings.h>

#include "common/base/err.h"

void rtsp_origin_init(struct rtsp_origin *o, const struct url *url, rtsp_hash_fn *hash)
{
    *o = (struct rtsp_origin){.url = *url, .auth = {.hash = hash}};
    memcpy(o->auth.user, url->user, sizeof(o->auth.user));
    memcpy(o->auth.password, url->password, sizeof(o->auth.password));
}

int rtsp_origin_redirect(struct rtsp_origin *o, struct text location, const char **why)
{
    char text[URL_MAX_TEXT] = "";
    struct url to;
    *why = "no valid Location header, or too many redirects";
    if (location.at && location.len < sizeof(text) && o->redirects < RTSP_MAX_REDIRECTS)
        text_copy(location, text, sizeof(text));
    if (!text[0] || url_parse(text, &to, why) != 0)
        return ERR_MALFORMED;
    if (o->url.secure && !to.secure) {
        *why = "the server redirects from rtsps:// to rtsp://, which is not encrypted";
        return ERR_MALFORMED;
    }
    // Weir's own default port is only for URLs that a user types.
    if (!to.has_port)
        to.port = URL_RTSP_PORT;
    struct rtsp_origin next;
    bool withheld = o->withheld;
    if (to.user[0]) {
        withheld = false;
    } else if (strcasecmp(to.host, o->url.host) == 0 && to.port == o->url.port) {
        memcpy(to.user, o->url.user, sizeof(to.user));
        memcpy(to.password, o->url.password, sizeof(to.password));
        if (!to.pin[0] && to.secure)
            memcpy(to.pin, o->url.pin, sizeof(to.pin));
        if (!to.key[0])
            memcpy(to.key, o->url.key, sizeof(to.key));
    } else {
        withheld |= o->url.user[0];
    }
    rtsp_origin_init(&next, &to, o->auth.hash);
    next.redirects = o->redirects + 1;
    next.withheld = withheld;
    *o = next;
    return 0;
}
