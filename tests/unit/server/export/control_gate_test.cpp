// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/export/control_gate.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "common/base/err.h"

namespace
{

struct loop_of_gate {
    uv_loop_t loop;
    uv_idle_t busy; // keeps the loop awake until the asker has ended
    control_gate *gate;
    std::atomic<bool> ended{false};
    std::atomic<int> calls{0};

    static int serve(void *ctx, const control_request *r, char **json, usec_t)
    {
        auto *l = static_cast<loop_of_gate *>(ctx);
        l->calls++;
        if (r->task == CONTROL_LIST_SESSIONS)
            *json = strdup("{}");
        return r->task == CONTROL_SET_LEVEL ? ERR_RANGE : 0;
    }
    loop_of_gate()
    {
        uv_loop_init(&loop);
        uv_idle_init(&loop, &busy);
        busy.data = this;
        gate = control_gate_new(&loop, serve, this);
        REQUIRE(gate);
    }
    void run()
    {
        uv_idle_start(&busy, [](uv_idle_t *idle) {
            if (static_cast<loop_of_gate *>(idle->data)->ended)
                uv_idle_stop(idle);
            std::this_thread::yield();
        });
        uv_run(&loop, UV_RUN_DEFAULT);
    }
    ~loop_of_gate()
    {
        control_gate_free(gate);
        uv_close(reinterpret_cast<uv_handle_t *>(&busy), nullptr);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
    }
};

} // namespace

TEST_CASE("control_gate: the loop serves what another thread asks", "[threads]")
{
    loop_of_gate l;
    int results[3];
    std::string body;
    std::thread asker([&] {
        control_request r = {};
        char *json;
        r.task = CONTROL_LIST_SESSIONS;
        results[0] = control_gate_ask(l.gate, &r, &json);
        body = json ? json : "";
        free(json);
        r.task = CONTROL_SET_LEVEL;
        results[1] = control_gate_ask(l.gate, &r, &json);
        r.task = CONTROL_END_SESSION;
        results[2] = control_gate_ask(l.gate, &r, &json);
        l.ended = true;
    });
    l.run();
    asker.join();
    CHECK(results[0] == 0);
    CHECK(body == "{}");
    CHECK(results[1] == ERR_RANGE);
    CHECK(results[2] == 0);
    CHECK(l.calls == 3);
}

TEST_CASE("control_gate: a closed one answers at once, and serves nothing", "[threads]")
{
    loop_of_gate l;
    control_gate_close(l.gate);
    std::thread asker([&] {
        control_request r = {};
        char *json;
        CHECK(control_gate_ask(l.gate, &r, &json) == ERR_CLOSED);
        CHECK(json == nullptr);
        l.ended = true;
    });
    l.run();
    asker.join();
    CHECK(l.calls == 0);
}
