// A test is a function that CHECKs; main.cpp runs them all.
#pragma once

#include <cstdio>

inline int failures = 0;

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                            \
        }                                                                          \
    } while (false)

// What is thrown must be of this type.
#define CHECK_THROWS(type, statement)                                                  \
    do {                                                                               \
        bool thrown = false;                                                           \
        try {                                                                          \
            statement;                                                                 \
        } catch (const type&) {                                                        \
            thrown = true;                                                             \
        }                                                                              \
        if (!thrown) {                                                                 \
            std::fprintf(stderr, "%s:%d: does not throw: %s\n", __FILE__, __LINE__, #statement); \
            ++failures;                                                                \
        }                                                                              \
    } while (false)
