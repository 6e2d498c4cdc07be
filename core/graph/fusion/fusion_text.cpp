// Reading the kernels' PTX: a few forms of addresses, followed from register to register. A register that is written twice
// (a loop's pointer) has no known form, but it is still known which parameters went into it.
#include "core/graph/fusion/fusion_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <mutex>
#include <set>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::graph {

namespace {
std::string_view trimmed_statement(std::string_view text) {
    const size_t comment = text.find("//");
    if (comment != std::string_view::npos) text = text.substr(0, comment);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
    while (!text.empty() && (std::isspace(static_cast<unsigned char>(text.back())) || text.back() == ';'))
        text.remove_suffix(1);
    return text;
}

bool is_label(std::string_view text) {
    return text.size() > 1 && text.front() == '$' && text.back() == ':';
}

int number_in(std::string_view text, int otherwise = -1) {
    int value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// What a register holds, as far as fusion asks.
struct Form {
    enum Kind : uint8_t {
        other,
        parameter,
        fixed,
        thread,
        block,
        block_size,
        thread_in_block,
        wide,
        scaled,
        address,
        product
    };
    Kind kind = other;
    int number = -1;                // the parameter's
    std::string index;              // wide, scaled, address: the 32-bit register
    int bytes = 0;                  // scaled, address: times this
    std::vector<int> factors = {};  // product of parameters
};

int bytes_of_type(std::string_view opcode) {
    const size_t dot = opcode.rfind('.');
    if (dot == std::string_view::npos || dot + 2 > opcode.size()) return 0;
    const int bits = number_in(opcode.substr(dot + 2), 0);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

int bytes_of_register(const KernelText& kernel, std::string_view name) {
    for (const std::string& declared : kernel.registers) {  // "f32 %f 31"
        const size_t space = declared.find(' ');
        const std::string_view stem = std::string_view(declared).substr(space + 1, declared.rfind(' ') - space - 1);
        if (name.size() > stem.size() && name.substr(0, stem.size()) == stem &&
            std::isdigit(static_cast<unsigned char>(name[stem.size()])))
            return declared[0] == 'p' ? 0 : number_in(std::string_view(declared).substr(1), 0) / 8;
    }
    return 0;
}

// The text of the entry `name`: from its parameters to the brace that closes it.
std::string_view entry_of(const std::string& ptx, const std::string& name) {
    const size_t begin = ptx.find(".entry " + name + "(");
    if (begin == std::string::npos) return {};
    const size_t end = ptx.find("\n}", begin);
    return std::string_view(ptx).substr(begin, end == std::string::npos ? end : end - begin);
}

void split_entry(KernelText& kernel, std::string_view text) {
    const size_t open = text.find('('), body = text.find("\n{");
    if (open == std::string_view::npos || body == std::string_view::npos) return;
    std::string_view parameters = text.substr(open + 1, body - open - 1);
    for (size_t at = parameters.find(".param "); at != std::string_view::npos; at = parameters.find(".param ", at + 1)) {
        const size_t begin = at + 7, end = parameters.find(' ', begin);
        kernel.parameters.emplace_back(parameters.substr(begin, end - begin));
    }
    kernel.uses.resize(kernel.parameters.size());
    kernel.self_contained = true;
    std::string_view rest = text.substr(body + 2);
    int source_line = 0, depth = 0;
    while (!rest.empty()) {
        const size_t stop = rest.find('\n');
        const std::string_view line = trimmed_statement(rest.substr(0, stop));
        rest = stop == std::string_view::npos ? std::string_view{} : rest.substr(stop + 1);
        if (line.empty()) continue;
        if (line.substr(0, 5) == ".loc\t" || line.substr(0, 5) == ".loc ") {
            const int file = number_in(line.substr(5)), at = number_in(line.substr(line.find(' ', 5) + 1), 0);
            if (file == 1 && at > 0) source_line = at;
        } else if (depth > 0 || line == "{") {  // an inner scope, with registers of its own
            depth += (line == "{") - (line == "}");
            if (line.substr(0, 7) == ".param " || line.substr(0, 7) == ".local ") kernel.self_contained = false;
            kernel.lines.push_back({std::string(line), source_line});
        } else if (line.substr(0, 5) == ".reg ") {
            std::string_view stem = line.substr(line.find('%')), type = line.substr(6, line.find_first_of(" \t", 6) - 6);
            const size_t count = stem.find('<');
            kernel.registers.push_back(
                fmt::format("{} {} {}", type, stem.substr(0, count), number_in(stem.substr(count + 1), 0)));
        } else if (line.substr(0, 8) == ".shared ") {
            kernel.shared.push_back(std::string(line) + ";");
        } else if (line.substr(0, 7) == ".local " || line == "}") {
            kernel.self_contained = false;
        } else if (line[0] != '.' || line.substr(0, 7) == ".pragma") {
            kernel.lines.push_back({std::string(line), source_line});
        }
    }
    for (const PtxLine& line : kernel.lines) {
        if (line.text.find("call") == 0) kernel.self_contained = false;
        if (line.text.find("%nctaid") != std::string::npos) kernel.reads_grid_size = true;
    }
    if (kernel.lines.size() >= 2 && kernel.lines.back().text == "ret" &&
        is_label(kernel.lines[kernel.lines.size() - 2].text)) {
        kernel.end_label = kernel.lines[kernel.lines.size() - 2].text;
        kernel.end_label.pop_back();
    }
}

// Shared memory that the module declares for several kernels becomes the kernel's own; any other name of the module's keeps
// it from standing elsewhere.
void share_module_memory(KernelText& kernel, const std::string& ptx) {
    std::set<std::string> seen;
    for (const PtxLine& line : kernel.lines)
        for (size_t at = line.text.find("_Z"); at != std::string::npos; at = line.text.find("_Z", at + 2)) {
            if (at > 0 && (std::isalnum(static_cast<unsigned char>(line.text[at - 1])) || line.text[at - 1] == '_'))
                continue;
            size_t end = at;
            while (end < line.text.size() &&
                   (std::isalnum(static_cast<unsigned char>(line.text[end])) || line.text[end] == '_'))
                ++end;
            const std::string name = line.text.substr(at, end - at);
            if (!seen.insert(name).second) continue;
            bool own = false;
            for (const std::string& declared : kernel.shared)
                own = own || declared.find(" " + name + "[") != std::string::npos;
            if (own) continue;
            const size_t place = ptx.find(" " + name + "[");
            const size_t begin = place == std::string::npos ? place : ptx.rfind('\n', place) + 1;
            const size_t word = begin == std::string::npos ? begin : ptx.find(".shared ", begin);
            if (word == std::string::npos || word > place)
                kernel.self_contained = false;
            else
                kernel.shared.push_back(ptx.substr(word, ptx.find(';', place) + 1 - word));
        }
}

class Reading {  // follows the forms of registers through one kernel
  public:
    explicit Reading(KernelText& kernel) : kernel_(kernel), statements_(kernel.lines.size()) {
        for (size_t i = 0; i < kernel.lines.size(); ++i) {
            if (is_label(kernel.lines[i].text)) continue;
            statements_[i] = parse_statement(kernel.lines[i].text);
            for (const std::string& target : targets(statements_[i])) ++written_[target];
        }
        spread_taint();
        for (size_t i = 0; i < statements_.size(); ++i) follow(i);
        find_guard();
        find_stores();
    }

  private:
    static std::vector<std::string> targets(const Statement& it) {
        if (it.operands.empty() || it.opcode.substr(0, 3) == "st." || it.opcode.substr(0, 3) == "bra" ||
            it.opcode.substr(0, 4) == "red." || it.opcode.substr(0, 3) == "bar")
            return {};
        std::vector<std::string> names;
        std::string_view first = it.operands[0];
        for (size_t at = first.find('%'); at != std::string_view::npos; at = first.find('%', at + 1)) {
            size_t end = at + 1;
            while (end < first.size() && (std::isalnum(static_cast<unsigned char>(first[end])) || first[end] == '_')) ++end;
            names.emplace_back(first.substr(at, end - at));
        }
        return names;
    }

    int parameter_named(std::string_view operand) const {  // "[gelu_f32_param_1]"
        const size_t at = operand.find("_param_");
        return at == std::string_view::npos || operand.find('+') != std::string_view::npos
                   ? -1
                   : number_in(operand.substr(at + 7));
    }

    // Which parameters' values may be in a register; by way of loads from memory nothing comes.
    void spread_taint() {
        for (bool again = true; again;) {
            again = false;
            for (const Statement& it : statements_) {
                if (it.opcode.substr(0, 3) == "ld." && it.opcode.substr(0, 8) != "ld.param") continue;
                std::set<int> sources;
                if (it.opcode.substr(0, 8) == "ld.param") {
                    const size_t at = it.operands[1].find("_param_");
                    if (at != std::string::npos) sources.insert(number_in(std::string_view(it.operands[1]).substr(at + 7)));
                } else {
                    for (size_t i = 1; i < it.operands.size(); ++i)
                        if (const auto found = taint_.find(it.operands[i]); found != taint_.end())
                            sources.insert(found->second.begin(), found->second.end());
                }
                if (sources.empty()) continue;
                for (const std::string& target : targets(it)) {
                    auto& known = taint_[target];
                    const size_t before = known.size();
                    known.insert(sources.begin(), sources.end());
                    again = again || known.size() != before;
                }
            }
        }
    }

    Form form_of(const std::string& name) const {
        const auto found = forms_.find(name);
        return found == forms_.end() ? Form{} : found->second;
    }

    void follow(size_t line) {
        const Statement& it = statements_[line];
        const std::string_view opcode = it.opcode;
        if (opcode.empty()) return;
        const auto operand = [&](size_t i) { return i < it.operands.size() ? it.operands[i] : std::string(); };
        const bool once = it.guard.empty() && !it.operands.empty() && written_[it.operands[0]] == 1;
        Form made;
        if (opcode.substr(0, 9) == "ld.param.") {
            made = {.kind = Form::parameter, .number = parameter_named(operand(1))};
            if (made.number < 0) made.kind = Form::other;
        } else if (opcode.substr(0, 3) == "ld." || opcode.substr(0, 3) == "st." || opcode.substr(0, 4) == "red." ||
                   opcode.substr(0, 5) == "atom." || opcode.substr(0, 3) == "cp.") {
            note_access(line, it);
            return;
        } else if (opcode == "cvta.to.global.u64" || opcode == "mov.u64" || opcode == "mov.b64") {
            made = form_of(operand(1));
        } else if (opcode == "mov.u32" || opcode == "mov.b32") {
            if (operand(1) == "%ctaid.x")
                made.kind = Form::block;
            else if (operand(1) == "%ntid.x")
                made.kind = Form::block_size;
            else if (operand(1) == "%tid.x")
                made.kind = Form::thread_in_block;
        } else if (opcode == "mad.lo.s32") {
            const Form a = form_of(operand(1)), b = form_of(operand(2)), c = form_of(operand(3));
            const bool blocks = (a.kind == Form::block && b.kind == Form::block_size) ||
                                (a.kind == Form::block_size && b.kind == Form::block);
            if (blocks && c.kind == Form::thread_in_block) made.kind = Form::thread;
        } else if (opcode == "mul.lo.s32") {
            const Form a = form_of(operand(1)), b = form_of(operand(2));
            if (a.kind == Form::parameter && b.kind == Form::parameter)
                made = {.kind = Form::product, .factors = {a.number, b.number}};
        } else if (opcode == "cvt.s64.s32" || opcode == "cvt.u64.u32") {
            made = {.kind = Form::wide, .index = operand(1), .bytes = 1};
        } else if (opcode == "mul.wide.s32" || opcode == "mul.wide.u32") {
            made = {.kind = Form::scaled, .index = operand(1), .bytes = number_in(operand(2), 0)};
        } else if (opcode == "shl.b64") {
            const Form a = form_of(operand(1));
            const int shift = number_in(operand(2), -1);
            if (a.kind == Form::wide && shift >= 0 && shift < 4)
                made = {.kind = Form::scaled, .index = a.index, .bytes = 1 << shift};
        } else if (opcode == "add.s64") {
            Form a = form_of(operand(1)), b = form_of(operand(2));
            if (b.kind == Form::parameter) std::swap(a, b);
            if ((a.kind == Form::parameter || a.kind == Form::fixed) && !operand(2).empty() && operand(2)[0] != '%')
                made = {.kind = Form::fixed, .number = a.number};
            else if (a.kind == Form::parameter && (b.kind == Form::scaled || b.kind == Form::wide))
                made = {.kind = Form::address, .number = a.number, .index = b.index, .bytes = b.bytes};
        }
        if (once && made.kind != Form::other) forms_[it.operands[0]] = made;
    }

    void note_access(size_t line, const Statement& it) {
        const std::string_view opcode = it.opcode;
        if (opcode.find(".shared") != std::string_view::npos || opcode.find(".local") != std::string_view::npos) return;
        const bool atomic = opcode.substr(0, 5) == "atom." || opcode.substr(0, 4) == "red." || opcode.substr(0, 3) == "cp.";
        const bool store = opcode.substr(0, 3) == "st.";
        const size_t place = opcode.substr(0, 4) == "atom" ? 1 : store || atomic ? 0 : 1;
        MemoryUse access{.line = line, .store = store, .bytes = bytes_of_type(opcode)};
        std::string address = place < it.operands.size() ? it.operands[place] : "";
        if (address.size() > 2) address = address.substr(1, address.size() - 2);
        const std::string base = address.substr(0, address.find('+'));
        const Form form = form_of(base);
        if (const auto found = taint_.find(base); found != taint_.end() && found->second.size() == 1)
            access.parameter = *found->second.begin();
        else if (found != taint_.end())
            mixed_.insert(found->second.begin(), found->second.end());
        else if (store || atomic)
            unknown_store_ = true;
        // A pointer's own sum with sizes taints too: the pointer is the one that is 64 bits wide.
        if (access.parameter < 0 && found_pointer(base) >= 0) access.parameter = found_pointer(base);
        const std::string value = place == 1 ? it.operands[0] : it.operands.size() > 1 ? it.operands[1] : "";
        const bool plain =
            !atomic && opcode.find(".v2") == std::string_view::npos && opcode.find(".v4") == std::string_view::npos;
        access.address = address;
        if (plain && !value.empty() && value[0] == '%') {
            const int width = bytes_of_register(kernel_, value);
            const char kind = opcode[opcode.rfind('.') + 1];
            const bool zeros = access.bytes <= 2 && (kind == 'u' || kind == 'b') && (width == 2 || (width == 4 && !store));
            if (width == access.bytes || zeros) access.value = value, access.width = width;
        }
        if (form.kind == Form::address && base == address && form.bytes == access.bytes && !access.value.empty())
            access.index = form.index;
        const bool fixed = form.kind == Form::parameter || form.kind == Form::fixed;
        if (access.parameter >= 0 && size_t(access.parameter) < kernel_.uses.size()) {
            ParameterUse& use = kernel_.uses[size_t(access.parameter)];
            const Form index = form_of(access.index);
            const Reach reach = fixed                        ? Reach::fixed
                                : access.index.empty()       ? Reach::anywhere
                                : index.kind == Form::thread ? Reach::element
                                : index.kind == Form::block  ? Reach::block
                                                             : Reach::anywhere;
            const auto join = [&](Reach& known) {
                known = known == Reach::none || known == reach ? reach : Reach::anywhere;
            };
            if (store || atomic) join(use.writes);
            if (!store) join(use.reads);
            use.bytes = use.bytes == 0 || use.bytes == access.bytes ? access.bytes : -1;
        }
        kernel_.accesses.push_back(access);
    }

    // The one parameter of 64 bits among those that went into an address.
    int found_pointer(const std::string& base) const {
        const auto found = taint_.find(base);
        if (found == taint_.end()) return -1;
        int pointer = -1;
        for (const int parameter : found->second) {
            if (parameter < 0 || size_t(parameter) >= kernel_.parameters.size() ||
                kernel_.parameters[size_t(parameter)].find("64") == std::string::npos ||
                kernel_.parameters[size_t(parameter)] == ".f64")
                continue;
            if (pointer >= 0) return -1;
            pointer = parameter;
        }
        return pointer;
    }

    void find_guard() {
        KernelText& k = kernel_;
        const auto refuse = [&](std::string why) {
            if (k.why_not.empty()) k.why_not = std::move(why);
        };
        for (const MemoryUse& access : k.accesses)  // where it is not known which buffer is meant, all may be
            if (access.parameter < 0 && (access.store || unknown_store_)) refuse("it is not known which buffer it writes");
        for (const int parameter : mixed_)
            if (size_t(parameter) < k.uses.size() && k.uses[size_t(parameter)].bytes == 0 &&
                k.parameters[size_t(parameter)] == ".u64") {
                ParameterUse& use = k.uses[size_t(parameter)];
                use = {.reads = Reach::anywhere, .writes = Reach::anywhere, .bytes = -1};
            }
        if (!k.self_contained) refuse("it calls functions or has memory of its own");
        if (!k.shared.empty()) refuse("its threads share memory");
        for (const Statement& it : statements_) {
            const std::string_view opcode = it.opcode;
            if (opcode.substr(0, 3) == "bar" || opcode.substr(0, 4) == "shfl" || opcode.substr(0, 4) == "vote" ||
                opcode.substr(0, 4) == "atom" || opcode.substr(0, 3) == "red" || opcode.substr(0, 5) == "membar")
                refuse("its threads exchange values");
            if (opcode == "mov.u64" && it.operands.size() > 1 &&
                (std::isalpha(static_cast<unsigned char>(it.operands[1][0])) || it.operands[1][0] == '_')) {
                refuse("it reads a table");
                k.self_contained = false;
            }
        }
        k.omitted.assign(k.lines.size(), false);
        for (size_t i = 0; i < statements_.size(); ++i)
            if (statements_[i].opcode.substr(0, 8) == "ld.param") k.omitted[i] = true;
        for (const auto& [name, form] : forms_)
            if (form.kind == Form::thread) k.thread = k.thread.empty() ? name : k.thread;
        if (k.thread.empty()) return refuse("a thread's number is not its element's");
        size_t guard = k.lines.size();
        for (size_t i = 0; i + 1 < statements_.size() && guard == k.lines.size(); ++i) {
            const Statement &test = statements_[i], &jump = statements_[i + 1];
            if (test.opcode != "setp.ge.s32" || test.operands[1] != k.thread || jump.opcode != "bra" ||
                jump.guard != "@" + test.operands[0] || k.end_label.empty() || jump.operands[0] != k.end_label)
                continue;
            const Form limit = form_of(test.operands[2]);
            if (limit.kind == Form::parameter) k.bound = {limit.number};
            if (limit.kind == Form::product) k.bound = limit.factors;
            if (!k.bound.empty()) guard = i;
        }
        if (guard == k.lines.size()) return refuse("a thread's number is not its element's");
        k.omitted[guard] = k.omitted[guard + 1] = true;
        // What only makes the thread's number is not needed again: the register stands for it.
        for (size_t i = 0; i < statements_.size(); ++i) {
            if (statements_[i].operands.empty()) continue;
            const Form form = form_of(statements_[i].operands[0]);
            if (form.kind == Form::thread || form.kind == Form::block || form.kind == Form::block_size ||
                form.kind == Form::thread_in_block) {
                k.omitted[i] = true;
                if (form.kind != Form::thread && used_elsewhere(statements_[i].operands[0], i))
                    refuse("it uses its block's number");
            }
            if (!k.omitted[i] && statements_[i].opcode == "setp.ge.s32" &&
                statements_[i].operands[0] == statements_[guard].operands[0])
                refuse("its guard is used twice");
        }
        for (size_t i = guard + 2; i < statements_.size(); ++i)
            for (const std::string& operand : statements_[i].operands)
                if (operand == statements_[guard].operands[0] || statements_[i].guard.find(operand + " ") == 0)
                    refuse("its guard is used twice");
        bool writes = false;
        for (const ParameterUse& use : k.uses) writes = writes || use.writes != Reach::none;
        if (!writes) refuse("it writes nothing");
        k.pointwise = k.why_not.empty();
        for (size_t i = 0; i < statements_.size(); ++i) {
            if (k.omitted[i]) continue;
            const std::string& opcode = statements_[i].opcode;
            for (const std::string& operand : statements_[i].operands)
                if (operand == k.thread && opcode != "mul.wide.s32" && opcode != "mul.wide.u32" && opcode != "cvt.s64.s32")
                    k.by_position = true;
        }
    }

    // A parameter whose only store no branch leads past.
    void find_stores() {
        std::map<std::string, size_t> labels;
        for (size_t i = 0; i < kernel_.lines.size(); ++i)
            if (is_label(kernel_.lines[i].text))
                labels[kernel_.lines[i].text.substr(0, kernel_.lines[i].text.size() - 1)] = i;
        for (size_t p = 0; p < kernel_.uses.size(); ++p) {
            size_t stores = 0, at = 0;
            for (const MemoryUse& access : kernel_.accesses)
                if (access.store && access.parameter == static_cast<int>(p)) ++stores, at = access.line;
            if (stores != 1 || !statements_[at].guard.empty()) continue;
            bool passed = false;
            for (size_t i = 0; i < statements_.size(); ++i) {
                if (i < kernel_.omitted.size() && kernel_.omitted[i]) continue;
                if (statements_[i].opcode == "ret" && i < at) passed = true;
                if (statements_[i].opcode.substr(0, 3) != "bra") continue;
                const size_t to = labels[statements_[i].operands[0]];
                passed = passed || (i < at && to > at) || (i > at && to <= at);
            }
            kernel_.uses[p].always_stored = !passed;
        }
    }

    bool used_elsewhere(const std::string& name, size_t by) const {
        for (size_t i = 0; i < statements_.size(); ++i) {
            if (i == by) continue;
            const bool makes_thread =
                !statements_[i].operands.empty() && form_of(statements_[i].operands[0]).kind == Form::thread;
            for (const std::string& operand : statements_[i].operands)
                if (!makes_thread && operand.find(name) != std::string::npos &&
                    (operand == name || operand.find(name + "+") != std::string::npos ||
                     operand.find(name + "]") != std::string::npos))
                    return true;
        }
        return false;
    }

    KernelText& kernel_;
    std::vector<Statement> statements_;
    std::map<std::string, int> written_;
    std::map<std::string, std::set<int>> taint_;
    std::map<std::string, Form> forms_;
    std::set<int> mixed_;
    bool unknown_store_ = false;
};
}  // namespace

Statement parse_statement(std::string_view text) {
    Statement it;
    const auto word = [&]() {
        const size_t end = std::min(text.find_first_of(" \t"), text.size());
        const std::string_view first = text.substr(0, end);
        text = text.substr(std::min(text.find_first_not_of(" \t", end), text.size()));
        return std::string(first);
    };
    if (!text.empty() && text[0] == '@') it.guard = word();
    it.opcode = word();
    int depth = 0;
    std::string operand;
    for (const char c : text) {
        if (c == '[' || c == '{' || c == '(') ++depth;
        if (c == ']' || c == '}' || c == ')') --depth;
        if (c == ',' && depth == 0) {
            it.operands.push_back(operand);
            operand.clear();
        } else if (!std::isspace(static_cast<unsigned char>(c))) {
            operand += c;
        }
    }
    if (!operand.empty()) it.operands.push_back(operand);
    return it;
}

KernelText read_kernel(const std::string& ptx, const std::string& name, const std::string& file) {
    KernelText kernel;
    kernel.name = name;
    kernel.file = file;
    split_entry(kernel, entry_of(ptx, name));
    if (kernel.lines.empty()) {
        kernel.why_not = "its PTX cannot be read";
        return kernel;
    }
    share_module_memory(kernel, ptx);
    const Reading reading(kernel);
    return kernel;
}

const KernelText& kernel_text(std::string_view name) {
    static std::mutex mutex;
    static std::map<std::string, std::string, std::less<>> files;
    static std::map<std::string, KernelText, std::less<>> texts;
    const std::lock_guard lock(mutex);
    if (const auto found = texts.find(name); found != texts.end()) return found->second;
    const device::KernelRow& row = device::kernel_named(name);
    auto file = files.find(row.file);
    if (file == files.end()) {
        const std::string path = fmt::format("kernels/ptx/{}.ptx", row.file.substr(0, row.file.rfind('.')));
        file = files.emplace(row.file, read_file(resource_root() / path).value()).first;
    }
    return texts.emplace(name, read_kernel(file->second, std::string(name), std::string(row.file))).first->second;
}

std::string KernelText::where() const {
    int line = 0;
    for (const MemoryUse& access : accesses)
        if (access.store && line == 0) line = lines[access.line].source_line;
    return fmt::format("kernels/{}:{}", file, line);
}

std::string renamed(const KernelText& kernel, std::string_view text, std::string_view prefix) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
        if (text[i] == '%') {
            size_t letters = i + 1;
            while (letters < text.size() &&
                   (std::isalpha(static_cast<unsigned char>(text[letters])) || text[letters] == '_'))
                ++letters;
            size_t digits = letters;
            while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
            const bool whole =
                digits == text.size() || (text[digits] != '.' && !std::isalnum(static_cast<unsigned char>(text[digits])));
            if (digits > letters && whole && bytes_of_register(kernel, text.substr(i, digits - i)) >= 0) {
                bool declared = false;
                for (const std::string& it : kernel.registers)
                    declared = declared || it.find(fmt::format(" {} ", text.substr(i, letters - i))) != std::string::npos;
                if (declared) {
                    out += fmt::format("%{}_{}", prefix, text.substr(i + 1, digits - i - 1));
                    i = digits;
                    continue;
                }
            }
        } else if (text.substr(i, 6) == "$L__BB") {
            const size_t under = text.find('_', i + 6);
            out += fmt::format("${}_", prefix);
            i = under + 1;
            continue;
        }
        out += text[i++];
    }
    return out;
}

}  // namespace lockstep::graph
