#include "app/gui/desk/build_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/carried_files.h"
#include "app/gui/session.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/metrics/energy.h"
#include "core/system/system.h"

namespace lockstep::gui {
namespace {

// What may change where no puzzle says it: the rows of the kit, with bounds that a run of a minute bears.
const std::vector<lessons::Puzzle::Free> whole_kit = {
    {"sms", 1, 160},           {"sub_cores", 1, 4},      {"fp32_lanes", 4, 64},      {"fp64_lanes", 0, 32},
    {"tensor_fmas", 0, 1024},  {"warps_per_sm", 4, 128}, {"blocks_per_sm", 1, 64},   {"registers_per_sm", 4096, 131072},
    {"l1_kb", 0, 512},         {"boost_mhz", 500, 3000}, {"l2_mb", 0, 128},          {"l2_slices", 1, 128},
    {"dram_channels", 1, 128}, {"l2_latency", 50, 1000}, {"dram_latency", 100, 2000}};

const lessons::Figures::value_type* find_figure(const lessons::Figures& figures, std::string_view field) {
    const auto at = std::ranges::find(figures, field, &lessons::Figures::value_type::first);
    return at == figures.end() ? nullptr : &*at;
}

void put(lessons::Figures& figures, std::string_view field, double value) {
    if (const auto at = std::ranges::find(figures, field, &lessons::Figures::value_type::first); at != figures.end())
        at->second = value;
    else
        figures.emplace_back(std::string(field), value);
}

}  // namespace

model::GpuSpec BuildTask::design(const lessons::Figures& figures) const {
    if (puzzle) return lessons::design_of(*puzzle, figures);
    model::GpuDesign made(base);
    for (const auto& [field, value] : figures)
        if (const auto refused = made.set(field, value, "chosen by hand")) throw Failure(*refused);
    if (const auto impossible = made.finish("follows from what was chosen by hand")) throw Failure(impossible->message);
    made.gpu().name = "design.toml";  // a design: no graphics in its area
    return made.gpu();
}

const lessons::Puzzle::Free* BuildTask::free_named(std::string_view field) const {
    const auto same = [&](const lessons::Puzzle::Free& row) {
        return row.field == field || (model::field_named(row.field).first != nullptr &&
                                      model::field_named(row.field).first == model::field_named(field).first);
    };
    const auto at = std::ranges::find_if(free, same);
    return at == free.end() ? nullptr : &*at;
}

bool BuildTask::costs_the_medal(std::string_view field) const {
    const auto same = [&](const lessons::Puzzle::Free& row) {
        return model::field_named(row.field).first == model::field_named(field).first;
    };
    return puzzle && field.ends_with("_latency") && std::ranges::none_of(puzzle->free, same);
}

std::shared_ptr<const BuildTask> task_of_puzzle(const std::string& id) {
    auto task = std::make_shared<BuildTask>();
    task->puzzle = lessons::puzzle_named(id).value();
    task->title = task->puzzle->title;
    task->question = task->puzzle->question;
    task->process = task->puzzle->process;
    task->free = task->puzzle->free;
    task->most_mm2 = task->puzzle->most_mm2;
    task->most_watts = task->puzzle->most_watts;
    task->launch = lessons::launch_of(*task->puzzle);
    task->base = task->design({});
    for (const char* field : {"l2_latency", "dram_latency"})  // what if they were other ones
        if (const double now = figure_of(task->base, field); now > 0 && task->free_named(field) == nullptr)
            task->free.push_back({field, std::max(1.0, std::floor(now / 4)), 4 * now});
    return task;
}

namespace {

// Every figure of the kit is free, and nothing is forbidden.
std::shared_ptr<BuildTask> free_task(const model::GpuSpec& base) {
    auto task = std::make_shared<BuildTask>();
    task->base = base;
    task->process = &model::process_of(base);
    task->free = whole_kit;
    return task;
}

}  // namespace

std::shared_ptr<const BuildTask> task_of_step(scene::DesignLaunch step, const model::GpuSpec& base) {
    const std::shared_ptr<BuildTask> task = free_task(base);
    task->step = true;
    task->launch = std::move(step);
    task->launch.process = task->process;
    task->title = task->launch.shown_name();
    task->question = fmt::format(
        "Its {} kernels, one after the other, on a GPU of your own; their times add up. It begins as {}, and nothing is "
        "forbidden.",
        task->launch.parts().size(), base.title);
    return task;
}

std::shared_ptr<const BuildTask> task_of_kernel(const model::KernelRun& run) {
    if (!run.before) throw Failure("this run did not keep the memory that it began with, so it cannot run on another GPU");
    const std::shared_ptr<BuildTask> task = free_task(run.gpu);
    task->title = run.program->shown_name();
    task->question =
        fmt::format("The kernel on show, with {} of {}, on a GPU of your own. It begins as {}, and nothing is forbidden.",
                    counted(static_cast<int64_t>(run.config.grid.x) * run.config.grid.y * run.config.grid.z, "block"),
                    counted(static_cast<int64_t>(run.config.block.x) * run.config.block.y * run.config.block.z, "thread"),
                    run.gpu.title);
    task->launch.program = run.program;
    task->launch.config = run.config;
    task->launch.memory = run.before;
    task->launch.source = run.source;
    task->launch.process = task->process;
    return task;
}

double figure_of(const model::GpuSpec& gpu, std::string_view field) {
    if (field == "tensor_fmas") return model::tensor_fmas(gpu);
    const auto [row, unit] = model::field_named(field);
    return row == nullptr ? 0 : model::value_of(gpu, *row) / unit;
}

std::vector<double> stops_of(const lessons::Puzzle::Free& free) {
    std::vector<double> stops = {free.least};
    const auto add = [&](double value) {
        if (value > stops.back() && value < free.most) stops.push_back(value);
    };
    const std::string_view field = free.field;
    const bool counted = field == "sms" || field == "dram_channels" || field == "boost_mhz";
    if (field == "sub_cores") {
        for (const double value : {2.0, 4.0}) add(value);
    } else if (field.ends_with("_lanes") || field == "tensor_fmas") {
        for (double value = 1; value < free.most; value *= 2) add(value), add(value > 1 ? value * 1.5 : value);
    } else if (field.ends_with("_mb") && free.most - free.least <= 8) {
        for (const double value : {0.125, 0.25, 0.5, 0.75}) add(value);
        for (double value = 1; value < free.most; value += 0.5) add(value);
    } else if (free.most - free.least <= 40) {
        for (double value = std::floor(free.least) + 1; value < free.most; ++value) add(value);
    } else if (free.least > 0 && free.most / free.least <= 8 && (counted || field == "registers_per_sm")) {
        double step = counted ? 2 : 256;  // as even as leaves some forty
        while ((free.most - free.least) / step > 48) step *= counted ? (step == 2 ? 5 : 10) : 2;
        for (double value = (std::floor(free.least / step) + 1) * step; value < free.most; value += step) add(value);
    } else {
        constexpr double steps[] = {1, 1.25, 1.5, 1.75};
        for (double power = 1; power < free.most; power *= 2)
            for (const double step : steps) add(std::round(power * step));
    }
    if (free.most > stops.back()) stops.push_back(free.most);
    return stops;
}

std::vector<double> possible_stops(const BuildTask& task, const lessons::Figures& figures,
                                   const lessons::Puzzle::Free& free) {
    std::vector<double> stops = stops_of(free);
    const double first = figure_of(task.base, free.field);
    if (std::ranges::find(stops, first) == stops.end()) {
        // 127.7 tensor products follow from a published peak: they are the 128 of the handle.
        const auto near = std::ranges::find_if(stops, [&](double stop) { return std::fabs(stop - first) <= 0.005 * first; });
        if (near != stops.end())
            *near = first;
        else if (first >= free.least && first <= free.most)
            stops.push_back(first);
        std::ranges::sort(stops);
    }
    // Warps divide among any sub-cores that there may be, so that the two handles are not in each other's way.
    double among = 0;  // 0: any
    if (free.field == "warps_per_sm") {
        const lessons::Puzzle::Free* const sub_cores = task.free_named("sub_cores");
        among = sub_cores != nullptr ? sub_cores->most : figure_of(task.base, "sub_cores");
    }
    std::vector<double> possible;
    lessons::Figures tried = figures;
    for (const double stop : stops) {
        if (among > 0 && std::fmod(stop, among) != 0 && stop != first) continue;
        put(tried, free.field, stop);
        try {
            (void)task.design(tried);
            possible.push_back(stop);
        } catch (const Failure&) {  // such a GPU cannot be
        }
    }
    return possible.empty() ? stops : possible;
}

std::vector<RealChip> real_chips() {
    std::vector<RealChip> chips;
    for (const model::RealDie& die : model::real_dies()) {
        if (die.board_gpu.empty()) continue;
        RealChip chip{std::string(die.board), std::string(model::process_of(die.gpu).name), die.mm2, {}};
        chip.runs.gpu = model::gpu_named(die.board_gpu).value();
        chips.push_back(std::move(chip));
    }
    return chips;
}

const BuiltDesign* BuildState::numbered(int number) const {
    for (const auto& design : designs)
        if (design->number == number) return design.get();
    return nullptr;
}

void BuildDesk::open_first(Session& session) {
    const std::vector<std::filesystem::path> files = lessons::puzzle_files();
    if (!files.empty() && task_ == nullptr) open(session, files.front().string());
}

void BuildDesk::open(Session& session, const std::string& puzzle) {
    note.clear();
    session.post(ask::OpenBuild{puzzle});
}

void BuildDesk::open_step(Session& session) {
    note.clear();
    session.post(ask::OpenBuild{.step = true});
}

void BuildDesk::adopt(Session& session, const Snapshot& snapshot) {
    if (snapshot.build && snapshot.build->task == task_) {
        const BuiltDesign* const shown = snapshot.build->numbered(number_);
        const bool gold = shown != nullptr && shown->medal == lessons::Medal::gold;
        if (gold && !had_gold_) shows_recap = true;  // with the first gold, and not again once it was closed
        had_gold_ = gold;
    }
    if (!snapshot.build || snapshot.build->task == task_) return;
    task_ = snapshot.build->task;
    shows_recap = had_gold_ = shows_hint = shows_values = false;
    against = Against::before;
    hint = 0;
    figures_.clear();
    undo_.clear();
    number_ = 1;
    row.clear();
    at = -1;
    sm = 0;
    update();
    std::optional<lessons::Figures> chosen;
    if (const std::optional<model::GpuSpec> wanted = std::exchange(begins_with_, {})) {
        // A kernel ran on that GPU, which is where its task begins.
        const std::string against = task_->puzzle ? lessons::against_the_rules(*task_->puzzle, *wanted) : "";
        if (!against.empty()) note = fmt::format("{} may not take part: {}", wanted->title, against);
        if (against.empty() && task_->puzzle) chosen.emplace();
        for (const lessons::Puzzle::Free& free : task_->free)
            if (const double value = figure_of(*wanted, free.field); chosen && value != value_of(free.field))
                chosen->emplace_back(free.field, value);
    }
    // A puzzle that was left has its designs still.
    for (const auto& design : snapshot.build->designs) {
        if (design->number > 1 && design->figures != figures_) undo_.push_back(figures_);
        figures_ = design->figures;
        number_ = design->number;
    }
    if (number_ > 1) update();
    if (chosen) take(session, *chosen);
}

double BuildDesk::value_of(std::string_view field) const {
    if (const auto* figure = find_figure(figures_, field)) return figure->second;
    return figure_of(gpu_, field);
}

void BuildDesk::update() {
    impossible_.clear();
    try {
        gpu_ = task_->design(figures_);
        area_ = model::area_of(gpu_, task_->process);
    } catch (const Failure& failure) {
        impossible_ = failure.diagnostic.message;
    }
}

void BuildDesk::post(Session& session) {
    update();
    note.clear();
    shows_values = false;
    if (std::exchange(shows_hint, false)) ++hint;
    at = -1;
    session.post(ask::RunDesign{std::make_shared<const DesignWish>(DesignWish{task_, figures_, number_})});
}

void BuildDesk::set(Session& session, std::string_view field, double value, bool dragging) {
    if (!task_) return;
    if (value_of(field) == value) {
        dragging_ = dragging;
        return;
    }
    if (!dragging_) {
        undo_.push_back(figures_);
        ++number_;
    }
    dragging_ = dragging;
    put(figures_, field, value);
    post(session);
}

void BuildDesk::take(Session& session, const lessons::Figures& figures) {
    if (!task_ || figures == figures_) return;
    undo_.push_back(figures_);
    ++number_;
    dragging_ = false;
    figures_ = figures;
    post(session);
}

void BuildDesk::undo(Session& session) {
    if (!task_ || undo_.empty()) return;
    figures_ = std::move(undo_.back());
    undo_.pop_back();
    ++number_;
    dragging_ = false;
    post(session);
}

void BuildDesk::reset(Session& session) {
    take(session, {});
}

void BuildDesk::save(const Snapshot&) {
    if (!task_) return;
    // Where the program was started, if one may write there, as a run is saved.
    std::error_code gone;
    std::filesystem::path place = std::filesystem::current_path(gone);
    if (gone || !system::why_unwritable(place).empty()) place = system::state_folder() / "designs";
    if (!folder.empty()) place = folder;
    std::string stem = task_->puzzle ? task_->puzzle->id : task_->title;
    std::ranges::replace(stem, ' ', '_');
    std::filesystem::path file;
    std::error_code error;
    std::filesystem::create_directories(place, error);
    for (int k = number_; file.empty() || std::filesystem::exists(file, error); ++k)
        file = place / fmt::format("{}_design_{}.toml", stem, k);
    std::string text;
    if (task_->puzzle) {
        text = lessons::design_file(*task_->puzzle, figures_);
    } else {
        // A file of one's own that it inherits from goes along, so that the design opens on any machine.
        std::string inherits(task_->base.name);
        try {
            std::vector<CarriedFile> files;
            carry_gpu(inherits, files);
            for (const CarriedFile& one : files)
                if (!std::filesystem::exists(place / one.name, error)) write_file(place / one.name, one.bytes);
        } catch (const Failure&) {
            inherits = task_->base.name;
        }
        text = fmt::format("# A GPU built for {}\ninherits = \"{}\"\n\n", task_->title, inherits);
        for (const auto& [field, value] : figures_) text += fmt::format("{} = {:.10g}\n", field, value);
    }
    try {
        write_file(file.string(), text);
        note = "saved as " + std::filesystem::absolute(file, error).string();
    } catch (const Failure& failure) {
        note = failure.diagnostic.message;
    }
}

int64_t cycle_on_die(const BuildDesk& desk, const BuiltDesign& design) {
    if (!design.run || desk.at < 0 || design.kernels.empty()) return -1;
    const size_t kernel = design.longest();
    const double from = design.share_before(kernel), length = design.kernels[kernel].time_us / design.time_us;
    const double share = length > 0 ? (desk.at - from) / length : -1;
    if (share < 0 || share > 1) return -1;
    const int64_t cycles = design.run->result.cycles;
    return std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(cycles)), 0, cycles - 1);
}

void BuildDesk::look_into(Session& session, const Snapshot& snapshot, Focus& focus, int32_t into) {
    const BuiltDesign* const shown = snapshot.build ? snapshot.build->numbered(number_) : nullptr;
    if (shown == nullptr || !shown->run) return;
    sm = std::clamp<int32_t>(into, 0, static_cast<int32_t>(shown->gpu.sms.value) - 1);
    inside = true;
    into_cycle = std::max<int64_t>(0, cycle_on_die(*this, *shown));
    session.workspace = Workspace::machine;
    session.machine.zoom = 2;  // from the GPU on
    session.machine.wanted = 3;
    session.machine.tour = -1;
    if (snapshot.kernel.run == shown->run && shown->run->result.trace.sm == static_cast<uint32_t>(sm)) {
        focus.time = std::exchange(into_cycle, -1);
        return;
    }
    session.post(ask::OpenDesign{number_, sm});
}

std::string BuildDesk::title(const Snapshot&) const {
    if (!task_) return "Build a GPU";
    return fmt::format("{}: design {}", task_->puzzle ? "Build a GPU" : "A GPU for " + task_->title, number_);
}

std::string BuildDesk::position(const Snapshot& snapshot) const {
    const BuiltDesign* const shown = snapshot.build ? snapshot.build->numbered(number_) : nullptr;
    if (!task_) return "no task is open";
    if (shown == nullptr) return snapshot.busy.empty() ? "it has not run yet" : snapshot.busy;
    if (!shown->ran()) return shown->refused;
    return fmt::format(
        "{}{} simulated{}; estimates {:.1f} mm2, {:.1f} W", shown->sampled > 0 ? "about " : "", time_text(shown->time_us),
        shown->sampled > 0 ? fmt::format(" from {:.0f} %", 100 * shown->sampled) : "", shown->area.mm2, shown->watts);
}

}  // namespace lockstep::gui
