// An outline of the source, declaration by declaration: scopes are walked, bodies skipped. It takes no look at what names
// mean; what it gets wrong the compiler complains about, as it did of the whole source before.
#include "core/device/compile/kernels_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "core/device/compile/source_tokens.h"

namespace lockstep::device {
namespace {

using Kind = SourceToken::Kind;

constexpr int deepest = 200;                // classes and namespaces within one another
constexpr size_t longest_arguments = 1000;  // of a template, in tokens
constexpr int most_instances = 500;

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Of std, what the built-in headers have (kernels/include/standard).
bool known_of_std(std::string_view name) {
    for (const std::string_view trait : {"is_", "remove_", "enable_if", "conditional"})
        if (name.starts_with(trait)) return true;
    return one_of(name, {"abs",
                         "fabs",
                         "sqrt",
                         "cbrt",
                         "pow",
                         "exp",
                         "exp2",
                         "expm1",
                         "log",
                         "log2",
                         "log10",
                         "log1p",
                         "sin",
                         "cos",
                         "tan",
                         "asin",
                         "acos",
                         "atan",
                         "atan2",
                         "sinh",
                         "cosh",
                         "tanh",
                         "floor",
                         "ceil",
                         "round",
                         "trunc",
                         "rint",
                         "fmod",
                         "fma",
                         "fmin",
                         "fmax",
                         "hypot",
                         "copysign",
                         "isnan",
                         "isinf",
                         "isfinite",
                         "signbit",
                         "min",
                         "max",
                         "swap",
                         "move",
                         "forward",
                         "numeric_limits",
                         "size_t",
                         "ptrdiff_t",
                         "nullptr_t",
                         "uintptr_t",
                         "intptr_t",
                         "integral_constant",
                         "bool_constant",
                         "true_type",
                         "false_type",
                         "void_t"}) ||
           ((name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t"));
}

// cudaStream_t, cublasHandle_t, MPI_Comm, FILE: names of libraries of the host.
bool of_host_library(std::string_view name) {
    if (one_of(name, {"cudaTextureObject_t", "cudaSurfaceObject_t", "cudaRoundMode"})) return false;
    if (one_of(name, {"FILE", "thrust", "timeval", "timespec", "pid_t"}) || name.starts_with("MPI_") ||
        name.starts_with("pthread_"))
        return true;
    for (const std::string_view library : {"cuda", "cublas", "cudnn", "cufft", "cusparse", "cusolver", "nccl", "curand"})
        if (name.starts_with(library) && name.size() > library.size())
            return std::isupper(static_cast<unsigned char>(name[library.size()])) != 0 &&
                   (library != "curand" || !name.starts_with("curandState"));
    return false;
}

class Outline {
  public:
    Outline(std::string_view source, const FindHeader& find, KernelNames& known)
        : source_(source), find_(find), known_(known), tokens_(one_branch_of(tokens_of(source))), out_(tokens_.size()) {}

    KernelsOnly made() {
        for (const SourceToken& token : tokens_)
            if (token.kind == Kind::directive) read_macro(token.text);
        while (at_ < tokens_.size()) {
            declarations(false, 0);
            ++at_;  // a brace too many
        }
        KernelsOnly result{std::string(source_), instances()};
        for (const auto& [begin, end] : blank_)
            for (size_t i = begin; i < end; ++i)
                if (result.text[i] != '\n' && result.text[i] != '\r') result.text[i] = ' ';
        // Directives stay, inside what was left out too: an #if needs its #endif. From the end on, as lengths change.
        const std::vector<SourceToken> all = tokens_of(source_);
        const std::set<size_t> constants(evaluated_.begin(), evaluated_.end());
        for (auto token = all.rbegin(); token != all.rend(); ++token) {
            if (token->kind == Kind::directive) result.text.replace(token->begin, token->text.size(), kept(token->text));
            if (constants.contains(token->begin)) result.text.insert(token->begin + token->text.size(), "expr");
        }
        return result;
    }

  private:
    struct Declaration {
        size_t first = 0, last = 0;  // tokens, `last` behind the end
        size_t body = 0;             // of a function: its brace; 0: none
        std::string_view name;       // of a function or a class
        std::string_view owner;      // X of X<T>::f
        std::string_view header;     // template <...>
        bool is_function = false, is_class = false, is_enum = false, has_class_body = false;
        bool marked = false, kernel = false, constant = false, evaluated = false;  // const, constexpr
        bool stays = false;                                                        // virtual, defaulted, deleted
        bool alias = false, initialised = false, is_operator = false;
    };

    bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    bool is_name(size_t i) const { return i < tokens_.size() && tokens_[i].kind == Kind::name; }

    // Behind the group that opens at token i.
    size_t behind_group(size_t i) const {
        int depth = 0;
        for (; i < tokens_.size(); ++i) {
            if (tokens_[i].kind != Kind::punctuation) continue;
            const char c = tokens_[i].text[0];
            if (c == '(' || c == '[' || c == '{') ++depth;
            if ((c == ')' || c == ']' || c == '}') && --depth <= 0) return i + 1;
        }
        return i;
    }

    // Behind the ">" of the "<" at token i; i where there is none.
    size_t behind_angle(size_t i) const {
        int depth = 0;
        for (size_t j = i; j < std::min(tokens_.size(), i + longest_arguments);) {
            if (is(j, "(") || is(j, "[")) {
                j = behind_group(j);
                continue;
            }
            if (is(j, "{") || is(j, "}") || is(j, ";")) return i;
            if (is(j, "<")) ++depth;
            if (is(j, ">") && !is(j - 1, "-") && --depth == 0) return j + 1;
            ++j;
        }
        return i;
    }

    std::string_view text_of(size_t first, size_t last) const {
        if (first >= last || last > tokens_.size()) return {};
        return source_.substr(tokens_[first].begin, tokens_[last - 1].end - tokens_[first].begin);
    }

    // #define NAME, NAME(x): whether it stands for __device__ or __global__, and whether it takes arguments.
    void read_macro(std::string_view directive) {
        if (directive_name(directive) != "define") return;
        const std::string_view text = directive.substr(directive.find("define") + 6);
        const std::vector<SourceToken> words = tokens_of(text);
        if (words.empty() || words[0].kind != Kind::name) return;
        if (words.size() > 1 && words[1].is("(") && words[1].begin == words[0].end) known_.calls.emplace(words[0].text);
        for (size_t i = 1; i < words.size(); ++i)
            if (is_mark(words[i].text)) known_.marks.emplace(words[0].text);
    }

    bool is_mark(std::string_view name) const {
        return one_of(name, {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}) ||
               known_.marks.contains(name);
    }

    std::string kept(std::string_view directive) const {
        const std::string line(directive);
        if (directive_name(directive) != "include") return line;
        const size_t open = line.find_first_of("<\"");
        const size_t close = open == line.npos ? open : line.find(line[open] == '<' ? '>' : '"', open + 1);
        if (close == line.npos) return line;
        const std::string name = line.substr(open + 1, close - open - 1);
        const std::optional<std::string> found = find_(name, line[open] == '"');
        if (found && *found == name) return line;
        std::string text = found ? "#include \"" + *found + "\"" : "";
        for (const char c : line)
            if (c == '\n' || c == '\r' || !found) text += c == '\n' || c == '\r' ? c : ' ';
        return text;
    }

    bool needs_host(size_t first, size_t last) const {
        for (size_t i = first; i < last; ++i) {
            if (!is_name(i) || out_[i]) continue;
            if (tokens_[i].text == "std" && !(i >= 2 && is(i - 1, ":") && is_name(i - 3)) &&  // not cuda::std
                !(is(i + 1, ":") && is_name(i + 3) && known_of_std(tokens_[i + 3].text)))
                return true;
            if (of_host_library(tokens_[i].text) || gone_.contains(tokens_[i].text)) return true;
        }
        return false;
    }

    bool has_mark(size_t first, size_t last) const {
        for (size_t i = first; i < last; ++i)
            if (is_name(i) && is_mark(tokens_[i].text)) return true;
        return false;
    }

    void blank(size_t first, size_t last) {
        if (first >= last) return;
        blank_.emplace_back(tokens_[first].begin, tokens_[last - 1].end);
        std::fill(out_.begin() + static_cast<std::ptrdiff_t>(first), out_.begin() + static_cast<std::ptrdiff_t>(last), true);
    }

    void declarations(bool in_class, int depth) {
        while (at_ < tokens_.size() && !is(at_, "}")) declaration(in_class, depth);
    }

    void declaration(bool in_class, int depth) {
        if (tokens_[at_].kind == Kind::directive || is(at_, ";")) {
            ++at_;
            return;
        }
        if (in_class && is(at_ + 1, ":") && one_of(tokens_[at_].text, {"public", "private", "protected"})) {
            at_ += 2;
            return;
        }
        if (!in_class && scope(depth)) return;
        if (is_name(at_) && known_.calls.contains(tokens_[at_].text) && is(at_ + 1, "(")) {  // DEFINE_KERNEL(float)
            const size_t behind = behind_group(at_ + 1);
            if (known_.marks.contains(tokens_[at_].text) || is(behind, ";")) {
                at_ = behind;
                return;
            }
        }
        const Declaration d = read(depth);
        if (d.kernel && !d.header.empty() && !d.name.empty()) known_.templates.emplace(d.name);
        decide(d, in_class);
    }

    // namespace x { ... } and extern "C" { ... }: their declarations one by one.
    bool scope(int depth) {
        size_t i = at_;
        std::string name;
        if (is(i, "inline") && is(i + 1, "namespace")) ++i;
        if (is(i, "namespace")) {
            for (++i; is_name(i) || is(i, ":"); ++i) name += tokens_[i].text;
        } else if (is(i, "extern") && i + 1 < tokens_.size() && tokens_[i + 1].kind == Kind::literal) {
            i += 2;
        } else {
            return false;
        }
        if (!is(i, "{")) return false;
        if (depth >= deepest) {
            at_ = behind_group(i);
            return true;
        }
        at_ = i + 1;
        if (!name.empty()) spaces_.push_back(name);
        declarations(false, depth + 1);
        if (!name.empty()) spaces_.pop_back();
        if (is(at_, "}")) ++at_;
        return true;
    }

    // From at_ to behind the declaration's end.
    Declaration read(int depth) {
        Declaration d;
        d.first = at_;
        while (at_ < tokens_.size()) {
            const SourceToken& token = tokens_[at_];
            if (token.is("}")) break;
            if (token.is(";")) {
                ++at_;
                break;
            }
            if (token.is("{")) {
                if (d.is_function && !d.initialised) {
                    d.body = at_;
                    at_ = behind_group(at_);
                    break;
                }
                if (d.is_class && !d.initialised && !d.has_class_body && depth < deepest) {
                    d.has_class_body = true;
                    d.name = class_name(d.first);
                    classes_.emplace_back(d.name, d.header);
                    ++at_;
                    declarations(true, depth + 1);
                    if (is(at_, "}")) ++at_;
                    classes_.pop_back();
                } else {
                    at_ = behind_group(at_);
                }
                continue;
            }
            if (token.is("(")) {
                see_group(d);
                at_ = behind_group(at_);
                continue;
            }
            if (token.is("[")) {
                at_ = behind_group(at_);
                continue;
            }
            if (token.is("=") && !(d.is_operator && !d.is_function)) d.initialised = true;
            if (token.is(":") && d.is_function && !is(at_ + 1, ":") && !is(at_ - 1, ":")) {
                read_initialisers();
                continue;
            }
            if (token.is("template") && is(at_ + 1, "<")) {
                const size_t behind = behind_angle(at_ + 1);
                if (d.header.empty()) d.header = text_of(at_, behind);
                at_ = std::max(behind, at_ + 1);
                continue;
            }
            if (token.kind == Kind::name) see_name(d, token.text);
            ++at_;
        }
        d.last = at_;
        return d;
    }

    // A parenthesis: of a function's parameters, unless it belongs to an attribute, a pointer or an initial value.
    void see_group(Declaration& d) const {
        if (d.is_function || d.initialised || at_ == d.first) return;
        const SourceToken& before = tokens_[at_ - 1];
        if (before.kind == Kind::name &&
            one_of(before.text,
                   {"decltype", "alignas", "__align__", "__attribute__", "__launch_bounds__", "__declspec", "noexcept",
                    "__cluster_dims__", "__block_size__", "__maxnreg__", "explicit", "__attribute", "asm", "static_assert"}))
            return;
        if (before.kind != Kind::name && !before.is(">") && !d.is_operator) return;
        if (is(at_ + 1, "*") || is(at_ + 1, "^")) return;  // float (*f)(int)
        d.is_function = true;
        size_t name = at_ - 1;
        if (before.is(">"))  // void k<float>(...)
            while (name > d.first && !tokens_[name].is("<")) --name;
        if (name > d.first && tokens_[name].is("<")) --name;
        if (is_name(name)) d.name = tokens_[name].text;
        if (name < d.first + 5 || !is(name - 1, ":") || !is(name - 2, ":") || !is(name - 3, ">")) return;
        for (name -= 3; name > d.first && !tokens_[name].is("<");) --name;
        if (name > d.first && is_name(name - 1)) d.owner = tokens_[name - 1].text;
    }

    // The name in front of a class's body or bases.
    std::string_view class_name(size_t first) const {
        std::string_view name;
        for (size_t i = first; i < at_ && !is(i, ":"); ++i) {
            if (is(i, "template")) i = std::max(behind_angle(i + 1), i + 1) - 1;
            if (is(i, "(")) i = behind_group(i) - 1;
            if (is(i, "<")) break;  // a specialisation
            if (is_name(i) && !is(i, "final") && !is(i, "template")) name = tokens_[i].text;
        }
        return name;
    }

    void see_name(Declaration& d, std::string_view name) const {
        if (is_mark(name)) d.marked = true;
        if (name == "__global__" || known_.marks.contains(name)) d.kernel = true;
        if (name == "const") d.constant = true;
        if (name == "constexpr" || name == "consteval") d.constant = d.evaluated = true;
        if (name == "operator") d.is_operator = true;
        if (name == "enum") d.is_enum = true;
        if (one_of(name, {"using", "typedef", "static_assert", "namespace"})) d.alias = true;
        if (one_of(name, {"struct", "class", "union"}) && !d.is_enum) d.is_class = true;
        if (name == "virtual" || (d.initialised && d.is_function && (name == "default" || name == "delete"))) d.stays = true;
    }

    // Of a constructor: ": a(1), b{2}" up to its body.
    void read_initialisers() {
        for (++at_; at_ < tokens_.size();) {
            while (at_ < tokens_.size() && !is(at_, "(") && !is(at_, "{") && !is(at_, ";") && !is(at_, "}")) ++at_;
            if (!is(at_, "(") && !is(at_, "{")) return;
            at_ = behind_group(at_);
            while (is(at_, ".")) ++at_;
            if (!is(at_, ",")) return;
            ++at_;
        }
    }

    void decide(const Declaration& d, bool in_class) {
        if (d.is_function && !d.alias) {
            if (d.marked || d.stays || (d.evaluated && !needs_host(d.first, d.last))) return;
            keep_in_mind(d, in_class);
            blank(d.first, d.last);
            return;
        }
        if (is(d.first, "template") && !is(d.first + 1, "<")) keep_in_mind(d, in_class);  // template class X<float>;
        if (in_class) {
            if (d.has_class_body && needs_host(d.first, d.last) && !has_mark(d.first, d.last)) blank(d.first, d.last);
            return;  // the class around it decides of its data
        }
        if (d.has_class_body || d.is_class || d.is_enum || d.alias) {
            if (!needs_host(d.first, d.last) || has_mark(d.first, d.last)) return;
            if (d.has_class_body && !d.name.empty()) gone_.insert(d.name);
            blank(d.first, d.last);
            return;
        }
        if (!d.marked && d.constant && !d.evaluated && d.initialised) evaluate(d);
        if (d.marked || (d.constant && !needs_host(d.first, d.last))) return;
        blank(d.first, d.last);
    }

    // const float h2 = h * h; of the host is a number in device code too where it is constexpr, which says so.
    void evaluate(const Declaration& d) {
        bool real = false;
        size_t at = d.last;
        for (size_t i = d.first; i < d.last && !is(i, "="); ++i) {
            if (is(i, "const") && at == d.last) at = i;
            real |= is(i, "float") || is(i, "double");
            if (is(i, "*") || is(i, "&") || is(i, "[") || is(i, "volatile") || is(i, "extern")) return;
        }
        if (real && at < d.last) evaluated_.push_back(tokens_[at].begin);
    }

    // A function of the host, for the instances of templates that it names.
    struct HostFunction {
        size_t first = 0, last = 0;  // tokens: the body, or all of an explicit instance
        std::string_view header;     // of itself or of its class; empty: no template
        std::string_view key;        // whose arguments `header` takes: its own name or its class's
        std::vector<std::string> spaces;
        bool names_some = false;
    };

    void keep_in_mind(const Declaration& d, bool in_class) {
        HostFunction f{.first = d.body ? d.body : d.first, .last = d.last, .spaces = spaces_};
        if (d.body) f.header = d.header, f.key = d.owner.empty() ? d.name : d.owner;
        if (in_class && !classes_.empty()) {
            const auto& [name, header] = classes_.back();
            if (!header.empty() && !f.header.empty()) return;  // a template in a template
            if (!header.empty()) f.header = header, f.key = name;
        }
        if (f.header.find_first_not_of("template< \n>") == std::string_view::npos) f.header = {};  // template <>
        functions_.push_back(std::move(f));
    }

    // f(text of "name<arguments>" with what is in front of it, its tokens) for every instance that the function names.
    void each_instance(const HostFunction& f,
                       const std::function<void(size_t first, size_t name, size_t behind)>& take) const {
        for (size_t i = f.first; i < f.last; ++i) {
            if (!is_name(i) || !is(i + 1, "<") || is(i + 2, "<")) continue;  // k<<<4, 256>>> takes no arguments
            const size_t behind = behind_angle(i + 1);
            if (behind == i + 1) continue;
            const bool launched = is(behind, "<") && is(behind + 1, "<") && is(behind + 2, "<");
            if (!launched && !launchers_.contains(tokens_[i].text) && !known_.templates.contains(tokens_[i].text)) continue;
            size_t first = i;
            while (first >= f.first + 3 && is(first - 1, ":") && is(first - 2, ":") && is_name(first - 3)) first -= 3;
            take(first, i, behind);
        }
    }

    // Of every function of the host that names instances one of the device that names the same.
    std::string instances() {
        for (bool more = true; more;) {  // templates of the host that name some, by way of others too
            more = false;
            for (HostFunction& f : functions_) {
                if (f.names_some) continue;
                each_instance(f, [&](size_t, size_t, size_t) { f.names_some = true; });
                if (f.names_some && !f.header.empty()) more |= launchers_.insert(f.key).second;
            }
        }
        std::string declared, text;
        std::map<std::string_view, std::string> calls;  // by key: the functions' names
        int count = 0, named = 0;
        for (const HostFunction& f : functions_)
            if (f.names_some && !f.header.empty()) calls[f.key] += fmt::format("lockstep_host_{} ", &f - functions_.data());
        for (const HostFunction& f : functions_) {
            if (!f.names_some) continue;
            std::string body;
            each_instance(f, [&](size_t first, size_t name, size_t behind) {
                if (++named > most_instances) return;
                const std::string_view arguments = text_of(name + 1, behind);
                body += fmt::format(" {{ {}", constants_of(f.first, name, arguments));
                if (const auto of_host = calls.find(tokens_[name].text); of_host != calls.end()) {
                    std::istringstream functions(of_host->second);
                    for (std::string one; functions >> one;) body += fmt::format("(void)&{}{}; ", one, arguments);
                } else {
                    body += fmt::format("(void)&{}; ", text_of(first, behind));
                }
                body += "}";
            });
            const std::string head =
                fmt::format("{} __device__ inline void lockstep_host_{}()", f.header, &f - functions_.data());
            const auto in_spaces = [&](std::string inner) {
                std::replace(inner.begin(), inner.end(), '\n', ' ');
                for (auto space = f.spaces.rbegin(); space != f.spaces.rend(); ++space)
                    inner = fmt::format("namespace {} {{ {} }}", *space, inner);
                return inner + "\n";
            };
            if (!f.header.empty()) declared += in_spaces(head + ";");
            text += in_spaces(fmt::format("{} {{{} }}", head, body));
            ++count;
        }
        return count ? declared + text : "";
    }

    // "const int BM = 128;" of the statements between two tokens, as far as the arguments use them, and what those use.
    std::string constants_of(size_t first, size_t last, std::string_view arguments) const {
        std::set<std::string_view> wanted;
        for (const SourceToken& token : tokens_of(arguments))
            if (token.kind == Kind::name) wanted.insert(token.text);
        std::vector<std::pair<size_t, size_t>> statements;
        for (size_t i = first; i < last; ++i) {
            if (!is_name(i) || !one_of(tokens_[i].text, {"const", "constexpr", "using", "typedef"})) continue;
            size_t end = i;
            while (end < last && !is(end, ";")) ++end;
            if (end < last) statements.emplace_back(i, end + 1);
            i = end;
        }
        std::string text;
        for (auto s = statements.rbegin(); s != statements.rend(); ++s) {  // the last of a name counts
            bool names = false;
            for (size_t i = s->first; i < s->second; ++i)
                if (is_name(i) && wanted.contains(tokens_[i].text) &&
                    (is(i + 1, "=") || is(i + 1, "{") || is(i + 1, "(") || is(i + 1, ";")))
                    names = true;
            if (!names) continue;
            for (size_t i = s->first; i < s->second; ++i)
                if (is_name(i) && is(i + 1, "=")) wanted.erase(tokens_[i].text);
            for (size_t i = s->first; i < s->second; ++i)
                if (is_name(i) && !is(i + 1, "=")) wanted.insert(tokens_[i].text);
            text = std::string(text_of(s->first, s->second)) + " " + text;
        }
        return text;
    }

    std::string_view source_;
    const FindHeader& find_;
    KernelNames& known_;
    std::vector<SourceToken> tokens_;
    std::vector<bool> out_;  // tokens of what is set aside
    size_t at_ = 0;
    std::vector<std::pair<size_t, size_t>> blank_;                        // of the source
    std::set<std::string_view> launchers_;                                // templates of the host that name instances
    std::vector<std::pair<std::string_view, std::string_view>> classes_;  // around at_: name and template <...>
    std::vector<std::string> spaces_;                                     // namespaces around at_
    std::vector<HostFunction> functions_;
    std::set<std::string_view> gone_;  // classes that were set aside
    std::vector<size_t> evaluated_;    // of the source: the "const" that is to be constexpr
};

}  // namespace

KernelsOnly kernels_only(std::string_view source, const FindHeader& find, KernelNames& known) {
    return Outline(source, find, known).made();
}

}  // namespace lockstep::device
