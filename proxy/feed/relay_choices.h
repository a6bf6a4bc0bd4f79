// SPDX-License-Identifier: GPL-2.0-or-later
// The proxy's choices for all its streams.
#ifndef WEIR_PROXY_FEED_RELAY_CHOICES_H
#define WEIR_PROXY_FEED_RELAY_CHOICES_H

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "proxy/bridge/reflection.h"
#include "proxy/policy/origin_url.h"

DECLS_BEGIN

struct relay_choices {
    const struct origin_rules *rules; // borrowed; where origins may redirect to
    struct transport_list backbone;   // transports offered to origins, of live media
    struct transport_list films;      // the same of stored media
    bool keeps_badput;                // frames that cannot be decoded are forwarded
    enum reflect_mode reflect;
    usec_t target;   // what may wait for a viewer, in time
    double blocking; // REFLECT_BLOCKING: part of the access's buffer that must be free
    usec_t outage;   // how long an origin that was lost may stay away
};

DECLS_END
#endif
