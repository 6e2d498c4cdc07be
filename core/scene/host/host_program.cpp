// The parser of host programs: a line at a time, loops unrolled, every mistake with its place. Everything is bounded:
// statements, arrays, bytes, rounds of loops.
#include "core/scene/host/host_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/base/nearest.h"
#include "core/scene/figures/expression.h"

namespace lockstep::scene {
namespace {

using model::HostVerb;

constexpr size_t largest_text = 1 << 16, most_statements = 1000, most_arrays = 64, most_lines_run = 20'000;
constexpr size_t most_text_run = size_t{4} << 20;  // bytes of these lines
constexpr uint64_t most_bytes = uint64_t{256} << 20, most_streams = 64;

bool is_name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// One line and where in it the reader is.
struct Cursor {
    const std::string& line;
    SourceLocation where;
    size_t at = 0;

    [[noreturn]] void fail(size_t column, std::string message) const {
        throw Failure(Diagnostic{std::move(message), {where.file, where.line, static_cast<int>(column) + 1}, line});
    }
    void skip() {
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    }
    bool done() {
        skip();
        return at >= line.size();
    }
    bool take(std::string_view text) {
        skip();
        if (line.compare(at, text.size(), text) != 0) return false;
        at += text.size();
        return true;
    }
    void need(std::string_view text, const std::string& after) {
        skip();
        if (!take(text)) fail(at, fmt::format("'{}' is missing {}", text, after));
    }
    std::string word(const std::string& what) {
        skip();
        size_t end = at;
        while (end < line.size() && is_name_letter(line[end])) ++end;
        if (end == at) fail(at, what + " is missing here");
        std::string found = line.substr(at, end - at);
        at = end;
        return found;
    }
    // Up to white space or one of `stops`.
    std::string piece(std::string_view stops) {
        skip();
        size_t end = at;
        while (end < line.size() && line[end] != ' ' && line[end] != '\t' && stops.find(line[end]) == std::string_view::npos)
            ++end;
        std::string found = line.substr(at, end - at);
        at = end;
        return found;
    }
    uint64_t whole(const std::string& what, uint64_t most) {
        skip();
        uint64_t value = 0;
        const auto [rest, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
        if (error != std::errc{} || value > most) fail(at, fmt::format("{} is a whole number from 0 to {}", what, most));
        at = static_cast<size_t>(rest - line.data());
        return value;
    }
    void finished() {
        if (!done()) fail(at, "nothing is expected here: the line could end");
    }
};

class HostParser {
  public:
    HostParser(const std::string& text, const std::string& file) : lines_(host_lines(text)) {
        host_.file = file;
        host_.text = text;
    }

    HostText parse() {
        run(0, lines_.size());
        if (host_.statements.empty())
            throw Failure(Diagnostic{"this host program does nothing: it has no operation", {host_.file, 1, 1}});
        return std::move(host_);
    }

  private:
    // Lines [from, to), of a loop's body or of everything.
    void run(size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) {
            std::string line = lines_[i].code;
            const SourceLocation where{host_.file, lines_[i].number, 1};
            if (++run_ > most_lines_run)
                throw Failure(
                    Diagnostic{fmt::format("this program is too long: more than {} lines would run", most_lines_run), where,
                               lines_[i].text});
            if ((text_run_ += line.size()) > most_text_run)
                throw Failure(Diagnostic{
                    fmt::format("this program is too long: more than {} MiB of lines would run", most_text_run >> 20), where,
                    lines_[i].text});
            if (line.find('$') != std::string::npos) {
                Result<std::string> filled = fill_in(line, variables_);
                if (!filled) {
                    std::string message = filled.error().message;
                    if (const size_t at = message.find("is not given in shapes"); at != std::string::npos)
                        message.replace(at, 22, "has no value here");
                    throw Failure(Diagnostic{
                        message, {host_.file, where.line, std::max(1, filled.error().where.column)}, lines_[i].text});
                }
                line = filled.value();
            }
            Cursor cursor{line, where};
            cursor.skip();
            const size_t verb_at = cursor.at;
            const std::string verb = cursor.word("an operation");
            if (verb == "for") {
                const size_t end = lines_[i].end;
                if (end == HostLine::no_end)
                    throw Failure(Diagnostic{"the 'for' that begins here is not closed: a line 'end' is missing", where,
                                             lines_[i].text});
                loop(cursor, i + 1, end);
                i = end;
                continue;
            }
            if (verb == "end") cursor.fail(verb_at, "no 'for' is open here that 'end' could close");
            statement(cursor, verb, verb_at);
        }
    }

    void loop(Cursor& cursor, size_t from, size_t to) {
        const std::string name = cursor.word("the loop's name");
        cursor.need("=", "behind the loop's name");
        const uint64_t first = cursor.whole("a loop's bound", 1'000'000);
        cursor.need("..", "between a loop's bounds, as in for i = 0 .. 3");
        const uint64_t last = cursor.whole("a loop's bound", 1'000'000);
        cursor.finished();
        if (++depth_ > 8) cursor.fail(0, "loops within loops go eight deep at most");
        for (uint64_t i = first; i <= last; ++i) {
            variables_[name] = static_cast<double>(i);
            if (++run_ > most_lines_run)
                cursor.fail(0, fmt::format("this program is too long: more than {} lines would run", most_lines_run));
            run(from, to);
        }
        --depth_;
    }

    void statement(Cursor& c, const std::string& verb, size_t verb_at) {
        static const std::map<std::string, HostVerb> copies = {
            {"h2d", HostVerb::copy_in}, {"d2h", HostVerb::copy_out}, {"d2d", HostVerb::copy_within}};
        HostStatement s;
        s.line = c.where.line;
        if (verb == "host" || verb == "malloc") {
            array(c, verb == "malloc", s);
            if (verb == "host") return;
        } else if (verb == "free") {
            s.verb = HostVerb::release;
            s.to = slice(c, true, false);
            s.text = "free " + host_.arrays[static_cast<size_t>(s.to.array)].name;
        } else if (const auto copy = copies.find(verb); copy != copies.end()) {
            s.verb = copy->second;
            c.skip();
            const size_t at = c.at;
            s.to = slice(c, s.verb != HostVerb::copy_out, true);
            s.from = slice(c, s.verb != HostVerb::copy_in, true);
            if (bytes_of(s.to) != bytes_of(s.from))
                c.fail(at, fmt::format("{} bytes do not fit {} bytes: both sides of a copy have the same size",
                                       bytes_of(s.from), bytes_of(s.to)));
            if (s.to.array == s.from.array && s.to.first < s.from.past && s.from.first < s.to.past)
                c.fail(at, "the two sides of a copy overlap: what it would leave there is not defined");
            stream(c, s, false);
            s.text = fmt::format("{} {}", verb, name_of(s.verb == HostVerb::copy_out ? s.from : s.to));
        } else if (verb == "launch") {
            s.verb = HostVerb::launch;
            call(c, s, true);
        } else if (verb == "work") {
            s.verb = HostVerb::work;
            c.skip();
            const size_t at = c.at;
            const auto [rest, error] = std::from_chars(c.line.data() + c.at, c.line.data() + c.line.size(), s.us);
            if (error != std::errc{} || !(s.us >= 0 && s.us <= 1e6))
                c.fail(at, "the host's work takes a time up to 1000000us, as in work 50us");
            c.at = static_cast<size_t>(rest - c.line.data());
            c.need("us", "behind the time");
            s.text = fmt::format("work {:g} µs", s.us);
            if (!c.done()) call(c, s, false);
        } else if (verb == "event" || verb == "wait") {
            s.verb = verb == "event" ? HostVerb::record : HostVerb::wait;
            c.skip();
            const size_t at = c.at;
            s.event = c.word("the event's name");
            if (s.verb == HostVerb::record && events_.size() >= most_statements) c.fail(at, "these are too many events");
            if (s.verb == HostVerb::record)
                events_[s.event] = true;
            else if (!events_.count(s.event))
                c.fail(at, fmt::format("the event '{}' has not been recorded before{}", s.event, near(s.event, events_)));
            stream(c, s, true);
            s.text = verb + " " + s.event;
        } else if (verb == "sync") {
            s.verb = HostVerb::synchronize;
            s.text = "sync";
            if (!c.done() && c.line.compare(c.at, 7, "stream=") != 0) {
                const size_t at = c.at;
                s.event = c.word("an event's name");
                if (!events_.count(s.event))
                    c.fail(at,
                           fmt::format("the event '{}' has not been recorded before{}", s.event, near(s.event, events_)));
                s.text += " " + s.event;
            } else {
                stream(c, s, false);
                if (s.has_stream) s.text += fmt::format(" stream {}", s.stream);
            }
        } else if (verb == "kernels") {
            c.skip();
            const size_t at = c.at;
            const std::string file = c.piece("");
            if (file.size() < 4 || file.substr(file.size() - 3) != ".cu" || file.front() == '/' ||
                file.find("..") != std::string::npos || file.find('\\') != std::string::npos)
                c.fail(at, "a .cu file of the lesson's own folder is named here");
            if (host_.kernel_files.size() >= 16) c.fail(at, "these are too many files of kernels: 16 at most");
            host_.kernel_files.push_back(file);
            return c.finished();
        } else if (verb == "link") {
            c.skip();
            const size_t at = c.at;
            const std::string name = c.word("pcie or nvlink");
            if (name != "pcie" && name != "nvlink") c.fail(at, "the link is pcie or nvlink");
            host_.link = name == "pcie" ? model::HostLink::pcie : model::HostLink::nvlink;
            return c.finished();
        } else if (verb == "connections") {
            c.skip();
            const size_t at = c.at;
            host_.connections = static_cast<uint32_t>(c.whole("the number of connections", 32));
            if (host_.connections == 0) c.fail(at, "there is at least one connection");
            return c.finished();
        } else if (verb == "let") {
            const std::string name = c.word("a name");
            c.need("=", "behind the name");
            c.skip();
            const Result<Expression> parsed = Expression::parse(c.line.substr(c.at));
            if (!parsed) c.fail(c.at + static_cast<size_t>(parsed.error().where.column) - 1, parsed.error().message);
            const Result<double> value = parsed.value().evaluate([&](const FigureName& word) -> Result<double> {
                const auto found = variables_.find(word.text);
                if (found == variables_.end()) return Diagnostic{fmt::format("'{}' has no value here", word.text)};
                return found->second;
            });
            if (!value) c.fail(c.at, value.error().message);
            if (variables_.size() >= 256) c.fail(c.at, "these are too many names");
            variables_[name] = value.value();
            return;
        } else {
            const std::vector<std::string> known = {"host",   "malloc",      "free",  "h2d",  "d2h",  "d2d",
                                                    "launch", "work",        "event", "wait", "sync", "kernels",
                                                    "link",   "connections", "let",   "for"};
            c.fail(verb_at, fmt::format("unknown operation '{}'{}", verb, did_you_mean(verb, known)));
        }
        c.finished();
        if (host_.statements.size() >= most_statements)
            c.fail(verb_at, fmt::format("a host program has at most {} operations", most_statements));
        host_.statements.push_back(std::move(s));
    }

    template <class Map>
    static std::string near(const std::string& name, const Map& known) {
        std::vector<std::string> names;
        for (const auto& [key, unused] : known) names.push_back(key);
        return did_you_mean(name, names, "");
    }

    void array(Cursor& c, bool on_device, HostStatement& s) {
        HostArray one;
        c.skip();
        const size_t name_at = c.at;
        one.name = c.word("the array's name");
        if (names_.count(one.name)) c.fail(name_at, fmt::format("'{}' is there already", one.name));
        if (one.name.front() >= '0' && one.name.front() <= '9') c.fail(name_at, "a name begins with a letter");
        if (host_.arrays.size() >= most_arrays)
            c.fail(name_at, fmt::format("a host program has at most {} arrays", most_arrays));
        c.skip();
        const size_t at = c.at;
        size_t end = at;
        int open = 0;
        while (end < c.line.size() && (open > 0 || (c.line[end] != ' ' && c.line[end] != '\t'))) {
            open += c.line[end] == '[' || c.line[end] == '{' ? 1 : c.line[end] == ']' || c.line[end] == '}' ? -1 : 0;
            ++end;
        }
        const std::string written = (on_device ? "out:" : "in:") + c.line.substr(at, end - at);
        const Result<KernelArgument> parsed = parse_argument(written);
        if (!parsed) {
            const auto column = static_cast<size_t>(std::max(0, parsed.error().where.column - 1));
            const size_t prefix = on_device ? 4 : 3;
            c.fail(at + (column > prefix ? column - prefix : 0), parsed.error().message);
        }
        one.contents = parsed.value();
        if (!one.contents.file.empty() || !one.contents.output_file.empty() || one.contents.texture ||
            one.contents.is_surface || one.contents.offset != 0)
            c.fail(at, "an array is written like f32[1024 ramp] or f32{1,2,3}");
        c.at = end;
        if (!on_device) one.pinned = c.take("pinned");
        one.on_device = on_device;
        one.line = c.where.line;
        one.count = one.contents.fill == KernelArgument::Fill::values ? one.contents.values.count() : 1;
        if (one.contents.fill != KernelArgument::Fill::values)
            for (const int64_t extent : one.contents.shape) one.count *= static_cast<uint64_t>(std::max<int64_t>(0, extent));
        one.bytes = one.count * size_of(one.contents.type);
        bytes_ += one.bytes;
        if (one.count > most_bytes || bytes_ > most_bytes)
            c.fail(at, fmt::format("the arrays of a host program have at most {} MiB together", most_bytes >> 20));
        names_[one.name] = static_cast<int>(host_.arrays.size());
        if (on_device) {
            s.verb = HostVerb::allocate;
            s.to = {static_cast<int>(host_.arrays.size()), 0, one.count};
            s.text = "malloc " + one.name;
        } else {
            c.finished();
        }
        host_.arrays.push_back(std::move(one));
    }

    uint64_t bytes_of(const HostSlice& slice) const {
        return (slice.past - slice.first) * size_of(host_.arrays[static_cast<size_t>(slice.array)].contents.type);
    }
    std::string name_of(const HostSlice& slice) const {
        const HostArray& array = host_.arrays[static_cast<size_t>(slice.array)];
        return slice.first == 0 && slice.past == array.count ? array.name
                                                             : fmt::format("{}[{}:{}]", array.name, slice.first, slice.past);
    }

    HostSlice slice(Cursor& c, bool on_device, bool parts) {
        c.skip();
        const size_t at = c.at;
        const std::string name = c.word("an array's name");
        const auto found = names_.find(name);
        if (found == names_.end()) c.fail(at, fmt::format("no array is called '{}'{}", name, near(name, names_)));
        const HostArray& array = host_.arrays[static_cast<size_t>(found->second)];
        if (array.on_device != on_device)
            c.fail(at, on_device ? fmt::format("'{}' is the host's, but an array of the GPU is needed here", name)
                                 : fmt::format("'{}' is the GPU's, but an array of the host is needed here", name));
        HostSlice slice{found->second, 0, array.count};
        if (!parts || !c.take("[")) return slice;
        const size_t first_at = c.at;
        slice.first = c.whole("the first element", most_bytes);
        if (c.take("/")) {  // part K of N, from 1
            const uint64_t part = slice.first, parts_of = c.whole("the number of parts", most_bytes);
            c.need("]", "behind a part");
            if (part < 1 || part > parts_of || array.count % parts_of != 0)
                c.fail(first_at,
                       fmt::format("'{}' has {} elements: its parts are equal, and counted from 1", name, array.count));
            slice.first = (part - 1) * (array.count / parts_of);
            slice.past = part * (array.count / parts_of);
            return slice;
        }
        c.need(":", "between the first element and the one past the last, as in x[0:256]");
        slice.past = c.whole("the element past the last", most_bytes);
        c.need("]", "behind a slice");
        if (slice.first >= slice.past || slice.past > array.count)
            c.fail(first_at,
                   fmt::format("'{}' has {} elements: a slice goes from its first to behind its last", name, array.count));
        return slice;
    }

    void stream(Cursor& c, HostStatement& s, bool needed) {
        if (c.take("stream=")) {
            s.stream = static_cast<uint32_t>(c.whole("a stream", most_streams));
            s.has_stream = true;
        } else if (needed) {
            c.fail(c.at, "'stream=' is missing: an event belongs to a stream");
        }
    }

    // KERNEL "(" arguments ")" grid= block= ...
    void call(Cursor& c, HostStatement& s, bool on_device) {
        s.kernel = c.word("the kernel's name");
        c.need("(", "behind the kernel's name");
        std::string shown;
        if (!c.take(")")) {
            for (;;) {
                c.skip();
                HostArgument one;
                const char first = c.at < c.line.size() ? c.line[c.at] : ' ';
                if ((first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.') {
                    one.number = c.piece(",)");
                } else {
                    one.is_slice = true;
                    one.slice = slice(c, on_device, true);
                    shown += (shown.empty() ? "" : ", ") + name_of(one.slice);
                }
                if (s.arguments.size() >= 16) c.fail(c.at, "these are too many arguments: 16 at most");
                s.arguments.push_back(std::move(one));
                if (c.take(")")) break;
                c.need(",", "between two arguments, or ')' behind the last");
            }
        }
        s.text = fmt::format("{}({})", s.kernel, shown);
        bool grid = false, block = false;
        while (!c.done()) {
            const size_t at = c.at;
            const bool is_grid = c.take("grid="), is_block = !is_grid && c.take("block=");
            if (is_grid || is_block) {
                const size_t value_at = c.at;
                const Result<simt::Dim3> extents = parse_dim3(c.piece(""), is_grid ? "grid" : "block");
                if (!extents) c.fail(value_at, extents.error().message);
                (is_grid ? s.grid : s.block) = extents.value();
                (is_grid ? grid : block) = true;
            } else if (on_device && c.take("shared=")) {
                s.shared = static_cast<uint32_t>(c.whole("the shared memory", 1 << 20));
            } else if (on_device && c.line.compare(c.at, 7, "stream=") == 0) {
                stream(c, s, true);
            } else {
                c.fail(at, on_device ? "grid=, block=, shared= or stream= is expected here"
                                     : "grid= or block= is expected here");
            }
        }
        if (!grid || !block)
            c.fail(c.at, fmt::format("'{}=' is missing: a kernel needs its grid and its block", grid ? "block" : "grid"));
    }

    HostText host_;
    std::vector<HostLine> lines_;
    std::map<std::string, double> variables_;
    std::map<std::string, int> names_;
    std::map<std::string, bool> events_;
    size_t run_ = 0, text_run_ = 0;
    int depth_ = 0;
    uint64_t bytes_ = 0;
};

}  // namespace

std::vector<HostLine> host_lines(const std::string& text) {
    std::vector<HostLine> lines;
    std::vector<size_t> open;  // loops
    int number = 0;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        HostLine line;
        line.number = ++number;
        line.text = text.substr(begin, end - begin);
        begin = end + 1;
        if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
        line.code = line.text.substr(0, line.text.find('#'));
        const size_t first = line.code.find_first_not_of(" \t");
        if (first == std::string::npos) continue;
        const auto past =
            std::find_if_not(line.code.begin() + static_cast<std::ptrdiff_t>(first), line.code.end(), is_name_letter);
        const std::string word(line.code.begin() + static_cast<std::ptrdiff_t>(first), past);
        if (word == "for") open.push_back(lines.size());
        if (word == "end" && !open.empty()) {
            lines[open.back()].end = lines.size();
            open.pop_back();
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

Result<HostText> parse_host(const std::string& text, const std::string& file) {
    if (text.size() > largest_text) return Diagnostic{"a host program of more than 64 KiB is not read", {file}};
    try {
        return HostParser(text, file).parse();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

}  // namespace lockstep::scene
