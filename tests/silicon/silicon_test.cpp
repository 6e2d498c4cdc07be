// Measurements of a GPU: the file, its reader, the pack of kernels, measuring over the modelled driver (tests/driver), the
// comparison. tests/golden/silicon_made_up.json was typed for these tests: nothing in it was measured.
#include <fmt/format.h>
#if defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "app/silicon/compare/compare.h"
#include "app/silicon/measure/parts.h"
#include "app/silicon/opcodes/opcode_cases.h"
#include "app/silicon/silicon.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"
#include "core/system/system.h"
#include "tests/catch.h"
#include "tests/tasks.h"

namespace silicon_silicon_test {

using namespace lockstep;
using namespace lockstep::device;
using Catch::Contains;

namespace {
constexpr std::string_view own = "kernels/silicon/ptx/pack.ptx";
using Kind = PackArgument::Kind;
PackArgument floats(int64_t count) {
    return {Kind::reals, DType::f32, count};
}
PackArgument whole(int64_t value) {
    return {Kind::whole, DType::i32, value};
}
const std::vector<PackRow>& small_pack() {
    static const std::vector<PackRow> rows = {
        {"small relu", "", "relu_f32", {4}, {256}, {floats(1024), floats(1024), whole(1024)}},
        {"small scan", own, "scan_shuffle", {4}, {256}, {floats(1024), floats(1024)}},
        {"small transpose", own, "transpose_padded", {2, 2}, {32, 8}, {floats(4096), floats(4096), whole(64)}}};
    return rows;
}
SiliconOptions small_options() {
    SiliconOptions options;
    options.pack = small_pack();
    options.clock_rounds = 1 << 12;  // a functional launch counts its clock in turns of a warp
    options.flushed = 1 << 16;
    options.quick = true;
    return options;
}
std::string made_up() {
    return read_file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/silicon_made_up.json").value();
}
std::string refusal(const std::string& text) {
    const auto file = parse_silicon(text, "f.json");
    return file ? "accepted" : render(file.error());
}
std::string changed(const std::string& from, const std::string& to) {
    std::string text = made_up();
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}
template <class F>
Failure failure_of(const F& f) {
    try {
        f();
    } catch (const Failure& failure) {
        return failure;
    }
    return Failure("nothing was refused");
}
// A kernel of the pack on the modelled GPU: what its buffers hold afterwards.
template <class T>
std::vector<T> run_own(std::string_view kernel, simt::Dim3 grid, simt::Dim3 block, std::vector<std::vector<T>> buffers,
                       std::vector<int32_t> numbers, size_t wanted) {
    const auto sim = open_device("sim:v100", {.functional = true}).value();
    LaunchRequest request{.kernel = kernel, .grid = grid, .block = block, .generated = pack_program(own, kernel)};
    std::vector<Pointer> pointers;
    for (const auto& buffer : buffers) {
        pointers.push_back(sim->allocate(buffer.size() * sizeof(T), "buffer"));
        sim->copy_in(pointers.back(), buffer.data(), buffer.size() * sizeof(T));
        request.arguments.emplace_back(pointers.back());
    }
    for (const int32_t value : numbers) request.arguments.emplace_back(value);
    sim->launch(request);
    sim->copy_out(buffers[wanted].data(), pointers[wanted], buffers[wanted].size() * sizeof(T));
    return buffers[wanted];
}
std::vector<float> whole_floats(size_t count) {  // sums of them are exact
    Rng rng(7);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(static_cast<int>(rng.below(17)) - 8);
    return values;
}
}  // namespace

#if defined(__linux__)
static const TestTasks hangs = {
    {"test driver that hangs", nullptr, [](const std::vector<std::string>&, const system::SayLine& say) {
         say(std::to_string(getpid()));
         for (;;) pause();
     }}};

TEST_CASE("the process that measures is gone when the one that waits for it is killed") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t waits = fork();
    if (waits == 0) {
        system::hear_task(
            "test driver that hangs", {},
            [&](std::string_view line) {
                const pid_t measures = std::atoi(std::string(line).c_str());
                if (write(ends[1], &measures, sizeof measures) != sizeof measures) _exit(1);
                return 1000.0;
            },
            1000);
        _exit(0);
    }
    pid_t measures = 0;
    REQUIRE(read(ends[0], &measures, sizeof measures) == sizeof measures);
    const auto runs = [&] {  // one that has ended may stay in the table until it is asked for
        std::ifstream stat("/proc/" + std::to_string(measures) + "/stat");
        std::string number, name, state;
        stat >> number >> name >> state;
        return stat.good() && state != "Z" && state != "X";
    };
    CHECK(runs());
    kill(waits, SIGKILL);
    waitpid(waits, nullptr, 0);
    for (int tries = 0; tries < 1000 && runs(); ++tries) usleep(10'000);
    CHECK_FALSE(runs());
    if (runs()) kill(measures, SIGKILL);
    close(ends[0]);
    close(ends[1]);
}
#endif

TEST_CASE("the pack has at least forty kernels with names of their own, half of them to judge, and launches that fit") {
    std::set<std::string> names;
    size_t judges = 0;
    for (const PackRow& row : silicon_pack()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        judges += half_of(row.name) == SiliconHalf::judge;
        const GeneratedKernel* const generated = pack_program(row.file, row.kernel);
        const auto program = generated ? generated->program : program_of(row.kernel);
        std::vector<Argument> arguments;
        std::deque<TensorTile> tiles;
        size_t bytes = 0;
        for (const PackArgument& it : row.arguments) {
            if (it.kind == Kind::whole)
                arguments.emplace_back(static_cast<int32_t>(it.count));
            else if (it.kind == Kind::real)
                arguments.emplace_back(static_cast<float>(it.high));
            else if (tiles.push_back({{256}, it.type, it.dims, it.box, 128}); !it.dims.empty())
                arguments.emplace_back(static_cast<const TensorTile*>(&tiles.back()));
            else
                arguments.emplace_back(Pointer{256}), bytes += static_cast<size_t>(it.count) * size_of(it.type);
        }
        const simt::LaunchConfig config{row.grid, row.block, row.dynamic_shared, pack(*program, arguments)};
        CHECK_FALSE(simt::check_launch(*program, config, model::limits_of(model::gpu_named("h200").value())));
        CHECK(bytes < size_t{512} << 20);
    }
    CHECK(names.size() >= 40);
    CHECK(judges * 3 >= names.size());
    CHECK(judges * 3 <= names.size() * 2);
}

// Takes half a minute, so it runs by its name alone: for whoever changes the pack.
TEST_CASE("every kernel of the pack runs to its end inside its buffers", "[.]") {
    const auto sim = open_device("sim:h200", {.functional = true}).value();
    for (const PackRow& row : silicon_pack()) {
        INFO(row.name);
        const PackLaunch launch(*sim, row);
        CHECK_NOTHROW(sim->launch(launch.request()));
    }
}

TEST_CASE("a kernel's half follows from the published hash of its name alone") {
    // FNV-1a 64 of "a" and "foobar" are printed in the authors' test vectors: af63dc4c8601ec8c and 85944171f73967e8.
    CHECK(half_of("a") == SiliconHalf::fit);         // bit 32 of ...4c'8601ec8c
    CHECK(half_of("foobar") == SiliconHalf::judge);  // bit 32 of ...71'f73967e8
}

TEST_CASE("the pack's own kernels transpose, add up, scan, sort, smooth and count") {
    const size_t n = 64;
    const auto x = whole_floats(n * n);
    std::vector<float> transposed(n * n), empty(n * n);
    for (size_t i = 0; i < n * n; ++i) transposed[i % n * n + i / n] = x[i];
    for (const std::string_view kernel : {"transpose_plain", "transpose_tile", "transpose_padded"})
        CHECK(run_own<float>(kernel, {2, 2}, {32, 8}, {x, empty}, {64}, 1) == transposed);
    for (const std::string_view kernel : {"reduce_tree", "reduce_shuffle"}) {
        const auto sums = run_own<float>(kernel, {3}, {256}, {x, std::vector<float>(3)}, {4096}, 1);
        CHECK(std::accumulate(sums.begin(), sums.end(), 0.0f) == std::accumulate(x.begin(), x.end(), 0.0f));
    }
    std::vector<float> scanned(n * n);
    for (size_t i = 0; i < n * n; i += 256)
        std::partial_sum(x.begin() + static_cast<ptrdiff_t>(i), x.begin() + static_cast<ptrdiff_t>(i + 256),
                         scanned.begin() + static_cast<ptrdiff_t>(i));
    for (const std::string_view kernel : {"scan_shared", "scan_shuffle"})
        CHECK(run_own<float>(kernel, {16}, {256}, {x, empty}, {}, 1) == scanned);

    Rng rng(11);
    std::vector<int32_t> values(2048), sorted, bins(256), expected(256);
    for (int32_t& value : values) value = static_cast<int32_t>(rng.below(1000)), ++expected[value & 255];
    CHECK(run_own<int32_t>("histogram", {3}, {256}, {values, bins}, {2048}, 1) == expected);
    sorted = run_own<int32_t>("sort_blocks", {2}, {512}, {values}, {}, 0);  // up, up
    for (size_t i = 0; i < 2048; i += 1024) {
        auto part = std::vector<int32_t>(values.begin() + static_cast<ptrdiff_t>(i),
                                         values.begin() + static_cast<ptrdiff_t>(i + 1024));
        std::sort(part.begin(), part.end());
        CHECK(std::equal(part.begin(), part.end(), sorted.begin() + static_cast<ptrdiff_t>(i)));
    }
    std::vector<int32_t> passes = values;
    for (int32_t size = 2; size <= 2048; size *= 2)
        for (int32_t apart = size / 2; apart > 0; apart /= 2)
            passes = run_own<int32_t>("sort_pass", {4}, {256}, {passes}, {size, apart}, 0);
    std::sort(values.begin(), values.end());
    CHECK(passes == values);

    std::vector<float> smooth(n * n), line(n * n), cube(32768);
    const auto at = [&](int64_t i) { return i < 0 || i >= 4096 ? 0.0f : x[static_cast<size_t>(i)]; };
    for (int64_t i = 0; i < 4096; ++i) {
        const int64_t c = i % 64, r = i / 64;
        const bool edge = c == 0 || r == 0 || c == 63 || r == 63;
        smooth[static_cast<size_t>(i)] = edge ? at(i) : 0.25f * (at(i - 1) + at(i + 1) + at(i - 64) + at(i + 64));
        float sum = 0;
        for (int64_t j = i - 3; j <= i + 3; ++j) sum += at(j);
        line[static_cast<size_t>(i)] = sum / 7;
    }
    CHECK(run_own<float>("stencil_plane", {2, 8}, {32, 8}, {x, empty}, {64}, 1) == smooth);
    CHECK(run_own<float>("stencil_line", {16}, {256}, {x, empty}, {4096}, 1) == line);
    const auto solid = whole_floats(32768);
    for (size_t i = 0; i < 32768; ++i) {
        const size_t c = i % 32, r = i / 32 % 32, p = i / 1024;
        const bool edge = c % 31 == 0 || r % 31 == 0 || p % 31 == 0;
        cube[i] =
            edge ? solid[i]
                 : (solid[i - 1] + solid[i + 1] + solid[i - 32] + solid[i + 32] + solid[i - 1024] + solid[i + 1024]) / 6;
    }
    CHECK(run_own<float>("stencil_cube", {1, 4, 32}, {32, 8}, {solid, std::vector<float>(32768)}, {32}, 1) == cube);
}

TEST_CASE("a file is read as it was written") {
    const SiliconFile file = parse_silicon(made_up(), "f.json").value();
    CHECK(file.made_up);
    CHECK(file.gpu == "Made-up V100");
    REQUIRE(file.part("kernels"));
    CHECK(file.part("kernels")->kernels.size() == 3);
    CHECK(file.part("kernels")->kernels[1].grid.x == 4);
    CHECK(file.part("copies")->figures.at(0).value == 12.5);
    CHECK_FALSE(file.part("launch"));
    const std::string again = format_silicon(file);
    CHECK(nlohmann::json::parse(again) == nlohmann::json::parse(made_up()));
    CHECK(format_silicon(parse_silicon(again, "f.json").value()) == again);
}

TEST_CASE("a file that is cut short or wrong is refused in one sentence with the place") {
    const std::string text = made_up();
    const size_t body = text.find_last_of('}');
    for (size_t size = 0; size < body; size += 7) {
        const std::string words = refusal(text.substr(0, size));
        CHECK_THAT(words, Contains("f.json:"));
        CHECK_THAT(words, Contains("the JSON ends too early"));
    }
    CHECK_THAT(refusal(changed("\"format\": 1", "\"format\": 2")), Contains("format: this version reads format 1 alone"));
    CHECK_THAT(refusal(changed("\"made_up\": true,", "")), Contains("the field 'made_up' is missing"));
    CHECK_THAT(refusal(changed("\"made_up\": true", "\"made_up\": 1")), Contains("made_up: true or false is needed"));
    CHECK_THAT(refusal(changed("\"cycles\"", "\"circles\"")), Contains("parts.kernels.rows[0]: unknown field 'circles'"));
    CHECK_THAT(refusal(changed("\"time_us\": 4.0", "\"time_us\": -4.0")),
               Contains("parts.kernels.rows[0].time_us: -4 is not from"));
    CHECK_THAT(refusal(changed("\"time_us\": 4.0", "\"time_us\": 9.0")), Contains("the median does not lie between"));
    CHECK_THAT(refusal(changed("\"time_us\": 4.0", "\"time_us\": 1e999")), Contains("a number that is too large"));
    CHECK_THAT(refusal(changed("[4, 1, 1]", "[4, 1]")), Contains("grid: three numbers x, y and z are needed, not 2"));
    CHECK_THAT(refusal(changed("[4, 1, 1]", "[4.5, 1, 1]")), Contains("grid[0]: a whole number is needed, not 4.5"));
    CHECK_THAT(refusal(changed("small scan", "small relu")), Contains("rows[1]"));
    CHECK_THAT(refusal(changed("\"copies\"", "\"copy\"")), Contains("parts: unknown field 'copy'"));
    const bool fit = half_of("small relu") == SiliconHalf::fit;
    CHECK_THAT(refusal(changed(fit ? "\"fit\"" : "\"judge\"", fit ? "\"judge\"" : "\"fit\"")), Contains(".half: '"));
    CHECK_THAT(refusal("{\n \"format\": 1,\n ]"), Contains("f.json:3:2: error: this is no JSON"));
    CHECK_THAT(refusal(std::string(200'000, '[')), Contains("the JSON ends too early"));
    CHECK_THAT(refusal("[]"), Contains("the file: an object is needed, not an array"));
}

TEST_CASE("measuring goes part by part, keeps what the file holds, and says that the driver's GPU is a modelled one") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    SiliconFile file;
    SiliconOptions options = small_options();
    size_t saved = 0;
    options.finished = [&](const SiliconFile& so_far) { saved = so_far.parts.size(); };
    options.parts = {"kernels"};
    measure_silicon(file, "cuda:0", options);
    CHECK(file.gpu == "Modelled GPU");
    CHECK(file.driver == "13.0");
    CHECK(file.modelled);
    CHECK_FALSE(file.made_up);
    REQUIRE(file.parts.size() == 1);
    REQUIRE(file.parts[0].kernels.size() == 3);
    for (const SiliconKernel& kernel : file.parts[0].kernels) {
        CHECK(kernel.repeats >= 5);
        CHECK(kernel.fastest_us > 0);
        CHECK(kernel.fastest_us <= kernel.time_us);
        CHECK(kernel.time_us <= kernel.slowest_us);
        CHECK(kernel.cycles > 0);
    }
    file.parts[0].kernels[0].repeats = 77;  // would be lost by measuring again
    options.parts = {"properties", "launch", "copies", "kernels"};
    measure_silicon(file, "cuda:0", options);
    CHECK(saved == 4);
    CHECK(file.part("kernels")->kernels[0].repeats == 77);
    CHECK(file.part("copies")->figures.size() == 22);
    CHECK(file.part("launch")->figures.size() == 10);
    CHECK(file.part("launch")->figures.at(1).name == empty_kernel_figure);
    for (const SiliconPart& part : file.parts) CHECK((part.complete && part.failures.empty()));
    CHECK(file.part("properties")->figures.at(0).value == 80);
    CHECK(parse_silicon(format_silicon(file), "f.json").ok());
    const SiliconReport report = compare_silicon(file, "teaching", {.pack = small_pack()});
    CHECK(report.rows.size() == 3);
    REQUIRE_FALSE(report.remarks.empty());
    CHECK_THAT(report.remarks[0], Contains("nothing was measured on a real GPU"));

    file.gpu = "Another GPU";
    CHECK_THAT(failure_of([&] { measure_silicon(file, "cuda:0", options); }).what(), Contains("choose another file"));
    SiliconFile typed = parse_silicon(made_up(), "f.json").value();
    CHECK_THAT(failure_of([&] { measure_silicon(typed, "cuda:0", options); }).what(), Contains("made up"));
    options.parts = {"kernel"};
    CHECK_THAT(failure_of([&] { measure_silicon(file, "cuda:0", options); }).what(), Contains("did you mean 'kernels'?"));
    options.parts = {};
    CHECK_THAT(failure_of([&] { measure_silicon(file, "host", options); }).what(), Contains("not on 'host'"));
    const Failure none = failure_of([&] { measure_silicon(file, "cuda:7", options); });
    CHECK(none.status == ExitStatus::missing);
    CHECK_THAT(none.what(), Contains("there is no cuda:7"));
}

TEST_CASE("a part that was cut off goes on with the rows that it lacks, also behind one that failed") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"kernels"};
    std::string kept;
    options.finished = [&](const SiliconFile& so_far) {
        kept = format_silicon(so_far);
        if (so_far.parts[0].kernels.size() == 2) throw std::runtime_error("the power went off");
    };
    CHECK_THROWS_AS(measure_silicon(file, "cuda:0", options), std::runtime_error);
    SiliconFile again = parse_silicon(kept, "f.json").value();
    REQUIRE(again.parts.size() == 1);
    CHECK_FALSE(again.parts[0].complete);
    CHECK(again.parts[0].kernels.size() == 2);
    std::vector<PackRow> pack = small_pack();
    pack.insert(pack.begin() + 2, {"wrong", "", "relu_f32", {1}, {256}, {floats(256)}});
    options.pack = pack;
    options.finished = nullptr;
    std::vector<std::string> started;
    options.started = [&](std::string_view what) { started.emplace_back(what); };
    measure_silicon(again, "cuda:0", options);
    CHECK(started == std::vector<std::string>{"wrong", "small transpose"});
    CHECK(again.parts[0].complete);
    CHECK(again.parts[0].kernels.size() == 3);
    REQUIRE(again.parts[0].failures.size() == 1);
    CHECK_THAT(again.parts[0].failures[0].why, Contains("relu_f32 takes 3 arguments"));
    CHECK(parse_silicon(format_silicon(again), "f.json").ok());
}

TEST_CASE("rows of every kind are read as they were written, and wrong ones are refused") {
    SiliconFile file{.gpu = "Made-up V100", .driver = "0.0", .made_up = true};
    file.parts = {{.name = "ratios", .clock_before_mhz = 1, .clock_after_mhz = 2},
                  {.name = "training", .complete = false, .clock_before_mhz = 1, .clock_after_mhz = 2},
                  {.name = "opcodes", .clock_before_mhz = 1, .clock_after_mhz = 2}};
    file.parts[1].trainings = {{"gpt fused", 4, 10, 77, 900.5, 850, 1000, 2.25, 2.5, 0.1}};
    file.parts[0].ratios = {{"sgemm_wide 4096", 30000, 40000, "GFLOP/s", "cuBLAS"}};
    file.parts[2].checks = {{"add.f32", 100, 3, {97, 2, 0, 0, 0, 0, 0, 1}, 0.5, 1, ""}};
    file.parts[2].failures = {{"sub.f32", "refused"}};
    const std::string text = format_silicon(file);
    const SiliconFile read = parse_silicon(text, "f.json").value();
    CHECK(format_silicon(read) == text);
    CHECK(read.part("ratios")->ratios.at(0).ratio() == 0.75);
    CHECK(read.part("opcodes")->checks.at(0).apart[7] == 1);
    CHECK_FALSE(read.part("training")->complete);
    const auto wrong = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        const size_t at = other.find(from);
        REQUIRE(at != std::string::npos);
        return refusal(other.replace(at, from.size(), to));
    };
    CHECK_THAT(wrong("\"different\": 3", "\"different\": 101"), Contains("more values differ than were compared"));
    CHECK_THAT(wrong("\"host_loss\": 2.5", "\"host_loss\": null"), Contains("rows[0].host_loss: a number is needed"));
    CHECK_THAT(wrong("\"yardstick\": 40000.0", "\"yardstick\": 0"), Contains("rows[0].yardstick: 0 is not from"));
    CHECK_THAT(wrong("97,", "98,"), Contains("apart: more values than were compared"));
}

TEST_CASE("every operation runs on the driver's GPU and on our machine, and the same machine gives the same bits") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"opcodes"};
    measure_silicon(file, "cuda:0", options);
    const SiliconPart& part = *file.part("opcodes");
    for (const auto& failure : part.failures) FAIL_CHECK(failure.name << ": " << failure.why);
    std::set<std::string> operations;
    for (const SiliconCheck& check : part.checks) {
        INFO(check.name << ": " << check.note);
        CHECK(check.compared >= 256);
        CHECK(check.different == 0);
        CHECK(check.refused == 0);
        operations.insert(check.name.substr(0, check.name.find('.')));
    }
    CHECK(part.checks.size() > 400);
    for (const std::string_view name : {"wmma", "wgmma", "mbarrier", "cp", "cluster"})
        CHECK(operations.contains(std::string(name)));
    const auto sparse = [](const SiliconCheck& it) { return it.name.starts_with("wgmma.sp."); };
    CHECK(std::count_if(part.checks.begin(), part.checks.end(), sparse) == 9);
    for (const ptx::Opcode& row : ptx::opcodes()) {
        const bool lanes = row.kind == ptx::Kind::lane_wise || row.kind == ptx::Kind::lane_wise_many;
        const std::array kinds = {ptx::Kind::matrix, ptx::Kind::atomic, ptx::Kind::vote, ptx::Kind::texture,
                                  ptx::Kind::surface};
        if (!lanes && std::find(kinds.begin(), kinds.end(), row.kind) == kinds.end()) continue;
        if (row.name == "cvta" || row.name == "isspacep") continue;
        INFO(row.name);
        CHECK((operations.contains(std::string(row.name)) || row.name == "activemask" || row.name == "elect"));
    }
}

TEST_CASE("what the GPU's compiler refuses is counted, and the rest of its operation is compared") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    setenv("LOCKSTEP_MODELLED_REFUSES", "mad.lo.u32 %r0", 1);
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"opcodes"};
    measure_silicon(file, "cuda:0", options);
    unsetenv("LOCKSTEP_MODELLED_REFUSES");
    for (const SiliconCheck& check : file.part("opcodes")->checks) {
        INFO(check.name);
        CHECK(check.refused == (check.name == "mad.u32" ? 1 : 0));
        CHECK(check.different == 0);
        if (check.name == "mad.u32") CHECK_THAT(check.note, Contains("mad.lo.u32 %r0, %r1, %r2, %r3: cuda:0 refuses"));
        if (check.name == "mad.u32") CHECK(check.compared > 256);
    }
}

TEST_CASE("each spelling of an operation is compared with values at its type's edges and others") {
    const OpcodeStep step{
        "add.f32 %r0, %r1, %r2", {{"%r1", ptx::Type::f32}, {"%r2", ptx::Type::f32}}, {{"%r0", ptx::Type::f32}}, {}, {}};
    const OpcodeKernel kernel = opcode_kernel("k", {step}, 4096, "sm_90");
    REQUIRE(kernel.inputs.size() == 2);
    std::set<std::pair<uint64_t, uint64_t>> pairs;
    for (size_t t = 0; t < 4096; ++t) pairs.emplace(kernel.inputs[0][t], kernel.inputs[1][t]);
    const uint64_t values[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 1};
    for (const uint64_t a : values)
        for (const uint64_t b : values) CHECK(pairs.contains({a, b}));
    CHECK(pairs.size() > 3000);  // the others are random
    CHECK(opcode_kernel("k", {step}, 4096, "sm_90").ptx == kernel.ptx);
}

// Takes minutes, so it runs by its name alone, with the folder LOCKSTEP_OPCODES_TO: for whoever changes the cases and has
// NVIDIA's assembler: for f in FOLDER/*.ptx; do ptxas -arch=sm_90 $f -o /dev/null; done
TEST_CASE("every operation is written to a file", "[.]") {
    const char* const folder = std::getenv("LOCKSTEP_OPCODES_TO");
    REQUIRE(folder);
    size_t number = 0;
    for (const OpcodeCase& it : opcode_cases())
        for (size_t at = 0; at < it.steps.size(); at += 48)
            write_file(fmt::format("{}/{:04}.ptx", folder, number++),
                       fmt::format("// {}\n", it.name) +
                           opcode_kernel("k",
                                         {it.steps.begin() + static_cast<ptrdiff_t>(at),
                                          it.steps.begin() + static_cast<ptrdiff_t>(std::min(at + 48, it.steps.size()))},
                                         4096, "sm_90")
                               .ptx);
}

TEST_CASE("differences are counted by how many encodings lie between") {
    SiliconCheck check;
    const auto f = [](float x) { return uint64_t{__builtin_bit_cast(uint32_t, x)}; };
    CHECK_FALSE(count_pieces(check, ptx::Type::f32, f(1), f(1)));
    CHECK(count_pieces(check, ptx::Type::f32, f(1), f(1) + 1));
    CHECK(count_pieces(check, ptx::Type::f32, f(0.0f), f(-0.0f)));       // no encoding lies between
    CHECK(count_pieces(check, ptx::Type::f32, 0x7fffffff, 0x7fc00000));  // two NaNs
    CHECK(count_pieces(check, ptx::Type::f32, 1, 0x80000002));           // 1 and -2 units
    CHECK(count_pieces(check, ptx::Type::f32, f(1), 0x7fffffff));
    CHECK(count_pieces(check, ptx::Type::f16x2, 0x3c003c00, 0x3c103c09));  // 16 and 9 apart
    CHECK(count_pieces(check, ptx::Type::b32, 7, 70000));
    CHECK(check.compared == 9);
    CHECK(check.different == 8);
    CHECK(check.apart == std::array<uint64_t, 8>{3, 1, 0, 1, 0, 2, 0, 1});
}

TEST_CASE("kernels of the library and micro-benchmarks are run through the driver") {
    setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"checks"};
    measure_silicon(file, "cuda:0", options);
    const SiliconPart& checks = *file.part("checks");
    CHECK(checks.failures.empty());
    CHECK(checks.checks.size() > 200);
    for (const SiliconCheck& check : checks.checks) {
        INFO(check.name << ": " << check.note);
        CHECK(check.compared > 0);
        CHECK(check.different == 0);
        CHECK(check.largest == 0.0);
    }
    CHECK(parse_silicon(format_silicon(file), "f.json").ok());
}

namespace {
// The modelled driver with a GPU of its own time, and cuBLAS beside it, until the end of the scope.
struct TimedDriver {
    explicit TimedDriver(const char* gpu) {
        setenv("LOCKSTEP_LIBCUDA", LOCKSTEP_MODELLED_DRIVER, 1);
        setenv("LOCKSTEP_LIBCUBLAS", LOCKSTEP_MODELLED_CUBLAS, 1);
        setenv("LOCKSTEP_MODELLED_GPU", gpu, 1);
    }
    ~TimedDriver() {
        unsetenv("LOCKSTEP_MODELLED_GPU");
        unsetenv("LOCKSTEP_LIBCUBLAS");
    }
    TimedDriver(const TimedDriver&) = delete;
    TimedDriver& operator=(const TimedDriver&) = delete;
};
}  // namespace

TEST_CASE("on a GPU with a clock every micro-benchmark has its figure, near what validate says of the same row", "[long]") {
    const TimedDriver driver("h200");
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"micro"};
    measure_silicon(file, "cuda:0", options);
    CHECK(file.gpu == "Modelled h200");
    CHECK(file.modelled);
    const SiliconPart& micro = *file.part("micro");
    for (const SiliconFailure& failure : micro.failures) FAIL_CHECK(failure.name << ": " << failure.why);
    CHECK(micro.figures.size() > 35);
    const auto figure = [&](std::string_view name) {
        const auto found =
            std::find_if(micro.figures.begin(), micro.figures.end(), [&](const auto& it) { return it.name == name; });
        return found == micro.figures.end() ? NAN : found->value;
    };
    for (const std::string_view name : {"bandwidth h200/dram", "peak h200/f32", "peak h200/f16_tensor", "sgemm 1_naive"})
        CHECK(figure(name) > 0);
    const model::GpuSpec gpu = model::gpu_named("h200").value();
    CHECK(figure("latency h200/l1") == Approx(gpu.l1_latency.value).margin(3));
    CHECK(figure("latency h200/l2") == Approx(gpu.l2_latency.value).epsilon(0.1));
    for (const SiliconFigure& it : micro.figures) CHECK_FALSE(it.unit.empty());
    CHECK(parse_silicon(format_silicon(file), "f.json").ok());
}

TEST_CASE("the published kernels run on a GPU, those too whose blocks wait for the whole grid", "[long]") {
    const TimedDriver driver("h200");
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"published"};
    measure_silicon(file, "cuda:0", options);
    const SiliconPart& part = *file.part("published");
    for (const SiliconFailure& failure : part.failures) FAIL_CHECK(failure.name << ": " << failure.why);
    CHECK(part.kernels.size() > 18);  // a kind each, and a second launch where there is one
    const auto named = [&](std::string_view name) {
        return std::any_of(part.kernels.begin(), part.kernels.end(), [&](const auto& it) { return it.name == name; });
    };
    for (const std::string_view name : {"rounds_4096_256", "scan_tiles_shared add_totals", "guarded_rows_apart"}) {
        INFO(name);
        CHECK(named(name));
    }
    CHECK(parse_silicon(format_silicon(file), "f.json").ok());
}

TEST_CASE("launches, copies, kernels and ratios to cuBLAS have every row on a GPU with a time of its own", "[long]") {
    const TimedDriver driver("h200");
    SiliconFile file;
    SiliconOptions options = small_options();
    options.parts = {"properties", "launch", "copies", "kernels", "ratios"};
    measure_silicon(file, "cuda:0", options);
    for (const SiliconPart& part : file.parts) {
        for (const SiliconFailure& failure : part.failures)
            FAIL_CHECK(part.name << " " << failure.name << ": " << failure.why);
        CHECK(part.complete);
        CHECK(part.clock_before_mhz == Approx(1980).epsilon(0.2));  // the row's boost clock, and what starts a kernel
    }
    CHECK(file.part("kernels")->kernels.size() == 3);
    const auto& ratios = file.part("ratios")->ratios;
    size_t causal = 0;
    for (const SiliconRatio& row : ratios) {
        INFO(row.name);
        CHECK(row.ratio() > 0);
        causal += row.name.find("causal") != std::string::npos;
    }
    CHECK(ratios.size() == 8 + 5 + 8);  // rows, products, attention
    CHECK(causal == 4);
}

TEST_CASE("a fit finds again by how much a GPU's row was changed before the driver measured it", "[long]") {
    // Estimates of the row: branch_latency 8, blocks_per_cycle 1.
    const TimedDriver driver("v100 branch_latency=10 blocks_per_cycle=0.85");
    std::vector<PackRow> rows;
    for (int i = 0; i < 4; ++i) {  // loops of one warp, and blocks that do nothing
        const int64_t rounds = 300 + 50 * i;
        rows.push_back(
            {fmt::format("{} turns", i + 1), own, "clock_rate", {1}, {32}, clock_row(static_cast<int>(rounds)).arguments});
        const auto blocks = static_cast<uint32_t>(8'000 + 1'600 * i);
        rows.push_back({fmt::format("{} blocks", i), "", "relu_f32", {blocks}, {32}, empty_row().arguments});
    }
    SiliconFile file;
    SiliconOptions options = small_options();
    options.clock_rounds = 1 << 14;  // what starts the clock's kernel counts less
    options.flushed = 1 << 22;       // long enough for the kernel to be in its queue before the GPU comes to it
    options.pack = rows;
    options.parts = {"launch", "kernels"};
    measure_silicon(file, "cuda:0", options);
    REQUIRE(file.part("kernels")->kernels.size() == rows.size());
    const SiliconFit fit = fit_silicon(file, model::gpu_named("v100").value(), {.pack = rows},
                                       {"branch_latency", "blocks_per_cycle", "dram_row_cycle_ns"});
    for (const SiliconProposal& it : fit.proposals) UNSCOPED_INFO(it.figure << " " << it.from << " -> " << it.to);
    INFO(fit.fit_before.mean_error << " -> " << fit.fit_after.mean_error << ", judge " << fit.judge_before.mean_error
                                   << " -> " << fit.judge_after.mean_error);
    const auto proposed = [&](std::string_view figure) {
        for (const SiliconProposal& it : fit.proposals)
            if (it.figure == figure) return it.to;
        return 0.0;
    };
    CHECK(proposed("branch_latency") == 10);
    CHECK(proposed("blocks_per_cycle") == Approx(0.85).epsilon(0.04));  // a fit goes by steps of 3 %
    CHECK(proposed("dram_row_cycle_ns") == 0);
    CHECK(fit.fit_after.mean_error < fit.fit_before.mean_error / 3);
    CHECK(fit.judge_after.mean_error < fit.judge_before.mean_error / 3);
}

TEST_CASE("the model held against itself has no error") {
    SiliconFile file;
    measure_silicon(file, "sim:teaching", small_options());
    CHECK(file.modelled);
    REQUIRE(file.parts.size() == 1);
    CHECK(file.parts[0].clock_before_mhz ==
          Approx(1000).epsilon(0.2));  // the teaching GPU's clock, and what starts a kernel
    for (SiliconKernel& kernel : file.parts[0].kernels) {
        const double cycles = kernel.time_us * 1000;
        kernel.cycles = cycles;
    }
    const SiliconReport report = compare_silicon(file, "", {.pack = small_pack()});
    CHECK(report.model == "teaching");
    REQUIRE(report.rows.size() == 3);
    for (const SiliconRow& row : report.rows) CHECK(std::abs(row.error()) < 0.02);
}

TEST_CASE("errors and correlation of each half are those of their plain definitions") {
    std::vector<SiliconRow> rows;
    for (const double measured : {100.0, 1000.0, 10000.0, 100000.0}) {
        rows.push_back({"k", SiliconHalf::judge, measured, 2 * measured});        // twice as long: as straight as can be
        rows.push_back({"k", SiliconHalf::fit, measured, 1e6 / measured * 1.0});  // the other way round
    }
    CHECK(total_of(rows, SiliconHalf::judge).rows == 4);
    CHECK(total_of(rows, SiliconHalf::judge).mean_error == Approx(1.0));
    CHECK(total_of(rows, SiliconHalf::judge).correlation == Approx(1.0));
    CHECK(total_of(rows, SiliconHalf::fit).correlation == Approx(-1.0));
    rows[0].modelled = NAN;
    CHECK(std::isnan(total_of(rows, SiliconHalf::judge).mean_error));
    CHECK(std::isnan(total_of({}, SiliconHalf::fit).correlation));
}

TEST_CASE("a made-up file is compared kernel by kernel and says that it is made up") {
    SiliconFile file = parse_silicon(made_up(), "f.json").value();
    const SiliconReport report = compare_silicon(file, "", {.pack = small_pack()});
    CHECK(report.model == "v100");
    CHECK_THAT(report.remarks.at(0), Contains("made up"));
    CHECK_THAT(report.remarks.at(1), Contains("no such kernel: the pack has no kernel of that name"));
    REQUIRE(report.rows.size() == 2);
    for (const SiliconRow& row : report.rows) {
        CHECK(row.modelled > 0);
        CHECK(row.error() == Approx(row.modelled / row.measured - 1));
    }
    CHECK(model_of("NVIDIA H200") == "h200");
    CHECK(model_of("NVIDIA GeForce RTX 3090") == "rtx3090");
    CHECK(model_of("NVIDIA H100 PCIe") == "h100-pcie");
    CHECK_FALSE(model_of("Voodoo 2"));
    file.gpu = "Voodoo 2";
    CHECK_THAT(failure_of([&] { compare_silicon(file, "", {.pack = small_pack()}); }).what(), Contains("name one"));
}

}  // namespace silicon_silicon_test
