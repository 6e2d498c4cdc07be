#include "core/base/base64.h"

#include <string_view>

#include "tests/catch.h"

namespace base_base64_test {

using namespace lockstep;

TEST_CASE("base64 is that of RFC 4648") {
    const auto of = [](std::string_view text) {
        return base64({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
    };
    CHECK(of("").empty());
    CHECK(of("f") == "Zg==");
    CHECK(of("fo") == "Zm8=");
    CHECK(of("foo") == "Zm9v");
    CHECK(of("foobar") == "Zm9vYmFy");
}

}  // namespace base_base64_test
