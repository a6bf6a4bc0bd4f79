// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <vector>

#include "media/audio/aac_encoder.h"
#include "media/audio/audio_encoder.h"
#include "media/pattern/pattern_tone.h"
#include "sender/http/film_audio.h"

namespace
{

// Three groups of one second of the test picture's tone.
struct rig {
    std::vector<std::unique_ptr<stored_group>> groups;

    rig()
    {
        audio_encoder *e = audio_encoder_new(64000);
        int16_t pcm[AUDIO_PACKET * AUDIO_CHANNELS];
        for (int g = 0; g < 3; g++)
            groups.push_back(std::make_unique<stored_group>());
        for (int i = 0; i < 150; i++) {
            pattern_tone_fill(i * AUDIO_PACKET, pcm, AUDIO_PACKET);
            audio_encoder_push(e, i * AUDIO_PACKET, pcm, AUDIO_PACKET);
            stored_group &g = *groups[static_cast<size_t>(i) / 50];
            g.audio[g.audio_count++] = audio_encoder_pull(e);
        }
        audio_encoder_free(e);
    }
    ~rig()
    {
        for (auto &g : groups)
            for (int i = 0; i < g->audio_count; i++)
                coded_audio_unref(g->audio[i]);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    film_span span(int group) const
    {
        film_span s{};
        for (int i = 0; i < 3; i++) {
            int g = group - 1 + i;
            s.groups[i] = g >= 0 && g < 3 ? groups[static_cast<size_t>(g)].get() : nullptr;
        }
        s.begin = static_cast<int64_t>(group) * AUDIO_RATE;
        s.end = s.begin + AUDIO_RATE;
        s.delay = 5;
        return s;
    }
};

} // namespace

TEST_CASE("film_audio: each packet is in one segment, without a gap")
{
    rig r;
    for (bool aac : {false, true}) {
        auto c = std::make_unique<cmaf_chunk>();
        int64_t step = aac ? int{AAC_FRAME} : int{AUDIO_PACKET};
        int64_t next = -1;
        int count = 0;
        for (int group = 0; group < 3; group++) {
            film_span s = r.span(group);
            REQUIRE((aac ? film_audio_aac(&s, 96000, c.get()) : film_audio_opus(&s, c.get())) == 0);
            REQUIRE(c->count > 0);
            for (int i = 0; i < c->count; i++) {
                if (next >= 0)
                    CHECK(c->samples[i].time == next);
                next = c->samples[i].time + step;
                CHECK(c->samples[i].time >= s.begin + s.delay);
                CHECK(c->samples[i].time < s.end + s.delay);
                if (aac)
                    CHECK((c->samples[i].time - s.delay) % AAC_FRAME == 0);
                count++;
            }
            cmaf_chunk_destroy(c.get());
        }
        CHECK(count == (aac ? 141 : 149)); // 3 s; Opus' first packet begins before 0
    }
}

TEST_CASE("film_audio: the same segment has the same bytes")
{
    rig r;
    auto a = std::make_unique<cmaf_chunk>(), b = std::make_unique<cmaf_chunk>();
    film_span s = r.span(1);
    REQUIRE(film_audio_aac(&s, 96000, a.get()) == 0);
    REQUIRE(film_audio_aac(&s, 96000, b.get()) == 0);
    REQUIRE(a->data.len == b->data.len);
    CHECK(memcmp(a->data.data, b->data.data, a->data.len) == 0);
    cmaf_chunk_destroy(a.get());
    cmaf_chunk_destroy(b.get());
}

TEST_CASE("film_audio: a segment without audio is silence in AAC, and empty in Opus")
{
    rig r;
    auto c = std::make_unique<cmaf_chunk>();
    film_span s{};
    s.end = AUDIO_RATE;
    REQUIRE(film_audio_opus(&s, c.get()) == 0);
    CHECK(c->count == 0);
    REQUIRE(film_audio_aac(&s, 96000, c.get()) == 0);
    CHECK(c->count == 47);
    cmaf_chunk_destroy(c.get());
}
