// Running a tensor program: its statements on a tape, `steps` times, on one device; what it leaves behind as plain data.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/nn/layers/module.h"
#include "core/nn/train/execution.h"
#include "core/nn/train/graph_record.h"
#include "core/scene/tape/tape_derivatives.h"

namespace lockstep::scene {

namespace {

constexpr size_t most_kept_elements = 4096;
constexpr uint64_t most_tape_instructions = 60'000'000;  // warp instructions of one run
constexpr int64_t work_of_launch = 20'000;               // beside its threads
constexpr size_t most_kept_numbers = 1 << 23;            // of all steps but the last

struct TapeRunner {
    const TapeText& text;
    const TapeRunOptions& options;
    TapeRun& run;
    TapeStart start;
    int64_t work = 0;  // of all devices, see TapeRunOptions::most_work
    size_t kept_numbers = 0;

    TapeRunner(const TapeText& t, const TapeRunOptions& o, TapeRun& r) : text(t), options(o), run(r), start(t, o.seed) {}

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

    void check(size_t at) {
        const auto host = beside();
        tensor::Heap heap(*host);
        heap.limit(options.most_bytes);
        run.checks.push_back(gradcheck_at(start, at, heap));
    }
    void second_derivatives(size_t at) {
        const auto host = beside();
        tensor::Heap heap(*host);
        heap.limit(options.most_bytes);
        run.hessians.push_back(hessian_at(start, at, heap));
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
            leaves.push_back(start.on(heap, i, text.dtype));
            if (text.leaves[i].kind != TapeLeaf::Kind::parameter) continue;
            parameters.push_back({text.leaves[i].name, leaves.back()});
            run.parameters += leaves.back().count();
        }
        std::vector<nn::Parameter*> all;
        for (nn::Parameter& parameter : parameters) all.push_back(&parameter);
        graph::StepInputs inputs;
        for (const TapeStatement& statement : text.statements)
            if (statement.kind == TapeStatement::Kind::update) inputs.learning_rate = statement.rate;

        uint64_t instructions = 0;
        std::shared_ptr<const nn::StepRecord> recorded;  // the last step that ran op by op: has the graph
        for (int64_t step = 0; step < text.steps; ++step) {
            throw_if_stopped(options.stop);
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
                kept[text.last_made()].value = executor.values(i);
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
                    names[one.name] = record(tape, one.term, names, start.own, one.name, one.place);
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
            } catch (const Cancelled&) {
                throw;
            } catch (const Failure& failure) {
                if (failure.status == ExitStatus::missing) throw;
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

}  // namespace

Result<std::shared_ptr<const TapeRun>> run_tape(const TapeText& text, const TapeRunOptions& options) {
    auto run = std::make_shared<TapeRun>();
    run->text = text;
    try {
        TapeRunner(run->text, options, *run).go();
        return std::shared_ptr<const TapeRun>(std::move(run));
    } catch (const Cancelled&) {
        if (!options.partial || run->loss.empty()) throw;
        run->stopped = true;
        return std::shared_ptr<const TapeRun>(std::move(run));
    } catch (const Failure& failure) {
        if (failure.status == ExitStatus::missing) throw;
        return failure.diagnostic;
    }
}

}  // namespace lockstep::scene
