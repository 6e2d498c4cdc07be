// A command and its options as the command line knows them. CLI11 parses it, behind this header: its templates would take
// every command's file ten seconds to compile. Handles are cheap to copy and hold until the program ends.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lockstep::cli {

// Refuses the command line as one that lacks the option.
[[noreturn]] void missing_option(const std::string& name);

class Option {
  public:
    explicit Option(CLI::Option* at) : at_(at) {}

    // `why_not` says of a value's text what is wrong with it, and nothing when it is right.
    const Option& check(std::function<std::string(const std::string&)> why_not) const;
    const Option& between(double least, double most) const;  // the help says so too
    const Option& required() const;
    const Option& needs(const Option& other) const;
    const Option& excludes(const Option& other) const;
    const Option& excludes(const std::string& name) const;
    const Option& delimiter(char between) const;  // of the values of a list: 1,2,3
    const Option& one_value_each() const;         // of a list: the option is repeated for each of its values

    bool given() const;        // only once the command line has been read
    std::string name() const;  // "--gpu", or "FILE" of what has its place

  private:
    CLI::Option* at_;
};

class Command {
  public:
    explicit Command(CLI::App* at) : at_(at) {}

    Command add_subcommand(const std::string& name, const std::string& summary) const;
    void require_subcommand() const;
    void footer(const std::string& text) const;  // stands below the help
    void callback(std::function<void()> run) const;

    // `into`: a string, a number, or a vector of these, which keeps what it holds where the option is not given.
    template <typename T>
    Option add_option(const std::string& names, T& into, const std::string& summary) const;
    Option add_flag(const std::string& names, bool& into, const std::string& summary) const;
    // `take` is called with the value.
    Option add_option_function(const std::string& names, std::function<void(const std::string&)> take,
                               const std::string& summary) const;

    bool has(const std::string& option) const;    // whether there is such an option
    bool given(const std::string& option) const;  // and whether it is on the command line; false where there is none
    std::vector<Option> options() const;
    bool has_subcommand() const;  // one of its own was asked for

  private:
    CLI::App* at_;
};

}  // namespace lockstep::cli
