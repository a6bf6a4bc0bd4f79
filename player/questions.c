// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/questions.h"

#include <assert.h>
#include <string.h>

enum rtsp_method question_method(enum question question)
{
    static const enum rtsp_method methods[] = {
        [ASK_OPTIONS] = RTSP_OPTIONS,
        [ASK_DESCRIBE] = RTSP_DESCRIBE,
        [ASK_SETUP] = RTSP_SETUP,
        [ASK_SOUND] = RTSP_SETUP,
        [ASK_LATENCY] = RTSP_SET_PARAMETER,
        [ASK_ADAPT] = RTSP_SET_PARAMETER,
        [ASK_PAIR] = RTSP_SET_PARAMETER,
        [ASK_LEVEL] = RTSP_SET_PARAMETER,
        [ASK_PLAY] = RTSP_PLAY,
        [ASK_PAUSE] = RTSP_PAUSE,
        [ASK_MEASURES] = RTSP_GET_PARAMETER,
        [ASK_TEARDOWN] = RTSP_TEARDOWN,
    };
    return methods[question];
}

void questions_add(struct questions *q, const struct pending *p)
{
    assert(q->count < QUESTIONS_MAX);
    q->pending[q->count++] = *p;
}

bool questions_take(struct questions *q, int cseq, struct pending *out)
{
    int i = 0;
    while (i < q->count && cseq >= 0 && q->pending[i].cseq != cseq)
        i++;
    if (i == q->count)
        return false;
    *out = q->pending[i];
    q->count--;
    memmove(&q->pending[i], &q->pending[i + 1], (size_t)(q->count - i) * sizeof(*out));
    return true;
}

bool questions_waiting(const struct questions *q, enum question question)
{
    for (int i = 0; i < q->count; i++) {
        if (q->pending[i].question == question)
            return true;
    }
    return false;
}

const struct pending *questions_oldest(const struct questions *q)
{
    return q->count ? &q->pending[0] : NULL;
}
