// Writing the PTX of fused kernels.
#include "core/graph/fusion/fusion_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "core/base/hash.h"
#include "core/graph/fusion/fusion_host.h"
#include "core/ptx/ptx.h"

namespace lockstep::graph {

namespace {
std::string prefix_of(size_t op) {  // a, b, .. z, a1, ..
    std::string prefix(1, static_cast<char>('a' + op % 26));
    return op < 26 ? prefix : prefix + std::to_string(op / 26);
}

bool starts(std::string_view text, std::string_view with) {
    return text.substr(0, with.size()) == with;
}

std::string ended(const std::string& statement) {
    return statement.back() == ':' || statement == "{" || statement == "}" ? statement : statement + ";";
}

std::string value_register(int slot) {
    return fmt::format("%v{}", slot);
}

// Registers that a statement reads, its address and guard included.
void for_each_register(std::string_view text, const auto& visit) {
    for (size_t at = text.find('%'); at != std::string_view::npos;) {
        size_t end = at + 1;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
        visit(text.substr(at, end - at));
        at = text.find('%', end);
    }
}

// The registers of an op under its own prefix.
void declare(std::string& out, const KernelText& text, const std::string& prefix) {
    for (const std::string& declared : text.registers) {
        const size_t first = declared.find(' '), last = declared.rfind(' ');
        out += fmt::format("\t.reg .{} %{}_{}<{}>;\n", declared.substr(0, first), prefix,
                           declared.substr(first + 2, last - first - 2), declared.substr(last + 1));
    }
}

struct Parameters {  // of the fused kernel: the slots that are kept, in order
    std::string kernel;
    std::vector<int> place;  // by slot; -1: none

    Parameters(std::string name, const std::vector<FusedSlot>& slots) : kernel(std::move(name)) {
        int next = 0;
        for (const FusedSlot& slot : slots) place.push_back(slot.kept ? next++ : -1);
    }
    std::string of(int slot) const { return fmt::format("{}_param_{}", kernel, place[size_t(slot)]); }
    std::string list(const std::vector<FusedSlot>& slots) const {
        std::string out;
        const int last = *std::max_element(place.begin(), place.end());
        for (size_t i = 0; i < slots.size(); ++i)
            if (place[i] >= 0)
                out += fmt::format("\t.param {} {}{}{}\n", slots[i].type, of(static_cast<int>(i)),
                                   place[i] < last ? "," : "", slots[i].buffer ? "  // " + one_line(slots[i].name) : "");
        return out;
    }
};

// The lines of one op, renamed; loads of slots in `held` become moves, stores to slots in `holds` put the value into its
// register, and stores to slots that are not kept are left out. `thread`: the register that stands for the thread's number.
struct OpText {
    const Chain& chain;
    const Parameters& parameters;
    size_t number;
    const std::set<int>& held;   // slots whose value is in its register
    const std::set<int>& holds;  // slots that an op behind this one asks for
    std::string thread;
    std::function<std::string(const MemoryUse&, size_t site)> behind_store = {};  // of the result of an epilogue's first op
    std::function<std::string(const MemoryUse&, size_t site)> before_load = {};   // of the entry of a prologue's last op

    const FusedOp& op() const { return chain.ops[number]; }

    std::vector<std::string> lines() const {
        const KernelText& text = *op().text;
        const std::string prefix = prefix_of(number), end = fmt::format("${}_end", prefix);
        std::vector<std::string> out;
        size_t sites = 0;
        std::map<size_t, const MemoryUse*> memory;
        for (const MemoryUse& access : text.accesses) memory[access.line] = &access;
        for (size_t i = 0; i < text.lines.size(); ++i) {
            const std::string& line = text.lines[i].text;
            const Statement statement = parse_statement(line);
            if (starts(statement.opcode, "ld.param")) {
                const size_t at = statement.operands[1].find("_param_");
                const auto parameter = static_cast<size_t>(std::stoi(statement.operands[1].substr(at + 7)));
                const int slot = op().slots[parameter];
                if (parameters.place[size_t(slot)] >= 0)
                    out.push_back(fmt::format("{} \t{}, [{}];", statement.opcode,
                                              renamed(text, statement.operands[0], prefix), parameters.of(slot)));
                else  // the addresses made of it go nowhere
                    out.push_back(fmt::format("mov.u64 \t{}, 0;", renamed(text, statement.operands[0], prefix)));
                continue;
            }
            if (!thread.empty() && text.omitted[i]) continue;
            if (line == "ret") {
                if (i + 1 < text.lines.size()) out.push_back(fmt::format("bra \t{};", end));
                continue;
            }
            if (!text.end_label.empty() && line == text.end_label + ":") {
                out.push_back(end + ":");
                continue;
            }
            const auto access = memory.find(i);
            if (before_load && access != memory.end() && !access->second->store &&
                access->second->parameter == chain.entry) {
                const MemoryUse& use = *access->second;
                out.push_back(before_load(use, sites++));
                out.push_back(taken(use, renamed(text, use.value, prefix), op().slots[size_t(use.parameter)]));
                continue;
            }
            const bool first = thread.empty();  // an epilogue's first op: only its result matters
            if (access != memory.end() && access->second->parameter >= 0 &&
                (first ? access->second->store && access->second->parameter == chain.result
                       : !access->second->index.empty())) {
                const MemoryUse& use = *access->second;
                const int slot = op().slots[size_t(use.parameter)];
                const std::string value = renamed(text, use.value, prefix);
                if (!use.store && held.count(slot) != 0) {
                    out.push_back(taken(use, value, slot));
                    continue;
                }
                if (use.store) {
                    if (holds.count(slot) != 0) {
                        keep_apart(out, value);
                        if (use.bytes == 1)
                            out.push_back(fmt::format("and.b16 \t{}, {}, 255;", value_register(slot), value));
                        else
                            out.push_back(fmt::format("mov.b{} \t{}, {};", 8 * use.bytes, value_register(slot), value));
                    }
                    if (chain.slots[size_t(slot)].kept) out.push_back(finished(line, prefix));
                    if (first) out.push_back(behind_store(use, sites++));
                    continue;
                }
            }
            out.push_back(finished(line, prefix));
        }
        drop_dead_lines(out);
        return out;
    }

    // Instead of a load: the value that an op before has left in its register.
    static std::string taken(const MemoryUse& use, const std::string& value, int slot) {
        const int bytes = std::max(2, use.bytes);
        const std::string move = use.width > bytes ? "cvt.u32.u16" : fmt::format("mov.b{}", 8 * bytes);
        return fmt::format("{} \t{}, {};", move, value, value_register(slot));
    }

    std::string finished(const std::string& line, const std::string& prefix) const {
        const KernelText& text = *op().text;
        std::string whole = renamed(text, line, prefix);
        if (!thread.empty()) whole = replaced(whole, renamed(text, text.thread, prefix), thread);
        if (!text.end_label.empty()) {
            const std::string label = renamed(text, text.end_label, prefix);
            if (whole.size() >= label.size() && whole.substr(whole.size() - label.size()) == label)
                whole = whole.substr(0, whole.size() - label.size()) + fmt::format("${}_end", prefix);
        }
        return ended(whole);
    }

    static std::string replaced(const std::string& text, const std::string& name, const std::string& by) {
        std::string out;
        for (size_t i = 0; i < text.size();) {
            const size_t after = i + name.size();
            if (text.compare(i, name.size(), name) == 0 &&
                (after == text.size() || !std::isalnum(static_cast<unsigned char>(text[after])))) {
                out += by;
                i = after;
            } else {
                out += text[i++];
            }
        }
        return out;
    }

    // A product that passes from one op to the next is rounded by itself: a compiler must not join it to the next op's sum.
    static void keep_apart(std::vector<std::string>& lines, const std::string& value) {
        for (std::string& line : lines)
            for (std::string_view opcode : {"mul.f32", "mul.f64"})
                if (starts(line, opcode) && parse_statement(std::string_view(line)).operands[0] == value)
                    line.replace(0, 4, "mul.rn.");
    }
};

// What people read of a chain: one line an op. Lines of the listing are what .loc names.
std::string listing_of(const Chain& chain, size_t& first_line) {
    std::string out;
    const FusedOp& last = chain.ops.back();
    out += fmt::format("// {} .. {}: {} kernels as one, in the order in which they ran one by one.\n",
                       one_line(chain.ops.front().label), one_line(last.label), chain.ops.size());
    first_line = 2;
    size_t widest = 0;
    for (const FusedOp& op : chain.ops) widest = std::max(widest, one_line(op.label).size());
    for (const FusedOp& op : chain.ops)
        out += fmt::format("{:<{}}   {}   // {}, {}\n", one_line(op.label), widest, op.row->summary, op.text->name,
                           op.text->where());
    for (const FusedSlot& slot : chain.slots)
        if (!slot.kept) out += fmt::format("// {} is never written: it stays in a register\n", one_line(slot.name));
    return out;
}

void append_indented(std::string& out, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        if (line.empty()) continue;
        if (line.back() != ':' && line[0] != '\n' && line[0] != '\t') out += '\t';
        out += line;
        if (out.back() != '\n') out += '\n';
    }
}

std::string comment_of(const std::string& listing) {
    std::string out;
    for (size_t begin = 0; begin < listing.size();) {
        const size_t end = std::min(listing.find('\n', begin), listing.size());
        const std::string line = listing.substr(begin, end - begin);
        out += starts(line, "//") ? line + "\n" : "//   " + line + "\n";
        begin = end + 1;
    }
    return out;
}

// Of a module with these kernels: bf16 has been on tensor cores since sm_80.
std::string module_head(std::span<const device::KernelRow* const> rows) {
    const bool ampere = std::any_of(rows.begin(), rows.end(), [](const device::KernelRow* row) {
        return row->type == DType::bf16 && row->base.starts_with("matmul_tc_");
    });
    return fmt::format(".version 7.0\n.target {}\n.address_size 64\n\n", ampere ? "sm_80" : "sm_70");
}
}  // namespace

std::string one_line(std::string_view text, size_t longest) {
    std::string out;
    for (const char c : text.substr(0, longest))
        out += static_cast<unsigned char>(c) < 32 || c == 127 || c == '\\' || c == '"' ? ' ' : c;
    return out;
}

void drop_dead_lines(std::vector<std::string>& lines) {
    for (bool again = true; again;) {
        again = false;
        std::map<std::string, int, std::less<>> seen;
        std::vector<std::string> targets(lines.size());
        for (size_t i = 0; i < lines.size(); ++i) {
            for_each_register(lines[i], [&](std::string_view name) { ++seen[std::string(name)]; });
            const std::string_view line = lines[i];
            if (line.empty() || line.back() == ':' || line[0] == '.' || line[0] == '{' || line[0] == '}' ||
                line.find('\n') != line.npos)
                continue;
            std::string_view statement = line.substr(0, line.size() - 1);
            const Statement it = parse_statement(statement);
            if (!it.guard.empty() || it.operands.empty() || it.operands[0][0] != '%') continue;
            bool effect = false;
            for (std::string_view verb : {"st.", "bra", "bar", "ret", "red", "atom", "shfl", "call", "vote", "membar"})
                effect = effect || starts(it.opcode, verb);
            if (!effect && it.operands[0].find('|') == std::string::npos && !starts(it.operands[0], "%v"))
                targets[i] = it.operands[0];
        }
        for (size_t i = 0; i < lines.size(); ++i) {
            if (targets[i].empty()) continue;
            int inside = 0;  // "add %r1, %r1, 1" alone keeps nothing alive
            for_each_register(lines[i], [&](std::string_view name) { inside += name == targets[i]; });
            if (seen[targets[i]] > inside) continue;
            lines[i].clear();
            again = true;
        }
        lines.erase(std::remove(lines.begin(), lines.end(), std::string()), lines.end());
    }
}

std::shared_ptr<const ptx::Program> decode_generated(const std::string& ptx, const std::string& name) {
    try {
        return ptx::decode(ptx::parse(ptx, name + ".ptx").value(), name).value();
    } catch (const Failure& failure) {
        throw std::logic_error("generated PTX: " + failure.diagnostic.message + "\n" + ptx);
    }
}

std::shared_ptr<const device::GeneratedKernel> generate_chain(const Chain& chain) {
    // Which slots' values pass from op to op: written by one for each element, read by a later one.
    std::vector<std::set<int>> held(chain.ops.size()), holds(chain.ops.size());
    std::map<int, size_t> writer;
    for (size_t i = 0; i < chain.ops.size(); ++i) {
        const FusedOp& op = chain.ops[i];
        for (size_t p = 0; p < op.slots.size(); ++p) {
            if (op.text->uses[p].reads == Reach::none) continue;
            const auto found = writer.find(op.slots[p]);
            if (found == writer.end()) continue;
            held[i].insert(op.slots[p]);
            holds[found->second].insert(op.slots[p]);
        }
        for (size_t p = 0; p < op.slots.size(); ++p)
            if (op.text->uses[p].writes != Reach::none) writer[op.slots[p]] = i;
    }
    std::string name = "fused";
    for (const FusedOp& op : chain.ops)
        if (name.size() < 60) name += fmt::format("_{}", op.row->base);
    size_t first_line = 0;
    const std::string listing = listing_of(chain, first_line);
    const std::string unnamed = name;
    std::vector<const device::KernelRow*> rows;
    for (const FusedOp& op : chain.ops) rows.push_back(op.row);
    const auto write = [&](const std::string& kernel) {
        const Parameters parameters(kernel, chain.slots);
        std::string out = comment_of(listing) + module_head(rows);
        out += fmt::format(".visible .entry {}(\n{})\n{{\n", kernel, parameters.list(chain.slots));
        for (size_t i = 0; i < chain.ops.size(); ++i) declare(out, *chain.ops[i].text, prefix_of(i));
        std::set<int> passed;
        for (const std::set<int>& slots : holds) passed.insert(slots.begin(), slots.end());
        for (const int slot : passed)
            out += fmt::format("\t.reg .b{} {};\n", 8 * std::max(2, chain.slots[size_t(slot)].bytes), value_register(slot));
        const auto heading = [&](size_t i) {
            return fmt::format("\n\t// {}: {}\n\t.loc 1 {} 0\n", one_line(chain.ops[i].label), chain.ops[i].row->summary,
                               first_line + i);
        };
        // Labels of ops that stand at several sites get the site's number.
        const auto at_site = [&](std::string text, size_t site) {
            if (site == 0) return text;
            for (size_t i = 0; i < chain.ops.size(); ++i) {
                if (chain.entry < 0 ? i == 0 : i + 1 == chain.ops.size()) continue;  // stands once
                const std::string label = fmt::format("${}_", prefix_of(i)),
                                  mine = fmt::format("${}_s{}_", prefix_of(i), site);
                for (size_t at = text.find(label); at != std::string::npos; at = text.find(label, at + mine.size()))
                    text.replace(at, label.size(), mine);
            }
            return text;
        };
        const auto some = [&](size_t from, size_t to, const std::string& thread) {
            std::string text;
            for (size_t i = from; i < to; ++i) {
                text += heading(i);
                append_indented(text, OpText{chain, parameters, i, held[i], holds[i], thread}.lines());
            }
            return text;
        };
        const auto rest = [&](size_t from, const std::string& thread) { return some(from, chain.ops.size(), thread); };
        // The element's number is its address, less that of the first (`base`; "": 0), by its size.
        const auto element_of = [&](const MemoryUse& use, size_t op, const std::string& base) {
            const size_t plus = use.address.find('+');
            std::string text = fmt::format("\tadd.s64 \t%place0, {}, {};\n",
                                           renamed(*chain.ops[op].text, use.address.substr(0, plus), prefix_of(op)),
                                           plus == std::string::npos ? "0" : use.address.substr(plus + 1));
            if (!base.empty())
                text += fmt::format("\tld.param.u64 \t%place1, [{}];\n\tsub.s64 \t%place0, %place0, %place1;\n", base);
            const int shift = use.bytes == 8 ? 3 : use.bytes == 4 ? 2 : use.bytes - 1;
            return text + fmt::format("\tshr.u64 \t%place0, %place0, {};\n\tcvt.u32.u64 \t%element, %place0;\n", shift);
        };
        if (chain.entry >= 0) {
            const size_t last = chain.ops.size() - 1;
            for (const std::string& declared : chain.ops[last].text->shared) out += "\t" + declared + "\n";
            out += "\t.reg .b64 %place<2>;\n\t.reg .b32 %element;\n";
            out += heading(last);
            // What the entry would be read from is no memory: its addresses begin at 0.
            const auto make = [&](const MemoryUse& load, size_t site) {
                return element_of(load, last, "") + at_site(some(0, last, "%element"), site) +
                       fmt::format("\t.loc 1 {} 0\n", first_line + last);
            };
            OpText body{chain, parameters, last, held[last], holds[last], "", {}, make};
            append_indented(out, body.lines());
        } else if (chain.epilogue) {
            const FusedOp& product = chain.ops[0];
            const int slot = product.slots[size_t(chain.result)];
            for (const std::string& declared : product.text->shared) out += "\t" + declared + "\n";
            out += "\t.reg .b64 %place<2>;\n\t.reg .b32 %element;\n";
            out += heading(0);
            const auto go_on = [&](const MemoryUse& store, size_t site) {
                if (!store.index.empty()) return at_site(rest(1, renamed(*product.text, store.index, prefix_of(0))), site);
                return element_of(store, 0, chain.slots[size_t(slot)].kept ? parameters.of(slot) : "") +
                       at_site(rest(1, "%element"), site);
            };
            OpText body{chain, parameters, 0, held[0], holds[0], "", go_on};
            append_indented(out, body.lines());
        } else {
            const FusedOp& first = chain.ops[0];
            out += "\t.reg .b32 %i<7>;\n\t.reg .pred %beyond;\n";
            out += "\n\t// element i of every op\n";
            out += "\tmov.u32 \t%i1, %ctaid.x;\n\tmov.u32 \t%i2, %ntid.x;\n\tmov.u32 \t%i3, %tid.x;\n";
            out += "\tmad.lo.s32 \t%i0, %i1, %i2, %i3;\n";
            out += fmt::format("\tld.param.u32 \t%i4, [{}];\n", parameters.of(first.slots[size_t(first.text->bound[0])]));
            if (first.text->bound.size() > 1)
                out += fmt::format("\tld.param.u32 \t%i5, [{}];\n\tmul.lo.s32 \t%i4, %i4, %i5;\n",
                                   parameters.of(first.slots[size_t(first.text->bound[1])]));
            out += "\tsetp.ge.s32 \t%beyond, %i0, %i4;\n\t@%beyond bra \t$done;\n";
            out += rest(0, "%i0");
            out += "\n$done:\n";
        }
        out += "\tret;\n}\n";
        return out + fmt::format("\n\t.file\t1 \"{}.txt\"\n", kernel);
    };
    name += fmt::format("_{}_{:08x}", name_of(chain.ops.back().row->type), fnv1a64(write(unnamed)) & 0xffffffffu);
    auto kernel = std::make_shared<device::GeneratedKernel>();
    kernel->name = name;
    kernel->program = decode_generated(write(name), name);
    kernel->native = native_chain(chain);
    kernel->source = listing;
    return kernel;
}

std::shared_ptr<const device::GeneratedKernel> generate_together(const Together& together) {
    const KernelText& text = *together.text;
    std::string listing = fmt::format("// {} launches of {} as one: a block finds its launch by its number.\n",
                                      together.parts.size(), text.name);
    listing += fmt::format("{}   // {}\n", together.row->summary, text.where());
    uint32_t first = 0;
    for (const TogetherPart& part : together.parts) {
        listing += fmt::format("//   blocks {:>6} .. {:>6}   {}\n", first, first + part.blocks - 1, one_line(part.label));
        first += part.blocks;
    }
    const auto write = [&](const std::string& kernel) {
        const Parameters parameters(kernel, together.slots);
        std::string out = comment_of(listing) + module_head({&together.row, 1});
        out += fmt::format(".visible .entry {}(\n{})\n{{\n", kernel, parameters.list(together.slots));
        declare(out, text, "a");
        out += "\t.reg .b32 %block, %before;\n\t.reg .pred %lower;\n";
        for (const std::string& declared : text.shared) out += "\t" + declared + "\n";
        out += "\n\t.loc 1 1 0\n\tmov.u32 \t%block, %ctaid.x;\n";
        // Which parameters differ from part to part.
        std::vector<bool> differs(text.parameters.size());
        for (const TogetherPart& part : together.parts)
            for (size_t p = 0; p < differs.size(); ++p)
                differs[p] = differs[p] || part.slots[p] != together.parts[0].slots[p];
        std::vector<std::pair<std::string, size_t>> loads;  // statement before the address, parameter
        for (const PtxLine& line : text.lines) {
            const Statement it = parse_statement(line.text);
            if (!starts(it.opcode, "ld.param")) continue;
            const size_t at = it.operands[1].find("_param_");
            loads.emplace_back(fmt::format("{} \t{}", it.opcode, renamed(text, it.operands[0], "a")),
                               static_cast<size_t>(std::stoi(it.operands[1].substr(at + 7))));
        }
        for (const auto& [load, parameter] : loads)
            if (!differs[parameter])
                out += fmt::format("\t{}, [{}];\n", load, parameters.of(together.parts[0].slots[parameter]));
        // A search by halves for the part; then its arguments.
        std::vector<uint32_t> begins;
        for (uint32_t begin = 0; const TogetherPart& part : together.parts) begins.push_back(begin), begin += part.blocks;
        const auto search = [&](auto&& self, size_t low, size_t high) -> void {  // parts low .. high - 1
            if (high - low == 1) {
                const TogetherPart& part = together.parts[low];
                out += fmt::format("\n\t// {}\n\tmov.u32 \t%before, {};\n", one_line(part.label), begins[low]);
                for (const auto& [load, parameter] : loads)
                    if (differs[parameter]) out += fmt::format("\t{}, [{}];\n", load, parameters.of(part.slots[parameter]));
                out += "\tbra.uni \t$work;\n";
                return;
            }
            const size_t middle = low + (high - low) / 2;
            out += fmt::format("\tsetp.ge.u32 \t%lower, %block, {};\n\t@%lower bra \t$from_{};\n", begins[middle], middle);
            self(self, low, middle);
            out += fmt::format("\n$from_{}:\n", middle);
            self(self, middle, high);
        };
        search(search, 0, together.parts.size());
        out += "\n$work:\n\t.loc 1 2 0\n";
        std::vector<std::string> lines;
        for (const PtxLine& line : text.lines) {
            const Statement it = parse_statement(line.text);
            if (starts(it.opcode, "ld.param")) continue;
            std::string whole = renamed(text, line.text, "a");
            if (it.opcode == "mov.u32" && it.operands[1] == "%ctaid.x")
                whole = fmt::format("sub.u32 \t{}, %block, %before", renamed(text, it.operands[0], "a"));
            lines.push_back(ended(whole));
        }
        append_indented(out, lines);
        return out + fmt::format("}}\n\n\t.file\t1 \"{}.txt\"\n", kernel);
    };
    std::string name = fmt::format("fused_{}_{}", together.parts.size(), text.name);
    name += fmt::format("_{:08x}", fnv1a64(write(name)) & 0xffffffffu);
    auto kernel = std::make_shared<device::GeneratedKernel>();
    kernel->name = name;
    kernel->program = decode_generated(write(name), name);
    kernel->native = native_together(together);
    kernel->source = listing;
    return kernel;
}

}  // namespace lockstep::graph
