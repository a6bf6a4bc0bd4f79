// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <vector>

#include "common/net/clock.h"
#include "player/ui/display.h"

namespace
{

struct fixture {
    std::vector<int64_t> shown, passed_over;
    size_t until = 1; // frames shown when the queue is closed
    struct render_queue *queue = render_queue_new(report, this);
    struct display *d;

    fixture()
    {
        display_config config = {};
        config.queue = queue;
        config.on_shown = on_shown;
        config.shown_ctx = this;
        d = display_headless_new(&config);
        REQUIRE(d);
    }
    ~fixture()
    {
        d->ops->free(d);
        render_queue_free(queue);
    }
    static void report(void *ctx, play_frame *f)
    {
        static_cast<fixture *>(ctx)->passed_over.push_back(f->number);
        play_frame_free(f);
    }
    static void on_shown(void *ctx, play_frame *f)
    {
        auto *s = static_cast<fixture *>(ctx);
        CHECK(f->fate == FATE_SHOWN);
        CHECK(f->shown_at >= f->show_at);
        s->shown.push_back(f->number);
        play_frame_free(f);
        if (s->shown.size() == s->until)
            render_queue_close(s->queue);
    }
    void push(int64_t number, usec_t show_at)
    {
        auto *f = static_cast<play_frame *>(calloc(1, sizeof(play_frame)));
        REQUIRE(f);
        f->number = number;
        f->show = true;
        f->show_at = show_at;
        REQUIRE(render_queue_push(queue, f));
    }
};

} // namespace

TEST_CASE("display_headless: a picture is shown when it is due, unless a newer one is also due")
{
    fixture f;
    usec_t now = clock_now();
    f.until = 2;
    f.push(1, now - 2000);
    f.push(2, now - 1000);
    f.push(3, now + 5000);
    CHECK(f.d->ops->run(f.d) == 0);
    CHECK(f.shown == std::vector<int64_t>{2, 3});
    CHECK(f.passed_over == std::vector<int64_t>{1});
}

TEST_CASE("display_headless: it ends when the queue is closed, and draws nothing")
{
    fixture f;
    osd_state state = {};
    f.d->ops->expect(f.d, 640, 360);
    f.d->ops->set_status(f.d, "title");
    f.d->ops->set_osd(f.d, &state);
    render_queue_close(f.queue);
    CHECK(f.d->ops->run(f.d) == 0);
    CHECK(f.shown.empty());
}
