// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options/options.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/net/udp_socket.h"
#include "server/policy/viewer_limits.h"
#include "tests/unit/temp_folder.hpp"

namespace
{

struct parsed {
    options_result result;
    options o;
    std::string out, error;
    std::vector<std::string> words; // options point into them

    explicit parsed(std::vector<std::string> args) : words(std::move(args))
    {
        words.insert(words.begin(), "weir-send");
        std::vector<char *> argv;
        for (auto &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        char *text;
        size_t size;
        char reason[1024] = "";
        FILE *to = open_memstream(&text, &size);
        result = options_parse(static_cast<int>(words.size()), argv.data(), &o, to, reason,
                               sizeof(reason));
        fclose(to);
        out.assign(text, size);
        free(text);
        error = reason;
    }
    ~parsed()
    {
        options_destroy(&o);
    }
    parsed(const parsed &) = delete;
    parsed &operator=(const parsed &) = delete;
};

std::string address(const sockaddr_storage &at)
{
    char text[SOCKADDR_TEXT];
    sockaddr_url_text(reinterpret_cast<const sockaddr *>(&at), text, sizeof(text));
    return text;
}

} // namespace

TEST_CASE("weir-send's options: defaults")
{
    parsed p({});
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.source == std::string("test:"));
    CHECK(p.o.path == std::string("/live"));
    CHECK(address(p.o.listen) == "127.0.0.1:8554");
    CHECK(p.o.metrics.ss_family == AF_UNSPEC);
    CHECK(p.o.http.ss_family == AF_UNSPEC);
    CHECK(p.o.level_count == 0);
    CHECK(p.o.codec == SDP_H264);
    CHECK(p.o.temporal_layers == 0);
    CHECK(p.o.audio == nullptr);
    CHECK(p.o.audio_kbps == 64);
    CHECK(audio_mix_is_default(p.o.mix));
    CHECK(p.o.max_viewers == VIEWERS_DEFAULT);
    CHECK(p.o.timeout == VIEWER_TIMEOUT_SEC);
    CHECK(p.o.fragment == 0);
    CHECK(parsed({"--fragment", "1000"}).o.fragment == 1000);
    CHECK(p.o.filler_bps == 0);
    CHECK(p.o.synthetic.kind == SDP_SOURCE_UNKNOWN);
    CHECK(p.o.log.filter.level == LOG_INFO);
    CHECK_FALSE((p.o.loop || p.o.prepare || p.o.list_devices || p.o.has_capture || p.o.log.json));
}

TEST_CASE("weir-send's options: given values")
{
    parsed p({"--listen",
              "[::1]:0",
              "--path",
              "/a/b",
              "--level",
              "320x180@15:100",
              "--level",
              "640x360@30:800",
              "--temporal-layers",
              "3",
              "--loop",
              "--capture",
              "640x480@25",
              "--sound",
              "none",
              "--sound-rate",
              "32",
              "--center-mix-level",
              "0",
              "--surround-mix-level",
              "-6",
              "--lfe-mix-level=-10",
              "--stats",
              "s",
              "--metrics",
              "127.0.0.1:9464",
              "--http",
              "[::1]:8080",
              "--http-segment",
              "6",
              "-q",
              "film.mkv"});
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(address(p.o.listen) == "[::1]:0");
    CHECK(p.o.path == std::string("/a/b"));
    REQUIRE(p.o.level_count == 2);
    CHECK(p.o.temporal_layers == 3);
    CHECK(p.o.loop);
    CHECK(p.o.has_capture);
    CHECK((p.o.capture.width == 640 && p.o.capture.height == 480));
    CHECK(p.o.audio == std::string("none"));
    CHECK(p.o.audio_kbps == 32);
    CHECK((p.o.mix.centre_db == 0 && p.o.mix.surround_db == -6 && p.o.mix.lfe_db == -10));
    CHECK(p.o.stats == std::string("s"));
    CHECK(address(p.o.metrics) == "127.0.0.1:9464");
    CHECK(address(p.o.http) == "[::1]:8080");
    CHECK(p.o.http_segment == 6);
    CHECK(p.o.log.filter.level == LOG_ERROR);
    CHECK(p.o.source == std::string("film.mkv"));
}

TEST_CASE("weir-send's options: VP9, and what conflicts with it")
{
    struct {
        std::vector<std::string> args;
        const char *error; // NULL: none
    } const table[] = {
        {{"--codec", "vp9"}, nullptr},
        {{"--codec", "vp9", "--level", "640x360@30:500", "camera:"}, nullptr},
        {{"--codec", "h264", "--temporal-layers", "2"}, nullptr},
        {{"--profile", "baseline"}, nullptr},
        {{"--profile", "high", "--prepare", "film.mkv"}, nullptr},
        {{"--profile", "main"}, "expects high or baseline"},
        {{"--profile", "baseline", "--prepare", "film.mkv"}, "conflicts with --prepare"},
        {{"--profile", "baseline", "--codec", "vp9"}, "conflicts with --profile baseline"},
        {{"--codec", "av1"}, "expects h264, hevc or vp9"},
        {{"--codec", "vp9", "--prepare", "film.mkv"}, "conflicts with --prepare"},
        {{"--codec", "vp9", "--temporal-layers", "3"}, "conflicts with --temporal-layers"},
        {{"--codec", "vp9", "synthetic:goddard"}, "conflicts with a synthetic source"},
        {{"--codec", "vp9", "synthetic:greedy"}, "conflicts with a synthetic source"},
        {{"--codec", "vp9", "--level", "640x360@30:500", "--level", "320x180@30:200"},
         "conflicts with more than one --level"},
        {{"--codec", "hevc", "--prepare", "film.mkv"}, nullptr},
        {{"--codec", "hevc", "--prepare", "--temporal-layers", "3", "film.mkv"}, "at most two"},
        {{"--codec", "hevc", "--profile", "baseline", "film.mkv"}, "which is H.264's"},
        {{"--codec", "hevc", "--encoder", "vaapi", "film.mkv"}, "chooses the encoder of H.264"},
        {{"--codec", "hevc", "--http", "127.0.0.1:8080", "film.mkv"}, "it serves H.264"},
        {{"--codec", "hevc", "synthetic:greedy"}, "conflicts with a synthetic source"},
        {{"--encoder", "nvenc"}, nullptr},
        {{"--encoder", "h264_nvenc"},
         "expects auto, list, x264, vaapi, nvenc, qsv, v4l2m2m or lavc-x264"},
        {{"--encoder", "nvenc", "--temporal-layers", "2"}, "the others have no layers"},
        {{"--encoder", "auto", "--temporal-layers", "2"}, nullptr},
        {{"--encoder", "x264", "--temporal-layers", "2"}, nullptr},
        {{"--codec", "vp9", "--encoder", "x264"}, "chooses the encoder of H.264"},
        {{"--codec", "hevc", "--encoder", "x264", "film.mkv"}, "chooses the encoder of H.264"},
        {{"--codec", "vp9", "--encoder", "auto"}, nullptr},
        {{"--encoder", "nvenc", "synthetic:greedy"}, "conflicts with a synthetic source"},
    };
    for (const auto &row : table) {
        parsed p(row.args);
        INFO(p.error);
        CHECK((p.result == OPTIONS_RUN) == (row.error == nullptr));
        if (row.error)
            CHECK(p.error.find(row.error) != std::string::npos);
        else
            CHECK((p.o.codec == SDP_VP9) == (row.args[1] == "vp9"));
    }
}

TEST_CASE("weir-send's options: HTTP is neither encrypted nor asks for a key")
{
    struct {
        std::vector<std::string> args;
        bool is_fine;
    } table[] = {
        {{"--http", "127.0.0.1:8080"}, true},
        {{"--http", "[::1]:8080"}, true},
        {{"--http", "0.0.0.0:8080"}, false},
        {{"--http", "[::]:8080"}, false},
        {{"--http", "192.0.2.1:8080", "--access", "users"}, false},
        {{"--http", "0.0.0.0:8080", "--insecure"}, true},
    };
    for (const auto &row : table) {
        parsed p(row.args);
        INFO(row.args[1] << ": " << p.error);
        CHECK((p.result == OPTIONS_RUN) == row.is_fine);
        CHECK((p.error.find("--http off the loopback requires --insecure") != std::string::npos) ==
              !row.is_fine);
    }
}

TEST_CASE("weir-send's options: synthetic sources")
{
    struct {
        const char *source;
        int filler_bps;
        bool steady;
        sdp_source kind;
    } const table[] = {
        {"synthetic:greedy", 1920000, false, SDP_SOURCE_UNKNOWN},
        {"synthetic:greedy:8", 8000, false, SDP_SOURCE_UNKNOWN},
        {"synthetic:steady:2000000", 2000000000, true, SDP_SOURCE_UNKNOWN},
        {"synthetic:goddard", 0, false, SDP_SOURCE_GODDARD},
        {"synthetic:layers:8,16", 0, false, SDP_SOURCE_LAYERS},
        {"synthetic", 0, false, SDP_SOURCE_UNKNOWN}, // a file of this name
    };
    for (const auto &row : table) {
        CAPTURE(row.source);
        parsed p({row.source});
        REQUIRE(p.result == OPTIONS_RUN);
        CHECK(p.o.filler_bps == row.filler_bps);
        CHECK(p.o.steady == row.steady);
        CHECK(p.o.synthetic.kind == row.kind);
    }
}

TEST_CASE("weir-send's options: errors, and the allowed values")
{
    std::vector<std::string> many;
    for (int i = 0; i <= LADDER_MAX_LEVELS; i++)
        many.insert(many.end(), {"--level", "320x180@15:100"});
    struct {
        std::vector<std::string> args;
        const char *error;
    } const table[] = {
        {{"--listen", "example.org:8554"}, "expects ADDR:PORT with a numeric address"},
        {{"--path", "live"}, "expects a path such as /live"},
        {{"--path", "/"}, "expects a path such as /live"},
        {{"--path", "/live/"}, "expects a path such as /live"},
        {{"--path", "/a b"}, "expects a path such as /live"},
        {{"--path", "/" + std::string(199, 'x')}, "expects a path such as /live"},
        {{"--level", "640x360@30"}, "expects WIDTHxHEIGHT@FPS:KBPS"},
        {{"--level", "641x360@30:800"}, "expects even sizes"},
        {{"--level", "640x360@30:7"}, "8 to 100000 kbit/s"},
        {many, "at most 32 levels"},
        {{"--fragment", "199"}, "200 to 1400"},
        {{"--fragment", "1401"}, "200 to 1400"},
        {{"--fragment", "1k"}, "--fragment"},
        {{"--fragment", "500", "--prepare", "film.mkv"}, "--fragment conflicts with --prepare"},
        {{"--fragment", "500", "synthetic:greedy"}, "--fragment conflicts with a synthetic source"},
        {{"--temporal-layers", "1"}, "expects 2 or 3"},
        {{"--temporal-layers", "2x"}, "expects 2 or 3"},
        {{"--capture", "640x480"}, "expects WIDTHxHEIGHT@FPS"},
        {{"--metrics", "94640"}, "expects ADDR:PORT with a numeric address"},
        {{"--http", "80800"}, "expects ADDR:PORT with a numeric address"},
        {{"--http", "127.0.0.1:0", "--http-segment", "11"}, "1"},
        {{"--http", "127.0.0.1:0", "--codec", "vp9"}, "--http conflicts with --codec vp9"},
        {{"--http", "127.0.0.1:0", "synthetic:goddard"},
         "--http conflicts with a synthetic source"},
        {{"--sound", "loud"},
         "expects track:N, track:LANGUAGE, pulse[:DEVICE], alsa[:DEVICE] or none"},
        {{"--sound-rate", "15"}, "16"},
        {{"--lfe-mix-level", "13"}, "12"},
        {{"--max-viewers", "0"}, "1"},
        {{"synthetic:"}, "expects synthetic:greedy"},
        {{"synthetic:greedy:7"}, "KBPS from 8 to 2000000"},
        {{"synthetic:greedy:2000001"}, "KBPS from 8 to 2000000"},
        {{"synthetic:steady:x"}, "KBPS from 8 to 2000000"},
        {{"synthetic:greedyx"}, "expects synthetic:greedy"},
        {{"synthetic:layers:9,16"}, "expects 1 to 8 layers of 16 to 16384 bytes"},
        {{"test:10x10@30"}, "expects test:WIDTHxHEIGHT@FPS, such as test:1280x720@30; sizes are"},
        {{"test:640x360@0"}, "at 1 to 240 frames a second"},
        {{"test:640x360"}, "expects test:WIDTHxHEIGHT@FPS"},
        {{"a=test:641x360@30"}, "sizes are even"},
        {{"--prepare"}, "--prepare requires FILE or FOLDER"},
        {{"--prepare", "test:640x360@30"}, "--prepare requires FILE or FOLDER"},
        {{"--prepare", "camera:"}, "--prepare requires FILE or FOLDER"},
        {{"--prepare", "rtsp://h/live"}, "--prepare requires FILE or FOLDER"},
        {{"--prepare", "synthetic:goddard"}, "--prepare requires FILE or FOLDER"},
        {{"--push", "http://h/live"}, "expects rtsp://[USER:PASSWORD@]HOST"},
        {{"--push", "rtsp://h"}, "expects rtsp://[USER:PASSWORD@]HOST"},
        {{"--push", "@/does/not/exist"}, "cannot read a URL from that file"},
        {{"--push", "rtsp://h/a", "--push-transport", "mtp"}, "'mtp' is no transport of plain RTP"},
        {{"--push", "rtsp://h/a", "--push-transport", "auto"}, "no transport of plain RTP"},
        {{"--push", "rtsp://h/a", "--push-transport", "tcp,"}, "expects a list of minbuf"},
        {{"--push-transport", "tcp"}, "--push-transport requires --push URL"},
        {{"--push", "rtsp://h/a", "--push-audio", "aac,mp3"}, "expects opus, aac or both"},
        {{"--push-audio", "aac"}, "--push-audio requires --push URL"},
        {{"--push-level", "0"}, "--push-level requires --push URL"},
        {{"--push", "rtsp://h/a", "--prepare", "a.mkv"}, "--push conflicts with --prepare"},
        {{"--push", "rtsp://h/a", "synthetic:goddard"}, "conflicts with a synthetic source"},
        {{"--transcode", "film.mkv"}, "--transcode requires an IP camera"},
        {{"--transcode"}, "--transcode requires an IP camera"},
        {{"--rewind", "60s", "--prepare", "a.mkv"}, "--rewind conflicts with --prepare"},
        {{"--rewind", "60s", "synthetic:goddard"}, "--rewind conflicts with a synthetic source"},
        {{"--passthrough-rate", "99"}, "100"},
        {{"a=test:", "camera:"}, "SOURCE 'camera:' has no name"},
        {{"test:", "camera:"}, "SOURCE 'test:' has no name"},
        {{"a=test:", "a=camera:"}, "two sources are called 'a'"},
        {{"a=synthetic:x"}, "expects synthetic:greedy"},
        {{"a=/"}, "SOURCE '/' is a folder"},
        {{"a=test:", "--path", "/x"}, "--path conflicts with a source that has a name"},
        {{"a=test:", "--push", "rtsp://h/a"}, "--push expects one source without a name"},
        {{"a=test:", "--http", "127.0.0.1:0"}, "--http expects one source without a name"},
        {{"a=film.mkv", "--prepare"}, "--prepare expects one FILE without a name"},
        {{"a=test:", "b=synthetic:goddard", "--codec", "vp9"},
         "source 'b': --codec vp9 conflicts with a synthetic source"},
        {std::vector<std::string>(17, "test:"), "at most 16 sources"},
        {{"--nonsense"}, "unknown option '--nonsense'"},
    };
    for (const auto &row : table) {
        parsed p(row.args);
        CAPTURE(row.error, p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.find(row.error) != std::string::npos);
        CHECK(p.out.empty());
    }
}

TEST_CASE("weir-send's options: --prepare does not stream")
{
    const std::vector<std::string> table[] = {
        {"--push", "rtsp://h/a"},  {"--record", "a.mkv"},
        {"--rewind", "60s"},       {"--fragment", "500"},
        {"--http", "127.0.0.1:0"}, {"--metrics", "127.0.0.1:0"},
        {"--stats", "s"},          {"--loop"},
        {"--path", "/a"},          {"--capture", "640x480@30"},
    };
    for (const auto &row : table) {
        std::vector<std::string> args = row;
        std::string expected = row[0] + " conflicts with --prepare, which does not stream";
        args.insert(args.end(), {"--prepare", "film.mkv"});
        parsed p(args);
        CAPTURE(expected, p.error);
        CHECK(p.result == OPTIONS_BAD);
        CHECK(p.error.find(expected) != std::string::npos);
    }
    CHECK(parsed({"--prepare", "film.mkv", "--path", "/live"}).result == OPTIONS_RUN);
}

TEST_CASE("send options: where the stream is pushed to")
{
    parsed none({});
    CHECK(none.o.push.text[0] == '\0');
    parsed p({"--push", "rtsp://joe:pa%40ss@h:99/live"});
    CHECK(p.result == OPTIONS_RUN);
    CHECK(std::string(p.o.push.text) == "rtsp://h:99/live");
    CHECK(std::string(p.o.push.user) == "joe");
    CHECK(std::string(p.o.push.password) == "pa@ss");
    CHECK(p.o.push_level == -1);
    REQUIRE(p.o.push_transports.count == 2);
    CHECK(std::string(p.o.push_transports.names[0]) == "minbuf");
    CHECK(std::string(p.o.push_transports.names[1]) == "udp");
    parsed named(
        {"--push", "rtsp://h/live", "--push-transport", "minbuf:2,4,tcp", "--push-level", "3"});
    CHECK(named.result == OPTIONS_RUN);
    CHECK(named.o.push_level == 3);
    REQUIRE(named.o.push_transports.count == 2);
    CHECK(std::string(named.o.push_transports.names[0]) == "minbuf:2,4");
    parsed wrong({"--push", "rtsp://joe:sekret@h"});
    CHECK(wrong.error.find("sekret") == std::string::npos);
}

TEST_CASE("weir-send's options: several sources")
{
    parsed p({"front=camera:/dev/video0", "--loop", "film=a=b.mkv", "x=synthetic:greedy:100"});
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    REQUIRE(p.o.source_count == 3);
    CHECK(p.o.sources[0].path == std::string("/front"));
    CHECK(p.o.sources[0].source == std::string("camera:/dev/video0"));
    CHECK(p.o.sources[0].filler_bps == 0);
    CHECK(p.o.sources[1].path == std::string("/film"));
    CHECK(p.o.sources[1].source == std::string("a=b.mkv"));
    CHECK(p.o.sources[1].loop);
    CHECK(p.o.sources[2].filler_bps == 100000);

    parsed one({"front=test:"});
    REQUIRE(one.o.source_count == 1);
    CHECK(one.o.sources[0].path == std::string("/front"));

    temp_folder t;
    std::string file = t.write("q=a.mkv", "x"); // a file whose name looks like one of a source
    parsed unnamed({file});
    CHECK(unnamed.o.source_count == 0);
    CHECK(unnamed.o.source == file);
    CHECK(unnamed.o.path == std::string("/live"));
}

TEST_CASE("weir-send's options: sections of sources")
{
    temp_folder t;
    std::string file =
        t.write("a.conf", "level = 320x180@15:100\nlevel = 640x360@15:400\nsource = film=f.mkv\n"
                          "[source front]\nsource = camera:\nlevel = 160x90@15:50\n"
                          "[source film]\nloop = true\n[weir-send]\ncodec = h264\n");
    parsed p({"--config", file});
    INFO(p.error);
    REQUIRE(p.result == OPTIONS_RUN);
    REQUIRE(p.o.source_count == 2);
    CHECK(p.o.sources[0].path == std::string("/film"));
    CHECK(p.o.sources[0].loop);
    CHECK(p.o.sources[0].level_count == 2);
    CHECK(p.o.sources[1].path == std::string("/front"));
    CHECK(p.o.sources[1].source == std::string("camera:"));
    CHECK_FALSE(p.o.sources[1].loop);
    REQUIRE(p.o.sources[1].level_count == 1); // replaces those of all sources
    CHECK(p.o.sources[1].levels[0].width == 160);

    parsed over({"--config", file, "front=test:"}); // replaces all sources of the file
    INFO(over.error);
    REQUIRE(over.o.source_count == 1);
    CHECK(over.o.sources[0].source == std::string("test:"));
    CHECK(over.o.sources[0].level_count == 1); // the section still says how it is encoded
    parsed plain({"--config", file, "test:"});
    CHECK(plain.o.source_count == 0);
    CHECK(plain.o.level_count == 2);

    const struct {
        const char *text, *error;
    } rows[] = {
        {"[source a b]\nsource = test:", "a.conf:2: \"a b\" is no name of a source"},
        {"[source a]\nloop = true", "[source a] expects a line source = SOURCE"},
        {"[source a]\nsource = test:\nsource = x", "it has one"},
        {"source = a=test:\n[source a]\nsource = test:", "two sources are called 'a'"},
        {"source = test:\n[source a]\nsource = test:", "SOURCE 'test:' has no name"},
        {"[source a]\nsource = test:\nlisten = 1", "\"listen\" applies to the whole program"},
        {"[source a]\nsource = synthetic:x", "a.conf:2: source 'synthetic:x': expects synthetic:"},
    };
    for (const auto &row : rows) {
        parsed bad({"--config", t.write("a.conf", row.text)});
        CAPTURE(row.text, bad.error);
        CHECK(bad.result == OPTIONS_BAD);
        CHECK(bad.error.find(row.error) != std::string::npos);
    }
}

TEST_CASE("weir-send's options: what differs after a change of the configuration")
{
    const std::vector<std::string> base = {"--level", "320x180@30:300", "--sound", "none"};
    auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), base.begin(), base.end());
        return more;
    };
    const struct {
        std::vector<std::string> args;
        bool is_equal;
    } rows[] = {
        {{}, true},
        {{"--max-viewers", "7", "--timeout", "9", "--fragment", "900"}, true},
        {{"camera:"}, false},
        {{"--level", "160x90@30:100"}, false},
        {{"--loop"}, false},
        {{"--passthrough-rate", "20000"}, false},
        {{"--profile", "baseline"}, false},
        {{"--temporal-layers", "3"}, false},
        {{"--capture", "640x480@30"}, false},
        {{"--sound", "pulse"}, false},
        {{"--sound-rate", "32"}, false},
        {{"--center-mix-level", "0"}, false},
    };
    parsed was(with({}));
    for (const auto &row : rows) {
        parsed now(with(row.args));
        CAPTURE(row.args);
        REQUIRE(now.result == OPTIONS_RUN);
        CHECK(options_source_equal(&was.o, &now.o) == row.is_equal);
        CHECK(options_fixed(&was.o, &now.o) == nullptr);
    }
    parsed none({});
    CHECK_FALSE(options_source_equal(&none.o, &was.o));
    const struct {
        std::vector<std::string> args;
        const char *name;
    } fixed[] = {
        {{"--listen", "8555"}, "listen"},   {{"--metrics", "127.0.0.1:9464"}, "metrics"},
        {{"--stats", "s"}, "stats"},        {{"--http", "127.0.0.1:8080"}, "http"},
        {{"--push", "rtsp://h/a"}, "push"}, {{"--record", "a.mkv"}, "record"},
        {{"--access", "a"}, "access"},      {{"--log", "info,session=debug"}, "log"},
        {{"--log-json"}, "log-json"},       {{"--tls-cert", "c", "--tls-key", "k"}, "tls-cert"},
    };
    for (const auto &row : fixed) {
        parsed now(with(row.args));
        REQUIRE(now.result == OPTIONS_RUN);
        const char *name = options_fixed(&was.o, &now.o);
        REQUIRE(name);
        CHECK(name == std::string(row.name));
    }
}

TEST_CASE("weir-send's options: what a reload cannot change of a push and of HTTP")
{
    const std::vector<std::string> push = {"--push", "rtsp://h/a", "--http", "127.0.0.1:8080"};
    auto with_push = [&](std::vector<std::string> more) {
        more.insert(more.begin(), push.begin(), push.end());
        return more;
    };
    const struct {
        std::vector<std::string> args;
        const char *name;
    } rows[] = {
        {{"--push-transport", "tcp"}, "push-transport"},
        {{"--push-audio", "aac"}, "push-audio"},
        {{"--push-level", "1"}, "push-level"},
        {{"--http-segment", "4"}, "http-segment"},
    };
    parsed was(with_push({}));
    REQUIRE(was.result == OPTIONS_RUN);
    for (const auto &row : rows) {
        parsed now(with_push(row.args)), again(with_push(row.args));
        REQUIRE(now.result == OPTIONS_RUN);
        const char *name = options_fixed(&was.o, &now.o);
        REQUIRE(name);
        CHECK(name == std::string(row.name));
        CHECK(options_fixed(&now.o, &again.o) == nullptr);
    }
}

TEST_CASE("weir-send's options: recordings of several sources")
{
    parsed p({"--record", "d/%N/%H.mkv", "--record-segment", "10m", "front=test:", "yard=test:"});
    REQUIRE(p.result == OPTIONS_RUN);
    REQUIRE(p.o.source_count == 2);
    CHECK(p.o.sources[0].record == std::string("d/front/%H.mkv"));
    CHECK(p.o.sources[1].record == std::string("d/yard/%H.mkv"));
    CHECK(p.o.sources[1].record_segment == 600 * USEC_PER_SEC);
    parsed one({"--record", "a.mkv", "front=test:"}); // the only source needs no name in it
    REQUIRE(one.result == OPTIONS_RUN);
    CHECK(one.o.sources[0].record == std::string("a.mkv"));
    CHECK(options_source_equal(&one.o.sources[0], &one.o.sources[0]));
    CHECK_FALSE(options_source_equal(&one.o.sources[0], &p.o.sources[0]));
}

TEST_CASE("weir-send's options: recording")
{
    parsed none({});
    CHECK(none.o.record == nullptr);
    parsed p({"--record", "d/%Y-%m-%d_%H-%M-%S.mkv", "--record-segment", "10m", "--record-keep",
              "7d,20GB"});
    REQUIRE(p.result == OPTIONS_RUN);
    CHECK(p.o.record == std::string("d/%Y-%m-%d_%H-%M-%S.mkv"));
    CHECK(p.o.record_segment == 600 * USEC_PER_SEC);
    CHECK(p.o.record_keep.age == 7 * 24 * 3600 * USEC_PER_SEC);
    CHECK(p.o.record_keep.bytes == 20000000000);
    CHECK(parsed({"--record", "a.mkv"}).o.record_segment == 0);
    const struct {
        std::vector<std::string> args;
        const char *error;
    } bad[] = {
        {{"--record", "a.mp4"}, "ends in .mkv"},
        {{"--record", "%k.mkv"}, "one of Y m d H M S"},
        {{"--record", "%d/a.mkv"}, "only in the name of the file"},
        {{"--record", "%S.mkv", "--record-segment", "1s"}, "at least 2s"},
        {{"--record", "%S.mkv", "--record-segment", "10"}, "at least 2s"},
        {{"--record", "%S.mkv", "--record-keep", "20G"}, "such as 7d,20GB"},
        {{"--record", "a.mkv", "--record-segment", "10m"}, "a name with the time in it"},
        {{"--record", "a.mkv", "--record-keep", "1d"}, "a name with the time in it"},
        {{"--record-segment", "10m"}, "requires --record"},
        {{"--record-keep", "1d"}, "requires --record"},
        {{"--record", "a.mkv", "front=test:", "yard=test:"}, "requires %N"},
        {{"--record", "%N.mkv"}, "the name of a source, but this one has none"},
        {{"--record", "%N.mkv", "--record-keep", "1d", "front=test:"},
         "a name with the time in it"},
        {{"--record-keep", "1d", "front=test:"}, "requires --record"},
        {{"--record", "a.mkv", "--prepare", "f.mkv"}, "conflicts with --prepare"},
        {{"--record", "a.mkv", "synthetic:steady"}, "conflicts with a synthetic source"},
        {{"--record", "a.mkv", "synthetic:goddard"}, "conflicts with a synthetic source"},
    };
    for (const auto &row : bad) {
        parsed b(row.args);
        INFO(b.error);
        CHECK(b.result == OPTIONS_BAD);
        CHECK(b.error.find(row.error) != std::string::npos);
    }
}

TEST_CASE("weir-send's options: paths to which clients publish")
{
    parsed p({"--publish", "/cam", "--publish", "/cams/*", "pic=test:"});
    REQUIRE(p.result == OPTIONS_RUN);
    REQUIRE(p.o.source_count == 3);
    const char *const paths[] = {"/pic", "/cam", "/cams/*"};
    for (int i = 0; i < 3; i++) {
        CHECK(std::string(p.o.sources[i].path) == paths[i]);
        CHECK(std::string(p.o.sources[i].source) == (i ? SOURCE_PUBLISHED : "test:"));
    }
    CHECK(parsed({"--publish", "/cam", "--transcode"}).result == OPTIONS_RUN);
    const struct {
        std::vector<std::string> args;
        const char *error;
    } bad[] = {
        {{"--publish", "cam"}, "expects a path such as /cam"},
        {{"--publish", "/cam", "--publish", "/cam"}, "two sources are at '/cam'"},
        {{"--publish", "/cam", "cam=test:"}, "two sources are at '/cam'"},
        {{"--publish", "/cam", "test:"}, "has no name"},
        {{"--publish", "/cam", "--push", "rtsp://h/live"}, "--push expects one source"},
        {{"--publish", "/cam", "--http", "127.0.0.1:80"}, "--http expects one source"},
        {{"--publish", "/cams/*", "--record", "a.mkv"},
         "--record conflicts with --publish /cams/*"},
    };
    for (const auto &row : bad) {
        parsed wrong(row.args);
        CAPTURE(row.error, wrong.error);
        CHECK(wrong.result == OPTIONS_BAD);
        CHECK(wrong.error.find(row.error) != std::string::npos);
    }
}

namespace
{

std::string names(const options *o)
{
    std::string out;
    for (int i = 0; o && i < o->source_count; i++)
        out += std::string(o->sources[i].path) + "=" + o->sources[i].source + " ";
    return out;
}

} // namespace

TEST_CASE("weir-send's options: sources that were changed at run time")
{
    parsed p({"--record", "/r/%N.mkv", "one=test:", "two=test:160x90@15"});
    REQUIRE(p.result == OPTIONS_RUN);
    struct {
        const char *path, *source; // nullptr: removed
        const char *names;         // nullptr: refused
    } const table[] = {
        {"/two", nullptr, "/one=test: "},
        {"/new", "rtsp://cam/x", "/one=test: /new=rtsp://cam/x "},
        {"/one", "publish:", "/one=publish: /new=rtsp://cam/x "},
        {"/two", "test:", "/one=publish: /two=test: /new=rtsp://cam/x "},
        {"/new", nullptr, "/one=publish: /two=test: "},
        {"/bad", "test:1x1", nullptr},
    };
    source_changes changes{};
    for (const auto &row : table) {
        INFO(row.path);
        char error[256] = "";
        int err;
        bool is_given = std::string(row.path) != "/new" && std::string(row.path) != "/bad";
        REQUIRE(source_changes_set(&changes, row.path, row.source, is_given) == 0);
        options *o = options_change(&p.o, &changes, &err, error, sizeof(error));
        CHECK((o != nullptr) == (err == 0));
        CHECK((o != nullptr) == (row.names != nullptr));
        if (!o) {
            CHECK_THAT(error, Catch::Contains("expects test:WIDTHxHEIGHT@FPS"));
            continue;
        }
        CHECK(names(o) == row.names);
        for (int i = 0; i < o->source_count; i++) // each has a recording of its own
            CHECK(o->sources[i].record == "/r" + std::string(o->sources[i].path) + ".mkv");
        options_destroy(o);
        free(o);
    }
    CHECK(names(&p.o) == "/one=test: /two=test:160x90@15 "); // as they were read
}

TEST_CASE("weir-send's options: no more sources at run time than at the start")
{
    parsed p({"one=test:"});
    source_changes changes{};
    char error[256] = "";
    int err = 0;
    for (int i = 1; i <= SOURCES_MAX; i++) {
        REQUIRE(source_changes_set(&changes, ("/n" + std::to_string(i)).c_str(), "test:", false) ==
                0);
        options *o = options_change(&p.o, &changes, &err, error, sizeof(error));
        CHECK((o != nullptr) == (i < SOURCES_MAX));
        if (o)
            options_destroy(o);
        free(o);
    }
    CHECK(err == ERR_FULL);
}
