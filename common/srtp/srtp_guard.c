// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/srtp/srtp_guard.h"

#include <pthread.h>
#include <srtp2/srtp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/log.h"

enum {
    RTP_HEADER = 12, // RFC 3550, 5.1
    RTCP_HEADER = 8, // that SRTCP leaves clear
    RTP_SSRC = 8,    // where the SSRC is
    RTCP_SSRC = 4,
    LIBRARY_ROOM = 4, // libsrtp may write this much more than the tag (srtp.h)
    SSRCS_MAX = 16,   // that one peer may use: libsrtp keeps a state of each, in a list
};

struct srtp_guard {
    srtp_t out, in; // owned
    struct srtp_drops dropped;
    uint32_t ssrcs[SSRCS_MAX]; // of packets that came; RTP and RTCP of a source share one state
    int ssrc_count;
    // Apart from each other: who reads a packet that was opened may send feedback about it.
    _Alignas(8) uint8_t sealed[SRTP_MAX_PACKET + SRTP_MAX_TRAILER_LEN + LIBRARY_ROOM];
    _Alignas(8) uint8_t opened[SRTP_MAX_PACKET];
};

static bool works;

static void begin(void)
{
    works = srtp_init() == srtp_err_status_ok;
}

// A process may have several loops, each with its thread.
static bool library_works(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return works;
}

static int open_direction(srtp_t *s, const uint8_t key[SRTP_KEY_BYTES], srtp_ssrc_type_t ssrcs)
{
    uint8_t copy[SRTP_KEY_BYTES];
    srtp_policy_t policy;
    memset(&policy, 0, sizeof(policy));
    srtp_crypto_policy_set_rtp_default(&policy.rtp); // AES_CM_128_HMAC_SHA1_80
    srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
    memcpy(copy, key, sizeof(copy));
    policy.ssrc.type = ssrcs;
    policy.key = copy;
    policy.window_size = SRTP_WINDOW;
    policy.allow_repeat_tx = 1;
    srtp_err_status_t err = srtp_create(s, &policy);
    explicit_bzero(copy, sizeof(copy));
    return err == srtp_err_status_ok ? 0 : ERR_NO_MEMORY;
}

struct srtp_guard *srtp_guard_new(const uint8_t send_key[SRTP_KEY_BYTES],
                                  const uint8_t receive_key[SRTP_KEY_BYTES])
{
    struct srtp_guard *g = library_works() ? calloc(1, sizeof(*g)) : NULL;
    if (!g)
        goto fail;
    if (open_direction(&g->out, send_key, ssrc_any_outbound) != 0)
        goto free_guard;
    if (open_direction(&g->in, receive_key, ssrc_any_inbound) != 0)
        goto close_out;
    return g;

close_out:
    srtp_dealloc(g->out);
free_guard:
    free(g);
fail:
    log_error("SRTP does not work: out of memory, or libsrtp cannot be set up");
    return NULL;
}

void srtp_guard_free(struct srtp_guard *g)
{
    if (!g)
        return;
    srtp_dealloc(g->out); // libsrtp wipes the keys
    srtp_dealloc(g->in);
    explicit_bzero(g, sizeof(*g));
    free(g);
}

typedef srtp_err_status_t transform(srtp_t s, void *data, int *len);

// libsrtp may write beyond the tag, so the packet is encrypted in the guard's own buffer.
static int seal(struct srtp_guard *g, transform *fn, size_t tail, uint8_t *data, size_t *len,
                size_t cap)
{
    if (*len + tail > cap || *len > SRTP_MAX_PACKET)
        return ERR_FULL;
    int bytes = (int)*len;
    memcpy(g->sealed, data, *len);
    if (fn(g->out, g->sealed, &bytes) != srtp_err_status_ok || (size_t)bytes != *len + tail)
        return ERR_MALFORMED;
    memcpy(data, g->sealed, (size_t)bytes);
    *len = (size_t)bytes;
    return 0;
}

int srtp_guard_seal_rtp(struct srtp_guard *g, uint8_t *data, size_t *len, size_t cap)
{
    if (!g)
        return 0;
    if (*len < RTP_HEADER)
        return ERR_MALFORMED;
    return seal(g, srtp_protect, SRTP_TAG_BYTES, data, len, cap);
}

int srtp_guard_seal_rtcp(struct srtp_guard *g, uint8_t *data, size_t *len, size_t cap)
{
    if (!g)
        return 0;
    if (*len < RTCP_HEADER)
        return ERR_MALFORMED;
    return seal(g, srtp_protect_rtcp, SRTCP_TAIL_BYTES, data, len, cap);
}

size_t srtp_guard_tag(const struct srtp_guard *g)
{
    return g ? SRTP_TAG_BYTES : 0;
}

static bool is_known(const struct srtp_guard *g, uint32_t ssrc)
{
    for (int i = 0; i < g->ssrc_count; i++)
        if (g->ssrcs[i] == ssrc)
            return true;
    return false;
}

// `at`: where the packet has its SSRC.
static const uint8_t *open_packet(struct srtp_guard *g, transform *fn, size_t min, size_t at,
                                  const uint8_t *data, size_t *len)
{
    if (!g)
        return data;
    srtp_err_status_t err = srtp_err_status_bad_param;
    int bytes = (int)*len;
    uint32_t ssrc = 0;
    bool known = false;
    if (*len >= min && *len <= SRTP_MAX_PACKET) {
        ssrc = load_be32(data + at);
        known = is_known(g, ssrc);
        memcpy(g->opened, data, *len);
        if (known || g->ssrc_count < SSRCS_MAX)
            err = fn(g->in, g->opened, &bytes);
    }
    if (err == srtp_err_status_ok) {
        if (!known)
            g->ssrcs[g->ssrc_count++] = ssrc; // a packet without a valid tag takes no place
        *len = (size_t)bytes;
        return g->opened;
    }
    if (err == srtp_err_status_replay_fail || err == srtp_err_status_replay_old)
        g->dropped.replayed++;
    else
        g->dropped.forged++;
    return NULL;
}

const uint8_t *srtp_guard_open_rtp(struct srtp_guard *g, const uint8_t *data, size_t *len)
{
    return open_packet(g, srtp_unprotect, RTP_HEADER + SRTP_TAG_BYTES, RTP_SSRC, data, len);
}

const uint8_t *srtp_guard_open_rtcp(struct srtp_guard *g, const uint8_t *data, size_t *len)
{
    return open_packet(g, srtp_unprotect_rtcp, RTCP_HEADER + SRTCP_TAIL_BYTES, RTCP_SSRC, data,
                       len);
}

struct srtp_drops srtp_guard_dropped(const struct srtp_guard *g)
{
    return g ? g->dropped : (struct srtp_drops){0};
}
