// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/relay_origin.h"

struct upstream_config relay_origin_session(const struct relay_origin *o, bool is_first, usec_t now)
{
    bool is_live = o->media->duration < 0;
    return (struct upstream_config){
        .loop = o->loop,
        .url = o->url,
        .sdp = o->sdp,
        .is_described = is_first && now - o->described_at < DESCRIPTION_FRESH,
        .transports = is_live ? &o->choices->backbone : &o->choices->films,
        .rules = o->choices->rules,
        .via = o->via,
        .speed = 1};
}
