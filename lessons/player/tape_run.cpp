// Running a tensor program: its statements on a tape, `steps` times, on one device; what it leaves behind as plain data.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/base/rng.h"
#include "core/nn/execution.h"
#include "core/nn/graph_record.h"
#include "core/nn/module.h"
#include "lessons/player/tape_functions.h"

namespace lockstep::lessons {

namespace {

constexpr size_t most_kept_elements = 4096, most_hessian_elements = 32;
constexpr uint64_t most_tape_instructions = 60'000'000;  // warp instructions of one run
constexpr int64_t work_of_launch = 20'000;               // beside its threads
constexpr size_t most_kept_numbers = 1 << 23;            // of all steps but the last

std::vector<double> leaf_values(const TapeLeaf& leaf, uint64_t seed) {
    size_t count = 1;
    for (const int64_t extent : leaf.shape) count *= static_cast<size_t>(extent);
    if (leaf.fill == TapeLeaf::Fill::values) return leaf.values;
    std::vector<double> values(count, leaf.number);
    Rng rng(seed);
    for (size_t i = 0; i < count; ++i) switch (leaf.fill) {
            case TapeLeaf::Fill::ramp:
                values[i] = static_cast<double>(i);
                break;
            case TapeLeaf::Fill::random:
                values[i] = rng.uniform(-1, 1);
                break;
            case TapeLeaf::Fill::normal:
                values[i] = leaf.number * rng.normal();
                break;
            default:
                break;
        }
    return values;
}

struct TapeRunner {
    const TapeText& text;
    const TapeRunOptions& options;
    TapeRun& run;
    OwnOps own = {};
    std::vector<std::vector<double>> start = {};  // of every leaf
    int64_t work = 0;                             // of all devices, see TapeRunOptions::most_work
    size_t kept_numbers = 0;

    explicit TapeRunner(const TapeText& t, const TapeRunOptions& o, TapeRun& r) : text(t), options(o), run(r) {
        for (const TapeOp& op : text.ops) own.emplace_back(op);
        for (size_t i = 0; i < text.leaves.size(); ++i)
            start.push_back(leaf_values(text.leaves[i], options.seed * 7919 + i));
    }

    [[noreturn]] void fail_at(int line, const Diagnostic& why) const {
        std::string source;
        size_t begin = 0;
        for (int i = 1; i < line && begin != std::string::npos; ++i) {
            begin = text.text.find('\n', begin);
            if (begin != std::string::npos) ++begin;
        }
        if (begin != std::string::npos) source = text.text.substr(begin, text.text.find('\n', begin) - begin);
        throw Failure(Diagnostic{why.message, {text.file, line, 1}, source});
    }

    void count_work(const device::LaunchEvent& event) {
        work += work_of_launch + static_cast<int64_t>(event.grid.count() * event.block.count());
        if (work > options.most_work)
            throw Failure("this program is too long for a lesson: make its tensors or its steps fewer");
    }
    // A host of its own, for what is made in double beside the run.
    std::unique_ptr<device::Device> beside() {
        auto host = device::open_device("host", {.stop = options.stop}).value();
        host->on_launch = [this](const device::LaunchEvent& event) { count_work(event); };
        return host;
    }

    tensor::Tensor on(tensor::Heap& heap, size_t i, const std::vector<double>& values, DType dtype) const {
        const TapeLeaf& leaf = text.leaves[i];
        if (leaf.kind == TapeLeaf::Kind::label) {
            const std::vector<int32_t> labels(values.begin(), values.end());
            if (text.mode == nn::Mode::direct)
                return tensor::reshaped(tensor::labels_from(heap, labels, leaf.name), leaf.shape);
            tensor::Tensor stays = tensor::make_tensor(heap, leaf.shape, leaf.name, tensor::Purpose::parameter, DType::i32);
            for (const int32_t label : labels) stays.largest = std::max(stays.largest, label);
            heap.device().copy_in(stays.pointer(), labels.data(), labels.size() * sizeof(int32_t));
            return stays;
        }
        return tensor::tensor_from(heap, leaf.shape, values, leaf.name, purpose_of(leaf), dtype);
    }
    tensor::Purpose purpose_of(const TapeLeaf& leaf) const {  // what a graph reads in every replay stays
        return leaf.kind == TapeLeaf::Kind::parameter || text.mode != nn::Mode::direct ? tensor::Purpose::parameter
                                                                                       : tensor::Purpose::data;
    }

    // The assignments down to `past`, as a function of the parameters: for gradcheck.
    tensor::Variable assignments(tensor::Tape& tape, Names names, size_t past, const std::string& wanted) const {
        for (size_t s = 0; s < past; ++s) {
            const TapeStatement& one = text.statements[s];
            if (one.kind == TapeStatement::Kind::assign)
                names[one.name] = record(tape, one.term, names, own, one.name, one.place);
        }
        return names.at(wanted);
    }

    // All leaves by name, the parameters given, the others made anew in double.
    Names leaves_with(tensor::Tape& tape, tensor::Heap& heap, std::span<const tensor::Variable> parameters) const {
        Names names;
        size_t next = 0;
        for (size_t i = 0; i < text.leaves.size(); ++i) {
            const TapeLeaf& leaf = text.leaves[i];
            if (leaf.kind == TapeLeaf::Kind::parameter)
                names[leaf.name] = parameters[next++];
            else if (leaf.kind == TapeLeaf::Kind::label)
                names[leaf.name] = tape.label(on(heap, i, start[i], DType::f64), leaf.name);
            else
                names[leaf.name] = tape.input(on(heap, i, start[i], DType::f64), leaf.name);
        }
        return names;
    }

    void check(size_t at) {
        const auto host = beside();
        tensor::Heap heap(*host);
        heap.limit(options.most_bytes);
        std::vector<tensor::GradcheckInput> inputs;
        for (size_t i = 0; i < text.leaves.size(); ++i)
            if (text.leaves[i].kind == TapeLeaf::Kind::parameter)
                inputs.push_back({text.leaves[i].name, text.leaves[i].shape, start[i]});
        run.checks.push_back(tensor::gradcheck(
            heap,
            [&](tensor::Tape& tape, std::span<const tensor::Variable> x) {
                return assignments(tape, leaves_with(tape, heap, x), at, text.statements[at].name);
            },
            inputs));
    }

    // The gradients' own gradients, one element after the other.
    void second_derivatives(size_t at) {
        const auto host = beside();
        tensor::Heap heap(*host);
        heap.limit(options.most_bytes);
        tensor::Tape tape(heap);
        std::vector<tensor::Variable> x;
        TapeHessian made{text.statements[at].name, {}, {}};
        for (size_t i = 0; i < text.leaves.size(); ++i) {
            const TapeLeaf& leaf = text.leaves[i];
            if (leaf.kind != TapeLeaf::Kind::parameter) continue;
            x.push_back(tape.input(on(heap, i, start[i], DType::f64), leaf.name, true));
            for (size_t k = 0; k < start[i].size(); ++k)
                made.in.push_back(leaf.shape.empty() ? leaf.name : fmt::format("{}[{}]", leaf.name, k));
        }
        if (made.in.empty()) throw Failure("a Hessian is one of params: the program has none");
        if (made.in.size() > most_hessian_elements)
            throw Failure(fmt::format("a Hessian of {} elements is too large here: {} at most", made.in.size(),
                                      most_hessian_elements));
        const tensor::Variable z = assignments(tape, leaves_with(tape, heap, x), at, made.of);
        if (z.value.count() != 1)
            throw Failure(fmt::format("a Hessian is that of one number; {} has {}", made.of, z.value.count()));
        const auto first = tape.gradients(z, x, {.create_graph = true});
        for (size_t i = 0; i < x.size(); ++i)
            for (int64_t k = 0; k < x[i].value.count(); ++k) {
                std::vector<double> one(static_cast<size_t>(x[i].value.count()), 0.0);
                one[static_cast<size_t>(k)] = 1;
                std::vector<tensor::Variable> row(x.size());
                if (first[i].node >= 0 && tape.nodes()[static_cast<size_t>(first[i].node)].requires_grad) {
                    const tensor::Variable seed = tape.input(
                        tensor::tensor_from(heap, x[i].shape(), one, "row", tensor::Purpose::data, DType::f64), "row");
                    row = tape.gradients(first[i], x, {.create_graph = true}, &seed);
                }
                for (size_t j = 0; j < x.size(); ++j) {
                    std::vector<double> values(static_cast<size_t>(x[j].value.count()), 0.0);
                    if (row[j].node >= 0) values = tensor::values_of(heap, row[j].value);
                    made.values.insert(made.values.end(), values.begin(), values.end());
                }
            }
        run.hessians.push_back(std::move(made));
    }

    void look_for_anomaly(const tensor::Tape& tape, int64_t step) {
        if (run.anomaly || !tape.anomaly()) return;
        run.anomaly = tape.anomaly();
        run.anomaly_step = step;
        for (size_t i = 0; i < tape.nodes().size() && i < run.line_of_node.size(); ++i)
            if (tape.nodes()[i].name == run.anomaly->name) run.anomaly_line = run.line_of_node[i];
    }

    void go() {
        const auto device = nn::with_mode(
            device::open_device(options.device, {.keep_runs = options.keep_runs, .stop = options.stop}).value(), text.mode);
        auto* queue = dynamic_cast<graph::Queue*>(device.get());
        tensor::Heap heap(*device);
        heap.limit(options.most_bytes);
        tensor::Tape tape(heap);
        if (options.watch && text.mode == nn::Mode::direct) tape.check_values(tensor::Tape::Check::note);
        nn::Execution execution(text.mode, heap);
        std::vector<tensor::Tensor> leaves;
        std::deque<nn::Parameter> parameters;
        for (size_t i = 0; i < text.leaves.size(); ++i) {
            leaves.push_back(on(heap, i, start[i], text.dtype));
            if (text.leaves[i].kind != TapeLeaf::Kind::parameter) continue;
            parameters.push_back({text.leaves[i].name, leaves.back()});
            run.parameters += leaves.back().count();
        }
        std::vector<nn::Parameter*> all;
        for (nn::Parameter& parameter : parameters) all.push_back(&parameter);
        graph::StepInputs inputs;
        for (const TapeStatement& one : text.statements)
            if (one.kind == TapeStatement::Kind::update) inputs.learning_rate = one.rate;

        uint64_t instructions = 0;
        std::shared_ptr<const nn::StepRecord> recorded;  // the last step that ran op by op: has the graph
        for (int64_t step = 0; step < text.steps; ++step) {
            if (options.stop.stop_requested()) throw Failure("cancelled");
            auto record_of = std::make_shared<nn::StepRecord>();
            device->on_launch = [&](const device::LaunchEvent& event) {
                instructions += event.warp_instructions;
                if (instructions > most_tape_instructions)
                    throw Failure("this program is too long for a lesson: make its tensors or its steps fewer");
                count_work(event);
                record_of->launches.push_back(event);
                if (options.progress) options.progress(-static_cast<double>(record_of->launches.size()));
            };
            if (queue) queue->on_queue = [&](const graph::QueueEvent& event) { record_of->queue.push_back(event); };
            tape.clear();
            heap.recycle();
            if (graph::Executor* executor = execution.ready(inputs)) {
                replay(heap, *executor, inputs, parameters, *recorded, step, *record_of);
            } else {
                one_step(tape, leaves, all, step, *record_of, execution, inputs);
                look_for_anomaly(tape, step);
                recorded = record_of;
            }
            device->synchronize();
            device->on_launch = nullptr;
            if (queue) queue->on_queue = nullptr;
            record_of->mode = nn::name_of(text.mode);
            record_of->peak_bytes = heap.peak_bytes();
            record_of->device_bytes = heap.device_bytes();
            if (execution.traffic()) record_of->traffic = execution.traffic()->bytes;
            if (step + 1 == text.steps) run.step = record_of;
        }
        auto& after = run.history.emplace_back();
        keep_parameters(text.steps, heap, parameters, after);
    }

    // Whether so many more may be kept of step `step`: the last ones always.
    bool keeps(int64_t count, int64_t step) {
        if (count > static_cast<int64_t>(most_kept_elements)) return false;
        kept_numbers += static_cast<size_t>(count);
        return kept_numbers <= most_kept_numbers || step + 1 >= text.steps;
    }
    void keep_parameters(int64_t step, tensor::Heap& heap, const std::deque<nn::Parameter>& parameters,
                         std::map<std::string, TapeRun::Named>& kept) {
        for (const nn::Parameter& parameter : parameters)
            if (keeps(parameter.value.count(), step)) kept[parameter.name].value = tensor::values_of(heap, parameter.value);
    }

    // The step from a captured graph: only its loss and the last line's values are read back. The nodes are those of the
    // step that was recorded, with the launches that do their work now.
    void replay(tensor::Heap& heap, graph::Executor& executor, const graph::StepInputs& inputs,
                const std::deque<nn::Parameter>& parameters, const nn::StepRecord& recorded, int64_t step,
                nn::StepRecord& made) {
        auto& kept = run.history.emplace_back();
        keep_parameters(step, heap, parameters, kept);
        executor.replay(inputs);
        heap.device().synchronize();
        const std::vector<graph::Output>& outputs = executor.graph().outputs;
        double loss = std::numeric_limits<double>::quiet_NaN();
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i].name == "loss")
                loss = executor.scalar(i);
            else if (keeps(tensor::count_of(outputs[i].shape), step))
                kept[last_made()].value = executor.values(i);
        }
        run.loss.push_back(loss);
        made.nodes = recorded.nodes;
        made.step = step;
        made.loss = loss;
        made.device = recorded.device;
        made.model = recorded.model;
        made.batch = 1;
        made.replayed = true;
        made.planned_bytes = executor.bytes();
        made.live_bytes = executor.plan().live;
        std::vector<int> now(recorded.launches.size(), -1);
        const std::vector<graph::Launch>& launches = executor.graph().launches;
        for (size_t i = 0; i < launches.size(); ++i) {
            if (launches[i].replaces.empty() && text.mode == nn::Mode::graph && i < now.size()) now[i] = static_cast<int>(i);
            for (const int old : launches[i].replaces)
                if (old >= 0 && static_cast<size_t>(old) < now.size()) now[static_cast<size_t>(old)] = static_cast<int>(i);
        }
        const auto moved = [&](int launch) {
            return launch >= 0 && static_cast<size_t>(launch) < now.size() ? now[static_cast<size_t>(launch)] : -1;
        };
        for (nn::GraphNode& node : made.nodes) {
            for (auto* list : {&node.forward_launches, &node.backward_launches, &node.update_launches}) {
                for (int& launch : *list) launch = moved(launch);
                std::erase(*list, -1);
            }
            node.gradient_after = moved(node.gradient_after);
            node.freed_after = moved(node.freed_after);
            if (updates()) node.value = node.gradient = nullptr;  // they were the recorded step's
        }
        if (!updates()) made.followed = recorded.followed;
    }
    bool updates() const {
        return std::any_of(text.statements.begin(), text.statements.end(),
                           [](const TapeStatement& one) { return one.kind == TapeStatement::Kind::update; });
    }
    std::string last_made() const {  // by the last line that makes something
        std::string name;
        for (const TapeStatement& one : text.statements)
            if (one.kind == TapeStatement::Kind::assign) name = one.name;
        return name;
    }

    void one_step(tensor::Tape& tape, const std::vector<tensor::Tensor>& leaves, std::vector<nn::Parameter*>& parameters,
                  int64_t step, nn::StepRecord& made, nn::Execution& execution, const graph::StepInputs& inputs) {
        Names names;
        std::vector<std::vector<float>> before(leaves.size());  // of the parameters, by leaf: an update changes them
        auto& kept = run.history.emplace_back();
        for (size_t i = 0; i < leaves.size(); ++i) {
            if (text.leaves[i].kind != TapeLeaf::Kind::parameter) continue;
            before[i] = tensor::to_host(tape.heap(), leaves[i]);
            if (keeps(leaves[i].count(), step)) kept[text.leaves[i].name].value = tensor::values_of(tape.heap(), leaves[i]);
        }
        const bool at_once = text.mode == nn::Mode::direct;  // otherwise nothing may be read before the step's end
        execution.begin(tape, inputs);
        size_t next = 0;
        run.line_of_node.clear();
        run.hooks.clear();
        for (size_t i = 0; i < leaves.size(); ++i) {
            const TapeLeaf& leaf = text.leaves[i];
            tensor::Variable& variable = names[leaf.name];
            if (leaf.kind == TapeLeaf::Kind::parameter) {
                variable = tape.parameter(leaves[i], leaf.name);
                parameters[next++]->node = variable.node;
            } else {
                variable =
                    leaf.kind == TapeLeaf::Kind::label ? tape.label(leaves[i], leaf.name) : tape.input(leaves[i], leaf.name);
            }
            run.line_of_node.resize(tape.nodes().size(), leaf.line);
        }
        int root = -1, made_last = -1;
        for (size_t s = 0; s < text.statements.size(); ++s) {
            const TapeStatement& one = text.statements[s];
            try {
                if (one.kind == TapeStatement::Kind::assign) {
                    names[one.name] = record(tape, one.term, names, own, one.name, one.place);
                    made_last = names[one.name].node;
                } else if (one.kind == TapeStatement::Kind::gradcheck) {
                    if (step == 0) check(s);
                } else if (one.kind == TapeStatement::Kind::hessian) {
                    if (step == 0) second_derivatives(s);
                } else if (one.kind == TapeStatement::Kind::hook) {
                    const size_t mine = run.hooks.size();
                    run.hooks.push_back({one.name});
                    tape.on_gradient(names.at(one.name), [this, mine, &tape, &one](const tensor::Tensor& up) {
                        const tensor::Tensor passed = hooked(tape, one.term, up, one.name);
                        run.hooks[mine] = {one.name, tensor::values_of(tape.heap(), up)[0],
                                           tensor::values_of(tape.heap(), passed)[0], up.count()};
                        return passed;
                    });
                } else if (one.kind == TapeStatement::Kind::backward) {
                    const tensor::Variable& from = names.at(one.name);
                    if (from.value.count() != 1)
                        throw Failure(
                            fmt::format("backward starts from one number; {} has {}", one.name, from.value.count()));
                    root = from.node;
                    tape.backward(from);
                    if (at_once) remember(step, tape, names, kept);
                } else {
                    nn::sgd_step(tape, parameters, one.rate);
                }
            } catch (const Failure& failure) {
                if (failure.diagnostic.message == "cancelled" || failure.status == ExitStatus::missing) throw;
                fail_at(one.line, failure.diagnostic);
            }
            run.line_of_node.resize(tape.nodes().size(), one.line);
        }
        tape.heap().device().synchronize();
        execution.end(root, made_last);
        if (root < 0 || !at_once) remember(step, tape, names, kept);
        for (auto& [name, variable] : names) variable.value = {};
        finish(tape, root, step, before, made);
    }

    void remember(int64_t step, tensor::Tape& tape, const Names& names, std::map<std::string, TapeRun::Named>& kept) {
        for (const auto& [name, variable] : names) {
            const tensor::Node& node = tape.nodes()[static_cast<size_t>(variable.node)];
            if (!keeps(tensor::count_of(node.shape), step)) continue;
            TapeRun::Named& named = kept[name];
            if (node.kind != tensor::Node::Kind::parameter) named.value = tape.values(variable.node);
            if (node.has_gradient) named.gradient = tape.gradient_values(variable.node);
        }
    }

    void finish(tensor::Tape& tape, int root, int64_t step, const std::vector<std::vector<float>>& before,
                nn::StepRecord& made) {
        run.loss.push_back(root >= 0 ? tape.values(root)[0] : std::numeric_limits<double>::quiet_NaN());
        if (step + 1 != text.steps && text.mode == nn::Mode::direct) return;
        auto queue = std::move(made.queue);
        made = nn::record_of(tape, root, std::move(made.launches));
        made.queue = std::move(queue);
        made.step = step;
        made.loss = run.loss.back();
        made.device = options.device;
        made.model = text.file.substr(text.file.find_last_of('/') + 1);
        made.batch = 1;
        std::vector<int64_t> chain;
        for (nn::GraphNode& node : made.nodes) {
            const auto id = static_cast<size_t>(node.id);
            if (node.kind == nn::GraphNode::Kind::parameter && id < before.size()) node.value = kept_values(before[id]);
            int64_t longest = 0;
            for (const int input : node.inputs) longest = std::max(longest, chain[static_cast<size_t>(input)]);
            chain.push_back(longest + (node.forward_launches.empty() ? 0 : 1));
        }
        run.chain = chain.empty() ? 0 : *std::max_element(chain.begin(), chain.end());
        run.cost = tape.cost();
    }
    static nn::Values kept_values(std::vector<float> values) {
        return values.empty() ? nullptr : std::make_shared<const std::vector<float>>(std::move(values));
    }
};

// "d.w[1]@step:3"
struct FigureName {
    std::string name;
    int64_t step = -1;
    size_t index = 0;
    bool indexed = false, gradient = false;
};
FigureName figure_name(const std::string& full) {
    FigureName figure{full};
    if (const size_t at = figure.name.find("@step:"); at != std::string::npos) {
        std::from_chars(figure.name.data() + at + 6, figure.name.data() + figure.name.size(), figure.step);
        figure.name.erase(at);
    }
    if (const size_t open = figure.name.find('['); open != std::string::npos) {
        std::from_chars(figure.name.data() + open + 1, figure.name.data() + figure.name.size(), figure.index);
        figure.indexed = true;
        figure.name.erase(open);
    }
    if (figure.name.starts_with("d.")) {
        figure.gradient = true;
        figure.name.erase(0, 2);
    }
    return figure;
}

double cycles_of(const nn::StepRecord& step, std::string_view phase) {
    double sum = 0;
    for (const device::LaunchEvent& launch : step.launches)
        if (phase.empty() || launch.phase == phase) sum += static_cast<double>(launch.cycles);
    return sum;
}

}  // namespace

Result<std::shared_ptr<const TapeRun>> run_tape(const TapeText& text, const TapeRunOptions& options) {
    try {
        auto run = std::make_shared<TapeRun>();
        run->text = text;
        TapeRunner(run->text, options, *run).go();
        return std::shared_ptr<const TapeRun>(std::move(run));
    } catch (const Failure& failure) {
        if (failure.status == ExitStatus::missing || failure.diagnostic.message == "cancelled") throw;
        return failure.diagnostic;
    }
}

std::string anomaly_text(const TapeRun& run) {
    const std::string text = run.anomaly->text();
    return (run.text.steps > 1 ? fmt::format("step {}: ", run.anomaly_step) : "") +
           text.substr(0, text.find(", recorded at"));
}

std::string TapeHessian::text() const {
    size_t wide = 11;
    for (const std::string& name : in) wide = std::max(wide, name.size() + 1);
    std::string table = fmt::format("{:>{}}", "", wide);
    for (const std::string& name : in) table += fmt::format("{:>{}}", name, wide);
    for (size_t row = 0; row < in.size(); ++row) {
        table += fmt::format("\n{:>{}}", in[row], wide);
        for (size_t column = 0; column < in.size(); ++column) table += fmt::format("{:>{}.5g}", at(row, column), wide);
    }
    return table;
}

Result<double> tape_figure(const TapeRun& run, const std::string& full) {
    if (full.starts_with("hessian.")) {
        if (run.hessians.empty()) return Diagnostic{"the program has no hessian line"};
        const TapeHessian& hessian = run.hessians.front();
        for (size_t row = 0; row < hessian.in.size(); ++row)
            for (size_t column = 0; column < hessian.in.size(); ++column)
                if (full == "hessian." + hessian.in[row] + "." + hessian.in[column]) return hessian.at(row, column);
        return Diagnostic{fmt::format("'{}': a Hessian's element is named by two of {}, as in hessian.{}.{}", full,
                                      fmt::join(hessian.in, ", "), hessian.in.front(), hessian.in.back())};
    }
    if (full.starts_with("anomaly.")) {
        const std::string what = full.substr(8);
        if (what == "found") return run.anomaly ? 1.0 : 0.0;
        if (!run.anomaly) return Diagnostic{"every value and gradient is finite: there is no anomaly"};
        if (what == "line") return static_cast<double>(run.anomaly_line);
        if (what == "step") return static_cast<double>(run.anomaly_step);
        if (what == "backward") return run.anomaly->backward ? 1.0 : 0.0;
        return Diagnostic{"of an anomaly there are found, line, step and backward"};
    }
    if (full.starts_with("gradcheck.")) {
        if (run.checks.empty()) return Diagnostic{"the program has no gradcheck line"};
        const tensor::GradcheckResult& check = run.checks.front();
        const std::string what = full.substr(10);
        if (what == "compared") return static_cast<double>(check.compared);
        if (what == "wrong") return static_cast<double>(check.mismatches.size());
        if (what == "worst") return check.worst;
        if (what == "backward" || what == "numeric") {
            if (check.mismatches.empty()) return Diagnostic{"gradcheck finds no difference"};
            return what == "backward" ? check.mismatches.front().backward : check.mismatches.front().numeric;
        }
        return Diagnostic{"of gradcheck there are compared, wrong, worst, backward and numeric"};
    }
    const FigureName figure = figure_name(full);
    const int64_t steps = run.text.steps, step = figure.step < 0 ? steps - 1 : figure.step;
    if (step >= static_cast<int64_t>(run.history.size()))
        return Diagnostic{fmt::format("'{}': the program runs {} step{}, from 0", full, steps, steps == 1 ? "" : "s")};
    const auto& kept = run.history[static_cast<size_t>(step)];
    if (const auto found = kept.find(figure.name); found != kept.end()) {
        const std::vector<double>& values = figure.gradient ? found->second.gradient : found->second.value;
        if (values.empty())
            return Diagnostic{
                fmt::format("'{}' has no {}", figure.name, figure.gradient ? "gradient" : "value that was kept")};
        if (figure.index >= values.size())
            return Diagnostic{fmt::format("'{}' is beyond the {} elements", full, values.size())};
        if (!figure.indexed && values.size() > 1)
            return Diagnostic{fmt::format("'{}' has {} elements: say which, as in {}[0]", figure.name, values.size(), full)};
        return values[figure.index];
    }
    const nn::StepRecord& last = *run.step;
    if (figure.name == "loss" && step < static_cast<int64_t>(run.loss.size())) return run.loss[static_cast<size_t>(step)];
    if (figure.name == "steps") return static_cast<double>(steps);
    if (figure.name == "chain") return static_cast<double>(run.chain);
    if (figure.name == "operations") return run.cost.forward.operations;
    if (figure.name == "parameters") return static_cast<double>(run.parameters);
    if (figure.name == "cycles") return cycles_of(last, "");
    if (figure.name == "forward_cycles") return cycles_of(last, "forward");
    if (figure.name == "backward_cycles") return cycles_of(last, "backward");
    if (figure.name == "ops")
        return static_cast<double>(
            std::count_if(last.nodes.begin(), last.nodes.end(), [](const nn::GraphNode& node) { return !node.op.empty(); }));
    if (figure.name == "accumulations")
        return static_cast<double>(
            std::count_if(last.launches.begin(), last.launches.end(),
                          [](const device::LaunchEvent& launch) { return launch.kernel.starts_with("accumulate"); }));
    std::vector<std::string> known;
    for (const auto& [name, unused] : kept) known.push_back(name);
    const std::string near = nearest_name(figure.name, known);
    return Diagnostic{near.empty()
                          ? fmt::format("unknown figure '{}'; named in the program are {}", full, fmt::join(known, ", "))
                          : fmt::format("unknown figure '{}', did you mean '{}'?", full, near)};
}

}  // namespace lockstep::lessons
