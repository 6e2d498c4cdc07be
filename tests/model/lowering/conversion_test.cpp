// Which lanes a conversion takes: what ptxas makes of it for each generation (timing.cpp names the machine instructions).
#include <map>
#include <string>

#include "core/model/issue/timing.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_conversion_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

Timing timing_of(const std::string& on, const std::string& conversion) {
    const std::string text = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry convert()
{
.reg .b32 %r<4>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .f64 %d<4>;
)" + conversion + ";\nret;\n}\n";
    const auto program = ptx::decode(ptx::parse(text, "convert.ptx").value(), "convert").value();
    return make_timing(gpu(on), *program).front();
}

constexpr auto special = static_cast<uint8_t>(ptx::Unit::xu), alu = static_cast<uint8_t>(ptx::Unit::alu),
               fma = static_cast<uint8_t>(ptx::Unit::fma);

}  // namespace

TEST_CASE("a conversion takes the lanes that its machine code names, generation by generation") {
    struct Row {
        const char* conversion;
        uint8_t p100, v100, a100, rtx3090, h100;
    };
    for (const Row& row : {
             Row{"cvt.f32.f16 %f1, %h1", special, fma, fma, heavy_pipe, heavy_pipe},        // HADD2.F32
             Row{"cvt.sat.f32.f32 %f1, %f2", special, fma, fma, fma, fma},                  // FADD.SAT
             Row{"cvt.rn.f16.f32 %h1, %f1", special, special, alu, alu, alu},               // F2F.F16.F32, then F2FP
             Row{"cvt.rn.bf16x2.f32 %r1, %f1, %f2", special, special, alu, alu, alu},       // F2FP
             Row{"cvt.rn.f32.s32 %f1, %r1", special, special, special, alu, alu},           // I2F, then I2FP
             Row{"cvt.rn.f32.s16 %f1, %h1", special, special, special, special, special},   // I2F.S16
             Row{"cvt.rzi.s32.f32 %r1, %f1", special, special, special, special, special},  // F2I
             Row{"cvt.rni.f32.f32 %f1, %f2", special, special, special, special, special},  // FRND
             Row{"cvt.rn.f32.f64 %f1, %d1", special, special, special, special, special},   // F2F
             Row{"cvt.rn.f16x2.e4m3x2 %r1, %h1", special, special, special, special, alu},  // F2FP.F16.E4M3
         }) {
        INFO(row.conversion);
        CHECK(timing_of("p100", row.conversion).pipe == row.p100);
        CHECK(timing_of("v100", row.conversion).pipe == row.v100);
        CHECK(timing_of("a100", row.conversion).pipe == row.a100);
        CHECK(timing_of("rtx3090", row.conversion).pipe == row.rtx3090);
        CHECK(timing_of("h100", row.conversion).pipe == row.h100);
    }
    for (const char* const on : {"v100", "a100", "rtx3090", "h100"}) {  // 64 results a cycle and SM
        INFO(on);
        const Timing half = timing_of(on, "cvt.f32.f16 %f1, %h1");
        CHECK(half.interval == 2);
        CHECK(half.latency == gpu(on).fp16_latency);
        CHECK(half.result_wait == StallReason::wait);
    }
}

}  // namespace model_conversion_test
