// The steps that nvcc says it would take, and what is left to nvcc itself.
#include "core/device/compile/nvcc_steps.h"

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "tests/catch.h"

namespace device_nvcc_steps_test {
namespace {

using namespace lockstep;
using namespace lockstep::device;

const std::string said = R"(#$ _SPACE_= 
#$ CICC_PATH=/cuda/bin/../nvvm/bin
#$ INCLUDES="-I/cuda/include"  
#$ g++ -D__CUDA_ARCH__=750 -E -x c++ -D "N=two words" "a.cu" -o "/t/x.cpp1.ii" 
#$ g++ -E -x c++ "a.cu" -o "/t/x.cpp4.ii" 
#$ -- Filter Dependencies -- > files.d
#$ cudafe++ --gen_c_file_name "/t/x.cudafe1.cpp" --gen_module_id_file --module_id_file_name "/t/x.module_id" "/t/x.cpp4.ii" 
#$ "$CICC_PATH/cicc" --module_id_file_name "/t/x.module_id" "/t/x.cpp1.ii" -o "/t/x.ptx"
#$ fatbinary "--image3=kind=ptx,sm=75,file=/t/x.ptx" --embedded-fatbin="/t/x.fatbin.c" 
#$ rm /t/x.fatbin
#$ g++ -c -x c++ "/t/x.cudafe1.cpp" -o "object.o" 
)";

std::string without(const std::string& text, const std::string& part) {
    std::string other = text;
    const size_t at = other.find(part);
    REQUIRE(at != std::string::npos);
    return other.erase(at, part.size());
}

TEST_CASE("nvcc's steps are taken apart into the host's half and the device's") {
    const std::optional<NvccSteps> steps = nvcc_steps(said, "/w");
    REQUIRE(steps);
    CHECK(steps->host[0] ==
          Words{"g++", "-E", "-x", "c++", "a.cu", "-o", "/t/x.cpp4.ii", "-MD", "-MT", "object.o", "-MF", "/w/files.d"});
    CHECK(steps->host[1] == Words{"cudafe++", "--gen_c_file_name", "/t/x.cudafe1.cpp", "--module_id_file_name",
                                  "/t/x.module_id", "/t/x.cpp4.ii"});
    CHECK(steps->device[0].at(6) == "N=two words");
    CHECK(steps->device[1].front() == "/cuda/bin/../nvvm/bin/cicc");
    CHECK(steps->device[2].at(2) == "--embedded-fatbin=/t/x.fatbin.c");
    CHECK(steps->join == Words{"g++", "-c", "-x", "c++", "/t/x.cudafe1.cpp", "-o", "object.o"});
    CHECK(steps->module_id == "/t/x.module_id");
}

TEST_CASE("steps in another shape are left to nvcc") {
    CHECK_FALSE(nvcc_steps("", "/w"));
    CHECK_FALSE(nvcc_steps("nvcc fatal   : Unknown option '--x'\n", "/w"));
    CHECK_FALSE(nvcc_steps(said + "#$ ptxas a.ptx\n", "/w"));
    CHECK_FALSE(nvcc_steps(said + "#$ rm `ls`\n#$ fatbinary `ls`\n", "/w"));
    CHECK_FALSE(nvcc_steps(without(said, "CICC_PATH=/cuda/bin/../nvvm/bin"), "/w"));
    CHECK_FALSE(nvcc_steps(without(said, "--gen_module_id_file "), "/w"));
    CHECK_FALSE(
        nvcc_steps(without(said, "#$ rm /t/x.fatbin\n#$ g++ -c -x c++ \"/t/x.cudafe1.cpp\" -o \"object.o\" \n"), "/w"));
    std::string half = said;
    half.back() = '"';  // a quote that nothing ends
    CHECK_FALSE(nvcc_steps(half, "/w"));
}

TEST_CASE("the nvcc that is here says steps that are known") {
    if (!nvcc.version()) {
        WARN("skipped: nvcc is not here");
        return;
    }
    const TemporaryFolder folder;
    write_file(folder.path() / "a.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n");
    for (const char* const linked : {"-rdc=false", "-rdc=true"}) {
        const system::ChildOutcome dry = system::run_program(nvcc_program(),
                                                             {"--dryrun", "-gencode", "arch=compute_80,code=compute_80",
                                                              linked, "-cudart", "none", "-c", "-o", "a.o", "a.cu"},
                                                             folder.path());
        INFO(dry.output);
        CHECK(nvcc_steps(dry.output, folder.path()));
    }
}

}  // namespace
}  // namespace device_nvcc_steps_test
