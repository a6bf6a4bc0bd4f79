// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/record_packet.h"

#include <stdlib.h>

enum { PADDING = 64 }; // libavcodec reads beyond the end

struct record_packet *record_packet_new(size_t bytes)
{
    struct record_packet *p = calloc(1, sizeof(*p) + bytes + PADDING);
    if (!p)
        return NULL;
    p->data = (uint8_t *)(p + 1);
    p->bytes = bytes;
    return p;
}
