#include "case.hpp"

#include <charconv>

#include "failure.hpp"

std::string Case::value(const std::string& key, const std::string& otherwise) const {
    const auto found = keys.find(key);
    return found == keys.end() ? otherwise : found->second;
}

std::size_t Case::payload() const {
    const std::string text = value("payload", "0");
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Failure("`" + text + "` is no payload in bytes");
    return bytes;
}

std::string Case::wait_of(Role role) const {
    const std::string waits = value("wait", "");
    const auto colon = waits.find(':');
    if (colon == std::string::npos) return waits;
    return role == Role::caller ? waits.substr(0, colon) : waits.substr(colon + 1);
}

Case parse_case(const std::string& text) {
    const auto slash = text.find('/');
    const auto question = text.find('?');
    if (slash == std::string::npos || slash == 0 || question < slash)
        throw Failure("`" + text + "` is no case");
    Case parsed;
    parsed.workload = text.substr(0, slash);
    parsed.mechanism = text.substr(slash + 1, question == std::string::npos ? question : question - slash - 1);
    if (parsed.mechanism.empty()) throw Failure("`" + text + "` is no case");
    for (auto at = question; at != std::string::npos;) {
        const auto end = text.find('&', ++at);
        const auto pair = text.substr(at, end == std::string::npos ? end : end - at);
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) throw Failure("`" + pair + "` is no key of a case");
        parsed.keys[pair.substr(0, equals)] = pair.substr(equals + 1);
        at = end;
    }
    return parsed;
}
