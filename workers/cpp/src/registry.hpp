// Every mechanism of this worker, one file each under mechanism/.
#pragma once

#include <string>
#include <vector>

#include "mechanism.hpp"

Mechanism mutex_uncontended_mechanism();
Mechanism udp_send_mechanism();
Mechanism thread_start_mechanism();
Mechanism condvar_mechanism();
Mechanism atomic_wait_mechanism();
Mechanism pipe_mechanism();
Mechanism unix_stream_mechanism();
Mechanism unix_dgram_mechanism();
Mechanism unix_seqpacket_mechanism();
Mechanism tcp_mechanism();
Mechanism udp_mechanism();
Mechanism websocketpp_mechanism();
Mechanism websocketpp_threaded_mechanism();
Mechanism beast_mechanism();

// What is said of those that may not be there.
Facts atomic_wait_facts();
Facts websocketpp_facts();
Facts websocketpp_threaded_facts();
Facts beast_facts();

// Round trips over descriptors that may lead to any runtime; a mechanism says the rest, and
// what is otherwise.
[[nodiscard]] Facts on_descriptors(std::string name, std::string family);

// In the order of the documentation, the unavailable ones with their reason.
[[nodiscard]] const std::vector<Mechanism>& all_mechanisms();

// The one that a case names; throws a Failure where there is none, where it is
// unavailable, or where the case asks for what it does not have.
[[nodiscard]] const Mechanism& mechanism_of(const Case& subject);

[[nodiscard]] const char* word(Workload workload);
[[nodiscard]] const char* word(Boundary boundary);
