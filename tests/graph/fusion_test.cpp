// Fused graphs against the launches that they were made of, one by one: the same bits, fewer launches, fewer bytes.
#include "core/graph/fusion/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "core/base/rng.h"
#include "core/device/arguments.h"
#include "core/graph/fusion/fusion_kernel.h"
#include "core/graph/fusion/fusion_statement.h"
#include "core/ptx/ptx.h"
#include "core/simt/launch.h"
#include "tests/catch.h"

namespace graph_fusion_test {

using namespace lockstep;
using namespace lockstep::graph;
using device::Argument;

namespace {
struct Build {  // a graph by hand: buffers with random contents, launches by the kernels' names
    Graph graph;
    DType type = DType::f32;
    Rng rng{1};

    int buffer(std::string name, int64_t count, Role role, DType of) {
        Buffer it;
        it.name = std::move(name);
        it.role = role;
        it.shape = {count};
        it.strides = {1};
        it.dtype = of;
        it.bytes = count * static_cast<int64_t>(size_of(of));
        graph.buffers.push_back(std::move(it));
        return static_cast<int>(graph.buffers.size()) - 1;
    }
    int buffer(std::string name, int64_t count, Role role = Role::intermediate) {
        return buffer(std::move(name), count, role, type);
    }
    static Operand at(int buffer, int64_t offset = 0) {
        Operand operand;
        operand.kind = Operand::Kind::buffer;
        operand.buffer = buffer;
        operand.offset = offset;
        return operand;
    }
    static Operand number(int64_t value) {
        Operand operand;
        operand.value = static_cast<int32_t>(value);
        return operand;
    }
    Operand real(double value) const {
        Operand operand;
        operand.value = type == DType::f64 ? Argument(value) : Argument(static_cast<float>(value));
        return operand;
    }
    void launch(const std::string& base, simt::Dim3 grid, simt::Dim3 block, std::vector<Operand> operands, std::string label,
                std::string phase = "forward") {
        const device::KernelRow& row = device::kernel_named(device::typed_kernel(base, type));
        Launch it;
        it.kernel = row.name;
        it.base = row.base;
        it.type = type;
        it.grid = grid;
        it.block = block;
        it.label = std::move(label);
        it.phase = std::move(phase);
        const auto& accesses = accesses_of(row.name);
        for (size_t i = 0; i < operands.size(); ++i)
            if (operands[i].kind == Operand::Kind::buffer) operands[i].access = accesses[i];
        it.operands = std::move(operands);
        graph.launches.push_back(std::move(it));
    }
    void dropout(int x, int y, int64_t count, double probability, int64_t offset, std::string label) {
        Operand seed, distance, threshold;
        seed.value = int64_t{-77};
        distance.kind = Operand::Kind::random_offset;
        distance.value = offset;
        threshold.value = static_cast<uint32_t>(probability * 0x1p32);
        launch("dropout", {static_cast<uint32_t>((count + 1023) / 1024), 1, 1}, {256, 1, 1},
               {at(x), at(y), seed, distance, threshold, real(1 / (1 - probability)), number(count)}, std::move(label));
    }
    void elementwise(const std::string& base, int64_t count, std::vector<Operand> operands, std::string label,
                     std::string phase = "forward") {
        launch(base, {static_cast<uint32_t>((count + 255) / 256), 1, 1}, {256, 1, 1}, std::move(operands), std::move(label),
               std::move(phase));
    }
};

std::vector<std::byte> random_bytes(const Buffer& buffer, Rng& rng) {
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes));
    const size_t size = size_of(buffer.dtype);
    for (size_t i = 0; i + size <= bytes.size(); i += size) {
        const double value = 0.25 + rng.uniform() * 1.5;  // no kinks, no NaN
        const auto put = [&](auto stored) { std::memcpy(bytes.data() + i, &stored, sizeof stored); };
        if (buffer.dtype == DType::f64) put(value);
        if (buffer.dtype == DType::f32) put(static_cast<float>(value));
        if (buffer.dtype == DType::f16) put(f32_to_f16(static_cast<float>(value)));
        if (buffer.dtype == DType::bf16) put(f32_to_bf16(static_cast<float>(value)));
        if (buffer.dtype == DType::u8) put(static_cast<uint8_t>(rng.below(2)));
        if (buffer.dtype == DType::i32) put(static_cast<int32_t>(rng.below(3)));
    }
    return bytes;
}

using Contents = std::vector<std::vector<std::byte>>;

// Runs the launches on a device; what persistent buffers and outputs hold afterwards. Memory begins as `before` says.
Contents run(const Graph& graph, const Contents& before, const std::string& name) {
    const auto device = device::open_device(name, {.functional = true, .threads = 2}).value();
    std::vector<device::Pointer> pointers;
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
        pointers.push_back(device->allocate(static_cast<size_t>(graph.buffers[b].bytes), graph.buffers[b].name));
        device->copy_in(pointers[b], before[b].data(), before[b].size());
    }
    for (const Launch& launch : graph.launches) {
        device::LaunchRequest request;
        request.kernel = launch.kernel;
        request.grid = launch.grid;
        request.block = launch.block;
        request.generated = launch.generated.get();
        for (const Operand& operand : launch.operands)
            request.arguments.push_back(operand.kind == Operand::Kind::buffer
                                            ? Argument(device::Pointer{pointers[size_t(operand.buffer)].address +
                                                                       static_cast<uint64_t>(operand.offset)})
                                            : operand.value);
        device->launch(request);
    }
    Contents after(graph.buffers.size());
    for (size_t b = 0; b < after.size(); ++b) {
        if (graph.buffers[b].role == Role::intermediate && !graph.buffers[b].output) continue;
        after[b].resize(before[b].size());
        device->copy_out(after[b].data(), pointers[b], after[b].size());
    }
    return after;
}

Contents contents_of(const Graph& graph, Rng& rng) {
    Contents all;
    for (const Buffer& buffer : graph.buffers) all.push_back(random_bytes(buffer, rng));
    return all;
}

// Nothing but memory's contents is compared, on both devices; intermediates that are never written hold garbage before.
void same_numbers(Build& build, const Fusion& fusion) {
    const Contents before = contents_of(build.graph, build.rng);
    Contents garbage = before;  // what the fused launches never write must not matter
    for (size_t b = 0; b < garbage.size(); ++b)
        if (build.graph.buffers[b].role == Role::intermediate)
            for (std::byte& byte : garbage[b]) byte = std::byte{0xff};
    for (const std::string device : {"host", "sim:v100"}) {
        const Contents eager = run(build.graph, before, device), fused = run(fusion.graph, garbage, device);
        for (size_t b = 0; b < eager.size(); ++b) {
            INFO(device << ", " << build.graph.buffers[b].name << ", type " << name_of(build.type) << "\n"
                        << text_of(build.graph) << text_of(fusion));
            const bool same = eager[b] == fused[b];
            REQUIRE(same);
        }
    }
}

// A random walk through ops over n = rows x columns elements, some values read twice, some kept.
Build random_chain(uint64_t seed, DType type, int64_t rows, int64_t columns) {
    Build it;
    it.type = type;
    it.rng = Rng(seed);
    const int64_t n = rows * columns;
    const auto at = [](int buffer) { return Build::at(buffer); };
    const auto num = [](int64_t value) { return Build::number(value); };
    std::vector<int> values = {it.buffer("x", n, Role::feed), it.buffer("z", n, Role::feed)};
    const int bias = it.buffer("bias", columns, Role::persistent), state = it.buffer("state", n, Role::persistent);
    const std::vector<std::string> unary = {"neg", "square", "abs_value", "sigmoid", "tanh_value", "gelu", "silu", "relu"};
    const std::vector<std::string> binary = {"add", "sub", "mul", "maximum", "minimum", "relu_backward", "gelu_backward"};
    const auto six = [&](std::vector<Operand>& into, std::vector<int64_t> last) {
        for (size_t i = last.size(); i < 6; ++i) into.push_back(num(1));
        for (const int64_t value : last) into.push_back(num(value));
    };
    const auto strides = [&](std::vector<Operand>& into, std::vector<int64_t> last) {
        for (size_t i = last.size(); i < 6; ++i) into.push_back(num(0));
        for (const int64_t value : last) into.push_back(num(value));
    };
    const int ops = 3 + static_cast<int>(it.rng.below(6));
    for (int i = 0; i < ops; ++i) {
        const auto newest = values.back(), any = values[it.rng.below(values.size())];
        const std::string label = fmt::format("op{}", i);
        const int made = it.buffer(label, n);
        switch (it.rng.below(9)) {
            case 8:
                it.dropout(newest, made, n, 0.25, static_cast<int64_t>(it.rng.below(100)), label);
                break;
            case 0:
                it.elementwise("add_bias", n, {at(newest), at(bias), at(made), num(rows), num(columns)}, label);
                break;
            case 1: {
                std::vector<Operand> operands = {at(it.rng.below(2) ? values[0] : values[1]), at(bias), at(made), num(n),
                                                 num(2)};
                six(operands, {rows, columns});
                strides(operands, {columns, 1});
                strides(operands, {0, 1});
                it.elementwise("mul_broadcast", n, operands, label);
                break;
            }
            case 2: {  // x transposed and transposed back is no view without gaps
                std::vector<Operand> operands = {at(values[0]), at(made), num(n), num(2)};
                six(operands, {rows, columns});
                strides(operands, {1, rows});
                it.elementwise("copy_strided", n, operands, label);
                break;
            }
            case 3:
                it.elementwise("scale_add", n, {at(newest), at(made), num(n), it.real(0.5), it.real(0.25)}, label);
                break;
            case 4:
                it.elementwise("accumulate", n, {at(state), at(newest), num(n)}, label);
                it.elementwise("mul", n, {at(state), at(any), at(made), num(n)}, label + " of state");
                break;
            case 5:
            case 6:
                it.elementwise(binary[it.rng.below(binary.size())], n, {at(newest), at(any), at(made), num(n)}, label);
                break;
            default:
                it.elementwise(unary[it.rng.below(unary.size())], n, {at(newest), at(made), num(n)}, label);
        }
        values.push_back(made);
        if (it.rng.below(4) == 0) it.graph.buffers[size_t(made)].output = true;
    }
    it.graph.buffers[size_t(values.back())].output = true;
    touch(it.graph);
    return it;
}

Build matmul_bias_relu(DType type, int64_t m, int64_t n, int64_t k, bool keep_sum) {
    Build it;
    it.type = type;
    const int x = it.buffer("x", m * k, Role::feed), w = it.buffer("fc1.weight", n * k, Role::persistent),
              b = it.buffer("fc1.bias", n, Role::persistent), c = it.buffer("fc1 matmul", m * n),
              sum = it.buffer("fc1 add", m * n), y = it.buffer("relu1", m * n);
    it.graph.buffers[size_t(y)].output = true;
    it.graph.buffers[size_t(sum)].output = keep_sum;
    it.launch("matmul_nt", {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), 1}, {16, 16, 1},
              {Build::at(x), Build::at(w), Build::at(c), Build::number(m), Build::number(n), Build::number(k)},
              "fc1 matmul");
    it.elementwise("add_bias", m * n, {Build::at(c), Build::at(b), Build::at(sum), Build::number(m), Build::number(n)},
                   "fc1 add");
    it.elementwise("relu", m * n, {Build::at(sum), Build::at(y), Build::number(m * n)}, "relu1");
    touch(it.graph);
    return it;
}
}  // namespace

TEST_CASE("random chains give the same bits fused as one by one, on the host and on the modelled GPU") {
    const std::vector<std::pair<int64_t, int64_t>> shapes = {{1, 1}, {3, 7}, {1, 257}, {33, 31}, {40, 128}, {5, 1000}};
    int64_t fused = 0;
    uint64_t seed = 1;
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const auto& [rows, columns] : shapes)
            for (int repeat = 0; repeat < 2; ++repeat) {
                Build build = random_chain(seed++, type, rows, columns);
                const Fusion fusion = fuse(build.graph);
                fused += fusion.before.launches - fusion.after.launches;
                CHECK(fusion.after.bytes <= fusion.before.bytes);
                same_numbers(build, fusion);
            }
    CHECK(fused > 100);
}

TEST_CASE("every elementwise kernel of the library can be read off its PTX") {
    const std::set<std::string, std::less<>> elementwise = {
        "relu",          "relu_backward",   "add",        "sub",           "mul",          "div",
        "maximum",       "minimum",         "accumulate", "fill",          "sgd",          "adamw",
        "adam",          "sgd_momentum",    "gelu",       "gelu_backward", "silu",         "silu_backward",
        "swiglu",        "swiglu_backward", "scale_add",  "mse",           "mse_backward", "add_bias",
        "add_broadcast", "copy_strided",    "where",      "clip_value",    "neg",          "exp_value",
        "tanh_value"};
    for (const device::KernelRow& row : device::kernels()) {
        if (row.type != DType::f32 && row.type != DType::f64 && row.type != DType::f16) continue;
        const KernelReading& reading = reading_of(row.name);
        INFO(row.name << ": " << reading.why_not);
        REQUIRE(reading.entry != nullptr);
        if (elementwise.count(row.base) != 0) CHECK(reading.pointwise);
        if (reading.pointwise) CHECK(!reading.bound.empty());
    }
    for (const char* other : {"softmax_f32", "reduce_sum_f32", "layer_norm_f32", "matmul_nn_f32", "dropout_f32"}) {
        INFO(other);
        CHECK(!reading_of(other).pointwise);
        CHECK(!reading_of(other).why_not.empty());
    }
    const KernelReading& adamw = reading_of("adamw_f32");
    CHECK(adamw.uses[4].reads == Reach::fixed);
    CHECK(adamw.uses[0].reads == Reach::element);
    CHECK(adamw.uses[0].writes == Reach::element);
    CHECK(!adamw.uses[0].always_stored);  // a step may be left out
    CHECK(reading_of("gelu_f32").uses[1].always_stored);
}

TEST_CASE("what threads do together is seen by the opcode table: such a kernel is not one of elements") {
    const auto why_not = [](const std::string& statement) {
        const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 k_param_2)
{
	.reg .pred %p<3>; .reg .f32 %f<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
	ld.param.u64 %rd1, [k_param_0]; ld.param.u64 %rd2, [k_param_1]; ld.param.u32 %r5, [k_param_2];
	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r1, %r5; @%p1 bra $L__BB0_2;
	cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2; mul.wide.s32 %rd5, %r1, 4;
	add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5; ld.global.f32 %f1, [%rd6]; mov.b32 %r6, %f1;
	)" + statement + R"(;
	st.global.f32 [%rd7], %f1;
$L__BB0_2:
	ret;
}
)";
        const auto module = std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx").value());
        const KernelReading reading = read_kernel(module, "k", "k.cu");
        CHECK(reading.pointwise == reading.why_not.empty());
        return reading.why_not;
    };
    for (const char* plain : {"neg.f32 %f1, %f1", "prmt.b32 %r7, %r6, %r6, 0x123", "ld.global.nc.f32 %f2, [%rd6]"})
        CHECK(why_not(plain) == "");
    for (const char* exchange :
         {"membar.gl", "membar.sys", "fence.acq_rel.gpu", "fence.proxy.async", "match.any.sync.b32 %r7, %r6, -1",
          "match.all.sync.b32 %r7|%p2, %r6, -1", "redux.sync.add.s32 %r7, %r6, -1", "activemask.b32 %r7",
          "elect.sync %r7|%p2, -1", "vote.sync.ballot.b32 %r7, %p1, -1", "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1",
          "bar.sync 0", "barrier.sync 0", "bar.warp.sync -1", "bar.red.popc.u32 %r7, 0, %p1",
          "red.global.add.f32 [%rd7], %f1", "atom.global.add.f32 %f2, [%rd7], %f1", "barrier.cluster.arrive",
          "cp.async.commit_group"}) {
        INFO(exchange);
        CHECK(why_not(exchange) == "its threads exchange values");
    }
    for (const char* seen : {"ld.volatile.global.f32 %f2, [%rd6]", "ld.relaxed.gpu.global.f32 %f2, [%rd6]",
                             "st.volatile.global.f32 [%rd7], %f1", "st.release.gpu.global.f32 [%rd7], %f1"})
        CHECK(why_not(seen) == "others see when it accesses memory");
    for (const char* other : {"trap", "nanosleep.u32 100", "prefetch.global.L2 [%rd6]"})
        CHECK(why_not(other) == "it does more than arithmetic, loads and stores");
    for (const char* place : {"mov.u32 %r7, %laneid", "mov.u32 %r7, %nctaid.x", "mov.u64 %rd8, %clock64"})
        CHECK(why_not(place) == "it asks where its thread is");
    CHECK(why_not("{ .param .b32 r; .param .b64 a; .param .b64 b; call (r), vprintf, (a, b); }") ==
          "it calls functions or has memory of its own");
}

TEST_CASE("only statements that do nothing but make a register go when nobody reads it") {
    const std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
	.reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<3>;
	mov.u32 %r1, %tid.x;
	add.u32 %r2, %r1, 1;
	add.cc.u32 %r3, %r1, 1;
	addc.u32 %r4, %r1, 0;
	match.any.sync.b32 %r5, %r1, -1;
	activemask.b32 %r6;
	redux.sync.add.s32 %r7, %r1, -1;
	ld.volatile.shared.u32 %r8, [0];
	ld.shared.u32 %r9, [0];
	@%p1 mov.u32 %r10, 1;
	membar.gl;
L:	st.shared.u32 [4], %r4;
})";
    const ptx::Module module = ptx::parse(text, "k.ptx").value();
    ptx::Entry entry = module.entries.at(0);
    drop_dead_statements(entry);
    std::string left;
    for (const ptx::Statement& statement : entry.statements) left += std::string(statement.opcode) + " ";
    CHECK(left ==
          "mov.u32 add.cc.u32 addc.u32 match.any.sync.b32 activemask.b32 redux.sync.add.s32 ld.volatile.shared.u32 "
          "mov.u32 membar.gl st.shared.u32 ");
    CHECK(entry.labels.at(0).statement == 9);
}

TEST_CASE("a product of matrices takes bias and relu with it: one launch, and its own value is never written") {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, std::tuple{17, 33, 19}, std::tuple{64, 10, 128}}) {
            Build build = matmul_bias_relu(type, m, n, k, false);
            const Fusion fusion = fuse(build.graph);
            INFO(name_of(type) << text_of(fusion));
            REQUIRE(fusion.graph.launches.size() == 1);
            CHECK(fusion.unwritten == std::vector<std::string>{"fc1 matmul", "fc1 add"});
            const double size = double(size_of(type));
            CHECK(fusion.before.bytes - fusion.after.bytes == 4.0 * m * n * size);
            same_numbers(build, fusion);
        }
    for (const auto& [m, n, k, type] :
         {std::tuple{1, 1, 1, DType::f16}, std::tuple{37, 45, 70, DType::f16}, std::tuple{37, 45, 70, DType::bf16}}) {
        Build build = matmul_bias_relu(type, m, n, k, false);  // the same on tensor cores
        Launch& product = build.graph.launches[0];
        product.kernel = device::typed_kernel("matmul_tc_nt", type);
        product.base = "matmul_tc_nt";
        product.grid = {static_cast<uint32_t>((n + 31) / 32), static_cast<uint32_t>((m + 31) / 32), 1};
        product.block = {128, 1, 1};
        const Fusion fusion = fuse(build.graph);
        INFO(text_of(fusion));
        REQUIRE(fusion.graph.launches.size() == 1);
        CHECK(fusion.unwritten == std::vector<std::string>{"fc1 matmul", "fc1 add"});
        CHECK(fusion.graph.launches[0].generated->program->target == (type == DType::bf16 ? "sm_80" : "sm_70"));
        same_numbers(build, fusion);
    }
    const Build kept = matmul_bias_relu(DType::f32, 5, 6, 7, true);
    const Fusion fusion = fuse(kept.graph);
    CHECK(fusion.graph.launches.size() == 1);
    CHECK(fusion.unwritten == std::vector<std::string>{"fc1 matmul"});
    CHECK(fusion.decisions[2].why ==
          "joins fc1 add: fc1 add stays in a register; fc1 add is written all the same: the host reads it");
    CHECK(fusion.decisions[1].why.find("joins fc1 matmul: fc1 matmul stays in a register") == 0);
    CHECK(fuse(kept.graph, {.epilogues = false}).graph.launches.size() == 2);
    CHECK(fuse(kept.graph, {.chains = false, .epilogues = false, .together = false}).graph.launches.size() == 3);
}

TEST_CASE("products of a batch take scale, dropout and residual with them; what is dropped stays the same") {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const auto& [batch, m, n, k] : {std::tuple{1, 1, 1, 1}, std::tuple{3, 5, 17, 9}, std::tuple{7, 33, 40, 20}})
            for (const char* kernel : {"bmm_nn", "bmm_nt", "bmm_tn"}) {
                const int64_t count = int64_t{batch} * m * n;
                Build it;
                it.type = type;
                const int a = it.buffer("a", int64_t{batch} * m * k, Role::feed),
                          b = it.buffer("b", int64_t{batch} * n * k, Role::feed), c = it.buffer("scores", count),
                          scaled = it.buffer("scaled", count), dropped = it.buffer("dropped", count),
                          y = it.buffer("residual", count);
                it.graph.buffers[size_t(y)].output = true;
                std::vector<Operand> operands = {Build::at(a), Build::at(b), Build::at(c)};
                for (const int64_t size : {batch, m, n, k, m * k, n * k, m * n}) operands.push_back(Build::number(size));
                it.launch(kernel,
                          {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16),
                           static_cast<uint32_t>(batch)},
                          {16, 16, 1}, operands, "scores");
                it.elementwise("scale_add", count,
                               {Build::at(c), Build::at(scaled), Build::number(count), it.real(0.5), it.real(0)}, "scaled");
                it.dropout(scaled, dropped, count, 0.4, 0xfffffffe, "dropped");
                it.elementwise("add", count, {Build::at(dropped), Build::at(c), Build::at(y), Build::number(count)},
                               "residual");
                touch(it.graph);
                const Fusion fusion = fuse(it.graph);
                INFO(kernel << text_of(fusion));
                CHECK(fusion.graph.launches.size() == 1);
                CHECK(fusion.unwritten == std::vector<std::string>{"scores", "scaled", "dropped"});
                same_numbers(it, fusion);
            }
}

TEST_CASE("products of one matrix become one launch, which reads it once; other launches of a kernel stay") {
    for (const DType type : {DType::f32, DType::f16}) {
        Build it;
        it.type = type;
        const int64_t m = 33, k = 20;
        const int x = it.buffer("x", m * k, Role::feed), other = it.buffer("other", m * k, Role::feed);
        for (const auto& [name, n, from] :
             {std::tuple{"q", 40, x}, std::tuple{"k", 8, x}, std::tuple{"v", 17, x}, std::tuple{"w", 17, other}}) {
            const int w = it.buffer(std::string(name) + ".weight", n * k, Role::persistent), y = it.buffer(name, m * n);
            it.graph.buffers[size_t(y)].output = true;
            it.launch("matmul_nt", {static_cast<uint32_t>((n + 15) / 16), 3, 1}, {16, 16, 1},
                      {Build::at(from), Build::at(w), Build::at(y), Build::number(m), Build::number(n), Build::number(k)},
                      name);
        }
        touch(it.graph);
        const Fusion fusion = fuse(it.graph, {.chains = false, .epilogues = false});
        INFO(text_of(fusion));
        REQUIRE(fusion.graph.launches.size() == 2);
        CHECK(fusion.graph.launches[0].replaces == std::vector<int>{0, 1, 2});
        CHECK(fusion.before.bytes - fusion.after.bytes == 2.0 * double(m * k) * double(size_of(type)));
        same_numbers(it, fusion);
    }
}

TEST_CASE("small products of one matrix share a launch rather than take their biases with them; large ones do that") {
    for (const int64_t m : {int64_t{33}, int64_t{16 * 300}}) {
        const int64_t n = 9, k = 20;
        Build it;
        it.type = DType::f32;
        const int x = it.buffer("x", m * k, Role::feed);
        for (const char* name : {"q", "k"}) {
            const int w = it.buffer(std::string(name) + ".weight", n * k, Role::persistent),
                      b = it.buffer(std::string(name) + ".bias", n, Role::persistent),
                      c = it.buffer(std::string(name) + " matmul", m * n), y = it.buffer(name, m * n);
            it.graph.buffers[size_t(y)].output = true;
            it.launch("matmul_nt", {1, static_cast<uint32_t>((m + 15) / 16), 1}, {16, 16, 1},
                      {Build::at(x), Build::at(w), Build::at(c), Build::number(m), Build::number(n), Build::number(k)},
                      std::string(name) + " matmul");
            it.elementwise("add_bias", m * n, {Build::at(c), Build::at(b), Build::at(y), Build::number(m), Build::number(n)},
                           name);
        }
        touch(it.graph);
        const Fusion fusion = fuse(it.graph);
        INFO(text_of(fusion));
        const bool small = m == 33;
        CHECK(fusion.graph.launches.size() == (small ? 3 : 2));
        CHECK(fusion.graph.launches[0].replaces == (small ? std::vector<int>{0, 2} : std::vector<int>{0, 1}));
        same_numbers(it, fusion);
    }
}

// dW = xᵀ dy, dx = dy W, then W -= rate dW; with `settles` an optimiser's step, which waits for everything before it.
Build layer_backward(int64_t rows, int64_t in, int64_t out, bool settles) {
    Build it;
    const int x = it.buffer("x", rows * in, Role::feed), dy = it.buffer("dy", rows * out, Role::feed),
              w = it.buffer("fc.weight", in * out, Role::persistent), dw = it.buffer("fc dW", in * out),
              dx = it.buffer("fc dx", rows * in);
    it.graph.buffers[size_t(dx)].output = true;
    const auto product = [&](const char* kernel, int a, int b, int c, int64_t m, int64_t n, int64_t k, const char* label) {
        it.launch(kernel, {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), 1}, {16, 16, 1},
                  {Build::at(a), Build::at(b), Build::at(c), Build::number(m), Build::number(n), Build::number(k)}, label,
                  "backward");
    };
    product("matmul_tn", dy, x, dw, out, in, rows, "fc dW");
    product("matmul_nn", dy, w, dx, rows, in, out, "fc dx");
    if (settles) {
        const int settings = it.buffer("settings", 64, Role::persistent, DType::f64),
                  m = it.buffer("m", in * out, Role::persistent), v = it.buffer("v", in * out, Role::persistent);
        it.type = DType::f64;
        it.elementwise("fill", 8, {Build::at(settings), it.real(0.5), Build::number(8)}, "settings", "update");
        it.type = DType::f32;
        it.elementwise(
            "adamw", in * out,
            {Build::at(w), Build::at(dw), Build::at(m), Build::at(v), Build::at(settings), Build::number(in * out)},
            "fc adamw", "update");
    } else {
        it.elementwise("sgd", in * out, {Build::at(w), Build::at(dw), it.real(0.125), Build::number(in * out)}, "fc sgd",
                       "update");
    }
    touch(it.graph);
    return it;
}

TEST_CASE("plain SGD's update goes on from its gradient's product, behind the last that reads the weights") {
    for (const bool on_host : {false, true})
        for (const auto& [rows, in, out] : {std::tuple{1, 1, 1}, std::tuple{9, 33, 20}, std::tuple{64, 100, 48}}) {
            Build it = layer_backward(rows, in, out, false);
            const Fusion fusion = fuse(it.graph, {.on_host = on_host});
            INFO(text_of(fusion));
            same_numbers(it, fusion);
            REQUIRE(fusion.graph.launches.size() == (on_host ? 3 : 2));
            if (on_host) {
                CHECK(fusion.decisions[2].why ==
                      "alone: not with fc dW: fc sgd goes through what it changes faster in one go");
                continue;
            }
            CHECK(fusion.graph.launches[0].replaces == std::vector<int>{1});
            CHECK(fusion.graph.launches[1].replaces == std::vector<int>{0, 2});
            CHECK(fusion.unwritten == std::vector<std::string>{"fc dW"});
        }
    Build it = layer_backward(9, 33, 20, true);
    const Fusion fusion = fuse(it.graph);
    INFO(text_of(fusion));
    CHECK(fusion.graph.launches.size() == 4);
    CHECK(fusion.decisions[3].why.find("alone: not with fc dW: it waits for all gradients") == 0);
}

TEST_CASE("on the host an op of much arithmetic that reads more stays apart from its product, a light one does not") {
    for (const auto& [kernel, joins] : {std::pair{"relu_backward", true}, std::pair{"gelu_tanh_backward", false}})
        for (const bool on_host : {false, true}) {
            const int64_t m = 40, n = 33, k = 17;
            Build it;
            const int dy = it.buffer("dy", m * k, Role::feed), w = it.buffer("w", k * n, Role::persistent),
                      x = it.buffer("x", m * n, Role::feed), dh = it.buffer("dh", m * n), dx = it.buffer("dx", m * n);
            it.graph.buffers[size_t(dx)].output = true;
            it.launch("matmul_nn", {3, 3, 1}, {16, 16, 1},
                      {Build::at(dy), Build::at(w), Build::at(dh), Build::number(m), Build::number(n), Build::number(k)},
                      "fc dx", "backward");
            it.elementwise(kernel, m * n, {Build::at(x), Build::at(dh), Build::at(dx), Build::number(m * n)}, "act dx",
                           "backward");
            touch(it.graph);
            const Fusion fusion = fuse(it.graph, {.on_host = on_host});
            INFO(kernel << text_of(fusion));
            CHECK(fusion.graph.launches.size() == (joins || !on_host ? 1 : 2));
            if (!joins && on_host)
                CHECK(fusion.decisions[1].why ==
                      "alone: not with fc dx: act dx takes longer than the memory that it would save");
            same_numbers(it, fusion);
        }
}

TEST_CASE("the updates of all parameters become one launch, whatever their sizes") {
    for (const DType type : {DType::f32, DType::f64}) {
        Build it;
        it.type = type;
        const int settings = it.buffer("settings", 64, Role::persistent, DType::f64);
        for (const int64_t count : {1, 255, 256, 257, 1000, 3, 70000}) {
            const auto name = fmt::format("w{}", count);
            const int w = it.buffer(name, count, Role::persistent), m = it.buffer(name + " m", count, Role::persistent),
                      v = it.buffer(name + " v", count, Role::persistent), g = it.buffer(name + " dw", count, Role::feed);
            it.elementwise(
                "adamw", count,
                {Build::at(w), Build::at(g), Build::at(m), Build::at(v), Build::at(settings), Build::number(count)},
                name + " adamw", "update");
        }
        touch(it.graph);
        const Fusion fusion = fuse(it.graph);
        REQUIRE(fusion.graph.launches.size() == 1);
        CHECK(fusion.graph.launches[0].replaces.size() == 7);
        CHECK(fusion.graph.launches[0].grid.x == 1 + 1 + 1 + 2 + 4 + 1 + 274);
        same_numbers(it, fusion);
    }
}

TEST_CASE("a launch in between keeps two elementwise launches apart where it needs their value, and only there") {
    for (const bool reads : {true, false}) {
        Build it;
        const int x = it.buffer("x", 600, Role::feed), y = it.buffer("y", 600), total = it.buffer("total", 1),
                  z = it.buffer("z", 600, Role::persistent);
        it.graph.buffers[size_t(total)].output = true;
        it.elementwise("square", 600, {Build::at(x), Build::at(y), Build::number(600)}, "square");
        it.launch("reduce_sum", {1, 1, 1}, {256, 1, 1}, {Build::at(reads ? y : x), Build::at(total), Build::number(600)},
                  "sum");
        it.elementwise("mul", 600, {Build::at(y), Build::at(y), Build::at(z), Build::number(600)}, "mul");
        touch(it.graph);
        const Fusion fusion = fuse(it.graph);
        INFO(text_of(fusion));
        CHECK(fusion.graph.launches.size() == 2);
        CHECK(fusion.unwritten.size() == (reads ? 0 : 1));
        CHECK((fusion.decisions[2].why.find("sum reads it") != std::string::npos) == reads);
        same_numbers(it, fusion);
    }
    Build it;  // what the second writes is read in between, what it reads is written there: both must stay
    const int x = it.buffer("x", 600, Role::feed), y = it.buffer("y", 600), w = it.buffer("w", 600, Role::persistent),
              total = it.buffer("total", 600, Role::persistent);
    it.elementwise("square", 600, {Build::at(x), Build::at(y), Build::number(600)}, "square");
    it.launch("reduce_sum", {1, 1, 1}, {256, 1, 1}, {Build::at(y), Build::at(w), Build::number(600)}, "sum");
    it.elementwise("mul", 600, {Build::at(y), Build::at(w), Build::at(total), Build::number(600)}, "mul");
    touch(it.graph);
    const Fusion fusion = fuse(it.graph);
    CHECK(fusion.graph.launches.size() == 3);
    CHECK(fusion.decisions[2].why == "alone: not with square: w is used in between");
    same_numbers(it, fusion);
}

TEST_CASE("generated kernels pass every checker") {
    Build build = matmul_bias_relu(DType::f32, 17, 33, 19, false);
    const Fusion fusion = fuse(build.graph);
    const Launch& launch = fusion.graph.launches[0];
    simt::Memory memory;
    std::vector<Argument> arguments;
    const Contents contents = contents_of(build.graph, build.rng);
    for (const Operand& operand : launch.operands) {
        if (operand.kind != Operand::Kind::buffer) {
            arguments.push_back(operand.value);
            continue;
        }
        const auto& bytes = contents[size_t(operand.buffer)];
        const uint64_t address = memory.allocate(bytes.size(), build.graph.buffers[size_t(operand.buffer)].name);
        if (operand.access.reads) std::memcpy(memory.write(address, bytes.size()), bytes.data(), bytes.size());
        arguments.push_back(device::Pointer{address});
    }
    simt::LaunchOptions options;
    options.racecheck = options.initcheck = options.synccheck = true;
    const auto result =
        simt::launch(*launch.generated->program,
                     {launch.grid, launch.block, 0, device::pack(*launch.generated->program, arguments)}, memory, options);
    CHECK(!result.fault);
    CHECK(result.reports.empty());
    CHECK(launch.generated->program->ptx.find("// fc1 add: y[R,C] = x[R,C] + bias[C]") != std::string::npos);
    CHECK(launch.generated->source.find("fc1 add is never written: it stays in a register") != std::string::npos);
}

TEST_CASE("a sum and a mean make what they add up themselves, where nobody else wants it") {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{5, 37}, std::pair{6, 300}, std::pair{33, 1100}})
            for (const char* sum : {"reduce_sum", "reduce_mean", "sum_rows", "mean_rows", "bias_grad"})
                for (const bool kept : {false, true}) {
                    const int64_t n = int64_t{rows} * columns;
                    const std::string_view base = sum;
                    const bool whole = base.starts_with("reduce"), by_column = base == "bias_grad";
                    Build it;
                    it.type = type;
                    it.rng = Rng(static_cast<uint64_t>(3 * n));
                    const int x = it.buffer("x", n, Role::feed), z = it.buffer("z", n, Role::feed),
                              apart = it.buffer("apart", n), square = it.buffer("square", n),
                              dropped = it.buffer("dropped", n),
                              y = it.buffer("y", whole       ? 1
                                                 : by_column ? columns
                                                             : rows);
                    it.graph.buffers[size_t(y)].output = true;
                    it.graph.buffers[size_t(dropped)].output = kept;
                    it.elementwise("sub", n, {Build::at(x), Build::at(z), Build::at(apart), Build::number(n)}, "apart");
                    it.elementwise("square", n, {Build::at(apart), Build::at(square), Build::number(n)}, "square");
                    it.dropout(square, dropped, n, 0.25, 9, "dropped");
                    std::vector<Operand> operands = {Build::at(dropped), Build::at(y)};
                    if (whole)
                        operands.push_back(Build::number(n));
                    else
                        operands.insert(operands.end(), {Build::number(rows), Build::number(columns)});
                    it.launch(sum,
                              {whole       ? 1
                               : by_column ? static_cast<uint32_t>((columns + 31) / 32)
                                           : uint32_t(rows),
                               1, 1},
                              by_column ? simt::Dim3{32, 8, 1} : simt::Dim3{256, 1, 1}, operands, "sum");
                    touch(it.graph);
                    const Fusion fusion = fuse(it.graph);
                    INFO(sum << text_of(fusion));
                    const bool large = whole && n > 64 * 256;  // for one block of 256 threads
                    CHECK(fusion.graph.launches.size() == (kept || large ? 2 : 1));
                    if (!kept && !large) CHECK(fusion.unwritten == std::vector<std::string>{"apart", "square", "dropped"});
                    same_numbers(it, fusion);
                }
}

TEST_CASE("a softmax, a norm, a sum and a convolution go on with what they have made, element by element") {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const auto& [rows, columns] :
             {std::pair{1, 1}, std::pair{5, 37}, std::pair{6, 300}, std::pair{3, 128}, std::pair{2100, 33}}) {
            const int64_t n = rows * columns;
            const auto by_rows = simt::Dim3{static_cast<uint32_t>((rows + 3) / 4), 1, 1};
            const DType sums = type == DType::f64 ? DType::f64 : DType::f32;
            Build it;
            it.type = type;
            it.rng = Rng(static_cast<uint64_t>(7 * n));
            const int x = it.buffer("x", n, Role::feed), p = it.buffer("p", n), twice = it.buffer("twice", n),
                      dy = it.buffer("dy", n, Role::feed), dx = it.buffer("dx", n),
                      total = it.buffer("total", n, Role::persistent),
                      weight = it.buffer("weight", columns, Role::persistent),
                      mean = it.buffer("mean", rows, Role::feed, sums),
                      inverse = it.buffer("inverse", rows, Role::feed, sums), sum = it.buffer("sum", rows),
                      y = it.buffer("y", rows, Role::persistent), all = it.buffer("all", 1), loss = it.buffer("loss", 1);
            it.graph.buffers[size_t(twice)].output = it.graph.buffers[size_t(loss)].output = true;
            it.launch("softmax", by_rows, {128, 1, 1},
                      {Build::at(x), Build::at(p), Build::number(rows), Build::number(columns)}, "softmax");
            it.elementwise("scale_add", n, {Build::at(p), Build::at(twice), Build::number(n), it.real(2), it.real(0)},
                           "twice");
            it.launch("sum_rows", {static_cast<uint32_t>(rows), 1, 1}, {256, 1, 1},
                      {Build::at(x), Build::at(sum), Build::number(rows), Build::number(columns)}, "sum");
            it.elementwise("accumulate", rows, {Build::at(y), Build::at(sum), Build::number(rows)}, "y +=");
            it.launch("reduce_mean", {1, 1, 1}, {256, 1, 1}, {Build::at(twice), Build::at(all), Build::number(n)}, "mean");
            it.elementwise("square", 1, {Build::at(all), Build::at(loss), Build::number(1)}, "loss");
            it.launch("layer_norm_backward", by_rows, {128, 1, 1},
                      {Build::at(x), Build::at(weight), Build::at(mean), Build::at(inverse), Build::at(dy), Build::at(dx),
                       Build::number(1), Build::number(rows), Build::number(columns)},
                      "norm dx", "backward");
            it.elementwise("accumulate", n, {Build::at(total), Build::at(dx), Build::number(n)}, "total +=", "backward");
            touch(it.graph);
            const Fusion fusion = fuse(it.graph);
            INFO(text_of(fusion));
            // Few threads with several elements each would wait for every element of `total` in turn.
            const int64_t threads = int64_t{by_rows.x} * 128;
            if (threads < 65'536 && n > threads) {
                CHECK(fusion.graph.launches.size() == 5);
                CHECK(fusion.unwritten == std::vector<std::string>{"p", "sum", "all"});
                CHECK(fusion.decisions.back().why.find("has few threads") != std::string::npos);
            } else {
                CHECK(fusion.graph.launches.size() == 4);
                CHECK(fusion.unwritten == std::vector<std::string>{"p", "dx", "sum", "all"});
            }
            same_numbers(it, fusion);
        }
    Build it;
    const int x = it.buffer("x", 2 * 3 * 9 * 8, Role::feed), w = it.buffer("w", 5 * 3 * 4, Role::persistent),
              b = it.buffer("b", 5, Role::persistent), c = it.buffer("conv1", 2 * 5 * 8 * 7),
              y = it.buffer("relu1", 2 * 5 * 8 * 7);
    it.graph.buffers[size_t(y)].output = true;
    std::vector<Operand> operands = {Build::at(x), Build::at(w), Build::at(b), Build::at(c)};
    for (const int64_t size : {1, 2, 3, 9, 8, 5, 8, 7, 2, 2, 1, 1, 0, 0, 1, 1, 1}) operands.push_back(Build::number(size));
    it.elementwise("conv2d", 560, operands, "conv1");
    it.elementwise("relu", 560, {Build::at(c), Build::at(y), Build::number(560)}, "relu1");
    touch(it.graph);
    const Fusion fusion = fuse(it.graph);
    CHECK(fusion.graph.launches.size() == 1);
    same_numbers(it, fusion);
}

}  // namespace graph_fusion_test
