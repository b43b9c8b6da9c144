#include "case.hpp"

#include "check.hpp"
#include "failure.hpp"
#include "registry.hpp"

static void a_spelling_is_taken_apart() {
    const Case parsed = parse_case(
        "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block&nodelay=off&runtime=cpp:rust");
    CHECK(parsed.workload == "roundtrip");
    CHECK(parsed.mechanism == "tcp");
    CHECK(parsed.payload() == 64);
    CHECK(parsed.value("nodelay", "on") == "off");
    CHECK(parsed.value("runtime", "") == "cpp:rust");
    CHECK(parsed.value("timeout", "200ms") == "200ms");
    CHECK(parsed.wait_of(Role::callee) == "block");
    CHECK(parse_case("roundtrip/pipe?wait=spin:block").wait_of(Role::caller) == "spin");
    CHECK(parse_case("roundtrip/pipe?wait=spin:block").wait_of(Role::callee) == "block");
    CHECK(parse_case("call/mutex-uncontended").mechanism == "mutex-uncontended");
    CHECK(parse_case("call/mutex-uncontended").payload() == 0);
}

static void nonsense_is_refused() {
    for (const char* text : {"", "/", "call", "call/", "/pipe", "call?a=b", "call/x?", "call/x?a", "call/x?=b"})
        CHECK_THROWS(Failure, (void)parse_case(text));
    for (const char* payload : {"-1", "x", "64x", "", "99999999999999999999999"})
        CHECK_THROWS(Failure, (void)parse_case(std::string("roundtrip/pipe?payload=") + payload).payload());
}

static void a_case_must_be_one_of_this_worker() {
    const std::string rest = "&boundary=thread&place=free&wait=block";
    CHECK(mechanism_of(parse_case("roundtrip/pipe?payload=64" + rest)).facts.name == "pipe");
    for (const char* text : {"roundtrip/pigeon?payload=64", "wake/pipe?payload=64", "call/pipe?payload=64",
                             "roundtrip/pipe?payload=0", "roundtrip/pipe?payload=65537"})
        CHECK_THROWS(Failure, (void)mechanism_of(parse_case(text + rest)));
    CHECK_THROWS(Failure, (void)mechanism_of(parse_case("roundtrip/condvar?payload=0&boundary=process&wait=block")));
}

void test_cases() {
    a_spelling_is_taken_apart();
    nonsense_is_refused();
    a_case_must_be_one_of_this_worker();
}
