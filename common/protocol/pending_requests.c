// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/pending_requests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum rtsp_method request_method(enum request_kind kind)
{
    static const enum rtsp_method methods[] = {
        [REQUEST_OPTIONS] = RTSP_OPTIONS,
        [REQUEST_DESCRIBE] = RTSP_DESCRIBE,
        [REQUEST_SETUP] = RTSP_SETUP,
        [REQUEST_AUDIO] = RTSP_SETUP,
        [REQUEST_LATENCY] = RTSP_SET_PARAMETER,
        [REQUEST_PLAYOUT] = RTSP_SET_PARAMETER,
        [REQUEST_MAX_RATE] = RTSP_SET_PARAMETER,
        [REQUEST_ADAPT] = RTSP_SET_PARAMETER,
        [REQUEST_AUDIO_TRACK] = RTSP_SET_PARAMETER,
        [REQUEST_ONLY] = RTSP_SET_PARAMETER,
        [REQUEST_PAIR] = RTSP_SET_PARAMETER,
        [REQUEST_PATH] = RTSP_SET_PARAMETER,
        [REQUEST_LEVEL] = RTSP_SET_PARAMETER,
        [REQUEST_PLAY] = RTSP_PLAY,
        [REQUEST_PAUSE] = RTSP_PAUSE,
        [REQUEST_MEASURES] = RTSP_GET_PARAMETER,
        [REQUEST_VALUES] = RTSP_GET_PARAMETER,
        [REQUEST_FILM_TABLE] = RTSP_GET_PARAMETER,
        [REQUEST_TEARDOWN] = RTSP_TEARDOWN,
        [REQUEST_ANNOUNCE] = RTSP_ANNOUNCE,
        [REQUEST_RECORD] = RTSP_RECORD,
    };
    return methods[kind];
}

void pending_requests_add(struct pending_requests *q, const struct pending *p)
{
    assert(q->count < PENDING_REQUESTS_MAX);
    q->pending[q->count++] = *p;
}

static void drop(struct pending_requests *q, int i)
{
    q->count--;
    memmove(&q->pending[i], &q->pending[i + 1], (size_t)(q->count - i) * sizeof(*q->pending));
}

bool pending_requests_take(struct pending_requests *q, int cseq, struct pending *out)
{
    int i = 0;
    while (i < q->count && cseq >= 0 && q->pending[i].cseq != cseq)
        i++;
    if (i == q->count)
        return false;
    *out = q->pending[i];
    drop(q, i);
    return true;
}

void pending_requests_continue(struct pending_requests *q, int cseq, usec_t now)
{
    for (int i = 0; i < q->count; i++)
        if (q->pending[i].cseq == cseq)
            q->pending[i].heard = now;
}

int pending_requests_find(const struct pending_requests *q, enum request_kind kind)
{
    for (int i = 0; i < q->count; i++) {
        if (q->pending[i].kind == kind)
            return i;
    }
    return -1;
}

bool pending_requests_waiting(const struct pending_requests *q, enum request_kind kind)
{
    return pending_requests_find(q, kind) >= 0;
}

void pending_requests_forget(struct pending_requests *q, int i)
{
    free(q->pending[i].text);
    drop(q, i);
}

const struct pending *pending_requests_oldest(const struct pending_requests *q)
{
    return q->count ? &q->pending[0] : NULL;
}
