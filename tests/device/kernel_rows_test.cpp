// The texts of the kernels' rows, held against the PTX and against what the kernels do.
#include "core/device/devices.h"
#include "core/device/kernels/kernel_cases.h"
#include "core/device/kernels/kernel_library.h"
#include "tests/catch.h"

namespace device_kernel_rows_test {

using namespace lockstep;
using namespace lockstep::device;
using namespace lockstep::device::kernel_cases;
using Catch::Matchers::Contains;

namespace {
std::string message_of(const auto& run) {
    try {
        run();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// A row that is written as `parameters` and `launch` say, and the case that is made of it.
KernelCase case_of_text(std::string_view parameters, std::string_view launch = "threads(n)") {
    const Kernel kernel{.name = "planted", .file = "planted.cu", .parameters = parameters, .launch = launch};
    const KernelRow row{.name = "planted_f32", .base = "planted", .type = DType::f32, .kernel = &kernel};
    return case_of(row, {6, 5, 4}, 1);
}
}  // namespace

TEST_CASE("every row's parameters are those of its PTX") {
    for (const KernelRow& row : kernels()) {
        const Signature signature = signature_of(*row.kernel);
        const auto program = program_of(row.name);
        INFO(row.name);
        REQUIRE(signature.parameters.size() == program->parameters.size());
        for (size_t i = 0; i < signature.parameters.size(); ++i) {
            const Parameter& parameter = signature.parameters[i];
            INFO(parameter.name);
            const size_t bytes = parameter.kind == Parameter::Kind::number ? size_of(type_of(parameter, row.type)) : 8;
            CHECK(program->parameters[i].bytes == bytes);
        }
    }
}

TEST_CASE("a kernel writes all of what its row says it writes, and nothing that it only reads") {
    const auto host = make_host({});
    for (const KernelRow& row : kernels()) {
        const Signature signature = signature_of(*row.kernel);
        std::vector<Parameter::Kind> kinds;
        for (const Parameter& parameter : signature.parameters)
            if (parameter.kind != Parameter::Kind::number) kinds.push_back(parameter.kind);
        KernelCase once = case_of(row, {17, 33, 19}, 3), again = once;
        for (size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == Parameter::Kind::written) again.buffers[i].values.assign(again.buffers[i].values.size(), 12);
        const auto before = once.buffers;
        const auto first = run_bytes(*host, once), second = run_bytes(*host, again);
        for (size_t i = 0; i < kinds.size(); ++i) {
            INFO(row.name << " buffer " << i);
            if (kinds[i] == Parameter::Kind::read) CHECK(first[i] == bytes_of(before[i]));
            CHECK(first[i] == second[i]);
        }
    }
}

TEST_CASE("extents are counted from a launch's arguments") {
    const KernelRow& add = kernel_named("add_broadcast_f32");
    const KernelCase broadcast = case_of(add, {6, 5, 4}, 1);
    CHECK(add.elements(0, broadcast.arguments) == 6);  // a column [6,1]
    CHECK(add.elements(1, broadcast.arguments) == 30);
    CHECK(add.elements(2, broadcast.arguments) == 30);
    const KernelRow& product = kernel_named("matmul_nn_f64");
    const std::vector<Argument> arguments = {Pointer{}, Pointer{}, Pointer{}, 2, 3, 5};
    CHECK(product.elements(0, arguments) == 10);
    CHECK(product.bytes(arguments) == 8 * (10 + 15 + 6));
    const KernelRow& sparse = kernel_named("sparse_matmul_values_f32");
    CHECK(!sparse.elements(
        2, case_of(sparse, {6, 5, 4}, 1).arguments));  // x has as many rows as A columns, which it is not told
}

TEST_CASE("a row that is written wrongly is told") {
    CHECK(case_of_text("x[n] >y[n] n").buffers.size() == 2);
    CHECK(case_of_text("x[n] >y[n] n").grid == simt::Dim3{1});
    CHECK(case_of_text("half=n/2 | x[half,2]:i32{0..half} n").buffers[0].values.size() == 30);
    CHECK_THAT(message_of([] { case_of_text("x[count] n"); }), Contains("no numbers for 'count'"));
    CHECK_THAT(message_of([] { case_of_text("x[n count=count"); }), Contains("planted"));
    CHECK_THAT(message_of([] { case_of_text("x[n+] n"); }), Contains("no expression at column 3"));
    CHECK_THAT(message_of([] { case_of_text("x[n]{-2.2} n"); }), Contains("no way to draw"));
    CHECK_THAT(message_of([] { case_of_text("x[n]=4 n"); }), Contains("not understood"));
    CHECK_THAT(message_of([] { case_of_text("x[n]:f31 n"); }), Contains("no type 'f31'"));
    CHECK_THAT(message_of([] { case_of_text("x[n] n", "thread(n)"); }), Contains("no launch 'thread(n)'"));
}

}  // namespace device_kernel_rows_test
