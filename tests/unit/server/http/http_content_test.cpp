// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/http_content.h"

#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"

namespace
{

const std::string LIST = "#EXTM3U\nv0.m3u8\n", FILE_TEXT = "0123456789";

struct request {
    std::string text;
    http_request r;

    explicit request(const std::string &path, const std::string &headers = "")
        : text("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n")
    {
        size_t used;
        REQUIRE(http_request_decode(reinterpret_cast<const uint8_t *>(text.data()), text.size(), &r,
                                    &used) == 0);
    }
};

// Returns the whole response of a playlist, or of a file that never changes.
std::string respond(const char *key, bool is_file, const std::string &headers = "")
{
    static const http_origins none{};
    request q("/live/x", headers);
    const std::string &text = is_file ? FILE_TEXT : LIST;
    content_server_facts facts{};
    facts.origins = &none;
    facts.key = key;
    http_reply reply{};
    reply.body = http_body_copy(text.data(), text.size());
    reply.type = "a/b";
    reply.max_age = 7;
    reply.immutable = is_file;
    http_response out{};
    http_content_respond(&facts, &q.r, &reply, &out);
    http_head_end(&out.head, out.bytes, out.ends);
    std::string all(out.head.text, out.head.len);
    all.append(reinterpret_cast<const char *>(out.body->data) + out.from, out.bytes);
    CHECK(out.body->references == 1);
    http_body_unref(out.body);
    return all;
}

} // namespace

TEST_CASE("http_content: the bearer of a key gets it in each URI, and no cache shares the response")
{
    const struct {
        const char *key;
        bool is_file;
        const char *control, *body;
    } rows[] = {
        {nullptr, false, "public, max-age=7\r\n", "\r\n\r\n#EXTM3U\nv0.m3u8\n"},
        {"", false, "private, max-age=7\r\n", "\r\n\r\n#EXTM3U\nv0.m3u8\n"},
        {"K", false, "private, max-age=7\r\n", "\r\n\r\n#EXTM3U\nv0.m3u8?key=K\n"},
        {nullptr, true, "public, max-age=7, immutable\r\n", "\r\n\r\n0123456789"},
        {"K", true, "private, max-age=7, immutable\r\n", "\r\n\r\n0123456789"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.control, row.body);
        const std::string all = respond(row.key, row.is_file);
        CHECK(all.find("HTTP/1.1 200 OK\r\n") == 0);
        CHECK(all.find(std::string("Cache-Control: ") + row.control) != std::string::npos);
        CHECK(all.find(row.body) != std::string::npos);
    }
}

TEST_CASE("http_content: a range is of files that never change alone")
{
    CHECK(respond("K", true, "Range: bytes=2-3\r\n").find("\r\n\r\n23") != std::string::npos);
    CHECK(respond("K", true, "Range: bytes=20-\r\n").find("HTTP/1.1 416 ") == 0);
    CHECK(respond("K", false, "Range: bytes=2-3\r\n").find("HTTP/1.1 200 ") == 0);
}

TEST_CASE("http_content: what a request names, or the status of a refusal")
{
    const struct {
        const char *path;
        int status;
    } rows[] = {
        {"/live/v0.m3u8?_HLS_msn=7&_HLS_part=1", 0},
        {"/a%20b/5f/v0-7.m4s", 0},
        {"/live", 404},
        {"/live/../live/index.m3u8", 404},
        {"/live/index.m3u8/", 404},
        {"/live/v0.m3u8?_HLS_part=1", 400},
        {"/live/v0.m3u8?_HLS_msn=x", 400},
    };
    for (const auto &row : rows) {
        CAPTURE(row.path);
        request q(row.path);
        char path[CONTENT_PATH_MAX];
        content_request out;
        CHECK(http_content_read(&q.r, path, &out) == row.status);
    }
    request q("/a%20b/v0.m3u8?_HLS_msn=7&_HLS_part=1&key=K");
    char path[CONTENT_PATH_MAX];
    content_request out;
    REQUIRE(http_content_read(&q.r, path, &out) == 0);
    CHECK(std::string(out.path) == "/a b/v0.m3u8");
    CHECK(out.target.mount == 4);
    CHECK(out.reload.number == 7);
    CHECK(out.reload.part == 1);
    CHECK(http_content_status(ERR_NOT_FOUND) == 404);
    CHECK(http_content_status(ERR_MALFORMED) == 400);
    CHECK(http_content_status(ERR_NO_MEMORY) == 503);
}
