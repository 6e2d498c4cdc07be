// Golden text: compares with tests/golden/NAME and shows the first line that differs. `./dev golden` accepts today's text.
#pragma once
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.h"

inline void check_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("LOCKSTEP_ACCEPT_GOLDEN")) {
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    std::ifstream in(path, std::ios::binary);
    INFO("golden file " << path << "; './dev golden' accepts today's text");
    REQUIRE(in.good());
    std::istringstream now(text);
    std::string expected_line, line;
    for (int number = 1;; ++number) {
        const bool more_expected = static_cast<bool>(std::getline(in, expected_line)),
                   more = static_cast<bool>(std::getline(now, line));
        if (!more_expected && !more) return;
        INFO("line " << number);
        REQUIRE((more_expected ? expected_line : "<end>") == (more ? line : "<end>"));
    }
}
