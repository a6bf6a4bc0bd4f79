// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_order.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace
{

// A frame of one size, each of which is shown when it is decoded.
bool push(record_order *o, int64_t slot, void *frame, usec_t now)
{
    const record_turn t = {slot, slot, 0, false, 0, frame};
    return record_order_push(o, &t, now);
}

std::vector<int> pulled(record_order *o, usec_t now, bool all = false)
{
    std::vector<int> out;
    record_leaving next;
    while (record_order_pull(o, all, now, &next)) {
        CHECK_FALSE(next.gives_way);
        CHECK(next.before == -1);
        out.push_back(*static_cast<int *>(next.frame));
    }
    return out;
}

// A frame of another test: `name` of its size and picture.
struct sized {
    const char *name;
    int size_id;
    int64_t slot, number;
    bool key;
    uint32_t written_us;

    record_turn turn() const
    {
        return {slot, number, size_id, key, written_us, const_cast<sized *>(this)};
    }
};

// Appends the frames that leave and do not give way; "a<5": before picture 5.
void append(std::string &out, record_order *o, bool all, usec_t now)
{
    record_leaving next;
    while (record_order_pull(o, all, now, &next)) {
        if (next.gives_way)
            continue;
        out += (out.empty() ? "" : " ") + std::string(static_cast<sized *>(next.frame)->name);
        if (next.before >= 0)
            out += "<" + std::to_string(next.before);
    }
}

} // namespace

TEST_CASE("record_order: without a hold, frames leave at once")
{
    int f[] = {0, 1, 2, 3};
    record_order o;
    record_order_init(&o, 0);
    CHECK(push(&o, 0, &f[0], 5));
    CHECK(pulled(&o, 5) == std::vector<int>{0});
    CHECK(push(&o, 3, &f[3], 6));
    CHECK(pulled(&o, 6) == std::vector<int>{3});
    CHECK_FALSE(push(&o, 2, &f[2], 7)); // too late
    CHECK_FALSE(push(&o, 3, &f[3], 7)); // again
    CHECK(pulled(&o, 7).empty());
}

TEST_CASE("record_order: a repaired frame takes its place")
{
    int f[] = {0, 1, 2, 3};
    record_order o;
    record_order_init(&o, 400);
    CHECK(push(&o, 0, &f[0], 0));
    CHECK(push(&o, 2, &f[2], 10));
    CHECK(push(&o, 1, &f[1], 300));
    CHECK_FALSE(push(&o, 1, &f[1], 300));
    CHECK(pulled(&o, 399).empty());
    CHECK(pulled(&o, 400) == std::vector<int>{0});
    CHECK(pulled(&o, 410) == std::vector<int>{1, 2}); // 2 is due, and 1 precedes it
    CHECK(push(&o, 3, &f[3], 500));
    CHECK(pulled(&o, 500, true) == std::vector<int>{3});
}

TEST_CASE("record_order: when it is full, the first frame leaves")
{
    int f = 7;
    record_order o;
    record_order_init(&o, 1000000);
    for (int i = 0; i < RECORD_ORDER_MAX; i++)
        CHECK(push(&o, i, &f, 0));
    CHECK(pulled(&o, 0).size() == 1);
    CHECK(push(&o, 1000, &f, 0));
}

TEST_CASE("record_order: where the size changes, each picture leaves once")
{
    // Size 0 is encoded: "e3" is its picture 3. Size 1 is the film's own, with B frames: each is
    // decoded behind the frame that is shown after it. K: a key frame.
    const struct {
        const char *name;
        std::vector<sized> sent; // in the order of arrival
        const char *left;
    } rows[] = {
        {"to the own size: picture 2 in both",
         {{"eK0", 0, 0, 0, true, 1},
          {"e1", 0, 1, 1, false, 2},
          {"e2", 0, 2, 2, false, 3},
          {"oK2", 1, 2, 2, true, 4},
          {"o4", 1, 3, 4, false, 5},
          {"o3", 1, 4, 3, false, 6}},
         "eK0 e1 oK2 o4 o3"},
        {"the same; the own key frame arrives first, and is repaired",
         {{"eK0", 0, 0, 0, true, 1},
          {"oK2", 1, 2, 2, true, 4},
          {"o4", 1, 3, 4, false, 5},
          {"e2", 0, 2, 2, false, 3},
          {"e1", 0, 1, 1, false, 2},
          {"o3", 1, 4, 3, false, 6}},
         "eK0 e1 oK2 o4 o3"},
        {"the encoder is ahead of the own size",
         {{"eK0", 0, 0, 0, true, 1},
          {"e1", 0, 1, 1, false, 2},
          {"e2", 0, 2, 2, false, 3},
          {"e3", 0, 3, 3, false, 4},
          {"oK1", 1, 1, 1, true, 5},
          {"o2", 1, 2, 2, false, 6},
          {"o3", 1, 3, 3, false, 7}},
         "eK0 oK1 o2 o3"},
        {"both begin at 0, and the encoder's is sent later",
         {{"oK0", 1, 0, 0, true, 1}, {"eK0", 0, 0, 0, true, 2}, {"e1", 0, 1, 1, false, 3}},
         "eK0 e1"},
        {"both begin at 0, and the own one is sent later",
         {{"eK0", 0, 0, 0, true, 0xffffffff}, {"oK0", 1, 0, 0, true, 2}, {"o1", 1, 1, 1, false, 3}},
         "oK0 o1"},
        {"from the own size, at the end of its B frames: they need 4, which comes again",
         {{"oK0", 1, 0, 0, true, 1},
          {"o4", 1, 1, 4, false, 2},
          {"o2", 1, 2, 2, false, 3},
          {"o1", 1, 3, 1, false, 4},
          {"o3", 1, 4, 3, false, 5},
          {"eK4", 0, 4, 4, true, 6},
          {"e5", 0, 5, 5, false, 7}},
         "oK0 o4<4 o2 o1 o3 eK4 e5"},
        {"from the own size, in the middle of them: 2 and 4 come again",
         {{"oK0", 1, 0, 0, true, 1},
          {"o4", 1, 1, 4, false, 2},
          {"o2", 1, 2, 2, false, 3},
          {"eK2", 0, 2, 2, true, 4},
          {"e3", 0, 3, 3, false, 5},
          {"e4", 0, 4, 4, false, 6}},
         "oK0 eK2 e3 e4"},
        {"a key frame of the size that was left does not bring it back",
         {{"eK0", 0, 0, 0, true, 1},
          {"oK2", 1, 2, 2, true, 4},
          {"o3", 1, 3, 3, false, 5},
          {"eK3", 0, 3, 3, true, 3},
          {"o4", 1, 4, 4, false, 6}},
         "eK0 oK2 o3 o4"},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        record_order o;
        record_order_init(&o, 100);
        std::string left;
        for (size_t i = 0; i < row.sent.size(); i++) {
            const record_turn t = row.sent[i].turn();
            CHECK(record_order_push(&o, &t, (usec_t)i));
            append(left, &o, false, (usec_t)i);
        }
        append(left, &o, true, 10);
        CHECK(left == row.left);
    }
}

TEST_CASE("record_order: a key frame to which the size changes is not too late")
{
    const struct {
        sized frame;
        bool taken;
    } sent[] = {
        {{"eK0", 0, 0, 0, true, 1}, true},  {{"e1", 0, 1, 1, false, 2}, true},
        {{"oK1", 1, 1, 1, true, 4}, true},  {{"oK1", 1, 1, 1, true, 4}, false}, // again
        {{"o2", 1, 2, 2, false, 5}, true},  {{"e2", 0, 2, 2, false, 3}, false},
        {{"eK0", 0, 0, 0, true, 1}, false},
    };
    record_order o;
    record_order_init(&o, 0);
    std::string left;
    for (const auto &row : sent) {
        const record_turn t = row.frame.turn();
        INFO(row.frame.name);
        CHECK(record_order_push(&o, &t, 0) == row.taken);
        append(left, &o, false, 0);
    }
    CHECK(left == "eK0 e1 oK1 o2");
}
