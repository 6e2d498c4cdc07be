#include "app/gui/views/training/exhibit_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/training/exhibit_sides.h"

namespace lockstep::gui {
namespace {

// On one line, in letters that every font has: what is none of ASCII's is one sign, however many bytes it takes.
std::string plain_letters(const std::string& text) {
    std::string plain;
    for (const char c : text)
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) plain += c == '\n' ? ' ' : c >= ' ' && c <= '~' ? c : '?';
    return plain;
}

// The newest text that is not younger than the step on show; null: there is none.
const Written* written_at(const Snapshot& snapshot) {
    const Written* newest = nullptr;
    const int64_t step = snapshot.training.step ? snapshot.training.step->step : INT64_MAX;
    for (const Written& text : snapshot.training.written)
        if (text.step <= step && (newest == nullptr || text.step > newest->step)) newest = &text;
    return newest;
}

Color cloud_color(int index, const Theme& theme) {
    const Color colors[] = {data::orange, data::sky,        data::green,  data::yellow,
                            data::blue,   data::vermillion, data::purple, data::grey};
    return index >= 8 ? theme.ink : colors[index % 8];
}

constexpr size_t written_in_headline = 36;  // letters
constexpr size_t most_edges = 800;          // that are drawn: each is a quad

void draw_scatter(Ui& ui, const Snapshot& snapshot, const Exhibit& it, const Rect& r) {
    const Theme& theme = *ui.theme;
    // A legend line, then the field; numbers at its corners say the axes' ranges.
    float x = r.x;
    for (const Exhibit::Cloud& cloud : it.clouds) {
        if (cloud.name.empty()) continue;
        const float width = ui.text_width(cloud.name, {.size = 13}) + 44;
        if (x + width > r.right()) break;
        const Color color = cloud_color(cloud.color, theme);
        if (cloud.line)
            ui.rect({x, r.y + 8, 14, 3}, color);
        else if (cloud.ring)
            ui.ring({x + 7, r.y + 9}, 5, color, 1.5f);
        else
            ui.circle({x + 7, r.y + 9}, 4, color);
        ui.text(x + 20, r.y + 14, cloud.name, {.size = 13, .color = theme.ink2});
        x += width;
    }
    Rect field{r.x + 40, r.y + 24, r.w - 48, r.h - 24 - 20};
    if (field.w < 60 || field.h < 40) return;
    if (it.square) {
        const float unit = std::min(field.w / (it.high_x - it.low_x), field.h / (it.high_y - it.low_y));
        const float w = unit * (it.high_x - it.low_x), h = unit * (it.high_y - it.low_y);
        // What else there is to see stands beside it; alone it stands in the middle.
        const Rect side{field.x + w + 44, r.y + 24, r.right() - field.x - w - 44, r.h - 24 - 20};
        const bool beside = side.w > 190 && draw_beside(ui, snapshot, it, side);
        field = {beside ? field.x : field.x + (field.w - w) / 2, field.y + (field.h - h) / 2, w, h};
    }
    ui.frame(field, theme.line, 1);
    const auto at = [&](const std::pair<float, float>& dot) {
        return Point{field.x + (dot.first - it.low_x) / (it.high_x - it.low_x) * field.w,
                     field.bottom() - (dot.second - it.low_y) / (it.high_y - it.low_y) * field.h};
    };
    size_t dots = 0;
    for (const Exhibit::Cloud& cloud : it.clouds) dots += cloud.ring || cloud.line ? 0 : cloud.dots.size();
    const size_t every = std::max<size_t>(1, (dots + 1199) / 1200);
    ui.clip(field);
    const size_t every_edge = std::max<size_t>(1, (it.edges.size() + most_edges - 1) / most_edges);
    for (size_t i = 0; i < it.edges.size(); i += every_edge) {
        const Exhibit::Edge& edge = it.edges[i];
        ui.line(at(edge.from), at(edge.to), faded(edge.color < 0 ? theme.ink3 : cloud_color(edge.color, theme), 0.35f));
    }
    for (size_t c = 0; c < it.clouds.size(); ++c) {
        const Exhibit::Cloud& cloud = it.clouds[c];
        const Color color = cloud_color(cloud.color, theme);
        if (cloud.line) {
            std::vector<Point> line;
            for (const auto& dot : cloud.dots) line.push_back(at(dot));
            ui.polyline(line, color, 2.5f);
            continue;
        }
        for (size_t i = 0; i < cloud.dots.size(); i += cloud.ring ? 1 : every) {
            const auto& dot = cloud.dots[i];
            if (!std::isfinite(dot.first) || !std::isfinite(dot.second)) continue;
            const Point p = at(dot);
            if (!field.contains(p)) continue;
            if (cloud.ring)
                ui.ring(p, cloud.reach > 0 ? cloud.reach / (it.high_x - it.low_x) * field.w : cloud.radius, color, 1.5f);
            else
                ui.rect({p.x - cloud.radius, p.y - cloud.radius, 2 * cloud.radius, 2 * cloud.radius}, color);
        }
    }
    ui.unclip();
    const TextStyle small{.size = 12, .color = theme.ink2};
    TextStyle right = small;
    right.align = Align::right;
    ui.text(field.x - 6, field.y + 10, fmt::format("{:.1f}", it.high_y), right);
    ui.text(field.x - 6, field.bottom(), fmt::format("{:.1f}", it.low_y), right);
    ui.text(field.x, field.bottom() + 16, fmt::format("{:.1f}", it.low_x), small);
    ui.text(field.right(), field.bottom() + 16, fmt::format("{:.1f}", it.high_x), right);
    const size_t left_out = every > 1 ? every : every_edge;
    if (left_out > 1 && field.w > 140)
        ui.text(field.x + field.w / 2, field.bottom() + 16,
                fmt::format("{} in {}{}", every > 1 ? "one dot" : "an edge", left_out, field.w > 220 ? " is drawn" : ""),
                {.size = 12, .color = theme.quiet, .align = Align::center});
}

// What a row gives a column, from the background's 0 to a whole row's 100 %, as the maps colour it: by its root, so that the
// small shares of a long row can be told apart.
constexpr int attention_steps = 30;
Color attention_color(float share, const Theme& theme) {
    return share > 0 ? sequential(std::sqrt(share), theme) : theme.panel2;
}
void attention_legend(Ui& ui, float left, const Rect& r) {
    const Theme& theme = *ui.theme;
    const TextStyle words{.size = 12, .color = theme.ink2};
    const float bar = 90, room = r.right() - left, ends = ui.text_width("0", words) + ui.text_width("100 %", words) + 12;
    if (room < bar + ends) return;
    const std::string_view texts[] = {"row looks at column, share of its attention", "share of a row's attention",
                                      "share of a row"};
    float x = r.right() - bar - ends;
    for (const std::string_view text : texts) {
        const float width = ui.text_width(text, words) + 12;
        if (width > x - left) continue;
        ui.text(x - width, r.y + 18, text, words);
        break;
    }
    x = ui.text(x, r.y + 18, "0", words) + 6;
    for (int i = 0; i < attention_steps; ++i)
        ui.rect({x + bar * static_cast<float>(i) / attention_steps, r.y + 8, bar / attention_steps, 10},
                attention_color(static_cast<float>(i) / (attention_steps - 1), theme));
    ui.text(x + bar + 6, r.y + 18, "100 %", words);
}

void draw_attention(Ui& ui, const Snapshot& snapshot, const Exhibit& it, int& layer, const Rect& r) {
    const Theme& theme = *ui.theme;
    ui.push_scope("attention");
    float x = r.x;
    if (it.layers > 1) {
        x = ui.text(x, r.y + 18, "layer", {.size = 13, .color = theme.ink2}) + 8;
        for (int i = 0; i < it.layers && x + 40 < r.right(); ++i)
            if (ui.chip(x, r.y, std::to_string(i), i == layer)) layer = i;
    }
    ui.pop_scope();
    attention_legend(ui, x + 8, r);
    const float top = r.y + 34;
    const Written* const newest = written_at(snapshot);
    const std::string flat = newest == nullptr ? std::string() : plain_letters(newest->text);
    const TextStyle letters{.size = 15, .mono = true};
    const float line = 24, most_room = std::max(58.0f, (r.bottom() - top) * 0.42f);
    const float text_room =
        newest == nullptr ? 0 : std::min(most_room, 46 + ui.paragraph({r.x, top, r.w, 400}, flat, letters, line, false));
    const float tile = std::min((r.w + 8) / static_cast<float>(it.heads) - 8, r.bottom() - top - text_room - 18);
    if (tile < 24) return;
    const auto symbol = [&](int place) {
        const auto token = static_cast<size_t>(it.tokens[static_cast<size_t>(place)]);
        if (!snapshot.training.symbols || token >= snapshot.training.symbols->size()) return std::to_string(token);
        const std::string& text = (*snapshot.training.symbols)[token];
        return text == "\n" ? std::string("line end") : text == " " ? std::string("blank") : text;
    };
    const uint64_t version = snapshot.training.step ? static_cast<uint64_t>(snapshot.training.step->step) + 1 : 0;
    for (int h = 0; h < it.heads; ++h) {
        const Rect at{r.x + (tile + 8) * static_cast<float>(h), top, tile, tile};
        const auto& map = it.maps[static_cast<size_t>(h)];
        ui.picture(fmt::format("attention{}", h), version * 128 + static_cast<uint64_t>(layer) * 2 + (theme.dark ? 1u : 0u),
                   it.places, it.places, at, [&](std::span<Color> pixels) {
                       for (size_t i = 0; i < pixels.size() && i < map.size(); ++i)
                           pixels[i] = attention_color(map[i], theme);
                   });
        ui.frame(at, theme.line, 1);
        ui.text(at.x, at.bottom() + 14, fmt::format("head {}", h), {.size = 12, .color = theme.ink2, .width = tile});
        if (!ui.hovered(at)) continue;
        const int row = std::clamp(static_cast<int>((ui.mouse.y - at.y) / tile * static_cast<float>(it.places)), 0,
                                   it.places - 1),
                  column = std::clamp(static_cast<int>((ui.mouse.x - at.x) / tile * static_cast<float>(it.places)), 0,
                                      it.places - 1);
        if (static_cast<size_t>(std::max(row, column)) < it.tokens.size())
            ui.tooltip(fmt::format("head {}: place {} ({}) looks at place {} ({}): {:.1f} %", h, row, symbol(row), column,
                                   symbol(column), 100 * map[static_cast<size_t>(row * it.places + column)]));
    }
    if (newest == nullptr) return;
    const float y = top + tile + 42;
    ui.text(r.x, y, fmt::format("written after step {}", newest->step), {.size = 14, .weight = 600});
    const float room = r.bottom() - y - 8;
    if (room < 20) return;
    std::string shown = flat;
    while (shown.size() > 20 && ui.paragraph({r.x, y + 8, r.w, room}, shown, letters, line, false) > room)
        shown.resize(shown.size() * 9 / 10);
    const float end = y + 8 + ui.paragraph({r.x, y + 8, r.w, room}, shown, letters, line);
    if (r.bottom() - end > 110) draw_losses_below(ui, snapshot, {r.x, end + 12, r.w, r.bottom() - end - 12});
}

void draw_sequences(Ui& ui, const Exhibit& it, const Rect& r) {
    const Theme& theme = *ui.theme;
    const float cell = 17;
    const auto width = [&](const std::vector<int>& values) { return cell * static_cast<float>(values.size()); };
    if (it.sequences.empty()) return;
    const Exhibit::Sequence& first = it.sequences.front();
    const float gap = 20, read = r.x, wanted = read + width(first.read) + gap, said = wanted + width(first.wanted) + gap;
    const TextStyle head{.size = 12, .color = theme.ink2};
    const bool fits = said + width(first.said) < r.right();
    ui.text(read, r.y + 12, "read, one a step", head);
    ui.text(fits ? wanted : r.right() - width(first.said) - width(first.wanted) - gap, r.y + 12, "wanted", head);
    ui.text(fits ? said : r.right() - width(first.said), r.y + 12, "said", head);
    float y = r.y + 22;
    for (const Exhibit::Sequence& sequence : it.sequences) {
        if (y + 22 > r.bottom()) break;
        const auto row = [&](float x, const std::vector<int>& values, const std::vector<int>* right) {
            for (size_t i = 0; i < values.size(); ++i) {
                const float at = x + cell * static_cast<float>(i);
                if (at + cell > r.right() + 1) break;
                const bool wrong = right != nullptr && (*right)[i] != values[i];
                ui.rect({at, y, cell - 2, 19}, wrong ? mix(theme.panel, data::vermillion, 0.3f) : theme.panel2);
                if (wrong) ui.frame({at, y, cell - 2, 19}, data::vermillion, 1.5f);
                ui.text(
                    at + (cell - 2) / 2, y + 14, std::to_string(values[i]),
                    {.size = 12, .color = values[i] == 0 ? theme.quiet : theme.ink, .align = Align::center, .mono = true});
            }
        };
        if (fits) row(read, sequence.read, nullptr);
        row(fits ? wanted : r.right() - width(sequence.said) - width(sequence.wanted) - gap, sequence.wanted, nullptr);
        row(fits ? said : r.right() - width(sequence.said), sequence.said, &sequence.wanted);
        y += 24;
    }
}

float maze_width(const Exhibit& it, const Rect& r) {
    return std::min(r.w / static_cast<float>(it.columns), r.h / static_cast<float>(it.rows)) *
           static_cast<float>(it.columns);
}
void draw_maze(Ui& ui, const Exhibit& it, const Rect& r) {
    const Theme& theme = *ui.theme;
    const float cell = std::min(r.w / static_cast<float>(it.columns), r.h / static_cast<float>(it.rows));
    const float left = r.x, top = r.y;
    float busiest = 1e-9f;
    for (const float share : it.visits) busiest = std::max(busiest, share);
    const auto middle = [&](int state) {
        return Point{left + cell * (static_cast<float>(state % it.columns) + 0.5f),
                     top + cell * (static_cast<float>(state / it.columns) + 0.5f)};
    };
    for (int s = 0; s < it.rows * it.columns; ++s) {
        const Point m = middle(s);
        const Rect box{m.x - cell / 2 + 1, m.y - cell / 2 + 1, cell - 2, cell - 2};
        const char kind = it.cells[static_cast<size_t>(s)];
        if (kind == '#') {
            ui.hatch(box, theme.ink3, Hatch::diagonal);
            continue;
        }
        ui.rect(box, mix(theme.panel2, data::sky, 0.6f * std::sqrt(it.visits[static_cast<size_t>(s)] / busiest)));
        if (kind == 'G' || kind == 'X') ui.frame(box, kind == 'G' ? data::green : data::vermillion, 2.5f);
        if (kind == 'G' || kind == 'X') continue;
        for (int a = 0; a < 4; ++a) {  // up, right, down, left
            const float p = it.policy[static_cast<size_t>(s * 4 + a)], length = cell * 0.4f * p;
            const float dx = a == 1 ? 1.f : a == 3 ? -1.f : 0.f, dy = a == 2 ? 1.f : a == 0 ? -1.f : 0.f;
            if (p > 0.04f) ui.line(m, {m.x + dx * length, m.y + dy * length}, theme.ink, 2);
        }
    }
    std::vector<Point> path;
    for (const int state : it.path) path.push_back(middle(state));
    if (path.size() > 1) ui.polyline(path, data::orange, 3);
    if (!path.empty()) ui.circle(path.back(), 5, data::orange);
    for (int s = 0; s < it.rows * it.columns && cell > 14; ++s) {  // on the path, which would strike them through
        const char kind = it.cells[static_cast<size_t>(s)];
        if (kind != 'S' && kind != 'G' && kind != 'X') continue;
        std::string_view word = kind == 'S' ? "start" : kind == 'G' ? "goal" : "pit";
        if (ui.text_width(word, {.size = 12, .weight = 600}) > cell - 8) word = word.substr(0, 1);
        const TextStyle style{.size = 12, .weight = 600};
        const Rect box{middle(s).x - cell / 2 + 3, middle(s).y - cell / 2 + 3, 0, 0};
        ui.rect({box.x, box.y, std::min(cell - 6, ui.text_width(word, {.size = 12, .weight = 600}) + 4), 15}, theme.panel);
        ui.text(box.x + 2, box.y + 12, word, style);
    }
}
void maze_legend(Ui& ui, const Rect& r) {
    const Theme& theme = *ui.theme;
    ui.legend_line(r.x, r.y + 16, data::orange, false, "likeliest path");
    ui.legend(r.x, r.y + 40, mix(theme.panel2, data::sky, 0.6f), Hatch::solid, "often visited");
    ui.legend(r.x, r.y + 64, theme.ink3, Hatch::diagonal, "wall");
    ui.legend_line(r.x, r.y + 88, theme.ink, false, "the longer, the likelier");
}
// The legend, and what walks bring, below it or in a low picture beside it.
void draw_beside_maze(Ui& ui, const Snapshot& snapshot, const Rect& r) {
    constexpr float legend_w = 178, legend_h = 118;
    maze_legend(ui, r);
    if (r.h > 2 * legend_h)
        draw_returns(ui, snapshot, {r.x, r.y + legend_h, r.w, r.h - legend_h});
    else
        draw_returns(ui, snapshot, {r.x + legend_w, r.y, r.w - legend_w, r.h});
}
// Now, and where there is room how it began, under names that tell them apart.
void draw_mazes(Ui& ui, const Snapshot& snapshot, const Exhibit& it, const Rect& r) {
    const auto& first = snapshot.training.first_step;
    const float legend = 190, gap = 24, name = 22;
    const Rect below{r.x, r.y + name, (r.w - legend - gap) / 2, r.h - name};
    const bool both = first && snapshot.training.step && first->step + 20 < snapshot.training.step->step && below.w > 200;
    if (!both) {
        draw_maze(ui, it, r);
        const float wide = maze_width(it, r);
        if (r.w - wide > 140) draw_beside_maze(ui, snapshot, {r.x + wide + 18, r.y, r.w - wide - 18, r.h});
        return;
    }
    const Exhibit before = exhibit_of(*first, 0);
    const float wide = maze_width(it, below);
    const Rect now{r.x + wide + gap, below.y, below.w, below.h};
    ui.text(r.x, r.y + 14, "at the first update", {.size = 14, .weight = 600, .width = wide});
    ui.text(now.x, r.y + 14, fmt::format("at update {}", snapshot.training.step->step + 1),
            {.size = 14, .weight = 600, .width = wide});
    if (before.kind == Exhibit::Kind::maze) draw_maze(ui, before, below);
    draw_maze(ui, it, now);
    draw_beside_maze(ui, snapshot, {now.x + wide + 18, below.y, r.right() - now.x - wide - 18, below.h});
}

void draw_repaired(Ui& ui, const Snapshot& snapshot, const Exhibit& it, const Rect& r) {
    const Theme& theme = *ui.theme;
    const auto batch = static_cast<int>(it.pictures[0]->shape.front());
    const int w = it.columns, h = it.rows, numbers = it.code != nullptr ? static_cast<int>(it.code->shape[1]) : 0;
    const float label = 84, waist = numbers > 0 ? 0.42f : 0.0f;  // of a picture's row
    float row = std::min(r.h / (3 + waist), 150.f);
    int count = std::max(1, static_cast<int>((r.w - label) / row));
    // One more, a little smaller, rather than a gap at the end.
    if (const float closer = (r.w - label) / static_cast<float>(count + 1); closer > 0.8f * row) row = closer, ++count;
    count = std::min(count, batch);
    const float size = row - 6;
    const uint64_t version = snapshot.training.step ? static_cast<uint64_t>(snapshot.training.step->step) + 1 : 0;
    const auto left = [&](int i) { return r.x + label + row * static_cast<float>(i); };
    const auto named = [&](float y, float high, std::string_view name) {
        ui.text(r.x, y + high / 2 + 4, name, {.size = 13, .color = theme.ink2, .width = label - 6});
    };
    float y = r.y;
    for (int kind = 0; kind < 3; ++kind) {
        named(y, size, kind == 0 ? "noisy, in" : kind == 1 ? "out" : "wanted");
        for (int i = 0; i < count; ++i) {
            const nn::Values& values = it.pictures[static_cast<size_t>(kind)]->value;
            ui.picture(fmt::format("repaired{}.{}", kind, i), version, w, h, {left(i), y, size, size},
                       [&](std::span<Color> pixels) {
                           const size_t base = static_cast<size_t>(i) * static_cast<size_t>(w * h);
                           for (size_t p = 0; p < pixels.size() && base + p < values->size(); ++p)
                               pixels[p] = grey_image((*values)[base + p]);
                       });
        }
        y += row;
        if (kind > 0 || numbers == 0) continue;
        // Each picture's code as bars around zero, on one scale.
        const float high = row * waist - 6;
        named(y, high, fmt::format("{} numbers", numbers));
        double most = 1e-9;
        const nn::Values& code = it.code->value;
        for (size_t i = 0; i < static_cast<size_t>(count * numbers) && i < code->size(); ++i)
            most = std::max(most, std::abs(static_cast<double>((*code)[i])));
        const float cell = size / static_cast<float>(numbers), middle = y + high / 2;
        for (int i = 0; i < count; ++i) {
            ui.rect({left(i), y, size, high}, theme.panel2);
            for (int n = 0; n < numbers && static_cast<size_t>(i * numbers + n) < code->size(); ++n) {
                const float value = (*code)[static_cast<size_t>(i * numbers + n)] / static_cast<float>(most) * high / 2;
                ui.rect({left(i) + cell * static_cast<float>(n), std::min(middle, middle - value), std::max(1.0f, cell - 1),
                         std::max(1.0f, std::abs(value))},
                        value >= 0 ? data::orange : data::sky);
            }
        }
        y += row * waist;
    }
}

// How much pictures differ from their mean picture: mean squared, a pixel.
double spread_of(const nn::GraphNode& pictures) {
    const auto count = static_cast<size_t>(pictures.shape.front());
    const size_t pixels = count > 0 ? pictures.value->size() / count : 0;
    double spread = 0;
    for (size_t p = 0; p < pixels; ++p) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; ++i) {
            const auto value = static_cast<double>((*pictures.value)[i * pixels + p]);
            sum += value, squares += value * value;
        }
        const auto n = static_cast<double>(count);
        spread += squares / n - (sum / n) * (sum / n);
    }
    return pixels > 0 ? spread / static_cast<double>(pixels) : 0;
}
std::string repaired_headline(const Exhibit& it) {
    const double clean = spread_of(*it.pictures[2]), made = spread_of(*it.pictures[1]);
    if (!(clean > 0)) return {};
    const double share = 100 * made / clean;
    return share < 20 ? fmt::format("All get nearly the same answer: it varies {:.0f} % as much as the pictures", share)
                      : fmt::format("Answers follow their pictures, blurred: they vary {:.0f} % as much", share);
}

}  // namespace

std::string exhibit_headline(const Snapshot& snapshot, const Exhibit& it) {
    if (!snapshot.training.step) return {};
    const std::string& model = snapshot.training.step->model;
    const nn::Evaluation* const measured = measured_at(snapshot);
    if (it.kind == Exhibit::Kind::repaired) return repaired_headline(it);
    if (it.kind == Exhibit::Kind::maze) {
        const auto steps = static_cast<int64_t>(it.path.size()) - 1;
        const std::string count = fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
        if (it.arrives) return "By its likeliest moves it reaches the goal in " + count;
        return it.cells[static_cast<size_t>(it.path.back())] == 'X'
                   ? "By its likeliest moves it falls into a pit after " + count
                   : fmt::format("By its likeliest moves it {} after {}",
                                 it.blocked ? "walks against a wall" : "has not arrived", count);
    }
    if (it.kind == Exhibit::Kind::sequences)
        return fmt::format("{} of {} sequences are said without a mistake", it.right_sequences, it.all_sequences);
    if (model == "gan" && measured && !measured->measures.empty())
        return fmt::format("The made points cover {:.0f} of the eight clumps", measured->measures.front().value);
    if (model == "gcn" && measured) {
        const size_t known = it.clouds.empty() ? 0 : it.clouds.back().dots.size();
        return fmt::format("From {} known labels, {:.1f} % of the other nodes are placed right", known,
                           100 * measured->accuracy);
    }
    if (model == "kmeans") {
        const std::vector<double>& sums = snapshot.training.curves.front().loss;
        return fmt::format("Without a gradient the sum of squared distances falls from {} to {}",
                           with_commas(std::llround(sums.front())), with_commas(std::llround(sums.back())));
    }
    if (const Written* const newest = written_at(snapshot); it.kind == Exhibit::Kind::attention && newest != nullptr) {
        const std::string text = plain_letters(newest->text).substr(0, written_in_headline);
        return fmt::format("After {} steps it writes: \"{} ...\"", newest->step + 1, text);
    }
    return {};
}

std::string written_text(const Snapshot& snapshot) {
    const Written* const newest = written_at(snapshot);
    if (newest == nullptr) return "";
    return fmt::format("written after step {}: {}", newest->step, plain_letters(newest->text));
}

void draw_exhibit(Ui& ui, const Snapshot& snapshot, const Exhibit& exhibit, int& layer, const Rect& area) {
    switch (exhibit.kind) {
        case Exhibit::Kind::scatter:
            return draw_scatter(ui, snapshot, exhibit, area);
        case Exhibit::Kind::attention:
            return draw_attention(ui, snapshot, exhibit, layer, area);
        case Exhibit::Kind::sequences:
            return draw_sequences(ui, exhibit, area);
        case Exhibit::Kind::maze:
            return draw_mazes(ui, snapshot, exhibit, area);
        case Exhibit::Kind::repaired:
            return draw_repaired(ui, snapshot, exhibit, area);
        case Exhibit::Kind::pictures:
        case Exhibit::Kind::none:
            return;
    }
}

}  // namespace lockstep::gui
