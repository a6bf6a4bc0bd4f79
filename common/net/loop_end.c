// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/loop_end.h"

static void on_limit(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

bool loop_end(uv_loop_t *loop, usec_t limit)
{
    uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_update_time(loop); // it is of the last turn, and the caller may have blocked since
    uv_timer_start(&timer, on_limit, (uint64_t)(limit / USEC_PER_MSEC), 0);
    uv_unref((uv_handle_t *)&timer);
    uv_run(loop, UV_RUN_DEFAULT);
    bool is_late = uv_loop_alive(loop);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    return !is_late;
}
