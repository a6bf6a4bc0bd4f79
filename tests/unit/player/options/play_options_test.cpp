// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/options/play_options.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace
{
struct parsed {
    enum options_result result;
    struct play_options options;
    std::string error;
    std::string printed;
};

// The arguments live as long as the test: options point into them.
std::vector<std::vector<std::string>> kept;

parsed parse(std::vector<std::string> args, decltype(play_options_parse) *read = play_options_parse)
{
    args.insert(args.begin(), "weir-play");
    kept.push_back(args);
    std::vector<char *> argv;
    for (auto &arg : kept.back())
        argv.push_back(arg.data());
    argv.push_back(nullptr);
    parsed p{};
    char error[512] = "";
    char *text = nullptr;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    p.result = read((int)args.size(), argv.data(), &p.options, to, error, sizeof(error));
    fclose(to);
    p.printed.assign(text, len);
    free(text);
    p.error = error;
    return p;
}

const char *const URL = "rtsp://localhost/live";
} // namespace

TEST_CASE("options: what holds when nothing is said")
{
    auto p = parse({URL});
    REQUIRE(p.result == OPTIONS_RUN);
    const auto &o = p.options;
    CHECK(std::string(o.url.host) == "localhost");
    REQUIRE(o.transports.count == 1);
    CHECK(std::string(o.transports.names[0]) == transport_kinds[0]->name);
    CHECK(o.level == -1);
    CHECK(o.buffer == 250000);
    CHECK(o.duration == 0);
    CHECK(o.report == nullptr);
    CHECK_FALSE(o.headless);
    CHECK_FALSE(o.adu_events);
    CHECK_FALSE(o.picture_events);
    CHECK_FALSE(o.low_latency);
    CHECK_FALSE(o.has_buffer);
    CHECK(o.latency == 0);
    CHECK(play_options_latency_ms(&o, true) == 1000);
}

TEST_CASE("options: all of them")
{
    auto p = parse({"--transport",
                    "minbuf:1,3,udp",
                    "--cc=bbr",
                    "-l2",
                    "-b",
                    "2.5",
                    "--duration=10",
                    "--timeout=60",
                    "--headless",
                    "--report",
                    "r.json",
                    "--events",
                    "e.jsonl",
                    "--snapshot",
                    "s.png",
                    "--contact-sheet",
                    "c.png",
                    "--reference",
                    "film.mp4",
                    "-v",
                    "--adu-events",
                    "--picture-events",
                    URL});
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    const auto &o = p.options;
    REQUIRE(o.transports.count == 2);
    CHECK(std::string(o.transports.names[0]) == "minbuf:1,3");
    CHECK(std::string(o.transports.names[1]) == "udp");
    CHECK(std::string(o.cc) == "bbr");
    CHECK(o.level == 2);
    CHECK(o.buffer == 2500000);
    CHECK(o.duration == 10000000);
    CHECK(o.timeout == 60000000);
    CHECK(o.headless);
    CHECK(std::string(o.report) == "r.json");
    CHECK(std::string(o.events) == "e.jsonl");
    CHECK(o.adu_events);
    CHECK(o.picture_events);
    CHECK(std::string(o.snapshot) == "s.png");
    CHECK(std::string(o.contact_sheet) == "c.png");
    CHECK(std::string(o.reference) == "film.mp4");
    CHECK(o.log.filter.level == LOG_DEBUG);
    CHECK(play_options_latency_ms(&o, true) == 3000); // buffer + 500 ms
}

TEST_CASE("options: latency told to the sender")
{
    auto latency = [](const std::vector<std::string> &args, bool live = true) {
        auto p = parse(args);
        CHECK(p.result == OPTIONS_RUN);
        return play_options_latency_ms(&p.options, live);
    };
    CHECK(latency({"--low-latency", URL}) == 400);
    CHECK(latency({"--low-latency", "--buffer", "0", URL}) == 400);
    CHECK(latency({"--latency", "50", URL}) == 50);
    CHECK(latency({"--latency", "50", URL}, false) == 1000); // a file has no capture to wait for
    CHECK(latency({"--latency", "700", "--buffer", "0.69", URL}) == 700);
    CHECK(latency({"--buffer", "0.5", URL}) == 1000);
    CHECK(latency({"--latency", "auto", URL}) == 1000); // to begin with
    CHECK(parse({"--latency", "auto", URL}).options.latency_auto);
    CHECK(parse({"--latency", "auto", "--latency", "80", URL}).options.latency == 80000);
    CHECK_FALSE(parse({"--latency", "auto", "--latency", "80", URL}).options.latency_auto);
    CHECK(latency({"--buffer", "0.6", URL}) == 1100);
}

TEST_CASE("options: the level of the URL, and the option that goes before it")
{
    CHECK(parse({"rtsp://h/live?level=4"}).options.level == 4);
    CHECK(parse({"--level", "1", "rtsp://h/live?level=4"}).options.level == 1);
    CHECK(parse({"rtsp://h/live?level=4", "--level", "0"}).options.level == 0);
}

TEST_CASE("options: a URL that the viewer chooses later")
{
    struct {
        const char *url, *error; // "": it is taken
    } const table[] = {
        {"ftp://h/", "rtsp://"},
        {"@/etc/hostname", "expects a URL"},
        {"", "rtsp://"},
        {"https://h:8/live?key=k&level=2", ""},
    };
    parsed p = parse({"--level", "1"}, play_options_parse_choosing);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(*p.options.url.host == '\0');
    for (const auto &row : table) {
        INFO(row.url);
        char error[512] = "";
        CHECK(play_options_choose(&p.options, row.url, error, sizeof(error)) == !*row.error);
        CHECK(std::string(error).find(row.error) != std::string::npos);
        CHECK((*p.options.url.host != '\0') == !*row.error);
    }
    CHECK(std::string(p.options.url.text) == "rtsps://h:8/live?level=2");
    CHECK(p.options.level == 1);
    CHECK(parse({"--headless"}, play_options_parse_choosing).error.find("a URL is required") == 0);
    parsed given = parse({URL}, play_options_parse_choosing);
    CHECK(std::string(given.options.url.text) == URL);
    // What conflicts is said when the URL is there.
    parsed two = parse({"--picture-events"}, play_options_parse_choosing);
    char error[512] = "";
    REQUIRE(two.result == OPTIONS_RUN);
    CHECK_FALSE(play_options_choose(&two.options, "rtsp://h/", error, sizeof(error)));
    CHECK(std::string(error).find("--events") != std::string::npos);
    CHECK(*two.options.url.host == '\0');
}

TEST_CASE("options: what is wrong is named, and what would be right")
{
    struct {
        std::vector<std::string> args;
        const char *names, *allows;
    } const table[] = {
        {{}, "a URL is required", "rtsp://"},
        {{"--list-servers", URL}, "--list-servers", "conflicts with a URL"},
        {{URL, "rtsp://two"}, "rtsp://two", "a second one"},
        {{"ftp://h"}, "ftp://h", "rtsp://"},
        {{"--transport", "quic", URL}, "quic", "minbuf"},
        {{"--transport", "1,3", URL}, "1,3", "NAME"},
        {{"--transport", "minbuf:0,3", URL}, "minbuf:0,3", "range"},
        {{"--transport", "tcp:5", URL}, "tcp:5", "malformed"},
        {{"--transport", "tcp:notsent=0", URL}, "tcp:notsent=0", "range; tcp: "},
        {{"--transport", "tcp:notsent=16777217", URL}, "tcp:notsent=16777217", "1..16777216"},
        {{"--transport", "", URL}, "''", "tcp"},
        {{"--cc", "Cubic!", URL}, "Cubic!", "a-z"},
        {{"--cc", "", URL}, "''", "a-z"},
        {{"--level", "-1", URL}, "-1", "0 to 31"},
        {{"--level", "32", URL}, "32", "0 to 31"},
        {{"--level", "two", URL}, "two", "0 to 31"},
        {{"--buffer", "61", URL}, "61", "0 to 60"},
        {{"--buffer", "-0.1", URL}, "-0.1", "0 to 60"},
        {{"--buffer", "nan", URL}, "nan", "0 to 60"},
        {{"--latency", "49", URL}, "49", "auto, or 50 to 30000"},
        {{"--latency", "automatic", URL}, "automatic", "auto, or 50 to 30000"},
        {{"--latency", "auto", "--low-latency", URL}, "--latency", "conflicts"},
        {{"--latency", "auto", "--buffer", "0.1", URL}, "--buffer", "conflicts"},
        {{"--latency", "30001", URL}, "30001", "50 to 30000"},
        {{"--latency", "0.5", URL}, "0.5", "milliseconds"},
        {{"--latency", "500", "--low-latency", URL}, "--latency", "conflicts"},
        {{"--low-latency", "--buffer", "0.1", URL}, "--buffer", "conflicts"},
        {{"--latency", "500", "--buffer", "0.5", URL}, "--latency 500 ms", "less than 0.5 s"},
        {{"--duration", "0", URL}, "'0'", "0.001 to 1000000"},
        {{"--duration", "inf", URL}, "inf", "0.001 to 1000000"},
        {{"--duration", "5s", URL}, "5s", "0.001 to 1000000"},
        {{"--timeout", "0", URL}, "'0'", "1 to 3600"},
        {{"--snapshot", "s.jpg", URL}, "s.jpg", ".png"},
        {{"--snapshot", ".png", URL}, ".png", ".png"},
        {{"--contact-sheet", "c", URL}, "'c'", ".png"},
        {{"--report", "", URL}, "--report", "empty"},
        {{"--report"}, "--report", "value"},
        {{"-t"}, "-t", "value"},
        {{"--bogus", URL}, "--bogus", "unknown"},
        {{"-x", URL}, "-x", "unknown"},
        {{"--headless", "--full-screen", URL}, "--headless", "conflicts"},
        {{"--no-picture", "--reference", "f", URL}, "--reference", "conflicts"},
        {{"--reconnect=maybe", URL}, "--reconnect", "true or false"},
        {{"--no-reconnect=maybe", URL}, "--no-reconnect", "true or false"},
        {{"--adu-events", URL}, "--adu-events", "--events FILE"},
        {{"--picture-events", URL}, "--picture-events", "--events FILE"},
        {{"--picture-events", "--events", "f", "--no-picture", URL},
         "--picture-events",
         "conflicts with --no-picture"},
    };
    for (const auto &row : table) {
        auto p = parse(row.args);
        INFO(p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK_THAT(p.error, Catch::Contains(row.names) && Catch::Contains(row.allows));
    }
}

TEST_CASE("options: help names every option and exit status and fits a terminal")
{
    auto p = parse({"--help"});
    REQUIRE(p.result == OPTIONS_DONE);
    for (const char *word : {"--transport",      "--cc",         "--level",
                             "--buffer",         "--latency",    "--low-latency",
                             "--duration",       "--headless",   "--full-screen",
                             "--report",         "--events",     "--adu-events",
                             "--picture-events", "--snapshot",   "--contact-sheet",
                             "--reference",      "--no-picture", "--verbose",
                             "--quiet",          "--version",    "--help",
                             "minbuf",           "udp",          "130"})
        CHECK_THAT(p.printed, Catch::Contains(word));
    size_t longest = 0;
    for (size_t at = 0, end; (end = p.printed.find('\n', at)) != std::string::npos; at = end + 1)
        longest = std::max(longest, end - at);
    CHECK(longest <= 100);
    CHECK(parse({"--version"}).result == OPTIONS_DONE);
}

TEST_CASE("options: a viewer at a window is connected again, an instrument when asked")
{
    struct {
        std::vector<std::string> args;
        bool reconnect;
    } const table[] = {
        {{URL}, true},
        {{"--headless", URL}, false},
        {{"--headless", "--reconnect", URL}, true},
        {{"--no-reconnect", URL}, false},
        {{"--reconnect=false", URL}, false},
        {{"--no-reconnect=false", "--headless", URL}, true},
        {{"--reconnect", "--no-reconnect", URL}, false}, // the last one holds
        {{"--no-reconnect", "--reconnect", URL}, true},
    };
    for (const auto &row : table) {
        auto p = parse(row.args);
        CAPTURE(row.args);
        REQUIRE(p.result == OPTIONS_RUN);
        CHECK(p.options.reconnect == (row.reconnect ? OPTION_ON : OPTION_OFF));
    }
    struct {
        std::vector<std::string> args;
        const char *line;
    } const printed[] = {
        {{}, "\n#reconnect = true|false\n"},
        {{"--reconnect"}, "\nreconnect = true\n"},
        {{"--reconnect=false"}, "\nreconnect = false\n"},
        {{"--no-reconnect"}, "\nreconnect = false\n"},
        {{"--reconnect", "--no-reconnect=false"}, "\nreconnect = true\n"},
    };
    for (const auto &row : printed) {
        auto args = row.args;
        args.emplace_back("--print-config");
        auto p = parse(args);
        CAPTURE(row.args);
        REQUIRE(p.result == OPTIONS_DONE);
        CHECK_THAT(p.printed, Catch::Contains(row.line) && !Catch::Contains("no-reconnect ="));
    }
}

TEST_CASE("options: how lost packets are repaired")
{
    CHECK(parse({URL}).options.repair == REPAIR_MODE_AUTO);
    CHECK(parse({"--repair", "resend", URL}).options.repair == REPAIR_MODE_RESEND);
    CHECK(parse({"--repair=off", URL}).options.repair == REPAIR_MODE_OFF);
}

TEST_CASE("options: who adapts")
{
    CHECK(parse({URL}).options.adapt == ADAPT_AUTO);
    CHECK(parse({"--adapt=auto", URL}).options.adapt == ADAPT_AUTO);
    CHECK(parse({"--adapt", "sender", URL}).options.adapt == ADAPT_SENDER);
    CHECK(parse({"--adapt=none", "--level=2", URL}).options.adapt == ADAPT_NONE);
    auto p = parse({"--goddard", "play_buf_thresh=2.5,buf_factor=2", "--adapt", "goddard", URL});
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.options.adapt == ADAPT_GODDARD);
    CHECK(p.options.goddard.buf_factor == 2);
    CHECK(p.options.goddard.upscale_interval == 60);
    CHECK(p.options.buffer == 2500000);
    CHECK(play_options_latency_ms(&p.options, true) == 3000); // no less than what playing waits for
    CHECK(parse({"--adapt", "goddard", URL}).options.buffer == 5000000);
}

TEST_CASE("options: what Goddard chooses nobody else does")
{
    const struct {
        std::vector<const char *> args;
        const char *word;
    } rows[] = {
        {{"--adapt", "live"}, "auto, sender, none or goddard"},
        {{"--repair", "arq"}, "off, resend, fec or auto"},
        {{"--adapt=sender", "--goddard", "buf_factor=2"}, "--adapt goddard"},
        {{"--adapt=none", "--goddard", "buf_factor=2"}, "--adapt goddard"},
        {{"--goddard", "buf_factor=2"}, "--adapt goddard"},
        {{"--adapt=goddard", "--goddard", "buf_factor=9"}, "1 to 4"},
        {{"--adapt=goddard", "--level=1"}, "--level"},
        {{"--adapt=goddard", "--buffer=1"}, "play_buf_thresh"},
        {{"--adapt=goddard", "--low-latency"}, "--low-latency"},
        {{"--adapt=goddard", "--latency=500"}, "--latency"},
    };
    for (const auto &r : rows) {
        std::vector<std::string> args(r.args.begin(), r.args.end());
        args.emplace_back(URL);
        auto p = parse(args);
        INFO(p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.find(r.word) != std::string::npos);
    }
    CHECK(parse({"--adapt=goddard", "rtsp://localhost/live?level=2"}).result == OPTIONS_BAD);
}

TEST_CASE("options: a stored film is buffered by a policy unless the viewer says otherwise")
{
    sdp film = {};
    film.duration = 60;
    film.source = SDP_SOURCE_FILE;
    film.codec = SDP_H264;
    film.ladder.level_count = 3;
    snprintf(film.validator, sizeof(film.validator), "bytes=1 mtime=2");
    auto has = [](const std::vector<std::string> &args, const sdp &s) {
        auto p = parse(args);
        REQUIRE(p.result == OPTIONS_RUN);
        return play_options_policy(&p.options, &s);
    };
    CHECK(has({URL}, film) == std::string("auto"));
    CHECK(has({"--adapt=auto", "--buffer=2", URL}, film) == std::string("auto"));
    CHECK(has({"--adapt=bola-e", URL}, film) == std::string("bola-e"));
    CHECK(has({"--adapt=goddard", URL}, film) == std::string("goddard"));
    CHECK_FALSE(has({"--adapt=none", URL}, film));
    CHECK_FALSE(has({"--adapt=sender", URL}, film));
    CHECK(has({"--level=1", URL}, film) == std::string("auto")); // that level, and its buffer
    CHECK(has({"rtsp://localhost/live?level=1"}, film) == std::string("auto"));
    CHECK_FALSE(has({"--low-latency", URL}, film));
    sdp live = film, encoded = film, one = film, other = film, filler = film;
    live.duration = -1;
    encoded.validator[0] = '\0'; // encoded as it plays
    one.ladder.level_count = 1;
    other.ladder.level_count = 0; // another server's, which does not know what a speed is
    filler.codec = SDP_SYNTHETIC;
    CHECK(has({URL}, one) == std::string("auto"));
    for (const sdp *s : {&live, &encoded, &other, &filler})
        CHECK_FALSE(has({URL}, *s));

    auto p = parse({URL});
    CHECK(p.options.buffer == 250000); // playing of anything else begins as always
    CHECK(play_options_latency_ms(&p.options, false) == 1000);
    const struct {
        const char *option;
        usec_t target;
    } targets[] = {{"--no-audio", 30000000},
                   {"--buffer=8", 8000000},
                   {"--buffer=0.5", 4000000},
                   {"--buffer=60", 60000000}};
    for (const auto &t : targets) {
        p = parse({t.option, URL});
        REQUIRE(p.result == OPTIONS_RUN);
        CHECK(play_options_buffer_target(&p.options) == t.target);
    }
}

TEST_CASE("options: a password is in no message")
{
    const std::vector<std::string> table[] = {
        {"rtsp://me:secret@h:x/live"},
        {"rtp://me:secret@h/live"},
        {"rtsp:/me:s@secret@h/live"},
        {URL, "rtsp://me:secret@h/live"},
    };
    for (const auto &args : table) {
        auto p = parse(args);
        INFO(p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.find("secret") == std::string::npos);
        CHECK_THAT(p.error, Catch::Contains("'...@h"));
    }
    CHECK_THAT(parse({"rtsp://h:x/live"}).error, Catch::Contains("'rtsp://h:x/live'"));
}

TEST_CASE("options: the name of a recording")
{
    CHECK(parse({URL}).options.record == nullptr);
    auto p = parse({"--record", "seen-%H.mkv", URL});
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(std::string(p.options.record) == "seen-%H.mkv");
    for (const char *bad : {"seen.mp4", "%H/seen.mkv", "%x.mkv", ""}) {
        p = parse({"--record", bad, URL});
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.find("--record") != std::string::npos);
    }
}
