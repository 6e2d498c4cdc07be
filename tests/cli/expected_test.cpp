// --arg out:...,expect=ref.npy: what is said of outputs that are not as they should be.
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "tests/catch.h"
#include "tests/cli/support.h"

namespace cli_expected_test {

namespace {

constexpr const char* squares = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry squares(.param .u64 y) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [y];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    mul.f32 %f2, %f1, %f1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;
})";

std::string reference(const char* name, std::vector<float> values) {
    lockstep::Array array{lockstep::DType::f32, {static_cast<int64_t>(values.size())}, {}};
    array.bytes.resize(values.size() * sizeof(float));
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    const std::string path = (scratch() / name).string();
    lockstep::write_file(path, lockstep::format_npy(array));
    return path;
}

Outcome run_squares(const std::string& expected, const std::string& more = "") {
    const std::string kernel = (scratch() / "squares.ptx").string();
    lockstep::write_file(kernel, squares);
    return lockstep_command("run " + kernel + " --grid 1 --block 5 --arg out:f32[5],expect=" + expected + " " + more);
}

bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("outputs that are as expected are no news") {
    const std::string good = reference("good.npy", {0, 1, 4, 9, 16});
    for (const char* const how : {"", "--functional"}) {
        const Outcome outcome = run_squares(good, how);
        INFO(outcome.err);
        CHECK(outcome.status == 0);
        CHECK(outcome.err.empty());
    }
}

TEST_CASE("wrong elements are told with who wrote them last, and count as a fault") {
    const std::string bad = reference("bad.npy", {0, 1, 5, 9, 20});
    for (const char* const how : {"", "--functional"}) {
        const Outcome outcome = run_squares(bad, how);
        INFO(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(has(outcome.err, "expected: 2 of 5 elements of 'argument 1' are not as " + bad + " has them: "));
        CHECK(has(outcome.err, "element 2 is 4 and not 5, which thread (2,0,0) of block (0,0,0) wrote last at "));
        CHECK(has(outcome.err, ", as 2 * 2"));
        CHECK(has(outcome.err, "element 4 is 16 and not 20"));
    }
}

TEST_CASE("rtol and atol say what counts as the same, and JSON has the figures") {
    const std::string near = reference("near.npy", {0, 1, 4.1f, 9, 16});
    CHECK(run_squares(near).status == 1);
    CHECK(run_squares(near + ",atol=0.2").status == 0);
    CHECK(run_squares(near + ",rtol=0.05").status == 0);
    CHECK(run_squares(near + ",rtol=0.001").status == 1);
    const Outcome outcome = run_squares(near, "--json -");
    const auto json = nlohmann::json::parse(outcome.out);
    REQUIRE(json["expected"].size() == 1);
    CHECK(json["expected"][0]["wrong"] == 1);
    CHECK(json["expected"][0]["first_wrong"] == 2);
    CHECK(json["expected"][0]["largest_error"].get<double>() == Approx(0.1).epsilon(1e-4));
    CHECK(json["diagnostics"][0]["kind"] == "expected");
}

TEST_CASE("expected values that cannot be read are refused") {
    const std::string good = reference("good.npy", {0, 1, 4, 9, 16});
    const std::string few = reference("few.npy", {0, 1});
    const std::string kernel = (scratch() / "squares.ptx").string();
    lockstep::write_file(kernel, squares);
    refuses("run " + kernel + " --grid 1 --block 5 --arg out:f32[5],expect=" + few, "has 2 elements, but");
    refuses("run " + kernel + " --grid 1 --block 5 --arg out:f32[5],expect=" + good + ",rtol=wide",
            "rtol is a number from 0 on, as in rtol=1e-5");
    refuses("run " + kernel + " --grid 1 --block 5 --arg out:f32[5],expect=" + good + ",tolerance=1",
            "expected values are a file and how far off they may be");
    refuses("run " + kernel + " --grid 1 --block 5 --arg out:f32[5],expct=" + good,
            "unknown option 'expct', did you mean 'expect'?");
}

TEST_CASE("a wrong element that nobody wrote has no value that could be told") {
    const std::string good = reference("good.npy", {0, 1, 4, 9, 16});
    const std::string kernel = (scratch() / "squares.ptx").string();
    lockstep::write_file(kernel, squares);
    const Outcome outcome = lockstep_command("run " + kernel + " --grid 1 --block 4 --arg out:f32[5],expect=" + good);
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(has(outcome.err, "1 of 5 elements of 'argument 1' is not as " + good + " has it: "));
    CHECK(has(outcome.err, "element 4, which nobody wrote, is 16 there"));
}

}  // namespace cli_expected_test
