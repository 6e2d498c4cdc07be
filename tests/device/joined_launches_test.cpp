// Launches with blanks between their brackets, as Visual Studio formats them.
#include "core/device/compile/joined_launches.h"

#include "core/base/files.h"
#include "tests/catch.h"

namespace device_joined_launches_test {

using namespace lockstep;
using namespace lockstep::device;

TEST_CASE("a launch's brackets are joined at the same length, and nothing else is touched") {
    CHECK(with_joined_launches("f() { k << <1, 32 >> > (p); }") == "f() { k <<< 1, 32 >>>  (p); }");
    CHECK(with_joined_launches("k<int> << < grid(1 >> 2), f<a>(b) >>>(p);") == "k<int> <<<  grid(1 >> 2), f<a>(b) >>>(p);");
    CHECK(with_joined_launches("k<<<1, 2>> >(p); m << <3, 4 >> >();") == "k<<<1, 2>>> (p); m <<< 3, 4 >>> ();");
    for (const char* const text :
         {"k<<<1, 2>>>(p);", "friend ostream& operator<< <T>(ostream&, const X<T>&);", "vector<vector<vector<int>> > v;",
          "cout << \"<< <1, 2>> >\"; // k << <1, 2 >> >()", "int a = 1 << 2, b = c < d;"}) {
        INFO(text);
        CHECK(with_joined_launches(text) == text);
    }
}

TEST_CASE("of a program the files that need it are put in their place, headers too") {
    const TemporaryFolder folder;
    const std::filesystem::path source = folder.path() / "main.cu", work = folder.path() / "work";
    std::filesystem::create_directories(work);
    write_file(folder.path() / "plain.cuh", "inline int f() { return 1; }\n");
    write_file(source, "#include \"plain.cuh\"\nint main() { k<<<1, 1>>>(); }\n");
    CHECK(joined_launch_options(source, {}, work).empty());
    write_file(folder.path() / "launch.cuh", "#include \"plain.cuh\"\ninline void g() { k << <1, 1 >> >(); }\n");
    write_file(source, "#include \"launch.cuh\"\nint main() { g(); }\n");
    const std::vector<std::string> options = joined_launch_options(source, {}, work);
    REQUIRE(options.size() == 2);
    CHECK(options[0] == "-ivfsoverlay");
    const std::string overlay = read_file(options[1]).value();
    CHECK(overlay.find((folder.path() / "launch.cuh").string()) != std::string::npos);
    CHECK(overlay.find("main.cu") == std::string::npos);
}

}  // namespace device_joined_launches_test
