// Reading a TOML file value by value: every mistake is one sentence with its line, column and caret, thrown as a Failure.
#pragma once
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace lockstep::lessons {

class TomlReader {
  public:
    TomlReader(const std::string& text, std::string file);

    const toml::table& table() const { return table_; }
    const std::string& file() const { return file_; }
    Diagnostic at(const toml::source_region& region, std::string message) const;
    [[noreturn]] void refuse(const toml::node& node, std::string message) const;
    void refuse_other_keys(const toml::table& table, const std::vector<std::string>& known) const;
    // The node of a key that has to be there.
    const toml::node& needed(const toml::table& table, std::string_view key) const;
    std::string words(const toml::node& node, std::string_view key) const;  // a text that is not empty
    int whole(const toml::node& node, std::string_view key, int least, int most) const;
    const toml::table& as_table(const toml::node& node, std::string_view what) const;
    const toml::array& as_list(const toml::node& node, std::string_view key) const;

  private:
    std::string text_, file_;
    toml::table table_;
};

}  // namespace lockstep::lessons
