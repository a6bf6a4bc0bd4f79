// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "media/audio/aac_thread.h"
#include "media/audio/audio_encoder.h"
#include "media/pattern/pattern_tone.h"

TEST_CASE("aac_thread: Opus in, AAC out, with a lost packet concealed", "[threads]")
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    std::vector<int64_t> positions;
    auto *t = aac_thread_new(
        &loop, 96000,
        [](void *ctx, const aac_packet *p) {
            static_cast<std::vector<int64_t> *>(ctx)->push_back(p->position);
        },
        &positions);
    REQUIRE(t);
    audio_encoder *e = audio_encoder_new(64000);
    int16_t pcm[AUDIO_PACKET * AUDIO_CHANNELS];
    for (int i = 0; i < 50; i++) {
        pattern_tone_fill(i * AUDIO_PACKET, pcm, AUDIO_PACKET);
        audio_encoder_push(e, i * AUDIO_PACKET, pcm, AUDIO_PACKET);
        coded_audio *c = audio_encoder_pull(e);
        REQUIRE(c);
        if (i != 20)
            aac_thread_push(t, c);
        coded_audio_unref(c);
    }
    audio_encoder_free(e);
    while (positions.size() < 40) // 48000 / 1024, less what the encoder keeps
        uv_run(&loop, UV_RUN_ONCE);
    for (size_t i = 1; i < positions.size(); i++)
        CHECK(positions[i] == positions[i - 1] + AAC_FRAME);
    aac_thread_free(t);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}
