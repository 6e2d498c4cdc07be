// The second half of the random programs by native code, beside the first: translating is one core's work.
#include "tests/model/native/native_programs.h"

namespace model_native_more_test {

using namespace lockstep;
using namespace lockstep::model::test;

TEST_CASE("a thousand random programs more give the same bits, counts and words by native code", "[long]") {
    if (simt::is_native_built() && exhaustive()) check_programs(1013, 988);
}

}  // namespace model_native_more_test
