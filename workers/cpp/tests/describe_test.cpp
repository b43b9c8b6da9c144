#include "describe.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "check.hpp"
#include "worker.hpp"

static void every_row_is_complete() {
    Worker worker;
    const auto said = nlohmann::json::parse(worker.answer(R"({"do":"describe","later":1})"));
    CHECK(said.at("is") == "described" && said.at("protocol") == 3 && said.at("runtime") == "cpp");
    CHECK(said.at("libraries").contains("cpp"));
    std::set<std::string> names;
    for (const auto& row : said.at("mechanisms")) {
        CHECK(names.insert(row.at("name")).second);
        CHECK(row.at("workloads").size() == 1);
        const bool is_call = row.at("workloads")[0] == "call";
        CHECK(row.at("boundaries").empty() == is_call);
        CHECK(row.at("waits").empty() == is_call);
        for (const char* text : {"about", "family", "crosses", "copies", "wakes", "between_stamps", "limits"})
            CHECK(!row.at(text).get<std::string>().empty());
        CHECK(!row.at("sources").empty());
    }
    CHECK(names.size() == 14);
}

static void what_cannot_be_done_is_refused() {
    for (const char* line :
         {"", "{}", "[]", "{\"do\":1}", R"({"do":"dance"})", R"({"do":"attach"})", R"({"do":"meet"})",
          R"({"do":"run","phase":"measure","count":1,"stamp":{"kind":"each"}})",
          R"({"do":"attach","case":"roundtrip/pipe?payload=64&boundary=process&wait=block","seats":[{"role":"caller"}]})",
          R"({"do":"attach","case":"roundtrip/pipe?payload=64&boundary=thread&wait=spin:block","seats":[{"role":"caller"},{"role":"callee"}]})",
          R"({"do":"attach","case":"roundtrip/pipe?payload=64&boundary=thread&wait=block","seats":[{"role":"callee"},{"role":"caller"}]})",
          R"({"do":"attach","case":"roundtrip/condvar?payload=64&boundary=thread&wait=block","seats":[{"role":"caller","link":{"fds":[0]}}]})",
          R"({"do":"attach","case":"roundtrip/pipe?payload=64&boundary=process&wait=block","seats":[{"role":"caller","link":{"fds":[0]}}]})",
          R"({"do":"attach","case":"roundtrip/pipe?payload=64&boundary=process&wait=block","seats":[{"role":"caller","link":{"fds":[900,901]}}]})",
          R"({"do":"attach","case":"call/mutex-uncontended","seats":[]})"}) {
        Worker worker;
        CHECK_THROWS(std::exception, (void)worker.answer(line));
    }
}

static void a_phase_leaves_its_samples_in_no_other() {
    Worker worker;
    (void)worker.answer(R"({"do":"attach","case":"call/mutex-uncontended","seats":[{"role":"caller"}]})");
    const auto ran = nlohmann::json::parse(
        worker.answer(R"({"do":"run","phase":"pilot","count":64,"stamp":{"kind":"batch","n":32}})"));
    const auto& end = ran.at("ends").at(0);
    CHECK(end.at("count") == 64 && end.at("samples") == 0 && end.at("elapsed_ticks") > 0);
    // No descriptor was named for them.
    CHECK_THROWS(std::exception,
                 (void)worker.answer(R"({"do":"run","phase":"measure","count":64,"stamp":{"kind":"each"}})"));
    CHECK_THROWS(std::exception,
                 (void)worker.answer(R"({"do":"run","phase":"pilot","count":64,"stamp":{"kind":"batch","n":3}})"));
}

void test_describe() {
    every_row_is_complete();
    what_cannot_be_done_is_refused();
    a_phase_leaves_its_samples_in_no_other();
}
