// GPUs of one's own: files, what follows from a figure, what is refused where, and that what is taken runs.
#include "core/model/gpus/gpu_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/refusals.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/random_program.h"
#include "tests/model/side_by_side.h"

namespace model_gpu_file_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

GpuSpec mine(const std::string& text) {
    return parse_gpu_file(text, "mine.toml").value();
}
std::string refused(const std::string& text) {
    const auto gpu = parse_gpu_file(text, "mine.toml");
    return gpu ? "taken" : render(gpu.error());
}
bool says(const std::string& text, std::string_view part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("a GPU's file changes what it says and keeps the rest of the GPU that it inherits from") {
    const GpuSpec h100 = gpu_named("h100").value(), gpu = mine("inherits = \"h100\"\nsms = 4\nl2_mb = 2\n");
    CHECK(gpu.name == "mine.toml");
    CHECK(gpu.title == "mine");
    CHECK(gpu.sms == 4);
    CHECK(gpu.sms.source == "set in mine.toml");
    CHECK(gpu.l2_bytes == 2u << 20);
    CHECK(gpu.compute == h100.compute);
    CHECK(gpu.warps_per_sm == h100.warps_per_sm);
    CHECK(gpu.warps_per_sm.source == h100.warps_per_sm.source);
    CHECK(mine("inherits = \"v100\"\nname = \"Half a V100\"\nsms = 40\n").title == "Half a V100");
    const GpuSpec sourced =
        mine("inherits = \"v100\"\nsource = \"a guess\"\nsms = { value = 3, source = \"mine alone\" }\nl1_ways = 2\n");
    CHECK(sourced.sms.source == "mine alone");
    CHECK(sourced.l1_ways.source == "a guess");
}

TEST_CASE("peaks and bandwidths follow from the parts of one's own GPU") {
    const GpuSpec h100 = gpu_named("h100").value();
    const GpuSpec gpu = mine("inherits = \"h100\"\nsms = 33\nfp32_lanes = 16\ndram_channels = 20\nl2_slices = 24\n");
    CHECK(std::fabs(gpu.fp32_tflops - h100.fp32_tflops / 8) < 0.01 * gpu.fp32_tflops);
    CHECK(std::fabs(gpu.fp64_tflops - h100.fp64_tflops / 4) < 1e-9);
    CHECK(std::fabs(tensor_fmas(gpu) - tensor_fmas(h100)) < 1e-6);  // a sub-core's are as before
    CHECK(std::fabs(gpu.dram_gb_per_second - 3350.0 / 4) < 1e-9);
    CHECK(std::fabs(gpu.l2_bytes_per_cycle - h100.l2_bytes_per_cycle / 4) < 1e-9);
    CHECK(mine("inherits = \"h100\"\ntensor_fmas = 0\n").fp16_tensor_tflops == 0);
    CHECK(std::fabs(tensor_fmas(mine("inherits = \"p100\"\ntensor_fmas = 64\n")) - 64) < 1e-9);
    CHECK(mine("inherits = \"h100\"\nsms = 1\nfp32_tflops = 5\n").fp32_tflops == 5);  // what is said is not followed
    CHECK(mine("inherits = \"h100\"\nshared_per_sm = 65536\n").shared_per_block == 65536 - 1024);
    const GpuSpec no_l1 = mine("inherits = \"h100\"\nl1_bytes = 0\n");
    CHECK(no_l1.l1_bytes == 0);
    CHECK(no_l1.shared_carveouts.value[1] == 0);
    CHECK(no_l1.shared_per_sm == 228 * 1024);
    CHECK(mine("inherits = \"h100\"\nsub_cores = 1\nwarps_per_sm = 1\n").warp_granule == 1);
}

TEST_CASE("what is wrong in a GPU's file is said with its line and a caret") {
    CHECK(refused("inherits = \"h100\"\nsmss = 4\n") ==
          "mine.toml:2:1: error: unknown figure 'smss' of a GPU, did you mean 'sms'?\n    smss = 4\n    ^");
    CHECK(refused("inherits = \"h100\"\nsms = \"4\"\n") ==
          "mine.toml:2:7: error: 'sms' is a number, without quotes\n    sms = \"4\"\n          ^");
    says(refused("inherits = \"h101\"\n"), "mine.toml:1:12: error: unknown GPU 'h101', did you mean 'h100'?");
    says(refused("inherits = \"h100\"\nsms = 4.5\n"), "mine.toml:2:7: error: 'sms' is a whole number, not 4.5");
    says(refused("inherits = \"h100\"\nsms = 0\n"), "'sms' is from 1 to 1,024, not 0: a GPU without an SM runs nothing");
    says(refused("inherits = \"h100\"\ndram_channels = 0\n"), "without a DRAM channel there is no memory");
    says(refused("inherits = \"h100\"\nsub_cores = 3\n"), "mine.toml:2:13: error: 64 warps do not divide among 3 sub-cores");
    says(refused("inherits = \"h100\"\nsub_cores = 1\n"), "64 warps on 1 sub-core are more than 32 each");
    says(
        refused("inherits = \"h100\"\n\nl1_kb = 128\n"),
        "mine.toml:3:9: error: shared memory of 233,472 bytes (shared_per_sm) is over the SRAM of 131,072 bytes (l1_bytes)");
    says(refused("inherits = \"h100\"\nregisters_per_sm = 128\n"), "have no room for one warp");
    says(refused("inherits = \"h100\"\nl2_latency = 10\n"), "a hit in L2 (10 cycles) takes no less than one in L1 (32)");
    says(refused("inherits = \"h100\"\nscheduler = \"lr\"\n"),
         "mine.toml:2:13: error: unknown scheduler 'lr', did you mean 'lrr'?");
    says(refused("inherits = \"h100\"\ndram_kind = 3\n"), "'dram_kind' is a text in quotes, such as \"hbm\"");
    says(refused("inherits = \"h100\"\ncompute = \"12.0\"\n"), "unknown compute capability '12.0'");
    says(refused("inherits = \"h100\"\nsms = { valu = 3 }\n"), "mine.toml:2:9");
    says(refused("sms = 4\n"),
         "the GPU's file lacks 'sub_cores': it says inherits = \"v100\", as one, or sets every figure");
    says(refused("inherits = \"h100\"\nshared_carveouts = [0, 5, 5]\n"), "each more than the one before");
    says(refused("inherits = \"h100\"\nfp32_lanes = nan\n"), "is a number, not nan");
    says(refused("inherits = \"h100\"\nboost_mhz = -1e400\n"), "error");
    says(refused(""), "mine.toml:1:1: error: there is nothing in this file");
    says(refused("inherits = \"h100\"\nl2_mb = 4\nl2_bytes = 1048576\n"),
         "mine.toml:3:12: error: 'l2_bytes' and 'l2_mb' are one figure: set one of them");
    says(refused("inherits = \"h100\"\nl2_bytes = 1048576\nl2_mb = 4\n"), "mine.toml:3:9: error: ");
    says(refused("inherits = \"h100\"\ntensor_fmas = 64\nfp16_tensor_tflops = 5000\n"), "are one figure");
    says(refused("inherits = \"h100\"\nsms = true\n"), "mine.toml:2:7: error: 'sms' is a number");
    CHECK(mine("inherits = \"h100\"\nl1_caches_loads = false\n").l1_caches_loads == 0);
    says(refused("name = \"a\\u001b[31mb\"\ninherits = \"h100\"\n"),
         "mine.toml:1:8: error: 'name' is one line of at most 80");
    says(refused("name = \"" + std::string(81, 'x') + "\"\ninherits = \"h100\"\n"), "'name' is one line of at most 80");
}

TEST_CASE("a slip of the pen in a GPU's file is told at its place in one sentence of ours") {
    const std::string first = "inherits = \"h100\"\n";
    CHECK(refused("inherits = \"h100\nsms = 4\n") ==
          "mine.toml:1:12: error: the text that begins here has no closing \", as in \"h100\"\n    inherits = \"h100\n      "
          "         ^");
    CHECK(refused(first + "name = 'mine\nsms = 4\n") ==
          "mine.toml:2:8: error: the text that begins here has no closing ', as in 'h100'\n    name = 'mine\n           ^");
    const std::pair<std::string, std::string> slips[] = {
        {"name = \"\"\"mine\nsms = 4\n",
         "mine.toml:2:8: error: the text that begins here has no closing \"\"\", as in \"\"\"h100\"\"\""},
        {"sms 4\n", "mine.toml:2:5: error: between 'sms' and its value stands an '=', as in sms = 4"},
        {"sms: 4\n", "mine.toml:2:4: error: between 'sms' and its value stands an '='"},
        {"sms =\n", "mine.toml:2:5: error: 'sms' has no value behind its '='"},
        {"sms = # four\n", "mine.toml:2:5: error: 'sms' has no value behind its '='"},
        {"= 4\n", "mine.toml:2:1: error: there is no name before the '='"},
        {"name = mine\n", "mine.toml:2:8: error: 'mine' is no number; a text stands in quotes, as in name = \"mine\""},
        {"sms = 4x\n", "mine.toml:2:7: error: '4x' is no number"},
        {"sms = 004\n", "mine.toml:2:7: error: a number does not begin with a zero: 4"},
        {"l2_mb = 1,5\n", "mine.toml:2:9: error: a number has a point, no comma: 1.5"},
        {"sms = 4 5\n", "mine.toml:2:9: error: something stands behind the value of 'sms'"},
        {"sms = 4; l2_mb = 2\n", "mine.toml:2:8: error: something stands behind the value of 'sms'"},
        {"sms = 4 // four\n", "mine.toml:2:9: error: something stands behind the value of 'sms': it is one figure a line"},
        {"sms = 4\nsms = 5\n", "mine.toml:3:1: error: 'sms' is set twice"},
        {"shared_carveouts = [0, 8\n",
         "mine.toml:2:20: error: the list that begins here has no closing ']', as in [0, 8192]"},
        {"sms = { value = 4, source = \"x\"\n", "mine.toml:2:7: error: what begins here has no closing '}'"},
        {"[sm]\nsms = 4 5\n", "mine.toml:3:9: error: something stands behind"},
        {"[sm\nsms = 4\n", "mine.toml:2:1: error: the list that begins here has no closing ']'"},
        {"name = \"C:\\gpus\"\n", "mine.toml:2:11: error: a text in double quotes has a backslash written twice"},
        {"name = \u201cmine\u201d\n", "mine.toml:2:8: error: a text stands in straight quotes"},
    };
    for (const auto& [slip, told] : slips) {
        INFO(slip);
        says(refused(first + slip), told);
    }
}

TEST_CASE("no beginning of a GPU's file is told in the words of a library") {
    const std::string whole =
        "inherits = \"h100\" # mine\nname = 'it'\nsms = { value = 4, source = \"a guess\" }\nshared_carveouts = [0,\n 8]\n";
    for (size_t length = 1; length < whole.size(); ++length)
        for (const char letter : {'\0', '"', '[', '}', '=', '\\', '#', '\n', '\xff', '-'}) {
            std::string text = whole.substr(0, length);
            if (letter != '\0') text += letter;
            const auto read = parse_gpu_file(text, "mine.toml");
            if (read.ok()) continue;
            const std::string said = render(read.error());
            INFO(text);
            CHECK(said.find("parsing") == std::string::npos);
            CHECK(said.find("encountered") == std::string::npos);
            CHECK(read.error().where.line >= 1);
        }
}

TEST_CASE("files inherit from one another, beside each other, but not in a circle") {
    const TemporaryFolder folder;
    write_file(folder.path() / "a.toml", "inherits = \"b.toml\"\nsms = 3\n");
    write_file(folder.path() / "b.toml", "inherits = \"a100\"\nsms = 7\nl2_mb = 1\n");
    const std::string path = (folder.path() / "a.toml").string();
    const GpuSpec gpu = gpu_named(path).value();
    CHECK(gpu.sms == 3);
    CHECK(gpu.l2_bytes == 1u << 20);
    CHECK(gpu.name == path);
    CHECK(gpu_named(gpu.name).value().sms == 3);
    CHECK(short_name(gpu.name) == "a");
    write_file(folder.path() / "a.toml", "inherits = \"b.toml\"\nsms = 13\n");
    CHECK(gpu_named(path).value().sms == 13);  // a changed file is read again
    write_file(folder.path() / "b.toml", "inherits = \"a.toml\"\n");
    write_file(folder.path() / "a.toml", "inherits = \"b.toml\"\nsms = 1\n");
    CHECK(render(gpu_named(path).error()) ==
          (folder.path() / "b.toml").string() +
              ":1:12: error: a.toml inherits b.toml inherits a.toml: one of them needs a GPU to begin with, as \"h100\"\n"
              "    inherits = \"a.toml\"\n               ^");
    // Who leads into the circle is no part of it, and a file in another folder is named with it.
    std::filesystem::create_directory(folder.path() / "in");
    write_file(folder.path() / "c.toml", "inherits = \"a.toml\"\n");
    says(render(gpu_named((folder.path() / "c.toml").string()).error()),
         "b.toml:1:12: error: a.toml inherits b.toml inherits a.toml: ");
    write_file(folder.path() / "b.toml", "sms = 2\ninherits = \"in/d.toml\"\n");
    write_file(folder.path() / "in" / "d.toml", "sms = 2\ninherits = \"../a.toml\"\n");
    says(render(gpu_named(path).error()), "d.toml:2:12: error: a.toml inherits b.toml inherits in/d.toml inherits a.toml: ");
    write_file(folder.path() / "a.toml", "inherits = \"a.toml\"\nsms = 1\n");
    says(render(gpu_named(path).error()),
         "a.toml:1:12: error: this file inherits from itself: it needs a GPU to begin with, as \"h100\"");
    // Many files one behind the other are no circle.
    for (int i = 0; i < 9; ++i)
        write_file(folder.path() / fmt::format("row{}.toml", i),
                   fmt::format("inherits = \"{}\"\n", i < 8 ? fmt::format("row{}.toml", i + 1) : "h100"));
    CHECK(gpu_named((folder.path() / "row1.toml").string()).ok());
    says(render(gpu_named((folder.path() / "row0.toml").string()).error()),
         "row8.toml:1:12: error: more than 8 files inherit from one another here");
    // A text that is handed in has a name, but may lie nowhere.
    write_file(folder.path() / "b.toml", "inherits = \"mine.toml\"\n");
    says(render(parse_gpu_file("inherits = \"b.toml\"\n", (folder.path() / "mine.toml").string()).error()),
         "b.toml:1:12: error: mine.toml inherits b.toml inherits mine.toml: ");
    says(gpu_named((folder.path() / "none.toml").string()).error().message, "no such file");
}

TEST_CASE("every figure that is printed can be set by its name, and a new file comes to the GPU that it inherits from") {
    const std::vector<std::string> list = gpu_field_names();
    const std::set<std::string> names(list.begin(), list.end());
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        for (const SpecFigure& figure : figures_of(gpu)) CHECK(names.contains(std::string(figure.name)));
        for (const GpuField& field : gpu_fields()) {
            INFO(field.name);
            CHECK(refused_value(field, value_of(gpu, field)).empty());
        }
        std::string text = new_gpu_file(gpu, gpu.name, "new"), every;
        const auto same = [&](const GpuSpec& other) {
            const auto a = figures_of(gpu), b = figures_of(other);
            REQUIRE(a.size() == b.size());
            for (size_t i = 0; i < a.size(); ++i) {
                INFO(a[i].name);
                CHECK(std::fabs(a[i].value - b[i].value) <= 1e-9 * std::fabs(a[i].value));
            }
            CHECK(other.compute == gpu.compute);
        };
        same(mine(text));
        // The same with every figure set: the # is taken away.
        for (size_t at = 0; at < text.size();) {
            const size_t end = text.find('\n', at);
            const std::string line = text.substr(at, end - at);
            const bool figure =
                line.starts_with("# ") && line.find(" = ") < line.find(" #", 2) && !line.starts_with("# tensor");
            every += (figure ? line.substr(2) : line) + "\n";
            at = end + 1;
        }
        CHECK(every != text);
        same(mine(every));
    }
}

// Random figures of a random GPU: within the bounds, most often near what it has, and now and then nothing at all.
GpuSpec random_gpu(Rng& rng, std::string& words) {
    for (;;) {
        const GpuSpec from = gpus()[rng.below(gpus().size())];
        GpuDesign design(from);
        words = std::string(from.name) + ":";
        design.set("sms", 1 + static_cast<double>(rng.below(4)), "test");
        bool taken = true;
        for (uint64_t k = 1 + rng.below(8); k > 0 && taken; --k) {
            const GpuField& field = gpu_fields()[rng.below(gpu_fields().size())];
            if (field.name == "sms") continue;
            const double was = value_of(from, field);
            const uint64_t kind = rng.below(5);
            double value = kind == 0   ? field.least
                           : kind == 1 ? (field.may_be_absent ? 0 : field.least)
                           : kind == 2 ? std::min(field.most, 64 * std::max(was, 1.0))
                                       : was * std::exp2(static_cast<double>(rng.below(9)) - 4);
            if (field.whole()) value = std::floor(value);
            value = std::min(value, 1e8);
            words += fmt::format(" {}={}", field.name, value);
            taken = !design.set(field.name, value, "test");
        }
        if (taken && !design.finish("test")) return design.gpu();
    }
}

TEST_CASE("a random GPU that is taken runs random programs as the plain SM does, or refuses them in a sentence") {
    int ran = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        Rng rng(seed);
        const RandomProgram made(rng);
        const auto program = ptx::decode(ptx::parse(made.text(), "random.ptx").value(), "k").value();
        std::string words;
        const GpuSpec gpu = random_gpu(rng, words);
        INFO("seed " << seed << " on " << words);
        const Launch it = made.launch();
        if (const auto refused = simt::check_launch(*program, it.config, limits_of(gpu))) {
            CHECK_FALSE(refused->message.empty());
            continue;
        }
        if (const auto missing = missing_part(gpu, *program)) {
            simt::Memory memory = it.memory;
            const TimedResult result = launch(gpu, *program, it.config, memory);
            REQUIRE(result.fault);
            CHECK(result.fault->message == *missing);
            continue;
        }
        TimedOptions options;
        options.traced_sm = static_cast<uint32_t>(rng.below(gpu.sms));
        CHECK(difference(gpu, *program, it, options) == "");
        ++ran;
    }
    CHECK(ran > 100);
}

TEST_CASE("any part can be taken away as far as a machine remains") {
    Rng rng(5);
    const char* const extremes[] = {
        "sms = 1",
        "sub_cores = 1\nwarps_per_sm = 32",
        "sub_cores = 1\nwarps_per_sm = 8",
        "fp32_lanes = 1\nint_lanes = 1\nlsu_lanes = 1",
        "fp32_lanes = 0.125\nint_lanes = 0.125\nlsu_lanes = 0.125",
        "l1_bytes = 0",
        "l2_bytes = 0",
        "l1_bytes = 0\nl2_bytes = 0\nconstant_l1_bytes = 0\nconstant_l15_bytes = 0",
        "l1_mshrs = 1\nlsu_queue = 1\nissue_width = 1",
        "dram_channels = 1\ndram_banks = 1\nl2_slices = 1",
        "l0_code_bytes = 0\nl1_code_bytes = 0\ncode_prefetch = 0",
        "l1_bytes = 0\nl2_bytes = 0\nsub_cores = 1\nwarps_per_sm = 8\nl1_mshrs = 1\nlsu_queue = 1\n"
        "sms = 1\ndram_channels = 1\nl2_slices = 1\nfp32_lanes = 1\nint_lanes = 1"};
    for (int k = 0; k < 6; ++k) {
        const RandomProgram made(rng);
        const auto program = ptx::decode(ptx::parse(made.text(), "random.ptx").value(), "k").value();
        for (const char* const base : {"h100", "v100", "p100", "teaching"})
            for (const char* const text : extremes) {
                INFO(base << "\n" << text);
                const GpuSpec gpu = mine("inherits = \"" + std::string(base) + "\"\n" + text + "\n");
                if (simt::check_launch(*program, made.launch().config, limits_of(gpu))) continue;
                CHECK(difference(gpu, *program, made.launch(), {}) == "");
            }
    }
}

TEST_CASE("a GPU without an L2 reads every line from DRAM, and writes what is stored there") {
    const GpuSpec with = mine("inherits = \"v100\"\nsms = 2\n"),
                  without = mine("inherits = \"v100\"\nsms = 2\nl2_bytes = 0\n");
    const auto program = ptx::decode(ptx::parse(R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %p, %a;
    .reg .b32 %t, %x, %y;
    ld.param.u64 %p, [p];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 4, %p;
    ld.global.cg.u32 %x, [%a];
    ld.global.cg.u32 %y, [%a];
    add.u32 %x, %x, %y;
    st.global.u32 [%a], %x;
    ret;
}
)",
                                                "k.ptx")
                                         .value(),
                                     "k")
                             .value();
    const auto run = [&](const GpuSpec& gpu) {
        simt::Memory memory;
        const uint64_t address = memory.allocate(512, "p");
        simt::LaunchConfig config;
        config.block = {128, 1, 1};
        config.parameters.resize(8);
        std::memcpy(config.parameters.data(), &address, 8);
        return launch(gpu, *program, config, memory);
    };
    const TimedResult a = run(with), b = run(without);
    CHECK(a.totals.dram_read == 512);
    CHECK(a.totals.dram_written == 0);
    CHECK(b.totals.dram_read == 1024);
    CHECK(b.totals.dram_written == 512);
    CHECK(b.cycles > a.cycles);
}

}  // namespace model_gpu_file_test
