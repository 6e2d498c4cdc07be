// Whether files can be made in a folder, before hours of work are to be saved there.
#include "core/base/files.h"
#include "core/system/system.h"
#include "tests/catch.h"

namespace base_unwritable_test {

using namespace lockstep;

TEST_CASE("a folder in which files can be made has nothing to say, and stays empty") {
    const TemporaryFolder folder;
    CHECK(system::why_unwritable(folder.path()).empty());
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a folder that is not there says why no file can be made in it") {
    const TemporaryFolder folder;
    CHECK(!system::why_unwritable(folder.path() / "missing").empty());
}

}  // namespace base_unwritable_test
