#include "lines.hpp"

#include <unistd.h>

#include <thread>

#include "check.hpp"
#include "descriptor.hpp"
#include "failure.hpp"

static void lines_come_one_by_one() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const Descriptor in(ends[0]);
    Descriptor out(ends[1]);
    const std::string text = "one\ntwo\n\nwithout an end";
    write_all(out.get(), text.data(), text.size());
    out = Descriptor();
    LineReader reader(in.get());
    CHECK(reader.next() == "one");
    CHECK(reader.next() == "two");
    CHECK(reader.next() == "");
    CHECK(!reader.next());
}

static void a_line_has_an_end() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    Descriptor in(ends[0]);
    const Descriptor out(ends[1]);
    std::thread flood([&out] {
        const std::string chunk(64 * 1024, 'x');
        try {
            for (;;) write_all(out.get(), chunk.data(), chunk.size());
        } catch (const Failure&) {
            // The reader has gone, as it should.
        }
    });
    {
        LineReader reader(in.get());
        CHECK_THROWS(Failure, (void)reader.next());
    }
    in = Descriptor();
    flood.join();
}

void test_lines() {
    lines_come_one_by_one();
    a_line_has_an_end();
}
