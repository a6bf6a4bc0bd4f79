// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_prober.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

const usec_t MS = USEC_PER_MSEC;

// Runs the prober in virtual time and notes who sends tokens.
struct world {
    path_prober p{};
    usec_t now = 0;
    std::string sent; // "50:3 " - at 50 ms from both ports

    world()
    {
        path_prober_begin(&p, 0);
    }
    void until(usec_t ms)
    {
        for (usec_t next; (next = path_prober_next_timeout(&p)) <= ms * MS;) {
            now = usec_max(now, next);
            int ports = path_prober_on_timeout(&p, now);
            if (ports)
                sent += std::to_string(now / MS) + ":" + std::to_string(ports) + " ";
            REQUIRE(path_prober_next_timeout(&p) > now);
        }
        now = ms * MS;
    }
    bool heard(int which, bool is_media = false)
    {
        return path_prober_heard(&p, which, is_media, now);
    }
    std::string take()
    {
        std::string out;
        out.swap(sent);
        return out;
    }
    // The server is heard, and media is due.
    void open()
    {
        until(0);
        heard(0);
        CHECK(heard(1));
        path_prober_set_due(&p, true, now);
        CHECK(take() == "0:3 ");
    }
    void media_until(usec_t ms)
    {
        for (usec_t at = now / MS; at <= ms; at += 33) {
            until(at);
            CHECK_FALSE(heard(0, true));
        }
    }
};

} // namespace

TEST_CASE("path prober: each port sends tokens until the server is heard there")
{
    world w;
    w.until(60);
    CHECK_FALSE(w.heard(0));
    CHECK_FALSE(w.heard(0));
    w.until(110);
    CHECK(w.take() == "0:3 50:3 100:2 ");
    CHECK(w.heard(1));       // the path is open
    CHECK_FALSE(w.heard(1)); // told once
    w.until(60'000);
    CHECK(w.take().empty()); // no media is due
}

TEST_CASE("path prober: a server that is not heard is asked for five seconds")
{
    world w;
    w.until(60'000);
    const std::string sent = w.take();
    CHECK(sent.find("4950:3 5000:3 ") != std::string::npos);
    CHECK(sent.find("5050:") == std::string::npos);
    CHECK(path_prober_next_timeout(&w.p) == USEC_NEVER);
}

TEST_CASE("path prober: media that falls silent is asked for; media that comes needs no token")
{
    world w;
    w.open();
    w.media_until(990);
    CHECK(w.take().empty());
    w.until(1300);
    CHECK(w.take() == "1140:3 1190:3 1240:3 1290:3 "); // 150 ms after the last packet
    CHECK_FALSE(w.heard(0, true));                     // media is back; the other port has no echo
    w.until(1340);
    CHECK(w.take() == "1340:2 ");
    CHECK_FALSE(w.heard(1));
    w.media_until(2000);
    CHECK(w.take().empty());
}

TEST_CASE("path prober: a server that is heard and sends no media is asked ever more rarely")
{
    world w;
    w.open();
    usec_t last = 0;
    for (usec_t expected : {150, 300, 600, 1200, 2400, 4800, 5000, 5000}) {
        w.until(last + expected);
        CHECK(w.take() == std::to_string(last + expected) + ":3 ");
        w.heard(0);
        w.heard(1);
        last += expected;
    }
    w.heard(0, true); // media: soon again
    w.until(last + 150);
    CHECK(w.take() == std::to_string(last + 150) + ":3 ");
}

TEST_CASE("path prober: a path that is not in use is left alone, and one in use kept open")
{
    world w;
    w.open();
    path_prober_set_due(&w.p, false, w.now);
    w.until(100'000);
    CHECK(w.take().empty());
    path_prober_set_due(&w.p, true, w.now);
    w.media_until(100'100);
    CHECK(w.take() == "100000:1 "); // a NAT may have forgotten it
    w.media_until(145'200);
    CHECK(w.take() == "115000:1 130000:1 145000:1 ");
}
