// SPDX-License-Identifier: GPL-2.0-or-later
// A film for the tests of the store: two sizes and audio, in four groups of 20 frames, the last one
// of 10; its bytes are a function of size, frame and position.
#ifndef WEIR_TESTS_STORED_COPY_HPP
#define WEIR_TESTS_STORED_COPY_HPP

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "media/stored/stored_track.h"

enum { FILM_GOP = 20, FILM_FRAMES = 70, FILM_GROUPS = 4 };

using group_ptr = std::unique_ptr<stored_group, decltype(&stored_group_free)>;

inline sdp film_sdp(const char *validator)
{
    sdp s = {};
    snprintf(s.title, sizeof(s.title), "a film");
    snprintf(s.validator, sizeof(s.validator), "%s", validator);
    snprintf(s.control, sizeof(s.control), "trackID=0");
    s.source = SDP_SOURCE_FILE;
    s.codec = SDP_H264;
    s.payload_type = 96;
    s.duration = (double)FILM_FRAMES / 10;
    s.reorders = true;
    s.ext.adu = 1;
    s.audio.present = true;
    s.audio.payload_type = 97;
    s.audio.ext.adu = 1;
    s.ladder.source_fps = {10, 1};
    s.ladder.source_width = 128;
    s.ladder.source_height = 96;
    s.ladder.size_count = 2;
    s.ladder.sizes[0] = {64, 48, {10, 1}, 2};
    s.ladder.sizes[1] = {128, 96, {10, 1}, 2};
    s.ladder.level_count = 4;
    for (int i = 0; i < 4; i++)
        s.ladder.levels[i] = {i / 2, i % 2, 100000 * (i + 1)};
    return s;
}

inline stored_info film_info()
{
    static stored_info info;
    info = stored_info{};
    info.sdp = film_sdp("v");
    info.audio = true;
    info.origin.frames = FILM_FRAMES;
    REQUIRE(stored_plan_init(&info.plan, &info.sdp.ladder) == 0);
    REQUIRE(info.plan.gop == FILM_GOP);
    stored_plan_end(&info.plan, &info.sdp.ladder, FILM_FRAMES);
    return info;
}

// Key frames have parameter sets.
inline coded_frame *make_frame(const stored_info *info, int size, int64_t number)
{
    const stored_shape *shape = stored_plan_shape(&info->plan, number / FILM_GOP);
    const stored_place &place = shape->places[size][number % FILM_GOP];
    if (place.depends == STORED_NO_FRAME)
        return nullptr;
    bool key = place.depends < 0;
    static const uint8_t sets[] = {0, 0, 0, 1, 0x67, 0x64, 0,    0x1f, 0xac,
                                   0, 0, 0, 1, 0x68, 0xee, 0x3c, 0xb0};
    size_t head = key ? sizeof(sets) : 0, body = (key ? 3000 : 400) + number % 7;
    coded_frame *f = coded_frame_new(head + 5 + body);
    memcpy(f->data, sets, head);
    const uint8_t start[] = {0, 0, 0, 1, (uint8_t)(key ? 0x65 : 0x41)};
    memcpy(f->data + head, start, 5);
    for (size_t i = 0; i < body; i++)
        f->data[head + 5 + i] = (uint8_t)(1 + (number * 31 + size * 7 + (int64_t)i) % 250);
    f->number = number;
    f->size_id = size;
    f->temporal_id = place.temporal_id;
    f->key = key;
    REQUIRE(stored_track_nals(f) == 0);
    return f;
}

inline coded_audio *make_audio(int64_t position)
{
    coded_audio *c = coded_audio_new();
    c->position = position;
    c->bytes = 100;
    memset(c->data, (int)(position / 960 % 251), c->bytes);
    return c;
}

inline group_ptr make_group(const stored_info *info, int64_t index)
{
    auto *g = static_cast<stored_group *>(calloc(1, sizeof(stored_group)));
    g->index = index;
    g->frames = stored_plan_shape(&info->plan, index)->frames;
    for (int size = 0; size < 2; size++)
        for (int place = 0; place < g->frames; place++)
            g->at[size][place] = make_frame(info, size, index * FILM_GOP + place);
    for (int64_t at = -312; at < FILM_FRAMES * 4800; at += 960)
        if (stored_track_hears(info, index, at))
            g->audio[g->audio_count++] = make_audio(at);
    return group_ptr(g, stored_group_free);
}

inline stored_digest digest_of(const stored_info *info, int64_t group, int track)
{
    stored_bytes b;
    stored_digest d;
    REQUIRE(stored_track_write(info, make_group(info, group).get(), track, &b) == 0);
    REQUIRE(stored_track_digest(b, &d) == 0);
    free(b.data);
    return d;
}

#endif
