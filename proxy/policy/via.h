// SPDX-License-Identifier: GPL-2.0-or-later
// The Via header against loops (RFC 2326, 12.43): each proxy appends "RTSP/1.0 NAME" to it. A
// request that names this proxy already has come back; VIA_MAX_HOPS proxies in a row are the limit.
// Pure.
#ifndef WEIR_PROXY_POLICY_VIA_H
#define WEIR_PROXY_POLICY_VIA_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    VIA_MAX_HOPS = 4,
    VIA_MAX_NAME = 40, // bytes of a proxy's name, with NUL
    VIA_MAX = 512,     // bytes of the header's value, with NUL
};

// Writes the header's value for the origin: `received` with this proxy appended. `received`: that
// of the viewer's request; empty: none. Returns 0; ERR_AGAIN: the request has passed this proxy;
// ERR_TOO_BIG: it has passed VIA_MAX_HOPS proxies, or the value is longer than VIA_MAX.
int via_append(const char *received, const char *name, char out[VIA_MAX]);

DECLS_END
#endif
