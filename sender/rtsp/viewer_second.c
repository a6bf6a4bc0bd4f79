// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "common/net/tcp_conn.h"
#include "common/net/udp_socket.h"
#include "sender/rtsp/viewer.h"

enum { SECOND_CHANNEL = 2 }; // and the next one, unless the viewer names others

// RTP that a viewer sends has no meaning here.
static void on_media(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx;
    (void)d;
    (void)now;
}

static void on_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    struct viewer *v = ctx;
    if (!v->session || !media_address_is_rtcp(&v->second_address, d))
        return;
    rtsp_session_alive(&v->state, now);
    session_rtcp(v->session, d->data, d->len, now);
}

static bool clashes(const struct viewer *v)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (v->second_channel[i] == v->channel[k])
                return true;
    return false;
}

// Is it the transport that carries the first?
static bool is_the_same(struct viewer *v, const struct rtsp_transport *offer)
{
    if (offer->multicast || offer->tcp != v->interleaved)
        return false;
    if (!v->knows_weir)
        return !offer->weir[0] && (offer->tcp || offer->client_port[0] > 0) &&
               offer->client_port[0] <= 65534;
    return strcmp(offer->weir, session_transport(v->session)) == 0;
}

static int open_ports(struct viewer *v, const struct rtsp_transport *offer)
{
    struct sockaddr_storage local = *tcp_conn_local(v->tcp);
    media_address_on_host(&v->second_address, tcp_conn_peer(v->tcp), offer->client_port);
    return udp_socket_pair(v->loop, (struct sockaddr *)&local, on_media, on_rtcp, v, v->second_udp);
}

static void add_track(struct viewer *v, bool audio, bool own_ports)
{
    struct transport_place to = {.channel = {v->second_channel[0], v->second_channel[1]}};
    const struct sockaddr_storage *peer = own_ports ? v->second_address.peer : v->address.peer;
    for (int i = 0; i < 2 && (own_ports || !audio); i++) {
        to.socket[i] = own_ports ? v->second_udp[i] : v->udp[i];
        to.peer[i] = (const struct sockaddr *)&peer[i];
    }
    if (audio)
        session_add_audio(v->session, &to);
    else
        session_add_pictures(v->session, &to);
}

void viewer_setup_second(struct viewer *v, const struct rtsp_transport *offers, int count,
                         bool audio, struct rtsp_response *a)
{
    int i = 0;
    while (i < count && !is_the_same(v, &offers[i]))
        i++;
    if (i == count) {
        rtsp_response_refuse(a, 461, "both tracks come over one transport\r\n");
        return;
    }
    const struct rtsp_transport *offer = &offers[i];
    viewer_choose_channels(offer, SECOND_CHANNEL, v->second_channel);
    if (offer->tcp && clashes(v)) {
        rtsp_response_refuse(a, 461, "the other track has these channels\r\n");
        return;
    }
    bool own_ports = !offer->tcp && !v->knows_weir;
    if (own_ports && open_ports(v, offer) != 0) {
        rtsp_response_refuse(a, 503, "no free UDP ports\r\n");
        return;
    }
    add_track(v, audio, own_ports);
    struct rtsp_transport given = {.tcp = offer->tcp,
                                   .avpf = offer->avpf,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1},
                                   .has_ssrc = true};
    for (int k = 0; k < 2; k++) {
        struct udp_socket *socket = own_ports ? v->second_udp[k] : v->udp[k];
        if (offer->tcp)
            given.interleaved[k] = v->second_channel[k];
        else
            given.server_port[k] = udp_socket_port(socket);
        given.client_port[k] = offer->tcp ? -1 : offer->client_port[k];
    }
    snprintf(given.weir, sizeof(given.weir), "%s", offer->weir);
    given.ssrc = viewer_track_ssrc(v, audio);
    viewer_answer_setup(v, &given, a);
}
