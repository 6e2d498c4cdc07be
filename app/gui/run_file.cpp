// Reading is strict: a value that cannot be refuses the file, by its name, before anything is opened.
#include "app/gui/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "core/base/base64.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"
#include "core/nn/layers/optim.h"
#include "core/nn/models/models.h"
#include "core/scene/cluster/cluster_plan.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

namespace {

using RunJson = nlohmann::ordered_json;

constexpr size_t longest_text = size_t{1} << 20, longest_word = 4096, most_arguments = 256;
constexpr double largest_number = 9e15;  // that JSON's numbers tell apart

// One object of the file: every value is asked for by its key, and what is left over is refused.
class RunReader {
  public:
    RunReader(const RunJson& from, std::string where) : from_(from), where_(std::move(where)) {
        if (!from.is_object()) fail("is no object of keys and values");
    }
    [[noreturn]] void fail(const std::string& what) const { throw Failure(fmt::format("'{}' {}", where_, what)); }
    [[noreturn]] void refuse(const char* key, const std::string& what) const {
        throw Failure(fmt::format("'{}.{}' {}", where_, key, what));
    }
    const RunJson* find(const char* key) {
        seen_.emplace_back(key);
        const auto found = from_.find(key);
        return found == from_.end() ? nullptr : &*found;
    }
    std::string text(const char* key, size_t longest = longest_word) {
        const RunJson* const found = find(key);
        if (found == nullptr) return {};
        if (!found->is_string()) refuse(key, "is no text");
        auto text = found->get<std::string>();
        if (text.size() > longest) refuse(key, fmt::format("is longer than {} bytes", longest));
        if (text.find('\0') != std::string::npos) refuse(key, "has a zero byte in it");
        return text;
    }
    int64_t whole(const char* key, int64_t least, int64_t otherwise, double most = largest_number) {
        const double value = number(key, static_cast<double>(least), most, static_cast<double>(otherwise));
        if (value != std::floor(value)) refuse(key, "is no whole number");
        return static_cast<int64_t>(value);
    }
    double number(const char* key, double least, double most, double otherwise) {
        const RunJson* const found = find(key);
        if (found == nullptr) return otherwise;
        if (!found->is_number()) refuse(key, "is no number");
        const auto value = found->get<double>();
        if (!(value >= least && value <= most)) refuse(key, fmt::format("is not from {:g} to {:g}", least, most));
        return value;
    }
    bool flag(const char* key, bool otherwise) {
        const RunJson* const found = find(key);
        if (found == nullptr) return otherwise;
        if (!found->is_boolean()) refuse(key, "is neither true nor false");
        return found->get<bool>();
    }
    void end() const {
        for (const auto& [key, value] : from_.items())
            if (std::find(seen_.begin(), seen_.end(), key) == seen_.end())
                fail(fmt::format("has a key that this version does not know: '{}'", key.substr(0, 40)));
    }

  private:
    const RunJson& from_;
    std::string where_;
    std::vector<std::string> seen_;
};

void check_gpu(const std::string& gpu, const std::vector<CarriedFile>& files, const char* where) {
    if (gpu.empty() || (model::is_gpu_file(gpu) && is_carried(files, gpu))) return;
    if (model::is_gpu_file(gpu) || gpu.find_first_of("/\\") != std::string::npos)
        throw Failure(fmt::format("'{}' names a file that is not in it", where));
    if (!model::gpu_named(gpu).ok())
        throw Failure(fmt::format("'{}' is '{}', which is no GPU that is known here", where, gpu.substr(0, 60)));
}

LaunchSettings read_launch(const RunJson& from, const std::vector<CarriedFile>& files) {
    RunReader in(from, "kernel.launch");
    LaunchSettings s;
    s.kernel = in.text("kernel");
    for (const auto& [key, value] :
         {std::pair{"grid", &s.grid}, {"block", &s.block}, {"shared", &s.shared}, {"seed", &s.seed}})
        if (std::string text = in.text(key); !text.empty()) *value = std::move(text);
    if (std::string gpu = in.text("gpu"); !gpu.empty()) s.gpu = std::move(gpu);
    check_gpu(s.gpu, files, "kernel.launch.gpu");
    s.grid_chosen = true;
    s.symbols = in.text("symbols");
    s.words = in.text("words");
    s.input = in.text("input", longest_text);
    if (std::string time = in.text("time"); !time.empty()) s.time = std::move(time);
    s.timed = in.flag("timed", true);
    s.synccheck = in.flag("synccheck", true);
    s.racecheck = in.flag("racecheck", true);
    s.initcheck = in.flag("initcheck", true);
    s.kernels_alone = in.flag("kernels_alone", false);
    s.order = static_cast<simt::WarpOrder>(in.whole("order", 0, 0, 3));
    if (const RunJson* const list = in.find("arguments")) {
        if (!list->is_array() || list->size() > most_arguments)
            in.refuse("arguments", fmt::format("is no list of at most {} arguments", most_arguments));
        for (const RunJson& item : *list) {
            RunReader one(item, "kernel.launch.arguments");
            s.arguments.push_back({one.text("parameter"), one.text("text", longest_text), true});
            one.end();
        }
    }
    in.end();
    return s;
}

KernelDocument read_kernel(const RunJson& from, const std::vector<CarriedFile>& files) {
    RunReader in(from, "kernel");
    KernelDocument document;
    document.name = in.text("name", 200);
    document.text = in.text("text", longest_text);
    const std::filesystem::path name = document.name;
    const std::string extension = name.extension().string();
    if (document.name.empty() || document.name != name.filename().string() ||
        document.name.find('\\') != std::string::npos ||
        (extension != ".cu" && extension != ".ptx" && extension != ".host" && extension != ".tape"))
        in.refuse("name", "is no file's name that ends in .cu, .ptx, .host or .tape");
    if (document.text.empty()) in.refuse("text", "is missing");
    if (const RunJson* const launch = in.find("launch")) document.launch = read_launch(*launch, files);
    in.end();
    check_carried(document, files);
    return document;
}

std::vector<CarriedFile> read_files(const RunJson& from) {
    if (!from.is_array() || from.size() > most_carried)
        throw Failure(fmt::format("'files' is no list of at most {} files", most_carried));
    std::vector<CarriedFile> files;
    for (const RunJson& item : from) {
        RunReader one(item, "files");
        CarriedFile file{one.text("name"), one.text("text", most_carried_bytes)};
        if (const std::string coded = one.text("base64", most_carried_bytes * 3 / 2); !coded.empty()) {
            auto bytes = from_base64(coded);
            if (!bytes) one.refuse("base64", "is none");
            file.bytes = std::move(*bytes);
        }
        one.end();
        if (is_carried(files, file.name)) throw Failure(fmt::format("it carries '{}' twice", file.name.substr(0, 60)));
        files.push_back(std::move(file));
    }
    return files;
}

TrainingSetup read_training(const RunJson& from, RunFile& run) {
    RunReader in(from, "training");
    const std::string model = in.text("model");
    const auto models = nn::models();
    if (std::none_of(models.begin(), models.end(), [&](const nn::ModelRow& row) { return row.name == model; }))
        in.refuse("model", fmt::format("is '{}', which is no model that is known here", model.substr(0, 60)));
    TrainingSetup setup = setup_of(model);
    setup.on_gpu = in.flag("on_gpu", setup.on_gpu);
    setup.optimizer = in.text("optimizer");
    const auto optimizers = nn::optimizers();
    if (!setup.optimizer.empty() &&
        std::none_of(optimizers.begin(), optimizers.end(), [&](const auto& row) { return row.name == setup.optimizer; }))
        in.refuse("optimizer", "is none that is known here");
    setup.learning_rate = in.number("learning_rate", 1e-12, 1e6, setup.learning_rate);
    setup.batch = in.whole("batch", 1, setup.batch, 4096);
    setup.ranks = static_cast<int>(in.whole("ranks", 1, 1, 8));
    if (setup.batch % setup.ranks != 0 || (setup.ranks > 1 && !trains_on_ranks(model)))
        in.refuse("ranks", "does not divide the batch, or the model is not split over ranks");
    run.step = in.whole("step", 0, 0, 100'000);
    run.launch = in.whole("launch", -1, -1, 1e6);
    run.gpu = in.text("gpu", 60);
    check_gpu(run.gpu, run.files, "training.gpu");
    in.end();
    return setup;
}

const scene::PublishedPlan* plan_named(const std::string& name) {
    const auto plans = scene::published_plans();
    const auto found = std::ranges::find(plans, name, [](const auto& plan) { return std::string(plan.name); });
    return found == plans.end() ? nullptr : &*found;
}

constexpr std::pair<std::string_view, FollowedPacket::Kind> packet_kinds[] = {
    {"microbatch", FollowedPacket::Kind::microbatch},
    {"message", FollowedPacket::Kind::message},
    {"chunk", FollowedPacket::Kind::chunk}};

void read_followed(RunReader& in, RunPlace& place) {
    if (const RunJson* const request = in.find("request")) {
        RunReader of(*request, "place.request");
        place.request = {of.whole("begin", 0, -1), of.whole("sm", 0, -1, 65'535), of.whole("line", 0, -1)};
        of.end();
    }
    if (const RunJson* const packet = in.find("packet")) {
        RunReader of(*packet, "place.packet");
        const std::string kind = of.text("kind", 40);
        const auto found = std::ranges::find(packet_kinds, kind, [](const auto& one) { return std::string(one.first); });
        if (found == std::end(packet_kinds)) of.refuse("kind", "is none that is known here");
        place.packet.kind = found->second;
        place.packet.replica = static_cast<int>(of.whole("replica", 0, 0, 1e6));
        place.packet.number = static_cast<int>(of.whole("number", 0, -1, 1e6));
        place.packet.chunk = static_cast<int>(of.whole("chunk", 0, -1, 1e6));
        of.end();
    }
    place.stops = in.flag("stops", false);
}

RunJson followed_json(const RunPlace::Request& request) {
    return {{"begin", request.begin}, {"sm", request.sm}, {"line", request.line}};
}
RunJson followed_json(const FollowedPacket& packet) {
    RunJson json = RunJson::object();
    for (const auto& [name, kind] : packet_kinds)
        if (kind == packet.kind) json["kind"] = name;
    json["replica"] = packet.replica;
    if (packet.number >= 0) json["number"] = packet.number;
    if (packet.chunk >= 0) json["chunk"] = packet.chunk;
    return json;
}

RunPlace read_place(const RunJson& from) {
    RunReader in(from, "place");
    RunPlace place;
    place.workspace = in.text("workspace", 40);
    place.view = in.text("view", 40);
    if (!place.workspace.empty() && !workspace_named(place.workspace)) in.refuse("workspace", "is none that is known here");
    if (!place.view.empty() && view_named(place.view) == nullptr) in.refuse("view", "is none that is known here");
    place.cycle = in.whole("cycle", 0, -1);
    place.cycles = in.whole("cycles", 0, -1);
    place.sm = in.whole("sm", 0, -1, 65'535);
    place.block = in.whole("block", 0, -1);
    place.warp = in.whole("warp", 0, -1, 63);
    place.lane = in.whole("lane", 0, -1, 31);
    place.line = in.whole("line", 1, -1, 1e7);
    place.zoom = in.number("zoom", 0, 6, -1);
    place.plan = in.text("plan", 60);
    if (!place.plan.empty() && plan_named(place.plan) == nullptr) in.refuse("plan", "is none that is known here");
    place.rank = in.whole("rank", 0, -1, 1e6);
    place.step_time = in.number("step_time", 0, 1e12, -1);
    read_followed(in, place);
    in.end();
    return place;
}

}  // namespace

bool is_run_file(const std::filesystem::path& file) {
    return file.extension() == ".lockstep";
}

Result<RunFile> parse_run_file(const std::string& text, const std::string& name) {
    try {
        if (text.size() > largest_run_file) throw Failure(fmt::format("it is larger than {} MiB", largest_run_file >> 20));
        const RunJson all = RunJson::parse(text, nullptr, false);
        if (!all.is_object() || !all.contains("lockstep_run")) throw Failure("this is no run that Lockstep has saved");
        RunReader in(all, "run");
        if (in.whole("lockstep_run", 1, 1) != 1) throw Failure("it was saved by a later version");
        RunFile run;
        int kinds = 0;
        if (const RunJson* const files = in.find("files")) run.files = read_files(*files);
        if (const RunJson* const kernel = in.find("kernel")) run.kernel = read_kernel(*kernel, run.files), ++kinds;
        if (const RunJson* const training = in.find("training")) run.training = read_training(*training, run), ++kinds;
        if (const RunJson* const lesson = in.find("lesson")) {
            RunReader of(*lesson, "lesson");
            run.lesson = of.text("id", 40);
            const bool plain = !run.lesson.empty() && std::all_of(run.lesson.begin(), run.lesson.end(), [](char c) {
                return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
            });
            if (!plain || !lessons::lesson_named(run.lesson).ok()) of.refuse("id", "is no lesson that is here");
            run.step =
                of.whole("step", 0, 0, static_cast<double>(lessons::lesson_named(run.lesson).value().steps.size()) - 1);
            of.end();
            ++kinds;
        }
        if (kinds != 1) throw Failure("it has to have one of 'kernel', 'lesson' and 'training'");
        if (!run.kernel) check_carried({}, run.files);
        if (const RunJson* const place = in.find("place")) run.place = read_place(*place);
        in.end();
        return run;
    } catch (const Failure& failure) {
        return Diagnostic{"the run cannot be opened: " + failure.diagnostic.message, {name}};
    } catch (const std::exception&) {
        return Diagnostic{"the run cannot be opened: this is no run that Lockstep has saved", {name}};
    }
}

Result<RunFile> read_run_file(const std::filesystem::path& file) {
    const Result<std::string> text = read_text(file, largest_run_file);
    if (!text.ok()) return text.error();
    return parse_run_file(text.value(), file.string());
}

std::string text_of(const RunFile& run) {
    RunJson all = {{"lockstep_run", 1}};
    if (run.kernel) {
        const LaunchSettings& s = run.kernel->launch;
        RunJson arguments = RunJson::array();
        for (const ArgumentText& a : s.arguments) arguments.push_back({{"parameter", a.parameter}, {"text", a.text}});
        all["kernel"] = {{"name", run.kernel->shown_name()},
                         {"text", run.kernel->text},
                         {"launch",
                          {{"kernel", s.kernel},
                           {"grid", s.grid},
                           {"block", s.block},
                           {"shared", s.shared},
                           {"seed", s.seed},
                           {"gpu", s.gpu},
                           {"symbols", s.symbols},
                           {"words", s.words},
                           {"input", s.input},
                           {"time", s.time},
                           {"timed", s.timed},
                           {"synccheck", s.synccheck},
                           {"racecheck", s.racecheck},
                           {"initcheck", s.initcheck},
                           {"kernels_alone", s.kernels_alone},
                           {"order", static_cast<int>(s.order)},
                           {"arguments", arguments}}}};
    }
    if (!run.lesson.empty()) all["lesson"] = {{"id", run.lesson}, {"step", run.step}};
    if (run.training) {
        const TrainingSetup& s = *run.training;
        all["training"] = {
            {"model", s.model}, {"on_gpu", s.on_gpu}, {"optimizer", s.optimizer}, {"learning_rate", s.learning_rate},
            {"batch", s.batch}, {"ranks", s.ranks},   {"step", run.step},         {"launch", run.launch},
            {"gpu", run.gpu}};
    }
    for (const CarriedFile& file : run.files) {
        const bool plain =
            std::ranges::all_of(file.bytes, [](char c) { return c == '\n' || c == '\t' || (c >= 32 && c < 127); });
        const auto* const first = reinterpret_cast<const unsigned char*>(file.bytes.data());
        all["files"].push_back(
            {{"name", file.name}, {plain ? "text" : "base64", plain ? file.bytes : base64({first, file.bytes.size()})}});
    }
    RunJson place = RunJson::object();
    const auto put = [&](const char* key, int64_t value) {
        if (value >= 0) place[key] = value;
    };
    if (!run.place.workspace.empty()) place["workspace"] = run.place.workspace;
    if (!run.place.view.empty()) place["view"] = run.place.view;
    put("cycle", run.place.cycle);
    put("cycles", run.place.cycles);
    put("sm", run.place.sm);
    put("block", run.place.block);
    put("warp", run.place.warp);
    put("lane", run.place.lane);
    put("line", run.place.line > 0 ? run.place.line : -1);
    if (run.place.zoom >= 0) place["zoom"] = run.place.zoom;
    if (!run.place.plan.empty()) place["plan"] = run.place.plan;
    put("rank", run.place.rank);
    if (run.place.step_time >= 0) place["step_time"] = run.place.step_time;
    if (run.place.request.begin >= 0) place["request"] = followed_json(run.place.request);
    if (run.place.packet.kind != FollowedPacket::Kind::none) place["packet"] = followed_json(run.place.packet);
    if (run.place.stops) place["stops"] = true;
    all["place"] = place;
    return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<scene::ClusterSetup> plan_of(const RunPlace& place) {
    const scene::PublishedPlan* const plan = plan_named(place.plan);
    if (plan == nullptr) return std::nullopt;
    scene::ClusterSetup setup = scene::machine_cluster();
    setup.plan = scene::within_limits(plan->setup());
    return setup;
}

void unpack(RunFile& run) {
    if (run.files.empty()) return;
    KernelDocument none;
    KernelDocument& document = run.kernel ? *run.kernel : none;
    const std::string name = run.kernel ? document.shown_name() : std::string("gpu");
    const std::filesystem::path folder = unpack(run.files, name, document.text);
    if (run.kernel) document.path = (folder / name).string();
    for (std::string* gpu : {&document.launch.gpu, &run.gpu}) {
        if (!is_carried(run.files, *gpu)) continue;
        *gpu = (folder / *gpu).string();
        if (const auto read = model::gpu_named(*gpu); !read.ok()) throw Failure(read.error());
    }
}

RunFile run_on_show(const Session& session, const Focus& focus, const std::string& alone) {
    const auto snapshot = session.snapshot();
    RunFile run;
    run.place.workspace =
        row_of(session.workspace).page ? session.home.left.workspace : std::string(row_of(session.workspace).name);
    run.place.view = alone;
    if (const auto& kernel = snapshot->kernel.run) {
        const KernelTrace& trace = kernel->result.trace;
        run.place.cycles = trace.cycles;
        run.place.cycle = focus.time;
        run.place.sm = trace.sm;
        if (focus.warp >= 0 && static_cast<size_t>(focus.warp) < trace.warps.size()) {
            run.place.block = trace.warps[static_cast<size_t>(focus.warp)].block;
            run.place.warp = trace.warps[static_cast<size_t>(focus.warp)].warp_in_block;
        }
        run.place.lane = focus.lane;
        run.place.line = focus.line;
        const int64_t followed = session.machine.followed;
        if (trace.machine && followed >= 0 && followed < static_cast<int64_t>(trace.machine->requests.size())) {
            const RequestRecord& request = trace.machine->requests[static_cast<size_t>(followed)];
            run.place.request = {request.begin, request.sm, static_cast<int64_t>(request.line)};
        }
    }
    if (session.workspace == Workspace::machine) {
        run.place.packet = session.machine.packet;
        run.place.stops = session.machine.follow;
        run.place.zoom = session.machine.wanted;
        run.place.rank = session.machine.rank;
        run.place.step_time = session.cluster.time;
        const scene::PlanSetup plan = cluster_setup(session).plan;
        for (const scene::PublishedPlan& one : scene::published_plans())
            if (plan == scene::within_limits(one.setup())) run.place.plan = one.name;
    }
    if (snapshot->source == Source::own || session.workspace == Workspace::kernel) {
        run.kernel = session.desk.document();
        run.files = carry(*run.kernel);
    } else if (snapshot->source == Source::lesson && session.lesson.lesson) {
        run.lesson = session.lesson.lesson->id;
        run.step = std::max(0, session.lesson.step);
    } else if (snapshot->source == Source::training && snapshot->training.step) {
        run.training = snapshot->training.setup;
        run.step = snapshot->training.step->step;
        run.launch = focus.launch;
        run.gpu = session.gpu;
        carry_gpu(run.gpu, run.files);
    } else {
        throw Failure("nothing has run that could be saved: open a kernel, a lesson or a training run first");
    }
    return run;
}

std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem, const std::string& ending) {
    std::error_code error;
    std::filesystem::path file = folder / (stem + ending);
    for (int i = 2; std::filesystem::exists(file, error) && i < 1000; ++i)
        file = folder / fmt::format("{}-{}{}", stem, i, ending);
    return file;
}

}  // namespace lockstep::gui
