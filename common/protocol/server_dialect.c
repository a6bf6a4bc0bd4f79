// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/server_dialect.h"

static const struct server_dialect weir = {
    .knows_weir_parameters = true,
    .knows_weir_transports = true,
    .reads_alternatives = true,
    .pipelines = true,
    .knows_now = true,
    .shares_files = true,
    .has_levels = true,
    .audio_has_own_flow = false,
    .names_media_source = false,
    .numbers_from_stamps = false,
    .sets_from_sdp = false,
    .describes_order = true,
};

// RFC 2326 allows several transports in an offer, pipelining (9.1) and "now" (3.6). Servers in use
// read the first transport only, drop the second request, or refuse the range.
static const struct server_dialect third_party = {
    .knows_weir_parameters = false,
    .knows_weir_transports = false,
    .reads_alternatives = false,
    .pipelines = false,
    .knows_now = false,
    .shares_files = false,
    .has_levels = false,
    .audio_has_own_flow = true,
    .names_media_source = true,
    .numbers_from_stamps = true,
    .sets_from_sdp = true,
    .describes_order = false,
};

const struct server_dialect *server_dialect_of(const struct sdp *sdp)
{
    return sdp_is_third_party(sdp) ? &third_party : &weir;
}
