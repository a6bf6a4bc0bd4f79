// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/start_list.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

struct fixture {
    std::unique_ptr<start_list> l = std::make_unique<start_list>();

    fixture()
    {
        l->selected = -1;
    }
    void find(const std::vector<std::string> &urls)
    {
        std::vector<start_item> items(urls.size() + 1);
        for (size_t i = 0; i < urls.size(); i++) {
            snprintf(items[i].url, sizeof(items[i].url), "%s", urls[i].c_str());
            strcpy(items[i].name, "x");
        }
        start_list_set_found(l.get(), items.data(), static_cast<int>(urls.size()));
    }
    std::string chosen() const
    {
        char out[URL_MAX_TEXT] = "none";
        return start_list_chosen(l.get(), out) ? out : "none";
    }
};

} // namespace

TEST_CASE("start_list: what is typed and pasted")
{
    fixture f;
    CHECK(f.chosen() == "none");
    start_list_type(f.l.get(), "host/");
    start_list_type(f.l.get(), "é");
    CHECK(f.chosen() == "rtsp://host/é");
    start_list_erase(f.l.get(), false);
    CHECK(std::string(f.l->field) == "host/");
    start_list_erase(f.l.get(), true);
    start_list_erase(f.l.get(), false);
    CHECK(f.chosen() == "none");
    start_list_type(f.l.get(), " \n https://h:1/live?key=k \nmore");
    CHECK(f.chosen() == "https://h:1/live?key=k");
    start_list_type(f.l.get(), std::string(URL_MAX_TEXT, 'x').c_str());
    CHECK(f.chosen() == "https://h:1/live?key=k");
    start_list_erase(f.l.get(), true);
    start_list_type(f.l.get(), std::string(URL_MAX_TEXT - 1, 'x').c_str());
    CHECK(f.chosen() == "none"); // with a scheme it does not fit
}

TEST_CASE("start_list: one of the items is chosen, and stays when servers come and go")
{
    fixture f;
    start_list_add_recent(f.l.get(), "rtsp://a/");
    f.find({"rtsp://s/", "rtsp://t/"});
    start_list_add_recent(f.l.get(), "rtsp://b/");
    const std::vector<std::string> order = {"rtsp://a/", "rtsp://b/", "rtsp://s/", "rtsp://t/",
                                            "rtsp://t/"};
    for (const auto &url : order) {
        start_list_move(f.l.get(), 1);
        CHECK(f.chosen() == url);
    }
    f.find({"rtsp://new/", "rtsp://t/"});
    CHECK(f.chosen() == "rtsp://t/");
    f.find({"rtsp://new/"});
    CHECK(f.l->selected == -1);
    start_list_move(f.l.get(), 1);
    f.find({});
    CHECK(f.chosen() == "rtsp://a/");
    start_list_move(f.l.get(), -5);
    CHECK(f.l->selected == -1);
    start_list_move(f.l.get(), 2);
    start_list_type(f.l.get(), "x"); // leads to the field
    CHECK(f.chosen() == "rtsp://x");
}

TEST_CASE("start_list: bounds")
{
    fixture f;
    for (int i = 0; i < 2 * START_RECENT; i++)
        start_list_add_recent(f.l.get(), "rtsp://a/");
    f.find(std::vector<std::string>(START_FOUND + 5, "rtsp://s/"));
    CHECK(f.l->recent == START_RECENT);
    CHECK(f.l->count == START_ITEMS);
    start_list_move(f.l.get(), 1000);
    CHECK(f.l->selected == START_ITEMS - 1);
}
