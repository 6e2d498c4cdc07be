// With one rank every collective gives its input back: each is called, its values compared, its time taken (host memory to
// the GPU, the call, and back). Our own steps over send and receive need two GPUs: lockstep collective --comm nccl.
#include "app/silicon/measure/nccl.h"

#include <fmt/format.h>

#include <chrono>

#include "core/base/rng.h"
#include "core/comm/in_process.h"
#include "core/comm/network/network.h"
#include "core/comm/outside/nccl.h"

namespace lockstep::comm {
namespace {

struct NcclCheck {
    std::string_view name;
    void (*call)(Communicator& group, Buffer in, Buffer out);  // out holds what in holds
};
constexpr NcclCheck nccl_checks[] = {
    {"all_reduce", [](Communicator& group, Buffer, Buffer out) { group.all_reduce(out, Reduction::sum); }},
    {"reduce", [](Communicator& group, Buffer, Buffer out) { group.reduce(out, 0, Reduction::max); }},
    {"broadcast", [](Communicator& group, Buffer, Buffer out) { group.broadcast(out, 0); }},
    {"all_gather", [](Communicator& group, Buffer in, Buffer out) { group.all_gather(in, out); }},
    {"reduce_scatter", [](Communicator& group, Buffer in, Buffer out) { group.reduce_scatter(in, out, Reduction::min); }}};

double nccl_once_us(Communicator& group, const NcclCheck& check, std::vector<float>& in, std::vector<float>& out) {
    out = in;
    if (check.name == "all_gather" || check.name == "reduce_scatter") out.assign(in.size(), -1.0f);
    const auto count = static_cast<int64_t>(in.size());
    const auto begin = std::chrono::steady_clock::now();
    check.call(group, {in.data(), count, DType::f32}, {out.data(), count, DType::f32});
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    if (out != in) throw Failure(fmt::format("NCCL's {} of one rank does not give back what it was given", check.name));
    return us;
}

}  // namespace

void measure_nccl(device::SiliconRun& run) {
    if (const std::string why = why_no_nccl(); !why.empty()) {
        run.row("NCCL", [&] { throw Failure(why, ExitStatus::missing); });
        return;
    }
    const Link link = link_named("nvlink4").link();
    std::string problem;
    const GroupResult result = run_in_process(ideal_network(1, link), [&](Communicator& world) {
        try {
            const std::unique_ptr<Communicator> group = nccl_group(world, link);
            for (const size_t bytes : {size_t{4096}, run.options.quick ? size_t{65536} : size_t{64} << 20})
                for (const NcclCheck& check : nccl_checks) {
                    const std::string name =
                        fmt::format("{} of {} bytes with one rank, through the host's memory", check.name, bytes);
                    run.row(name, [&] {
                        Rng rng(5);
                        std::vector<float> in(bytes / 4), out;
                        for (float& value : in) value = static_cast<float>(rng.uniform(-1, 1));
                        std::vector<double> times;
                        nccl_once_us(*group, check, in, out);
                        for (int i = 0; i < 5; ++i) times.push_back(nccl_once_us(*group, check, in, out));
                        run.add(device::SiliconFigure{name, device::median_of(times), "us"});
                    });
                }
        } catch (const Failure& failure) {
            problem = failure.diagnostic.message;
        }
    });
    if (problem.empty()) problem = result.problem();
    if (!problem.empty()) run.row("NCCL", [&] { throw Failure(problem, ExitStatus::missing); });
}

}  // namespace lockstep::comm
