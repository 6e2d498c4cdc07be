// Comma-separated values, RFC 4180:
//   file   = record *( end record ) [ end ]      end    = CRLF | LF
//   record = field *( "," field )                field  = quoted | plain
//   quoted = '"' *( any byte but '"' | '""' ) '"'
//   plain  = *( any byte but '"', ',', CR, LF )
// Every record has as many fields as the first. A byte order mark before it is skipped. Spaces belong to a field.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/array.h"
#include "core/base/result.h"

namespace lockstep::nn {

struct CsvOptions {
    char separator = ',';
    bool header = true;  // the first record names the columns
    uint64_t most_cells = uint64_t{1} << 26;
};

struct Csv {
    std::string file;
    std::vector<std::string> names;  // of the columns; "column 1", ... without a header
    int64_t rows = 0;                // without the header
    std::string text;                // all cells end to end, row by row, unquoted
    std::vector<uint64_t> ends;      // [rows * columns], where each cell ends in `text`
    std::vector<uint64_t> places;    // [rows], where each record begins in the file

    int64_t columns() const { return static_cast<int64_t>(names.size()); }
    std::string_view at(int64_t row, int64_t column) const {
        const auto cell = static_cast<size_t>(row * columns() + column);
        const uint64_t begin = cell == 0 ? 0 : ends[cell - 1];
        return std::string_view(text).substr(begin, ends[cell] - begin);
    }
};

Result<Csv> parse_csv(std::string_view bytes, const std::string& name, const CsvOptions& options = {});
Result<Csv> read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

// The named columns (none named: all) as f64 [rows, columns]. A cell that is not one decimal number is refused, and so is
// an empty one; "nan" and "inf" are numbers.
Result<Array> numbers_of(const Csv& csv, std::span<const std::string> columns = {});

// Quotes what needs it; CRLF ends, as the RFC asks. rows * names.size() cells.
std::string format_csv(std::span<const std::string> names, std::span<const std::string> cells);

}  // namespace lockstep::nn
