#include "core/nn/data/files/csv.h"

#include <algorithm>
#include <charconv>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
struct Reader {
    std::string_view bytes;
    const std::string& name;
    char separator;
    size_t at = 0;

    bool ended() const { return at >= bytes.size(); }
    bool at_end_of_record() const { return ended() || bytes[at] == '\n' || bytes[at] == '\r'; }

    // One field onto `text`; the complaint, if any.
    const char* field(std::string& text) {
        if (ended() || bytes[at] != '"') {
            const size_t begin = at;
            while (!at_end_of_record() && bytes[at] != separator) {
                if (bytes[at] == '"') return "a quotation mark within a field that does not begin with one";
                ++at;
            }
            text += bytes.substr(begin, at - begin);
            return nullptr;
        }
        const size_t opened = at++;
        for (;;) {
            const size_t mark = bytes.find('"', at);
            if (mark == std::string_view::npos) {
                at = opened;
                return "a quotation mark that is never closed";
            }
            text += bytes.substr(at, mark - at);
            at = mark + 1;
            if (ended() || bytes[at] != '"') break;
            text += '"';
            ++at;
        }
        if (!at_end_of_record() && bytes[at] != separator) return "something follows the closing quotation mark of a field";
        return nullptr;
    }
    const char* end_of_record() {
        if (ended()) return nullptr;
        if (bytes[at] == '\r' && (at + 1 >= bytes.size() || bytes[at + 1] != '\n'))
            return "a carriage return without a line feed";
        at += bytes[at] == '\r' ? 2 : 1;
        return nullptr;
    }
};
}  // namespace

Result<Csv> parse_csv(std::string_view bytes, const std::string& name, const CsvOptions& options) {
    Reader reader{bytes, name, options.separator, bytes.starts_with("\xef\xbb\xbf") ? size_t{3} : size_t{0}};
    if (reader.ended()) return refusal(name, reader.at, "it is empty");
    Csv csv;
    csv.file = name;
    size_t columns = 0, begin = reader.at;  // columns: 0 until the first record is read
    while (!reader.ended()) {
        begin = reader.at;
        const size_t before = csv.ends.size();
        for (;;) {
            if (const char* what = reader.field(csv.text)) return refusal(name, reader.at, what);
            csv.ends.push_back(csv.text.size());
            if (csv.ends.size() > options.most_cells)
                return refusal(name, reader.at, fmt::format("it has more than {} cells", options.most_cells));
            if (reader.ended() || bytes[reader.at] != options.separator) break;
            ++reader.at;
        }
        if (const char* what = reader.end_of_record()) return refusal(name, reader.at, what);
        const size_t fields = csv.ends.size() - before;
        if (columns != 0 && fields != columns)
            return refusal(name, begin, fmt::format("a record of {} fields where the first has {}", fields, columns));
        if (columns == 0) {
            columns = fields;
            for (size_t i = 0; i < columns; ++i) {
                const size_t from = i == 0 ? 0 : csv.ends[i - 1];
                csv.names.push_back(options.header ? csv.text.substr(from, csv.ends[i] - from)
                                                   : fmt::format("column {}", i + 1));
            }
            if (options.header) {
                csv.text.clear();
                csv.ends.clear();
                continue;
            }
        }
        csv.places.push_back(begin);
    }
    csv.rows = static_cast<int64_t>(csv.places.size());
    return csv;
}

Result<Csv> read_csv(const std::filesystem::path& path, const CsvOptions& options) {
    const auto bytes = read_file(path);
    if (!bytes) return bytes.error();
    return parse_csv(bytes.value(), path.string(), options);
}

Result<Array> numbers_of(const Csv& csv, std::span<const std::string> columns) {
    std::vector<int64_t> places;
    for (const std::string& name : columns) {
        const auto found = std::find(csv.names.begin(), csv.names.end(), name);
        if (found == csv.names.end()) {
            const std::string nearest = nearest_name(name, csv.names);
            return refusal(csv.file, 0,
                           fmt::format("no column {}{}", in_quotes(name),
                                       nearest.empty() ? "" : fmt::format(", did you mean {}?", in_quotes(nearest))));
        }
        places.push_back(found - csv.names.begin());
    }
    if (columns.empty())
        for (int64_t i = 0; i < csv.columns(); ++i) places.push_back(i);
    Array array{.dtype = DType::f64, .shape = {csv.rows, static_cast<int64_t>(places.size())}};
    array.bytes.resize(static_cast<size_t>(csv.rows) * places.size() * sizeof(double));
    double* to = array.as<double>();
    for (int64_t row = 0; row < csv.rows; ++row)
        for (const int64_t column : places) {
            std::string_view cell = csv.at(row, column);
            const std::string_view whole = cell;
            while (cell.starts_with(' ')) cell.remove_prefix(1);
            while (cell.ends_with(' ')) cell.remove_suffix(1);
            if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
            const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), *to++);
            if (error != std::errc() || end != cell.data() + cell.size())
                return refusal(csv.file, csv.places[static_cast<size_t>(row)],
                               fmt::format("row {}, {}: {} is not a number", row + 1,
                                           in_quotes(csv.names[static_cast<size_t>(column)]), in_quotes(whole)));
        }
    return array;
}

std::string format_csv(std::span<const std::string> names, std::span<const std::string> cells) {
    std::string out;
    const auto line = [&](std::span<const std::string> fields) {
        for (size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) out += ',';
            const bool plain = fields[i].find_first_of("\",\r\n") == std::string::npos &&
                               !(out.empty() && fields[i].starts_with("\xef\xbb\xbf"));
            if (plain) {
                out += fields[i];
                continue;
            }
            out += '"';
            for (const char c : fields[i]) out += c == '"' ? "\"\"" : std::string(1, c);
            out += '"';
        }
        out += "\r\n";
    };
    line(names);
    for (size_t row = 0; names.size() > 0 && row + names.size() <= cells.size(); row += names.size())
        line(cells.subspan(row, names.size()));
    return out;
}

}  // namespace lockstep::nn
