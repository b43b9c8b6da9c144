#include "describe.hpp"

#include <gnu/libc-version.h>

#include <nlohmann/json.hpp>

#include "registry.hpp"

using Json = nlohmann::ordered_json;

namespace {

std::string compiler() {
#if defined(__clang__)
    return "Clang " __VERSION__;
#else
    return "GCC " __VERSION__;
#endif
}

std::string json_version() {
    return std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." + std::to_string(NLOHMANN_JSON_VERSION_MINOR) + "." +
           std::to_string(NLOHMANN_JSON_VERSION_PATCH);
}

Json libraries() {
    Json libraries = {{"cpp", compiler()}, {"glibc", gnu_get_libc_version()}, {"nlohmann-json", json_version()}};
#ifdef _GLIBCXX_RELEASE
    libraries["libstdc++"] = std::to_string(_GLIBCXX_RELEASE);
#endif
    for (const Mechanism& mechanism : all_mechanisms())
        for (const auto& [name, version] : mechanism.libraries) libraries[name] = version;
    return libraries;
}

Json parameters(const Facts& facts) {
    Json all = Json::array();
    for (const Parameter& each : facts.parameters)
        all.push_back({{"name", each.name}, {"values", each.values}, {"default", each.standard}, {"about", each.about}});
    return all;
}

Json row(const Facts& facts) {
    const bool has_parties = facts.workload == Workload::roundtrip;
    Json boundaries = Json::array();
    for (const Boundary each : facts.boundaries) boundaries.push_back(word(each));
    Json row = {{"name", facts.name},
                {"family", facts.family},
                {"about", facts.about},
                {"workloads", {word(facts.workload)}},
                {"boundaries", boundaries},
                {"waits", has_parties ? Json{"block"} : Json::array()}};
    if (!facts.unavailable.empty()) row["unavailable"] = facts.unavailable;
    if (facts.payload)
        row["payload"] = {
            {"min", facts.payload->min}, {"max", facts.payload->max}, {"default", facts.payload->standard}};
    if (!facts.parameters.empty()) row["parameters"] = parameters(facts);
    row["link"] = facts.link == LinkSource::descriptors ? "descriptors" : "own";
    if (!facts.carrier.empty()) row["carrier"] = facts.carrier;
    row["peers"] = facts.peers == Peers::any ? "any" : "own";
    row["crosses"] = facts.crosses;
    row["copies"] = facts.copies;
    row["wakes"] = facts.wakes;
    row["between_stamps"] = facts.between_stamps;
    row["limits"] = facts.limits;
    row["sources"] = facts.sources;
    if (facts.system_calls) row["system_calls"] = {{"min", facts.system_calls->min}, {"max", facts.system_calls->max}};
    if (facts.revision > 1) row["revision"] = facts.revision;
    return row;
}

}  // namespace

Json describe() {
    Json mechanisms = Json::array();
    for (const Mechanism& mechanism : all_mechanisms()) mechanisms.push_back(row(mechanism.facts));
    return {{"is", "described"},
            {"protocol", 3},
            {"runtime", "cpp"},
            {"version", WORKER_VERSION},
            {"libraries", libraries()},
            {"remarks",
             {"compiled ahead of time as C++17 (atomic-wait as C++20), CMake build type " WORKER_BUILD,
              "the messages of a trial are made beforehand, at most 256 of them and 16 KiB, but four at least; one is "
              "sent from where it lies, and what arrives is compared as a whole"}},
            {"clock", {{"source", "CLOCK_MONOTONIC"}, {"ticks_per_second", 1'000'000'000}}},
            {"warm_up", "planned"},
            {"mechanisms", mechanisms}};
}
